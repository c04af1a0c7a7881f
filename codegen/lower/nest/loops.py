"""Loops of a contraction's nest: the values each covers, and their text form.

As text, outermost first: `i28 j8 k192 i4 j16`; `j1+32` is a loop of size 1 with a tail of 32, `i64[B]` packs the part
of B that is used below into a buffer before the loop starts, and threads share the iterations of `i28[T]`, which is
outermost. A variable whose name ends in a digit is written `i1:28`.
"""

from __future__ import annotations

import re
from typing import NamedTuple, Protocol

from codegen.lower.nest.contraction import Contraction

THREADS = "T"


class BadTree(ValueError):
    """A text that is no nest of its contraction; the message says why."""


class Loop(NamedTuple):
    """Covers `size * inner + tail` values of `var`, where `inner` is what the loops over `var` inside it cover.

    `pack` names the operands that are copied, just before this loop, into the order in which the loops from here on
    read them; with a T in it, threads share the loop. Tuples and no records: a search makes millions of them.
    """

    var: str
    size: int
    tail: int = 0
    pack: str = ""


class Ordered(Protocol):
    """A contraction with the order of its loops."""

    @property
    def problem(self) -> Contraction: ...

    @property
    def compute(self) -> tuple[Loop, ...]: ...


def inner(nest: tuple[Loop, ...], at: int) -> int:
    """How many values of its variable one iteration of a loop covers: the step of the loop."""
    var, covered = nest[at].var, 1
    for loop in reversed(nest[at + 1 :]):
        if loop.var == var:
            covered = covered * loop.size + loop.tail
    return covered


def steps(nest: tuple[Loop, ...]) -> tuple[int, ...]:
    """The step of each loop."""
    covered: dict[str, int] = {}
    found = []
    for loop in reversed(nest):
        step = covered.get(loop.var, 1)
        found.append(step)
        covered[loop.var] = step * loop.size + loop.tail
    return tuple(reversed(found))


def joined(nest: tuple[Loop, ...]) -> tuple[Loop, ...]:
    """The same points in the same order with fewer loops: pieces of one variable that follow each other are one loop,
    unless something is packed between them, or the inner one has a tail; and those that run once are none."""
    found: list[tuple[Loop, int]] = []  # innermost first, each with its step
    covered: dict[str, int] = {}
    for loop in reversed(nest):
        if loop[1:] == (1, 0, "") and loop.var in covered:
            continue
        last, step = found[-1][0] if found else None, covered.get(loop.var, 1)
        total = covered[loop.var] = step * loop.size + loop.tail
        if last is not None and last.var == loop.var and not last.tail and not last.pack:
            step = found.pop()[1]
            loop = Loop(loop.var, *divmod(total, step), loop.pack)
        found.append((loop, step))
    return tuple(loop for loop, _ in reversed(found))


def show_nest(nest: tuple[Loop, ...], cursor: int = -1) -> str:
    return " ".join(_show_loop(loop) + "*" * (at == cursor) for at, loop in enumerate(nest))


def _show_loop(loop: Loop) -> str:
    name = f"{loop.var}:" if loop.var[-1].isdigit() else loop.var
    return f"{name}{loop.size}" + (f"+{loop.tail}" if loop.tail else "") + (f"[{loop.pack}]" if loop.pack else "")


def parse_nest(text: str, problem: Contraction) -> tuple[tuple[Loop, ...], int]:
    found, cursor = [], 0
    for at, word in enumerate(text.split()):
        match = re.fullmatch(r"([A-Za-z_]\w*:|[A-Za-z_]\w*?)(\d+)(?:\+(\d+))?(?:\[([ABT]+)\])?(\*?)", word)
        if not match:
            raise BadTree(f"'{word}' is no loop; expected a variable and a size, as in i28 or j1+32")
        var = match[1].rstrip(":")
        if var not in problem.names:
            raise BadTree(f"'{word}' is a loop over '{var}', which the contraction does not have")
        if int(match[2]) < 1:
            raise BadTree(f"'{word}' has no iterations")
        found.append(Loop(var, int(match[2]), int(match[3] or 0), "".join(sorted(set(match[4] or "")))))
        cursor = at if match[5] else cursor
    return tuple(found), cursor


def check_nest(nest: tuple[Loop, ...], problem: Contraction) -> None:
    """Each variable must be run through exactly once, and a tail must be shorter than a step."""
    covered = dict.fromkeys(problem.names, 1)
    for loop in reversed(nest):
        if loop.tail >= max(covered[loop.var], 1):
            raise BadTree(f"the tail of {_show_loop(loop)} is no shorter than its step {covered[loop.var]}")
        covered[loop.var] = covered[loop.var] * loop.size + loop.tail
    for name, size in problem.sizes:
        if covered[name] != size:
            raise BadTree(f"the loops over {name} cover {covered[name]} of {size}")
