"""Parses a slice with pycparser and returns the syntax tree. What the parser cannot read outside the region is blanked,
and its identifiers are reported; inside the region it raises Unsupported.

Around a region there may be anything that a compiler accepts. Whatever the parser stumbles over outside the region
is blanked, the smallest statement or declaration at a time, and the parser tries again.
"""
from __future__ import annotations

import re
from typing import Any, NoReturn

from pycparser import c_ast
from pycparser.c_parser import CParser, ParseError

from codegen.diagnostics import Loc, Unsupported
from codegen.patterns import pattern
from codegen.record import record
from codegen.source.layout.chunks import Chunk, declarations
from codegen.source.layout.enums import annotated
from codegen.source.layout.lexis import MARKER, blank, blank_code, identifiers
from codegen.source.layout.linemap import LineMap
from codegen.source.layout.statements import enclosing
from codegen.source.region_slice import UNSEEN_JUMP, KeptDeclaration, RegionSlice

_ATTEMPTS = 40  # each costs one more parse; past that, the code is of another language
_DECLARATOR = pattern(r"(?:[\w$]\s+|\)\s*|\*\s*)([A-Za-z_$][\w$]*)\s*(?=[=;,\[])")
_IMAGINARY = pattern(r"[ij][fFlL]?\b")  # what `I` ends with, 1.0iF
_POSITION = pattern(r"^.*?:(\d+):(\d+): (.*)$", re.S)


@record
class Parsed:
    """The tree, and the identifiers that occur in the function where the tree has gaps.

    A variable among them may be read or written outside the region in ways the tree does not show.
    """

    ast: c_ast.FileAST
    hidden: frozenset[str]


def parse_slice(s: RegionSlice) -> c_ast.FileAST:
    """The syntax tree of a slice; raises Unsupported when the region cannot be read."""
    return parse_with_gaps(s).ast


def parse_with_gaps(s: RegionSlice) -> Parsed:
    """As `parse_slice`, and says what was left out."""
    if s.refusal is not None:
        raise s.refusal
    try:
        try:
            tree, hidden = _parse(s.text), frozenset[str]()
        except ParseError:
            text, hidden = _mended(s)
            tree = _parse(text)
        return Parsed(annotated(tree, dict(s.enum_types), s.dialect.short_enums), s.hidden | hidden)
    except RecursionError:
        loc = Loc(s.file, s.region.first_line, len(s.region.indent) + 1)
        raise Unsupported("nesting-too-deep", "the code around the region nests too deeply to be parsed", loc,
                          "split the expression or the block that nests deepest") from None


class _LocatingParser(CParser):
    """pycparser, except that each error says where; some of its own name the file only."""

    def _parse_error(self, msg: str, coord: Any) -> NoReturn:
        peek = getattr(self, "_peek", None)  # absent from pycparser 2
        token = peek() if peek and getattr(coord, "column", None) is None else None
        coord = self._tok_coord(token) if token is not None else coord
        raise ParseError(f"{coord}: {msg}")


def _parse(text: str) -> c_ast.FileAST:
    made = _LocatingParser().parse(text)
    if "switch" in text:
        _open_cases(made)
    if "goto" in text:
        _open_labels(made)
    return made


def name_data(node: c_ast.Node) -> None:
    """Spell the user's `long` as `long int`: printed text calls its own indices `long` until it is finished."""
    if isinstance(node, c_ast.IdentifierType) and node.names.count("long") == 1 and "double" not in node.names:
        node.names = [*(["unsigned"] if "unsigned" in node.names else []), "long", "int"]
    for child in node:
        name_data(child)


def _open_cases(node: c_ast.Node) -> None:
    """The parser takes a pragma right behind the label of a case, and the next statement, for a block: here they are
    two statements like those that follow."""
    if isinstance(node, (c_ast.Case, c_ast.Default)) and node.stmts and isinstance(node.stmts[0], c_ast.Compound):
        items = list(node.stmts[0].block_items or ())
        if items and isinstance(items[0], c_ast.Pragma) and str(items[0].coord) == str(node.stmts[0].coord):
            node.stmts[:1] = items
    for child in node:
        _open_cases(child)


def _open_labels(node: c_ast.Node) -> None:
    """The same for labels that jumps lead to: the region behind one stands in the block of the label."""
    if isinstance(node, c_ast.Compound) and any(_labels_pragma(item) for item in node.block_items or ()):
        items: list[c_ast.Node] = []
        for item in node.block_items:
            if _labels_pragma(item):
                items += [c_ast.Label(item.name, c_ast.EmptyStatement(item.coord), item.coord), *item.stmt.block_items]
            else:
                items.append(item)
        node.block_items = items
    for child in node:
        _open_labels(child)


def _labels_pragma(node: c_ast.Node) -> bool:
    if not isinstance(node, c_ast.Label) or not isinstance(node.stmt, c_ast.Compound):
        return False
    first = (node.stmt.block_items or [None])[0]
    return isinstance(first, c_ast.Pragma) and str(first.coord) == str(node.stmt.coord)


