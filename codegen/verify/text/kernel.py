"""Proof of the register micro-kernel's text: which elements of the tile it updates, with which packed values, in which
order.

What is shown of the printed function, for every number of steps and every distance of rows: the tile's element in row r
and column j starts from its place in c, takes step 0, 1, ... with the values of a and b that the packed layout holds
for that row, column and step, and ends in the same place; nothing else is read or written.
"""

from __future__ import annotations

from collections.abc import Callable

from codegen.isa.fast_paths import fast_path_of
from codegen.isa.model import C_TYPES, Isa, longer
from codegen.scop.lanes import Lane
from codegen.target.product.microkernel import is_rolled, tile_name
from codegen.target.product.microkernel_model import MicroKernel
from codegen.target.product.microkernel_rolled import whole_of
from codegen.verify.poly import ZERO, Poly, poly, var
from codegen.verify.text.lanes import (
    RegisterValue,
    UniformReader,
    masks_of,
    of_a_step,
    of_lane,
    operation,
    show,
    silent,
    vector_types,
)
from codegen.verify.text.layout import layout
from codegen.verify.text.read import NOTHING, Node, Unread, pointee, read_expression, read_function, read_functions
from codegen.verify.text.unroll import unrolled


def wrong_kernel(isa: Isa, mk: MicroKernel, text: str) -> str:
    """Why the printed function is not the kernel that callers take it for; empty when it is."""
    try:
        parameters, body = _function(isa, mk, text)
        at = layout(isa, mk)
        apart = ["a_row", "a_step"] if mk.direct or at.strided else []
        further = ["far", "apart"] if at.further else []
        wanted = ["a", *apart, "b", *(["b_step"] if mk.direct else []), "c", "ldc", *further]
        if parameters != ("k", *wanted, *(f"s{i}" for i in range(mk.consts))):
            return f"its parameters are {', '.join(parameters)}"
        for end in _Run(isa, mk).run(body, KernelState.start()):
            end.check(isa, mk)
    except Unread as error:
        return str(error)
    return ""


def _function(isa: Isa, mk: MicroKernel, text: str) -> tuple[tuple[str, ...], tuple[Node, ...]]:
    """Parameters and body of the function; where it is one for several kernels, as it is for this one."""
    if not is_rolled(isa, mk):
        _, parameters, body, _ = read_function(text, vector_types(isa))
        return parameters, body
    name = tile_name(isa, whole_of(mk))
    found = next(f for f in read_functions(text, vector_types(isa)))
    if found.name != name or found.parameters[:2] != ("rows", "vectors"):
        raise Unread(f"{found.name}({', '.join(found.parameters)}) is no function for several kernels")
    return found.parameters[2:], unrolled(found, {"rows": mk.mr, "vectors": mk.nv})


_POINTERS = ("a", "b", "c", "far")  # parameters
_NUMBERS = ("ldc", "k", "a_row", "a_step", "b_step", "apart")


class KernelState:
    """Registers, pointers and conditions on one way through the function."""

    def __init__(self) -> None:
        self.values: dict[str, RegisterValue] = {}
        self.pointers: dict[str, tuple[str, Poly]] = {}
        self.numbers: dict[str, Poly] = {}
        self.known: dict[str, tuple[bool, RegisterValue]] = {}  # conditions that were decided, and the mask behind each
        self.asked: dict[str, RegisterValue] = {}
        self.stored: dict[Poly, RegisterValue] = {}
        self.passed: list[tuple[bool, RegisterValue]] = []  # every decision on the way
        self.begun = False  # some steps are taken, others are left for a second loop

    @classmethod
    def start(cls) -> KernelState:
        s = cls()
        s.pointers = {p: (p, ZERO) for p in _POINTERS}
        s.numbers = {n: var(n) for n in _NUMBERS}
        return s

    def copy(self) -> KernelState:
        s = KernelState()
        for name, value in vars(self).items():
            setattr(s, name, value if isinstance(value, bool) else value.copy())
        return s

    def check(self, isa: Isa, mk: MicroKernel) -> None:
        """The tile holds what it should."""
        if self.begun:
            raise Unread("it leaves steps out")
        at = layout(isa, mk)
        places = {var("ldc") * r + at.lanes * j: (r, j) for r in range(mk.mr) for j in range(mk.nv)}
        if set(self.stored) != set(places):
            raise Unread("it does not store the tile that it should, all of it once")
        hurry = fast_path_of(isa.vec(mk.elem), mk.step)
        for place, value in self.stored.items():
            if value == RegisterValue("done", (RegisterValue("load", of="c", at=place),), "exact"):
                continue
            if hurry is None or value != RegisterValue("done", (RegisterValue("load", of="c", at=place),), "quick"):
                raise Unread(f"it stores something else in row and vector {places[place]}")
            first = RegisterValue(hurry.doubt, (RegisterValue("load", of="c", at=place),))
            sure = {x for yes, m in self.passed if not yes for x in masks_of(m)}
            if not {first, RegisterValue(hurry.doubt, (value,))} <= sure:
                raise Unread(f"nothing tells whether row and vector {places[place]} is right in fewer operations")


