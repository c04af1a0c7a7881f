"""Builds the `Scop` from the walk's raw statements: arrays, access relations, run-time guards, and the schedule of
the source."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import islpy as isl
from pycparser import c_ast

from codegen.diagnostics import Diagnostic, Loc, Unsupported, gathered
from codegen.frontend.context.frame import Frame
from codegen.frontend.context.guards import assumed, build_guard, parameter_ranges
from codegen.frontend.context.member_parameters import marked, read_ahead
from codegen.frontend.context.raw import RawAccess, RawLoop, RawNode, RawStatement
from codegen.frontend.expressions.affine import Affiner, MissingParameter
from codegen.frontend.memory.arrays import ArrayGroup, DataSubscript, group_accesses
from codegen.frontend.memory.computed_parameters import MOST, ComputedCandidate, Invariants, name_for
from codegen.frontend.memory.distinct import index_arrays
from codegen.frontend.memory.last_values import last_values
from codegen.frontend.memory.places import RegionNames
from codegen.frontend.memory.pointer_elements import check_followed
from codegen.frontend.parameters.constants import for_constants
from codegen.frontend.parameters.prescan import Prescan, prescan
from codegen.frontend.parameters.undefined_behavior import defined, fixed_sizes, unread
from codegen.frontend.statements.control import Walker
from codegen.frontend.syntax.symbols import RegionSite
from codegen.record import record
from codegen.scop.model import Access, Array, Computed, Guard, MemoryRead, Param, Scop, Statement
from codegen.scop.origins import Place
from codegen.scop.tree import Band, Leaf, Loop, Node, Seq


@record
class Extracted:
    """A region's model and its source order. `tree` is None when the region holds no statement."""

    scop: Scop
    tree: Node | None
    remarks: tuple[Diagnostic, ...] = ()


class DataDecide(Exception):
    """Data decide about subscripts of these arrays."""

    def __init__(self, places: frozenset[Place]) -> None:
        super().__init__()
        self.places = places


@record
class _Named:
    """A computed parameter and what it was found as."""

    param: Param
    found: ComputedCandidate


class _Late(Exception):
    """Members behind pointers that may not be read ahead of the region wherever the source comes to it."""

    def __init__(self, texts: frozenset[str]) -> None:
        super().__init__(texts)
        self.texts = texts


class _Unneeded(Exception):
    """Computed parameters that the model does not use after all."""

    def __init__(self, texts: set[str]) -> None:
        super().__init__(texts)
        self.texts = texts


def extract(site: RegionSite, region: int, pure: frozenset[str], context: Sequence[tuple[str, Loc]] = ()) -> Extracted:
    """Model a region. Raises Unsupported where it is not affine.

    Parameters that are no variables show up while the region is read, and spaces have a fixed number of them: with each
    that is found, reading starts anew. So it does for arrays of which data decide about subscripts, and for members
    behind pointers that are no parameters after all.
    """
    check_followed(site)
    scan = prescan(site)
    computed: tuple[_Named, ...] = ()
    opaque: frozenset[Place] = frozenset()
    dropped: set[str] = set()
    while True:
        try:
            return _extract(site, scan, region, pure, context, (computed, opaque))
        except _Unneeded as more:
            if more.texts & dropped:
                why = f"`{min(more.texts)}` is a size in one reading of the region and none in the next"
                raise Unsupported("nonaffine-bound", why, site.loc, "compute it before the region") from None
            dropped |= more.texts
            computed = tuple(d for d in computed if d.found.text not in more.texts)
            continue
        except MissingParameter as missing:
            found = missing.found
        except DataDecide as data:
            opaque |= data.places
            continue
        except _Late as members:
            scan = replace(scan, params=tuple(p for p in scan.params if p[0] not in members.texts))
            continue
        if len(computed) >= MOST:
            why = f"more than {MOST} of its sizes are expressions of memory or products"
            hint = "compute some of them before the region, and use the variables"
            raise Unsupported("nonaffine-bound", why, site.loc, hint)
        taken = frozenset({*_identifiers(site), *site.variables, *(d.param.name for d in computed)})
        name = name_for(found.text, taken, found.stem)
        computed = (*computed, _Named(Param(name, name, found.ctype), found))


