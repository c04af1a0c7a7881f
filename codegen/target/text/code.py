"""Prints statements that are kept as written, such as loops with data-dependent trip counts."""

from __future__ import annotations

from codegen.ast.ctree import Instance
from codegen.scop.expr import DataBlock, DataLoop, Declare, Expr, Ref, Ternary
from codegen.scop.model import Statement
from codegen.target.text.body import BodyPrinter
from codegen.target.text.pieces import View


def code_views(printer: BodyPrinter, s: Statement, at: Instance) -> tuple[View, ...]:
    """The lines of a statement that is no plain assignment."""
    return _views(printer, s.rhs, s, at)


def _views(p: BodyPrinter, e: Expr, s: Statement, at: Instance) -> tuple[View, ...]:
    if isinstance(e, Ref):
        return ()  # what the target holds stays there
    if isinstance(e, DataLoop):
        return (View("for", p.loop_head(e, s, at), body=_views(p, e.body, s, at)),)
    if isinstance(e, DataBlock):
        parts = [(_views(p, x, s, at), isinstance(x, DataBlock)) for x in e.items]
        return tuple(v for views, own in parts for v in ((View("block", body=views),) if own else views))
    if isinstance(e, Ternary) and e.branch:
        yes, no = _views(p, e.yes, s, at), _views(p, e.no, s, at)
        cond = p.value(e.cond, s, at)
        if not yes:
            return (View("if", f"!({cond})", body=no),) if no else ()
        return (View("if", cond, body=yes, orelse=no),)
    return (View("decl" if isinstance(e, Declare) else "stmt", p.line(e, s, at), stmt=s.name),)
