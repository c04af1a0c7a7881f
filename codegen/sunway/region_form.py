"""A region's form for a core group (`RegionForm`): a proven tree, and how its kernels are made. `prepared` finds its
launches, and `printed` prints them once, for estimates and for the files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import islpy as isl

from codegen.ast.ctree import Block, CNode
from codegen.record import record
from codegen.scop.dependences import Dependences, param_space
from codegen.scop.model import Scop
from codegen.sunway.launch import LaunchPrinter
from codegen.sunway.plan.launch_options import OURS, LaunchOptions
from codegen.sunway.plan.machine import CoreGroup
from codegen.sunway.plan.threads import CoreGrid
from codegen.sunway.staging.directives import StagingDirectives
from codegen.sunway.survey import has_kernel
from codegen.sunway.text.views import SlaveView
from codegen.verify.readback import TreePoint


@record
class OnCores:
    """How kernels are made: for which cores, and whether all arrays have to fit their local memory (`strict`). `wanted`
    has the tiles that are to stay on their cores, if a plan says so."""

    group: CoreGroup
    grid: CoreGrid
    style: LaunchOptions = OURS
    model: bool = False
    strict: bool = True
    wanted: Mapping[tuple[str, str], int] | None = None
    staging: StagingDirectives | None = None


@record
class RegionForm:
    """A proven tree for the cores, and how its kernels are made. Beside the usual form there may be others, which have
    a name, and a condition on parameters under which they run."""

    scop: Scop
    deps: Dependences
    code: CNode
    how: OnCores
    name: str = ""
    when: str = ""


@record
class PrintedLaunch:
    """A launch, and the body of the function that every core runs."""

    launch: LaunchPrinter
    body: tuple[SlaveView, ...]


@record
class PrintedForm:
    """A form with its launches, in their order."""

    form: RegionForm
    launches: tuple[PrintedLaunch, ...]


def pieces(code: CNode) -> list[tuple[str, CNode]]:
    """Runs of top-level parts for the cores, and what stays on the master between them."""
    parts = list(code.children) if isinstance(code, Block) else [code]
    if not any(has_kernel(p) for p in parts):
        return [("master", code)]
    out: list[tuple[str, list[CNode]]] = []
    for p in parts:
        kind = "launch" if has_kernel(p) else "master"
        if out and out[-1][0] == kind:
            out[-1][1].append(p)
        else:
            out.append((kind, [p]))
    return [(kind, Block(tuple(ps)) if len(ps) > 1 else ps[0]) for kind, ps in out]


def prepared(form: RegionForm) -> tuple[LaunchPrinter, ...]:
    """The launches of a form, of which nothing is staged or printed yet."""
    scop, how = form.scop, form.how
    base = "_".join(filter(None, (scop.function, f"r{scop.region}", form.name)))
    everywhere = isl.Set.universe(param_space(scop).set_from_params()).intersect_params(scop.context)
    out: list[LaunchPrinter] = []
    for part in (part for kind, part in pieces(form.code) if kind == "launch"):
        name = f"{base}_{len(out) + 1}" if out else base
        launch = LaunchPrinter(scop, form.deps, how.group, how.grid, name, how.style, how.model, how.strict, how.wanted,
                               how.staging)  # fmt: skip
        out.append(launch.begin(part, TreePoint(everywhere, (), (), (), ())))
    return tuple(out)


def printed(form: RegionForm, launches: Sequence[LaunchPrinter]) -> PrintedForm:
    """With the launches that were prepared for it. Raises Unsupported where tiles do not fit local memory."""
    return PrintedForm(form, tuple(PrintedLaunch(x, x.entry()) for x in launches))
