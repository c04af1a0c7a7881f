"""Proof of a region's allocation: the parts of the memory that it asks for do not overlap and are large enough.

A part is all values of a variable, or one variable for each thread. That sizes are positive and their sum is not too
large is asked ahead of it; the sum is asked in floating point, so that it cannot wrap.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from codegen.ast.ctree import CNode, Declare, Held, walk
from codegen.scop.model import Scop
from codegen.target.guards.buffers import LIMIT
from codegen.verify.guards import Parameters, conjuncts
from codegen.verify.poly import Poly, poly, total, var
from codegen.verify.text.lanes import show
from codegen.verify.text.read import Node, Unread, read_expression

_MEMORY = re.compile(r"void \*const tw_memory = (.*?)\s*\? tw_alloc\(([^;]*)\) : 0;\s*if \(tw_memory\) \{\n")
_POINTER = re.compile(r"(.+?) ?\*const (\w+) = (?:tw_align\((.*)\)|tw_memory);")
_OVERLAP = ("tw_apart(", "tw_rows_apart(")  # tests of pointers, which say nothing of sizes
_EACH = re.compile(r"const long tw_bytes_(\w+) = \((.*) \+ 127\) / 64 \* 64;")
_TURN = re.compile(r"\(void \*\)\(tw_own_(\w+)(?: \+ tw_thread\(\) \* tw_bytes_(\w+))?\);")
_LINE = 64  # bytes up to which a part may begin later than the one before it ends


class WorkspacePart(NamedTuple):
    """A part as it should be: the pointer to it, the type behind that, its length in such elements, and in bytes."""

    name: str
    elem: str
    length: Poly
    bytes: Poly


def wrong_room(scop: Scop, tree: CNode, text: str) -> str:
    """What is wrong with the memory of a region; empty where nothing is."""
    found = _MEMORY.search(text)
    if found is None:
        # A region that needs none may have a variable of this name.
        asks = scop.buffers or _slots(scop, tree) or "tw_alloc(" in text
        return "memory is asked for in another way" if asks else ""
    try:
        parts = [*_buffers(scop), *_own(scop, tree)]
        _check_parts(parts, text[found.end() :])
        if _length(found[2]) != total(p.bytes for p in parts) + _LINE * (len(parts) - 1):
            raise Unread("another amount of memory is asked for than is used")
        _check_test(scop, tree, found[1])
        _check_turns(text)
    except Unread as problem:
        return str(problem)
    return ""


def _buffers(scop: Scop) -> Iterator[WorkspacePart]:
    """All values of variables: extents have to be those of the model."""
    params = Parameters(scop)
    for b in scop.buffers:
        for size, text in zip(b.sizes, b.texts, strict=True):
            if not params.equal(read_expression(text), size):
                raise Unread(f"`{b.array}` has {text} elements along a dimension in place of others")
        elem = scop.arrays[b.array].elem.spelling
        length = _product(b.texts)
        yield WorkspacePart(b.array, elem, length, length * var(f"sizeof {elem}"))


def _own(scop: Scop, tree: CNode) -> Iterator[WorkspacePart]:
    """One variable for each thread, in lines of its own."""
    for h in _slots(scop, tree):
        each = f"(({_cells(scop, h)}) * (long)sizeof({scop.arrays[h.array].elem.spelling}) + 127) / 64 * 64"
        length = _length(f"tw_most_threads() * ({each})")
        yield WorkspacePart(f"tw_own_{h.array}", "char", length, length)


def _slots(scop: Scop, tree: CNode) -> list[Held]:
    """That all declarations of one have the same shape is proven with the tree."""
    found = {h.array: h for n in walk(tree) if isinstance(n, Declare) for h in n.slots if scop.arrays[h.array].roomy}
    return [found[name] for name in sorted(found)]


def _sizes(scop: Scop, h: Held) -> list[str]:
    array = scop.arrays[h.array]
    return [array.extents[k - array.scope] if s < 0 else str(s) for k, s in enumerate(h.sizes) if s]


def _cells(scop: Scop, h: Held) -> str:
    return " * ".join(f"({s})" for s in _sizes(scop, h))


def _check_parts(parts: Sequence[WorkspacePart], text: str) -> None:
    """Each begins behind the one before it."""
    left = [line.strip() for line in text.split("\n")]
    each: dict[str, Poly] = {}
    for k, part in enumerate(parts):
        size = _EACH.fullmatch(left[0])
        if size is not None:
            each[f"tw_bytes_{size[1]}"] = _length(f"({size[2]} + 127) / 64 * 64")
            left.pop(0)
        _check_own(part, size, each, text)
        pointer = _POINTER.fullmatch(left.pop(0))
        if pointer is None or (pointer[1], pointer[2]) != (part.elem, part.name):
            raise Unread(f"`{part.name}` has no place")
        before = parts[k - 1] if k else None
        if (before is None) != (pointer[3] is None):
            raise Unread(f"`{part.name}` lies elsewhere")
        if before is not None:
            address = read_expression(pointer[3])
            far = poly_of(address.kids[1], each) if address.kind == "binary" and address.text == "+" else None
            if far != before.length or address.kids[0] != Node("name", before.name):
                raise Unread(f"`{part.name}` begins before `{before.name}` ends")


def _check_own(part: WorkspacePart, size: re.Match[str] | None, each: dict[str, Poly], text: str) -> None:
    """Threads step over as many bytes as there are for each of them; where none do, nothing says how many."""
    name = part.name.removeprefix("tw_own_")
    wanted = name != part.name and re.search(rf"\btw_bytes_{name}\b", text) is not None
    if (size is not None) != wanted or (size is not None and size[1] != name):
        raise Unread(f"nothing says how much of `{part.name}` a thread has")
    if size is not None and poly_of(read_expression(f"tw_most_threads() * tw_bytes_{name}"), each) != part.length:
        raise Unread(f"threads take other parts of `{part.name}` than there are")


def _check_test(scop: Scop, tree: CNode, test: str) -> None:
    """Sizes that are no numbers are asked to be positive, and all of it together to be not too much."""
    sizes = (x for x in _together(test) if not x.strip().startswith(_OVERLAP))
    asked = [e for x in sizes for e in conjuncts(read_expression(x))]
    texts = [t for b in scop.buffers for t in b.texts] + [t for h in _slots(scop, tree) for t in _sizes(scop, h)]
    for text in texts:
        if not text.isdigit() and read_expression(f"({text}) > 0") not in asked:
            raise Unread(f"nothing says that {text} is positive")
    slots = _slots(scop, tree)
    most = min([b.limit for b in scop.buffers] + [LIMIT] * bool(slots))
    parts = [(scop.arrays[b.array], _product(b.texts)) for b in scop.buffers]
    parts += [(scop.arrays[h.array], _length(f"tw_most_threads() * {_cells(scop, h)}")) for h in slots]
    amount = total(length * var(f"sizeof {array.elem.spelling}") for array, length in parts)
    sums = [e.kids for e in asked if e.kind == "binary" and e.text == "<=" and e.kids[1].kind == "number"]
    if not any(_doubles(e) and poly_of(e, {}) == amount and int(bound.text) <= most for e, bound in sums):
        raise Unread("nothing says that there is memory for all of it")


def _together(test: str) -> Iterator[str]:
    """The texts of conditions that have to hold together."""
    depth = start = 0
    for k, c in enumerate(test):
        depth += (c in "([{") - (c in ")]}")
        if not depth and test.startswith("&&", k):
            yield test[start:k]
            start = k + 2
    yield test[start:]


def _doubles(e: Node) -> bool:
    """A sum of products that are computed in floating point."""
    if e.kind == "binary" and e.text == "+":
        return all(map(_doubles, e.kids))
    while e.kind == "binary" and e.text == "*":
        if e.kids[1].kind == "cast" and e.kids[1].text == "double":
            return True
        e = e.kids[0]
    return e.kind == "cast" and e.text == "double"


def _check_turns(text: str) -> None:
    """Each thread takes its own."""
    for m in re.finditer(r"= \(void \*\)\(tw_own_.*", text):
        turn = _TURN.fullmatch(m[0][2:].strip())
        if turn is None or (turn[2] is not None and turn[1] != turn[2]):
            raise Unread("a thread takes what belongs to another")


def _product(texts: Sequence[str]) -> Poly:
    out = poly(1)
    for t in texts:
        out = out * poly_of(read_expression(t), {})
    return out


def _length(text: str) -> Poly:
    return poly_of(read_expression(text), {})


def poly_of(e: Node, known: dict[str, Poly]) -> Poly:
    """A number of elements or bytes; what is no sum or product stands for itself."""
    if e.kind == "number" and e.text.rstrip("L").isdigit():
        return poly(int(e.text.rstrip("L")))
    if e.kind == "name":
        return known.get(e.text, var(e.text))
    if e.kind == "cast" and e.text in ("long", "double"):
        return poly_of(e.kids[0], known)
    if e.kind == "sizeof" and e.text:
        return var(f"sizeof {e.text}")
    if e.kind == "binary" and e.text in ("+", "-", "*"):
        a, b = (poly_of(k, known) for k in e.kids)
        return a + b if e.text == "+" else a - b if e.text == "-" else a * b
    if e.kind == "binary" and e.text == "/":
        return var(f"({poly_of(e.kids[0], known)}) / ({poly_of(e.kids[1], known)})")
    return var(show(e))
