"""Proof of a matrix-vector kernel's text: every element of the result takes every step once, in ascending order (or in
any order where that was proven to be the same), with the right operands; nothing else is written, and nothing is read
that is not there.

Shown for all numbers n of elements and k of steps that are not negative, any distances of lines, and `several`, a
multiple of the lines taken together, of at most all of them.
"""

from __future__ import annotations

import re

from codegen.isa.model import C_TYPES, Isa
from codegen.target.matvec.kernel import MatvecKernel, grouped, ops, second_ops, together
from codegen.target.matvec.lines import numbered
from codegen.verify.poly import ZERO, Poly, var
from codegen.verify.text.facts import Facts
from codegen.verify.text.integers import Integers, decided, negated, ways
from codegen.verify.text.lanes import show, silent, vector_types
from codegen.verify.text.matvec.lanewise import neutral_text
from codegen.verify.text.matvec.loops import KernelLoops
from codegen.verify.text.matvec.state import SEVERAL, K, LocalValues, MatvecState, N, SelectedElement, Spec, Vector
from codegen.verify.text.matvec.stores import Paths
from codegen.verify.text.matvec.terms import LaneChoice, LaneValue, TakenSteps
from codegen.verify.text.matvec.widths import written_out
from codegen.verify.text.read import NOTHING, Node, Unread, pointee, read_expression, read_functions
from codegen.verify.text.unroll import unrolled

_OTHER = {"n": "k", "k": "n", "y": "z", "z": "y"}
_TURNED = re.compile(r"\b[nkyz]\b")


def wrong_sweep_kernel(isa: Isa, mk: MatvecKernel, text: str, macros: str = "") -> str:
    """Why the printed function is not the kernel that callers take it for; empty when it is. Where the width of vectors
    is open, `macros` are those printed ones that move their lanes or tell how many lines are taken together, and the
    function is right for every width."""
    try:
        for own, each, streams in written_out(isa, mk.elem, text, together(mk), macros):
            if streams not in (mk.streams, mk.wide):  # for which what calls it is proven
                raise Unread(f"{streams} lines are taken together")
            _prove(own, mk, each, streams if grouped(isa, mk) else 0)
    except Unread as error:
        return str(error)
    return ""


def _prove(isa: Isa, mk: MatvecKernel, text: str, streams: int) -> None:
    """Raises Unread. How many lines are taken so many at a time is a parameter, unless that is 0. A kernel of two
    products is shown to carry out each of them."""
    spec, second = _spec(isa, mk), second_ops(isa, mk)
    lines = (x for pair in zip(spec.matrices, spec.pitches, strict=True) for x in pair)
    sizes = ("n", "k", *(["several"] if streams else []))
    if second is None:
        _prove_one(isa, spec, text, (*sizes, *lines, *spec.operands, "y", *spec.consts), streams)
        return
    others, consts = tuple(numbered(second.stems[0], second.operands)), tuple(second.constants)
    wanted = (*sizes, *lines, *spec.operands, "y", *others, "z", *spec.consts, *consts)
    other = Spec(mk.elem, second.step, True, spec.matrices, spec.pitches, others, consts, "", "")
    _prove_one(isa, spec._replace(foreign=frozenset((*others, "z", *consts))), text, wanted, streams)
    # The second one has its elements where the first has its steps.
    turned, names = _TURNED.sub(lambda m: _OTHER[m[0]], text), tuple(_OTHER.get(x, x) for x in wanted)
    mine = frozenset((*spec.operands, "z", *spec.consts))
    _prove_one(isa, other._replace(foreign=mine), turned, names, streams)


def _prove_one(isa: Isa, spec: Spec, text: str, wanted: tuple[str, ...], streams: int) -> None:
    *others, function = read_functions(text, vector_types(isa))
    parameters, body = function.parameters, unrolled(function, {}, {f.name: f for f in others})
    if parameters != wanted:
        raise Unread(f"its parameters are {', '.join(parameters)}")
    run = KernelRun(isa, spec)
    for end in run.run(body, _start(spec, streams)):
        run.finished(end)


