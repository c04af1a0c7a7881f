"""Finds text that generated code has several times: values that are assigned, and runs of statements."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, pairwise

from codegen.record import record
from codegen.target.finish.alike import NOTHING, Substitution, Tokens, is_name, shape, substitution, tokens
from codegen.target.finish.rows import side_by_side
from codegen.target.finish.wrap import WIDTH, wrap

_VALUE = 40  # characters of a value that is looked at
_RUN = 3  # statements of a run that is
_NAMES = 7  # that differ, at most
_GAIN = 3  # lines that a macro has to save
_AROUND = 3  # lines of a macro beside its body: a comment, its name, and where it ends


@record
class RepeatedUse:
    """A place, the number of its first line, and the names there for those of the first place."""

    first: int
    names: Substitution


@record
class Repeated:
    """The places of lines that are alike, and which of their names differ."""

    uses: tuple[RepeatedUse, ...]
    count: int  # lines in each place
    names: tuple[str, ...]


def value_of(line: str) -> str:
    """The long value that a statement assigns; empty where there is none."""
    left, sign, value = line.strip().removesuffix(";").partition(" = ")
    if not sign or len(value) < _VALUE or left.count("(") != left.count(")") or " = " in value:
        return ""
    depth = 0
    for c in value:
        depth += (c in "([{") - (c in ")]}")
        if c == "," and depth == 0:
            return ""
    return value


def repeated_values(lines: Sequence[str], free: frozenset[int]) -> Iterator[Repeated]:
    """Values that are worth a macro."""
    values = {n: v for n in sorted(free) if (v := value_of(lines[n]))}
    groups: dict[Tokens, dict[int, tuple[Tokens, ...]]] = {}
    for n, v in values.items():
        groups.setdefault(shape(tokens(v)), {})[n] = (tokens(v),)
    for uses in (uses for group in groups.values() for uses in _classes(group)):
        names = _differing(uses, (tokens(values[uses[0].first]),))
        call = "x" * (10 + 8 * len(names))  # most names have two or three letters
        before = sum(height([lines[u.first]]) for u in uses)
        if len(names) > _NAMES or before - len(uses) - _AROUND < _GAIN:  # with every use on a line
            continue
        after = sum(height([lines[u.first].replace(values[u.first], call)]) for u in uses)
        made = height([f"#define {call} ({values[uses[0].first]})"]) + 2
        if before - after - made >= _GAIN:
            yield Repeated(tuple(uses), 1, names)


def best_run(lines: Sequence[str], free: frozenset[int]) -> Repeated | None:
    """The statements of which a macro saves most lines."""
    pieces = {n: tokens(lines[n]) for n in sorted(free)}
    hopes = sorted((-_saved(count, len(found)), found[0], count, found) for count, found in _same_shapes(lines, pieces))
    best: tuple[int, Repeated | None] = (_GAIN - 1, None)
    for hope, _, count, found in hopes:
        if -hope <= best[0]:
            break
        wholes = {n: tuple(pieces[k] for k in range(n, n + count)) for n in found}
        for uses in _classes(wholes):
            first = uses[0].first
            names = _differing(uses, wholes[first])
            gain = _saved(height(lines[first : first + count]), len(uses)) if len(names) <= _NAMES else 0
            if gain > best[0]:
                best = gain, Repeated(tuple(uses), count, names)
    return best[1]


def _same_shapes(lines: Sequence[str], pieces: Mapping[int, Tokens]) -> Iterator[tuple[int, list[int]]]:
    """Runs of one shape: how many lines, and the first of each in several places that do not overlap. What stands in
    one place only does not stand in several with a line more, so that runs grow line by line."""
    numbers: dict[Tokens, int] = {}
    shapes = {n: numbers.setdefault(shape(p), len(numbers)) for n, p in pieces.items()}
    past = {n: b for a, b in _runs(lines, list(pieces)) for n in range(a, b)}
    count, groups = 0, [list(pieces)]
    while groups:
        longer: list[list[int]] = []
        for group in groups:
            split: dict[int, list[int]] = {}
            for n in group:
                if n + count < past[n]:
                    split.setdefault(shapes[n + count], []).append(n)
            longer += split.values()
        count += 1
        apart = [(found, _apart(found, count)) for found in longer if len(found) > 1]
        groups = [found for found, some in apart if len(some) > 1]
        yield from ((count, some) for _, some in apart if len(some) > 1 and count >= _RUN)


def height(lines: Sequence[str]) -> int:
    """How many lines these take once they are laid out."""
    if len(lines) == 1 and len(lines[0]) <= WIDTH:
        return 1
    return wrap("\n".join(side_by_side(lines)[0]))[0].count("\n") + 1


def _saved(count: int, uses: int) -> int:
    """Lines that a macro saves in place of so many lines in so many places."""
    return count * uses - (count + _AROUND) - uses


def _runs(lines: Sequence[str], free: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Lines that follow each other at the same depth: the first, and the one past the last."""
    first = None
    for n, following in pairwise([*free, -1]):
        first = n if first is None else first
        if following != n + 1 or _indent(lines[n]) != _indent(lines[following]):
            yield first, n + 1
            first = None


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _apart(places: Sequence[int], count: int) -> list[int]:
    """Those that do not overlap."""
    out: list[int] = []
    for n in places:
        if not out or n >= out[-1] + count:
            out.append(n)
    return out


def _classes(pieces: Mapping[int, Sequence[Tokens]]) -> list[list[RepeatedUse]]:
    """Of pieces of one shape those that are alike, where there are several; the first of each is what the others are
    compared with."""
    classes: list[list[RepeatedUse]] = []
    for n, piece in pieces.items():
        for uses in classes:
            names = substitution(pieces[uses[0].first], piece)
            if names is not None:
                uses.append(RepeatedUse(n, names))
                break
        else:
            classes.append([RepeatedUse(n, {token: (token, NOTHING) for token in chain(*piece) if is_name(token)})])
    return [uses for uses in classes if len(uses) > 1]


def _differing(uses: Sequence[RepeatedUse], piece: Sequence[Tokens]) -> tuple[str, ...]:
    """The names that are others elsewhere, in the order of the text."""
    names = dict.fromkeys(chain(*piece))
    return tuple(n for n in names if any(u.names.get(n, (n, NOTHING)) != (n, NOTHING) for u in uses))
