"""Groups of statements that share an innermost loop, and how often their loops run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

import islpy as isl

from codegen.machine import Machine
from codegen.recognize.access.domain_shape import extent
from codegen.recognize.access.strides import coefficients
from codegen.record import record
from codegen.scop.memo import remember
from codegen.scop.model import Statement
from codegen.scop.tree import Band, Leaf, Loop, Node, Path, enclosing, has_band, kids, statements
from codegen.strategy.cost.lengths import SIZE, Sizes, mean_lengths
from codegen.strategy.cost.tile_sizes import constant_extent
from codegen.transform.program import Program


@record
class StatementGroup:
    """The statements directly inside a loop, and the loops around them; `closed` where no other loop is beside them."""

    names: tuple[str, ...]
    around: tuple[Loop, ...]
    path: Path
    closed: bool


@record
class GroupInRegion:
    """A group in the program and on the machine for which its cost is asked.

    own      the loops around each of its statements
    lengths  how often each loop around runs, while those outside it stand still
    final    nothing more will be planned for its loops: what they keep in registers is up to the compiler
    """

    p: Program
    machine: Machine
    group: StatementGroup
    own: dict[str, tuple[Loop, ...]]
    lengths: tuple[float, ...]
    final: bool = False

    @property
    def stmts(self) -> list[Statement]:
        return [self.p.scop.statement(n) for n in self.group.names]

    def fixed(self, k: int) -> bool:
        """Has loop number `k` the same length every time? Else compilers cannot write it out."""
        return all(_fixed_length(self.p, n, around, k) for n, around in self.own.items())


def in_region(p: Program, machine: Machine, g: StatementGroup, sizes: Sizes = ()) -> GroupInRegion:
    """Parameters count as SIZE unless `sizes` tells what they are, as for estimates of code that is final; then loops
    are as long as they are on average."""
    own = {n: enclosing(p.tree, n) for n in g.names}
    if sizes:
        known = [mean_lengths(p.scop.statement(n), around, sizes) for n, around in own.items()]
        return GroupInRegion(p, machine, g, own, max(known, key=prod), True)
    return GroupInRegion(p, machine, g, own, tuple(_length(p, own, k) for k in range(len(g.around))))


def groups(node: Node, around: tuple[Loop, ...], path: Path) -> Iterator[StatementGroup]:
    """In the order in which they run."""
    if isinstance(node, Leaf):
        yield StatementGroup((node.stmt,), around, path, False)
    elif isinstance(node, Band):
        inside = (*around, *node.loops)
        if has_band(node.child):
            yield from groups(node.child, inside, (*path, 0))
        else:
            yield StatementGroup(statements(node), inside, path, True)
    else:
        for k, child in enumerate(kids(node)):
            yield from groups(child, around, (*path, k))


def _length(p: Program, own: dict[str, tuple[Loop, ...]], k: int) -> float:
    """Iterations of loop number `k` around the statements, while those outside it stand still."""
    known = [_extent(p, n, loops_, k) for n, loops_ in own.items()]
    return float(max(SIZE if n is None else n for n in known)) or 1.0


def _extent(p: Program, name: str, around: Sequence[Loop], k: int) -> int | None:
    always = constant_extent(p.scop, around[k], name)
    if always is not None:
        return always
    s = p.scop.statement(name)
    moving = [stepped(lp, name) for lp in around[: k + 1] if not lp.tile]
    if any(d is None for d in moving) or around[k].tile:
        return None
    return extent(s, moving[-1] or 0, [d for d in moving[:-1] if d is not None])


def _fixed_length(p: Program, name: str, around: Sequence[Loop], k: int) -> bool:
    if constant_extent(p.scop, around[k], name) is not None:
        return True
    moving = [stepped(lp, name) for lp in around[: k + 1]]
    if None in moving:
        return False
    values = p.scop.statement(name).domain
    for d in reversed(range(values.dim(isl.dim_type.set))):
        if d == moving[-1]:
            continue
        if d in moving:
            values = values.move_dims(isl.dim_type.param, values.dim(isl.dim_type.param), isl.dim_type.set, d, 1)
        else:
            values = values.project_out(isl.dim_type.set, d, 1)
    length = values.dim_max(0).sub(values.dim_min(0))
    pieces = [aff for _, aff in length.get_pieces()]
    return all(aff.is_cst() for aff in pieces) and len({aff.get_constant_val().to_str() for aff in pieces}) == 1


def stepped(lp: Loop, stmt: str) -> int | None:
    """The iterator that a loop steps through for a statement; None when it is not just one."""
    return _stepped(lp.exprs[stmt])


@remember(4096)
def _stepped(value: isl.PwAff) -> int | None:
    """Asked for every group of statements and every order that is tried."""
    moving = [k for k, c in enumerate(coefficients(value, value.dim(isl.dim_type.in_)) or ()) if c]
    return moving[0] if len(moving) == 1 else None
