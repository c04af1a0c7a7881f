"""Reads a loop that each thread of a device runs (`thread_loop`), finds the arrays that it can read from shared memory
(`operands`), and lays out how a block carries it out with these (`staged_loop`). NoTiles says why not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from codegen.ast.ctree import Block, CExpr, CNode, Declare, For, Held, Instance, Name, expr_names, walk
from codegen.gpu.body import plain_type
from codegen.gpu.tiles.find import NoTiles, stride
from codegen.gpu.tiles.model import DEEP, WIDE, DepthStaging, StagedOperand
from codegen.gpu.tiles.order import TileProgram, pipelined
from codegen.record import record
from codegen.scop.expr import Binary, Expr, Ref, Ternary, children
from codegen.scop.model import Scop
from codegen.scop.tree import GRID, SEQUENTIAL

MOST_COPYING = 256  # threads of a block
MOST_DOUBLED = 128  # threads: lines of columns that begin anywhere are read in longer pieces
Element = tuple[str, tuple[CExpr, ...]]  # an array, and subscripts in terms of the loops


@record
class ThreadLoop:
    """What a thread does: one loop over plain statements, and whatever stands before and behind it; `held` are scalars
    of its own."""

    grid: For
    before: tuple[CNode, ...]
    loop: For
    after: tuple[CNode, ...]
    body: tuple[Instance, ...]
    held: tuple[Held, ...] = ()


@record
class LoopOperand:
    """An element that differs from iteration to iteration, and from thread to thread unless it stands alone. `reader`
    is the number of a statement of the body, of which `staged.access` reads it."""

    reader: int
    staged: StagedOperand


@record
class StagedLoop:
    """A thread's loop with everything that is proven and printed of it. `kept` are elements that stay the same ones:
    a thread has them in registers, as (number of a statement, of one of its accesses)."""

    nest: ThreadLoop
    threads: int
    staging: DepthStaging
    operands: tuple[LoopOperand, ...]
    kept: tuple[tuple[int, int], ...]
    order: TileProgram
    vector: int  # elements of 16 bytes, if all operands have equal ones
    single: int  # threads of a block that copies single elements
    helpers: int  # further threads of such a block, which copy and compute nothing

    def rows_for(self, vector: int) -> int:
        """Threads that compute, in a block whose copies bring so many elements."""
        return self.threads if vector > 1 else self.single


def thread_loop(code: CNode, stmt: str) -> ThreadLoop:
    """The loop around a statement in the nest on threads that it is in. Raises NoTiles."""
    for grid in walk(code):
        if isinstance(grid, For) and grid.loop.kind == GRID:
            inside = list(walk(grid.body))
            if not any(isinstance(x, Instance) and x.stmt == stmt for x in inside):
                continue
            if any(isinstance(x, For) and x.loop.kind == GRID for x in inside):
                raise NoTiles(f"{stmt} has no tile in registers, and its threads run over more than one loop")
            if any(isinstance(x, Declare) and (x is not grid.body or _is_large(x)) for x in inside):
                raise NoTiles(f"threads of {stmt} have arrays of their own, or variables in their loops")
            return _thread_loop(grid, stmt)
    raise NoTiles(f"{stmt} does not run on threads")


def _thread_loop(grid: For, stmt: str) -> ThreadLoop:
    inner = grid.body.body if isinstance(grid.body, Declare) else grid.body
    held = grid.body.slots if isinstance(grid.body, Declare) else ()
    parts = inner.children if isinstance(inner, Block) else (inner,)
    at = next(k for k, x in enumerate(parts) if any(isinstance(y, Instance) and y.stmt == stmt for y in walk(x)))
    loop = parts[at]
    if not isinstance(loop, For) or loop.loop.kind != SEQUENTIAL:
        raise NoTiles(f"{stmt} is in no loop of a thread")
    body = loop.body.children if isinstance(loop.body, Block) else (loop.body,)
    plain = tuple(x for x in body if isinstance(x, Instance))
    if len(plain) != len(body):
        raise NoTiles("there are other loops in it, or conditions")
    if any(lp.step != 1 or lp.op != "<" or lp.otherwise or lp.carried for lp in (grid, loop)):
        raise NoTiles("its loops do not count one by one")
    if grid.var in expr_names(loop.lower) | expr_names(loop.upper):
        raise NoTiles("not all threads run through the same iterations")
    return ThreadLoop(grid, parts[:at], loop, parts[at + 1 :], plain, held)


def _is_large(node: Declare) -> bool:
    return any(any(h.sizes) for h in node.slots)


def staged_loop(scop: Scop, nest: ThreadLoop, staging: DepthStaging, pads: Mapping[str, int]) -> StagedLoop:
    """How a block carries the loop out with these arrays in shared memory. `pads` are elements behind lines there.
    Raises NoTiles."""
    found = operands(scop, nest)
    missing = sorted(pads.keys() - {o.staged.name for o in found})
    if missing or not pads:
        raise NoTiles(f"`{', '.join(missing)}` is written, or an iteration reads several of its elements")
    found = tuple(replace(o, staged=replace(o.staged, pad=pads[o.staged.name])) for o in found if o.staged.name in pads)
    sizes = {o.staged.bytes for o in found}
    vector = 16 // max(sizes) if len(sizes) == 1 else 1
    order, threads = pipelined(staging.stages, 1), nest.grid.loop.factor
    columns = vector > 1 and all(o.staged.alone or o.staged.line == "own" for o in found)
    single = 2 * threads if columns and threads <= MOST_DOUBLED else threads
    helpers = 0 if columns or vector == 1 else helpers_of(threads, staging, vector)
    return StagedLoop(nest, threads, staging, found, tuple(_kept(scop, nest)), order, vector, single, helpers)


def helpers_of(rows: int, staging: DepthStaging, vector: int) -> int:
    """Threads that share copies of single elements with those that compute: so many that each makes about as many as
    with copies of 16 bytes."""
    among = rows * vector
    while among > rows and (among > MOST_COPYING or rows * staging.depth % among or among % staging.depth):
        among //= 2
    return among - rows if among > rows else 0


def element(scop: Scop, at: Instance, number: int) -> Element:
    """What an access touches."""
    return scop.statement(at.stmt).accesses[number].array, at.accesses[number]


def operands(scop: Scop, nest: ThreadLoop) -> tuple[LoopOperand, ...]:
    """What can be staged: arrays of which an iteration reads one element, always, and which nothing on these threads
    writes."""
    written = {scop.arrays[a.array].base for n in walk(nest.grid) if isinstance(n, Instance)
               for a in scop.statement(n.stmt).writes}  # fmt: skip
    read: dict[str, set[Element]] = {}
    for at in nest.body:
        for k, a in enumerate(scop.statement(at.stmt).accesses):
            read.setdefault(scop.arrays[a.array].base, set()).add(element(scop, at, k))
    out: dict[str, LoopOperand] = {}
    for m, at in enumerate(nest.body):
        for k in sure_accesses(scop.statement(at.stmt).rhs):
            base = scop.arrays[scop.statement(at.stmt).accesses[k].array].base
            if base not in written and base not in out and len(read[base]) == 1:
                found = _operand(scop, nest, at, k)
                out |= {} if found is None else {base: LoopOperand(m, found)}
    return tuple(out[n] for n in sorted(out))


def sure_accesses(e: Expr) -> Iterator[int]:
    """Accesses that an expression makes whatever its values are."""
    if isinstance(e, Ref):
        yield e.access
    elif isinstance(e, Ternary):
        yield from sure_accesses(e.cond)
    elif isinstance(e, Binary) and e.op in ("&&", "||"):
        yield from sure_accesses(e.left)
    else:
        for x in children(e):
            yield from sure_accesses(x)


def _operand(scop: Scop, nest: ThreadLoop, at: Instance, number: int) -> StagedOperand | None:
    s = scop.statement(at.stmt)
    a, array = s.accesses[number], scop.arrays[s.accesses[number].array]
    if a.partial or array.inside:
        return None
    try:
        own, depth = (stride(scop, s, a, iterator(at, lp.var)) for lp in (nest.grid, nest.loop))
    except NoTiles:
        return None
    if not depth or (own == depth == "1") or (own and "1" not in (own, depth)):
        return None
    line, layout = ("own", WIDE) if own == "1" else ("depth" if depth == "1" else "", DEEP)
    kind, alone = plain_type(array.elem), not own
    return StagedOperand(number, array.base, kind, array.elem.bytes, int(alone), own or "0", depth, line, layout, 0,
                         alone=alone)  # fmt: skip


def iterator(at: Instance, var: str) -> int:
    """The one iterator of a statement that a loop counts. Raises NoTiles."""
    found = [d for d, e in enumerate(at.iterators) if var in expr_names(e)]
    if len(found) != 1 or at.iterators[found[0]] != Name(var):
        raise NoTiles("its loops are not those of the statement")
    return found[0]


def _kept(scop: Scop, nest: ThreadLoop) -> Iterator[tuple[int, int]]:
    """Elements that the loop writes, of arrays of which it touches no other one."""
    touched: dict[str, dict[Element, tuple[int, int]]] = {}
    own = {h.array for h in nest.held}
    for m, at in enumerate(nest.body):
        for k, a in enumerate(scop.statement(at.stmt).accesses):
            if a.array in own:
                continue
            touched.setdefault(scop.arrays[a.array].base, {}).setdefault(element(scop, at, k), (m, k))
    for base in sorted(touched):
        (first, *others) = touched[base].items()
        (_, index), (m, k) = first
        moves = any(nest.loop.var in expr_names(e) for e in index)
        if not others and not moves and _is_written(scop, nest, base) and not _is_partial(scop, nest, base):
            yield m, k


def _is_written(scop: Scop, nest: ThreadLoop, base: str) -> bool:
    return any(scop.arrays[a.array].base == base for at in nest.body for a in scop.statement(at.stmt).writes)


def _is_partial(scop: Scop, nest: ThreadLoop, base: str) -> bool:
    accesses = (a for at in nest.body for a in scop.statement(at.stmt).accesses)
    return any(a.partial for a in accesses if scop.arrays[a.array].base == base)
