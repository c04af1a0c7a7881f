"""`python -m codegen.tune.learn`: measure trees, fit the estimate, train the policy, and write both for the package.

Measurements are kept in the records, so that a second call goes on where the first one ended.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from codegen.target.isa.model import Isa
from codegen.tune import contraction, tree
from codegen.tune.learn import dqn, shapes
from codegen.tune.learn.estimate import estimate
from codegen.tune.learn.network import Network, save
from codegen.tune.learn.samples import designed, promising, strange
from codegen.tune.learn.torch import regress
from codegen.tune.learn.traits import traits
from codegen.tune.measure.clock import Effort
from codegen.tune.measure.measurer import Measurer

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

EACH = 12  # trees of one product: they share a compilation
HELD_BACK = 10  # every tenth product of the records is kept for judging the estimate


def arguments(words: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m codegen.tune.learn", description=__doc__)
    parser.add_argument("--records", default="build/learn.records", metavar="FILE", help="measurements; added to")
    parser.add_argument("--strange", type=int, default=0, metavar="N", help="measure random trees of N products")
    parser.add_argument("--designed", type=int, default=0, metavar="N", help="measure register tiles of N products")
    parser.add_argument("--promising", type=int, default=0, metavar="N", help="measure the best trees of N products")
    parser.add_argument("--steps", type=int, default=0, metavar="N", help="train the policy for N steps")
    parser.add_argument("--seconds", type=float, default=3600.0, help="train for so long at most")
    parser.add_argument("--busy", action="store_true", help="measure processor time, on a machine with other work")
    parser.add_argument(
        "--also", action="append", default=[], metavar="FILE", help="records of other versions, for fitting"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "data", metavar="DIR")
    return parser.parse_args(words)


def main(words: Sequence[str] | None = None) -> int:
    given = arguments(words)
    Path(given.records).parent.mkdir(parents=True, exist_ok=True)
    random = Random(given.seed)
    effort = Effort(busy=given.busy)
    with Measurer(cache=given.records, effort=effort) as bench:
        isa, peak = bench.shop.isa, bench.peak()
        print(f"peak {peak:.1f} GFLOPS, {len(bench.cache.known)} trees known", flush=True)
        for n, problem in enumerate(random.sample(shapes.training(), given.strange)):
            bench(strange(problem, EACH, ("v1", "v2")[n % 2], random))
            _say(f"{n + 1} of {given.strange} products, {len(bench.cache.known)} trees")
        about = f"{bench.shop.isa.name}, peak {peak:.1f} GFLOPS"
        older = _older(given.also, peak)
        network = fit({**older, **_known(bench, peak)}, isa, about)
        value = estimate(network, isa)
        for n, problem in enumerate(random.sample(shapes.training(), given.designed)):
            bench(designed(problem, EACH, value, isa, random))
            _say(f"{n + 1} of {given.designed} products, {len(bench.cache.known)} trees")
        if given.promising:
            for n, problem in enumerate(random.sample(shapes.training(), given.promising)):
                bench(promising(problem, EACH, ("v1", "v2")[n % 2], value, random))
                _say(f"{n + 1} of {given.promising} products, {len(bench.cache.known)} trees")
        if given.promising or given.designed:
            network = fit({**older, **_known(bench, peak)}, isa, about)
    given.out.mkdir(parents=True, exist_ok=True)
    save(network, given.out / "estimate.npz")
    if given.steps:
        settings = dqn.Settings(steps=given.steps, seconds=given.seconds, seed=given.seed)
        policy = dqn.train(shapes.training(), estimate(network, isa), settings, _say, network.about)
        save(policy, given.out / "policy.npz")
    return 0


def _known(bench: Measurer, peak: float) -> dict[str, float]:
    return {k: m.gflops / peak for k, m in bench.cache.known.items() if m.gflops is not None}


def _older(paths: Sequence[str], peak: float) -> dict[str, float]:
    """Figures of other versions of the back end: better than none."""
    rows = [json.loads(line) for path in paths for line in Path(path).read_text().splitlines()]
    return {row["tree"]: row["gflops"] / peak for row in rows if row.get("ok") and row.get("role") == "tree"}


def fit(known: dict[str, float], isa: Isa, about: str) -> Network:
    """The estimate from measured shares of peak; says how well it does on products that it has not seen."""
    import numpy as np

    trees = [_tree(k) for k in known]
    inputs = np.stack([traits(t, isa) for t in trees])
    wanted = np.array(list(known.values()), np.float32)
    names = sorted({contraction.show(t.problem) for t in trees})
    back = {name for n, name in enumerate(names) if n % HELD_BACK == 0}
    judged = np.array([contraction.show(t.problem) in back for t in trees])
    trial = _regress(inputs[~judged], wanted[~judged], about)
    found = trial(inputs[judged])[:, 0]
    error = float(np.sqrt(np.mean((found - wanted[judged]) ** 2)))
    of = [contraction.show(t.problem) for t, j in zip(trees, judged, strict=True) if j]
    regret = _regret(of, found, wanted[judged])
    about = f"{about}; {len(trees)} trees of {len(names)} products, error {error:.3f} of peak on others"
    _say(json.dumps({"trees": len(trees), "error": round(error, 4), "best kept": round(regret, 4)}))
    return _regress(inputs, wanted, about)


def _regress(inputs: NDArray[numpy.float32], wanted: NDArray[numpy.float32], about: str) -> Network:
    return regress(inputs, wanted, (96, 96), epochs=120, rate=3e-3, seed=1, about=about)


def _regret(names: list[str], found: NDArray[numpy.float32], wanted: NDArray[numpy.float32]) -> float:
    """Of each product's fastest tree, the share that the tree with the best estimate reaches; the mean."""
    shares = []
    for name in set(names):
        at = [n for n, x in enumerate(names) if x == name]
        shares.append(float(wanted[max(at, key=lambda n: found[n])] / max(wanted[n] for n in at)))
    return sum(shares) / max(1, len(shares))


def _tree(key: str) -> tree.Tree:
    problem, _, nest = key.rpartition(" : ")
    return tree.parse(nest, contraction.parse(problem))


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
