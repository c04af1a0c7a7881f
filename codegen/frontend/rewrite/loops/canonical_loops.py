"""Loops written in other ways (`while`, `!=`, decreasing, with commas) rewritten to the canonical form `for (i = first;
i < limit; i += step)`.

`for (i = n; --i >= 0;)`, `i = 0; while (i < n) { ...; i++; }`, `for (; i < n; i++)`, and
`for (i = 0, j = 9; i < n; i++, j--)`, where j is set before the loop and changed in its body. Each rewriting gives
statements with the same meaning; others are left for the walk to refuse.
"""

from __future__ import annotations

from collections.abc import Sequence

from pycparser import c_ast

STEPS = ("++", "--", "p++", "p--")


def counted(items: Sequence[c_ast.Node]) -> list[c_ast.Node]:
    """The statements of a block with their loops in the usual form."""
    out: list[c_ast.Node] = []
    for item in items:
        if isinstance(item, c_ast.While):
            made = _from_while(item, out)
            if made is not None:
                at, loop = made
                out = [x for k, x in enumerate(out) if k != at]
                out.append(loop)
                continue
        out.extend(_for(item) if isinstance(item, c_ast.For) else [item])
    return out


def _for(node: c_ast.For) -> list[c_ast.Node]:
    return _several(_early(_compared(node)))


def _compared(node: c_ast.For) -> c_ast.For:
    """`for (i = n; i--;)` asks whether i is 0."""
    cond = node.cond
    if node.next is not None or not isinstance(cond, c_ast.UnaryOp) or cond.op not in STEPS:
        return node
    test = c_ast.BinaryOp("!=", cond, c_ast.Constant("int", "0", cond.coord), cond.coord)
    return c_ast.For(node.init, test, None, node.stmt, node.coord)


# -- for (i = n; --i >= 0;) ------------------------------------------------------------------------------------


def _early(node: c_ast.For) -> c_ast.For:
    """A counter that the condition changes before it is compared starts one step later, and is changed at the end."""
    cond = node.cond
    if node.next is not None or not isinstance(cond, c_ast.BinaryOp) or not isinstance(cond.left, c_ast.UnaryOp):
        return node
    step, name = cond.left.op, getattr(cond.left.expr, "name", None)
    if step not in ("++", "--") or name is None or name in names_in(cond.right):
        return node
    init = _moved(node.init, name, "+" if step == "++" else "-")
    if init is None:
        return node
    test = c_ast.BinaryOp(cond.op, cond.left.expr, cond.right, cond.coord)
    return c_ast.For(init, test, c_ast.UnaryOp(f"p{step}", cond.left.expr, cond.coord), node.stmt, node.coord)


def _moved(init: c_ast.Node | None, name: str, op: str) -> c_ast.Node | None:
    """The initialization with one step more."""
    one = c_ast.Constant("int", "1")
    if isinstance(init, c_ast.Assignment) and init.op == "=" and getattr(init.lvalue, "name", "") == name:
        return c_ast.Assignment("=", init.lvalue, c_ast.BinaryOp(op, init.rvalue, one, init.coord), init.coord)
    if isinstance(init, c_ast.DeclList) and len(init.decls) == 1 and init.decls[0].name == name:
        d = init.decls[0]
        if d.init is not None:
            return c_ast.DeclList([_with_init(d, c_ast.BinaryOp(op, d.init, one, d.coord))], init.coord)
    return None


def _with_init(d: c_ast.Decl, value: c_ast.Node) -> c_ast.Decl:
    return c_ast.Decl(d.name, d.quals, d.align, d.storage, d.funcspec, d.type, value, d.bitsize, d.coord)


# -- i = 0; while (i < n) { ...; i++; } --------------------------------------------------------------------------


