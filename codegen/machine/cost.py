"""Estimated operations per cycle of a matrix-vector product for each loop that could run in parallel.

F(L) = N_O / (C_PAR + cycles): N_O operations in one execution of loop L, which takes `cycles` with its turns spread
over T threads, after C_PAR cycles to start the team. Loops outside L multiply both sides alike. Where threads add to
the same elements, T*sqrt(T) latencies are charged; this term is empirical and does not arise for one thread.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import ceil, sqrt

from codegen.machine.formulas import (
    MatvecBlocks,
    line_elements,
    matvec,
    matvec_transposed,
    matvec_transposed_l1,
    row_cycles,
)
from codegen.machine.processor import Processor
from codegen.record import record

# What the blocks for L1 cost beside their work, as a part of it: x is read again for every block of columns.
L1_EXTRA = Fraction(1, 5)


@record
class LoopCost:
    """One execution of a loop in parallel. Of two loops of the same name, `blocks` tells the variant."""

    loop: str
    operations: Fraction
    cycles: Fraction
    blocks: MatvecBlocks

    def rate(self, fork_cycles: int) -> Fraction:
        """F(L): operations per cycle when starting the threads takes `fork_cycles`."""
        return self.operations / (fork_cycles + self.cycles)


def best_loop(costs: Sequence[LoopCost], fork_cycles: int) -> LoopCost:
    """The loop with the greatest rate; of equals the first, which is the outermost."""
    return max(costs, key=lambda c: c.rate(fork_cycles))


def transposed_costs(p: Processor, m: int, n: int, threads: int) -> tuple[LoopCost, ...]:
    """The loops of y = y + A'x, A an m x n matrix, outermost first: j_c, j_c with blocks for L1, i_c, j_b, i_b, j_r."""
    b, small = (_clip(blocks, n) for blocks in (matvec_transposed(p), matvec_transposed_l1(p)))
    t, nb, mc, nc = threads, b.nb, b.mc, b.nc
    turn, race = b.cycles, _race(threads) * p.latency
    row = ceil(nb / (p.lanes * p.throughput))
    work = Fraction(nc * m, nb * mc) * turn
    small_work = Fraction(small.nc * m, small.nb * small.mc) * small.cycles * (1 + L1_EXTRA)
    table = (
        ("j_c", 2 * n * m, _turns(n, nc * t) * work, b),
        ("j_c", 2 * n * m, _turns(n, small.nc * t) * small_work, small),
        ("i_c", 2 * nc * m, _turns(m, mc * t) * (turn + mc * race) * Fraction(nc, nb), b),
        ("j_b", 2 * nc * mc, _turns(nc, nb * t) * turn, b),
        ("i_b", 2 * nb * mc, _turns(mc, t) * (row + race + p.latency), b),
        ("j_r", 2 * nb, _turns(row, t), b),
    )
    return tuple(LoopCost(loop, Fraction(ops), Fraction(cycles), blocks) for loop, ops, cycles, blocks in table)


def matvec_costs(p: Processor, m: int, n: int, threads: int) -> tuple[LoopCost, ...]:
    """The loops of y = y + Ax for an m x n matrix, outermost first: j_c, i_c, j_r."""
    b = _clip(matvec(p), n)
    t, nr, mc, nc = threads, b.nr, b.mc, b.nc
    fetch, step = row_cycles(p, mc, nr)
    turn = Fraction(nr * fetch, 4 * line_elements(p)) + step
    race, fold = _race(threads), mc * nr * p.add_latency
    row = turn * Fraction(nc, nr)
    j_c = _turns(n, nc * t) * (row + race * p.load_latency * fold + fold) * Fraction(m, mc)
    table = (
        ("j_c", (2 * n + Fraction(nr * n, nc)) * m, j_c),
        ("i_c", (2 * nc + nr) * m, _turns(m, mc * t) * (row + fold)),
        ("j_r", 2 * nc * mc, _turns(nc, nr * t) * (turn + race * p.latency)),
    )
    return tuple(LoopCost(loop, Fraction(ops), Fraction(cycles), b) for loop, ops, cycles in table)


def _clip(b: MatvecBlocks, n: int) -> MatvecBlocks:
    return replace(b, nc=min(b.nc, n))


def _turns(total: int, step: int) -> int:
    return -(-total // step)


def _race(threads: int) -> Fraction:
    return Fraction(sqrt(threads) * threads) if threads > 1 else Fraction(0)
