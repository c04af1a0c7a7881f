"""Plans the vectorization of plain nests on local data: which loop runs in lanes, which loops are held in registers
(`RegisterBlock`, or None); and prints expressions on vectors (`LaneText`).

A nest is one statement in loops of step one. Every element of its target must be computed from the target itself and
from data the nest does not write; then elements are independent, and only the order of the loops that do not move the
target has to be kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import takewhile

from codegen.ast.ctree import CExpr, CNode, For, Instance, expr_names
from codegen.ast.linear import coefficient
from codegen.plan.model import InLanes, LoopRef
from codegen.recognize.lanes import has_vectors, plainly, same
from codegen.record import record
from codegen.scop.expr import Binary, Cast, Expr, Ref, Unary
from codegen.scop.expr import walk as walk_expr
from codegen.scop.model import Scop, Statement

ROWS, VECTORS = 4, 4  # the usual block of the target that stays in registers: 16 accumulators hide a latency of 7


@record
class VectorNest:
    """The loops of a nest in their order, and its statement."""

    loops: tuple[For, ...]
    instance: Instance


def nest_of(node: CNode) -> VectorNest | None:
    loops: list[For] = []
    while isinstance(node, For) and node.step == 1 and not node.loop.tile:
        loops.append(node)
        node = node.body
    return VectorNest(tuple(loops), node) if loops and isinstance(node, Instance) else None


def motion(index: Sequence[CExpr], var: str) -> str:
    """How a variable moves an access: still, unit (along the last subscript), row (along one other), or else."""
    moves = [coefficient(e, var) for e in index]
    if any(m is None for m in moves):
        return "else"
    if not any(moves):
        return "still"
    if moves[-1] == 1 and not any(moves[:-1]):
        return "unit"
    return "row" if not moves[-1] and sum(m == 1 for m in moves) == 1 and sum(bool(m) for m in moves) == 1 else "else"


@record
class RegisterBlock:
    """A nest with lanes along `lane`. With `depth` loops innermost, `tall` x `wide` vectors of the target stay in
    registers (`row` is the loop of the rows; None: one row)."""

    nest: VectorNest
    lane: For
    row: For | None
    depth: tuple[For, ...]
    outer: tuple[For, ...]
    vectors: tuple[int, ...]  # accesses loaded as vectors
    turned: tuple[int, ...]  # accesses that need a transposed copy
    tall: int = 1
    wide: int = 1

    @property
    def directive(self) -> InLanes:
        """The nest as a plan says it."""
        ref = LoopRef(self.lane.loop.name, self.nest.instance.stmt)
        return InLanes(ref, self.wide, "" if self.row is None else self.row.loop.name, self.tall)


def plan_nest(
    scop: Scop, node: CNode, writable: Callable[[int], bool], asked: InLanes | None = None
) -> RegisterBlock | None:
    """How a nest runs in vectors, or None. `writable(k)` tells whether access k may change while it runs; `asked` is
    what a plan says of it."""
    nest = nest_of(node)
    if nest is None:
        return None
    s = scop.statement(nest.instance.stmt)
    target = nest.instance.accesses[s.target]
    used = _used(s)
    if not _arithmetic(scop, s) or not target or any(writable(k) for k in used):
        return None
    lanes = [lp for lp in nest.loops if motion(target, lp.var) == "unit"]
    for lane in (lp for lp in lanes if asked is None or asked.loop.name == lp.loop.name):
        found = _with_lane(s, nest, lane, used, asked)
        if found is not None and keeps_order_of_sums(found, target):
            return found
    return None


def keeps_order_of_sums(b: RegisterBlock, target: Sequence[CExpr]) -> bool:
    """Do iterations that change their order write different elements, unless they differ only in loops that do not move
    the target at all? Else sums would be added up in another order.

    Loops that come first, and stay there, keep their order. A subscript in which one variable is not known yet tells
    that variable."""
    moving = {lp.var for lp in b.nest.loops if motion(target, lp.var) != "still"}
    first = takewhile(lambda lp: any(lp is x for x in b.outer), b.nest.loops)
    known = {lp.var for lp in first} & moving
    while known != moving:
        more = {v for e in target for v in moving - known
                if coefficient(e, v) and not (expr_names(e) & moving) - known - {v}}  # fmt: skip
        if not more:
            return False
        known |= more
    return True


def _used(s: Statement) -> list[int]:
    """Accesses that the right-hand side reads, other than the element that is written."""
    own = s.accesses[s.target].relation
    read = {e.access for e in walk_expr(s.rhs) if isinstance(e, Ref)}
    return sorted(k for k in read if k != s.target and not (
        s.accesses[k].array == s.accesses[s.target].array and s.accesses[k].relation.is_equal(own)))  # fmt: skip


def _with_lane(
    s: Statement, nest: VectorNest, lane: For, used: Sequence[int], asked: InLanes | None
) -> RegisterBlock | None:
    kinds = {k: motion(nest.instance.accesses[k], lane.var) for k in used}
    others = [lp for lp in nest.loops if lp is not lane]
    if "else" in kinds.values() or any(lane.var in expr_names(e) for lp in others for e in (lp.lower, lp.upper)):
        return None
    target = nest.instance.accesses[s.target]
    depth = tuple(lp for lp in others if motion(target, lp.var) == "still")
    vectors = tuple(k for k in used if kinds[k] != "still")
    turned = tuple(k for k in used if kinds[k] == "row")
    inside = {lp.var for lp in depth}
    free = all(not inside & (expr_names(lp.lower) | expr_names(lp.upper)) for lp in (lane, *others) if lp not in depth)
    if not depth or not free or s.op not in ("+=", "-="):
        if turned or (depth and s.op == "="):
            return None
        return RegisterBlock(nest, lane, None, (), tuple(others), vectors, ())
    rest = [lp for lp in others if lp not in depth]
    rows = [lp for lp in rest if asked is None or asked.row == lp.loop.name]
    row = next((lp for lp in reversed(rows) if _rectangular(lp, nest) and _still(nest, vectors, lp)), None)
    wide, tall = (VECTORS, ROWS) if asked is None else (asked.vectors, asked.rows)
    outer = tuple(lp for lp in rest if lp is not row)
    return RegisterBlock(nest, lane, row, depth, outer, vectors, turned, 1 if row is None else tall, wide)


def _rectangular(lp: For, nest: VectorNest) -> bool:
    """Do the bounds of this loop and of all others have nothing to do with each other?"""
    names = {q.var for q in nest.loops}
    if names & (expr_names(lp.lower) | expr_names(lp.upper)):
        return False
    return all(lp.var not in expr_names(q.lower) | expr_names(q.upper) for q in nest.loops)


def _still(nest: VectorNest, vectors: Sequence[int], lp: For) -> bool:
    return all(motion(nest.instance.accesses[k], lp.var) == "still" for k in vectors)


def _arithmetic(scop: Scop, s: Statement) -> bool:
    """Only plain arithmetic on doubles (or floats) of one type can be put into lanes."""
    elem = scop.arrays[s.accesses[s.target].array].elem
    leaves = list(walk_expr(s.rhs))
    alike = all(same(scop.arrays[s.accesses[e.access].array].elem, elem) for e in leaves if isinstance(e, Ref))
    alike = alike and not any(isinstance(e, Unary) and e.op != "-" for e in leaves)
    return elem.kind == "float" and has_vectors(elem) and alike and s.op != "/=" and plainly(scop, s, elem)


@record
class LaneText:
    """Prints expressions on vectors; `scalar` and `vector` print the two kinds of leaves."""

    suffix: str  # d or s
    kind: str  # the vector type
    lanes: int
    moving: frozenset[int]
    scalar: Callable[[Expr], str]
    vector: Callable[[int], str]
    copies: bool = False  # the machine copies a value to all lanes in registers
    fuses: bool = True  # a product and a sum may be one operation
    same: Callable[[Expr], str] | None = None  # prints what is the same in all lanes, if not this

    def splat(self, text: str) -> str:
        """One value in all lanes."""
        if self.copies:
            return f"simd_vcpyf{self.suffix}({text})"
        return f"simd_set_{self.kind}({', '.join([text] * self.lanes)})"

    def varies(self, e: Expr) -> bool:
        return any(isinstance(x, Ref) and x.access in self.moving for x in walk_expr(e))

    def text(self, e: Expr) -> str:
        if not self.varies(e):
            return self.splat(self.scalar(e)) if self.same is None else self.same(e)
        if isinstance(e, Ref):
            return self.vector(e.access)
        if isinstance(e, Cast):
            return self.text(e.arg)
        if isinstance(e, Unary):
            return f"simd_vsub{self.suffix}({self.splat('-0.0')}, {self.text(e.arg)})"  # of zero, too
        assert isinstance(e, Binary)
        name = {"+": "vadd", "-": "vsub", "*": "vmul", "/": "vdiv"}[e.op]
        return f"simd_{name}{self.suffix}({self.text(e.left)}, {self.text(e.right)})"

    def accumulate(self, op: str, value: Expr, into: str) -> str:
        """`into op value`: one fused operation where the value is a product, and products and sums may be fused."""
        if op == "=":
            return self.text(value)
        if self.fuses and op == "+=" and isinstance(value, Binary) and value.op == "*":
            name = "simd_vmad" if self.suffix == "d" else "simd_vmas"
            return f"{name}({self.text(value.left)}, {self.text(value.right)}, {into})"
        name = {"+=": "vadd", "-=": "vsub", "*=": "vmul"}[op]
        return f"simd_{name}{self.suffix}({into}, {self.text(value)})"


def vector_type(bits: int, lanes: int) -> tuple[str, str]:
    """Type and suffix of vectors with these elements."""
    return (f"doublev{lanes}", "d") if bits == 64 else (f"floatv{lanes}", "s")


Names = Mapping[str, str]
