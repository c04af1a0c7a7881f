"""The three forms of a matrix-vector kernel, as lines of C that the template puts into loops.

In the lines, `j` is the first element of a vector, `p` a step of the depth, `i` a row.
"""

from __future__ import annotations

from collections.abc import Sequence

from codegen.isa.text import bare
from codegen.record import record
from codegen.target.matvec.lines import Ops, fetch, line, numbered, pointers, prefetch
from codegen.target.matvec.shuffle import rotations, shuffle, turn
from codegen.target.product.microkernel_view import plus

# So many requests for lines of cache are made at once, more one after the other.
FEW_REQUESTS = 4


@record
class Part:
    """One loop over vectors: `setup` before it; `body` does `width` elements, `one` a vector, `rest` what is left;
    `finish` after it."""

    setup: list[str]
    width: int
    body: list[str]
    one: list[str]
    rest: list[str]
    finish: list[str]


def lanes_part(o: Ops, streams: int, vectors: int, ahead: int) -> Part:
    """`streams` steps of the depth for all elements of y. Where y is used once for each line, the lines push it out of
    the first cache, so it is fetched, too. Neoverse N1, f64, 4096 x 4096: 16.7 GB/s with that, 15.2 without."""
    steps = range(streams)
    xs = numbered("x", o.operands)
    names = [line(o, m, r) for r in steps for m in range(o.matrices)]
    b = [[f"{x}_{r}" for x in xs] for r in steps]
    spread = [o.let(f"{x}_{r}", o.dup(f"{x}[{plus('p', str(r))}]")) for r in steps for x in xs]

    def update(acc: str, r: int, at: str) -> str:
        return f"{acc} = {o.value(acc, [o.load(plus(line(o, m, r), at)) for m in range(o.matrices)], b[r])};"

    width = vectors * o.lanes
    places = {f"c{v}": plus("j", str(v * o.lanes)) for v in range(vectors)}
    requested = fetch([*names, "y"], "j", ahead, width, o.line) if streams == 1 else []
    body = requested or prefetch(names, "j", ahead, width, o.line)
    body.append(o.variables({c: o.load(plus("y", at)) for c, at in places.items()}))
    body += [update(c, r, at) for r in steps for c, at in places.items()]
    body += [o.store(plus("y", at), c) for c, at in places.items()]
    one = [o.variables({"c": o.load("y + j")}), *(update("c", r, "j") for r in steps), o.store("y + j", "c")]
    setup = [*pointers(o, ["p", *(f"(p + {r})" for r in steps[1:])]), *spread]
    return Part(setup, width, body, one, _lanes_rest(o, names, b), [])


def _lanes_rest(o: Ops, names: Sequence[str], b: Sequence[Sequence[str]]) -> list[str]:
    """Fewer elements than a vector has: the same steps on copies."""
    spots = {n: (k + 1) * o.lanes for k, n in enumerate(names)}
    lines = [f"{o.scalar} rest[{(len(names) + 1) * o.lanes}] = {{ 0 }};", "for (long e = 0; e < n - j; e++) {"]
    lines += ["  rest[e] = y[j + e];", *(f"  rest[{at} + e] = {n}[j + e];" for n, at in spots.items()), "}"]
    lines += [o.variables({"c": o.load("rest")})]
    for r, x in enumerate(b):
        a = [o.load(f"rest + {spots[line(o, m, r)]}") for m in range(o.matrices)]
        lines.append(f"c = {o.value('c', a, x)};")
    return [*lines, o.store("rest", "c"), "for (long e = 0; e < n - j; e++)", "  y[j + e] = rest[e];"]


