"""Prints a radix sort of entries as C.

Where key and coordinates together fit a word, the word is sorted with the value beside it and the coordinates are read
back from it: nothing is gathered. Otherwise the entries are stored, their key words sorted, and the order applied.
"""
from __future__ import annotations

from typing import TYPE_CHECKING

from codegen.record import record
from codegen.sparse.algebra.expr import Call, Code, Div, Exp, single
from codegen.sparse.emit.cexpr import code_name
from codegen.sparse.ir.nest import Tick
from codegen.sparse.ir.sorting import Radix, Word

if TYPE_CHECKING:
    from codegen.sparse.emit.steps import StepPrinter


@record
class _Field:
    """Bits of the packed word: what goes in, how many bits, and which coordinates come out, as C."""

    put: str
    bits: str
    out: tuple[tuple[int, str], ...]


def radix(p: StepPrinter, s: Radix) -> None:
    fields, rest = _fields(p, s)
    p.w.open("")
    packed = fields is not None
    if fields is not None:
        _packed(p, s, fields, rest)
    _general(p, s, packed)
    p.w.close()


def _fields(p: StepPrinter, s: Radix) -> tuple[list[_Field] | None, list[_Field]]:
    """Fields that are sorted by, and fields that only carry what is left of the coordinates."""
    have: dict[Exp, str] = {}
    fields: list[_Field] = []
    for n, word in enumerate(s.words):
        f = _morton(p, s, word, n) if _is(word, "MORTON") else _plain(p, word)
        if f is None or word.down:
            return None, []
        fields.append(f)
        call = single(word.value)
        for a in call.args if isinstance(call, (Call, Code)) else (word.value,):
            have[a] = ""
    rest: list[_Field] = []
    for d, x in enumerate(s.coords):
        if x in have:
            continue
        part = next((single(a) for a in have if isinstance(single(a), Div) and single(a).of == x), None)  # type: ignore[union-attr]
        top = p.c(s.extents[d] - 1)
        if isinstance(part, Div):
            rest.append(_Field(f"{p.c(x)} % {part.by}", f"tw_bits({part.by - 1})", ((d, "+"),)))
        else:
            rest.append(_Field(p.c(x), f"tw_bits({top})", ((d, "="),)))
    return fields, rest


def _is(word: Word, name: str) -> bool:
    call = single(word.value)
    return isinstance(call, Call) and call.id == name


def _coordinate(s: Radix, e: Exp) -> tuple[int, str] | None:
    """Which coordinate an expression gives back, and how: x itself, or x div B scaled up."""
    if e in s.coords:
        return s.coords.index(e), "="
    a = single(e)
    if isinstance(a, Div) and a.of in s.coords:
        return s.coords.index(a.of), f"= {a.by} *"
    return None


def _plain(p: StepPrinter, word: Word) -> _Field | None:
    a = single(word.value)
    if isinstance(a, Call):
        return None
    if isinstance(a, Code):
        return _Field(f"(uint64_t){p.c(word.value)}", f"{code_name(a)}.bits", ())
    return _Field(p.c(word.value - word.low), f"tw_bits({p.c(word.high - word.low)})", ())


def _morton(p: StepPrinter, s: Radix, word: Word, n: int) -> _Field:
    call = single(word.value)
    assert isinstance(call, Call)
    rank = len(call.args)
    put = p.morton(tuple(p.c(a) for a in call.args))[-1]
    tops = []
    for a in call.args:
        got = _coordinate(s, a)
        by = single(a).by if isinstance(single(a), Div) else 1  # type: ignore[union-attr]
        tops.append(f"({p.c(s.extents[got[0]] - 1)}) / {by}" if got else "INT64_MAX")
    return _Field(put, f"{rank} * tw_bits({' | '.join(tops)})", ())


def _packed(p: StepPrinter, s: Radix, fields: list[_Field], rest: list[_Field]) -> None:
    w = p.w
    both = [*fields, *rest]
    for n, f in enumerate(both):
        w.line(f"const int bits{n} = {f.bits};")
    total = " + ".join(f"bits{n}" for n in range(len(both)))
    low = " + ".join(f"bits{n}" for n in range(len(fields), len(both))) or "0"
    w.open(f"if ({total} <= {_room(s)})")
    w.line(f"tw_item *item = tw_new({p.c(s.count)}, sizeof *item, 0);")
    w.line(f"tw_item *spare = tw_new({p.c(s.count)}, sizeof *spare, 0);")
    w.open("if (!item || !spare)")
    w.line("free(item);")
    w.line("free(spare);")
    w.line("status = TW_SPARSE_NO_MEMORY;")
    w.line("goto done;")
    w.close()
    threads = p.threaded and s.position is not None
    if threads:
        w.line("#pragma omp parallel for num_threads(threads) schedule(static)")
    else:
        p.prepare((Tick("o"),), ())

    def put() -> None:
        w.line(f"const int64_t o = {p.c(s.position)};" if threads and s.position is not None else "o++;")
        w.line(f"uint64_t key = {both[0].put};")
        for n, f in enumerate(both[1:], 1):
            w.line(f"key = key << bits{n} | (uint64_t)({f.put});")
        w.line("item[o].key = key;")
        w.line(f"item[o].val = {p.c(s.value)};")

    p.nest(s.nest, put)
    call = f"item, spare, {p.c(s.count)}, {low}, {total}"
    name = f"tw_sort_items_omp({call}, threads)" if p.threaded else f"tw_sort_items({call})"
    w.line(f"tw_item *sorted = {name};")
    _unpack(p, s, fields, rest)
    w.line("free(item);")
    w.line("free(spare);")
    w.close("} else {")
    w.depth += 1