def _from_while(node: c_ast.While, before: Sequence[c_ast.Node]) -> tuple[int, c_ast.For] | None:
    """The place of the assignment that starts the counter, and the loop. Nothing between them looks at the counter; -1
    where there is no such assignment."""
    body = list(node.stmt.block_items or ()) if isinstance(node.stmt, c_ast.Compound) else [node.stmt]
    name = changed(body[-1]) if body else None
    if name is None or name not in names_in(node.cond) or any(name in assigned_in(x) for x in body[:-1]):
        return None
    if any(_jumps(x) for x in body):
        return None
    inner = c_ast.Compound(body[:-1], node.stmt.coord)
    for k in range(len(before) - 1, -1, -1):
        start = before[k]
        if isinstance(start, c_ast.Assignment) and start.op == "=" and getattr(start.lvalue, "name", "") == name:
            if names_in(start.rvalue) & frozenset().union(*(assigned_in(x) for x in before[k + 1 :])):
                return None
            return k, c_ast.For(start, node.cond, body[-1], inner, node.coord)
        if name in names_in(start):
            break
    own = c_ast.ID(name, node.coord)  # what it is by then
    return -1, c_ast.For(c_ast.Assignment("=", own, own, node.coord), node.cond, body[-1], inner, node.coord)


def _jumps(node: c_ast.Node) -> bool:
    """Is there a `continue`, which would go past the step at the end?"""
    if isinstance(node, (c_ast.For, c_ast.While, c_ast.DoWhile)):
        return False
    return isinstance(node, c_ast.Continue) or any(_jumps(child) for child in node)


# -- for (i = 0, j = 9; i < n; i++, j--) -------------------------------------------------------------------------


def _several(node: c_ast.For) -> list[c_ast.Node]:
    """A loop whose header sets and changes its counter alone: what else it sets comes before it, and what else it
    changes at the end of its body."""
    starts, steps = _parts(node.init), _parts(node.next)
    if len(starts) < 2 and len(steps) < 2:
        return [_going_on(node, steps)]
    at = next((k for k, x in enumerate(steps) if _counts(x, node.cond)), None)
    if len(steps) == 1 and changed(steps[0]) in names_in(node.cond):  # by whatever step
        at = 0
    if at is None or (len(steps) > 1 and _jumps(node.stmt)):
        return [node]
    name = str(changed(steps[at]))
    if isinstance(node.init, c_ast.DeclList):
        return _several_declared(node, name, steps, at)
    first = next((k for k, x in enumerate(starts) if _sets(x, name)), len(starts))
    others = {n for x in starts for n in assigned_in(x)} - {name}
    late = [*starts[first + 1 :], *steps[at + 1 :]]
    early = first < len(starts) and names_in(starts[first].rvalue) & {n for x in late for n in assigned_in(x)}
    if any(name in names_in(x) for x in [*starts[:first], *late]) or early or name in others:
        return [node]
    rest = [x for k, x in enumerate(steps) if k != at]
    body = [*_block(node.stmt), *rest] if rest else [node.stmt]
    inner = c_ast.Compound(body, node.stmt.coord) if rest else node.stmt
    init = starts[first] if first < len(starts) else None
    loop = c_ast.For(init, node.cond, steps[at], inner, node.coord)
    return [*(x for k, x in enumerate(starts) if k != first), _going_on(loop, [steps[at]])]


def _several_declared(node: c_ast.For, name: str, steps: list[c_ast.Node], at: int) -> list[c_ast.Node]:
    """The same for a header that declares its counter: what else it declares lives in a block around the loop."""
    first = next((k for k, d in enumerate(node.init.decls) if d.name == name), None)
    if first is None or any(name in names_in(x) for x in steps[at + 1 :]):
        return [node]
    own, others = node.init.decls[first], [d for d in node.init.decls if d.name != name]
    later = {str(d.name) for d in node.init.decls[first:]}
    if any(name in names_in(d) for d in others) or names_in(own) & later:
        return [node]
    rest = [x for k, x in enumerate(steps) if k != at]
    body = c_ast.Compound([*_block(node.stmt), *rest], node.stmt.coord) if rest else node.stmt
    loop = c_ast.For(c_ast.DeclList([own], node.init.coord), node.cond, steps[at], body, node.coord)
    return [c_ast.Compound([*others, loop], node.coord) if others else loop]


