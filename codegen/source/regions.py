"""Finds the marked regions of a source file, `#pragma scop` to `#pragma endscop`, with the `#pragma tilewright` hints
before them; raises InputError where the pragmas do not pair up.

The search is textual, on the file as the user wrote it: comments, strings and continued lines are understood,
macros and conditionals are not. Whether a region is active is decided later, on the preprocessed text.
"""
from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import replace

from codegen.diagnostics import InputError, Loc
from codegen.record import record
from codegen.source.layout.lexis import DIRECTIVES as DIRECTIVES
from codegen.source.layout.lexis import SPLICE, blank_comments
from codegen.source.layout.line_directives import line_directives, presumed_location
from codegen.source.misspelt import OWN, misspelt_pragmas


@record
class Hint:
    """What follows `#pragma tilewright`, and the line it is on."""

    text: str
    line: int


@record
class Region:
    """One `#pragma scop` ... `#pragma endscop`; offsets count characters, lines and `index` count from 1.

    text[begin:end] is what a generator replaces: both pragma lines and all between them, whole lines; `leading` are the
    offsets of the hints before it, which go with it, and `leading_lines` how many lines they take. `presumed` is the
    number and the file of its first line by a `#line` before it.

    A nest that nobody marked has no pragma lines: begin and end are those of its body. `found` says so; other text may
    come before it on its first line (`behind_text`), or after it on its last (`before_text`).
    """

    index: int
    begin: int
    end: int
    body_begin: int
    body_end: int
    first_line: int
    last_line: int
    indent: str
    hints: tuple[Hint, ...] = ()
    leading: tuple[tuple[int, int], ...] = ()
    leading_lines: int = 0
    presumed: tuple[int, str] | None = None
    found: bool = False
    behind_text: bool = False
    before_text: bool = False

    @property
    def lines(self) -> int:
        """How many line ends text[begin:end] has, less the one that is put before a result within a line."""
        return self.last_line - self.first_line + 1 - self.before_text - self.behind_text

    def presumed_line(self, line: int) -> int:
        """The presumed number of one of its lines, or of the one behind it, as `__LINE__` has it."""
        return line if self.presumed is None else line - self.first_line + self.presumed[0]


@record
class _Pragma:
    """One of the pragmas of interest; begin is the start of its line, end lies after its newline."""

    kind: str
    argument: str
    begin: int
    end: int
    line: int
    indent: str


_PRAGMA = re.compile(r"(?:#|%:)\s*pragma\s+(scop|endscop|tilewright)\b(.*)", re.S)


def find_regions(text: str, file: str) -> tuple[Region, ...]:
    """The regions of a file in order. Raises InputError `unbalanced-scop` when the pragmas do not pair up."""
    pragmas = _pragmas(text)
    _check_words(pragmas, file)
    try:
        return _paired(text, file, pragmas)
    except InputError as error:
        meant = next(misspelt_pragmas(text, file), None)
        if meant is None:
            raise
        why = f"{meant.message}, and so there is {error.message} on line {error.loc.line}"
        raise InputError(error.id, why, meant.loc, meant.hint) from None


def _check_words(pragmas: list[_Pragma], file: str) -> None:
    """Nothing follows the word on the lines that mark a region. Raises InputError."""
    for p in pragmas:
        if p.kind in OWN[:2] and p.argument:
            meant = "endscop" if p.argument.strip("-; ") == "end" else p.kind
            raise InputError("bad-pragma", f"`#pragma {p.kind}` is followed by `{p.argument.split()[0]}`",
                             Loc(file, p.line, len(p.indent) + 1), f"did you mean `#pragma {meant}`?")


def _paired(text: str, file: str, pragmas: list[_Pragma]) -> tuple[Region, ...]:
    directives = line_directives(text, file) if pragmas else ()
    regions: list[Region] = []
    opened = -1
    for at, pragma in enumerate(pragmas):
        if pragma.kind == "scop":
            if opened >= 0:
                raise _unbalanced(file, pragma, "regions do not nest: `#pragma scop` inside the region that starts on "
                                  f"line {pragmas[opened].line}", "close the first region with `#pragma endscop`")
            opened = at
        elif pragma.kind == "endscop":
            if opened < 0:
                raise _unbalanced(file, pragma, "`#pragma endscop` without `#pragma scop`",
                                  "open the region with `#pragma scop`")
            found = _region(text, pragmas, opened, at, len(regions) + 1)
            regions.append(replace(found, presumed=presumed_location(directives, found.first_line)))
            opened = -1
    if opened >= 0:
        raise _unbalanced(file, pragmas[opened], "`#pragma scop` without `#pragma endscop`",
                          "close the region with `#pragma endscop`")
    return tuple(regions)


