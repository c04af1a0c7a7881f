"""Cycles of a compute core for a nest of plain loops: the arithmetic side of the timing model.

In-order dual issue: one pipe for arithmetic, one for local memory, messages and the counting of loops, so a point costs
the busier of the two; a value that every iteration of the innermost loop needs from the one before costs the latency
instead. Loops run in the order in which they are printed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from codegen.ast.ctree import Block, CExpr, CNode, Declare, For, If, Instance, expr_names
from codegen.scop.expr import Affine, Binary, Call, Expr, Ref, Ternary, Unary
from codegen.scop.expr import walk as walk_expr
from codegen.scop.model import Scop, Statement
from codegen.sunway.plan.machine import CoreGroup
from codegen.target.text.cexpr import IntPrinter

COUNTING = 1  # slots of the memory pipe that count a loop, which compilers write out a few times


class Speed(Protocol):
    """What arithmetic needs to know of a core."""

    @property
    def divide(self) -> float: ...

    @property
    def call(self) -> float: ...

    @property
    def fuses(self) -> bool: ...


def operations(e: Expr, core: Speed) -> float:
    """Cycles of the arithmetic pipe; a product that is added at once is one operation, where it may be."""
    total = 0.0
    for x in walk_expr(e):
        if isinstance(x, Binary):
            total += core.divide if x.op in ("/", "%") else 1
            products = (isinstance(y, Binary) and y.op == "*" for y in (x.left, x.right))
            if core.fuses and x.op in ("+", "-") and any(products):
                total -= 1
        elif isinstance(x, Call):
            total += core.call
        elif isinstance(x, (Unary, Ternary, Affine)):
            total += 1
    return total


def arithmetic(s: Statement, core: Speed) -> float:
    extra = 1 if s.op not in ("=",) else 0
    if core.fuses and s.op in ("+=", "-=") and isinstance(s.rhs, Binary) and s.rhs.op == "*":
        extra = 0
    return max(1.0, operations(s.rhs, core) + extra)


def point_cost(
    scop: Scop, group: CoreGroup, node: Instance, local: Mapping[tuple[int, int], object], inner: Sequence[str]
) -> float:
    """Cycles per point in these loops, the last of them innermost."""
    s = scop.statement(node.stmt)
    used = {e.access for e in walk_expr(s.rhs) if isinstance(e, Ref)} | {s.target}
    far = sum(
        1 for k in used if (id(node), k) not in local and not scop.arrays[s.accesses[k].array].inside
    )  # fmt: skip
    work = arithmetic(s, group)
    if not inner:
        return max(float(len(used) + 1 + (s.op != "=")), work) + far * group.gld
    moving = [k for k in used if any(inner[-1] in expr_names(e) for e in node.accesses[k])]
    stores = 1 if s.target in moving else 0
    loads = len([k for k in moving if k != s.target]) + (stores if s.op != "=" else 0)
    chain = 0 if stores or s.op == "=" else group.fma_latency
    return max(float(loads + stores + COUNTING), work, chain) + far * group.gld


def cost_text(
    scop: Scop, group: CoreGroup, node: CNode, local: Mapping[tuple[int, int], object], ints: IntPrinter,
    inner: tuple[str, ...] = (),
) -> str | None:  # fmt: skip
    """A C expression for the cycles of a nest; None where it needs loops of its own."""
    if isinstance(node, Instance):
        return f"{point_cost(scop, group, node, local, inner):g}"
    if isinstance(node, Block):
        parts = [cost_text(scop, group, c, local, ints, inner) for c in node.children]
        return None if any(p is None for p in parts) else " + ".join(p for p in parts if p)
    if isinstance(node, Declare):
        return cost_text(scop, group, node.body, local, ints, inner)
    if isinstance(node, If):
        then = cost_text(scop, group, node.then, local, ints, inner)
        orelse = "0" if node.orelse is None else cost_text(scop, group, node.orelse, local, ints, inner)
        if then is None or orelse is None:
            return None
        return f"(({ints.text(node.cond)}) ? {then} : {orelse})"
    if isinstance(node, For):
        if _bounds_use(node.body, node.var):
            return None
        body = cost_text(scop, group, node.body, local, ints, (*inner, node.var))
        return None if body is None else f"{trips(node, ints)} * ({body})"
    return None


def trips(node: For, ints: IntPrinter) -> str:
    """How often a loop of step one runs, as a non-negative number."""
    ints.helpers.add("tw_max")
    one = " + 1" if node.op == "<=" else ""
    count = f"tw_max(0, {ints.text(node.upper, 5)} - ({ints.text(node.lower)}){one})"
    return count if node.step == 1 else f"(({count} + {node.step - 1}) / {node.step})"


def _bounds_use(node: CNode, var: str) -> bool:
    """Do loops or tests inside depend on the variable?"""

    def uses(e: CExpr) -> bool:
        return var in expr_names(e)

    if isinstance(node, For):
        return uses(node.lower) or uses(node.upper) or _bounds_use(node.body, var)
    if isinstance(node, If):
        return uses(node.cond) or _bounds_use(node.then, var) or (
            node.orelse is not None and _bounds_use(node.orelse, var)
        )
    if isinstance(node, Block):
        return any(_bounds_use(c, var) for c in node.children)
    return isinstance(node, Declare) and _bounds_use(node.body, var)
