"""Returns the run-time condition under which a conversion's temporaries (counters and tables as long as an extent that
no array of the two formats has) are far longer than the entries, or None where they cannot be; for this case direct.py
adds a second chain that sorts, which takes memory for entries alone."""
from __future__ import annotations

from codegen.sparse.algebra.expr import Exp, num
from codegen.sparse.algebra.relation import Constraint
from codegen.sparse.algebra.terms import names
from codegen.sparse.ir.model import Alloc, Computation
from codegen.sparse.ir.walk import parts
from codegen.sparse.synth.bounds import volume
from codegen.sparse.synth.pair import Pair, sizes

TIMES, SMALL = 8, 65536  # an extent so many times the entries and more than this is far beyond them


def far_beyond(p: Pair, c: Computation) -> Constraint | None:
    """When the chain's temporaries are far longer than the source's values; None where they cannot be."""
    known = {**sizes(p.source), **sizes(p.target)}
    lets = {n: names(e) for d in (p.source.desc, p.target.desc) for n, e in d.lets}
    own = [frozenset().union(*(lets.get(n, {n}) for n in names(volume(s)))) for s in known.values()]
    shape = frozenset(p.shape)
    long = [s.size for s in parts(c.steps) if isinstance(s, Alloc) and s.array not in known and names(s.size) & shape
            and not any(names(s.size) <= n for n in own)]
    if not long:
        return None
    total: Exp = num(-SMALL - 1)
    for e in dict.fromkeys(long):
        total = total + e
    return Constraint(total - volume(sizes(p.source)[p.source.desc.data]) * TIMES)
