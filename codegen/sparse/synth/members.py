"""Returns the conditions on the coordinates that say which dense elements a format has a place for (`members`), and
constraints that hold of stored entries, from declared ranges, domains and extents.

CSR takes every element of the matrix. A packed triangle or a band does not: what lies outside is found when entries are
converted, and the conversion gives up.
"""
from __future__ import annotations

from codegen.sparse.algebra.affine import implied
from codegen.sparse.algebra.expr import Call, Exp, var
from codegen.sparse.algebra.relation import Constraint, equal, unique
from codegen.sparse.algebra.terms import functions, names, rewrite, subst
from codegen.sparse.synth.model import Layout


def members(lay: Layout) -> tuple[Constraint, ...]:
    """Conditions that not every dense element fulfils; each holds for an entry once it was tested."""
    coords, symbols = frozenset(lay.coords), known_symbols(lay)
    facts = (*shape_facts(lay), *let_facts(lay))
    out: list[Constraint] = []
    for c in (*lay.desc.map.cons, *stored_ranges(lay), *stored_arguments(lay)):
        e = on_coordinates(lay, c.exp)
        if functions(e) or not names(e) <= coords | symbols or not names(e) & coords:
            continue
        test = Constraint(e, c.equal)
        if not implied((*facts, *out), test):
            out.append(test)
    return unique(tuple(out))


def on_coordinates(lay: Layout, e: Exp) -> Exp:
    """An expression over the tuple as one over the coordinates, as far as resolved variables and stored values go."""
    stored = stored_at(lay)

    def value(a: object) -> Exp | None:
        return stored.get(a) if isinstance(a, Call) else None

    return subst(rewrite(e, value), dict(lay.resolved))


def stored_at(lay: Layout) -> dict[Call, Exp]:
    """What each call of the map that is filled at a position then holds."""
    out: dict[Call, Exp] = {}
    for p in lay.positions:
        values = dict(p.values)
        for c in stored_calls(lay):
            if c.id in values and var(p.at[0]) in c.args:
                out[c] = values[c.id]
    return out


def stored_calls(lay: Layout) -> tuple[Call, ...]:
    """The calls of the map in its equalities."""
    from codegen.sparse.algebra.terms import calls

    return tuple(dict.fromkeys(k for c in lay.desc.map.cons if c.equal for k in calls(c.exp)))


def stored_ranges(lay: Layout) -> tuple[Constraint, ...]:
    """The declared range of every function, said of what is stored."""
    out: list[Constraint] = []
    for name, e in (x for p in lay.positions for x in p.values):
        f = lay.desc.function(name)
        assert f is not None
        out += [Constraint(subst(c.exp, {f.range.ins[0]: e}), c.equal) for c in f.range.cons]
    return tuple(out)


def stored_arguments(lay: Layout) -> tuple[Constraint, ...]:
    """The declared domain of every function, said of the elements that the map speaks of."""
    out: list[Constraint] = []
    for k in stored_calls(lay):
        f = lay.desc.function(k.id)
        assert f is not None
        at = dict(zip(f.domain.ins, k.args, strict=True))
        out += [Constraint(subst(c.exp, at), c.equal) for c in f.domain.cons]
    return tuple(out)


def known_symbols(lay: Layout) -> frozenset[str]:
    """The extents and what follows from them."""
    return frozenset({*lay.desc.shape, *(n for n, _ in lay.desc.lets)})


def shape_facts(lay: Layout) -> tuple[Constraint, ...]:
    """The coordinates of an entry lie within the extents."""
    return tuple(c for x, n in zip(lay.coords, lay.desc.shape, strict=True)
                 for c in (Constraint(var(x)), Constraint(var(n) - var(x) - 1)))


def let_facts(lay: Layout) -> tuple[Constraint, ...]:
    return tuple(equal(var(n), e) for n, e in lay.desc.lets)
