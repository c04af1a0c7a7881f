"""Overlap test of arrays behind tables of row pointers (`double **a`): decides which row pointers the test may read
(None where it may not read all), and prints the rows, and the table itself, as entries of the test's list of memory.

The test reads the pointers to all rows that the region touches ahead of its loops. It may do so only where the source
reads them in any case, whatever the data are.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import islpy as isl

from codegen.ast.generate import expression
from codegen.record import record
from codegen.scop.model import AccessStep, Array, Scop
from codegen.scop.unconditional import certain
from codegen.target.guards.pointers import is_row, table_of
from codegen.target.guards.spans import Uses, bound_text, bounds, is_loaded, may_lead_nowhere, uses_of
from codegen.target.text.cexpr import IntPrinter


@record
class RowTable:
    """A table of pointers to rows: its C text, that of the pointer to its first row, and the rows that are touched, one
    after the other, as a set over the parameters. Behind such a pointer stands index number `column` of the model;
    elements are `stride` apart, if that is given."""

    text: str
    row: str
    touched: isl.Set
    column: int
    stride: str


def row_table(scop: Scop, array: Array) -> RowTable | None:
    """None where the rows hang on further pointers, or the source need not read the pointers to all of them."""
    at = table_of(scop, array.name)
    if at is None or array.opaque or not array.scattered or may_lead_nowhere(scop, array):
        return None
    uses = uses_of(scop, [array])
    shapes = {_shape(a.path[at.steps :]) for _, a in uses}
    shape = next(iter(shapes))
    if len(shapes) != 1 or shape is None:
        return None
    touched = _touched(scop, uses, at.first)
    if touched is None:
        return None
    members, stride = shape
    return RowTable(at.text, f"{at.text}[0]{members}", touched, at.first + 1, stride)


def _shape(path: Sequence[AccessStep]) -> tuple[str, str] | None:
    """The members from an entry of the table to the pointer, and the stride of elements behind it. Steps do not tell
    which of them follow a pointer: with one subscript behind the first, it is that one."""
    if not is_row(path):
        return None
    return "".join(f".{step.text}" for step in path[1:-1]), path[-1].strides[0] if path[-1].kind == "flat" else ""


def _touched(scop: Scop, uses: Uses, pos: int) -> isl.Set | None:
    """The rows that the region reads the pointers of, whatever the data are; None where those are not all that it
    may touch, or not one after the other."""
    sure = every = None
    for s, a in uses:
        image = a.relation.intersect_domain(s.domain).range()
        rank = image.dim(isl.dim_type.set)
        rows = image.project_out(isl.dim_type.set, pos + 1, rank - pos - 1).project_out(isl.dim_type.set, 0, pos)
        rows = rows.reset_tuple_id().compute_divs()
        every = rows if every is None else every.union(rows)
        if certain(s, a):
            sure = rows if sure is None else sure.union(rows)
    if sure is None or every is None or sure.is_empty() or not every.is_subset(sure):
        return None
    sure = sure.intersect_params(scop.context).coalesce()
    first, last = sure.lexmin(), sure.lexmax()
    between = first.apply(_ahead()).intersect(last.apply(_ahead().reverse()))
    return sure if between.is_subset(sure) else None


def _ahead() -> isl.Map:
    return isl.Map("{ [i] -> [j] : j >= i }")


def table_text(scop: Scop, arrays: Sequence[Array], table: RowTable, ints: IntPrinter) -> str:
    """The rows behind one table, as an entry of the test's list. Where the region touches none, it need not read the
    pointers to any."""
    uses = [(s, a) for s, a in uses_of(scop, arrays) if not a.relation.intersect_domain(s.domain).is_empty()]
    columns = [bound_text(scop, uses, table.column, past, ints) for past in (False, True)]
    if table.stride:
        columns = [f"({x}) * (long)({table.stride})" for x in columns]
    text = f"TW_TABLE({table.text}, {table.row}, {', '.join([*_rows(table, ints), *columns])})"
    first, past = _ends(table)
    some = _pairs_below([first], [past]).intersect(
        _pairs_below(bounds(uses, table.column, False), bounds(uses, table.column, True))
    )
    if table.row == f"{table.text}[0]" and not is_loaded(table.text) and some.is_subset(table.touched.params()):
        return text  # nothing but an address is computed where there are no rows
    test = _where_rows(scop, table, ints)
    return f"({test} ? {text} : tw_line(TW_NOWHERE))" if test else text


def pointers_text(scop: Scop, table: RowTable, ints: IntPrinter) -> str:
    """The memory of the pointers themselves, as an entry of the test's list."""
    text = f"TW_SPAN({table.text}, {', '.join(_rows(table, ints))})"
    test = _where_rows(scop, table, ints) if is_loaded(table.text) else ""
    return f"({test} ? {text} : TW_NOWHERE)" if test else text


def _ends(table: RowTable) -> tuple[isl.PwAff, isl.PwAff]:
    """The first row that is touched, and the one past the last."""
    return table.touched.dim_min(0), table.touched.dim_max(0).add_constant_val(isl.Val(1))


def _rows(table: RowTable, ints: IntPrinter) -> list[str]:
    build = isl.AstBuild.from_context(table.touched.params())
    return [ints.text(expression(build.expr_from_pw_aff(x))) for x in _ends(table)]


def _where_rows(scop: Scop, table: RowTable, ints: IntPrinter) -> str:
    """A C condition for that some row is touched; empty where it always holds."""
    runs = table.touched.params()
    for known in (scop.context, *scop.guard.first):  # which were tested before
        runs = runs.gist(known)
    always = isl.Set.universe(runs.get_space()).is_subset(runs)
    return "" if always else ints.text(expression(_universal(runs).expr_from_set(runs)), 1)


def _pairs_below(low: Sequence[isl.PwAff], past: Sequence[isl.PwAff]) -> isl.Set:
    """For which parameters some of the first formulas, as printed, are below some of the second. Those of several
    pieces may be anything elsewhere."""
    if any(x.n_piece() != 1 for x in (*low, *past)):
        return isl.Set.universe(low[0].get_domain_space())
    out = isl.Set.empty(low[0].get_domain_space())
    for a, b in product(low, past):
        one, two = (isl.PwAff.from_aff(x.get_pieces()[0][1]) for x in (a, b))
        out = out.union(one.lt_set(two))
    return out


def _universal(like: isl.Set) -> isl.AstBuild:
    return isl.AstBuild.from_context(isl.Set.universe(like.get_space()))
