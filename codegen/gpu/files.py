"""Assembles the files of a device program: kernels with launchers, and the header that both sides include."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from codegen.gpu.dialect import Dialect
from codegen.gpu.emit import DevicePart
from codegen.gpu.frame import check_kernels, check_launchers, check_source
from codegen.gpu.kernels import AHEAD, STRIP
from codegen.gpu.tiles.model import UNITS
from codegen.print.templates import environment
from codegen.target.finish.names import NameSpelling
from codegen.target.text.pieces import texts_of
from codegen.verify.finish import broken_lines


def held_name(stem: str) -> str:
    """What the names of functions begin with by which arrays stay on the device; every file has its own."""
    return f"tw_{''.join(c if c.isalnum() else '_' for c in stem)}"


def host_support(parts: Sequence[DevicePart], stem: str) -> str:
    """What stands above the user's own text."""
    return f'#include "{stem}.tw.h"\n' if parts else ""


def _calls(parts: Sequence[DevicePart], word: str) -> bool:
    """Does a launcher call this?"""
    return any(p.stays or any(word in text for text in (*p.before, *p.after, *texts_of(p.body))) for p in parts)


def _driver_text(parts: Sequence[DevicePart], helpers: frozenset[str], of: Callable[[str], str]) -> str:
    """The kernels for interfaces that compile them when the program runs."""
    text = environment().get_template("gpu/kernels.cl.j2").render(regions=parts, helpers=helpers)
    check_kernels(text, parts)
    return broken_lines(of(text))


def _quoted(text: str) -> list[str]:
    """A text as lines of a C string."""
    escaped = (line.replace("\\", "\\\\").replace('"', '\\"') for line in text.strip().split("\n"))
    return [f'"{line}\\n"' for line in escaped]


def device_files(
    parts: Sequence[DevicePart],
    stem: str,
    banner: str,
    dialect: Dialect,
    arrays: str,
    names: NameSpelling | None = None,
) -> tuple[tuple[str, str], ...]:
    """Texts by the ending of their file's name. That one is not what was proven of its regions is a fault of templates,
    which no input can lead to: then Unread is raised."""
    env, of = environment(), (names or NameSpelling()).of
    guard = f"TW_{''.join(c if c.isalnum() else '_' for c in stem).upper()}_H"
    stops = arrays == "device"
    held = held_name(stem) if any(p.stays for p in parts) else ""
    header = env.get_template("gpu/header.h.j2").render(
        banner=banner, guard=guard, prototypes=[p.prototype for p in parts], stops=stops and parts, held=held,
        worth=arrays == "host" and parts,
    )
    if not parts:  # rules of builds name the file all the same; no compiler for devices is needed to compile it
        empty = f'{banner}#include "{stem}.tw.h"\n\ntypedef int tw_none; /* no region runs on a device */\n'
        return ((dialect.ending, of(empty)), (".tw.h", broken_lines(of(header))))
    helpers = frozenset[str]().union(*(p.helpers for p in parts))
    driver = _driver_text(parts, helpers, of) if dialect.probes else ""
    device = env.get_template(dialect.template).render(
        banner=banner, include=dialect.include, held=held, header=f"{stem}.tw.h", api=dialect.api, regions=parts,
        stops=stops, helpers=helpers, rank=max((p.rank for p in parts), default=1), source=_quoted(driver),
        tiled=any(k.tiles for p in parts for k in p.kernels), unit_of=UNITS,
        ahead=any(AHEAD in (*texts_of(k.body), *k.tiles.split()) for p in parts for k in p.kernels),
        strips=any(v.startswith(STRIP) for p in parts for k in p.kernels for v in texts_of(k.body)),
        narrow=any(k.narrow for p in parts for k in p.kernels),
        steps=any(k.step for p in parts for k in p.kernels),
        overlapped=any("TW_LAUNCH_STEP_SHARED(" in k.tiles for p in parts for k in p.kernels),
        units=sorted({k.unit for p in parts for k in p.kernels if k.unit}),
        buffers=any(p.rank for p in parts), tries=_calls(parts, "TW_TRY("), keeps=_calls(parts, "tw_kept("),
    )  # fmt: skip
    check_launchers(device, parts)
    check_source(device, driver) if driver else check_kernels(device, parts)
    return ((dialect.ending, broken_lines(of(device.rstrip("\n") + "\n"))), (".tw.h", broken_lines(of(header))))
