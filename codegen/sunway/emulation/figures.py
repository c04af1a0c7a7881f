"""Core groups as initializers of the emulator's table: `python -m codegen.sunway.emulation.figures` prints them."""

from __future__ import annotations

from codegen.sunway.plan.machine import SW26010, SW26010_PRO, CoreGroup

HEAD = "/* The table of machines, made from codegen/sunway/plan/data: python -m codegen.sunway.emulation.figures */"


def figures() -> str:
    """The file emulator/sw_figures.h: the machines, the one first that is meant where none is named."""
    return "\n".join([HEAD, *(_machine(g) for g in (SW26010, SW26010_PRO))]) + "\n"


def _machine(g: CoreGroup) -> str:
    slow = ", ".join(f"{{ {b}, {f:g} }}" for b, f in g.slow_blocks) or "{ 0, 0 }"
    rows = (
        f'.name = "{g.short_name}",',
        f".ldm_bytes = {g.ldm_bytes}, .cache_bytes = {g.cache_bytes}, .lanes = {g.lanes(8)}, "
        f".clock_hz = {g.clock_hz:g},",
        f".launch = {g.launch:g}, .barrier = {g.barrier:g}, .mesh_start = {g.message_latency:g}, "
        f".mesh_rate = {g.message_bytes:g},",
        f".issue = {g.issue:g}, .startup = {g.startup:g}, .command = {g.command:g}, .row = {g.row:g}, "
        f".byte = {g.byte:g},",
        f".core_byte = {g.core_byte:g}, .slow = {{ {slow} }},",
    )
    return "\n".join([f"{{ /* {g.name} */", *(f"  {r}" for r in rows), "},"])


if __name__ == "__main__":
    print(figures(), end="")
