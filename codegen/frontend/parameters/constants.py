"""Specialization to constants: parameters that have one value in all calls in the file are fixed to it in the model.
Each leaves an assumption, which generated code tests at run time."""

from __future__ import annotations

import islpy as isl

from codegen.frontend.context.frame import Assumption, Frame
from codegen.frontend.expressions.affine import Affiner
from codegen.frontend.syntax.symbols import RegionSite


def for_constants(site: RegionSite, space: isl.Space, affiner: Affiner) -> Frame:
    """Where the region begins, if its parameters are the numbers that they are likely to be, which has to be asked."""
    anywhere = root = Frame(space, isl.Set.universe(space.set_from_params()))
    for text, number in site.constants:
        if text in affiner.params:
            value = anywhere.param(affiner.params[text][0])
            why = f"`{text}` is {number}, as in all calls in the file"
            affiner.assumptions.append(Assumption(anywhere.domain, value, number, number, why, site.loc))
            root = root.restrict(value.eq_set(anywhere.constant(number)))
    return root
