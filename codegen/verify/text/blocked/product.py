"""Proof of a region's blocked products: each block, read back from the printed text, is run symbolically (`execute.py`)
against what its product has to compute (`claim.py`). Returns why a text does not do that, or the empty string."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from codegen.isa.load import load as load_isa
from codegen.isa.model import C_TYPES, Isa
from codegen.scop.lanes import Lane
from codegen.scop.product import Blocking, Contraction
from codegen.target.product.microkernel import is_rolled, nr_max, tile_name
from codegen.target.product.microkernel import name as kernel_name
from codegen.target.product.microkernel_model import MicroKernel
from codegen.target.product.microkernel_rolled import whole_of
from codegen.target.product.tiles import all_kernels, micro_kernel_of
from codegen.target.product.view import ProductView, Wanted, WantedTable
from codegen.target.text.scalar import scalar
from codegen.verify.poly import Poly, poly, var
from codegen.verify.text.blocked.choice import kernel_call
from codegen.verify.text.blocked.claim import Claim, PackedOperand, TableClaim
from codegen.verify.text.blocked.copies import copies_as_loops
from codegen.verify.text.blocked.elements import in_rows
from codegen.verify.text.blocked.execute import BlockRun
from codegen.verify.text.blocked.own_bounds import with_own_bounds
from codegen.verify.text.blocked.state import NOUGHT, TARGET
from codegen.verify.text.blocks import BOUND, bounds, renamed
from codegen.verify.text.compare import COLUMN, DEPTH, ROW
from codegen.verify.text.facts import Facts
from codegen.verify.text.integers import Integers
from codegen.verify.text.lanes import vector_types
from codegen.verify.text.layout import layout
from codegen.verify.text.printed import product_blocks
from codegen.verify.text.proven import form_key, is_proven, made
from codegen.verify.text.read import Node, Unread, read_expression, read_functions, read_statements

_PROVEN: set[str] = set()  # what was proven before in this process


def wrong_products(
    text: str, views: Sequence[ProductView], known: Callable[[str, ProductView], bool] = lambda *_: False
) -> str:
    """Why the text of a region does not carry out its products; empty when it does. Those that are `known` to be right
    are not looked at."""
    blocks = product_blocks(text)
    if len(blocks) != len(views):
        return f"{len(blocks)} products were printed in place of {len(views)}"
    for block, v in zip(blocks, views, strict=True):
        problem = "" if known(block, v) else wrong_product(block, v)
        if problem:
            return f"{v.comment}: {problem}"
    return ""


def wrong_product(text: str, v: ProductView) -> str:
    """Why one product's block does not do what it should."""
    problem = ""
    for numbers in (True, False):  # large numbers by names first: that is as good, and shorter
        try:
            (block,) = read_statements(text)
            short = bounds(block, _ranges(v), numbers)
            wanted = claim(v.wanted, v.chosen, short)
            _prove_once(*in_rows(copies_as_loops(renamed(block, short), wanted), wanted))
            return ""
        except Unread as error:
            problem = str(error)
            if not any(x.isdigit() for x in v.wanted.past):
                return problem
    return problem


def _prove_once(block: Node, c: Claim) -> None:
    """Of products that differ in names and places alone, and in which bounds are equal, one is proven. Raises Unread
    where it cannot be."""
    general = with_own_bounds(block, c)
    for text, wanted in [general] if general[0] is block else [general, (block, c)]:
        key = form_key(_key(text, wanted))
        try:
            if key not in _PROVEN and not is_proven(key):
                _prove(text, wanted)
        except Unread:
            if text is block:
                raise
            continue
        _PROVEN.add(key)
        made.add(key)
        return


def _ranges(v: ProductView) -> list[tuple[str, str, str]]:
    return list(zip(v.wanted.first, v.wanted.past, (b.size for b in (v.rows, v.columns, v.depth)), strict=True))


