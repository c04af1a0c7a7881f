"""Loop distribution for square roots: a root that is taken in place has an innermost loop of its own, right after the
loop that makes what it is of, so that lines are still in the cache. Compilers make no vectors of a loop with a root."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from codegen.recognize.access.calls import ROOTS, plain_name
from codegen.scop.expr import Call, Ref
from codegen.scop.model import Scop, Statement
from codegen.scop.tree import Band, Leaf, Loop, Node, Seq, has_band, kids, seq, statements, walk, with_kids
from codegen.transform.program import Program, legal


def with_root_loops(q: Program) -> Program:
    """The order with such loops, where dependences allow them."""
    roots = frozenset(s.name for s in q.scop.statements if _is_root(s))
    if not roots or not q.scop.dialect.math_errno:
        return q
    made = q.with_tree(_divided(_near(q.scop, q.tree, roots), roots))
    return made if made.tree != q.tree and legal(made) else q


def has_root_loops(q: Program) -> bool:
    """Whether all roots that are taken in place, of which there are some, have loops of their own."""
    roots = frozenset(s.name for s in q.scop.statements if _is_root(s))
    inner = [n for _, n in walk(q.tree) if isinstance(n, Band) and not has_band(n.child)]
    return bool(roots) and all(roots.isdisjoint(statements(n)) or roots.issuperset(statements(n)) for n in inner)


def _is_root(s: Statement) -> bool:
    """Whether a statement takes the root of the element that it stores."""
    if s.op != "=" or not isinstance(s.rhs, Call) or plain_name(s.rhs.name) not in ROOTS or len(s.rhs.args) != 1:
        return False
    (of,), target = s.rhs.args, s.accesses[s.target]
    if not isinstance(of, Ref):
        return False
    read = s.accesses[of.access]
    return read.array == target.array and bool(read.relation.is_equal(target.relation))


def _near(scop: Scop, tree: Node, roots: Collection[str]) -> Node:
    """Nests of roots share the outer loops of those that come right before them."""
    if not isinstance(tree, Seq):
        return tree
    parts: list[Node] = []
    for part in kids(tree):
        both = _together(scop, parts[-1], part, roots) if parts else None
        parts = [*parts[:-1], both] if both is not None else [*parts, part]
    return seq(parts)


def _together(scop: Scop, a: Node, b: Node, roots: Collection[str]) -> Node | None:
    if not isinstance(a, Band) or not isinstance(b, Band) or a.product or b.product:
        return None
    if len(a.loops) < 2 or [x.name for x in a.loops] != [x.name for x in b.loops]:
        return None
    if not isinstance(b.child, Leaf) or b.child.stmt not in roots:
        return None
    root = scop.statement(b.child.stmt)
    stored = {x.array for n in statements(a) for x in scop.statement(n).accesses if x.write}
    if root.accesses[root.target].array not in stored:
        return None
    outer = tuple(
        replace(x, exprs={**x.exprs, **y.exprs}, coincident=x.coincident and y.coincident)
        for x, y in zip(a.loops[:-1], b.loops[:-1], strict=True)
    )
    inner: list[Node] = [Band((x.loops[-1],), x.child, x.permutable) for x in (a, b)]
    return Band(outer, seq(inner), a.permutable and b.permutable)


def _divided(node: Node, roots: Collection[str]) -> Node:
    """Innermost loops with roots and other statements as several."""
    if not isinstance(node, Band) or node.product or not all(isinstance(x, Leaf) for x in kids(node.child)):
        return with_kids(node, tuple(_divided(x, roots) for x in kids(node))) if kids(node) else node
    groups: list[list[Leaf]] = []
    for leaf in kids(node.child) if isinstance(node.child, Seq) else ():
        assert isinstance(leaf, Leaf)
        if groups and (groups[-1][-1].stmt in roots) == (leaf.stmt in roots):
            groups[-1].append(leaf)
        else:
            groups.append([leaf])
    if len(groups) < 2:
        return node
    names = [[x.stmt for x in group] for group in groups]
    inner: list[Node] = [
        Band((_of(node.loops[-1], n),), seq(list(group)), node.permutable)
        for n, group in zip(names, groups, strict=True)
    ]
    return Band(node.loops[:-1], seq(inner), node.permutable) if node.loops[:-1] else seq(inner)


def _of(loop: Loop, names: Collection[str]) -> Loop:
    return replace(loop, exprs={n: e for n, e in loop.exprs.items() if n in names})
