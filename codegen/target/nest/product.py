"""A product of a plan as a contraction with the order of its loops, and as a kernel."""

from __future__ import annotations

import hashlib
from typing import NamedTuple

from codegen.record import record
from codegen.scop.product import Nested
from codegen.target.isa.load import load as load_isa
from codegen.target.isa.model import Isa
from codegen.target.nest.contraction import Contraction
from codegen.target.nest.contraction import show as show_problem
from codegen.target.nest.emit import c_for, check
from codegen.target.nest.loops import Loop, check_nest, show_nest
from codegen.target.nest.schedule import covered, schedule
from codegen.target.nest.writer import Options

# The sums of a product keep the source's order.
KEPT = Options(reassociate=False)


class Nest(NamedTuple):
    """A contraction with the order of its loops."""

    problem: Contraction
    compute: tuple[Loop, ...]


@record
class NestKernel:
    """A function for one nest; `name` is the same for the same content, in every run."""

    name: str
    nest: Nest


def nest_of(how: Nested, elem: str) -> Nest:
    """The nest that a product asks for. ValueError says what is wrong with it."""
    compute = tuple(Loop(*x) for x in how.loops)
    names = tuple(dict.fromkeys(loop.var for loop in compute))
    a, b, c = (tuple(n for n, x in part if x) for part in how.pitches)
    pitches = tuple(tuple(dict(part).get(n, 0) for n in names) for part in how.pitches)
    guess = Contraction(tuple((n, 1) for n in names), a, b, c, elem, pitches)
    sizes = covered(guess, compute)
    problem = Contraction(tuple(sizes.items()), a, b, c, elem, pitches)
    check_nest(compute, problem)
    nest = Nest(problem, compute)
    check(schedule(nest, load_isa(how.isa, how.bits)), KEPT)
    return nest


def kernel_of(how: Nested, elem: str) -> NestKernel:
    """The kernel of a product."""
    nest, isa = nest_of(how, elem), load_isa(how.isa, how.bits)
    text = f"{show_problem(nest.problem)} : {show_nest(nest.compute)}"
    sizes = "x".join(str(n) for _, n in nest.problem.sizes)
    return NestKernel(f"{isa.prefix}_nest_{elem}_{sizes}_{hashlib.sha256(text.encode()).hexdigest()[:8]}", nest)


def nest_kernel(isa: Isa, kernel: NestKernel) -> str:
    """C text of the static function."""
    return c_for(kernel.nest, isa, kernel.name, KEPT, static=True)
