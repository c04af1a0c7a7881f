"""Public API of the sparse code generator: `convert` synthesises C that converts one sparse tensor format to
another."""
from __future__ import annotations

from codegen.sparse.direct import Conversion, Options, convert_direct, key_functions
from codegen.sparse.formats.model import Descriptor
from codegen.sparse.indirect import convert_indirect

__all__ = ["Conversion", "Options", "convert", "key_functions"]


def convert(source: Descriptor, target: Descriptor, options: Options | None = None, header: str = "") -> Conversion:
    """Synthesise the conversion of one format to another."""
    made = convert_indirect if source.indirect or target.indirect else convert_direct
    return made(source, target, options or Options(), header)