class _Run:
    """Runs a function's body on symbols."""

    def __init__(self, isa: Isa, mk: MicroKernel) -> None:
        self.isa = (longer(isa, mk.elem) if mk.narrow else None) or isa
        self.mk, self.outer = mk, isa
        self.at = layout(isa, mk)
        self.packed = mk.narrow or mk.elem
        self.state = KernelState()
        self.reader = UniformReader(self.isa, mk.elem, lambda n: self.state.values.get(n), self._scalar, self._address)

    def run(self, body: tuple[Node, ...], state: KernelState) -> list[KernelState]:
        states = [state]
        for node in body:
            states = [after for s in states for after in self._one(node, s)]
        return states

    def _one(self, node: Node, s: KernelState) -> list[KernelState]:
        self.state = s
        if node.kind == "several":
            return self.run(node.kids, s)
        if node.kind == "block":
            return self.run(node.kids, s)
        if node.kind == "declare":
            self._declare(node)
        elif node.kind == "do":
            self._do(node.kids[0])
        elif node.kind == "for":
            return [self._loop(node, s)]
        elif node.kind == "if":
            return self._branch(node, s)
        elif node.kind != "array":
            raise Unread(f"a statement of kind {node.kind}")
        return [s]

    def _branch(self, node: Node, s: KernelState) -> list[KernelState]:
        cond, then, orelse = node.kids
        if orelse is NOTHING and self._only_asks(then):
            self._computed(cond)
            return [s]
        negated = cond.kind == "unary" and cond.text == "!"
        name = cond.kids[0] if negated else cond
        if name.kind != "name" or name.text not in s.asked:
            raise Unread(f"a condition {show(cond)}")
        mask = s.asked[name.text]
        known = s.known.get(name.text)
        ways = []
        for yes in (True, False):
            if known is not None and known[0] != yes:
                continue
            way = s.copy()
            way.known[name.text] = (yes, mask)
            if known is None:
                way.passed.append((yes, mask))
            taken = then if yes != negated else orelse
            ways += self.run((taken,), way) if taken is not NOTHING else [way]
        return ways

    def _only_asks(self, node: Node) -> bool:
        """Is it nothing but requests for cache lines?"""
        if node.kind in ("several", "block"):
            return all(map(self._only_asks, node.kids))
        return node.kind == "do" and silent(node.kids[0], self._pointer, self._number)

    def _computed(self, cond: Node) -> None:
        """A condition of numbers, which changes nothing."""
        for x in cond.kids if cond.kind == "binary" and cond.text in ("&&", ">") else (cond,):
            self._number(x)

    def _declare(self, node: Node) -> None:
        kind, sizes, value = node.kids
        s, name = self.state, node.text
        if sizes.kids or value is NOTHING or name in (*_POINTERS, *_NUMBERS) or (name == "p" and s.begun):
            raise Unread(f"a declaration of {name}")
        if name == "vl":
            if value != read_expression(self.outer.vec(self.mk.elem).lanes, vector_types(self.outer)):
                raise Unread("vl is not the length of a vector")
            s.numbers[name] = var("vl")
        elif "*" in kind.text:
            s.pointers[name] = found = self._pointer(value)
            if pointee(kind.text) != C_TYPES[self.mk.elem if found[0] == "c" else self.packed]:
                raise Unread(f"{name} points to another type: {kind.text}")
        elif name == "p" or kind.text in ("long", "const long"):
            s.numbers[name] = self._number(value)
        elif name == "doubtful":
            self._ask(name, value)
        else:
            one = self._scalar(value)
            alone = one is not None and one.op == "scalar"
            vec = self.isa.vec(self.mk.elem)
            types = [C_TYPES[self.packed]] if alone else [vec.vector, vec.mask, vec.half]
            if kind.text.removeprefix("const ") not in types:
                raise Unread(f"{name} has another type: {kind.text}")
            s.values[name] = one if one is not None and alone else self.reader.value(value)

    def _ask(self, name: str, value: Node) -> None:
        """`any(mask) != 0`."""
        if value.kind != "binary" or value.text != "!=" or value.kids[1] != Node("number", "0"):
            raise Unread(f"{name} is no test")
        mask = self.reader.value(value.kids[0])
        if mask.op != "any":
            raise Unread(f"{name} is no test of a mask")
        self.state.asked[name] = mask.args[0]
        self.state.known.pop(name, None)

    def _do(self, e: Node) -> None:
        s = self.state
        if silent(e, self._pointer, self._number):
            return
        if e.kind == "assign" and e.kids[0].kind == "name":
            name = e.kids[0].text
            if e.text == "+=" and name in s.pointers:
                base, at = s.pointers[name]
                s.pointers[name] = (base, at + self._number(e.kids[1]))
                return
            if e.text == "=" and name in s.pointers and not s.begun:
                s.pointers[name] = self._pointer(e.kids[1])
                return
            if e.text == "=" and name in s.asked:
                self._ask(name, e.kids[1])
                return
            if e.text == "=" and name in s.values:
                s.values[name] = self.reader.value(e.kids[1])
                return
        if e.kind == "comma":
            for x in e.kids:
                self._do(x)
            return
        self._store(e)

    def _store(self, e: Node) -> None:
        store = self.reader.stored(e)
        if store is not None:
            base, at = self._pointer(store[0])
            if base != "c" or at in self.state.stored:
                raise Unread("a store beside the tile, or twice in one place")
            self.state.stored[at] = self.reader.value(store[1])
            return
        raise Unread(f"a statement {show(e)}")

    # -- the loop over steps -----------------------------------------------------------------------

    def _loop(self, node: Node, s: KernelState) -> KernelState:
        """All steps at once, by induction: the body takes the tile from any step to the next. Nothing but `a` and `b`
        moves from step to step, and what was read from them before is another step's."""
        steps, last = self._head(node, s)
        s.numbers.pop("p", None)
        s.values = {n: v for n, v in s.values.items() if not of_a_step(v)}
        before = {n: v for n, v in s.values.items() if v.op in ("load", "done") and v.of in ("c", "exact", "quick")}
        inner = s.copy()
        inner.numbers["p"] = var("p")
        inner.values = {n: RegisterValue("reg", of=n) if n in before else v for n, v in s.values.items()}
        start = dict(s.pointers)
        inner.pointers = {n: x for n, x in start.items() if n in ("a", "b") or x[0] in ("c", "far")}
        rest = [n for n in inner.pointers if n not in ("a", "b")]
        if any(start[x] != (x, ZERO) for x in "ab"):
            raise Unread("the steps do not begin with the first")
        (after,) = self.run((node.kids[3],), inner)
        if after.stored or after.asked != s.asked:
            raise Unread("the loop over steps stores something")
        changed = [n for n in before if after.values[n] != RegisterValue("reg", of=n)]
        lost = [n for n, v in s.values.items() if n not in before and after.values[n] != v]
        if lost:
            raise Unread(f"{lost[0]} changes from step to step")
        for name, size in (("a", self._a_step()), ("b", self._b_step())):
            if after.pointers[name] != (name, start[name][1] + size * steps):
                raise Unread(f"{name} does not move on by {size} elements for each step")
        if any(after.pointers[n] != start[n] for n in rest):
            raise Unread("a pointer to the tile moves from step to step")
        self.state = s
        for name in changed:
            s.values[name] = self._stepped(name, before[name], after.values[name], start, steps, last)
        for name in ("a", "b"):  # where the next loop begins
            s.pointers[name] = start[name] if not last else (name, var("past the last step"))
        s.numbers["p"] = var("p")
        s.begun = not last
        return s

    def _head(self, node: Node, s: KernelState) -> tuple[int, bool]:
        """How many steps the body takes, and whether none is left afterwards."""
        first, cond, step, _ = node.kids
        zero = first.kind == "declare" and first.text == "p" and first.kids[2] == Node("number", "0")
        going = first == Node("block") and (s.begun or s.numbers.get("p") == ZERO)
        k, p = Node("name", "k"), Node("name", "p")
        if not going and (s.begun or not zero):
            raise Unread("the steps do not begin with the first")
        if cond == Node("binary", "<", (p, k)) and step == Node("after", "++", (p,)):
            return 1, True
        if cond.kind == "binary" and cond.text == "<=" and step.kind == "assign" and step.text == "+=":
            by = step.kids[1]
            if cond.kids == (p, Node("binary", "-", (k, by))) and step.kids[0] == p and by.kind == "number":
                return int(by.text), False
        raise Unread("the loop over steps has another end")

    def _stepped(
        self,
        name: str,
        was: RegisterValue,
        now: RegisterValue,
        start: dict[str, tuple[str, Poly]],
        steps: int,
        last: bool,
    ) -> RegisterValue:
        tile = was.args[0] if was.op == "done" else was
        place = self._place(tile)
        for of, step in self._steps().items():
            want = RegisterValue("reg", of=name)
            for u in range(steps):
                want = of_lane(step, self.mk.elem, self._leaf(want, place, start, u), operation)
            if want == now and (was.op == "load" or was.of == of):
                return RegisterValue("done", (tile,), of if last else was.of if was.op == "done" else of)
        raise Unread(f"the tile's row and vector {place} is not updated as it should be")

    def _steps(self) -> dict[str, Lane]:
        hurry = fast_path_of(self.outer.vec(self.mk.elem), self.mk.step)
        return {"exact": self.mk.step, **({"quick": hurry.step} if hurry else {})}

    def _leaf(
        self, acc: RegisterValue, place: tuple[int, int], start: dict[str, tuple[str, Poly]], u: int
    ) -> Callable[[Lane], RegisterValue]:
        (r, j), at, mk = place, self.at, self.mk

        def leaf(x: Lane) -> RegisterValue:
            if x.op == "number":
                return RegisterValue("number", of=str(x.index))
            if x.op == "acc":
                return acc
            if x.op == "const":
                return RegisterValue("const", of=f"s{x.index}")
            if mk.direct:
                if x.op == "a":
                    return RegisterValue("dup", of="a", at=start["a"][1] + var("a_row") * r + var("a_step") * u)
                return RegisterValue("load", of="b", at=start["b"][1] + var("b_step") * u + at.lanes * j)
            if x.op == "a" and at.strided:
                return RegisterValue("dup", of="a", at=start["a"][1] + var("a_row") * r + var("a_step") * u)
            if x.op == "a":
                k = ((u * at.lefts + x.index) * at.a_rows + r) * at.copies
                return RegisterValue("load" if mk.spread else "dup", of="a", at=start["a"][1] + k)
            row = at.b_columns * (u * at.rights + x.index)
            return RegisterValue("load", of="b", at=start["b"][1] + row + at.lanes * j)

        return leaf

    def _place(self, tile: RegisterValue) -> tuple[int, int]:
        for r in range(self.mk.mr):
            for j in range(self.mk.nv):
                if tile == RegisterValue("load", of="c", at=var("ldc") * r + self.at.lanes * j):
                    return r, j
        raise Unread("a register does not begin with a vector of the tile")

    def _a_step(self) -> Poly:
        apart = self.mk.direct or self.at.strided
        return var("a_step") if apart else poly(self.at.lefts * self.at.a_rows * self.at.copies)

    def _b_step(self) -> Poly:
        return var("b_step") if self.mk.direct else self.at.b_columns * self.at.rights

    # -- names, numbers and addresses --------------------------------------------------------------

    def _number(self, e: Node) -> Poly:
        if e.kind == "number":
            return poly(int(e.text))
        if e.kind == "name" and e.text in self.state.numbers:
            return self.state.numbers[e.text]
        if e.kind == "binary" and e.text in "+-*":
            x, y = (self._number(k) for k in e.kids)
            return x + y if e.text == "+" else x - y if e.text == "-" else x * y
        raise Unread(f"a number {show(e)}")

    def _pointer(self, e: Node) -> tuple[str, Poly]:
        found = self._address(e)
        if found is None:
            raise Unread(f"an address {show(e)}")
        return found

    def _address(self, e: Node) -> tuple[str, Poly] | None:
        if e.kind == "name":
            return self.state.pointers.get(e.text)
        if e.kind == "binary" and e.text == "+":
            base = self._address(e.kids[0])
            return None if base is None else (base[0], base[1] + self._number(e.kids[1]))
        return None

    def _scalar(self, e: Node) -> RegisterValue | None:
        if e.kind == "index":
            base = self._address(e.kids[0])
            return None if base is None else RegisterValue("scalar", of=base[0], at=base[1] + self._number(e.kids[1]))
        if e.kind == "name":
            if e.text in self.state.values and self.state.values[e.text].op == "scalar":
                return self.state.values[e.text]
            if e.text[0] == "s" and e.text[1:].isdigit() and int(e.text[1:]) < self.mk.consts:
                return RegisterValue("const", of=e.text)
        return None
