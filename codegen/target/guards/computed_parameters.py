"""Prints parameters that are expressions of the source as `const` variables ahead of the region, each evaluated only
where the source evaluates the expression, else 0."""

from __future__ import annotations

import re
from collections.abc import Sequence

import islpy as isl

from codegen.ast.generate import expression
from codegen.frontend.context.guards import LIMIT
from codegen.record import record
from codegen.scop.isl_helpers import val
from codegen.scop.model import Scop
from codegen.scop.types import CType
from codegen.target.text.cexpr import IntPrinter


@record
class ComputedText:
    """A computed parameter as C: the variable, when it is evaluated (empty for always), and its value, with `{0}`
    and so on in place of the elements of memory that it reads: their texts, types and variables. What it divides by is
    written the same way."""

    name: str
    ctype: CType
    test: str
    formula: str
    divisors: tuple[str, ...]
    reads: tuple[tuple[str, CType, str], ...]

    def declaration(self, reads: Sequence[str] = ()) -> str:
        """With other texts for the elements, if they are given."""
        value = self.filled(self.formula, reads or [text for text, _, _ in self.reads])
        return f"const {self.ctype.spelling} {self.name} = {f'{self.test} ? {value} : 0' if self.test else value};"

    def filled(self, text: str, reads: Sequence[str]) -> str:
        """`text` with these elements in its gaps."""
        return re.sub(r"\{(\d+)\}", lambda m: reads[int(m[1])], text)


def computed_texts(scop: Scop, ints: IntPrinter) -> tuple[ComputedText, ...]:
    """All of them, each behind those that it depends on."""
    return tuple(
        ComputedText(
            d.param,
            scop.param(d.param).ctype,
            condition_expr(scop, number, ints),
            d.formula,
            d.divisors,
            tuple((r.text, r.ctype, r.base) for r in d.reads),
        )
        for number, d in enumerate(scop.computed)
    )


def needed(computed: Sequence[ComputedText], text: str) -> tuple[str, ...]:
    """Declarations of those that `text` mentions, or one behind them that is needed."""
    found: list[str] = []
    for d in reversed(computed):
        if re.search(rf"\b{d.name}\b", " ".join([text, *found])):
            found.insert(0, d.declaration())
    return tuple(found)


def own_declarations(scop: Scop, text: str) -> tuple[str, ...]:
    """Those of the region's own variables that `text` mentions."""
    return tuple(o.begin for o in scop.own if re.search(rf"\b{o.name}\b", text))


def condition_expr(scop: Scop, number: int, ints: IntPrinter) -> str:
    """When the source evaluates a computed parameter, as C; empty for always.

    The model is the program only where the region's guard holds; elsewhere the parameter is not evaluated, either. For
    that, the guard says what it can without this parameter and those behind it.
    """
    d = scop.computed[number]
    if _always(scop, d.where):
        return ""
    valid = scop.guard.valid
    later = [x.param for x in scop.computed[number:]]
    for name in later:
        pos = valid.find_dim_by_name(isl.dim_type.param, name)
        if pos >= 0:
            valid = valid.project_out(isl.dim_type.param, pos, 1)
    where = d.where.intersect(valid.align_params(d.where.get_space())).coalesce()
    tests = []
    for p in scop.params:
        pos = where.find_dim_by_name(isl.dim_type.param, p.name)
        if p.name in scop.guard.wide and p.name not in later and where.involves_dims(isl.dim_type.param, pos, 1):
            helper = "tw_fits" if p.ctype.signed else "tw_fits_unsigned"
            ints.helpers.add(helper)
            tests.append(f"{helper}({p.text})")
    build = isl.AstBuild.from_context(isl.Set.universe(where.get_space()))
    text = ints.text(expression(build.expr_from_set(where.gist(_ranges(scop, where)))), 2 if tests else 1)
    return " && ".join([*tests, text])


def _always(scop: Scop, where: isl.Set) -> bool:
    return bool(_ranges(scop, where).is_subset(where))


def _ranges(scop: Scop, like: isl.Set) -> isl.Set:
    """What the types of the parameters allow, as far as fast versions go."""
    out = isl.Set.universe(like.get_space())
    for p in scop.params:
        pos = out.find_dim_by_name(isl.dim_type.param, p.name)
        if pos >= 0:
            low, high = p.ctype.range()
            out = out.lower_bound_val(isl.dim_type.param, pos, val(max(low, -LIMIT)))
            out = out.upper_bound_val(isl.dim_type.param, pos, val(min(high, LIMIT)))
    return out
