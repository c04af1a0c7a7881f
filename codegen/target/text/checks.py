"""Prints compile-time checks at the beginning of a region's block: compilation fails where a macro has another value,
or `#if` takes another branch, than when the region was generated. A macro gets no check where one line cannot say what
it stands for."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

from codegen.source.layout.lexis import IDENT, closing
from codegen.source.macro_tables import Macro, used
from codegen.source.macros.baked import Baked
from codegen.source.macros.branches import ConditionalGroup, matters

_INTEGER = re.compile(r"(?:0[xX][0-9a-fA-F]+|\d+)(?:[uU]?[lL]{0,2}|[lL]{1,2}[uU])")
_TOKEN = re.compile(r"[\w.$]+|\S")
_BLOCK = re.compile(r"/\* tilewright: region [\s\S]*?\*/\n([ \t]*)\{\n")
_QUOTED = re.compile(r'("(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\')')
_NOT_SHOWN = re.compile(r"[^ !#-\[\]-~]")
_OPERATORS = frozenset("+-*/%()<>=!&|^~?:")
_OPERAND = re.compile(r"[\w$]+")
_UNARY = re.compile(r"\s*(?:[-+!~(]\s*)*")
_BINARY = re.compile(r"[)\s]*(?:<<|>>|[<>=!]=|&&|\|\||[-+*/%<>&|^?:])")


def checks(baked: Baked, file: str, kept: Collection[str] = ()) -> tuple[str, ...]:
    """Lines for the beginning of a region's block; `file` is the source that it is generated from, `kept` are macros
    that may have any value."""
    out: list[str] = []
    for name, macro in baked.macros.items():
        if name in kept:
            out += [f"#if TW_NO_SIZE({name})", f'#error "{name} is not a plain number of type int"', "#endif"]
        elif name not in baked.fixed:
            out += _check(macro, baked, file)
    groups = [g for g in baked.groups if matters(baked.text, g)]
    if groups:
        stop = _error("the branches of `#if` here were others", file)
        lines = [line for g in groups for line in _branches(g, baked, stop)]
        if any("__TILEWRIGHT__" in line for line in lines):
            lines = ["#define __TILEWRIGHT__ 1", *lines, "#undef __TILEWRIGHT__"]
        out += lines
    return tuple(out)


def helpers_of(lines: Iterable[str]) -> frozenset[str]:
    """What they need above the user's text."""
    words = {w for line in lines for w in ("TW_SAME", "TW_NO_SIZE") if w in line}
    return frozenset(w.lower() for w in words)


def with_checks(text: str, lines: Sequence[str]) -> str:
    """A region's text with the lines at the beginning of its block."""
    if not lines:
        return text
    head = _BLOCK.search(text)
    assert head is not None, "regions are printed as one block"
    pad = head[1] + "  "
    inside = "".join(f"{'' if x.startswith('#') else pad}{x}\n" for x in lines)
    return text[: head.end()] + inside + text[head.end() :]


def _error(what: str, file: str) -> str:
    return f'#error "{_message(what, file)}"'


def _message(what: str, file: str) -> str:
    return f"{what} when this was generated: run tilewright gen {file} with the compiler's macros"


def _branches(group: ConditionalGroup, baked: Baked, stop: str) -> list[str]:
    """The conditional itself, with an error wherever the compiler should not come."""
    out: list[str] = []
    for b in group.branches:
        out.append(b.directive)
        inner = (line for g in b.groups if matters(baked.text, g) for line in _branches(g, baked, stop))
        out += inner if b.begin in baked.taken else [stop]
    if group.branches[-1].directive != "#else" and any(b.begin in baked.taken for b in group.branches):
        out += ["#else", stop]
    return [*out, "#endif"]


def _check(macro: Macro, baked: Baked, file: str) -> list[str]:
    """A macro must stand for what it stood for; those in its body have checks of their own."""
    words = f"{macro.name} was {_shown(macro.body)}"
    if _is_integer(macro, baked, frozenset()):
        return [f"#if ({macro.name}) != ({macro.body})", _error(words, file), "#endif"]
    if macro.name in IDENT.findall(macro.body) or macro.name in used(macro.body, baked.known):
        return []  # it names itself: its body expands further than it does
    given = [f"tw_{k}" for k in range(1, len(macro.params or ()) + 1)]
    call = macro.name if macro.params is None else f"{macro.name}({', '.join(given)})"
    expected = _with_arguments(macro, given)
    if expected is None or closing(f"({expected})", 0) != len(expected) + 2:
        return []
    return [f"TW_SAME(TW_TEXT({call}), TW_TEXT({expected}),", f'        "{_message(words, file)}");']


def _is_integer(macro: Macro, baked: Baked, above: frozenset[str]) -> bool:
    """Can `#if` compute it: a constant, or arithmetic on constants and on macros of that kind?"""
    if macro.params is not None or macro.name in above or not _is_expression(macro.body):
        return False
    for token in _TOKEN.findall(macro.body):
        inner = baked.macros.get(token)
        if not (token in _OPERATORS or _INTEGER.fullmatch(token)) and (
            inner is None or not _is_integer(inner, baked, above | {macro.name})
        ):
            return False
    return True


def _is_expression(body: str) -> bool:
    """Do operands and operators stand where they can? A macro may be an operator alone, or a part of an expression."""
    at, depth, choices = 0, 0, 0
    while True:
        before = _UNARY.match(body, at)
        operand = _OPERAND.match(body, before.end() if before else at)
        if before is None or operand is None:
            return False
        between = _BINARY.match(body, operand.end())
        signs = body[operand.end() : between.end() if between else len(body)]
        depth += before[0].count("(")
        choices += signs.count("?") - signs.count(":")
        for sign in signs:
            depth -= sign == ")"
            if depth < 0:
                return False
        if choices < 0:
            return False
        if between is None:
            return depth == choices == 0 and not signs.strip(") \t")
        at = between.end()


def _with_arguments(macro: Macro, given: list[str]) -> str | None:
    """The body with arguments in it; None where it takes more than one can say in a line."""
    params = ["__VA_ARGS__" if p == "..." else p.removesuffix("...") for p in macro.params or ()]
    if macro.params is not None and "#" in re.sub(r'"(?:[^"\\]|\\.)*"', "", macro.body):
        return None
    names = dict(zip(params, given, strict=True))
    pieces = _QUOTED.split(macro.body)
    for at in range(0, len(pieces), 2):
        pieces[at] = IDENT.sub(lambda m: names.get(m.group(), m.group()), pieces[at])
    return "".join(pieces)


def _shown(body: str) -> str:
    """A body within a message: short, without what would end the string."""
    plain = _NOT_SHOWN.sub(" ", body)
    return plain if len(plain) <= 40 else plain[:37] + "..."
