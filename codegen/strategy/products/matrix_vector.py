"""Decides by the processor model how a matrix-vector product is carried out (`MatrixVector`: form, rows and vectors
side by side, prefetch distance, threads), or says why it is left to the general path."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import ceil, isqrt

from codegen.machine import Machine
from codegen.machine.cost import LoopCost, best_loop, matvec_costs, transposed_costs
from codegen.machine.formulas import MatvecBlocks, line_elements, matvec, matvec_transposed
from codegen.machine.processor import Processor, processor, way_bytes
from codegen.machine.variants import has_variants
from codegen.recognize.access.domain_shape import most_instances
from codegen.recognize.access.strides import coefficients
from codegen.recognize.products.contraction import NoContraction
from codegen.recognize.products.matrix_vector import fold, in_any_order, layout, writes_matrix
from codegen.recognize.reductions import find_reductions
from codegen.scop.lanes import Lane, walk
from codegen.scop.model import Statement
from codegen.scop.product import Contraction, MatrixVector
from codegen.scop.tree import enclosing
from codegen.strategy.cost.cycles import PEELED
from codegen.strategy.loops.outer_vectors import FEW_STEPS
from codegen.transform.program import Program

# A call and what is left over cost about so many cycles; the plain nest takes about one for each step meanwhile.
FIXED_CYCLES = 64
# What comes out of the caches beyond the first in a cycle, roughly. Two threads halve the time: work of twice the cost
# of starting them breaks even.
CACHE_BYTES = 16
# Most lines of cache between request and use: from memory the processor itself fetches what it sees coming, so requests
# only have to bring it near. Neoverse N1, f64, 512 x 512 and 4096 x 4096, GB/s. across: 22.9 and 14.9 at 2 lines, 24.0
# and 15.6 at 3, 22.6 and 15.4 at 4; lanes: 26.0 and 15.8 at 4, 25.0 and 15.6 at 8; fold, 512: 25.7 at 3, 26.8 at 4.
MOST_AHEAD = {"across": 3, "lanes": 4, "fold": 4}
# Least lines where the processor is not known. The default text, f64, 400 x 400, microseconds: Neoverse N1, across 51
# at 2 lines, 48 at 3; lanes 56 at 1 line, 49 at 3, 52 at 4; Emerald Rapids, across 31 and 31, lanes 18.4 and 19.2.
LEAST_AHEAD = 3
# Vectors of more lanes than this would need as many rows at a time: more than there are registers.
MOST_ROWS = 16
# The size for which the loop of the threads is chosen. It matters little: the sizes cancel out but for the edges.
SAMPLE = 25600
_WORDS = {
    "lanes": "lanes along the result",
    "across": "rows transposed in registers to keep their order",
    "fold": "partial results beside each other",
}


def reason_against(p: Program, s: Statement, what: Contraction, machine: Machine) -> str:
    """Why the product is left to the general path; "" when it can be carried out in vectors."""
    try:
        form = layout(p.scop, s, what)
    except NoContraction as error:
        return str(error)
    if form == "across" and _backwards(p, s, what):
        return f"loop {s.iterators[what.depth[0]]} runs backwards along the matrix"
    cpu = lanes_of(machine, what)
    if cpu.lanes < 2:
        return "the processor has no vectors for its elements"
    if form == "across" and not joins(p, s, what, machine) and cpu.lanes > MOST_ROWS:
        return f"{cpu.lanes} rows at a time would not fit into registers"
    most = _most_steps(s, what) if form == "lanes" else None
    if most is not None and most <= PEELED and len(s.iterators) - 1 in what.depth:
        return f"each element has {most} steps, which compilers write out in vectors along the result"
    if most is not None and what.outer and most <= FEW_STEPS:
        return f"each element has {most} steps: too few for what every one of many short products costs"
    return ""


def _most_steps(s: Statement, what: Contraction) -> int | None:
    """Of one element at most; None when parameters decide."""
    return most_instances(s, [d for d in range(len(s.iterators)) if d not in what.depth])


def _backwards(p: Program, s: Statement, what: Contraction) -> bool:
    value = enclosing(p.tree, s.name)[what.depth[0]].exprs[s.name]
    return sum(coefficients(value, len(s.iterators)) or ()) < 0


def joins(p: Program, s: Statement, what: Contraction, machine: Machine) -> bool:
    """May the steps of an element be taken in any order?"""
    array = s.accesses[s.target].array
    free = array in p.deps.folds and any(r.stmt == s.name for r in find_reductions(p.scop))
    return (free and fold(what.step.lane) is not None) or in_any_order(p.scop, s, what, host(machine).isa)


def host(machine: Machine) -> Machine:
    """The machine as these kernels see it: vectors of a length known beforehand, which every SVE machine has, too."""
    return replace(machine, isa="neon", vector_bits=128) if machine.isa == "sve" else machine


def lanes_of(machine: Machine, what: Contraction) -> Processor:
    """The processor for the step of a product."""
    return processor(host(machine), what.step.elem, *operations(what.step.lane))


def operations(lane: Lane) -> tuple[str, str]:
    """The operation before the last and the last one, for the cost of a step."""
    ops = [x.op for x in walk(lane) if x.args]
    return ops[min(1, len(ops) - 1)], ops[0]


def form_of(p: Program, s: Statement, what: Contraction, machine: Machine) -> str:
    """The form that a product takes."""
    form = layout(p.scop, s, what)
    return "fold" if form == "across" and joins(p, s, what, machine) else form


def matvec_form(
    p: Program, s: Statement, what: Contraction, machine: Machine, lines: int = 0, pair: int = 0
) -> tuple[MatrixVector, str]:
    """The sizes for the machine, and in words. In strips of so many `lines` all of them are taken in whole groups.
    `pair` lines go together in a kernel that it shares with another product."""
    form = form_of(p, s, what, machine)
    cpu = lanes_of(machine, what)
    blocks, streams, vectors = sizes(form, cpu)
    if form == "lanes" and lines:
        streams = next(n for n in range(streams, 0, -1) if lines % n == 0)
    best = shared_loop(form, cpu, machine)
    crowd = max(streams, pair) > max(cpu.l1.ways, cpu.lanes if form == "across" else 1)
    how = MatrixVector(
        form,
        host(machine).isa,
        host(machine).vector_bits,
        streams,
        vectors,
        blocks.nc,
        min(blocks.nc, best.blocks.nc) if form == "lanes" else blocks.nc,
        _ahead(form, blocks, cpu, streams, LEAST_AHEAD if has_variants(machine) else 1),
        near=_near(form, cpu, writes_matrix(p.scop, what) and not what.outer) // cpu.element_bytes,
        close=cpu.l1.bytes // 2 // cpu.element_bytes if form == "lanes" else blocks.nc,
        direct=FIXED_CYCLES,
        threads=2 * machine.parallel_overhead_cycles * _cache_bytes(form, lines, machine) // cpu.element_bytes,
        period=way_bytes(cpu.l1) // cpu.element_bytes if crowd else 0,
        ways=cpu.l1.ways if crowd else 0,
        pair=pair,
    )
    shared = f"with its neighbour {pair} lines in one kernel, " if pair else ""
    words = (
        f"{how.isa}, {_WORDS[form]}, {streams} lines at a time, {how.vectors} vectors, {shared}blocks of {how.block}, "
        f"fetched {how.ahead} elements ahead"
    )
    if machine.cores > 1:
        rate = float(round(best.rate(machine.parallel_overhead_cycles), 1))
        words += f"; threads share {s.iterators[what.rows[0]]}, the model's best loop at {rate} operations per cycle"
    return how, words


def _cache_bytes(form: str, lines: int, machine: Machine) -> int:
    """What comes out of the caches in a cycle while one thread is at work. Threads that have a piece of every line find
    them where others left them, so that it is the most that a core takes; lines of a strip have just been read."""
    return CACHE_BYTES if lines or form != "lanes" else max(CACHE_BYTES, host(machine).vector_bits // 8)


def shared_loop(form: str, cpu: Processor, machine: Machine) -> LoopCost:
    """The best loop for threads of those whose turns write different elements."""
    costs = transposed_costs if form == "lanes" else matvec_costs
    mine = "j_c" if form == "lanes" else "i_c"
    found = [c for c in costs(cpu, SAMPLE, SAMPLE, machine.cores) if c.loop == mine]
    return best_loop(found, machine.parallel_overhead_cycles)


def sizes(form: str, cpu: Processor) -> tuple[MatvecBlocks, int, int]:
    """The model's blocks, how many rows of the matrix go together, and on how many vectors each."""
    if form == "lanes":
        # Of the result no more than the pipelines need: short turns leave less at the edges. Of the matrix one line
        # less than L1 has ways, since the result passes through it, too. Neoverse N1, f64, 8192 x 8192: 16.4 GB/s with
        # 3 lines, 14.0 with 4; 512 x 512: 26.3 GB/s with 3 lines of 8 vectors, 23.3 with 4 of 16.
        least = ceil(cpu.in_flight)
        streams = max(1, min(matvec_transposed(cpu).mc, cpu.l1.ways - 1, cpu.registers - 1 - least))
        room = max(1, min(_power(least), cpu.registers - 1 - streams))
        vectors = 1 << (room.bit_length() - 1)
        return matvec_transposed(cpu, streams, vectors), streams, vectors
    blocks = matvec(cpu)
    if form == "across":
        return blocks, _rows_across(cpu), 1
    return blocks, blocks.mc, max(1, blocks.nr // cpu.lanes)


def _rows_across(cpu: Processor) -> int:
    """As many groups of rows, a vector of sums each, as keep the units busy while sums wait for their last step.

    A step of a group takes its own operation and those that turn its column: the sums wait meanwhile. Of each set, L1
    should see no more than twice what it holds. Neoverse N1, f32, 512 x 512: 18.9 GB/s with 4 rows, 21.8 with 8, 19.0
    with 12.
    """
    turns = (cpu.lanes - 1).bit_length()
    groups = ceil(cpu.repeat * cpu.throughput / (1 + turns))
    most = max(1, min(groups, MOST_ROWS // cpu.lanes, 2 * cpu.l1.ways // cpu.lanes))
    return (1 << (most.bit_length() - 1)) * cpu.lanes


def _power(n: int) -> int:
    """The least power of two that is no less."""
    return 1 << (n - 1).bit_length()


def _ahead(form: str, blocks: MatvecBlocks, cpu: Processor, streams: int, least: int) -> int:
    """The model's distance in elements, in whole lines of cache, at least so many. The model waits for one line after
    the other; here those of all streams are under way together."""
    line = line_elements(cpu)
    return min(MOST_AHEAD[form], max(least, round(Fraction(blocks.distance * blocks.nb, streams * line)))) * line


def _near(form: str, cpu: Processor, written: bool = False) -> int:
    """Bytes of a matrix up to which several of its lines are read at a time. Row by row costs a load of the vector for
    each of the matrix, but is followed best by what the processor fetches by itself; along the result it also stores.
    Neoverse N1, f32, GB/s by rows together and one by one. fold: 32.5 and 25.8 at 1 MB, 25.1 and 26.0 at 4 MB, 14.0 and
    21.3 at 16 MB; lanes: 30.4 and 24.4, 25.3 and 24.4, 15.5 and 20.6. Where the region has written the matrix, lines go
    out to the last cache meanwhile: gemver, f64, 600 x 600, 597 and 521 us, 1000 x 1000, 1680 and 1540 us. Not where
    loops around the product read it again and again: trsm 1.1 times as fast by lines together."""
    last = (cpu.l3 or cpu.l2).bytes
    if form == "lanes":
        return min(cpu.l2.bytes, last // 3) if written else last // 3
    return min(2 * cpu.l2.bytes, last)


def strip_near(cpu: Processor, lines: int) -> int:
    """The same in elements of one strip of so many lines: what it has when the whole is just too large and square.

    Neoverse N1, f64, 2000 x 2000 in strips of 12, first product by rows together and one by one: bicg 3.5 and 3.1 ms;
    with sums in any order atax 3.5 and 3.2 ms, gesummv 4.8 and 3.7 ms.
    """
    return lines * isqrt(_near("fold", cpu) // cpu.element_bytes)
