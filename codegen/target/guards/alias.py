"""Decides which arrays may overlap, and prints the C condition, tested at run time ahead of the generated code, that no
written array overlaps another array, or a single value that the region reads; raises Unsupported where that is needed
and no test can tell. `trust` is --assume-no-alias, `strict` --check-alias; `verify/overlap` proves the test."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, product, takewhile

import islpy as isl

from codegen.diagnostics import Diagnostic, Severity, Unsupported
from codegen.record import record
from codegen.scop.expr import Sym, walk
from codegen.scop.memo import remember
from codegen.scop.model import Access, Array, Scop
from codegen.scop.origins import Place
from codegen.scop.types import CType
from codegen.target.guards.pointers import only_pointer, table_of
from codegen.target.guards.row_tables import RowTable, pointers_text, row_table, table_text
from codegen.target.guards.spans import (
    cell_text,
    is_followed,
    may_lead_nowhere,
    pointee,
    span_pointer,
    span_text,
    start_pointer,
)
from codegen.target.text.cexpr import IntPrinter

SEPARATE = "arrays do not overlap"  # what generated code says about it


@record
class AliasTest:
    """A C condition that holds when no written array overlaps another, and the helpers it calls."""

    text: str = ""
    helpers: frozenset[str] = frozenset()
    remarks: tuple[Diagnostic, ...] = ()


@record
class _Pair:
    """Arrays that may overlap, and of which one is written; `shown` if the function itself says so."""

    one: Array
    two: Array
    shown: bool


@record
class _Compared:
    """What a test has to compare: arrays, of them those that it looks at row by row, and single values with the arrays
    that a store may reach them through."""

    tested: Mapping[str, Array]
    tables: Mapping[str, RowTable]
    cells: Mapping[str, Sequence[str]]
    remarks: tuple[Diagnostic, ...]


def alias_test(scop: Scop, trust: bool, strict: bool) -> AliasTest:
    """What has to be tested. With `trust`, only arrays that the function itself sets from one another may overlap. What
    no test can tell is refused for those, and if `strict` for all; others are then taken not to overlap.

    One list of memory serves all pairs: that more pairs are tested than have to be costs a comparison each."""
    found = _compared(scop, trust, strict)
    tested, tables, written = found.tested, found.tables, _written(scop)
    if not tested:
        return AliasTest(remarks=found.remarks)
    ints = IntPrinter({p.name: p for p in scop.params}, {})
    spans: dict[str, list[Array]] = {}
    for name in sorted(tested, key=lambda n: (n not in written, n)):
        spans.setdefault(_memory(scop, tested[name], tables), []).append(tested[name])
    first = sum(any(x.name in written for x in same) for same in spans.values())
    texts = [_entry(scop, same, tables, ints) for same in spans.values()]
    texts += [cell_text(scop, c, ints) for c in sorted(found.cells) if c not in spans]
    texts += list(dict.fromkeys(pointers_text(scop, t, ints) for t in _under_characters(scop, tables)))
    return AliasTest(*_call(first, texts, ints), found.remarks)


def check_testable(scop: Scop, trust: bool, strict: bool) -> None:
    """Raises Unsupported where no test could tell what has to be known: the arrays of a region are the same by any
    plan, so that none need be made."""
    _compared(scop, trust, strict)


@remember(2)
def _compared(scop: Scop, trust: bool, strict: bool) -> _Compared:
    pairs = _pairs(scop, trust)
    tested: dict[str, Array] = {}
    remarks: dict[Diagnostic, None] = {}
    tables = _tables(scop, trust, pairs)
    for p in pairs:
        hidden = [x for x in (p.one, p.two) if not span_pointer(scop, x) and x.name not in tables]
        if not hidden:
            tested |= {p.one.name: p.one, p.two.name: p.two}
            if p.shown:
                remarks[_tested(scop, p)] = None
        elif fixed := next((x for x in hidden if not p.shown and not strict and _is_fixed(scop, x)), None):
            raise _several_pointers(scop, fixed)
        elif p.shown or strict or any(may_lead_nowhere(scop, x) for x in hidden):
            what = next((x for x in hidden if may_lead_nowhere(scop, x)), hidden[0])
            raise _unknown(scop, what, p.two if what is p.one else p.one, p.shown)
        else:
            remarks |= dict.fromkeys(_assumed(scop, x) for x in hidden)
            tested |= {x.name: x for x in _alike(scop, p)}
    written = _written(scop)
    if not trust:
        _check_kept(scop)
    cells = {} if trust else _cells(scop, [scop.arrays[n] for n in sorted(written)])
    over = {n: scop.arrays[n] for names in cells.values() for n in names}
    for cell, names in cells.items():
        if unsure := [over[n] for n in names if may_lead_nowhere(scop, over[n])]:
            raise _may_not_be_followed(scop, unsure[0], cell.removeprefix("&"))
    beyond = [x for x in over.values() if not span_pointer(scop, x) and x.name not in tables]
    if beyond and strict:
        raise _unknown(scop, beyond[0], beyond[0], False)
    remarks |= dict.fromkeys(_assumed(scop, x) for x in beyond)
    over = {n: x for n, x in over.items() if x not in beyond}
    cells = {c: names for c, names in cells.items() if any(n in over for n in names)}
    tested |= over | {n: scop.arrays[n] for n in tables if n in written}
    return _Compared(tested, tables, cells, tuple(remarks))


def _is_fixed(scop: Scop, array: Array) -> bool:
    """Are all pointers on the way to it the same in all iterations of the loops?"""
    if array.opaque or not array.scattered or may_lead_nowhere(scop, array):
        return False
    found = ((a, step) for a in _accesses(scop, array) for step in a.path[:-1] if step.kind in ("sub", "flat"))
    ways = [a.index.get_pw_aff(step.index) for a, step in found]
    return not any(x.involves_dims(isl.dim_type.in_, 0, x.dim(isl.dim_type.in_)) for x in ways)


def _check_kept(scop: Scop) -> None:
    """Raises Unsupported where a store may change a pointer that lies behind another one."""
    outside = [scop.arrays[n] for n in sorted(scop.arrays) if _shared(scop, scop.arrays[n])]
    behind = [x for x in outside if (at := table_of(scop, x.name)) is not None and at.loaded]
    written = [scop.arrays[n] for n in sorted(_written(scop))]
    over = [x for x in written if _is_character(scop, x) and not _own(x) and not _alone(scop, x)]
    if behind and over:
        raise _changed_pointer(scop, behind[0], over[0])


def _tables(scop: Scop, trust: bool, pairs: Sequence[_Pair]) -> dict[str, RowTable]:
    """Of arrays whose rows may overlap with others, or with each other, those that a test can look at row by row."""
    names = {x.name for p in pairs for x in (p.one, p.two)} | (frozenset() if trust else _written(scop))
    found = ((n, row_table(scop, scop.arrays[n])) for n in sorted(names) if not span_pointer(scop, scop.arrays[n]))
    return {n: t for n, t in found if t is not None}


def _under_characters(scop: Scop, tables: Mapping[str, RowTable]) -> list[RowTable]:
    """Tables whose pointers a store may change: C lets characters be stored over anything, other types only over
    their own."""
    written = [scop.arrays[n] for n in _written(scop)]
    stored = any(_is_character(scop, x) and not _own(x) and not _alone(scop, x) for x in written)
    return list(tables.values()) if stored else []


def _memory(scop: Scop, array: Array, tables: Mapping[str, RowTable]) -> str:
    """The pointer that the test asks for an array's memory."""
    return tables[array.name].row if array.name in tables else span_pointer(scop, array) or start_pointer(scop, array)


