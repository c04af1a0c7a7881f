"""Random plans over the loops, statements and variables of a region: every directive, alone and after what it needs."""
from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random

SIZES = (1, 2, 3, 5, 7)


@dataclass(frozen=True)
class Names:
    """What a plan can speak of. `nests` are the loops around each statement, outermost first; `places` are elements of
    arrays as the program writes them, with their subscripts apart."""

    nests: tuple[tuple[str, tuple[str, ...]], ...]
    variables: tuple[str, ...]
    schedule: str  # a schedule block to start from
    places: tuple[tuple[str, tuple[str, ...]], ...] = ()


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
    variables = tuple(sorted(set(re.findall(r"\b[ts]\d\b", text))))
    return Names(tuple(nests), variables, found.group(), _places(text))


def _places(text: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    region = text.partition("#pragma scop")[2].partition("#pragma endscop")[0]
    found = re.findall(r"\b([A-Z]\w*)((?:\[[^\[\]]*\])+)", region)
    return tuple(sorted({(name, tuple(re.findall(r"\[([^\[\]]*)\]", rest))) for name, rest in found}))


def random_plan(rng: Random, names: Names) -> str:
    """The text of a plan; it may well be illegal."""
    nests = [(s, loops) for s, loops in names.nests if loops]
    first: list[str] = []  # what rewrites the region comes before everything else
    rest: list[str] = []
    for _ in range(rng.choice((1, 1, 2, 2, 3)) if nests else 0):
        stmt, loops = rng.choice(nests)
        word = rng.choice(COMMON) if rng.random() < 0.6 else rng.choice(RARE)
        (first if word in REWRITE else rest).extend(_MAKE[word](_Nest(rng, stmt, tuple(dict.fromkeys(loops)), names)))
    start = "" if first or rng.random() < 0.5 else names.schedule
    return "region 1\n" + "".join(f"  {line}\n" for line in first) + start + "".join(f"  {line}\n" for line in rest)


@dataclass(frozen=True)
class _Nest:
    """A statement and its loops, to choose from."""

    rng: Random
    stmt: str
    loops: tuple[str, ...]
    names: Names

    def ref(self, name: str) -> str:
        return f"{self.stmt}.{name}" if self.rng.random() < 0.5 else name

    def one(self) -> str:
        return self.rng.choice(self.loops)

    def run(self) -> tuple[str, ...]:
        """Some loops that follow each other."""
        first = self.rng.randrange(len(self.loops))
        return self.loops[first : first + self.rng.randint(1, len(self.loops))]

    def two(self) -> tuple[str, str]:
        """A loop and one further inside, if there is any; as a rule the next."""
        if len(self.loops) < 2:
            return self.loops[0], self.loops[0]
        outer = self.rng.randrange(len(self.loops) - 1)
        near = self.rng.random() < 0.7
        return self.loops[outer], self.loops[outer + 1 if near else self.rng.randrange(outer + 1, len(self.loops))]

    def size(self) -> int:
        return self.rng.choice(SIZES)


def _tile(n: _Nest) -> list[str]:
    sizes = ", ".join(f"{n.ref(x)}:{n.rng.choice((0, *SIZES))}" for x in n.run())
    return [f"tile {sizes}{n.rng.choice(('', ' full'))}"]


def _order(n: _Nest) -> list[str]:
    run = n.run()
    return ["order " + ", ".join(n.ref(x) for x in n.rng.sample(run, len(run)))]


def _skew(n: _Nest) -> list[str]:
    outer, inner = n.two()
    return [f"skew {n.ref(inner)} by {n.rng.choice((1, -1, 2))}*{n.ref(outer)}"]


def _plain(n: _Nest) -> list[str]:
    _, inner = n.two()
    return [*_skew(n), f"unskew {n.ref(inner)} as {n.rng.choice((inner, n.one()))}"]


def _diamond(n: _Nest) -> list[str]:
    time, space = n.two()
    skew = [f"skew {n.stmt}.{space} by {n.rng.choice((1, 1, 2))}*{n.stmt}.{time}"] if n.rng.random() < 0.8 else []
    return [*skew, f"diamond {n.ref(time)}, {n.ref(space)} by {n.rng.choice((2, 3, 4, 8))}"]


def _balance(n: _Nest) -> list[str]:
    loop, by = n.one(), n.rng.choice((2, 3, 8))
    return [f"balance {n.stmt}.{loop} by {by}", f"tile {n.stmt}.{loop}:{n.rng.choice((by, n.size()))}"]


def _parallel(n: _Nest) -> list[str]:
    outer, inner = n.two()
    loop = n.rng.choice((n.one(), n.one() + "t", outer))
    more = n.rng.choice(("", "", "", f" with {n.ref(inner)}"))
    return [f"parallel {n.ref(loop)}{more}{n.rng.choice(('', '', f' by {n.size()}'))}"]


def _pipeline(n: _Nest) -> list[str]:
    outer, inner = n.two()
    if n.rng.random() < 0.4:
        return [f"pipeline {n.ref(outer)} along {n.ref(inner)}"]
    return [f"tile {n.ref(outer)}:{n.size()}, {n.ref(inner)}:{n.size()}",
            f"pipeline {n.stmt}.{outer}t along {n.stmt}.{inner}t"]


def _vector(n: _Nest) -> list[str]:
    wide = f" by {n.rng.choice((1, 2, 4))} of {n.rng.choice((16, 32))} bytes" if n.rng.random() < 0.5 else ""
    return [f"vector {n.ref(n.rng.choice((n.one(), n.loops[-1])))}{wide}"]


def _abreast(n: _Nest) -> list[str]:
    loop = n.rng.choice((n.one(), n.loops[-1]))
    return [f"tile {n.ref(loop)}:{n.rng.choice((2, 3, 4, 8))}", f"interleave {n.ref(loop)}"]


def _store(n: _Nest) -> list[str]:
    dims = "".join(f" [{it} - {n.rng.choice((it, it + 't'))}: {n.rng.choice((3, 7, 40))}]"
                   for it in n.loops if n.rng.random() < 0.4)
    return [f"store {n.rng.choice(n.names.variables or ('t0',))} in {n.ref(n.one())}{dims}"]


def _expand(n: _Nest) -> list[str]:
    over = n.loops[: n.rng.randint(1, len(n.loops))] if n.rng.random() < 0.7 else n.run()
    first = n.loops.index(over[0])
    within = f" in {n.loops[first - 1]}" if first and n.rng.random() < 0.5 else ""
    return [f"expand {n.rng.choice(n.names.variables or ('t0',))} over {', '.join(over)}{within} limit {1 << 20}"]


def _forward(n: _Nest) -> list[str]:
    return [f"forward {n.rng.choice(n.names.variables or ('t0',))}"]


def _substitute(n: _Nest) -> list[str]:
    return [f"substitute {n.rng.choice(n.names.variables or ('t0',))}"]


def _block(n: _Nest) -> list[str]:
    loop, beside = n.one(), n.one()
    apart = f" split {{{n.stmt}: {beside}}}" if n.rng.random() < 0.5 else ""
    return [f"block {loop}b = {{{n.stmt}: {loop}}} by {n.rng.choice((1, 2, 3, 8))}{apart}"]


def _keep(n: _Nest) -> list[str]:
    """Copies of an element, with a cell for each of its subscripts or, now and then, for fewer: they may be too few."""
    array, subscripts = n.rng.choice(n.names.places or (("A", (n.one(),)),))
    cells = [(x, n.rng.choice(("n + 40", "2*n + 2*m + 40", "n", "64"))) for x in subscripts if n.rng.random() < 0.8]
    at = "".join(f"[{x}: {size}]" for x, size in cells) or "[0: 1]"
    return [f"copy kept{n.rng.randrange(100)}{at} = {array}{''.join(f'[{x}]' for x in subscripts)} for {n.stmt}"]


def _stay(n: _Nest) -> list[str]:
    arrays = [name for name, _ in n.names.places] or ["A"]
    return [f"stay {n.rng.choice(arrays)} from {n.stmt} by {n.size()}"]


def _product(n: _Nest) -> list[str]:
    inner = list(n.loops[-3:])
    n.rng.shuffle(inner)
    if len(inner) < 3:
        form = n.rng.choice(("lanes", "across", "fold"))
        return [f"product {n.stmt} rows {inner[0]} depth {inner[-1]} isa generic bits 128 form {form} "
                "streams 4 by 1 vectors, block 64 shared 64 ahead 4, near 256 close 64, direct 0 threads 100"]
    head = f"product {n.stmt} rows {inner[0]} columns {inner[1]} depth {inner[2]} isa generic bits 128"
    if n.rng.random() < 0.3:
        return [f"{head} nest " + ", ".join(f"{x}:{n.rng.choice((4, 8))}" for x in inner)]
    return [f"{head} tile {n.rng.choice((1, 2, 4))} by {n.rng.choice((1, 2))} vectors, "
            f"block 8 by {n.rng.choice((4, 16))} by 16, direct {n.rng.choice((0, 50))} threads 100"]


def _layout(n: _Nest) -> list[str]:
    """Panels of an array's columns, as a rule behind the blocks that count them."""
    array, subscripts = n.rng.choice(n.names.places or (("A", (n.one(),)),))
    size = n.rng.choice((1, 2, 8))
    block = [f"block {n.loops[-1]}p = {{{n.stmt}: {subscripts[-1]}}} by {size}"] if n.rng.random() < 0.9 else []
    return [*block, f"layout panels{n.rng.randrange(100)} = {array} by {size}{n.rng.choice(('', '', ' new'))}"]


def _registers(n: _Nest) -> list[str]:
    """A tile of a product, as a rule behind the grid of threads that it needs."""
    outer, inner = n.two()
    rows, columns = n.rng.choice(((4, 4), (8, 8), (2, 64), (0, 4)))
    grid = [f"grid {n.stmt}.{outer}:8, {n.stmt}.{inner}:8"] if n.rng.random() < 0.8 else []
    tile = f"registers {n.stmt}.{outer}:{rows}, {n.stmt}.{inner}:{columns} threads {n.rng.choice((8, 16, 64))} by 8"
    return [*grid, tile + n.rng.choice(("", "", " on m16n8k4"))]


_MAKE: Mapping[str, Callable[[_Nest], list[str]]] = {
    "tile": _tile,
    "order": _order,
    "reverse": lambda n: [f"reverse {n.ref(n.one())}"],
    "skew": _skew,
    "distribute": lambda n: [f"distribute {n.ref(n.one())}"],
    "parallel": _parallel,
    "vector": _vector,
    "unroll": lambda n: [f"unroll {n.ref(n.one())} by {n.rng.choice((2, 3, 4))}"],
    "store": _store,
    "unskew": _plain,
    "diamond": _diamond,
    "balance": _balance,
    "pipeline": _pipeline,
    "jam": lambda n: [f"jam {n.ref(n.one())} by {n.rng.choice((2, 3, 4))}"],
    "interleave": _abreast,
    "scalar_replace": lambda n: [f"scalar_replace {n.ref(n.loops[-1])}"],
    "product": _product,
    "stay": _stay,
    "stage": lambda n: [f"stage {n.rng.choice([name for name, _ in n.names.places] or ['A'])} in {n.stmt}"],
    "mesh": lambda n: [f"mesh {n.stmt}"],
    "lanes": lambda n: [f"lanes {n.ref(n.one())}" + n.rng.choice(("", " by 2"))],
    "steps": lambda n: [f"steps {n.ref(n.one())} by {n.size()} of {n.size()}, {n.size()}"],
    "registers": _registers,
    "grid": lambda n: [f"grid {n.ref(n.one())}:{n.size()}"],
    "ranks": lambda n: [f"ranks {n.ref(n.one())}"],
    "forward": _forward,
    "substitute": _substitute,
    "expand": _expand,
    "block": _block,
    "copy": _keep,
    "layout": _layout,
}
REWRITE = frozenset({"ranks", "forward", "substitute", "expand", "block", "copy", "layout"})
COMMON: Sequence[str] = (
    "tile", "tile", "tile", "order", "reverse", "skew", "distribute", "parallel", "vector", "unroll",
)
RARE: Sequence[str] = tuple(sorted(_MAKE.keys() - set(COMMON)))
