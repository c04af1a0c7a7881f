"""Bytes that are sent, counted: what the sets have, and no more."""

from __future__ import annotations

from pathlib import Path

import islpy as isl
import pytest

from codegen.mpi.blocks import GIVER, TAKER
from tests.mpi.programs import SMALL, compiled, for_ranks, needs_mpi, on_ranks
from tests.mpi.test_proofs import BLOCKS, HEAT, opened

STEPS, N, RANKS = 4, 11, 3
MAIN = """
#include <stdio.h>
int main(void)
{
  static double u[%d][%d], v[%d][%d];
  heat(%d, %d, u, v);
  printf("%%lld\\n", tw_world.sent);
  return 0;
}
"""


def part(first: int, past: int, rank: int) -> int:
    each, more = divmod(past - first, RANKS)
    return first + each * rank + min(rank, more)


def counted(distribute: str) -> int:
    """The elements of all messages, one by one, in bytes."""
    _, _, blocks, moves = opened(HEAT, distribute)
    total = 0
    for x, parts in moves:
        for t in parts:
            (s,) = t.made.scop.statements
            for step in range(STEPS) if x.outer else (0,):
                for giver in range(RANKS):
                    for taker in set(range(RANKS)) - {giver}:
                        values = {"steps": STEPS, "n": N} | dict.fromkeys(x.outer, step)
                        for b in blocks:
                            first, past = (0, N) if distribute else (1, N - 1)
                            for who, rank in ((GIVER, giver), (TAKER, taker)):
                                ends = part(first, past, rank), part(first, past, rank + 1)
                                values |= dict(zip(b.ends(who), ends, strict=True))
                        total += 8 * _size(s.domain, values)
    return total


def _size(values: isl.Set, given: dict[str, int]) -> int:
    for name, number in given.items():
        at = values.find_dim_by_name(isl.dim_type.param, name)
        if at >= 0:
            values = values.fix_val(isl.dim_type.param, at, isl.Val(number))
    return int(values.count_val().to_str())


@needs_mpi
@pytest.mark.parametrize("distribute", ["", BLOCKS])
def test_bytes_are_those_of_the_sets(distribute: str, tmp_path: Path) -> None:
    text = for_ranks("in.c", HEAT + MAIN % (N, N, N, N, STEPS, N), distribute=distribute)
    program = compiled("mpicc", text, tmp_path / "heat", (*SMALL, "-fopenmp", "-Wno-unknown-pragmas"))
    done = on_ranks(program, RANKS)
    sent = sum(map(int, done.stdout.split()))
    assert sent == counted(distribute) > 0
    halos = 2 * (RANKS - 1) * (N - 2) * 8  # rows next to other blocks, which neighbours read
    assert sent == halos * STEPS if distribute else sent == halos * (STEPS - 1) + 2 * (N - 2) ** 2 * (RANKS - 1) * 8
