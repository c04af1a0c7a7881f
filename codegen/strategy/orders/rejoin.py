"""Loop fusion after scheduling: statements of one source loop that read the same elements stay together.

isl puts statements into the same loops for what one passes on to the other. Where they only read the same arrays it
has no reason to, and what is read comes from memory once for each: image_condition takes 1.1 of its time as written.
"""

from __future__ import annotations

from dataclasses import replace

from codegen.scop.isl_helpers import maps_of
from codegen.scop.tree import Band, Leaf, Loop, Node, Seq, enclosing, kids, seq, statements
from codegen.transform.program import Program, legal


def rejoined(source: Program, q: Program) -> Program | None:
    """The order `q` with such nests as one again; None where there are none."""
    if not isinstance(q.tree, Seq):
        return None
    parts: list[Node] = []
    for part in q.tree.children:
        both = _both(source, q, parts[-1], part) if parts else None
        parts = [*parts[:-1], both] if both is not None else [*parts, part]
    if len(parts) == len(q.tree.children):
        return None
    joined = q.with_tree(seq(parts))
    return joined if legal(joined) else None


def _both(source: Program, q: Program, a: Node, b: Node) -> Node | None:
    """Two neighbours as one nest, if they were one loop of the source, share what they read, and nothing else."""
    if not isinstance(a, Band) or not isinstance(b, Band) or a.product or b.product:
        return None
    units = [*_leaves(a), *_leaves(b)]
    if len(units) != len(statements(a)) + len(statements(b)) or [x.name for x in a.loops] != [x.name for x in b.loops]:
        return None
    names = [u.stmt for u in units]
    if len({_innermost(source, n) for n in names}) != 1 or not _common(q, a, b) or _tied(q, a, b):
        return None
    loops = tuple(
        replace(x, exprs={**x.exprs, **y.exprs}, coincident=x.coincident and y.coincident)
        for x, y in zip(a.loops, b.loops, strict=True)
    )
    as_written = statements(source.tree)
    units.sort(key=lambda u: as_written.index(u.stmt))
    return Band(loops, seq(list(units)), a.permutable and b.permutable)


def _leaves(band: Band) -> list[Leaf]:
    """The statements of a nest that has no more loops inside."""
    units = kids(band.child) if isinstance(band.child, Seq) else (band.child,)
    return [u for u in units if isinstance(u, Leaf)]


def _innermost(source: Program, name: str) -> int:
    """Which loop of the source holds the statement."""
    around: tuple[Loop, ...] = enclosing(source.tree, name)
    return id(around[-1]) if around else 0


def _common(q: Program, a: Band, b: Band) -> bool:
    """Is there an array that both read, with elements?"""
    read = [
        {x.array for n in statements(part) for x in q.scop.statement(n).reads if q.scop.arrays[x.array].rank}
        for part in (a, b)
    ]
    return bool(read[0] & read[1])


def _tied(q: Program, a: Band, b: Band) -> bool:
    """Does one of them have to wait for the other?"""
    first, then = set(statements(a)), set(statements(b))
    ends = ((m.domain().get_tuple_name(), m.range().get_tuple_name()) for m in maps_of(q.must))
    return any((x in first and y in then) or (x in then and y in first) for x, y in ends)
