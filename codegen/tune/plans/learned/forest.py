"""Sums of small decision trees, in plain Python: what the learned model is made of, and its file."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from codegen.record import record


@record
class Tree:
    """Nodes in a row, the root first: node k asks whether input `input[k]` is at most `bound[k]` and goes on with node
    `small[k]`, else with the one after it; where `input[k]` is -1, the answer is `bound[k]`."""

    input: tuple[int, ...]
    bound: tuple[float, ...]
    small: tuple[int, ...]

    def __call__(self, row: Sequence[float]) -> float:
        at = 0
        while self.input[at] >= 0:
            at = self.small[at] + (row[self.input[at]] > self.bound[at])
        return self.bound[at]


@record
class Forest:
    """The sum of what all trees say, and a number besides."""

    start: float
    trees: tuple[Tree, ...]

    def __call__(self, row: Sequence[float]) -> float:
        return self.start + sum(tree(row) for tree in self.trees)


@record
class Forests:
    """Named forests on the same inputs; `about` says what they were made from."""

    about: str
    inputs: tuple[str, ...]
    forests: Mapping[str, Forest]


def saved(x: Forests) -> str:
    """The text of a file, the same for the same forests."""
    head = json.dumps({"about": x.about, "inputs": list(x.inputs)}, indent=1)[:-2]
    parts = []
    for name, forest in sorted(x.forests.items()):
        trees = [json.dumps([t.input, t.bound, t.small], separators=(",", ":")) for t in forest.trees]
        parts.append(f' "{name}": {{"start": {forest.start!r}, "trees": [\n' + ",\n".join(trees) + "]}")
    return f"{head},\n" + ",\n".join(parts) + "\n}\n"


def read(text: str) -> Forests:
    data = json.loads(text)
    found = {
        name: Forest(row["start"], tuple(Tree(*(tuple(part) for part in t)) for t in row["trees"]))
        for name, row in data.items()
        if isinstance(row, dict)
    }
    return Forests(data["about"], tuple(data["inputs"]), found)


def load(path: Path) -> Forests:
    return read(path.read_text(encoding="utf-8"))
