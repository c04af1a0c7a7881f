"""Fits forests to measurements: boosted regression trees on inputs in steps. Needs NumPy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from codegen.record import record
from codegen.tune.plans.learned.forest import Forest, Tree

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

    Numbers = NDArray[numpy.float64]
    Steps = NDArray[numpy.int64]

STEPS = 32  # of each input, with as many measurements in each


@record
class Fitting:
    """How a forest grows: each tree corrects the sum of those before it by a part, on some of the inputs and rows."""

    trees: int = 150
    depth: int = 4
    rate: float = 0.1
    leaf: float = 8.0  # measurements in a leaf, at least
    shrink: float = 4.0  # measurements without an effect that a leaf counts besides
    inputs: float = 0.4
    rows: float = 0.7
    seed: int = 1


@dataclass
class _Grown:
    """A tree under construction."""

    input: list[int] = field(default_factory=list)
    bound: list[float] = field(default_factory=list)
    small: list[int] = field(default_factory=list)

    def add(self) -> int:
        self.input.append(-1)
        self.bound.append(0.0)
        self.small.append(0)
        return len(self.input) - 1


class Fitter:
    """One forest on one set of inputs."""

    def __init__(self, inputs: Numbers, wanted: Numbers, weights: Numbers, how: Fitting) -> None:
        import numpy as np

        self.inputs, self.wanted, self.weights, self.how = inputs, wanted, weights, how
        self.bounds = [_bounds(inputs[:, k]) for k in range(inputs.shape[1])]
        self.steps = np.stack([np.searchsorted(b, inputs[:, k]) for k, b in enumerate(self.bounds)], 1)
        self.draw = np.random.default_rng(how.seed)

    def forest(self) -> Forest:
        import numpy as np

        how, count = self.how, len(self.wanted)
        start = float(np.average(self.wanted, weights=self.weights))
        sums = np.full(count, start)
        trees = []
        for _ in range(how.trees):
            rows = np.flatnonzero(self.draw.random(count) < how.rows)
            mine = np.flatnonzero(self.draw.random(len(self.bounds)) < how.inputs)
            grown = _Grown()
            self._node(grown, grown.add(), rows, self.wanted - sums, [int(k) for k in mine])
            tree = Tree(tuple(grown.input), tuple(float(f"{x:.4g}") for x in grown.bound), tuple(grown.small))
            trees.append(tree)
            sums += answers(tree, self.inputs)
        return Forest(float(f"{start:.4g}"), tuple(trees))

    def _node(self, grown: _Grown, at: int, rows: Steps, left: Numbers, mine: Sequence[int], depth: int = 0) -> None:
        import numpy as np

        weights = self.weights[rows]
        total = float(weights.sum())
        found = self._split(rows, left, mine) if depth < self.how.depth and len(rows) else None
        if found is None:
            grown.bound[at] = self.how.rate * float((weights * left[rows]).sum()) / (total + self.how.shrink)
            return
        which, step = found
        below = self.steps[rows, which] <= step
        first = grown.add()
        grown.add()
        grown.input[at], grown.bound[at], grown.small[at] = which, float(self.bounds[which][step]), first
        self._node(grown, first, rows[np.flatnonzero(below)], left, mine, depth + 1)
        self._node(grown, first + 1, rows[np.flatnonzero(~below)], left, mine, depth + 1)

    def _split(self, rows: Steps, left: Numbers, mine: Sequence[int]) -> tuple[int, int] | None:
        """The input and the step that leave least."""
        import numpy as np

        weights = self.weights[rows]
        parts, ones = weights * left[rows], weights
        best, chosen = 1e-9, None
        for k in mine:
            count = len(self.bounds[k]) + 1
            if count < 2:
                continue
            steps = self.steps[rows, k]
            total = np.cumsum(np.bincount(steps, parts, count))
            many = np.cumsum(np.bincount(steps, ones, count))
            a, n = total[:-1], many[:-1]
            b, m = total[-1] - a, many[-1] - n
            gain = a * a / (n + self.how.shrink) + b * b / (m + self.how.shrink)
            gain = np.where((n >= self.how.leaf) & (m >= self.how.leaf), gain, 0.0)
            step = int(gain.argmax())
            won = float(gain[step]) - float(total[-1] ** 2 / (many[-1] + self.how.shrink))
            if gain[step] and won > best:
                best, chosen = won, (k, step)
        return chosen


def answers(tree: Tree, inputs: Numbers) -> Numbers:
    """What a tree says of all rows at once."""
    import numpy as np

    at = np.zeros(len(inputs), np.int64)
    asked, bound, small = np.array(tree.input), np.array(tree.bound), np.array(tree.small)
    while (inner := np.flatnonzero(asked[at] >= 0)).size:
        nodes = at[inner]
        at[inner] = small[nodes] + (inputs[inner, asked[nodes]] > bound[nodes])
    return bound[at]


def _bounds(column: Numbers) -> Numbers:
    """Where an input is cut: between values that occur, as they are printed."""
    import numpy as np

    values = np.unique(column)
    if len(values) > STEPS:
        values = np.unique(np.quantile(column, np.linspace(0, 1, STEPS + 1)))
    return np.array(sorted({float(f"{x:.4g}") for x in (values[:-1] + values[1:]) / 2}))


def ranks(values: Sequence[float]) -> list[float]:
    """The place of each in order; equal ones share theirs."""
    ordered = sorted(values)
    first = {x: k for k, x in reversed(list(enumerate(ordered)))}
    last = {x: k for k, x in enumerate(ordered)}
    return [(first[x] + last[x]) / 2 for x in values]


def correlation(a: Sequence[float], b: Sequence[float]) -> float:
    """Of ranks (Spearman's); 0 where one of them does not vary."""
    x, y = ranks(a), ranks(b)
    mean = (len(x) - 1) / 2
    both = sum((p - mean) * (q - mean) for p, q in zip(x, y, strict=True))
    spread = (sum((p - mean) ** 2 for p in x) * sum((q - mean) ** 2 for q in y)) ** 0.5
    return both / spread if spread else 0.0


def folds(names: Sequence[str], count: int) -> Iterator[tuple[list[int], list[int]]]:
    """Rows to fit and rows to judge by, so that each name is judged once by what has not seen it."""
    distinct = sorted(set(names))
    for k in range(count):
        mine = {name for n, name in enumerate(distinct) if n % count == k}
        if mine and len(mine) < len(distinct):
            yield [n for n, x in enumerate(names) if x not in mine], [n for n, x in enumerate(names) if x in mine]
