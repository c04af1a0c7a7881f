"""Prints the OpenMP and compiler pragmas ahead of parallel and vector loops."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial, reduce
from typing import Literal

import islpy as isl

from codegen.ast.ctree import ByThreads, CNode, Declare, For, Instance, Int, ProductNode, expr_names, node_kids, walk
from codegen.ast.generate import expression
from codegen.isa.widths import WIDTHS
from codegen.recognize.access.calls import scalar_calls
from codegen.recognize.access.domain_shape import extent
from codegen.record import record
from codegen.scop.distance import bounds
from codegen.scop.expr import Call, DataLoop, Gather
from codegen.scop.expr import walk as parts
from codegen.scop.model import Scop, Statement
from codegen.scop.tree import PARALLEL, PARALLEL_VECTOR, PIPELINED, SHARED, VECTOR
from codegen.target.firstprivate import copied, named_alone
from codegen.target.text.cexpr import IntPrinter
from codegen.target.text.pieces import View


@record
class Pragma:
    """What stands in front of a loop: `words` with the condition `test` for threads; `alone` where they do not pay."""

    words: str = ""
    test: str = ""
    clauses: str = ""
    alone: str = ""

    @property
    def text(self) -> str:
        test = f" if(parallel: {self.test})" if self.test else ""
        return f"{self.words}{test}{self.clauses}"

    @property
    def little(self) -> str:
        """Where the test does not hold."""
        return self.test.replace(" >= TW_PARALLEL_MIN", " < TW_PARALLEL_MIN")

    @property
    def threaded(self) -> str:
        """Where the test is known to hold."""
        return f"{self.words}{self.clauses}"


Threads = bool | Literal["team"]  # none, its own, or those of a team that runs the region
Maker = Callable[[For, IntPrinter], Pragma]


def pragma_makers(scop: Scop, threads: Threads) -> Mapping[str, Maker]:
    """One function per loop kind. Without threads, parallel loops stay plain, and vectors are asked of compilers in
    their own ways. A team that is there shares out all parallel loops: each thread has come to them."""
    if not threads:
        vectors = partial(_ivdep, scop)
        return {PARALLEL: lambda node, ints: Pragma(), VECTOR: vectors, PARALLEL_VECTOR: vectors}
    if threads == "team":
        return {
            PARALLEL: lambda node, ints: Pragma("#pragma omp for", clauses=_schedule_clause(node)),
            PARALLEL_VECTOR: lambda node, ints: Pragma(
                "#pragma omp for simd" if _asks(scop, node) else "#pragma omp for", clauses=_schedule_clause(node)
            ),
            VECTOR: lambda node, ints: _simd(scop, node),
        }
    return {
        PARALLEL: lambda node, ints: _parallel(scop, node, ints, "parallel for"),
        PARALLEL_VECTOR: lambda node, ints: _parallel(scop, node, ints, _both(scop, node)),
        PIPELINED: lambda node, ints: _parallel(scop, node, ints, "parallel"),
        VECTOR: lambda node, ints: _simd(scop, node),
    }


def says_vector(scop: Scop, node: For, threads: bool) -> bool:
    """Does what stands in front of a vector loop ask compilers for vectors?"""
    if _scalar(scop, node):
        return False
    if not threads:
        return not node.loop.reductions
    if node.loop.kind == PARALLEL_VECTOR:
        return _innermost(node) and not node.loop.reductions
    return bool(_simd(scop, node).words)


def _ivdep(scop: Scop, node: For, ints: IntPrinter) -> Pragma:
    if node.loop.reductions or _scalar(scop, node):
        return Pragma()
    word = "TW_IVDEP" if _beyond_clang(scop, node) else "TW_SIMD"
    ints.helpers.add(word.lower())
    return Pragma(word)


def _beyond_clang(scop: Scop, node: For) -> bool:
    """clang makes vectors of innermost loops, and of calls only where it may forget errno; of elements that data point
    to only where that pays. Else it warns that it did not do what it was told."""
    inside = list(walk(node.body))
    found = {n.stmt for n in inside if isinstance(n, Instance)}
    return any(isinstance(n, For) for n in inside) or any(
        isinstance(e, (Call, DataLoop, Gather)) for name in sorted(found) for e in parts(scop.statement(name).rhs)
    )


def _scalar(scop: Scop, node: For) -> bool:
    """Does it call what compilers make no vectors of?"""
    return bool(scalar_calls(scop, sorted({n.stmt for n in walk(node.body) if isinstance(n, Instance)})))


def _innermost(node: For) -> bool:
    """Is it an innermost loop, once compilers have unrolled those of a few iterations?"""
    return all(_few(n) for n in walk(node.body) if isinstance(n, For))


def _few(loop: For) -> bool:
    """Loops of this length, and known, both gcc and clang unroll as a whole."""
    low, high = loop.lower, loop.upper
    return isinstance(low, Int) and isinstance(high, Int) and high.value - low.value <= 8 * loop.step


def _simd(scop: Scop, node: For) -> Pragma:
    if not _innermost(node) or _scalar(scop, node):
        return Pragma()  # along outer loops gcc makes vectors of few, clang of none, and warns when told to
    if any(scop.arrays[a].rank for _, a in node.loop.reductions):
        return Pragma()  # gathered in elements of arrays, which no clause can name
    return Pragma("#pragma omp simd", clauses=_clauses(node))


def _parallel(scop: Scop, node: For, ints: IntPrinter, words: str) -> Pragma:
    work = _work(scop, node, ints)
    test = ""
    if work:
        ints.helpers.add("tw_parallel_min")
        test = f"{work} >= TW_PARALLEL_MIN"
    alone = _simd(scop, node).text if node.loop.kind == PARALLEL_VECTOR else ""
    return Pragma(f"#pragma omp {words}", test, f"{_schedule_clause(node)}{_clauses(node)}{copied(scop, node)}", alone)


def shared_by_team(scop: Scop, code: CNode) -> bool:
    """Can a team share all of it? Each statement is in a loop that needs no order and gathers no values, and so are the
    variables: what is declared outside, each thread would have for itself."""
    if isinstance(code, For) and code.loop.kind in (PARALLEL, PARALLEL_VECTOR):
        return not any(_needs_more(scop, n) for n in walk(code))
    if isinstance(code, Instance | ProductNode | Declare) or (isinstance(code, For) and code.otherwise):
        return False
    return all(shared_by_team(scop, child) for child in node_kids(code))


def _needs_more(scop: Scop, node: CNode) -> bool:
    """Does it take more than a loop that a team shares: its own threads, memory from the heap, results to gather?"""
    if isinstance(node, Declare):
        return any(scop.arrays[h.array].roomy for h in node.slots)
    return isinstance(node, ProductNode) or (isinstance(node, For) and bool(node.loop.reductions))


def _schedule_clause(node: For) -> str:
    """What each thread gets, where that is not an equal part of the loop's iterations."""
    return f" schedule(static, {node.loop.share})" if node.loop.share and node.loop.kind != PIPELINED else ""


