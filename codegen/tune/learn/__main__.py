"""`python -m codegen.tune.learn`: measure trees, fit the estimate, train the policy, and write both for the package.

Measurements are kept in the records, so that a second call goes on where the first one ended.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from codegen.isa.model import Isa
from codegen.lower.nest.kernel import KEPT
from codegen.machine.detect import detect
from codegen.tune import contraction, tree
from codegen.tune.actions import LANES
from codegen.tune.cost import Model
from codegen.tune.learn import dqn, shapes
from codegen.tune.learn.answer import SHIPPED
from codegen.tune.learn.estimate import estimate
from codegen.tune.learn.network import NeuralNetwork, load, save
from codegen.tune.learn.samples import Actions, designed, promising, shown, strange
from codegen.tune.learn.torch import Training, regress
from codegen.tune.learn.traits import traits
from codegen.tune.measure.clock import Effort
from codegen.tune.measure.measurer import Measurer

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

EACH = 24  # trees of one product: they share compilations
HELD_BACK = 10  # every tenth product of the records is kept for judging the estimate


def arguments(words: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m codegen.tune.learn", description=__doc__)
    parser.add_argument("--records", default="build/learn.records", metavar="FILE", help="measurements; added to")
    parser.add_argument("--strange", type=int, default=0, metavar="N", help="measure random trees of N products")
    parser.add_argument("--designed", type=int, default=0, metavar="N", help="measure register tiles of N products")
    parser.add_argument("--shown", type=int, default=0, metavar="N", help="measure ends of ways of N products")
    parser.add_argument("--promising", type=int, default=0, metavar="N", help="measure the best trees of N products")
    parser.add_argument("--steps", type=int, default=0, metavar="N", help="train the policy for N steps")
    parser.add_argument("--version", choices=("v1", "v2"), default="v2", help="actions of the policy (default v2)")
    parser.add_argument("--go-on", action="store_true", help="with the estimate and the policy that are there")
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
    with Measurer(options=KEPT, cache=given.records, effort=Effort(busy=given.busy)) as bench:
        model = Model(detect().machine, bench.compiler.isa)
        network = load(given.out / "estimate.npz") if given.go_on else _estimated(bench, given, model)
    given.out.mkdir(parents=True, exist_ok=True)
    save(network, given.out / "estimate.npz")
    if given.steps:
        out = given.out / f"{SHIPPED[given.version]}.npz"
        lanes, room = _lanes(given.version, model.isa), model.isa.registers * model.isa.lanes_max("f32")
        settings = dqn.TrainingSettings(
            steps=given.steps, seconds=given.seconds, seed=given.seed, version=given.version, lanes=lanes, room=room
        )
        first = load(out) if given.go_on and out.exists() else None
        save(dqn.train(shapes.training(), estimate(network, model), settings, _say, network.about, first), out)
    return 0


def _estimated(bench: Measurer, given: argparse.Namespace, model: Model) -> NeuralNetwork:
    """Measure what was asked for, each kind of trees with an estimate from those before it."""
    isa, peak, random = bench.compiler.isa, bench.peak(), Random(given.seed)
    print(f"peak {peak:.1f} GFLOPS, {len(bench.cache.known)} trees known", flush=True)
    older = _older(given.also, peak)

    def fitted() -> NeuralNetwork:
        return fit({**older, **_known(bench, peak)}, model, f"{isa.name}, peak {peak:.1f} GFLOPS")

    def among(version: str) -> Actions:
        return Actions(version, _lanes(version, isa))

    def measure(count: int, kind: Callable[[contraction.Contraction, str], list[tree.Tree]]) -> None:
        for n, problem in enumerate(random.sample(shapes.training(), count)):
            bench(kind(problem, ("v1", "v2")[n % 2]))
            _say(f"{n + 1} of {count} products, {len(bench.cache.known)} trees")

    measure(given.strange, lambda p, version: strange(p, EACH, version, random, _lanes(version, isa)))
    network = fitted()
    if given.designed or given.shown:
        value = estimate(network, model)
        measure(given.designed, lambda p, version: designed(p, EACH, value, isa, random))
        measure(given.shown, lambda p, version: shown(p, EACH, isa, among(version), value, random))
        network = fitted()
    if given.promising:
        best = estimate(network, model)
        measure(given.promising, lambda p, version: promising(p, EACH, among(version), best, random))
        network = fitted()
    return network


def _lanes(version: str, isa: Isa) -> int:
    return LANES if version == "v1" else isa.lanes_max("f32")


def _known(bench: Measurer, peak: float) -> dict[str, float]:
    return {k: m.gflops / peak for k, m in bench.cache.known.items() if m.gflops is not None}


def _older(paths: Sequence[str], peak: float) -> dict[str, float]:
    """Figures of other versions of the back end: better than none."""
    rows = [json.loads(line) for path in paths for line in Path(path).read_text().splitlines()]
    return {row["tree"]: row["gflops"] / peak for row in rows if row.get("ok") and row.get("role") == "tree"}


def fit(known: dict[str, float], model: Model, about: str) -> NeuralNetwork:
    """The estimate from measured shares of peak; says how well it does on products that it has not seen."""
    import numpy as np

    trees = [_tree(k) for k in known]
    inputs = np.stack([traits(t, model) for t in trees])
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


def _regress(inputs: NDArray[numpy.float32], wanted: NDArray[numpy.float32], about: str) -> NeuralNetwork:
    return regress(inputs, wanted, (96, 96), Training(epochs=120, rate=3e-3, seed=1), about)


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
