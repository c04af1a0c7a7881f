"""The recursive walk over a region's control flow: iteration domains and order of statements. Branches and inner loops
that depend on data become predicated statements; what else is not affine is refused, with its place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field, replace
from functools import reduce

import islpy as isl
from pycparser import c_ast

from codegen.diagnostics import Diagnostic, Loc, Unsupported
from codegen.frontend.context.frame import Assumption, Binding, Frame
from codegen.frontend.context.raw import RawLoop, RawNode
from codegen.frontend.expressions.affine import NotAffine, c_text
from codegen.frontend.expressions.paths import affine_part
from codegen.frontend.memory.arrays import DataSubscript
from codegen.frontend.memory.declare import check_plain, is_formula
from codegen.frontend.rewrite.jumps import choices, empty, leading_breaks, once, plain_body
from codegen.frontend.rewrite.loops.canonical_loops import assigned_in
from codegen.frontend.rewrite.loops.searches import breaks, search_in
from codegen.frontend.rewrite.plain_statements import ends_program
from codegen.frontend.statements.assignments import StatementBuilder, without_predicate
from codegen.frontend.statements.body import BodyBuilder
from codegen.frontend.statements.if_conversion import ChosenAssignment, as_put, read_choice
from codegen.frontend.statements.loops import Header, LoopSpace, loop_space, read_header
from codegen.frontend.syntax.declarators import DeclaredType
from codegen.frontend.syntax.live import addressed, live_before_branches, mentions
from codegen.frontend.syntax.pragmas import check_pragma
from codegen.frontend.syntax.symbols import location
from codegen.frontend.syntax.tree import has_effects
from codegen.record import mutable
from codegen.scop.expr import Expr, Ternary, may_skip
from codegen.scop.types import INT, CType
from codegen.source.region_slice import UNSEEN_JUMP

_REFUSED = {
    "While": ("while-loop", "a `while` loop has no known trip count", "rewrite it as a counted `for` loop"),
    "DoWhile": ("while-loop", "a `do` loop has no known trip count", "rewrite it as a counted `for` loop"),
    "Goto": ("jump", "`goto` leaves the loop structure", "rewrite it with loops and `if`"),
    "Label": ("jump", "a label may be jumped to", "rewrite it with loops and `if`"),
    "Break": ("jump", "`break` makes the trip count depend on data", "turn the exit into a loop bound"),
    "Continue": ("jump", "not every way through this `if` ends with `continue`", "put the rest under `else`"),
    "Return": ("jump", "`return` leaves the region", "move it behind the region"),
    "Switch": ("switch", "cases of the `switch` run into each other or jump", "end each with `break`, or use `if`"),
}
_INT = DeclaredType((), INT)
MAX_DEPTH = 24


@mutable
class Walker(StatementBuilder):
    """Collects raw statements and the loop structure of one region."""

    counters: set[str] = field(default_factory=set)  # outer variables used as loop counters
    remarks: list[Diagnostic] = field(default_factory=list)
    # What outer counters hold behind their loops, by the loop's identity.
    exits: dict[int, tuple[str, Callable[[], isl.PwAff], CType]] = field(default_factory=dict)
    refusals: list[Unsupported] = field(default_factory=list)  # with any of them the rest here means nothing

    def block(self, items: Sequence[c_ast.Node], frame: Frame) -> tuple[RawNode, ...]:
        """Statements in order; declarations extend the frame for what follows them.

        A statement that cannot be read is noted and passed over, so that users learn of all obstacles at once. What
        follows a declaration like that may need it, and is not looked at.
        """
        nodes: list[RawNode] = []
        for k, item in enumerate(items):
            try:
                if isinstance(item, c_ast.Decl):
                    frame, made = self._declaration(item, frame)
                    nodes.extend(made)
                    continue
                nodes.extend(self.statement(item, frame))
            except Unsupported as error:
                self.refusals.append(error)
                if isinstance(item, c_ast.Decl) or error.id == "region-too-large":
                    break
            frame = self._after(item, items[k + 1 :], frame)
        return tuple(nodes)

    def _after(self, item: c_ast.Node, rest: Sequence[c_ast.Node], frame: Frame) -> Frame:
        """The frame behind a statement: which integers it has set to formulas, or to something unknown."""
        put = as_put(item) or _chosen(item)
        if put is not None and isinstance(put.lvalue, c_ast.ID):
            return frame.bound(put.lvalue.name, self.formula(put, frame))
        for name in sorted(assigned_in(item)):
            frame = frame.bound(name, None)
        if isinstance(item, c_ast.For) and id(item) in self.exits:
            name, value, ctype = self.exits[id(item)]
            if frame.predicate is None and any(mentions(x, name) for x in rest):
                frame = frame.bound(name, Binding(item, frame, ctype, value()))
        return frame

    def statement(self, node: c_ast.Node, frame: Frame) -> tuple[RawNode, ...]:
        kind = type(node).__name__
        if isinstance(node, c_ast.DoWhile) and (body := once(node)) is not None:
            return self.statement(body, frame)
        if isinstance(node, c_ast.Switch) and (chain := choices(node)) is not None:
            return self.statement(chain, frame)
        if kind in _REFUSED:
            id, message, hint = _REFUSED[kind]
            raise Unsupported(id, message, location(node, self.site.loc), hint)
        if isinstance(node, c_ast.Compound):
            whole = self._as_data(node, frame) if search_in(node) and not self._counts(node, frame) else None
            return self.block(node.block_items or (), frame) if whole is None else whole
        if isinstance(node, c_ast.For):
            return self._for(node, frame)
        if isinstance(node, c_ast.If):
            return self._if(node, frame)
        if isinstance(node, c_ast.Pragma):
            return self._pragma(node)
        if isinstance(node, c_ast.EmptyStatement):
            return ()
        put = as_put(node)
        if put is not None:
            return self.assign(put.lvalue, put.op, put.rvalue, node, frame)
        if isinstance(node, c_ast.FuncCall):
            raise Unsupported(
                "unknown-call",
                f"the call `{c_text(node)}` may have effects the tool cannot see",
                location(node, self.site.loc),
                "move it out of the region or write its body in place",
            )
        raise Unsupported(
            "unsupported-statement",
            f"`{c_text(node)}` cannot stand in a region",
            location(node, self.site.loc),
            "regions hold loops, `if` and assignments",
        )

    def _pragma(self, node: c_ast.Pragma) -> tuple[RawNode, ...]:
        """Pragmas about speed are dropped with the loops they were for; those with a meaning cannot be."""
        remark = check_pragma(node, location(node, self.site.loc))
        self.remarks += [] if remark is None else [remark]
        return ()

    # -- structure ---------------------------------------------------------------------------------

    def _for(self, node: c_ast.For, frame: Frame) -> tuple[RawNode, ...]:
        loc = location(node, self.site.loc)
        header = self._header(node, frame, loc)
        exits, body = leading_breaks(plain_body(node.stmt))
        if any(breaks(x) for x in body) and (whole := self._as_data(node, frame)) is not None:
            return whole
        try:
            if exits:
                header = self._until(header, exits, frame, loc)
            space = loop_space(header, frame, self.affiner, loc)
        except Unsupported as error:  # it may not be the only one
            mark = len(self.statements)
            if error.id in ("nonaffine-bound", "jump") and (whole := self._as_data(node, frame)) is not None:
                return whole
            self.block(body, frame.enter(header.name, header.ctype, header.outside))
            del self.statements[mark:]
            raise
        if header.outside:
            self.counters.add(header.name)
        inner = replace(space.inner, locals={k: v for k, v in frame.locals.items() if k != header.name})
        children = self.block(body, inner)
        if header.outside:
            self.exits[id(node)] = header.name, space.exit_value, header.ctype
        sign = 1 if header.step > 0 else -1
        made: list[RawNode] = [RawLoop(header.name, len(frame.iterators), sign, children)] if children else []
        if header.outside and not frame.domain.is_empty() and self.site.used_outside(header.name):
            made.append(self._live_out(header, space, frame, loc))
        return tuple(made)

    def _header(self, node: c_ast.For, frame: Frame, loc: Loc) -> Header:
        """The header of a loop that may stand here. Raises Unsupported."""
        if len(frame.iterators) >= MAX_DEPTH:
            raise Unsupported(
                "nesting-too-deep",
                f"loops are nested more than {MAX_DEPTH} deep",
                loc,
                "move inner loops into a region of their own",
            )
        header = read_header(node, dict(self.site.variables), self.site.types, loc)
        if header.name in self.reassigned or (frame.iterator(header.name) is not None and header.outside):
            raise Unsupported(
                "iterator-modified",
                f"the loop variable `{header.name}` is also set elsewhere in the region",
                loc,
                "let only the loop header change it",
            )
        return header

    def _live_out(self, header: Header, space: LoopSpace, frame: Frame, loc: Loc) -> RawNode:
        """The assignment of what the loop's variable has behind it, for those who look at it there."""
        if frame.predicate is not None:
            raise Unsupported(
                "counter-after-loop",
                f"the loop variable `{header.name}` is used after a loop that data decide about",
                loc,
                "declare it in the loop, `for (int i = ...)`, or use another variable",
            )
        return self.final_value(header.name, header.ctype, space.exit_value(), frame, loc)

    def _counts(self, node: c_ast.Compound, frame: Frame) -> bool:
        """Are there variables without a value, and a loop whose bounds are affine after all, as those in memory that
        does not change?"""
        *ahead, loop = node.block_items
        plain = all(isinstance(x, c_ast.Decl) and x.init is None for x in ahead) and isinstance(loop, c_ast.For)
        if not plain or any(breaks(x) for x in plain_body(loop.stmt)):
            return False
        loc, mark = location(loop, self.site.loc), self.affiner.mark()
        try:
            loop_space(self._header(loop, frame, loc), frame, self.affiner, loc)
        except Unsupported:
            return False
        finally:
            self.affiner.back(mark)
        return True

    def _as_data(self, node: c_ast.For | c_ast.Compound, frame: Frame) -> tuple[RawNode, ...] | None:
        """An inner loop that data decide about as one statement; None for outer ones, and where it does what no
        statement can."""
        return self._data_loop(node, frame) if frame.iterators and _depth(node) < 3 else None

    def _data_loop(self, node: c_ast.For | c_ast.Compound, frame: Frame) -> tuple[RawNode, ...] | None:
        from codegen.frontend.statements.dataloops import LoopReader

        inner = without_predicate(frame)
        for name in sorted(assigned_in(node)):
            inner = inner.bound(name, None)  # what it holds depends on the iteration
        builder = BodyBuilder(self.names, self.affiner, inner, self.inside)
        reader = LoopReader(self.site, builder, self.fresh)
        mark = self.affiner.mark()
        try:
            asked = None if frame.predicate is None else builder.expr(frame.predicate)
            builder.sure = frame.predicate is None
            rhs: Expr = reader.read(node)
        except DataSubscript:
            raise
        except Unsupported as error:
            self.affiner.back(mark)
            self.refusals += [error] if error.id in ("nonaffine-bound", "counter-after-loop") else []
            return None
        if reader.target is None or frame.domain.is_empty():
            return ()
        self.counters |= reader.counters
        if asked is not None:
            rhs = Ternary(asked, rhs, builder.kept(reader.target), True)
        elif may_skip(rhs):
            builder.kept(reader.target)
        return self.close(builder, "=", reader.target, rhs, node, c_text(node))

    def _until(self, header: Header, exits: Sequence[c_ast.If], frame: Frame, loc: Loc) -> Header:
        """The header of a loop that begins with `if (c) break;`: `!c` is one more condition, if it is affine."""
        longer = header
        for exit in exits:
            stays = c_ast.UnaryOp("!", exit.cond, exit.cond.coord)
            longer = replace(longer, cond=c_ast.BinaryOp("&&", longer.cond, stays, exit.coord))
        mark = len(self.affiner.assumptions)
        try:
            loop_space(longer, frame, self.affiner, loc)
        except Unsupported:
            raise self._refused(_inside_break(exits[0])) from None
        finally:
            del self.affiner.assumptions[mark:]
        return longer

    def _refused(self, node: c_ast.Node) -> Unsupported:
        id, message, hint = _REFUSED[type(node).__name__]
        return Unsupported(id, message, location(node, self.site.loc), hint)

    def _if(self, node: c_ast.If, frame: Frame) -> tuple[RawNode, ...]:
        mark = self.affiner.mark()
        try:
            cond = self.affiner.condition(node.cond, frame)
        except NotAffine:
            self.affiner.back(mark)
            if read_choice(node) is None:
                self._no_jump(node)
            return self._data_if(node, frame)
        yes = self._if_holds(node.iftrue, frame, cond)
        no = self._if_holds(node.iffalse, frame, cond.complement())
        return (*yes, *no)

    def _if_holds(self, node: c_ast.Node | None, frame: Frame, cond: isl.Set) -> tuple[RawNode, ...]:
        """A branch. One that ends the program is not taken, or the region runs as it was written."""
        inside = frame.restrict(cond)
        if node is None or not ends_program(node) or frame.predicate is not None:
            return self._branch(node, inside)
        other = cond.complement()
        holds = frame.constant(1).intersect_domain(other).union_add(frame.zero().intersect_domain(cond))
        why, loc = "no assertion fails", location(node, self.site.loc)
        self.affiner.assumptions.append(Assumption(frame.domain, holds, 1, 1, why, loc))
        return ()

    def _no_jump(self, node: c_ast.Node) -> None:
        """What stands in the way of an `if` with a jump in it is the jump."""
        for child in node:
            if type(child).__name__ in _REFUSED and _REFUSED[type(child).__name__][0] == "jump":
                raise self._refused(child)
            if not isinstance(child, (c_ast.For, c_ast.Switch, c_ast.DoWhile)):
                self._no_jump(child)

    def _data_if(self, node: c_ast.If, frame: Frame) -> tuple[RawNode, ...]:
        """An `if` on data. Affine parts of `a && b` and `a || b` split the domain as ever.

        They may move in front of the others: no part has an effect, and whether one that the source would not
        have reached holds or not, the outcome is the same.
        """
        op = node.cond.op if isinstance(node.cond, c_ast.BinaryOp) else ""
        affine, data = affine_part(node.cond, op, frame, self.affiner) if op in ("&&", "||") else (None, [])
        if affine is None or not data:
            return self._decided(node, frame, node)
        rest = reduce(lambda a, b: c_ast.BinaryOp(op, a, b, node.coord), data)
        inner = c_ast.If(rest, node.iftrue, node.iffalse, node.coord)
        if op == "&&":
            never = self._branch(node.iffalse, frame.restrict(affine.complement()))
            return (*self._decided(inner, frame.restrict(affine), node), *never)
        always = self._branch(node.iftrue, frame.restrict(affine))
        return (*always, *self._decided(inner, frame.restrict(affine.complement()), node))

    def _decided(self, node: c_ast.If, frame: Frame, source: c_ast.If) -> tuple[RawNode, ...]:
        """One statement where the branches set one place; else the condition gets a variable, which they ask. The
        `source` is the `if` that this one is of."""
        if read_choice(node) is not None:
            return self.choose(node, frame)
        if frame.domain.is_empty():
            return ()
        if empty(node.iftrue) and empty(node.iffalse):
            if has_effects(node.cond):  # which the tool knows, or refuses here
                BodyBuilder(self.names, self.affiner, frame, self.inside).expr(node.cond)
            return ()
        own = c_ast.ID(self.fresh("cond"), node.coord)
        kind = c_ast.TypeDecl(own.name, [], None, c_ast.IdentifierType(["int"]))
        declared = c_ast.Decl(own.name, [], [], [], [], kind, None, None, node.coord)
        inside = self.new_local(declared, _INT, frame, self.site.loc)
        value = node.cond if _is_truth(node.cond) else c_ast.BinaryOp("!=", node.cond, c_ast.Constant("int", "0"))
        if frame.predicate is not None:
            value = c_ast.BinaryOp("&&", frame.predicate, node.cond, node.coord)
        asked = self.assign(own, "=", value, c_ast.Assignment("=", own, value, node.coord), without_predicate(inside))
        other: c_ast.Node = c_ast.UnaryOp("!", own, node.coord)
        if frame.predicate is not None:
            other = c_ast.BinaryOp("&&", frame.predicate, other, node.coord)
        dead = self._dead(source)
        yes = self._branch(node.iftrue, inside.under(own, dead))
        no = self._branch(node.iffalse, inside.under(other, dead - assigned_in(node.iftrue)))
        return (*asked, *yes, *no)

    def _dead(self, node: c_ast.If) -> frozenset[str]:
        """Numbers of this run of the function whose values before an `if` nobody looks at: set again on every way."""
        live = live_before_branches(self.site.function).get(id(node))
        if live is None or UNSEEN_JUMP in self.site.hidden:
            return frozenset()
        return assigned_in(node) - live - self.site.hidden - addressed(self.site.function.body)

    def _branch(self, node: c_ast.Node | None, frame: Frame) -> tuple[RawNode, ...]:
        if node is None:
            return ()
        return self.block((node.block_items or ()) if isinstance(node, c_ast.Compound) else (node,), frame)

    # -- leaves ------------------------------------------------------------------------------------

    def _declaration(self, node: c_ast.Decl, frame: Frame) -> tuple[Frame, tuple[RawNode, ...]]:
        loc = location(node, self.site.loc)
        shape = self.site.types.shape(node.type)
        check_plain(node, shape, loc)
        if not shape.declarators and shape.elem.is_int and node.init is not None and node.name not in self.reassigned:
            binding = Binding(node.init, frame, shape.elem)
            if is_formula(binding, self.affiner):
                return replace(
                    frame,
                    bindings={**frame.bindings, node.name: binding},
                    locals={k: v for k, v in frame.locals.items() if k != node.name},
                ), ()
        frame = self.new_local(node, shape, frame, loc)
        if node.init is None:
            return frame, ()
        if shape.declarators or isinstance(node.init, c_ast.InitList):
            raise Unsupported(
                "local-initializer",
                f"the initializer of `{node.name}` is a list",
                loc,
                "assign the elements one by one",
            )
        own = c_ast.ID(node.name, node.coord)
        made = self.assign(own, "=", node.init, node, frame)
        return frame.bound(node.name, self.formula(ChosenAssignment(own, "=", node.init), frame)), made