def _room(s: Radix) -> int:
    """64 bits, or as many as are interleaved without loss."""
    ranks = [len(c.args) for c in (single(w.value) for w in s.words) if isinstance(c, Call)]
    return min([64, *((64 // r) * r for r in ranks)])


def _unpack(p: StepPrinter, s: Radix, fields: list[_Field], rest: list[_Field]) -> None:
    """Fields come off the low end, the last one first."""
    w = p.w
    if p.threaded:
        w.line("#pragma omp parallel for num_threads(threads) schedule(static)")
    w.open(f"for (int64_t o = 0; o < {p.c(s.count)}; o++)")
    w.line("uint64_t key = sorted[o].key;")
    lines: list[str] = []
    for n in range(len(fields) + len(rest) - 1, -1, -1):
        field = f"(key & tw_mask(bits{n}))"
        if n >= len(fields):
            d, how = rest[n - len(fields)].out[0]
            w.line(f"const int64_t left{n} = (int64_t){field};")
            lines.append(f"{s.arrays[d]}[o] {'+=' if how == '+' else '='} left{n};")
        else:
            _unpack_word(p, s, s.words[n], n, field)
        w.line(f"key = bits{n} < 64 ? key >> bits{n} : 0;")
    for line in lines:
        w.line(line)
    w.line(f"{s.values}[o] = sorted[o].val;")
    w.close()


def _unpack_word(p: StepPrinter, s: Radix, word: Word, n: int, field: str) -> None:
    call = single(word.value)
    if isinstance(call, Call):
        rank = len(call.args)
        of = [f"tw_compact{rank}(word{n} >> {rank - 1 - d})" for d in range(rank)]
        lines = [x for a, value in zip(call.args, of, strict=True) for x in _give(s, a, value)]
    elif isinstance(call, Code):
        of = [f"tw_decode(&{code_name(call)}, {d}, (int64_t)word{n})" for d in range(len(call.args))]
        lines = [x for a, value in zip(call.args, of, strict=True) for x in _give(s, a, value)]
    else:
        low = f" + ({p.c(word.low)})" if word.low != Exp() else ""
        lines = _give(s, word.value, f"(int64_t)word{n}{low}")
    for line in ([f"const uint64_t word{n} = {field};", *lines] if lines else ()):
        p.w.line(line)


def _give(s: Radix, e: Exp, value: str) -> list[str]:
    got = _coordinate(s, e)
    whole = got is not None and s.coords[got[0]] != e and any(w.value == s.coords[got[0]] for w in s.words)
    if got is None or whole:  # a part of what another word has whole says nothing
        return []
    return [f"{s.arrays[got[0]]}[o] {got[1]} {value};"]


def _general(p: StepPrinter, s: Radix, nested: bool) -> None:
    w = p.w
    words = [t for word in s.words for t in _word(p, word)]
    count = p.c(s.count)
    names = [f"c{d}" for d in range(len(s.coords))]
    decl = ", ".join(f"*{n} = tw_new({count}, sizeof *{n}, 0)" for n in names)
    w.line(f"{p.types.c_index} {decl};")
    w.line(f"{p.types.c_value} *cv = tw_new({count}, sizeof *cv, 0);")
    w.line(f"uint64_t *word = tw_new(tw_mul({len(words)}, {count}), sizeof *word, 0);")
    w.line(f"int64_t *order = tw_new({count}, sizeof *order, 0);")
    w.line(f"int ok = {' && '.join([*names, 'cv', 'word', 'order'])};")
    w.open("if (ok)")
    p.prepare((Tick("o"),), ())

    def put() -> None:
        w.line("o++;")
        for n, x in zip(names, s.coords, strict=True):
            w.line(f"{n}[o] = {p.c(x)};")
        w.line(f"cv[o] = {p.c(s.value)};")
        for at, t in enumerate(words):
            w.line(f"word[{f'{at} * {count} + ' if at else ''}o] = {t};")

    p.nest(s.nest, put)
    w.line(f"ok = tw_sort_words(word, {len(words)}, {count}, order);")
    w.close()
    w.open(f"for (int64_t o = 0; ok && o < {count}; o++)")
    for n, a in zip(names, s.arrays, strict=True):
        w.line(f"{a}[o] = {n}[order[o]];")
    w.line(f"{s.values}[o] = cv[order[o]];")
    w.close()
    for n in [*names, "cv", "word", "order"]:
        w.line(f"free({n});")
    p.fail("!ok", "NO_MEMORY")
    if nested:
        w.close()


def _word(p: StepPrinter, word: Word) -> tuple[str, ...]:
    out = p.word(word.value)
    return tuple(f"~({t})" for t in out) if word.down else out


