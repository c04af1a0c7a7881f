"""Checks the printed barrier of a core group: its waits are simulated for every core that is started, and in the end
each core must have learnt that all others have come. `wrong_barrier` returns what is wrong, or the empty string.

A core goes on from a wait when all whom the wait names have come to theirs. The barrier is right where those name each
other, and each core has learnt at the end, from some it waited for, that all others had come.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from codegen.patterns import pattern
from codegen.verify.cores.launches.fences import FENCES
from codegen.verify.text.read import Node, Unread, read_functions

SIDE = 8  # cores of a row, and of a column
_STARTED = pattern(r"\bathread_set_num_threads\((.*)\);")
_BARRIER = pattern(r"^static int tw_barrier\(void\)\n\{.*?^\}$", re.M | re.S)
_ROWS, _LINES = ("athread_syn", "athread_ssync"), pattern(r"CRTS_ssync_(\d+)spe")
_ALL = (Node("call", "athread_ssync_array"), Node("call", "athread_syn", (Node("name", "ARRAY_SCOPE"),
        Node("number", "0xffff"))))  # fmt: skip


class Wait(NamedTuple):
    """What a core calls, and for whom it waits there."""

    call: Node
    cores: frozenset[int]


def wrong_barrier(slave: str, master: str) -> str:
    """What is wrong with the barrier in the file for the cores, beside the file that starts them; empty where nothing
    is."""
    try:
        _check(slave, master)
    except Unread as problem:
        return str(problem)
    return ""


def _check(slave: str, master: str) -> None:
    started, found = _STARTED.findall(master), _BARRIER.findall(slave)
    if not started or len(set(started)) != 1 or not started[0].isdigit():
        raise Unread("it is not known how many cores are started")
    if len(found) > 1 or slave.count("tw_barrier(void)") != len(found):
        raise Unread("there are several barriers")
    if not found:
        if "tw_barrier" in slave:
            raise Unread("there is no barrier")
        return
    (function,) = read_functions(found[0])
    everyone = frozenset(range(int(started[0])))
    waits = {core: _waits(list(function.body), core) for core in everyone}
    if len({len(w) for w in waits.values()}) > 1:
        raise Unread("some cores wait more often than others")
    known = {core: frozenset((core,)) for core in everyone}
    for k in range(len(waits[0])):
        for wait in {w[k] for w in waits.values()}:
            _check_together(wait, frozenset(core for core in everyone if waits[core][k] == wait))
        known = {core: frozenset[int]().union(*(known[x] for x in waits[core][k].cores)) for core in everyone}
    for core in sorted(everyone):
        if known[core] != everyone:
            raise Unread(f"core {core} does not wait for core {min(everyone - known[core])}")


def _check_together(wait: Wait, cores: frozenset[int]) -> None:
    """Those who call it are those for whom they wait."""
    if cores != wait.cores:
        who = "some that do not come, or wait for others" if wait.cores - cores else "others than themselves"
        raise Unread(f"core {min(cores)} waits for {who}")


def _waits(body: list[Node], core: int) -> list[Wait]:
    """For whom a core waits, one after the other. Stores of its own are there before."""
    if not body or body[0] not in FENCES:
        raise Unread("a core comes with stores that are on their way")
    if body[-1:] != [Node("return", "", (Node("number", "0"),))]:
        raise Unread("a barrier has no end")
    names: dict[str, int] = {}
    found = []
    for s in body[1:-1]:
        if s.kind == "declare" and s.kids[0].text == "const int" and not s.kids[1].kids:
            names[s.text] = _number(s.kids[2], core, names)
        elif s.kind == "do" and s.kids[0].kind == "call":
            found.append(_wait(s.kids[0], core, names))
        else:
            raise Unread(f"`{s.kind}` in a barrier")
    return found


def _wait(call: Node, core: int, names: dict[str, int]) -> Wait:
    line = _LINES.fullmatch(call.text)
    if call in _ALL:
        return Wait(call, frozenset(range(SIDE * SIDE)))
    if line is not None and line[1] in ("8", "16", "32") and not call.kids:
        return Wait(call, frozenset(range(int(line[1]))))
    if call.text not in _ROWS or len(call.kids) != 2:
        raise Unread(f"`{call.text}` in a barrier")
    scope, mask = call.kids[0].text, _number(call.kids[1], core, names)
    row, column = divmod(core, SIDE)
    chosen = [k for k in range(SIDE) if mask >> k & 1]
    if scope not in ("ROW_SCOPE", "COL_SCOPE") or mask >> SIDE:
        raise Unread(f"`{scope}` with the mask {mask:#x} in a barrier")
    cores = frozenset(row * SIDE + k if scope == "ROW_SCOPE" else k * SIDE + column for k in chosen)
    said = Node("call", call.text, (call.kids[0], Node("number", str(mask))))
    return Wait(said, cores)


def _number(e: Node, core: int, names: dict[str, int]) -> int:
    """The value of an integer on this core."""
    if e.kind == "number":
        return int(e.text, 0)
    if e == Node("call", "athread_get_id", (Node("unary", "-", (Node("number", "1"),)),)):
        return core
    if e.kind == "name" and e.text in names:
        return names[e.text]
    if e.kind == "choose":
        return _number(e.kids[1 if _number(e.kids[0], core, names) else 2], core, names)
    if e.kind == "binary" and e.text in ("/", "%", "<"):
        a, b = (_number(k, core, names) for k in e.kids)
        return int(a < b) if e.text == "<" else a // b if e.text == "/" else a % b
    raise Unread(f"`{e.text or e.kind}` in a barrier")
