"""Describes a step of the sparse IR for `--explain`, in terms of the sparse polyhedral framework (`View`): domain,
place in the schedule, elements read and written; None for a step over whole arrays."""
from __future__ import annotations

from dataclasses import replace

from codegen.record import record
from codegen.sparse.algebra.expr import Exp, atom, var
from codegen.sparse.algebra.relation import Constraint, Relation, unique
from codegen.sparse.algebra.terms import calls, subst
from codegen.sparse.ir.counting import Count, Scatter
from codegen.sparse.ir.model import Branch, Step
from codegen.sparse.ir.nest import For, Guard, Let, Nest
from codegen.sparse.ir.read_write_sets import writes
from codegen.sparse.ir.statement import Store
from codegen.sparse.ir.walk import expressions, parts


@record
class View:
    """`domain`: the iterations; `schedule`: when they run; elements that they read and write, arrays where no
    subscript is known."""

    domain: Relation
    schedule: tuple[str, ...]
    reads: tuple[str, ...]
    writes: tuple[str, ...]

    def __str__(self) -> str:
        lists = [f"{word} {', '.join(found)}" for word, found in (("reads", self.reads), ("writes", self.writes))
                 if found]
        return f"{self.domain} at [{', '.join(self.schedule)}]{''.join(f'; {x}' for x in lists)}"


def view(number: int, s: Step) -> View | None:
    """The view of a step with a nest; None for steps over whole arrays. Of a branch only what it looks at is shown."""
    if isinstance(s, Branch):
        s = replace(s, then=(), other=())
    elif isinstance(s, (Count, Scatter)):
        s = replace(s, packet=None)  # another way to do the same
    nest: Nest = getattr(s, "nest", ())
    loops = [x for x in nest if isinstance(x, For)]
    if not loops:
        return None
    values: dict[str, Exp] = {}
    for x in nest:
        if isinstance(x, Let):
            values[x.var] = subst(x.value, values)
    cons = [c for x in loops for c in (Constraint(var(x.var) - x.low), Constraint(x.high - var(x.var) - 1))]
    cons += [c for x in nest if isinstance(x, Guard) for c in x.cons]
    inside = tuple(Constraint(subst(c.exp, values), c.equal) for c in cons)
    domain = Relation(tuple(x.var for x in loops), (), unique(inside))
    body = getattr(s, "body", ())
    stores = [x for x in parts(body) if isinstance(x, Store)]
    written = dict.fromkeys(_element(x, values) for x in stores)
    written |= dict.fromkeys(sorted(writes(s) - {x.target for x in stores}))
    read = dict.fromkeys(str(atom(k)) for e in expressions(s) for k in calls(subst(e, values)))
    return View(domain, (str(number), *domain.ins), tuple(read), tuple(written))


def _element(s: Store, values: dict[str, Exp]) -> str:
    return s.target if s.index is None else f"{s.target}({subst(s.index, values)})"
