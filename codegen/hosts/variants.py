"""Prints a region with blocked products as one text for all variants of the default machine, and proves the products of
each variant; None where there are no variants.

Only products differ between the variants. Every variant's products are read back; loops and conditions around them are
the same text, which is read back once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from codegen.ast.ctree import CNode, ProductNode, walk
from codegen.isa.common import common_name, underlying
from codegen.isa.fast_paths import operations_of
from codegen.isa.load import load as load_isa
from codegen.machine import Machine
from codegen.record import record
from codegen.scop.memo import remember
from codegen.scop.model import Scop
from codegen.scop.product import Blocking, Contraction
from codegen.strategy.products.selection import blocking, takes_lanes
from codegen.target.emit import RegionText, Surroundings, region_text
from codegen.target.finished import FinishedText, finished
from codegen.target.pragmas import Threads
from codegen.target.product.tiles import micro_kernel_of
from codegen.target.region_views import RegionViews, region_views
from codegen.target.view import Blocks

# Instruction sets for which compilers' own vectors are printed, where tiles are the same in both: gcc makes
# multiply-adds and -subtractions with a lane of a register of them. Of vfmsq and a value in all lanes it makes a
# negation, too. Neoverse N1, lu, f64, n = 490: 9.3 ms, of the compiler's vectors 7.5 ms. Products whose operands are
# packed in another way there than anywhere else have a text of their own beside the common one (`_has_own_text`).
_WRITTEN = {"neon": "generic"}


@record
class ProductVariant:
    """The preprocessor's condition for a variant of the machine, and the blocks of products there."""

    when: str
    blocks: Blocks


class UnprovenVariants(Exception):
    """Why the one text for all variants cannot be proven."""


@record
class PrintedRegion:
    """A region as views, the text of these, and what stands in the file."""

    views: RegionViews
    emitted: RegionText
    done: FinishedText


def product_variants(codes: Sequence[CNode], machine: Machine) -> tuple[ProductVariant, ...]:
    """The variants of a machine that a region is printed for; none where it has no products in blocks of its own, or
    where kernels that all machines have in common are too narrow for one of them. A plan with the blocks of that
    machine may be one that was printed with its variants: it gets them again."""
    products = [n.product for code in codes for n in walk(code) if isinstance(n, ProductNode)]
    blocked = [x for x in products if isinstance(x.how, Blocking)]
    if not blocked or any(x.how != blocking(x.what, machine) for x in blocked):
        return ()
    from codegen.machine.variants import MachineVariant, variants
    from codegen.target.product.microkernel import MOST_COMMON

    every = (*variants(machine), MachineVariant("other", "", machine)) if variants(machine) else ()
    machines = tuple(v.machine for v in every)
    found = tuple(ProductVariant(v.when, partial(_common_blocks, v.machine, machines)) for v in every)
    every_block = [v.blocks(x.what) for v in found for x in blocked]
    return () if any(underlying(how.isa) and how.nv > MOST_COMMON for how in every_block) else found


@remember(64)
def _common_blocks(machine: Machine, among: Sequence[Machine], what: Contraction) -> Blocking:
    """The blocks that suit a machine, in whose place come those for the caches that are found, and kernels under names
    common to all. It packs the left operand as vectors only where that suits all of them: floyd-warshall on Neoverse N1
    takes 1.12 of its time without, with AVX-512 0.21."""
    how = blocking(what, machine)
    if _has_own_text(what, how):
        return replace(how, fitted=True)
    if how.isa in _WRITTEN:
        own = _WRITTEN[how.isa]
        how = replace(how, isa=own) if takes_lanes(what, machine) else blocking(what, replace(machine, isa=own))
    return replace(how, isa=common_name(how.isa), spread=_spread(among, what), fitted=True)


def _has_own_text(what: Contraction, how: Blocking) -> bool:
    """Is a product faster there with its own kernels and copies of operands than with common ones? It is with vectors
    of equal values, narrow factors, and minima in one operation: on a Neoverse N1 it takes 0.4 to 0.9 of the time."""
    if how.isa not in _WRITTEN:
        return False
    kernel = micro_kernel_of(what, how)
    own, common = (load_isa(isa, how.bits).vec(kernel.elem) for isa in (how.isa, _WRITTEN[how.isa]))
    fusing = replace(common, ops=(*common.ops, ("fma", "fma"), ("fms", "fms")))  # compilers do, integers, too
    fewer = operations_of(own, kernel.step) < operations_of(fusing, kernel.step)
    return how.spread or bool(kernel.narrow) or fewer


@remember(16)
def _spread(among: Sequence[Machine], what: Contraction) -> bool:
    return all(blocking(what, m).spread for m in among)


def for_all_variants(
    scop: Scop, code: CNode, threads: Threads, around: Surroundings, machine: Machine
) -> PrintedRegion | None:
    """The region's text for all variants of its machine, its products proven for each of them. The text for the last of
    them, which is the one without a condition, stands for all: what is around products there is around them everywhere.
    None where there are no variants. Raises UnprovenVariants where one of them could not be proven or differs in more
    than words."""
    found = product_variants([code], machine)
    if not found:
        return None
    views = region_views(scop, code, threads, variants=[v.blocks for v in found[:-1]], blocks=found[-1].blocks)
    last = region_text(views, around)
    texts = [*(region_text(views.variant(k), around) for k in range(len(found) - 1)), last]
    _check(next(filter(None, map(read_back, texts)), ""))
    done = finished(last, around, [(v.when, x) for v, x in zip(found, texts, strict=True)])
    if done.portable is None:
        raise UnprovenVariants("the texts of its variants differ in more than words")
    from codegen.verify.choices.variants import wrong_surroundings, wrong_variants

    _check(wrong_surroundings(last, texts))
    _check(wrong_variants(done.merged, done.portable.variants, [x.plain for x in texts]))
    return PrintedRegion(views, last, done)


def _check(problem: str) -> None:
    if problem:
        raise UnprovenVariants(problem)


def read_back(emitted: RegionText) -> str:
    """What is wrong with the products in a text; empty when nothing is."""
    if not (emitted.products or emitted.matvecs or emitted.kernels or emitted.nests):
        return ""
    from codegen.verify.text.check import wrong_text  # only then: start-up time counts in a build

    return wrong_text(emitted)
