"""Matrix products, matrix-vector products, and products over other operations."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from benchmarks.tensor_build import BLAS, SOURCES, Generated, Options, Program, Timed, Workshop
from benchmarks.tensor_report import Goal, Row

TYPES = {"d": ("double", 8, ()), "s": ("float", 4, ("SINGLE",))}
SQUARES = (64, 100, 128, 200, 256, 333, 512, 768, 1000, 1023, 1024, 1500, 2048)
SHAPES = ((4000, 64, 256), (64, 4000, 256), (1000, 1000, 16), (64, 64, 20000), (2000, 2000, 64))
TRANSPOSED = (200, 512, 1000)


class Group:
    """A part of the benchmark: what it builds, how it measures, what is asked."""

    name = ""
    ours, theirs = "ours", "theirs"
    goal: Goal | None = None
    needs_blas = False
    generated: tuple[Generated, ...] = ()
    programs: tuple[Program, ...] = ()

    def prepare(self, out: Path, options: Options) -> None:
        """Write sources that are made rather than stored."""

    def measure(self, shop: Workshop) -> list[Row]:
        raise NotImplementedError

    def row(self, section: str, case: str, t: Timed, work: float) -> Row:
        """The first two sides of a driver's line as rates."""
        ours, theirs = (work / s if s else 0.0 for s in t.seconds[:2])
        return Row(self.name, section, case, t.threads, ours, theirs, wrong=t.wrong)


def _gemm_objects() -> tuple[Generated, ...]:
    return tuple(Generated(f"{t}gemm", SOURCES / "gemm.c", (f"REAL={c}",)) for t, (c, _, _) in TYPES.items())


class Gemm(Group):
    """C += A B, A^T B and A B^T."""

    name = "gemm"
    ours, theirs = "GFlop/s", "OpenBLAS"
    goal = Goal(1.0, 0.85, "OpenBLAS")
    needs_blas = True
    generated = _gemm_objects()
    programs = tuple(
        Program(f"drive-{t}gemm", (SOURCES / "drive_gemm.c",), (f"{t}gemm",), defines, BLAS)
        for t, (_, _, defines) in TYPES.items()
    )

    def measure(self, shop: Workshop) -> list[Row]:
        squares, turned = ((64, 200, 512), (200,)) if shop.options.quick else (SQUARES, TRANSPOSED)
        shapes = [("nn", (n, n, n)) for n in squares] + [("nn", s) for s in SHAPES]
        shapes += [(kind, (n, n, n)) for kind in ("tn", "nt") for n in turned]
        rows = []
        for t in TYPES:
            cases = [":".join((kind, *map(str, shape))) for kind, shape in shapes]
            rows += [self.row(f"{t}gemm", shown(x.case), x, gflop(x.case)) for x in shop.drive(f"drive-{t}gemm", cases)]
        return rows


def shown(case: str) -> str:
    """nn:64:64:100 as a reader would write it."""
    kind, *sizes = case.split(":")
    return f"{'x'.join(sizes)}{'' if kind == 'nn' else ' ' + kind}"


def gflop(case: str) -> float:
    product = 2e-9
    for size in re.findall(r":(\d+)", case):
        product *= int(size)
    return product


