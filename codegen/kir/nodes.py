"""The grammar of KernelIR: everything that is printed of a kernel, typed.

    Type  =  Scalar(kind, bits) | Vector(Scalar, lanes) | Pointer(Type, const)
    Expr  =  Int | Float | Var(Sym) | Op(op, args) | Load(Buffer, index, lanes?) | Lane(op, args, Vector)
          |  Call(Sym, args)
    Stmt  =  Comment | Let | Decl | Assign | Store | Alloc | Bind | Advance | Fill | Copy | Do | Prefetch | Hint
          |  For(Sym, lo, hi, step, body, exec) | If | Block | Barrier
    exec  =  Seq | Parallel(private)
    Function(Sym, params, body, ...)     Unit(functions)

A name is a `Sym` with identity; the printer alone spells it, so no two things can have one name. Integers are
mathematical ones; the type of a `Sym` says what it is counted in. A buffer's indices are logical, one for each of its
dimensions. All nodes are immutable; a pass is a function from one tree to another.
"""

from __future__ import annotations

from typing import Union

from codegen.record import record


# -- types -----------------------------------------------------------------------------------------------------------
@record
class Scalar:
    """An arithmetic type: `kind` is f, i or u; v for the type of functions without a result."""

    kind: str
    bits: int

    @property
    def elem(self) -> str:
        """Its name in the tables of instruction sets, as in f64."""
        return f"{self.kind}{self.bits}"


@record
class Vector:
    """So many lanes of a scalar type."""

    elem: Scalar
    lanes: int


@record
class Pointer:
    """The address of an object."""

    to: "Type"
    const: bool = False


Type = Union[Scalar, Vector, Pointer]
F64, F32, I32, LONG, VOID = Scalar("f", 64), Scalar("f", 32), Scalar("i", 32), Scalar("i", 64), Scalar("v", 0)


def scalar(elem: str) -> Scalar:
    """The scalar type with this name in the tables of instruction sets."""
    return Scalar(elem[0], int(elem[1:]))


# -- names and memory ------------------------------------------------------------------------------------------------
class Sym:
    """A variable, parameter or function. It is equal to itself alone; `hint` is what it is called where that is free.

    `role` is local or param for names that the printer chooses, and user for those that it has to keep.
    """

    __slots__ = ("hint", "role", "type")

    def __init__(self, hint: str, type: Type = LONG, role: str = "local") -> None:
        self.hint, self.type, self.role = hint, type, role

    def __repr__(self) -> str:
        return f"<{self.hint}>"


class Buffer:
    """Memory with elements of one type; equal to itself alone.

    `memory` says where it is: `param` (behind a pointer that the function gets), `stack`, `register`, or `view` for a
    name of a part of another one (`Bind`). Views and parameters have one dimension of unknown extent, shape ().
    """

    __slots__ = ("const", "elem", "memory", "shape", "sym")

    def __init__(
        self, hint: str, elem: Scalar, memory: str, shape: tuple[int, ...] = (), const: bool = False
    ) -> None:
        self.sym = Sym(hint, Pointer(elem, const), "param" if memory == "param" else "local")
        self.elem, self.memory, self.shape, self.const = elem, memory, shape, const

    @property
    def rank(self) -> int:
        """The number of indices that an element has."""
        return len(self.shape) or 1

    def __repr__(self) -> str:
        return f"<{self.sym.hint}[]>"


# -- expressions -----------------------------------------------------------------------------------------------------
@record
class Int:
    """An integer constant."""

    value: int


@record
class Float:
    """A floating-point constant as it is written."""

    text: str
    type: Scalar = F64


@record
class Var:
    """The value of a variable."""

    sym: Sym


@record
class Op:
    """An operation of C on scalars: + - * / % < <= > >= == != && || neg not select min max."""

    op: str
    args: tuple["Expr", ...]


@record
class Load:
    """An element of a buffer; with `lanes`, so many neighbours from there on as a vector."""

    buffer: Buffer
    index: tuple["Expr", ...]
    lanes: int = 0


