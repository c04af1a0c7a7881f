"""Arrays of the model: groups the accesses of a region by variable and member, makes an `Array` of each group, and
turns subscripts into affine indices, flat ones into several. What cannot be modelled is refused (Unsupported)."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace

import islpy as isl
from pycparser import c_ast

from codegen.diagnostics import Loc, Unsupported
from codegen.frontend.context.frame import Assumption, Frame
from codegen.frontend.context.raw import InsideVar, RawAccess, RawStatement, RawStep
from codegen.frontend.expressions.affine import Affiner, NotAffine, c_text
from codegen.frontend.expressions.modular import arithmetic
from codegen.frontend.expressions.polynomials import polynomial
from codegen.frontend.memory.delinearize import Flat, RowIndex, SubscriptUse, find_flat, fitting_rows, place
from codegen.frontend.memory.distinct import KnownIndex, through_distinct
from codegen.frontend.syntax.declarators import DeclaredType
from codegen.frontend.syntax.members import spelled
from codegen.frontend.syntax.symbols import Variable, location
from codegen.record import record
from codegen.scop.model import AccessStep, Array
from codegen.scop.origins import Place
from codegen.scop.types import CType

Signature = tuple[str, ...]  # member names on the way to the element


class DataSubscript(Unsupported):
    """A subscript is no formula of loop variables and parameters. If all subscripts of the array at `place` are taken
    for unknown, the region may still be understood."""

    place: Place = ("",)


@record
class ArrayGroup:
    """All accesses to one variable. `whole` means members are not told apart (a whole struct is used, or a union)."""

    base: str
    whole: bool
    arrays: Mapping[Signature, Array]
    flat: Mapping[Signature, Flat]

    def model(
        self, raw: RawAccess, frame: Frame, affiner: Affiner
    ) -> tuple[Array, list[isl.PwAff], tuple[AccessStep, ...]]:
        """The array, the C-level indices and the printing path of one access."""
        sig = signature(raw, self.whole)
        if raw.opaque:
            known = _known_index(raw, frame, affiner)[: self.arrays[sig].rank]
            for k in known:
                if k.room is not None:
                    _between(k.value, k.room, frame, affiner, raw)
            return self.arrays[sig], [k.value for k in known], _data_path(raw)
        rows = self.flat.get(sig)
        first = _first_subscript(raw.steps)
        index: list[isl.PwAff] = []
        path: list[AccessStep] = []
        for number, step in enumerate(raw.steps):
            flat = rows if number == first else None
            if step.kind == "member":
                path.append(AccessStep("member", step.alike[0], step.member, count=step.alike[1]))
            elif step.kind in ("deref", "arrow"):
                path.append(AccessStep(step.kind, len(index), step.member))
                index.append(frame.zero())
            else:
                assert step.node is not None
                if flat:
                    values = _flat_index(step.node, flat, frame, affiner, raw)
                else:
                    values = [_index(step.node, frame, affiner, raw)]
                    if step.row:
                        _stay_in_row(step, values[0], frame, affiner, raw)
                strides = flat.stride_texts() if flat else ()
                path.append(AccessStep("flat" if flat else "sub", len(index), strides=strides))
                index.extend(values)
        array = self.arrays[sig]
        if len(index) > array.rank:
            raise Unsupported(
                "unsupported-expression",
                f"`{self.base}` is used as a whole and by elements of arrays within it",
                raw.loc,
                "copy its members one by one",
            )
        return array, index[: array.rank], tuple(path)


def signature(raw: RawAccess, whole: bool) -> Signature:
    return () if whole else tuple(s.member for s in raw.steps if s.kind in ("member", "arrow"))


def _index(node: c_ast.Node, frame: Frame, affiner: Affiner, raw: RawAccess) -> isl.PwAff:
    try:
        value, _ = affiner.value(node, frame)
        return value
    except NotAffine as error:
        data = isinstance(error.node, (c_ast.ArrayRef, c_ast.ID, c_ast.StructRef, c_ast.FuncCall))
        refusal = (Unsupported if raw.inside else DataSubscript)(
            "data-dependent-subscript" if data else "nonaffine-subscript",
            f"the subscript `{c_text(node)}` is not affine: {error.why}",
            location(error.node, affiner.fallback),
            "subscripts may use loop variables and integers the region does not change, with + - and * / % by "
            f"constants; {_flat_advice(raw)}",
        )
        if isinstance(refusal, DataSubscript):
            refusal.place = (raw.base, *signature(raw, False))
        raise refusal from None


def _known_index(raw: RawAccess, frame: Frame, affiner: Affiner) -> list[KnownIndex]:
    """The first indices of an access, up to one that data decide about, or that may leave the row it is for."""
    out: list[KnownIndex] = []
    for step in raw.steps:
        if step.kind in ("deref", "arrow"):
            out.append(KnownIndex(frame.zero()))
        elif step.kind == "sub":
            assert step.node is not None
            found = [] if step.row else _known(step.node, frame, affiner)
            if not found:
                break
            out += found
    return out


def _known(node: c_ast.Node, frame: Frame, affiner: Affiner) -> list[KnownIndex]:
    """The indices that one subscript stands for; none if data decide about it."""
    mark = affiner.mark()
    try:
        return through_distinct(node, frame, affiner) or [KnownIndex(affiner.value(node, frame)[0])]
    except NotAffine:
        affiner.back(mark)
        return []


def _data_path(raw: RawAccess) -> tuple[AccessStep, ...]:
    """How an access with all of its subscripts as expressions is printed."""
    numbers = itertools.count()
    return tuple(
        AccessStep("data", next(numbers)) if s.kind == "sub" else AccessStep(s.kind, text=s.member) for s in raw.steps
    )


def _stay_in_row(step: RawStep, value: isl.PwAff, frame: Frame, affiner: Affiner, raw: RawAccess) -> None:
    """The index of an element that a pointer into a row leads to lies in that row, or the region does not run."""
    assert step.node is not None
    size = None if step.declarator is None else step.declarator.dim
    try:
        length = None if size is None else affiner.value(size, frame)[0]
    except NotAffine:
        length = None
    if length is None:
        raise Unsupported(
            "pointer-unknown",
            f"the length of the row that `{c_text(step.node)}` is an index of is not known",
            raw.loc,
            "write the subscripts of the array itself",
        )
    why = f"`{c_text(step.node)}` stays within its row"
    affiner.assumptions.append(Assumption(frame.domain, value, 0, 1 << 62, why, raw.loc))
    affiner.assumptions.append(Assumption(frame.domain, length.sub(value), 1, 1 << 62, why, raw.loc))


def _between(value: isl.PwAff, room: isl.PwAff, frame: Frame, affiner: Affiner, raw: RawAccess) -> None:
    """A column lies in its row, or the place of an index among those that differ, or the region does not run."""
    why = f"a subscript of `{raw.base}` stays within its row, or its index array"
    affiner.assumptions.append(Assumption(frame.domain, value, 0, 1 << 62, why, raw.loc))
    affiner.assumptions.append(Assumption(frame.domain, room.sub(value), 1, 1 << 62, why, raw.loc))


def _flat_advice(raw: RawAccess) -> str:
    if sum(s.kind == "sub" for s in raw.steps) > 1:
        return "set a pointer p to the flat array before the region and write p[i*n + j] with 0 <= j < n"
    return "for a flat array write A[i*n + j] with 0 <= j < n"


def _flat_index(node: c_ast.Node, flat: Flat, frame: Frame, affiner: Affiner, raw: RawAccess) -> list[isl.PwAff]:
    poly = polynomial(node, frame, affiner)
    assert poly is not None
    rows = place(SubscriptUse(poly, frame), flat, affiner)
    why = f"`{c_text(node)}` stays within its row"
    for row in rows:
        if row.low:
            affiner.assumptions.append(Assumption(frame.domain, row.value, 0, 1 << 62, why, raw.loc))
        if row.high and row.room is not None:
            affiner.assumptions.append(Assumption(frame.domain, row.room.sub(row.value), 1, 1 << 62, why, raw.loc))
    _fits_its_type(node, rows, SubscriptUse(poly, frame), flat, affiner, raw)
    return [row.value for row in rows]


def _fits_its_type(
    node: c_ast.Node, rows: Sequence[RowIndex], use: SubscriptUse, flat: Flat, affiner: Affiner, raw: RawAccess
) -> None:
    """What is computed modulo 2^32 is less than that, or the region does not run."""
    how = arithmetic(node, use.frame, affiner)
    assert how is not None
    if not how.modular:
        return
    room = fitting_rows(use, flat, affiner)
    added = _sum(how.added, use.frame, affiner) if how.added else rows[-1].value
    if room is None or added is None or not added.is_equal(rows[-1].value):
        raise Unsupported(
            "nonaffine-subscript",
            f"whether `{c_text(node)}` wraps around in 32 bits cannot be tested ahead of the region",
            raw.loc,
            "compute it in a type of 64 bits, such as size_t",
        )
    why = f"`{c_text(node)}` does not wrap around"
    affiner.assumptions.append(Assumption(use.frame.domain, rows[0].value, 0, 1 << 62, why, raw.loc))
    affiner.assumptions.append(Assumption(use.frame.domain, room.sub(rows[0].value), 1, 1 << 62, why, raw.loc))


def _sum(parts: Sequence[tuple[int, c_ast.Node]], frame: Frame, affiner: Affiner) -> isl.PwAff | None:
    """The sum of these parts with their signs; None where it is not affine."""
    total = frame.zero()
    try:
        for sign, part in parts:
            value = affiner.value(part, frame)[0]
            total = total.add(value) if sign > 0 else total.sub(value)
    except NotAffine:
        return None
    return total


def group_accesses(
    raws: Sequence[RawStatement], variables: Mapping[str, Variable], inside: Mapping[str, InsideVar], affiner: Affiner
) -> tuple[dict[str, ArrayGroup], list[Unsupported]]:
    """Groups by variable name (model name for variables declared inside), and why some variables have none."""
    by_base: dict[str, list[tuple[RawAccess, Frame]]] = {}
    for s in raws:
        for a in s.accesses:
            by_base.setdefault(a.base, []).append((a, s.frame))
    out: dict[str, ArrayGroup] = {}
    refusals: list[Unsupported] = []
    for base, uses in by_base.items():
        try:
            out[base] = _group(base, uses, variables, inside, affiner)
        except Unsupported as error:
            refusals += (error, *error.others)
    return out, refusals


def _group(
    base: str,
    uses: list[tuple[RawAccess, Frame]],
    variables: Mapping[str, Variable],
    inside: Mapping[str, InsideVar],
    affiner: Affiner,
) -> ArrayGroup:
    signatures = sorted({signature(a, False) for a, _ in uses})
    # A whole struct covers its members; a union's members cover each other.
    nested = any(s != t and t[: len(s)] == s for s in signatures for t in signatures)
    shared = any(step.shared for a, _ in uses for step in a.steps)
    whole = nested or shared or (base in inside and signatures != [()])
    arrays: dict[Signature, Array] = {}
    flats = {} if whole or inside.get(base) else _find_flats(uses, affiner)
    for sig in sorted({signature(a, whole) for a, _ in uses}):
        mine = [(a, f) for a, f in uses if signature(a, whole) == sig]
        if whole and any(a.opaque for a, _ in mine):
            raise _both(base, mine[0][0].loc)
        made = _array((base, sig), mine, flats.get(sig), whole, variables, inside)
        arrays[sig] = _opaque(made, mine, affiner) if mine[0][0].opaque else made
    return ArrayGroup(base, whole, arrays, flats)


def _opaque(array: Array, uses: Sequence[tuple[RawAccess, Frame]], affiner: Affiner) -> Array:
    """The array as far as its subscripts are known: the first ones, that no use leaves to data, found in one way."""
    known = [tuple(k.through for k in _known_index(a, a.within(f), affiner)) for a, f in uses]
    alike = [k for k in range(min(map(len, known)) + 1) if len({way[:k] for way in known}) == 1]
    elem = CType("struct", "other", array.elem.bits)
    return replace(array, elem=elem, rank=max(alike), mixed=True, part=array.elem)


def _both(base: str, loc: Loc) -> Unsupported:
    return Unsupported(
        "data-dependent-subscript",
        f"data decide about subscripts of `{base}`, of which members are used as several types, or with their struct",
        loc,
        "copy what is needed to an array of its own before the region",
    )


def _find_flats(uses: list[tuple[RawAccess, Frame]], affiner: Affiner) -> dict[Signature, Flat]:
    """Strides of arrays that have them. Members of one array's elements share its rows: `p[i*n + j].x` and `.y`."""
    by_pointer: dict[Signature, list[tuple[RawAccess, Frame]]] = {}
    for a, f in uses:
        if a.opaque:
            continue
        way = a.steps[: _first_subscript(a.steps)]
        by_pointer.setdefault(tuple(s.member for s in way), []).append((a, f))
    flats: dict[Signature, Flat] = {}
    for mine in by_pointer.values():
        flat = _find_flat(mine, affiner)
        if flat is not None:
            flats |= dict.fromkeys((signature(a, False) for a, _ in mine), flat)
    return flats


