"""Prints the function around a C++ region as C, without the region itself: a header with the parameters that the region
needs, declarations of the locals that it needs, and calls that stand for all other code.

Such code is there as a call of a function that nobody knows, with the addresses of the variables that occur in it: in
C++ any call may take a variable by reference.
"""
from __future__ import annotations

from collections.abc import Iterator

from codegen.source.cxx.around import TokenStatement
from codegen.source.cxx.body import Body, edited
from codegen.source.cxx.declare import CxxDeclarator
from codegen.source.cxx.refusal import NotC
from codegen.source.cxx.tokens import CxxToken, Tokens, angle_end, group_end
from codegen.source.cxx.writer import CxxWriter
from codegen.source.edits import Edit

UNKNOWN = "__tw_unknown"
_SIGNS = "+ - * / % & [ ] ( ) . -> < > ! == != <= >= ? :"
_SIMPLE = frozenset(_SIGNS.split())
_ASSIGNED = _SIMPLE | {"=", "+=", "-=", "++", "--"}
# How memory is given back, and how many tokens that takes.
_FREES = ((["delete", "[", "]"], 5), (["delete"], 3), (["free", "("], 5), (["std", "::", "free", "("], 7))
_ALLOCATORS = frozenset({"malloc", "calloc", "aligned_alloc"})


class FunctionContext:
    """What a writer has kept of the function, with values."""

    def __init__(self, writer: CxxWriter) -> None:
        self.writer = writer
        self.function = writer.function
        self.kept = writer.kept
        self.locals = writer.locals
        self.text = writer.unit.text
        self.values = self._settle()

    def header(self) -> str:
        """The function's head in C: of its parameters those that the region needs."""
        given = (*self.function.constants, *self.function.parameters)
        params = [self.kept[p.name] for p in given if p.name in self.kept]
        return f"void {self.function.name.text}({', '.join(params) or 'void'})"

    def _settle(self) -> dict[str, str]:
        """The values of the locals that are kept, as C; those that are made of other variables bring these along."""
        found: dict[str, str | None] = {}
        todo = list(self.kept)
        while todo:
            for name in todo:
                local = self.locals[name]
                plain = local.place == "param" or name in self.writer.constants
                found[name] = "" if plain else self._value(local.declarator)
            todo = [n for n in self.kept if n not in found]
        return {n: self._unknown(n) if text is None else text for n, text in found.items()}

    def _value(self, d: CxxDeclarator) -> str | None:
        """None where C has no form for it."""
        value = d.value
        if not d.style or d.behind:
            return ""
        if _allocates(value):
            return " = malloc(1)"  # memory that nobody else has
        if value and not _calls(value) and all(t.kind in ("word", "number") or t.text in _SIMPLE for t in value):
            try:
                return f" = {_one_line(self.text, value, Body(value, self.writer.names()).translate())}"
            except NotC:
                pass
        return None

    def _unknown(self, name: str) -> str:
        return f" = {UNKNOWN}({', '.join(self._addresses(self.locals[name].declarator.value, name))})"

    def after(self) -> str:
        """All that follows the region, as C."""
        return " ".join(filter(None, map(self._code, _chunks(_without_deletes(self.function.after)))))

    def _addresses(self, found: Tokens, but: str = "") -> Iterator[str]:
        words = {t.text for t in found if t.kind == "word"}
        yield from (f"&{n}" for n in sorted(self.kept) if n in words and n != but and n not in self.writer.constants)

    def statement(self, s: TokenStatement) -> Iterator[tuple[int, str]]:
        """Code before the region, as C, with offsets: declarations of what is kept, and all else as calls."""
        rest: Tokens = _without_deletes(s.tokens)
        for x in s.declares:
            d = x.declarator
            if self.locals.get(x.name) is x and x.name in self.kept:
                yield d.name.begin, f"{self.kept[x.name]}{self.values[x.name]};"
                rest = [t for t in rest if t not in (d.name, *d.value)]
        text = self._code(rest)
        if text:
            yield rest[0].begin, text

    def _code(self, found: Tokens) -> str:
        """Expressions of kept variables alone as they are, all else as a call; empty where none of them occurs."""
        used = list(self._addresses(found))
        if not used:
            return ""
        found = [t for t in found if t.text not in (";", "return")]
        words = [t for t in found if t.kind == "word"]
        plain = all(t.kind in ("word", "number") or t.text in _ASSIGNED for t in found) and not _calls(found)
        if plain and _balanced(found) and all(t.text in self.kept or self.writer.has_global(t.text) for t in words):
            return f"{_one_line(self.text, found, [])};"
        return f"{UNKNOWN}({', '.join(used)});"


def _chunks(found: Tokens) -> list[list[CxxToken]]:
    """Pieces of statements, without the braces and semicolons between them."""
    out: list[list[CxxToken]] = [[]]
    for t in found:
        if t.text in (";", "{", "}"):
            out.append([])
        else:
            out[-1].append(t)
    return [c for c in out if c]


def _balanced(found: Tokens) -> bool:
    texts = [t.text for t in found]
    return all(texts.count(a) == texts.count(b) for a, b in ("()", "[]"))


def _calls(found: Tokens) -> bool:
    return any(t.text == "(" and k and found[k - 1].kind == "word" for k, t in enumerate(found))


def _without_deletes(found: Tokens) -> list[CxxToken]:
    """To free memory does nothing to the pointer."""
    out: list[CxxToken] = []
    k = 0
    while k < len(found):
        words = [t.text for t in found[k : k + 7]]
        size = next((n for begin, n in _FREES if words[: len(begin)] == begin and words[n - 1 : n] == [";"]), 0)
        if size:
            k += size
            continue
        out.append(found[k])
        k += 1
    return out


def _allocates(value: Tokens) -> bool:
    """Is it a call that returns memory nobody else has?"""
    words = [t.text for t in value]
    if words[:1] == ["new"]:
        return words[1:2] != ["("]
    if words[:1] == ["("]:
        return _allocates(value[group_end(value, 0) :])
    if words[:2] == ["static_cast", "<"] and words[-1] == ")":
        at = angle_end(value, 1)
        return at > 0 and group_end(value, at) == len(value) and _allocates(value[at + 1 : -1])
    if words[:2] == ["std", "::"]:
        return _allocates(value[2:])
    return len(words) > 1 and words[0] in _ALLOCATORS and group_end(value, 1) == len(value)


def _one_line(text: str, found: Tokens, edits: list[Edit]) -> str:
    made = edited(text, found[0].begin, found[-1].end, edits)
    return " ".join(x for x in made.split("\n") if not x.lstrip().startswith("#"))
