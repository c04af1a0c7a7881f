"""explain, and words that are almost right."""
from __future__ import annotations

from pathlib import Path

import pytest

from codegen.diagnostics import InputError
from codegen.options import GenOptions
from codegen.pipeline import generate
from codegen.refusals import TABLE
from codegen.source.misspelt import misspelt_pragmas, unknown_names
from tests.cli.fakes import Fake, Run


def test_one_message(run: Run) -> None:
    code, out, err = run("explain", "jump")
    assert (code, err) == (0, "")
    assert out.startswith("jump (refusal)\n\n") and "if (A[i] > 0) break;" in out and "What to do: " in out
    assert max(map(len, out.splitlines())) <= 80
    assert run("explain", "[jump]")[1] == out
    assert "-Werror=no-region" in run("explain", "no-region")[1]


def test_all_messages(run: Run) -> None:
    code, out, _ = run("explain")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines() if line.startswith("  ")] == [
        e.id for family in dict.fromkeys(e.family for e in TABLE) for e in TABLE if e.family == family
    ]


def test_unknown_message(run: Run) -> None:
    code, out, err = run("explain", "jmp")
    assert (code, out) == (2, "") and "did you mean 'jump'?" in err
    assert "lists all" in run("explain", "qqqq")[2]


@pytest.mark.parametrize(("written", "meant"), [
    ("skop", "scop"), ("SCOP", "scop"), ("scope", "scop"), ("scp", "scop"), ("socp", "scop"), ("endSCOP", "endscop"),
    ("enscop", "endscop"), ("tilewrigth", "tilewright"), ("Tilewright", "tilewright"),
])  # fmt: skip
def test_misspelt(written: str, meant: str) -> None:
    (d,) = misspelt_pragmas(f"int x;\n  # pragma {written} foo\n", "a.c")
    assert (d.loc.line, d.loc.col, d.hint) == (2, 3, f"did you mean `#pragma {meant}`?")


@pytest.mark.parametrize("word", ["scop", "endscop", "tilewright", "omp", "GCC", "once", "pack", "STDC", "weak", "end"])
def test_not_misspelt(word: str) -> None:
    assert not list(misspelt_pragmas(f"#pragma {word}\n/* #pragma skop */ char *s = \"#pragma skop\";\n", "a.c"))


@pytest.mark.parametrize(("written", "says"), [
    ("reasociate", "did you mean `reassociate`?"), ("assumes(n > 4)", "did you mean `assume(condition)`?"),
    ("faster", "known hints: assume(condition), "),
])  # fmt: skip
def test_hints_that_are_almost_right(written: str, says: str) -> None:
    loop = "#pragma scop\nfor (int i = 0; i < n; i++) a[i] = 0;\n#pragma endscop\n"
    with pytest.raises(InputError) as error:
        generate("a.c", f"void f(int n, double a[n]) {{\n#pragma tilewright {written}\n{loop}}}\n", GenOptions())
    assert error.value.hint.startswith(says) and error.value.loc.line == 2


def test_names_that_are_nowhere() -> None:
    (d,) = unknown_names("width >= 4 and n > 0", ("int n, wdth;",), "a.c")
    assert d.id == "unused-assumption" and "`width`" in d.message and "`wdth`" in d.hint
    assert not list(unknown_names("", ("",), "a.c"))


def test_words_without_effect(fake: Fake, folder: Path, run: Run) -> None:
    err = run("gen", "in.c", "-Wno-region-refuse", "-Werror=jump", "-Wno-no-region", "-Wall", "-Wno-error")[2]
    assert err.count("[unknown-warning]") == 2 and "did you mean `-Wno-region-refused`?" in err
    assert "[no-effect]" in run("gen", "in.c", "--threads", "2,8")[2]
    assert run("gen", "in.c", "--threads", "2,8", "-Wno-no-effect")[2] == ""
    code, _, err = run("gen", "in.c", "-o", "out.c", "--threads", "8,8", "-Werror=no-effect")  # its default, too
    assert code == 1 and "error: `--threads` has no effect" in err and not (folder / "out.c").exists()


def test_words_of_other_targets(fake: Fake, folder: Path, run: Run) -> None:
    for target in ("cuda", "sunway"):
        err = run("gen", "in.c", "--target", target, "--isa", "avx2", "--require-isa", "-o", "out.c")[2]
        assert [f"`--{w}` has no effect with --target {target}" in err for w in ("isa", "require-isa")] == [True, True]
    assert run("gen", "in.c", "--isa", "avx2", "--require-isa")[2] == ""


def test_words_given_twice(fake: Fake, folder: Path, run: Run) -> None:
    """The last one counts, and nothing is lost in silence; --line may be overridden, because build rules give it."""
    err = run("gen", "in.c", "--target", "c", "--target", "openmp", "--context", "n > 1", "--context=n > 2")[2]
    assert "`--target c` has no effect: `--target openmp` comes after it" in err and "`--context n > 1`" in err
    assert fake.options.target == "openmp" and fake.options.context == "n > 2"
    assert run("gen", "in.c", "--target", "c", "--target", "c", "--line", "--no-line")[2] == ""


def test_flags_of_compilers(fake: Fake, folder: Path, run: Run) -> None:
    """CFLAGS as a whole."""
    flags = "-Wall -Wextra -Wno-unused-parameter -Werror=format-security -Wformat=2 -Wl,-z,now -pipe -g -O2 -lm -shared"
    assert run("gen", "in.c", *flags.split())[2] == ""
