"""Proof of printed kernels and launches, read beside the proven tree; raises Unsupported where they do anything else.

A kernel runs the loops of its part of the tree; of a grid's loops each thread takes the value that is its own, by its
number along the axis that the loop was launched along. Launches stand where the tree has their kernels, in its loops
and in its order, with as many threads as were proven to be enough, and hand over what the kernel is declared with.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace

from codegen.ast.ctree import Bin, Block, CNode, Declare, For, Held, If, Instance, Int, Name, walk
from codegen.diagnostics import Unsupported
from codegen.gpu.steps.model import TIME
from codegen.patterns import pattern
from codegen.print.templates import environment
from codegen.record import record
from codegen.scop.model import Scop
from codegen.scop.tree import GRID
from codegen.target.text.body import BodyPrinter
from codegen.target.text.cexpr import IntPrinter
from codegen.target.text.pieces import View
from codegen.target.view import reserved
from codegen.verify.loops.cursor import Cursor
from codegen.verify.loops.events import read_events
from codegen.verify.loops.scope import Place, first_place
from codegen.verify.loops.tree import TreeReader
from codegen.verify.text.read import Unread

_AXES = ("x", "y", "z")
_UNROLLED = pattern(r"TW_AHEAD|TW_STRIP\([1-9]\d*\)")
_LAUNCH = pattern(
    r"TW_LAUNCH(?:_STEP)?\((?:TW_NARROW\((\w+), ([^()]*)\)|(\w+)), dim3\((.*)\), dim3\(([\d, ]+)\), ?(.*)\);"
)
_ENQUEUED = pattern(
    r"tw_status \|= tw_launch\(\"(\w+)\", (\d), \(size_t\[\]\)\{ (.*?) \}, \(size_t\[\]\)\{ ([\d, ]+) \}, (\d+), "
    r"\(tw_argument\[\]\)\{ (.*) \}\);"
)
_SHARE = pattern(r"tw_(?:blocks|threads)\(tw_count_([xyz])(?: - tw_first_([xyz]))?, (\d+), (\d+)\)")

Printer = Callable[[IntPrinter, dict[str, Held]], BodyPrinter]


@record
class PrintedKernel:
    """A kernel of the tree: its part, the loops of its grid from the outermost on, the names of the host's counters
    around it, what a thread does, and variables that it has not for itself, by the types of all."""

    node: CNode
    chain: Sequence[For]
    names: Mapping[str, str]
    body: Sequence[View]
    scratch: frozenset[str]
    types: Mapping[str, str]
    held: Mapping[str, Held] = field(default_factory=dict)  # variables that are declared around it


@record
class Launch:
    """What a kernel has to be started with: numbers of threads along x, y and z, and names of its parameters; and for
    which sizes its counters may be of type int."""

    node: CNode
    counts: Sequence[str]
    threads: Sequence[int]
    parameters: Sequence[str]
    small: str = ""


@record
class StepsCall:
    """What moves a loop of the host on by iterations in tiles: the function, and what it is called with."""

    node: For
    name: str
    arguments: Sequence[str]


def iterations_left(node: For, ints: IntPrinter) -> str:
    """How many iterations a loop has from its present one on."""
    left = Bin("-", node.upper, Name(node.var))
    return ints.text(left if node.op == "<" else Bin("+", left, Int(1)))


def launched(name: str, small: str) -> str:
    """A kernel as launches have it: with counters of type int where that test holds."""
    return f"TW_NARROW({name}, {small})" if small else name


def check_kernel(scop: Scop, kernel: PrintedKernel, printer: Printer) -> None:
    """Raises Unsupported unless the printed body of a kernel is what the tree says for one thread."""
    cursor = Cursor(read_events(printed_lines(kernel.body)), reserved(scop))
    for var, name in kernel.names.items():
        cursor.known(name, var)
    try:
        here = first_place(scop, cursor)
        _ThreadReader(cursor, kernel, printer).read(here)
    except Unread as problem:
        raise Unsupported("no-proof", f"a kernel that was printed for it is not the proven tree: {problem}", scop.loc,
                          "split the region into smaller ones, and please report it") from None  # fmt: skip


def check_launches(
    scop: Scop, tree: CNode, body: Sequence[View], launches: Mapping[str, Launch], steps: Sequence[StepsCall] = ()
) -> None:
    """Raises Unsupported unless the launcher starts each kernel where the tree has it, and calls what carries out
    iterations in tiles ahead of all that an iteration does."""
    try:
        cursor = Cursor(read_events(printed_lines(body)), reserved(scop))
        reader = _LaunchReader(cursor, launches, steps)
        reader.node(tree, first_place(scop, cursor))
        if cursor.peek().kind != "end" or reader.left:
            raise Unread("a kernel is left out, or something stands behind the last one")
    except Unread as problem:
        raise Unsupported("no-proof", f"its launches are not those of the proven tree: {problem}", scop.loc,
                          "split the region into smaller ones, and please report it") from None  # fmt: skip


def parameter_names(parameters: str) -> list[str]:
    """The names of a kernel's parameters, in their order."""
    return [re.findall(r"\w+", x)[-1] for x in parameters.split(", ") if x]


