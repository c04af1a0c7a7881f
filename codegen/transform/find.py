"""Looks up the loops of the schedule tree that a plan's reference means (all of them, or InputError), and takes
perfectly nested bands out of the tree as one chain of loops and puts them back regrouped."""

from __future__ import annotations

from collections.abc import Collection

from codegen.diagnostics import InputError, Loc
from codegen.plan.model import NOWHERE, LoopRef
from codegen.record import record
from codegen.scop.model import Scop
from codegen.scop.tree import Band, FoundLoop, Loop, Node, Path, at, loops, put, statements
from codegen.source.layout.lexis import KEYWORDS


def illegal(message: str, loc: Loc, hint: str = "") -> InputError:
    """A directive that cannot be carried out."""
    return InputError("illegal-plan", message, loc, hint)


def free_name(scop: Scop, name: str, stmts: Collection[str]) -> bool:
    """Can a plan give this name to something new that the statements use?"""
    used = {*scop.names, *scop.arrays, *(x.name for x in scop.params)}
    used |= {it for s in scop.statements if s.name in stmts for it in s.iterators}
    own = name.startswith(("_", "tw_", "TW_"))
    return name.isascii() and name.isidentifier() and not own and name not in used | KEYWORDS


def find(tree: Node, ref: LoopRef, loc: Loc) -> tuple[FoundLoop, ...]:
    """All loops a reference means; at least one."""
    places = tuple(
        p for p in loops(tree) if p.loop.name == ref.name and (not ref.stmt or ref.stmt in statements(p.band))
    )
    if places:
        return places
    loc, known = loc if ref.loc is NOWHERE else ref.loc, statements(tree)
    if ref.stmt and ref.stmt not in known:
        raise illegal(f"there is no statement {ref.stmt}", loc, f"statements here: {', '.join(known)}")
    names = sorted({p.loop.name for p in loops(tree) if not ref.stmt or ref.stmt in statements(p.band)})
    around = f"loops around {ref.stmt}" if ref.stmt else "loops here"
    raise illegal(f"there is no loop {ref}", loc, f"{around}: {', '.join(names) or 'none'}")


@record
class Chain:
    """Directly nested loops: the band at `path` and the bands right below it."""

    path: Path
    loops: tuple[Loop, ...]
    child: Node

    def index(self, name: str) -> int:
        return next((k for k, lp in enumerate(self.loops) if lp.name == name), -1)


def chain_at(tree: Node, path: Path) -> Chain:
    """The chain that begins at a band."""
    node = at(tree, path)
    found: list[Loop] = []
    while isinstance(node, Band):
        found.extend(node.loops)
        node = node.child
    return Chain(path, tuple(found), node)


def chains(tree: Node, refs: tuple[LoopRef, ...], loc: Loc) -> tuple[Chain, ...]:
    """The maximal chains that hold all the loops."""
    out: dict[Path, Chain] = {}
    for place in find(tree, refs[0], loc):
        path = place.path
        while path and isinstance(at(tree, path[:-1]), Band):
            path = path[:-1]
        chain = chain_at(tree, path)
        fits = all(chain.index(r.name) >= 0 and (not r.stmt or r.stmt in statements(at(tree, path))) for r in refs)
        if fits:
            out[path] = chain
    if out:
        return tuple(out[p] for p in sorted(out))
    names = ", ".join(map(str, refs))
    raise illegal(
        f"loops {names} are not directly nested in one another",
        loc,
        "only loops with nothing between them can be tiled or reordered together",
    )


def rebuild(tree: Node, chain: Chain, groups: list[tuple[tuple[Loop, ...], bool]]) -> Node:
    """Put a chain back as bands; each group is (loops, isolate full tiles)."""
    node = chain.child
    for members, split in reversed(groups):
        if members:
            node = Band(members, node, True, split)
    return put(tree, chain.path, node)
