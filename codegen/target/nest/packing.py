"""Prints the packing of operands: copies in the order in which the loops below read them."""

from __future__ import annotations

from math import ceil

from codegen.lower.nest.contraction import strides
from codegen.lower.nest.schedule import NestSchedule
from codegen.record import record
from codegen.target.nest.block import place


@record
class PrintedLoop:
    """A loop or a block in C: `head` opens it, `body` is lines and more of them. Counters are named as nothing else can
    be: by the source, an underscore and a number."""

    head: str
    body: tuple[str | PrintedLoop, ...]


class NestPacking:
    """The loops that copy one operand, for the levels from a given one on."""

    def __init__(self, plan: NestSchedule, scalar: str, tensor: str) -> None:
        self.plan, self.scalar, self.tensor = plan, scalar, tensor
        self.own = strides(plan.problem, tensor)

    def lines(
        self, at: int, extents: dict[str, int], source: str, target: str, depth: int = 0
    ) -> list[str | PrintedLoop]:
        """Copy the operand at `source` to `target`."""
        levels, own = self.plan.levels, self.own
        while at < len(levels) and not own[levels[at].var]:
            at += 1
        if at == len(levels):
            return [f"*({target}) = *({source});"]
        level = levels[at]
        full, rest = divmod(extents[level.var], level.step)
        step, move = own[level.var] * level.step, level.move(self.tensor)
        if at == len(levels) - 1:
            return self._copy(full, step, source, target)
        found: list[str | PrintedLoop] = []
        inside = {**extents, level.var: level.step}
        if full == 1:
            found += self.lines(at + 1, inside, source, target, depth)
        elif full:
            x, s, d = f"p{depth}", f"from{depth}", f"to{depth}"
            lines = (
                f"const {self.scalar} *const {s} = {source} + {x} * {step};",
                f"{self.scalar} *const {d} = {target} + {x} * {move};",
            )
            body = (*lines, *self.lines(at + 1, inside, s, d, depth + 1))
            head = f"for (long {x} = 0; {x} < {full}; {x}++) {{ /* pack {self.tensor} along {level.var} */"
            found.append(PrintedLoop(head, body))
        if rest:
            beyond = {**extents, level.var: rest}
            found += self.lines(at + 1, beyond, place(source, full * step), place(target, full * move), depth)
        return found

    def _copy(self, count: int, step: int, source: str, target: str) -> list[str | PrintedLoop]:
        """A row of a packed operand, filled up with zeros to whole vectors."""
        whole = ceil(count / self.plan.lanes) * self.plan.lanes
        zeros: list[str | PrintedLoop] = [f"*({place(target, n)}) = 0;" for n in range(count, whole)]
        if step == 1:
            return [f"memcpy({target}, {source}, sizeof *({source}) * {count});", *zeros]
        if count <= 2 * self.plan.lanes:
            return [*(f"*({place(target, n)}) = *({place(source, n * step)});" for n in range(count)), *zeros]
        copy = PrintedLoop(f"for (long x = 0; x < {count}; x++) {{", (f"({target})[x] = ({source})[x * {step}];",))
        return [copy, *zeros]
