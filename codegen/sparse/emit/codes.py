"""Returns the C declarations of what a function's text needs to know about codes of numbers: where their bits are, and
that a code fits an index."""
from __future__ import annotations

from collections.abc import Iterable

from codegen.sparse.algebra.expr import Code
from codegen.sparse.algebra.terms import atoms
from codegen.sparse.emit.cexpr import cexp, code_name
from codegen.sparse.emit.types import Types
from codegen.sparse.formats.model import Descriptor


def code_tables(formats: Iterable[Descriptor], text: str, types: Types) -> list[str]:
    """One for each code of the formats that the text names; the function returns where a code has too many bits."""
    codes = [a for d in formats for c in d.map.cons for a in atoms(c.exp) if isinstance(a, Code)]
    out: list[str] = []
    for name, a in sorted({code_name(a): a for a in codes if f"&{code_name(a)}," in text}.items()):
        extents = ", ".join(cexp(x, {}) for x in a.extents)
        out += [f"const tw_code {name} = tw_code_of({len(a.extents)}, (const int64_t[]){{{extents}}});",
                f"if ({name}.bits > {int(types.index) - 1})", "    return TW_SPARSE_RANGE;"]
    return out