class Vectors(Group):
    """y += A x and y += A^T x; the slower of OpenBLAS and of reading memory decides what is asked."""

    name = "mv"
    ours, theirs = "GB/s", "OpenBLAS"
    goal = Goal(1.0, 0.0, "min(1.05 of OpenBLAS, 0.95 of the read bandwidth)")
    needs_blas = True
    generated = tuple(
        Generated(f"{t}mv{r}", SOURCES / "mv.c", (f"REAL={c}",), option, renames)
        for t, (c, _, _) in TYPES.items()
        for r, option, renames in (("", (), ()), ("r", ("--reassociate",), ("mv=mvr", "mtv=mtvr")))
    )
    programs = tuple(
        Program(f"drive-{t}mv", (SOURCES / "drive_mv.c",), (f"{t}mv", f"{t}mvr"), defines, BLAS)
        for t, (_, _, defines) in TYPES.items()
    )
    kinds = (("mv", "A x"), ("mvr", "A x, reassociated"), ("mtv", "A^T x"))

    def measure(self, shop: Workshop) -> list[Row]:
        sizes = (512, 2048) if shop.options.quick else (512, 1024, 2048, 4096, 8192)
        rows = []
        for t, (_, size, _) in TYPES.items():
            for kind, text in self.kinds:
                for x in shop.drive(f"drive-{t}mv", [f"{kind}:{n}:{n}" for n in sizes]):
                    rows.append(self._row(f"{t}gemv {text}", x, int(x.case.split(":")[1]) ** 2 * size * 1e-9))
        return rows

    def _row(self, section: str, x: Timed, gigabytes: float) -> Row:
        case = shown(x.case).partition("x")[0]
        if x.wrong:
            return Row(self.name, section, case, x.threads, 0.0, 0.0, wrong=x.wrong)
        ours, reading, theirs = (gigabytes / s for s in x.seconds)
        more = {"reading": reading, "% of it": 100 * ours / reading}
        bandwidth = max(reading, ours, theirs)  # a product reads the matrix too; a disturbed loop makes nobody better
        return Row(self.name, section, case, x.threads, ours, theirs, ours / min(1.05 * theirs, 0.95 * bandwidth), more)


class _Square(Group):
    """Products of square matrices against a loop in registers."""

    ours, theirs = "Gstep/s", "bound"
    variants: tuple[tuple[str, str, tuple[str, ...], tuple[str, ...]], ...]  # section, source, defines, operations

    def _declare(self, kind: str) -> None:
        self.generated = tuple(Generated(f"{kind}-{v[0]}", SOURCES / f"{v[1]}.c", v[2]) for v in self.variants)
        self.programs = tuple(
            Program(f"drive-{kind}-{v[0]}", (SOURCES / "drive_square.c",), (f"{kind}-{v[0]}",), (*v[2], v[1].upper()))
            for v in self.variants
        )

    def measure(self, shop: Workshop) -> list[Row]:
        rows = []
        for (section, _, _, operations), program in zip(self.variants, self.programs, strict=True):
            found: list[Timed] = []
            for threads in shop.options.threads:
                cases = [f"{op}:{n}" for op in operations for n in _sizes(shop.options, threads)]
                found += shop.drive(program.name, cases, [threads])
            for x in sorted(found, key=lambda x: _place(x.case, operations)):
                op, n = x.case.split(":")
                rows.append(self.row(section, f"{op} {n}", x, int(n) ** 3 * 1e-9))
        return rows


def _place(case: str, operations: Sequence[str]) -> tuple[int, int]:
    op, n = case.split(":")
    return operations.index(op), int(n)


def _sizes(options: Options, threads: int) -> Sequence[int]:
    """The largest takes long: all threads only, unless everything was asked for."""
    if options.quick:
        return (512,)
    return (512, 1024, 2048) if options.full or threads == max(options.threads) else (512, 1024)


class Semirings(_Square):
    """(min,+) and the like, and the product of Boolean matrices."""

    name = "semiring"
    goal = Goal(0.9, 0.9, "the register loop")
    operations = ("min_plus", "max_plus", "max_times", "min_times", "min_max", "max_min")
    variants = (
        ("f64", "semiring", (), operations),
        ("f32", "semiring", ("SINGLE",), operations),
        ("u64", "bits", ("WORD=uint64_t",), ("or_and",)),
        ("u32", "bits", ("WORD=uint32_t",), ("or_and",)),
    )

    def __init__(self) -> None:
        self._declare(self.name)


class Integers(_Square):
    """Integer products, with sums as wide as the factors or wider."""

    name = "integer"
    goal = Goal(0.8, 0.8, "the register loop")
    variants = (
        ("i16", "integer", ("FACTOR=short", "SUM=short"), ("mul_add",)),
        ("i8-i32", "integer", ("FACTOR=signed char", "SUM=int"), ("mul_add",)),
        ("i16-i32", "integer", ("FACTOR=short", "SUM=int"), ("mul_add",)),
    )

    def __init__(self) -> None:
        self._declare(self.name)
