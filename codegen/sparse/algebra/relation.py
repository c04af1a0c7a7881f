"""Sets and relations of integer tuples with conjunctive constraints; inverse, composition, substitution."""
from __future__ import annotations

from collections.abc import Mapping

from codegen.record import record
from codegen.sparse.algebra.expr import Exp, Name, as_name, text, var
from codegen.sparse.algebra.terms import names, solve, subst


@record
class Constraint:
    """exp = 0 when `equal`, else exp >= 0."""

    exp: Exp
    equal: bool = False

    def __str__(self) -> str:
        left = Exp(tuple(t for t in self.exp.terms if t[1] > 0), max(self.exp.const, 0))
        return f"{text(left)} {'=' if self.equal else '>='} {text(left - self.exp)}"


def equal(left: Exp, right: Exp) -> Constraint:
    return Constraint(left - right, True)


@record
class Relation:
    """{ [ins] -> [outs] : cons }; a set has no outs."""

    ins: tuple[str, ...]
    outs: tuple[str, ...]
    cons: tuple[Constraint, ...]

    def __str__(self) -> str:
        arrow = f" -> [{', '.join(self.outs)}]" if self.outs else ""
        conds = " and ".join(str(c) for c in self.cons)
        return f"{{[{', '.join(self.ins)}]{arrow}{' : ' + conds if conds else ''}}}"


def inverse(r: Relation) -> Relation:
    return Relation(r.outs, r.ins, r.cons)


def with_constraints(r: Relation, more: tuple[Constraint, ...]) -> Relation:
    return Relation(r.ins, r.outs, unique((*r.cons, *more)))


def unique(cons: tuple[Constraint, ...]) -> tuple[Constraint, ...]:
    """Each constraint once, without those that say nothing."""
    return tuple(dict.fromkeys(c for c in cons if c.exp.terms or (c.exp.const != 0 if c.equal else c.exp.const < 0)))


def substituted(cons: tuple[Constraint, ...], values: Mapping[str, Exp]) -> tuple[Constraint, ...]:
    return unique(tuple(Constraint(subst(c.exp, values), c.equal) for c in cons))


def renamed(r: Relation, taken: frozenset[str]) -> tuple[Relation, dict[str, str]]:
    """The relation with tuple variables that clash with `taken` given new names, and what became of each."""
    new: dict[str, str] = {}
    used = set(taken) | set(r.ins) | set(r.outs)
    for v in (*r.ins, *r.outs):
        if v not in taken:
            continue
        n = 1
        while f"{v}{n}" in used:
            n += 1
        new[v] = f"{v}{n}"
        used.add(new[v])
    values = {old: var(name) for old, name in new.items()}
    out = Relation(tuple(new.get(v, v) for v in r.ins), tuple(new.get(v, v) for v in r.outs),
                   substituted(r.cons, values))
    return out, new


def function_of(r: Relation) -> dict[str, Exp] | None:
    """Every output as an expression of the inputs; None when the relation is no function.

    A plain input variable is preferred to a call: it keeps the arguments of other functions simple.
    """
    out: dict[str, Exp] = {}
    inputs = frozenset(r.ins)
    while len(out) < len(r.outs):
        found = _next_output(r, inputs, out)
        if found is None:
            return None
        out.update(found)
    return out


def _next_output(r: Relation, inputs: frozenset[str], done: dict[str, Exp]) -> dict[str, Exp] | None:
    options: list[tuple[int, str, Exp]] = []
    for o in r.outs:
        if o in done:
            continue
        for c in r.cons:
            value = solve(c.exp, Name(o)) if c.equal else None
            if value is None:
                continue
            value = subst(value, done)
            if names(value) & (frozenset(r.outs) - frozenset(done)) or not (names(value) & inputs or not names(value)):
                continue
            options.append((0 if as_name(value) in inputs else 1, o, value))
    if not options:
        return None
    _, o, value = min(options, key=lambda t: (t[0], r.outs.index(t[1])))
    return {o: value}


def compose(second: Relation, first: Relation) -> Relation | None:
    """second after first, where first is a function: the tuple in the middle is substituted away."""
    values = function_of(first)
    if values is None:
        return None
    middle = {v: values[o] for v, o in zip(second.ins, first.outs, strict=True)}
    cons = (*substituted(first.cons, values), *substituted(second.cons, middle))
    return Relation(first.ins, second.outs, unique(cons))
