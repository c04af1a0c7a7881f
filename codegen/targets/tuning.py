"""The record `DeviceTuning`: what `tune` has to know of a target whose results run on a device, not on this machine's
processor: how they are built and timed, the plans to begin with, and the knobs of these."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from codegen.record import record

if TYPE_CHECKING:
    from codegen.plan.model import Plan
    from codegen.region import RegionOutcome
    from codegen.region_model import Modelled
    from codegen.strategy.choice import Decision
    from codegen.strategy.knobs.knob import KnobMaker

Authors = tuple[tuple[str, "Callable[[], Decision]"], ...]


@record
class DeviceTuning:
    """A device to measure on. `title` and `compiler` are what figures are kept under. The device's file, by the ending
    of its name, is compiled by `words` with `head` above it, and with the words `exact` too where bits are compared;
    the host's file with `flags`, and all is linked with `links` and the objects of `sources`. `timed` puts calls of
    tw_device_begin and tw_device_end around what the device does."""

    title: str
    compiler: str
    ending: str
    words: tuple[str, ...]
    exact: tuple[str, ...]
    flags: tuple[str, ...]
    links: tuple[str, ...]
    head: str
    timed: Callable[[RegionOutcome], RegionOutcome]
    authors: Callable[[Modelled], Authors]
    knobs: tuple[KnobMaker, ...]
    expected: Callable[[Plan], float]  # how a plan looks without a measurement, as a power of two: less is better
    sources: tuple[str, ...] = ()
    reserves: bool = True  # drivers reserve more addresses than there is memory
    work: int = 4_000_000_000  # statement instances of a run where sizes are left open
    bytes: int = 1 << 28  # of arrays, likewise
