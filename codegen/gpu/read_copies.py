"""Proof of what a launcher does with arrays ahead of its kernels and behind them, from the printed lines; raises
Unsupported where an element would be missing, stale or without room.

Boxes are read as sets of elements, with the condition that a copy stands under: what the region reads before it writes
it has come, what it writes goes back, nothing goes back that the device has not, and there is room for all of it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import islpy as isl

from codegen.ast.ctree import Bin, CExpr, Name
from codegen.diagnostics import Unsupported
from codegen.gpu import transfers
from codegen.gpu.body import plain_type
from codegen.patterns import pattern
from codegen.record import record
from codegen.scop.dependences import Dependences
from codegen.scop.model import Array, Scop
from codegen.verify.guards import Parameters
from codegen.verify.readback import TreePoint
from codegen.verify.text.read import Node, Unread, read_expression, read_statements

_CONDITION = pattern(r"if \((.*)\) ((?:TW_TRY|tw_kept)\(tw_.*)")
_CHECKED = pattern(r"(TW_TRY|tw_kept)\((.*), \"region \d+ of [^\"]*\"\);")
_MEMORY = pattern(r"static (?:thread_local|_Thread_local) tw_memory tw_(\w+)_memory;")
_SILENT = pattern(r"tw_held \*tw_\w+_held;|tw_running = 1;|cl_int tw_status = tw_begin\(\);")
_BOX = pattern(r"const tw_box (\w+) = ")
_POINTER = pattern(r"([\w ]+?) \*?(?:const )?(\w+) = (\w+);")
_PROBES = ("cudaFree(NULL)", "hipFree(NULL)", "tw_status")
_MET = ("cudaDeviceSynchronize()", "hipDeviceSynchronize()", "clFinish(tw_queue)", "tw_settled()")
# Calls for an array A of elements K with a box B.
_RESERVED = pattern(
    r"tw_reserve\(&tw_(?P<A>\w+)_memory, &(?P<B>\w+), "
    r"(?:sizeof \*(?P=A), \(void \*\*\)&|sizeof\((?P<K>[\w ]+)\), &)(?P=A)\)"
    r"|tw_hold\(&tw_(?P<C>\w+)_memory, tw_(?P=C), &(?P<D>\w+), sizeof \*(?P=C), \(void \*\*\)&(?P=C), &tw_(?P=C)_held\)"
)
_CAME = pattern(
    r"tw_copy\((?P<A>\w+), tw_(?P=A), sizeof(?: \*(?P=A), &(?P<B>\w+), (?:cuda|hip)MemcpyHostToDevice"
    r"|\((?P<K>[\w ]+)\), &(?P<E>\w+), 1)\)"
    r"|tw_bring\(tw_(?P<C>\w+)_held, (?P=C), tw_(?P=C), sizeof \*(?P=C), &(?P<D>\w+)\)"
)
_WENT = pattern(
    r"tw_copy\(tw_(?P<A>\w+), (?P=A), sizeof \*(?P=A), &(?P<B>\w+), (?:cuda|hip)MemcpyDeviceToHost\)"
    r"|tw_copy\((?P<F>\w+), tw_(?P=F), sizeof\((?P<K>[\w ]+)\), &(?P<E>\w+), 0\)"
    r"|tw_wrote\(tw_(?P<C>\w+)_held, tw_(?P=C), (?P=C), sizeof \*(?P=C), &(?P<D>\w+)\)"
)


@record
class LauncherLines:
    """What a launcher does ahead of its kernels and behind them; `moved` says of the pointers that kernels get which
    have memory on the device that the launcher looks after, and `own` are those that the host has not."""

    before: Sequence[str]
    after: Sequence[str]
    moved: Mapping[str, bool]
    own: frozenset[str]


def check_copies(scop: Scop, deps: Dependences, launchers: Sequence[LauncherLines]) -> None:
    """Raises Unsupported unless arrays are on the device where kernels need them, and at home afterwards."""
    proven: set[object] = set()
    try:
        for reader in [_CopyReader(scop, lines) for lines in launchers]:
            reader.read()
            for name in (n for n, a in scop.arrays.items() if not a.inside and scop.accesses_to(n)):
                moved = reader.moved(name)
                if moved not in proven:  # launchers of a region copy the same boxes
                    reader.check_array(deps, name)
                proven.add(moved)
    except Unread as problem:
        raise Unsupported("no-proof", f"transfers could not be proven: {problem}", scop.loc) from None


@dataclass
class _CopyReader:
    scop: Scop
    lines: LauncherLines
    boxes: dict[str, Node] = field(default_factory=dict)
    declared: set[str] = field(default_factory=set)
    rooms: dict[str, str] = field(default_factory=dict)  # boxes by the names of pointers
    came: dict[str, tuple[str, str]] = field(default_factory=dict)  # with the conditions of copies
    went: dict[str, tuple[str, str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.parameters = Parameters(self.scop)
        self.kinds = {(a.name if a.inside else a.base): plain_type(a.elem) for a in self.scop.arrays.values()}

    def read(self) -> None:
        for line in (part.strip() for x in self.lines.before for part in x.split("\n")):
            self._before(line)
        met = False
        for line in self.lines.after:
            if not met:
                met = self._call(line, ("TW_TRY", "tw_kept")) in _MET
                if not met:
                    raise Unread(f"`{line}` stands where kernels are waited for")
            elif line != "tw_running = 0;":
                self._copy(line, _WENT, "tw_kept", self.went)
        if not met or set(self.rooms) != {n for n, moved in self.lines.moved.items() if moved}:
            raise Unread("an array has no room on the device, or kernels are not waited for")

    def _before(self, line: str) -> None:
        box = _BOX.match(line)
        memory = _MEMORY.fullmatch(line)
        pointer = _POINTER.fullmatch(line)
        if box is not None:
            (s,) = read_statements(line)
            if box[1] in self.boxes:
                raise Unread(f"`{box[1]}` stands for two boxes")
            self.boxes[box[1]] = s.kids[2]
        elif memory is not None or _SILENT.fullmatch(line):
            return
        elif pointer is not None and pointer[3] in ("NULL", f"tw_{pointer[2]}"):
            self._pointer(pointer[1], pointer[2], pointer[3])
        elif self._call(line, ("TW_TRY",)) not in _PROBES:
            self._room_or_copy(line)

    def _pointer(self, kind: str, name: str, value: str) -> None:
        moved = self.lines.moved.get(name)
        if moved is None or name in self.declared or moved != (value == "NULL"):
            raise Unread(f"`{name}` is no array that kernels get, or lies elsewhere")
        if kind not in (self.kinds[name], "cl_mem"):
            raise Unread(f"`{name}` has elements of another type")
        self.declared.add(name)

    def _room_or_copy(self, line: str) -> None:
        name, box = self._asked(_RESERVED, self._call(line, ("TW_TRY",)))
        if name not in self.declared:
            self._copy(line, _CAME, "TW_TRY", self.came)
        elif name in self.rooms:
            raise Unread(f"`{name}` has room twice")
        else:
            self.rooms[name] = self._known(box)

    def _asked(self, calls: re.Pattern[str], call: str) -> tuple[str, str]:
        """The array and the box of a call; empty for any other."""
        m = calls.fullmatch(call)
        if m is None:
            return "", ""
        found = m.groupdict()
        name = str(found["A"] or found["C"] or found.get("F"))
        box = str(found["B"] or found["D"] or found.get("E"))
        if found["K"] not in (None, self.kinds.get(name)):
            raise Unread(f"`{name}` has elements of another size")
        return name, box

    def _copy(self, line: str, calls: re.Pattern[str], checked: str, into: dict[str, tuple[str, str]]) -> None:
        m = _CONDITION.fullmatch(line)
        cond, rest = (m[1], m[2]) if m is not None else ("", line)
        name, box = self._asked(calls, self._call(rest, (checked,)))
        if name not in self.rooms or name in into or name in self.lines.own:
            raise Unread(f"`{line}` is no copy of an array that has room")
        into[name] = self._known(box), cond

    def _call(self, line: str, checked: Sequence[str]) -> str:
        """What is called, if it is seen whether that worked."""
        m = _CHECKED.fullmatch(line)
        return m[2] if m is not None and m[1] in checked else ""

    def _known(self, box: str) -> str:
        if box not in self.boxes:
            raise Unread(f"`{box}` is no box")
        return box

    def moved(self, name: str) -> object:
        """All that is known of an array's copies."""
        pointer = self.scop.arrays[name].base
        found = [x.get(pointer, ("", "")) for x in (self.came, self.went)]
        boxes = [self.boxes.get(b) for b in (self.rooms.get(pointer, ""), *(b for b, _ in found))]
        return name, tuple(boxes), tuple(c for _, c in found), pointer in self.declared

    # -- sets --------------------------------------------------------------------------------------

    def check_array(self, deps: Dependences, name: str) -> None:
        """What happens to one array of the program."""
        array = self.scop.arrays[name]
        pointer = array.base
        if pointer not in self.rooms:
            if self.lines.moved.get(pointer, True) or pointer not in self.declared:
                raise Unread(f"`{pointer}` is not on the device")
            return
        if array.place == "buffer":
            self._check_buffer(deps, name)
            return
        for box in {self.rooms[pointer], *(x[pointer][0] for x in (self.came, self.went) if pointer in x)}:
            self._check_strides(array, name, self.boxes[box])
        space = self.scop.accesses_to(name)[0][1].relation.range().get_space()
        space = space.align_params(self.scop.context.get_space())
        none = isl.Set.empty(space)
        come, go = (self._elements(space, *x[pointer]) if pointer in x else none for x in (self.came, self.went))
        all_ = self._elements(space, self.rooms[pointer], "")
        problem = transfers.wrong_transfers(transfers.Elements(all_, come, go), self.scop, deps, name)
        if problem:
            raise Unread(problem)

    def _check_buffer(self, deps: Dependences, name: str) -> None:
        """Memory of the device alone has room for all that the region touches, and needs nothing from before."""
        self._check_strides(self.scop.arrays[name], name, self.boxes[self.rooms[name]])
        space = self.scop.accesses_to(name)[0][1].relation.range().get_space()
        room = self._elements(space.align_params(self.scop.context.get_space()), self.rooms[name], "")
        problem = transfers.wrong_buffer(room, self.scop, deps, name)
        if problem:
            raise Unread(problem)

    def _elements(self, space: isl.Space, box: str, cond: str) -> isl.Set:
        """The elements of a box, where a condition holds."""
        _, lows, counts, _ = self.boxes[box].kids
        names = tuple(f"\0x{k}" for k in range(space.dim(isl.dim_type.set)))
        point = TreePoint(isl.Set.universe(space), names, (), (), ())
        found = isl.Set.universe(space)
        if names:
            for x, low, count in zip(names, lows.kids, counts.kids, strict=True):
                first, many = self.parameters.value(low), self.parameters.value(count)
                inside: CExpr = Bin("&&", Bin("<=", first, Name(x)), Bin("<", Name(x), Bin("+", first, many)))
                found = found.intersect(point.condition(inside))
        if cond:
            found = found.intersect(point.condition(self.parameters.value(read_expression(cond))))
        return found.intersect_params(self.scop.context)

    def _check_strides(self, array: Array, name: str, box: Node) -> None:
        """Neighbours are as far apart as the declaration, or the source's own arithmetic, has them."""
        rank, lows, counts, strides = box.kids
        flat = next((x for _, a in self.scop.accesses_to(name) for x in a.path if x.kind == "flat"), None)
        wanted = [(s,) for s in flat.strides] if flat is not None else [
            tuple(array.extents[k + 1 :]) for k in range(array.rank)]  # fmt: skip
        if not wanted:
            if [x.kids for x in (lows, counts, strides)] != [(Node("number", "0"),)] * 3 or rank.text != "0":
                raise Unread(f"`{array.base}` is one element, and more are copied")
            return
        if rank.text != str(len(wanted)) or any(len(x.kids) != len(wanted) for x in (lows, counts, strides)):
            raise Unread(f"a box of `{array.base}` has another number of subscripts")
        for found, factors in zip(strides.kids, wanted, strict=True):
            if _factors(found) != sorted(f for e in factors for f in _factors(read_expression(e))):
                raise Unread(f"rows of `{array.base}` are apart by another number of elements")


def _factors(e: Node) -> list[Node]:
    """The factors of a product, in some order; casts to `long` change no value, and ones none either."""
    if e.kind == "cast" and e.text == "long":
        return _factors(e.kids[0])
    if e.kind == "binary" and e.text == "*":
        return sorted((*_factors(e.kids[0]), *_factors(e.kids[1])))
    return [] if e == Node("number", "1") else [e]
