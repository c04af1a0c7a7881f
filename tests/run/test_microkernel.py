"""Printed micro-kernels against scalar C, bit for bit, on every instruction set that can run here."""

from __future__ import annotations

import platform
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from codegen.isa.load import load
from codegen.isa.model import C_TYPES, Isa, is_float
from codegen.options import GenOptions
from codegen.pipeline import generate
from codegen.scop.lanes import ELEMENTS, Lane, walk
from codegen.target.finish.index_type import defined
from codegen.target.product.microkernel import (
    MicroKernel,
    asked_sizes,
    is_rolled,
    micro_kernel,
    name,
    nr_max,
    nr_text,
    prelude,
)
from codegen.target.product.microkernel_rolled import STEPS, looks_further

WARN = ("-Wall", "-Wextra", "-Werror")
EXACT = ("-DTW_NO_FMA", "-ffp-contract=off")
A, B, C, S = Lane("a"), Lane("b"), Lane("acc"), Lane("const")


def op(kind: str, *args: Lane) -> Lane:
    return Lane(kind, args)


def steps(elem: str) -> Iterator[Lane]:
    """What people write, and in addition every operation at least once."""
    product = op("mul", A, B)
    yield from (op("add", C, product), op("sub", C, product), op("add", op("mul", B, A), C))
    yield from (op(f, C, op(g, A, B)) for f, g in (("min", "add"), ("max", "add"), ("max", "mul"), ("min", "mul")))
    yield from (op("min", C, op("max", A, B)), op("max", C, op("min", B, A)), op("max", C, op("div", A, B)))
    yield from (op("add", C, op("mul", product, S)), op("sub", op("add", product, S), op("neg", C)))
    yield from (op("anymin", C, op("add", A, B)), op("anymax", op("sub", A, B), C))
    yield op("select", op("lt", A, B), op("add", C, A), op("sub", C, op("mul", B, op("mul", A, A))))
    yield op("select", op("mand", op("le", A, B), op("mnot", op("eq", A, S))), op("add", C, B), op("max", C, A))
    yield op("select", op("mor", op("gt", A, B), op("ge", C, A)), op("min", B, C), op("select", op("ne", A, B), A, C))
    if is_float(elem):
        yield from (op("fmin", C, op("add", A, B)), op("fmax", op("mul", A, B), C))
    else:
        yield from (op("or", C, op("and", A, B)), op("xor", op("not", C), op("or", op("and", A, S), B)))
        yield from (op(w, op("add", C, product)) for w in ("wrap8", "wrapu8", "wrap16", "wrapu16"))


def cases(isa: Isa) -> list[MicroKernel]:
    """Every step of every type; tiles with rows that are lanes and rows that are not, other forms now and then."""
    found = []
    for elem in ELEMENTS:
        rows = isa.vec(elem).group + 1 if isa.vec(elem).group in (2, 4) else 2
        for i, step in enumerate(steps(elem)):
            consts = int(S in walk(step))
            columns = 1 + (i % 4 == 0)
            direct, spread = i % 5 == 1, isa.bits > 0 and i % 5 in (2, 3)
            kernel = MicroKernel(elem, step, consts, rows, columns, direct, unroll=1 + (i % 7 == 2), spread=spread)
            found.append(kernel)
    found.append(MicroKernel("i16", op("add", C, op("mul", A, B)), 0, 9, 1))
    return found


