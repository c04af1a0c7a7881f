"""Schedule of a contraction's nest: unrolled levels, where the tile of C is held in registers, and strides of operands.

From outside in: loops; at `hold` the tile of C is loaded; loops over sums only; at `unroll` everything below becomes
one block of straight code, the vector loop innermost; then the tile is stored. Loops are injected where a nest asks for
more registers or more code than there is, to fill the registers, and to unroll a sum. Only the order of the points is
given: how a variable was cut into pieces that follow each other makes no difference.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil, prod

from codegen.isa.model import Isa
from codegen.lower.nest.contraction import TENSORS, Contraction, strides
from codegen.lower.nest.loops import THREADS, Loop, Ordered, inner, joined, steps
from codegen.record import record

CAP = 320  # vector multiply-adds in one block
# Accumulators that keep two units busy when a multiply-add takes four cycles: the least of processors in use.
INDEPENDENT = 8


class CannotEmit(ValueError):
    """A tree that this back end has no code for; the message says why."""


@record
class NestLevel:
    """A loop: `step` values of `var` in an iteration, and how far A, B and C move with it, as packed."""

    var: str
    size: int
    step: int
    moves: tuple[int, int, int]
    pack: str

    def move(self, tensor: str) -> int:
        return self.moves[TENSORS.index(tensor)]


@record
class RegisterDemand:
    """The register demand of a block: vectors of C, different values of A and of B in one step, and multiply-adds."""

    accumulators: int
    lefts: int
    rights: int
    fmas: int

    @property
    def operands(self) -> int:
        """The fewer of both stay in registers, beside one value in use and one that is coming."""
        return min(self.lefts, self.rights) + 2


@record
class NestSchedule:
    """`buffers` are the elements that each packed operand takes; with `threads`, they share the outermost loop."""

    problem: Contraction
    levels: tuple[NestLevel, ...]
    hold: int
    unroll: int
    lanes: int
    buffers: tuple[tuple[str, int], ...]
    threads: bool = False

    @property
    def vector(self) -> str:
        """The variable that runs along vectors."""
        return self.levels[-1].var


def schedule(tree: Ordered, isa: Isa) -> NestSchedule:
    """Choose for a tree on an instruction set."""
    if not isa.bits:
        raise CannotEmit(f"the vectors of {isa.name} have no fixed length")
    lanes = isa.lanes_max(tree.problem.elem)
    whole = joined(tree.compute)
    given = tuple(loop._replace(pack=loop.pack.replace(THREADS, "")) for loop in whole)
    nest, unroll = _unrolled(tree.problem, _injected(tree.problem, given, isa, lanes), isa, lanes)
    hold = unroll
    while hold and nest[hold - 1].var not in tree.problem.c:
        hold -= 1
    nest = _pack_outside(nest, hold)
    levels, buffers = _levels(tree.problem, nest, lanes)
    threads = [at for at, loop in enumerate(whole) if THREADS in loop.pack]
    if threads and (threads != [0] or not hold or nest[0].var not in tree.problem.c):
        raise CannotEmit("threads share the outermost loop, one of the result's, around the tile in registers")
    return NestSchedule(tree.problem, levels, hold, unroll, lanes, buffers, bool(threads))


def shape(problem: Contraction, extents: Mapping[str, int], vector: str, lanes: int) -> RegisterDemand:
    """What a block over such extents needs."""
    count = {**extents, vector: ceil(extents[vector] / lanes)}
    lefts, rights = (prod(count[v] for v in problem.c if strides(problem, t)[v]) for t in "AB")
    return RegisterDemand(prod(count[v] for v in problem.c), lefts, rights, prod(count.values()))


def covered(problem: Contraction, nest: tuple[Loop, ...]) -> dict[str, int]:
    """How many values of each variable a nest runs through."""
    found = dict.fromkeys(problem.names, 1)
    for loop in reversed(nest):
        found[loop.var] = found[loop.var] * loop.size + loop.tail
    return found


def _fits(problem: Contraction, nest: tuple[Loop, ...], isa: Isa, lanes: int) -> bool:
    need = shape(problem, covered(problem, nest), nest[-1].var, lanes)
    return need.fmas <= CAP and in_registers(problem, need, nest[-1].var, isa)


def in_registers(problem: Contraction, need: RegisterDemand, vector: str, isa: Isa) -> bool:
    """Whether a tile has room beside what stays of the operands, one value in use and one that is coming: vectors, or
    where they are too many the values of the other operand, of which one more is on its way into all lanes."""
    along_b = strides(problem, "B")[vector] > 0
    vectors, values = (need.rights, need.lefts) if along_b else (need.lefts, need.rights)
    room = isa.registers - need.accumulators - 2
    return vectors <= room if vectors <= values else vectors <= room or values + 1 <= room


def _injected(problem: Contraction, nest: tuple[Loop, ...], isa: Isa, lanes: int) -> tuple[Loop, ...]:
    """With an innermost loop short enough for the registers, in pieces of equal length."""
    made, pieces = nest, 1
    vectors = ceil(nest[-1].size / lanes)
    while not _fits(problem, made[-1:], isa, lanes):
        pieces += 1
        made = _split(nest, len(nest) - 1, lanes * ceil(vectors / pieces))
    return made


def _unrolled(
    problem: Contraction, nest: tuple[Loop, ...], isa: Isa, lanes: int
) -> tuple[tuple[Loop, ...], int]:
    """The depth from which on all is one block; a sum around it is unrolled a few times, and of another loop goes into
    the block what has room. Long sums stay loops, also where the whole of them has room."""
    last = len(nest) - 1
    unroll = next(
        d for d in range(len(nest)) if _fits(problem, nest[d:], isa, lanes) and (d == last or _sums(problem, nest[d:]))
    )
    if not unroll:
        return nest, unroll
    around, block = nest[unroll - 1], nest[unroll:]
    if around.var in problem.c:
        times = _piece(problem, around, block, isa, lanes)
    else:
        times = _times(problem, block, lanes)
        times = times if around.size >= 2 * times else 1
    return (_split(nest, unroll - 1, times) if times > 1 else nest), unroll


def _sums(problem: Contraction, nest: tuple[Loop, ...]) -> bool:
    """Whether the sums of a block are short enough to be straight code: the compiler's time goes by it, and more steps
    than it takes to keep the units busy gain nothing."""
    count = covered(problem, nest)
    return prod(count[v] for v in problem.reductions if v != nest[-1].var) <= INDEPENDENT


def _piece(problem: Contraction, around: Loop, block: tuple[Loop, ...], isa: Isa, lanes: int) -> int:
    """How many iterations of a loop around a block have room in it, in pieces of equal length."""
    room = 1
    while room < around.size and _fits(problem, (Loop(around.var, room + 1), *block), isa, lanes):
        room += 1
    return ceil(around.size / ceil(around.size / room))


def _times(problem: Contraction, nest: tuple[Loop, ...], lanes: int) -> int:
    """How often a sum around the block is unrolled: so that there are enough independent sums. More does harm: tiles of
    4x16, 8x12 and 6x16 reach 33.7, 35.4 and 36.0 GFLOPS on a Neoverse N1 (f32, gcc 12); with two steps, gcc moves
    accumulators from register to register: 28.5, 33.7 and 31.4; with four 24.5, 32.3 and 33.0."""
    need = shape(problem, covered(problem, nest), nest[-1].var, lanes)
    return max(1, min(-(-INDEPENDENT // need.accumulators), CAP // need.fmas))


def _split(nest: tuple[Loop, ...], at: int, factor: int) -> tuple[Loop, ...]:
    loop, step = nest[at], inner(nest, at)
    size, tail = divmod(loop.size * step + loop.tail, factor * step)
    return (*nest[:at], Loop(loop.var, size, tail, loop.pack), Loop(loop.var, factor), *nest[at + 1 :])


def _pack_outside(nest: tuple[Loop, ...], hold: int) -> tuple[Loop, ...]:
    """Packing happens no deeper than where the tile of C is loaded."""
    late = "".join(loop.pack for loop in nest[hold + 1 :])
    if not late:
        return nest
    here = nest[hold]._replace(pack="".join(sorted(nest[hold].pack + late)))
    return (*nest[:hold], here, *(loop._replace(pack="") for loop in nest[hold + 1 :]))


def _levels(
    problem: Contraction, nest: tuple[Loop, ...], lanes: int
) -> tuple[tuple[NestLevel, ...], tuple[tuple[str, int], ...]]:
    """The loops with their moves in memory."""
    each = tuple(zip(nest, steps(nest), strict=True))
    moves = [[strides(problem, t)[loop.var] * step for t in TENSORS] for loop, step in each]
    buffers = []
    for at, loop in enumerate(nest):
        for tensor in loop.pack:
            buffers.append((tensor, _packed(problem, nest, at, tensor, lanes, moves)))
    levels = tuple(
        NestLevel(loop.var, loop.size, step, (m[0], m[1], m[2]), loop.pack)
        for (loop, step), m in zip(each, moves, strict=True)
    )
    return levels, tuple(sorted(buffers))


def _packed(
    problem: Contraction, nest: tuple[Loop, ...], at: int, tensor: str, lanes: int, moves: list[list[int]]
) -> int:
    """Set the moves of a packed operand; its elements stand in the order in which the loops from `at` on read them,
    vectors whole. The number of elements."""
    which, size = TENSORS.index(tensor), 1
    for n in range(len(nest) - 1, at - 1, -1):
        if not strides(problem, tensor)[nest[n].var]:
            continue
        moves[n][which] = size
        count = nest[n].size + bool(nest[n].tail)
        size *= ceil(count / lanes) * lanes if n == len(nest) - 1 else count
    return size
