"""Every option of every command with a value that is missing, unknown, out of range or for something else: the message
names what is wrong and what there is, and the exit status is not 0. Nothing is printed or written."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from codegen.cli.commands import COMMANDS, find
from codegen.cli.options import TABLE
from codegen.diagnostics import InputError
from codegen.options import GenOptions
from codegen.pipeline import generate
from tests.cli.fakes import Run

LOOP = """\
    for (int i = 0; i < n; i++)
        A[i] = 2.0 * B[i];
"""
SOURCE = f"""\
void f(int n, double A[n], double B[n])
{{
#pragma scop
{LOOP}#pragma endscop
}}
"""
FORTRAN = "subroutine f(n, a)\n  integer :: n\n  real :: a(n)\n  a = 1\nend subroutine\n"
KERNEL = ("sparse", "kernel", "y(i) = A(i,j)*x(j)", "--format", "A=CSR")
# The command line, and what the message says.
WRONG: tuple[tuple[tuple[str, ...], str], ...] = (
    (("gen", "x.f90"), r"x\.f90: error: x\.f90 is Fortran, not C or C\+\+ \[other-language\]"),
    (("check", "x.f90"), r"Fortran.*\[other-language\]"),
    (("inspect", "x.f90"), r"Fortran.*\[other-language\]"),
    (("bench", "x.f90"), r"Fortran.*\[other-language\]"),
    (("tune", "x.f90"), r"Fortran.*\[other-language\]"),
    (("gen", "--auto", "x.f90"), r"Fortran.*\[other-language\]"),
    (("gen", "plain"), r"does not look like C or C\+\+: its name ends in nothing that says so.*\[other-language\]"),
    (("gen", "notes.text"), r"its name ends in `\.text`, and there is no `#pragma scop`"),
    (("gen", "missing.c"), r"cannot read missing\.c"),
    (("gen", "in.c", "--threads", "5,5", "--target", "sunway"), r"--threads: error: '5,5' is no grid.*R,8"),
    (("gen", "in.c", "--threads", "65", "--target", "sunway"), r"'65' is no grid.*give N \(1 to 64\)"),
    (("check", "in.c", "--threads", "", "--target", "sunway"), r"'' is no grid"),
    (("gen", "in.c", "--distribute", "Q: block", "--target", "mpi"), r"there is no array `Q` in the source"),
    (("gen", "in.c", "--distribute", "A", "--target", "mpi"), r"`A` is no distribution"),
    (("gen", "in.c", "--network", "pigeons", "--target", "mpi"), r"known networks"),
    (("gen", "in.c", "--device", "abacus", "--target", "cuda", "-o", "o.c"), r"known devices"),
    (("gen", "in.c", "--machine", "abacus"), r"known machines"),
    (("gen", "in.c", "--plan", "missing.plan"), r"cannot read missing\.plan"),
    (("gen", "in.c", "--plan", "loop.plan"), r"loop\.plan:2:8: error: there is no loop k .*loops here: i"),
    (("gen", "in.c", "--plan", "inner.plan"), r"inner\.plan:3:12: error: there is no loop S1\.q .*around S1: i, it"),
    (("gen", "in.c", "--plan", "stmt.plan"), r"stmt\.plan:2:12: error: there is no statement S9 .*statements here: S1"),
    (("gen", "in.c", "--plan-path", "nowhere"), r"--plan-path: there is no folder 'nowhere'"),
    (("gen", "in.c", "--context", "n >="), r"cannot read the assumption"),
    (("gen", "in.c", "--emit", "asm"), r"unknown artefact 'asm' \(choose from c, plan"),
    (("gen", "in.c", "-Rpass=("), r"not a regular expression"),
    (("gen", "in.c", "--timeout", "nan"), r"'nan' is not a positive number of seconds"),
    (("gen", "in.c", "--prefix", "1a"), r"'1a' is not a word that C names can begin with"),
    (("gen", "in.c", "--cpp", ""), r"--cpp needs a command"),
    (("bench", "in.c", "--sizes", "n"), r"--sizes: 'n' is not NAME=NUMBER"),
    (("bench", "in.c", "--sizes", "=5"), r"--sizes: '=5' is not NAME=NUMBER"),
    (("bench", "in.c", "--sizes", "n=x"), r"--sizes: 'n=x' is not NAME=NUMBER"),
    (("bench", "in.c", "--sizes", "n=1,n=2"), r"--sizes: 'n' is given twice"),
    (("bench", "in.c", "--sizes", "m=100"), r"no region of in\.c has a size `m` .*sizes: n"),
    (("bench", "in.c", "--sizes", "n=99999999999"), r"`n` is of type `int`, which cannot hold 99999999999"),
    (("bench", "in.c", "--cflags", "-O2"), r"--cflags: expected one argument; .*`--cflags=\.\.\.`"),
    (("bench", "in.c", "--cflags='"), r"--cflags: no closing quotation"),
    (("inspect", "in.c", "--measure", "--sizes", "m=5"), r"has a size `m` .*sizes: n"),
    (("inspect", "in.c", "--sizes", "m=5", "--target", "sunway"), r"there is no parameter 'm'; there are n"),
    (("inspect", "in.c", "--sizes", "n=5"), r"--sizes needs --measure, or --target"),
    (("tune", "in.c", "--sizes", "n"), r"--sizes: 'n' is not NAME=NUMBER"),
    (("tune", "in.c", "--sizes", "m=100"), r"has a size `m` .*sizes: n"),
    (("tune", "in.c", "--sizes", "n=-4"), r"cannot be run at n = -4.*\[bad-sizes\]"),
    (("tune", "in.c", "--method", "luck"), r"unknown method 'luck'"),
    (("tune", "in.c", "--learned", "nowhere"), r"--learned: there is no folder 'nowhere'"),
    (("scan", "nowhere"), r"there is no nowhere"),
    (("explain", "qqqq"), r"there is no message 'qqqq'"),
    (("machine", "show"), r"needs a NAME"),
    (("machine", "show", "abacus"), r"known machines"),
    (("machine", "list", "x"), r"takes no NAME"),
    (("serve", "--port", "abc"), r"'abc' is not a port, from 0 \(any that is free\) to 65535"),
    (("serve", "--port", "65536"), r"'65536' is not a port"),
    (("serve", "--port", "-1"), r"'-1' is not a port"),
    (("sparse", "convert", "--from", "COO"), r"needs --from and --to"),
    (("sparse", "convert", "--from", "ABC", "--to", "CSR"), r"unknown format 'ABC'"),
    (("sparse", "convert", "--from", "COO", "--to", "CSR", "--format", "A=CSR"), r"--format goes with sparse kernel"),
    (("sparse", "convert", "--from", "COO", "--to", "CSR", "--semiring", "or-and"), r"--semiring goes with sparse ker"),
    ((*KERNEL, "--from", "COO"), r"--from goes with sparse convert"),
    ((*KERNEL, "--parallel"), r"--parallel goes with sparse convert"),
    ((*KERNEL, "--format", "A=COO"), r"--format: tensor A is given twice"),
    ((*KERNEL, "--convert", "B=CSR"), r"there is no tensor B"),
    ((*KERNEL, "--name", "for"), r"'for' is no C identifier"),
    ((*KERNEL, "--name", ""), r"'' is no C identifier"),
    (("sparse", "formats", "--to", "CSR"), r"--to goes with sparse convert"),
)  # fmt: skip


@pytest.fixture
def files(folder: Path) -> Path:
    contents = {
        "in.c": SOURCE, "x.f90": FORTRAN, "plain": FORTRAN, "notes.text": "loops\n",
        "loop.plan": "region 1\n  tile k:32\n", "inner.plan": "region 1\n  tile i:32\n  parallel S1.q\n",
        "stmt.plan": "region 1\n  parallel S9.i\n",
    }  # fmt: skip
    for name, text in contents.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize(("words", "says"), WRONG, ids=lambda x: " ".join(x) if isinstance(x, tuple) else "")
def test_wrong_values(words: tuple[str, ...], says: str, files: Path, run: Run) -> None:
    before = sorted(files.iterdir())
    code, out, err = run(*words)
    assert code in (1, 2) and out == "" and sorted(files.iterdir()) == before
    assert re.search(says, err.replace("\n", " ")), err


VALUES = [(c.name, o) for c in COMMANDS for o in TABLE if c.name in o.commands and o.kind != "flag"]


@pytest.mark.parametrize(("command", "option"), VALUES, ids=lambda x: getattr(x, "name", x))
def test_values_that_are_missing(command: str, option, files: Path, run: Run) -> None:
    """For every option that takes one."""
    found = find(command)
    assert found is not None
    flag = max(option.flags, key=len)
    if flag in ("--line", "-Rpass", "-Rpass-missed", "-Rpass-analysis", "-O"):
        return  # which have one by themselves
    code, out, err = run(command, *("in.c" for p in found.positionals if p.name in ("file", "paths")), flag)
    assert (code, out) == (2, "") and "expected one argument; a value that begins" in err


NUMBERS = [(c, o) for c, o in VALUES if o.type is not None and o.metavar in ("N", "SECONDS")]


@pytest.mark.parametrize("value", ["x", "", "-7", "1e99999"])
@pytest.mark.parametrize(("command", "option"), NUMBERS, ids=lambda x: getattr(x, "name", x))
def test_values_that_are_no_numbers(command: str, option, value: str, files: Path, run: Run) -> None:
    found = find(command)
    assert found is not None
    source = ["in.c" for p in found.positionals if p.name in ("file", "paths")]
    code, out, err = run(command, *source, f"{option.flags[0]}={value}")
    assert (code, out) == (2, "") and f"'{value}' is not " in err


CHOICES = [(c, o) for c, o in VALUES if o.choices and not o.open]


@pytest.mark.parametrize(("command", "option"), CHOICES, ids=lambda x: getattr(x, "name", x))
def test_values_that_are_no_choice(command: str, option, files: Path, run: Run) -> None:
    found = find(command)
    assert found is not None
    source = ["in.c" for p in found.positionals if p.name in ("file", "paths")]
    code, out, err = run(command, *source, f"{option.flags[0]}=abacus")
    assert (code, out) == (2, "") and all(x in err for x in ("'abacus'", *option.choices))


def test_what_cannot_be_measured(files: Path, run: Run) -> None:
    """The report says why, and so does the exit status."""
    code, out, err = run("bench", "in.c", "--sizes", "n=-5")
    assert code == 1 and "could not be measured: cannot be run at n = -5" in out
    assert "in.c:3: error: region 1 (f, line 3): could not be measured" in err and "[not-measured]" in err


@pytest.mark.parametrize(("begin", "end", "place", "says"), [
    ("#pragma scopp", "#pragma endscop", (3, 1), "`#pragma scopp` is not one of.*without `#pragma scop` on line 6"),
    ("#pragma scop", "#pragma endscopp", (6, 1), "`#pragma endscopp` is not one.*without `#pragma endscop` on line 3"),
    ("#pragma scop", "#pragma end scop", (6, 1), "`#pragma end scop` is not one of.*did you mean `#pragma endscop`"),
    ("#pragma scop_begin", "#pragma endscop", (3, 1), "did you mean `#pragma scop`"),
    ("#pragma scop;", "#pragma endscop", (3, 1), "followed by `;`.*did you mean `#pragma scop`"),
    ("#pragma scop", "#pragma endscop;", (6, 1), "followed by `;`.*did you mean `#pragma endscop`"),
    ("#pragma scop", "#pragma scop end", (6, 1), "followed by `end`.*did you mean `#pragma endscop`"),
    ("  #pragma scop begin", "#pragma endscop", (3, 3), "followed by `begin`"),
    ("#pragma scop", '  _Pragma("endscop")', (6, 3), "did you mean `#pragma endscop`"),
])  # fmt: skip
def test_marks_that_are_almost_right(begin: str, end: str, place: tuple[int, int], says: str) -> None:
    text = SOURCE.replace("#pragma scop", begin).replace("#pragma endscop", end)
    with pytest.raises(InputError) as error:
        generate("in.c", text, GenOptions())
    assert (error.value.loc.line, error.value.loc.col) == place
    assert re.search(says, f"{error.value.message}; {error.value.hint}")


@pytest.mark.parametrize(("begin", "end"), [("Scop", "end scop"), ("begin scop", "scop_end"), ("scope", "endscope")])
def test_two_marks_that_are_almost_right(begin: str, end: str) -> None:
    text = SOURCE.replace("#pragma scop", f"#pragma {begin}").replace("#pragma endscop", f"#pragma {end}")
    said = [d for d in generate("in.c", text, GenOptions()).diagnostics if d.id == "misspelt-pragma"]
    assert [(d.loc.line, d.hint) for d in said] == [
        (3, "did you mean `#pragma scop`?"), (6, "did you mean `#pragma endscop`?")
    ]  # fmt: skip


def test_comments_may_follow_marks() -> None:
    text = SOURCE.replace("#pragma scop", "#pragma scop  /* the loops */ // here")
    assert generate("in.c", text, GenOptions()).regions[0].transformed


def test_other_names_with_a_mark(files: Path, run: Run) -> None:
    (files / "kernel").write_text(SOURCE, encoding="utf-8")
    code, out, _ = run("gen", "kernel")
    assert code == 0 and "region 1" in out