def _first_subscript(steps: Sequence[RawStep]) -> int:
    """The number of the step that may be a flat subscript; members on the way to a pointer may stand before it, as in
    `img->data[y * img->pitch + x]`."""
    return next((k for k, s in enumerate(steps) if s.kind in ("sub", "deref")), len(steps))


def _find_flat(uses: list[tuple[RawAccess, Frame]], affiner: Affiner) -> Flat | None:
    """Strides for an array with one C subscript, of numbers or of structs, that is a polynomial somewhere; None if all
    are affine."""
    found = []
    odd = []  # uses that no strides can be found for
    for access, frame in uses:
        first = _first_subscript(access.steps)
        step, *behind = access.steps[first:] or (None,)
        if step is None or step.kind != "sub" or (behind and behind[0].kind != "member"):
            return None
        assert step.node is not None
        here = frame if access.where is None else frame.restrict(access.where)
        poly = polynomial(step.node, here, affiner)
        if poly is None or arithmetic(step.node, here, affiner) is None:
            odd.append((access, here, step.node))
            continue
        found.append(SubscriptUse(poly, here))
    flat = find_flat(found, affiner) if found else None
    refusals = []
    for access, here, node in odd if flat is not None else ():  # these stand in the way, not the flat ones
        try:
            _index(node, here, affiner, access)
        except Unsupported as error:
            refusals.append(error)
    if refusals:
        refusals[0].others = tuple(refusals[1:])
        raise refusals[0]
    return None if odd else flat


