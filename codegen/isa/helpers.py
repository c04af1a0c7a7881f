"""Definitions of the functions, macros and vector types that printed lane expressions use, for the head of a file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from codegen.isa.derived import derived
from codegen.isa.model import Isa, Vec, is_float
from codegen.isa.text import FUSED, bare, call, expression, helper_name
from codegen.scop.lanes import DOUBTS, ELEMENTS, MASKS

NAMES = ("x", "y", "z", "lane")


def definitions(isa: Isa, texts: Iterable[str]) -> dict[str, str]:
    """Name and text of all that `texts` need, each after what it needs itself."""
    helpers: dict[str, str] = {}
    whole = "\n".join(texts)
    _collect(isa, whole, helpers)
    whole = "\n".join([whole, *helpers.values()])
    types = {name: text for name, text in isa.typedefs if re.search(rf"\b{name}\b", whole)}
    return {**types, **helpers}


def guarded(found: Mapping[str, str]) -> list[tuple[str, str]]:
    """A guard and the text of each definition. Functions can be defined once in a translation unit; types and macros
    may be defined again as they are, and need no guard."""
    return [(f"{n.upper()}_" if "static " in text else "", text) for n, text in found.items()]


def _collect(isa: Isa, text: str, found: dict[str, str]) -> None:
    for name, op, elem in re.findall(rf"\b({isa.prefix}_(\w+)_({'|'.join(ELEMENTS)}))\(", text):
        if name not in found:
            body = helper(isa, elem, op)
            _collect(isa, body.replace(f"{name}(", ""), found)
            found[name] = body


def arity(op: str) -> int:
    """The number of arguments of an operation."""
    op = op.removeprefix("half_").removeprefix("long_")
    if op in ("neg", "not", "mnot", "load", "dup", "lane_load", "any", *DOUBTS) or op.startswith("wrap"):
        return 1
    return 4 if op in ("fma_lane", "fms_lane") else 3 if op in ("select", "mul_lane") or op in FUSED else 2


def helper(isa: Isa, elem: str, op: str) -> str:
    """The definition of the helper of an operation."""
    vec, name = isa.vec(elem), helper_name(isa, elem, op)
    if op in FUSED and is_float(elem):
        return _switch(isa, elem, op)
    result, types = _signature(vec, op)
    if not isa.header:
        return _macro(isa, elem, op, types)
    parameters = ", ".join(f"{t}{'' if t.endswith('*') else ' '}{n}" for t, n in zip(types, NAMES, strict=False))
    attributes = f'always_inline, target("{isa.target}")' if isa.target else "always_inline"
    return f"static inline __attribute__(({attributes}))\n{result} {name}({parameters})\n{_body(isa, elem, op)}"


def _macro(isa: Isa, elem: str, op: str, types: tuple[str, ...]) -> str:
    """A helper on vectors of the compiler's own, which may be wider than any register: there is no ABI for functions on
    them, not even for those that are always inlined. Its variables have its name in theirs, as macros are nested."""
    own = tuple(f"{op}_{n}" for n, _ in zip(NAMES, types, strict=False))
    head = f"#define {helper_name(isa, elem, op)}({', '.join(NAMES[: len(own)])})"
    given = [f"const {t} {v} = ({n});" for t, v, n in zip(types, own, NAMES, strict=False)]
    pattern = isa.vec(elem).op(op)
    if pattern.startswith("{{"):
        named = re.sub(r"\b[xyz]\b", lambda m: f"{op}_{m[0]}", pattern.format()).replace("return ", "")
        steps = named.strip("{}\n").splitlines()
    else:
        value = pattern.format(*own) if pattern else _composed(isa, elem, op, own)
        steps = [f"  {bare(value)};"]
    return " \\\n".join([f"{head} __extension__({{", *(f"  {line}" for line in given), *steps, "})"])


def _body(isa: Isa, elem: str, op: str) -> str:
    pattern = isa.vec(elem).op(op)
    if pattern.startswith("{{"):
        return pattern.format()
    value = pattern.format(*NAMES) if pattern else _composed(isa, elem, op)
    return f"{{\n  return {bare(value)};\n}}"


def _composed(isa: Isa, elem: str, op: str, names: tuple[str, ...] = NAMES) -> str:
    return expression(isa, elem, derived(elem)[op], lambda leaf: names[NAMES.index(leaf.op)])


def _switch(isa: Isa, elem: str, op: str) -> str:
    """A multiply-add that TW_NO_FMA takes apart. A macro, because lane numbers must be constants."""
    names = NAMES[: arity(op)]
    multiply, join = FUSED[op]
    head = f"#define {helper_name(isa, elem, op)}({', '.join(names)})"
    fused = isa.vec(elem).op(op).format(*names)
    apart = call(isa, elem, join, [names[0], call(isa, elem, multiply, names[1:])])
    return f"#ifndef TW_NO_FMA\n{head} {fused}\n#else\n{head} {apart}\n#endif"


def _signature(vec: Vec, op: str) -> tuple[str, tuple[str, ...]]:
    """C types of the result and of the parameters of an operation."""
    v, m = vec.vector, vec.mask
    if op == "select":
        return v, (m, v, v)
    if op in ("mnot", "mand", "mor", "any"):
        return "int" if op == "any" else m, (m,) * arity(op)
    return m if op in (*MASKS, *DOUBTS) else v, (v,) * arity(op)
