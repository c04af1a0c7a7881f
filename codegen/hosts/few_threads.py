"""Adds the way for few threads to a result for many (`with_few_threads`): where products of one matrix each read all of
it so that threads can share them, a program with few threads is faster with strips of lines that serve all of them,
unless the second cache holds the matrix. How many threads and how large a matrix there are, only the program knows."""

from __future__ import annotations

from dataclasses import replace

from codegen.ast.ctree import Bin, ByThreads, CExpr, CNode, Declare, For, Int, ProductNode, expr_names, walk
from codegen.diagnostics import Diagnostic, Severity, Unsupported
from codegen.isa.widths import OPEN
from codegen.machine import Machine
from codegen.plan.model import Distribute, Tile
from codegen.region import ProvenRegion, make
from codegen.scop.model import Scop
from codegen.scop.product import MatrixVector
from codegen.strategy.products.matrix_vector import lanes_of
from codegen.strategy.products.strips import FEW_THREADS
from codegen.targets.base import RegionJob

# Second caches of processors with vectors of 16 bytes and with longer ones, of that of the default machine.
SHORT, LONG = 2, 4


def with_few_threads(job: RegionJob, made: ProvenRegion) -> ProvenRegion:
    """The result, in two ways where few threads have a better one; each is proven. A user's plan stays as it is."""
    model, machine = job.model, job.machine
    if made.author is None or not model.threads(job.options) or model.team or machine.cores <= FEW_THREADS:
        return made
    scop, product = made.program.scop, _along_result(made.code)
    sizes = _sizes(scop, product) if product is not None and not _in_strips(made) else ()
    if product is None or not sizes:
        return made
    try:
        few = make(model, job.options, replace(machine, cores=FEW_THREADS), made.author)
    except Unsupported:
        return made
    if not _in_strips(few) or few.program.scop is not scop or any(_takes_memory(scop, x.code) for x in (made, few)):
        return made
    lines = next(d.loops[0][1] for d in few.plan.directives if isinstance(d, Tile))
    text = f"on one thread, strips of {lines} lines of a large matrix serve all its products"
    told = Diagnostic(Severity.REMARK, "few-threads", text, scop.loc, kind="passed")
    code = ByThreads(FEW_THREADS, sizes, *_limits(product, machine), few.code, made.code)
    return replace(made, code=code, remarks=(*made.remarks, told))


def _in_strips(made: ProvenRegion) -> bool:
    return any(isinstance(d, Distribute) for d in made.plan.directives)


def _along_result(code: CNode) -> ProductNode | None:
    """The first matrix-vector product with lanes along its result, if there is another that may share its matrix."""
    found = [(n, n.product.how) for n in walk(code) if isinstance(n, ProductNode)]
    sweeps = [(n, how) for n, how in found if isinstance(how, MatrixVector)]
    return next((n for n, how in sweeps if how.form == "lanes"), None) if len(sweeps) > 1 else None


def _sizes(scop: Scop, product: ProductNode) -> tuple[CExpr, ...]:
    """Rows and columns of its matrix, where they are known ahead of the region; else none."""
    loops = [n for n in walk(product.body) if isinstance(n, For)]
    sizes = tuple(lp.upper if lp.lower == Int(0) else Bin("-", lp.upper, lp.lower) for lp in loops)
    known = {p.name for p in scop.params}
    return sizes if all(expr_names(e) <= known for e in sizes) else ()


def _limits(product: ProductNode, machine: Machine) -> tuple[int, int]:
    """Elements of a matrix that the second cache holds, where vectors are short and where they are long. Of a known
    processor strips are right from the first on: with them, atax and bicg with n = 300 are 1.13 and 1.05 times as fast
    on Neoverse N1."""
    cpu, how = lanes_of(machine, product.product.what), product.product.how
    held = cpu.l2.bytes // cpu.element_bytes
    return (SHORT * held, LONG * held) if isinstance(how, MatrixVector) and how.isa == OPEN else (0, 0)


def _takes_memory(scop: Scop, code: CNode) -> bool:
    """Does it keep variables in memory that is asked for ahead of all loops?"""
    return any(scop.arrays[h.array].roomy for n in walk(code) if isinstance(n, Declare) for h in n.slots)
