"""The bytes that the chosen tiles need: counted by isl from the exact elements that every tile touches."""

from __future__ import annotations

from collections.abc import Mapping

import islpy as isl

from benchmarks.sunway_programs import KERNELS
from codegen.options import GenOptions
from codegen.region import finish
from codegen.region_model import model_region
from codegen.scop.dependences import param_space
from codegen.source_file import open_source
from codegen.sunway.launch import LaunchPrinter
from codegen.sunway.plan.launch_options import STYLES
from codegen.sunway.plan.machine import SW26010
from codegen.sunway.plan.strategy import sunway_plan
from codegen.sunway.plan.threads import parse_grid
from codegen.sunway.plan.tiles import TileModel
from codegen.sunway.resident import elements_of_tiles
from codegen.verify.readback import TreePoint


def lower_bound(name: str, sizes: Mapping[str, int]) -> int:
    """Bytes of exactly the elements that every tile touches, each way they have to go."""
    path = KERNELS / f"{name}.c"
    source = open_source(str(path), path.read_text(), GenOptions())
    model = model_region(source.slices[0], GenOptions())
    grid = parse_grid("8,8")
    decision = sunway_plan(model.program, SW26010, grid, TileModel(SW26010, grid))
    made, findings = finish(decision.program, decision.plan, ())
    assert made is not None and not findings
    scop = made.program.scop
    launch = LaunchPrinter(scop, made.program.deps, SW26010, grid, "x", STYLES["no-mesh"])
    start = isl.Set.universe(param_space(scop).set_from_params()).intersect_params(scop.context)
    launch.begin(made.code, TreePoint(start, (), (), (), ())).entry()
    total = 0
    stay = {r.array for r in launch.residents}
    for r in launch.residents:  # they come and go once
        total += r.box.bytes * (r.get + r.box.put) * _count(elements_of_tiles(r.site, r.array), sizes)
    for kernel in launch.kernels:
        for b in (b for b in kernel.buffers if b.array not in stay):
            total += b.bytes * (b.get + b.put) * _count(kernel.touched[b.name], sizes)
    return total


def _count(touched: isl.Set, sizes: Mapping[str, int]) -> int:
    for n, v in sizes.items():
        pos = touched.find_dim_by_name(isl.dim_type.param, n)
        if pos >= 0:
            touched = touched.fix_val(isl.dim_type.param, pos, isl.Val(v))
    n = touched.dim(isl.dim_type.param)
    whole = touched.move_dims(isl.dim_type.set, 0, isl.dim_type.param, 0, n)
    loops = [k for k in range(n) if touched.get_dim_name(isl.dim_type.param, k) not in sizes]
    whole = whole.reset_tuple_id() if whole.has_tuple_id() else whole
    for k in reversed(range(n)):
        if k not in loops:
            whole = whole.project_out(isl.dim_type.set, k, 1)
    return int(whole.count_val().to_str())
