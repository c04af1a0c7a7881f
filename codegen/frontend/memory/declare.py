"""Checks of local declarations inside a region: Unsupported for what is no plain variable or array, or has a size that
the region changes; `is_formula` tells whether a value is a formula of loop variables and parameters alone."""

from __future__ import annotations

import islpy as isl
from pycparser import c_ast

from codegen.diagnostics import Loc, Unsupported
from codegen.frontend.context.frame import Binding, Frame
from codegen.frontend.expressions.affine import Affiner, NotAffine
from codegen.frontend.expressions.polynomials import polynomial
from codegen.frontend.syntax.declarators import DeclaredType


def check_plain(node: c_ast.Decl, shape: DeclaredType, loc: Loc) -> None:
    """Refuse what is no plain variable or array."""
    if shape.special:
        raise Unsupported("volatile", f"`{node.name}` is volatile or atomic", loc, "use a plain variable")
    lasting = next((word for word in ("static", "extern") if word in (node.storage or ())), "")
    if lasting:
        words = f"`{node.name}` is declared {lasting} inside the region"
        raise Unsupported("local-declaration", words, loc, "declare it before the region")
    if (
        shape.function
        or _defines_tag(node)
        or any(la.kind == "pointer" for la in shape.declarators)
    ):
        raise Unsupported(
            "local-declaration",
            f"`{node.name}` is not a plain variable or array",
            loc,
            "declare it before the region",
        )


def _defines_tag(node: c_ast.Decl) -> bool:
    """Is a struct or union given its name here, where nobody outside the region can use it?"""
    inner = node.type
    while isinstance(inner, (c_ast.ArrayDecl, c_ast.PtrDecl, c_ast.TypeDecl)):
        inner = inner.type
    return isinstance(inner, (c_ast.Struct, c_ast.Union)) and bool(inner.name) and bool(inner.decls)


def is_formula(binding: Binding, affiner: Affiner) -> bool:
    """Is the value computed from loop variables, parameters and constants alone?"""
    mark = len(affiner.assumptions)
    try:
        affiner.value(binding.node, binding.frame)
        return True
    except NotAffine:
        return polynomial(binding.node, binding.frame, affiner) is not None
    finally:
        del affiner.assumptions[mark:]


def check_extent(node: c_ast.Decl, dim: c_ast.Node | None, frame: Frame, affiner: Affiner, loc: Loc) -> None:
    """Sizes of local arrays are printed as they are, wherever the array ends up."""
    outer = Frame(frame.space, isl.Set.from_params(frame.domain.params()), sure=frame.sure)
    try:
        if dim is not None:
            affiner.value(dim, outer)
            return
    except NotAffine:
        pass
    raise Unsupported(
        "local-declaration",
        f"the size of `{node.name}` changes from iteration to iteration or is not known",
        loc,
        "declare it with a size that the region does not change, or before the region",
    )
