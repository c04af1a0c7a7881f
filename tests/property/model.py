"""What a random program is to the harness, and what it may hold."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

from tests.property.memory import Buffer
from tests.property.tree import Node, lines

PRELUDE = """\
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#ifndef MIN
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
static inline int imin(int a, int b) { return a < b ? a : b; }
static inline int imax(int a, int b) { return a > b ? a : b; }
#endif
"""
SIZES_USED = "(void)n, (void)m, (void)ld;"  # every function begins with it: programs need not use all three


@dataclass(frozen=True)
class Features:
    """How often a program holds ...; 0 leaves it out."""

    structs: float = 0.25
    unions: float = 0.2
    homes: float = 0.25  # arrays and scalars that are no parameters
    threads: float = 0.4  # of those: objects that every thread has its own of
    pointers: float = 0.25  # pointers into other arrays of the function
    overlaps: float = 0.4  # calls with parameters that overlap
    constants: float = 0.15  # constant sizes
    exact: float = 0.12  # floating-point sums that come out the same in any order
    gathers: float = 0.2  # subscripts that depend on data
    enums: float = 0.2  # in place of integers
    places: float = 0.25  # parameters behind pointers in memory
    volatiles: float = 0.04
    macros: float = 0.15  # a macro that names itself, around the region or in it
    untyped: float = 0.5  # of programs for -fno-strict-aliasing: parameters of several types that overlap

    @classmethod
    def without(cls, names: Sequence[str]) -> "Features":
        """All but those of these names."""
        unknown = set(names) - {f.name for f in fields(cls)}
        if unknown:
            raise ValueError(f"no such feature: {', '.join(sorted(unknown))}")
        return cls(**dict.fromkeys(names, 0.0))


ALL = Features()


@dataclass(frozen=True)
class Program:
    """A function called `kernel`, with `head` in front of it, and what the harness passes to it.

    `overlaps` are (k, j, offset): buffer k is also laid over buffer j, that many elements from its start.
    """

    seed: int
    params: str
    before: str
    body: tuple[Node, ...]
    after: str
    buffers: tuple[Buffer, ...]
    ld: int
    sizes: tuple[tuple[int, int], ...]
    ordered: bool  # results depend on the order of floating-point operations
    prelude: str = PRELUDE
    types: str = ""
    objects: str = ""
    overlaps: tuple[tuple[int, int, int], ...] = ()
    kinds: tuple[str, ...] = ()  # what is special about it, to be counted
    macro: str = ""  # a size that is a macro in the region, which names itself
    inside: bool = False  # that is defined in the region
    flags: tuple[str, ...] = ()  # of compilers, for generation and compilation

    @property
    def head(self) -> str:
        return self.prelude + self.types + self.objects

    def text(self) -> str:
        """The C file."""
        region = "\n".join(lines(self.body, "  "))
        first = f"#define {self.macro} ({self.macro} / 2)\n" if self.macro else ""
        last = f"#undef {self.macro}\n" if self.macro else ""
        parts = (["#pragma scop\n", first, f"{region}\n", last, "#pragma endscop\n"] if self.inside else
                 [first, "#pragma scop\n", f"{region}\n", "#pragma endscop\n", last])  # fmt: skip
        return f"{self.head}void kernel({self.params})\n{{\n{self.before}{''.join(parts)}{self.after}}}\n"
