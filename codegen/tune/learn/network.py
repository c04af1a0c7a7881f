"""Evaluates, loads and saves small neural networks with NumPy: fully connected layers, and on top either one output or
values and advantages. `torch.py` trains them."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import as_file, files
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from codegen.record import record

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

    Array = NDArray[numpy.float32]


@record
class Layer:
    """y = x W + b; columns of W are outputs."""

    weights: Array
    bias: Array

    def __call__(self, x: Array) -> Array:
        found: Array = x @ self.weights + self.bias
        return found


@record
class NeuralNetwork:
    """`trunk` layers with ReLU between them, then `heads`.

    One head is the output itself. Two are a state's value and the advantage of each action over the mean of all.
    `about` says what it was trained on and for, as text.
    """

    trunk: tuple[Layer, ...]
    heads: tuple[Layer, ...]
    about: str

    def __call__(self, x: Array) -> Array:
        import numpy as np

        for layer in self.trunk:
            x = np.maximum(layer(x), 0)
        if len(self.heads) == 1:
            return self.heads[0](x)
        value, advantage = (head(x) for head in self.heads)
        found: Array = value + advantage - advantage.mean(axis=-1, keepdims=True)
        return found


def save(network: NeuralNetwork, path: Path) -> None:
    """Half precision: a file of some hundred kilobytes. Same weights, same bytes."""
    import numpy as np

    arrays: dict[str, Array] = {}
    for part, layers in (("trunk", network.trunk), ("head", network.heads)):
        for at, layer in enumerate(layers):
            arrays[f"{part}{at}_weights"] = layer.weights
            arrays[f"{part}{at}_bias"] = layer.bias
    text = np.frombuffer(network.about.encode(), dtype=np.uint8)
    with path.open("wb") as file:
        np.savez(file, about=text, **{name: a.astype(np.float16) for name, a in arrays.items()})  # type: ignore[arg-type]


def load(path: Path) -> NeuralNetwork:
    import numpy as np

    with np.load(path) as data:
        found = {name: data[name] for name in data.files}

    def layers(part: str) -> tuple[Layer, ...]:
        count = sum(name.startswith(part) and name.endswith("_bias") for name in found)
        pairs = ((found[f"{part}{at}_weights"], found[f"{part}{at}_bias"]) for at in range(count))
        return tuple(Layer(w.astype(np.float32), b.astype(np.float32)) for w, b in pairs)

    return NeuralNetwork(layers("trunk"), layers("head"), bytes(found["about"]).decode())


def shipped(name: str, folder: str = "") -> NeuralNetwork:
    """A network that comes with the package, `policy` or `estimate`; or the one of that name in a folder."""
    if folder:
        return load(Path(folder) / f"{name}.npz")
    with as_file(files("codegen.tune.learn") / "data" / f"{name}.npz") as path:
        return load(path)


def random(sizes: Sequence[int], heads: Sequence[int], seed: int) -> NeuralNetwork:
    """An untrained network: `sizes` from the input on, `heads` outputs of each head."""
    import numpy as np

    draw = np.random.default_rng(seed)

    def layer(rows: int, columns: int) -> Layer:
        weights = draw.normal(0, (2 / rows) ** 0.5, (rows, columns)).astype(np.float32)
        return Layer(weights, np.zeros(columns, np.float32))

    trunk = tuple(layer(a, b) for a, b in pairwise(sizes))
    return NeuralNetwork(trunk, tuple(layer(sizes[-1], n) for n in heads), "")