def _extract(
    site: RegionSite,
    scan: Prescan,
    region: int,
    pure: frozenset[str],
    context: Sequence[tuple[str, Loc]],
    found: tuple[tuple[_Named, ...], frozenset[Place]],
) -> Extracted:
    """Model a region with these computed parameters and opaque arrays. Raises MissingParameter or DataDecide for
    further ones."""
    computed, opaque = found
    held = [n for n in sorted(site.before) if n in _identifiers(site)]
    own = tuple(Param(n, n, site.variables[n].shape.elem) for n in held)
    params = (*_parameters(scan, site), *own, *(d.param for d in computed))
    space = isl.Space.params_alloc(isl.DEFAULT_CONTEXT, len(params))
    for k, p in enumerate(params):
        space = space.set_dim_name(isl.dim_type.param, k, p.name)
    ranges = parameter_ranges(params, space)
    affiner = Affiner(
        {p.text: (p.name, p.ctype) for p in params}, site.enums, site.types, site.functions, ranges, site.loc
    )
    names = RegionNames(site.variables, scan.written, scan.counters, site.types, site.functions, pure, site.loc, opaque,
                        site.dialect)  # fmt: skip
    affiner.invariants = Invariants(names, scan)
    affiner.distinct, affiner.filled = index_arrays(site, scan.written), site.filled
    affiner.dialect = site.dialect
    affiner.computed = {d.found.text: (d.param.name, d.param.ctype) for d in computed}
    walker = Walker(site, names, affiner, scan.reassigned, frozenset(scan.mentioned))
    walker.used |= {*_identifiers(site), *site.variables, *(p.name for p in params)}
    nodes = walker.block(site.statements, for_constants(site, space, affiner))
    made = _assemble(walker, region, nodes, params, space, context)
    first = tuple(_held(site, p, space) for p in own)
    unneeded = {d.found.text for d in computed if d.param.name not in affiner.evaluated}
    if unneeded:  # since they were asked for, an array they are subscripts of became opaque
        raise _Unneeded(unneeded)
    scop = replace(made.scop, computed=(*first, *_in_order(computed, affiner, site)))
    possible = affiner.ranges.intersect(assumed(context, space))
    ahead = read_ahead(scop, affiner.readings, possible)
    if ahead.late:
        raise _Late(ahead.late)
    scop = replace(scop, guard=replace(scop.guard, first=ahead.tests))
    return replace(made, scop=scop, remarks=tuple(dict.fromkeys(walker.remarks)))


def _held(site: RegionSite, param: Param, space: isl.Space) -> Computed:
    """What a variable holds before the region, as a parameter that is evaluated ahead of it."""
    real = site.before[param.name]
    always = isl.Set.universe(space)
    return Computed(param.name, real, "{0}", (), always, (MemoryRead(real, param.ctype, "", ()),))


def _in_order(computed: Sequence[_Named], affiner: Affiner, site: RegionSite) -> tuple[Computed, ...]:
    """Computed parameters with where they are evaluated, each behind those which decide that."""
    where = affiner.evaluated
    made = {
        (n := d.param.name): Computed(n, d.found.text, d.found.formula, d.found.divisors, where[n], d.found.reads)
        for d in computed
    }
    out: list[Computed] = []
    while len(out) < len(made):
        done = {d.param for d in out}
        rest = [d for name, d in made.items() if name not in done]
        ready = [d for d in rest if not any(_involves(d.where, x.param) for x in rest)]
        if not ready:
            raise Unsupported(
                "nonaffine-bound",
                f"whether `{rest[0].text}` is evaluated depends on it",
                site.loc,
                "compute it before the region, and use the variable",
            )
        out.append(ready[0])
    return tuple(out)


def _involves(s: isl.Set, param: str) -> bool:
    pos = s.find_dim_by_name(isl.dim_type.param, param)
    return bool(pos >= 0 and s.involves_dims(isl.dim_type.param, pos, 1))


def _parameters(scan: Prescan, site: RegionSite) -> tuple[Param, ...]:
    used: set[str] = set()
    out = []
    constants = {v.name for v in site.variables.values() if v.place == "global" and v.const}
    for text, ctype in scan.params:
        name = re.sub(r"\W+", "_", text).strip("_") or "p"
        while name in used:
            name += "_"
        used.add(name)
        out.append(Param(name, text, ctype, constant=text in constants))
    return tuple(out)


