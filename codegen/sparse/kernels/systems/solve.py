"""Triangular systems, with one right side or several: by rows (rows.py), or, where a format keeps columns together,
by columns: each unknown, once known, is taken out of the rows that need it."""
from __future__ import annotations

from codegen.sparse.algebra.expr import var
from codegen.sparse.emit.file import CFunction
from codegen.sparse.emit.stmts import StmtPrinter
from codegen.sparse.emit.types import Types, Writer
from codegen.sparse.formats.model import Descriptor
from codegen.sparse.ir.nest import For, Guard
from codegen.sparse.kernels.notation import Kernel, bad_kernel
from codegen.sparse.kernels.systems.rows import Rows
from codegen.sparse.kernels.systems.system import System
from codegen.sparse.synth.layout import layout
from codegen.sparse.synth.pair import apart, sizes
from codegen.sparse.synth.prefix import prefixed
from codegen.sparse.synth.scan import scan


def solver(k: Kernel, formats: dict[str, Descriptor], name: str, types: Types) -> tuple[CFunction, ...]:
    """NAME_waits(L, waits) once for a matrix, then NAME(x, L, b, waits) for every right side; NAME(x, L, b) alone
    where columns are kept together. Several right sides at once are as many columns, n_k."""
    assert k.solve is not None
    matrix, x, b = k.solve
    if matrix.name not in formats or formats[matrix.name].rank != 2:
        raise bad_kernel(f"{matrix.name} must be a sparse matrix", hint=f"--format {matrix.name}=CSR")
    d = formats[matrix.name]
    if d.indirect:
        raise bad_kernel(f"{d.name} does not hold the matrix as it is, so a system cannot be solved over it",
                         hint=f"let it be converted: --convert {matrix.name}=CSR")
    taken = frozenset({matrix.name, x.name, b.name, *x.indices[1:], *(f"n_{k}" for k in x.indices[1:])})
    lay = layout(apart(prefixed(d, f"{matrix.name}_", tuple(f"{matrix.name}_{s}" for s in d.shape)), taken))
    s = scan(lay)
    loops = [n for n, y in enumerate(s.nest) if isinstance(y, For)]
    first = s.nest[loops[0]]
    assert isinstance(first, For)
    if var(first.var) not in s.coords or len(loops) < 2:
        raise bad_kernel(f"{d.name} keeps neither rows nor columns together, so a system cannot be solved over it",
                         hint=f"let it be converted: --convert {matrix.name}=CSR")
    inner = [y for y in s.nest[loops[0] + 1:] if not (isinstance(y, Guard) and not y.cons)]
    parts = k, d, types, (s.coords[0], s.coords[1]), tuple(inner), s.value
    inspector, executor = (StmtPrinter(Writer(), sizes(lay), types) for _ in range(2))
    if s.coords[0] != var(first.var):
        return (Columns(*parts).executor(name, executor, lay.desc),)
    rows = Rows(*parts)
    return rows.inspector(name, inspector, lay.desc), rows.executor(name, executor, lay.desc)


class Columns(System):
    """A system whose columns are kept together."""

    def executor(self, name: str, p: StmtPrinter, desc: Descriptor) -> CFunction:
        w, n, i, j, v = p.w, desc.shape[0], p.c(self.i), p.c(self.j), self.types.c_value
        w.open(f"if ({n} != {desc.shape[1]})")
        w.line("return TW_SPARSE_RANGE;")
        w.close()
        w.line("int singular = 0;")
        many = "".join(f" * n_{k}" for k in self.sides)
        w.line(f"for (int64_t tw_x = 0; tw_x < {n}{many}; tw_x++)")
        w.line(f"    {self.x}[tw_x] = {self.b}[tw_x];")
        down = f"{j} = {n} - 1; {j} >= 0; {j}--"
        w.open(f"for (int64_t {down if self.k.upper else f'{j} = 0; {j} < {n}; {j}++'})")
        w.line(f"{v} pivot = 0;")
        opened = self.entries(p)
        w.line(f"if ({i} == {j})")
        w.line(f"    pivot += {p.c(self.value)};")
        for _ in range(opened):
            w.close()
        w.line("singular |= pivot == 0;")
        self.each(w, f"{self.at(self.x, j)} = pivot == 0 ? 0 : {self.at(self.x, j)} / pivot;")
        opened = self.entries(p)
        w.open(f"if ({self.other_side(j, i)})")
        self.each(w, f"{self.at(self.x, i)} -= {p.c(self.value)} * {self.at(self.x, j)};")
        w.close()
        for _ in range(opened):
            w.close()
        w.close()
        return self.function(name, p, desc, "column after column", "")
