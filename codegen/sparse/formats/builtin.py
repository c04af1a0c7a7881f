"""The formats that come with the tool, as texts in the descriptor language; rank and block sizes are parameters.

Names: COO, SCOO, MCOO and DENSE may carry a rank (COO3, MCOO4), CSF, HICOO and ALTO too (default 3); block sizes follow
a colon: BCSR:2x3, HICOO:8, HICOO2:16.
"""
from __future__ import annotations

import re
from collections.abc import Callable

_DIMS = ("i", "j", "k", "l")
_SHAPE = ("NR", "NC", "NZ", "NT")
INDEX = ("row", "col", "lay", "box")
_NAME = re.compile(r"([A-Z]+?)([1-4]?)(?::(\d+(?:x\d+)*))?$")


def _conj(parts: list[str]) -> str:
    return " and ".join(parts)


def _head(name: str, rank: int) -> str:
    return f"format {name}\nshape {', '.join(_SHAPE[:rank])}\n"


def _coordinates(name: str, rank: int, order: str) -> str:
    """An array for each coordinate, entries 0..NNZ-1."""
    dims, copies = _DIMS[:rank], [d * 2 for d in _DIMS[:rank]]
    cons = [f"{u}(n) = {d}" for u, d in zip(INDEX, dims, strict=False)]
    cons += [f"{c} = {d}" for c, d in zip(copies, dims, strict=True)]
    cons += [f"0 <= {d} < {s}" for d, s in zip(dims, _SHAPE, strict=False)] + ["0 <= n < NNZ"]
    tuple_ = ", ".join(["n", *copies])
    ufs = "".join(f"uf {u} {{[x] : 0 <= x < NNZ}} -> {{[y] : 0 <= y < {s}}}\n"
                  for u, s in zip(INDEX[:rank], _SHAPE, strict=False))
    return (f"{_head(name, rank)}map {{[{tuple_}] -> [{', '.join(dims)}] :\n     {_conj(cons)}}}\n"
            f"access {{[{tuple_}] -> [n]}}\ndata val\n{ufs}{order}")


def coo(name: str, rank: int, blocks: tuple[int, ...]) -> str:
    return _coordinates(name, rank, "")


def scoo(name: str, rank: int, blocks: tuple[int, ...]) -> str:
    return _coordinates(name, rank, "forall n1, n2 : n1 < n2 <=> row(n1) <= row(n2)\n")


def mcoo(name: str, rank: int, blocks: tuple[int, ...]) -> str:
    left, right = (", ".join(f"{u}({n})" for u in INDEX[:rank]) for n in ("n1", "n2"))
    return _coordinates(name, rank, f"forall n1, n2 : n1 < n2 <=> MORTON({left}) <= MORTON({right})\n")


def _compressed(name: str, outer: int) -> str:
    inner = 1 - outer
    o, i = _DIMS[outer], _DIMS[inner]
    oo, ii, ptr, index = o * 2, i * 2, f"{INDEX[outer]}ptr", INDEX[inner]
    return (f"{_head(name, 2)}map {{[{oo}, k, {ii}] -> [i, j] : {oo} = {o} and {ii} = {i} and {index}(k) = {i} and\n"
            f"     0 <= {oo} < {_SHAPE[outer]} and {ptr}({oo}) <= k < {ptr}({oo}+1) and 0 <= k < NNZ and "
            f"0 <= {ii} < {_SHAPE[inner]}}}\n"
            f"access {{[{oo}, k, {ii}] -> [k]}}\ndata val\n"
            f"uf {ptr} {{[x] : 0 <= x <= {_SHAPE[outer]}}} -> {{[y] : 0 <= y <= NNZ}}\n"
            f"uf {index} {{[x] : 0 <= x < NNZ}} -> {{[y] : 0 <= y < {_SHAPE[inner]}}}\n"
            f"forall {oo}1, {oo}2 : {oo}1 < {oo}2 <=> {ptr}({oo}1) <= {ptr}({oo}2)\n"
            f"forall k1, k2 : k1 < k2 <=> dim{outer}(k1) <= dim{outer}(k2)\n")


def csr(name: str, rank: int, blocks: tuple[int, ...]) -> str:
    return _compressed(name, 0)


def csc(name: str, rank: int, blocks: tuple[int, ...]) -> str:
    return _compressed(name, 1)


def dia(name: str, rank: int, blocks: tuple[int, ...]) -> str:
    return (f"{_head(name, 2)}map {{[ii, d, jj] -> [i, j] : ii = i and jj = j and 0 <= ii < NR and 0 <= d < ND and\n"
            "     jj = ii + off(d) and 0 <= jj < NC}\naccess {[ii, d, jj] -> [ND*ii + d]}\ndata val fill 0\n"
            "uf off {[x] : 0 <= x < ND} -> {[y] : -NR < y < NC}\nforall d1, d2 : d1 < d2 <=> off(d1) < off(d2)\n")


