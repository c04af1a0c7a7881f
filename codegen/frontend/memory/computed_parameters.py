"""Loop-invariant integer expressions without affine form (`n * m`, `p[3]`) as parameters that are computed ahead of the
region.

`dims[0][2]`, `*n`, `h * w`, `c / groups`: a loop bound or a subscript may be made of them. The model has one parameter
for each, whose value is whatever the C text gives. The text is evaluated only where the source evaluates it, so it
reads no memory that the source does not read, and overflows or divides by zero only where the source does.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Mapping

import islpy as isl
from pycparser import c_ast

from codegen.frontend.context.frame import Frame
from codegen.frontend.expressions.address import pointee
from codegen.frontend.expressions.affine import Affiner, MissingParameter, NotAffine, c_text
from codegen.frontend.memory.places import RegionNames
from codegen.frontend.parameters.prescan import Prescan, members
from codegen.frontend.syntax.constants import int_constant, literal_type
from codegen.frontend.syntax.declarators import DeclaredType
from codegen.record import record
from codegen.scop.model import MemoryRead
from codegen.scop.types import INT, LONG, CType, common, promote

_ARITHMETIC = ("+", "-", "*", "/", "%", "&", "|", "^")
_TRUTH = ("<", "<=", ">", ">=", "==", "!=", "&&", "||")
MOST = 24  # parameters of this kind in one region


@record
class ComputedCandidate:
    """An expression that may become a parameter: its C text, with the region's own integers spelled out; the same with
    numbered gaps in place of the elements it reads, and what it divides by; those elements; and its type."""

    text: str
    formula: str
    divisors: tuple[str, ...]
    reads: tuple[MemoryRead, ...]
    ctype: CType
    stem: str = ""  # of a name for it
    harmless: bool = False  # it may be evaluated anywhere


@record
class Invariants:
    """Which expressions no statement of the region can change."""

    names: RegionNames
    scan: Prescan

    def find(self, node: c_ast.Node, frame: Frame, affiner: Affiner) -> ComputedCandidate | None:
        """What `node` would be as a parameter; None where the region may change its value, or it is no integer."""
        apart = self.apart(node, frame, affiner)
        if apart is not None:
            return apart
        ctype = self._type(node, frame, affiner)
        if ctype is None or ctype.enum or ctype.plain_char:
            return None
        whole = _spelled_out(node, frame)
        reads: list[MemoryRead] = []
        try:
            gaps = self._gaps(whole, frame, affiner, reads)
        except NotAffine:
            return None  # which element it is has no affine form
        return ComputedCandidate(c_text(whole), c_text(gaps), tuple(_divisors(gaps)), tuple(reads), ctype)

    def has_value(self, node: c_ast.Node, frame: Frame, affiner: Affiner) -> bool:
        """Is it a quotient of plain integers that is defined everywhere in the frame, though the source may not come to
        ask for it? As are the numbers of turns of loops by steps, `(n - 1) / step` for `n > 0` and `step > 0`."""
        if not isinstance(node, c_ast.BinaryOp) or node.op not in ("/", "%"):
            return False
        whole, mark = _spelled_out(node, frame), affiner.mark()
        try:
            if not self._fits(whole.left, frame, affiner) or not self._fits(whole.right, frame, affiner):
                return False
            by, _ = affiner.value(whole.right, frame)
            return _everywhere(by.ge_set(frame.constant(1)), frame, affiner)
        except (NotAffine, MissingParameter):
            return False
        finally:
            affiner.back(mark)

    def _fits(self, node: c_ast.Node, frame: Frame, affiner: Affiner) -> bool:
        """A sum of variables, which is in the range of its type everywhere in the frame."""
        if isinstance(node, c_ast.Constant):
            return True
        if isinstance(node, (c_ast.ID, c_ast.StructRef)):
            return frame.iterator(getattr(node, "name", "")) is None and _is_plain(node, affiner)
        if isinstance(node, c_ast.Cast):
            return self._fits(node.expr, frame, affiner)
        if not isinstance(node, c_ast.BinaryOp) or node.op not in ("+", "-"):
            return False
        if not self._fits(node.left, frame, affiner) or not self._fits(node.right, frame, affiner):
            return False
        value, ctype = affiner.value(node, frame)
        low, high = (frame.constant(x) for x in ctype.range())
        return _everywhere(value.ge_set(low).intersect(value.le_set(high)), frame, affiner)

    def pointer_test(self, node: c_ast.Node, frame: Frame, affiner: Affiner) -> ComputedCandidate | None:
        """`p != 0`, for a pointer that the region does not set, also where it stands as `p == 0`."""
        if not isinstance(node, c_ast.BinaryOp) or node.op not in ("==", "!=") or not _is_zero(node.right):
            return None
        if self._pointer(node.left, frame, affiner) is None:
            return None
        text = c_text(c_ast.BinaryOp("!=", node.left, node.right))
        stem = "_".join(["has", *re.findall(r"\w+", c_text(node.left))])
        return ComputedCandidate(text, text, (), (), INT, stem, all(s.type == "." for s in _way(node.left)))

    def apart(self, node: c_ast.Node, frame: Frame, affiner: Affiner) -> ComputedCandidate | None:
        """`end - begin`, for pointers to elements of one type that the region does not set."""
        if not isinstance(node, c_ast.BinaryOp) or node.op != "-":
            return None
        sides = [self._pointer(x, frame, affiner) for x in (node.left, node.right)]
        if sides[0] is None or sides[1] is None or pointee(sides[0]) != pointee(sides[1]):
            return None
        text = c_text(node)
        return ComputedCandidate(text, "{0}", (), (MemoryRead(text, LONG, "", ()),), LONG)

    def _pointer(self, node: c_ast.Node, frame: Frame, affiner: Affiner) -> DeclaredType | None:
        """The type of a pointer, a variable or a member of one, that the region does not set."""
        if not isinstance(node, (c_ast.ID, c_ast.StructRef)) or any(_reaches(x) for x in _way(node)):
            return None
        base = node.name if isinstance(node, c_ast.ID) else _base(node)
        if base is None or base in frame.locals or base in frame.bindings or frame.iterator(base) is not None:
            return None
        shape = self._shape(node, affiner)
        plain = isinstance(node, c_ast.ID) or self.scan.fixed(base, members(node))
        return shape if shape is not None and shape.declarators and not shape.special and plain else None

    def _type(self, node: c_ast.Node, frame: Frame, affiner: Affiner) -> CType | None:
        """The type of an invariant integer."""
        if isinstance(node, c_ast.Constant):
            number = int_constant(node)
            return None if number is None else literal_type(node, number)
        if isinstance(node, c_ast.ID):
            return self._name(node, frame, affiner)
        if isinstance(node, (c_ast.ArrayRef, c_ast.StructRef)) or _is_deref(node):
            return self._element(node, frame, affiner)
        if isinstance(node, c_ast.UnaryOp) and node.op in ("+", "-", "~", "!"):
            inner = self._type(node.expr, frame, affiner)
            return inner and (INT if node.op == "!" else promote(inner))
        if isinstance(node, c_ast.BinaryOp):
            left, right = self._type(node.left, frame, affiner), self._type(node.right, frame, affiner)
            if left is None or right is None:
                return None
            if node.op in _TRUTH:
                return INT
            return promote(left) if node.op in ("<<", ">>") else common(left, right) if node.op in _ARITHMETIC else None
        if isinstance(node, c_ast.TernaryOp):
            parts = [self._type(x, frame, affiner) for x in (node.cond, node.iftrue, node.iffalse)]
            return common(parts[1], parts[2]) if parts[0] and parts[1] and parts[2] else None
        if isinstance(node, c_ast.Cast):
            shape = affiner.types.shape(node.to_type)
            plain = not shape.declarators and shape.elem.is_int
            return shape.elem if plain and self._type(node.expr, frame, affiner) else None
        return None

    def _name(self, node: c_ast.ID, frame: Frame, affiner: Affiner) -> CType | None:
        if node.name in frame.bindings:
            bound = frame.bindings[node.name]
            known = bound.value is None and self._type(bound.node, bound.frame, affiner)
            return bound.ctype if known else None
        if frame.iterator(node.name) is not None or node.name in frame.locals:
            return None
        if node.name in affiner.params:
            return affiner.params[node.name][1]
        return INT if node.name in affiner.enums else None

    def _element(self, node: c_ast.Node, frame: Frame, affiner: Affiner) -> CType | None:
        """Type of an element or member in memory that the region leaves alone."""
        text = c_text(node)
        if text in affiner.params:
            return affiner.params[text][1]
        base = _base(node)
        if base is None or base in frame.locals or base in frame.bindings or frame.iterator(base) is not None:
            return None
        if base in self.scan.counters or not self.scan.untouched(base, members(node)):
            return None
        shape = self._shape(node, affiner)
        if shape is None or shape.declarators or shape.special or not shape.elem.is_int:
            return None
        subscripts = (n.subscript for n in _way(node) if isinstance(n, c_ast.ArrayRef))
        return shape.elem if all(self._type(x, frame, affiner) for x in subscripts) else None

    def _shape(self, node: c_ast.Node, affiner: Affiner) -> DeclaredType | None:
        """The type of a chain of members, subscripts and `*`; None where it is not known or has bit-fields."""
        if isinstance(node, c_ast.ID):
            var = self.names.variables.get(node.name)
            return None if var is None else var.shape
        outer = self._shape(node.expr if isinstance(node, c_ast.UnaryOp) else node.name, affiner)
        if outer is None or outer.special:
            return None
        if not isinstance(node, c_ast.StructRef) or node.type == "->":
            if not outer.declarators:
                return None
            outer = DeclaredType(outer.declarators[1:], outer.elem, outer.struct, special=outer.special)
        if not isinstance(node, c_ast.StructRef):
            return outer
        if outer.declarators or isinstance(outer.struct, c_ast.Union):
            return None
        return affiner.types.member(outer.struct, node.field.name)

    def _gaps(self, node: c_ast.Node, frame: Frame, affiner: Affiner, reads: list[MemoryRead]) -> c_ast.Node:
        """`node` with `{0}`, `{1}`... in place of elements that are no parameters; these are added to `reads`."""
        if isinstance(node, (c_ast.ArrayRef, c_ast.StructRef)) or _is_deref(node):
            if c_text(node) in affiner.params:
                return node  # as a whole: the struct it is a member of is no element
            read = self._read(node, frame, affiner)
            if all(r.text != read.text for r in reads):
                reads.append(read)
            return c_ast.ID(f"{{{[r.text for r in reads].index(read.text)}}}")
        out = copy.copy(node)
        for name, child in node.children():
            if "[" not in name and not isinstance(child, c_ast.Typename):
                setattr(out, name, self._gaps(child, frame, affiner, reads))
        return out

    def _read(self, node: c_ast.Node, frame: Frame, affiner: Affiner) -> MemoryRead:
        """An element, and which one it is of every array and pointer on the way to it."""
        shape = self._shape(node, affiner)
        base = _base(node)
        assert shape is not None and base is not None
        levels: list[tuple[tuple[str, ...], isl.Set]] = []
        path: tuple[str, ...] = ()
        for step in reversed(list(_way(node))):
            if not isinstance(step, c_ast.StructRef) or step.type == "->":
                index = step.subscript if isinstance(step, c_ast.ArrayRef) else c_ast.Constant("int", "0")
                try:
                    value, _ = affiner.value(index, frame)
                except (NotAffine, MissingParameter):
                    raise NotAffine(node, f"`{c_text(node)}` is found with an index that is not affine") from None
                levels.append((path, isl.Map.from_pw_aff(value).range()))
                path = (*path, "*")
            if isinstance(step, c_ast.StructRef):
                path = (*path, f".{step.field.name}")
        return MemoryRead(c_text(node), shape.elem, base, tuple(levels))


def _is_plain(node: c_ast.Node, affiner: Affiner) -> bool:
    """Is it a parameter for which no pointer is followed?"""
    text = c_text(node)
    return text in affiner.params and "->" not in text


def _everywhere(holds: isl.Set, frame: Frame, affiner: Affiner) -> bool:
    return bool(frame.domain.intersect_params(affiner.ranges).is_subset(holds))


def _is_zero(node: c_ast.Node) -> bool:
    return isinstance(node, c_ast.Constant) and int_constant(node) == 0


def _reaches(node: c_ast.Node) -> bool:
    """Does it read an element of memory, not a member?"""
    return not isinstance(node, c_ast.StructRef)


def _divisors(node: c_ast.Node) -> Iterator[str]:
    """C texts of what is divided by."""
    if isinstance(node, c_ast.BinaryOp) and node.op in ("/", "%") and not isinstance(node.right, c_ast.Constant):
        yield c_text(node.right)
    for child in node:
        yield from _divisors(child)


def _is_deref(node: c_ast.Node) -> bool:
    return isinstance(node, c_ast.UnaryOp) and node.op == "*"


def _way(node: c_ast.Node) -> Iterator[c_ast.Node]:
    """The subscripts, members and `*` of an lvalue, from the outside in."""
    while isinstance(node, (c_ast.ArrayRef, c_ast.StructRef)) or _is_deref(node):
        yield node
        node = node.expr if isinstance(node, c_ast.UnaryOp) else node.name


def _base(node: c_ast.Node) -> str | None:
    last = [node, *_way(node)][-1]
    inner = last.expr if isinstance(last, c_ast.UnaryOp) else getattr(last, "name", None)
    return str(inner.name) if isinstance(inner, c_ast.ID) else None


def _spelled_out(node: c_ast.Node, frame: Frame) -> c_ast.Node:
    """`node` with the formulas of the region's own integers in place of their names."""
    if isinstance(node, c_ast.ID):
        if node.name not in frame.bindings:
            return node
        bound = frame.bindings[node.name]
        kind = c_ast.TypeDecl(None, [], None, c_ast.IdentifierType(bound.ctype.spelling.split()))
        return c_ast.Cast(c_ast.Typename(None, [], None, kind), _spelled_out(bound.node, bound.frame), node.coord)
    out = copy.copy(node)
    for name, child in node.children():
        if "[" not in name and not isinstance(child, c_ast.Typename) and name != "field":
            setattr(out, name, _spelled_out(child, frame))
    return out


def name_for(text: str, taken: Mapping[str, object] | frozenset[str], stem: str = "") -> str:
    """A C identifier that reminds of an expression: `l_h_l_w` for `l.h * l.w`; or `stem` with a number if need be."""
    words = re.findall(r"[A-Za-z_]\w*|\d+", text)
    if not stem:
        stem = "_".join(words)
        stem = f"{stem}_value" if len(words) == 1 else stem
        stem = stem if len(stem) <= 32 and re.match(r"[A-Za-z]", stem) else "_".join(["size", *words[:1]])
    name, k = stem, 2
    while name in taken:
        name, k = f"{stem}_{k}", k + 1
    return name
