"""Synthesises the C that converts one sparse tensor format to another, both of which hold what their maps describe
(others: indirect.py): proves the descriptors, lowers to a chain of steps, optimises and prints it. Records `Options`,
`Conversion`."""
from __future__ import annotations

import zlib
from dataclasses import replace

from codegen.record import record
from codegen.sparse.algebra.expr import Exp, var
from codegen.sparse.algebra.terms import names
from codegen.sparse.emit.convert import ConversionStyle, conversion
from codegen.sparse.emit.file import CFile, CFunction, c_file
from codegen.sparse.emit.formats import struct
from codegen.sparse.emit.types import Types
from codegen.sparse.formats.model import Descriptor, Key
from codegen.sparse.ir.model import Branch, Computation, Either
from codegen.sparse.ir.optimize import optimize
from codegen.sparse.ir.passes.packets import packets
from codegen.sparse.ir.passes.prune import prune, used_levels
from codegen.sparse.prove.proof import proven
from codegen.sparse.synth.fast import lower
from codegen.sparse.synth.hypersparse import far_beyond
from codegen.sparse.synth.layout import layout
from codegen.sparse.synth.mechanisms import may_be_sorted
from codegen.sparse.synth.naive import lower_naive
from codegen.sparse.synth.pair import Pair, pair
from codegen.sparse.synth.scan import scan


@record
class Options:
    """How to convert. `duplicates`: keep, sum, reject, or None for keep where possible and sum elsewhere; `semiring`:
    what kernels mean by sums and products."""

    types: Types = Types()
    duplicates: str | None = None
    optimize: bool = True
    name: str = ""
    parallel: bool = False
    check: bool = False
    semiring: str = "plus-times"


@record
class Conversion:
    """A synthesised conversion; `parts`: static functions that it calls."""

    pair: Pair
    chain: Computation
    function: CFunction
    file: CFile
    functions: tuple[CFunction, ...]
    parts: tuple[CFunction, ...] = ()


def convert_direct(source: Descriptor, target: Descriptor, o: Options, header: str = "") -> Conversion:
    """Synthesise the conversion."""
    for d in (source, target):
        proven(d)
    p = pair(source, target, o.duplicates)
    chain = _fast(p) if o.optimize else prune(lower_naive(p))
    name = o.name or f"{source.name.lower()}_to_{target.name.lower()}"
    f = conversion(p, chain, (source, target), name, ConversionStyle(o.types, False, o.check))
    structs = (struct(layout(source), o.types), struct(layout(target), o.types))
    functions: tuple[CFunction, ...] = (f,)
    if o.parallel:
        threaded = ConversionStyle(o.types, True, o.check)
        functions = (f, conversion(p, chain, (source, target), name, threaded))
    file = c_file(f"{source.name} to {target.name}", structs, functions, o.types, header, key_functions(source, target))
    return Conversion(p, chain, f, file, functions)


def _fast(p: Pair) -> Computation:
    """The optimised chain; with another one for extents far beyond the entries, where it counts in arrays of their
    length and that one does not."""
    chain = _counted(p)
    condition = far_beyond(p, chain)
    if condition is None:
        return chain
    other = optimize(lower(p, sorting=True), numbered(p))
    if far_beyond(p, other) is not None:
        return chain
    either = Either(condition, other.steps, chain.steps, "extents far beyond the entries")
    return replace(chain, steps=(either,), log=(*chain.log, "where extents are far beyond the entries, by sorting"))


def _counted(p: Pair) -> Computation:
    """The chain that may count in arrays as long as extents; with a second one for entries that turn out to be in
    order, where a look tells."""
    chain = _packed(p, optimize(lower(p), numbered(p)))
    test = may_be_sorted(p)
    if test is None:
        return chain
    stream, keys = test
    other = optimize(lower(p, True), numbered(p))
    nest = used_levels(stream.nest, frozenset().union(*(names(k) for k in keys)))
    branch = Branch(nest, keys, other.steps, chain.steps, "look whether the entries come in order")
    return replace(chain, steps=(branch,), log=(*chain.log, "where the entries come in order, without moving them"))


def _packed(p: Pair, c: Computation) -> Computation:
    return packets(c, scan(p.source).count, p.source.desc.data)


def numbered(p: Pair) -> dict[str, Exp]:
    """Loop variables that number all entries from 0, with their count."""
    full = p.source.full
    own = {full.var: var(full.size)} if full and scan(p.source).count is not None else {}
    return {**own, "o": var(full.size) if own and full else var("entries")}


def key_functions(*formats: Descriptor) -> tuple[str, ...]:
    """The C of users' keys, each once."""
    keys = {k.name: k for d in formats for k in d.keys}
    return tuple(_key(k) for k in keys.values())


def _key(k: Key) -> str:
    parameters = ", ".join(f"int64_t {p}" for p in k.parameters)
    text = f"static inline uint64_t tw_key_{k.name}({parameters})\n{{\n    {k.body}\n}}"
    guard = f"TW_KEY_{k.name.upper()}_{zlib.crc32(text.encode()):08X}"  # another body is another function
    return f"#ifndef {guard}\n#define {guard}\n{text}\n#endif"
