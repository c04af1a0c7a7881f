"""Formats written and read by hand, independent of descriptors: what the generated conversions are compared with.

An encoder turns entries ((i, j, ...), value) in some order into the arrays of a format; a decoder turns arrays back
into entries and asserts whatever the format promises.
"""
from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tests.sparse.user_codec import UserCodec

Entry = tuple[tuple[int, ...], float]
DIMS = ("NR", "NC", "NZ", "NT")
INDEX = ("row", "col", "lay", "box")


def morton(coords: Sequence[int]) -> int:
    out = 0
    for bit in range(max(max(coords, default=0), 1).bit_length() - 1, -1, -1):
        for c in coords:
            out = out << 1 | c >> bit & 1
    return out


def alto(coords: Sequence[int], shape: Sequence[int]) -> int:
    """The bits of all coordinates from the highest level down; a coordinate without bits at a level is passed over."""
    out = 0
    for bit in range(max(max(shape, default=1), 1).bit_length(), -1, -1):
        for c, n in zip(coords, shape, strict=True):
            if n > 1 << bit:
                out = out << 1 | c >> bit & 1
    return out


def ints(values: Sequence[int], index: str) -> np.ndarray:
    return np.array(list(values), dtype=f"int{index}").reshape(-1)


class Codec(UserCodec):
    """Element types of the arrays."""

    def __init__(self, shape: tuple[int, ...], value: str = "float64", index: str = "32") -> None:
        self.shape, self.value, self.index = shape, value, index

    def base(self) -> dict:
        return dict(zip(DIMS, self.shape, strict=False))

    def ints(self, values: Sequence[int]) -> np.ndarray:
        return ints(values, self.index)

    def vals(self, values: Sequence[float]) -> np.ndarray:
        return np.array(list(values), dtype=self.value).reshape(-1)

    # --- coordinates -------------------------------------------------------------------------------------------

    def put_coo(self, entries: list[Entry]) -> dict:
        arrays = {INDEX[d]: self.ints([c[d] for c, _ in entries]) for d in range(len(self.shape))}
        return {**self.base(), "NNZ": len(entries), **arrays, "val": self.vals([v for _, v in entries])}

    def put_scoo(self, entries: list[Entry]) -> dict:
        return self.put_coo(sorted(entries, key=lambda e: e[0][0]))

    def put_mcoo(self, entries: list[Entry]) -> dict:
        return self.put_coo(sorted(entries, key=lambda e: morton(e[0])))

    def get_coo(self, a: dict) -> list[Entry]:
        n = a["NNZ"]
        columns = [a[INDEX[d]][:n].tolist() for d in range(len(self.shape))]
        assert all(len(c) == n for c in columns)
        return list(zip(zip(*columns, strict=True), a["val"][:n].tolist(), strict=True)) if n else []

    def get_scoo(self, a: dict) -> list[Entry]:
        out = self.get_coo(a)
        assert [c[0] for c, _ in out] == sorted(c[0] for c, _ in out)
        return out

    def get_mcoo(self, a: dict) -> list[Entry]:
        out = self.get_coo(a)
        keys = [morton(c) for c, _ in out]
        assert keys == sorted(keys)
        return out

    def put_alto(self, entries: list[Entry]) -> dict:
        entries = sorted(entries, key=lambda e: alto(e[0], self.shape))
        return {**self.base(), "NNZ": len(entries), "lin": self.ints([alto(c, self.shape) for c, _ in entries]),
                "val": self.vals([v for _, v in entries])}

    def get_alto(self, a: dict) -> list[Entry]:
        every = {alto(c, self.shape): c for c in itertools.product(*map(range, self.shape))}
        assert a["lin"].tolist() == sorted(a["lin"].tolist()) and len(a["lin"]) == a["NNZ"]
        return [(every[lin], v) for lin, v in zip(a["lin"].tolist(), a["val"].tolist(), strict=True)]

    # --- compressed rows and columns ---------------------------------------------------------------------------

    def _compressed(self, entries: list[Entry], outer: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        entries = sorted(entries, key=lambda e: e[0][outer])
        counts = [0] * (self.shape[outer] + 1)
        for c, _ in entries:
            counts[c[outer] + 1] += 1
        return (self.ints(list(itertools.accumulate(counts))), self.ints([c[1 - outer] for c, _ in entries]),
                self.vals([v for _, v in entries]))

    def put_csr(self, entries: list[Entry]) -> dict:
        ptr, col, val = self._compressed(entries, 0)
        return {**self.base(), "NNZ": len(entries), "rowptr": ptr, "col": col, "val": val}

    def put_csc(self, entries: list[Entry]) -> dict:
        ptr, row, val = self._compressed(entries, 1)
        return {**self.base(), "NNZ": len(entries), "colptr": ptr, "row": row, "val": val}

    def _walk(self, ptr: np.ndarray, n: int, size: int) -> list[tuple[int, int]]:
        ptr = ptr.tolist()[:n + 1]
        assert ptr[0] == 0 and ptr[-1] == size and all(x <= y for x, y in itertools.pairwise(ptr)), ptr
        return [(i, k) for i in range(n) for k in range(ptr[i], ptr[i + 1])]

    def get_csr(self, a: dict) -> list[Entry]:
        return [((i, int(a["col"][k])), a["val"][k].item())
                for i, k in self._walk(a["rowptr"], self.shape[0], a["NNZ"])]

    def get_csc(self, a: dict) -> list[Entry]:
        return [((int(a["row"][k]), j), a["val"][k].item())
                for j, k in self._walk(a["colptr"], self.shape[1], a["NNZ"])]

    # --- padded formats ----------------------------------------------------------------------------------------

    def put_dia(self, entries: list[Entry]) -> dict:
        off = sorted({j - i for (i, j), _ in entries})
        val = np.zeros((self.shape[0], len(off)), dtype=self.value)
        for (i, j), v in entries:
            val[i, off.index(j - i)] += v
        return {**self.base(), "ND": len(off), "off": self.ints(off), "val": val.reshape(-1)}

    def get_dia(self, a: dict) -> list[Entry]:
        off = a["off"].tolist()
        assert all(x < y for x, y in itertools.pairwise(off))
        val = a["val"].reshape(self.shape[0], len(off))
        out = []
        for i, d in itertools.product(range(self.shape[0]), range(len(off))):
            if 0 <= i + off[d] < self.shape[1]:
                out.append(((i, i + off[d]), val[i, d].item()))
            else:
                assert val[i, d] == 0
        assert all(any(v for (i, j), v in out if j - i == o) for o in off), "a diagonal without entries"
        return [e for e in out if e[1]]

    def put_ell(self, entries: list[Entry]) -> dict:
        rows: list[list[Entry]] = [[e for e in entries if e[0][0] == i] for i in range(self.shape[0])]
        k = max(map(len, rows), default=0)
        col = np.full((self.shape[0], k), -1, dtype=f"int{self.index}")
        val = np.zeros((self.shape[0], k), dtype=self.value)
        for i, row in enumerate(rows):
            for s, ((_, j), v) in enumerate(row):
                col[i, s], val[i, s] = j, v
        return {**self.base(), "K": k, "col": col.reshape(-1), "val": val.reshape(-1)}

    def get_ell(self, a: dict) -> list[Entry]:
        shape = (self.shape[0], a["K"])
        col, val = a["col"].reshape(shape), a["val"].reshape(shape)
        out = []
        for i in range(shape[0]):
            used = int((col[i] >= 0).sum())
            assert (col[i, :used] >= 0).all() and (col[i, used:] == -1).all() and (val[i, used:] == 0).all()
            out += [((i, int(col[i, s])), val[i, s].item()) for s in range(used)]
        assert not shape[1] or max(int((col[i] >= 0).sum()) for i in range(shape[0])) == shape[1]
        return out

    def put_bcsr(self, entries: list[Entry], b: tuple[int, int] = (2, 2)) -> dict:
        blocks = sorted({(i // b[0], j // b[1]) for (i, j), _ in entries})
        val = np.zeros((len(blocks), *b), dtype=self.value)
        for (i, j), v in entries:
            val[blocks.index((i // b[0], j // b[1])), i % b[0], j % b[1]] += v
        nbr = -(-self.shape[0] // b[0])
        ptr = [sum(x[0] < i for x in blocks) for i in range(nbr + 1)]
        return {**self.base(), "NNB": len(blocks), "browptr": self.ints(ptr),
                "bcol": self.ints([x[1] for x in blocks]), "val": val.reshape(-1)}

    def get_bcsr(self, a: dict, b: tuple[int, int] = (2, 2)) -> list[Entry]:
        out = []
        val = a["val"].reshape(-1, *b)
        seen = set()
        for bi, k in self._walk(a["browptr"], -(-self.shape[0] // b[0]), a["NNB"]):
            bj = int(a["bcol"][k])
            assert (bi, bj) not in seen
            seen.add((bi, bj))
            assert val[k].any()
            for r, c in itertools.product(range(b[0]), range(b[1])):
                if val[k, r, c]:
                    out.append(((bi * b[0] + r, bj * b[1] + c), val[k, r, c].item()))
        return out

    def put_bcsr_3x2(self, entries: list[Entry]) -> dict:
        return self.put_bcsr(entries, (3, 2))

    def get_bcsr_3x2(self, a: dict) -> list[Entry]:
        return self.get_bcsr(a, (3, 2))

    def put_dense(self, entries: list[Entry]) -> dict:
        val = np.zeros(self.shape, dtype=self.value)
        for c, v in entries:
            val[c] += v
        return {**self.base(), "val": val.reshape(-1)}

    def get_dense(self, a: dict) -> list[Entry]:
        val = a["val"].reshape(self.shape)
        return [(tuple(map(int, c)), val[tuple(c)].item()) for c in zip(*np.nonzero(val), strict=True)]

    # --- fibres and blocks -------------------------------------------------------------------------------------

    def put_csf(self, entries: list[Entry]) -> dict:
        entries = sorted(entries, key=lambda e: e[0])
        rank = len(self.shape)
        out = {**self.base(), "NNZ": len(entries), "val": self.vals([v for _, v in entries]),
               f"idx{rank - 1}": self.ints([c[-1] for c, _ in entries])}
        below = [c for c, _ in entries]
        for d in range(rank - 2, -1, -1):
            keys = sorted({c[:d + 1] for c in below})
            ptr = [sum(c[:d + 1] < k for c in below) for k in keys] + [len(below)]
            out |= {f"NF{d}": len(keys), f"idx{d}": self.ints([k[-1] for k in keys]), f"ptr{d}": self.ints(ptr)}
            below = keys
        return out

    def get_csf(self, a: dict) -> list[Entry]:
        rank = len(self.shape)
        size = [*(a[f"NF{d}"] for d in range(rank - 1)), a["NNZ"]]
        prefix = [(int(x),) for x in a["idx0"][:size[0]]]
        for d in range(rank - 1):
            assert not prefix or len(set(prefix)) == len(prefix)
            links = self._walk(a[f"ptr{d}"], size[d], size[d + 1])
            assert len({p for p, _ in links}) == size[d], "an empty fibre"
            prefix = [(*prefix[p], int(a[f"idx{d + 1}"][q])) for p, q in links]
        assert prefix == sorted(prefix)
        return list(zip(prefix, a["val"].tolist(), strict=True))

    def put_hicoo(self, entries: list[Entry], b: int = 8) -> dict:
        def block(c: tuple[int, ...]) -> tuple[int, ...]:
            return tuple(x // b for x in c)

        entries = sorted(entries, key=lambda e: morton(block(e[0])))
        blocks = list(dict.fromkeys(block(c) for c, _ in entries))
        ptr = [next(n for n, (c, _) in enumerate(entries) if block(c) == k) for k in blocks] + [len(entries)]
        out = {**self.base(), "NB": len(blocks), "NNZ": len(entries), "bptr": self.ints(ptr),
               "val": self.vals([v for _, v in entries])}
        for d in range(len(self.shape)):
            out[f"bind{d}"] = self.ints([k[d] for k in blocks])
            out[f"eind{d}"] = self.ints([c[d] % b for c, _ in entries])
        return out

    def get_hicoo(self, a: dict, b: int = 8) -> list[Entry]:
        rank = len(self.shape)
        blocks = [tuple(int(a[f"bind{d}"][x]) for d in range(rank)) for x in range(a["NB"])]
        assert len(set(blocks)) == len(blocks) and [*map(morton, blocks)] == sorted(map(morton, blocks))
        links = self._walk(a["bptr"], a["NB"], a["NNZ"])
        assert len({x for x, _ in links}) == len(blocks), "an empty block"
        out = []
        for x, n in links:
            e = [int(a[f"eind{d}"][n]) for d in range(rank)]
            assert all(0 <= y < b for y in e)
            out.append((tuple(b * blocks[x][d] + e[d] for d in range(rank)), a["val"][n].item()))
        return out


def family(name: str) -> str:
    """The methods of a format: COO3 and COO share theirs; a file's are called after it."""
    head = Path(name).stem.lower().replace(":", "_")
    return head.rstrip("1234") if "_" not in head else head


def encode(name: str, codec: Codec, entries: list[Entry]) -> dict:
    return getattr(codec, f"put_{family(name)}")(entries)


def decode(name: str, codec: Codec, arrays: dict) -> list[Entry]:
    return getattr(codec, f"get_{family(name)}")(arrays)


def summed(entries: list[Entry]) -> dict[tuple[int, ...], float]:
    out: dict[tuple[int, ...], float] = {}
    for c, v in entries:
        out[c] = out.get(c, 0) + v
    return out
