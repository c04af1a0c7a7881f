"""Regular expressions that are kept from run to run."""

from __future__ import annotations

import marshal
import re
import subprocess
import sys
from pathlib import Path

import pytest

from codegen.startup import regexes as kept
from codegen.startup.regexes import handed_over


@pytest.mark.parametrize(
    ("text", "flags"), [(r"(?P<word>\w+)|(\d+)", 0), (r"^[^a-z]*?\bé(?!x)", re.M | re.I), (r"(?x) a {2,3} # b", 0)]
)
def test_what_is_kept_makes_the_same_pattern(text: str, flags: int) -> None:
    made = kept._ENGINE.compile(*marshal.loads(marshal.dumps(handed_over((text, int(flags))))))
    assert made == re.compile(text, flags)
    assert (made.groups, dict(made.groupindex)) == (re.compile(text, flags).groups, re.compile(text, flags).groupindex)


def _run(folder: Path, *lines: str) -> str:
    code = "\n".join(("import marshal, re, sys", "from codegen.startup import regexes as kept",
                      f"kept._file = lambda: {str(folder / 'kept')!r}", *lines))  # fmt: skip
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_a_run_finds_what_another_has_kept(tmp_path: Path) -> None:
    """All that is kept is what is compiled, those of pycparser among them."""
    assert _run(tmp_path, "print(kept.use())", "kept.keep()") == "False"
    again = ("print(kept.use())", "found = kept._read()",
             "same = [kept._ENGINE.compile(*marshal.loads(x)) == kept._compiled(*k) for k, x in found.items()]",
             "print(len(same) > 150, all(same), any('UNSUPPORTED_C_STYLE' in text for text, _ in found))",
             "kept._compiled = None", "print(re.compile(next(t for t, f in found if not f)).flags)")  # fmt: skip
    assert _run(tmp_path, *again).split("\n") == ["True", "True True True", "32"]


def test_what_another_python_kept_is_not_used(tmp_path: Path) -> None:
    for data in (marshal.dumps(("another", {("a", 0): b""})), b"", b"{", marshal.dumps(1)):
        (tmp_path / "kept").write_bytes(data)
        assert _run(tmp_path, "print(kept.use(), re.compile('a').match('a')[0])") == "False a"


def test_a_folder_that_cannot_be_written_to(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    assert _run(tmp_path, "kept.use()", "kept.keep()", "print('done')") == "done"
    assert kept._compiled is kept._COMPILER.compile