def printed_lines(views: Sequence[View]) -> str:
    """Views as the files for devices have them."""
    module = environment().get_template("gpu/lines.j2").module
    return str(module.lines(views, "  "))  # type: ignore[attr-defined]


class _ConditionReader(TreeReader):
    """Conditions as files for devices have them."""

    def _if(self, node: If, here: Place) -> None:
        self.cursor.expect("if", here.ints.text(node.cond))
        self.node(node.then, here)
        if node.orelse is not None:
            self.cursor.expect("else")
            self.node(node.orelse, here)
        self.cursor.expect("/if")


class _ThreadReader(_ConditionReader):
    def __init__(self, cursor: Cursor, kernel: PrintedKernel, printer: Printer) -> None:
        super().__init__(cursor)
        self.kernel, self.printer = kernel, printer

    def read(self, here: Place) -> None:
        held = dict(self.kernel.held)
        self.node(self.kernel.node, replace(here, names=dict(self.kernel.names), held=held))
        if self.cursor.peek().kind != "end":
            raise Unread(f"`{self.cursor.peek().text}` stands behind the loops")

    def _statement(self, node: Instance, here: Place) -> None:
        s = here.scop.statement(node.stmt)
        self.cursor.statement(self.printer(here.ints, here.held).statement(s, node))

    def _declare(self, node: Declare, here: Place) -> None:
        mine = [h for h in node.slots if h.array not in self.kernel.scratch]
        for h in mine:
            array = here.scop.arrays[h.array]
            kept = [array.extents[k - array.scope] if n < 0 else str(n) for k, n in enumerate(h.sizes) if n]
            rows = "".join(f"[{n}]" for n in kept)
            self.cursor.expect("stmt", f"{self.kernel.types[h.array]} {array.name}{rows};")
            self.cursor.known(array.name, f"held {array.name}")
        self.node(node.body, replace(here, held={**here.held, **{h.array: h for h in node.slots}}))
        for h in mine:
            name = here.scop.arrays[h.array].name
            self.cursor.check_alive(name, f"held {name}")

    def loop(self, node: For, here: Place) -> None:
        place = next((k for k, lp in enumerate(self.kernel.chain) if lp is node), None)
        if place is not None:
            self._own_value(node, _AXES[len(self.kernel.chain) - 1 - place], here)
            return
        if self.cursor.peek().kind == "pragma" and _UNROLLED.fullmatch(self.cursor.take().text) is None:
            raise Unread("a directive stands ahead of a loop of a thread")
        self.node(node.body, self.enter(node, here))
        self.cursor.expect("/for")

    def _own_value(self, node: For, axis: str, here: Place) -> None:
        """The value of a grid's loop that is this thread's, if the loop has it."""
        number = f"TW_THREAD_{axis.upper()}" if axis == "x" else f"tw_first_{axis} + TW_THREAD_{axis.upper()}"
        own = number if node.step == 1 else f"{node.step} * ({number})"
        value = own if node.lower == Int(0) else f"{here.ints.wide(node.lower, 5)} + {own}"
        name = self.cursor.variable("long", value, node.var)
        if node.op not in ("<", "<="):
            raise Unread("a grid's loop counts down")
        inner = replace(here, names={**here.names, node.var: name})
        self.cursor.expect("if", f"{name} {node.op} {here.ints.text(node.upper, 5)}")
        self.node(node.body, inner)
        self.cursor.expect("/if")


