"""Sortedness of a scan: the loop orders in which a format can be scanned, and whether its entries then come sorted by a
key."""
from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations

from codegen.sparse.algebra.expr import Call, Div, Exp, Name, div, single, var
from codegen.sparse.algebra.terms import coefficient, names, subst
from codegen.sparse.ir.nest import For
from codegen.sparse.synth.model import Layout
from codegen.sparse.synth.scan import Scan, scan


def orders(lay: Layout) -> Iterator[tuple[str, ...]]:
    """Loop orders to try: that of the tuple first."""
    base = scan(lay).loops
    yield base
    if lay.desc.fill and len(base) <= 5:
        yield from (p for p in permutations(base) if p != base and _possible(lay, p))


def _possible(lay: Layout, order: tuple[str, ...]) -> bool:
    """Bounds are known in time, so the scan keeps this order."""
    return scan(lay, order).loops == order


def sorted_by(lay: Layout, s: Scan, parts: tuple[Exp, ...], down: bool) -> bool:
    """Does the nest visit entries in the lexicographic order of `parts`?"""
    if not parts:
        return True
    full = lay.full
    if full and not full.group and full.order.down == down and _implies(full.order.parts, parts) and _natural(lay, s):
        return True
    return not down and _by_loops(lay, s, parts)


def _natural(lay: Layout, s: Scan) -> bool:
    return s.loops == scan(lay).loops


def _implies(have: tuple[Exp, ...], want: tuple[Exp, ...]) -> bool:
    """An order by `have` is one by `want` when want is a prefix, its last part possibly coarser."""
    if len(want) > len(have) or have[:len(want) - 1] != want[:-1]:
        return False
    return _coarser(have[len(want) - 1], want[-1])


def _coarser(have: Exp, want: Exp) -> bool:
    if have == want:
        return True
    a, b = single(have), single(want)
    if isinstance(b, Div):
        return have == b.of or (isinstance(a, Div) and a.of == b.of and b.by % a.by == 0)
    if isinstance(a, Call) and isinstance(b, Call) and a.id == b.id == "MORTON":
        shifts = [_shift(x, y) for x, y in zip(a.args, b.args, strict=True)]
        return shifts[0] is not None and shifts.count(shifts[0]) == len(shifts)
    return False


def _shift(have: Exp, want: Exp) -> int | None:
    """By how many bits `want` is `have` shifted to the right."""
    a, b = single(have), single(want)
    by = b.by // (a.by if isinstance(a, Div) and a.of == b.of else 1) if isinstance(b, Div) else 0
    if not isinstance(b, Div) or by & (by - 1) or (have != b.of and not isinstance(a, Div)):
        return None
    return by.bit_length()


def _by_loops(lay: Layout, s: Scan, parts: tuple[Exp, ...]) -> bool:
    raw = dict(zip(lay.coords, s.raw, strict=True))
    spans = {x.var: x.high.const for x in s.nest if isinstance(x, For) and not x.high.terms and x.low == Exp()}
    fixed: set[str] = set()
    loops = list(s.loops)
    for n, part in enumerate(parts):
        e = _reduced(subst(part, raw), spans)
        while True:
            inside = names(e) & set(s.loops)
            if inside <= fixed:
                break
            grows = _steps(e, loops[0], fixed, spans) or _grows(lay, e, loops[0], fixed, s.loops)
            if grows == "":
                return False
            if grows == "weak":
                return n == len(parts) - 1
            fixed.add(loops.pop(0))
    return True


def _reduced(e: Exp, spans: dict[str, int]) -> Exp:
    """(B*x + y) div B is x where 0 <= y < B."""
    a = single(e)
    if not isinstance(a, Div):
        return e
    rest = Exp(tuple(t for t in a.of.terms if t[1] % a.by), a.of.const % a.by)
    return div(a.of - rest, a.by) if _span(rest, spans) < a.by else e


def _span(e: Exp, spans: dict[str, int]) -> float:
    """An upper bound of a sum of loop variables that start at 0; infinite when there is none."""
    total: float = e.const
    for a, c in e.terms:
        total += c * (spans[a.id] - 1) if isinstance(a, Name) and a.id in spans and c > 0 else float("inf")
    return total


def _steps(e: Exp, v: str, fixed: set[str], spans: dict[str, int]) -> str:
    """strict when a step of v outweighs everything that is still to come: B*v + y with 0 <= y < B."""
    c = coefficient(e, Name(v))
    rest = Exp(tuple(t for t in e.terms if t[0] != Name(v) and not names(Exp((t,))) <= fixed))
    return "strict" if c > 0 and _span(rest, spans) < c else ""


def _grows(lay: Layout, e: Exp, v: str, fixed: set[str], loops: tuple[str, ...]) -> str:
    """How e moves as v counts up with `fixed` held: strict, weak, or "" for not known."""
    out = "weak"
    for a, c in e.terms:
        inside = names(Exp(((a, 1),))) & set(loops)
        if inside <= fixed:
            continue
        if c < 0 or not inside <= fixed | {v}:
            return ""
        if isinstance(a, Name):
            out = "strict"
        elif isinstance(a, Div):
            if not _grows(lay, a.of, v, fixed, loops):
                return ""
        elif isinstance(a, Call) and a.args == (var(v),):
            q = next((q for q in lay.desc.quantifiers if single(q.key) == a), None)
            if q is None or q.down:
                return ""
            out = "strict" if q.strict else out
        else:
            return ""
    return out
