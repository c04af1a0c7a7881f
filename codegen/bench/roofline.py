"""Roofline model: returns one sentence on what bounds a timed result (memory, arithmetic, or neither) and how much of
the host's measured peak it reaches; empty where too little is known of its work."""

from __future__ import annotations

from dataclasses import replace

from codegen.bench.model import Ceilings, MeasuredRegion, Race
from codegen.machine.believable import BUSY, SLACK, least_seconds

NEAR = 0.35  # of a ceiling: what still counts as bound by it
BEYOND = 1.2  # of what memory streams: more than memory gives, errors of measuring included


def sentence(m: MeasuredRegion, race: Race, top: Ceilings) -> str:
    """How much of what the machine can do the result reaches, where its work is known."""
    stream, compute = _streamed(m, race, top), _computed(m, race, top)
    threads = race.on
    partly = f"; {', '.join(m.uncounted)} not counted" if m.uncounted else ""
    if max(stream, compute) < NEAR:
        known = [f"{_percent(share)} of {what}" for share, what in
                 ((stream, "what memory could stream"), (compute, "what the cores could compute")) if share]
        if m.bytes <= top.cache and not compute:
            return ""
        return f"far from both roofs on {threads}: {' and '.join(known)}{partly}" if known else ""
    if stream > BEYOND:
        rate = f"{m.bytes / race.result.best / 1e9:.3g} GB/s with every array moved once"
        return f"faster than memory on {threads}: the data stay in the caches between runs ({rate})"
    if stream >= compute:
        moved = f"{m.bytes / race.result.best / 1e9:.3g} GB/s with every array moved once"
        return f"memory-bound: {_percent(stream)} of what {threads} of this machine can stream ({moved})"
    rate = f"{m.operations / race.result.best / 1e9:.3g} billion operations per second{partly}"
    if _needed(m, race, top) > 1:
        return f"compute-bound: as fast as {threads} of this machine can compute ({rate})"
    if compute > 1:
        return f"faster than {threads} could compute what is written: what repeats is computed once ({rate})"
    return f"compute-bound: {_percent(compute)} of what {threads} of this machine can compute ({rate})"


def beyond(m: MeasuredRegion, race: Race, top: Ceilings) -> bool:
    """Whether a result does what no compiler leaves out faster than the machine can: one of both figures is wrong."""
    return _needed(m, race, top) > 1


def believed(m: MeasuredRegion, top: Ceilings) -> MeasuredRegion:
    """A region without the figures that are far beyond what the machine can do."""
    kept = tuple(r for r in m.races if _needed(m, r, top) <= SLACK)
    lost = [f"{r.on}: {BUSY}" for r in m.races if r not in kept]
    note = "; ".join([*([m.note] if m.note else []), *lost])
    return replace(m, races=kept, note=note, failed=m.failed or (bool(lost) and not kept))


def _needed(m: MeasuredRegion, race: Race, top: Ceilings) -> float:
    """What no compiler leaves out, as part of what the cores can do in the time."""
    return least_seconds(m.work, race.threads, top.operations) / race.result.best


def _streamed(m: MeasuredRegion, race: Race, top: Ceilings) -> float:
    """Nothing for data that stay in the caches between runs."""
    return m.bytes / race.result.best / top.stream(race.threads) if m.bytes > top.cache else 0.0


def _computed(m: MeasuredRegion, race: Race, top: Ceilings) -> float:
    return m.operations / race.result.best / top.compute(race.threads, m.element_bytes)


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.01 else "under 1 %"
