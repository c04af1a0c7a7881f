"""Matrices and tensors to convert: small, and awkward in every way that matters."""
from __future__ import annotations

import random

from tests.sparse.reference import Entry


def cases(rank: int) -> dict[str, tuple[tuple[int, ...], list[Entry]]]:
    """name: (shape, entries without repeats, in random order)."""
    rng = random.Random(7 + rank)
    tail = (4, 3)[:max(rank - 2, 0)]
    shapes = {"square": (9, 9), "wide": (5, 23), "tall": (21, 4), "one": (1, 1), "row": (1, 30), "column": (17, 1)}
    out: dict[str, tuple[tuple[int, ...], list[Entry]]] = {}
    for name, head in shapes.items():
        shape = (*head, *tail)[:rank] if rank > 1 else (head[0] * head[1],)
        out[name] = shape, _random(rng, shape, 0.3)
    some = (13, 11, *tail)[:rank]
    out["full"] = some, _random(rng, some, 2)
    out["nothing"] = some, []
    out["last"] = some, [(tuple(x - 1 for x in some), 5.0)]
    out["hollow"] = some, [e for e in _random(rng, some, 0.5) if e[0][0] not in (0, 4, 5, some[0] - 1)
                           and e[0][-1] not in (0, 3, some[-1] - 1)]
    out["no rows"] = (0, *some[1:]), []
    large = {1: (200,), 2: (90, 70), 3: (30, 20, 17), 4: (20, 17, 9, 5)}[rank]
    out["sparse"] = large, _random(rng, large, 0.01)
    return out


def _random(rng: random.Random, shape: tuple[int, ...], density: float) -> list[Entry]:
    total = 1
    for s in shape:
        total *= s
    count = min(total, max(1, int(total * density))) if total else 0
    out = []
    for flat in rng.sample(range(total), count):
        coords = []
        for s in reversed(shape):
            coords.append(flat % s)
            flat //= s
        out.append((tuple(reversed(coords)), float(rng.choice((-1, 1)) * rng.randint(1, 99))))
    return out


def with_duplicates(rank: int) -> tuple[tuple[int, ...], list[Entry]]:
    shape, entries = cases(rank)["full"]
    rng = random.Random(3)
    entries = entries[:40] + [(c, float(rng.randint(1, 50))) for c, _ in entries[10:30]] + [entries[5]]
    rng.shuffle(entries)
    return shape, entries