class _LaunchReader(_ConditionReader):
    def __init__(self, cursor: Cursor, launches: Mapping[str, Launch], steps: Sequence[StepsCall]) -> None:
        super().__init__(cursor)
        self.left, self.steps = dict(launches), steps

    def node(self, node: CNode, here: Place) -> None:
        if isinstance(node, Declare):
            self.node(node.body, here)
        elif not _has_grid(node) or (isinstance(node, For) and node.loop.kind == GRID):
            self._launch(node)
        elif isinstance(node, Block):
            self._all(node.children, here)
        elif isinstance(node, If):
            self._if(node, here)
        else:
            assert isinstance(node, For)
            inside = self.enter(node, here)
            for call in (x for x in self.steps if x.node is node):
                counter = inside.names[node.var]
                given = (counter if x == TIME else x for x in call.arguments)
                words = ", ".join((iterations_left(node, inside.ints), *given))
                self.cursor.expect("stmt", f"{counter} += {call.name}({words});")
            self.node(node.body, inside)
            self.cursor.expect("/for")

    def _all(self, children: Sequence[CNode], here: Place) -> None:
        """Parts in their order; neighbours without a grid may be one kernel."""
        k = 0
        while k < len(children):
            several = [x for x in self.left.values() if isinstance(x.node, Block) and x.node.children[0] is children[k]]
            if several and isinstance(several[0].node, Block) and several[0].node is not children[k]:
                inside = several[0].node.children
                if any(x is not y for x, y in zip(inside, children[k : k + len(inside)], strict=True)):
                    raise Unread("a kernel does the work of others")
                self._launch(several[0].node)
                k += len(inside)
            else:
                self.node(children[k], here)
                k += 1

    def _launch(self, node: CNode) -> None:
        """One launch, with as many threads as are enough."""
        cursor, counts = self.cursor, list[str]()
        if cursor.next_statement().startswith("const long tw_count_x = "):
            counts = _counted(cursor.take().text)
        tiles = cursor.take().text if cursor.peek().kind == "if" else ""
        firsts: list[tuple[str, int]] = []
        while cursor.peek().kind == "for":
            m = re.fullmatch(r"long tw_first_([yz]) = 0; tw_first_\1 < tw_count_\1; tw_first_\1 \+= (\d+)",
                             cursor.take().text)  # fmt: skip
            if m is None:
                raise Unread("launches of a part of a grid each are of another form")
            firsts.append((m[1], int(m[2])))
        name, small, shares, threads, given = _started(cursor.expect("stmt").text)
        what = self.left.pop(name, None)
        if what is None or what.node is not node:
            raise Unread(f"`{name}` is launched where the tree has another kernel")
        if counts != list(what.counts) or threads != list(what.threads) or given != list(what.parameters):
            raise Unread(f"`{name}` is launched with other threads or arguments than it has")
        if small != what.small:
            raise Unread(f"counters of `{name}` are of type int under another condition")
        mine = [x for x in given if not x.startswith("tw_first_")]
        other = f"!{name}_tiles({', '.join(mine)})"
        if tiles not in (("tw_count_x > 0", f"tw_count_x > 0 && {other}") if counts else ("", other)):
            raise Unread(f"`{name}` is launched under another condition")
        _check_shares(shares, threads if counts else [], firsts)
        for _ in firsts:
            cursor.expect("/for")
        if tiles:
            cursor.expect("/if")
        if "launch" in cursor.expect("stmt").text.lower():  # whether that worked
            raise Unread("a kernel is launched twice")


def _counted(text: str) -> list[str]:
    """The numbers of threads along x, y and z."""
    parts = re.split(r"(?:^const long |, )tw_count_([xyz]) = ", text.removesuffix(";"))[1:]
    if parts[::2] != list(_AXES[: len(parts) // 2]):
        raise Unread("numbers of threads of another form")
    return parts[1::2]


def _started(text: str) -> tuple[str, str, str, list[int], list[str]]:
    """The kernel, when its counters are of type int, its blocks or threads along each axis, the threads of a block, and
    the arguments."""
    m = _LAUNCH.fullmatch(text)
    if m is not None:
        threads, given = [int(n) for n in m[5].split(", ")], [x for x in m[6].split(", ") if x]
        return m[1] or m[3], m[2] or "", m[4], threads, given
    m = _ENQUEUED.fullmatch(text)
    if m is None:
        raise Unread(f"`{text}` is no launch")
    given = re.findall(r"\{ sizeof (\w+), &\1 \}", m[6])
    threads = [int(n) for n in m[4].split(", ")]
    if len(given) != int(m[5]) or m[6].count("sizeof") != len(given) or int(m[2]) != len(threads):
        raise Unread("a launch has other arguments than it says")
    return m[1], "", m[3], threads, given


def _check_shares(text: str, threads: Sequence[int], firsts: Sequence[tuple[str, int]]) -> None:
    """Blocks are for all threads that are needed, or for as many as one launch can have from the first one on."""
    found = _SHARE.findall(text)
    if not threads:
        if text != "1" or firsts:
            raise Unread("a single thread is launched otherwise")
        return
    steps = dict(firsts)
    if len(found) != len(threads) or _SHARE.sub("", text).replace(", ", ""):
        raise Unread("a launch has another number of axes")
    for axis, n, (of, first, each, most) in zip(_AXES, threads, found, strict=False):
        whole = (of, first, int(each)) == (axis, "" if axis == "x" else axis, n)
        if not whole or (axis != "x" and steps.pop(axis, 0) != n * int(most)):
            raise Unread("a launch has blocks of another size")
    if steps:
        raise Unread("a launch is repeated along an axis that it has not")


def _has_grid(node: CNode) -> bool:
    return any(isinstance(x, For) and x.loop.kind == GRID for x in walk(node))