def _assemble(
    walker: Walker,
    region: int,
    nodes: tuple[RawNode, ...],
    params: tuple[Param, ...],
    space: isl.Space,
    context: Sequence[tuple[str, Loc]],
) -> Extracted:
    site, affiner, raws = walker.site, walker.affiner, walker.statements
    inside = {k: v[0] for k, v in walker.inside.items()}
    groups, refusals = group_accesses(raws, site.variables, inside, affiner)
    refusals += walker.refusals
    number = {raw: k for k, raw in enumerate(_textual_order(nodes))}
    made, more = _statements(raws, number, groups, affiner)
    refusals += more
    data = frozenset(e.place for e in refusals if isinstance(e, DataSubscript)) - walker.names.opaque
    if data:
        raise DataDecide(data)
    if refusals:
        raise gathered(refusals)
    ordered = tuple(made[k] for k in sorted(made))
    unasked = {name for name, _ in affiner.computed.values()} - affiner.evaluated.keys()  # a larger one has them in it
    params = marked(params, affiner.readings)
    asked = tuple(p for p in params if p.asked and p.name not in unasked)
    guard = build_guard(affiner.assumptions, affiner.ranges, asked, space, context, site.loc)
    possible = guard.valid.intersect(affiner.ranges)
    found = (a for g in groups.values() for a in g.arrays.values())
    arrays = {a.name: replace(a, distinct=a.name in affiner.distinct) for a in found}
    alive, within = _alive(ordered, arrays, site, guard, possible)
    kept = last_values(alive, arrays, site, nodes)
    used = {a.array for s in kept for a in s.accesses}
    scop = Scop(
        site.function.decl.name,
        region,
        site.loc,
        params,
        within,
        {name: a for name, a in arrays.items() if name in used},
        kept,
        guard,
        _outside(site),
        frozenset({*_identifiers(site), *_replaced(site), *walker.made, *site.macros}),
        origins=site.origins,
        own=site.own,
        read=_read(site),
        visible=frozenset(n for n, v in site.variables.items() if v.place != "global" and not v.shape.special),
        dialect=site.dialect,
    )
    by_name = {s.name: s for s in kept}
    dead = {s.name for s in ordered} - by_name.keys()
    tree = _tree(nodes, {r: by_name[made[number[r]].name] for r in number if made[number[r]].name not in dead})
    return Extracted(scop, tree)


def _alive(
    ordered: tuple[Statement, ...], arrays: Mapping[str, Array], site: RegionSite, guard: Guard, possible: isl.Set
) -> tuple[tuple[Statement, ...], isl.Set]:
    """The statements that run at all and store what somebody may see, and the parameters for which the source has a
    meaning."""
    sizes = fixed_sizes(site.variables, tuple(arrays.values()), site.enums)
    seen = _seen(_running(ordered, possible), arrays)
    within = defined(seen, sizes, guard.valid)
    return _seen(_running(seen, possible.intersect(within)), arrays), within


def _running(statements: Sequence[Statement], possible: isl.Set) -> tuple[Statement, ...]:
    """Those that run for some of these parameters."""
    return tuple(s for s in statements if not s.domain.intersect_params(possible).is_empty())


def _seen(statements: Sequence[Statement], arrays: Mapping[str, Array]) -> tuple[Statement, ...]:
    """Those that set something which somebody may look at."""
    idle = unread(statements, arrays)
    return tuple(s for s in statements if s.name not in idle)


def _outside(site: RegionSite) -> tuple[str, ...]:
    """Names of the function, and of static functions, that only the region may be using."""
    mentioned = dict.fromkeys((*prescan(site).mentioned, *_replaced(site)))
    local = [n for n in mentioned if n in site.variables and site.variables[n].place != "global"]
    called = [n for n in sorted(_identifiers(site) | site.inlined) if n in site.functions]
    return (*local, *(n for n in called if "static" in (site.functions[n].decl.storage or ())))


def _replaced(site: RegionSite) -> tuple[str, ...]:
    """Variables that the source uses, and the statements no longer need."""
    return (*(d.name for d in site.derived), *(s.name for s in site.started))


def _identifiers(site: RegionSite) -> set[str]:
    found: set[str] = set()

    class Collect(c_ast.NodeVisitor):
        def visit_ID(self, node: c_ast.ID) -> None:
            found.add(node.name)

    for s in site.statements:
        Collect().visit(s)
    return found


def _read(site: RegionSite) -> frozenset[str]:
    """Names whose values the text uses, other than to change them or to count."""
    found: set[str] = set()

    class Collect(c_ast.NodeVisitor):
        def visit_ID(self, node: c_ast.ID) -> None:
            found.add(node.name)

        def visit_Assignment(self, node: c_ast.Assignment) -> None:
            if not isinstance(node.lvalue, c_ast.ID):
                self.visit(node.lvalue)
            self.visit(node.rvalue)

    for s in site.statements:
        Collect().visit(s)
    return frozenset(found) - prescan(site).counters