@record
class Lane:
    """An operation on vectors by its name in the table of an instruction set. Of our own are `dup` (a scalar in every
    lane) and `set` (scalars lane by lane, zero in those that are left)."""

    op: str
    args: tuple["Expr", ...]
    type: Vector


@record
class Call:
    """The value of a call."""

    function: Sym
    args: tuple["Expr", ...]


Expr = Union[Int, Float, Var, Op, Load, Lane, Call]


# -- how loops run ---------------------------------------------------------------------------------------------------
@record
class Seq:
    """One iteration after the other."""


@record
class Parallel:
    """Threads share the iterations; each has buffers of its own for those in `private`."""

    private: tuple[Buffer, ...] = ()


Exec = Union[Seq, Parallel]
SEQ = Seq()


# -- statements ------------------------------------------------------------------------------------------------------
@record
class Comment:
    """A line for readers."""

    text: str


@record
class Let:
    """A constant of a block."""

    sym: Sym
    value: Expr


@record
class Decl:
    """A variable of a block, with its first value."""

    sym: Sym
    value: Expr


@record
class Assign:
    """A new value of a variable."""

    sym: Sym
    value: Expr


@record
class Store:
    """A new value of an element; with `lanes`, of so many neighbours from there on."""

    buffer: Buffer
    index: tuple[Expr, ...]
    value: Expr
    lanes: int = 0


@record
class Alloc:
    """A buffer of a block, without values. `align` is in bytes, 0 for that of its elements."""

    buffer: Buffer
    align: int = 0


@record
class Bind:
    """A view of another buffer from an element on. A view that `moves` can be advanced."""

    view: Buffer
    of: Buffer
    at: Expr
    moves: bool = False


@record
class Advance:
    """A view goes on by some elements."""

    view: Buffer
    by: Expr


@record
class Copy:
    """So many neighbouring elements go to another buffer, whose cells are not those of the first."""

    to: Buffer
    to_at: Expr
    source: Buffer
    source_at: Expr
    count: int


@record
class Fill:
    """So many neighbouring elements become zero."""

    buffer: Buffer
    at: Expr
    count: int


@record
class Do:
    """A call for its effect."""

    call: Call


@record
class Prefetch:
    """The line of an element, which need not exist, is asked for."""

    buffer: Buffer
    at: Expr


@record
class Hint:
    """A word to the compiler, without meaning."""

    name: str


@record
class Barrier:
    """All threads of a team come here before one goes on."""

    scope: str = "team"


@record
class For:
    """A loop from `lo` up to before `hi`."""

    sym: Sym
    lo: Expr
    hi: Expr
    step: Expr
    body: tuple["Stmt", ...]
    exec: Exec = SEQ
    note: str = ""


@record
class If:
    """One of two blocks."""

    cond: Expr
    then: tuple["Stmt", ...]
    orelse: tuple["Stmt", ...] = ()


@record
class Block:
    """Statements with names of their own."""

    body: tuple["Stmt", ...]


Stmt = Union[
    Comment, Let, Decl, Assign, Store, Alloc, Bind, Advance, Copy, Fill, Do, Prefetch, Hint, Barrier, For, If, Block
]
STATEMENTS = (
    Comment, Let, Decl, Assign, Store, Alloc, Bind, Advance, Copy, Fill, Do, Prefetch, Hint, Barrier, For, If, Block,
)  # fmt: skip
EXPRESSIONS = (Int, Float, Var, Op, Load, Lane, Call)


# -- functions -------------------------------------------------------------------------------------------------------
@record
class Function:
    """A function. `linkage` is static or extern; `target` switches instructions on; `marks` are macros of the runtime
    that stand before it; `note` is the comment above it, line by line."""

    sym: Sym
    params: tuple[Union[Sym, Buffer], ...]
    body: tuple[Stmt, ...]
    linkage: str = "static"
    target: str = ""
    marks: tuple[str, ...] = ()
    note: tuple[str, ...] = ()


@record
class Unit:
    """Functions that call none but those before them."""

    functions: tuple[Function, ...]
