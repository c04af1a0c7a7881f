"""Programs that once went wrong: each must come out without complaint and print what the original prints.

A file may ask for more with comments: `// options: reassociate`, and `// plan: <directive>` once per line.
A plan may be refused, but only as illegal.
"""
from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from codegen.diagnostics import InputError
from codegen.options import GenOptions
from codegen.pipeline import generate
from tests.corpus import some

FOUND = sorted((Path(__file__).parent / "found").glob("*.c"))
AGAIN = frozenset(some(FOUND, 0, 4))  # whose plans are read back
FLAGS = ("-O1", "-fopenmp", "-ffp-contract=off", "-DTW_PARALLEL_MIN=0", "-Wunused-variable")


def _output(name: str, text: str, folder: Path) -> tuple[str, set[str]]:
    """What the program prints, and its unused variables."""
    source = folder / f"{name}.c"
    source.write_text(text)
    words = ["gcc", *FLAGS, "-o", folder / name, source, "-lm"]
    said = subprocess.run(words, check=True, timeout=120, capture_output=True, text=True).stderr
    unused = set(re.findall(r"unused variable \W(\w+)", said))
    env = {**os.environ, "OMP_NUM_THREADS": "3", "OMP_WAIT_POLICY": "passive"}
    ran = subprocess.run([folder / name], check=True, capture_output=True, text=True, timeout=60, env=env)
    return ran.stdout, unused


@pytest.mark.parametrize("path", FOUND, ids=lambda p: p.stem)
def test_found(path: Path, tmp_path: Path) -> None:
    text = path.read_text()
    plan = re.findall(r"^// plan: (.*)$", text, re.M)
    options = GenOptions(
        reassociate="// options: reassociate" in text,
        plan_text="region 1\n" + "\n".join(plan) if plan else None,
    )
    want, unused = _output("old", text, tmp_path)
    try:
        got = generate(str(path), text, options)
    except InputError as error:
        assert plan and error.id == "illegal-plan", error.message
        return
    assert not [d.message for d in got.diagnostics if d.id == "unproven"]
    assert "no-proof" not in [n.id for d in got.diagnostics for n in d.notes]
    printed, left = _output("new", got.text, tmp_path)
    assert printed == want and left <= unused
    if path in AGAIN:
        again = generate(str(path), text, GenOptions(reassociate=options.reassociate, plan_text=got.plan))
        assert again.plan == got.plan
