"""The formats of tests/sparse/formats, written and read by hand like the built-in ones."""
from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from tests.sparse.reference import Codec, Entry


class UserCodec:
    """Methods for a Codec: put_NAME and get_NAME for each file."""

    def put_anti(self: Codec, entries: list[Entry]) -> dict:
        return self.put_coo(sorted(entries, key=lambda e: (sum(e[0]), e[0][0])))

    def get_anti(self: Codec, a: dict) -> list[Entry]:
        out = self.get_coo(a)
        keys = [(i + j, i) for (i, j), _ in out]
        assert keys == sorted(keys)
        return out

    def put_down(self: Codec, entries: list[Entry]) -> dict:
        return self.put_coo(sorted(entries, key=lambda e: -e[0][0]))

    def get_down(self: Codec, a: dict) -> list[Entry]:
        out = self.get_coo(a)
        rows = [i for (i, _), _ in out]
        assert rows == sorted(rows, reverse=True)
        return out

    def put_bcoo(self: Codec, entries: list[Entry]) -> dict:
        blocks = sorted({(i // 3, j // 2) for (i, j), _ in entries})
        val = np.zeros((len(blocks), 3, 2), dtype=self.value)
        for (i, j), v in entries:
            val[blocks.index((i // 3, j // 2)), i % 3, j % 2] += v
        return {**self.base(), "NB": len(blocks), "brow": self.ints([b[0] for b in blocks]),
                "bcol": self.ints([b[1] for b in blocks]), "val": val.reshape(-1)}

    def get_bcoo(self: Codec, a: dict) -> list[Entry]:
        val = a["val"].reshape(-1, 3, 2)
        blocks = list(zip(a["brow"].tolist(), a["bcol"].tolist(), strict=True))
        assert blocks == sorted(set(blocks))
        return [((3 * blocks[b][0] + r, 2 * blocks[b][1] + c), val[b, r, c].item())
                for b, r, c in itertools.product(range(a["NB"]), range(3), range(2)) if val[b, r, c]]

    def put_diat(self: Codec, entries: list[Entry]) -> dict:
        off = sorted({j - i for (i, j), _ in entries}, reverse=True)
        val = np.zeros((len(off), self.shape[0]), dtype=self.value)
        for (i, j), v in entries:
            val[off.index(j - i), i] += v
        return {**self.base(), "ND": len(off), "off": self.ints(off), "val": val.reshape(-1)}

    def get_diat(self: Codec, a: dict) -> list[Entry]:
        off = a["off"].tolist()
        assert off == sorted(set(off), reverse=True)
        val = a["val"].reshape(len(off), self.shape[0])
        return [((int(i), int(i) + off[d]), val[d, i].item()) for d, i in zip(*np.nonzero(val), strict=True)]

    def put_ellt(self: Codec, entries: list[Entry]) -> dict:
        rows: dict[int, list[tuple[int, float]]] = {}
        for (i, j), v in entries:
            rows.setdefault(i, []).append((j, v))
        k = max(map(len, rows.values()), default=0)
        col, val = np.full((k, self.shape[0]), -1, f"int{self.index}"), np.zeros((k, self.shape[0]), self.value)
        for i, row in rows.items():
            for s, (j, v) in enumerate(row):
                col[s, i], val[s, i] = j, v
        return {**self.base(), "K": k, "col": col.reshape(-1), "val": val.reshape(-1)}

    def get_ellt(self: Codec, a: dict) -> list[Entry]:
        col, val = a["col"].reshape(a["K"], self.shape[0]), a["val"].reshape(a["K"], self.shape[0])
        assert (val[col < 0] == 0).all()
        return [((int(i), int(col[s, i])), val[s, i].item()) for s, i in zip(*np.nonzero(col >= 0), strict=True)]

    def put_jds(self: Codec, entries: list[Entry]) -> dict:
        rows: list[list[tuple[int, float]]] = [[] for _ in range(self.shape[0])]
        for (i, j), v in entries:
            rows[i].append((j, v))
        perm = sorted(range(self.shape[0]), key=lambda i: -len(rows[i]))
        longest = max(map(len, rows), default=0)
        diagonals = [[rows[i][s] for i in perm if len(rows[i]) > s] for s in range(longest)]
        flat = [e for d in diagonals for e in d]
        return {**self.base(), "ND": longest, "NNZ": len(flat), "perm": self.ints(perm),
                "jdptr": self.ints(itertools.accumulate(map(len, diagonals), initial=0)),
                "col": self.ints([j for j, _ in flat]), "val": np.array([v for _, v in flat], dtype=self.value)}

    def get_jds(self: Codec, a: dict) -> list[Entry]:
        ptr, perm = a["jdptr"].tolist(), a["perm"].tolist()
        lengths = [e - b for b, e in itertools.pairwise(ptr)]
        assert ptr[0] == 0 and ptr[-1] == a["NNZ"] and lengths == sorted(lengths, reverse=True)
        assert sorted(perm) == list(range(self.shape[0]))
        return [((perm[k - b], int(a["col"][k])), a["val"][k].item())
                for b, e in itertools.pairwise(ptr) for k in range(b, e)]
