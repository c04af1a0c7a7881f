"""The body of a random program as a tree, so that a failing one can be made smaller piece by piece."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Union


@dataclass(frozen=True)
class Line:
    """A statement or declaration as text."""

    text: str


@dataclass(frozen=True)
class For:
    """`head` is what stands between the parentheses."""

    head: str
    body: tuple["Node", ...]


@dataclass(frozen=True)
class If:
    cond: str
    body: tuple["Node", ...]
    other: tuple["Node", ...] = ()


Node = Union[Line, For, If]


def lines(nodes: Sequence[Node], pad: str) -> Iterator[str]:
    """C text, one line each."""
    for n in nodes:
        if isinstance(n, Line):
            yield pad + n.text
            continue
        yield pad + (f"for ({n.head}) {{" if isinstance(n, For) else f"if ({n.cond}) {{")
        yield from lines(n.body, pad + "  ")
        if isinstance(n, If) and n.other:
            yield pad + "} else {"
            yield from lines(n.other, pad + "  ")
        yield pad + "}"


def smaller(nodes: tuple[Node, ...]) -> Iterator[tuple[Node, ...]]:
    """The sequence with one piece taken out, large pieces first."""
    for k in range(len(nodes)):
        yield nodes[:k] + nodes[k + 1:]
    for k, n in enumerate(nodes):
        if isinstance(n, Line):
            continue
        if isinstance(n, If):
            yield (*nodes[:k], *n.body, *nodes[k + 1:])
            if n.other:
                yield (*nodes[:k], replace(n, other=()), *nodes[k + 1:])
                yield (*nodes[:k], *n.other, *nodes[k + 1:])
                for inner in smaller(n.other):
                    yield (*nodes[:k], replace(n, other=inner), *nodes[k + 1:])
        for inner in smaller(n.body):
            if inner:
                yield (*nodes[:k], replace(n, body=inner), *nodes[k + 1:])