def _spec(isa: Isa, mk: MatvecKernel) -> Spec:
    neutral = neutral_text(read_expression(ops(isa, mk).neutral(mk.neutral))) if mk.neutral else ""
    return Spec(
        mk.elem,
        mk.step,
        mk.form == "lanes",
        tuple(numbered("a", mk.matrices)),
        tuple(numbered("pitch", mk.matrices)),
        tuple(numbered("x", mk.operands)),
        tuple(f"s{i}" for i in range(mk.consts)),
        mk.join,
        neutral or "",
    )


def _start(spec: Spec, streams: int) -> MatvecState:
    s = MatvecState(Facts())
    s.facts.learn(N, K)
    s.names = {x: SelectedElement(x, ZERO) for x in (*spec.matrices, *spec.operands, "y", *sorted(spec.foreign))}
    s.names |= {x: var(x) for x in ("n", "k", *spec.pitches)}
    if streams:
        s.names["several"] = SEVERAL
        s.facts.forms["several"] = var("groups") * streams
        s.facts.learn(var("groups"), SEVERAL, (K if spec.lanes else N) - SEVERAL)
    return s


class KernelRun(KernelLoops):
    """The function's body, statement by statement. Ways through it part where a number is chosen."""

    def run(self, body: tuple[Node, ...], state: MatvecState) -> list[MatvecState]:
        states = [state]
        for node in body:
            states = [after for s in states for after in self._one(node, s)]
        return states

    def finished(self, s: MatvecState) -> None:
        """All elements took all steps."""
        equal, front = s.facts.equal, s.front
        whole = equal(front.at, N) and front.after is not None and equal(front.after, K)
        if not whole and not (front.at == ZERO and equal(front.before, K)):
            raise Unread("some element does not take all steps")

    def _one(self, node: Node, s: MatvecState) -> list[MatvecState]:
        self.reader.state = s
        if node.kind == "several":
            return self.run(node.kids, s)
        if node.kind == "block":
            mine = {n.text for n in node.kids if n.kind == "array" or (n.kind == "declare" and "[" not in n.text)}
            return [self._left(end, mine) for end in self.run(node.kids, s)]
        if node.kind == "array":
            return [s]
        if node.kind == "declare":
            return self._declare(node, s)
        if node.kind == "for":
            return self.loop(node, s)
        if node.kind == "if":
            return self._if(node, s)
        if node.kind != "do":
            raise Unread(f"a statement of kind {node.kind}")
        self._do(node.kids[0], s)
        return [s]

    def _left(self, s: MatvecState, mine: set[str]) -> MatvecState:
        """Behind a block: its own variables and arrays are gone, others keep what they got."""
        s.names = {n: x for n, x in s.names.items() if n.partition("[")[0] not in mine}
        s.vectors = {n: x for n, x in s.vectors.items() if n.partition("[")[0] not in mine}
        return s

    def _declare(self, node: Node, s: MatvecState) -> list[MatvecState]:
        kind, sizes, value = node.kids
        name = node.text
        if name in s.names or name in s.vectors:
            raise Unread(f"{name} hides another variable")
        if sizes.kids:
            if kind.text != C_TYPES[self.spec.elem]:
                raise Unread(f"the array {name} has another type: {kind.text}")
            return self._array(name, sizes, value, s)
        if value is NOTHING:
            raise Unread(f"{name} without a value")
        if "*" in kind.text:
            if pointee(kind.text) != C_TYPES[self.spec.elem]:
                raise Unread(f"{name} points to another type: {kind.text}")
            s.names[name] = self._pointer(value)
        elif kind.text in ("long", "const long"):
            return self._number(name, value, s)
        else:
            s.vectors[name] = self.reader.value(value)
        return [s]

    def _array(self, name: str, sizes: Node, value: Node, s: MatvecState) -> list[MatvecState]:
        size = self.reader.integer(sizes.kids[0]).number
        nought = Node("braces", "", (Node("number", "0"),))
        if len(sizes.kids) != 1 or size is None or value not in (NOTHING, nought):
            raise Unread(f"an array {name} of another kind")
        rest = LaneValue("number", "0") if value == nought else LaneValue("unknown", name)
        s.locals[name] = LocalValues(size, {}, self.terms.put(rest))
        s.names[name] = SelectedElement(name, ZERO)
        return [s]

    def _pointer(self, value: Node) -> SelectedElement:
        if value.kind == "choose":
            cond = Integers(self.reader.state.facts, self.reader.state.names, free=False).cond(value.kids[0])
            known = decided(cond, self.reader.state.facts)
            if known is None:
                raise Unread(f"a choice {show(value)}")
            return self._pointer(value.kids[1] if known else value.kids[2])
        found = self.reader.address(value)
        if found is None:
            raise Unread(f"an address {show(value)}")
        return found

    def _number(self, name: str, value: Node, s: MatvecState) -> list[MatvecState]:
        """A number; where it is chosen, the ways part."""
        if value.kind != "choose":
            s.names[name] = self.reader.integer(value)
            return [s]
        cond = Integers(s.facts, s.names, free=False).cond(value.kids[0])
        found: list[MatvecState] = []
        for way, c in ((value.kids[1], cond), (value.kids[2], negated(cond))):
            for given in ways(c):
                part = s.given(*given)
                self.reader.state = part
                part.names[name] = self.reader.integer(way)
                found.append(part)
        return found

    def _if(self, node: Node, s: MatvecState) -> list[MatvecState]:
        cond, then, orelse = node.kids
        if orelse is not NOTHING:
            raise Unread("an if with an else")
        c = Integers(s.facts, s.names, free=False).cond(cond)
        if then.kind == "do" and c.op == "ge":
            self._where(c.value, then.kids[0], s)
            return [s]
        found: list[MatvecState] = []
        for part, body in ((c, (then,)), (negated(c), ())):
            for given in ways(part):
                found += [self._merged(end) for end in self.run(body, s.given(*given))]
        return found

    def _where(self, given: Poly, e: Node, s: MatvecState) -> None:
        """`if (given) variable = value`: one value or the other."""
        if s.facts.recorded(-given - 1) or (given.number is not None and given.number < 0):
            return
        if s.facts.recorded(given) or given.number is not None:
            self._do(e, s)
            return
        name = e.kids[0].text if e[:2] == ("assign", "=") else ""
        old = s.vectors.get(name)
        if old is None:
            raise Unread(f"a statement {show(e)} under a condition")
        part = s.given(given)
        self.reader.state, self.reader.guarded = part, True
        self._do(e, part)
        self.reader.guarded = False
        put, new = self.terms.put, part.vectors[name]
        s.vectors[name] = tuple(put(LaneChoice(given, x, y)) for x, y in zip(new, old, strict=True))

    def _merged(self, s: MatvecState) -> MatvecState:
        """Behind a condition: choices that come to the last step whatever is chosen are that."""
        paths = Paths(s.facts)
        for name, x in s.vectors.items():
            if any(isinstance(self.terms.terms[n], (LaneChoice, TakenSteps)) for n in x):
                s.vectors[name] = tuple(self.resolved(n, (), paths) for n in x)
        return s

    def _do(self, e: Node, s: MatvecState) -> None:
        if silent(e, self._pointer, self.reader.integer):
            return
        if e.kind == "cast" and e.text == "void" and e.kids[0].kind == "name":
            return
        if e[:2] == ("assign", "=") and e.kids[0].kind == "name":
            name = e.kids[0].text
            old = self.reader.named(name)
            if old is None:
                raise Unread(f"{name} is no vector")
            new = self.reader.value(e.kids[1])
            s.vectors[name] = tuple(self.progress.settled(x, y) for x, y in zip(old, new, strict=True))
            return
        store = self.reader.stored(e)
        if store is not None:
            where = self.reader.address(store[0])
            lanes: Vector | None = self.reader.value(store[1])
        elif e[:2] == ("assign", "=") and e.kids[0].kind == "index":
            where = self.reader.address(Node("binary", "+", e.kids[0].kids))
            one = self.reader.scalar(e.kids[1])
            lanes = None if one is None else (one,)
        else:
            raise Unread(f"a statement {show(e)}")
        if where is None or lanes is None:
            raise Unread(f"a store {show(e)}")
        self.stored(where, lanes, s)