def _going_on(node: c_ast.For, steps: Sequence[c_ast.Node]) -> c_ast.For:
    """`for (; i < n; i++)` begins with what i is: `for (i = i; i < n; i++)`."""
    if node.init is not None or len(steps) != 1 or not _counts(steps[0], node.cond):
        return node
    own = c_ast.ID(changed(steps[0]), node.coord)
    return c_ast.For(c_ast.Assignment("=", own, own, node.coord), node.cond, node.next, node.stmt, node.coord)


def _parts(node: c_ast.Node | None) -> list[c_ast.Node]:
    if isinstance(node, c_ast.ExprList):
        return list(node.exprs)
    return list(node.decls) if isinstance(node, c_ast.DeclList) else [] if node is None else [node]


def _block(node: c_ast.Node) -> list[c_ast.Node]:
    """The statements of a body, in a block of their own where they declare something."""
    items = list(node.block_items or ()) if isinstance(node, c_ast.Compound) else [node]
    return [node] if any(isinstance(x, c_ast.Decl) for x in items) else items


def _counts(node: c_ast.Node, cond: c_ast.Node | None) -> bool:
    """Does it change a variable of the condition by a constant?"""
    name = changed(node)
    return name is not None and name in names_in(cond) and _by(node) is not None


def _sets(node: c_ast.Node, name: str) -> bool:
    return isinstance(node, c_ast.Assignment) and node.op == "=" and getattr(node.lvalue, "name", "") == name


def _by(node: c_ast.Node) -> int | None:
    if isinstance(node, c_ast.UnaryOp):
        return 1 if "+" in node.op else -1
    if isinstance(node, c_ast.Assignment) and isinstance(node.rvalue, c_ast.Constant) and node.rvalue.value.isdigit():
        return int(node.rvalue.value) * {"+=": 1, "-=": -1}.get(node.op, 0) or None
    return None


# -- names -----------------------------------------------------------------------------------------------------


def changed(node: c_ast.Node) -> str | None:
    """The variable that `i++`, `i -= 2` or `i = i + 1` changes."""
    if isinstance(node, c_ast.UnaryOp) and node.op in STEPS and isinstance(node.expr, c_ast.ID):
        return str(node.expr.name)
    if isinstance(node, c_ast.Assignment) and isinstance(node.lvalue, c_ast.ID):
        name = str(node.lvalue.name)
        return name if node.op in ("+=", "-=") or (node.op == "=" and name in names_in(node.rvalue)) else None
    return None


def names_in(node: c_ast.Node | None) -> frozenset[str]:
    """Every identifier of an expression or statement."""
    if node is None:
        return frozenset()
    own = frozenset({str(node.name)}) if isinstance(node, c_ast.ID) else frozenset[str]()
    return own.union(*(names_in(child) for child in node))


def assigned_in(node: c_ast.Node | None) -> frozenset[str]:
    """Variables that a statement sets as a whole, those of its own blocks included."""
    if node is None:
        return frozenset()
    own: frozenset[str] = frozenset()
    if isinstance(node, c_ast.Assignment) and isinstance(node.lvalue, c_ast.ID):
        own = frozenset({str(node.lvalue.name)})
    elif isinstance(node, c_ast.UnaryOp) and node.op in STEPS and isinstance(node.expr, c_ast.ID):
        own = frozenset({str(node.expr.name)})
    elif isinstance(node, c_ast.Decl):
        own = frozenset({str(node.name)})
    return own.union(*(assigned_in(child) for child in node))


__all__ = ["assigned_in", "changed", "counted", "names_in"]