# Scalar C for every operation: what lanes.py promises, in the plainest words.
SCALAR = r"""
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#define F __attribute__((unused)) static
#define ANY(T, E) \
  F T min_##E(T x, T y) { return x < y ? x : y; } F T max_##E(T x, T y) { return x > y ? x : y; } \
  F T anymin_##E(T x, T y) { return x < y ? x : y; } F T anymax_##E(T x, T y) { return x > y ? x : y; } \
  F int lt_##E(T x, T y) { return x < y; } F int le_##E(T x, T y) { return x <= y; } \
  F int gt_##E(T x, T y) { return x > y; } F int ge_##E(T x, T y) { return x >= y; } \
  F int eq_##E(T x, T y) { return x == y; } F int ne_##E(T x, T y) { return x != y; } \
  F int mand_##E(int x, int y) { return x && y; } F int mor_##E(int x, int y) { return x || y; } \
  F int mnot_##E(int x) { return !x; } F T select_##E(int m, T x, T y) { return m ? x : y; } \
  F T div_##E(T x, T y) { return (T)(x / y); }
#define REAL(T, E, FMIN, FMAX) ANY(T, E) \
  F T add_##E(T x, T y) { return x + y; } F T sub_##E(T x, T y) { return x - y; } \
  F T mul_##E(T x, T y) { return x * y; } F T neg_##E(T x) { return -x; } \
  F T fmin_##E(T x, T y) { return FMIN(x, y); } F T fmax_##E(T x, T y) { return FMAX(x, y); } \
  F T value_##E(uint64_t u, int kind) { \
    const T odd[] = { NAN, INFINITY, -INFINITY, 0, (T)-0.0, 1, -1, 2 }; \
    return kind != 1 && u % 4 == 0 ? odd[(u >> 8) % 8] : (T)((int64_t)(u >> 12) % 4001 * 2 - 4001) / 1024; } \
  F int same_##E(T x, T y, int kind) { \
    return memcmp(&x, &y, sizeof x) == 0 || (x != x && y != y) || (kind == 2 && x == y); } \
  CHECK(T, E)
#define INT(T, E) ANY(T, E) \
  F T add_##E(T x, T y) { return (T)((uint64_t)x + (uint64_t)y); } \
  F T sub_##E(T x, T y) { return (T)((uint64_t)x - (uint64_t)y); } \
  F T mul_##E(T x, T y) { return (T)((uint64_t)x * (uint64_t)y); } F T neg_##E(T x) { return (T)(0 - (uint64_t)x); } \
  F T and_##E(T x, T y) { return x & y; } F T or_##E(T x, T y) { return x | y; } \
  F T xor_##E(T x, T y) { return x ^ y; } F T not_##E(T x) { return (T)~x; } \
  F T wrap8_##E(T x) { return (T)(int8_t)x; } F T wrapu8_##E(T x) { return (T)(uint8_t)x; } \
  F T wrap16_##E(T x) { return (T)(int16_t)x; } F T wrapu16_##E(T x) { return (T)(uint16_t)x; } \
  F T value_##E(uint64_t u, int kind) { \
    const uint64_t low = (uint64_t)1 << (8 * sizeof(T) - 1), odd[] = { 0, 1, 2, low, low - 1, ~(uint64_t)0, 3, 5 }; \
    const T x = (T)(u % 4 == 0 ? odd[(u >> 8) % 8] : u >> 16); \
    return kind == 3 && (x == 0 || (sizeof x > 2 && x == (T)-1)) ? 7 : x; } \
  F int same_##E(T x, T y, int kind) { return x == y || kind < 0; } \
  CHECK(T, E)
/* Kinds of data: 0 anything, 1 ordinary numbers, 2 anything but the sign of zero does not matter, 3 for division. */
#define CHECK(T, E) \
  typedef void call_##E(long, const T *, long, long, const T *, long, T *, long, T); \
  typedef T ref_##E(T, T, T, T); \
  F int check_##E(const char *name, call_##E *call, ref_##E *ref, long mr, long nr, int direct, int kind) { \
    static T a[8192] __attribute__((aligned(64))), b[8192] __attribute__((aligned(64))), c[8192], d[8192]; \
    int bad = 0; \
    for (long turn = 0; turn < 40; turn++) { \
      const long k = turn % 5 < 4 ? turn % 5 : 7; \
      const long ar = direct ? k + 3 : 1, as = direct ? 1 : mr, bs = direct ? nr + 1 : nr, ldc = nr + 3; \
      const T s0 = value_##E(next(), 1); \
      for (long i = 0; i < mr * (k + 3); i++) a[i] = value_##E(next(), kind); \
      for (long i = 0; i < k * (nr + 1); i++) b[i] = value_##E(next(), kind); \
      for (long i = 0; i < mr * ldc; i++) c[i] = d[i] = value_##E(next(), kind); \
      call(k, a, ar, as, b, bs, c, ldc, s0); \
      for (long p = 0; p < k; p++) for (long r = 0; r < mr; r++) for (long j = 0; j < nr; j++) \
        d[r * ldc + j] = ref(d[r * ldc + j], a[r * ar + p * as], b[p * bs + j], s0); \
      for (long i = 0; i < mr * ldc; i++) bad += !same_##E(c[i], d[i], kind); \
    } \
    if (bad) printf("%s: %d differ\n", name, bad); \
    return bad != 0; }
static uint64_t state = 1;
F uint64_t next(void) { state = state * 6364136223846793005u + 1442695040888963407u; return state >> 5 ^ state >> 37; }
REAL(double, f64, fmin, fmax) REAL(float, f32, fminf, fmaxf)
INT(int64_t, i64) INT(uint64_t, u64) INT(int32_t, i32) INT(uint32_t, u32)
INT(int16_t, i16) INT(uint16_t, u16) INT(int8_t, i8) INT(uint8_t, u8)
"""


