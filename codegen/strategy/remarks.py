"""Texts of remarks about a plan for users: loops in blocks with a product, rows that take turns, a plan that leaves
everything sequential; and the step of a product as a C formula."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from codegen.diagnostics import Diagnostic, Severity
from codegen.plan.model import CopyReads, Directive, Schedule, StoreIn, StripMine, Tile
from codegen.recognize.access.strides import coefficients
from codegen.scop.lanes import Lane
from codegen.scop.model import Scop

_INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "/", "and": "&", "or": "|", "xor": "^"}
_INFIX |= {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}


def panels(scop: Scop, blocks: Sequence[Directive]) -> Iterator[Diagnostic]:
    """Loops that run in blocks, so that most of their work is a product; `scop` is the region before that."""
    for k, d in enumerate(blocks):
        if not isinstance(d, StripMine) or d.size == 1 or not d.values.keys() <= {s.name for s in scop.statements}:
            continue
        s = max((scop.statement(n) for n in d.values), key=lambda s: len(s.iterators))
        factors = coefficients(d.values[s.name], len(s.iterators)) or ()
        loop = next((it for it, c in zip(s.iterators, factors, strict=True) if c), "")
        text = (
            f"loop {loop} runs in blocks of {d.size}: first what is computed within the block, then what that does to "
            "everything else, as a product"
        )
        copies = _copies(blocks[k + 1 :])
        if copies:
            arrays = ", ".join(f"`{a}`" for a in sorted({c.array for c in copies}))
            text += f"; {len(copies)} copies of parts of {arrays} hold what is read while it still changes"
        yield Diagnostic(Severity.REMARK, "blocks", text, s.loc, kind="passed")


def _copies(following: Sequence[Directive]) -> list[CopyReads]:
    out = []
    for d in following:
        if isinstance(d, StripMine) and d.size > 1:
            break
        if isinstance(d, CopyReads):
            out.append(d)
    return out


def rows(steps: Sequence[Directive]) -> str:
    """Rows that take turns."""
    count = max(n for d in steps if isinstance(d, Tile) for _, n in d.loops)
    own = ", ".join(f"`{d.variable}`" for d in steps if isinstance(d, StoreIn))
    text = f"{count} rows at a time, so that none waits for its own last result"
    return f"{text}; each has its own {own}" if own else text


def nothing(scop: Scop, directives: Sequence[Directive]) -> tuple[Diagnostic, ...]:
    """A plan that leaves everything as it is."""
    if any(not isinstance(d, Schedule) for d in directives):
        return ()
    text = (
        "the loops run one after the other, on one thread: in this order each of them hands results from one iteration "
        "to the next, or has too little to do"
    )
    return (Diagnostic(Severity.REMARK, "sequential", text, scop.loc, kind="missed"),)


def formula(e: Lane, around: str = "") -> str:
    """A step as C would write it."""
    sign = _INFIX.get(e.op) if len(e.args) == 2 else None
    if sign is not None:
        text = f" {sign} ".join(formula(x, e.op) for x in e.args)
    elif e.op == "select":
        test, yes, no = (formula(x, e.op) for x in e.args)
        text = f"{test} ? {yes} : {no}"
    else:
        return f"{e.op}({', '.join(map(formula, e.args))})" if e.args else str(e)
    return f"({text})" if around and not (e.op == "mul" and around in ("add", "sub")) else text