def across_part(o: Ops, rows: int, ahead: int) -> Part:
    """A group of rows, whose sums are lanes. One vector of rows, the last of all, may be cut short by the end of the
    matrix: the last row is then read again, and dropped."""
    groups = [f"c{g}" for g in range(rows // o.lanes)]
    places = [plus("i", str(r)) for r in range(rows)]
    sums, before, after = "y + i", [], []
    if rows == o.lanes:
        sums, places = "c", ["i", *(f"i + (m > {r} ? {r} : m - 1)" for r in range(1, rows))]
        before = [
            f"const long m = n - i < {rows} ? n - i : {rows};",
            f"{o.scalar} edge[{rows}] = {{ 0 }}, *const c = m == {rows} ? y + i : edge;",
            f"for (long r = 0; m < {rows} && r < m; r++)",
            "  edge[r] = y[i + r];",
        ]
        after = [f"for (long r = 0; m < {rows} && r < m; r++)", "  y[i + r] = edge[r];"]
    setup = [
        *before,
        *pointers(o, [places[0], *(f"({x})" for x in places[1:])]),
        o.variables({c: o.load(plus(sums, str(g * o.lanes))) for g, c in enumerate(groups)}),
    ]
    stores = [o.store(plus(sums, str(g * o.lanes)), c) for g, c in enumerate(groups)]
    rest = _across_rest(o, groups, rows)
    return Part(setup, o.line, _across_line(o, groups, rows, ahead), _block(o, groups, "j"), rest, [*stores, *after])


def _across_line(o: Ops, groups: Sequence[str], rows: int, ahead: int) -> list[str]:
    """A line of cache of every row. Few requests stand at its beginning, more are spread over it: many at a time hold
    up the loads. Neoverse N1, 4 rows, f64, 4096 x 4096: 15.6 GB/s at the beginning, 13.6 spread, 14.2 where gcc puts
    them; 8 rows, f32, 512 x 512: 19.1, 21.7 and 21.1."""
    names = [line(o, m, r) for r in range(rows) for m in range(o.matrices)]
    starts = range(0, o.line, o.lanes)
    share = len(names) if len(names) <= FEW_REQUESTS else -(-len(names) // len(starts))
    out = []
    for k, start in enumerate(starts):
        out += fetch(names[k * share : (k + 1) * share], "j", ahead, o.line, o.line)
        out += ["{", *(f"  {x}" for x in _block(o, groups, plus("j", str(start)))), "}"]
    return out


def _block(o: Ops, groups: Sequence[str], at: str) -> list[str]:
    """As many columns as a vector has lanes, from column `at` on."""
    lines = _taken(o, [f"{x}[{at}" for x in numbered("x", o.operands)], o.lanes)
    found = []
    for g in range(len(groups)):
        rows = range(g * o.lanes, (g + 1) * o.lanes)
        turned, columns = _transposed(o, [[plus(line(o, m, r), at) for r in rows] for m in range(o.matrices)], g)
        lines += turned
        found.append(columns)
    pairs = ((g, c, q) for q in range(o.lanes) for g, c in enumerate(groups))
    return [*lines, *(f"{c} = {_step(o, c, found[g][q], q)};" for g, c, q in pairs)]


def _across_rest(o: Ops, groups: Sequence[str], rows: int) -> list[str]:
    """Fewer columns than a vector has lanes: turned with zeros beside them, which no step uses."""
    xs = numbered("x", o.operands)
    names = [*(line(o, m, r) for m in range(o.matrices) for r in range(rows)), *xs]
    spots = {n: k * o.lanes for k, n in enumerate(names)}
    lines = [f"{o.scalar} rest[{len(names) * o.lanes}] = {{ 0 }};", "for (long e = 0; e < k - j; e++) {"]
    lines += [*(f"  rest[{at} + e] = {n}[j + e];" for n, at in spots.items()), "}"]
    lines += _taken(o, [f"rest[{spots[x]}" for x in xs], o.lanes - 1)
    for g, c in enumerate(groups):
        mine = range(g * o.lanes, (g + 1) * o.lanes)
        places = [[f"rest + {spots[line(o, m, r)]}" for r in mine] for m in range(o.matrices)]
        turned, columns = _transposed(o, places, g)
        lines += turned
        for q, a in enumerate(columns[:-1]):
            lines += [f"if (j + {q} < k)", f"  {c} = {_step(o, c, a, q)};"]
        lines += [f"(void){a};" for a in columns[-1]]
    return lines


def _taken(o: Ops, first: Sequence[str], columns: int) -> list[str]:
    """The vector's values for so many columns. `first` are its first elements as C text, up to the bracket."""
    if o.by_lane:
        return [o.let("xv", o.call("lane_load", f"&{first[0]}]"))]
    out = []
    for x, at in zip(numbered("x", o.operands), first, strict=True):
        out += [o.let(f"{x}_{q}", o.dup(plus(at, str(q)) + "]")) for q in range(columns)]
    return out


def _step(o: Ops, acc: str, a: Sequence[str], q: int) -> str:
    if o.by_lane:
        return o.value_by_lane(acc, a, "xv", q)
    return o.value(acc, a, [f"{x}_{q}" for x in numbered("x", o.operands)])


def _transposed(o: Ops, places: Sequence[Sequence[str]], g: int) -> tuple[list[str], list[list[str]]]:
    """Lines that load and turn a block of every matrix, and for each column its names, one for each matrix."""
    lines, columns = [], []
    for m, spots in enumerate(places):
        stem = f"{numbered('r', o.matrices)[m]}{g}_"
        rows = [f"{stem}{r}" for r in range(o.lanes)]
        lines += [o.let(row, o.load(at)) for row, at in zip(rows, spots, strict=True)]
        more, names = turn(o.isa, o.elem, rows, f"{numbered('t', o.matrices)[m]}{g}_")
        lines += more
        columns.append(names)
    return lines, [list(c) for c in zip(*columns, strict=True)]


def fold_part(o: Ops, rows: int, vectors: int, ahead: int, join: str, neutral: str) -> Part:
    """`rows` rows with `vectors` vectors of partial results each, joined at the end. Only rows are fetched: x is used
    again and again, and requests for it cost as much as loads."""
    each = range(rows)
    accs = [[f"c{r}_{v}" for v in range(vectors)] for r in each]
    xs = numbered("x", o.operands)
    names = [line(o, m, r) for r in each for m in range(o.matrices)]
    start = o.variables({c: o.dup(o.neutral(neutral)) for row in accs for c in row})
    setup = [*pointers(o, ["i", *(f"(i + {r})" for r in each[1:])]), start]

    def update(v: int, at: str) -> list[str]:
        loads = [o.let(f"{x}_{v}", o.load(plus(x, at))) for x in xs]
        b = [f"{x}_{v}" for x in xs]
        for r in each:
            a = [o.load(plus(line(o, m, r), at)) for m in range(o.matrices)]
            loads.append(f"{accs[r][v]} = {o.value(accs[r][v], a, b)};")
        return loads

    width = max(o.line, vectors * o.lanes)
    request = fetch if rows == 1 else prefetch
    body = request(names, "j", ahead, width, o.line)
    for turn_ in range(0, width, vectors * o.lanes):
        inner = [x for v in range(vectors) for x in update(v, plus("j", str(turn_ + v * o.lanes)))]
        body += ["{", *(f"  {x}" for x in inner), "}"]
    finish = [x for r in each for x in _joined(o, accs[r], r, join)]
    return Part(setup, width, body, update(0, "j"), [], finish)


def _joined(o: Ops, accs: Sequence[str], r: int, join: str) -> list[str]:
    """Partial results of a row into its element of y, then the last columns, fewer than a vector has lanes."""
    c, row = accs[0], plus("i", str(r))
    lines = [f"{c} = {bare(o.call(join, c, other))};" for other in accs[1:]]
    for order in rotations(o.lanes):
        lines.append(f"{c} = {bare(o.call(join, c, shuffle(o.isa, o.elem, c, c, order)))};")
    a = [o.dup(f"{line(o, m, r)}[e]") for m in range(o.matrices)]
    b = [o.dup(f"{x}[e]") for x in numbered("x", o.operands)]
    return [
        *lines,
        f"{c} = {bare(o.call(join, o.dup(f'y[{row}]'), c))};",
        "for (long e = j; e < k; e++)",
        f"  {c} = {o.value(c, a, b)};",
        o.store("last", c),
        f"y[{row}] = last[0];",
    ]
