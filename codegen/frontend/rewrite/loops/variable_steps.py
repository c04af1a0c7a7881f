"""Loops whose step is not a constant, rewritten to count their iterations.

`for (i = a; i < b; i += s) ...` is `i = a; for (t = 0; t < (b - a - 1) / s + 1; t++) { ...; i += s; }` for s > 0 and
a < b, and i is a formula of t. Without a positive step the source's loop does not run at all, or has no end that C
gives it: signed counters overflow, and a loop without any effect outside memory may be taken to end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from pycparser import c_ast

from codegen.frontend.expressions.affine import c_text
from codegen.frontend.rewrite.jumps import continues, plain_body
from codegen.frontend.syntax.declarators import literal_int
from codegen.frontend.syntax.symbols import RegionSite, Variable
from codegen.frontend.syntax.tree import (
    Fresh,
    as_block,
    assigned,
    declaration,
    declared,
    fresh_names,
    items_of,
    mapped,
    names,
    nodes,
    typename,
    with_statements,
)
from codegen.record import record

_LONG = typename(["long"])
_TURNED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}


@record
class _Stride:
    """A counter, what it starts with, the comparison and limit, and the step with its direction."""

    name: str
    start: c_ast.Node  # the assignment or declaration
    first: c_ast.Node
    op: str
    limit: c_ast.Node
    by: c_ast.Node
    up: bool


def with_counted_steps(site: RegionSite) -> RegionSite:
    """The region with loops by steps of the function's own as loops by one."""
    if site.dialect.wraps or not site.dialect.finite_loops:
        return site  # a step that is not positive may have a meaning there
    if not any(isinstance(n, c_ast.For) and _stride(n) is not None for s in site.statements for n in nodes(s)):
        return site
    steps: dict[str, None] = {}
    made = _Turns(fresh_names(site), _signed(site), steps).block(site.statements)
    return replace(with_statements(site, made), strides=frozenset(steps))


def _signed(site: RegionSite) -> Callable[[_Stride], bool]:
    """Asks whether a counter is a signed integer of the usual size."""

    def asked(s: _Stride) -> bool:
        var: Variable | None = site.variables.get(s.name)
        shape = None if var is None else var.shape
        shape = site.types.shape(s.start.type) if isinstance(s.start, c_ast.Decl) else shape
        e = None if shape is None or shape.declarators else shape.elem
        return e is not None and e.is_int and e.signed and e.bits >= 32

    return asked


@record
class _Turns:
    fresh: Fresh
    signed: Callable[[_Stride], bool]
    steps: dict[str, None]  # C texts of the steps of loops that were counted

    def block(self, items: Sequence[c_ast.Node]) -> list[c_ast.Node]:
        return [made for item in items for made in self.statement(item)]

    def statement(self, node: c_ast.Node) -> list[c_ast.Node]:
        if isinstance(node, c_ast.Compound):
            return [c_ast.Compound(self.block(items_of(node)), node.coord)]
        if not isinstance(node, (c_ast.For, c_ast.If, c_ast.While, c_ast.DoWhile, c_ast.Switch)):
            return [node]
        bodies = ("stmt", "iftrue", "iffalse")
        inside = {id(x) for slot in bodies if (x := getattr(node, slot, None)) is not None}
        node = mapped(node, lambda x: as_block(self.statement(x), x) if id(x) in inside else x)
        stride = _stride(node) if isinstance(node, c_ast.For) else None
        return [node] if stride is None or not self.signed(stride) else self._counted(node, stride)

    def _counted(self, node: c_ast.For, s: _Stride) -> list[c_ast.Node]:
        self.steps[c_text(s.by)] = None
        turn = self.fresh.name(f"{s.name}_turn")
        near, far = (s.first, s.limit) if s.up else (s.limit, s.first)
        zero, one = c_ast.Constant("int", "0", node.coord), c_ast.Constant("int", "1", node.coord)
        wide = c_ast.Cast(_LONG, far, node.coord)  # the distance may be beyond the counter's own type
        room: c_ast.Node = far if literal_int(near, {}) == 0 else c_ast.BinaryOp("-", wide, near, node.coord)
        last = room if "=" in s.op else c_ast.BinaryOp("-", room, one, node.coord)
        count = c_ast.BinaryOp("+", c_ast.BinaryOp("/", last, s.by, node.coord), one, node.coord)
        runs = c_ast.BinaryOp("&&", c_ast.BinaryOp(s.op if s.up else _TURNED[s.op], near, far, node.coord),
                              c_ast.BinaryOp(">", s.by, zero, node.coord), node.coord)  # fmt: skip
        loop = c_ast.For(
            c_ast.DeclList([declaration(turn, ["long"], zero, node.coord)], node.coord),
            c_ast.BinaryOp("<", c_ast.ID(turn, node.coord), c_ast.TernaryOp(runs, count, zero, node.coord), node.coord),
            c_ast.UnaryOp("p++", c_ast.ID(turn, node.coord), node.coord),
            c_ast.Compound([*plain_body(node.stmt), node.next], node.coord),
            node.coord,
        )
        return [c_ast.Compound([s.start, loop], node.coord)] if isinstance(s.start, c_ast.Decl) else [s.start, loop]


def _stride(node: c_ast.For) -> _Stride | None:
    """The header of a loop by a step that is no literal, and that nothing in the loop changes."""
    init, cond = node.init, node.cond
    start = init.decls[0] if isinstance(init, c_ast.DeclList) and len(init.decls) == 1 else init
    if isinstance(start, c_ast.Decl):
        name, first = str(start.name), start.init
    elif isinstance(start, c_ast.Assignment) and start.op == "=" and isinstance(start.lvalue, c_ast.ID):
        name, first = str(start.lvalue.name), start.rvalue
    else:
        return None
    step = node.next
    mine = isinstance(step, c_ast.Assignment) and step.op in ("+=", "-=") and getattr(step.lvalue, "name", "") == name
    if not mine or first is None or literal_int(step.rvalue, {}) is not None or not isinstance(cond, c_ast.BinaryOp):
        return None
    left = isinstance(cond.left, c_ast.ID) and cond.left.name == name
    op, limit = (cond.op, cond.right) if left else (_TURNED.get(cond.op, ""), cond.left)
    up = step.op == "+="
    fits = op in (("<", "<=") if up else (">", ">=")) and (left or getattr(cond.right, "name", "") == name)
    changing = assigned(node.stmt) | set(declared(node)) | {name}
    if not fits or (names(limit) | names(step.rvalue)) & changing or name in assigned(node.stmt) | names(first):
        return None
    # How many turns there are is asked before each of them, so that the first value must still be there.
    if names(first) & changing or any(_from_memory(n) for n in nodes(first)):
        return None
    body = plain_body(node.stmt)
    if any(continues(x) for x in body) or any(isinstance(n, c_ast.Label) for n in nodes(node.stmt)):
        return None
    return _Stride(name, start, first, op, limit, step.rvalue, up)


def _from_memory(node: c_ast.Node) -> bool:
    """May a store of the loop change it, although it assigns to no variable?"""
    if isinstance(node, c_ast.UnaryOp):
        return node.op not in ("-", "+", "~", "!")
    return isinstance(node, (c_ast.ArrayRef, c_ast.StructRef, c_ast.FuncCall))