def pragma_spans(text: str) -> tuple[tuple[int, int], ...]:
    """Where the tool's own pragmas are, whole lines."""
    return tuple((p.begin, p.end) for p in _pragmas(text))


def _pragmas(text: str) -> list[_Pragma]:
    """The pragmas of interest, in order."""
    if "scop" not in text:
        return []
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    found: list[_Pragma] = []
    dead = _Dead()
    for match in DIRECTIVES.finditer(text):
        directive = match.group("directive")
        if directive is None:
            continue
        plain = blank_comments(SPLICE.sub("", directive))
        dead.read(plain, len(found))
        words = _PRAGMA.match(plain)
        if words is None:
            continue
        begin = match.start()
        newline = text.find("\n", match.end())
        found.append(_Pragma(
            words.group(1), words.group(2).strip(), begin, newline + 1 if newline >= 0 else len(text),
            bisect_right(starts, begin), match.group("indent")))
    return _without_unpaired(found, dead.spans)


class _Dead:
    """Where no compiler reads anything: behind `#if 0`, and in the `#else` of `#if 1`. Spans are numbers of pragmas."""

    def __init__(self) -> None:
        self.spans: list[tuple[int, int]] = []
        self._levels: list[tuple[str, int]] = []  # the condition of each open `#if`, and where its dead branch begins

    def read(self, directive: str, pragmas: int) -> None:
        """Go on to the next directive, before which there are so many pragmas."""
        words = directive.lstrip("#%: \t").split()
        word = words[0] if words else ""
        if word in ("if", "ifdef", "ifndef"):
            condition = " ".join(words[1:]) if word == "if" else ""
            self._levels.append((condition, pragmas if condition == "0" else -1))
        elif self._levels and word in ("elif", "elifdef", "elifndef", "else", "endif"):
            condition, since = self._levels.pop()
            if since >= 0:
                self.spans.append((since, pragmas))
            if word != "endif":
                self._levels.append((condition, pragmas if condition == "1" else -1))


def _without_unpaired(found: list[_Pragma], dead: list[tuple[int, int]]) -> list[_Pragma]:
    """Without marks of regions in dead branches that have no other mark there."""
    gone: set[int] = set()
    for first, past in dead:
        opened = -1
        for k in range(first, past):
            if found[k].kind == "scop":
                gone |= {opened} if opened >= 0 else set()
                opened = k
            elif found[k].kind == "endscop":
                gone |= {k} if opened < 0 else set()
                opened = -1
        gone |= {opened} if opened >= 0 else set()
    return [p for k, p in enumerate(found) if k not in gone] if gone else found


def _region(text: str, pragmas: list[_Pragma], first: int, last: int, index: int) -> Region:
    begin, end = pragmas[first], pragmas[last]
    inside = [p for p in pragmas[first:last] if p.kind == "tilewright"]
    before = _leading(text, pragmas, first)
    return Region(
        index, begin.begin, end.end, begin.end, end.begin, begin.line, end.line, begin.indent,
        tuple(Hint(p.argument, p.line) for p in [*before, *inside]), tuple((p.begin, p.end) for p in before),
        sum(text.count("\n", p.begin, p.end) for p in before))


def _leading(text: str, pragmas: list[_Pragma], first: int) -> list[_Pragma]:
    """The hints directly before a region: only blank lines and comments lie between them and it."""
    low = first
    while low > 0 and pragmas[low - 1].kind == "tilewright" and not is_data(pragmas[low - 1].argument):
        if blank_comments(text[pragmas[low - 1].end:pragmas[low].begin]).strip():
            break
        low -= 1
    return pragmas[low:first]


def is_data(argument: str) -> bool:
    """Does a pragma begin or end a part of the program in which arrays stay where they are?"""
    return argument.split() in (["data"], ["end", "data"])


def written(text: str, region: Region) -> str:
    """What lies between the pragmas, as whole lines with plain ends."""
    body = text[region.body_begin:region.body_end].replace("\r\n", "\n")
    return (region.indent if region.behind_text else "") + body + ("\n" if region.before_text else "")


def first_conditional(text: str, region: Region) -> int | None:
    """The line of the first `#if` inside a region whose condition is not a plain 0 or 1."""
    body = text[region.body_begin:region.body_end]
    for match in DIRECTIVES.finditer(body):
        words = blank_comments(SPLICE.sub("", match.group("directive") or "")).lstrip("#%:").split()
        if words[:1] in (["if"], ["ifdef"], ["ifndef"]) and words[1:] not in (["0"], ["1"]):
            return region.first_line + text.count("\n", region.begin, region.body_begin + match.start())
    return None


def _unbalanced(file: str, pragma: _Pragma, message: str, hint: str) -> InputError:
    return InputError("unbalanced-scop", message, Loc(file, pragma.line, len(pragma.indent) + 1), hint)
