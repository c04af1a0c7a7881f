"""python -m benchmarks.proven: prove the printed products of the corpus, and list them in codegen/verify/text/data.

With names of kernels (`gemm atax`) only those are proven, and the list stays as it is. With `--more` what the list
holds is kept and not proven again, as long as the proofs are the same.

With every instruction set, with and without threads, and for ranks; products as other programs have them
(`usual_products`) without ranks, and those of the programs for `--auto` and the corpus in f32 for the default machine
alone. What the list holds is not proven again in every build.
Most kernels of the corpus have no product: what has none with one instruction set is not tried with the others.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext, suppress
from functools import cache
from itertools import product, repeat
from pathlib import Path

from benchmarks import usual_products
from codegen.diagnostics import TilewrightError
from codegen.isa.known import ISAS
from codegen.machine.load import load_for
from codegen.options import CppOptions, GenOptions
from codegen.region import RegionOutcome, process_region
from codegen.source.marks import region_of
from codegen.source.nests import find_nests
from codegen.source.regions import Region
from codegen.source_file import open_regions, open_source
from codegen.verify.text import proven

EXAMPLES = Path(__file__).parents[1] / "examples"
KERNELS = EXAMPLES / "kernels"
TARGETS = ("openmp", "c")
RANKS = "mpi"
STRIDE = 7919  # a prime: parts of turns that follow each other have little in common
FLOAT = ("-DREAL=float",)  # the corpus in another type
Source = tuple[str, str]  # a name and a text
How = tuple[str, str, tuple[str, ...]]  # an instruction set, a target, and definitions of macros
Made = tuple[frozenset[str], bool]  # keys of what was proven just now; is there a blocked product?
WAYS: tuple[How, ...] = tuple((isa, target, ()) for isa, target in product(ISAS, TARGETS))


def main() -> int:
    given = _arguments()
    names: list[str] = given.kernel
    first, *others = WAYS
    every = list(map(_read, [KERNELS / f"{name}.c" for name in names])) or corpus()
    programs = [] if names else list(map(_read, sorted(EXAMPLES.glob("auto-*/*.c"))))
    usual = [] if names else list(usual_products.programs())
    kept = proven.listed() if given.more else frozenset()
    found: set[str] = set()
    with ProcessPoolExecutor(initializer=None if given.more else _prove_all) as pool:
        made = list(_shown(pool.map(_proven, every, repeat(first), chunksize=2), len(every)))
        found.update(*(keys for keys, _ in made))
        # By instruction set: a process proves a kernel that several files use once.
        having = [p for p, (keys, blocked) in zip(every, made, strict=True) if keys or blocked]
        ranks: list[How] = [(isa, RANKS, ()) for isa in ISAS]
        rest = [(p, how) for how in (*ranks, *others) for p in having]  # long ones first
        rest += [(p, (first[0], t, FLOAT)) for t in TARGETS for p in having]
        rest += [(p, (first[0], t, ())) for t in TARGETS for p in programs]
        rest += [(p, how) for how in WAYS for p in usual]
        size = max(1, len(having) // 4)
        made = _shown(pool.map(_proven, *zip(*rest, strict=True), chunksize=size), len(rest))
        found.update(*(keys for keys, _ in made))
    print(file=sys.stderr)
    if names:
        print(f"{len(found)} texts proven")
    else:
        proven.write(found | kept)
    return 0


@cache
def corpus() -> list[Source]:
    """The kernels of the corpus, and nests in other programs' style."""
    return list(map(_read, sorted(p for folder in (KERNELS, EXAMPLES / "real-style") for p in folder.glob("*.c"))))


def part(turn: int) -> list[tuple[Source, How]]:
    """A part of all texts, another one in each turn: one kernel of the corpus and one usual program, in one of the
    ways."""
    every = ([(p, how) for how in WAYS for p in programs] for programs in (corpus(), list(usual_products.programs())))
    return [tasks[turn * STRIDE % len(tasks)] for tasks in every]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.proven", description=__doc__)
    known = sorted(p.stem for p in KERNELS.glob("*.c"))
    parser.add_argument("kernel", nargs="*", choices=[[], *known], metavar="NAME", help="a kernel of examples/kernels")
    parser.add_argument("--more", action="store_true", help="keep what is listed, and prove what is not")
    return parser.parse_args()


def _shown(parts: Iterable[Made], count: int) -> Iterator[Made]:
    """The same, with a line that says how far it is."""
    for k, part in enumerate(parts, 1):
        print(f"\r{k} of {count}", end="", file=sys.stderr, flush=True)
        yield part


def _prove_all() -> None:
    """Nothing counts that was listed before."""
    proven.listed = frozenset  # type: ignore[assignment]


def _read(path: Path) -> Source:
    return str(path), path.read_text(encoding="utf-8")


def _proven(source: Source, how: How) -> Made:
    proven.made.clear()
    blocked = False
    try:
        done = list(outcomes(source, how))
        blocked = any("tw_rows" in (x.text or "") for x in done)
    except TilewrightError as error:
        print(f"\n{source[0]}, {how[0]}, {how[1]}: {error}", file=sys.stderr)
    return frozenset(proven.made), blocked


def outcomes(source: Source, how: How) -> Iterator[RegionOutcome]:
    """What becomes of each region of a program, or of its nests where none is marked."""
    (name, text), (isa, target, defines) = source, how
    options = GenOptions(target=target, isa=isa, cpp=CppOptions(args=defines))
    marked = open_source(name, text, options).slices
    for s in marked or open_regions(name, text, options, _nests(text)).slices:
        with nullcontext() if marked else suppress(TilewrightError):  # nests that nobody has marked may be refused
            yield process_region(s, text, options, load_for("generic", isa))


def _nests(text: str) -> tuple[Region, ...]:
    """The nests of a program without marks."""
    return tuple(region_of(text, n, k + 1) for k, n in enumerate(find_nests(text)))


if __name__ == "__main__":
    sys.exit(main())
