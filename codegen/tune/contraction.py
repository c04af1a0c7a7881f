"""The contractions that loop trees are about, re-exported from `lower/nest`."""

from __future__ import annotations

from codegen.lower.nest.contraction import (
    TENSORS,
    BadContraction,
    Contraction,
    elements,
    extents,
    matmul,
    parse,
    show,
    strides,
    terms,
)

__all__ = [
    "TENSORS", "BadContraction", "Contraction", "elements", "extents", "matmul", "parse", "show", "strides", "terms",
]  # fmt: skip
