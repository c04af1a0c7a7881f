"""Prints kernels with several sparse operands, or with a sparse result of other places than its operand's: each term
goes through the entries of one operand and meets those of the others by the indices they share.

`s = A(i,j)*B(i,j)`, `y(i) = A(i,j)*B(j,k)*x(k)`, `Y(i,j) = X(i,j,k)*v(k)`. A matrix with one index known is gone
through by that row or column; with both known, its entry is searched for in its sorted row; a vector is spread over
its extent. Products are added to a dense result, or are coordinates, which a conversion sorts and adds up.
"""
from __future__ import annotations

from dataclasses import replace

from codegen.record import record
from codegen.sparse.api import Options, convert
from codegen.sparse.emit.file import CFunction
from codegen.sparse.emit.formats import type_name
from codegen.sparse.emit.types import Writer
from codegen.sparse.formats.builtin import INDEX
from codegen.sparse.formats.load import load, sorted_rows
from codegen.sparse.formats.model import Descriptor
from codegen.sparse.kernels.notation import Kernel, Tensor, Term, bad_kernel
from codegen.sparse.kernels.semiring import PLUS_TIMES

_DIRECT = {"CSR": 0, "CSC": 1}  # formats by rows, by columns


@record
class Access:
    """How an operand is gone through: all its entries, those of one row (`outer` 0) or column, those at one element,
    or spread over its extent."""

    tensor: Tensor
    kind: str
    outer: int = 0

    @property
    def name(self) -> str:
        if self.kind in ("entries", "spread"):
            return f"{self.tensor.name}_entries"
        return f"{self.tensor.name}_{('rows', 'columns')[self.outer]}{'_sorted' if self.kind == 'search' else ''}"

    @property
    def arrays(self) -> tuple[str, str]:
        return f"{INDEX[self.outer]}ptr", INDEX[1 - self.outer]

    def format(self) -> Descriptor:
        if self.kind in ("entries", "spread"):
            return coordinates(len(self.tensor.indices))
        plain = load(("CSR", "CSC")[self.outer])
        return sorted_rows(plain, self.outer) if self.kind == "search" else plain


def coordinates(rank: int) -> Descriptor:
    return load("COO" if rank == 2 else f"COO{rank}")


def accesses(t: Term, formats: dict[str, Descriptor]) -> tuple[Access, ...]:
    """The operands of a term in the order in which they are gone through, each by what is known by then."""
    todo = [f for f in t.factors if f.name in formats]
    if sum(len(f.indices) > 2 for f in todo) > 1:
        raise bad_kernel("only one operand of a product may have more than two dimensions")
    direct = {x for f in todo if len(f.indices) == 2 for x in _by(f, formats)}
    small = all(len(f.indices) < 3 for f in todo)
    vectors = [f for f in todo if small and len(f.indices) == 1 and f.indices[0] in direct]
    out: list[Access] = []
    known: set[str] = set()
    while todo:
        best = max(todo, key=lambda g: (len(known & set(g.indices)), len(g.indices)))
        f = vectors[0] if vectors and not out else best
        todo.remove(f)
        out.append(_access(f, known, formats))
        known |= set(f.indices)
    return tuple(out)


def _by(f: Tensor, formats: dict[str, Descriptor]) -> tuple[str, ...]:
    """The index by which a matrix is kept."""
    at = _DIRECT.get(formats[f.name].name) if formats[f.name] in (load("CSR"), load("CSC")) else None
    return () if at is None else (f.indices[at],)


def _access(f: Tensor, known: set[str], formats: dict[str, Descriptor]) -> Access:
    here = [n for n, x in enumerate(f.indices) if x in known]
    if not here:
        return Access(f, "entries")
    if len(f.indices) == 1:
        return Access(f, "spread")
    if len(here) == 2:
        return Access(f, "search")
    return Access(f, "row", here[0])


def join(k: Kernel, formats: dict[str, Descriptor], name: str, options: Options) -> tuple[tuple[CFunction, ...],
                                                                                     tuple[Descriptor, ...]]:
    """The functions, and the formats they speak of beside the kernel's own."""
    assert k.out is not None
    for f in (f for t in k.terms for f in t.tensors if f.name in formats):
        if formats[f.name].rank != len(f.indices):
            raise bad_kernel(f"{f} has {len(f.indices)} indices and {formats[f.name].name} {formats[f.name].rank} "
                             "dimensions")
    if any(f.name in formats for t in k.terms for f in t.over):
        raise bad_kernel("only dense tensors divide: the others have zeros")
    made = _Join(k, formats, name, options)
    return made.functions(), made.formats_used


