"""A function whose loops and choices depend on constants, as compilers see it: loops unrolled, choices made, and
elements of local arrays as variables of their own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from operator import add, ge, gt, le, lt, mul, ne, sub

from codegen.verify.text.lanes import show
from codegen.verify.text.read import NOTHING, Node, Unread

_MOST = 64  # iterations of a loop
_FOLDED = {"+": add, "-": sub, "*": mul, "<": lt, "<=": le, ">": gt, ">=": ge, "!=": ne}


def unrolled(body: tuple[Node, ...], numbers: Mapping[str, int]) -> tuple[Node, ...]:
    """The statements of a function with `numbers` for some of its parameters."""
    return tuple(_Unroller().statements(body, dict(numbers)))


class _Unroller:
    """`arrays` are local ones with their types and sizes, `born` the elements that have a value."""

    def __init__(self) -> None:
        self.arrays: dict[str, tuple[Node, tuple[int, ...]]] = {}
        self.born: set[str] = set()

    def statements(self, body: tuple[Node, ...], numbers: dict[str, int]) -> Iterator[Node]:
        for node in body:
            yield from self._one(node, numbers)

    def _one(self, node: Node, numbers: dict[str, int]) -> Iterator[Node]:
        if node.kind == "several":
            yield from self.statements(node.kids, numbers)
        elif node.kind == "block":
            yield Node("block", "", tuple(self.statements(node.kids, numbers)))
        elif node.kind == "declare":
            yield from self._declare(node, numbers)
        elif node.kind == "do":
            yield self._do(node.kids[0], numbers)
        elif node.kind == "for":
            yield from self._for(node, numbers)
        elif node.kind == "if":
            yield from self._if(node, numbers)
        else:
            raise Unread(f"a statement of kind {node.kind}")

    def _declare(self, node: Node, numbers: dict[str, int]) -> Iterator[Node]:
        kind, sizes, value = node.kids
        if node.text in numbers or (node.text in self.arrays and not sizes.kids):
            raise Unread(f"{node.text} is declared again")
        if not sizes.kids:
            yield Node("declare", node.text, (kind, sizes, self._value(value, numbers)))
            return
        if value is not NOTHING:
            raise Unread(f"a declaration of {node.text}")
        # An array in a loop's body is a new one in every iteration.
        self.born = {x for x in self.born if not x.startswith(f"{node.text}[")}
        self.arrays[node.text] = (kind, tuple(self._number(s, numbers) for s in sizes.kids))

    def _do(self, e: Node, numbers: dict[str, int]) -> Node:
        made = self._value(e, numbers)
        if made.kind == "assign" and made.kids[0].kind == "name" and "[" in made.kids[0].text:
            name = made.kids[0].text
            if name not in self.born:
                if made.text != "=":
                    raise Unread(f"{name} has no value")
                self.born.add(name)
                return Node("declare", name, (self.arrays[name.partition("[")[0]][0], Node("sizes"), made.kids[1]))
        return Node("do", "", (made,))

    def _for(self, node: Node, numbers: dict[str, int]) -> Iterator[Node]:
        """A loop over constants one iteration after the other; another one as it is, with its body unrolled."""
        first, cond, step, body = node.kids
        if first.kind != "declare" or first.kids[0].text != "int":
            head = (*self._one(first, numbers),) if first.kind == "declare" else (first,)
            inner = tuple(self._one(body, numbers))
            yield Node("for", "", (*head, self._value(cond, numbers), self._value(step, numbers), _block(inner)))
            return
        name, at = first.text, self._number(first.kids[2], numbers)
        by = self._step(step, name, numbers)
        for _ in range(_MOST):
            own = {**numbers, name: at}
            if not self._number(cond, own):
                return
            yield from self._one(body, own)
            at += by
        raise Unread(f"a loop over {name} that is too long")

    def _step(self, step: Node, name: str, numbers: dict[str, int]) -> int:
        if step == Node("after", "++", (Node("name", name),)):
            return 1
        if step[:2] == ("assign", "+=") and step.kids[0] == Node("name", name):
            return self._number(step.kids[1], numbers)
        raise Unread(f"a loop over {name} goes on in another way")

    def _if(self, node: Node, numbers: dict[str, int]) -> Iterator[Node]:
        cond, *ways = node.kids
        made = self._value(cond, numbers)
        if made.kind == "number":
            taken = ways[0] if int(made.text) else ways[1]
            yield from () if taken is NOTHING else self._one(taken, numbers)
            return
        then, orelse = (x if x is NOTHING else _block(tuple(self._one(x, numbers))) for x in ways)
        yield Node("if", "", (made, then, orelse))

    def _number(self, e: Node, numbers: dict[str, int]) -> int:
        made = self._value(e, numbers)
        if made.kind != "number" or not made.text.lstrip("-").isdigit():
            raise Unread(f"{show(e)} is no constant")
        return int(made.text)

    def _value(self, e: Node, numbers: dict[str, int]) -> Node:
        """An expression with numbers for names, as far as it is constant, and variables for elements."""
        if e.kind == "name":
            if e.text in self.arrays:
                raise Unread(f"the array {e.text} as a whole")
            return Node("number", str(numbers[e.text])) if e.text in numbers else e
        if e.kind == "choose":
            cond = self._value(e.kids[0], numbers)
            if cond.kind == "number":
                return self._value(e.kids[1] if int(cond.text) else e.kids[2], numbers)
        if e.kind == "index" and (found := self._element(e, numbers)) is not None:
            return found
        if e[:2] == ("binary", "&&"):
            left = self._value(e.kids[0], numbers)
            if left.kind == "number":
                return self._value(e.kids[1], numbers) if int(left.text) else Node("number", "0")
        kids = tuple(self._value(k, numbers) for k in e.kids)
        if e.kind in ("assign", "after") and kids[0].kind == "number":
            raise Unread(f"a constant is changed: {show(e)}")
        if e.kind == "binary" and e.text in _FOLDED and all(_is_integer(k) for k in kids):
            return Node("number", str(int(_FOLDED[e.text](*(int(k.text) for k in kids)))))
        return Node(e.kind, e.text, kids)

    def _element(self, e: Node, numbers: dict[str, int]) -> Node | None:
        """The variable that an element of a local array is."""
        subscripts: list[Node] = []
        while e.kind == "index":
            subscripts.insert(0, e.kids[1])
            e = e.kids[0]
        if e.kind != "name" or e.text not in self.arrays:
            return None
        at = [self._number(s, numbers) for s in subscripts]
        sizes = self.arrays[e.text][1]
        if len(at) != len(sizes) or not all(0 <= k < n for k, n in zip(at, sizes, strict=True)):
            raise Unread(f"{e.text}{at} is no element")
        return Node("name", f"{e.text}[{']['.join(map(str, at))}]")


def _is_integer(e: Node) -> bool:
    return e.kind == "number" and e.text.lstrip("-").isdigit()


def _block(body: tuple[Node, ...]) -> Node:
    return body[0] if len(body) == 1 else Node("block", "", body)
