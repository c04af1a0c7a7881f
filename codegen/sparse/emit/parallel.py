"""Prints steps of the sparse IR as C with OpenMP. Results are those of one thread, bit for bit, but for sums of three
or more equal places.

Counting and placing has two ways. Where entries go to few places, or neighbours to neighbouring ones, every thread
counts its share by place, and sums over threads give each thread its places. Elsewhere every thread counts its share
by bucket, packets are put into the buckets in order, and a bucket then belongs to one thread.
"""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from codegen.sparse.algebra.expr import num, product, var
from codegen.sparse.algebra.terms import names
from codegen.sparse.emit.distinct import distinct_on_threads
from codegen.sparse.emit.overrun_fill import fill_ahead
from codegen.sparse.emit.packets import declare, receive, sample
from codegen.sparse.emit.shares import FOR, SHARE, SharePrinter
from codegen.sparse.ir.counting import Count, Distinct, Scatter
from codegen.sparse.ir.model import Alloc, Copy, Loop
from codegen.sparse.ir.nest import VALUE as VALUES
from codegen.sparse.ir.nest import For, Guard
from codegen.sparse.ir.passes.packets import VALUE, unpacked
from codegen.sparse.ir.passes.prune import used_levels
from codegen.sparse.ir.sorting import Radix, SortSegments
from codegen.sparse.ir.statement import Recall, Reject, Store
from codegen.sparse.ir.walk import parts, rename_array


