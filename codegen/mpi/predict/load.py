"""Load of each rank: iterations that it computes and bytes that it sends, at given sizes and numbers of ranks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cache
from math import prod

import islpy as isl

from codegen.mpi.blocks import GIVER, PANEL, TAKER, RankBlocks, blocks_for
from codegen.mpi.counting import points, with_values
from codegen.mpi.messages import Exchange
from codegen.mpi.network import DEALT
from codegen.mpi.network import PANEL as PANEL_STEPS
from codegen.mpi.panels.buffers import PANELS
from codegen.mpi.phases import Phase
from codegen.mpi.share import SharedRegion
from codegen.mpi.trees import MessageLoops
from codegen.record import record
from codegen.scop.model import Scop

_SET = isl.dim_type.set
SAMPLES = 5  # iterations of the loops around a phase that are looked at


@record
class Setting:
    """Sizes by the names of parameters, and how many ranks there are."""

    sizes: Mapping[str, int]
    ranks: int
    ranges: dict[int, tuple[int, int]] = field(default_factory=dict)  # of blocks, as they are found out


def setting(scop: Scop, sizes: Mapping[str, int], ranks: int) -> Setting:
    """Sizes by C text. Raises ValueError for those that are missing."""
    missing = [q.text for q in scop.params if q.text not in sizes]
    if missing:
        raise ValueError(f"a size for {', '.join(missing)} is missing")
    return Setting({q.name: sizes[q.text] for q in scop.params}, ranks)


def part(first: int, past: int, rank: int, ranks: int) -> int:
    """As `tw_part` cuts a range into blocks."""
    each, more = divmod(max(0, past - first), ranks)
    return first + each * rank + min(rank, more)


def block(b: RankBlocks, at: Setting, rank: int) -> tuple[int, int]:
    """The block of a rank."""
    if b.number not in at.ranges:
        at.ranges[b.number] = value(b.first, at), value(b.past, at)
    first, past = at.ranges[b.number]
    coordinate, parts = place(rank, at.ranks, b.axes)[b.axis]
    return part(first, past, coordinate, parts), part(first, past, coordinate + 1, parts)


@cache
def grid_sides(ranks: int, axes: int) -> tuple[int, ...]:
    """The ranks along each axis, as `tw_ranks_along` chooses them for equal extents: with the least surface."""
    found: list[tuple[int, ...]] = [(ranks,)]
    for _ in range(axes - 1):
        found = [(*s[:-1], p, s[-1] // p) for s in found for p in range(s[-1], 0, -1) if s[-1] % p == 0]
    best = found[0]
    for s in found[1:]:
        if _surface(s) < _surface(best) * (1 - 1e-9):
            best = s
    return best


def _surface(sides: tuple[int, ...]) -> float:
    return sum(1 / prod(sides[:a] + sides[a + 1 :]) for a in range(len(sides)) if sides[a] > 1)


def place(rank: int, ranks: int, axes: int) -> tuple[tuple[int, int], ...]:
    """The coordinates of a rank in the grid, each with the number of ranks along that axis."""
    out = []
    for side in reversed(grid_sides(ranks, axes)):
        out.append((rank % side, side))
        rank //= side
    return tuple(reversed(out))


def shares(x: SharedRegion, at: Setting, rank: int) -> Iterator[tuple[Setting, int]]:
    """The blocks of a rank, each as that of one rank among as many as there are blocks."""
    if not x.cyclic:
        yield at, rank
        return
    many = Setting(at.sizes, at.ranks * DEALT)
    for k in range(DEALT):
        yield many, rank + k * at.ranks


def value(v: isl.PwAff, at: Setting) -> int:
    """A value of the parameters; 0 where it has none."""
    values = with_values(isl.Set.from_pw_aff(v), at.sizes)
    return 0 if values.is_empty() else int(values.dim_min_val(0).to_python())


def times(scop: Scop, q: Phase, at: Setting) -> tuple[float, tuple[tuple[int, ...], ...]]:
    """How often the loops around a phase run it, and some of their iterations, evenly spread along the first loop."""
    runs: isl.Set | None = None
    for name in q.stmts:
        domain = scop.statement(name).domain
        n = domain.dim(_SET)
        own = domain.project_out(_SET, q.depth, n - q.depth).set_tuple_name(q.name)
        runs = own if runs is None else runs.union(own)
    assert runs is not None
    here = with_values(runs, at.sizes).coalesce()
    if here.is_empty():
        return 0, ()
    if not q.depth:
        return 1, ((),)
    low, high = (int(v.to_python()) for v in (here.dim_min_val(0), here.dim_max_val(0)))
    chosen = dict.fromkeys(low + int((k + 0.5) * (high - low + 1) / SAMPLES) for k in range(SAMPLES))
    found = []
    for v in chosen:
        at_v = here.fix_val(_SET, 0, isl.Val(v))
        if not at_v.is_empty():
            p = at_v.sample_point()
            found.append(tuple(int(p.get_coordinate_val(_SET, k).to_python()) for k in range(q.depth)))
    return points(here), tuple(found)


def iterations(x: SharedRegion, q: Phase, at: Setting, outer: Sequence[int], rank: int) -> float:
    """Instances that a rank runs of a phase in one iteration of the loops around it."""
    total = 0.0
    for name in q.stmts:
        domain = x.program.scop.statement(name).domain
        for k, v in enumerate(outer):
            domain = domain.fix_val(_SET, k, isl.Val(v))
        here = with_values(domain, at.sizes)
        if q.shared is None:
            total += points(here)
            continue
        for many, share in shares(x, at, rank):
            own = here
            for b in blocks_for(x.ranked.blocks, q.name):
                at_axis, (low, high) = q.positions(name)[b.axis], block(b, many, share)
                own = own.lower_bound_val(_SET, at_axis, isl.Val(low)).upper_bound_val(_SET, at_axis, isl.Val(high - 1))
            total += points(own)
    return total


def message_bytes(
    x: SharedRegion, move: tuple[Exchange, Sequence[MessageLoops]], at: Setting, outer: Sequence[int] | None,
    pair: tuple[int, int],
) -> float:  # fmt: skip
    """The bytes of a message from one rank to another in an iteration of the loops around its phase; without one, of
    all iterations together."""
    if x.cyclic:
        plain = replace(x, cyclic=False)
        return sum(message_bytes(plain, move, many, outer, (b, b)) for many, b in shares(x, at, pair[0]))
    exchange, parts = move
    given = {**at.sizes, **dict(zip(exchange.outer, outer or (), strict=False))}
    q = panelled(x, exchange)
    if q is not None and outer is None:
        ends = panel_ends(q, at)
        given |= dict(zip(PANEL, (ends[0], ends[-1]), strict=True))
    for b in x.ranked.blocks:
        for who, rank in zip((GIVER, TAKER), pair, strict=True):
            given |= dict(zip(b.ends(who), block(b, at, rank), strict=True))
    arrays = x.program.scop.arrays
    total = 0.0
    for t in parts:
        (s,) = t.made.scop.statements
        elements = s.domain
        for name in (n for n in exchange.outer if n not in given):
            k = elements.find_dim_by_name(isl.dim_type.param, name)
            elements = elements.move_dims(_SET, 0, isl.dim_type.param, k, 1)
        total += points(with_values(elements, given)) * arrays[t.array].elem.bytes
    return total


def panelled(x: SharedRegion, exchange: Exchange) -> Phase | None:
    """The phase whose panels an exchange is for."""
    return next((q for q in x.ranked.cut.phases if exchange.phase == PANELS + q.name), None)


def panel_ends(q: Phase, at: Setting) -> tuple[int, ...]:
    """Where the panels of a phase begin, as `tw_panel_end` has it, and where the last one ends."""
    assert q.panels is not None
    first, past = value(q.panels.first, at), value(q.panels.past, at)
    most = max(grid_sides(at.ranks, 1 + len(q.across)))
    each = -(-(past - first) // most)
    width = max(1, -(-each // max(1, -(-each // PANEL_STEPS))))
    return (*range(first, past, width), past)


def exchange_behind(x: SharedRegion, phase: str) -> tuple[Exchange, Sequence[MessageLoops]] | None:
    """What moves behind a phase; `phase` may also be START, empty for the end of the region, or say that of a panel."""
    return next((m for m in x.moves if m[0].phase == phase), None)

