"""Declarations of the region's own variables, free of compiler warnings: none that is unused, only set, or seemingly
read before it is set."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from codegen.ast.ctree import Bin, Block, ByThreads, CNode, Declare, For, Held, If, Instance, Int, ProductNode, walk
from codegen.scop.model import Scop
from codegen.target.text.constant_conditions import settled
from codegen.target.text.pieces import View, reads_of, words_of


def with_declarations(
    scop: Scop, slots: Sequence[Held], tree: CNode, views: tuple[View, ...], declaration: Callable[[Held], str]
) -> tuple[View, ...]:
    """The text of a tree behind declarations of its variables."""
    inside = [scop.statement(x.stmt) for x in walk(tree) if isinstance(x, Instance)]
    used = {a.array for s in inside for a in s.accesses}
    read = {a.array for s in inside for a in s.reads}
    if not any(isinstance(x, ProductNode) for x in walk(tree)):  # of products, templates print the text
        words, taken = words_of(views), reads_of(views)
        used = {n for n in used if scop.arrays[n].name in words}
        read = {n for n in read if scop.arrays[n].name in taken}
    first, last = [], []
    for h in slots:
        if h.array in used:
            text = declaration(h)
            plain = not any(h.sizes) and not read_unset(scop, tree, h.array)
            first.append(View("decl", text if plain or any(h.sizes) else f"{text[:-1]} = {_zero(scop, h.array)};"))
        if h.array in used - read:
            last.append(View("decl", f"(void){scop.arrays[h.array].name};"))
    return (*first, *views, *last)


def _zero(scop: Scop, array: str) -> str:
    return "0" if scop.arrays[array].elem.kind in ("int", "float") else "{0}"


def read_unset(scop: Scop, tree: CNode, array: str) -> bool:
    """Does a compiler see a path to some read on which nothing was set? The proofs know that nothing goes that way."""
    return _Paths(scop, array).visit(tree, False) is None


class _Paths:
    """Goes along the paths of a tree: whether the variable is set behind a part of it; None where it was read unset."""

    def __init__(self, scop: Scop, array: str) -> None:
        self.scop, self.array = scop, array

    def visit(self, node: CNode, known: bool) -> bool | None:
        if isinstance(node, Instance):
            return self._statement(node, known)
        if isinstance(node, Block):
            now: bool | None = known
            for child in node.children:
                if now is not None:
                    now = self.visit(child, now)
            return now
        if isinstance(node, If):
            ends = [known if x is None else self.visit(x, known) for x in (node.then, node.orelse)]
            return None if None in ends else all(ends)
        assert not isinstance(node, ByThreads)  # which nothing is declared around
        behind = self.visit(node.body, known)
        if behind is None or isinstance(node, Declare):
            return behind
        return behind if isinstance(node, For) and self._runs(node) else known

    def _statement(self, node: Instance, known: bool) -> bool | None:
        s = self.scop.statement(node.stmt)
        if not known and any(a.array == self.array for a in s.reads):
            return None
        return known or s.accesses[s.target].array == self.array

    def _runs(self, node: For) -> bool:
        """Does it run at all, whatever the sizes are?"""
        return settled(Bin(node.op, node.lower, node.upper), {p.name: p for p in self.scop.params}) == Int(1)
