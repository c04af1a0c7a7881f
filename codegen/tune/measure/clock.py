"""Times the kernels of a contraction, and the peak kernel, in a shared object; to be run in a process of its own."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path

from codegen.isa.model import bits_of
from codegen.record import record
from codegen.tune.contraction import TENSORS, Contraction, elements
from codegen.tune.timing import Timing, timing

WARM = 20
MOST = 2000


@record
class Effort:
    """`seconds` of timing for each candidate; `busy`: processor time instead of the wall's, for machines at work;
    `limit`: seconds after which a batch is given up, beside what a slow candidate may take; `threads` share what is
    marked so."""

    seconds: float = 0.01
    busy: bool = False
    rounds: int = 3
    limit: float = 10.0
    threads: int = 1


@record
class Figure:
    """Times of one run, and whether something disturbed all of them: where the wall's best is far from the processor's
    best, the thread was not running all the time."""

    timing: Timing
    noisy: bool


DISTURBED = 1.05


def figures(path: Path, problem: Contraction, names: list[str], effort: Effort) -> list[Figure]:
    """Time functions one after the other, several rounds, so that a disturbance does not hit one alone."""
    lib = ctypes.CDLL(str(path))
    if effort.threads > 1:
        lib.omp_set_num_threads(effort.threads)
    operands = _operands(lib, problem)
    wall: list[list[float]] = [[] for _ in names]
    busy: list[list[float]] = [[] for _ in names]
    for _ in range(effort.rounds):
        for n, name in enumerate(names):
            w, b = _samples(lib, name, operands, effort.seconds / effort.rounds)
            wall[n] += w
            busy[n] += b
    return [_figure(w, b, effort.busy) for w, b in zip(wall, busy, strict=True)]


def peak(path: Path, elem: str, seconds: float, busy: bool) -> float:
    """Seconds of the best call of the peak kernel."""
    lib = ctypes.CDLL(str(path))
    operands = [_allocated(lib, 128, bits_of(elem) // 8) for _ in range(3)]
    wall, processor = _samples(lib, f"tw_peak_{elem}", operands, seconds)
    return timing(processor if busy else wall).best


def _figure(wall: list[float], busy: list[float], by_processor: bool) -> Figure:
    noisy = not by_processor and min(wall) > DISTURBED * min(busy)
    return Figure(timing(busy if by_processor else wall), noisy)


def _operands(lib: ctypes.CDLL, problem: Contraction) -> list[int]:
    return [_allocated(lib, elements(problem, t), bits_of(problem.elem) // 8) for t in TENSORS]


def _allocated(lib: ctypes.CDLL, count: int, size: int) -> int:
    make: Callable[[ctypes.c_long, ctypes.c_long], int | None] = lib.tw_operand
    lib.tw_operand.restype = ctypes.c_void_p
    found = make(ctypes.c_long(count), ctypes.c_long(size))
    if not found:
        raise MemoryError(f"no memory for {count} elements")
    return found


def _samples(lib: ctypes.CDLL, name: str, operands: list[int], seconds: float) -> tuple[list[float], list[float]]:
    wall, busy = ((ctypes.c_double * MOST)() for _ in range(2))
    lib.tw_time.restype = ctypes.c_long
    count = lib.tw_time(
        ctypes.cast(getattr(lib, name), ctypes.c_void_p), *(ctypes.c_void_p(x) for x in operands),
        ctypes.c_long(WARM), ctypes.c_double(seconds), ctypes.c_long(MOST), wall, busy,
    )  # fmt: skip
    return list(wall[:count]), list(busy[:count])
