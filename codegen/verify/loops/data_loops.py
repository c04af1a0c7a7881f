"""Compares the printed lines of a statement that is carried out as it was written, with loops and branches that depend
on data, with that statement of the model; raises Unread where they differ."""

from __future__ import annotations

from codegen.ast.ctree import Instance
from codegen.scop.expr import DataBlock, DataLoop, Expr, Ref, Ternary
from codegen.scop.model import Statement
from codegen.target.text.body import BodyPrinter
from codegen.verify.loops.cursor import Cursor


def read_code(cursor: Cursor, printer: BodyPrinter, s: Statement, at: Instance) -> None:
    """Raises Unread unless the lines of the statement follow."""
    _read(cursor, printer, s.rhs, s, at)


def _read(cursor: Cursor, p: BodyPrinter, e: Expr, s: Statement, at: Instance) -> None:
    if isinstance(e, DataLoop):
        cursor.expect("for", p.loop_head(e, s, at))
        _read(cursor, p, e.body, s, at)
        cursor.expect("/for")
    elif isinstance(e, DataBlock):
        for x in e.items:
            _read(cursor, p, x, s, at)
    elif isinstance(e, Ternary) and e.branch:
        _choice(cursor, p, e, s, at)
    elif not isinstance(e, Ref):  # what the target holds stays there
        cursor.statement(p.line(e, s, at))


def _choice(cursor: Cursor, p: BodyPrinter, e: Ternary, s: Statement, at: Instance) -> None:
    cond = p.value(e.cond, s, at)
    if _nothing(e.yes):
        if not _nothing(e.no):
            cursor.expect("if", f"!({cond})")
            _read(cursor, p, e.no, s, at)
            cursor.expect("/if")
        return
    cursor.expect("if", cond)
    _read(cursor, p, e.yes, s, at)
    if not _nothing(e.no):
        cursor.expect("else")
        _read(cursor, p, e.no, s, at)
    cursor.expect("/if")


def _nothing(e: Expr) -> bool:
    """Is nothing done for it?"""
    if isinstance(e, DataBlock):
        return all(map(_nothing, e.items))
    if isinstance(e, Ternary) and e.branch:
        return _nothing(e.yes) and _nothing(e.no)
    return isinstance(e, Ref)
