"""python -m benchmarks.proven: prove the printed products of the corpus, and list them in codegen/verify/text/data.

With every instruction set, and with and without threads. What the list holds is not proven again in every build.
"""

from __future__ import annotations

import sys
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from pathlib import Path

from codegen.diagnostics import TilewrightError
from codegen.isa.load import NAMES
from codegen.machine.load import load_for
from codegen.opened import open_source
from codegen.options import GenOptions
from codegen.region import process_region
from codegen.verify.text import proven

KERNELS = Path(__file__).parents[1] / "examples" / "kernels"
TARGETS = ("openmp", "c")


def main() -> int:
    work = [(p, isa, target) for p in sorted(KERNELS.glob("*.c")) for isa, target in product(NAMES, TARGETS)]
    found: set[str] = set()
    with ProcessPoolExecutor(initializer=_prove_all) as pool:
        for k, names in enumerate(pool.map(_proven, work, chunksize=2), 1):
            found |= names
            print(f"\r{k} of {len(work)}, {len(found)} texts", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    proven.write(found)
    return 0


def _prove_all() -> None:
    """Nothing counts that was listed before."""
    proven.listed = frozenset  # type: ignore[assignment]


def _proven(work: tuple[Path, str, str]) -> frozenset[str]:
    path, isa, target = work
    proven.made.clear()
    options, text = GenOptions(target=target, isa=isa), path.read_text(encoding="utf-8")
    try:
        for s in open_source(str(path), text, options).slices:
            process_region(s, text, options, load_for("generic", isa))
    except TilewrightError as error:
        print(f"\n{path.name}, {isa}, {target}: {error}", file=sys.stderr)
    return frozenset(proven.made)


if __name__ == "__main__":
    sys.exit(main())
