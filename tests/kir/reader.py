"""C text back to KernelIR, for tests of the printer: what it prints of a tree, read again, is that tree."""

from __future__ import annotations

import re
from typing import Any

from pycparser import c_ast, c_parser

from codegen.isa.model import C_TYPES, Isa
from codegen.isa.text import helper_name
from codegen.kir.nodes import (
    F64,
    LONG,
    SEQ,
    VOID,
    Advance,
    Alloc,
    Assign,
    Bind,
    Block,
    Buffer,
    Copy,
    Decl,
    Exec,
    Expr,
    Fill,
    Float,
    For,
    Function,
    Hint,
    If,
    Int,
    Lane,
    Let,
    Load,
    Op,
    Parallel,
    Pointer,
    Prefetch,
    Scalar,
    Stmt,
    Store,
    Sym,
    Type,
    Var,
    Vector,
    scalar,
)

_COMMENT = re.compile(r"/\*.*?\*/", re.S)
_WORDS = re.compile(r"__attribute__\(\((?:[^()]|\([^()]*\))*\)\)|\bTW_LITERAL\b|\brestrict\b")
_SCALARS = {name: scalar(elem) for elem, name in C_TYPES.items()} | {"long": LONG, "int": scalar("i32")}
_FUNCTIONS = {"tw_min": "min", "tw_max": "max"}
_LANES = ("fma", "fma_n", "fms", "add", "sub", "mul", "min", "max")


def read_function(text: str, isa: Isa | None = None) -> Function:
    """The tree of a function's text: without comments, and with its attributes left out."""
    align = [int(x) for x in re.findall(r"aligned\((\d+)\)", text)]
    target = re.search(r'target\("([^"]*)"\)', text)
    marks = tuple(re.findall(r"\bTW_LITERAL\b", text))
    plain = _WORDS.sub("", _COMMENT.sub("", text))
    vectors = sorted({v.vector for v in isa.vecs} | {v.scalar for v in isa.vecs}) if isa else []
    known = "".join(f"typedef int {v};\n" for v in vectors if v not in ("float", "double"))
    tree = c_parser.CParser().parse(known + plain, "printed")
    reader = _Reader(isa, align)
    return reader.function(tree.ext[-1], target[1] if target else "", marks)