def _entry(scop: Scop, same: Sequence[Array], tables: Mapping[str, RowTable], ints: IntPrinter) -> str:
    """What arrays behind the same pointer touch, in the test's list."""
    table = tables.get(same[0].name)
    return span_text(scop, same, ints) if table is None else table_text(scop, same, table, ints)


def _call(first: int, texts: Sequence[str], ints: IntPrinter) -> tuple[str, frozenset[str]]:
    """The test, and the helpers it calls. With tables of rows, other memory counts as one row."""
    tables = any("TW_TABLE" in t for t in texts)
    entries = [t if not tables or "TW_TABLE" in t else f"tw_line({t})" for t in texts]
    how = "tw_rows_apart" if tables else "tw_apart"
    text = f"{how}({first}, {len(texts)}, ({'tw_table' if tables else 'tw_span'}[]){{ {', '.join(entries)} }})"
    named = {x.lower() for x in ("TW_ROWS", "TW_NOWHERE", "TW_TABLE") if re.search(rf"\b{x}\b", text)}
    return text, frozenset(ints.helpers) | {"tw_apart"} | named


# -- which arrays may overlap --------------------------------------------------------------------------


def _alike(scop: Scop, pair: _Pair) -> tuple[Array, ...]:
    """Both arrays of a pair that no test can tell apart, if at least their beginnings can be compared: pointers to rows
    with pointers to rows, elements with elements."""
    both = pair.one, pair.two
    same = pair.one.scattered == pair.two.scattered
    return both if same and all(span_pointer(scop, x) or start_pointer(scop, x) for x in both) else ()


