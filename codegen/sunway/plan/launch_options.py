"""`LaunchOptions`: switches for optimizations of a launch (double buffering, late waits, vectors, mesh, time steps,
...) by the name of a `--scheme`, among them the published one; and `TypicalSizes`, the loop lengths that tiles are
chosen for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from codegen.record import record


@record
class TypicalSizes:
    """What is taken for loops of unknown length when tiles are chosen. `extents`: a size is judged by the mean of its
    times over all of them. `points`: of grids that a stencil goes over in many steps, along each of so many axes."""

    extents: tuple[int, ...] = (160, 320, 640, 1000, 1200, 2600)
    points: Mapping[int, int] = field(default_factory=lambda: {1: 4000, 2: 1300, 3: 120})


USUAL = TypicalSizes()
# Those for which a region has other tiles, if that pays; which of them are used is decided when it runs.
OTHERS = {
    "few": TypicalSizes((24, 48), {1: 240, 2: 60, 3: 12}),
    "some": TypicalSizes((100, 200), {1: 800, 2: 150, 3: 30}),
    "many": TypicalSizes((5000, 10000, 20000), {1: 40000, 2: 6000, 3: 400}),
}


@record
class LaunchOptions:
    """`ahead`: the next tile is fetched while this one is worked on. `late`: puts are waited for when their buffer is
    needed again. `vectors`: lanes and register blocks. `rows`: a command for every row of a box. `mesh`: panels are
    shared between the cores of a row or column. `steps`: time steps that a stencil's tile goes through at once.
    `merged`: kernels share a launch, with barriers between them. `forms`: there may be others for few or many
    iterations, each with its tiles. `sizes`: those that tiles are chosen for."""

    ahead: bool = True
    late: bool = True
    vectors: bool = True
    rows: bool = False
    mesh: bool = True
    steps: bool = True
    merged: bool = True
    forms: bool = True
    sizes: TypicalSizes = USUAL


OURS = LaunchOptions()
PLAIN = LaunchOptions(
    ahead=False, late=False, vectors=False, rows=False, mesh=False, steps=False, merged=False, forms=False
)
STYLES = {
    "full": OURS,
    "launch": OURS,  # also where the management core is predicted to be faster
    "no-mesh": LaunchOptions(mesh=False, forms=False),
    "no-steps": LaunchOptions(steps=False),
    "no-forms": LaunchOptions(forms=False),
    # Fixed tiles of 32, transfer and compute in series. Bounds with min and max, as every ragged size has them, make
    # it fetch row by row; sizes padded to multiples of 32 do not.
    "published": LaunchOptions(
        ahead=False, late=False, vectors=False, rows=True, mesh=False, steps=False, merged=False, forms=False
    ),
    "published-padded": PLAIN,
}
