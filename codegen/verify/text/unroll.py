"""Partial evaluation of printed functions as compilers do it: loops with constant bounds unrolled, calls inlined,
elements of local arrays as variables of their own.

A local array without an initial value is a row of such variables; one with an initial value stays an array.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from operator import add, eq, ge, gt, le, lt, mul, ne, sub

from codegen.verify.text.lanes import show
from codegen.verify.text.read import NOTHING, Node, ParsedFunction, Unread, nodes

_MOST = 64  # iterations of a loop
_FOLDED = {"+": add, "-": sub, "*": mul, "<": lt, "<=": le, ">": gt, ">=": ge, "!=": ne, "==": eq}


def unrolled(
    function: ParsedFunction, numbers: Mapping[str, int], others: Mapping[str, ParsedFunction] | None = None
) -> tuple[Node, ...]:
    """The statements of a function with `numbers` for some of its parameters; it may call those `others`. Elements of
    arrays are declared where they get their first value; an `array` node stands where the array itself was."""
    env = {name: Node("number", str(n)) for name, n in numbers.items()}
    return tuple(_Unroller(function, others or {}).statements(function.body, env))


Env = dict[str, Node]  # what names stand for


class _Unroller:
    """`arrays` are local ones with their types and sizes, `born` the elements that have a value; `types` are those of
    the parameters of the function that is being written out."""

    def __init__(self, function: ParsedFunction, others: Mapping[str, ParsedFunction]) -> None:
        self.arrays: dict[str, tuple[Node, tuple[int, ...]]] = {}
        self.born: set[str] = set()
        self.others = others
        self.types = function.types

    def statements(self, body: tuple[Node, ...], env: Env) -> Iterator[Node]:
        for node in body:
            yield from self._one(node, env)

    def _one(self, node: Node, env: Env) -> Iterator[Node]:
        if node.kind == "several":
            yield from self.statements(node.kids, env)
        elif node.kind == "block":
            yield self._scope(node.kids, env)
        elif node.kind == "declare":
            yield from self._declare(node, env)
        elif node.kind == "do":
            e = node.kids[0]
            yield self._called(e, env) if e.kind == "call" and e.text in self.others else self._do(e, env)
        elif node.kind == "for":
            yield from self._for(node, env)
        elif node.kind == "if":
            yield from self._if(node, env)
        else:
            raise Unread(f"a statement of kind {node.kind}")

    def _scope(self, body: tuple[Node, ...], env: Env) -> Node:
        """A block; its own arrays are gone behind it."""
        outer = dict(self.arrays)
        found = tuple(self.statements(body, env))
        self.arrays = outer
        return Node("block", "", found)

    def _declare(self, node: Node, env: Env) -> Iterator[Node]:
        kind, sizes, value = node.kids
        if node.text in env or node.text in self.arrays:
            raise Unread(f"{node.text} is declared again")
        if not sizes.kids:
            yield Node("declare", node.text, (kind, sizes, self._value(value, env)))
            return
        if value is not NOTHING:
            yield Node("declare", node.text, (kind, self._value(sizes, env), self._value(value, env)))
            return
        # An array in a loop's body is a new one in every iteration.
        self.born = {x for x in self.born if not x.startswith(f"{node.text}[")}
        self.arrays[node.text] = (kind, tuple(self._number(s, env) for s in sizes.kids))
        yield Node("array", node.text)

    def _do(self, e: Node, env: Env) -> Node:
        made = self._value(e, env)
        if made.kind == "assign" and made.kids[0].kind == "name" and "[" in made.kids[0].text:
            name = made.kids[0].text
            if name not in self.born:
                if made.text != "=":
                    raise Unread(f"{name} has no value")
                self.born.add(name)
                return Node("declare", name, (self.arrays[name.partition("[")[0]][0], Node("sizes"), made.kids[1]))
        return Node("do", "", (made,))

    def _for(self, node: Node, env: Env) -> Iterator[Node]:
        """A loop over constants one iteration after the other; another one as it is, with its body unrolled."""
        first, cond, step, body = node.kids
        if first.kind != "declare" or first.kids[0].text != "int":
            head = (*self._one(first, env),) if first.kind == "declare" else (first,)
            inner = tuple(self._one(body, env))
            yield Node("for", "", (*head, self._value(cond, env), self._value(step, env), _block(inner)))
            return
        name, at = first.text, self._number(first.kids[2], env)
        by = self._step(step, name, env)
        for _ in range(_MOST):
            own = {**env, name: Node("number", str(at))}
            if not self._number(cond, own):
                return
            yield from self._one(body, own)
            at += by
        raise Unread(f"a loop over {name} that is too long")

    def _step(self, step: Node, name: str, env: Env) -> int:
        if step == Node("after", "++", (Node("name", name),)):
            return 1
        if step[:2] == ("assign", "+=") and step.kids[0] == Node("name", name):
            return self._number(step.kids[1], env)
        raise Unread(f"a loop over {name} goes on in another way")

    def _if(self, node: Node, env: Env) -> Iterator[Node]:
        cond, *ways = node.kids
        made = self._value(cond, env)
        if made.kind == "number":
            taken = ways[0] if int(made.text) else ways[1]
            yield from () if taken is NOTHING else self._one(taken, env)
            return
        then, orelse = (x if x is NOTHING else _block(tuple(self._one(x, env))) for x in ways)
        yield Node("if", "", (made, then, orelse))

    def _number(self, e: Node, env: Env) -> int:
        made = self._value(e, env)
        if made.kind != "number" or not made.text.lstrip("-").isdigit():
            raise Unread(f"{show(e)} is no constant")
        return int(made.text)

    def _value(self, e: Node, env: Env) -> Node:
        """An expression with numbers for names, as far as it is constant, and variables for elements."""
        if e.kind == "name":
            if e.text in self.arrays:
                raise Unread(f"the array {e.text} as a whole")
            return env.get(e.text, e)
        if e.kind == "choose":
            cond = self._value(e.kids[0], env)
            if cond.kind == "number":
                return self._value(e.kids[1] if int(cond.text) else e.kids[2], env)
        if e.kind == "index" and (found := self._element(e, env)) is not None:
            return found
        if e[:2] == ("binary", "&&"):
            left = self._value(e.kids[0], env)
            if left.kind == "number":
                return self._value(e.kids[1], env) if int(left.text) else Node("number", "0")
        kids = tuple(self._value(k, env) for k in e.kids)
        if e.kind in ("assign", "after") and kids[0].kind == "number":
            raise Unread(f"a constant is changed: {show(e)}")
        if e.kind == "binary" and e.text in _FOLDED and all(_is_integer(k) for k in kids):
            return Node("number", str(int(_FOLDED[e.text](*(int(k.text) for k in kids)))))
        if e.kind == "binary" and e.text in "/%" and all(k.kind == "number" and k.text.isdigit() for k in kids):
            x, y = (int(k.text) for k in kids)
            return _quotient(x, y, e.text == "%")
        return Node(e.kind, e.text, kids)

    def _element(self, e: Node, env: Env) -> Node | None:
        """The variable that an element of a local array is, or what is found behind the address in it."""
        subscripts: list[Node] = []
        while e.kind == "index":
            subscripts.insert(0, e.kids[1])
            e = e.kids[0]
        e = env.get(e.text, e) if e.kind == "name" else e
        if e.kind != "name" or e.text not in self.arrays:
            return None
        sizes = self.arrays[e.text][1]
        at = [self._number(s, env) for s in subscripts[: len(sizes)]]
        if len(at) != len(sizes) or not all(0 <= k < n for k, n in zip(at, sizes, strict=True)):
            raise Unread(f"{e.text}{at} is no element")
        found = Node("name", f"{e.text}[{']['.join(map(str, at))}]")
        for more in subscripts[len(sizes) :]:
            found = Node("index", "", (found, self._value(more, env)))
        return found

    # -- calls -------------------------------------------------------------------------------------

    def _called(self, e: Node, env: Env) -> Node:
        """A function in place of its call: its parameters, which it does not change, stand for the arguments."""
        called = self.others[e.text]
        if len(e.kids) != len(called.parameters):
            raise Unread(f"{e.text} with {len(e.kids)} arguments")
        given = {p: self._argument(k, called.types[p], env) for p, k in zip(called.parameters, e.kids, strict=True)}
        for node in (n for part in called.body for n in nodes(part)):
            changes = node.kind in ("assign", "after") or (node.kind == "unary" and node.text in ("++", "--", "&"))
            if changes and node.kids[0].kind == "name" and node.kids[0].text in given:
                raise Unread(f"{e.text} changes its parameter {node.kids[0].text}")
        types, self.types = self.types, called.types
        body = self._scope(called.body, given)
        self.types = types
        return body

    def _argument(self, e: Node, wanted: str, env: Env) -> Node:
        """An argument as what its parameter stands for: nothing but sums and products of names, so that it is the same
        wherever it stands, in a type that loses nothing of it."""
        if e.kind == "name" and (found := env.get(e.text, e)).kind == "name" and found.text in self.arrays:
            return found
        made = self._value(e, env)
        sums = ("+", "-", "*")
        plain = all(n.kind in ("name", "number") or (n.kind == "binary" and n.text in sums) for n in nodes(made))
        typed = "*" in wanted or wanted == "long" or (wanted == "int" and _is_integer(made))
        if not plain or not (typed or (e.kind == "name" and self.types.get(e.text) == wanted)):
            raise Unread(f"an argument {show(e)}")
        return made


def _quotient(x: int, y: int, rest: bool = False) -> Node:
    """Of numbers that are not negative, or what is left over."""
    if not y:
        raise Unread("a division by zero")
    return Node("number", str(x % y if rest else x // y))


def _is_integer(e: Node) -> bool:
    return e.kind == "number" and e.text.lstrip("-").isdigit()


def _block(body: tuple[Node, ...]) -> Node:
    return body[0] if len(body) == 1 else Node("block", "", body)
