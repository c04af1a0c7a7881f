"""Places in memory that are reached as more than one type: unions, structs used whole and by members, parts of them.

Every case is a function of one program. Source and result run on the same data, with sanitizers and threads, and all
bytes of the data are compared.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from codegen.options import GenOptions
from codegen.pipeline import Generated, generate
from tests.compilers import quick
from tests.corpus import some

HEAD = """#include <complex.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
typedef union { float f; uint32_t u; } bits;
typedef union { double d; uint32_t w[2]; struct { uint16_t a, b, c, d; } h; } wide;
typedef struct { int tag; union { float f; uint32_t u; } v; } tagged;
typedef struct { int tag; union { float f; uint32_t u; }; } nameless;
typedef struct { float x; int y; } pair;
union part { uint16_t low; uint32_t all; };
union deep { union { float f; int32_t i; } in; uint32_t u; };
struct single { bits b; };
typedef union { unsigned char c[4]; uint32_t u; } bytes;
typedef union { long double l; uint32_t u; } longest;
typedef union { float complex z; float f[2]; } both;
typedef union { bool b; unsigned char c; } truth;
static float x[64], y[64];
static uint32_t z[64];
static int e[64];
static double d[64];
static bits p[64];
static wide w[64];
static tagged t[64];
static nameless a[64];
static pair q[64];
static union part s[64];
static float C[16][16], A[16][16], B[16][16];
static bits kept = {1.5f};
"""
MAIN = """
static void reset(void)
{
  for (int i = 0; i < 64; i++) {
    x[i] = 0.25f * (float)(i * 7 % 23) - 1.5f; y[i] = 1.0f; z[i] = (uint32_t)i * 2654435761u; e[i] = i % 11 - 5;
    d[i] = i * 0.125; p[i].u = 0x3f800000u + (uint32_t)i * 4099u; w[i].d = 3.0 * i; t[i].tag = i; t[i].v.f = (float)i;
    a[i].tag = i; a[i].f = (float)i; q[i].x = (float)i; q[i].y = -i; s[i].all = (uint32_t)i * 77777u;
  }
  for (int i = 0; i < 256; i++)
    A[i / 16][i % 16] = (float)(i % 13), B[i / 16][i % 16] = (float)(i % 7), C[i / 16][i % 16] = (float)i;
}
static void tell(int k)
{
  uint32_t h = 2166136261u;
#define MIX(v) for (size_t i = 0; i < sizeof v; i++) h = (h ^ ((const unsigned char *)v)[i]) * 16777619u
  MIX(x); MIX(y); MIX(z); MIX(e); MIX(d); MIX(p); MIX(w); MIX(t); MIX(a); MIX(q); MIX(s); MIX(A); MIX(B); MIX(C);
  printf("%d %08x %08x\\n", k, (unsigned)h, (unsigned)kept.u);
}
"""
# What stands before the region, the region, and what must become of it: "threads", the id of a refusal, or "" for any.
CASES: dict[str, tuple[str, str, str]] = {
    "power of two": (
        "bits b;",
        "for (int i = 0; i < n; i++) { b.u = (uint32_t)(e[i] + 127) << 23; y[i] = x[i] * b.f; }",
        "threads",
    ),
    "declared in the loop": (
        "",
        "for (int i = 0; i < n; i++) { bits b; b.u = (uint32_t)(e[i] + 127) << 23; y[i] = x[i] * b.f; }",
        "threads",
    ),
    "declared in the loop, no name": (
        "",
        "for (int i = 0; i < n; i++) { union { float f; uint32_t u; } b; b.f = x[i]; z[i] = b.u >> 3; }",
        "threads",
    ),
    "no name": (
        "union { float f; uint32_t u; } b;",
        "for (int i = 0; i < n; i++) { b.f = x[i]; z[i] = b.u >> 3; }",
        "threads",
    ),
    "no name, copied": (
        "union { float f; uint32_t u; } b, c;",
        "for (int i = 0; i < n; i++) { b.f = x[i]; c = b; z[i] = c.u >> 3; }",
        "",
    ),
    "no name, copied in the loop": (
        "",
        "for (int i = 0; i < n; i++) { union { float f; uint32_t u; } b, c; b.f = x[i]; c = b; z[i] = c.u >> 3; }",
        "local-declaration",
    ),
    "copied": (
        "bits b, c;",
        "for (int i = 0; i < n; i++) { b.f = x[i]; c = b; z[i] = c.u >> 3; }",
        "threads",
    ),
    "looked at afterwards": (
        "bits b; b.u = 7;",
        "for (int i = 0; i < n; i++) { b.f = x[i] * 2; z[i] = b.u; }",
        "",
    ),
    "of the file": ("", "for (int i = 0; i < n; i++) { kept.f = x[i] * 2; z[i] = kept.u; }", ""),
    "two purposes": (
        "bits b;",
        "for (int i = 0; i < n; i++) { b.f = x[i]; z[i] = b.u; b.u = z[i] ^ 0x80000000u; y[i] = b.f; }",
        "threads",
    ),
    "a chain through both members": (
        "",
        "for (int i = 1; i < n; i++) p[i].u = (unsigned)(p[i - 1].f * 3.0f);",
        "",
    ),
    "a chain, written twice": (
        "",
        "for (int i = 1; i < n; i++) { p[i].f = p[i - 1].f * 1.25f; z[i] = p[i].u; p[i].u ^= 1u; }",
        "",
    ),
    "its own bits": ("", "for (int i = 0; i < n; i++) p[i].f = (float)p[i].u;", "threads"),
    "its own value": ("", "for (int i = 0; i < n; i++) p[i].u = (uint32_t)p[i].f;", "threads"),
    "added up": (
        "bits b; b.u = 0;",
        "for (int i = 0; i < n; i++) b.f += x[i]; for (int i = 0; i < 4; i++) z[i] = b.u;",
        "",
    ),
    "added up as the other": (
        "bits b;",
        "b.f = 1.0f; for (int i = 0; i < n; i++) { b.u += 3u; y[i] = b.f; }",
        "",
    ),
    "gathered in one": (
        "bits b;",
        "for (int j = 0; j < 16; j++) { b.f = 0; for (int i = 0; i < 16; i++) b.f += A[j][i]; z[j] = b.u; }",
        "",
    ),
    "gathered for an element": (
        "bits b;",
        "for (int i = 0; i < 16; i++) for (int j = 0; j < 16; j++) { b.f = 0; for (int k = 0; k < 16; k++)"
        " b.f += A[i][k] * B[k][j]; C[i][j] = (float)b.u; }",
        "",
    ),
    "factors of a product": (
        "",
        "for (int i = 0; i < 16; i++) for (int j = 0; j < 16; j++) for (int k = 0; k < 16; k++)"
        " C[i][j] += (float)p[i + k].f * (float)p[i + k].u * B[k][j];",
        "",
    ),
    "a factor of a product": (
        "",
        "for (int i = 0; i < 16; i++) for (int j = 0; j < 16; j++) for (int k = 0; k < 16; k++)"
        " C[i][j] += p[k].f * B[k][j]; for (int i = 0; i < 16; i++) p[i].u += 1u;",
        "",
    ),
    "the same in every iteration": (
        "bits b; b.u = 0x40490fdbu;",
        "for (int i = 0; i < n; i++) y[i] = x[i] * b.f + (float)b.u;",
        "threads",
    ),
    "set once": (
        "bits b;",
        "b.u = 0x40490fdbu; for (int i = 0; i < n; i++) y[i] = x[i] * b.f + (float)b.u;",
        "",
    ),
    "read at a distance": (
        "",
        "for (int i = 2; i < n; i++) { z[i] = p[i].u + p[i - 1].u; y[i] = p[i].f * p[i - 2].f; }",
        "threads",
    ),
    "one half": (
        "union part b; b.all = 0xabcd0000u;",
        "for (int i = 0; i < n; i++) { b.low = (uint16_t)z[i]; z[i] = b.all; }",
        "",
    ),
    "one half in an array": (
        "",
        "for (int i = 1; i < n; i++) { s[i].low = (uint16_t)(s[i - 1].all >> 3); z[i] = s[i].all; }",
        "",
    ),
    "all, then one half": (
        "union part b;",
        "for (int i = 0; i < n; i++) { b.all = z[i]; b.low = (uint16_t)i; z[i] = b.all + 1u; }",
        "threads",
    ),
    "words of a double": (
        "wide b;",
        "for (int i = 0; i < n; i++) { b.d = d[i]; b.h.a = (uint16_t)i; d[i] = b.d * 2; }",
        "",
    ),
    "elements of an array within": (
        "wide b;",
        "for (int i = 0; i < n; i++) { b.w[0] = z[i]; b.w[1] = 0x40000000u; d[i] = b.d; }",
        "unsupported-expression",
    ),
    "bytes": (
        "bytes b;",
        "for (int i = 0; i < n; i++) { b.u = z[i]; b.c[1] = 0; z[i] = b.u; }",
        "unsupported-expression",
    ),
    "within a struct": ("", "for (int i = 1; i < n; i++) t[i].v.f = (float)t[i - 1].v.u + (float)t[i].tag;", ""),
    "within a struct, one of its own": (
        "tagged b; b.tag = 5;",
        "for (int i = 0; i < n; i++) { b.v.f = x[i]; z[i] = b.v.u + (uint32_t)b.tag; }",
        "",
    ),
    "anonymous": ("", "for (int i = 1; i < n; i++) a[i].f = (float)a[i - 1].u + (float)a[i].tag;", ""),
    "anonymous, of its own": (
        "",
        "for (int i = 0; i < n; i++) { nameless b; b.tag = e[i]; b.f = x[i]; z[i] = b.u + (uint32_t)b.tag; }",
        "threads",
    ),
    "a union in a union": (
        "union deep b;",
        "for (int i = 0; i < n; i++) { b.in.f = x[i]; z[i] = b.u; b.u = z[i] + 1; y[i] = (float)b.in.i; }",
        "threads",
    ),
    "the only member of a struct": (
        "struct single b;",
        "for (int i = 0; i < n; i++) { b.b.f = x[i]; z[i] = b.b.u; }",
        "threads",
    ),
    "a struct by members and whole": (
        "pair b;",
        "for (int i = 0; i < n; i++) { b.x = x[i]; b.y = e[i]; q[i] = b; }",
        "",
    ),
    "a struct of which one member is set": (
        "pair b; b.y = 12;",
        "for (int i = 0; i < n; i++) { b.x = x[i]; q[i] = b; }",
        "",
    ),
    "a struct whole, then by members": (
        "pair b;",
        "for (int i = 0; i < n; i++) { b = q[i]; y[i] = b.x + (float)b.y; }",
        "threads",
    ),
    "a struct of the loop": (
        "",
        "for (int i = 0; i < n; i++) { pair b; b.y = e[i]; b.x = x[i]; y[i] = b.x + (float)b.y; q[i] = b; }",
        "threads",
    ),
    "a struct from a struct of the loop": (
        "",
        "for (int i = 0; i < n; i++) { pair b = q[i]; b.y += 2; y[i] = b.x * (float)b.y; }",
        "threads",
    ),
    "structs of an array": ("", "for (int i = 1; i < n; i++) { q[i].x = q[i - 1].x + 1; q[i - 1] = q[i]; }", ""),
    "an array of unions": (
        "bits b[8];",
        "for (int i = 0; i < n; i++) { for (int j = 0; j < 8; j++) b[j].f = x[(i + j) / 2];"
        " for (int j = 0; j < 8; j++) z[i] += b[j].u; }",
        "",
    ),
    "an array of unions of the loop": (
        "",
        "for (int i = 0; i < n; i++) { bits b[8]; for (int j = 0; j < 8; j++) b[j].f = x[(i + j) / 2];"
        " for (int j = 0; j < 8; j++) z[i] += b[j].u; }",
        "threads",
    ),
    "under a condition": (
        "bits b; b.u = 9;",
        "for (int i = 0; i < n; i++) { if (x[i] > 0) b.f = x[i]; z[i] = b.u; }",
        "",
    ),
    "in a condition": (
        "bits b;",
        "for (int i = 0; i < n; i++) { b.f = x[i]; if (b.u >> 31) b.u = 0; y[i] = b.f; }",
        "threads",
    ),
    "as a subscript": (
        "union { int i; float f; } b; b.i = 3;",
        "for (int i = 0; i < n; i++) { y[b.i] += x[i]; b.f = 0.0f; }",
        "",
    ),
    "as a bound": (
        "union { int i; float f; } b; b.i = 5;",
        "for (int i = 0; i < n; i++) { for (int j = 0; j < b.i; j++) y[j] += x[i]; b.f = 0.0f; }",
        "",
    ),
    "long double": (
        "longest b;",
        "for (int i = 0; i < n; i++) { b.l = x[i]; b.u += 2; y[i] = (float)b.l; }",
        "",
    ),
    "complex": (
        "both b;",
        "for (int i = 0; i < n; i++) { b.z = x[i]; b.z = b.z * b.z; y[i] = crealf(b.z); }",
        "",
    ),
    "truth": (
        "truth b;",
        "for (int i = 0; i < n; i++) { b.b = x[i] > 0; z[i] = b.c; }",
        "threads",
    ),
    "a pointer within": (
        "union { float *r; uint64_t u; } b; b.r = x;",
        "for (int i = 0; i < n; i++) { b.r[i] = y[i] * 2; z[i] += (uint32_t)(b.u == 0); }",
        "",
    ),
    "the address of a variable": (
        "float f;",
        "for (int i = 0; i < n; i++) { f = x[i]; z[i] = *(uint32_t *)&f; }",
        "pointer-arithmetic",
    ),
    "a pointer to a member": (
        "bits b; float *r = &b.f;",
        "for (int i = 0; i < n; i++) { b.u = z[i] >> 4; y[i] = *r; }",
        "",
    ),
    "a pointer to a member, set": (
        "bits b; uint32_t *r; r = &b.u;",
        "for (int i = 0; i < n; i++) { b.f = x[i]; z[i] = r[0]; }",
        "",
    ),
    "a pointer to a member of a struct": (
        "pair b; float *r = &b.x;",
        "for (int i = 0; i < n; i++) { b.x = x[i]; y[i] = *r; }",
        "",
    ),
    "a type of the function": (
        "typedef union { double d; uint64_t u; } whole; whole b;",
        "for (int i = 0; i < n; i++) { b.d = d[i]; b.u &= 0xfffffffff0000000u; d[i] = b.d; }",
        "threads",
    ),
    "either of two": (
        "bits b;",
        "for (int i = 0; i < n; i++) { if (e[i] > 0) b.f = x[i]; else b.f = -x[i]; z[i] = b.u; }",
        "threads",
    ),
    "both in one expression": (
        "bits b;",
        "for (int i = 0; i < n; i++) { b.f = x[i]; y[i] = b.u & 1u ? b.f : (float)b.u; }",
        "threads",
    ),
    "a stencil of both": (
        "",
        "for (int k = 0; k < 8; k++) for (int i = 1; i < n - 1; i++) p[i].f = p[i - 1].f + (float)(p[i + 1].u >> 24);",
        "",
    ),
    "two ahead": (
        "",
        "for (int i = 2; i < n; i++) p[i].f = p[i - 1].f * 0.5f + (float)(p[i - 2].u & 255u);",
        "",
    ),
    "a maximum of bits": (
        "bits b; b.u = 0;",
        "for (int i = 0; i < n; i++) b.u = p[i].u > b.u ? p[i].u : b.u; for (int i = 0; i < n; i++) y[i] = b.f;",
        "",
    ),
    "exchanged": (
        "bits b;",
        "for (int i = 0; i < n / 2; i++) { b = p[i]; p[i].u = p[n - 1 - i].u; p[n - 1 - i].f = b.f; }",
        "",
    ),
    "a pointer to the struct": (
        "pair b; pair *r = &b;",
        "for (int i = 0; i < n; i++) { b.x = x[i]; b.y = 2; y[i] = r->x; }",
        "",
    ),
    "a pointer to the union": ("bits b; bits *r = &b;", "for (int i = 0; i < n; i++) { b.f = x[i]; z[i] = r->u; }", ""),
    "a variable set through a pointer": (
        "float v = 1; float *r = &v;",
        "for (int i = 0; i < n; i++) { *r = x[i]; y[i] = v; }",
        "",
    ),
    "a variable set through a pointer, later": (
        "float v = 1; float *r = &v;",
        "for (int i = 0; i < n; i++) { y[i] = v; r[0] = x[i]; }",
        "",
    ),
    "a bound set through a pointer": (
        "int v = 9; int *r = &v;",
        "for (int i = 0; i < v; i++) { y[i] = x[i]; *r = 4; }",
        "nonaffine-bound",
    ),
    "a member that is a bound, set through a pointer": (
        "pair b; b.y = 9; int *r = &b.y;",
        "for (int i = 0; i < b.y; i++) { y[i] = x[i]; *r = 4; }",
        "nonaffine-bound",
    ),
    "a member behind a pointer, set through another": (
        "pair *b = q; b->y = 7; int *r = &b->y;",
        "for (int i = 0; i < n; i++) { y[i] = (float)b->y; *r = i; }",
        "",
    ),
    "an array in a struct": (
        "struct { int h; float *r; } b; b.h = n; b.r = x; float *r = b.r;",
        "for (int i = 0; i < b.h; i++) r[i] = y[i] + 1;",
        "threads",
    ),
    "a struct that was copied": (
        "struct { int h; float *r; } b, c; b.h = n; b.r = x; c = b;",
        "for (int i = 0; i < c.h; i++) b.r[i] = y[i] + (float)c.h;",
        "threads",
    ),
    "an array in a struct behind a pointer": (
        "struct row { int h; float *r; } b, *c = &b; b.h = n; b.r = x; float *r = c->r;",
        "for (int i = 0; i < c->h; i++) r[i] = y[i] + (float)c->h;",
        "threads",
    ),
    "a work array of somebody else's": (
        "float *r = y;",
        "for (int i = 0; i < n; i++) { for (int j = 0; j < 4; j++) r[j] = x[i] + (float)j;"
        " z[i] = (uint32_t)(r[3] + 9); }",
        "",
    ),
    "a cast array": ("", "for (int i = 0; i < n; i++) { y[i] *= 2; z[i] = ((uint32_t *)y)[i]; }", "pointer-arithmetic"),
    "characters of an array": (
        "",
        "for (int i = 0; i < n; i++) { z[i] += 7u; ((unsigned char *)z)[i] = 0; }",
        "pointer-arithmetic",
    ),
    "a compound literal": ("", "for (int i = 0; i < n; i++) z[i] = ((bits){x[i]}).u;", "pointer-arithmetic"),
}
SANITIZE = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all", *quick("gcc"))
STRICT = ("-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas", *SANITIZE)
OPTIONS = {
    "openmp": GenOptions(),
    "c": GenOptions(target="c"),
    "reassociate": GenOptions(reassociate=True),
    "native": GenOptions(machine="native"),
}


def function(k: int, before: str, body: str) -> str:
    after = "\n  kept = b;" if before == "bits b; b.u = 7;" else ""
    return f"static void f{k}(int n)\n{{\n  {before}\n#pragma scop\n  {body}\n#pragma endscop{after}\n  (void)n;\n}}\n"


def program(numbers: Sequence[int] = range(len(CASES))) -> str:
    """The cases with these numbers."""
    cases = list(CASES.values())
    parts = "".join(function(k, *cases[k][:2]) for k in numbers)
    calls = "".join(f"  reset(); f{k}(64 - {k} % 3); tell({k});\n" for k in numbers)
    return f"{HEAD}{parts}{MAIN}int main(void)\n{{\n{calls}  return 0;\n}}\n"


def output(text: str, folder: Path, *flags: str, cc: str = "gcc") -> dict[int, str]:
    (folder / "x.c").write_text(text)
    flags = ("-O1", "-std=gnu11", "-fopenmp", "-ffp-contract=off", "-DTW_NO_FMA", "-DTW_PARALLEL_MIN=0", *flags)
    made = subprocess.run(
        [cc, *flags, "-o", folder / "x", folder / "x.c", "-lm"], capture_output=True, text=True, timeout=120
    )
    assert not made.returncode, made.stderr
    env = {**os.environ, "OMP_NUM_THREADS": "3", "OMP_WAIT_POLICY": "passive"}
    done = subprocess.run([folder / "x"], capture_output=True, text=True, timeout=60, env=env)
    assert not done.returncode, done.stderr
    return {int(line.split()[0]): line for line in done.stdout.splitlines()}


@pytest.fixture(scope="module")
def want(tmp_path_factory: pytest.TempPathFactory) -> dict[int, str]:
    return output(program(), tmp_path_factory.mktemp("source"), "-Wno-unknown-pragmas")


@pytest.fixture(scope="module")
def usual() -> Generated:
    """All cases as they come out without options."""
    return generate("bytes.c", program(), replace(OPTIONS["openmp"], timeout=120))


def test_the_bytes_are_those_of_the_source(usual: Generated, want: dict[int, str], tmp_path: Path) -> None:
    got = output(usual.text, tmp_path, *STRICT)
    assert {name: got[k] for k, name in enumerate(CASES)} == {name: want[k] for k, name in enumerate(CASES)}


@pytest.mark.parametrize(("part", "way"), list(enumerate(w for w in OPTIONS if w != "openmp")))
def test_other_ways(part: int, way: str, tmp_path: Path) -> None:
    """A third of the cases each; `make corpus` takes all of them."""
    text = program(some(range(len(CASES)), part, len(OPTIONS) - 1))
    want = output(text, tmp_path, "-Wno-unknown-pragmas")
    made = generate("bytes.c", text, replace(OPTIONS[way], timeout=120))
    assert output(made.text, tmp_path, *STRICT) == want


def test_what_becomes_of_each(usual: Generated) -> None:
    made = usual
    parts = re.split(r"^static void f\d+", made.text, flags=re.M)[1:]
    refused = {d.loc.line: d.notes[0].id for d in made.diagnostics if d.id == "region-refused" and d.loc}
    lines = [i for i, text in enumerate(program().splitlines(), 1) if text == "#pragma scop"]
    for (name, (_, _, become)), part, line in zip(CASES.items(), parts, lines, strict=True):
        if become == "threads":
            assert "#pragma omp parallel for" in part, name
        elif become:
            assert refused.get(line) == become, name
