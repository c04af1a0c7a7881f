"""Keeps arrays on the device between the regions of a file, wherever `resident/scopes.py` finds that possible: returns
edits of the user's text, the regions with launchers that leave arrays there, and messages on parts where none can stay
and on statements that send arrays home."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from codegen.diagnostics import Diagnostic, InputError, Loc, Severity
from codegen.gpu.emit import STAY, DevicePart
from codegen.gpu.files import held_name
from codegen.gpu.resident.effects import Around, Effect
from codegen.gpu.resident.scopes import DeviceRegion, Stays, may_stay, staying
from codegen.region import EMPTY
from codegen.source.macro_tables import tables_at
from codegen.targets.base import Placed

if TYPE_CHECKING:
    from codegen.options import GenOptions
    from codegen.region import RegionOutcome
    from codegen.source_file import Opened

_WHY = {
    Effect.READS: "this may read arrays that stay on the device: what the host has not got is copied home",
    Effect.WRITES: "this may write to arrays that stay on the device: they go home, and back again when needed",
    Effect.CALLS: "nobody knows what this does with arrays that stay on the device: all go home for it",
}


def placed(source: Opened, outcomes: Sequence[RegionOutcome], options: GenOptions) -> Placed:
    """The outcomes of a file whose arrays stay on the device where they can."""
    by_index = {r.index: r for r in source.regions}
    regions = [
        DeviceRegion(o.index, by_index[o.index].begin, by_index[o.index].end, _arrays(o)) for o in outcomes
    ]  # fmt: skip
    if not may_stay(source.text, regions) or not any(r.arrays for r in regions):
        return Placed(tuple(outcomes))
    name = held_name(options.stem)
    found = staying(source.text, regions, _around(source, outcomes, options), name)
    messages = tuple(_messages(source, found))
    if not found.any:
        return Placed(tuple(outcomes), messages=messages)
    edits = tuple((e.begin, e.end, e.new) for e in found.edits)
    return Placed(tuple(_with(o, found, name) for o in outcomes), edits, messages)


def check_device_arrays(source: Opened, outcomes: Sequence[RegionOutcome]) -> None:
    """Raise InputError where loops of a marked region stay on the host, which cannot reach arrays of the device."""
    marked = {r.index for r in source.regions if not r.found}
    left = [o for o in outcomes if o.index in marked and (o.cases or (o.text is None and o.summary != EMPTY))]
    if not left:
        return
    first = left[0]
    said = next((d for d in first.diagnostics if d.id in ("region-refused", "region-partly")), None)
    why = said.message if said is not None else f"region {first.index} is {first.summary}"
    more = f"; so do those of {len(left) - 1} more regions" if len(left) > 1 else ""
    raise InputError(
        "device-arrays",
        f"{why}; its loops on the host would follow pointers of the device{more}",
        said.loc if said is not None else Loc(source.name, first.line, 1),
        "mend what stands in the way, split the region, or let arrays be copied (--arrays host)",
    )


def _arrays(o: RegionOutcome) -> frozenset[str]:
    """The host's texts of arrays that a region may keep; none where it runs on the host, even in part."""
    part = o.part
    if o.text is None or o.cases or not isinstance(part, DevicePart) or part.kept is None:
        return frozenset()
    return frozenset(part.kept.hosts)


def _around(source: Opened, outcomes: Sequence[RegionOutcome], options: GenOptions) -> Around:
    hosts = [h for o in outcomes for h in _arrays(o)]
    words = frozenset(w for h in hosts for w in re.findall(r"[A-Za-z_]\w*", h))
    structs = frozenset(m[1] for h in hosts if (m := re.match(r"\W*([A-Za-z_]\w*)\s*\.", h)))
    macros = tables_at(source.pre.changes, [1 << 60], source.pre.system_headers).get(1 << 60, {})
    return Around(macros, frozenset(), frozenset(), words, structs, options.assume_no_alias)


def _with(o: RegionOutcome, found: Stays, name: str) -> RegionOutcome:
    part = o.part
    if o.text is None or not isinstance(part, DevicePart) or part.kept is None:
        return o
    text = part.kept.host.replace(f"{STAY}_", f"{name}_")
    if o.index in found.first:
        text = re.sub(r"\A(\s*)", rf"\g<1>{name}_begin(); ", text, count=1)
    if o.index in found.last:
        text = f"{text.rstrip()} {name}_end();\n"
    return replace(o, text=text, part=replace(part, stays=True))


def _messages(source: Opened, found: Stays) -> list[Diagnostic]:
    def at(offset: int) -> Loc:
        line = source.text.count("\n", 0, offset) + 1
        return Loc(source.name, line, offset - source.text.rfind("\n", 0, offset))

    hint = "keep whole statements of one block between the pragmas, and leave them only at the end"
    what = "arrays do not stay on the device here"
    out = [Diagnostic(Severity.WARNING, "data-scope", f"{what}: {r.why}", at(r.offset), hint) for r in found.refused]
    return out + [Diagnostic(Severity.REMARK, "data-home", _WHY[c.effect], at(c.offset), kind="missed")
                  for c in found.crossings]  # fmt: skip
