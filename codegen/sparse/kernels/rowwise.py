"""Prints kernels that make sparse matrices from sparse matrices, row by row: `C(i,k) = A(i,j) * B(j,k)`,
`C(i,j) = A(i,j) - 2*B(j,i)`, `C(i,j) = A(i,j) * B(i,j)`, `C(i,k) = M(i,k) * A(i,j) * B(j,k)`, and sums of them.

Rows are independent, so threads share them. Two matrices with ascending columns are merged (merge.py); other rows are
added up column by column (accumulate.py). A factor with the indices of the result is a mask: columns that its row does
not have are passed over.
"""
from __future__ import annotations

from dataclasses import replace

from codegen.sparse.api import Options, convert
from codegen.sparse.emit.file import CFunction
from codegen.sparse.emit.formats import type_name
from codegen.sparse.emit.types import Types, Writer
from codegen.sparse.formats.load import load
from codegen.sparse.formats.model import Descriptor
from codegen.sparse.kernels.accumulate import Accumulators
from codegen.sparse.kernels.merge import COLUMNS, ROWS, Operand, Path, merged, streams
from codegen.sparse.kernels.notation import Kernel, Tensor, Term


def paths(k: Kernel, formats: dict[str, Descriptor]) -> tuple[Path, ...] | None:
    """How each term is gone through by rows of the result; None where the kernel is of another kind."""
    if k.out is None or k.adds or len(k.out.indices) != 2 or k.out.name not in formats:
        return None
    found = [_path(t, k.out, formats) for t in k.terms]
    return None if None in found else tuple(p for p in found if p is not None)


def _path(t: Term, out: Tensor, formats: dict[str, Descriptor]) -> Path | None:
    row, column = out.indices
    matrices = all(f.name in formats and formats[f.name].rank == 2 == len(f.indices) for f in t.factors)
    if not t.factors or t.over or not matrices:
        return None
    whole = [f for f in t.factors if set(f.indices) == {row, column}]
    others = sorted((f for f in t.factors if f not in whole), key=lambda f: row not in f.indices)
    if others and not _chained(others, row, column):
        return None
    steps, masks = (others, whole) if others else (whole[:1], whole[1:])
    shared = [x for x in others[0].indices if x != row] if others else []
    return Path(tuple(_operand(f, r, formats) for f, r in zip(steps, [row, *shared], strict=True)),
                tuple(_operand(f, row, formats) for f in masks))


def _chained(factors: list[Tensor], row: str, column: str) -> bool:
    """Are these two matrices, the first with the row, the second with the column, and both with a third index?"""
    if len(factors) != 2:
        return False
    first, second = (set(f.indices) for f in factors)
    shared = first & second
    return len(shared) == 1 and not shared & {row, column} and first == {row, *shared} and second == {column, *shared}


def _operand(t: Tensor, row: str, formats: dict[str, Descriptor]) -> Operand:
    turned = t.indices[0] != row
    return Operand(t.name, turned, formats[t.name] != load(COLUMNS if turned else ROWS))


def rowwise(k: Kernel, found: tuple[Path, ...], formats: dict[str, Descriptor], name: str,
            options: Options) -> tuple[CFunction, ...]:
    """Conversions of operands that are not kept by rows, the kernel, and a conversion of its result."""
    assert k.out is not None
    operands = tuple(dict.fromkeys(o for path in found for o in path.operands))
    parts = [convert(formats[o.tensor], load(o.format), replace(options, name=f"{name}_{o.name}", duplicates=None))
             for o in operands if o.made]
    direct = formats[k.out.name] == load(ROWS)
    if not direct:
        parts.append(convert(load(ROWS), formats[k.out.name], replace(options, name=f"{name}_made", duplicates=None)))
    whole = _RowWise(k, found, operands, options.types, name).function(formats, direct)
    static = (f for p in parts for f in (*p.parts, replace(p.function, prototype=f"static {p.function.prototype}")))
    return (*static, whole)


