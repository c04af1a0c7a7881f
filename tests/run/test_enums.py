"""Enums in regions: the integer that a compiler represents one by, and the arithmetic that follows from it. Source and
result are one program each, of many functions, and print the same."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from codegen.options import CppOptions, GenOptions
from codegen.pipeline import Generated, generate
from tests.compilers import with_openmp

HEAD = """#include <stdio.h>
enum plain { A, B, C, D = 40, M = (1 << 3) - 1, N = D - 2 * C };
enum negative { LOW = -2, ZERO = 0, HIGH = ~-9 };
enum __attribute__((packed)) byte { P0, P1 = 200 };
enum late { L0, L1 = 3, } __attribute__((__packed__));
enum __attribute__((packed)) signed_byte { S0 = -1, S1 = 100 };
typedef enum { T0, T1 = 70000 } __attribute__((packed)) word;
typedef enum { U0, U1, U2 } kind;
enum wide { W0, W1 = 0x100000000 };
enum large { G0, G1 = 0xffffffffu };
enum hexadecimal { H0 = 0x7fffffff, H1 = 'a', H2 = H1 + (sizeof(short) > 1 ? 3 : 5), H3 = '\\n' };
struct item { enum plain e; enum byte p; kind k; double x; };
static int a[256];
static long l[256];
static double d[256];
static kind t[256];
static enum byte b[256];
static enum signed_byte c[256];
static struct item s[256];
"""
# What stands in a function with the parameters `int n, int v`: before the region, and the region.
CASES = {
    "parameter-less": ("enum plain e = v;", "for (int i = 0; i < n; i++) if (e - 5 < 0) a[i] += 1;"),
    "at-least": ("enum plain e = v;", "for (int i = 0; i < n; i++) if (e >= -1) a[i] += 3;"),
    "negated": ("enum plain e = v;", "for (int i = 0; i < n; i++) if (-e < 0) a[i] += 5;"),
    "mixed": ("enum plain e = v;", "for (int i = 0; i < n; i++) if (e - i < 3) a[i] += 7;"),
    "signed": ("enum negative e = v;", "for (int i = 0; i < n; i++) if (e - 5 < 0) a[i] += 1;"),
    "bound": ("enum plain e = v;", "for (int i = 0; i < n && i < e - 1; i++) a[i] += i;"),
    "bound-signed": ("enum negative e = v;", "for (int i = 0; i < n && i < e - 1; i++) a[i] += i;"),
    "counter": ("enum plain m = v;", "for (enum plain i = A; i < m; i++) a[i] = i - 2 > 0 ? 3 : 5;"),
    "counter-down": ("enum plain m = v, i;", "for (i = m; i >= 1; i--) a[i] += i - 4 > 0 ? 3 : 5;"),
    "counter-byte": ("int m = v & 127;", "for (enum byte i = P0; i < m; i++) a[i] += i - 3 < 0;"),
    "counter-short": ("int m = v;", "for (enum signed_byte i = 0; i < m && i < 100; i++) a[i] += i;"),
    "local": ("", "for (int i = 0; i < n; i++) { enum plain e = i - 5; a[i] = e - 1 < 0 ? 3 : e / 2 > 100; }"),
    "local-byte": ("", "for (int i = 0; i < n; i++) { enum byte e = i * 3; a[i] = e; }"),
    "local-late": ("", "for (int i = 0; i < n; i++) { enum late e = i * 3; a[i] = e - 20; }"),
    "local-signed": ("", "for (int i = 0; i < n; i++) { enum signed_byte e = i * 3; a[i] = e; }"),
    "local-word": ("", "for (int i = 0; i < n; i++) { word e = i * 700; a[i] = e / 3; }"),
    "typedef": ("kind k = v;", "for (int i = 0; i < n; i++) d[i] = k - 2;"),
    "array": ("", "for (int i = 0; i < n; i++) t[i] = i % 3; for (int i = 0; i < n; i++) d[i] = t[i] - 1;"),
    "array-bytes": ("", "for (int i = 0; i < n; i++) b[i] = i * 5; for (int i = 0; i < n; i++) d[i] = b[i] - 7;"),
    "array-signed": ("", "for (int i = 0; i < n; i++) c[i] = i * 5; for (int i = 0; i < n; i++) d[i] = c[i] * 2;"),
    "member": ("", "for (int i = 0; i < n; i++) { s[i].e = i; s[i].p = i * 9; } "
                   "for (int i = 0; i < n; i++) d[i] = s[i].e - 3 + s[i].p;"),
    "member-bound": ("struct item q; q.e = v; q.p = v * 3; struct item *r = &q;",
                     "for (int i = 0; i < n; i++) if (r->e - 5 < 0) a[i] += r->p;"),
    "subscript": ("enum plain e = v;", "for (int i = 0; i < n; i++) if (i >= 20) a[i + 10 - e % 8] += 2;"),
    "enumerators": ("", "for (int i = 0; i < n; i++) if (i - D < A - 1) a[i] += M * N; else a[i] += H2 + H3;"),
    "wide": ("enum wide w = v;", "for (int i = 0; i < n; i++) l[i] = w * 2 - i;"),
    "large": ("enum large w = v;", "for (int i = 0; i < n; i++) l[i] = w - 9;"),
    "conversion": ("enum plain e = v;", "for (int i = 0; i < n; i++) l[i] = e - 9;"),
    "to-double": ("enum plain e = v;", "for (int i = 0; i < n; i++) d[i] += e - 9;"),
    "ternary": ("enum plain e = v;", "for (int i = 0; i < n; i++) l[i] = i % 2 ? e : -1;"),
    "cast": ("", "for (int i = 0; i < n; i++) l[i] = (enum byte)(i * 7) + (enum plain)(i - 3);"),
    "quotient": ("enum plain e = v;", "for (int i = 0; i < n; i++) a[i] = (i - e) / 2;"),
    "shift": ("enum plain e = v;", "for (int i = 0; i < n; i++) l[i] = (e - 9) >> 1;"),
    "hexadecimal": ("", "for (int i = 0; i < n; i++) if (i - 0x80000001 < 5) a[i] += 2; else a[i] += 1;"),
    "choice": ("kind k = v;", "for (int i = 0; i < n; i++) switch (k) { case U0: a[i] = 1; break; case U1: a[i] = 2; "
                              "break; default: a[i] = 3; }"),
}  # fmt: skip
MAIN = """
static void reset(void)
{
  for (int i = 0; i < 256; i++) {
    a[i] = i % 7; l[i] = -i; d[i] = 0.5 * i; t[i] = i % 3; b[i] = i % 201; c[i] = i % 101;
    s[i].e = i % 41; s[i].p = 200 - i % 200; s[i].k = i % 3; s[i].x = i;
  }
}
static void show(const char *name, int v)
{
  double sum = 0;
  for (int i = 0; i < 256; i++)
    sum = sum * 0.9375 + a[i] + 3.0 * l[i] + 5.0 * d[i] + t[i] + b[i] + c[i] + 7.0 * s[i].e + s[i].p + s[i].x;
  printf("%s %d %.17g\\n", name, v, sum);
}
"""
VALUES = (0, 1, 2, 5, 40, 63)


def program(cases: dict[str, tuple[str, str]], head: str = HEAD) -> str:
    """A program with a function for each case, which calls it for some values."""
    made, calls = [head], []
    for name, (before, region) in cases.items():
        word = name.replace("-", "_")
        made.append(f"void f_{word}(int n, int v)\n{{\n  (void)v; (void)n;\n  {before}\n#pragma scop\n  {region}\n"
                    "#pragma endscop\n}\n")  # fmt: skip
        calls += [f'  reset(); f_{word}(100, {v}); show("{name}", {v});' for v in VALUES]
    return "".join([*made, MAIN, "int main(void)\n{\n", "\n".join(calls), "\n}\n"])


def made_of(source: str, flags: tuple[str, ...] = ()) -> Generated:
    """What is generated from a program."""
    return generate("enums.c", source, GenOptions(cpp=CppOptions(args=flags)))


def printed(text: str, folder: Path, compiler: str, flags: tuple[str, ...] = ()) -> str:
    """What a program prints."""
    words = [compiler, "-std=gnu11", "-O2", "-fopenmp", "-w", "-DTW_PARALLEL_MIN=0", *flags, "-xc", "-", "-lm"]
    subprocess.run([*words, "-o", folder / "run"], input=text, text=True, check=True)
    return subprocess.run([folder / "run"], check=True, capture_output=True, text=True).stdout


@pytest.fixture(scope="module")
def generated() -> Generated:
    return made_of(program(CASES))


def test_regions_are_taken(generated: Generated) -> None:
    """All but those with arithmetic that surely wraps around."""
    starts = [k + 1 for k, x in enumerate(program(CASES).splitlines()) if x.startswith("#pragma scop")]
    left = {d.loc.line for d in generated.diagnostics if d.id == "region-refused"}
    assert {name for name, at in zip(CASES, starts, strict=True) if at in left} == {"at-least", "local", "hexadecimal"}


@pytest.mark.parametrize("compiler", with_openmp())
def test_same_results(generated: Generated, compiler: str, tmp_path: Path) -> None:
    assert printed(generated.text, tmp_path, compiler) == printed(program(CASES), tmp_path, compiler)


@pytest.mark.parametrize("compiler", with_openmp())
def test_short_enums(compiler: str, tmp_path: Path) -> None:
    """With -fshort-enums all are packed; what surely leaves a byte is refused."""
    names = ("local-late", "array", "conversion", "typedef", "counter", "member-bound", "bound-signed")
    source, flag = program({n: CASES[n] for n in names}), ("-fshort-enums",)
    made = made_of(source, flag)
    assert all(r.transformed for r in made.regions), made.diagnostics
    assert printed(made.text, tmp_path, compiler, flag) == printed(source, tmp_path, compiler, flag)


# Of C23, which few compilers have: what comes out is asked for, and compared where one does.
UNDERLYING = {
    "char": ("enum small : unsigned char { Q0, Q1 = 200 };", "", "{ enum small e = i * 3; a[i] = e; }"),
    "name": ("#include <stdint.h>\nenum named : int16_t { Q0, Q1 };", "", "l[i] = (enum named)(i * 999);"),
    "wide": ("enum long_one : long { Q0, Q1 };", "enum long_one e = v;", "l[i] = e * 70000L - i;"),
    "unsigned": ("enum u : unsigned { Q0, Q1 = 5 };", "enum u e = v;", "if (e - 5 > 3) a[i] += 1;"),
    "enumerator": ("enum u : unsigned { Q0, Q1 = 5 };", "", "if (Q0 - 5 < 0) a[i] += 1;"),
}  # fmt: skip


@pytest.mark.parametrize("name", UNDERLYING)
def test_types_of_their_own(name: str, tmp_path: Path) -> None:
    head, before, region = UNDERLYING[name]
    source = program({name: (before, f"for (int i = 0; i < n; i++) {region}")}, HEAD + head + "\n")
    made = made_of(source)
    assert made.regions[0].transformed == (name != "enumerator"), made.diagnostics
    for compiler in with_openmp():
        if has_types(compiler):
            assert printed(made.text, tmp_path, compiler) == printed(source, tmp_path, compiler)


def has_types(compiler: str) -> bool:
    """Whether a compiler takes enums with types in C."""
    words = [compiler, "-std=gnu2x", "-w", "-fsyntax-only", "-xc", "-"]
    return not subprocess.run(words, input=b"enum e : char { A };", capture_output=True).returncode