def _array(
    key: tuple[str, Signature],
    uses: list[tuple[RawAccess, Frame]],
    flat: Flat | None,
    whole: bool,
    variables: Mapping[str, Variable],
    inside: Mapping[str, InsideVar],
) -> Array:
    (base, sig), ranks = key, set()
    for access, _ in uses:
        steps = list(access.steps)
        if whole:
            cut = next((k for k, s in enumerate(steps) if s.kind in ("member", "arrow")), len(steps))
            steps = steps[: cut + (cut < len(steps) and steps[cut].kind == "arrow")]
        ranks.add(sum(s.kind in ("sub", "deref", "arrow") for s in steps))
    if len(ranks) != 1 and not whole:
        raise Unsupported(
            "array-as-value",
            f"`{base}` is used with different numbers of subscripts",
            uses[0][0].loc,
            "subscript it the same way everywhere",
        )
    rank = min(ranks) + (len(flat.strides) - 1 if flat else 0)
    elem = uses[0][0].elem
    name = "_".join([base, *sig])
    if base in inside:
        var = inside[base]
        if var.nameless and not all(any(s.member for s in a.steps) for a, _ in uses):
            raise Unsupported(
                "local-declaration", f"`{var.base}` is copied as a whole, and its type has no name", var.loc,
                "give the type a name with typedef, before the region",
            )  # fmt: skip
        return Array(base, base, var.elem, rank, var.extents, var.scope, True, "inside", mixed=whole)
    var_outer = variables[base]
    if whole:
        elem = _object_type(var_outer.shape, all(any(s.member for s in a.steps) for a, _ in uses))
    extents = tuple("" if la.dim is None else c_text(la.dim) for la in var_outer.shape.declarators)
    pointers = [k + 1 for k, la in enumerate(var_outer.shape.declarators) if la.kind == "pointer"]
    depth = rank if sig else max(pointers, default=0)  # members may be pointers, too
    scattered = any(_scattered(a.steps) for a, _ in uses)
    return Array(name, base, elem, rank, extents, 0, False, var_outer.place, depth, whole, scattered=scattered)


def _scattered(steps: Sequence[RawStep]) -> bool:
    """Do the elements hang on more than one pointer?"""
    later = steps[_first_subscript(steps) + 1 :]
    return any(s.kind == "arrow" or (s.declarator is not None and s.declarator.kind == "pointer") for s in later)


def _object_type(shape: DeclaredType, by_members: bool) -> CType:
    """The type of a struct or union that is more than one number. One without a name can be written down again as long
    as no object of it is copied as a whole."""
    nameless = shape.elem.spelling in ("struct", "union") and shape.struct is not None
    return replace(shape.elem, spelling=spelled(shape.struct)) if nameless and by_members else shape.elem