def _textual_order(nodes: tuple[RawNode, ...]) -> list[int]:
    out: list[int] = []
    for n in nodes:
        out.extend(_textual_order(n.children) if isinstance(n, RawLoop) else [n])
    return out


def _tree(nodes: tuple[RawNode, ...], statements: Mapping[int, Statement]) -> Node | None:
    made = [m for m in (_tree_node(n, statements) for n in nodes) if m is not None]
    if not made:
        return None
    return made[0] if len(made) == 1 else Seq(tuple(made))


def _tree_node(node: RawNode, statements: Mapping[int, Statement]) -> Node | None:
    if not isinstance(node, RawLoop):
        return Leaf(statements[node].name) if node in statements else None
    child = _tree(node.children, statements)
    if child is None:
        return None
    exprs = {}
    for raw in _textual_order(node.children):
        if raw not in statements:
            continue
        s = statements[raw]
        var = isl.Aff.var_on_domain(isl.LocalSpace.from_space(s.domain.get_space()), isl.dim_type.set, node.pos)
        exprs[s.name] = isl.PwAff.from_aff(var if node.sign > 0 else var.neg())
    return Band((Loop(node.name, exprs),), child)


# -- statements and accesses ---------------------------------------------------------------------------


def _statements(
    raws: Sequence[RawStatement], number: Mapping[int, int], groups: Mapping[str, ArrayGroup], affiner: Affiner
) -> tuple[dict[int, Statement], list[Unsupported]]:
    """The statements by their numbers in the text, and why there are none of some."""
    made, refusals = dict[int, Statement](), list[Unsupported]()
    for k, raw in enumerate(raws):
        if any(a.base not in groups for a in raw.accesses):
            continue
        at = number.get(k, -1)  # none where what is around it was refused
        try:
            made[at] = _statement(f"S{at + 1}", raw, groups, affiner)
        except Unsupported as error:
            refusals.append(error)
    return made, refusals


def _statement(name: str, raw: RawStatement, groups: Mapping[str, ArrayGroup], affiner: Affiner) -> Statement:
    domain = raw.frame.domain.set_tuple_name(name)
    accesses = tuple(_access(name, raw.frame, a, groups, affiner) for a in (*raw.accesses, *_kept(raw, groups)))
    values = tuple(
        v.set_tuple_id(isl.dim_type.in_, domain.get_tuple_id()) for v in (raw.frame.lift(v) for v in raw.values)
    )
    its = _iterator_names(raw.frame)
    for k, it in enumerate(its):
        domain = domain.set_dim_name(isl.dim_type.set, k, it)
    steps = tuple(it.step for it in raw.frame.iterators)
    return Statement(name, its, domain, raw.op, raw.target, raw.rhs, accesses, values, raw.loc, raw.source, steps)


def _kept(raw: RawStatement, groups: Mapping[str, ArrayGroup]) -> tuple[RawAccess, ...]:
    """A store to a part of an object keeps the rest of it: in the model, which knows the object alone, it reads it."""
    return tuple(replace(a, write=False) for a in raw.accesses if a.write and groups[a.base].whole and not a.entire)


def _iterator_names(frame: Frame) -> tuple[str, ...]:
    """Loop variables, made distinct where an inner loop hides an outer one."""
    out: list[str] = []
    for it in frame.iterators:
        out.append(it.name if it.name not in out else f"{it.name}_{it.pos}")
    return tuple(out)


def _access(stmt: str, frame: Frame, raw: RawAccess, groups: Mapping[str, ArrayGroup], affiner: Affiner) -> Access:
    group = groups[raw.base]
    frame = raw.within(frame)
    array, index, path = group.model(raw, frame, affiner)
    scope = [frame.dim(k) for k in range(array.scope)]
    values = scope + index
    source = frame.domain.set_tuple_name(stmt).get_space()
    target = (
        frame.space.set_from_params()
        .add_dims(isl.dim_type.set, len(values))
        .set_tuple_name(isl.dim_type.set, array.name)
    )
    space = source.map_from_domain_and_range(target)
    multi = isl.MultiPwAff.zero(space)
    for k, v in enumerate(values):
        multi = multi.set_pw_aff(k, v.set_tuple_id(isl.dim_type.in_, source.get_tuple_id(isl.dim_type.set)))
    relation = isl.Map.from_multi_pw_aff(multi).intersect_domain(frame.domain.set_tuple_name(stmt))
    return Access(array.name, raw.write, multi, relation, path, raw.loc, raw.where is not None)


__all__ = ["Extracted", "extract"]
