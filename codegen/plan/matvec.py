"""How a matrix-vector product is carried out: form, sizes and threads, decided by the processor model."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import ceil

from codegen.machine import Machine
from codegen.machine.cost import LoopCost, best_loop, matvec_costs, transposed_costs
from codegen.machine.formulas import MatvecBlocks, line_elements, matvec, matvec_transposed
from codegen.machine.processor import Processor, processor
from codegen.recognize.contraction import NoContraction
from codegen.recognize.matvec import fold, layout
from codegen.recognize.reductions import find_reductions
from codegen.recognize.strides import coefficients
from codegen.scop.lanes import Lane, walk
from codegen.scop.model import Statement
from codegen.scop.product import Contraction, Sweep
from codegen.scop.tree import enclosing
from codegen.transform.program import Program

# A call and what is left over cost about so many cycles; the plain nest takes about one for each step meanwhile.
FIXED_CYCLES = 64
# What comes out of the caches beyond the first in a cycle, roughly. Two threads halve the time: work of twice the cost
# of starting them breaks even.
CACHE_BYTES = 16
# Vectors of more lanes than this would need as many rows at a time: more than there are registers.
MOST_ROWS = 16
# The size for which the loop of the threads is chosen. It matters little: the sizes cancel out but for the edges.
SAMPLE = 25600
_WORDS = {
    "lanes": "lanes along the result",
    "across": "rows turned in registers to keep their order",
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
    if form == "across" and not joins(p, s, what) and cpu.lanes > MOST_ROWS:
        return f"{cpu.lanes} rows at a time would not fit into registers"
    return ""


def _backwards(p: Program, s: Statement, what: Contraction) -> bool:
    value = enclosing(p.tree, s.name)[what.depth[0]].exprs[s.name]
    return sum(coefficients(value, len(s.iterators)) or ()) < 0


def joins(p: Program, s: Statement, what: Contraction) -> bool:
    """May the steps of an element be taken in any order?"""
    array = s.accesses[s.target].array
    free = array in p.deps.folds and any(r.stmt == s.name for r in find_reductions(p.scop))
    return free and fold(what.step.lane) is not None


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


def form_of(p: Program, s: Statement, what: Contraction) -> str:
    """The form that a product takes."""
    form = layout(p.scop, s, what)
    return "fold" if form == "across" and joins(p, s, what) else form


def sweep(p: Program, s: Statement, what: Contraction, machine: Machine, lines: int = 0) -> tuple[Sweep, str]:
    """The sizes for the machine, and in words. In strips of so many `lines` all of them are taken in whole groups."""
    form = form_of(p, s, what)
    cpu = lanes_of(machine, what)
    blocks, streams, vectors = sizes(form, cpu)
    if form == "lanes" and lines:
        streams = next(n for n in range(streams, 0, -1) if lines % n == 0)
    best = shared_loop(form, cpu, machine)
    how = Sweep(
        form,
        host(machine).isa,
        host(machine).vector_bits,
        streams,
        vectors,
        blocks.nc,
        min(blocks.nc, best.blocks.nc) if form == "lanes" else blocks.nc,
        _ahead(form, blocks, cpu, streams),
        # Half of the last cache, since the rest of the program has some use for it.
        near=(cpu.l3 or cpu.l2).bytes // 2 // cpu.element_bytes,
        close=cpu.l1.bytes // 2 // cpu.element_bytes if form == "lanes" else blocks.nc,
        direct=FIXED_CYCLES,
        threads=2 * machine.parallel_overhead_cycles * CACHE_BYTES // cpu.element_bytes,
    )
    words = (
        f"{how.isa}, {_WORDS[form]}, {streams} lines at a time, {how.vectors} vectors, blocks of {how.block}, fetched "
        f"{how.ahead} elements ahead"
    )
    if machine.cores > 1:
        rate = float(round(best.rate(machine.parallel_overhead_cycles), 1))
        words += f"; threads share {s.iterators[what.rows[0]]}, the model's best loop at {rate} operations per cycle"
    return how, words


def shared_loop(form: str, cpu: Processor, machine: Machine) -> LoopCost:
    """The best loop for threads of those whose turns write different elements."""
    costs = transposed_costs if form == "lanes" else matvec_costs
    mine = "j_c" if form == "lanes" else "i_c"
    found = [c for c in costs(cpu, SAMPLE, SAMPLE, machine.cores) if c.loop == mine]
    return best_loop(found, machine.parallel_overhead_cycles)


def sizes(form: str, cpu: Processor) -> tuple[MatvecBlocks, int, int]:
    """The model's blocks, how many lines of the matrix go together, and on how many vectors each."""
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
        return blocks, -(-blocks.mc // cpu.lanes) * cpu.lanes, 1
    return blocks, blocks.mc, max(1, blocks.nr // cpu.lanes)


def _power(n: int) -> int:
    """The least power of two that is no less."""
    return 1 << (n - 1).bit_length()


def _ahead(form: str, blocks: MatvecBlocks, cpu: Processor, streams: int) -> int:
    """The model's distance in elements, in whole lines of cache and at least one turn of the loop. The model waits for
    one line after the other; here those of all streams are under way together. Neoverse N1, f64, 3 streams of
    6000 x 6000: 16.4 GB/s at 64 elements, 15.3 at 160, which is three times as far."""
    line = line_elements(cpu)
    least = max(line, blocks.nb if form == "lanes" else blocks.nr)
    return max(-(-least // line), round(Fraction(blocks.distance * blocks.nb, streams * line))) * line
