"""Programs that mean something else under a flag of the compiler: generated with it, they do what the source does."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from codegen.options import CppOptions, GenOptions
from codegen.pipeline import generate

# A store to a[0] changes s->n, the bound.
BOUND = """\
#include <stdio.h>
struct S { int n, m; };
void f(struct S *s, double *a)
{
#pragma scop
  for (int i = 0; i < s->n; i++)
    a[i] = 0;
#pragma endscop
}
int main(void)
{
  static double b[64];
  struct S *s = (struct S *)b;
  for (int i = 0; i < 64; i++)
    b[i] = 1;
  s->n = 10;
  f(s, b);
  int c = 0;
  for (int i = 0; i < 64; i++)
    c += b[i] == 0;
  printf("%d\\n", c);
}
"""
# A store of a long changes a double that every iteration reads.
SCALAR = """\
#include <stdio.h>
static double total = 1;
void f(int n, long *to)
{
#pragma scop
  for (int i = 0; i < n; i++)
    to[i] = total > 0.5;
#pragma endscop
}
static long m[9];
int main(void)
{
  f(9, m);
  f(1, (long *)&total);
  f(9, m);
  printf("%ld %ld\\n", m[0], m[8]);
}
"""
# Elements with subscripts that are data, told apart from others by types alone.
GATHER = """\
#include <stdio.h>
void f(int n, const int *idx, float *to, int *from)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    to[idx[i]] = 1.0f;
    from[i] += 1;
  }
