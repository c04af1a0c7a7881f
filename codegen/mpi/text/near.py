"""Which ranks a message can be between: `apart` finds how far the blocks of two ranks lie apart at most, along each
axis of their grid, if one sends something to the other; `none_farther` proves it. Texts then go through near ranks
alone, with a loop that `read_near` reads back."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from codegen.mpi.blocks import GIVER, STEPS, TAKER, RankBlocks
from codegen.mpi.trees import MessageLoops
from codegen.patterns import pattern
from codegen.record import record
from codegen.verify.text.read import Unread

_SET, _PARAM = isl.dim_type.set, isl.dim_type.param
STEPS_AT_MOST = 8  # rows that values move in a step


_TAKEN = f"{STEPS[1]} - {STEPS[0]}"


@record
class Apart:
    """Less than so many rows for each step without a message, and so many more."""

    each: int
    more: int

    @property
    def text(self) -> str:
        if not self.each:
            return str(self.more)
        sign = "" if not self.more else f" {'+' if self.more > 0 else '-'} {abs(self.more)}"
        return (f"{self.each} * ({_TAKEN})" if self.each > 1 else _TAKEN) + sign


_WORDS = pattern(
    r"long tw_k = tw_first_near\((\d), \(const long\[\]\)\{ (.*) \}, \(const long\[\]\)\{ (.*) \}\); "
    r"tw_k < tw_messages\(\); tw_k = tw_next_near\(\)"
)
_APART = pattern(rf"(?:(?:(?P<each>\d+) \* \({_TAKEN}\)|{_TAKEN})(?: (?P<sign>[+-]) (?P<more>\d+))?|(?P<rows>\d+))")


def read_near(head: str) -> list[tuple[Apart, str]]:
    """How far ranks are looked at, and how many rows there are, along each axis; Unread for another loop."""
    m = _WORDS.fullmatch(head)
    words = [w.split(", ") for w in m.groups()[1:]] if m is not None else []
    if m is None or any(len(w) != int(m[1]) for w in words):
        raise Unread(f"`{head}` goes through messages in another way")
    out = []
    for far, rows in zip(*words, strict=True):
        a = _APART.fullmatch(far)
        if a is None:
            raise Unread(f"`{far}` is no distance between blocks")
        more = int(a["rows"] or a["more"] or 0)
        each = 0 if a["rows"] else int(a["each"] or 1)
        out.append((Apart(each, -more if a["sign"] == "-" else more), rows))
    return out


def apart(parts: Sequence[MessageLoops], blocks: Sequence[RankBlocks]) -> tuple[Apart, ...]:
    """For each axis; nothing where messages can go farther, or blocks differ from array to array."""
    if not blocks or len(blocks) != blocks[0].axes or sorted(b.axis for b in blocks) != list(range(len(blocks))):
        return ()
    found = [_along(parts, b) for b in sorted(blocks, key=lambda b: b.axis)]
    return tuple(x for x in found if x is not None) if all(x is not None for x in found) else ()


def _along(parts: Sequence[MessageLoops], b: RankBlocks) -> Apart | None:
    spaces = [_elements(t).get_space() for t in parts]
    steps = all(s.find_dim_by_name(_PARAM, n) >= 0 for s in spaces for n in STEPS)
    for each in range(STEPS_AT_MOST + 1 if steps else 1):
        most = [_most(_elements(t), gap, each) for t in parts for gap in _gaps(b)]
        if all(v.is_int() or v.is_nan() for v in most):
            return Apart(each, 1 + max((int(v.to_python()) for v in most if v.is_int()), default=0))
    return None


def none_farther(parts: Sequence[MessageLoops], blocks: Sequence[RankBlocks], found: Sequence[Apart]) -> bool:
    """Does no message have an element if two blocks lie as far apart along an axis, or farther?"""
    if len(found) != len(blocks) or any(b.axes != len(blocks) for b in blocks):
        return False
    for b in blocks:
        for t in parts:
            elements, x = _elements(t), found[b.axis]
            for gap in _gaps(b):
                far = _gap(elements, gap, x.each).add_constant_val(isl.Val(-x.more))
                if not elements.intersect(isl.PwAff.from_aff(far).nonneg_set()).is_empty():
                    return False
    return True


def _elements(t: MessageLoops) -> isl.Set:
    (s,) = t.made.scop.statements
    return s.domain


def _gaps(b: RankBlocks) -> tuple[tuple[str, str], tuple[str, str]]:
    """The ends between which two blocks lie apart: the giver behind the taker, or before it."""
    return (b.ends(TAKER)[1], b.ends(GIVER)[0]), (b.ends(GIVER)[1], b.ends(TAKER)[0])


def _gap(elements: isl.Set, gap: tuple[str, str], each: int) -> isl.Aff:
    """Rows between two blocks, less so many for each step."""
    local = isl.LocalSpace.from_space(elements.get_space())

    def param(name: str) -> isl.Aff:
        return isl.Aff.var_on_domain(local, _PARAM, elements.find_dim_by_name(_PARAM, name))

    rows = param(gap[1]).sub(param(gap[0]))
    return rows.sub(param(STEPS[1]).sub(param(STEPS[0])).scale_val(isl.Val(each))) if each else rows


def _most(elements: isl.Set, gap: tuple[str, str], each: int) -> isl.Val:
    """The most rows between two blocks, less so many for each step, with which there is an element: infinity where they
    can be any number, not a number where there is none."""
    rows = isl.Map.from_aff(_gap(elements, gap, each)).intersect_domain(elements).range()
    values = rows.project_out(_PARAM, 0, rows.dim(_PARAM))
    return values.dim_max_val(0)
