"""Text that `inspect` prints about ranks: which loops and arrays are in blocks and what is sent when (`shared_lines`);
and at given sizes the predicted time, bytes from rank to rank, a few steps and scaling (`predicted`)."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from codegen.machine import load_for
from codegen.mpi.messages import sent_when
from codegen.mpi.network import load_network
from codegen.mpi.phases import NotShared
from codegen.mpi.predict.load import Setting, block, exchange_behind, message_bytes, setting, shares
from codegen.mpi.predict.scaling import scaling
from codegen.mpi.predict.simulate import Machine, crowding_of, predict, work
from codegen.mpi.predict.timeline import simulate, svg, text_rows
from codegen.mpi.share import SharedRegion, share_out
from codegen.options import GenOptions
from codegen.region_model import Modelled, model_region
from codegen.source.write import write_if_changed
from codegen.source_file import open_source

RANKS = "ranks"  # among sizes: how many there are
SHOWN = 8  # ranks in tables and pictures


def shared_lines(model: Modelled, options: GenOptions) -> Iterator[str]:
    """Which loops and arrays are in blocks, and what is sent when."""
    try:
        x = share_out(model, options, None)
    except NotShared as error:
        yield f"  every rank runs the whole region: {error}"
        return
    arrays = x.program.scop.arrays
    yield "  ranks"
    for q in x.ranked.cut.phases:
        inside = f" in each iteration of {', '.join(lp.name for lp in q.outer)}" if q.outer else ""
        blocks = "several blocks" if x.cyclic else "blocks"
        shared = " and ".join(q.names(x.program.scop)) if q.shared is not None else ""
        what = f"{blocks} of {shared}" if shared else "all of it on every rank"
        m = x.early.get(q.name)
        ends = " and ".join(f"{low} + {high}" for low, high in m.sides) if m is not None else ""
        wait = f"; while messages travel, all but {ends} iterations at its ends" if ends else ""
        names = ", ".join(arrays[a].base for _, a in q.reduced)
        total = f"; what all gather in {names} is joined" if names else ""
        panels = f", in panels of {q.along(x.program.scop)}; the next one travels while one is computed"
        turns = panels if q.panels is not None else ""
        yield f"    {', '.join(q.stmts)}: {what}{inside}{turns}{wait}{total}"
    for b in x.ranked.blocks:
        for layout in b.arrays:
            yield f"    {arrays[layout.array].base}: blocks of dimension {layout.position + 1}"
    for exchange, parts in x.moves:
        when = sent_when(x.ranked.cut, exchange)
        for t in parts:
            (s,) = t.made.scop.statements
            yield f"    sent {when}: {arrays[t.array].base} {_plain(str(s.domain))}"


def predicted(path: str, text: str, options: GenOptions, sizes: Mapping[str, int], picture: str) -> list[str]:
    """The predicted time of every region at these sizes, on `ranks` ranks. ValueError for sizes that are missing."""
    ranks = sizes.get(RANKS, 4)
    given = {k: v for k, v in sizes.items() if k != RANKS}
    described = load_for(options.machine, options.isa)
    machine = Machine(load_network(options.network), crowding=crowding_of(described))
    out: list[str] = []
    for s in open_source(path, text, options).slices:
        model = model_region(s, options)
        if model is None:
            continue
        scop = model.program.scop
        try:
            x = share_out(model, options, None)
        except NotShared:
            out.append(f"predicted: region {scop.region} runs on every rank")
            continue
        at = setting(x.program.scop, given, ranks)
        out += _prediction(x, at, machine)
        if picture and ranks <= 4 * SHOWN:
            title = f"{os.path.basename(path)}, region {scop.region}: {machine.network.name}, {ranks} ranks"
            write_if_changed(picture, svg(simulate(x, at, machine), title))
    return out


def _prediction(x: SharedRegion, at: Setting, machine: Machine) -> list[str]:
    found, alone = predict(x, at, machine), work(x, at.sizes) * machine.iteration
    region = x.program.scop.region
    out = [
        f"predicted: region {region} on {at.ranks} ranks ({machine.network.name}): {_time(found.seconds)}, on one "
        f"{_time(alone)}; of that waiting for messages {_time(found.waiting)}; {_time(found.hidden)} of messages "
        f"travel while ranks compute; {_bytes(found.sent)} are sent",
        "  who computes what",
    ]
    for b in x.ranked.blocks:
        names = sorted({q.names(x.program.scop)[b.axis] for q in x.ranked.cut.shared if q.name in b.phases})
        held = [f"{x.program.scop.arrays[y.array].base} (dimension {y.position + 1})" for y in b.arrays]
        for r in range(min(at.ranks, SHOWN)):
            ends = (block(b, many, share) for many, share in shares(x, at, r))
            text = ", ".join(f"{low} to {high - 1}" for low, high in ends if high > low) or "nothing"
            out.append(f"    rank {r:2}: {', '.join([*names, *held])} = {text}")
    out += ["  bytes from rank to rank", *_table(x, at)]
    if at.ranks <= SHOWN:
        out += ["  a few steps", *text_rows(simulate(x, at, machine))]
    s = scaling(x, at.sizes, machine)
    out += ["  scaling (predicted)", f"    ranks       {''.join(f'{p:>8}' for p in s.ranks)}",
            f"    one problem {''.join(f'{v:8.2f}' for v in s.speedup)}  times as fast",
            f"    growing     {''.join(f'{v:8.2f}' for v in s.weak)}  efficiency"]  # fmt: skip
    return out


def _table(x: SharedRegion, at: Setting) -> Iterator[str]:
    """Bytes of all exchanges of the region, from each rank to each other."""
    shown = range(min(at.ranks, SHOWN))
    total = {(a, b): 0.0 for a in shown for b in shown}
    for exchange, _ in x.moves:
        move = exchange_behind(x, exchange.phase)
        assert move is not None
        for pair in (p for p in total if p[0] != p[1]):
            total[pair] += message_bytes(x, move, at, None, pair)
    yield f"    {'from':6}{''.join(f'to {b:<9}' for b in shown)}".rstrip()
    for a in shown:
        cells = ("-" if a == b or not total[a, b] else _bytes(total[a, b]) for b in shown)
        yield f"    {a:<6}{''.join(f'{c:<12}' for c in cells)}".rstrip()


def _bytes(n: float) -> str:
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n >= size:
            return f"{n / size:.3g} {unit}"
    return f"{n:.0f} B"


def _time(s: float) -> str:
    return f"{s:.3g} s" if s >= 1 else f"{s * 1e3:.3g} ms" if s >= 1e-3 else f"{s * 1e6:.3g} µs"


def _plain(text: str) -> str:
    """A set without the list of its parameters."""
    return text.partition(" -> ")[2] or text
