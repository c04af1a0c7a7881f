"""The roofline chart of the report page: machine limits, predicted and measured statements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import log2

from codegen.machine import Machine
from codegen.record import record
from codegen.report.html.draw import dot, line, path, rect, text
from codegen.report.html.model import Picture, SvgElement
from codegen.report.html.panes import hue_of
from codegen.report.speed import Speed
from codegen.report.traffic import TileWork

LOW, HIGH = -5, 9  # intensities shown, as powers of two
BOX, LEFT, TOP, BOTTOM = (430.0, 250.0), 46.0, 22.0, 40.0
Place = Callable[[float, float], tuple[float, float]]


@record
class Roof:
    """`bytes` per cycle that reach one core, and when."""

    bytes: float
    name: str


def peak(machine: Machine, element_bytes: int) -> float:
    """Operations per cycle of one core; a multiply-add counts as two."""
    return 2 * machine.lanes(element_bytes) * machine.fma_throughput


def roofs(machine: Machine) -> tuple[Roof, ...]:
    """The lowest first: its share of the memory when all cores work, and what it can read alone. Of machines that do
    not tell: lines fetched one after the other, and as fast as they can be asked for."""
    hertz = machine.frequency_hz
    found = []
    if hertz and machine.memory_bandwidth:
        share = machine.memory_bandwidth / machine.cores
        if machine.core_bandwidth is None or share < machine.core_bandwidth:
            found.append(Roof(share / hertz, f"memory, all {machine.cores} cores" if machine.cores > 1 else "memory"))
    if hertz and machine.core_bandwidth:
        found.append(Roof(machine.core_bandwidth / hertz, "memory, one core"))
    return tuple(found) or (
        Roof(machine.line_bytes / machine.prefetch_latency, "lines one by one"),
        Roof(machine.line_bytes * machine.prefetches_per_cycle, "lines as asked for"),
    )


def roofline(works: Sequence[tuple[TileWork, int]], machine: Machine, speed: Speed | None = None) -> Picture | None:
    """One dot for each statement (given with the bytes of its elements) on the upper roof, and what was measured."""
    works = [(w, size) for w, size in works if w.operations and w.moved]
    if not works:
        return None
    slopes = roofs(machine)
    top = max(peak(machine, size) for _, size in works)
    least = slopes[0].bytes * 2**LOW
    if speed is not None:
        least = min(least, speed.operations / speed.original / (machine.frequency_hz or 1e9))
    low, high = log2(least) - 0.7, log2(top) + 1
    width, height = BOX

    def place(intensity: float, rate: float) -> tuple[float, float]:
        x = (log2(_within(intensity, LOW, HIGH)) - LOW) / (HIGH - LOW)
        return LEFT + x * width, TOP + (1 - (log2(_within(rate, low, high)) - low) / (high - low)) * height

    shapes: list[SvgElement] = [*_scales(place, low, high), *_roof_lines(place, slopes, top, low)]
    shapes += _dots(place, works, machine, slopes)
    if speed is not None:
        shapes += _measured(place, works, machine, speed)
    return Picture(LEFT + width + 20, TOP + height + BOTTOM, _label(speed), tuple(shapes),
                   _caption(machine, slopes, top, speed))  # fmt: skip


def _within(x: float, low: float, high: float) -> float:
    return float(min(max(x, 2.0**low), 2.0**high))


def _roof_lines(place: Place, slopes: Sequence[Roof], top: float, low: float) -> list[SvgElement]:
    """Each slope up to the flat roof, with its name beside it: the lowest one's below, the others' above."""
    out: list[SvgElement] = []
    for roof in slopes:
        first = max(2.0**LOW, 2**low / roof.bytes)
        bend = _within(top / roof.bytes, LOW, HIGH)
        points = [place(first, roof.bytes * first), place(bend, min(top, roof.bytes * bend)),
                  place(2.0**HIGH, min(top, roof.bytes * 2.0**HIGH))]  # fmt: skip
        d = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
        out.append(path("roof", d, f"{roof.name}: {roof.bytes:.3g} bytes per cycle"))
        above = roof is not slopes[0]
        beside = 2.0 ** (LOW + (4.2 if above else 2.5))  # what ends above a slope needs room on its left
        x, y = place(beside, roof.bytes * beside)
        out.append(text("value", x + (-6 if above else 8), y + (-6 if above else 8), roof.name,
                        "end" if above else "start"))  # fmt: skip
    x, y = place(2.0**HIGH, top)
    return [*out, text("name", x - 4, y - 6, f"{top:g} operations per cycle", "end")]


def _dots(
    place: Place, works: Sequence[tuple[TileWork, int]], machine: Machine, slopes: Sequence[Roof]
) -> list[SvgElement]:
    """On the highest slope, with a dotted line down to the lowest. Names of dots that fall together stand together."""
    named: dict[tuple[float, float], list[str]] = {}
    out: list[SvgElement] = []
    for w, size in works:
        near = _within(w.intensity, LOW, HIGH)
        rates = [min(peak(machine, size), roof.bytes * near) for roof in (slopes[0], slopes[-1])]
        (x, lower), (_, y) = (place(near, rate) for rate in rates)
        title = f"{w.stmt}: {w.intensity:.3g} operations per byte, at most {rates[1]:.3g} per cycle"
        out += [line("reach", x, y, x, lower), dot(f"spot h{hue_of(w.stmt)}", x, y, 5, title)]
        at = next((p for p in named if abs(p[0] - x) < 30 and abs(p[1] - y) < 14), (x, y))
        named.setdefault(at, []).append(w.stmt)
    for (x, y), names in named.items():
        shown = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
        right = x > LEFT + BOX[0] * 0.75
        out.append(text("order", x - 8 if right else x + 8, y + 16, shown, "end" if right else "start"))
    return out


def _measured(place: Place, works: Sequence[tuple[TileWork, int]], machine: Machine, speed: Speed) -> list[SvgElement]:
    """Source and result, above the intensity of the statement that does most."""
    most = max(works, key=lambda w: speed.by_statement.get(w[0].stmt, 0))[0]
    out: list[SvgElement] = []
    for name, seconds, cls in (("source", speed.original, "was"), ("generated", speed.result, "is")):
        rate = speed.operations / seconds / (machine.frequency_hz or 1e9)
        x, y = place(most.intensity, rate)
        title = f"{name}: {rate:.3g} operations per cycle"
        out.append(rect(cls, x - 4, y - 4, 8, 8, title))
        right = x > LEFT + BOX[0] * 0.6
        out.append(text("order", x - 9 if right else x + 9, y + 4, f"{name}, measured", "end" if right else "start"))
    return out


def _label(speed: Speed | None) -> str:
    return "Roofline, predicted from the machine description" + (" and measured" if speed is not None else "")


def _caption(machine: Machine, slopes: Sequence[Roof], top: float, speed: Speed | None) -> str:
    unit = f", {machine.frequency_hz / 1e9:g} GHz" if machine.frequency_hz else ""
    slow = "; ".join(f"{_bytes(r.bytes)} bytes per cycle ({r.name})" for r in slopes)
    said = f"One core of {machine.name}{unit}: {top:g} operations per cycle at most; {slow}. "
    said += "Dots are predictions from the description; each tile's data count once"
    if speed is not None:
        other = "" if machine.name == "native" else f", which need not be {machine.name}"
        said += f". Squares were measured on one thread of this machine{other}"
    return said


def _bytes(n: float) -> str:
    return f"{n:.2g}" if n < 10 else f"{n:.0f}"


def _power(e: int) -> str:
    return str(2**e) if e >= 0 else f"1/{2**-e}"


def _scales(place: Place, low: float, high: float) -> list[SvgElement]:
    out = []
    for e in range(LOW, HIGH + 1, 2):
        x, y = place(2.0**e, 2**low)
        out += [line("grid", x, TOP, x, y), text("value", x, y + 14, _power(e), "middle")]
    for e in range(int(low) // 2 * 2 + 2, int(high) + 1, 2):
        x, y = place(2.0**LOW, 2.0**e)
        out += [line("grid", x, y, LEFT + BOX[0], y), text("value", x - 6, y + 4, _power(e), "end")]
    x, y = place(2.0 ** ((LOW + HIGH) / 2), 2**low)
    return [*out, text("name", x, y + 32, "operations per byte", "middle"),
            text("name", 2, TOP - 10, "operations per cycle")]  # fmt: skip
