"""Adds ways for few threads to a result for many (`with_few_threads`). Products of one matrix each read all of it so
that threads can share them. One thread is faster with strips of lines that serve all of them, unless the second cache
holds the matrix; a few are with lines that follow each other, read once for both products of a pair. How many threads
and how large a matrix there are, only the program knows."""

from __future__ import annotations

from dataclasses import replace

from codegen.ast.ctree import Bin, ByThreads, CExpr, CNode, Declare, For, Int, ProductNode, expr_names, walk
from codegen.diagnostics import Diagnostic, Severity, Unsupported
from codegen.isa.widths import OPEN
from codegen.machine import Machine
from codegen.machine.variants import has_variants
from codegen.plan.model import Distribute, Tile
from codegen.region import AUTHORS, ProvenRegion, attempt, make
from codegen.scop.effort import part
from codegen.scop.model import Scop
from codegen.scop.product import MatrixVector
from codegen.strategy.choice import Decision
from codegen.strategy.following import MOST_THREADS, SIDE, WIDE, WIDE_SIDE, behind, wider_strips
from codegen.strategy.products.matrix_vector import lanes_of
from codegen.strategy.products.strips import FEW_THREADS
from codegen.targets.base import RegionJob

# Second caches of processors with vectors of 16 bytes and with longer ones, of that of the default machine.
SHORT, LONG = 2, 4
# Strips that threads share bring something where their second caches together are far too small for the matrix.
# Cascade Lake with 1 MB each, two threads, f64, atax n = 500, 1000, 2100 x 1900 and 4000 in ms: products shared one by
# one 0.10, 0.44, 3.05, 12.1, strips of 64 lines 0.12, 0.47, 2.35, 9.6, of 128 lines 0.11, 0.47, 2.5 and 30.
BEYOND = 8


def with_few_threads(job: RegionJob, made: ProvenRegion) -> ProvenRegion:
    """The result, in further ways where few threads have better ones; each is proven. A user's plan stays as it is."""
    model, machine = job.model, job.machine
    if made.author is None or not model.threads(job.options) or model.team or machine.cores <= FEW_THREADS:
        return made
    scop, product = made.program.scop, _along_result(made.code)
    sizes = _sizes(scop, product) if product is not None and not _in_strips(made) else ()
    if product is None or not sizes or _takes_memory(scop, made.code):
        return made
    few = _in_one_thread(job, made)
    out = _following(job, made, sizes)
    if few is None:
        return out
    lines = next(d.loops[0][1] for d in few.plan.directives if isinstance(d, Tile))
    if out is made:
        out = _sharing(job, made, few, product, sizes)
    text = f"on one thread, strips of {lines} lines of a large matrix serve all its products"
    code = ByThreads(1, FEW_THREADS, sizes, *_limits(product, machine), 0, few.code, out.code)
    return _told(out, code, text)


def _in_one_thread(job: RegionJob, made: ProvenRegion) -> ProvenRegion | None:
    """The region in strips as one thread takes them, if it can be."""
    scop = made.program.scop
    try:
        few = make(job.model, job.options, replace(job.machine, cores=FEW_THREADS), made.author or 0)
    except Unsupported:
        return None
    fits = _in_strips(few) and few.program.scop is scop and not _takes_memory(scop, few.code)
    return few if fits else None


def _following(job: RegionJob, made: ProvenRegion, sizes: tuple[CExpr, ...]) -> ProvenRegion:
    """With the way for a few threads that follow each other, if it has a pair of products."""
    text = f"up to {MOST_THREADS} threads follow each other along lines of the matrix, each read once for two products"
    decision = behind(job.model.program, made.plan, job.machine)
    return _by_a_few(job, made, decision, (sizes, 0, 0, SIDE), text)


def _sharing(
    job: RegionJob, made: ProvenRegion, few: ProvenRegion, product: ProductNode, sizes: tuple[CExpr, ...]
) -> ProvenRegion:
    """With the way for a few threads that share each product of a wide strip."""
    text = (
        f"up to {MOST_THREADS} threads share strips of {WIDE} lines, from their caches for all products but the first"
    )
    least, wide = _limits(product, job.machine)
    if not wide:
        cpu = lanes_of(job.machine, product.product.what)
        least = SHORT * cpu.l2.bytes // cpu.element_bytes
    decision = wider_strips(job.model.program, few.plan, job.machine)
    return _by_a_few(job, made, decision, (sizes, BEYOND * least, BEYOND * wide, WIDE_SIDE), text)


def _by_a_few(
    job: RegionJob,
    made: ProvenRegion,
    decision: Decision | None,
    where: tuple[tuple[CExpr, ...], int, int, int],
    text: str,
) -> ProvenRegion:
    """With a further way for two to a few threads and matrices of certain sizes, if its plan works out."""
    if decision is None or made.program.scop is not job.model.program.scop:
        return made
    share = part(job.options.timeout, AUTHORS[0])
    few, problem = attempt(job.model, lambda: decision, {}, share, has_variants(job.machine))
    if problem is not None and problem.id == "unproven":
        return replace(made, remarks=(*made.remarks, problem))
    if few is None or _takes_memory(few.program.scop, few.code):
        return made
    return _told(made, ByThreads(FEW_THREADS + 1, MOST_THREADS, *where, few.code, made.code), text)


def _told(made: ProvenRegion, code: ByThreads, text: str) -> ProvenRegion:
    told = Diagnostic(Severity.REMARK, "few-threads", text, made.program.scop.loc, kind="passed")
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
