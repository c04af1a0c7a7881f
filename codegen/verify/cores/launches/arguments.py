"""Checks a launch in the master's text: each member of the argument struct has the type and the value of what kernels
take it for, and the master starts the cores, waits for them and gives memory back behind that. `wrong_launch` returns
what is wrong, or the empty string.

Kernels are proven for parameters and arrays of the region by their names. The master fills the members, starts the
cores and waits for them; this is read from the text of the region and from the declaration of the struct.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import field

from codegen.ast.ctree import Held, Name
from codegen.record import record
from codegen.scop.model import Array, Scop
from codegen.verify.cores.expr import integer, polynomial
from codegen.verify.cores.types import plain_type, type_of, value_type
from codegen.verify.poly import Poly, poly
from codegen.verify.text.read import NOTHING, Node, Unread, read_expression, read_statements

_FILLED = re.compile(r"(\w+) tw_args =\s*\{\s*(.*?)\s*\};", re.S)
_MEMBER = re.compile(r"\.(\w+) = (.*)", re.S)
SECOND = "_other"


@record
class LaunchTask:
    """A launch by the name of what every core runs. `shared` are variables of the region that live in the arguments;
    `second` are arrays of which there may be another copy."""

    name: str
    shared: Mapping[str, Held]
    second: frozenset[str]
    parts: Mapping[str, tuple[str, int]] = field(default_factory=dict)  # members for parts: of what, and how many


def wrong_launch(scop: Scop, task: LaunchTask, declarations: Sequence[str], text: str) -> str:
    """What is wrong with a launch in the text of its region; empty where nothing is. `declarations` are the members of
    its struct."""
    try:
        values, rest = _block(task.name, text)
        members = _declared(declarations)
        for name, declared in members.items():
            _check_member(scop, task, name, declared, values.pop(name, None))
        if values:
            raise Unread(f"`{min(values)}` is no member")
        _check_start(task, rest, members)
    except Unread as problem:
        return str(problem)
    return ""


def _block(name: str, text: str) -> tuple[dict[str, Node], tuple[Node, ...]]:
    """The values that members get, and the statements behind."""
    found = [m for m in _FILLED.finditer(text) if m[1] == f"{name}_args"]
    if len(found) != 1:
        raise Unread(f"`{name}` is started {len(found)} times")
    values: dict[str, Node] = {}
    for part in re.split(r",\s+(?=\.\w+ = )", found[0][2]):
        member = _MEMBER.fullmatch(part)
        if member is None or member[1] in values:
            raise Unread(f"`{part}` in the arguments of `{name}`")
        values[member[1]] = read_expression(member[2])
    after = text[found[0].end() :]
    end = re.search(r"^\s*\}$", after, re.M)
    return values, read_statements(after[: end.start()] if end else after)


def _declared(declarations: Sequence[str]) -> dict[str, Node]:
    found: dict[str, Node] = {}
    for node in read_statements("\n".join(declarations)):
        if node.kind != "declare" or node.text in found or node.kids[2] != NOTHING:
            raise Unread(f"`{node.text}` among the arguments")
        found[node.text] = node
    return found


def _check_member(scop: Scop, task: LaunchTask, name: str, declared: Node, value: Node | None) -> None:
    kind, sizes, _ = declared.kids
    given = value_type(scop, name)
    array = next((a for a in scop.arrays.values() if a.base == name and not a.inside), None)
    if given is not None:
        plain = kind.text.count("*") == 0 and not sizes.kids and plain_type(kind.text) == type_of(given)
        if not plain or value != Node("name", name):
            raise Unread(f"`{name}` has another type or value in the arguments")
    elif name in task.parts:
        of, count = task.parts[name]
        plain = "*" not in kind.text and plain_type(kind.text) == type_of(scop.arrays[of].elem)
        if not plain or list(sizes.kids) != [Node("number", str(count))] or value:
            raise Unread(f"parts of `{of}` have another type or number in the arguments")
    elif name in task.shared:
        _check_shared(scop, task.shared[name], declared, value)
    elif array is not None:
        _check_pointer(array, name, declared)
        at = Node("name", name) if array.rank else Node("unary", "&", (Node("name", name),))
        if value != Node("cast", "void *", (at,)):
            raise Unread(f"`{name}` points elsewhere in the arguments")
    else:
        first = name.removesuffix(SECOND)
        if first not in task.second or first == name:
            raise Unread(f"`{name}` is nothing that kernels know")
        _check_pointer(scop.arrays[first], name, declared)
        _check_second(scop, scop.arrays[first], value)


def _check_pointer(array: Array, name: str, declared: Node) -> None:
    kind, sizes, _ = declared.kids
    if kind.text.count("*") != 1 or sizes.kids or plain_type(kind.text) != type_of(array.elem):
        raise Unread(f"`{name}` points to elements of another type in the arguments")


def _check_shared(scop: Scop, held: Held, declared: Node, value: Node | None) -> None:
    kind, sizes, _ = declared.kids
    array = scop.arrays[held.array]
    wanted = [Node("number", str(n)) for n in held.sizes if n]
    if "*" in kind.text or list(sizes.kids) != wanted or plain_type(kind.text) != type_of(array.elem) or value:
        raise Unread(f"`{held.array}` has another type or size in the arguments")


def _check_second(scop: Scop, array: Array, value: Node | None) -> None:
    """Memory for as many elements as the array has, or none."""
    names = {p.text: Name(p.name) for p in scop.params}
    want = poly(array.elem.bytes)
    for e in array.extents:
        want = want * polynomial(integer(read_expression(e), names))
    if value is None or value.kind != "call" or value.text != "malloc" or len(value.kids) != 1:
        raise Unread(f"there is no second `{array.name}`")
    if _bytes(value.kids[0], names) != want:
        raise Unread(f"the second `{array.name}` has another size")


def _bytes(e: Node, names: Mapping[str, Name]) -> Poly:
    if e.kind == "binary" and e.text == "*":
        return _bytes(e.kids[0], names) * _bytes(e.kids[1], names)
    if e.kind == "sizeof" and e.text:
        return poly(plain_type(e.text)[1] // 8)
    return polynomial(integer(e, names))


def _check_start(task: LaunchTask, rest: Sequence[Node], members: Mapping[str, Node]) -> None:
    """Cores start with these arguments, the master waits for them, and gives memory back behind that."""
    arguments = Node("name", "tw_args")
    second = [n for n in members if n.removesuffix(SECOND) in task.second and n.endswith(SECOND)]
    want = [
        Node("call", "tw_start"),
        Node("call", "athread_spawn", (Node("name", task.name), Node("unary", "&", (arguments,)))),
        Node("call", "athread_join"),
        *(Node("call", "free", (Node("member", ".", (arguments, Node("name", n))),)) for n in second),
    ]
    if list(rest) != [Node("do", "", (call,)) for call in want]:
        raise Unread(f"`{task.name}` is started in another way")
