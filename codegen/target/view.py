"""The C tree as the templates want it: strings and nesting, every decision already made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from codegen.ast.ctree import Block, CNode, Declare, For, Held, If, Instance
from codegen.record import record
from codegen.scop.model import Scop
from codegen.scop.tree import CONCURRENT
from codegen.target.body import BodyPrinter
from codegen.target.cexpr import IntPrinter


@record
class View:
    """kind: for, if, stmt, decl, block. The template uses only the fields its kind needs."""

    kind: str
    head: str = ""
    comment: str = ""
    pragma: str = ""
    body: tuple["View", ...] = ()
    orelse: tuple["View", ...] = ()


@dataclass
class ViewBuilder:
    """Turns a C tree into views. `pragmas` supplies the text in front of parallel and vector loops."""

    scop: Scop
    pragmas: Mapping[str, object]
    helpers: set[str] = field(default_factory=set)

    def build(self, node: CNode) -> tuple[View, ...]:
        reserved = _reserved(self.scop)
        return self._views(node, {}, {}, reserved)

    def _views(
        self, node: CNode, names: Mapping[str, str], held: dict[str, Held], taken: frozenset[str]
    ) -> tuple[View, ...]:
        ints = IntPrinter({p.name: p for p in self.scop.params}, names, self.helpers)
        if isinstance(node, Block):
            out: list[View] = []
            for child in node.children:
                views = self._views(child, names, held, taken)
                # Each part has variables of its own, under the same name.
                out.extend((View("block", body=views),) if isinstance(child, Declare) else views)
            return tuple(out)
        if isinstance(node, Instance):
            s = self.scop.statement(node.stmt)
            return (View("stmt", BodyPrinter(self.scop, ints, held).statement(s, node)),)
        if isinstance(node, If):
            orelse = () if node.orelse is None else self._views(node.orelse, names, held, taken)
            return (View("if", ints.text(node.cond), body=self._views(node.then, names, held, taken), orelse=orelse),)
        if isinstance(node, Declare):
            now = {**held, **{h.array: h for h in node.slots}}
            decls = tuple(View("decl", self._declaration(h)) for h in node.slots)
            return (*decls, *self._views(node.body, names, now, taken))
        return (self._for(node, names, held, taken),)

    def _declaration(self, h: Held) -> str:
        array = self.scop.arrays[h.array]
        sizes = [array.extents[k - array.scope] if s < 0 else str(s) for k, s in enumerate(h.sizes) if s]
        return f"{array.elem.spelling} {array.name}{''.join(f'[{s}]' for s in sizes)};"

    def _for(self, node: For, names: Mapping[str, str], held: dict[str, Held], taken: frozenset[str]) -> View:
        ints = IntPrinter({p.name: p for p in self.scop.params}, names, self.helpers)
        name = fresh(node.loop.name, taken)
        inner = {**names, node.var: name}
        step = f"{name}++" if node.step == 1 else f"{name} += {node.step}"
        head = f"long {name} = {ints.text(node.lower)}; {name} {node.op} {ints.text(node.upper, 5)}; {step}"
        pragma = ""
        if node.loop.kind in CONCURRENT:
            make = self.pragmas[node.loop.kind]
            pragma = make(node, ints)  # type: ignore[operator]
        body = self._views(node.body, inner, held, taken | {name})
        return View("for", head, node.loop.note, pragma, body)


def fresh(name: str, taken: frozenset[str]) -> str:
    """`name`, or the first of name2, name3, ... that is not taken."""
    if name not in taken:
        return name
    k = 2
    while f"{name}{k}" in taken:
        k += 1
    return f"{name}{k}"


def _reserved(scop: Scop) -> frozenset[str]:
    """Names that generated loops must not hide."""
    import re

    counters = {it for s in scop.statements for it in s.iterators}
    used = {a.base for a in scop.arrays.values()} | {a.name for a in scop.arrays.values()}
    for p in scop.params:
        used.update(re.findall(r"[A-Za-z_]\w*", p.text))
    return frozenset(used | (scop.names - counters))


__all__ = ["View", "ViewBuilder", "fresh"]
