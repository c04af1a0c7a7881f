"""Converts our schedule tree to isl's, with marks that lead back to our loops and options for isl's AST generation
(isolate, separate, unroll, atomic)."""

from __future__ import annotations

import islpy as isl

from codegen.ast.blocks import ProductBlocks, find_blocks
from codegen.ast.steps import Steps, image, steps
from codegen.recognize.access.wraps import common, plain_points
from codegen.record import mutable
from codegen.scop.dependences import param_space
from codegen.scop.model import Scop
from codegen.scop.tree import (
    PARALLEL_VECTOR,
    STAGE,
    VECTOR,
    Band,
    Hold,
    Leaf,
    Loop,
    Node,
    Seq,
    has_band,
    statements,
)

# Statements of a loop that may be taken apart: the code grows with each.
APART = 8


@mutable
class MarkedSchedule:
    """The isl schedule and which bands its marks (by number) stand for."""

    schedule: isl.Schedule
    marks: list[Band]
    blocks: ProductBlocks


def to_isl(scop: Scop, tree: Node) -> MarkedSchedule:
    """Build the isl schedule of a tree."""
    blocks = find_blocks(scop, tree)
    root = isl.Schedule.from_domain(blocks.domain(scop)).get_root()
    marks: list[Band] = []
    node = _build(root.child(0), tree, scop, blocks, marks, 0)
    return MarkedSchedule(node.get_schedule(), marks, blocks)


def _build(
    node: isl.ScheduleNode, tree: Node, scop: Scop, blocks: ProductBlocks, marks: list[Band], depth: int
) -> isl.ScheduleNode:
    """Insert `tree` at `node` and return to the same position."""
    if isinstance(tree, Leaf) or (isinstance(tree, Band) and tree.product is not None):
        return node
    if isinstance(tree, Seq):
        filters = isl.UnionSetList.alloc(node.get_ctx(), len(tree.children))
        for child in tree.children:
            filters = filters.add(_filter(scop, blocks, child))
        node = node.insert_sequence(filters)
        for k, child in enumerate(tree.children):
            node = _build(node.child(k).child(0), child, scop, blocks, marks, depth).parent().parent()
        return node
    if isinstance(tree, Hold):
        return _build(node, tree.child, scop, blocks, marks, depth)
    number = len(marks)
    marks.append(tree)
    counted = steps(node, scop, tree)
    node = node.insert_partial_schedule(_partial(scop, blocks, tree.loops, depth, counted))
    node = node.band_set_permutable(int(tree.permutable))
    if tree.split:
        node = _isolated(node, _full_tiles(node, scop, tree, depth), depth)
    elif not has_band(tree.child):
        node = _isolated(node, _plain(node, scop, tree), depth)
        # Parts of the innermost loop with fewer statements get loops of their own.
        if counted.several or _differ(node, scop, tree):
            node = node.band_member_set_ast_loop_type(len(tree.loops) - 1, isl.ast_loop_type.separate)
    for k, lp in enumerate(tree.loops):
        if lp.kind == "unroll" and lp.factor == 0:
            node = node.band_member_set_ast_loop_type(k, isl.ast_loop_type.unroll)
        around = scop.together and (k + 1 < len(tree.loops) or has_band(tree.child))
        if lp.kind == STAGE or around:  # waits are told by a stage's values: none may be taken out of the loop
            node = node.band_member_set_ast_loop_type(k, isl.ast_loop_type.atomic)
    node = node.insert_mark(isl.Id(f"m{number}"))
    inner = node.child(0).child(0)
    return _build(inner, tree.child, scop, blocks, marks, depth + len(tree.loops)).parent().parent()


def _filter(scop: Scop, blocks: ProductBlocks, tree: Node) -> isl.UnionSet:
    total = isl.UnionSet.empty(param_space(scop))
    for name in statements(tree):
        total = total.union(isl.UnionSet.from_set(isl.Set.universe(blocks.space(scop, name))))
    return total


def _partial(
    scop: Scop, blocks: ProductBlocks, loops: tuple[Loop, ...], depth: int, counted: Steps
) -> isl.MultiUnionPwAff:
    space = param_space(scop)
    rows = isl.UnionPwAffList.alloc(space.get_ctx(), len(loops))
    for k, lp in enumerate(loops):
        row = isl.UnionPwAff.empty(space)
        for name in sorted(lp.exprs):
            value = blocks.value(lp, name, depth + k)
            if k == len(loops) - 1:
                value = counted.number(value)
            row = row.union_add(isl.UnionPwAff.from_pw_aff(value))
        rows = rows.add(row)
    target = space.set_from_params().add_dims(isl.dim_type.set, len(loops))
    return isl.MultiUnionPwAff.from_union_pw_aff_list(target, rows)


