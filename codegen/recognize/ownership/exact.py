"""Exact sharing tests with isl: inside each block (an iteration of the loops around the threads), which elements
different threads touch through two references, and in which blocks that happens or a dependence crosses threads.
Borders, coarse threads and parameters are included."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import islpy as isl

from codegen.recognize.ownership.model import NestFrame, Reference, ThreadAxis


def blocks(frame: NestFrame) -> isl.Set:
    """The block indices that occur."""
    total: isl.Set | None = None
    for name in sorted(frame.domains):
        one = _coordinates(frame.domains[name], [c.values for c in frame.blocks], name).range()
        total = one if total is None else total.union(one)
    assert total is not None
    return total


def uses(frame: NestFrame, ref: Reference, threads: Sequence[ThreadAxis]) -> isl.Map:
    """[block, element] to the threads that touch the element through this reference."""
    domain = frame.domains[ref.stmt]
    block = _coordinates(domain, [c.values for c in frame.blocks], ref.stmt)
    thread = _coordinates(domain, [x.threads for x in threads], ref.stmt)
    element = ref.relation.intersect_domain(domain).reset_tuple_id(isl.dim_type.out)
    return block.flat_range_product(element).reverse().apply_range(thread)


def shared(frame: NestFrame, a: Reference, b: Reference, threads: Sequence[ThreadAxis]) -> isl.Set:
    """[block, element]: what one thread touches through `a` and another through `b`."""
    both = uses(frame, a, threads).range_product(uses(frame, b, threads))
    return both.intersect_range(_different(both.range().get_space())).domain()


def shared_blocks(frame: NestFrame, a: Reference, b: Reference, threads: Sequence[ThreadAxis]) -> isl.Set:
    """The blocks in which that happens."""
    found = shared(frame, a, b, threads)
    n = len(frame.blocks)
    return found.project_out(isl.dim_type.set, n, found.dim(isl.dim_type.set) - n)


def private(frame: NestFrame, a: Reference, b: Reference, threads: Sequence[ThreadAxis]) -> bool:
    """In no block does another thread touch through `b` what one touches through `a`."""
    return bool(shared(frame, a, b, threads).is_empty())


def disjoint_images(frame: NestFrame, a: Reference, b: Reference) -> bool:
    """Theorem 2 (i): in no block do the two references meet in an element."""
    return bool(common(frame, a, b).is_empty())


def common(frame: NestFrame, a: Reference, b: Reference) -> isl.Set:
    """[block, element]: what both references touch."""
    return uses(frame, a, ()).domain().intersect(uses(frame, b, ()).domain())


def crossed_blocks(frame: NestFrame, ties: isl.UnionMap, threads: Sequence[ThreadAxis]) -> isl.Set:
    """The blocks inside which a dependence leads from one thread to another."""
    n = len(frame.blocks)
    total: isl.Set | None = None
    for src in sorted(frame.domains):
        for dst in sorted(frame.domains):
            space = frame.domains[src].get_space().map_from_domain_and_range(frame.domains[dst].get_space())
            pairs = ties.extract_map(space)
            pairs = pairs.intersect_domain(frame.domains[src]).intersect_range(frame.domains[dst])
            at, to = (
                _coordinates(frame.domains[s], [*(c.values for c in frame.blocks), *(x.threads for x in threads)], s)
                for s in (src, dst)
            )
            moved = pairs.apply_domain(at).apply_range(to)
            for k in range(n):
                moved = moved.equate(isl.dim_type.in_, k, isl.dim_type.out, k)
            same = moved
            for k in range(n, n + len(threads)):
                same = same.equate(isl.dim_type.in_, k, isl.dim_type.out, k)
            found = moved.subtract(same).domain().project_out(isl.dim_type.set, n, len(threads))
            total = found if total is None else total.union(found)
    assert total is not None
    return total


def _coordinates(domain: isl.Set, values: Sequence[Mapping[str, isl.PwAff]], stmt: str) -> isl.Map:
    """Instances of a statement to the values of some loops."""
    space = domain.get_space()
    target = space.params().set_from_params().add_dims(isl.dim_type.set, len(values))
    multi = isl.MultiPwAff.zero(space.map_from_domain_and_range(target))
    for k, v in enumerate(values):
        multi = multi.set_pw_aff(k, v[stmt])
    return isl.Map.from_multi_pw_aff(multi).intersect_domain(domain)


def _different(pair: isl.Space) -> isl.Set:
    """Pairs of different thread coordinates, wrapped."""
    maps = isl.Map.universe(pair.unwrap())
    same = maps
    for k in range(maps.dim(isl.dim_type.in_)):
        same = same.equate(isl.dim_type.in_, k, isl.dim_type.out, k)
    return maps.subtract(same).wrap()
