"""Computes the host-device transfers of a region: for each array the elements that it reads before it writes them (in),
and those that it writes (out), as isl sets and as boxes in C text (`ArrayText`). Unsupported where boxes have no simple
bounds.

Memory is moved in boxes. What lies in the box of written elements without being written is brought along first, so that
it comes back as it was; an array that is overwritten whole is not copied in at all.
"""

from __future__ import annotations

from math import prod

import islpy as isl

from codegen.ast.isl_expressions import box_set, condition_expr, value_expr
from codegen.diagnostics import Unsupported
from codegen.gpu.body import plain_type
from codegen.record import record
from codegen.scop.dependences import Dependences
from codegen.scop.model import Access, Array, RegionBuffer, Scop, Statement
from codegen.target.text.cexpr import IntPrinter

PARTS = 5  # sets with quotients fall into no more parts
CASES = 8  # bounds of a box fall into no more cases
_SET = isl.dim_type.set


@record
class BoxText:
    """A box of an array as C texts: first subscripts, numbers of elements, and when there is anything in it."""

    lows: tuple[str, ...]
    counts: tuple[str, ...]
    when: str  # empty: always


@record
class ArrayText:
    """An array on the device. `all` is what the region touches, `come` what is copied in, `go` what comes back."""

    name: str  # of the pointer in kernels
    kind: str  # C type of its elements
    host: str  # the host's pointer
    strides: tuple[str, ...]
    all: BoxText
    come: BoxText | None
    go: BoxText | None
    written: bool
    scalar: bool = False


@record
class Elements:
    """Sets of elements of one array: touched, needed from the host, and handed back to it."""

    touched: isl.Set
    come: isl.Set
    go: isl.Set


def elements_of(scop: Scop, deps: Dependences, name: str) -> Elements:
    """What the region does with an array."""
    space = scop.accesses_to(name)[0][1].relation.range().get_space()
    touched, written = isl.Set.empty(space), isl.Set.empty(space)
    for s, a in scop.accesses_to(name):
        image = _image(scop, s, a)
        touched = touched.union(image)
        written = written.union(image) if a.write else written
    written = written.coalesce()
    unfed = deps.live_in.range().extract_set(space.align_params(deps.live_in.get_space().params()))
    go = box_set(written) if not written.is_empty() else written
    come = unfed.intersect_params(scop.context).union(go.subtract(written))
    return Elements(touched.coalesce(), come.coalesce(), go)


def _image(scop: Scop, s: Statement, a: Access) -> isl.Set:
    """The elements that an access touches. Raises Unsupported where isl would take too long over them."""
    image = a.relation.intersect_domain(s.domain).range().intersect_params(scop.context).coalesce()
    parts = image.get_basic_sets()
    if len(parts) > PARTS and any(b.dim(isl.dim_type.div) for b in parts):
        raise _many(scop, scop.arrays[a.array])
    return image


def _many(scop: Scop, array: Array) -> Unsupported:
    words = f"which elements of `{array.name}` are used falls into many cases"
    return Unsupported("gpu-array", words, scop.loc, "split the region")


def wrong_transfers(found: Elements, scop: Scop, deps: Dependences, name: str) -> str:
    """Do copies cover what is read, bring back nothing that the device does not have, and is there room for all that is
    touched? A sentence if not."""
    come = box_set(found.come) if not found.come.is_empty() else found.come
    reads = deps.live_in.range().extract_set(found.come.get_space()).intersect_params(scop.context)
    writes = touched = isl.Set.empty(found.go.get_space())
    for s, a in scop.accesses_to(name):
        image = _image(scop, s, a)
        writes, touched = writes.union(image) if a.write else writes, touched.union(image)
    if not touched.union(come).union(found.go).is_subset(found.touched):
        return f"there is no room for elements of `{name}` on the device"
    if not reads.is_subset(come):
        return f"elements of `{name}` are read that were not copied to the device"
    if not writes.is_subset(found.go):
        return f"elements of `{name}` are written that are not copied back"
    if not found.go.is_subset(writes.union(come)):
        return f"elements of `{name}` would be copied back that nobody wrote"
    return ""


