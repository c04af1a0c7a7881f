"""Observation of a loop tree for the policy: twenty numbers for each loop, ten loops.

For each loop, computing ones first, then those that write back and are not shared: whether the cursor is on it, size,
tail, whether it computes, and sixteen shares of its steps by their length in memory, in powers of two.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from codegen.tune.actions import LIMIT
from codegen.tune.graph import stride_of
from codegen.tune.tree import Loop, Tree, shared, steps

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

BINS = 16
FEATURES = 4 + BINS
SIZE = FEATURES * LIMIT


def features(tree: Tree) -> list[list[float]]:
    """The numbers of each loop, without the padding."""
    both = shared(tree)
    compute = _strides(tree, tree.compute, ("A", "B"))
    write = _strides(tree, tree.write, ("T1",))
    rows = []
    for at, loop in enumerate(tree.compute):
        pairs = compute[at] + (write[at] if at < both else [])
        rows.append([float(at == tree.cursor), float(loop.size), float(loop.tail), 1.0, *histogram(pairs)])
    for at in range(both, len(tree.write)):
        loop = tree.write[at]
        rows.append([0.0, float(loop.size), float(loop.tail), 0.0, *histogram(write[at])])
    return rows


def observe(tree: Tree) -> NDArray[numpy.float32]:
    """The 200 numbers. A tree with more loops than there is room for shows the first ones."""
    import numpy as np

    found = np.zeros(SIZE, dtype=np.float32)
    flat = [x for row in features(tree)[:LIMIT] for x in row]
    found[: len(flat)] = flat
    return found


def _strides(tree: Tree, nest: tuple[Loop, ...], tensors: tuple[str, ...]) -> list[list[tuple[int, int]]]:
    """Of each loop, the strides of what the innermost statements read, and how often such a step is taken."""
    often, found = 1, []
    for loop, step in zip(nest, steps(nest), strict=True):
        often *= loop.size
        found.append([(stride_of(tree, t, loop.var) * step, often) for t in tensors])
    return found


def histogram(pairs: list[tuple[int, int]]) -> list[float]:
    """Shares by ceil(log2(stride)); what does not move or moves further than 2^15 is left out."""
    bins = [0.0] * BINS
    for stride, often in pairs:
        place = (stride - 1).bit_length()
        if stride > 0 and place < BINS:
            bins[place] += often
    total = sum(bins)
    return [x / total for x in bins] if total else bins
