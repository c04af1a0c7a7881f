"""Prints what a launcher does with arrays before and after its kernels: device memory, copies in, the wait for the
kernels, and copies out. With `keep`, arrays may stay on the device between regions. Which elements are copied,
`transfers.py` says."""

from __future__ import annotations

from collections.abc import Sequence

from codegen.gpu.dialect import Dialect
from codegen.gpu.transfers import ArrayText, BoxText


def is_moved(a: ArrayText, arrays: str) -> bool:
    """Has the array memory on the device that the launcher looks after?"""
    return arrays == "host" or a.scalar or not a.host


def launcher_copies(
    texts: Sequence[ArrayText], scratch: Sequence[ArrayText], dialect: Dialect, region: str, arrays: str,
    keep: bool = False,
) -> tuple[list[str], list[str]]:  # fmt: skip
    """What a launcher does ahead of its kernels, and behind them; with `keep`, arrays may stay on the device."""
    before: list[str] = []
    copies: list[str] = []
    after: list[str] = []
    for a in (*texts, *scratch):
        if not is_moved(a, arrays):
            before.append(f"{a.kind} *const {a.name} = tw_{a.name};")
            continue
        boxes = {"all": a.all, "in": a.come, "out": a.go}
        given: dict[BoxText, str] = {}
        for word, b in boxes.items():
            if b is not None and b not in given:
                given[b] = f"tw_{a.name}_{word}"
                before.append(_box(given[b], a, b))
        stays = keep and bool(a.host) and not a.scalar
        before += (dialect.hold if stays else dialect.reserve)(a, given[a.all], region)
        if a.come is not None:
            copies.append(_when(a.come, (dialect.bring if stays else dialect.copy_in)(a, given[a.come], region)))
        if a.go is not None:
            after.append(_when(a.go, (dialect.wrote if stays else dialect.copy_out)(a, given[a.go], region)))
    if arrays == "managed" or dialect.probes:
        before.insert(0, dialect.present(region))
    if keep:
        return [*before, *copies, "tw_running = 1;"], [dialect.settled(region), "tw_running = 0;", *after]
    return [*before, *copies], [dialect.finished(region, arrays != "host"), *after]


def _when(b: BoxText, line: str) -> str:
    return f"if ({b.when}) {line}" if b.when else line


def _box(name: str, a: ArrayText, b: BoxText) -> str:
    if not b.lows:
        return f"const tw_box {name} = {{ 0, {{ 0 }}, {{ 0 }}, {{ 0 }} }};"
    parts = (", ".join(x) for x in (b.lows, b.counts, a.strides))
    return f"const tw_box {name} = {{ {len(b.lows)}, {', '.join(f'{{ {p} }}' for p in parts)} }};"
