"""Other forms of a region that show a device more products (`forms`): variables of which all values are kept
(`expand`), sums that an element gathers in place of a scalar (`forward`), and values in place of temporaries
(`substitute`). None where nothing new could be one."""

from __future__ import annotations

from collections.abc import Iterator

import islpy as isl

from codegen.diagnostics import InputError
from codegen.gpu.plan.device import Device
from codegen.gpu.plan.strategy import device_plan, is_product, predicted
from codegen.plan.model import Directive, Expand
from codegen.record import record
from codegen.strategy.products.expansion import Shows, candidates, choices
from codegen.strategy.products.forwarding import forwarded
from codegen.strategy.products.substitution import substituted
from codegen.transform.apply import apply
from codegen.transform.program import Program

SHARE = 8  # all values of a variable take this part of the device's memory at most
MOST = 4  # ways to expand a variable that are looked at


@record
class Form:
    """A region after some directives."""

    program: Program
    directives: tuple[Directive, ...]


def forms(source: Program, processor: Device) -> Iterator[Form]:
    """Those that are not the region as it is."""
    wide = _expanded(Form(source, ()), processor)
    if wide.directives:
        yield wide
    for p, done in (forwarded(source), substituted(source)):
        if done:
            yield Form(p, done)


def _expanded(form: Form, processor: Device) -> Form:
    """With variables expanded that hide products, over the loops for which the device takes the least time."""
    scop = form.program.scop
    done = frozenset(s.name for s in scop.statements if is_product(scop, s))
    shows = Shows(form.program.reassociate, {})
    for name in candidates(form.program, done):
        ways = [Expand(name, over, processor.memory // SHARE) for over in choices(form.program, name)]
        tried = [x for d in ways[-MOST:] if (x := _tried(form, d, shows, done)) is not None]
        if tried:
            form = min(tried, key=lambda x: predicted(device_plan(x.program, processor, True), processor))
    return form


def _tried(form: Form, d: Expand, shows: Shows, done: frozenset[str]) -> Form | None:
    """With one more variable expanded, if a statement could be a product then that is none now."""
    if not shows.more(form.program.scop, d, done):
        return None
    try:
        return Form(apply(form.program, d), (*form.directives, d))
    except (InputError, isl.Error):
        return None
