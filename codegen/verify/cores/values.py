"""Values of printed statements on local copies, and of the model's statements, in a normal form: `alike` compares them,
which requires the same operations on the same elements. `statements.py` compares whole statements with it.

What to compare with is printed from the statement by the expression printer, with a mark for each access. Marks stand
for elements of arrays, which are compared by their coordinates.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple, Union

from codegen.ast.ctree import Bin, CExpr, Held, Instance, Name, expr_names, substitute
from codegen.record import record
from codegen.scop.model import Scop, Statement
from codegen.target.text.body import BodyPrinter
from codegen.target.text.cexpr import IntPrinter
from codegen.verify.cores.expr import integer, polynomial
from codegen.verify.cores.memory import BoxCopy, MainArray
from codegen.verify.poly import Poly, poly, total
from codegen.verify.text.read import Node, Unread, read_statements

MARK, VARIABLE = "tw_mark_", "tw_var_"


class LocalElement(NamedTuple):
    """An element of an array, and the box in local memory that it is found in, if any. One that is addressed by a
    single number has that alone."""

    array: str
    at: tuple[Poly, ...]
    copy: str = ""


class NameScope(NamedTuple):
    """What names stand for at a place of the program."""

    scop: Scop
    integers: Mapping[str, CExpr]
    outsides: Mapping[str, MainArray]  # by the name in the program
    copies: Mapping[str, BoxCopy]  # by the name that addresses them
    held: Mapping[str, Held]  # the region's own variables, by their name in the model
    shared: frozenset[str]  # those of them that live in the arguments
    values: Mapping[str, Value]  # constants that stand for expressions
    args: str
    parts: Mapping[str, str] = MappingProxyType({})  # variables that a core has a part of, by the part's name

    def integer(self, e: Node) -> CExpr:
        return integer(e, self.integers)


@record
class MarkedBodies(BodyPrinter):
    """Statement bodies with marks for their accesses; accesses to one element have one mark."""

    def access(self, s: Statement, at: Instance, number: int) -> str:
        return f"{MARK}{same_as(s, at, number)}"


def same_as(s: Statement, at: Instance, number: int) -> int:
    """The first access of a statement to the same element."""

    def key(k: int) -> object:
        return s.accesses[k].array, s.accesses[k].path, at.accesses[k]

    return next(k for k in range(len(s.accesses)) if key(k) == key(number))


def marked(scop: Scop, at: Instance) -> Node:
    """The statement as it is to be read, with marks for accesses and for variables of loops."""
    s = scop.statement(at.stmt)
    params = {p.name: p for p in scop.params}
    names = {v: f"{VARIABLE}{v}" for e in at.values for v in expr_names(e) if v not in params}
    ints = IntPrinter(params, names, set())
    found = read_statements(MarkedBodies(scop, ints, {}).statement(s, at))
    return found[0] if len(found) == 1 else Node("block", "", found)


def wanted(sc: NameScope, at: Instance, number: int, shift: Mapping[str, CExpr]) -> LocalElement:
    """The element of an access, with some loop variables moved on."""
    s = sc.scop.statement(at.stmt)
    a = s.accesses[number]
    index: list[CExpr] = [substitute(e, dict(shift)) for e in at.accesses[number]]
    if sc.scop.arrays[a.array].inside:
        held = sc.held[a.array]
        starts = [substitute(low, dict(shift)) for low in held.starts]
        index = [Bin("-", e, low) for e, size, low in zip(index, held.sizes, starts, strict=True) if size]
    return _element(sc, a.array, [polynomial(e) for e in index])


def _element(sc: NameScope, array: str, index: Sequence[Poly], copy: str = "") -> LocalElement:
    """Arrays that are addressed by one number have elements with one coordinate."""
    flat = next((o for o in sc.outsides.values() if o.array == array and o.flat), None)
    if flat is not None and len(index) == len(flat.strides):
        return LocalElement(array, (total(i * p for i, p in zip(index, flat.strides, strict=True)),), copy)
    return LocalElement(array, tuple(index), copy)


def resolve(sc: NameScope, e: Node) -> LocalElement | None:
    """The element that an expression names; None if it names none."""
    base, subscripts = e, list[Node]()
    while base.kind == "index":
        subscripts.insert(0, base.kids[1])
        base = base.kids[0]
    if base.kind == "unary" and base.text == "*" and not subscripts:
        base = base.kids[0]
        return LocalElement(sc.outsides[base.text].array, ()) if _single(sc, base) else None
    if base.kind == "member" and base.text == "->" and base.kids[0] == Node("name", sc.args):
        name = base.kids[1].text
        return LocalElement(name, _numbers(sc, subscripts)) if name in sc.shared else None
    if base.kind != "name":
        return None
    name = base.text
    if name in sc.parts and not subscripts:
        return LocalElement(sc.parts[name], (), name)
    if name in sc.copies:
        copy = sc.copies[name]
        if len(subscripts) != len(copy.lows):
            raise Unread(f"`{name}` with more or fewer subscripts")
        pairs = zip(_numbers(sc, subscripts), copy.lows, strict=True)
        return _element(sc, copy.array, [i + polynomial(low) for i, low in pairs], name)
    if name in sc.outsides and subscripts:
        o = sc.outsides[name]
        found = _numbers(sc, subscripts)
        if len(found) != (1 if o.flat else len(o.strides)):
            raise Unread(f"`{name}` with more or fewer subscripts")
        return LocalElement(o.array, found)
    if name in sc.held and name not in sc.shared:
        return LocalElement(name, _numbers(sc, subscripts))
    return None


def _single(sc: NameScope, base: Node) -> bool:
    return base.kind == "name" and base.text in sc.outsides and not sc.scop.arrays[sc.outsides[base.text].array].rank


def _numbers(sc: NameScope, subscripts: Sequence[Node]) -> tuple[Poly, ...]:
    return tuple(polynomial(sc.integer(s)) for s in subscripts)


class ValueTerm(NamedTuple):
    """An operation on values."""

    kind: str
    text: str
    kids: tuple[Value, ...]


Value = Union[LocalElement, Poly, ValueTerm]
Leaf = Callable[[Node], Union[Value, None]]


def build(e: Node, leaf: Leaf) -> Value:
    """A value in normal form; `leaf` gives those that names and elements stand for."""
    found = leaf(e)
    if found is not None:
        return found
    kids = tuple(build(k, leaf) for k in e.kids)
    numbers = [k if isinstance(k, Poly) else _literal(k) for k in kids]
    known = [n for n in numbers if n is not None]
    if any(isinstance(k, Poly) for k in kids) and len(known) == len(kids):
        if e.kind == "unary" and e.text == "-":
            return -known[0]
        if e.kind == "binary" and e.text in ("+", "-", "*"):
            a, b = known
            return a + b if e.text == "+" else a - b if e.text == "-" else a * b
    return ValueTerm(e.kind, e.text, kids)


def _literal(v: Value) -> Poly | None:
    plain = isinstance(v, ValueTerm) and v.kind == "number" and v.text.isdigit()
    return poly(int(v.text)) if plain else None  # type: ignore[union-attr]


def printed(sc: NameScope, e: Node) -> Value:
    """The value of an expression of the program."""

    def leaf(x: Node) -> Value | None:
        if x.kind in ("index", "name", "unary", "member"):
            found = resolve(sc, x)
            if found is not None:
                return found
        if x.kind == "name" and x.text in sc.values:
            return sc.values[x.text]
        return polynomial(sc.integers[x.text]) if x.kind == "name" and x.text in sc.integers else None

    return build(e, leaf)


def expected(sc: NameScope, at: Instance, e: Node, shift: Mapping[str, CExpr] = MappingProxyType({})) -> Value:
    """What a marked statement, or a part of it, is to be, with some loop variables moved on."""

    def leaf(x: Node) -> Value | None:
        if x.kind == "name" and x.text.startswith(MARK):
            return wanted(sc, at, int(x.text.removeprefix(MARK)), shift)
        if x.kind == "name" and x.text.startswith(VARIABLE):
            return polynomial(substitute(Name(x.text.removeprefix(VARIABLE)), dict(shift)))
        param = next((p for p in sc.scop.params if x.kind == "name" and p.text == x.text), None)
        return None if param is None else polynomial(Name(param.name))

    return build(e, leaf)


def alike(found: Value, want: Value, places: dict[LocalElement, set[str]]) -> bool:
    """The same operations on the same elements, wherever those are kept; `places` gets to know where that is."""
    if isinstance(found, LocalElement) and isinstance(want, LocalElement):
        if found[:2] != want[:2]:
            return False
        places.setdefault(want, set()).add(found.copy)
        return True
    if isinstance(found, ValueTerm) and isinstance(want, ValueTerm):
        same = found[:2] == want[:2] and len(found.kids) == len(want.kids)
        return same and all(alike(a, b, places) for a, b in zip(found.kids, want.kids, strict=True))
    return type(found) is type(want) and found == want
