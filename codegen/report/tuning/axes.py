"""A chart's frame and axes as SVG: positions of numbers, ticks and labels."""

from __future__ import annotations

from math import ceil, floor, log10

from codegen.record import record
from codegen.report.html.draw import line, text
from codegen.report.html.model import SvgElement

LEFT, TOP, RIGHT, BOTTOM = 52.0, 26.0, 16.0, 44.0


@record
class ChartAxis:
    """Numbers from `low` to `high`; on a logarithmic scale their ratios count."""

    low: float
    high: float
    log: bool = False

    def at(self, x: float) -> float:
        """Where a number lies, from 0 to 1."""
        x = min(max(x, self.low), self.high)
        if self.log:
            return (log10(x) - log10(self.low)) / (log10(self.high) - log10(self.low))
        return (x - self.low) / (self.high - self.low)

    def ticks(self) -> list[float]:
        """Round numbers, about five of them."""
        if not self.log:
            return _linear(self.low, self.high)
        first, last = floor(log10(self.low)), ceil(log10(self.high))
        for steps in ((1,), (1, 3), (1, 2, 5), (1, 1.5, 2, 3, 5, 7)):
            found = [m * 10.0**e for e in range(first, last + 1) for m in steps]
            inside = [x for x in found if self.low <= x <= self.high]
            if len(inside) >= 4:
                return inside
        return _linear(self.low, self.high)


def _linear(low: float, high: float) -> list[float]:
    raw = (high - low) / 5
    power = 10.0 ** floor(log10(raw))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= raw)
    return [k * step for k in range(ceil(low / step - 1e-9), floor(high / step + 1e-9) + 1)]


def linear(values: list[float], least: float = 1.0) -> ChartAxis:
    return ChartAxis(0.0, max([*values, least]))


def logarithmic(values: list[float], room: float = 1.12) -> ChartAxis:
    """Around the values, with some room: at least a factor of 1.5 from end to end."""
    values = [v for v in values if v > 0] or [1.0]
    low, high = min(values) / room, max(values) * room
    more = max(1.0, 1.5 * low / high) ** 0.5
    return ChartAxis(low / more, high * more, True)


@record
class Chart:
    """A box with two axes."""

    width: float
    height: float
    x: ChartAxis
    y: ChartAxis

    def place(self, x: float, y: float) -> tuple[float, float]:
        inner = (self.width - LEFT - RIGHT, self.height - TOP - BOTTOM)
        return LEFT + self.x.at(x) * inner[0], TOP + (1 - self.y.at(y)) * inner[1]

    def frame(self, x_name: str, y_name: str) -> list[SvgElement]:
        """Lines and figures; the names of the axes stand below and above."""
        out: list[SvgElement] = []
        bottom, right = self.height - BOTTOM, self.width - RIGHT
        for v in self.x.ticks():
            x, _ = self.place(v, self.y.low)
            out += [line("grid", x, TOP, x, bottom), text("value", x, bottom + 15, f"{v:.4g}", "middle")]
        for v in self.y.ticks():
            _, y = self.place(self.x.low, v)
            out += [line("grid", LEFT, y, right, y), text("value", LEFT - 7, y + 4, f"{v:.4g}", "end")]
        out.append(text("name", (LEFT + right) / 2, bottom + 33, x_name, "middle"))
        return [*out, text("name", 8, 15, y_name)]

    def level(self, cls: str, y: float, name: str) -> SvgElement:
        """A line across."""
        _, at = self.place(self.x.low, y)
        return line(cls, LEFT, at, self.width - RIGHT, at, name)

    def label(self, y: float, name: str) -> SvgElement:
        """The name of such a line at its right end, to be drawn after everything else."""
        _, at = self.place(self.x.low, y)
        return text("level", self.width - RIGHT - 4, at + 12, name, "end")
