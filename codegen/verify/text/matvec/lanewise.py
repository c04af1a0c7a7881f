"""Symbolic evaluation of a matrix-vector kernel's vector expressions, lane by lane."""

from __future__ import annotations

from collections.abc import Sequence

from codegen.isa.model import Isa
from codegen.target.matvec.shuffle import macro
from codegen.verify.poly import Poly, poly
from codegen.verify.text.facts import Facts
from codegen.verify.text.integers import Integers, ways
from codegen.verify.text.lanes import LaneReader, literal, show
from codegen.verify.text.matvec.state import K, MatvecState, N, SelectedElement, Spec, Vector, within
from codegen.verify.text.matvec.terms import UNKNOWN, ArrayElement, LaneChoice, LaneValue, TakenSteps, Terms
from codegen.verify.text.read import Node, Unread, nodes


class Lanewise(LaneReader[Vector]):
    """Vectors as tuples of lanes, in the state of one way through the function."""

    def __init__(self, isa: Isa, spec: Spec, terms: Terms) -> None:
        super().__init__(isa, spec.elem)
        self.spec, self.terms = spec, terms
        self.count = isa.lanes_max(spec.elem)
        self.shuffle = macro(isa, spec.elem)
        self.state = MatvecState(Facts())
        self.guarded = False  # choices are decided by what is known here alone

    # -- vectors -----------------------------------------------------------------------------------

    def named(self, name: str) -> Vector | None:
        found = self.state.vectors.get(name)
        if found is None or not self.guarded:
            return found
        return tuple(self.terms.known(x, self.state.facts) for x in found)

    def attempt(self, node: Node) -> Vector | None:
        if node.kind == "call" and node.text == self.shuffle:
            x, y = (self.value(k) for k in node.kids[:2])
            both = (*x, *y)
            order = [int(k.text) for k in node.kids[2:]]
            if len(order) != self.count or max(order) >= len(both):
                raise Unread("a shuffle takes lanes that are not there")
            return tuple(both[k] for k in order)
        return super().attempt(node)

    def loaded(self, address: Node, group: bool) -> Vector | None:
        where = self.address(address)
        return None if where is None else self.load(where, self.count)

    def spread(self, node: Node) -> Vector | None:
        one = self.scalar(node)
        return None if one is None else (one,) * self.count

    def lane(self, group: Vector, number: int) -> Vector | None:
        return (group[number],) * self.count

    def operation(self, op: str, args: Sequence[Vector]) -> Vector | None:
        return tuple(self.terms.operation(op, lane) for lane in zip(*args, strict=True))

    # -- scalars, addresses and memory -------------------------------------------------------------

    def scalar(self, node: Node) -> int | None:
        number = neutral_text(node)
        if number is not None:
            return self.terms.put(LaneValue("number", number))
        if node.kind == "name" and node.text in self.spec.consts:
            return self.terms.put(LaneValue("const", node.text))
        if node.kind == "name" and node.text in self.spec.foreign:
            return self.terms.put(UNKNOWN)
        if node.kind == "index":
            where = self.address(Node("binary", "+", node.kids))
            return None if where is None else self.load(where, 1)[0]
        return None

    def integer(self, node: Node) -> Poly:
        return Integers(self.state.facts, self.state.names, free=False).value(node)

    def address(self, e: Node) -> SelectedElement | None:
        """Where an expression points to. A row may be chosen in it."""
        if e.kind == "name":
            found = self.state.names.get(e.text)
            return found if isinstance(found, SelectedElement) else None
        if e.kind == "unary" and e.text == "&" and e.kids[0].kind == "index":
            return self.address(Node("binary", "+", e.kids[0].kids))
        if e.kind != "binary" or e.text != "+":
            return None
        base = self.address(e.kids[0])
        if base is None:
            return None
        chosen = next((n for n in nodes(e.kids[1]) if n.kind == "choose"), None)
        if chosen is None or base.given is not None:
            by = self.integer(e.kids[1])
            return base._replace(at=base.at + by, other=base.other + by)
        facts = self.state.facts
        ((given,),) = ways(Integers(facts, self.state.names, free=False).cond(chosen.kids[0]))
        yes, no = (self.integer(_put(e.kids[1], chosen, way)) for way in chosen.kids[1:])
        if given.number is not None or facts.recorded(given):
            return base._replace(at=base.at + (yes if given.number is None or given.number >= 0 else no))
        return SelectedElement(base.of, base.at + yes, given, base.at + no)

    def load(self, where: SelectedElement, width: int) -> Vector:
        if where.given is None:
            return self._from(where.of, where.at, width, self.state.facts)
        facts = self.state.facts
        yes = self._from(where.of, where.at, width, facts.copy().learn(where.given))
        no = self._from(where.of, where.other, width, facts.copy().learn(-where.given - 1))
        return tuple(self.terms.put(LaneChoice(where.given, y, n)) for y, n in zip(yes, no, strict=True))

    def _from(self, of: str, at: Poly, width: int, facts: Facts) -> Vector:
        local = self.state.locals.get(of)
        put = self.terms.put
        if local is not None:
            if at.number is None or not 0 <= at.number <= local.size - width:
                raise Unread(f"{of} has no elements {at} to {at + poly(width - 1)}")
            cells = (local.cells.get(at.number + e, local.rest) for e in range(width))
            return tuple(self.terms.known(x, facts) for x in cells) if self.guarded else tuple(cells)
        if of in self.spec.foreign:
            return (put(UNKNOWN),) * width
        if of == "y":
            front = self.state.front
            if not within(facts, at, width, N) or not facts.holds(at - front.at):
                raise Unread(f"elements {at} of the result are read out of turn")
            return tuple(put(TakenSteps(at + e, front.before)) for e in range(width))
        if of in self.spec.operands:
            there = within(facts, at, width, K)
        else:
            row, step = self.spec.place(self.spec.matrices.index(of), at)
            rows, steps = (width, 1) if self.spec.lanes else (1, width)
            there = within(facts, row, rows, N) and within(facts, step, steps, K)
        if not there:
            raise Unread(f"{of} is read at {at}, which may not be there")
        return tuple(put(ArrayElement(of, at + e)) for e in range(width))


def neutral_text(node: Node) -> str | None:
    """A literal, or an expression of the compiler's that is one; spelled as one text."""
    if node.kind == "cast":
        return neutral_text(node.kids[0])
    if node.kind == "unary" and node.text == "-":
        inner = neutral_text(node.kids[0])
        return None if inner is None else f"-{inner}"
    if node.kind == "call" and node.text in ("__builtin_inf", "__builtin_inff"):
        return show(node)
    named = node.kind == "name" and node.text.endswith(("_MIN", "_MAX"))
    return node.text if named else literal(node)


def _put(e: Node, old: Node, new: Node) -> Node:
    return new if e == old else e._replace(kids=tuple(_put(k, old, new) for k in e.kids))
