"""The learned value function: predicts the speed of a loop tree without running it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from codegen.tune.cost import Model
from codegen.tune.learn.network import NeuralNetwork
from codegen.tune.learn.traits import traits
from codegen.tune.tree import Tree

Value = Callable[[Sequence[Tree]], Sequence[float]]
"""Shares of peak, in the order of the trees; a tree that fails is worth 0."""


def estimate(network: NeuralNetwork, model: Model) -> Callable[[Sequence[Tree]], list[float]]:
    """Shares of peak, in the order of the trees."""
    import numpy as np

    def value(trees: Sequence[Tree]) -> list[float]:
        if not trees:
            return []
        found = network(np.stack([traits(t, model) for t in trees]))[:, 0]
        return [float(x) for x in np.clip(found, 0.0, 1.0)]

    return value