def wrong_buffer(room: isl.Set, scop: Scop, deps: Dependences, name: str) -> str:
    """Is there room for all elements of a buffer, and does nobody read one that the region has not written?"""
    touched = isl.Set.empty(room.get_space())
    for s, a in scop.accesses_to(name):
        touched = touched.union(_image(scop, s, a))
    if not touched.is_subset(room):
        return f"there is no room for elements of `{name}` on the device"
    if not deps.live_in.range().extract_set(room.get_space()).intersect_params(scop.context).is_empty():
        return f"elements of `{name}` are read that nobody wrote"
    return ""


def outside(scop: Scop) -> list[str]:
    """Arrays that the region shares with the rest of the program."""
    mine = (n for n in sorted(scop.arrays) if scop.accesses_to(n))
    return [n for n in mine if not scop.arrays[n].inside and scop.arrays[n].place != "buffer"]


def scratch_text(scop: Scop, name: str) -> ArrayText:
    """A variable of the region that several kernels use, in memory of the device alone."""
    array = scop.arrays[name]
    every = BoxText(("0",), (str(prod(map(int, array.extents))),), "")
    return ArrayText(array.name, plain_type(array.elem), "", ("1",), every, None, None, True)


def buffer_text(scop: Scop, b: RegionBuffer) -> ArrayText:
    """All values of a variable, in memory of the device alone."""
    strides = tuple(" * ".join(map(_long, b.texts[k + 1 :])) or "1" for k in range(len(b.texts)))
    every = BoxText(("0",) * len(b.texts), b.texts, "")
    return ArrayText(b.array, plain_type(scop.arrays[b.array].elem), "", strides, every, None, None, True)


def buffer_test(scop: Scop) -> str:
    """The test that such memory is not too much, in floating point, which does not wrap; empty where there is none."""
    bytes_ = (f"(double){' * '.join(b.texts)} * {scop.arrays[b.array].elem.bytes}" for b in scop.buffers)
    return f"{' + '.join(bytes_)} <= {float(min(b.limit for b in scop.buffers)):.0f}.0" if scop.buffers else ""


def array_text(scop: Scop, deps: Dependences, name: str, ints: IntPrinter) -> ArrayText:
    """An array of the host with its boxes. Raises Unsupported where these have no simple bounds."""
    array, found = scop.arrays[name], elements_of(scop, deps, name)
    ways = {strides_of(array, a) for _, a in scop.accesses_to(name)}
    if len(ways) > 1:
        raise Unsupported("gpu-array", f"rows of `{array.name}` have several lengths", scop.loc, "split the region")
    (strides,) = ways
    boxes = [None if x.is_empty() else _box(scop, array, x, ints) for x in (found.touched, found.come, found.go)]
    every = boxes[0] or BoxText(("0",) * array.dims, ("0",) * array.dims, "")
    written = any(a.write for _, a in scop.accesses_to(name))
    base = f"&{array.base}" if array.rank == 0 else array.base
    return ArrayText(array.base, plain_type(array.elem), base, strides, every, boxes[1], boxes[2], written,
                     array.rank == 0)


def strides_of(array: Array, access: Access) -> tuple[str, ...]:
    """How far elements with neighbouring subscripts are apart."""
    flat = next((x for x in access.path if x.kind == "flat"), None)
    if flat is not None:
        return tuple(map(_long, flat.strides))
    return tuple(" * ".join(map(_long, array.extents[k + 1 :])) or "1" for k in range(array.rank))


def _long(size: str) -> str:
    """A size of the source as an operand of type long."""
    return size if size.isdigit() else f"(long){size}" if size.isidentifier() else f"(long)({size})"


def _box(scop: Scop, array: Array, elements: isl.Set, ints: IntPrinter) -> BoxText:
    lows, counts = [], []
    context = scop.context
    for k in range(elements.dim(_SET)):
        low, high = elements.dim_min(k).coalesce(), elements.dim_max(k).coalesce()
        size = high.sub(low).add_constant_val(isl.Val(1)).coalesce()
        if max(low.n_piece(), size.n_piece()) > CASES:
            raise _many(scop, array)
        lows.append(ints.text(value_expr(low.gist(context), context)))
        counts.append(ints.text(value_expr(size.gist(context), context)))
    where = elements.params().gist(context).coalesce()
    always = isl.Set.universe(where.get_space()).is_subset(where)
    return BoxText(tuple(lows), tuple(counts), "" if always else ints.text(condition_expr(where, context)))
