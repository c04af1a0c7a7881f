"""Turns INTERLEAVE(i, j) in the map of a format, which the parser takes for a function, into the code of numbers below
their extents; raises a located error where the map does not say that they lie below extents."""
from __future__ import annotations

from codegen.diagnostics import Loc
from codegen.sparse.algebra.expr import Atom, Call, Code, Exp, Name, as_name, atom, var
from codegen.sparse.algebra.lexer import bad
from codegen.sparse.algebra.relation import Constraint, Relation
from codegen.sparse.algebra.terms import coefficient, rewrite

INTERLEAVE = "INTERLEAVE"


def with_codes(r: Relation, shape: tuple[str, ...], loc: Loc) -> Relation:
    def coded(a: Atom) -> Exp | None:
        if not isinstance(a, Call) or a.id != INTERLEAVE:
            return None
        if len(a.args) > 4:
            raise bad(f"{INTERLEAVE} of {len(a.args)} numbers; it takes four at most", loc)
        return atom(Code(a.args, tuple(_extent(r, x, shape, loc) for x in a.args)))

    return Relation(r.ins, r.outs, tuple(Constraint(rewrite(c.exp, coded), c.equal) for c in r.cons))


def _extent(r: Relation, x: Exp, shape: tuple[str, ...], loc: Loc) -> Exp:
    """The extent that a condition of the map sets a variable."""
    v = as_name(x)
    if v is None or v not in (*r.ins, *r.outs) or Constraint(var(v)) not in r.cons:
        raise bad(f"{INTERLEAVE} of {x}, which is no variable with 0 <= {x}", loc)
    for c in (c for c in r.cons if not c.equal and coefficient(c.exp, Name(v)) == -1):
        extent = as_name(c.exp + x + 1)
        if extent in shape:
            return var(extent)
    raise bad(f"{INTERLEAVE} of {v}, which has no extent", loc, f"bound it with 0 <= {v} < {shape[0]}")