def may_overlap(scop: Scop, trust: bool) -> list[tuple[str, str]]:
    """Arrays, by name, of which one is written and that may overlap as far as the generator knows."""
    return [(p.one.name, p.two.name) for p in _pairs(scop, trust)]


def _written(scop: Scop) -> frozenset[str]:
    return frozenset(a.array for _, a in scop.accesses() if a.write)


def _pairs(scop: Scop, trust: bool) -> list[_Pair]:
    written = _written(scop)
    arrays = [scop.arrays[n] for n in sorted(scop.arrays) if _shared(scop, scop.arrays[n])]
    whole = {x.name for x in arrays if not x.rank and not x.opaque}
    places = {x.name: (_place(scop, x), *(scop.origins.inside(x.base) if x.name in whole else ())) for x in arrays}
    out = []
    for one, two in combinations(arrays, 2):
        if not {one.name, two.name} & written or (_own(one) and _own(two)) or _same(scop, one, two):
            continue
        shown = any(scop.origins.related(p, q) for p, q in product(places[one.name], places[two.name]))
        apart = _apart(scop, one, two) or _apart(scop, two, one) or _other_types(scop, one, two)
        if shown or not (trust or apart):
            out.append(_Pair(one, two, shown))
    return out


def _shared(scop: Scop, array: Array) -> bool:
    """Whether a pointer from elsewhere may lead to it: any array, and scalars whose address others may have."""
    seen = array.rank > 0 or array.opaque or array.place == "global" or array.base in scop.origins.exposed
    return seen and not array.inside and array.place != "buffer"


def _own(array: Array) -> bool:
    """Whether the name stands for the storage itself, not for a pointer to it."""
    return (array.place in ("global", "local") and array.depth == 0) or (array.rank == 0 and not array.opaque)


def _apart(scop: Scop, one: Array, two: Array) -> bool:
    """Is the first memory that the second, which is not set from it, cannot lead to?"""
    origins = scop.origins
    settled = _direct(scop, two) and two.base in origins.settled | origins.fresh
    return _alone(scop, one) and (_own(two) or settled)


def _other_types(scop: Scop, one: Array, two: Array) -> bool:
    """Are they elements of types by which C lets nobody use the same object? It is asked only of arrays whose elements
    no test can name: where there is a test, it costs nothing."""
    a, b = one.part or one.elem, two.part or two.elem
    known = all(t.kind in ("int", "float") and not (t.is_int and t.bits == 8) for t in (a, b))
    known = known and scop.dialect.typed_memory
    return (one.opaque or two.opaque) and known and (a.kind, a.bits) != (b.kind, b.bits)


def _alone(scop: Scop, array: Array) -> bool:
    """Is it memory that only its own name leads to, when the function begins or when it is allocated?"""
    local = _own(array) and array.place != "global"
    return local or (_direct(scop, array) and array.base in scop.origins.restricted | scop.origins.fresh)


def _direct(scop: Scop, array: Array) -> bool:
    """Do the elements lie behind the variable itself, not behind pointers in memory?"""
    return array.depth <= 1 and len(_place(scop, array)) == 1


def _place(scop: Scop, array: Array) -> Place:
    """The variable and the members that lead to the pointer, or to the elements of the variable itself."""
    path = _accesses(scop, array)[0].path
    way = []
    for step in path:
        if step.kind not in ("member", "arrow"):
            break
        way.append(step.text)
    return (array.base, *(way if len(way) < len(path) else ()))


def _accesses(scop: Scop, array: Array) -> list[Access]:
    return [a for _, a in scop.accesses_to(array.name)]


