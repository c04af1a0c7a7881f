"""Reads the copies of reduction variables around a loop on threads: each is set from the source's variable ahead of the
loop, and has to go back there behind it; raises Unread otherwise."""

from __future__ import annotations

from codegen.ast.ctree import For, Instance, walk
from codegen.recognize.reductions import unsigned_for
from codegen.scop.model import Array, Scop
from codegen.verify.loops.cursor import Cursor
from codegen.verify.text.read import Unread

_OWN = "gathered"

class Gathered:
    """What stands ahead of a loop, and what has to stand behind it then."""

    def __init__(self, cursor: Cursor, scop: Scop, node: For) -> None:
        self.cursor, self.scop, self.node = cursor, scop, node
        self._after: list[tuple[str, str, bool]] = []  # text, the variable, and whether it is the loop's own there

    def begin(self) -> None:
        arrays = [self.scop.arrays[a] for _, a in self.node.loop.reductions]
        while any(self._begins(a) for a in arrays):
            pass

    def end(self) -> None:
        """Raises Unread unless everything goes back."""
        for text, name, own in reversed(self._after):
            self.cursor.peek()
            if (self.cursor.alive.get(name) == _OWN) != own:
                raise Unread(f"`{name}` is given back elsewhere")
            self.cursor.statement(text)

    def _begins(self, a: Array) -> bool:
        """Reads the copy of a variable, if one is made here: one of the same type, or of one in which it cannot
        overflow."""
        name, kind = a.name if a.inside else a.base, a.elem.spelling
        at = f"tw_{name}"
        text = self.cursor.next_statement()
        if text == f"{kind} *const {at} = &{name};":
            self._read(text, f"{kind} {name} = *{at};")
            self.cursor.known(name, _OWN)
            back = f"if (__builtin_memcmp(&{name}, {at}, sizeof {name})) *{at} = {name};"
            self._after.append((back, name, True))
            return True
        inside = (self.scop.statement(x.stmt) for x in walk(self.node) if isinstance(x, Instance))
        wide = unsigned_for(self.scop, (s for s in inside if s.accesses[s.target].array == a.name))
        if wide is None or text != f"{wide.spelling} {at} = ({wide.spelling}){name};":
            return False
        self._read(text, f"{wide.spelling} {name} = {at};")
        test = "" if a.unshared else f"if (({kind}){at} != {name}) "
        self.cursor.known(name, _OWN)
        self._after += [(f"{test}{name} = ({kind}){at};", name, False), (f"{at} = {name};", name, True)]
        return True

    def _read(self, *texts: str) -> None:
        for text in texts:
            self.cursor.expect("stmt", text)
