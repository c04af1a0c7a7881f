"""Cost of sharing a region among ranks, as C expressions that generated code evaluates at run time: work saved
against messages. Rough, and never too small."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from codegen.ast.generate import expression
from codegen.mpi.messages import Exchange, final_writers
from codegen.mpi.phases import Cut
from codegen.scop.distance import bounds
from codegen.scop.model import Scop
from codegen.target.text.cexpr import IntPrinter
from codegen.transform.program import Program


def pays_test(p: Program, cut: Cut, moves: Sequence[Exchange], ints: IntPrinter) -> str:
    """A call of `tw_pays`: iterations that are shared out, exchanges, bytes at the end."""
    phases = {q.name: q for q in cut.phases}
    times = []
    joined = [q.name for q in cut.shared if q.reduced]
    for name in (*(x.phase for x in moves), *joined):
        if name in phases:
            q = phases[name]
            domain = p.scop.statement(q.stmts[0]).domain
            n = domain.dim(isl.dim_type.set)
            times.append(_product(p.scop, domain.project_out(isl.dim_type.set, q.depth, n - q.depth), ints))
    return f"tw_pays({work_text(p, cut, ints)}, {_sum([*times, '1'])}, {_sum(_bytes(p, cut, moves, ints) or ['0'])})"


def work_text(p: Program, cut: Cut, ints: IntPrinter) -> str:
    """Iterations that are shared out."""
    return _sum([_product(p.scop, p.scop.statement(s).domain, ints) for q in cut.shared for s in q.stmts])


def _sum(terms: Sequence[str]) -> str:
    counted = {t: terms.count(t) for t in dict.fromkeys(terms)}
    return " + ".join(t if n == 1 else f"{n}. * {t}" for t, n in counted.items())


def _bytes(p: Program, cut: Cut, moves: Sequence[Exchange], ints: IntPrinter) -> list[str]:
    """What ranks send at the end, array by array."""
    last = next((sorted(x.elements) for x in moves if not x.phase), [])
    finals = final_writers(p) if last else {}
    out = []
    for array in last:
        for m in finals[array]:
            s = p.scop.statement(str(m.get_tuple_name(isl.dim_type.in_)))
            if cut.phase_of(s.name).shared is not None:
                relation = next(a.relation for a in s.accesses if a.write and a.array == array)
                size = _product(p.scop, m.domain().apply(relation), ints)
                out.append(f"{size} * {p.scop.arrays[array].elem.bytes}")
    return out


def _product(scop: Scop, values: isl.Set, ints: IntPrinter) -> str:
    """How many points a box around a set has, as a C expression of type double."""
    factors = []
    for d in range(values.dim(isl.dim_type.set)):
        low, high = bounds(values.intersect_params(scop.context), d)
        size = high.sub(low).add_constant_val(isl.Val(1)).coalesce()
        plain = size.gist_params(size.domain().params()).coalesce()
        build = isl.AstBuild.from_context(size.domain().params())
        factors.append(ints.text(expression(build.expr_from_pw_aff(plain)), 7))
    return f"(double){' * '.join(factors)}" if factors else "1"
