"""Removes needless stores to integer variables that nothing in the region reads: a statement is dropped where the
function does not read the variable later, else cut down to its last instance, if it alone sets the variable and loops
count up.

Nothing in the region reads them. Where the function does not look at such a variable later, it need not be set at all;
where it does, and one statement sets it, that runs once, for the last value.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from codegen.frontend.context.raw import RawLoop, RawNode
from codegen.frontend.syntax.symbols import RegionSite
from codegen.scop.model import Array, Statement


def last_values(
    statements: Sequence[Statement], arrays: Mapping[str, Array], site: RegionSite, nodes: Sequence[RawNode]
) -> tuple[Statement, ...]:
    """The statements, as far as somebody looks at what they store. In loops that count down, the last iteration is not
    the last in lexicographic order: there all stay."""
    read = {a.array for s in statements for a in s.accesses if not a.write}
    backwards = frozenset(_backwards(nodes))
    out: list[Statement] = []
    for s in statements:
        array = arrays[s.accesses[s.target].array]
        if array.name in read or not _own_integer(array, site):
            out.append(s)
        elif site.used_outside(array.base):
            alone = sum(array.name == x.accesses[x.target].array for x in statements) == 1
            out.append(_last(s) if alone and s.iterators and not backwards & set(s.iterators) else s)
    return tuple(out)


def _own_integer(array: Array, site: RegionSite) -> bool:
    """Is it an integer variable that only this run of the function knows?"""
    var = site.variables.get(array.base)
    if var is None or array.inside or array.rank or not array.elem.is_int:
        return False
    return var.place != "global" and not var.static and array.base not in site.origins.exposed


def _last(s: Statement) -> Statement:
    """Only the last instance."""
    domain = s.domain.lexmax()
    accesses = tuple(replace(a, relation=a.relation.intersect_domain(domain)) for a in s.accesses)
    return replace(s, domain=domain, accesses=accesses)


def _backwards(nodes: Sequence[RawNode]) -> Iterator[str]:
    """Names of loops that count down."""
    for n in nodes:
        if isinstance(n, RawLoop):
            yield from (n.name,) if n.sign < 0 else ()
            yield from _backwards(n.children)
