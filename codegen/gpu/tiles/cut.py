"""Products whose rows and columns form no box, as triangles do: the box around them, and affine values that are not
negative for what is computed (`cut_box`). A tile is left out where one of these is negative everywhere in it, and whole
where none is negative at its corners. `wrong_cut` proves that box and values together are the statement's domain."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from codegen.ast.ctree import Bin, CExpr, For, Instance, Int, Name, Neg
from codegen.ast.isl_expressions import value_expr
from codegen.recognize.access.boxes import cuts
from codegen.record import record
from codegen.scop.model import Scop, Statement
from codegen.scop.product import Contraction
from codegen.verify.readback import TreePoint

CASES = 4  # bounds of the box fall into no more cases
_SET, _PARAM = isl.dim_type.set, isl.dim_type.param


class NoCut(Exception):
    """Why rows and columns cannot be told from others in this way."""


@record
class Cut:
    """An affine value of row and column, not negative for elements that are computed, and whether it grows with either:
    1 with it, -1 against it, 0 not at all."""

    value: CExpr
    row: int
    column: int


@record
class CutBox:
    """First and past-the-last rows and columns, and what is cut off."""

    rows: tuple[CExpr, CExpr]
    columns: tuple[CExpr, CExpr]
    cuts: tuple[Cut, ...]


def cut_box(scop: Scop, s: Statement, at: Instance, what: Contraction) -> CutBox:
    """Of a product. Raises NoCut."""
    names = _names(s, at)
    outer = [d for d in range(len(names)) if d not in (*what.rows, *what.columns, *what.depth)]
    domain = s.domain.intersect_params(scop.context)
    found = cuts(domain, outer, what.depth)
    if found is None or any(a.involves_dims(isl.dim_type.in_, d, 1) for a in found for d in what.depth):
        raise NoCut("its depth changes with rows or columns")
    row, column = what.rows[0], what.columns[0]
    values = tuple(Cut(_expression(a, names), _sign(a, row), _sign(a, column)) for a in found)
    return CutBox(_ends(scop, domain, names, outer, row), _ends(scop, domain, names, outer, column), values)


def _names(s: Statement, at: Instance) -> list[str]:
    """The variables of loops that are the statement's iterators."""
    found = [e.name for e in at.iterators if isinstance(e, Name)]
    params = [s.domain.get_dim_name(_PARAM, k) for k in range(s.domain.dim(_PARAM))]
    if len(found) != len(s.iterators) or len({*found, *params}) != len(found) + len(params):
        raise NoCut("its loops are not those of the statement")
    return found


def _ends(
    scop: Scop, domain: isl.Set, names: Sequence[str], outer: Sequence[int], d: int
) -> tuple[CExpr, CExpr]:
    """First and past-the-last values of an iterator, in terms of parameters and of the loops around the product."""
    line = domain.reset_tuple_id() if domain.has_tuple_id() else domain
    for k in reversed(range(len(names))):
        if k != d and k not in outer:
            line = line.project_out(_SET, k, 1)
        elif k != d:
            line = line.insert_dims(_PARAM, line.dim(_PARAM), 1).set_dim_name(_PARAM, line.dim(_PARAM), names[k])
            line = _tied(line, k)
    first, last = line.dim_min(0).coalesce(), line.dim_max(0).coalesce()
    if max(first.n_piece(), last.n_piece()) > CASES:
        raise NoCut("the ends of its rows or columns fall into many cases")
    context = scop.context.align_params(line.get_space().params())
    past = last.add_constant_val(isl.Val(1))
    return value_expr(first.gist(context), context), value_expr(past.gist(context), context)


def _tied(line: isl.Set, k: int) -> isl.Set:
    """Without dimension `k`, which is the last parameter."""
    same = isl.Constraint.alloc_equality(isl.LocalSpace.from_space(line.get_space()))
    same = same.set_coefficient_val(_SET, k, isl.Val(1)).set_coefficient_val(_PARAM, line.dim(_PARAM) - 1, isl.Val(-1))
    return line.add_constraint(same).project_out(_SET, k, 1)


def _sign(a: isl.Aff, d: int) -> int:
    return int(a.get_coefficient_val(isl.dim_type.in_, d).sgn())


def _expression(a: isl.Aff, names: Sequence[str]) -> CExpr:
    """An affine value with whole coefficients."""
    terms = [(a.get_coefficient_val(isl.dim_type.in_, d), n) for d, n in enumerate(names)]
    params = range(a.dim(_PARAM))
    terms += [(a.get_coefficient_val(_PARAM, k), str(a.get_dim_name(_PARAM, k))) for k in params]
    total: CExpr | None = None
    for c, name in sorted(((int(c.to_str()), n) for c, n in terms if not c.is_zero()), key=lambda x: -x[0]):
        one: CExpr = Name(name) if abs(c) == 1 else Bin("*", Int(abs(c)), Name(name))
        total = (one if c > 0 else Neg(one)) if total is None else Bin("+" if c > 0 else "-", total, one)
    rest = int(a.get_constant_val().to_str())
    if total is None or not rest:
        return Int(rest) if total is None else total
    return Bin("+" if rest > 0 else "-", total, Int(abs(rest)))


def wrong_cut(scop: Scop, s: Statement, at: Instance, what: Contraction, box: CutBox, depth: For) -> str:
    """Is what lies in the box and is not cut off, at the depths of the loop, all of the statement and nothing else?"""
    names = _names(s, at)
    domain = s.domain.intersect_params(scop.context)
    plain = domain.reset_tuple_id() if domain.has_tuple_id() else domain
    inner = (what.rows[0], what.columns[0], what.depth[0])
    around = plain
    for d in inner:
        around = around.project_out(_SET, d, 1).insert_dims(_SET, d, 1)
    p = TreePoint(isl.Set.universe(plain.get_space()), tuple(names), (), (), ())
    computed = around
    for d, (first, past) in zip(inner, (box.rows, box.columns, (depth.lower, depth.upper)), strict=True):
        value = p.value(Name(names[d]))
        computed = computed.intersect(value.ge_set(p.value(first))).intersect(value.lt_set(p.value(past)))
    for cut in box.cuts:
        computed = computed.intersect(p.value(cut.value).ge_set(p.value(Int(0))))
    if not computed.is_equal(plain):
        return "tiles compute other elements than the product has"
    for cut in box.cuts:
        for d, sign in ((inner[0], cut.row), (inner[1], cut.column)):
            if not _grows(p, cut.value, d, sign):
                return "tiles are left out, or taken as whole, by the wrong corners"
    return ""


def _grows(p: TreePoint, value: CExpr, d: int, sign: int) -> bool:
    """Does a value grow with a dimension in the way that `sign` says?"""
    space = p.domain.get_space()
    onward = isl.MultiAff.identity(space.map_from_set())
    onward = onward.set_aff(d, onward.get_aff(d).add_constant_val(isl.Val(1)))
    now = p.value(value)
    more = now.pullback_multi_aff(onward).sub(now)
    zero = p.value(Int(0))
    where = more.gt_set(zero) if sign > 0 else more.lt_set(zero) if sign < 0 else more.eq_set(zero)
    return bool(p.domain.is_subset(where))
