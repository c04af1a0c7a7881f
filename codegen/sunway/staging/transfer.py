"""DMA commands for a box of an array: one strided command for two dimensions, a loop of them for more."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from codegen.record import record
from codegen.scop.model import AccessStep, Array
from codegen.sunway.plan.machine import CoreGroup
from codegen.sunway.staging.local import LocalBuffer
from codegen.sunway.text.dialect import DmaCommand
from codegen.sunway.text.views import SlaveView, line

# Spells a command: group, address, local address, bytes, reply word, gap, bytes of a block.
Maker = Callable[[CoreGroup, DmaCommand], str]


@record
class Geometry:
    """How an array lies in main memory: its base, and for each dimension the elements between neighbours."""

    base: str
    strides: tuple[str, ...]  # "1" for the last
    flat: bool
    extents: tuple[str, ...] = ()

    def address(self, index: Sequence[str]) -> str:
        if not self.flat:
            return f"&{self.base}{''.join(f'[{i}]' for i in index)}"
        terms = [i if p == "1" else f"{_factor(i)} * {p}" for i, p in zip(index, self.strides, strict=True)]
        return f"&{self.base}[{' + '.join(t for t in terms if t not in ('0',)) or '0'}]"


def _factor(text: str) -> str:
    """As a factor: a sum needs parentheses, a name, a number or a call does not."""
    plain = re.fullmatch(r"\w+(\([^()]*\))?", text)
    return text if plain or text.startswith("(") else f"({text})"


def geometry(array: Array, path: tuple[AccessStep, ...]) -> Geometry:
    if len(path) == 1 and path[0].kind == "flat":
        return Geometry(array.base, tuple(path[0].strides), True)
    inner = [_factor(e) for e in array.extents]
    strides = tuple(" * ".join(inner[k + 1 :]) or "1" for k in range(array.rank))
    return Geometry(array.base, strides, False, array.extents)


@record
class DmaTransfer:
    """The commands of one buffer: where it starts, how long it is, and which dimension is the row of a command."""

    buffer: LocalBuffer
    where: Geometry
    lows: tuple[str, ...]
    lens: tuple[str, ...]
    by_rows: bool = False

    @property
    def run(self) -> int:
        """The first of the dimensions that lie in main memory without a gap: those after it are taken as a whole."""
        k = len(self.lens) - 1
        while k > 0 and self.where.extents and self.lens[k] == self.where.extents[k]:
            k -= 1
        return k

    @property
    def row(self) -> int:
        """The dimension a strided command steps through; -1 for a contiguous one."""
        if self.by_rows:
            return -1
        return next((k for k in range(self.run - 1, -1, -1) if self.buffer.most[k] > 1), -1)

    @property
    def loops(self) -> tuple[int, ...]:
        """Dimensions that need a loop of commands."""
        end = self.run if self.by_rows else self.row
        return tuple(k for k in range(end) if self.buffer.most[k] > 1)

    @property
    def count(self) -> str:
        """How many commands there are."""
        return " * ".join(self.lens[k] for k in self.loops) or "1"

    def commands(self, make: Maker, group: CoreGroup, local: str, reply: str) -> SlaveView:
        """The commands that `make` spells, from or to the buffer that begins at `local`."""
        size, last = self.buffer.bytes, len(self.lens) - 1
        steps = {k: f"q{k}" for k in self.loops}
        index = [f"{_plus(low)}{steps[k]}" if k in steps else low for k, low in enumerate(self.lows)]
        run = " * ".join(_factor(n) for n in self.lens[self.run :] if n != "1") or "1"
        block = f"{run} * {size}"
        if self.row < 0:
            args = (block, reply, "0", "0")
        else:
            gap = f"({self.where.strides[self.row]} - {run}) * {size}"
            args = (f"{_factor(self.lens[self.row])} * {block}", reply, gap, block)
        offset = ""
        for k in self.loops:
            rest = " * ".join(_factor(self.lens[j]) for j in range(k + 1, last + 1) if self.buffer.most[j] > 1)
            offset += f" + {steps[k]} * {rest}" if rest else f" + {steps[k]}"
        view = line(make(group, DmaCommand(self.where.address(index), f"{local}{offset}", *args)))
        for k in reversed(self.loops):
            view = SlaveView("for", f"long {steps[k]} = 0; {steps[k]} < {self.lens[k]}; {steps[k]}++", (view,))
        return view


def _plus(low: str) -> str:
    return "" if low == "0" else f"{low} + "
