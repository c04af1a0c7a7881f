"""Brings printed C types and those of the model into one form (kind, bits, sign) in which they can be compared, and
finds the type of a value that a region is given by its name."""

from __future__ import annotations

from codegen.scop.expr import Sym
from codegen.scop.expr import walk as parts
from codegen.scop.model import Scop
from codegen.scop.types import CType
from codegen.verify.text.read import Unread

_SIZES = {"double": 64, "float": 32, "long": 64, "int": 32, "short": 16, "char": 8}
_ASIDE = frozenset(("const", "volatile", "signed", "unsigned", "*"))
Plain = tuple[str, int, str]  # kind, bits, and whether there is a sign


def plain_type(text: str) -> Plain:
    """The type of an element, whatever points to it."""
    words = text.replace("*", " * ").split()
    found = [w for w in words if w not in _ASIDE]
    if len(found) != 1 or found[0] not in _SIZES:
        raise Unread(f"elements of type {' '.join(words)}")
    if found[0] in ("double", "float"):
        return "float", _SIZES[found[0]], "signed"
    sign = next((w for w in words if w in ("signed", "unsigned")), "own" if found[0] == "char" else "signed")
    return "int", _SIZES[found[0]], sign


def type_of(t: CType) -> Plain:
    if t.kind == "float":
        return "float", t.bits, "signed"
    return t.kind, t.bits, "own" if t.plain_char else "signed" if t.signed else "unsigned"


def value_type(scop: Scop, name: str) -> CType | None:
    """The type of a value that a region is given under this name: a parameter, or one that it never writes."""
    for p in scop.params:
        if p.text == name:
            return p.ctype
    found = (e for s in scop.statements for e in parts(s.rhs) if isinstance(e, Sym) and e.text == name)
    return next((e.ctype for e in found), None)