class ParallelPrinter(SharePrinter):
    """What gains from threads is printed with them; the rest as for one thread."""

    def print_alloc(self, s: Alloc) -> None:
        """Values are filled by all threads, which so also share the work of getting pages."""
        if s.each:
            self.one_for_each(s)
            return
        if s.kind != VALUES or s.fill != 0:
            super().print_alloc(s)
            return
        super().print_alloc(replace(s, fill=None))
        self.w.line(f"{FOR} schedule(static)")
        self.w.open("for (int64_t t = 0; t < threads; t++)")
        self.w.line("const int64_t parts = threads;")
        low, high = self.equal_parts(For("t", num(0), s.size))
        self.w.line(f"const int64_t low = {low}, high = {high};")
        self.w.line("if (low < high)")
        self.w.line(f"    memset({s.array} + low, 0, (size_t)(high - low) * sizeof *{s.array});")
        self.w.close()

    def one_for_each(self, s: Alloc) -> None:
        """An array for each thread, one after the other, filled by whoever will use it."""
        assert s.fill in (0, -1)  # what memset can write
        super().print_alloc(replace(s, size=product(var("threads"), s.size), fill=None))
        self.w.line(f"{FOR} schedule(static, 1)")
        self.w.line("for (int64_t t = 0; t < threads; t++)")
        size = self.c(s.size)
        self.w.line(f"    memset({s.array} + t * ({size}), {s.fill}, (size_t)({size}) * sizeof *{s.array});")

    # --- loops -------------------------------------------------------------------------------------------------

    def print_loop(self, s: Loop) -> None:
        alone = s.carried and not (s.grouped is not None and s.follow and self.dealt(s.nest, s.grouped))
        if alone or any(isinstance(x, Reject) for x in parts(s.body)) or not isinstance(s.nest[0], For):
            super().print_loop(s)
            return
        self.w.comment(s.note)
        if s.ahead:
            self.region()
            self.share(s.nest)
            fill_ahead(self, s, SHARE)
            self.w.close()
        elif s.grouped is None:
            self.plain_loop(s)
        elif s.follow:
            self.grouped_loop(s)
        else:
            self.scalars["in_order"] = "int64_t"
            self.w.line("in_order = 1;")
            self.look(used_levels(s.nest, names(s.grouped)), (s.grouped,))
            self.either("in_order", lambda: self.grouped_loop(s), lambda: self.plain_loop(s))

    def either(self, condition: str, yes: Callable[[], None], no: Callable[[], None]) -> None:
        self.w.open(f"if ({condition})")
        yes()
        self.w.close("} else {")
        self.w.depth += 1
        no()
        self.w.close()

    def plain_loop(self, s: Loop) -> None:
        """Any iteration anywhere; what several may store to is stored to atomically."""
        stores = [x for x in s.body if isinstance(x, Store)]
        sums = [x.target for x in stores if x.index is None and x.op == "+="]
        clause = f" reduction(+:{', '.join(sums)})" if sums else ""
        self.w.line(f"{FOR} schedule(static){clause}")
        self.atomic = frozenset(x.target for x in stores
                                if x.index is not None and (x.op == "+=" or not x.value.terms))
        self.nest(s.nest, lambda: self.body(s.body))
        self.atomic = frozenset()

    def grouped_loop(self, s: Loop) -> None:
        assert s.grouped is not None
        self.region()
        self.share_between(s.nest, s.grouped)
        body = s.body
        for x in parts(body):
            if isinstance(x, Recall):  # a table of one's own
                self.w.line(f"{self.types.c_index} *const mine = {x.table} + t * ({self.c(x.span)});")
                self.w.line(f"int64_t {x.var}_at = INT64_MIN;")
                body = rename_array(body, x.table, "mine")
        self.nest(s.nest, lambda: self.body(body), SHARE)
        self.w.close()

    def print_distinct(self, s: Distinct) -> None:
        if not self.dealt(s.nest, s.owner):
            super().print_distinct(s)
            return
        if s.name:
            self.scalars[s.name] = "int64_t"
        self.w.comment(s.note)
        distinct_on_threads(self, s)

    def print_copy(self, s: Copy) -> None:
        self.w.line(f"{FOR} schedule(static)")
        self.w.line("for (int64_t t = 0; t < threads; t++)")
        size = self.c(s.size)
        self.w.line(f"    memcpy({s.target} + {size} * t / threads, {s.source} + {size} * t / threads,")
        self.w.line(f"           (size_t)({size} * (t + 1) / threads - {size} * t / threads) * sizeof *{s.target});")

    def print_sortsegments(self, s: SortSegments) -> None:
        self.segments(s, f"{FOR} schedule(dynamic, 256)")

    def print_radix(self, s: Radix) -> None:
        self.threaded = True
        super().print_radix(s)

    # --- counting and placing ----------------------------------------------------------------------------------

    def print_count(self, s: Count) -> None:
        if s.packet is None or any(isinstance(x, Guard) for x in s.nest):
            super().print_count(s)
            return
        n, size = self.c(s.packet.count), self.c(s.size)
        self.w.comment(f"count: {s.note}")
        declare(self, s.packet)
        self.scalars["shift"] = "int64_t"
        self.scalars["*bucket"] = "int64_t"
        self.scalars["*hist"] = self.types.c_index
        self.w.line(f"shift = tw_buckets({size}, {n});")
        sample(self, s)
        self.w.line(f"if (shift < 0 && {size} <= {n} / threads)")
        self.w.line(f"    hist = tw_new(({size}) * threads, sizeof *hist, 1);")
        self.either("hist", lambda: self.count_by_place(s), lambda: self.count_by_bucket(s))

    def print_scatter(self, s: Scatter) -> None:
        if s.packet is None or any(isinstance(x, Guard) for x in s.nest):
            super().print_scatter(s)
            return
        self.w.comment(s.note)
        self.either("hist", lambda: self.place_by_place(s), lambda: self.place_by_bucket(s))
        for name in ("packet", "bucket", "hist"):
            self.w.line(f"free({name});")
            self.w.line(f"{name} = NULL;")

    def count_by_place(self, s: Count) -> None:
        """Each part's counts become its first places within the bucket; their sums are the counts."""
        assert s.packet is not None
        w, size = self.w, self.c(s.size)
        self.each_part()
        w.line(f"{self.types.c_index} *mine = hist + t * ({size});")
        short = used_levels(s.packet.nest, names(s.index))  # the shares must be those of the loop that places
        self.share(short)
        self.nest(short, lambda: w.line(f"mine[{self.c(s.index)}]++;"), SHARE)
        w.close()
        w.line(f"{FOR} schedule(static)")
        w.open(f"for (int64_t x = 0; x < {size}; x++)")
        w.line(f"{self.types.c_index} sum = 0;")
        w.open("for (int64_t t = 0; t < threads; t++)")
        w.line(f"const {self.types.c_index} count = hist[t * ({size}) + x];")
        w.line(f"hist[t * ({size}) + x] = sum;")
        w.line("sum += count;")
        w.close()
        w.line(f"{s.counter}[x + 2] = sum;")
        w.close()

    def place_by_place(self, s: Scatter) -> None:
        w, size, index = self.w, self.c(s.size), self.c(s.index)
        self.each_part()
        w.line(f"{self.types.c_index} *mine = hist + t * ({size});")
        self.share(s.nest)

        def place() -> None:
            start = "" if s.local else f"{s.counter}[{self.c(s.index + 1)}] + "
            w.line(f"const int64_t {s.var} = {start}mine[{index}]++;")
            self.body(s.body)

        self.nest(s.nest, place, SHARE)
        w.close()
        if not s.local:
            w.line(f"memmove({s.counter}, {s.counter} + 1, (size_t)({self.c(s.size + 1)}) * sizeof *{s.counter});")

    def count_by_bucket(self, s: Count) -> None:
        assert s.packet is not None
        w, n, packet = self.w, self.c(s.packet.count), s.packet
        w.line(f"for (shift = 0; ({self.c(s.size - 1)}) >> shift >= TW_BUCKETS;)")
        w.line("    shift++;")
        self.fail(f"!(packet = tw_new({n}, sizeof *packet, 0))", "NO_MEMORY")
        self.fail("!(bucket = tw_new((int64_t)(threads + 1) * (TW_BUCKETS + 1), sizeof *bucket, 1))", "NO_MEMORY")
        self.region()
        w.line("int64_t *mine = bucket + (t + 1) * (TW_BUCKETS + 1);")
        self.share(packet.nest)
        short = used_levels(packet.nest, names(s.index))
        self.nest(short, lambda: w.line(f"mine[{self.c(s.index)} >> shift]++;"), SHARE)
        w.line("#pragma omp barrier")
        w.line("#pragma omp single")
        w.line("tw_bucket_starts(bucket, threads);")

        def send() -> None:
            w.line(f"const int64_t to = mine[{self.c(s.index)} >> shift]++;")
            for x in packet.names:
                w.line(f"packet[to].{x} = {x};")
            w.line(f"packet[to].{VALUE} = {self.c(packet.value)};")

        self.nest(packet.nest, send, SHARE)
        w.line("#pragma omp barrier")
        w.line("#pragma omp for schedule(dynamic)")
        w.line("for (int64_t b = 0; b < TW_BUCKETS; b++)")
        w.depth += 1
        w.open("for (int64_t x = bucket[b]; x < bucket[b + 1]; x++)")
        receive(self, packet, names(s.index))
        w.line(f"{s.counter}[{self.c(s.index + 2)}]++;")
        w.close()
        w.depth -= 1
        w.close()

    def place_by_bucket(self, s: Scatter) -> None:
        assert s.packet is not None
        w = self.w
        if s.local:
            w.line(f"memset({s.counter}, 0, (size_t)({self.c(s.size + 2)}) * sizeof *{s.counter});")
        w.line(f"{FOR} schedule(dynamic)")
        w.line("for (int64_t b = 0; b < TW_BUCKETS; b++)")
        w.depth += 1
        w.open("for (int64_t x = bucket[b]; x < bucket[b + 1]; x++)")
        receive(self, s.packet)
        w.line(f"const {self.types.c_value} {VALUE} = packet[x].{VALUE};")
        self.place(s, unpacked(s.body, s.packet))
        w.close()
        w.depth -= 1
