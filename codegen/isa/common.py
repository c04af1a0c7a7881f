"""Instruction sets under common names, for kernels that are printed once and compiled for the one that a compiler has.

`tw_vec_f64` is a vector and `tw_vec_add_f64(x, y)` an operation on two, whichever these are: the preprocessor chooses
among `definitions`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from codegen.isa.helpers import NAMES, arity, guarded
from codegen.isa.helpers import definitions as own_definitions
from codegen.isa.model import Isa, Vec, is_float
from codegen.isa.text import FUSED, call, helper_name, is_inline
from codegen.scop.lanes import ELEMENTS

PREFIX = "tw_vec"
_MARK = "vec-"
_FOLDS = (("fmin", "min"), ("fmax", "max"))  # min(t, acc) is acc where t is NaN, by its meaning
_PARTIAL = re.compile(r"(long|half|lane)_|\w+_(n|lane)$")
_USED = re.compile(rf"\b{PREFIX}_(?:(\w+)_)?({'|'.join(ELEMENTS)})\b")


def common_name(name: str) -> str:
    """What `load` knows an instruction set by under common names."""
    return _MARK + name


def underlying(name: str) -> str:
    """The instruction set behind a name of `common_name`; "" where it is none of those."""
    return name.removeprefix(_MARK) if name.startswith(_MARK) else ""


def is_common(isa: Isa) -> bool:
    return isa.prefix == PREFIX


def common(isa: Isa) -> Isa:
    """An instruction set under common names. There are no operations on one lane or one number, which not all have;
    multiply-adds are there for all floating-point types."""
    return replace(isa, prefix=PREFIX, target="", typedefs=(), vecs=tuple(map(_named, isa.vecs)))


def _named(vec: Vec) -> Vec:
    known = [op for op, _ in vec.ops if not _PARTIAL.match(op)]
    known += ["fma", "fms"] if is_float(vec.elem) and "fma" not in known else []
    ops = tuple((op, f"{PREFIX}_{op}_{vec.elem}({', '.join(f'{{{k}}}' for k in range(arity(op)))})") for op in known)
    vector, mask = f"{PREFIX}_{vec.elem}", f"{PREFIX}_mask_{vec.elem}"
    folds = _FOLDS if is_float(vec.elem) else ()
    return replace(vec, vector=vector, mask=mask, group=0, broadcast=0, ops=ops, folds=folds, half="")


def definitions(isa: Isa, texts: Iterable[str]) -> list[tuple[str, str]]:
    """What the common names in `texts` stand for on an instruction set: a guard, where one is needed, and a text of
    each."""
    used = sorted({found for text in texts for found in _USED.findall(text)}, key=_order)
    named = [_definition(isa, elem, op) for op, elem in used]
    return [*guarded(own_definitions(isa, named)), *(("", text) for text in named)]


def _order(used: tuple[str, str]) -> tuple[str, bool, str]:
    op, elem = used
    return elem, bool(op), op


def _definition(isa: Isa, elem: str, op: str) -> str:
    vec = isa.vec(elem)
    if op in ("", "mask"):
        return f"typedef {vec.mask if op else vec.vector} {PREFIX}_{op + '_' if op else ''}{elem};"
    names = NAMES[: arity(op)]
    given = ", ".join(names)
    head = f"#define {PREFIX}_{op}_{elem}({given})"
    if op in FUSED and is_float(elem):
        multiply, join = FUSED[op]
        apart = call(isa, elem, join, ["(x)", call(isa, elem, multiply, ["(y)", "(z)"])])
        fused = f"TW_FUSED({vec.op(op).format(*names)}, {apart})" if vec.op(op) else apart
        return f"{head} {fused}"
    if vec.op(op) and is_inline(vec.op(op)):
        return f"{head} {call(isa, elem, op, [f'({n})' for n in names])}"
    return f"{head} {helper_name(isa, elem, op)}({given})"