def _key(block: Node, c: Claim) -> str:
    """All that the proof looks at, the same for texts that differ only in what the user's variables and the coordinates
    are called. A name in place of a bound is like one of the user's: all that is known of it is in the claim."""
    spelled = {f"{name}{part}": f"{x}:{part}" for x, name in c.names.items() for part in "bptr"}

    def spell(n: Node) -> Node:
        text = n.text
        if n.kind in ("name", "declare") and (text.startswith(BOUND) or not text.startswith(("tw_", "TW_"))):
            text = spelled.setdefault(text, f"user{len(spelled)}")
        return Node(n.kind, text, tuple(map(spell, n.kids)))

    parts = (block, c.step, *c.left.values, *c.right.values, c.target, *c.consts, *c.corners, *c.first, *c.past)
    sizes = (c.left.width, c.left.copies, c.right.width, len(c.left.values))
    careful = c.careful and c.same
    rest = (*sizes, c.kernels, c.choices, c.rounds, c.packed, careful, c.elem, c.few, c.longest, c.digits, c.in_lines)
    tables = [
        (n, t.base, t.elem, t.of, [spell(x) for x in (t.element, t.origin, t.size, *(x for lp in t.loops for x in lp))])
        for n, t in sorted(c.tables.items())
    ]
    return f"{tuple(map(spell, parts))} {rest} {c.target_base} {tables}"


def claim(w: Wanted, chosen: str, short: Mapping[Node, Node]) -> Claim:
    """What a product's text is compared with, with names in place of some expressions. `chosen` is the text of kernels
    that the product calls through a function that chooses among them."""
    what, how = w.what, w.how
    isa = load_isa(how.isa, how.bits)
    whole = micro_kernel_of(what, how)
    lanes = poly(isa.lanes_max(whole.elem)) if isa.bits else var(f"{isa.prefix}_lanes_{whole.elem}()")
    copies = isa.lanes_max(whole.elem) if how.spread else 1
    left = PackedOperand("left", ROW, poly(how.mr), _read(w.left, short), copies)
    right = PackedOperand("right", COLUMN, lanes * how.nv, _read(w.right, short), 1)
    firsts, pasts = _read(w.first, short), _read(w.past, short)
    return Claim(
        left,
        right,
        _read((w.target,), short)[0],
        _read(w.consts, short),
        (firsts[0], firsts[1], firsts[2]),
        (pasts[0], pasts[1], pasts[2]),
        {_call(isa, k): layout(isa, k, lanes) for k in all_kernels(what, how)},
        _rounds(what, how),
        _read(w.corners, short),
        _step(what, copies, bool(whole.narrow)),
        C_TYPES[what.step.elem],
        C_TYPES[whole.narrow or whole.elem],
        what.step.careful,
        dict(zip("ijk", w.names, strict=True)),
        poly(nr_max(isa, whole)),
        {t.name: _table(w, t, short) for t in w.tables},
        {c: len(loops) for c, loops in zip("ijk", w.loops, strict=True) if len(loops) > 1},
        next((t.base for t in w.tables if t.target), ""),
        {f[0]: f for f in read_functions(chosen, vector_types(isa))[1:]},
        w.few,
        _in_lines(w),
        dict(zip(("left", "right"), w.packed, strict=True)),
        w.elem if what.step.careful else "",
    )


def _in_lines(w: Wanted) -> bool:
    """Is the left operand an element of an array, its neighbour the one of the next depth, and the one of the next row
    at the same distance everywhere? (That no step writes what it reads is a question of the product.)"""
    e = read_expression(w.left[0])
    if len(w.left) > 1 or e.kind != "index":
        return False
    names = {ROW: var(ROW), DEPTH: var(DEPTH)}
    last = True
    while e.kind == "index":
        moved = ({**names, ROW: names[ROW] + 1}, {**names, DEPTH: names[DEPTH] + 1})
        here, below, beside = (Integers(Facts(), x).value(e.kids[1]) for x in (names, *moved))
        if beside - here != poly(int(last)) or not (below - here).names.isdisjoint(names):
            return False
        e, last = e.kids[0], False
    return e.kind == "name"


