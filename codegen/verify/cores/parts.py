"""Checks reductions across cores: every core joins its own values to a part of its own, which begins with what changes
nothing, and one core joins all parts to the variable when all cores have met. Raises Unread otherwise.

That the order of joining is free is shown of the tree. Here: nothing else in the kernel uses the variable, each part is
left where it is looked for, and all of them are joined, once, by the operator of the statements.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from codegen.ast.ctree import CNode, For, walk
from codegen.recognize.reductions import find_reductions
from codegen.record import record
from codegen.scop.model import Scop
from codegen.scop.tree import THREADED
from codegen.verify.cores.records import KernelNames, Part, PrintedStatement
from codegen.verify.cores.types import plain_type, type_of
from codegen.verify.cores.values import LocalElement, NameScope, resolve
from codegen.verify.text.read import Node, Unread, read_statements

_SUMS = ("+", "-")
_NEUTRAL = {"+": "0", "-": "0", "^": "0", "*": "1"}
_AGAIN = ("max", "min", "&", "|")  # to join a value twice is to join it once
_JOIN = {"+": "{0} + {1}", "-": "{0} + {1}"}
_EXTREMES = {
    "float": {"max": "fmax({0}, {1})", "min": "fmin({0}, {1})"},  # whatever statements make of what is no number
    "int": {"max": "{1} > {0} ? {1} : {0}", "min": "{1} < {0} ? {1} : {0}"},
}


@record
class JoinTask:
    """A function that joins parts: its head as it is printed, and the variables with their operators and where the
    parts are in the arguments."""

    head: str
    results: tuple[Part, ...]


def check_begin(sc: NameScope, part: Part, declared: Node) -> None:
    """A core's part begins with what changes nothing."""
    kind, sizes, value = declared.kids
    elem = sc.scop.arrays[part.array].elem
    if sizes.kids or plain_type(kind.text) != type_of(elem):
        raise Unread(f"a part of `{part.array}` has another type")
    nothing = Node("number", _NEUTRAL.get(part.op, ""))
    if elem.kind == "float" and part.op in _SUMS:
        nothing = Node("unary", "-", (Node("number", "0.0"),))
    again = part.op in _AGAIN and resolve(sc, value) == LocalElement(part.array, ())
    if value != nothing and not again:
        raise Unread(f"a part of `{part.array}` begins with something else")


def without_leaving(body: Sequence[Node], parts: Mapping[str, Part], words: KernelNames) -> list[Node]:
    """The statements of a kernel but the last, which leave its core's parts."""
    inner = list(body)
    for own, part in reversed(list(parts.items())):
        place = Node("index", "", (_member(words.args, part.member), Node("name", words.id)))
        if not inner or inner.pop() != Node("do", "", (Node("assign", "=", (place, Node("name", own))),)):
            raise Unread(f"a part of `{part.array}` is not left for who joins it")
    return inner


def check_parts(scop: Scop, kernel: CNode, parts: Mapping[str, Part], leaves: Sequence[PrintedStatement]) -> None:
    """What cores gather has parts, and what has parts is only ever gathered, by one operator."""
    loops = [n for n in walk(kernel) if isinstance(n, For) and n.loop.kind in THREADED]
    gathered = {array for lp in loops for _, array in lp.loop.reductions}
    named = {p.array: (own, p.op) for own, p in parts.items()}
    if gathered != set(named) or len(named) != len(parts):
        raise Unread(f"cores add to `{min(gathered ^ set(named), default='')}` at the same time")
    ops = {r.stmt: (r.array, r.op) for r in find_reductions(scop)}
    for leaf in leaves:
        s = scop.statement(leaf.instance.stmt)
        for k, a in enumerate(s.accesses):
            if a.array not in named:
                continue
            own, op = named[a.array]
            if ops.get(s.name) not in ((a.array, op), *(((a.array, o) for o in _SUMS) if op in _SUMS else ())):
                raise Unread(f"{s.name} uses `{a.array}`, of which a core has only a part")
            if leaf.places.get(k) != own:
                raise Unread(f"{s.name} finds `{a.array}` somewhere else than in its core's part")


def check_join(scop: Scop, task: JoinTask, body: Sequence[Node], words: KernelNames) -> None:
    """Raises Unread unless the function joins all parts of all cores to their variables."""
    left = [x for s in body for x in (s.kids if s.kind == "several" else (s,))]
    pointers = {}
    while left and left[0].kind == "declare" and "*" in left[0].kids[0].text:
        s = left.pop(0)
        if s.kids[1].kids or s.kids[2] != _member(words.args, s.text):
            raise Unread(f"`{s.text}` is another array")
        pointers[s.text] = plain_type(s.kids[0].text)
    for result in task.results:
        _check_one(scop, result, left, pointers, words)
    if left:
        raise Unread("more than parts are joined")


def _check_one(
    scop: Scop, result: Part, left: list[Node], pointers: Mapping[str, object], words: KernelNames
) -> None:
    """The next statements fetch the parts of a variable, join them one after the other, and store what comes out."""
    array, op, member = result
    a, count = scop.arrays[array], words.rows * words.columns
    if [s.kind for s in left[:7]] != ["declare", "declare", "do", "do", "declare", "for", "do"]:
        raise Unread(f"parts of `{array}` are joined in another way")
    found, left[:7] = left[:7], []
    memory, reply, now, core = found[0], found[1].text, found[4], found[5].kids[0].text
    own, others = (memory.text, reply, now.text, core), {words.args, a.base, a.name}
    if len({*own, *others}) < len(own) + len(others):
        raise Unread(f"parts of `{array}` are joined in variables of one name")
    if any(plain_type(d.kids[0].text) != type_of(a.elem) for d in (memory, now)):
        raise Unread(f"parts of `{array}` are joined in another type")
    if not a.inside and pointers.get(a.base) != type_of(a.elem):
        raise Unread(f"parts of `{array}` are joined to something else")
    variable, kind = f"{words.args}->{a.name}" if a.inside else f"*{a.base}", memory.kids[0].text
    how = {**_JOIN, **_EXTREMES[a.elem.kind]}.get(op, f"{{0}} {op} {{1}}")
    value = how.format(now.text, f"{memory.text}[{core}]")
    begin = f"{kind} {memory.text}[{count}]; volatile int {reply} = 0;"
    rest = f"""
        {now.kids[0].text} {now.text} = {variable};
        for (int {core} = 0; {core} < {count}; {core}++)
          {now.text} = {value};
        {variable} = {now.text};"""
    parts, size = f"&{words.args}->{member}[0]", count * a.elem.bytes
    commands = (
        f"athread_get(PE_MODE, {parts}, {memory.text}, {size}, (void *)&{reply}, 0, 0, 0); dma_wait(&{reply}, 1);",
        f"athread_dma_iget_stride({memory.text}, {parts}, {size}, 0, 0, &{reply});"
        f"athread_dma_wait_value(&{reply}, 1);",
    )
    wanted = [read_statements(begin + command + rest) for command in commands]
    if tuple(map(_bare, found)) not in [tuple(map(_bare, w)) for w in wanted]:
        raise Unread(f"parts of `{array}` are joined in another way")


def _bare(s: Node) -> Node:
    """Without braces around a single statement."""
    if s.kind == "block" and len(s.kids) == 1:
        return _bare(s.kids[0])
    return s._replace(kids=tuple(map(_bare, s.kids)))


def _member(args: str, name: str) -> Node:
    return Node("member", "->", (Node("name", args), Node("name", name)))
