"""Cuts preprocessed text into its external declarations, with the names each of them declares.

This is not a parser. It looks at brackets, semicolons and the words next to them, quickly, because most of the
text is system headers of which a region needs a handful of lines. Declaring too many names is harmless: a chunk
too many is kept. Declaring too few is not.
"""
from __future__ import annotations

import re
from typing import NamedTuple

from codegen.patterns import pattern
from codegen.source.layout.lexis import CHAR, IDENT, STRING, code_only

# Unrolled loops over alternatives that exclude each other: anything else takes exponential time on text without end.
_LITERAL = rf"\#[^\n]*\n|{STRING}|{CHAR}"
_TO_END = pattern(rf"\s*(?:\#[^\n]*\n\s*)*()[^;{{}}\"'#]*(?:(?:{_LITERAL})[^;{{}}\"'#]*)*[;{{}}]")
_TO_BRACE = pattern(rf"[^{{}}\"'#]*(?:(?:{_LITERAL})[^{{}}\"'#]*)*[{{}}]")
_HASH_LINE = pattern(r"^[ \t]*#[^\n]*", re.M)
_ATTRIBUTE = pattern(r"\b(?:__attribute(?:__)?|__declspec|_Alignas|alignas|__asm(?:__)?|asm|_Static_assert)\s*"
                        r"\((?:[^()]|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))*\)|\[\s*\[[^\]]*\]\s*\]")
_PARENS = pattern(r"\([^()\0]*\)")
_BRACES = pattern(r"\{[^{}\0]*\}")
_KEYWORDS = frozenset({
    "", "auto", "char", "const", "double", "enum", "extern", "float", "inline", "int", "long", "register", "restrict",
    "short", "signed", "static", "struct", "typedef", "union", "unsigned", "void", "volatile", "_Bool", "_Complex",
    "__typeof__", "__typeof", "typeof", "_Static_assert"})
_GNU = tuple(word + gap + "\1" for word in ("__attribute__", "__attribute", "__asm__", "__asm", " asm", "__declspec")
             for gap in ("", " "))
# A declared name is the last word before one of these, once brackets are folded away.
_SEPARATORS = str.maketrans("[,=:\1\2*", ";;;;;; ")
_POINTED = pattern(r"\(\s*(?:[A-Za-z_]\w*\s*)?\*[\s*]*(?:(?:const|volatile|restrict|__restrict)\s+)*"
                      r"([A-Za-z_$][\w$]*)|\(\s*([A-Za-z_$][\w$]*)\s*\)\s*[(\[]")
_DECLARED = pattern(r"\b([A-Za-z_$][\w$]*)\b\s*;")
_TAG = pattern(r"\b(?:struct|union|enum)\s+([A-Za-z_$][\w$]*)\s*[:{]")
_ENUM = pattern(r"\benum\b[^{};()]*\{([^{}]*)\}")


class Chunk(NamedTuple):
    """text[begin:end] is one external declaration; `body` is where its braces start if it defines a function."""

    begin: int
    end: int
    body: int = -1

    @property
    def head_end(self) -> int:
        """End of what a prototype would consist of."""
        return self.body if self.body >= 0 else self.end


def split(text: str) -> list[Chunk]:
    """The external declarations in order, without the line markers and pragmas between them."""
    chunks: list[Chunk] = []
    begin, at = -1, 0
    while (match := _TO_END.match(text, at)) is not None:
        begin = begin if begin >= 0 else match.start(1)
        at = match.end()
        brace = -1
        if text[at - 1] == "{":
            brace, at = at - 1, _close(text, at)
            if not _is_function(text[begin:brace]):
                continue
            begin = _old_style_head(text, chunks, brace) if begin == brace else begin
        chunks.append(Chunk(begin, at, brace))
        begin = -1
    return chunks


def _close(text: str, at: int) -> int:
    """The offset after the brace that closes the one just before `at`, or the end of the text."""
    depth = 1
    while depth:
        match = _TO_BRACE.match(text, at)
        if match is None:
            return len(text)
        at = match.end()
        depth += 1 if text[at - 1] == "{" else -1
    return at


def _is_function(head: str) -> bool:
    """Whether a brace after this head opens a function body rather than a struct or an initializer."""
    plain = _ATTRIBUTE.sub(" ", _HASH_LINE.sub("", head)).rstrip()
    return not plain or (plain.endswith(")") and "=" not in plain)


def _old_style_head(text: str, chunks: list[Chunk], brace: int) -> int:
    """Take back the parameter declarations of an old-style definition, `int f(a) int a; {`."""
    while chunks and chunks[-1].body < 0:
        chunk = chunks.pop()
        if "(" in text[chunk.begin:chunk.end]:
            return chunk.begin
    return brace


def declarations(text: str, chunks: list[Chunk]) -> list[set[str]]:
    """For each chunk the names it declares: objects, functions, types, tags, enumerators; sometimes a few more.

    What is in brackets is folded away for all chunks at once, which is several times faster than one by one.
    """
    joined = "\0".join([text[chunk.begin:chunk.head_end] for chunk in chunks])
    joined = code_only(joined)
    heads = joined.split("\0")
    names = [_braced(head) if "{" in head else set() for head in heads]
    for head, known in zip(heads, names, strict=True):
        if "(*" in head or "( *" in head or ")(" in head or ") (" in head:
            known.update(name for pair in _POINTED.findall(head) for name in pair)
    folded = _fold(_PARENS, "\1", _fold(_BRACES, "\2", joined))
    for word in _GNU:
        folded = folded.replace(word, " ")
    for head, known in zip(folded.translate(_SEPARATORS).split("\0"), names, strict=True):
        known.update(_DECLARED.findall(head))
        known -= _KEYWORDS
    return names


def _braced(head: str) -> set[str]:
    """The enumerators and tags of a chunk; tags of nested structs are file-scope names in C."""
    plain = _ATTRIBUTE.sub(" ", head) if "__attribute" in head or "[[" in head else head
    words = {name for body in _ENUM.findall(plain) for name in IDENT.findall(body)}
    return words | set(_TAG.findall(plain))


def _fold(brackets: re.Pattern[str], mark: str, text: str) -> str:
    """Replace bracketed text, innermost first, by a mark that no C text contains."""
    count = 1
    while count:
        text, count = brackets.subn(mark, text)
    return text