class _Join:
    def __init__(self, k: Kernel, formats: dict[str, Descriptor], name: str, options: Options) -> None:
        assert k.out is not None
        self.k, self.formats, self.name, self.options, self.types = k, formats, name, options, options.types
        self.out, self.ring, self.w = k.out, k.semiring, Writer()
        self.sparse = k.out.name in formats
        self.starts = tuple(t for t in k.terms if not any(f.name in formats for f in t.factors))
        self.terms = tuple(t for t in k.terms if t not in self.starts)
        self.check()
        self.steps = {t: accesses(t, formats) for t in self.terms}
        every = {a.name: a for steps in self.steps.values() for a in steps}
        self.every = tuple(every.values())
        self.extent = self.extents()
        result = (coordinates(len(k.out.indices)),) if self.sparse else ()
        self.formats_used = (*(a.format() for a in self.every), *result)

    def check(self) -> None:
        out, k = self.out, self.k
        if self.sparse and (self.starts or k.adds):
            raise bad_kernel("a sparse result is made of products with sparse tensors; dense terms would fill it"
                             if self.starts else f"{out.name} is made anew, so nothing can be added to it")
        if self.sparse and k.semiring != PLUS_TIMES:
            raise bad_kernel(f"such a sparse result is not made over {k.semiring.name}")
        if self.sparse and not 1 <= len(out.indices) <= len(INDEX):
            raise bad_kernel(f"a sparse result has one to {len(INDEX)} indices")
        for t in self.starts:
            if any(set(f.indices) - set(out.indices) for f in t.tensors):
                raise bad_kernel("a dense term may only have the indices of the result")
        if any(out in t.tensors for t in self.terms) or (k.adds and any(out in t.tensors for t in self.starts)):
            raise bad_kernel(f"{out.name} is on both sides")
        for t in self.terms:
            missing = set(out.indices) - {x for f in t.tensors for x in f.indices}
            if missing:
                raise bad_kernel(f"the index {min(missing)} of {out.name} is not in every product")

    def extents(self) -> dict[str, str]:
        """Every index's extent as C: that of a sparse operand, or a parameter."""
        out: dict[str, str] = {}
        for t in self.k.terms:
            for f in t.tensors:
                for n, x in enumerate(f.indices):
                    if f.name in self.formats:
                        out.setdefault(x, f"{f.name}->{self.formats[f.name].shape[n]}")
        dense = dict.fromkeys(x for t in self.k.terms for f in t.tensors for x in f.indices if x not in out)
        return {**out, **{x: f"n_{x}" for x in dense}}

    # --- functions ---------------------------------------------------------------------------------------------

    def functions(self) -> tuple[CFunction, ...]:
        plain = replace(self.options, duplicates=None)
        parts = [convert(self.formats[a.tensor.name], a.format(), replace(plain, name=f"{self.name}_{a.name}"))
                 for a in self.every if self.made(a)]
        if self.sparse:
            last = replace(self.options, duplicates="sum", name=f"{self.name}_made")
            parts.append(convert(coordinates(len(self.out.indices)), self.formats[self.out.name], last))
        self.body()
        made = [a for a in self.every if self.made(a)]
        declared = "".join(f"    {type_name(a.format(), self.types)} {a.name} = {{0}};\n" for a in made)
        declared += "".join(f"    {self.types.c_value} *{a.tensor.name}_at = NULL;\n"
                            f"    unsigned char *{a.tensor.name}_here = NULL;\n" for a in self.spread())
        ending = Writer()
        for a in made:
            ending.line(f"{type_name(a.format(), self.types)}_free(&{a.name});")
        for a in self.spread():
            ending.line(f"free({a.tensor.name}_at);")
            ending.line(f"free({a.tensor.name}_here);")
        if self.sparse:
            kind = type_name(coordinates(len(self.out.indices)), self.types)
            declared += f"    {kind} made = {{0}};\n    int64_t room = 4096;\n"
            ending.line(f"{kind}_free(&made);")
        fills = f"; fills *{self.out.name}" if self.sparse else ""
        whole = CFunction(f"/* {self.k.text}{fills}. */", f"int {self.name}({', '.join(self.parameters())})",
                          f"    int status = TW_SPARSE_OK;\n{declared}", self.w.text, ending.text)
        static = (f for p in parts for f in (*p.parts, replace(p.function, prototype=f"static {p.function.prototype}")))
        return (*static, whole)

    def made(self, a: Access) -> bool:
        """Is the operand converted first?"""
        return a.format() != self.formats[a.tensor.name]

    def at(self, a: Access) -> str:
        return f"{a.name}." if self.made(a) else f"{a.tensor.name}->"

    def spread(self) -> tuple[Access, ...]:
        return tuple({a.tensor.name: a for steps in self.steps.values() for a in steps if a.kind == "spread"}.values())

    def parameters(self) -> list[str]:
        v = self.types.c_value
        kind = type_name(self.formats[self.out.name], self.types) if self.sparse else f"{v}"
        out = [f"{kind} *{'' if self.sparse else 'restrict '}{self.out.name}"]
        for f in (f for t in (*self.terms, *self.starts) for f in t.tensors if f.name != self.out.name):
            sparse = f.name in self.formats
            own = type_name(self.formats[f.name], self.types) if sparse else v
            out.append(f"const {own} *{'' if sparse else 'restrict '}{f.name}")
        sizes = [f"int64_t {e}" for e in self.extent.values() if e.startswith("n_")]
        return [*dict.fromkeys(out), *(f"{v} {s}" for s in self.k.scalars), *dict.fromkeys(sizes)]

    def body(self) -> None:
        w = self.w
        given = [(f"{f.name}->{self.formats[f.name].shape[n]}", self.extent[x]) for t in self.terms for f in t.factors
                 if f.name in self.formats for n, x in enumerate(f.indices)]
        unlike = [f"{mine} != {known}" for mine, known in dict.fromkeys(given) if mine != known]
        if unlike:
            self.leave(" || ".join(unlike), "RANGE")
        for a in (a for a in self.every if self.made(a)):
            w.line(f"status = {self.name}_{a.name}({a.tensor.name}, &{a.name});")
            w.line("if (status != TW_SPARSE_OK)")
            w.line("    goto done;")
        for a in self.spread():
            self.spread_out(a)
        if not self.sparse:
            self.begin()
        else:
            arrays = [f"made.{f}" for f in (*INDEX[:len(self.out.indices)], "val")]
            for f in arrays:
                w.line(f"{f} = tw_new(room, sizeof *{f}, 0);")
            self.leave(" || ".join(f"!{f}" for f in arrays), "NO_MEMORY")
        for t in self.terms:
            self.term(t)
        if self.sparse:
            for n, x in enumerate(self.out.indices):
                w.line(f"made.{coordinates(len(self.out.indices)).shape[n]} = {self.extent[x]};")
            w.line(f"status = {self.name}_made(&made, {self.out.name});")

    def leave(self, condition: str, status: str) -> None:
        self.w.open(f"if ({condition})")
        self.w.line(f"status = TW_SPARSE_{status};")
        self.w.line("goto done;")
        self.w.close()

    def spread_out(self, a: Access) -> None:
        w, n, (x,) = self.w, a.tensor.name, a.tensor.indices
        w.line(f"{n}_at = tw_new({self.extent[x]}, sizeof *{n}_at, 0);")
        w.line(f"{n}_here = tw_new({self.extent[x]}, 1, 1);")
        self.leave(f"!{n}_at || !{n}_here", "NO_MEMORY")
        w.open(f"for (int64_t tw_p = 0; tw_p < {self.at(a)}NNZ; tw_p++)")
        w.line(f"const int64_t tw_x = {self.at(a)}row[tw_p];")
        more = self.ring.total([f"{n}_at[tw_x]", f"{self.at(a)}val[tw_p]"])
        w.line(f"{n}_at[tw_x] = {n}_here[tw_x] ? {more} : {self.at(a)}val[tw_p];")
        w.line(f"{n}_here[tw_x] = 1;")
        w.close()

    def begin(self) -> None:
        """What a dense result begins with: its dense terms, or nothing."""
        w = self.w
        if not self.starts and self.k.adds:
            return
        for x in self.out.indices:
            w.open(f"for (int64_t {x} = 0; {x} < {self.extent[x]}; {x}++)")
        texts = [self.product(t, []) for t in self.starts]
        total = self.ring.total(texts) if texts else self.ring.zero
        place = self.element(self.out)
        w.line(self.ring.add(place, f"({total})" if self.ring == PLUS_TIMES else total) if self.k.adds
               else f"{place} = {total};")
        for _ in self.out.indices:
            w.close()

    def element(self, t: Tensor) -> str:
        at = ""
        for x in t.indices:
            at = f"({at}) * {self.extent[x]} + {x}" if at else x
        return f"{t.name}[{at or '0'}]"

    def product(self, t: Term, values: list[str]) -> str:
        """A term's product, with the values of its sparse operands."""
        dense = [self.element(f) for f in t.factors if f.name not in self.formats]
        scale = ([t.scale] if t.scale else []) if self.ring == PLUS_TIMES else list(t.scalars)
        product = self.ring.product([*scale, *values, *dense] or ["1"])
        return " / ".join([product, *(self.element(f) for f in t.over)])

    # --- one term ----------------------------------------------------------------------------------------------

    def term(self, t: Term) -> None:
        known: set[str] = set()
        opened, values = 0, []
        every = [x for f in (self.out, *t.tensors) for x in f.indices]
        needed = {x for x in every if every.count(x) > 1}
        for n, a in enumerate(self.steps[t]):
            opened += self.open(a, f"tw_p{n}", known, needed)
            values.append(f"{a.tensor.name}_at[{a.tensor.indices[0]}]" if a.kind == "spread"
                          else f"{self.at(a)}val[tw_p{n}]")
        for x in dict.fromkeys(x for f in t.tensors for x in f.indices if x not in known):
            self.w.open(f"for (int64_t {x} = 0; {x} < {self.extent[x]}; {x}++)")
            opened += 1
        product = self.product(t, values)
        if self.sparse:
            self.append(product)
        else:
            self.w.line(self.ring.add(self.element(self.out), product))
        for _ in range(opened):
            self.w.close()

    def open(self, a: Access, p: str, known: set[str], needed: set[str]) -> int:
        """Open the loop over what an operand has for the indices that are known, and name others that are needed."""
        w, at, indices = self.w, self.at(a), a.tensor.indices
        if a.kind == "spread":
            w.line(f"if (!{a.tensor.name}_here[{indices[0]}])")
            w.line("    continue;")
            return 0
        ptr, index = a.arrays
        if a.kind == "entries":
            w.open(f"for (int64_t {p} = 0; {p} < {at}NNZ; {p}++)")
            coordinates = [(x, f"{at}{INDEX[n]}[{p}]") for n, x in enumerate(indices)]
        elif a.kind == "row":
            u = indices[a.outer]
            w.open(f"for (int64_t {p} = {at}{ptr}[{u}]; {p} < {at}{ptr}[{u} + 1]; {p}++)")
            coordinates = [(indices[1 - a.outer], f"{at}{index}[{p}]")]
        else:
            u, x = indices
            first = f"tw_lower({at}{index}, {at}{ptr}[{u}], {at}{ptr}[{u} + 1], {x})"
            w.open(f"for (int64_t {p} = {first}; {p} < {at}{ptr}[{u} + 1] && {at}{index}[{p}] == {x}; {p}++)")
            coordinates = []
        for x, e in coordinates:
            if x in known:
                w.line(f"if ({e} != {x})")
                w.line("    continue;")
            elif x in needed:
                w.line(f"const int64_t {x} = {e};")
            known.add(x)
        return 1

    def append(self, product: str) -> None:
        """One more entry of the result, as coordinates."""
        w, arrays = self.w, (*INDEX[:len(self.out.indices)], "val")
        w.open("if (made.NNZ == room)")
        w.line("room *= 2;")
        for f in arrays:
            w.line(f"void *tw_{f} = realloc(made.{f}, (size_t)room * sizeof *made.{f});")
            w.line(f"made.{f} = tw_{f} ? tw_{f} : made.{f};")
        self.leave(" || ".join(f"!tw_{f}" for f in arrays), "NO_MEMORY")
        w.close()
        for f, x in zip(arrays, self.out.indices, strict=False):
            w.line(f"made.{f}[made.NNZ] = {x};")
        w.line(f"made.val[made.NNZ++] = {product};")
