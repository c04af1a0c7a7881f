"""Prints the C of the steps Count and Scatter with packets, for one thread: entries go first near their place, bucket
by bucket, then exactly there. At run time, a sample of the entries may choose direct writing instead.

Writing to very many places at once misses caches and page tables at nearly every entry. With packets the writes go to
a few hundred buckets, and what follows happens within one bucket at a time.
"""
from __future__ import annotations

from typing import TYPE_CHECKING

from codegen.sparse.algebra.terms import names
from codegen.sparse.ir.counting import Count, Packet, Scatter
from codegen.sparse.ir.passes.packets import VALUE, unpacked
from codegen.sparse.ir.passes.prune import used_levels

if TYPE_CHECKING:
    from codegen.sparse.emit.steps import StepPrinter


def declare(p: StepPrinter, packet: Packet) -> None:
    fields = "".join(f"{p.types.c_index} {n}; " for n in packet.names)
    p.scalars["*packet"] = f"struct {{ {fields}{p.types.c_value} {VALUE}; }}"


def count_packets(p: StepPrinter, s: Count) -> None:
    """Packets into buckets and counts from them, or plain counts where direct writing does as well."""
    assert s.packet is not None
    w, n = p.w, p.c(s.packet.count)
    declare(p, s.packet)
    p.scalars["shift"] = "int64_t"
    w.line(f"shift = tw_buckets({p.c(s.size)}, {n});")
    sample(p, s)
    w.open(f"if (shift >= 0 && (packet = tw_new({n}, sizeof *packet, 0)))")
    w.line("int64_t bucket[TW_BUCKETS + 1] = {0};")
    p.nest(used_levels(s.nest, names(s.index)), lambda: w.line(f"bucket[({p.c(s.index)} >> shift) + 1]++;"))
    w.line("for (int64_t x = 0; x < TW_BUCKETS; x++)")
    w.line("    bucket[x + 1] += bucket[x];")

    def send() -> None:
        assert s.packet is not None
        w.line(f"const int64_t to = bucket[{p.c(s.index)} >> shift]++;")
        for x in s.packet.names:
            w.line(f"packet[to].{x} = {x};")
        w.line(f"packet[to].{VALUE} = {p.c(s.packet.value)};")

    p.nest(s.packet.nest, send)
    w.open(f"for (int64_t x = 0; x < {n}; x++)")
    receive(p, s.packet, names(s.index))
    w.line(f"{s.counter}[{p.c(s.index + 2)}]++;")
    w.close()
    w.close("} else {")
    w.depth += 1
    p.count_plainly(s)
    w.close()


def sample(p: StepPrinter, s: Count) -> None:
    """A look at the first entries: where neighbours go to neighbouring places, the cache does what packets would."""
    w = p.w
    w.open("if (shift >= 0)")
    w.line("uint64_t near[64] = {0};")
    w.line("int64_t tried = 0, apart = 0;")

    def look() -> None:
        w.line(f"const uint64_t line = (uint64_t)({p.c(s.index)} >> 4) * 0x9e3779b97f4a7c15 >> 52;")
        w.line("apart += !(near[line >> 6] >> (line & 63) & 1);")
        w.line("near[line >> 6] |= (uint64_t)1 << (line & 63);")
        w.line("if (++tried == 4096)")
        w.line(f"    goto sampled_{s.counter};")

    p.nest(used_levels(s.nest, names(s.index)), look)
    w.line(f"sampled_{s.counter}:")
    w.line("if (apart < 1024)")
    w.line("    shift = -1;")
    w.close()


def receive(p: StepPrinter, packet: Packet, only: frozenset[str] | None = None) -> None:
    for x in packet.names:
        if only is None or x in only:
            p.w.line(f"const int64_t {x} = packet[x].{x};")


def place_packets(p: StepPrinter, s: Scatter) -> None:
    assert s.packet is not None
    w = p.w
    p.prepare(s.nest, s.body)
    w.open("if (packet)")
    w.open(f"for (int64_t x = 0; x < {p.c(s.packet.count)}; x++)")
    receive(p, s.packet)
    w.line(f"const {p.types.c_value} {VALUE} = packet[x].{VALUE};")
    p.place(s, unpacked(s.body, s.packet))
    w.close()
    w.close("} else {")
    w.depth += 1
    p.place_plainly(s)
    w.close()
    w.line("free(packet);")
    w.line("packet = NULL;")