def ell(name: str, rank: int, blocks: tuple[int, ...]) -> str:
    return (f"{_head(name, 2)}map {{[ii, s, jj] -> [i, j] : ii = i and jj = j and 0 <= ii < NR and 0 <= s < K and\n"
            "     jj = col(ii, s) and 0 <= jj < NC}\naccess {[ii, s, jj] -> [K*ii + s]}\ndata val fill 0\n"
            "uf col {[x, t] : 0 <= x < NR and 0 <= t < K} -> {[y] : -1 <= y < NC} fill -1\n")


def bcsr(name: str, rank: int, blocks: tuple[int, ...]) -> str:
    b, c = blocks
    return (f"{_head(name, 2)}let NBR = (NR + {b - 1}) div {b}\nlet NBC = (NC + {c - 1}) div {c}\n"
            f"map {{[bi, kk, bj, r, c] -> [i, j] : i = {b}*bi + r and j = {c}*bj + c and 0 <= r < {b} and\n"
            f"     0 <= c < {c} and 0 <= bi < NBR and browptr(bi) <= kk < browptr(bi+1) and bj = bcol(kk) and\n"
            "     0 <= kk < NNB and 0 <= i < NR and 0 <= j < NC}\n"
            f"access {{[bi, kk, bj, r, c] -> [{b * c}*kk + {c}*r + c]}}\ndata val fill 0\n"
            "uf browptr {[x] : 0 <= x <= NBR} -> {[y] : 0 <= y <= NNB}\n"
            "uf bcol {[x] : 0 <= x < NNB} -> {[y] : 0 <= y < NBC}\n"
            "forall b1, b2 : b1 < b2 <=> browptr(b1) <= browptr(b2)\n"
            f"forall kk1, kk2 : kk1 < kk2 <=> dim0(kk1) div {b} <= dim0(kk2) div {b}\n")


def csf(name: str, rank: int, blocks: tuple[int, ...]) -> str:
    dims, pos = _DIMS[:rank], [*(f"p{d}" for d in range(rank - 1)), "n"]
    size = [*(f"NF{d}" for d in range(rank - 1)), "NNZ"]
    cons = [f"{d}{d} = {d}" for d in dims] + [f"0 <= p0 < {size[0]}"]
    for d in range(rank):
        cons.append(f"{dims[d]} = idx{d}({pos[d]})")
        if d:
            cons += [f"ptr{d - 1}({pos[d - 1]}) <= {pos[d]} < ptr{d - 1}({pos[d - 1]}+1)", f"0 <= {pos[d]} < {size[d]}"]
    cons += [f"0 <= {d} < {s}" for d, s in zip(dims, _SHAPE, strict=False)]
    tuple_ = ", ".join([*pos, *(d * 2 for d in dims)])
    ufs = "".join(f"uf idx{d} {{[x] : 0 <= x < {size[d]}}} -> {{[y] : 0 <= y < {_SHAPE[d]}}}\n" for d in range(rank))
    ufs += "".join(f"uf ptr{d} {{[x] : 0 <= x <= {size[d]}}} -> {{[y] : 0 <= y <= {size[d + 1]}}}\n"
                   for d in range(rank - 1))
    ups = "".join(f"forall e1, e2 : e1 < e2 <=> ptr{d}(e1) <= ptr{d}(e2)\n" for d in range(rank - 1))
    left, right = (", ".join(f"dim{d}({n})" for d in range(rank)) for n in ("n1", "n2"))
    return (f"{_head(name, rank)}map {{[{tuple_}] -> [{', '.join(dims)}] :\n     {_conj(cons)}}}\n"
            f"access {{[{tuple_}] -> [n]}}\ndata val\n{ufs}{ups}"
            f"forall n1, n2 : n1 < n2 <=> LEX({left}) <= LEX({right})\n")


