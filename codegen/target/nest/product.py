"""A product of a plan as a contraction with the order of its loops, and as a kernel."""

from __future__ import annotations

from typing import NamedTuple

from codegen.isa.model import Isa
from codegen.record import record
from codegen.target.nest.contraction import Contraction
from codegen.target.nest.emit import c_for
from codegen.target.nest.loops import Loop
from codegen.target.nest.writer import Options

# The sums of a product keep the source's order.
KEPT = Options(reassociate=False)


class OrderedContraction(NamedTuple):
    """A contraction with the order of its loops."""

    problem: Contraction
    compute: tuple[Loop, ...]


@record
class NestKernel:
    """A function for one nest; `name` is the same for the same content, in every run."""

    name: str
    nest: OrderedContraction


def nest_kernel(isa: Isa, kernel: NestKernel) -> str:
    """C text of the static function."""
    return c_for(kernel.nest, isa, kernel.name, KEPT, static=True)
