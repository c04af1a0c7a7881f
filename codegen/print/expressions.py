"""Expressions of KernelIR as C text: precedence, elements, addresses, types and the instructions of a table."""

from __future__ import annotations

from codegen.isa.model import C_TYPES, Isa
from codegen.isa.text import bare, call
from codegen.kir.nodes import (
    Buffer,
    Call,
    Expr,
    Float,
    Function,
    Int,
    Lane,
    Load,
    Op,
    Pointer,
    Store,
    Sym,
    Type,
    Var,
    Vector,
)
from codegen.print.names import Names

# How tightly operators bind, as in C's grammar.
BINDING = {
    "||": 1, "&&": 2, "==": 6, "!=": 6, "<": 7, ">": 7, "<=": 7, ">=": 7, "+": 9, "-": 9, "*": 10, "/": 10, "%": 10,
}  # fmt: skip
SELECT, SUM, UNARY, POSTFIX = 0, 9, 11, 12
CALLS = {"min": "tw_min", "max": "tw_max"}
SIGNS = {"neg": "-", "not": "!"}


class Expressions:
    """Prints expressions; vectors by the table of an instruction set, which scalar code does without."""

    def __init__(self, names: Names, isa: Isa | None = None) -> None:
        self.names, self.isa = names, isa

    # -- types and declarations ----------------------------------------------------------------------------

    def type(self, t: Type) -> str:
        """The C type."""
        if isinstance(t, Pointer):
            return f"{'const ' if t.const else ''}{self.type(t.to)} *"
        if isinstance(t, Vector):
            return self._isa().vec(t.elem.elem).vector
        return {"i64": "long", "i32": "int", "v0": "void"}.get(t.elem) or C_TYPES[t.elem]

    def name(self, s: Sym) -> str:
        """The name of a symbol."""
        return self.names.of(s)

    def names_of(self, buffers: tuple[Buffer, ...]) -> str:
        """Names in a list."""
        return ", ".join(self.name(b.sym) for b in buffers)

    def declared(self, s: Sym) -> str:
        """A symbol with its type."""
        return _joined(self.type(s.type), self.name(s))

    def pointer(self, b: Buffer, fixed: bool = False) -> str:
        """A pointer to the elements of a buffer; `fixed`: it stays where it is."""
        return f"{self.type(Pointer(b.elem, b.const))}{'const ' if fixed else ''}{self.name(b.sym)}"

    def storage(self, b: Buffer) -> str:
        """An array."""
        return f"{self.type(b.elem)} {self.name(b.sym)}" + "".join(f"[{n}]" for n in b.shape)

    def parameters(self, f: Function) -> str:
        """The parameters of a function; its buffers do not overlap."""
        texts = [self.declared(x) if isinstance(x, Sym) else self._restricted(x) for x in f.params]
        return ", ".join(texts) or "void"

    def _restricted(self, b: Buffer) -> str:
        return f"{self.type(Pointer(b.elem, b.const))}restrict {self.name(b.sym)}"

    def returned(self, f: Function) -> str:
        """The type of a function's result, with a blank."""
        return _joined(self.type(f.sym.type), "")

    # -- expressions -----------------------------------------------------------------------------------------

    def expr(self, e: Expr, binding: int = 0) -> str:
        """C text; in parentheses where it binds less tightly than its place asks for."""
        text, own = self._expression(e)
        return f"({text})" if own < binding else text

    def _expression(self, e: Expr) -> tuple[str, int]:
        if isinstance(e, Int):
            return str(e.value), POSTFIX if e.value >= 0 else UNARY
        if isinstance(e, Float):
            return e.text, POSTFIX if e.text[0] != "-" else UNARY
        if isinstance(e, Var):
            return self.name(e.sym), POSTFIX
        if isinstance(e, Op):
            return self._op(e)
        if isinstance(e, Load):
            return (self._vector_load(e) if e.lanes else self.element(e.buffer, e.index)), POSTFIX
        if isinstance(e, Lane):
            return self._lane(e), POSTFIX
        return self._call(e), POSTFIX

    def _op(self, e: Op) -> tuple[str, int]:
        if e.op in BINDING:
            own = BINDING[e.op]
            return f"{self.expr(e.args[0], own)} {e.op} {self.expr(e.args[1], own + 1)}", own
        if e.op in CALLS:
            return f"{CALLS[e.op]}({', '.join(map(self.expr, e.args))})", POSTFIX
        if e.op == "select":
            cond, yes, no = e.args
            return f"{self.expr(cond, SELECT + 1)} ? {self.expr(yes)} : {self.expr(no)}", SELECT
        sign, inner = SIGNS[e.op], self.expr(e.args[0], UNARY)
        return f"{sign}({inner})" if inner.startswith(sign) else sign + inner, UNARY

    def _call(self, e: Call) -> str:
        return f"{self.name(e.function)}({', '.join(map(self.expr, e.args))})"

    # -- memory ----------------------------------------------------------------------------------------------

    def element(self, b: Buffer, index: tuple[Expr, ...]) -> str:
        """An element."""
        return self.name(b.sym) + "".join(f"[{self.expr(e)}]" for e in index)

    def address(self, b: Buffer, at: Expr) -> str:
        """Where elements begin."""
        return self.name(b.sym) if at == Int(0) else f"{self.name(b.sym)} + {self.expr(at, SUM)}"

    def compared(self, e: Expr) -> str:
        """What a counter is compared with."""
        return self.expr(e, BINDING["<"] + 1)

    def advanced(self, step: Expr) -> str:
        """How a counter goes on."""
        return "++" if step == Int(1) else f" += {self.expr(step)}"

    # -- vectors ---------------------------------------------------------------------------------------------

    def _isa(self) -> Isa:
        assert self.isa is not None, "vectors need an instruction set"
        return self.isa

    def _vector_load(self, e: Load) -> str:
        (at,) = e.index
        return bare(call(self._isa(), e.buffer.elem.elem, "load", [self.address(e.buffer, at)]))

    def vector_store(self, s: Store) -> str:
        """The instruction that stores a vector."""
        (at,) = s.index
        return bare(call(self._isa(), s.buffer.elem.elem, "store", [self.address(s.buffer, at), self.expr(s.value)]))

    def _lane(self, e: Lane) -> str:
        elem, args = e.type.elem, [self.expr(x) for x in e.args]
        if e.op == "set":
            # In parentheses: for some compilers a load is a macro, and commas would end its argument.
            scalar = self.type(elem)
            lanes = f"(const {scalar} *)((const {scalar}[{e.type.lanes}]){{ {', '.join(args)} }})"
            return bare(call(self._isa(), elem.elem, "load", [lanes]))
        return bare(call(self._isa(), elem.elem, e.op, args))


def _joined(kind: str, name: str) -> str:
    return f"{kind}{'' if kind.endswith('*') else ' '}{name}"