def _mended(s: RegionSlice) -> tuple[str, frozenset[str]]:
    """The slice with what does not parse blanked, and the identifiers that this hides in the function.

    The search runs without line markers, since several lines of preprocessed text may carry the same number and
    only the real ones lead back to an offset.
    """
    text, hidden, front = s.text, frozenset[str](), ""
    root = s.parts[s.root]
    for _ in range(_ATTEMPTS):
        try:
            _parse(front + "\n" + MARKER.sub(lambda match: blank(match.group()), text))
            return f'# 1 "<built-in>"\n{front}\n{text}', hidden
        except ParseError as error:
            offset, message = _failure(text, str(error))
        if offset < 0:
            break
        span = _culprit(s, text, offset)
        if span is None:
            raise _refusal(s, offset, message)
        suffix = _IMAGINARY.match(text, offset) if text[offset - 1:offset].isdigit() else None
        if suffix:  # the parser has no such numbers; what stands outside is not printed
            text = text[:offset] + blank(suffix.group()) + text[suffix.end():]
            continue
        gone = text[span[0]:span[1]]
        if root.begin <= span[0] < root.end:
            _check_declarations(s, span, gone)
            hidden |= identifiers(gone) | {UNSEEN_JUMP}
        elif gone.startswith("typedef"):
            front += _opaque(gone)
        text = _without(text, span)
    raise _refusal(s, s.span[0], "too much of the surrounding code is beyond the parser")


def _check_declarations(s: RegionSlice, span: tuple[int, int], gone: str) -> None:
    """A blanked declaration of a name that the region uses would let it mean another object of that name."""
    inside = identifiers(s.text[s.span[0]:s.span[1]])
    lost = sorted(name for name in _DECLARATOR.findall(gone) if name in inside)
    if lost and span[0] < s.span[0]:
        ink = span[0] + len(gone) - len(gone.lstrip())
        raise Unsupported("parse-error", f"cannot parse the declaration of `{lost[0]}`, which the region uses",
                          LineMap(s.text, s.file).locate(ink), "declare it with a plain C type")


def _opaque(typedef: str) -> str:
    """Stand-ins for the types of a declaration that does not parse: they can be named, and used for nothing."""
    names = declarations(typedef, [Chunk(0, len(typedef))])[0]
    return "".join(f"typedef struct __tw_{name} {name}; " for name in sorted(names) if name.isidentifier())


def _failure(text: str, message: str) -> tuple[int, str]:
    """The offset that an error message of a parse with one line in front points to, and the message itself."""
    match = _POSITION.match(message)
    if match is None:
        return -1, message
    start = 0
    for _ in range(int(match.group(1)) - 2):
        start = text.find("\n", start) + 1
    return start + int(match.group(2)) - 1, match.group(3)


def _culprit(s: RegionSlice, text: str, offset: int) -> tuple[int, int] | None:
    """What to blank for an error at `offset`: a declaration, a helper's body, or a statement; None: nothing helps."""
    part = next((part for part in s.parts if part.begin <= offset < part.end), None)
    if part is None:
        return None
    if part is not s.parts[s.root]:
        return (part.body, part.end) if part.body >= 0 and text[part.body] == "{" else (part.begin, part.end)
    if s.span[0] <= offset < s.span[1] or offset <= part.body:
        return None
    return _statement(s, text, part, offset)


def _statement(s: RegionSlice, text: str, part: KeptDeclaration, offset: int) -> tuple[int, int] | None:
    """The smallest statement around `offset` that has something to blank and does not touch the region."""
    for begin, end in enclosing(text, part.body + 1, part.end - 1, offset):
        apart = end <= s.span[0] or begin >= s.span[1]
        if apart and blank_code(text[begin:end - 1]) != text[begin:end - 1]:
            return begin, end
    return None


def _without(text: str, span: tuple[int, int]) -> str:
    """Blank a span; the semicolon left behind keeps the grammar happy wherever a statement or prototype may end."""
    gone = blank_code(text[span[0]:span[1]])
    return text[:span[0]] + gone[:-1] + ";" + text[span[1]:]


def _refusal(s: RegionSlice, offset: int, message: str) -> Unsupported:
    loc = LineMap(s.text, s.file).locate(offset)
    inside = s.span[0] <= offset < s.span[1]
    hint = ("regions are plain C: no assembler, no statement expressions, no compiler extensions" if inside else
            "only code outside the region may use compiler extensions, and not in a statement around it")
    before = re.match(r"before: (.*)", message, re.S)
    if before and _IMAGINARY.fullmatch(before[1]) and s.text[offset - 1:offset].isdigit():
        message = "an imaginary constant (`I`) is an extension of the compiler"
        hint = "read it from a variable: `const double complex one = I;` before the region"
    elif before:
        word = "the `#pragma`" if before[1] in ("pragma", "#", "") else f"`{before[1]}`"
        message, hint = f"syntax error before {word}", f"is a semicolon, an operator or a bracket missing? {hint}"
    return Unsupported("parse-error", f"cannot parse this: {message}", loc, hint)