def collapses(node: For) -> bool:
    """Are two loops shared out together? Not where the outer one decides about the length of the inner one, which
    compilers count before they start, nor where something stands between the two."""
    inner = node.body
    if not isinstance(inner, For) or inner.loop.kind != SHARED:
        return False
    if inner.form is not None or inner.lets or inner.asked or inner.ahead:
        return False
    return node.var not in expr_names(inner.lower) | expr_names(inner.upper)


def collapsed(node: For, pragma: Pragma, printed: Sequence[View]) -> Pragma:
    """For two loops together, where they are shared out so; with copies of what the `printed` loop names alone."""
    pragma = replace(pragma, clauses=named_alone(pragma.clauses, printed))
    return replace(pragma, clauses=f" collapse(2){pragma.clauses}") if pragma.words and collapses(node) else pragma


def _both(scop: Scop, node: For) -> str:
    """Threads and lanes. Not together with a reduction: clang 14 then adds up only some of the lanes."""
    return "parallel for simd" if _asks(scop, node) and not node.loop.reductions else "parallel for"


def _asks(scop: Scop, node: For) -> bool:
    """Whether compilers can do what a directive for vectors asks of them."""
    return _innermost(node) and not _scalar(scop, node)


def _clauses(node: For) -> str:
    return "".join(f" reduction({'+' if op == '-' else op}:{array})" for op, array in node.loop.reductions)


def _work(scop: Scop, node: For, ints: IntPrinter) -> str:
    """How many instances one run of the loop executes, at most, as a C expression of type double."""
    inside = sorted({n.stmt for n in walk(node) if isinstance(n, Instance)})
    best: list[str] = []
    helpers: set[str] = set()
    for name in inside:
        scratch = IntPrinter(ints.params, ints.names)
        factors = _extents(scop.statement(name), node, scratch)
        if len(factors) > len(best):
            best, helpers = factors, scratch.helpers
    ints.helpers.update(helpers)
    return f"(double){' * '.join(best)}" if best else ""


def _extents(s: Statement, node: For, ints: IntPrinter) -> list[str]:
    """Sizes of the iterators that the loop and those inside it vary, as texts."""
    out = []
    fixed = node.loop.fixed.get(s.name, frozenset())
    n = s.domain.dim(isl.dim_type.set)
    for d in range(n):
        if d in fixed or extent(s, d, (k for k in range(n) if k != d)) == 1:
            continue  # decided by loops around, or by the other iterators, as the number of a block is
        few = extent(s, d, fixed)
        if few is not None:
            out.append(str(few))
            continue
        low, high = bounds(s.domain, d)
        size = high.sub(low).add_constant_val(isl.Val(1)).coalesce()
        # An estimate: where the size has several formulas, the least of those that are never too small, if any is.
        formulas = [isl.PwAff.from_aff(aff) for _, aff in size.get_pieces()]
        enough = [f for f in formulas if size.gt_set(f).is_empty()]
        main = reduce(isl.PwAff.min, enough[-2:]) if enough else reduce(isl.PwAff.max, formulas[-3:]).coalesce()
        build = isl.AstBuild.from_context(isl.Set.universe(size.get_domain_space().params()))
        text = ints.text(expression(build.expr_from_pw_aff(main)), 7)
        if text != "1":
            out.append(text)
    return out


def few_threads(node: ByThreads, ints: IntPrinter) -> str:
    """The test for the first of two ways."""
    tests = [f"tw_max_threads() >= {node.fewest}"] if node.fewest > 1 else []
    tests.append(f"tw_max_threads() <= {node.most}")
    if node.least or not node.side:
        texts = [x if x.isidentifier() else f"({x})" for x in map(ints.text, node.sizes)]
        least = f"TW_VECTOR_BYTES > {WIDTHS[0]} ? {node.wide} : {node.least}" if node.wide else str(node.least)
        tests.append(f"(double){' * '.join(texts)} > TW_SIZE({least})")
    if node.side:
        sides = dict.fromkeys(ints.text(x, 7) for x in node.sizes)
        tests += [f"{x} >= TW_SIZE({node.side}) * tw_max_threads()" for x in sides]
    return " && ".join(tests)
