"""The contractions that trees are about; the types are the back end's."""

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