def _same(scop: Scop, one: Array, two: Array) -> bool:
    """Whether two names of the model stand for members of the same elements."""
    a, b = only_pointer(scop, one.name), only_pointer(scop, two.name)
    return a is not None and b is not None and a.text == b.text


def _cells(scop: Scop, written: Sequence[Array]) -> dict[str, list[str]]:
    """Pointers to single values in memory that the region only reads, with the arrays that may be stored over them.

    An object is stored to with its own type, or as characters."""
    out: dict[str, list[str]] = {}
    for text, ctype in dict.fromkeys((*_values(scop), *_pointer_values(scop))):
        behind, base = pointee(text), re.split(r"\W", text)[0]
        if (not behind and "->" not in text and base not in _named(scop)) or (ctype is None and _kept(scop, base)):
            continue
        over = [x for x in written if _stores(scop, x, ctype) and _reaches(scop, x, base, "->" in text)]
        way = text.rpartition("->")[0]
        if over and "->" in way and not is_followed(scop, way, _uses_of(scop, text)):
            raise _hidden(scop, text, over[0].name)
        if over:
            # What lies behind another pointer in the same struct may be a part of the struct.
            whole = behind if all(x.base != behind for x in over) else ""
            out.setdefault(whole or f"&{text}", []).extend(x.name for x in over)
    for read in (r for c in scop.computed for r in c.reads):
        if not read.base:  # what lies between two pointers, which only stores of bytes reach
            ends = [x for x in read.text.split(" - ") if "->" in x]
            over = [x for x in written if _is_character(scop, x)]
            out.update((f"&{end}", [x.name for x in over]) for end in ends if over)
            continue
        over = [x for x in written if _stores(scop, x, read.ctype) and _reaches(scop, x, read.base, True)]
        if over and not _kept(scop, read.base):
            out[f"&{read.text}"] = [x.name for x in over]
    return out


def _named(scop: Scop) -> frozenset[str]:
    """Variables that pointers may lead to."""
    pointers = {x.base for x in scop.arrays.values() if x.place == "global" and x.depth > 0}
    return scop.origins.visible | scop.origins.exposed | pointers


def _pointer_values(scop: Scop) -> Iterator[tuple[str, None]]:
    """The pointers in memory that lead to elements: `p->x` of `p->x[i]`, and variables."""
    for _, a in scop.accesses():
        array, arrows = scop.arrays[a.array], 0
        text = array.base
        depth = max(array.depth, int(array.place == "param"))  # arrays that are parameters are pointers
        for step in a.path if not array.inside and array.place != "buffer" else ():
            if step.kind == "arrow" or (step.kind != "member" and depth > arrows):
                yield text, None
            if step.kind not in ("member", "arrow"):
                break
            arrows += step.kind == "arrow"
            text += ("->" if step.kind == "arrow" else ".") + step.text


def _kept(scop: Scop, base: str) -> bool:
    """Is what a variable leads to out of reach for all pointers that are not set from it?"""
    return base in scop.origins.restricted | scop.origins.fresh


def _values(scop: Scop) -> Iterator[tuple[str, CType]]:
    yield from ((p.text, p.ctype) for p in scop.params)
    for s in scop.statements:
        yield from ((e.text, e.ctype) for e in walk(s.rhs) if isinstance(e, Sym) and e.ctype is not None)


def _uses_of(scop: Scop, text: str) -> Iterator[isl.Set]:
    """For which parameters statements may look at a single value."""
    for s in scop.statements:
        if any(isinstance(e, Sym) and e.text == text for e in walk(s.rhs)):
            yield s.domain.params()
        for a in s.accesses:
            at = table_of(scop, a.array)
            if at is not None and at.text == text:
                yield s.instances(a).params()


def _stores(scop: Scop, array: Array, ctype: CType | None) -> bool:
    """May its elements be stored over an object of this type, or over a pointer if there is none?"""
    e = array.part or array.elem
    return _is_character(scop, array) or (ctype is not None and (e.kind, e.bits) == (ctype.kind, ctype.bits))


def _is_character(scop: Scop, array: Array) -> bool:
    """Are its elements characters, or of a type that may be anything, as all are where types say nothing?"""
    e = array.part or array.elem
    return not scop.dialect.typed_memory or (e.is_int and e.bits == 8) or e.kind == "other"


