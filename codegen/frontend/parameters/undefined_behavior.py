"""Narrows the model by undefined behaviour: leaves out parameter values for which subscripts leave arrays of constant
size. Also finds statements whose values nobody can see (`unread`).

Code for such sizes is never run; compilers that see a tile of it beyond the end of a fixed array warn.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import islpy as isl
from pycparser import c_ast

from codegen.frontend.syntax.constants import int_constant
from codegen.frontend.syntax.symbols import Variable
from codegen.scop.expr import Expr, Ref, Ternary, may_skip, sure_parts
from codegen.scop.isl_helpers import val
from codegen.scop.model import Access, Array, Statement

MOST_PARTS = 4  # of a context: isl takes its time with more

Sizes = Mapping[str, tuple["int | None", ...]]  # by array: how many elements its subscripts have, as far as it is fixed


def unread(statements: Sequence[Statement], arrays: Mapping[str, Array]) -> set[str]:
    """Statements that set variables of the region which nothing reads that anybody can see."""
    seen = {s.name for s in statements if not arrays[s.accesses[s.target].array].inside}
    while True:
        wanted = {a.array for s in statements if s.name in seen for a in s.reads}
        more = {s.name for s in statements if s.accesses[s.target].array in wanted} - seen
        if not more:
            return {s.name for s in statements} - seen
        seen |= more


def fixed_sizes(variables: Mapping[str, Variable], arrays: Sequence[Array], enums: Mapping[str, int]) -> Sizes:
    """The sizes of declared arrays that are constants. A parameter's outermost one says nothing: it is a pointer."""
    out: dict[str, tuple[int | None, ...]] = {}
    for array in arrays:
        if not array.inside and not array.mixed:
            var = variables[array.base]
            sizes = [None if la.dim is None else _constant(la.dim, enums) for la in var.shape.declarators]
            out[array.name] = (None, *sizes[1:]) if var.place == "param" else tuple(sizes)
    return out


def defined(statements: Sequence[Statement], sizes: Sizes, valid: isl.Set) -> isl.Set:
    """Those of the valid parameters for which the source's subscripts stay within fixed sizes."""
    for s in statements:
        for access in certain(s):
            bad = _leaves(s, access, sizes.get(access.array, ()))
            if bad is None or bad.is_empty():
                continue
            rest = valid.subtract(bad).coalesce()
            if not rest.is_empty() and rest.n_basic_set() <= MOST_PARTS:
                valid = rest
    return valid


def certain(s: Statement) -> Iterator[Access]:
    """The accesses that every instance makes, whatever the data."""
    if not isinstance(s.rhs, Ternary) and not may_skip(s.rhs):
        yield s.accesses[s.target]
    for number in sorted(set(_certain(s.rhs))):
        if not s.accesses[number].partial:
            yield s.accesses[number]


def _certain(e: Expr) -> Iterator[int]:
    if isinstance(e, Ref):
        yield e.access
    for part in sure_parts(e):
        yield from _certain(part)


def _leaves(s: Statement, access: Access, sizes: Sequence[int | None]) -> isl.Set | None:
    """The parameters for which some instance leaves the array; None where nothing is known about it."""
    if any(step.kind != "sub" for step in access.path) or not any(size is not None for size in sizes):
        return None
    bad = isl.Set.empty(s.domain.get_space())
    for step, size in zip(access.path, sizes, strict=False):
        if size is not None:
            value = access.index.get_pw_aff(step.index)
            zero = value.sub(value)
            end = zero.add_constant_val(val(size))
            bad = bad.union(value.lt_set(zero)).union(value.ge_set(end))
    return s.domain.intersect(bad).params()


def _constant(node: c_ast.Node, enums: Mapping[str, int]) -> int | None:
    """The value of a size that consists of numbers."""
    if isinstance(node, c_ast.Constant):
        return int_constant(node)
    if isinstance(node, c_ast.ID):
        return enums.get(node.name)
    if isinstance(node, c_ast.BinaryOp) and node.op in ("+", "-", "*"):
        left, right = _constant(node.left, enums), _constant(node.right, enums)
        if left is None or right is None:
            return None
        return left + right if node.op == "+" else left - right if node.op == "-" else left * right
    return None
