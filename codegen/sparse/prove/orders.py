"""Checks the order promises (`forall`) of one format's descriptor: each must be one that conversions establish by
construction, `<=` of segment pointers or one sort order per position. Raises a located error for any other, such as a
second order of a position, or one in which entries of the same position may differ. Looks at no conversion."""
from __future__ import annotations

from codegen.sparse.algebra.expr import Call, Exp, single, var
from codegen.sparse.algebra.terms import names
from codegen.sparse.synth.model import Layout, unsolved


def kept_orders(lay: Layout) -> None:
    starts = {a for p in lay.positions for a in (p.ptr, p.stair.ptr if p.stair else "") if a}
    seen: set[str] = set()
    for q in lay.desc.quantifiers:
        k, p = single(q.key), lay.position(q.variable)
        if isinstance(k, Call) and k.id in starts:
            if q.sign != "<=":
                raise unsolved(lay.desc, f"{k.id} stays as it is where nothing is stored, so it cannot be {q.sign}",
                               f"write {k.id}(..) <= {k.id}(..)", q.loc)
            continue
        if p is None:
            raise unsolved(lay.desc, f"a promise about {q.variable}, which counts nothing that is stored",
                           "promises are about pointers, or about the order at a position", q.loc)
        if p.var in seen:
            raise unsolved(lay.desc, f"a second order for {p.var}", "join the two with LEX(...)", q.loc)
        if p.group:
            raise unsolved(lay.desc, f"an order of {p.var}, which is counted within groups", loc=q.loc)
        if p.ptr and q.down:
            raise unsolved(lay.desc, f"{p.var} cannot go down where its segments go up", loc=q.loc)
        if not p.full and not all(_of_key(e, p.key) for e in p.order.parts):
            parts = ", ".join(map(str, p.order.parts))
            raise unsolved(lay.desc, f"an order of {p.var} by {parts}, in which entries of one {p.var} may differ",
                           loc=q.loc)
        seen.add(p.var)


def _of_key(part: Exp, key: tuple[Exp, ...]) -> bool:
    """Do entries of equal keys agree in a part of an order?"""
    k = single(part)
    if part in key:
        return True
    return all(_of_key(a, key) for a in k.args) if isinstance(k, Call) else all(var(x) in key for x in names(part))
