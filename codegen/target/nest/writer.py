"""Prints the loops of a contraction's nest from outside in: full iterations, then the remainder; with the packing,
prefetches and OpenMP pragma that the schedule asks for, and the loads and stores of the register tile (`tile.py`)
around the loops over sums."""

from __future__ import annotations

from collections.abc import Mapping

from codegen.isa.model import Isa
from codegen.isa.text import PREFETCH
from codegen.lower.nest.contraction import TENSORS, elements
from codegen.lower.nest.kernel import Options
from codegen.lower.nest.registers import asked_ahead
from codegen.lower.nest.schedule import NestLevel, NestSchedule
from codegen.target.nest.block import place
from codegen.target.nest.packing import NestPacking, PrintedLoop
from codegen.target.nest.tile import AccumulatorTile, tile

# Turns of the innermost sum between asking for a line and using it. f32 on a Neoverse N1, with and without asking:
# j8 i32 k160 i6 j16 34.3 and 32.2 GFLOPS, i42+4[B] j16 k256 i6 j16 36.5 and 35.8; where packed panels are near, asking
# costs 1 %: j16 i42+4[B] k256 i6 j16 36.2 and 36.4.
AHEAD = 8


class NestWriter:
    """Goes down the levels with what is left of each variable, and the names of the pointers."""

    def __init__(self, isa: Isa, plan: NestSchedule, options: Options) -> None:
        self.isa, self.plan, self.options = isa, plan, options
        self.scalar = isa.vec(plan.problem.elem).scalar
        sums = {level.var for level in plan.levels[: plan.hold]} - set(plan.problem.c)
        self.fresh = options.fresh and not sums
        self.clears = options.fresh and bool(sums)

    def body(self) -> tuple[str | PrintedLoop, ...]:
        pointers = {t: t.lower() for t in TENSORS}
        clear = [f"memset(c, 0, sizeof *c * {elements(self.plan.problem, 'C')});"] if self.clears else []
        return (*clear, *self._outer(0, dict(self.plan.problem.sizes), pointers))

    def _outer(self, at: int, extents: dict[str, int], pointers: Mapping[str, str]) -> list[str | PrintedLoop]:
        """Loops around the tile: the full iterations, then what is left."""
        found: list[str | PrintedLoop] = []
        here = dict(pointers)
        if at < len(self.plan.levels):
            for t in self.plan.levels[at].pack:
                found += NestPacking(self.plan, self.scalar, t).lines(at, extents, here[t], f"pack_{t.lower()}")
                here[t] = f"pack_{t.lower()}"
        if at == self.plan.hold:
            return found + self._tile(extents, here)
        level = self.plan.levels[at]
        full, rest = divmod(extents[level.var], level.step)
        inside = {**extents, level.var: level.step}
        if full == 1:
            found += self._outer(at + 1, inside, here)
        elif full:
            counter = f"{level.var}_{at}"
            moved, lines = self._moved(level, at, here, counter)
            body = (*lines, *self._outer(at + 1, inside, moved))
            found += self._team() if at == 0 and self.plan.threads else []
            found.append(_loop(level, counter, full, body))
        if rest:
            behind = {t: place(here[t], full * level.move(t)) for t in TENSORS}
            found += self._outer(at + 1, {**extents, level.var: rest}, behind)
        return found

    def _team(self) -> list[str | PrintedLoop]:
        """Threads share the loop that follows; each has buffers of its own for what is packed inside."""
        own = [f"pack_{t.lower()}" for level in self.plan.levels[1:] for t in level.pack]
        return ["#pragma omp parallel for" + (f" private({', '.join(own)})" if own else "")]

    def _moved(
        self, level: NestLevel, at: int, pointers: Mapping[str, str], counter: str
    ) -> tuple[dict[str, str], list[str]]:
        """Pointers inside a loop, and their declarations."""
        moved, lines = dict(pointers), []
        for t in TENSORS:
            if level.move(t):
                moved[t] = f"p{t.lower()}{at}"
                const = "" if t == "C" else "const "
                lines.append(f"{const}{self.scalar} *const {moved[t]} = {pointers[t]} + {counter} * {level.move(t)};")
        return moved, lines

    def _ahead(self, tensor: str, level: NestLevel, extents: Mapping[str, int], pointer: str) -> list[str]:
        """Ask for what an operand is some turns later."""
        first = AHEAD * level.move(tensor)
        return [f"{PREFETCH}({pointer}, {first + n}, 0);" for n in asked_ahead(self.plan, tensor, level, extents)]

    def _tile(self, extents: dict[str, int], pointers: Mapping[str, str]) -> list[str | PrintedLoop]:
        made = tile(self.isa, self.plan, extents, pointers["C"], self.fresh, self.options.reassociate)
        inside = self._sums(self.plan.hold, extents, pointers, made)
        return [PrintedLoop("{", (*made.load, *inside, *made.store))]

    def _sums(
        self, at: int, extents: dict[str, int], pointers: Mapping[str, str], made: AccumulatorTile
    ) -> list[str | PrintedLoop]:
        """Loops around the block, over sums only: pointers run along."""
        if at == self.plan.unroll:
            return list(made.block.lines(extents, pointers))
        level = self.plan.levels[at]
        full, rest = divmod(extents[level.var], level.step)
        inside, found = {**extents, level.var: level.step}, list[str | PrintedLoop]()
        run = dict(pointers)
        if full == 1:
            found += self._sums(at + 1, inside, pointers, made)
            run = {t: place(pointers[t], level.move(t)) for t in TENSORS}
        elif full:
            run.update({t: f"p{t.lower()}{at}" for t in "AB" if level.move(t)})
            found += [f"const {self.scalar} *{run[t]} = {pointers[t]};" for t in "AB" if level.move(t)]
            bumps = [f"{run[t]} += {level.move(t)};" for t in "AB" if level.move(t)]
            if at + 1 == self.plan.unroll:
                bumps = [*(x for t in "AB" for x in self._ahead(t, level, extents, run[t])), *bumps]
            counter = f"{level.var}_{at}"
            found.append(_loop(level, counter, full, (*self._sums(at + 1, inside, run, made), *bumps)))
        if rest:
            found += self._sums(at + 1, {**extents, level.var: rest}, run, made)
        return [PrintedLoop("{", tuple(found))] if full > 1 else found


def _loop(level: NestLevel, counter: str, count: int, body: tuple[str | PrintedLoop, ...]) -> PrintedLoop:
    what = f"/* {level.var}, {level.step} at a time */"
    return PrintedLoop(f"for (long {counter} = 0; {counter} < {count}; {counter}++) {{ {what}", body)
