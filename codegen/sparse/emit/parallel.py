"""Steps as C with OpenMP. Results are those of one thread, bit for bit, but for sums of three or more equal places.

Counting and placing: every thread counts its share of the entries by bucket, sums over buckets and threads give each
thread its places, and the packets are put there in order. A bucket then belongs to one thread.
"""
from __future__ import annotations

from codegen.sparse.algebra.expr import names
from codegen.sparse.emit.ahead import fill_ahead
from codegen.sparse.emit.packets import declare, receive
from codegen.sparse.emit.steps import StepPrinter
from codegen.sparse.ir.model import (
    Copy,
    Count,
    For,
    Guard,
    Loop,
    Nest,
    Once,
    Radix,
    Reject,
    Scatter,
    SortSegments,
    Store,
)
from codegen.sparse.ir.passes.ahead import pointers
from codegen.sparse.ir.passes.packets import VALUE, unpacked
from codegen.sparse.ir.passes.prune import used_levels
from codegen.sparse.ir.walk import parts

_REGION = "#pragma omp parallel num_threads(threads)"
_FOR = "#pragma omp parallel for num_threads(threads)"


class ParallelPrinter(StepPrinter):
    """What gains from threads is printed with them; the rest as for one thread."""

    def print_loop(self, s: Loop) -> None:
        if s.carried or any(isinstance(x, (Reject, Once)) for x in parts(s.body)) or not isinstance(s.nest[0], For):
            super().print_loop(s)
            return
        stores = [x for x in s.body if isinstance(x, Store)]
        sums = [x.target for x in stores if x.index is None and x.op == "+="]
        clause = f" reduction(+:{', '.join(sums)})" if sums else ""
        self.w.comment(s.note)
        if s.ahead:
            self.region()
            self.w.line(f"const int64_t low = {self.share(s.nest)[0]}, high = {self.share(s.nest)[1]};")
            fill_ahead(self, s, ("low", "high"))
            self.w.close()
            return
        self.w.line(f"{_FOR} schedule(static){clause}")
        marks = {x.target for x in stores if x.index is not None and (x.op == "+=" or not x.value.terms)}
        self.atomic = frozenset(marks)
        self.nest(s.nest, lambda: self.body(s.body))
        self.atomic = frozenset()

    def print_copy(self, s: Copy) -> None:
        self.w.line(f"{_FOR} schedule(static)")
        self.w.line("for (int64_t t = 0; t < threads; t++)")
        size = self.c(s.size)
        self.w.line(f"    memcpy({s.target} + {size} * t / threads, {s.source} + {size} * t / threads,")
        self.w.line(f"           (size_t)({size} * (t + 1) / threads - {size} * t / threads) * sizeof *{s.target});")

    def print_sortsegments(self, s: SortSegments) -> None:
        self.segments(s, f"{_FOR} schedule(dynamic, 256)")

    def region(self) -> None:
        """Open a parallel region with the thread's number and how many there are."""
        self.w.line(_REGION)
        self.w.open("")
        self.w.line("const int64_t t = omp_get_thread_num(), team = omp_get_num_threads(); "
                    "/* perhaps fewer than asked */")

    def share(self, nest: Nest) -> tuple[str, str]:
        """A thread's part of the outermost loop."""
        first = nest[0]
        assert isinstance(first, For)
        segments = pointers(nest)
        if segments:  # as many elements for each thread, not as many segments
            size = self.c(first.high)
            return f"tw_share({segments[0]}, {size}, t, team)", f"tw_share({segments[0]}, {size}, t + 1, team)"
        low, high = self.c(first.low), self.c(first.high)
        count = f"({high} - ({low}))"
        return f"{low} + {count} * t / team", f"{low} + {count} * (t + 1) / team"

    def print_count(self, s: Count) -> None:
        if s.packet is None or any(isinstance(x, Guard) for x in s.nest):
            super().print_count(s)
            return
        w, n, packet = self.w, self.c(s.packet.count), s.packet
        w.comment(f"count: {s.note}")
        declare(self, packet)
        self.scalars["shift"] = "int64_t"
        self.scalars["*bucket"] = "int64_t"
        w.line(f"for (shift = 0; ({self.c(s.size - 1)}) >> shift >= TW_BUCKETS;)")
        w.line("    shift++;")
        self.fail(f"!(packet = tw_new({n}, sizeof *packet, 0))", "NO_MEMORY")
        self.fail("!(bucket = tw_new((int64_t)(threads + 1) * (TW_BUCKETS + 1), sizeof *bucket, 1))", "NO_MEMORY")
        self.region()
        w.line("int64_t *mine = bucket + (t + 1) * (TW_BUCKETS + 1);")
        short = used_levels(packet.nest, names(s.index))  # the shares must be those of the loop that sends
        self.nest(short, lambda: w.line(f"mine[{self.c(s.index)} >> shift]++;"), self.share(short))
        w.line("#pragma omp barrier")
        w.line("#pragma omp single")
        w.line("tw_bucket_starts(bucket, threads);")

        def send() -> None:
            w.line(f"const int64_t to = mine[{self.c(s.index)} >> shift]++;")
            for x in packet.names:
                w.line(f"packet[to].{x} = {x};")
            w.line(f"packet[to].{VALUE} = {self.c(packet.value)};")

        self.nest(packet.nest, send, self.share(packet.nest))
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

    def print_scatter(self, s: Scatter) -> None:
        if s.packet is None or any(isinstance(x, Guard) for x in s.nest):
            super().print_scatter(s)
            return
        w = self.w
        w.comment(s.note)
        if s.local:
            w.line(f"memset({s.counter}, 0, (size_t)({self.c(s.size + 2)}) * sizeof *{s.counter});")
        w.line(f"{_FOR} schedule(dynamic)")
        w.line("for (int64_t b = 0; b < TW_BUCKETS; b++)")
        w.depth += 1
        w.open("for (int64_t x = bucket[b]; x < bucket[b + 1]; x++)")
        receive(self, s.packet)
        w.line(f"const {self.types.c_value} {VALUE} = packet[x].{VALUE};")
        self.place(s, unpacked(s.body, s.packet))
        w.close()
        w.depth -= 1
        for name in ("packet", "bucket"):
            w.line(f"free({name});")
            w.line(f"{name} = NULL;")

    def print_radix(self, s: Radix) -> None:
        self.threaded = True
        super().print_radix(s)