def _call(isa: Isa, k: MicroKernel) -> str:
    """How a kernel is called."""
    return kernel_call(tile_name(isa, whole_of(k)), k.mr, k.nv) if is_rolled(isa, k) else kernel_name(isa, k)


def _table(w: Wanted, t: WantedTable, short: Mapping[Node, Node]) -> TableClaim:
    """A table of offsets, which holds as many as its coordinate has values."""
    loops = w.loops[t.of]
    size = _apart(w.first[t.of], w.past[t.of])
    ints = Integers(Facts(), {})
    total = poly(1)
    for first, past in loops:
        total = total * ints.value(_apart(first, past))
    if total != ints.value(size):
        raise Unread(f"{t.name} is for {total} values in place of {ints.value(size)}")
    bounds_of = tuple((renamed(read_expression(a), short), renamed(read_expression(b), short)) for a, b in loops)
    element, origin = _read((t.element, t.origin), short)
    return TableClaim(t.base, t.elem, "ijk"[t.of], bounds_of, renamed(size, short), element, origin)


def _apart(first: str, past: str) -> Node:
    """How far two values are apart."""
    low, high = read_expression(first), read_expression(past)
    return high if low == NOUGHT else Node("binary", "-", (high, low))


def _step(what: Contraction, copies: int, narrow: bool) -> Node:
    """A step as an expression in names for its operands."""
    elem = C_TYPES[what.step.elem]

    def leaf(x: Lane) -> str:
        if x.op in ("acc", "const"):
            return f"({elem})tw_acc" if x.op == "acc" else f"tw_s{x.index}"
        wide = narrow and not (x.op == "a" and copies > 1)
        return f"{f'({elem})' if wide else ''}tw_{x.op.upper()}{x.index}"

    return read_expression(scalar(what.step.lane, what.step.elem, leaf))


def _rounds(what: Contraction, how: Blocking) -> int:
    return len(what.step.left) // micro_kernel_of(what, how).lefts


def _read(texts: Sequence[str], short: Mapping[Node, Node]) -> tuple[Node, ...]:
    return tuple(renamed(read_expression(t), short) for t in texts)


def _in_vectors(facts: Facts, ends: Sequence[Poly], unit: Poly) -> None:
    """Numbers are tried in which sizes are whole vectors, too, or nearly so: edges are such."""
    pick = facts.samples.random.randrange

    def end(size: int, lanes: int) -> int:
        return lanes * pick(1, 30) + max(0, pick(4) - 2) if pick(2) else size

    for p in (p for p in ends if p.number is None and len(p.terms) == 1):
        facts.samples.give(str(p), end, p, unit)


def _prove(block: Node, c: Claim) -> None:
    facts = Facts()
    ints = Integers(facts, {})
    ranges = {x: (ints.value(a), ints.value(b)) for x, a, b in zip("ijk", c.first, c.past, strict=True)}
    given = [hi - lo - 1 for lo, hi in ranges.values()]  # the product stands where there is something to do
    given += [n - ranges[x][1] + ranges[x][0] for x, n in zip("ij", c.few, strict=True) if n is not None]
    given += [ints.value(b) - ints.value(a) - 1 for t in c.tables.values() for a, b in t.loops]
    units = sorted(c.right.width.names)
    given += [p for name in units for p in (var(name) - 1, c.longest - c.right.width)]
    facts.samples.draw(given)
    for name in units:
        _in_vectors(facts, [hi for _, hi in ranges.values()], var(name))
    facts.units |= dict.fromkeys(units)
    facts.learn(*given)
    try:
        done = BlockRun(c, facts).block((block,)).get(TARGET)
        if done is None:
            raise Unread("it updates nothing")
        for x, (lo, hi) in ranges.items():
            span = done.spans[x]
            if not facts.equal(span.lo, lo) or not facts.equal(span.hi, hi):
                raise Unread(f"coordinate {x} runs from {span.lo} to {span.hi} in place of {lo} to {hi}")
    except Unread as error:
        raise Unread(facts.spelled(str(error))) from None
