"""Switches for optimizations of a launch (double buffering, late waits, ...). The published scheme is this one with
everything switched off."""

from __future__ import annotations

from codegen.record import record


@record
class LaunchOptions:
    """`ahead`: the next tile is fetched while this one is worked on. `late`: puts are waited for when their buffer is
    needed again. `vectors`: lanes and register blocks. `rows`: a command for every row of a box. `mesh`: panels are
    shared between the cores of a row or column. `steps`: time steps that a stencil's tile goes through at once.
    `merged`: kernels share a launch, with barriers between them."""

    ahead: bool = True
    late: bool = True
    vectors: bool = True
    rows: bool = False
    mesh: bool = True
    steps: bool = True
    merged: bool = True


OURS = LaunchOptions()
PLAIN = LaunchOptions(ahead=False, late=False, vectors=False, rows=False, mesh=False, steps=False, merged=False)
STYLES = {
    "full": OURS,
    "launch": OURS,  # also where the management core is predicted to be faster
    "no-mesh": LaunchOptions(mesh=False),
    "no-steps": LaunchOptions(steps=False),
    # Fixed tiles of 32, transfer and compute in series. Bounds with min and max, as every ragged size has them, make
    # it fetch row by row; sizes padded to multiples of 32 do not.
    "published": LaunchOptions(
        ahead=False, late=False, vectors=False, rows=True, mesh=False, steps=False, merged=False
    ),
    "published-padded": PLAIN,
}