def _isolated(node: isl.ScheduleNode, part: isl.Set | None, depth: int) -> isl.ScheduleNode:
    """Ask isl to generate a part of the band apart. Which one only steers the shape of the code."""
    if part is None or part.is_empty():
        return node
    option = isl.Map.from_range(part).move_dims(isl.dim_type.in_, 0, isl.dim_type.out, 0, depth)
    wrapped = option.wrap().set_tuple_name("isolate")
    return node.band_set_ast_build_options(isl.UnionSet.from_set(wrapped))


def _plain(node: isl.ScheduleNode, scop: Scop, band: Band) -> isl.Set | None:
    """The part of a nest in which no subscript wraps around, if some do."""
    parts = []
    for name in statements(band):
        points = plain_points(scop.statement(name))
        if points is not None:
            prefix = node.get_prefix_schedule_union_map().intersect_domain(isl.UnionSet.from_set(points))
            parts.append(image(isl.Map.from_union_map(prefix), [lp.exprs[name] for lp in band.loops]))
    return common(parts)


def _differ(node: isl.ScheduleNode, scop: Scop, band: Band) -> bool:
    """Are there statements that run in parts of a loop only, and those parts intervals? Asked for loops that become
    vectors or keep values in registers, which conditions would spoil: sharpen takes 0.16 of the time."""
    names, last = statements(band), band.loops[-1]
    if not 1 < len(names) <= APART or not (last.kind in (VECTOR, PARALLEL_VECTOR) or last.carry):
        return False
    found = []
    for name in names:
        domain = scop.statement(name).domain
        prefix = node.get_prefix_schedule_union_map().intersect_domain(isl.UnionSet.from_set(domain))
        if prefix.is_empty() or any(part.dim(isl.dim_type.div) for part in domain.get_basic_sets()):
            return False
        found.append(image(isl.Map.from_union_map(prefix), [lp.exprs[name] for lp in band.loops]))
    return any(not part.is_equal(found[0]) for part in found[1:])


def _full_tiles(node: isl.ScheduleNode, scop: Scop, band: Band, depth: int) -> isl.Set | None:
    """Tiles all of whose points exist, for every statement that varies in all the band's loops."""
    inner = band.child
    while isinstance(inner, Hold):
        inner = inner.child
    if not isinstance(inner, Band):
        return None
    points = {lp.name: lp for lp in inner.loops}
    pairs = [(t, points.get(t.of)) for t in band.loops]
    if any(p is None for _, p in pairs):
        return None
    prefix = node.get_prefix_schedule_union_map()
    n = len(band.loops)
    result: isl.Set | None = None
    for name in statements(band):
        s = scop.statement(name)
        if any(
            not p.exprs[name].involves_dims(isl.dim_type.in_, 0, s.domain.dim(isl.dim_type.set))  # type: ignore[union-attr]
            for _, p in pairs
        ):
            continue
        time = prefix.intersect_domain(isl.UnionSet.from_set(s.domain))
        outer = isl.Map.from_union_map(time) if not time.is_empty() else None
        if outer is None:
            return None
        where = image(outer, [p.exprs[name] for _, p in pairs])  # type: ignore[union-attr]
        tiles = image(outer, [t.exprs[name] for t, _ in pairs])
        box = tiles.insert_dims(isl.dim_type.set, depth + n, n)
        for k, (t, _) in enumerate(pairs):
            low = isl.Constraint.inequality_alloc(isl.LocalSpace.from_space(box.get_space()))
            low = low.set_coefficient_val(isl.dim_type.set, depth + n + k, isl.Val(1))
            low = low.set_coefficient_val(isl.dim_type.set, depth + k, isl.Val(-1))
            high = isl.Constraint.inequality_alloc(isl.LocalSpace.from_space(box.get_space()))
            high = high.set_coefficient_val(isl.dim_type.set, depth + n + k, isl.Val(-1))
            high = high.set_coefficient_val(isl.dim_type.set, depth + k, isl.Val(1)).set_constant_val(
                isl.Val(t.tile - 1)
            )
            box = box.add_constraint(low).add_constraint(high)
        there = where.insert_dims(isl.dim_type.set, depth, n)
        missing = box.subtract(there).project_out(isl.dim_type.set, depth + n, n)
        full = tiles.subtract(missing).coalesce()
        result = full if result is None else result.intersect(full)
    return None if result is None else result.coalesce()
