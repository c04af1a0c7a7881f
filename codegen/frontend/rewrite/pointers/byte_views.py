"""Reinterpreted memory: rewrites addresses such as `(uint8_t *)(words + i * wpl)` as addresses in an array of the bytes
of `words`. Raises Unsupported where a region writes memory that it uses both as bytes and as words.

The bytes are an array of their own, which generated code has a pointer to (`words_bytes`). What the region writes must
be used as bytes alone: the model does not know that two arrays are the same memory. Macros for images in words turn
the order of bytes around: `(uint8_t *)((uintptr_t)((uint8_t *)line + j) ^ 3)` is byte `j ^ 3` of the line, since words
lie at multiples of their size.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace

from pycparser import c_ast

from codegen.diagnostics import Unsupported
from codegen.frontend.expressions.address import Address, Offsets, total
from codegen.frontend.parameters.prescan import prescan
from codegen.frontend.syntax.constants import int_constant
from codegen.frontend.syntax.declarators import Declarator, DeclaredType, literal_int
from codegen.frontend.syntax.symbols import RegionSite, Variable
from codegen.frontend.syntax.tree import Fresh, names
from codegen.record import mutable
from codegen.scop.model import OwnVariable
from codegen.scop.types import CType

BYTE = 8  # bits


@mutable
class Views:
    """The arrays of bytes that were made, by their names."""

    site: RegionSite
    fresh: Fresh
    shadowed: set[str]
    made: dict[str, tuple[str, CType]] = field(default_factory=dict)  # the pointer that each comes from, and its type

    def bytes_of(self, at: Address, shape: DeclaredType) -> Address | None:
        """An address in an array of integers as one in the array of their bytes; None for anything else."""
        word = self._words(at)
        if word is None or not _is_integer(shape, BYTE):
            return None
        root, size = str(at.root.name), word.bits // BYTE
        known = next((n for n, (of, kind) in self.made.items() if of == root and kind == shape.elem), None)
        name = known or self.fresh.name(f"{root}_bytes")
        self.made[name] = root, shape.elem
        offsets = tuple((sign, _times(size, value)) for sign, value in at.offsets)
        return replace(at, root=c_ast.ID(name, at.root.coord), shape=_pointer_to(shape.elem), offsets=offsets)

    def _words(self, at: Address) -> CType | None:
        """The type of the words that an address leads to, where they are elements of a pointer of the function."""
        var = self.site.variables.get(getattr(at.root, "name", "")) if isinstance(at.root, c_ast.ID) else None
        if var is None or at.single or var.place == "global" or var.name in self.shadowed:
            return None
        plain = [la.kind for la in var.shape.declarators] == ["pointer"] and _is_integer(at.shape, 2 * BYTE)
        return at.shape.elem if plain and not at.shape.elem.enum else None

    def turned(self, at: Address, bits: int, plain: Callable[[c_ast.Node], bool]) -> Address | None:
        """The address with some of its bits turned around, where the words it is in are aligned to more than these."""
        found = self.made.get(getattr(at.root, "name", "")) if isinstance(at.root, c_ast.ID) else None
        if found is None:
            return None
        size, whole = self.site.variables[found[0]].shape.elem.bits // BYTE, 1 << bits.bit_length()
        if whole > size:
            return None
        far: Offsets = tuple(x for x in at.offsets if _is_multiple(x[1], whole))
        value = total([x for x in at.offsets if not _is_multiple(x[1], whole)], plain)
        number = c_ast.Constant("int", str(bits), at.root.coord)
        place = number if value is None else c_ast.BinaryOp("^", value, number, at.root.coord)
        return replace(at, offsets=(*far, (1, place)))

    def roots(self, statements: Sequence[c_ast.Node]) -> set[str]:
        """The pointers whose bytes these statements use."""
        used = set[str]().union(*(names(s) for s in statements))
        return {root for name, (root, _) in self.made.items() if name in used}

    def into(self, site: RegionSite) -> RegionSite:
        """The site with the arrays of bytes that its statements use. Raises Unsupported where they use words, too."""
        used = set[str]().union(*(names(s) for s in site.statements))
        mine = {name: x for name, x in sorted(self.made.items()) if name in used}
        variables, own = dict(site.variables), list(site.own)
        for name, (root, kind) in mine.items():
            const = "const " if site.variables[root].const else ""
            text = f"{const}{kind.spelling} *const {name} = ({const}{kind.spelling} *){root};"
            variables[name] = Variable(name, _pointer_to(kind), "local", const=bool(const))
            own.append(OwnVariable(name, root, text))
        site = replace(site, variables=variables, own=tuple(own)) if mine else site
        _check_apart(mine, used, site)
        return site


def _check_apart(views: Mapping[str, tuple[str, CType]], used: set[str], site: RegionSite) -> None:
    """What the region writes it must use in one way."""
    roots = [root for root, _ in views.values()]
    twice = {root for root in roots if root in used or roots.count(root) > 1}
    written = prescan(site).written if twice else frozenset()
    changed = sorted(r for r in twice if not written.isdisjoint({r, *(n for n, (of, _) in views.items() if of == r)}))
    if changed:
        why = f"`{changed[0]}` is used as elements and as their bytes"
        raise Unsupported("pointer-arithmetic", why, site.loc, "use one type for all of it, or split the region")


def xor_of(node: c_ast.Node, types: Callable[[c_ast.Node], DeclaredType]) -> tuple[c_ast.Node, int] | None:
    """The pointer and the bits of `(uintptr_t)p ^ 3`; None for other expressions."""
    if not isinstance(node, c_ast.BinaryOp) or node.op != "^" or not isinstance(node.left, c_ast.Cast):
        return None
    to, bits = types(node.left.to_type), int_constant(node.right) if isinstance(node.right, c_ast.Constant) else None
    wide = not to.declarators and to.elem.is_int and to.elem.bits == 64
    return (node.left.expr, bits) if wide and bits is not None and bits > 0 else None


def _pointer_to(kind: CType) -> DeclaredType:
    return DeclaredType((Declarator("pointer"),), kind)


def _is_integer(shape: DeclaredType, least: int) -> bool:
    """Is it a pointer to integers of so many bits, or at least so many if these are more than a byte?"""
    e = shape.elem
    fits = e.bits == least if least == BYTE else e.bits >= least
    return len(shape.declarators) == 1 and shape.struct is None and not shape.special and e.is_int and fits


def _times(size: int, value: c_ast.Node) -> c_ast.Node:
    return c_ast.BinaryOp("*", c_ast.Constant("long int", f"{size}L", value.coord), value, value.coord)


def _is_multiple(node: c_ast.Node, of: int) -> bool:
    """Is it a number of words, in bytes?"""
    number = literal_int(node.left, {}) if isinstance(node, c_ast.BinaryOp) and node.op == "*" else None
    return number is not None and number % of == 0
