"""The rules that every tree of KernelIR keeps, whatever pass made it: one binder for each name, names in scope, as many
indices as dimensions, types that fit, and nothing written that is constant. `check` raises IllFormed."""

from __future__ import annotations

from collections.abc import Iterable

from codegen.kir.nodes import (
    LONG,
    Advance,
    Alloc,
    Assign,
    Bind,
    Block,
    Buffer,
    Call,
    Copy,
    Decl,
    Do,
    Expr,
    Fill,
    Float,
    For,
    Function,
    If,
    Int,
    Lane,
    Let,
    Load,
    Op,
    Parallel,
    Prefetch,
    Scalar,
    Stmt,
    Store,
    Sym,
    Type,
    Unit,
    Var,
    Vector,
)

COMPARISONS = frozenset(("<", "<=", ">", ">=", "==", "!="))
ARITHMETIC = frozenset(("+", "-", "*", "/", "%", "min", "max"))
LOGIC = frozenset(("&&", "||"))


class IllFormed(ValueError):
    """A tree that breaks a rule; the message says which, and where."""


def check(tree: Unit | Function) -> None:
    """Raise IllFormed unless a tree keeps the rules."""
    for f in tree.functions if isinstance(tree, Unit) else (tree,):
        _Checker().function(f)


class _Checker:
    def __init__(self) -> None:
        self.ever: set[object] = set()  # all that was bound so far
        self.scope: set[object] = set()
        self.fixed: set[object] = set()  # constants and counters among them
        self.moving: set[Buffer] = set()
        self.parallel = False

    def function(self, f: Function) -> None:
        for x in f.params:
            self._bind(x)
            if isinstance(x, Buffer) and x.memory != "param":
                raise IllFormed(f"parameter {x} is in {x.memory}")
        self._block(f.body)

    # -- names -----------------------------------------------------------------------------------------

    def _bind(self, x: Sym | Buffer) -> None:
        if x in self.ever:
            raise IllFormed(f"{x} is bound twice")
        self.ever.add(x)
        self.scope.add(x)

    def _known(self, x: Sym | Buffer) -> None:
        if x not in self.scope and not (isinstance(x, Sym) and x.role == "user"):
            raise IllFormed(f"{x} is not in scope")

    def _block(self, body: Iterable[Stmt], also: Sym | None = None) -> None:
        outer = set(self.scope)
        if also is not None:
            self._bind(also)
            self.fixed.add(also)
        for s in body:
            self._statement(s)
        self.scope = outer

    # -- statements --------------------------------------------------------------------------------------

    def _statement(self, s: Stmt) -> None:
        for x in _expressions(s):
            self.type(x)
        if isinstance(s, (Let, Decl)):
            self._fits(s.sym, self.type(s.value))
            self._bind(s.sym)
            if isinstance(s, Let):
                self.fixed.add(s.sym)
        elif isinstance(s, Assign):
            self._known(s.sym)
            if s.sym in self.fixed:
                raise IllFormed(f"{s.sym} is constant")
            self._fits(s.sym, self.type(s.value))
        elif isinstance(s, Store):
            self._store(s)
        elif isinstance(s, Alloc):
            if s.buffer.memory not in ("stack", "register") or not s.buffer.shape or min(s.buffer.shape) < 1:
                raise IllFormed(f"{s.buffer} of shape {s.buffer.shape} in {s.buffer.memory}")
            self._bind(s.buffer)
        elif isinstance(s, (Bind, Advance, Copy, Fill, Prefetch)):
            self._memory(s)
        elif isinstance(s, For):
            self._loop(s)
        elif isinstance(s, If):
            self._block(s.then)
            self._block(s.orelse)
        elif isinstance(s, Block):
            self._block(s.body)

    def _loop(self, s: For) -> None:
        for e in (s.lo, s.hi, s.step):
            self._number(e)
        if isinstance(s.step, Int) and s.step.value < 1:
            raise IllFormed(f"the loop over {s.sym} has no step")
        outer = self.parallel
        if isinstance(s.exec, Parallel):
            if outer:
                raise IllFormed("threads inside threads")
            for b in s.exec.private:
                self._known(b)
            self.parallel = True
        self._block(s.body, s.sym)
        self.parallel = outer

    def _store(self, s: Store) -> None:
        self._element(s.buffer, s.index)
        if s.buffer.const:
            raise IllFormed(f"{s.buffer} is constant")
        want: Type = Vector(s.buffer.elem, s.lanes) if s.lanes else s.buffer.elem
        found = self.type(s.value)
        if found != want and not (not s.lanes and isinstance(s.value, Int)):
            raise IllFormed(f"{found} is stored to elements of {s.buffer}")

    def _memory(self, s: Bind | Advance | Copy | Fill | Prefetch) -> None:
        if isinstance(s, Bind):
            self._known(s.of)
            self._number(s.at)
            if s.view.memory != "view" or s.view.elem != s.of.elem or (s.of.const and not s.view.const):
                raise IllFormed(f"{s.view} is no view of {s.of}")
            self._bind(s.view)
            if s.moves:
                self.moving.add(s.view)
        elif isinstance(s, Advance):
            self._known(s.view)
            self._number(s.by)
            if s.view not in self.moving:
                raise IllFormed(f"{s.view} does not move")
        elif isinstance(s, Copy):
            for b in (s.to, s.source):
                self._known(b)
            if s.to.const or s.to.elem != s.source.elem or s.count < 1:
                raise IllFormed(f"a copy from {s.source} to {s.to}")
        else:
            self._known(s.buffer)
            if isinstance(s, Fill) and s.buffer.const:
                raise IllFormed(f"{s.buffer} is constant")

    # -- types ---------------------------------------------------------------------------------------------

    def _fits(self, sym: Sym, found: Type) -> None:
        if sym.type != found and not (isinstance(sym.type, Scalar) and sym.type.kind != "f" and found == LONG):
            raise IllFormed(f"{sym} of type {sym.type} gets {found}")

    def _number(self, e: Expr) -> None:
        found = self.type(e)
        if not isinstance(found, Scalar) or found.kind == "f":
            raise IllFormed(f"{found} where an integer belongs")

    def _element(self, b: Buffer, index: tuple[Expr, ...]) -> None:
        self._known(b)
        if len(index) != b.rank:
            raise IllFormed(f"{b} with {len(index)} indices in place of {b.rank}")
        for e in index:
            self._number(e)

    def type(self, e: Expr) -> Type:
        """The type of an expression, all of whose parts keep the rules."""
        if isinstance(e, Int):
            return LONG
        if isinstance(e, Float):
            return e.type
        if isinstance(e, Var):
            self._known(e.sym)
            return e.sym.type
        if isinstance(e, Load):
            self._element(e.buffer, e.index)
            return Vector(e.buffer.elem, e.lanes) if e.lanes else e.buffer.elem
        if isinstance(e, Lane):
            return self._lane(e)
        if isinstance(e, Call):
            self._known(e.function)
            for x in e.args:
                self.type(x)
            return e.function.type
        return self._op(e)

    def _op(self, e: Op) -> Type:
        types = [self.type(x) for x in e.args]
        if e.op in ("neg", "not"):
            if isinstance(e.args[0], (Int, Float)):
                raise IllFormed("a sign ahead of a constant, which has one of its own")
            return types[0]
        if e.op == "select":
            types = types[1:]
        known = ARITHMETIC | COMPARISONS | LOGIC | {"select"}
        if e.op not in known or len(types) != 2 or not all(isinstance(t, Scalar) for t in types):
            raise IllFormed(f"operation {e.op} on {types}")
        if types[0] != types[1] and any(isinstance(t, Scalar) and t.kind == "f" for t in types):
            raise IllFormed(f"operation {e.op} on {types}")
        return LONG if e.op in COMPARISONS | LOGIC else types[0]

    def _lane(self, e: Lane) -> Type:
        types = [self.type(x) for x in e.args]
        if e.op in ("dup", "set"):
            fits = all(t == e.type.elem or isinstance(x, Int) for t, x in zip(types, e.args, strict=True))
            if not fits or not 1 <= len(types) <= (1 if e.op == "dup" else e.type.lanes):
                raise IllFormed(f"{e.op} of {types}")
            return e.type
        last = types[-1] if e.op.endswith("_n") else e.type
        if not types or any(t != e.type for t in types[:-1]) or types[-1] not in (last, e.type):
            raise IllFormed(f"{e.op} of {types}")
        if e.op.endswith("_n") and last != e.type.elem:
            raise IllFormed(f"{e.op} with {last}")
        return e.type


def _expressions(s: Stmt) -> list[Expr]:
    """What a statement computes itself."""
    if isinstance(s, (Let, Decl, Assign, Store)):
        return [s.value]
    if isinstance(s, Do):
        return [s.call]
    return [s.cond] if isinstance(s, If) else []
