"""Reading plan text."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace

import islpy as isl

from codegen.diagnostics import InputError, Loc
from codegen.plan.isl_schedule import describe
from codegen.plan.model import (
    Abreast,
    Block,
    Directive,
    Distribute,
    Expand,
    Forward,
    Jam,
    Keep,
    LoopRef,
    Multiply,
    Order,
    Parallel,
    Plain,
    Plan,
    Reverse,
    Schedule,
    Skew,
    Store,
    Tile,
    Unroll,
    Vector,
)
from codegen.recognize.expand import NoExpansion, expand
from codegen.recognize.forward import forwarded
from codegen.record import record
from codegen.scop.model import Scop
from codegen.scop.product import Blocking, Exact, Nested, Sweep
from codegen.scop.tree import Band, Leaf, Loop, Node, seq, statements
from codegen.transform.block import blocked
from codegen.transform.keep import kept

_TOKEN = re.compile(r"\s+|#[^\n]*|(?P<word>\w+)|(?P<sign>.)", re.S)


@record
class Token:
    text: str
    loc: Loc


def _tokens(text: str, file: str) -> list[Token]:
    out, line, start = [], 1, 0
    for m in _TOKEN.finditer(text):
        if m.group("word") or m.group("sign"):
            out.append(Token(m.group(), Loc(file, line, m.start() - start + 1)))
        newlines = m.group().count("\n")
        if newlines:
            line += newlines
            start = m.start() + m.group().rindex("\n") + 1
    return out


def parse(text: str, file: str, scops: Mapping[int, Scop]) -> tuple[Plan, ...]:
    """The plans in `text` for the regions in `scops`; blocks for other regions are passed over."""
    reader = _Reader(_tokens(text, file), Loc(file, text.count("\n") + 1, 1))
    plans: list[Plan] = []
    while reader.more():
        plan = _plan(reader, scops)
        if plan is not None:
            plans.append(plan)
    return tuple(plans)


def planned_regions(text: str, file: str) -> tuple[tuple[int, Loc], ...]:
    """Which regions a plan file speaks of; each at most once."""
    reader = _Reader(_tokens(text, file), Loc(file, text.count("\n") + 1, 1))
    out: dict[int, Loc] = {}
    if reader.more() and reader.peek() != "region":
        reader.take("region")
    while reader.more():
        if reader.take().text == "region":
            loc = reader.loc()
            number = reader.number()
            if number in out:
                raise InputError("bad-plan", f"region {number} is planned twice", loc, "keep one of the two blocks")
            out[number] = loc
    return tuple(out.items())


@dataclass
class _Reader:
    tokens: list[Token]
    end: Loc
    pos: int = 0
    scop: Scop | None = field(default=None)
    blocks: dict[str, int] = field(default_factory=dict)  # iterators over blocks, and the sizes of those

    def more(self) -> bool:
        return self.pos < len(self.tokens)

    def peek(self, ahead: int = 0) -> str:
        return self.tokens[self.pos + ahead].text if self.pos + ahead < len(self.tokens) else ""

    def loc(self) -> Loc:
        return self.tokens[self.pos].loc if self.more() else self.end

    def take(self, expected: str = "") -> Token:
        if not self.more():
            raise InputError("bad-plan", f"the plan ends where {expected or 'more'!r} was expected", self.end, "")
        token = self.tokens[self.pos]
        if expected and token.text != expected:
            raise InputError("bad-plan", f"expected {expected!r} but found {token.text!r}", token.loc, "")
        self.pos += 1
        return token

    def accept(self, text: str) -> bool:
        if self.peek() == text:
            self.pos += 1
            return True
        return False

    def word(self, what: str) -> Token:
        token = self.take()
        if not re.match(r"[A-Za-z_]", token.text):
            raise InputError("bad-plan", f"expected {what} but found {token.text!r}", token.loc, "")
        return token

    def number(self) -> int:
        negative = self.accept("-")
        token = self.take()
        if not token.text.isdigit():
            raise InputError("bad-plan", f"expected a number but found {token.text!r}", token.loc, "")
        return -int(token.text) if negative else int(token.text)

    def loop(self) -> LoopRef:
        first = self.word("a loop")
        if self.accept("."):
            return LoopRef(self.word("a loop").text, first.text)
        return LoopRef(first.text)

    def loops(self) -> tuple[LoopRef, ...]:
        out = [self.loop()]
        while self.accept(","):
            out.append(self.loop())
        return tuple(out)


def _plan(r: _Reader, scops: Mapping[int, Scop]) -> Plan | None:
    loc = r.loc()
    r.take("region")
    number = r.number()
    if number not in scops:
        while r.more() and r.peek() != "region":
            r.take()
        return None
    r.scop = scops[number]
    r.blocks.clear()
    digest = r.take().text if r.accept("digest") else ""
    out: list[Directive] = []
    while r.more() and r.peek() != "region":
        at = r.loc()
        word = r.word("a directive").text
        if word not in _READ:
            raise InputError("bad-plan", f"unknown directive {word!r}", at, f"directives: {', '.join(sorted(_READ))}")
        out.append(_READ[word](r, at))
    return Plan(number, tuple(out), digest, loc)


def _tile(r: _Reader, at: Loc) -> Directive:
    items = []
    while True:
        ref = r.loop()
        r.take(":")
        loc, size = r.loc(), r.number()
        if size < 0:
            raise InputError("bad-plan", "a tile size cannot be negative", loc, "")
        items.append((ref, size))
        if not r.accept(","):
            return Tile(tuple(items), r.accept("full"), at)


def _skew(r: _Reader, at: Loc) -> Directive:
    loop = r.loop()
    r.take("by")
    negative = r.accept("-")
    factor = 1
    if r.peek().isdigit():
        factor = r.number()
        r.take("*")
    return Skew(loop, -factor if negative else factor, r.loop(), at)


def _plain(r: _Reader, at: Loc) -> Directive:
    loop = r.loop()
    r.take("as")
    return Plain(loop, r.word("an iterator").text, at)


def _unroll(r: _Reader, at: Loc) -> Directive:
    return Unroll(*_by_factor(r, "an unroll"), at)


def _jam(r: _Reader, at: Loc) -> Directive:
    return Jam(*_by_factor(r, "a jam"), at)


def _vector(r: _Reader, at: Loc) -> Directive:
    loop = r.loop()
    if not r.accept("by"):
        return Vector(loop, loc=at)
    loc, times = r.loc(), r.number()
    r.take("of")
    width = r.number()
    r.take("bytes")
    if not 1 <= times <= 16 or width not in (8, 16, 32, 64, 128):
        raise InputError("bad-plan", "vectors are 8, 16, 32, 64 or 128 bytes wide, 1 to 16 at a time", loc, "")
    return Vector(loop, width, times, at)


def _by_factor(r: _Reader, what: str) -> tuple[LoopRef, int]:
    loop = r.loop()
    r.take("by")
    loc, factor = r.loc(), r.number()
    if not 1 < factor <= 64:
        raise InputError("bad-plan", f"{what} factor lies between 2 and 64", loc, "")
    return loop, factor


def _store(r: _Reader, at: Loc) -> Directive:
    variable = r.word("a variable").text
    r.take("in")
    loop = r.loop()
    dims = []
    while r.accept("["):
        it = r.word("an iterator").text
        r.take("-")
        start = r.word("a loop").text
        r.take(":")
        dims.append((it, start, r.number()))
        r.take("]")
    return Store(variable, loop, tuple(dims), at)


def _forward(r: _Reader, at: Loc) -> Directive:
    assert r.scop is not None
    name = r.word("a variable").text
    r.scop = forwarded(r.scop, name) or r.scop
    return Forward(name, at)


def _expand(r: _Reader, at: Loc) -> Directive:
    assert r.scop is not None
    name = r.word("a variable").text
    r.take("over")
    over = _names(r)
    limit = _size(r, "limit")
    with suppress(NoExpansion):  # the directive is refused when it is carried out
        r.scop = expand(r.scop, name, over, limit).scop
    return Expand(name, over, limit, at)


def _block(r: _Reader, at: Loc) -> Directive:
    assert r.scop is not None
    head = _head(r)
    size = _size(r, "by")
    places = _listed(r) if r.accept("apart") else {}
    for name in (*head.values, *places):
        if name not in {s.name for s in r.scop.statements}:
            raise InputError("bad-plan", f"there is no statement {name}", at, "")
    values = {n: affine(r.scop, n, text, at) for n, text in head.values.items()}
    apart = {n: tuple(affine(r.scop, n, text, at) for text in texts) for n, texts in places.items()}
    d = Block(head.name, values, size, apart, at)
    r.blocks[head.name] = size
    r.scop = blocked(r.scop, d).scop if size else r.scop
    return d


def _keep(r: _Reader, at: Loc) -> Directive:
    assert r.scop is not None
    name = r.word("a name for the copies").text
    cells = []
    while r.accept("["):
        index = _until(r, ":")
        r.take(":")
        cells.append((index, _until(r, "]")))
        r.take("]")
    r.take("=")
    array = r.word("an array").text
    subscripts = []
    while r.accept("["):
        subscripts.append(_until(r, "]"))
        r.take("]")
    r.take("for")
    stmts = [r.word("a statement").text]
    while r.accept(","):
        stmts.append(r.word("a statement").text)
    d = Keep(name, array, tuple(subscripts), tuple(stmts), tuple(cells), at)
    r.scop = kept(r.scop, d)
    return d


def _listed(r: _Reader) -> dict[str, tuple[str, ...]]:
    """`{S1: i, j; S2: i}`"""
    out: dict[str, tuple[str, ...]] = {}
    r.take("{")
    while not r.accept("}"):
        stmt = r.word("a statement").text
        r.take(":")
        items = [_until(r, ",", ";", "}")]
        while r.accept(","):
            items.append(_until(r, ",", ";", "}"))
        out[stmt] = tuple(items)
        r.accept(";")
    return out


def _schedule(r: _Reader, at: Loc) -> Directive:
    r.take("{")
    tree = _items(r, ())
    r.take("}")
    assert r.scop is not None
    have, want = sorted(statements(tree)), sorted(s.name for s in r.scop.statements)
    if have != want:
        raise InputError(
            "bad-plan",
            f"the schedule lists {', '.join(have)} but the region has {', '.join(want)}",
            at,
            "every statement stands in the schedule exactly once",
        )
    return Schedule(_fill(tree, r.scop, r.blocks), at)


@record
class _Text:
    """A loop as read: its name and the text of its value, for all statements ("") or by statement."""

    name: str
    values: Mapping[str, str]
    loc: Loc


def _items(r: _Reader, above: tuple[_Text, ...]) -> Node:
    out: list[Node] = []
    while r.peek() not in ("}", ""):
        token = r.word("a loop or a statement")
        if token.text == "loop":
            heads = [_head(r)]
            while r.accept(","):
                heads.append(_head(r))
            r.take("{")
            child = _items(r, above)
            r.take("}")
            # Values are filled in once the statements below are known.
            out.append(Band(tuple(Loop(h.name, h) for h in heads), child))  # type: ignore[arg-type]
        else:
            out.append(Leaf(token.text))
    if not out:
        raise InputError("bad-plan", "an empty loop", r.loc(), "put at least one statement into it")
    return seq(out)


def _head(r: _Reader) -> _Text:
    token = r.word("a loop name")
    if not r.accept("="):
        return _Text(token.text, {}, token.loc)
    if r.accept("("):
        return _Text(token.text, {"": _until(r, ")")}, token.loc)
    r.take("{")
    values = {}
    while not r.accept("}"):
        stmt = r.word("a statement").text
        r.take(":")
        values[stmt] = _until(r, ";", "}")
        r.accept(";")
    return _Text(token.text, values, token.loc)


def _until(r: _Reader, *stops: str) -> str:
    """Raw text up to a stop at parenthesis depth 0; a closing parenthesis as stop is consumed."""
    parts, depth = [], 0
    while depth or r.peek() not in stops:
        token = r.take()
        depth += {"(": 1, ")": -1}.get(token.text, 0)
        parts.append(token.text)
    if stops[0] == ")":
        r.take(")")
    return " ".join(parts)


def _fill(node: Node, scop: Scop, blocks: Mapping[str, int]) -> Node:
    if isinstance(node, Band):
        below = statements(node)
        loops = tuple(_loop(lp.exprs, below, scop, blocks) for lp in node.loops)  # type: ignore[arg-type]
        return Band(loops, _fill(node.child, scop, blocks), len(loops) > 1)
    from codegen.scop.tree import kids, with_kids

    return with_kids(node, tuple(_fill(k, scop, blocks) for k in kids(node)))


def _loop(text: _Text, below: tuple[str, ...], scop: Scop, blocks: Mapping[str, int]) -> Loop:
    exprs = {}
    for name in below:
        value = text.values.get(name, text.values.get("", text.name if not text.values else None))
        if value is None:
            raise InputError("bad-plan", f"loop {text.name} has no value for {name}", text.loc, "")
        exprs[name] = affine(scop, name, value, text.loc)
    lp = Loop(text.name, exprs)
    note = f"blocks of {blocks[text.name]}" if text.name in blocks else describe(scop, lp)
    return replace(lp, note=note)


def affine(scop: Scop, name: str, value: str, loc: Loc) -> isl.PwAff:
    """A value of a statement's instances, from isl's notation."""
    s = scop.statement(name)
    params = ", ".join(p.name for p in scop.params)
    try:
        pw = isl.PwAff.read_from_str(
            isl.DEFAULT_CONTEXT, f"[{params}] -> {{ {name}[{', '.join(s.iterators)}] -> [({value})] }}"
        )
    except isl.Error:
        raise InputError(
            "bad-plan",
            f"{value!r} is not an affine value of {name}",
            loc,
            f"it may use {', '.join(s.iterators) or 'no iterators'} and the parameters",
        ) from None
    target = s.domain.get_space()
    return pw.align_params(target.params()).set_tuple_id(isl.dim_type.in_, s.domain.get_tuple_id())


def _multiply(r: _Reader, at: Loc) -> Directive:
    stmt = r.word("a statement").text
    r.take("rows")
    rows = _names(r)
    columns = _names(r) if r.accept("columns") else ()
    r.take("depth")
    depth = _names(r)
    r.take("isa")
    isa = r.word("an instruction set").text
    bits = _size(r, "bits")
    if r.peek() == "form":
        return Multiply(stmt, rows, columns, depth, _sweep(r, isa, bits), at)
    if r.accept("nest"):
        return Multiply(stmt, rows, columns, depth, _nested(r, isa, bits), at)
    mr, nv = _size(r, "tile"), _size(r, "by")
    r.take("vectors")
    spread = r.accept("spread")
    r.take(",")
    mc, kc, nc = _size(r, "block"), _size(r, "by"), _size(r, "by")
    r.take(",")
    direct, threads = _size(r, "direct"), _size(r, "threads")
    exact = []
    while r.accept("or"):
        exact.append(_exact(r))
    how = Blocking(isa, bits, mr, nv, mc, kc, nc, direct, threads, spread, tuple(exact))
    return Multiply(stmt, rows, columns, depth, how, at)


def _exact(r: _Reader) -> Exact:
    """A nest for products of the sizes that it covers."""
    r.take("nest")
    loops = [_nested_loop(r)]
    while r.accept(","):
        loops.append(_nested_loop(r))
    return Exact(tuple(loops))


def _nested(r: _Reader, isa: str, bits: int) -> Nested:
    loops = [_nested_loop(r)]
    while r.accept(",") and r.peek() != "left":
        loops.append(_nested_loop(r))
    pitches = []
    for side in ("left", "right", "target"):
        r.take(side)
        part = [_pair(r)]
        while r.more() and r.peek(1) == ":":
            part.append(_pair(r))
        pitches.append(tuple(part))
        if side != "target":
            r.take(",")
    return Nested(isa, bits, tuple(loops), tuple(pitches))


def _nested_loop(r: _Reader) -> tuple[str, int, int, str]:
    name, size = _pair(r)
    rest = r.number() if r.accept("+") else 0
    pack = ""
    if r.accept("pack"):
        found = [x for word, x in (("left", "A"), ("right", "B")) if r.accept(word)]
        if not found:
            r.take("left")
        pack = "".join(found)
    return name, size, rest, pack


def _pair(r: _Reader) -> tuple[str, int]:
    name = r.word("a loop").text
    return name, _size(r, ":")


def _sweep(r: _Reader, isa: str, bits: int) -> Sweep:
    r.take("form")
    form = r.word("a form").text
    streams, vectors = _size(r, "streams"), _size(r, "by")
    r.take("vectors")
    r.take(",")
    period = ways = 0
    if r.peek() == "period":
        period, ways = _size(r, "period"), _size(r, "ways")
        r.take(",")
    block, shared, ahead = _size(r, "block"), _size(r, "shared"), _size(r, "ahead")
    r.take(",")
    near, close = _size(r, "near"), _size(r, "close")
    r.take(",")
    direct, threads = _size(r, "direct"), _size(r, "threads")
    sizes = (streams, vectors, block, shared, ahead, near, close, direct, threads, period, ways)
    return Sweep(form, isa, bits, *sizes)


def _names(r: _Reader) -> tuple[str, ...]:
    out = [r.word("a loop").text]
    while r.accept(","):
        out.append(r.word("a loop").text)
    return tuple(out)


def _size(r: _Reader, word: str) -> int:
    r.take(word)
    loc, size = r.loc(), r.number()
    if size < 0:
        raise InputError("bad-plan", "a size cannot be negative", loc, "")
    return size


_READ: Mapping[str, Callable[[_Reader, Loc], Directive]] = {
    "forward": _forward,
    "expand": _expand,
    "block": _block,
    "keep": _keep,
    "schedule": _schedule,
    "tile": _tile,
    "order": lambda r, at: Order(r.loops(), at),
    "reverse": lambda r, at: Reverse(r.loop(), at),
    "skew": _skew,
    "distribute": lambda r, at: Distribute(r.loop(), at),
    "parallel": lambda r, at: Parallel(r.loop(), at),
    "vector": _vector,
    "plain": _plain,
    "abreast": lambda r, at: Abreast(r.loop(), at),
    "jam": _jam,
    "unroll": _unroll,
    "store": _store,
    "product": _multiply,
}
DIRECTIVES = frozenset(_READ)
