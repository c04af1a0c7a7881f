"""Prints expressions and conditions as C text: calls become array elements, division by powers of two shifts, codes
calls of helpers; products in sizes saturate."""
from __future__ import annotations

from collections.abc import Mapping

from codegen.sparse.algebra.expr import Atom, Call, Code, Decoded, Div, Exp, Mod, Name, Prod, single
from codegen.sparse.algebra.relation import Constraint
from codegen.sparse.synth.bounds import linear

Extents = Mapping[str, tuple[Exp, ...]]


def cexp(e: Exp, extents: Extents) -> str:
    """A sum, as C."""
    out = ""
    for a, c in sorted(e.terms, key=lambda t: t[1] < 0):
        body = catom(a, extents)
        if abs(c) != 1:
            body = f"{abs(c)} * {_tight(a, body)}"
        out += (f" {'-' if c < 0 else '+'} " if out else "-" if c < 0 else "") + (_tight(a, body) if c < 0 else body)
    if e.const or not out:
        out += f" {'-' if e.const < 0 else '+'} {abs(e.const)}" if out else str(e.const)
    return out


def _tight(a: Atom, body: str) -> str:
    return f"({body})" if isinstance(a, (Div, Mod)) and not body.startswith("(") else body


def factor(e: Exp, extents: Extents) -> str:
    """An operand of a product."""
    text = cexp(e, extents)
    return text if isinstance(single(e), (Name, Call)) or not e.terms else f"({text})"


def catom(a: Atom, extents: Extents) -> str:
    if isinstance(a, Name):
        return a.id
    if isinstance(a, Call):
        sizes = extents.get(a.id)
        index = linear(sizes, a.args) if sizes and len(a.args) > 1 else a.args[0]
        return element(a.id, cexp(index, extents))
    if isinstance(a, Prod):
        return f"{factor(a.left, extents)} * {factor(a.right, extents)}"
    if isinstance(a, Code):
        table = code_name(a)
        return f"(int64_t)({' | '.join(f'tw_encode(&{table}, {d}, {cexp(x, extents)})' for d, x in enumerate(a.args))})"
    if isinstance(a, Decoded):
        return f"tw_decode(&{code_name(a)}, {a.at}, {cexp(a.of, extents)})"
    of = factor(a.of, extents)
    if a.by & (a.by - 1) == 0:
        return f"({of} >> {a.by.bit_length() - 1})" if isinstance(a, Div) else f"({of} & {a.by - 1})"
    name = "tw_div" if isinstance(a, Div) else "tw_mod"
    plain = isinstance(single(a.of), (Name, Call))  # coordinates are not negative
    sign = "/" if isinstance(a, Div) else "%"
    return f"({of} {sign} {a.by})" if plain else f"{name}({of}, {a.by})"


def code_name(a: Code | Decoded) -> str:
    """The variable that has where the bits of a code are; its function declares it (codes.py)."""
    return "__".join(["tw_code", *(cexp(x, {}) for x in a.extents)])


def element(array: str, index: str) -> str:
    """An element of an array, or of a field of one."""
    name, _, field = array.partition("[]")
    return f"{name}[{index}]{field}"


def size_exp(e: Exp, extents: Extents) -> str:
    """A size as C: products saturate, so that an impossible size fails as an allocation and nowhere else."""
    out = ""
    for a, c in sorted(e.terms, key=lambda t: t[1] < 0):
        body = _size_atom(a, extents)
        body = f"tw_mul({abs(c)}, {body})" if abs(c) != 1 else body
        out += (f" {'-' if c < 0 else '+'} " if out else "-" if c < 0 else "") + body
    if e.const or not out:
        out += f" {'-' if e.const < 0 else '+'} {abs(e.const)}" if out else str(e.const)
    return out


def _size_atom(a: Atom, extents: Extents) -> str:
    if isinstance(a, Prod):
        return f"tw_mul({size_exp(a.left, extents)}, {size_exp(a.right, extents)})"
    if isinstance(a, Div) and any(isinstance(x, Prod) for x, _ in a.of.terms):
        return f"({size_exp(a.of, extents)}) / {a.by}"
    return catom(a, extents)


def condition(c: Constraint, extents: Extents) -> str:
    """a constraint with positive terms on the left."""
    left = Exp(tuple(t for t in c.exp.terms if t[1] > 0), max(c.exp.const, 0))
    right = left - c.exp
    if c.equal:
        return f"{cexp(left, extents)} == {cexp(right, extents)}"
    if right.const > 0 and right.terms:
        return f"{cexp(left, extents)} > {cexp(right - 1, extents)}"
    return f"{cexp(left, extents)} >= {cexp(right, extents)}"


def false_condition(c: Constraint, extents: Extents) -> str:
    """The opposite."""
    text = condition(c, extents)
    for sign, other in ((" == ", " != "), (" >= ", " < "), (" > ", " <= ")):
        if sign in text:
            return text.replace(sign, other)
    return f"!({text})"
