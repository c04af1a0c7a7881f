"""References, blocks and thread axes of a nest, extracted from the region and its schedule tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache

import islpy as isl

from codegen.recognize.ownership.algebra import Matrix, Row
from codegen.recognize.ownership.model import Coordinate, Form, NestFrame, Reference, ThreadAxis
from codegen.record import record
from codegen.scop.memo import remember
from codegen.scop.model import Scop, Statement
from codegen.scop.tree import SHARED, THREADED, Band, Loop, Node, enclosing, has_band, statements, walk


@record
class BlockedNest:
    """Statements that share their loops: those around a block, and those inside it."""

    names: tuple[str, ...]
    around: tuple[Loop, ...]
    inside: tuple[Loop, ...]


def nests(tree: Node) -> tuple[BlockedNest, ...]:
    """The innermost bands of a tree. A block is what the last tile loop leaves to the loops inside it; without tiles it
    is what a parallel loop shares out; without threads, one iteration of the loops around the band."""
    found = []
    for _, node in walk(tree):
        if isinstance(node, Band) and not has_band(node.child):
            names = statements(node)
            loops = enclosing(tree, names[0])
            cut = _first_inside(loops, len(node.loops))
            found.append(BlockedNest(names, loops[:cut], loops[cut:]))
    return tuple(found)


def _first_inside(loops: Sequence[Loop], band: int) -> int:
    tiles = [k for k, lp in enumerate(loops) if lp.tile]
    if tiles:
        return tiles[-1] + 1
    threads = [k for k, lp in enumerate(loops) if lp.kind in THREADED | {SHARED}]
    return threads[0] if threads else len(loops) - band


def frame(scop: Scop, nest: BlockedNest) -> NestFrame:
    """The nest as blocks, with every loop inside a block as a candidate for threads."""
    stmts = [scop.statement(n) for n in nest.names]
    domains = {s.name: s.domain.intersect_params(scop.context) for s in stmts}
    refs = tuple(reference(scop, s, k) for s in stmts for k in range(len(s.accesses)))
    blocks = tuple(Coordinate(lp.name, _own(lp.exprs, nest), lp.tile, lp.of) for lp in nest.around)
    return NestFrame(domains, refs, blocks, tuple(axis(scop, lp.name, _own(lp.exprs, nest)) for lp in nest.inside))


def _own(exprs: Mapping[str, isl.PwAff], nest: BlockedNest) -> dict[str, isl.PwAff]:
    return {n: exprs[n] for n in nest.names}


@remember(1024)
def reference(scop: Scop, s: Statement, number: int) -> Reference:
    """One access of a statement with its subscript matrix."""
    a = s.accesses[number]
    rows = [affine(a.index.get_pw_aff(k), scop) for k in range(a.index.dim(isl.dim_type.out))]
    form = None
    if all(r is not None for r in rows):
        form = _form(tuple(r.matrix[0] for r in rows if r), tuple(r.offset[0] for r in rows if r))
    name = scop.arrays[a.array].base
    shown = form.matrix and _subscripts(form, s, scop, scop.arrays[a.array].scope) if form else "[...]"
    return Reference(s.name, number, a.array, a.write, f"{name}{shown or ''}", len(s.iterators), a.relation, form)


def affine(value: isl.PwAff, scop: Scop) -> Form | None:
    """A value as one affine row; None when it is not that simple."""
    if value.n_piece() != 1:
        return None
    aff = value.get_pieces()[0][1]
    if aff.dim(isl.dim_type.div):
        return None
    n = aff.dim(isl.dim_type.in_)
    row = tuple(_fraction(aff.get_coefficient_val(isl.dim_type.in_, k)) for k in range(n))
    return _form((row,), (_offset(aff, scop),))


@lru_cache(maxsize=1024)
def _form(matrix: Matrix, offset: Matrix) -> Form:
    """One object for equal forms, so that comparing them takes no time."""
    return Form(matrix, offset)


def _offset(aff: isl.Aff, scop: Scop) -> Row:
    """Coefficients by the region's own list of parameters: values need not all be aligned alike."""
    space = aff.get_space()
    out = []
    for p in scop.params:
        at = space.find_dim_by_name(isl.dim_type.param, p.name)
        out.append(_fraction(aff.get_coefficient_val(isl.dim_type.param, at)) if at >= 0 else Fraction(0))
    return (*out, _fraction(aff.get_constant_val()))


def _fraction(v: isl.Val) -> Fraction:
    return Fraction(v.get_num_si(), 1 if v.is_int() else v.get_den_val().get_num_si())


def axis(scop: Scop, name: str, values: Mapping[str, isl.PwAff]) -> ThreadAxis:
    """A loop as a thread coordinate, one iteration to a thread."""
    return ThreadAxis(name, 1, values, values, {n: affine(v, scop) for n, v in values.items()})


def coarse(frame: NestFrame, name: str, size: int) -> ThreadAxis:
    """The same with `size` iterations to a thread, counted from the start of the block where the loop is tiled."""
    plain = frame.axis(name)
    base = next((c for c in reversed(frame.blocks) if c.of == name), None)
    threads = {}
    for stmt, value in plain.values.items():
        offset = value.sub(base.values[stmt]) if base else value
        threads[stmt] = offset.scale_down_val(isl.Val(size)).floor()
    return replace(plain, size=size, threads=threads)


def _subscripts(form: Form, s: Statement, scop: Scop, skip: int) -> str:
    names = (*s.iterators, *(p.text for p in scop.params))
    out = []
    for row, offset in list(zip(form.matrix, form.offset, strict=True))[skip:]:
        out.append(f"[{show((*row, *offset[:-1]), names, offset[-1])}]")
    return "".join(out)


def show(row: Sequence[Fraction], names: Sequence[str], constant: Fraction = Fraction(0)) -> str:
    """A linear form for people."""
    text = ""
    for c, n in zip(row, names, strict=True):
        if c:
            size = n if abs(c) == 1 else f"{abs(c)}*{n}"
            text += ("-" if c < 0 else "") + size if not text else f" {'-' if c < 0 else '+'} {size}"
    if not text:
        return str(constant)
    return text if not constant else f"{text} {'-' if constant < 0 else '+'} {abs(constant)}"
