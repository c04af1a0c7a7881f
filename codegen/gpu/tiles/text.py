"""Prints the kernel of a product in tiles, and the functions that choose its tile size and start it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import field, replace

from codegen.ast.ctree import Instance, Name, substitute
from codegen.gpu.body import DeviceBody, plain_type
from codegen.gpu.tiles import model
from codegen.gpu.tiles.find import TiledProduct, bounds, stride, target_strides
from codegen.gpu.tiles.model import WIDE, StagedOperand
from codegen.print.templates import environment
from codegen.record import record
from codegen.scop.expr import Ref, walk
from codegen.scop.model import Scop, Statement
from codegen.target.text.cexpr import IntPrinter

# Names of the template that are printed without their first letters where the region has no such names.
LOCALS = (
    "thread", "rows", "columns", "depth", "parts", "part", "left", "slot", "sum", "stage", "load", "compute",
    "each", "store", "row", "column", "at", "first", "to", "kernel", "blocks", "wide", "i", "j", "k", "x", "r", "q",
    "first_i", "first_j", "first_k", "last_i", "last_j", "at_row", "at_column", "whole", "inside", "batch", "cost_1",
    "cost_2", "cost_3", "cost_4", "set", "down", "right", "group", "value",
)  # fmt: skip
_FORMULA = ("thread", "i", "j", "k", "x", "r", "slot")
_FIRSTS = ("tw_first_i", "tw_first_j", "tw_first_k")
_LASTS = ("tw_last_i", "tw_last_j")
BATCH = "tw_batch"
MANY = 64  # rows of tiles from which on blocks are grouped


@record
class RegisterBody(DeviceBody):
    """A statement whose accesses are registers."""

    registers: Mapping[int, str] = field(default_factory=dict)

    def access(self, s: Statement, at: Instance, number: int) -> str:
        return self.registers[number] if number in self.registers else DeviceBody.access(self, s, at, number)


@record
class Printed:
    """How a kernel is declared and called: its name, declarations of its parameters, and names that are taken."""

    name: str
    parameters: Mapping[str, str]
    taken: frozenset[str]


def kernel_text(scop: Scop, p: TiledProduct, how: Printed, names: Mapping[str, str], api: str, among: int) -> str:
    """The kernel, and the functions that start it."""
    k = _Context(scop, p, IntPrinter({x.name: x for x in scop.params}, names), how).values(among)
    template = environment().get_template("gpu/tile.cu.j2")
    body = template.render(k={**k, "given": ()}, api=api).partition("/* The kernel with tiles")[0]
    text = template.render(k={**k, "given": [n for n in how.parameters if re.search(rf"\b{n}\b", body)]}, api=api)
    for name in LOCALS:
        if name not in how.taken:
            text = re.sub(rf"\btw_{name}\b", name, text)
    return text


def formula(text: str) -> str:
    return re.sub(rf"\b({'|'.join(_FORMULA)})\b", r"tw_\1", text)


def plus(text: str) -> str:
    return "" if text == "0L" else f"{text} + "


def times(stride: str, kind: str) -> str:
    """A factor of a product, unless it is one."""
    if stride == "1":
        return ""
    plain = stride.removeprefix("(long)")
    return f" * ({kind}){plain}" if kind else f" * {stride}"


def staging(o: StagedOperand, limit: str) -> dict[str, object]:
    """What the template needs to print the copies of an operand, of which there are `limit` rows or columns."""
    c = model.copied(o)
    x, k = c.which
    stride = o.own if c.along == "row" else o.depth
    return {
        "kind": o.kind, "times_deep": times(o.depth, ""), "unsigned_own": times(o.own, "unsigned"),
        "unsigned_deep": times(o.depth, "unsigned"), "copies": c.times, "copy_x": formula(x), "copy_k": formula(k),
        "first_x": formula(c.row), "first_k": formula(c.depth), "step": c.step, "by_rows": c.along == "row",
        "onward": f"(long)({c.step}){times(stride, '')}", "place": formula(model.place(o)),
        "v": "V" if o.vector > 1 else "1", "limit": limit,
        "bound": "V" if o.vector > 1 and o.layout == WIDE else "1", "alone": o.alone,
    }  # fmt: skip


# What a tile costs beside its steps, found on an H200. Loads of registers from shared memory, and whatever has to be
# done once for each of their steps; copies of single elements to shared memory, for each line; barriers at which no
# other block is there to go on; and, in percent of a tile, what a multiprocessor loses while its last blocks are alone.
LOADS, UNIT_LOADS, FIXED, COPIES, ALONE, LAST = 1.0, 0.25, 6.0, 16, 1.1, 35
REGISTERS = 65536  # of a multiprocessor
MOST_WORDS = 512  # registers of a thread, more than there are: a block alone, with what the compiler likes to take
REST = 64  # registers of a thread for addresses and counters


@record
class _Context:
    scop: Scop
    product: TiledProduct
    ints: IntPrinter
    how: Printed

    def values(self, multiprocessors: int) -> dict[str, object]:
        p = self.product
        return {
            "name": self.how.name, "parameters": self.how.parameters,
            "comment": self._comment(), "depth": p.staging.depth, "stages": p.staging.stages, "step": p.step,
            "guarded": p.guarded, "body": self._body(), "before": p.order.before, "loop": p.order.loop, "at": str,
            "within": lambda n: f"tw_part + {n}" if n else "tw_part", "tiles": [self._tile(t) for t in p.tiles],
            "multiprocessors": multiprocessors, "groups": model.GROUPS, "many": MANY, "tile_row": self._tile_row(),
            "words": self._words(), "scaled": any(o.factor for o in p.operands),
            "last": LAST if self._shared() else 0, **self._sets(),
            "i": _FIRSTS[0], "j": _FIRSTS[1], "k": _FIRSTS[2],
            "bytes": " + ".join(f"tw_room({model.room(o)}, sizeof({o.kind}))" for o in p.operands),
            **self._batch(), **self._bounds(), **self._cut(), **self._registers(), **self._target(),
        }  # fmt: skip

    def _sets(self) -> dict[str, object]:
        """How sets of registers are declared, handed on and used; nothing of it where there is one set."""
        several = self.product.order.sets > 1
        return {
            "sets": f"[{self.product.order.sets}]" if several else "", "of_set": "[tw_set]" if several else "",
            "one_set": "const int tw_set, " if several else "",
            "set": lambda e: f"{e.registers}, " if several else "",
            "slot": lambda part: f"({part}) % STAGES" if " " in part else f"{part} % STAGES",
        }  # fmt: skip

    def _tile_row(self) -> str:
        if self.product.nest.batch:
            return "(long)blockIdx.x"
        text = model.TILE_ROW.replace("GROUP", "gridDim.x")
        return "(long)(" + re.sub(r"(?<!\.)\b([xz])\b", r"blockIdx.\1", text) + ")"

    def _batch(self) -> dict[str, object]:
        """Which product of several a block computes a tile of, and how many there are."""
        lp = self.product.nest.batch
        if lp is None:
            return {"batch": "", "batches": ""}
        low, high = self.ints.wide(lp.lower, 5), self.ints.wide(lp.upper, 5)
        count = high if low == "0L" else f"{high} - {self.ints.text(lp.lower, 6)}"
        return {"batch": f"const long {BATCH} = {plus(low)}(long)blockIdx.z;", "batches": count}

    def _bounds(self) -> dict[str, object]:
        """First and past-the-last values of rows, columns and depth, and how many there are."""
        ends = bounds(self.product.nest)
        lows, highs = ([self.ints.wide(x[k], 5) for x in ends] for k in (0, 1))
        from_zero = [low == "0L" for low in lows]
        counts = [high if zero else f"{high} - {self.ints.text(x[0], 6)}"
                  for high, zero, x in zip(highs, from_zero, ends, strict=True)]  # fmt: skip
        return {
            "first_row": plus(lows[0]), "first_column": plus(lows[1]),
            "first_depth": "0" if from_zero[2] else lows[2], "past_row": highs[0], "past_column": highs[1],
            "past_depth": highs[2], "rows": counts[0], "columns": counts[1], "deep": counts[2],
        }  # fmt: skip

    def _cut(self) -> dict[str, object]:
        """Tests of elements, and of the corners of a tile, where rows and columns are no box."""
        nest = self.product.nest
        if nest.cut is None:
            return {"cut": False}

        def tests(rows: Sequence[str], columns: Sequence[str], sign: str) -> list[str]:
            """With row and column of the corner at which a value is greatest, or of the one at which it is least."""
            out = []
            for c in nest.cut.cuts if nest.cut else ():
                names = {nest.rows.var: rows[c.row > 0], nest.columns.var: columns[c.column > 0]}
                printer = replace(self.ints, names={**self.ints.names, **names})
                out.append(f"{printer.wide(c.value, 5)} {sign} 0")
            return out

        rows, columns = ((first, last) for first, last in zip(_FIRSTS, _LASTS, strict=False))
        return {
            "cut": True, "last_i": _LASTS[0], "last_j": _LASTS[1], "none": " || ".join(tests(rows, columns, "<")),
            "whole": " && ".join(tests(rows[::-1], columns[::-1], ">=")),
            "inside": " && ".join(tests(["tw_at_row"] * 2, ["tw_at_column"] * 2, ">=")),
        }  # fmt: skip

    def _registers(self) -> dict[str, object]:
        """What threads have of operands and target."""
        p, unit = self.product, self.product.tiles[0].unit
        row, column = (model.UNIT_ROW, model.UNIT_COLUMN) if unit else (model.PLAIN_ROW, model.PLAIN_COLUMN)
        operands = [self._operand(o, n) for n, o in enumerate(p.operands)]
        by_side = {o.side: x["registers"] for o, x in zip(p.operands, operands, strict=True)}
        return {
            "unit": p.unit, "unit_rows": unit.rows // 8 if unit else 0, "gi": self._group(0), "gj": self._group(1),
            "row": formula(row), "column": formula(column), "neighbours": "2" if unit else "GJ",
            "operands": operands, "left": by_side[0], "right": by_side[1],
        }  # fmt: skip

    def _target(self) -> dict[str, object]:
        """The array that is written, and when its elements, and those of operands, come 16 bytes at a time."""
        p, s = self.product, self.product.nest.statement
        strides = target_strides(self.scop, p.nest)
        every = {x for o in p.operands for x in (o.own, o.depth)} | set(strides)
        return {
            "target_kind": plain_type(self.scop.arrays[s.accesses[s.target].array].elem),
            "target": self._element(s.target), "times_row": times(strides[0], "long"),
            "times_column": times(strides[1], "long"), "vector": p.vector if strides[1] == "1" else 1,
            "strides": sorted(x for x in every if not x.isdigit()), "aligned": self._aligned(strides),
        }  # fmt: skip

    def _comment(self) -> str:
        p = self.product
        arrays = " and ".join(dict.fromkeys(o.name for o in p.operands))
        by = f" by matrix units {p.unit}" if p.unit else ""
        tile = f"{p.nest.statement.name}: blocks of TI by TJ threads compute tiles, RI by RJ elements a thread{by}"
        return f"{tile}; {arrays} in shared memory, {p.staging.depth} deep, {p.staging.stages} times"

    def _tile(self, t: model.ThreadTile) -> dict[str, object]:
        numbers = ", ".join(map(str, (*t.threads, *t.registers)))
        rows, columns = t.sides
        cost, narrow = round(self._cost(t)), COPIES * (rows + columns)
        return {"rows": rows, "columns": columns, "numbers": numbers, "cost": cost, "narrow": cost + narrow}

    def _cost(self, t: model.ThreadTile) -> float:
        """Time for the steps of a tile, in those that registers alone would take."""
        (rows, columns), (down, right) = t.sides, t.registers
        words = down * right * self.product.operands[0].bytes // 4 + REST
        alone = ALONE if t.unit and t.count * 2 * words > REGISTERS else 1.0
        fixed = FIXED / (down * right) if self._shared() else 0.0
        loads = (UNIT_LOADS if t.unit else LOADS) * (1 / down + 1 / right)
        return rows * columns * (1 + loads + fixed) * alone

    def _shared(self) -> bool:
        """Are there several blocks on a multiprocessor, and registers loaded ahead?"""
        return self.product.order.sets > 1

    def _words(self) -> str:
        """Registers that a thread takes, about: its elements, sets of what it loads, and the rest."""
        p = self.product
        if not self._shared():
            return str(MOST_WORDS)
        size = "2 * " if max(o.bytes for o in p.operands) == 8 else ""
        return f"{size}(RI * RJ + {p.order.sets * p.step} * (RI + RJ)) + {REST}"

    def _group(self, side: int) -> str:
        """Neighbours that a thread has, as a constant of C: `prove.groups` says the same in numbers."""
        r, mine = ("RI", "RJ")[side], [o for o in self.product.operands if o.side == side]
        most = 1 if any(o.layout != WIDE for o in mine) else max(16 // o.bytes for o in mine)
        return {1: "1", 2: f"{r} % 2 ? 1 : 2"}.get(most, f"{r} % 4 == 0 ? 4 : {r} % 2 ? 1 : 2")

    def _element(self, number: int) -> str:
        """The first element of a tile that an access touches."""
        p = self.product
        loops = p.nest.rows, p.nest.columns, p.nest.depth
        names = {**self.ints.names, **{lp.var: n for lp, n in zip(loops, _FIRSTS, strict=True)}}
        names |= {p.nest.batch.var: BATCH} if p.nest.batch else {}
        printer = DeviceBody(self.scop, replace(self.ints, names=names), {})
        return printer.access(p.nest.statement, p.nest.instance, number)

    def _operand(self, o: StagedOperand, n: int) -> dict[str, object]:
        p = self.product
        name = o.name if sum(q.name == o.name for q in p.operands) == 1 else f"{o.name}{n + 1}"
        line, lines, sizes = self._lines(o)
        return {
            **staging(o, "tw_rows" if o.side == 0 else "tw_columns"), "layout": o.layout, "fill": o.fill,
            "first": self._element(o.access),
            **{word: self._named(name, word) for word in ("shared", "registers", "from")},
            "offset": " + ".join(f"tw_room({model.room(q)}, sizeof({q.kind}))" for q in p.operands[:n]) or "0",
            "register_sizes": sizes, "line": formula(line), "lines": lines, "var": "tw_i" if o.side == 0 else "tw_j",
            "group": ("GI", "GJ")[o.side], "factor": self._factor(o),
        }  # fmt: skip

    def _factor(self, o: StagedOperand) -> str:
        """What is multiplied, computed from an element in a register; empty where that is the element itself."""
        nest = self.product.nest
        if o.factor is None:
            return ""
        used = {e.access: "tw_value" for e in walk(o.factor) if isinstance(e, Ref)}
        return RegisterBody(self.scop, self.ints, {}, registers=used).text(o.factor, nest.statement, nest.instance)

    def _lines(self, o: StagedOperand) -> tuple[str, str, str]:
        """Which rows (or columns) of an operand a thread loads, how many, and the extents of their registers."""
        count, step = ("RI", "RJ")[o.side], self.product.step
        if self.product.unit:
            line, lines = (model.LEFT_ROW, "RI") if o.side == 0 else (model.RIGHT_COLUMN, "RJ / 2")
            return line, lines, f"[{lines}][{step // 4}]"
        line = model.PLAIN_ROW if o.side == 0 else model.PLAIN_COLUMN
        return line, count, f"[{step}][{count}]" if o.layout == WIDE else f"[{count}][{step}]"

    def _named(self, name: str, what: str) -> str:
        return f"tw_{name}_{what}" if f"{name}_{what}" in self.how.taken else f"{name}_{what}"

    def _register(self, o: StagedOperand, n: int) -> str:
        name = f"{self._operand(o, n)['registers']}{self._sets()['of_set']}"
        var = "tw_i" if o.side == 0 else "tw_j"
        return f"{name}[tw_q][{var}]" if o.layout == WIDE else f"{name}[{var}][tw_q]"

    def _body(self) -> str:
        p = self.product
        if p.unit:
            return ""
        s = p.nest.statement
        found = dict.fromkeys((s.target, p.nest.what.own), "tw_sum[tw_i][tw_j]")
        for n, o in enumerate(p.operands):
            for number, a in enumerate(s.accesses):
                if number not in found and a.relation.is_equal(s.accesses[o.access].relation) and not a.write:
                    found[number] = self._register(o, n)
        return RegisterBody(self.scop, self.ints, {}, registers=found).statement(s, p.nest.instance)

    def _aligned(self, strides: Sequence[str]) -> str:
        """When all copies of 16 bytes begin and end where they may."""
        p, v = self.product, self.product.vector
        wide = [o for o in p.operands if o.vector > 1]
        apart = {x for o in wide for x in (o.own, o.depth) if x != "1"} | {strides[0]}
        if p.nest.batch:
            apart |= {x for n in (*(o.access for o in wide), p.nest.statement.target) for x in self._batch_strides(n)}
        if v == 1 or strides[1] != "1" or any(int(x) % v for x in apart if x.isdigit()):
            return "false"
        pointers = dict.fromkeys(self._start(n) for n in (*(o.access for o in wide), p.nest.statement.target))
        sizes = {("tw_rows", "tw_columns")[o.side] if o.layout == WIDE else "tw_depth" for o in wide} | {"tw_columns"}
        lengths = (*sorted(x for x in apart if not x.isdigit()), *sorted(sizes))
        tests = (*(f"(size_t)&{x} % 16 == 0" for x in pointers), *(f"{x} % {v} == 0" for x in lengths))
        return " && ".join(tests)

    def _batch_strides(self, number: int) -> Sequence[str]:
        """How far elements of neighbouring products are apart; none where they share them."""
        nest = self.product.nest
        assert nest.batch is not None
        d = nest.instance.iterators.index(Name(nest.batch.var))
        found = stride(self.scop, nest.statement, nest.statement.accesses[number], d)
        return [found] if found else []

    def _start(self, number: int) -> str:
        """The first element that the nest touches by an access."""
        nest = self.product.nest
        loops = nest.rows, nest.columns, nest.depth
        low = {lp.var: first for lp, (first, _) in zip(loops, bounds(nest), strict=True)}
        low |= {nest.batch.var: nest.batch.lower} if nest.batch else {}
        index = tuple(tuple(substitute(e, low) for e in x) for x in nest.instance.accesses)
        printer = DeviceBody(self.scop, self.ints, {})
        return printer.access(nest.statement, replace(nest.instance, accesses=index), number)
