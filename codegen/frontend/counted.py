"""Loops that count in other words than `for (i = first; i < limit; i += step)`: rewritten to that form.

`for (i = n; --i >= 0;)`, `i = 0; while (i < n) { ...; i++; }`, and `for (i = 0, j = 9; i < n; i++, j--)`, where `j` is
set from `i` at the start of the body. Each rewriting gives a statement with the same meaning; others are left for the
walk to refuse.
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
                out[made[0]] = c_ast.EmptyStatement()
                out.append(made[1])
                continue
        out.extend(_for(item) if isinstance(item, c_ast.For) else [item])
    return [x for x in out if not isinstance(x, c_ast.EmptyStatement)]


def _for(node: c_ast.For) -> list[c_ast.Node]:
    return _several(_early(node))


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
    """The place of the assignment that starts the counter, and the loop. Nothing between them looks at the counter."""
    body = list(node.stmt.block_items or ()) if isinstance(node.stmt, c_ast.Compound) else [node.stmt]
    name = changed(body[-1]) if body else None
    if name is None or name not in names_in(node.cond) or any(name in assigned_in(x) for x in body[:-1]):
        return None
    if any(_jumps(x) for x in body):
        return None
    for k in range(len(before) - 1, -1, -1):
        start = before[k]
        if isinstance(start, c_ast.Assignment) and start.op == "=" and getattr(start.lvalue, "name", "") == name:
            if names_in(start.rvalue) & frozenset().union(*(assigned_in(x) for x in before[k + 1 :])):
                return None
            inner = c_ast.Compound(body[:-1], node.stmt.coord)
            return k, c_ast.For(start, node.cond, body[-1], inner, node.coord)
        if name in names_in(start):
            return None
    return None


def _jumps(node: c_ast.Node) -> bool:
    """Is there a `continue`, which would go past the step at the end?"""
    if isinstance(node, (c_ast.For, c_ast.While, c_ast.DoWhile)):
        return False
    return isinstance(node, c_ast.Continue) or any(_jumps(child) for child in node)


# -- for (i = 0, j = 9; i < n; i++, j--) -------------------------------------------------------------------------


def _several(node: c_ast.For) -> list[c_ast.Node]:
    """A loop with one counter; the others are set from it at the start of the body, and once more behind the loop."""
    starts, steps = _starts(node.init), _steps(node.next)
    if starts is None or steps is None or (len(starts) < 2 and len(steps) < 2):
        return [node]
    counter = next((n for n in starts if n in steps and n in names_in(node.cond)), None)
    if counter is None or set(steps) != set(starts) & set(steps) or abs(steps[counter]) != 1:
        return [node]
    others = [n for n in steps if n != counter]
    changed_inside = assigned_in(node.stmt)
    fixed = frozenset().union(*(names_in(v) for v in starts.values()))
    if changed_inside & {*starts, *fixed} or set(others) & names_in(node.cond) or fixed & set(starts):
        return [node]
    ahead = [c_ast.Assignment("=", c_ast.ID(n), starts[n], node.coord) for n in starts if n != counter]
    sets = [_linear(n, starts[n], steps[n], counter, starts[counter], steps[counter], node) for n in others]
    init = c_ast.Assignment("=", c_ast.ID(counter), starts[counter], node.coord)
    step = c_ast.UnaryOp("p++" if steps[counter] > 0 else "p--", c_ast.ID(counter), node.coord)
    loop = c_ast.For(init, node.cond, step, c_ast.Compound([*sets, node.stmt], node.coord), node.coord)
    return [*ahead, loop, *sets]


def _linear(
    name: str, first: c_ast.Node, step: int, counter: str, start: c_ast.Node, by: int, at: c_ast.Node
) -> c_ast.Assignment:
    """`name = first + step * (counter - start) / by`, for a counter that moves by 1 or -1."""
    moved: c_ast.Node = c_ast.BinaryOp("-", c_ast.ID(counter), start, at.coord)
    factor = step * by
    if factor not in (1, -1):
        moved = c_ast.BinaryOp("*", c_ast.Constant("int", str(abs(factor))), moved, at.coord)
    value = c_ast.BinaryOp("+" if factor > 0 else "-", first, moved, at.coord)
    return c_ast.Assignment("=", c_ast.ID(name), value, at.coord)


def _starts(init: c_ast.Node | None) -> dict[str, c_ast.Node] | None:
    """Plain assignments of the initialization, by name."""
    parts = init.exprs if isinstance(init, c_ast.ExprList) else [init] if init is not None else []
    out: dict[str, c_ast.Node] = {}
    for p in parts:
        if not isinstance(p, c_ast.Assignment) or p.op != "=" or not isinstance(p.lvalue, c_ast.ID):
            return None
        out[p.lvalue.name] = p.rvalue
    return out


def _steps(next: c_ast.Node | None) -> dict[str, int] | None:
    """By how much each name changes."""
    parts = next.exprs if isinstance(next, c_ast.ExprList) else [next] if next is not None else []
    out: dict[str, int] = {}
    for p in parts:
        name, by = changed(p), _by(p)
        if name is None or by is None or name in out:
            return None
        out[name] = by
    return out


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