def kind_of(step: Lane) -> int:
    ops = {e.op for e in walk(step)}
    return 1 if ops & {"anymin", "anymax"} else 2 if ops & {"fmin", "fmax"} else 3 if "div" in ops else 0


def scalar(e: Lane, elem: str) -> str:
    if not e.args:
        return "s0" if e == S else e.op
    return f"{e.op}_{elem}({', '.join(scalar(x, elem) for x in e.args)})"


def one(isa: Isa, mk: MicroKernel, reference: str = "") -> tuple[str, str]:
    """Definitions for a kernel, and the call that checks it."""
    t, n = C_TYPES[mk.elem], name(isa, mk)
    streams = "a, ar, as, b, bs" if mk.direct else "a, b"
    sizes = {"m": mk.mr, "n": nr_max(isa, mk)}
    given = "".join(f"{sizes[x]}, " for x in asked_sizes(isa, mk)) if is_rolled(isa, mk) else ""
    ref = reference or scalar(mk.step, mk.elem)
    lanes = nr_max(isa, mk) // mk.nv
    copy = f"for (long i = 0; i < {mk.mr} * k * {lanes}; i++) w[i] = a[i / {lanes}];"
    wide = f"static {t} w[8192]; {copy} a = w;" if mk.spread else ""
    more = (", b, 1" if looks_further(isa, mk) else "") + (", s0" if mk.consts else "")
    text = f"""{micro_kernel(isa, mk)}
static void call_{n}(long k, const {t} *a, long ar, long as, const {t} *b, long bs, {t} *c, long ldc, {t} s0)
{{ (void)ar, (void)as, (void)bs, (void)s0; {wide} {n}({given}k, {streams}, c, ldc{more}); }}
static {t} ref_{n}({t} acc, {t} a, {t} b, {t} s0) {{ (void)s0; return {ref}; }}
"""
    kind = kind_of(mk.step)
    return text, f'check_{mk.elem}("{n}", call_{n}, ref_{n}, {mk.mr}, {nr_text(isa, mk)}, {int(mk.direct)}, {kind})'


