"""Node types of the C tree (integer expressions, loops, ifs, statement instances, declarations, blocked products), and
functions that walk and rebuild it. The tree is what will be printed, and what the proofs read back.

Integer expressions are those isl makes. Names are loop variables of the tree (`For.var`) or parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Union

from codegen.record import record
from codegen.scop.product import Product
from codegen.scop.tree import Loop

if TYPE_CHECKING:
    from codegen.ast.lowered import Ahead, Form
    from codegen.lower.nest.kernel import NestKernel


@record
class Int:
    value: int


@record
class Name:
    name: str


@record
class Bin:
    """op: + - * / % (C meaning; operands of / and % are not negative), < <= > >= == && ||."""

    op: str
    left: "CExpr"
    right: "CExpr"


@record
class Neg:
    arg: "CExpr"


@record
class Fun:
    """min and max of two or more, floord (division rounding down)."""

    name: str
    args: tuple["CExpr", ...]


@record
class Cond:
    cond: "CExpr"
    yes: "CExpr"
    no: "CExpr"


CExpr = Union[Int, Name, Bin, Neg, Fun, Cond]


@record
class ReplacedElements:
    """Elements of an array that stay in variables from iteration to iteration of a loop over plain statements.

    `source` is the access, as (number of the statement in the body, number of the access), whose element is new in
    every iteration: read ahead of its statement, or written by it. Each of `reads` (statement, access, age) takes the
    value that the source had `age` iterations ago; what was there before the loop is read ahead of it. With `last`
    the source writes one element over and over, and memory gets it after the loop only.
    """

    array: str
    source: tuple[int, int]
    reads: tuple[tuple[int, int, int], ...]
    last: bool = False

    @property
    def length(self) -> int:
        """Values of earlier iterations that are kept."""
        return max(age for _, _, age in self.reads)


@record
class For:
    """for (var = lower; var op upper; var += step). `loop` says where it comes from in the schedule tree.

    `form` is how it is carried out where that is not a plain loop, `alone` how one thread does where it may run on
    several. `ahead` is what is read once before it. That, and what it keeps, is read where it runs at all, for which
    there is no test if that is `sure`. Conditions of all its statements that are `asked` ahead of it are left out in
    it, each with whether it is asked only where the loop runs. `lets` names values that are computed ahead of it.
    It counts in an `int` if it is `narrow`.
    """

    var: str
    lower: CExpr
    op: str
    upper: CExpr
    step: int
    body: "CNode"
    loop: Loop
    carried: tuple[ReplacedElements, ...] = ()
    form: Union["Form", None] = None
    alone: Union["Form", None] = None
    ahead: tuple["Ahead", ...] = ()
    sure: bool = False
    asked: tuple[bool, ...] = ()
    lets: tuple[tuple[str, CExpr], ...] = ()
    narrow: bool = False

    @property
    def otherwise(self) -> bool:
        """Is it printed otherwise than it stands, or with something ahead of it?"""
        return bool(self.form or self.alone or self.ahead or self.sure or self.asked or self.lets or self.narrow)


@record
class If:
    cond: CExpr
    then: "CNode"
    orelse: Union["CNode", None] = None


@record
class Block:
    children: tuple["CNode", ...]


@record
class Instance:
    """One statement: values of its iterators, indices of its accesses, and its affine leaves."""

    stmt: str
    iterators: tuple[CExpr, ...]
    accesses: tuple[tuple[CExpr, ...], ...]
    values: tuple[CExpr, ...]


@record
class Held:
    """Storage of one variable: for each model dimension its size (0: not kept, -1: as declared) and start."""

    array: str
    sizes: tuple[int, ...]
    starts: tuple[CExpr, ...]


@record
class Declare:
    """Storage for variables of the region, for the time of `body`."""

    slots: tuple[Held, ...]
    body: "CNode"


@record
class ProductNode:
    """A product carried out in blocks. `body` is the nest (rows, columns, depth) that it stands for, over a box with
    a condition where corners are cut off it: `plain_nest` of it is what the proofs read, and what runs where no memory
    for packing can be had. `exact` are kernels for certain sizes."""

    product: Product
    body: "CNode"
    exact: "tuple[NestKernel, ...]" = ()


@record
class ByThreads:
    """Two ways to carry out the whole region, each proven by itself: `few` where a program has `fewest` to `most`
    threads and a matrix of these `sizes` has more than `least` elements (with vectors longer than the shortest, more
    than `wide`, if that is not 0) and each of its sizes is at least `side` for each thread, else `many`."""

    fewest: int
    most: int
    sizes: tuple[CExpr, ...]
    least: int
    wide: int
    side: int
    few: "CNode"
    many: "CNode"


CNode = Union[For, If, Block, Instance, Declare, ProductNode, ByThreads]


def expr_kids(e: CExpr) -> tuple[CExpr, ...]:
    if isinstance(e, Bin):
        return (e.left, e.right)
    if isinstance(e, Neg):
        return (e.arg,)
    if isinstance(e, Fun):
        return e.args
    return (e.cond, e.yes, e.no) if isinstance(e, Cond) else ()


def expr_names(e: CExpr) -> frozenset[str]:
    if isinstance(e, Name):
        return frozenset({e.name})
    return frozenset().union(*[expr_names(k) for k in expr_kids(e)])


def substitute(e: CExpr, env: dict[str, CExpr]) -> CExpr:
    """Replace names."""
    if not env:
        return e
    if isinstance(e, Name):
        return env.get(e.name, e)
    if isinstance(e, Bin):
        return Bin(e.op, substitute(e.left, env), substitute(e.right, env))
    if isinstance(e, Neg):
        return Neg(substitute(e.arg, env))
    if isinstance(e, Fun):
        return Fun(e.name, tuple(substitute(a, env) for a in e.args))
    if isinstance(e, Cond):
        return Cond(*(substitute(k, env) for k in expr_kids(e)))
    return e


def node_kids(node: CNode) -> tuple[CNode, ...]:
    if isinstance(node, Block):
        return node.children
    if isinstance(node, (For, Declare, ProductNode)):
        return (node.body,)
    if isinstance(node, If):
        return (node.then,) if node.orelse is None else (node.then, node.orelse)
    return (node.few, node.many) if isinstance(node, ByThreads) else ()


def with_kids(node: CNode, change: Callable[[CNode], CNode]) -> CNode:
    """The node with each of `node_kids` changed."""
    if isinstance(node, Block):
        return Block(tuple(map(change, node.children)))
    if isinstance(node, (For, Declare, ProductNode)):
        return replace(node, body=change(node.body))
    if isinstance(node, If):
        return If(node.cond, change(node.then), None if node.orelse is None else change(node.orelse))
    return replace(node, few=change(node.few), many=change(node.many)) if isinstance(node, ByThreads) else node


def walk(node: CNode) -> Iterator[CNode]:
    """All nodes, parents first."""
    todo = [node]
    while todo:
        node = todo.pop()
        yield node
        todo += reversed(node_kids(node))


def mentions(node: CNode, name: str) -> bool:
    """Does what is printed of it need the value of a variable? Products may, where their statement does not tell."""
    for n in walk(node):
        exprs: tuple[CExpr, ...] = ()
        if isinstance(n, For):
            exprs = (n.lower, n.upper)
        elif isinstance(n, If):
            exprs = (n.cond,)
        elif isinstance(n, Declare):
            exprs = tuple(e for h in n.slots for e in h.starts)
        elif isinstance(n, Instance):
            exprs = (*(e for index in n.accesses for e in index), *n.values)
        if isinstance(n, ProductNode) or any(name in expr_names(e) for e in exprs):
            return True
    return False


def block(children: list[CNode]) -> CNode:
    """A block without nested blocks."""
    flat: list[CNode] = []
    for c in children:
        flat.extend(c.children if isinstance(c, Block) else [c])
    return flat[0] if len(flat) == 1 else Block(tuple(flat))


def with_loop(node: For, **changes: object) -> For:
    return replace(node, loop=replace(node.loop, **changes))  # type: ignore[arg-type]
