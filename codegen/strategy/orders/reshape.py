"""Reshapes isl's loop tree before it becomes a plan, where dependences allow it: statements of different depth get
nests of their own, and in every permutable innermost band the loop with most unit strides goes innermost."""

from __future__ import annotations

from dataclasses import replace

import islpy as isl

from codegen.recognize.access.strides import move
from codegen.scop.memo import remember
from codegen.scop.model import Scop
from codegen.scop.tree import (
    Band,
    Leaf,
    Loop,
    Node,
    Path,
    Seq,
    at,
    enclosing,
    has_band,
    kids,
    loops,
    put,
    seq,
    statements,
    walk,
)
from codegen.transform.program import Program, carried, legal

# A jump fetches a whole line for one element: it outweighs what a vector loop gains elsewhere. With -3,
# t[i] += A[i][j] * x[j] ran down the columns of A, at half the speed of the source (atax, 1900 x 2100).
JUMP = -10


def active(scop: Scop, lp: Loop, stmt: str) -> bool:
    """Does the statement really vary along the loop?"""
    n = scop.statement(stmt).domain.dim(isl.dim_type.set)
    return bool(lp.exprs[stmt].involves_dims(isl.dim_type.in_, 0, n))


@remember(4)
def arranged(p: Program, tree: Node) -> Program:
    """A program in another order, with nests of different depth apart and the best loop of each innermost."""
    return innermost_unit_stride(separate(p.with_tree(tree)))


def with_flags(p: Program) -> Program:
    """The same tree, in which loops know whether they carry a dependence."""
    for place in list(loops(p.tree)):
        band = at(p.tree, place.path)
        assert isinstance(band, Band)
        lp = replace(band.loops[place.member], coincident=carried(p, place).blocker is None)
        members = (*band.loops[: place.member], lp, *band.loops[place.member + 1 :])
        p = p.with_tree(put(p.tree, place.path, replace(band, loops=members)))
    return p


def parallel_bands(tree: Node) -> Node:
    """The same tree, in which loops right inside each other that carry no dependence are one band. With all loops
    around them equal, dependences have no distance along any of them: they may be in any order."""
    for path in reversed([path for path, node in walk(tree) if isinstance(node, Band)]):
        node = at(tree, path)
        inner = node.child if isinstance(node, Band) else None
        if not isinstance(node, Band) or not isinstance(inner, Band):
            continue
        both = (*node.loops, *inner.loops)
        if all(x.coincident for x in both):
            tree = put(tree, path, Band(both, inner.child, permutable=True))
    return tree


def separate(p: Program) -> Program:
    """Give statements of different depth their own loops, below one shared loop that all can share.

    isl fuses `C = 0` and `C += A*B` into one band in which the first runs at k = 0 only. Taken literally
    that puts tests into the innermost loop; apart they are two clean nests.
    """
    for path in [path for path, node in walk(p.tree) if isinstance(node, Band)]:
        node = _maybe(p.tree, path)
        if not isinstance(node, Band):
            continue
        for candidate in _separations(p, node):
            trial = p.with_tree(put(p.tree, path, candidate))
            if legal(trial):
                p = trial
                break
    return p


def _maybe(tree: Node, path: Path) -> Node | None:
    try:
        return at(tree, path)
    except IndexError:
        return None


def _separations(p: Program, band: Band) -> list[Node]:
    """Candidate replacements, best first. The loop the deepest statements want innermost is not shared."""
    scop = p.scop
    units: list[Node] = list(kids(band.child)) if isinstance(band.child, Seq) else [band.child]
    if all(isinstance(u, Leaf) for u in units):
        units.sort(key=lambda u: int(statements(u)[0][1:]))
    names = statements(seq(units))
    varies = {n: tuple(k for k, lp in enumerate(band.loops) if active(scop, lp, n)) for n in names}
    if any(len({varies[n] for n in statements(u)}) > 1 for u in units):
        return []
    if len(set(varies.values())) == 1 and len(varies[names[0]]) == len(band.loops):
        return []
    deepest = max(len(v) for v in varies.values())
    if not deepest:
        return []  # loops of a single iteration; nothing varies
    main = tuple(n for n in names if len(varies[n]) == deepest)
    inner = max(varies[main[0]], key=lambda k: (vector_score(p, band, k, main), k))
    shared = [
        k for k, lp in enumerate(band.loops) if lp.coincident and k != inner and all(k in v for v in varies.values())
    ]
    out = []
    for keep in ([shared[:1]] if shared else []) + [[]]:
        out.append(_nests(band, units, varies, keep))
    return out


def _nests(band: Band, units: list[Node], varies: dict[str, tuple[int, ...]], keep: list[int]) -> Node:
    groups: list[list[Node]] = []
    for u in units:
        if groups and varies[statements(groups[-1][-1])[0]] == varies[statements(u)[0]]:
            groups[-1].append(u)
        else:
            groups.append([u])
    parts: list[Node] = []
    for g in groups:
        inner = seq(g)
        names = list(statements(inner))
        mine = tuple(_only(band.loops[k], names) for k in varies[names[0]] if k not in keep)
        parts.append(Band(mine, inner, band.permutable) if mine else inner)
    body = seq(parts)
    return Band(tuple(band.loops[k] for k in keep), body, True) if keep else body


def _only(lp: Loop, names: list[str]) -> Loop:
    return replace(lp, exprs={n: lp.exprs[n] for n in names})


def innermost_unit_stride(p: Program) -> Program:
    """In every permutable innermost band, put the loop with the most unit-stride accesses last."""
    for path, node in list(walk(p.tree)):
        if isinstance(node, Band) and node.permutable and len(node.loops) > 1 and not has_band(node.child):
            loops = _arranged(p, path, node)
            if loops != node.loops:
                trial = p.with_tree(put(p.tree, path, replace(node, loops=loops)))
                p = trial if legal(trial) else p
    return p


def _arranged(p: Program, path: Path, band: Band) -> tuple[Loop, ...]:
    """Coincident loops outside, carried ones inside them, the best vector loop innermost."""
    scores = [vector_score(p, band, k) for k in range(len(band.loops))]
    last = max(range(len(scores)), key=lambda k: (scores[k], k))
    if scores[last] <= 0:
        last = len(scores) - 1
    rest = [k for k in range(len(band.loops)) if k != last]
    rest.sort(key=lambda k: not band.loops[k].coincident)
    return tuple(band.loops[k] for k in (*rest, last))


def vector_score(p: Program, band: Band, which: int, names: tuple[str, ...] = ()) -> int:
    """How well a loop serves as the innermost one: unit strides good, jumps bad, parallel best."""
    score = 0
    for name in names or statements(band):
        s = p.scop.statement(name)
        around = enclosing(p.tree, name)
        k = next(i for i, lp in enumerate(around) if lp.name == band.loops[which].name)
        for a in s.accesses:
            if p.scop.arrays[a.array].rank == 0:
                continue
            m = move(p.scop, s, a, around, k)
            score += 2 if m.unit else 1 if m.still and not a.write else 0 if m.still else JUMP
    return score + (4 if band.loops[which].coincident else 0)