class _RowWise:
    def __init__(self, k: Kernel, found: tuple[Path, ...], operands: tuple[Operand, ...], types: Types,
                 name: str) -> None:
        self.k, self.found, self.operands, self.types, self.name, self.w = k, found, operands, types, name, Writer()
        self.masks = tuple(dict.fromkeys(o for path in found for o in path.masks))

    def function(self, formats: dict[str, Descriptor], direct: bool) -> CFunction:
        assert self.k.out is not None
        w, out = self.w, self.k.out.name
        result = type_name(load(ROWS), self.types)
        w.line(f"{result} made = {{0}};")
        w.line("int failed = 0;")
        self.converted()
        self.views()
        pair = streams(self.k, self.found)
        if pair:
            merged(self.w, self.k, pair, self.leave, self.types)
            self.w.open("if (!ascending)")
        Accumulators(self.w, self.k, self.found, self.types, self.leave).rows()
        if pair:
            self.w.close()
        if direct:
            w.line(f"*{out} = made;")
            w.line(f"made = ({result}){{0}};")
        else:
            w.line(f"status = {self.name}_made(&made, {out});")
        ending = Writer()
        for o in (o for o in self.operands if o.made):
            ending.line(f"{type_name(load(o.format), self.types)}_free(&{o.name});")
        ending.line(f"{result}_free(&made);")
        ending.line("free(from);")
        parameters = [f"{type_name(formats[out], self.types)} *{out}"]
        parameters += dict.fromkeys(f"const {type_name(formats[o.tensor], self.types)} *{o.tensor}"
                                    for o in self.operands)
        parameters += [f"{self.types.c_value} {s}" for s in self.k.scalars]
        declared = "".join(f"    {type_name(load(o.format), self.types)} {o.name} = {{0}};\n"
                           for o in self.operands if o.made)
        declared += "    int64_t *from = NULL;\n"
        return CFunction(f"/* {self.k.text}; fills *{out}, columns ascending within rows. */",
                         f"int {self.name}({', '.join(parameters)})",
                         f"    int status = TW_SPARSE_OK;\n{declared}", w.text, ending.text)

    def leave(self, condition: str, status: str) -> None:
        self.w.open(f"if ({condition})")
        self.w.line(f"status = TW_SPARSE_{status};")
        self.w.line("goto done;")
        self.w.close()

    def converted(self) -> None:
        for o in (o for o in self.operands if o.made):
            self.w.line(f"status = {self.name}_{o.name}({o.tensor}, &{o.name});")
            self.w.line("if (status != TW_SPARSE_OK)")
            self.w.line("    goto done;")

    def views(self) -> None:
        """Arrays and extents of the operands, which must agree."""
        for o in self.operands:
            at = f"{o.name}." if o.made else f"{o.tensor}->"
            ptr, index = o.fields
            self.w.line(f"const {self.types.c_index} *const {o.name}_ptr = {at}{ptr};")
            self.w.line(f"const {self.types.c_index} *const {o.name}_index = {at}{index};")
            self.w.line(f"const {self.types.c_value} *const {o.name}_val = {at}val;")
        rows, columns = (self.extent(self.found[0].steps[n], n) for n in (0, -1))
        self.w.line(f"const int64_t rows = {rows}, columns = {columns};")
        steps = [p.steps for p in self.found]
        alike = [*((p[0], p[-1]) for p in steps[1:]), *((o, o) for o in self.masks)]
        wrong = [f"{self.extent(a, 0)} != rows || {self.extent(b, -1)} != columns" for a, b in alike]
        wrong += [f"{self.extent(p[0], -1)} != {self.extent(p[1], 0)}" for p in steps if len(p) == 2]
        if wrong:
            self.leave(" || ".join(wrong), "RANGE")

    def extent(self, o: Operand, side: int) -> str:
        at = f"{o.name}." if o.made else f"{o.tensor}->"
        return at + o.extents[side]
