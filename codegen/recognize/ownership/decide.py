"""Decides whether the elements of a reference are used by one thread only within each block, an iteration of the loops
around the thread loops (`verdict`): yes, no, or only in blocks with certain tile coordinates (such as `ti == tj`), with
the reason in words. Tests subscript matrices first, then asks isl."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from codegen.recognize.ownership.classes import BlockClass, classes
from codegen.recognize.ownership.exact import disjoint_images, shared_blocks
from codegen.recognize.ownership.linear import crossing, equal_subscripts, linear, remark2, theorem1
from codegen.recognize.ownership.model import NestFrame, OwnershipAnswer, Reference, ThreadAxis


def verdict(
    frame: NestFrame, ref: Reference, threads: Sequence[ThreadAxis], parts: Sequence[BlockClass] | None = None
) -> OwnershipAnswer:
    """The answer for all blocks; `parts` are their classes, if the caller has them already."""
    open_: list[Reference] = []
    tests: list[str] = []
    for other in frame.others(ref):
        test = cheap(frame, ref, other, threads)
        tests.append(test)
        if not test:
            open_.append(other)
    if not open_:
        return OwnershipAnswer("yes", _strongest(tests), _why_yes(_strongest(tests), threads))
    found = [(other, shared_blocks(frame, ref, other, threads)) for other in open_]
    bad = reduce(lambda x, y: x.union(y), (s for _, s in found))
    if bad.is_empty():
        return OwnershipAnswer(
            "yes", "exact", "no two threads meet within a block, though the subscripts alone do not say so"
        )
    good = [c for c in (classes(frame) if parts is None else parts) if c.blocks.is_disjoint(bad)]
    why = _why_no(frame, ref, next(other for other, s in found if not s.is_empty()), threads)
    if good and all(c.text for c in good):
        return OwnershipAnswer("when", "exact", why, " or ".join(_simplified(frame, good, parts)))
    return OwnershipAnswer("no", "exact", why)


def cheap(frame: NestFrame, a: Reference, b: Reference, threads: Sequence[ThreadAxis]) -> str:
    """The first test without threads in isl that shows the pair to be private, or "" when none does."""
    if a is b:
        return "theorem 1" if theorem1(a, threads) else ""
    if not theorem1(a, threads):
        return ""
    if equal_subscripts(a, b, threads):
        return "theorem 2"
    if remark2(a, b, threads):
        return "remark 2"
    if linear(a, b, threads):
        return "linear"
    return "theorem 2 (disjoint)" if disjoint_images(frame, a, b) else ""


_ORDER = ("theorem 1", "theorem 2", "remark 2", "linear", "theorem 2 (disjoint)")


def _strongest(tests: Sequence[str]) -> str:
    return max(tests, key=_ORDER.index)


def _why_yes(test: str, threads: Sequence[ThreadAxis]) -> str:
    names = ", ".join(x.name for x in threads)
    return {
        "theorem 1": f"the subscripts fix {names}",
        "theorem 2": f"all references have the same subscripts, which fix {names}",
        "remark 2": f"all references have the subscript {names} in common",
        "linear": f"equal elements mean equal {names}, in all references",
        "theorem 2 (disjoint)": f"the subscripts fix {names}, and other references touch other elements",
    }[test]


def _why_no(frame: NestFrame, ref: Reference, other: Reference, threads: Sequence[ThreadAxis]) -> str:
    step = crossing(ref, threads)
    if step is not None:
        return f"iterations {step} apart use the same element from different threads"
    if other is ref:
        return "its subscripts repeat within a block"
    return f"another thread uses the element through {other.text} in {other.stmt}"


def _simplified(frame: NestFrame, good: Sequence[BlockClass], parts: Sequence[BlockClass] | None) -> list[str]:
    """The classes' texts, shorter where a single comparison, or the only exception, says as much."""
    every = classes(frame) if parts is None else parts
    names = {c.text for c in good}
    for text in sorted({t for c in good for t in c.text.split(" and ")}):
        if {c.text for c in every if text in c.text.split(" and ")} == names:
            return [text]
    bad = [c.text for c in every if c.text not in names]
    return [f"not ({bad[0]})"] if len(bad) == 1 and len(good) > 1 else [c.text for c in good]
