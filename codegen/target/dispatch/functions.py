"""Functions of which there may be versions: where they are in the source, and how a version is called. Where a copy of
one could mean something else than the function itself, a remark says why there is none."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from pycparser import c_ast

from codegen.diagnostics import Diagnostic, Loc, Severity
from codegen.record import record
from codegen.source.gnu import plain_assertions
from codegen.source.layout.chunks import Chunk, declarations, split
from codegen.source.layout.lexis import CHAR, STRING, blank, blank_comments, closing, code_only, identifiers
from codegen.source.parse import parse_slice
from codegen.source.preprocess import Preprocessed
from codegen.source.region_slice import RegionSlice

# What a copy may have as well, or say twice.
_HARMLESS = frozenset(["noinline", "noclone", "hot", "cold", "unused", "used", "nonnull", "flatten", "nothrow", "leaf"])
_STORAGE = frozenset(["static", "extern", "inline", "__inline", "__inline__"])
_NAMED = frozenset(["__func__", "__FUNCTION__", "__PRETTY_FUNCTION__"])
_FRAME = frozenset(["__builtin_return_address", "__builtin_frame_address", "__builtin_apply_args"])
_ASM = frozenset(["asm", "__asm", "__asm__"])
_HINT = "put the region into a function of its own that has nothing of the kind"
_DIRECTIVE = re.compile(r"^[ \t]*(?:#|%:)(?:\\\r?\n|[^\n])*", re.M)
_HIDDEN = re.compile(rf"{_DIRECTIVE.pattern}|{STRING}|{CHAR}", re.M)
_NO_PRAGMA = re.compile(r"^[ \t]*(?:#|%:)[ \t]*(?!pragma\b)\w", re.M)
_LINE = re.compile(r"^[ \t]*(?:#|%:)[ \t]*(?:line\b|\d)", re.M)
_ATTRIBUTE = re.compile(r"\b__attribute(?:__)?\s*(?=\()")
_ASSERTED = re.compile(r"\b__assert\w*\s*\([^()]*\)")


@record
class DispatchedFunction:
    """text[begin:end] is the function, with its body from the brace at `body` on; `at` is where its name stands,
    `calls` whether it names functions that compilers may write out in it."""

    name: str
    begin: int
    body: int
    end: int
    at: int
    line: int
    arguments: tuple[str, ...]
    returns: bool
    calls: bool


class _NoCopy(Exception):
    """Why there is no copy of a function."""


def dispatchable(
    file: str, text: str, pre: Preprocessed, slices: Sequence[RegionSlice]
) -> tuple[tuple[DispatchedFunction, ...], tuple[Diagnostic, ...]]:
    """The functions around regions of which there may be versions, in order, and remarks on all others."""
    bare = _HIDDEN.sub(lambda m: blank(m[0]), blank_comments(text))
    read = plain_assertions(pre.text)
    own = blank_comments(text)
    for s in slices:  # what is generated is no part of it
        own = own[: s.region.begin] + blank(own[s.region.begin : s.region.end]) + own[s.region.end :]
    source, unit = split(bare), split(read)
    found: dict[int, DispatchedFunction] = {}
    remarks: dict[str, Diagnostic] = {}
    whole = [c for c in unit if c.body >= 0]
    defined = frozenset[str]().union(*declarations(read, whole)) if whole else frozenset[str]()
    anew = _LINE.search(own) is not None
    for s in slices:
        try:
            chunk = _around(source, s.region.begin)
            if anew:
                raise _NoCopy("lines of the file say that they are others")
            if _NO_PRAGMA.search(own[chunk.begin : chunk.end]):
                raise _NoCopy("there are lines of the preprocessor in it")
            if chunk.begin not in found:
                found[chunk.begin] = _function(bare, chunk, s, _preprocessed(read, unit, s), defined)
        except _NoCopy as why:
            words = f"`{s.function}` has one version alone: {why}"
            here = Loc(file, s.region.first_line, len(s.region.indent) + 1)
            remarks.setdefault(s.function, Diagnostic(Severity.WARNING, "no-dispatch", words, here, _HINT))
    return tuple(found[k] for k in sorted(found)), tuple(remarks.values())


def _around(chunks: Iterable[Chunk], offset: int) -> Chunk:
    chunk = next((c for c in chunks if 0 <= c.body < offset < c.end), None)
    if chunk is None:
        raise _NoCopy("a macro has a hand in its header or braces")
    return chunk


def _preprocessed(read: str, chunks: Iterable[Chunk], s: RegionSlice) -> tuple[str, str]:
    """Header and body of the function as the compiler sees it, without strings and line markers."""
    at = 0
    for _ in range(s.line):
        at = read.index("\n", at) + 1
    chunk = _around(chunks, at + 1)
    return code_only(read[chunk.begin : chunk.body]), code_only(read[chunk.body : chunk.end])


def _function(
    bare: str, chunk: Chunk, s: RegionSlice, read: tuple[str, str], defined: frozenset[str]
) -> DispatchedFunction:
    head = bare[chunk.begin : chunk.body]
    name = re.search(rf"\b{re.escape(s.function)}\b(?=\s*\()", head) if s.function else None
    for why in _obstacles(head, name, s, read):
        raise _NoCopy(why)
    assert name is not None
    arguments, returns = _called(s)
    line = bare.count("\n", 0, chunk.begin) + 1
    at = chunk.begin + name.start()
    calls = not (identifiers(read[1]) & defined).issubset({s.function})
    return DispatchedFunction(s.function, chunk.begin, chunk.body, chunk.end, at, line, arguments, returns, calls)


def _obstacles(head: str, name: re.Match[str] | None, s: RegionSlice, read: tuple[str, str]) -> Iterator[str]:
    pre_head, pre_body = read
    words = identifiers(pre_head)
    inside = identifiers(_ASSERTED.sub(" ", pre_body))
    if name is None or words & _STORAGE != identifiers(head) & _STORAGE:
        yield "a macro has a hand in its header"
    if s.function == "main":
        yield "programs begin with it"
    if "inline" in {w.strip("_") for w in words} and "static" not in words:
        yield "it is `inline` without `static`"
    if "_Noreturn" in words:
        yield "it does not return"
    if words & _ASM or "[[" in pre_head.replace(" ", "") or "__declspec" in words:
        yield "its header has an attribute"
    for m in _ATTRIBUTE.finditer(pre_head):
        strange = {w.strip("_") for w in identifiers(pre_head[m.end() : closing(pre_head, m.end())])} - _HARMLESS
        if strange:
            yield f"it has the attribute `{min(strange)}`"
    for word, why in (("static", "it has a `static` variable"), *((w, "it has assembler in it") for w in _ASM),
                      *((w, "it asks for its own name") for w in _NAMED),
                      *((w, "it looks at its own frame") for w in _FRAME)):  # fmt: skip
        if word in inside:
            yield why


def _called(s: RegionSlice) -> tuple[tuple[str, ...], bool]:
    """What a call with the function's own parameters names, and whether it has a value."""
    made = next((x for x in parse_slice(s).ext if isinstance(x, c_ast.FuncDef) and x.decl.name == s.function), None)
    if made is None or made.param_decls:
        raise _NoCopy("it is defined in the old style")
    type = made.decl.type
    if not isinstance(type, c_ast.FuncDecl):
        raise _NoCopy("its header is not understood")
    returned = type.type
    plain = isinstance(returned, c_ast.TypeDecl) and isinstance(returned.type, c_ast.IdentifierType)
    returns = not plain or returned.type.names != ["void"]
    return tuple(_argument(p) for p in _parameters(type)), returns


def _parameters(type: c_ast.FuncDecl) -> list[c_ast.Node]:
    params = list(type.args.params) if type.args is not None else []
    only = params[0] if len(params) == 1 else None
    if isinstance(only, c_ast.Typename) and isinstance(only.type, c_ast.TypeDecl):
        return [] if getattr(only.type.type, "names", None) == ["void"] else params
    return params


def _argument(p: c_ast.Node) -> str:
    if isinstance(p, c_ast.EllipsisParam):
        raise _NoCopy("it takes any number of arguments")
    if not isinstance(p, c_ast.Decl) or not p.name:
        raise _NoCopy("not all of its parameters have names")
    return str(p.name)
