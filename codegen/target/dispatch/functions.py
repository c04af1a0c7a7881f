"""Functions of which there may be versions: where they are in the source, and how a version is called. Where a copy of
one could mean something else than the function itself, a remark says why there is none."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import takewhile

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
_DEFINED = re.compile(r"^\s*#\s*define\s+(\w+)")
_VECTOR = re.compile(r"vector_size|ext_vector_type")
_STEPS = frozenset(["++", "--", "p++", "p--"])
_CONTROLS = "\0\1"  # which mark places
_TAGGED = re.compile(r"\b(?:struct|union|enum)\s+\w+")
_BOUND = re.compile(r"#\s*pragma\s+(?:omp\s+declare\s+(?:simd|variant)|acc\s+routine)\b")


@record
class DispatchedFunction:
    """text[begin:end] is the function, with its body from the brace at `body` on; `at` is where its name stands,
    `calls` whether it names functions that compilers may write out in it, `recurs` whether it names itself."""

    name: str
    begin: int
    body: int
    end: int
    at: int
    line: int
    arguments: tuple[str, ...]
    returns: bool
    calls: bool
    recurs: bool = False


@record
class _Preprocessed:
    """A function as the compiler sees it, without strings and line markers, and all that stands before it."""

    before: str
    head: str
    body: str


@record
class _Known:
    """What is defined in the preprocessed text: functions, texts of macros by name, and names that stand for vectors or
    for functions and types with such."""

    functions: frozenset[str]
    macros: Mapping[str, str]
    vectors: frozenset[str]


class _NoCopy(Exception):
    """Why there is no copy of a function."""


def dispatchable(
    file: str, text: str, pre: Preprocessed, slices: Sequence[RegionSlice]
) -> tuple[tuple[DispatchedFunction, ...], tuple[Diagnostic, ...]]:
    """The functions around regions of which there may be versions, in order, and remarks on all others."""
    bare = bare_code(text)
    read = plain_assertions(pre.text)
    own = blank_comments(text)
    for s in slices:  # what is generated is no part of it
        own = own[: s.region.begin] + blank(own[s.region.begin : s.region.end]) + own[s.region.end :]
    source, unit = split(bare), split(read)
    found: dict[int, DispatchedFunction] = {}
    remarks: dict[str, Diagnostic] = {}
    whole = [c for c in unit if c.body >= 0]
    defined = frozenset[str]().union(*declarations(read, whole)) if whole else frozenset[str]()
    macros = {m[1]: c.text[m.end() :] for c in pre.changes if (m := _DEFINED.search(c.text))}
    known = _Known(defined, macros, _vectors(read, unit))
    anew = _LINE.search(own) is not None
    for s in slices:
        try:
            chunk = _around(source, s.region.begin)
            if anew:
                raise _NoCopy("lines of the file say that they are others")
            if any(c in text for c in _CONTROLS):
                raise _NoCopy("the file has control characters")
            if _NO_PRAGMA.search(own[chunk.begin : chunk.end]):
                raise _NoCopy("there are lines of the preprocessor in it")
            if s.around.directives:
                raise _NoCopy("there are lines of the preprocessor in its region")
            if "__COUNTER__" in _meant(identifiers(own[chunk.begin : chunk.end]), macros):
                raise _NoCopy("it counts with `__COUNTER__`")
            if chunk.begin not in found:
                found[chunk.begin] = _function(bare, chunk, s, _preprocessed(read, unit, s), known)
        except _NoCopy as why:
            words = f"`{s.function}` has one version alone: {why}"
            here = Loc(file, s.region.first_line, len(s.region.indent) + 1)
            remarks.setdefault(s.function, Diagnostic(Severity.WARNING, "no-dispatch", words, here, _HINT))
    return tuple(found[k] for k in sorted(found)), tuple(remarks.values())


def bare_code(text: str) -> str:
    """The text with spaces for comments, lines of the preprocessor, strings and characters."""
    return _HIDDEN.sub(lambda m: blank(m[0]), blank_comments(text))


def _around(chunks: Iterable[Chunk], offset: int) -> Chunk:
    chunk = next((c for c in chunks if 0 <= c.body < offset < c.end), None)
    if chunk is None:
        raise _NoCopy("a macro has a hand in its header or braces")
    return chunk


def _preprocessed(read: str, chunks: Iterable[Chunk], s: RegionSlice) -> _Preprocessed:
    at = 0
    for _ in range(s.line):
        at = read.index("\n", at) + 1
    chunk = _around(chunks, at + 1)
    head, body = read[chunk.begin : chunk.body], read[chunk.body : chunk.end]
    return _Preprocessed(read[: chunk.begin], code_only(head), code_only(body))


def _vectors(read: str, unit: list[Chunk]) -> frozenset[str]:
    """Names that stand for vectors, and for functions and types with such."""
    if not _VECTOR.search(read):
        return frozenset()
    found = set[str]()
    for chunk, names in zip(unit, declarations(read, unit), strict=True):
        head = read[chunk.begin : chunk.head_end]
        if _VECTOR.search(head) or not found.isdisjoint(identifiers(head)):
            found |= names
    return frozenset(found)


def _function(
    bare: str, chunk: Chunk, s: RegionSlice, read: _Preprocessed, known: _Known
) -> DispatchedFunction:
    head = bare[chunk.begin : chunk.body]
    name = re.search(rf"\b{re.escape(s.function)}\b(?=\s*\)?\s*\()", head) if s.function else None
    for why in (*_obstacles(head, name, s, read), *_strangers(head, name, read, known)):
        raise _NoCopy(why)
    assert name is not None
    arguments, returns = _called(s)
    line = bare.count("\n", 0, chunk.begin) + 1
    at = chunk.begin + name.start()
    named = identifiers(read.body)
    calls = not (named & known.functions).issubset({s.function})
    return DispatchedFunction(
        s.function, chunk.begin, chunk.body, chunk.end, at, line, arguments, returns, calls, s.function in named
    )


def _meant(words: Iterable[str], macros: Mapping[str, str]) -> frozenset[str]:
    """These words, and those that macros among them stand for."""
    seen, todo = set[str](), list(words)
    while todo:
        word = todo.pop()
        if word not in seen:
            seen.add(word)
            todo += identifiers(macros.get(word, ""))
    return frozenset(seen)


def _strangers(head: str, name: re.Match[str] | None, read: _Preprocessed, known: _Known) -> Iterator[str]:
    """What a copy cannot say again, or would have from elsewhere than the function."""
    seen = _meant(identifiers(head[: name.start()] if name else head), known.macros)
    if any(c in known.macros.get(word, "") for word in seen for c in ";{}"):
        yield "a macro has a hand in its header"
    if "{" in read.head:
        yield "its header defines a type"
    for tag in sorted({" ".join(t.split()) for t in _TAGGED.findall(read.head)}):
        if not re.search(rf"\b{tag.replace(' ', chr(92) + 's+')}\b", read.before):
            yield f"its header is the first to name `{tag}`"
    above = takewhile(lambda x: not x.strip() or x.lstrip().startswith("#"), reversed(read.before.split("\n")))
    if any(_BOUND.match(x.strip()) for x in above):
        yield "a pragma is for the function that follows it"
    if _VECTOR.search(read.head + read.body) or not known.vectors.isdisjoint(identifiers(read.head + read.body)):
        yield "it has to do with vectors, which each instruction set passes in another way"


def _obstacles(head: str, name: re.Match[str] | None, s: RegionSlice, read: _Preprocessed) -> Iterator[str]:
    pre_head, pre_body = read.head, read.body
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
    unit = parse_slice(s).ext
    made = next((x for x in unit if isinstance(x, c_ast.FuncDef) and x.decl.name == s.function), None)
    if made is None or made.param_decls:
        raise _NoCopy("it is defined in the old style")
    type = made.decl.type
    if not isinstance(type, c_ast.FuncDecl):
        raise _NoCopy("its header is not understood")
    types = {x.name: x.type for x in unit if isinstance(x, c_ast.Typedef)}
    return tuple(_argument(p) for p in _parameters(type)), not _is_void(type.type, types)


def _is_void(type: c_ast.Node, types: Mapping[str, c_ast.Node]) -> bool:
    if not isinstance(type, c_ast.TypeDecl) or not isinstance(type.type, c_ast.IdentifierType):
        return False
    name = " ".join(type.type.names)
    return name == "void" or (name in types and _is_void(types[name], types))


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
    if _acts(p):
        raise _NoCopy("its parameters' sizes are found by calls or assignments")
    return str(p.name)


def _acts(node: c_ast.Node) -> bool:
    """Would something happen twice if this was evaluated twice?"""
    if isinstance(node, (c_ast.FuncCall, c_ast.Assignment)) or (isinstance(node, c_ast.UnaryOp) and node.op in _STEPS):
        return True
    return any(_acts(x) for _, x in node.children())
