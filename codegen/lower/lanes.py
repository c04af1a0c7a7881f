"""Vectorization of innermost loops: returns a loop as whole vectors with scalar or overlapping iterations before and
after them (`Strips`); None where the plan asks for no vectors, or a statement of the loop cannot be computed in
lanes."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from codegen.ast.ctree import For
from codegen.ast.lowered import (
    WIDTHS,
    Backwards,
    Body,
    Braces,
    Contiguous,
    Enough,
    Lanes,
    Lead,
    One,
    OverlappingSteps,
    Part,
    Peel,
    Strips,
    Until,
    While,
)
from codegen.lower.lane_accesses import Maker
from codegen.lower.loop_strides import loop_strides
from codegen.lower.rows import side_by_side
from codegen.lower.shift import shifted
from codegen.lower.statements import Statements, assignments, lanes_asked, shortest_row
from codegen.lower.vector_reuse import VectorSteps
from codegen.recognize.lanes import fits
from codegen.record import record
from codegen.scop.model import Scop

MOST_APART = 4  # elements that are stored: beyond that there is nothing but single ones


def in_lanes(scop: Scop, node: For, wider: bool = False) -> Strips | None:
    """A loop in vectors, if it asks for them and its statements have that form. With `wider`, vectors may be longer
    than it asks for."""
    found = assignments(scop, node.body) if node.loop.width else None
    lanes = None if found is None else lanes_of(scop, node, found)
    if found is None or lanes is None:
        return None
    return strips(scop, node, replace(lanes, wider=wider and may_be_wider(scop, node, lanes, found)), found)


def lanes_of(scop: Scop, node: For, found: Statements) -> Lanes | None:
    """How to write the loop's statements as vectors; None where the loop does not ask for it or they have no such form.
    """
    lanes = None if node.loop.reductions else lanes_asked(scop, node, found)
    if lanes is None:
        return None
    fit = all(fits(scop, s, loop_strides(s, at, node.var), lanes.elem, MOST_APART) for s, at in found)
    return lanes if fit else None


def repeatable(found: Statements) -> bool:
    """May iterations of the loop run again, with no difference? Yes where nothing is read that they write."""
    written = {s.accesses[s.target].array for s, _ in found}
    return not any(a.array in written for s, _ in found for a in s.reads) and all(s.op == "=" for s, _ in found)


def strips(
    scop: Scop, node: For, lanes: Lanes, found: Statements, rows: tuple[str, int] = ("", 1), twice: bool = True
) -> Strips:
    """Vectors that are stored whole, and what is left before and after; each step for all `rows`, iterations of a
    loop around this one, or `twice` so much. Where iterations may run again, vectors that overlap others do what is
    left."""
    n, times = lanes.count, node.loop.factor
    many = Maker(scop, node.var, lanes)
    each = side_by_side(Maker(scop), found, *rows)
    whole = side_by_side(many, found, *rows)
    steps = VectorSteps(many, found, rows, times)
    steps = steps.chained() if rows[1] > 1 else steps
    main: tuple[Part, ...] = (While(n * times, steps.step(0), node.loop.note),)
    here = rows[1] > 1 and repeatable(found)
    if here and twice:
        # Twice: the addresses of so many rows are a quarter of all instructions. jacobi-2d 1.03. Where single
        # elements are left over, longer steps leave more of them (fdtd-2d 0.98).
        both = (Braces(steps.step(0)), Braces(steps.step(1)))
        main = (While(2 * n * times, both, node.loop.note), *main)
    if steps.chains or (_behind_pointers(scop, found) and not repeatable(found)):
        # Where a vector is sure to follow, pointers to rows are read once for all of them.
        main = (Enough(n * times, main, ahead=steps.ahead),)
    return Strips(node, _parts(node, lanes, found, many, _Steps(each, whole, main)), lanes, here)


def _behind_pointers(scop: Scop, found: Statements) -> bool:
    return any(scop.arrays[a.array].depth > 1 for s, _ in found for a in s.accesses)


def may_be_wider(scop: Scop, node: For, lanes: Lanes, found: Statements, gathering: Collection[str] = ()) -> bool:
    """Do longer vectors find what they need in the same way: neighbours, or one element in all lanes? What is stored
    has to be neighbours in their order, but for arrays of which one element is `gathering` results."""
    make = Maker(scop, node.var, lanes)
    places = [make.place(s, at, k) for s, at in found for k in range(len(s.accesses))]
    same = all(isinstance(p, (One, Contiguous, Backwards)) for p in places)
    stored = [(s, at) for s, at in found if s.accesses[s.target].array not in gathering]
    room = WIDTHS[-1] // lanes.elem.bytes <= shortest_row(scop, found, node.var)
    return lanes.bytes == WIDTHS[0] and same and room and not any(make.apart(s, at) for s, at in stored)


def uses_again(form: Strips) -> bool:
    """Are vectors kept for the next step? That depends on how long they are."""
    enough = [p for p in form.parts if isinstance(p, Enough)]
    return any(p.ahead for p in (*enough, *(x for p in enough for x in p.then if isinstance(x, Enough))))


@record
class _Steps:
    """The body of one iteration, that of one vector, and the steps that do most of the work."""

    each: Body
    whole: Body
    main: tuple[Part, ...]


def _parts(node: For, lanes: Lanes, found: Statements, many: Maker, steps: _Steps) -> tuple[Part, ...]:
    """What comes before and after the main steps. Stores begin where a vector in memory does."""
    n, each, whole, main = lanes.count, steps.each, steps.whole, steps.main
    whole_ones = [(s, at) for s, at in found if not many.apart(s, at)]
    at = (whole_ones or found)[0][1]
    if repeatable(found):
        until = Until(shifted(at, node.var, 1), lanes.bytes, lanes.elem.bytes) if whole_ones else None
        lead = Lead(n, (Braces(whole),) if len(whole) > 1 else whole, until)
        return (Enough(n, (lead, *main, OverlappingSteps(n, whole)), (While(1, each, single=True),)),)
    peel = Peel(each, Until(at, lanes.bytes, lanes.elem.bytes))
    more = (While(n, whole, node.loop.note),) if node.loop.factor > 1 and (n > 2 or lanes.wider) else ()
    rest = While(1, each, "the rest", single=True)
    return (*((peel,) if whole_ones else ()), *main, *more, rest)
