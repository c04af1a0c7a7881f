"""Prints resident tiles: their places in local memory, loads before the first kernel and stores after the last."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from codegen.ast.ctree import Block
from codegen.scop.model import Scop
from codegen.sunway.resident import Resident
from codegen.sunway.slave import KernelPrinter
from codegen.sunway.staging.local import Stage
from codegen.sunway.text.bodies import base_type
from codegen.sunway.text.views import SlaveFunction, SlaveView, line, texts
from codegen.target.text.cexpr import IntPrinter
from codegen.verify.cores.launches.resident_transfers import MoverTask

if TYPE_CHECKING:
    from codegen.sunway.launch import LaunchPrinter


def stay_declarations(launch: LaunchPrinter) -> tuple[SlaveView, ...]:
    """Places for the tiles, in the function that every core runs: they last as long as the launch does."""
    aligned = f"__attribute__((aligned({launch.group.vector_bits // 8})))"
    return tuple(
        line(f"{_element(launch.scop, r)} {r.box.name}_kept[{r.slots}][{r.box.size}] {aligned};",
             f"tiles of {r.array} that stay on this core") for r in launch.residents
    )  # fmt: skip


def stay_parameter(scop: Scop, r: Resident) -> str:
    return f"{_element(scop, r)} (*{r.box.name}_kept)[{r.box.size}]"


def stay_moves(launch: LaunchPrinter, which: str) -> tuple[SlaveView, ...]:
    """Calls that let the tiles `come` or `go`, and the functions that they call: one for all arrays shared out
    alike."""
    out: list[SlaveView] = []
    for number, group in enumerate(_alike(launch.residents)):
        title = f"{launch.name}_{'keep' if which == 'come' else 'give_back'}{number or ''}"
        w = launch.words
        body = _tiles_move(launch, group, which)
        words = set(re.findall(r"\w+", " ".join(texts(body))))
        moved = [r for r in group if f"{r.box.name}_kept" in words]
        head = f"void {title}({launch.name}_args *{w.args}, int {w.id}"
        parameters = "".join(f", {stay_parameter(launch.scop, r)}" for r in moved)
        names = ", ".join(r.array for r in group)
        comment = f"from here on this core keeps its first tiles of {names}"
        if which == "go":
            comment = f"this core gives back its first tiles of {names}"
        launch.functions.append(SlaveFunction(f"{head}{parameters})", comment, body))
        site = group[0].site
        launch.movers[len(launch.functions) - 1] = MoverTask(site.bound, site.at, f"{head}{parameters})")
        call = line(f"{title}({w.args}, {w.id}{''.join(f', {r.box.name}_kept' for r in moved)});")
        ints = IntPrinter({p.name: p for p in launch.scop.params}, {}, launch.helpers)
        runs = " && ".join(f"{ints.text(lp.lower, 5)} {lp.op} {ints.text(lp.upper, 5)}" for lp in group[0].loops)
        out.append(SlaveView("if", runs, (call,)) if runs else call)
    return tuple(out)


def _tiles_move(launch: LaunchPrinter, group: Sequence[Resident], which: str) -> tuple[SlaveView, ...]:
    """The body of such a function: the loops over this core's tiles, with nothing but transfers in them."""
    site = group[0].site
    node: object = Stage(tuple(r.box for r in group), Block(()))
    for lp in reversed(site.bound):
        node = replace(lp, body=node)  # type: ignore[arg-type]
    slots = {r.array: r.slots for r in group}
    phase = KernelPrinter(
        launch.scop, launch.group, launch.grid, launch.helpers, frozenset(), launch.words, frozenset(), launch.style,
        launch.model, len(site.bound), None, site.in_turn, slots, which, frozenset(r.array for r in group if r.get),
    )  # fmt: skip
    body = phase.views(node, {}, {})  # type: ignore[arg-type]
    return (*phase.declarations(), *body)


def _alike(found: Sequence[Resident]) -> list[list[Resident]]:
    """Arrays whose tiles are shared out by the same kernel, under the same conditions."""
    out: list[list[Resident]] = []
    for r in found:
        same = next((g for g in out if g[0].site is r.site and g[0].loops == r.loops), None)
        if same is None:
            out.append([r])
        else:
            same.append(r)
    return out


def _element(scop: Scop, r: Resident) -> str:
    return base_type(scop.arrays[r.array].elem)
