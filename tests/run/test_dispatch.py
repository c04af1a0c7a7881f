"""Versions of functions that programs choose among at run time: what they compute, and which functions have none."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from codegen.diagnostics import InputError, Severity
from codegen.options import GenOptions
from codegen.pipeline import Generated, generate
from tests.compilers import with_openmp

X86 = "x86_64-linux-gnu-gcc"
QEMU = "qemu-x86_64"
OPTIONS = GenOptions(dispatch=True, fp_contract="off")
SOURCE = """\
#include <stdio.h>
#define DATA double
static DATA scale(DATA x) { return x * 0.5; }

/* C += A B */
static void product(int n, DATA A[n][n], DATA B[n][n], DATA C[n][n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}

__attribute__((noinline)) DATA *steps(int t, int n, DATA A[n][n], DATA B[n][n], DATA y[n]) { if (n < 3) return 0;
#pragma scop
  for (int s = 0; s < t; s++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        B[i][j] = 0.25 * (A[i][j - 1] + A[i][j + 1] + A[i + 1][j] + A[i - 1][j]);
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        A[i][j] = B[i][j];
  }
#pragma endscop
  product(n, A, B, A == B ? A : B);
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      y[i] = y[i] + A[i][j] * B[0][j];
#pragma endscop
  y[0] = scale(y[0]);
  return y;
}

int main(void)
{
  static DATA A[70][70], B[70][70], C[70][70], y[70];
  for (int n = 2; n <= 70; n += 17) {
    for (int i = 0; i < n * n; i++)
      A[0][i] = i * 37 % 101, B[0][i] = i * 13 % 31, C[0][i] = i;
    product(n, (void *)A, (void *)B, (void *)C);
    DATA *p = steps(5, n, (void *)A, (void *)B, y);
    for (int i = 0; i < n * n; i++)
      printf("%a %a ", A[0][i], C[0][i]);
    printf("%a\\n", p ? p[n - 1] + y[0] : -1);
  }
}
"""
REGION = """\
#pragma scop
  for (int i = 0; i < n; i++)
    a[i] = 2 * a[i];
#pragma endscop
"""
VECTORS = "typedef double v __attribute__((vector_size(32)));\n"  # where there is AVX, they are passed otherwise


@cache
def made(options: GenOptions = OPTIONS, source: str = SOURCE) -> Generated:
    return generate("x.c", source, options)


def compiled(text: str, words: list[str], folder: Path) -> list[str]:
    """The program of a text, compiled without warnings."""
    (folder / "y.c").write_text(text, encoding="utf-8", newline="")
    out = folder / "y"
    done = subprocess.run([*words, "y.c", "-o", str(out)], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [str(out)]


WARNINGS = ["-O1", "-Wall", "-Wextra", "-Werror", "-ffp-contract=off"]


def printed(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={"OMP_NUM_THREADS": "2"})
    return done.stdout


def warnings(result: Generated) -> list[tuple[str, str]]:
    return [(d.id, d.message) for d in result.diagnostics if d.severity is Severity.WARNING]


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> str:
    words = ["gcc", "-O1", "-ffp-contract=off", "-Wno-unknown-pragmas"]
    return printed(compiled(SOURCE, words, tmp_path_factory.mktemp("original")))


@pytest.mark.parametrize("compiler", with_openmp())
def test_this_machine(compiler: str, expected: str, tmp_path: Path) -> None:
    assert warnings(made()) == []
    assert printed(compiled(made().text, [compiler, *WARNINGS, "-fopenmp"], tmp_path)) == expected
    compiled(made().text, [compiler, *WARNINGS, "-Wno-unknown-pragmas", "-fsyntax-only"], tmp_path)


@pytest.mark.skipif(not shutil.which(X86) or not shutil.which(QEMU), reason="no x86-64 compiler and emulator")
@pytest.mark.parametrize(
    "options, words",
    [(OPTIONS, ["-DTW_LEVEL=0"]), (OPTIONS, ["-DTW_LEVEL=1"]), (replace(OPTIONS, target="c"), [])],
)
def test_every_level_has_the_same_bits(options: GenOptions, words: list[str], expected: str, tmp_path: Path) -> None:
    """The emulator has AVX2; that there is no AVX-512 the program finds out."""
    base = [X86, "-static", "-Wno-unknown-pragmas"]
    assert printed([QEMU, *compiled(made(options).text, [*base, *WARNINGS, *words], tmp_path)]) == expected


@pytest.mark.skipif(not shutil.which(X86), reason="no x86-64 compiler")
def test_loops_on_threads_have_the_instructions(tmp_path: Path) -> None:
    (tmp_path / "y.c").write_text(made().text, encoding="utf-8")
    subprocess.run([X86, "-O3", "-fopenmp", "-S", "y.c"], cwd=tmp_path, check=True)
    functions = re.split(r"^(\w+(?:\.\w+)*):$", (tmp_path / "y.s").read_text(encoding="utf-8"), flags=re.M)
    used = {name: "zmm" in text for name, text in zip(functions[1::2], functions[2::2], strict=True)}
    assert [n for n in used if n.startswith("steps_avx512._omp_fn") and used[n]]
    assert not any(zmm for name, zmm in used.items() if "avx512" not in name)


def test_costs_of_a_processor_where_nothing_else_is_called() -> None:
    """Compilers do not write out a function in another one that is for another processor."""
    alone = made(OPTIONS, function("void f(int n, double a[n])", "n += f == 0;\n")).text
    assert 'bmi2,tune=skylake-avx512")))' in alone and 'target("avx2,fma,bmi,bmi2")' in alone
    calls = "static int g(int n) { return n; }\nvoid f(int n, double a[n])"
    assert "tune=" not in made(OPTIONS, function(calls, "n = g(n);\n")).text
    assert "tune=" not in made().text


def test_names_that_are_taken() -> None:
    source = f"static int f_avx2;\nint f(int n, double a[n])\n{{\n{REGION}  return f_avx2;\n}}\n"
    text = made(OPTIONS, source).text
    assert "TW_AVX2 static int f_avx2_2(int n, double a[n])" in text and "return f_avx512(n, a);" in text
    assert "return f_avx2_2(n, a);" in text
    with pytest.raises(InputError, match="tw_level"):
        generate("x.c", f"int tw_level;\n{source}", OPTIONS)


def test_names_of_the_users_own() -> None:
    text = made(replace(OPTIONS, prefix="mine")).text
    assert "MINE_AVX512 static void product_avx512(" in text and "if (MINE_LEVEL >= 2) {" in text
    assert not re.search(r"\btw_|\bTW_", text)


def test_other_line_ends(tmp_path: Path) -> None:
    text = made(OPTIONS, SOURCE.replace("\n", "\r\n")).text
    assert text.replace("\r\n", "\n") == made().text and "\n" not in text.replace("\r\n", "")


def test_lines_count_as_those_of_the_source() -> None:
    """In the function itself, and in both copies."""
    known = [re.compile(x) for x in (r"DATA \*steps\w*\(", r"= scale\(y")]
    wanted = [k for x in known for k, line in enumerate(SOURCE.split("\n"), 1) if x.search(line)]
    found: list[list[int]] = [[], []]
    at = 0
    for line in made(replace(OPTIONS, line_directives=True)).text.split("\n"):
        said = re.fullmatch(r'#line (\d+) "x.c"', line)
        at = int(said[1]) - 1 if said else at + 1
        for x, numbers in zip(known, found, strict=True):
            numbers += [at] if x.search(line) else []
    assert found == [[k] * 3 for k in wanted]


def test_links_lead_to_the_function_itself() -> None:
    plain, new = made(replace(OPTIONS, dispatch=False)), made()
    before, after = plain.text.split("\n"), new.text.split("\n")
    for a, b in zip(plain.regions, new.regions, strict=True):
        assert a.links and [before[n] for n, _ in a.links] == [after[n] for n, _ in b.links]


def function(head: str, body: str = "") -> str:
    return f"{head}\n{{\n{body}{REGION}}}\n"


@pytest.mark.parametrize(
    "source, why",
    [
        (function("void f(int n, double a[n])", "static int calls;\ncalls++;\n"), "`static` variable"),
        (function("void f(int n, double a[n])", '__asm__ volatile("");\n'), "assembler"),
        (function("void f(int n, double *a, ...)"), "any number of arguments"),
        (function("__attribute__((target(\"arch=x86-64\"))) void f(int n, double a[n])"), "attribute `target`"),
        (function("__attribute__((always_inline)) static inline void f(int n, double a[n])"), "`always_inline`"),
        (function("inline void f(int n, double a[n])"), "`inline` without `static`"),
        (function("void f(n, a)\nint n;\ndouble *a;"), "old style"),
        (function("void f(int n,\n#ifdef X\nlong x,\n#endif\ndouble a[n])"), "lines of the preprocessor"),
        (function("void f(int n, double a[n])", "#define M 3\n"), "lines of the preprocessor"),
        (function("#define API static\nAPI void f(int n, double a[n])"), "a macro has a hand"),
        (function("#define HEAD void f(int n, double a[n])\nHEAD"), "a macro has a hand"),
        (function("int puts(const char *);\nvoid f(int n, double a[n])", "puts(__func__);\n"), "its own name"),
        (function("double a[9];\nint main(int n, char **v)", "(void)v;\n"), "programs begin with it"),
        ('#line 9 "z.c"\n' + function("void f(int n, double a[n])"), "others"),
        (function("struct S { int x; } f(int n, double a[n])"), "defines a type"),
        (function("void f(int n, double a[n], struct S *s)", "(void)s;\n"), "the first to name `struct S`"),
        (function("int next(void);\nvoid f(int n, double *a, double b[][next()])", "(void)b;\n"), "calls or assign"),
        (function("void f(int n, double *a, double b[][n++])", "(void)b;\n"), "calls or assignments"),
        (function("#pragma omp declare simd\nvoid f(int n, double *a)"), "a pragma is for the function"),
        (function("#define COUNTER(x) int x;\nCOUNTER(calls)\nvoid f(int n, double *a)"), "a macro has a hand"),
        (function(f"{VECTORS}v g(v);\nvoid f(int n, double *a)", "v x = {a[0]};\na[0] = g(x)[0];\n"), "with vectors"),
        (function(f"{VECTORS}struct S {{ v x; }};\nvoid f(int n, double *a, struct S s)", "(void)s;\n"), "vectors"),
        (function("void f(int n, double a[n])", "/* \1 */\n"), "control characters"),
    ],
)  # fmt: skip
def test_functions_without_versions(source: str, why: str) -> None:
    result = made(OPTIONS, source)
    ((id, message),) = warnings(result)
    assert id == "no-dispatch" and why in message
    assert "TW_AVX" not in result.text and result.regions[0].transformed


@pytest.mark.parametrize(
    "head, call",
    [
        ("static inline void f(int n, double a[n])", "f_avx2(n, a);\n    return;"),
        ("extern double *(*f(int n, double a[n]))(void)", "return f_avx2(n, a);"),
        ("typedef struct { int x; } S;\n#define ARRAY(x) double x[n]\nS f(int n, ARRAY(a))", "return f_avx2(n, a);"),
        ("#include <assert.h>\nvoid f(int n, double *restrict const a)", "f_avx2(n, a);"),
        ("int n;\ndouble a[9];\nvoid f(void)", "f_avx2();"),
        ("#define HOT __attribute__((hot, nonnull(2)))\nHOT void f(int n, double a[n])", "f_avx2(n, a);"),
        ("typedef void None;\ntypedef None Nothing;\nNothing f(int n, double a[n])", "f_avx2(n, a);\n    return;"),
        ("int (f)(int n, double a[n]) // (\n /* { */", "return f_avx2(n, a);"),
        (f"{VECTORS}void f(int n, double a[n])", "f_avx2(n, a);"),
    ],
)
def test_functions_with_versions(head: str, call: str) -> None:
    result = made(OPTIONS, function(head, "assert(n > 0);\n" if "assert" in head else ""))
    assert warnings(result) == [] and call in result.text
    other = "static int g(int n) { return n; }\nvoid h(int n, double a[n])"  # with the costs of no processor
    inner = "n = g(n);\n"
    text = f"{result.text}\n{made(OPTIONS, function(other, inner)).text}"
    words = ["-Wall", "-Wextra", "-Werror", "-Wno-return-type", "-fopenmp", "-fsyntax-only", "-xc", "-"]
    for compiler in filter(shutil.which, (X86, "gcc")):
        done = subprocess.run([compiler, *words], input=text, text=True, capture_output=True)
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("head", ["static int f(int n, double a[n]) /* it */", "int f(int n, double *a) // it"])
def test_functions_that_call_themselves(head: str) -> None:
    """Copies come before the function, which they know all the same."""
    inner = function(head, "if (n > 5)\n  return f(n - 1, a);\n").removesuffix("}\n")
    text = made(OPTIONS, f"{inner}  return n;\n}}\n").text
    for compiler in filter(shutil.which, (X86, "gcc")):
        done = subprocess.run([compiler, *WARNINGS, "-Wno-unused-function", "-fopenmp", "-fsyntax-only", "-xc", "-"],
                              input=text, text=True, capture_output=True)  # fmt: skip
        assert done.returncode == 0, done.stderr


PRODUCT = """\
void product(int n, double A[n][n], double B[n][n], double C[n][n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
"""


def test_what_asks_for_caches_stands_once() -> None:
    """Also where levels are tuned, and in two results of one unit, which have the rest of it once, too."""
    text = made(OPTIONS, PRODUCT).text
    assert len(re.findall(r"tw_ask_caches\w*\(const", text)) == 1 and text.count(" tw_fit_rows_avx512(tw_index") == 1
    unit = text + made(OPTIONS, PRODUCT.replace("product", "other").replace("double", "float")).text
    for compiler in filter(shutil.which, (X86, "gcc")):
        done = subprocess.run([compiler, "-Wall", "-Wextra", "-Werror", "-fopenmp", "-fsyntax-only", "-xc", "-"],
                              input=unit, text=True, capture_output=True)  # fmt: skip
        assert done.returncode == 0, done.stderr


def test_helpers_of_one_level() -> None:
    """A function that one instruction set alone needs, and that stands once in a unit."""
    nest = PRODUCT.replace("double", "long").replace(
        "C[i][j] += A[i][k] * B[k][j];", "C[i][j] = A[i][k] + B[k][j] < C[i][j] ? A[i][k] + B[k][j] : C[i][j];"
    )
    text = made(OPTIONS, nest).text
    assert re.search(r"#ifndef TW_AVX2_MIN_I64__AVX2\n#define TW_AVX2_MIN_I64__AVX2\n", text)
    unit = text + made(OPTIONS, nest.replace("product", "other")).text
    for compiler in filter(shutil.which, (X86, "gcc")):
        done = subprocess.run([compiler, "-Wall", "-Wextra", "-Werror", "-fopenmp", "-fsyntax-only", "-xc", "-"],
                              input=unit, text=True, capture_output=True)  # fmt: skip
        assert done.returncode == 0, done.stderr


def test_no_line_directive_between_parentheses() -> None:
    """They may be those of a macro, whose arguments have no directives; the lines behind them count as before."""
    long_name = "a_name_so_long_that_the_first_line_of_the_copy_of_this_function_has_to_be_broken_into_several"
    source = f"""\
#define ARRAY(x, n) double x[n]
void {long_name}(int n, ARRAY(a,
  n))
{{
{REGION}  a[0] = __LINE__;
}}
"""
    lines = made(replace(OPTIONS, line_directives=True), source).text.split("\n")
    heads = [k for k, line in enumerate(lines) if re.search(rf"{long_name}_avx\d+\(?$", line)]
    assert len(heads) == 2
    for k in heads:
        head = lines[k : next(n for n in range(k, len(lines)) if lines[n].startswith("{"))]
        assert [x for x in head if x.startswith("#line")] == ['#line 4 "x.c"'] and head[-1].startswith("#line")


def test_strings_stay_as_they_are() -> None:
    """Even where they say what is a name."""
    nest = "for (int i = 1; i < n; i++)\n    for (int j = 0; j < i; j++)\n      a[i] = a[i] + 0.5 * a[j];"
    inner = """puts("tw_min tw_max");  /* isn't it */\n"""
    source = function("int puts(const char *);\nvoid f(int n, double a[n])", inner)
    text = made(OPTIONS, source.replace(REGION, f"#pragma scop\n  {nest}\n#pragma endscop\n")).text
    assert text.count('puts("tw_min tw_max");') == 3 and "tw_min_avx512(" in text


def test_what_is_not_for_versions() -> None:
    for options in (replace(OPTIONS, target="sunway"), replace(OPTIONS, machine="sapphire-rapids")):
        with pytest.raises(InputError) as error:
            generate("x.c", SOURCE, options)
        assert error.value.id == "bad-target"
    with pytest.raises(InputError):
        generate("x.cpp", SOURCE, OPTIONS)


@pytest.mark.parametrize("compiler", with_openmp())
def test_types_of_a_level_are_no_functions(compiler: str, tmp_path: Path) -> None:
    """A choice of lanes has a type for what a comparison gives; attributes of functions are ignored there, with a
    warning."""
    source = """double most(int n, const double *a)
{
  double m = a[0];
#pragma tilewright reassociate
#pragma scop
  for (int i = 0; i < n; i++)
    m = a[i] > m ? a[i] : m;
#pragma endscop
  return m;
}
"""
    made = generate("in.c", source, GenOptions(dispatch=True)).text
    assert re.search(r"^typedef __typeof__\(.* tw_f64v_mask_avx512;$", made, re.M)
    (tmp_path / "out.c").write_text(made)
    words = [compiler, "-O1", "-Wall", "-Wextra", "-Werror", "-fopenmp", "-c", "out.c", "-o", "out.o"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