def _chosen(node: c_ast.Node) -> ChosenAssignment | None:
    """`if (c) x = a; else x = b;` as the assignment of `c ? a : b`."""
    choice = read_choice(node) if isinstance(node, c_ast.If) else None
    yes, no = (choice.yes, choice.no) if choice is not None else (None, None)
    if choice is None or not isinstance(yes, ChosenAssignment) or not (no is None or isinstance(no, ChosenAssignment)):
        return None
    if yes.op != "=" or (no is not None and no.op != "="):
        return None
    other = yes.lvalue if no is None else no.rvalue
    return ChosenAssignment(yes.lvalue, "=", c_ast.TernaryOp(choice.cond, yes.rvalue, other, node.coord))


def _depth(node: c_ast.Node) -> int:
    """How deep loops are nested: deep nests are better taken by themselves."""
    return int(isinstance(node, c_ast.For)) + max((_depth(child) for child in node), default=0)


def _is_truth(node: c_ast.Node) -> bool:
    """Is the value 0 or 1?"""
    truths = ("<", "<=", ">", ">=", "==", "!=", "&&", "||", "!")
    return isinstance(node, (c_ast.BinaryOp, c_ast.UnaryOp)) and node.op in truths


def _inside_break(node: c_ast.If) -> c_ast.Node:
    inner = node.iftrue
    return inner.block_items[0] if isinstance(inner, c_ast.Compound) else inner
