"""The record `MatvecKernel` (loop order, element type, step and sizes of a matrix-vector kernel, which may carry out
two products of one matrix); prints it as a static C function for one instruction set, and the prelude of types and
macros that such functions need."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from codegen.isa.helpers import definitions, guarded
from codegen.isa.model import Isa
from codegen.isa.text import PREFETCH
from codegen.isa.widths import WIDE, WIDTHS, is_open, lanes_at, lanes_macro
from codegen.print.templates import environment
from codegen.record import record
from codegen.scop.lanes import Lane, spelled
from codegen.target.matvec import forms
from codegen.target.matvec.forms import FormTexts, open_share, share
from codegen.target.matvec.lines import FETCH, Ops, numbered
from codegen.target.matvec.shuffle import definition, in_turn, macro, open_definition

# Lines of cache between request and use where rows of the matrix are read one by one. The hardware follows a single
# stream; asked for more, it drops some. Neoverse N1, f64, 4096 x 4096: 17.4 GB/s at 4 lines, 17.9 at 8, 15.6 at 32.
ALONE_LINES = 8


@record
class Beside:
    """A second product of a kernel, whose result runs along lines of the same matrix: what its step computes."""

    step: Lane
    operands: int
    consts: int


@record
class MatvecKernel:
    """`form` and the sizes, `wide` among them, are those of `scop.product.MatrixVector`; `alone` is the number of
    vectors where lines are read one by one. `join` and `neutral` say how partial results of form "fold" are joined."""

    form: str
    elem: str
    step: Lane
    matrices: int
    operands: int
    consts: int
    streams: int
    vectors: int
    alone: int
    ahead: int
    join: str = ""
    neutral: str = ""
    wide: int = 0
    beside: Beside | None = None  # form "across" alone, of one matrix


def name(isa: Isa, mk: MatvecKernel) -> str:
    """The same for the same content, in every run; different for different content."""
    step = spelled(mk.step, (mk.matrices, mk.operands, mk.consts))
    lines = f"{mk.streams}to{mk.wide}" if mk.wide else str(mk.streams)
    sizes = f"{lines}x{mk.vectors}" + (f"or{mk.alone}" if mk.alone != mk.vectors else "")
    other = ["with", spelled(mk.beside.step, (1, mk.beside.operands, mk.beside.consts))] if mk.beside else []
    return "_".join([isa.prefix, mk.elem, "pair" if other else mk.form, sizes, step, *other, f"p{mk.ahead}"])


def grouped(isa: Isa, mk: MatvecKernel) -> bool:
    """Can the kernel take several lines at a time, and fewer?"""
    return mk.form != "across" or len(calls(isa, mk)) > 1


def together(mk: MatvecKernel) -> str:
    """How many lines are taken at a time, as C text: a macro has it where that depends on the width of vectors."""
    what = "ROWS" if mk.form == "across" else "LINES"
    return f"TW_{mk.elem.upper()}_{what}_{mk.streams}_{mk.wide}" if mk.wide else str(mk.streams)


def _rows_definition(mk: MatvecKernel) -> str:
    wide = WIDE if mk.form == "across" else lanes_at(mk.elem, WIDTHS[1])
    return f"#define {together(mk)} ({lanes_macro(mk.elem)} < {wide} ? {mk.streams} : {mk.wide})"


def ops(isa: Isa, mk: MatvecKernel) -> Ops:
    return Ops(isa, mk.elem, mk.step, mk.matrices, mk.operands, mk.consts)


def second_ops(isa: Isa, mk: MatvecKernel) -> Ops | None:
    """Those of the second product."""
    other = mk.beside
    return Ops(isa, mk.elem, other.step, mk.matrices, other.operands, other.consts, True) if other else None


def calls(isa: Isa, mk: MatvecKernel) -> tuple[tuple[int | str, ...], ...]:
    """The constants that the function for some lines gets: for several lines, then for one; in form "across" for one
    vector of lines."""
    o = ops(isa, mk)
    near = ALONE_LINES * o.line if mk.ahead else 0
    if mk.form == "across":
        if is_open(isa):
            return (o.groups(together(mk)), open_share(o, together(mk))), ("1", o.count)
        groups = sorted({mk.streams // o.lanes, 1}, reverse=True)
        return tuple((n, share(o, n)) for n in groups)
    if mk.form == "lanes":
        return (together(mk), mk.vectors, mk.ahead), (1, mk.alone, near)
    sizes = ((mk.streams, mk.vectors, mk.ahead), (1, mk.alone, near))
    return tuple((lines, vectors, max(o.line, vectors * o.lanes), ahead) for lines, vectors, ahead in sizes)


@cache
def matvec_kernel(isa: Isa, mk: MatvecKernel) -> str:
    """C text of the static function, behind those that it is made of."""
    second = second_ops(isa, mk)
    return (
        environment()
        .get_template(f"matvec_{'pair' if second else mk.form}.c.j2")
        .render(
            mk=mk,
            f=FormTexts(ops(isa, mk)),
            second=FormTexts(second) if second else None,
            name=name(isa, mk),
            target=isa.target,
            parameters=", ".join(_parameters(isa, mk)),
            forms=forms,
            calls=calls(isa, mk),
            together=together(mk),
        )
    )


def _parameters(isa: Isa, mk: MatvecKernel) -> list[str]:
    t = isa.vec(mk.elem).scalar
    matrices = zip(numbered("a", mk.matrices), numbered("pitch", mk.matrices), strict=True)
    second = second_ops(isa, mk)
    others = [] if second is None else numbered(second.stems[0], second.operands)
    return [
        *("long n", "long k", *(["long several"] if grouped(isa, mk) else [])),
        *(x for a, pitch in matrices for x in (f"const {t} *restrict {a}", f"long {pitch}")),
        *(f"const {t} *restrict {x}" for x in numbered("x", mk.operands)),
        f"{t} *restrict y",
        *(f"const {t} *restrict {x}" for x in others),
        *([f"{t} *restrict z"] if second else []),
        *(f"{t} {x}" for o in (ops(isa, mk), second) if o for x in o.constants),
    ]


def turning(isa: Isa, mk: MatvecKernel) -> dict[str, str]:
    """The macros that shuffle lanes in a kernel, by the name of one of them, and that of lines taken together."""
    if is_open(isa):
        text = open_definition(isa, mk.elem)
        found = {in_turn(mk.elem)[0]: text} if mk.form == "across" else {}
        return found | ({together(mk): _rows_definition(mk)} if mk.wide else {})
    word = macro(isa, mk.elem)
    return {word: definition(isa, mk.elem)} if word in matvec_kernel(isa, mk) else {}


def open_macros(isa: Isa, mk: MatvecKernel) -> str:
    """Those of a kernel whose width is open: what they do depends on it. Empty for others."""
    return "\n".join(turning(isa, mk).values()) if is_open(isa) else ""


def matvec_prelude(kernels: Iterable[tuple[Isa, MatvecKernel]]) -> str:
    """What the kernels need above them, only what is used. Their instruction sets are one, but for the width of open
    ones."""
    kernels = tuple(kernels)
    texts = [matvec_kernel(isa, k) for isa, k in kernels]
    isa = kernels[0][0]
    found = definitions(isa, texts)
    for own, k in sorted(kernels, key=lambda x: x[1].elem):
        found |= turning(own, k)
    fixed_width = re.search(r"\bu?int\d+_t\b", "\n".join([*texts, *found.values()]))
    return (
        environment()
        .get_template("matvec_prelude.c.j2")
        .render(
            headers=[*(["stdint.h"] if fixed_width else []), *([isa.header] if isa.header else [])],
            prefetch=any(PREFETCH in t for t in texts),
            fetch=any(FETCH in t for t in texts),
            definitions=guarded(found),
        )
    )