#pragma endscop
}
int main(void)
{
  static int b[16];
  int idx[16];
  for (int i = 0; i < 16; i++)
    idx[i] = i < 15 ? i + 1 : 0;
  f(16, idx, (float *)b, b);
  printf("%d %d %d\\n", b[0], b[1], b[15]);
}
"""
WRAPPED_BOUND = """\
#include <stdio.h>
void f(int m, int *a)
{
#pragma scop
  for (int i = 0; i < m * 2; i++)
    a[i] += 1;
#pragma endscop
}
int main(void) { static int a[100]; f(1073741900, a); f(3, a); printf("%d %d\\n", a[0], a[5]); }
"""
WRAPPED_COUNTER = """\
#include <stdio.h>
int f(int first, int step, int last, int *a)
{
  int i;
#pragma scop
  for (i = first; i < last; i += 4)
    a[i & 7] += 1;
#pragma endscop
  return i + step;
}
int main(void) { static int a[8]; printf("%d\\n", f(2147483640, 0, 2147483647, a)); printf("%d %d\\n", a[0], a[4]); }
"""
WRAPPED_SUM = """\
#include <stdio.h>
void f(int n, int k, int *a)
{
#pragma scop
  for (int i = 1; i < n; i++)
    a[i + k] += 1;
#pragma endscop
}
static int a[16];
int main(void) { f(4, 2, a); f(3, 2147483647, a + 8 + 2147483648u); printf("%d %d %d\\n", a[2], a[8], a[9]); }
"""
WRAPPED_NEGATION = """\
#include <stdio.h>
void f(int n, int *a)
{
#pragma scop
  for (int i = 0; i < -n; i++)
    a[i] += 1;
#pragma endscop
}
int main(void) { static int a[8]; f(-8, a); f(-2147483647 - 1, a); printf("%d\\n", a[7]); }
"""
SHORT_ENUM = """\
#include <stdio.h>
enum kind { A, B, C };
void f(int n, const int *from, int *a)
{
  enum kind k;
#pragma scop
  for (int i = 0; i < n; i++) {
    k = (enum kind)from[i];
    a[i] = k + 1;
  }
#pragma endscop
}
int main(void) { int b[4] = {1, 255, 256, 300}, a[4]; f(4, b, a); printf("%d %d %d %d\\n", a[0], a[1], a[2], a[3]); }
"""
# Rows of 2^24 elements: those of row 256 are those of row 0, in 32 bits.
WRAPPED_PRODUCT = """\
#include <stdio.h>
#include <stdlib.h>
void f(TYPE m, TYPE n, TYPE w, char *a)
{
#pragma scop
  for (TYPE i = 0; i < m; i++)
    for (INNER j = 0; j < w; j++) {
      INDEX k = i * n + j;
      a[k] += 1;
    }
#pragma endscop
}
int main(void)
{
  char *a = calloc(3ul << 32, 1);
  if (a == 0)
    return 0;
  a += 1ul << 32;
  f(3, 5, 2, a);
  f(257, 1 << 24, 1, a + 64);
  printf("%d %d %d %d\\n", a[0], a[6], a[64], a[64 + (1ul << 32)]);
}
"""
WRAPPED_PITCH = """\
#include <stdio.h>
#include <stdlib.h>
void f(long r, unsigned n, unsigned m, unsigned w, char *a)
{
#pragma scop
  for (long i = 0; i < r; i++)
    for (long j = 0; j < w; j++)
      a[i * (n * m) + j] += 1;
#pragma endscop
}
int main(void) { char *a = calloc(3ul << 32, 1); f(2, 65536, 65536, 1, a); printf("%d %d\\n", a[0], a[1ul<<32]); }
"""
OWN_SQRT = """\
#include <stdio.h>
double sqrt(double x);
static int calls;
void f(int n, double *a)
{
#pragma scop
  for (int i = 0; i < n; i++)
    a[i] = sqrt(a[i]);
#pragma endscop
}
double sqrt(double x) { return x + calls++; }
int main(void) { double a[4] = {1, 1, 1, 1}; f(4, a); printf("%g %g %d\\n", a[0], a[3], calls); }
"""
PROGRAMS = {
    "bound": ("-fno-strict-aliasing", BOUND, "1"),
    "scalar": ("-fno-strict-aliasing", SCALAR, "0 0"),
    "gather": ("-fno-strict-aliasing", GATHER, None),
    "wrapped-bound": ("-fwrapv", WRAPPED_BOUND, "1 1"),
    "wrapped-sum": ("-fwrapv", WRAPPED_SUM, None),
    "wrapped-negation": ("-fwrapv", WRAPPED_NEGATION, "1"),
    **{f"product-of-{t}-{j}-{k}".replace(" ", "-"): (
        "-fwrapv", WRAPPED_PRODUCT.replace("TYPE", t).replace("INNER", j).replace("INDEX", k), "1 1 2 0")
       for t, j, k in (("int", "int", "int"), ("unsigned", "unsigned", "unsigned"), ("unsigned", "unsigned", "size_t"),
                       ("int", "long", "long"), ("unsigned", "size_t", "size_t"))},
    "pitch": ("", WRAPPED_PITCH, "2 0"),
    "short-enum": ("-fshort-enums", SHORT_ENUM, "2 256 1 45"),
    "own-sqrt": ("-fno-builtin", OWN_SQRT, "1 4 4"),
    "own-sqrt-by-name": ("-fno-builtin-sqrt", OWN_SQRT, "1 4 4"),
    "may-alias": ("", BOUND.replace("struct S {", "typedef double any __attribute__((may_alias));\nstruct S {")
                  .replace("double *a", "any *a"), "1"),
    "attribute": ("", BOUND.replace("void f", '__attribute__((optimize("no-strict-aliasing"))) void f'), None),
}  # fmt: skip


def _runs(text: str, words: list[str], folder: Path) -> str:
    (folder / "p.c").write_text(text)
    subprocess.run(["gcc", "-fopenmp", "-w", *words, "p.c", "-o", "p"], cwd=folder, check=True)
    return subprocess.run(["./p"], cwd=folder, check=True, capture_output=True, text=True, timeout=20).stdout.strip()


@pytest.mark.parametrize("name", PROGRAMS)
def test_under_the_flag(name: str, tmp_path: Path) -> None:
    flag, source, expected = PROGRAMS[name]
    flags = tuple(flag.split())
    made = generate("p.c", source, GenOptions(cpp=CppOptions(args=flags)))
    want = _runs(source, ["-O1", *flags], tmp_path)
    assert expected is None or want == expected
    assert _runs(made.text, ["-O1", *flags], tmp_path) == want
    assert made.regions[0].transformed


@pytest.mark.parametrize("flag", ["-fno-builtin", "-fno-builtin-sqrt", "-ffreestanding"])
def test_functions_that_nobody_knows(flag: str) -> None:
    made = generate("p.c", OWN_SQRT.split("double sqrt(double x) {")[0], GenOptions(cpp=CppOptions(args=(flag,))))
    (warning,) = made.diagnostics
    assert [note.id for note in warning.notes] == ["unknown-call"]


def test_types_tell_pointers_apart_without_the_flag() -> None:
    made = generate("p.c", BOUND, GenOptions())
    assert "tw_apart(" not in made.text.split("void f")[1]


@pytest.mark.parametrize("flag", ["-ftrapv", "-fnon-call-exceptions", "-frounding-math", "-mfpmath=387"])
def test_refused(flag: str) -> None:
    made = generate("p.c", BOUND, GenOptions(cpp=CppOptions(args=(flag,))))
    (warning,) = made.diagnostics
    (note,) = warning.notes
    assert (note.id, made.regions[0].transformed) == ("compiler-flag", False)
    assert flag in note.message and note.hint


@pytest.mark.parametrize("flag", ["-frounding-math", "-ftrapping-math", "-mfpmath=387"])
def test_integers_are_not_rounded(flag: str) -> None:
    options = GenOptions(cpp=CppOptions(args=(flag,)))
    assert generate("p.c", WRAPPED_BOUND, options).regions[0].transformed
    real = WRAPPED_BOUND.replace("a[i] += 1;", "a[i] += (int)(i * 0.5);")
    assert not generate("p.c", real, options).regions[0].transformed


def test_long_of_32_bits() -> None:
    """Subscripts in `unsigned long` may wrap around there, and data of type `long` are not what the model has."""
    source = WRAPPED_PRODUCT.split("int main")[0].replace("#include <stdio.h>\n#include <stdlib.h>\n", "")
    for word in ("TYPE", "INNER", "INDEX"):
        source = source.replace(word, "unsigned long")
    narrow = GenOptions(cpp=CppOptions(args=("-m32",), enabled=False))
    assert "does not wrap around" not in generate("p.c", source, GenOptions()).text
    assert "does not wrap around" in generate("p.c", source, narrow).text
    made = generate("p.c", source.replace("char *a", "long *a"), narrow)
    assert not made.regions[0].transformed and "`long` has 32 bits" in str(made.diagnostics)
