"""Prints the C condition for whether a region is worth the device at the sizes of the run: predicted seconds on the
host against those on the device (launches, copies, steps). Empty where the sizes are not known well enough.

The host runs the loops as they were written, on one core. The device has to be given its data and its launches.
"""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from codegen.ast.isl_expressions import value_expr
from codegen.gpu.kernels import DeviceKernel
from codegen.gpu.plan.device import Device
from codegen.gpu.transfers import ArrayText, BoxText
from codegen.scop.expr import Affine, Lit, Sym
from codegen.scop.expr import walk as walk_expr
from codegen.scop.model import Scop, Statement
from codegen.target.text.cexpr import IntPrinter

HOST_STEP = 1.5e-10  # seconds of a load or an operation in compiled loops, on one core
ALONE_STEP = 2e-8  # on a single thread of a device
EFFICIENCY = 0.05  # of the device's rate, in plain kernels
PAGEABLE = 0.2  # of the link's rate, for memory that the system may move
PIECES = 3
_SET = isl.dim_type.set
Terms = dict[str, float]  # products of sizes, and their factors


def worth_text(
    scop: Scop, kernels: Sequence[DeviceKernel], arrays: Sequence[ArrayText], device: Device, ints: IntPrinter
) -> str:
    """The condition, empty where sizes are known too little to say."""
    host, there = Terms(), Terms()
    for k in kernels:
        launches = None if k.launches is None else _count(k.launches, scop, ints)
        if launches is None:
            return ""
        _add(there, launches, device.launch)
        for name in k.stmts:
            s = scop.statement(name)
            count = _count(s.domain, scop, ints)
            if count is None:
                return ""
            _add(host, count, HOST_STEP * _steps(s))
            _add(there, count, _steps(s) * (1 / (device.f64 * EFFICIENCY) if k.axes else ALONE_STEP))
    for a in arrays:
        for b in (a.come, a.go):
            if b is not None:
                _add(there, _elements(b), _bytes(a.kind) / (PAGEABLE * device.link))
    return f"{_sum(host)} > {_sum(there)}"


def _steps(s: Statement) -> int:
    """Loads and operations of an instance."""
    return sum(not isinstance(e, (Affine, Lit, Sym)) for e in walk_expr(s.rhs)) + len(s.writes)


def _count(domain: isl.Set, scop: Scop, ints: IntPrinter) -> tuple[tuple[str, ...], float] | None:
    """About how many points there are: sides of the box around them, and which part of it that is if inner sides depend
    on outer ones."""
    sides, share = list[str](), 1.0
    whole = domain.intersect_params(scop.context)
    for d in range(whole.dim(_SET)):
        upto = whole.project_out(_SET, d + 1, whole.dim(_SET) - d - 1)
        line = upto.project_out(_SET, 0, d)
        if line.is_empty():
            return (), 0.0
        try:
            size = line.dim_max(0).sub(line.dim_min(0)).add_constant_val(isl.Val(1)).coalesce()
        except isl.Error:
            return None
        if size.n_piece() > PIECES:
            return None
        text = ints.text(value_expr(size.gist(scop.context), scop.context))
        if text != "1":
            sides.append(text)
        if d and not isl.Set.from_basic_set(upto.simple_hull()).is_equal(_product(upto, d)):
            share *= 0.5
    return tuple(sides), share


def _product(upto: isl.Set, d: int) -> isl.Set:
    """The box-like hull in which the last side does not depend on the others."""
    outer = upto.project_out(_SET, d, 1).insert_dims(_SET, d, 1)
    inner = upto.project_out(_SET, 0, d).insert_dims(_SET, 0, d)
    both = outer.reset_tuple_id().intersect(inner.reset_tuple_id())
    name = upto.get_tuple_name()
    both = isl.Set.from_basic_set(both.simple_hull())
    return both.set_tuple_name(name) if name is not None else both


def _elements(b: BoxText) -> tuple[tuple[str, ...], float]:
    return tuple(c for c in b.counts if c != "1"), 1.0


def _bytes(kind: str) -> int:
    words = kind.split()
    size = {"double": 8, "long": 8, "float": 4, "int": 4, "short": 2, "char": 1, "_Bool": 1, "bool": 1}
    return next((size[w] for w in words if w in size), 4)


def _add(terms: Terms, count: tuple[tuple[str, ...], float], factor: float) -> None:
    sides, share = count
    key = " * ".join(f"({s})" if not s.isidentifier() and not s.isdigit() else s for s in sorted(sides))
    terms[key] = terms.get(key, 0.0) + factor * share


def _sum(terms: Terms) -> str:
    found = [f"{_number(f)} * {key}" if key else _number(f) for key, f in sorted(terms.items()) if f > 0]
    return " + ".join(found) or "0"


def _number(value: float) -> str:
    text = f"{value:.2g}"
    return text if "." in text or "e" in text else f"{text}.0"

