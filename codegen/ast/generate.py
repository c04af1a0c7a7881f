"""Generates the C tree that runs a schedule tree: calls isl's AST generator, converts its result, puts declarations of
local storage where they live, contracts arrays, splits loops at tests (`peel.py`), and adds scalar replacement."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field, replace
from string import ascii_letters

import islpy as isl

from codegen.ast.array_contraction import contracted
from codegen.ast.blocks import product_node
from codegen.ast.ctree import (
    Bin,
    Block,
    CExpr,
    CNode,
    Cond,
    Declare,
    For,
    Fun,
    Held,
    If,
    Instance,
    Int,
    Name,
    Neg,
    ProductNode,
    block,
    node_kids,
    substitute,
    walk,
    with_kids,
)
from codegen.ast.peel import peeled
from codegen.ast.pipelines import joined_stages
from codegen.ast.schedule import MarkedSchedule, to_isl
from codegen.recognize.access.wraps import settled
from codegen.record import mutable
from codegen.scop.isl_helpers import ast_kind, expr_kind
from codegen.scop.memo import remember
from codegen.scop.model import Scop
from codegen.scop.tree import PIPELINED, UNROLL, Band, Hold, Loop, Node, Slot, kids, loops

_OPS = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "div": "/",
    "pdiv_q": "/",
    "pdiv_r": "%",
    "zdiv_r": "%",
    "eq": "==",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
    "and_": "&&",
    "and_then": "&&",
    "or_": "||",
    "or_else": "||",
}
_OP_NAMES = {
    getattr(isl.ast_expr_op_type, n): n
    for n in (*_OPS, "max", "min", "minus", "fdiv_q", "cond", "select", "call", "access")
    if hasattr(isl.ast_expr_op_type, n)
}


class MissingLoop(Exception):
    """Storage refers to a loop that does not enclose it."""


def _once(make: Callable[[isl.PwAff], CExpr]) -> Callable[[isl.PwAff], CExpr]:
    """The same function, which is asked once for each value: neighbours in a stencil share most subscripts."""
    known: list[tuple[isl.PwAff, CExpr]] = []

    def found(value: isl.PwAff) -> CExpr:
        for other, made in known:
            if other.plain_is_equal(value):
                return made
        known.append((value, make(value)))
        return known[-1][1]

    return found


@mutable
class _Conversion:
    """State of one conversion: what the isl callbacks saw, and the marks."""

    scop: Scop
    marked: MarkedSchedule
    starts: dict[int, int]
    slots: dict[tuple[int, int], tuple[Slot, ...]]
    instances: list[CNode] = field(default_factory=list)
    values: dict[str, CExpr] = field(default_factory=dict)  # current value of each loop, by name

    def declared(self, place: tuple[int, int], body: CNode) -> CNode:
        """The body of a loop (band, member) with the variables that live in it."""
        slots = self.slots.get(place, ())
        return Declare(tuple(self._held(s) for s in slots), body) if slots else body

    def _held(self, slot: Slot) -> Held:
        missing = [n for n in slot.starts if n and n not in self.values]
        if missing:
            raise MissingLoop(f"`{slot.array}` is counted from loop {missing[0]}, which is not around it")
        starts = tuple(self.values[n] if n else Int(0) for n in slot.starts)
        return Held(slot.array, slot.sizes, starts)

    def at_domain(self, node: isl.AstNode, build: isl.AstBuild) -> isl.AstNode:
        """Write down the statement instance with all its indices in terms of the new loops."""
        time = isl.Map.from_union_map(build.get_schedule())
        s = self.scop.statement(time.get_tuple_name(isl.dim_type.in_))
        back = isl.PwMultiAff.from_map(time.reverse())
        block = self.marked.blocks.of.get(s.name)
        if block is not None:
            self.instances.append(product_node(self.scop, block, back, lambda v: _expr(build.expr_from_pw_aff(v))))
            return node.set_annotation(isl.Id(f"u{len(self.instances) - 1}"))
        where = time.range()
        printed = _once(lambda v: _expr(build.expr_from_pw_aff(v)))
        subscript = _once(lambda v: printed(settled(v, where)))
        its = tuple(printed(back.get_pw_aff(k)) for k in range(back.dim(isl.dim_type.out)))
        accesses = []
        for a in s.accesses:
            index = a.index.pullback_pw_multi_aff(back)
            accesses.append(tuple(subscript(index.get_pw_aff(k)) for k in range(index.dim(isl.dim_type.out))))
        values = tuple(printed(v.pullback_pw_multi_aff(back)) for v in s.values)
        self.instances.append(Instance(s.name, its, tuple(accesses), values))
        return node.set_annotation(isl.Id(f"u{len(self.instances) - 1}"))

    def node(self, node: isl.AstNode, band: int, env: dict[str, CExpr]) -> CNode:
        kind = ast_kind(node)
        if kind == "block":
            children = node.block_get_children()
            return block([self.node(children.get_at(k), band, env) for k in range(children.n_ast_node())])
        if kind == "mark":
            return self.node(node.mark_get_node(), int(node.mark_get_id().get_name()[1:]), env)
        if kind == "if":
            return self._if(node, band, env)
        if kind == "for":
            return self._for(node, band, env)
        return self._user(node, env)

    def _user(self, node: isl.AstNode, env: dict[str, CExpr]) -> CNode:
        found = self.instances[int(node.get_annotation().get_name()[1:])]
        return _with(found, env) if env else found

    def _if(self, node: isl.AstNode, band: int, env: dict[str, CExpr]) -> CNode:
        cond = substitute(_expr(node.if_get_cond()), env)
        then = self.node(node.if_get_then_node(), band, env)
        orelse = self.node(node.if_get_else_node(), band, env) if node.if_has_else_node() else None
        return If(cond, then, orelse)

    def _for(self, node: isl.AstNode, band: int, env: dict[str, CExpr]) -> CNode:
        var = node.for_get_iterator().get_id().get_name()
        lower = substitute(_expr(node.for_get_init()), env)
        loop = self._loop(band, var)
        place = (band, int(var[1:]) - self.starts[band])
        if node.for_is_degenerate():
            self.values[loop.name] = lower
            return self.declared(place, self.node(node.for_get_body(), band, {**env, var: lower}))
        self.values[loop.name] = Name(var)
        cond = _expr(node.for_get_cond())
        assert isinstance(cond, Bin) and cond.op in ("<", "<=") and cond.left == Name(var)
        step = _expr(node.for_get_inc())
        assert isinstance(step, Int) and step.value > 0
        body = self.declared(place, self.node(node.for_get_body(), band, env))
        upper, op = substitute(cond.right, env), cond.op
        past = _plus_one(upper) if op == "<=" else None
        if past is not None:
            upper, op = past, "<"
        return For(var, lower, op, upper, step.value, body, loop)

    def _loop(self, band: int, var: str) -> Loop:
        return self.marked.marks[band].loops[int(var[1:]) - self.starts[band]]


def _with(node: CNode, env: dict[str, CExpr]) -> CNode:
    """A statement or product with loop variables replaced."""
    if isinstance(node, ProductNode):
        return replace(node, body=_with(node.body, env))
    if isinstance(node, For):
        return replace(
            node, lower=substitute(node.lower, env), upper=substitute(node.upper, env), body=_with(node.body, env)
        )
    if isinstance(node, If):
        return replace(node, cond=substitute(node.cond, env), then=_with(node.then, env))
    assert isinstance(node, Instance)
    return Instance(
        node.stmt,
        tuple(substitute(e, env) for e in node.iterators),
        tuple(tuple(substitute(e, env) for e in a) for a in node.accesses),
        tuple(substitute(e, env) for e in node.values),
    )


def _expr(e: isl.AstExpr) -> CExpr:
    kind = expr_kind(e)
    if kind == "id":
        return Name(e.get_id().get_name())
    if kind == "int":
        return Int(int(e.get_val().to_str()))
    op = _OP_NAMES[e.get_op_type()]
    args = tuple(_expr(e.get_op_arg(k)) for k in range(e.get_op_n_arg()))
    if op in ("min", "max"):
        return Fun(op, args)
    if op == "minus":
        return Neg(args[0])
    if op == "fdiv_q":
        return Fun("floord", args)
    if op in ("cond", "select"):
        return Cond(*args)
    return Bin(_OPS[op], args[0], args[1])


def _plus_one(e: CExpr) -> CExpr | None:
    """`e + 1` when that is not longer than `e` itself, so that i <= n - 1 can be printed as i < n."""
    if isinstance(e, Int):
        return Int(e.value + 1)
    if isinstance(e, Bin) and e.op in ("+", "-") and isinstance(e.right, Int):
        value = (e.right.value if e.op == "+" else -e.right.value) + 1
        if value == 0:
            return e.left
        return Bin("+", e.left, Int(value)) if value > 0 else Bin("-", e.left, Int(-value))
    if isinstance(e, Fun) and e.name in ("min", "max"):
        args = [_plus_one(a) for a in e.args]
        if all(a is not None for a in args):
            return Fun(e.name, tuple(a for a in args if a is not None))
    return None


def expression(e: isl.AstExpr) -> CExpr:
    """An isl expression as ours."""
    return _expr(e)


def _survey(
    tree: Node,
    depth: int,
    above: tuple[int, int],
    starts: dict[int, int],
    slots: dict[tuple[int, int], tuple[Slot, ...]],
) -> None:
    """The schedule depth at which each band begins, in the order `to_isl` numbers bands, and the variables
    that live inside each loop (band, member); (-1, 0) is outside all loops. A loop that is written out has no
    body of its own, so its variables live in the next loop around it."""
    if isinstance(tree, Band) and tree.product is not None:
        return
    if isinstance(tree, Band):
        number = len(starts)
        starts[number] = depth
        for k, lp in enumerate(tree.loops):
            if lp.kind != UNROLL:
                above = (number, k)
        depth += len(tree.loops)
    if isinstance(tree, Hold):
        slots[above] = (*slots.get(above, ()), *tree.slots)
    for child in kids(tree):
        _survey(child, depth, above, starts, slots)


def _declare_rest(node: CNode, held: Held, users: frozenset[str], around: frozenset[str]) -> CNode:
    """isl drops loops of a single iteration, and with them the place of a declaration: declare the variable
    around every part that uses it and has no declaration inside, within the loops over `around`."""
    if not _uses(node, users):
        return node
    if not _settled(node, held, users, around):
        return Declare((held,), node)
    if isinstance(node, Declare) and held.array in {h.array for h in node.slots}:
        return node
    if isinstance(node, Block):
        return _declare_runs(node, held, users, around)
    return with_kids(node, lambda x: _declare_rest(x, held, users, around))


def _settled(node: CNode, held: Held, users: frozenset[str], around: frozenset[str]) -> bool:
    """Is the variable declared in here, or does it belong into a loop in here?"""
    return any(
        held.array in {h.array for h in n.slots}
        if isinstance(n, Declare)
        else isinstance(n, For) and n.var in around and _uses(n, users)
        for n in walk(node)
    )


def _declare_runs(node: Block, held: Held, users: frozenset[str], around: frozenset[str]) -> CNode:
    """Neighbours without a declaration of their own share one: they may be parts of the same iteration."""
    out: list[CNode] = []
    run: list[CNode] = []

    def flush() -> None:
        last = max((k for k, c in enumerate(run) if _uses(c, users)), default=-1)
        if last >= 0:
            out.append(Declare((held,), block(run[: last + 1])))
        out.extend(run[last + 1 :])
        run.clear()

    for child in node.children:
        if _settled(child, held, users, around):
            flush()
            out.append(_declare_rest(child, held, users, around))
        elif run or _uses(child, users):
            run.append(child)
        else:
            out.append(child)
    flush()
    return Block(tuple(out))


def _uses(node: CNode, users: frozenset[str]) -> bool:
    return not users.isdisjoint(_below(node))


def _below(node: CNode) -> frozenset[str]:
    """Statements in a part of the tree. Asked for again and again; the answer stays with the node, which never
    changes."""
    if isinstance(node, Instance):
        return frozenset((node.stmt,))
    known: frozenset[str] | None = node.__dict__.get("_below")
    if known is None:
        known = frozenset[str]().union(*map(_below, node_kids(node)))
        node.__dict__["_below"] = known
    return known


def depth_of(tree: Node) -> int:
    own = len(tree.loops) if isinstance(tree, Band) else 0
    return own + max((depth_of(k) for k in kids(tree)), default=0)


def generate(scop: Scop, tree: Node, whole: bool = False, peel: bool = True) -> CNode:
    """The loops that run `tree`, valid wherever the scop's guard holds.

    With `whole`, the statements of one iteration stay together where isl could give some of them their own code.
    With `peel`, loops are taken apart where tests in them change.
    """
    result = _generated(scop, tree, whole)
    if peel:
        result = peeled(result, scop.context)
    if not any(q.loop.carry for q in loops(tree)):
        return result
    from codegen.ast.scalar_replacement import with_scalar_replacement

    return with_scalar_replacement(scop, result)


def _letter(scop: Scop) -> str:
    """What the tree calls its loops, with a number behind it; parameters may have such names, too."""
    taken = {p.name[0] for p in scop.params if p.name[1:].isdigit()}
    free: list[str] = [c for c in ("c", *ascii_letters) if c not in taken]
    return free[0]


@remember(4)
def _generated(scop: Scop, tree: Node, whole: bool) -> CNode:
    marked = to_isl(scop, tree)
    starts: dict[int, int] = {}
    slots: dict[tuple[int, int], tuple[Slot, ...]] = {}
    _survey(tree, 0, (-1, 0), starts, slots)
    conversion = _Conversion(scop, marked, starts, slots)
    build = isl.AstBuild.from_context(scop.context)
    letter = _letter(scop)
    names = isl.IdList.alloc(isl.DEFAULT_CONTEXT, depth_of(tree))
    for k in range(depth_of(tree)):
        names = names.add(isl.Id(f"{letter}{k}"))
    build = build.set_iterators(names)
    build, keep = build.set_at_each_domain(conversion.at_domain)
    isl.DEFAULT_CONTEXT.set_ast_build_group_coscheduled(int(whole))
    ast = build.node_from_schedule(marked.schedule)
    result = conversion.declared((-1, 0), conversion.node(ast, -1, {}))
    for (band, member), group in slots.items():
        around = frozenset(f"{letter}{k}" for k in range(starts.get(band, -1) + member + 1))
        for slot in (s for s in group if not any(s.starts)):
            users = frozenset(s.name for s in scop.statements if any(a.array == slot.array for a in s.accesses))
            held = Held(slot.array, slot.sizes, (Int(0),) * len(slot.sizes))
            result = _declare_rest(result, held, users, around)
    del keep
    if any(q.loop.kind == PIPELINED for q in loops(tree)):
        result = joined_stages(scop, result)
    return contracted(scop, result)