class _Reader:
    def __init__(self, isa: Isa | None, align: list[int]) -> None:
        self.isa, self.align = isa, align
        self.scopes: list[dict[str, Any]] = [{}]
        self.patterns = _patterns(isa)

    # -- names ---------------------------------------------------------------------------------------------

    def bind(self, name: str, what: Any) -> Any:
        self.scopes[-1][name] = what
        return what

    def known(self, name: str) -> Any:
        return next((s[name] for s in reversed(self.scopes) if name in s), None)

    def type(self, names: list[str]) -> Type:
        (name,) = names
        for v in self.isa.vecs if self.isa else ():
            if v.vector == name:
                assert self.isa is not None
                return Vector(scalar(v.elem), self.isa.lanes_max(v.elem))
        return _SCALARS[name]

    # -- functions and statements ----------------------------------------------------------------------------

    def function(self, tree: Any, target: str, marks: tuple[str, ...]) -> Function:
        decl = tree.decl
        params = []
        for p in decl.type.args.params if decl.type.args else ():
            if isinstance(p.type, c_ast.PtrDecl):
                inner = p.type.type
                elem = self.type(inner.type.names)
                assert isinstance(elem, Scalar)
                params.append(self.bind(p.name, Buffer(p.name, elem, "param", const="const" in inner.quals)))
            elif p.name:
                params.append(self.bind(p.name, Sym(p.name, self.type(p.type.type.names), "param")))
        linkage = "static" if "static" in decl.storage else "extern"
        body = self.block(tree.body)
        return Function(Sym(decl.name, VOID, "user"), tuple(params), body, linkage, target, marks)

    def block(self, tree: Any) -> tuple[Stmt, ...]:
        self.scopes.append({})
        found: list[Stmt] = []
        exec: Exec = SEQ
        for s in tree.block_items or ():
            if isinstance(s, c_ast.Pragma):
                private = re.search(r"private\((.*)\)", s.string)
                names = private[1].split(", ") if private else []
                exec = Parallel(tuple(self.known(n) for n in names))
                continue
            found.append(self.statement(s, exec))
            exec = SEQ
        self.scopes.pop()
        return tuple(found)

    def statement(self, s: Any, exec: Exec) -> Stmt:
        if isinstance(s, c_ast.Compound):
            return Block(self.block(s))
        if isinstance(s, c_ast.For):
            return self.loop(s, exec)
        if isinstance(s, c_ast.If):
            return If(self.expr(s.cond), self.block(s.iftrue), self.block(s.iffalse) if s.iffalse else ())
        if isinstance(s, c_ast.Decl):
            return self.declare(s)
        if isinstance(s, c_ast.Assignment):
            return self.assign(s)
        assert isinstance(s, c_ast.FuncCall)
        return self.effect(s)

    def loop(self, s: Any, exec: Exec) -> For:
        (first,) = s.init.decls
        lo = self.expr(first.init)
        self.scopes.append({})
        sym = self.bind(first.name, Sym(first.name, self.type(first.type.type.names)))
        step = Int(1) if isinstance(s.next, c_ast.UnaryOp) else self.expr(s.next.rvalue)
        found = For(sym, lo, self.expr(s.cond.right), step, self.block(s.stmt), exec)
        self.scopes.pop()
        return found

    def declare(self, s: Any) -> Stmt:
        if isinstance(s.type, c_ast.ArrayDecl):
            sizes, inner = [], s.type
            while isinstance(inner, c_ast.ArrayDecl):
                sizes.append(int(inner.dim.value))
                inner = inner.type
            elem = self.type(inner.type.names)
            assert isinstance(elem, Scalar)
            buffer = Buffer(s.name, elem, "stack", tuple(sizes))
            return Alloc(self.bind(s.name, buffer), self.align.pop(0) if s.name.startswith("pack") else 0)
        if isinstance(s.type, c_ast.PtrDecl):
            inner = s.type.type
            elem = self.type(inner.type.names)
            assert isinstance(elem, Scalar)
            of, at = self.address(s.init)
            view = Buffer(s.name, elem, "view", const="const" in inner.quals)
            return Bind(self.bind(s.name, view), of, at, "const" not in s.type.quals)
        value = self.expr(s.init)
        sym = self.bind(s.name, Sym(s.name, self.type(s.type.type.names)))
        return Let(sym, value) if "const" in s.type.quals or "const" in s.quals else Decl(sym, value)

    def assign(self, s: Any) -> Stmt:
        if isinstance(s.lvalue, c_ast.ArrayRef):
            buffer, index = self.element(s.lvalue)
            return Store(buffer, index, self.expr(s.rvalue))
        what = self.known(s.lvalue.name)
        if isinstance(what, Buffer):
            return Advance(what, self.expr(s.rvalue))
        return Assign(what, self.expr(s.rvalue))

    def effect(self, s: Any) -> Stmt:
        name, args = s.name.name, s.args.exprs if s.args else []
        if name == "memcpy":
            (to, to_at), (source, source_at) = self.address(args[0]), self.address(args[1])
            return Copy(to, to_at, source, source_at, int(args[2].left.value))
        if name == "memset":
            return Fill(*self.address(args[0]), int(args[2].left.value))
        if name == "TW_PREFETCH":
            return Prefetch(self.known(args[0].name), self.expr(args[1]))
        if not args:
            return Hint(name)
        op, elem = self.patterns[name]
        assert op == "store" and self.isa is not None
        buffer, at = self.address(args[0])
        return Store(buffer, (at,), self.expr(args[1]), self.isa.lanes_max(elem))

    # -- expressions -------------------------------------------------------------------------------------------

    def expr(self, e: Any) -> Expr:
        if isinstance(e, c_ast.Constant):
            return Int(int(e.value)) if e.type == "int" else Float(e.value, F64)
        if isinstance(e, c_ast.ID):
            return Var(self.known(e.name))
        if isinstance(e, c_ast.BinaryOp):
            return Op(e.op, (self.expr(e.left), self.expr(e.right)))
        if isinstance(e, c_ast.UnaryOp):
            inner = self.expr(e.expr)
            if e.op == "-" and isinstance(e.expr, c_ast.Constant):
                return Int(-int(e.expr.value)) if e.expr.type == "int" else Float(f"-{e.expr.value}", F64)
            return Op({"-": "neg", "!": "not"}[e.op], (inner,))
        if isinstance(e, c_ast.TernaryOp):
            return Op("select", (self.expr(e.cond), self.expr(e.iftrue), self.expr(e.iffalse)))
        if isinstance(e, c_ast.ArrayRef):
            return Load(*self.element(e))
        assert isinstance(e, c_ast.FuncCall)
        return self.call(e)

    def call(self, e: Any) -> Expr:
        name, args = e.name.name, list(e.args.exprs)
        if name in _FUNCTIONS:
            return Op(_FUNCTIONS[name], tuple(map(self.expr, args)))
        op, elem = self.patterns[name]
        assert self.isa is not None
        type = Vector(scalar(elem), self.isa.lanes_max(elem))
        if op == "load" and isinstance(args[0], c_ast.Cast):
            return Lane("set", tuple(map(self.expr, args[0].expr.init.exprs)), type)
        if op == "load":
            buffer, at = self.address(args[0])
            return Load(buffer, (at,), type.lanes)
        return Lane(op, tuple(map(self.expr, args)), type)

    def element(self, e: Any) -> tuple[Buffer, tuple[Expr, ...]]:
        index: list[Expr] = []
        while isinstance(e, c_ast.ArrayRef):
            index.insert(0, self.expr(e.subscript))
            e = e.name
        return self.known(e.name), tuple(index)

    def address(self, e: Any) -> tuple[Buffer, Expr]:
        """A buffer and what is added to it, term by term."""
        if isinstance(e, c_ast.ID):
            return self.known(e.name), Int(0)
        buffer, at = self.address(e.left)
        more = self.expr(e.right)
        return buffer, more if at == Int(0) else Op(e.op, (at, more))


def _patterns(isa: Isa | None) -> dict[str, tuple[str, str]]:
    """What functions of an instruction set's text do: an operation and an element type."""
    found: dict[str, tuple[str, str]] = {}
    for v in isa.vecs if isa else ():
        for op in ("load", "store", "dup", *_LANES):
            assert isa is not None
            found[helper_name(isa, v.elem, op)] = (op, v.elem)
            if (call := re.match(r"(\w+)\(", v.op(op))) is not None:
                found.setdefault(call[1], (op, v.elem))
    return found


__all__ = ["Pointer", "read_function"]
