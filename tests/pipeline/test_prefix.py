"""--prefix: generated files that meet in one translation unit or one program without knowing of each other."""
from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

import codegen
from codegen.plan.text import plan_hash
from codegen.source.layout.lexis import blank_comments
from codegen.target.finish.wrap import WIDTH

PRODUCT = """\
#define TW_ROW 3 /* looks like one of ours */
static void NAME(int n, TYPE A[n][n], TYPE B[n][n], TYPE C[n][n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
#pragma scop
  for (int t = 0; t < 9; t++)
    for (int i = 1; i < n - 1; i++)
      A[i][TW_ROW] = A[i - 1][TW_ROW] + A[i + 1][TW_ROW];
#pragma endscop
}
"""
PROGRAM = """\
#define NAME left
#define TYPE double
#include "one.c"
#undef NAME
#undef TYPE
#define NAME right
#define TYPE float
#include "two.c"
#include <stdio.h>
int main(void)
{
  double A[40][40] = {{1}}, B[40][40] = {{2}}, C[40][40] = {{3}};
  float a[40][40] = {{1}}, b[40][40] = {{2}}, c[40][40] = {{3}};
  left(40, A, B, C);
  right(40, a, b, c);
  printf("%g %g\\n", C[0][0], c[0][0]);
}
"""
OURS = re.compile(r"\btw_\w+|\bTW_(?!ROW\b)\w+")


def compile_and_run(folder: Path, *words: str) -> str:
    command = ["cc", "-std=gnu11", "-O0", "-fopenmp", "-Wall", "-Wextra", "-Werror", *words, "-o", "p"]
    subprocess.run(command, cwd=folder, check=True)
    return subprocess.run(["./p"], cwd=folder, check=True, capture_output=True, text=True).stdout


def test_two_files_in_one(tmp_path: Path) -> None:
    for name, kind, prefix in (("one", "double", "left"), ("two", "float", "Right")):
        made = codegen.generate(PRODUCT, name=f"{name}.c", define={"NAME": "f", "TYPE": kind}, prefix=prefix,
                                keep_original=True)
        assert not OURS.search(made.text), OURS.search(made.text)
        assert f"{prefix}_share(" in made.text and f"{prefix.upper()}_SIZE(" in made.text
        assert "[TW_ROW]" in made.text or "[3]" in made.text
        (tmp_path / f"{name}.c").write_text(made.text, encoding="utf-8")
    (tmp_path / "p.c").write_text(PROGRAM, encoding="utf-8")
    for flags in ((), ("-DLEFT_ORIGINAL", "-DRIGHT_NO_FMA")):
        assert compile_and_run(tmp_path, "p.c", *flags) == "5 5\n"


def test_only_names_change() -> None:
    plain = codegen.generate(PRODUCT, name="a.c", define={"NAME": "f", "TYPE": "double"}).text
    named = codegen.generate(PRODUCT, name="a.c", define={"NAME": "f", "TYPE": "double"}, prefix="mine").text
    assert tokens(named.replace(" --prefix=mine", "")) == tokens(
        OURS.sub(lambda m: ("mine" if m.group().startswith("tw") else "MINE") + m.group()[2:], plain))


def tokens(text: str) -> str:
    """Without what the breaking of lines changes."""
    return re.sub(r"\s", "", blank_comments(text.replace("\\\n", " ")))


@pytest.mark.parametrize("options", [{}, {"target": "sunway"}, {"line": "statements", "machine": "zen3"}], ids=repr)
def test_lines_stay_short(options: dict[str, str]) -> None:
    """Lines are broken after names are exchanged, however much longer they are then."""
    long = "a_name_of_twenty_six_letter"
    source = PRODUCT.replace("NAME", "f").replace("TYPE", "double")
    made = codegen.generate(source, name="a.c", prefix=long, **options)
    for text in (made.text, *(t for name, t in made.files.items() if name.endswith((".c", ".h")))):
        assert long in text
        assert [x for x in text.split("\n") if len(x) > WIDTH and x not in source] == []


def test_macros_of_the_source_in_what_is_kept(tmp_path: Path) -> None:
    """The nest stays as the fallback of a test at run time; a macro in it that looks like ours is the user's."""
    source = ("#define TW_STEP 2\nvoid f(unsigned long n, unsigned long m, double *a)\n{\n#pragma scop\n"
              "  for (unsigned long i = 0; i < n; i++)\n    for (unsigned long j = 0; j < m; j++)\n"
              "      a[i * m + j] += TW_STEP;\n#pragma endscop\n}\nint main(void) { return 0; }\n")
    made = codegen.generate(source, name="a.c", prefix="mine").text
    assert "a[i * m + j] += TW_STEP;" in made and "} else {" in made
    (tmp_path / "a.c").write_text(made, encoding="utf-8")
    assert compile_and_run(tmp_path, "a.c") == ""


def test_core_groups_of_one_program() -> None:
    """What one file calls in another has the prefix too, and the Makefiles know it."""
    source = "static " + PRODUCT[PRODUCT.index("void"):].replace("NAME", "f").replace("TYPE", "double")
    made = codegen.generate(source.replace("TW_ROW", "3"), name="a.c", target="sunway", prefix="mine")
    texts = {"": made.text, **made.files}
    assert not any(OURS.search(t) for t in texts.values())
    outside = re.findall(r"^(?:extern )?void (?:SLAVE_FUN\()?(\w+)", made.text + made.files["a_slave.c"], re.M)
    assert outside and all(name.startswith("mine_f_r") for name in outside)


@pytest.mark.parametrize("taken, says", [("mine_min", "mine_min"), ("MINE_MIN", "MINE_MIN")])
def test_names_that_are_taken(taken: str, says: str) -> None:
    source = PRODUCT.replace("NAME", "f").replace("TYPE", "double") + f"/* mine_max */ int {taken};\n"
    with pytest.raises(codegen.TilewrightError, match=says) as caught:
        codegen.generate(source, name="a.c", prefix="mine")
    found = caught.value.diagnostic()
    assert (found.id, found.loc.line) == ("name-taken", source.count("\n"))
    assert codegen.generate(source, name="a.c", prefix="other").text


def test_a_name_of_ours_in_the_region() -> None:
    source = "double tw_min(double, double) __attribute__((const));\n" + PRODUCT.replace("NAME", "f").replace(
        "TYPE", "double").replace("= A[i - 1][TW_ROW]", "= tw_min(1, A[i - 1][TW_ROW])")
    with pytest.raises(codegen.TilewrightError, match="tw_min"):
        codegen.generate(source, name="a.c", prefix="mine")


def test_the_plan_in_the_banner() -> None:
    """It is the printed plan's, comments and layout apart, and stays when that plan is given back."""
    source = PRODUCT.replace("NAME", "f").replace("TYPE", "double")
    made = codegen.generate(source, name="a.c")
    line = f" * plan: {plan_hash(str(made.plan))}\n"
    assert line in made.text
    edited = "# mine\n\n" + str(made.plan).replace("\n  ", "\n      ")
    assert line in codegen.generate(source, name="a.c", plan=edited).text
    other = re.sub(r"block \d+", "block 8", str(made.plan))
    assert other != str(made.plan) and line not in codegen.generate(source, name="a.c", plan=other).text
    assert "plan:" not in codegen.generate("int x;\n", name="a.c").text
