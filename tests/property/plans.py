"""Random plans over the loops, statements and variables of a region."""
from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

SIZES = (1, 2, 3, 5, 7)


@dataclass(frozen=True)
class Names:
    """What a plan can speak of. `nests` are the loops around each statement, outermost first."""

    nests: tuple[tuple[str, tuple[str, ...]], ...]
    variables: tuple[str, ...]
    schedule: str  # a schedule block to start from


def names_of(plan: str, text: str) -> Names:
    """Loops and statements of a plan with a schedule, and the variables of the program `text`."""
    found = re.search(r"(?:^  forward \w+\n)*^  schedule \{\n(.*?)^  \}\n", plan, re.S | re.M)
    if not found:
        return Names((), (), "")
    nests: list[tuple[str, tuple[str, ...]]] = []
    stack: list[tuple[str, ...]] = [()]
    for line in found.group(1).splitlines():
        word = line.strip()
        if word.startswith("loop "):
            inner = re.sub(r"= (\(.*?\)(?=,| \{$)|\{.*?\})", "", word[5:-1])
            stack.append((*stack[-1], *re.findall(r"[A-Za-z_]\w*", inner)))
        elif word == "}":
            stack.pop()
        else:
            nests.append((word, stack[-1]))
    return Names(tuple(nests), tuple(sorted(set(re.findall(r"\b[ts]\d\b", text)))), found.group())


def random_plan(rng: Random, names: Names) -> str:
    """The text of a plan; it may well be illegal."""
    out = ["region 1\n"]
    if names.schedule and rng.random() < 0.5:
        out.append(names.schedule)
    nests = [(s, loops) for s, loops in names.nests if loops]
    if nests:
        for _ in range(rng.choice((1, 1, 2, 2, 3))):
            stmt, loops = rng.choice(nests)
            out.append(f"  {_directive(rng, stmt, loops, names)}\n")
    return "".join(out)


def _directive(rng: Random, stmt: str, loops: Sequence[str], names: Names) -> str:
    def ref(name: str) -> str:
        return f"{stmt}.{name}" if rng.random() < 0.5 else name

    some = list(dict.fromkeys(loops))
    first = rng.randrange(len(some))
    run = some[first: first + rng.randint(1, len(some))]
    one, kind = rng.choice(some), rng.random()
    if kind < 0.35:
        sizes = ", ".join(f"{ref(x)}:{rng.choice((0, *SIZES))}" for x in run)
        return f"tile {sizes}{rng.choice(('', ' full'))}"
    if kind < 0.45:
        return "order " + ", ".join(ref(x) for x in rng.sample(run, len(run)))
    if kind < 0.53:
        return f"reverse {ref(one)}"
    if kind < 0.61 and len(some) > 1:
        outer = rng.randrange(len(some) - 1)
        return f"skew {ref(some[rng.randrange(outer + 1, len(some))])} by {rng.choice((1, -1, 2))}*{ref(some[outer])}"
    if kind < 0.69:
        return f"distribute {ref(one)}"
    if kind < 0.79:
        return f"parallel {ref(rng.choice((one, one + 't')))}"
    if kind < 0.85:
        return f"vector {ref(one)}"
    if kind < 0.92 or not names.variables:
        return f"unroll {ref(one)} by {rng.choice((2, 3, 4))}"
    kept = [it for it in some if rng.random() < 0.4]
    dims = "".join(f" [{it} - {rng.choice((it, it + 't'))}: {rng.choice((3, 7, 40))}]" for it in kept)
    return f"store {rng.choice(names.variables)} in {ref(one)}{dims}"
