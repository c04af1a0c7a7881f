"""Choosing the loop to run in parallel: the published choices, and where the formulas do not give them.

Both tables are for a 25600 x 25600 matrix of doubles. C_PAR, the cost of a team of threads, was measured.
"""
from __future__ import annotations

import pytest

from codegen.machine.cost import LoopCost, best_loop, matvec_costs, transposed_costs
from codegen.machine.load import load
from codegen.machine.processor import Processor, processor

N = 25600
CORE, BROADWELL = "xeon-e5450", "xeon-e5-2697v4"
C_PAR = {
    CORE: {1: 763, 2: 3886, 4: 4649, 8: 7958},
    BROADWELL: {1: 455, 2: 3410, 4: 4779, 8: 6501, 16: 8399, 32: 85658, 36: 14850},
}
RUNS = [(machine, threads) for machine in C_PAR for threads in C_PAR[machine]]


def hp(machine: str) -> Processor:
    return processor(load(machine), "f64")


def chosen(costs: tuple[LoopCost, ...], fork_cycles: int) -> str:
    best = best_loop(costs, fork_cycles)
    return f"{best.loop} for L1" if best is costs[1] and best.loop == "j_c" else best.loop


@pytest.mark.parametrize(("machine", "threads"), RUNS)
def test_rows_in_parallel(machine: str, threads: int) -> None:
    """y += Ax: i_c always, but for one thread on Core, where j_c is as good and stands further out. As published."""
    costs = matvec_costs(hp(machine), N, N, threads)
    fork = C_PAR[machine][threads]
    assert [c.loop for c in costs] == ["j_c", "i_c", "j_r"]
    if (machine, threads) == (CORE, 1):
        assert costs[0].rate(fork) == costs[1].rate(fork) and chosen(costs, fork) == "j_c"
    else:
        assert chosen(costs, fork) == "i_c"


# y += A'x: what the formulas give. Published: "j_c" for one thread, "j_c for L1" for more, on both machines.
AS_PUBLISHED = {
    (CORE, 1): "j_c", (CORE, 8): "j_c for L1",
    **{(BROADWELL, threads): "j_c for L1" for threads in (2, 4, 16, 32, 36)},
}
# j_b: its row in the published table lacks a factor, perhaps also a term for races, and so promises too much.
# i_c with one thread: 25600 columns are 6.25 blocks; j_c is charged for 7 and i_c is not.
# j_c with 8 threads: all 7 blocks run at once, and small ones are charged a fifth more.
OTHERWISE = {(CORE, 2): "j_b", (CORE, 4): "j_b", (BROADWELL, 1): "i_c", (BROADWELL, 8): "j_c"}


@pytest.mark.parametrize(("machine", "threads"), RUNS)
def test_columns_in_parallel(machine: str, threads: int) -> None:
    costs = transposed_costs(hp(machine), N, N, threads)
    wanted = {**AS_PUBLISHED, **OTHERWISE}[machine, threads]
    assert chosen(costs, C_PAR[machine][threads]) == wanted


@pytest.mark.parametrize(("machine", "threads"), [r for r in RUNS if r[1] > 1])
def test_columns_without_the_doubtful_row(machine: str, threads: int) -> None:
    """Without j_b, every choice for several threads is the published one, but for 8 threads on Broadwell."""
    costs = tuple(c for c in transposed_costs(hp(machine), N, N, threads) if c.loop != "j_b")
    wanted = "j_c" if (machine, threads) == (BROADWELL, 8) else "j_c for L1"
    assert chosen(costs, C_PAR[machine][threads]) == wanted


def test_one_thread_has_no_races() -> None:
    """Alone, the order of the loops around a block does not matter: i_c and j_c do the same work."""
    costs = {c.loop: c for c in reversed(transposed_costs(hp(CORE), N, N, 1))}
    assert costs["j_c"].cycles == costs["i_c"].cycles
    alone, two = (transposed_costs(hp(CORE), N, N, t)[4] for t in (1, 2))
    assert alone.loop == "i_b" and alone.cycles == 8 * (14 + 8)
    assert float(two.cycles) == pytest.approx(4 * (14 + 2**1.5 * 8 + 8))


def test_blocks_are_cut_to_the_matrix() -> None:
    costs = transposed_costs(hp(CORE), 100, 60, 1)
    assert [c.blocks.nc for c in costs] == [60] * 6
    assert costs[0].operations == 2 * 100 * 60
    assert matvec_costs(hp(CORE), 100, 60, 1)[1].operations == (2 * 60 + 2) * 100