def _reaches(scop: Scop, array: Array, base: str, behind: bool) -> bool:
    """May its elements lie where a variable does, or in memory `behind` that, as far as one pointer tells?"""
    if not _shared(scop, array):
        return False
    if _own(array):
        theirs = _kept(scop, base) or (array.place != "global" and base in scop.origins.settled)
        return behind and not theirs
    if array.base == base:  # as parts of the same struct, they are other members of it
        steps = takewhile(lambda step: step.kind in ("member", "arrow"), _accesses(scop, array)[0].path)
        return behind and array.depth > sum(step.kind == "arrow" for step in steps)
    return not _alone(scop, array)


# -- messages ------------------------------------------------------------------------------------------


def _tested(scop: Scop, pair: _Pair) -> Diagnostic:
    names = f"`{pair.one.base}` and `{pair.two.base}`"
    words = f"the function sets {names} from one another: the source's own loops run where they overlap"
    loc = _accesses(scop, pair.one)[0].loc
    return Diagnostic(Severity.REMARK, "overlap", words, loc, "use one of them for both", kind="missed")


def _assumed(scop: Scop, array: Array) -> Diagnostic:
    how = "is used by subscripts that depend on data" if array.opaque else "is found through pointers in memory"
    words = f"`{array.base}` {how}, and taken not to overlap with other arrays"
    hint = "--check-alias leaves the region as it is instead"
    return Diagnostic(Severity.REMARK, "overlap", words, _accesses(scop, array)[0].loc, hint, kind="analysis")


def _unknown(scop: Scop, array: Array, other: Array, shown: bool) -> Unsupported:
    if may_lead_nowhere(scop, array):
        return _may_not_be_followed(scop, array, other.base)
    loc = _accesses(scop, array)[0].loc
    how = "used by subscripts that depend on data" if array.opaque else "found through pointers in memory"
    if shown:
        return Unsupported(
            "alias-unknown",
            f"`{array.base}` is {how}, and the function sets it and `{other.base}` from one "
            "another: whether they overlap cannot be tested before the loops",
            loc,
            "use one of them for both, or put the memory behind one pointer",
        )
    return Unsupported(
        "alias-unknown",
        f"`{array.base}` is {how}: whether it overlaps with other arrays cannot "
        "be tested before the loops, as --check-alias asks",
        loc,
        "declare its pointer `restrict`, or leave --check-alias out if nothing overlaps"
        if array.opaque
        else "put it into one block of memory behind one pointer, or leave --check-alias out if nothing overlaps",
    )


def _several_pointers(scop: Scop, array: Array) -> Unsupported:
    """Elements behind a few pointers, each of which lies in memory."""
    words = f"`{array.base}` is found through several pointers in memory: whether it overlaps with other arrays"
    hint = "copy the pointers to variables before the region, or use --assume-no-alias if nothing overlaps"
    loc = _accesses(scop, array)[0].loc
    return Unsupported("alias-unknown", f"{words} cannot be tested before the loops", loc, hint)


def _changed_pointer(scop: Scop, array: Array, stored: Array) -> Unsupported:
    """A pointer behind another one, and stores by which C lets it be changed."""
    words = f"a store to `{stored.base}` may change the pointers that lead to `{array.base}`"
    hint = "copy the last pointer to a variable before the region"
    return Unsupported("alias-unknown", words, _accesses(scop, array)[0].loc, hint)


def _hidden(scop: Scop, text: str, other: str) -> Unsupported:
    """A value behind a pointer in memory that the source follows only where data say so."""
    return Unsupported(
        "alias-unknown",
        f"`{text}` is read only under conditions on data: whether a store to `{other}` changes it cannot be tested "
        "before the loops",
        scop.loc,
        "copy it to a variable before the region, or use --assume-no-alias if nothing overlaps",
    )


def _may_not_be_followed(scop: Scop, array: Array, other: str) -> Unsupported:
    """Its pointer is in a struct that the source reads only where data say so."""
    at = table_of(scop, array.name)
    assert at is not None
    return Unsupported(
        "alias-unknown",
        f"`{at.text}` is read only under conditions on data: whether its elements overlap with `{other}` cannot be "
        "tested before the loops",
        _accesses(scop, array)[0].loc,
        "copy the pointer to a variable before the region, or use --assume-no-alias if nothing overlaps",
    )
