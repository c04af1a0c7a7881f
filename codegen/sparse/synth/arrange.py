"""Base class of the optimised lowering (fast.py): collects its steps, and adds those that bring entries into the order
the destination needs, by counting or by radix sort as the plan says."""
from __future__ import annotations

from codegen.sparse.algebra.expr import Exp, num, var
from codegen.sparse.algebra.terms import subst
from codegen.sparse.ir.counting import Count, Prefix, Scatter
from codegen.sparse.ir.model import Alloc, Define, Loop, Step
from codegen.sparse.ir.nest import INDEX, RECORD, VALUE
from codegen.sparse.ir.sorting import Radix, Word
from codegen.sparse.ir.statement import Store
from codegen.sparse.synth.mechanisms import ConversionPlan, in_source, limits
from codegen.sparse.synth.pair import Pair, room, sizes
from codegen.sparse.synth.stream import of_arrays


class Arranged:
    """Steps so far, the entries as they come now, and destination variables as far as they are known."""

    def __init__(self, p: Pair, plan: ConversionPlan) -> None:
        self.p, self.plan, self.t = p, plan, p.target
        self.stream = plan.stream
        self.sizes = sizes(p.target)
        self.steps: list[Step] = []
        self.env: dict[str, Exp] = {}
        self.counter = ""
        self.entries: Exp | None = plan.stream.count
        self.temps: list[str] = []

    def add(self, *steps: Step) -> None:
        self.steps += steps

    def at(self, e: Exp) -> Exp:
        """Destination coordinates as the stream has them, destination variables as far as they are known."""
        return subst(self.stream.at(self.t, e), self.env)

    def named(self, e: Exp) -> str:
        """An expression in the source's names, for people."""
        return str(in_source(self.p, e))

    def temp(self, name: str, size: Exp, kind: str = INDEX, fill: int | None = None, each: bool = False) -> str:
        self.add(Alloc(name, size, kind, fill, each))
        self.temps.append(name)
        return name

    def room(self, f: str) -> Exp:
        """Elements of a function's array; starts of segments whose ends stand elsewhere need one more while they are
        filled."""
        return room(self.t, self.sizes, f)

    def total(self) -> Exp:
        """How many entries there are, counted when nobody knows."""
        if self.entries is None:
            self.add(Define("entries", num(0)),
                     Loop(self.stream.nest, (Store("entries", None, num(1), "+="),), "count the entries"),
                     Define("entries", var("entries")))
            self.entries = var("entries")
        return self.entries

    # --- order ------------------------------------------------------------------------------------------------

    def arrange(self) -> None:
        if self.plan.move == "count":
            self.by_counting()
        elif self.plan.move == "radix":
            self.by_radix()

    def by_counting(self) -> None:
        part = self.plan.order[0]
        low, high = self.need(part)
        size, index = high - low + 1, self.stream.at(self.t, part) - low
        start = self.temp("start", size + 2, INDEX, 0)
        total = self.total()
        self.add(Count(self.stream.nest, start, index, size, f"entries for each {self.named(part)}"))
        self.add(Prefix(start, size))
        # One record for each entry: one place to write, not one in every array.
        to = self.temp("to", total, f"{RECORD}{self.t.desc.rank}")
        arrays, values = tuple(f"{to}[].x{d}" for d in range(self.t.desc.rank)), f"{to}[].v"
        stores = tuple(Store(a, var("o"), c) for a, c in zip(arrays, self.stream.coords, strict=True))
        body = (*stores, Store(values, var("o"), self.stream.value))
        note = f"entries grouped by {self.named(part)}"
        self.add(Scatter(self.stream.nest, "o", start, index, size, body, note))
        self.stream = of_arrays(arrays, values, total)

    def by_radix(self) -> None:
        total = self.total()
        words = []
        for part in self.plan.order:
            low, high = limits(self.p, part) or (num(0), num(-1))
            words.append(Word(self.stream.at(self.t, part), low, high, self.plan.down))
        arrays = tuple(self.temp(f"to{d}", total) for d in range(self.t.desc.rank))
        values = self.temp("tov", total, VALUE)
        note = f"entries sorted by {', '.join(map(self.named, self.plan.order))}"
        self.add(Radix(self.stream.nest, tuple(words), self.stream.coords, tuple(var(n) for n in self.p.shape),
                       self.stream.value, arrays, values, total,
                       note, self.stream.position))
        self.stream = of_arrays(arrays, values, total)

    def need(self, e: Exp) -> tuple[Exp, Exp]:
        found = limits(self.p, e)
        assert found is not None  # counting is only chosen for bounded keys
        return found
