"""Constructs loop trees by design: a register tile innermost, sums around it, blocks outside, operands packed where
they are reused.

The fixed schedule is one of them; the others are all tiles that fit, in the order in which a value of no cost, such as
the processor's model, likes them.
"""

from __future__ import annotations

from collections.abc import Iterator

from codegen.isa.model import Isa
from codegen.lower.nest.schedule import in_registers, shape
from codegen.record import record
from codegen.tune.contraction import Contraction, strides
from codegen.tune.search.frame import Trial, Value
from codegen.tune.tree import Loop, Tree, start

ROWS, COLUMNS = 4, 16  # of the fixed schedule: what a published policy chose nearly always


@record
class Axes:
    """The variable along vectors, the one along rows of the tile ("" where C has no other), and who is read along
    vectors."""

    vector: str
    row: str
    streamed: str
    other: str


def axes(problem: Contraction) -> Axes | None:
    """None where C is a single number."""
    if not problem.c:
        return None
    vector = problem.c[-1]
    streamed, other = ("B", "A") if strides(problem, "B")[vector] else ("A", "B")
    rows = [v for v in problem.c[:-1] if strides(problem, other)[v] and not strides(problem, streamed)[v]]
    rest = [v for v in problem.c[:-1] if v not in rows]
    return Axes(vector, (rows or rest or [""])[-1], streamed, other)


def tiled(problem: Contraction, rows: int, columns: int, rows_first: bool, pack: str = "") -> Tree:
    """Blocks, sums, and a tile of rows x columns. `pack` is S for the operand along vectors, O for the other, or both:
    each before the loop that uses it again."""
    found = axes(problem)
    if found is None:
        return start(problem)
    sizes = dict(problem.sizes)
    tile = {found.vector: min(columns, sizes[found.vector])}
    if found.row:
        tile[found.row] = min(rows, sizes[found.row])
    order = (found.row, found.vector) if rows_first else (found.vector, found.row)
    blocks = [_block(v, sizes[v], tile[v]) for v in order if v in tile]
    outer = [Loop(v, sizes[v]) for v in problem.c if v not in tile]
    sums = [Loop(v, sizes[v]) for v in problem.reductions]
    inside = [Loop(v, tile[v]) for v in (found.row, found.vector) if v in tile and (tile[v] > 1 or v == found.vector)]
    names = {"S": found.streamed, "O": found.other}
    wanted = {names[x] for x in pack}
    nest = _packed(problem, [*outer, *(b for b in blocks if b.size > 1 or b.tail), *sums, *inside], wanted)
    return start(problem)._replace(compute=tuple(nest))


def _block(var: str, size: int, tile: int) -> Loop:
    return Loop(var, size // tile, size % tile)


def _packed(problem: Contraction, nest: list[Loop], wanted: set[str]) -> list[Loop]:
    """Each operand before the outermost loop that does not move it: there all of its part is used again."""
    for tensor in sorted(wanted):
        own = strides(problem, tensor)
        at = next((n for n, loop in enumerate(nest) if not own[loop.var]), 0)
        nest[at] = nest[at]._replace(pack="".join(sorted({*nest[at].pack, tensor})))
    return nest


def fixed(trial: Trial) -> None:
    """One tree: 4 rows, 16 columns, sums through."""
    trial.value(tiled(trial.start.problem, ROWS, COLUMNS, True))


def family(problem: Contraction, isa: Isa) -> Iterator[Tree]:
    """All tiles that fit into the registers, with both orders of the blocks, and with and without packing."""
    found, lanes = axes(problem), isa.lanes_max(problem.elem)
    if found is None:
        yield start(problem)
        return
    sizes = dict(problem.sizes)
    seen = set()
    for rows in range(1, min(16, sizes.get(found.row, 1)) + 1):
        for vectors in range(1, isa.registers):
            columns = min(vectors * lanes, sizes[found.vector])
            extents = {**dict.fromkeys(problem.names, 1), found.row or found.vector: rows, found.vector: columns}
            need = shape(problem, extents, found.vector, lanes)
            if not in_registers(problem, need, found.vector, isa):
                break
            for rows_first in (False, True):
                for pack in ("", "S", "O", "OS"):
                    tree = tiled(problem, rows, columns, rows_first, pack)
                    if tree.compute not in seen:
                        seen.add(tree.compute)
                        yield tree


def analytic(trial: Trial, model: Value, isa: Isa) -> None:
    """The tree of the family that the model likes best; nothing else is valued."""
    trial.values(ranked(trial.start.problem, model, isa)[:1])


def shortlist(trial: Trial, model: Value, isa: Isa, count: int = 12) -> None:
    """The few trees of the family that the model likes best."""
    trial.values(ranked(trial.start.problem, model, isa)[:count])


def ranked(problem: Contraction, model: Value, isa: Isa) -> list[Tree]:
    """The family, best first by a value of no cost."""
    trees = list(family(problem, isa))
    values = model(trees)
    order = sorted((n for n, v in enumerate(values) if v is not None), key=lambda n: -(values[n] or 0.0))
    return [trees[n] for n in order]