def program(isa: Isa, kernels: list[MicroKernel], fused: bool = False) -> str:
    """A C program that checks kernels and fails if one of them differs."""
    parts = []
    for mk in kernels:
        sign = "-" if mk.step.op == "sub" else ""
        parts.append(one(isa, mk, f"fma{'f' if mk.elem == 'f32' else ''}({sign}a, b, acc)" if fused else ""))
    assert all(nr_max(isa, k) * (k.mr + 1) < 8192 for k in kernels)
    assert all(7 * k.mr * nr_max(isa, k) // k.nv < 8192 for k in kernels if k.spread)
    checks = "".join(f"  bad += {check};\n" for _, check in parts)
    target = f'__attribute__((target("{isa.target}")))\n' if isa.target else ""
    main = f"{target}int main(void)\n{{\n  int bad = 0;\n{checks}  return bad != 0;\n}}\n"
    text = "\n".join([prelude(isa, kernels), SCALAR, *(text for text, _ in parts), main])
    return defined(text) + text


HOST = {"arm64": "aarch64", "amd64": "x86_64"}.get(platform.machine(), platform.machine())
FLAGS = Path("/proc/cpuinfo").read_text(encoding="utf-8") if Path("/proc/cpuinfo").exists() else ""
# Instruction set, width for `generic`, what the processor is called in cross tools, what qemu must pretend to be.
RUNS = [
    ("generic", 128, "", ()),
    ("generic", 256, "", ()),
    ("neon", 128, "aarch64", ("max",)),
    ("sve", 0, "aarch64", ("max,sve-max-vq=1", "max,sve-max-vq=2", "max,sve-max-vq=4")),
    ("avx2", 0, "x86_64", ("max",)),
    ("avx512", 0, "x86_64", ()),
]


def compiler(family: str) -> str:
    """A compiler for a family of processors; skips the test where there is none."""
    native = family in ("", HOST)
    found = shutil.which("gcc" if native else f"{family}-linux-gnu-gcc") or (shutil.which("cc") if native else None)
    if found is None:
        pytest.skip(f"no C compiler for {family or 'this machine'}")
    return found


def runners(isa: str, family: str, models: tuple[str, ...]) -> list[list[str]]:
    """Commands to put before the program, one for each way to run it; skips the test where there is none."""
    wanted = {"neon": "asimd", "sve": " sve ", "avx2": "avx2", "avx512": "avx512dq"}.get(isa, "")
    if not family or (family == HOST and wanted in FLAGS):
        return [[]]
    qemu = shutil.which(f"qemu-{family}") or shutil.which(f"qemu-{family}-static")
    if not models or qemu is None:
        pytest.skip(f"compiled; nothing here runs {isa}")
    root = () if family == HOST else ("-L", f"/usr/{family}-linux-gnu")
    return [[qemu, "-cpu", model, *root] for model in models]


def march(isa: str) -> tuple[str, ...]:
    """Only for callers of the kernels that ask for the vector length; the kernels themselves say what they need."""
    return ("-march=armv8-a+sve",) if isa == "sve" else ()


def build(where: Path, text: str, cc: str, *flags: str) -> Path:
    source, out = where / "t.c", where / "t"
    source.write_text(text, encoding="utf-8")
    done = subprocess.run([cc, str(source), "-o", str(out), *flags], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:4000]
    return out


def run_all(built: Path, before: list[list[str]]) -> None:
    for words in before:
        done = subprocess.run([*words, str(built)], capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, f"{words}: {done.returncode}\n{done.stdout}{done.stderr}"


@pytest.mark.slow
@pytest.mark.parametrize(("isa", "bits", "family", "models"), RUNS, ids=str)
def test_every_step(tmp_path: Path, isa: str, bits: int, family: str, models: tuple[str, ...]) -> None:
    """All steps and types, in the roundings of the source."""
    table = load(isa, bits or 128)
    kernels = cases(table)[:: 6 if bits == 256 else 1]  # wider than the registers: slow to compile
    # gcc on x86 without AVX has a word about passing such vectors, though every function that does is inlined.
    flags = ("-std=c11", "-O1", *WARN, *EXACT, *march(isa), "-Wno-psabi", "-lm")
    run_all(build(tmp_path, program(table, kernels), compiler(family), *flags), runners(isa, family, models))


@pytest.mark.slow
@pytest.mark.parametrize(("isa", "bits", "family", "models"), RUNS[2:], ids=str)
def test_fused(tmp_path: Path, isa: str, bits: int, family: str, models: tuple[str, ...]) -> None:
    """Without TW_NO_FMA, a multiply-add rounds once."""
    table, product = load(isa), op("mul", A, B)
    kernels = [
        MicroKernel(elem, op(join, C, product), 0, 5, 2, direct)
        for elem in ("f64", "f32")
        for join in ("add", "sub")
        for direct in (False, True)
    ]
    flags = ("-std=gnu11", "-O2", *WARN, *march(isa), "-lm")
    built = build(tmp_path, program(table, kernels, fused=True), compiler(family), *flags)
    run_all(built, runners(isa, family, models))


@pytest.mark.parametrize(("isa", "bits", "family", "models"), RUNS, ids=str)
def test_clang_accepts(tmp_path: Path, isa: str, bits: int, family: str, models: tuple[str, ...]) -> None:
    clang = shutil.which("clang")
    if clang is None:
        pytest.skip("no clang")
    native = family in ("", HOST)
    flags = () if native else (f"--target={family}-linux-gnu", f"-I/usr/{family}-linux-gnu/include")
    if not native and not Path(f"/usr/{family}-linux-gnu/include").is_dir():
        pytest.skip(f"no headers for {family}")
    table = load(isa, bits or 128)
    build(tmp_path, program(table, cases(table)), clang, "-fsyntax-only", "-std=c11", *WARN, *flags, *march(isa))


def loops(assembly: str) -> list[str]:
    """The innermost loops: from a label to a conditional jump back to it, with no such jump between. What is asked for
    on a condition may stand elsewhere."""
    lines = assembly.splitlines()
    at = {line[:-1]: n for n, line in enumerate(lines) if re.fullmatch(r"\.L\w+:", line)}
    jumps = [(n, re.fullmatch(r"\s+(b|cb|tb|j)(\S*)\s+(?:.*[ ,\t])?(\.L\w+)", line)) for n, line in enumerate(lines)]
    back = [(at[m[3]], n) for n, m in jumps if m and (m[1] + m[2]) not in ("jmp", "b") and at.get(m[3], n) < n]
    inner = [(i, n) for i, n in back if not any(i <= k and q < n for k, q in back)]
    return ["\n".join(lines[i : n + 1]) for i, n in inner]


def kernel_loops(where: Path, table: Isa, mk: MicroKernel, family: str) -> list[str]:
    text = f"{prelude(table, [mk])}\n{micro_kernel(table, mk)}\nvoid *keep = (void *){name(table, mk)};\n"
    text = defined(text) + text
    return loops(build(where, text, compiler(family), "-O3", "-S", "-std=gnu11").read_text(encoding="utf-8"))


def stack(body: str) -> list[str]:
    return [line for line in body.splitlines() if re.search(r"\[(sp|x29)|\(%r[sb]p", line)]


# Tiles of the processor model for min(acc, a + b), in steps of two operations.
PLUS = [
    ("neon", "aarch64", "f64", 5, 4, True), ("neon", "aarch64", "f32", 5, 4, True),
    ("avx2", "x86_64", "f64", 5, 2, False), ("avx512", "x86_64", "f32", 13, 2, False),
    ("sve", "aarch64", "f64", 13, 2, False),
]  # fmt: skip


@pytest.mark.parametrize(("isa", "family", "elem", "mr", "nv", "spread"), PLUS)
def test_no_spills_between_operations(
    tmp_path: Path, isa: str, family: str, elem: str, mr: int, nv: int, spread: bool
) -> None:
    """Neither accumulators nor what waits between the operations of a step go to the stack; values of a that are
    spread cost no operation of the vector units."""
    least = "fmin" if isa in ("neon", "sve") else "min"
    table, mk = load(isa), MicroKernel(elem, op(least, C, op("add", A, B)), 0, mr, nv, spread=spread)
    (body,) = [b for b in kernel_loops(tmp_path, table, mk, family) if len(re.findall(r"v?f?min\w*\s", b)) == mr * nv]
    assert len(re.findall(r"v?f?add(?:p[sd])?\s+[vzxyz%]", body)) >= mr * nv
    assert not stack(body) and not re.search(r"\bdup\b|ld1r\b", body if spread else "")


TILES = [
    ("neon", "aarch64", "f64", 6, 4), ("neon", "aarch64", "f32", 8, 3), ("avx2", "x86_64", "f64", 6, 2),
    ("avx2", "x86_64", "f32", 6, 2), ("avx512", "x86_64", "f64", 14, 2), ("sve", "aarch64", "f64", 8, 3),
]


@pytest.mark.parametrize("direct", [False, True], ids=["packed", "direct"])
@pytest.mark.parametrize(("isa", "family", "elem", "mr", "nv"), TILES)
def test_no_spills(tmp_path: Path, isa: str, family: str, elem: str, mr: int, nv: int, direct: bool) -> None:
    """The accumulators stay in registers: nothing in the loop touches the stack."""
    if direct and mr > 8 and family == "x86_64":
        pytest.skip("more rows than general registers: their offsets are on the stack")
    table, mk = load(isa), MicroKernel(elem, op("add", C, op("mul", A, B)), 0, mr, nv, direct)
    found = kernel_loops(tmp_path, table, mk, family)
    together = 4 if STEPS in micro_kernel(table, mk) else 1
    body = [b for b in found if len(re.findall(r"\b(?:v?fn?ml[as]|vfmadd\w+)", b)) == together * mr * nv]
    assert body, f"no loop with {together} times {mr * nv} multiply-adds"
    assert not stack("\n".join(body))


NARROW = """void f(int n, short c[n][n], short a[n][n], short b[n][n], signed char y[n], signed char x[n][n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        c[i][j] -= a[i][k] * b[k][j] + a[i][k];
#pragma endscop
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      y[i] += x[i][j] * x[i][j];
#pragma endscop
}
int main(void)
{
  enum { N = 97 };
  static short a[N][N], b[N][N], c[N][N];
  static signed char x[N][N], y[N];
  for (int i = 0; i < N * N; i++) {
    a[0][i] = (short)(i * 7919 % 331 - 150);
    b[0][i] = (short)(i * 104729 % 337 - 150);
    x[0][i] = (signed char)(i * 31);
  }
  f(N, c, a, b, y, x);
  short sum = 0;
  signed char most = 0;
  for (int k = 0; k < N; k++) {
    sum -= a[5][k] * b[k][7] + a[5][k];
    most += x[9][k] * x[9][k];
  }
  return sum != c[5][7] || most != y[9];
}
"""


def test_narrow_integers_do_not_overflow(tmp_path: Path) -> None:
    """C computes with them as int, where nothing does; the lanes may not say that of themselves."""
    isa = "neon" if HOST == "aarch64" else "generic"
    made = generate("t.c", NARROW, GenOptions(machine="neoverse-n1", isa=isa, reassociate=True))
    assert all("product S1" in r.plan for r in made.regions)
    flags = ("-O1", "-w", "-fopenmp", "-fsanitize=signed-integer-overflow", "-fno-sanitize-recover")
    run_all(build(tmp_path, made.text, "gcc", *flags), [[]])