def hicoo(name: str, rank: int, blocks: tuple[int, ...]) -> str:
    (b,) = blocks
    dims = _DIMS[:rank]
    cons = ["0 <= b < NB", "bptr(b) <= n < bptr(b+1)", "0 <= n < NNZ"]
    for d, x in enumerate(dims):
        cons += [f"b{x} = bind{d}(b)", f"e{x} = eind{d}(n)", f"{x} = {b}*b{x} + e{x}", f"0 <= e{x} < {b}",
                 f"0 <= {x} < {_SHAPE[d]}"]
    tuple_ = ", ".join(["b", "n", *(f"b{x}" for x in dims), *(f"e{x}" for x in dims)])
    ufs = "uf bptr {[x] : 0 <= x <= NB} -> {[y] : 0 <= y <= NNZ}\n"
    ufs += "".join(f"uf bind{d} {{[x] : 0 <= x < NB}} -> {{[y] : 0 <= y < B{d}}}\n" for d in range(rank))
    ufs += "".join(f"uf eind{d} {{[x] : 0 <= x < NNZ}} -> {{[y] : 0 <= y < {b}}}\n" for d in range(rank))
    lets = "".join(f"let B{d} = ({s} + {b - 1}) div {b}\n" for d, s in enumerate(_SHAPE[:rank]))
    left, right = (", ".join(f"dim{d}({n}) div {b}" for d in range(rank)) for n in ("n1", "n2"))
    return (f"{_head(name, rank)}{lets}map {{[{tuple_}] -> [{', '.join(dims)}] :\n     {_conj(cons)}}}\n"
            f"access {{[{tuple_}] -> [n]}}\ndata val\n{ufs}"
            "forall e1, e2 : e1 < e2 <=> bptr(e1) <= bptr(e2)\n"
            f"forall n1, n2 : n1 < n2 <=> MORTON({left}) <= MORTON({right})\n")


def alto(name: str, rank: int, blocks: tuple[int, ...]) -> str:
    dims = ", ".join(_DIMS[:rank])
    cons = [f"lin(n) = INTERLEAVE({dims})", *(f"0 <= {d} < {s}" for d, s in zip(_DIMS[:rank], _SHAPE, strict=False))]
    return (f"{_head(name, rank)}map {{[n] -> [{dims}] : {_conj([*cons, '0 <= n < NNZ'])}}}\n"
            "access {[n] -> [n]}\ndata val\nuf lin {[x] : 0 <= x < NNZ} -> {[y] : 0 <= y}\n"
            "forall n1, n2 : n1 < n2 <=> lin(n1) <= lin(n2)\n")


def dense(name: str, rank: int, blocks: tuple[int, ...]) -> str:
    dims = _DIMS[:rank]
    tuple_ = ", ".join(d * 2 for d in dims)
    cons = [f"{d}{d} = {d} and 0 <= {d}{d} < {s}" for d, s in zip(dims, _SHAPE, strict=False)]
    index = dims[0] * 2
    for d, s in zip(dims[1:], _SHAPE[1:], strict=False):
        index = f"{s}*({index}) + {d}{d}"
    return (f"{_head(name, rank)}map {{[{tuple_}] -> [{', '.join(dims)}] : {_conj(cons)}}}\n"
            f"access {{[{tuple_}] -> [{index}]}}\ndata val fill 0\n")


_Maker = Callable[[str, int, tuple[int, ...]], str]
# family: maker, ranks it has, rank without a digit, block sizes without a colon, one line for the list
FAMILIES: dict[str, tuple[_Maker, tuple[int, ...], int, tuple[int, ...], str]] = {
    "COO": (coo, (1, 2, 3, 4), 2, (), "coordinates in any order"),
    "SCOO": (scoo, (1, 2, 3, 4), 2, (), "coordinates sorted by the first one"),
    "MCOO": (mcoo, (1, 2, 3, 4), 2, (), "coordinates in Morton order"),
    "CSR": (csr, (2,), 2, (), "compressed rows"),
    "CSC": (csc, (2,), 2, (), "compressed columns"),
    "DIA": (dia, (2,), 2, (), "diagonals, stored row by row"),
    "ELL": (ell, (2,), 2, (), "rows padded to the longest; unused columns are -1"),
    "BCSR": (bcsr, (2,), 2, (2, 2), "compressed rows of dense blocks"),
    "CSF": (csf, (2, 3, 4), 3, (), "compressed fibres, a level for each dimension"),
    "HICOO": (hicoo, (2, 3, 4), 3, (8,), "coordinates in blocks, blocks in Morton order"),
    "ALTO": (alto, (2, 3, 4), 3, (), "one number for all coordinates of an entry: their bits interleaved"),
    "DENSE": (dense, (1, 2, 3, 4), 2, (), "every element"),
}


def builtin_text(name: str) -> str | None:
    """The text of a built-in format, or None when there is none of this name."""
    m = _NAME.match(name.upper().replace("X", "x"))
    if m is None or m[1] not in FAMILIES:
        return None
    maker, ranks, default, blocks, _ = FAMILIES[m[1]]
    rank = int(m[2] or default)
    sizes = tuple(int(b) for b in m[3].split("x")) if m[3] else blocks
    if rank not in ranks or len(sizes) != len(blocks) or any(b < 1 for b in sizes):
        return None
    plain = m[1] + (str(rank) if rank != default else "") + ("_" + "x".join(map(str, sizes)) if sizes != blocks else "")
    return maker(plain, rank, sizes)
