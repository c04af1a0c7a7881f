"""Run-time guards: computes the set of parameter values for which the affine model and the C text agree: all
assumptions hold, within the ranges of C types and the user's --context. Raises Unsupported where an assumption never
holds."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from codegen.diagnostics import InputError, Loc, Unsupported
from codegen.frontend.context.frame import Assumption
from codegen.options import names_in
from codegen.scop.model import Guard, Param

# Generated loops compute with 64-bit integers; parameters of 64-bit types must leave room for `n + tile`.
# The helpers tw_fits in templates/file.c.j2 test this bound.
LIMIT = 1 << 60


def parameter_ranges(params: Sequence[Param], space: isl.Space) -> isl.Set:
    """The values the parameters' C types allow, 64-bit ones cut to +-2^60."""
    ranges = isl.Set.universe(space)
    for k, p in enumerate(params):
        low, high = p.ctype.range()
        ctx = ranges.get_ctx()
        ranges = ranges.lower_bound_val(isl.dim_type.param, k, _val(max(low, -LIMIT), ctx))
        ranges = ranges.upper_bound_val(isl.dim_type.param, k, _val(min(high, LIMIT), ctx))
    return ranges


def _val(number: int, ctx: isl.Context) -> isl.Val:
    return isl.Val.read_from_str(ctx, str(number))


def build_guard(
    assumptions: Sequence[Assumption],
    ranges: isl.Set,
    params: Sequence[Param],
    space: isl.Space,
    context: Sequence[tuple[str, Loc]],
    loc: Loc,
) -> Guard:
    """The parameters for which every assumption holds, simplified by what the types guarantee."""
    allowed = assumed(context, space)
    valid = allowed
    reasons: list[str] = []
    for a in assumptions:
        violated = broken(a)
        if violated.intersect(ranges).intersect(valid).is_empty():
            continue
        # Where nothing runs, a needless fallback to the source is harmless, and the test stays short.
        violated = violated.gist(a.domain.params().intersect(ranges))
        valid = valid.subtract(violated).coalesce()
        if a.reason not in reasons:
            reasons.append(a.reason)
        if valid.intersect(ranges).is_empty():
            raise Unsupported(
                "always-wraps",
                f"it never holds that {a.reason}",
                a.loc,
                "use a signed loop variable, or bounds that stay in range",
            )
    rest = valid.gist(allowed).intersect(ranges).gist(ranges).coalesce()
    wide = [p for p in params if p.ctype.bits >= 64]
    valid = valid.intersect(ranges).gist(ranges)
    for p in params:
        if not p.ctype.signed:
            k = valid.find_dim_by_name(isl.dim_type.param, p.name)
            valid = valid.lower_bound_val(isl.dim_type.param, k, _val(0, valid.get_ctx()))
    for p in wide:
        low, _ = p.ctype.range()
        k = valid.find_dim_by_name(isl.dim_type.param, p.name)
        valid = valid.lower_bound_val(isl.dim_type.param, k, _val(max(low, -LIMIT), valid.get_ctx()))
        valid = valid.upper_bound_val(isl.dim_type.param, k, _val(LIMIT, valid.get_ctx()))
    if wide:
        reasons.append("sizes stay below 2^60")
    return Guard(valid.coalesce(), rest, tuple(p.name for p in wide), tuple(reasons))


def assumed(context: Sequence[tuple[str, Loc]], space: isl.Space) -> isl.Set:
    """What the user says about the parameters."""
    allowed = isl.Set.universe(space)
    for text, where in context:
        allowed = allowed.intersect(user_context(text, space, where))
    return allowed


def broken(a: Assumption) -> isl.Set:
    """The parameters for which it does not hold."""
    ctx = a.value.get_ctx()
    zero = isl.PwAff.from_aff(isl.Aff.zero_on_domain(isl.LocalSpace.from_space(a.value.get_domain_space())))
    low = zero.add_constant_val(_val(a.low, ctx))
    high = zero.add_constant_val(_val(a.high, ctx))
    return a.domain.intersect(a.value.lt_set(low).union(a.value.gt_set(high))).params()


def user_context(text: str, space: isl.Space, loc: Loc) -> isl.Set:
    """`N >= 64 and M > 0` (or with &&) as a set of parameters. Names the region does not use are ignored."""
    if not text.strip():
        return isl.Set.universe(space)
    known = {space.get_dim_name(isl.dim_type.param, k) for k in range(space.dim(isl.dim_type.param))}
    names = names_in(text)
    body = text.replace("&&", " and ").replace("||", " or ").replace("==", "=")
    try:
        given = isl.Set.read_from_str(isl.DEFAULT_CONTEXT, f"[{','.join(names)}] -> {{ : {body} }}")
    except isl.Error:
        raise InputError(
            "bad-context",
            f"cannot read the assumption `{text}`",
            loc,
            "write comparisons of parameters joined by and/or, for example 'N >= 64 and M >= 1'",
        ) from None
    for n in names:
        if n not in known:
            pos = given.find_dim_by_name(isl.dim_type.param, n)
            given = given.project_out(isl.dim_type.param, pos, 1)
    return given.align_params(space)
