"""Cuts the blocks of products, and of matrix-vector products, out of a region's text, without their plain nests. This
is read in every build that has one, so nothing large is imported."""

from __future__ import annotations

import re

_TOKENS = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|[{}]", re.S)
_ELSE = re.compile(r"\}\s*else\s*\{")
_PRODUCT = re.compile(r"\{\s*const long\s+tw_rows\s*=[^;]*,\s*tw_columns\s*=[^;]*,\s*tw_depth\s*=")
_SWEEP = re.compile(
    r"\{\s*const long\s+tw_rows\s*=(?:(?!tw_columns)[^;])*,\s*tw_depth\s*=[^;]*;\s*const double\s+tw_work\s*="
)


def product_blocks(text: str) -> list[str]:
    """The blocks of products, in order."""
    return [block_text(text, m.start()) for m in _PRODUCT.finditer(text)]


def matvec_blocks(text: str) -> list[str]:
    """The blocks of matrix-vector products, in order."""
    return [block_text(text, m.start()) for m in _SWEEP.finditer(text)]


def block_text(text: str, start: int) -> str:
    """The block that begins at `start`, without the plain nest in it, which stands behind its last `else`; a block
    without an end goes on to the text's."""
    depth, plain = 0, None
    for m in _TOKENS.finditer(text, start):
        depth += (m[0] == "{") - (m[0] == "}")
        if depth == 1 and m[0] == "}":
            plain = _ELSE.match(text, m.start()) or plain
        if depth == 0:
            end = text.rindex("}", start, m.start())
            return text[start : m.end()] if plain is None else f"{text[start : plain.end()]} {text[end : m.end()]}"
    return text[start:]
