"""Records: the `Settings` of a tuning run, and its results for one search (`SearchRun`), a region (`TunedRegion`) and a
file (`TunedFile`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field

from codegen.diagnostics import Diagnostic
from codegen.record import record
from codegen.tune.build import FLAGS
from codegen.tune.plans.sizes import WORK
from codegen.tune.plans.study import TriedPlan
from codegen.tune.timing import Timing, cores


@record
class Settings:
    """`budget` is in seconds for each method, shared by the regions of a file; `jobs` is how many candidates are built
    at a time."""

    methods: tuple[str, ...] = ("auto",)
    budget: float = 60.0
    threads: int = field(default_factory=cores)
    jobs: int = field(default_factory=cores)
    sizes: Mapping[str, int] = field(default_factory=dict)
    flags: str = FLAGS
    records: str = ""
    again: bool = False
    confirm: float = 4.0  # seconds of the confirming run
    busy: bool = False  # processor time instead of time
    alone: bool = True  # one file, which must know all sizes that are given
    learned: str = ""  # folder of networks, "" for those of the package
    seed: int = 1  # of the searches that draw at random
    work: int = WORK  # statement instances of a run, where sizes are left open


@record
class SearchRun:
    """One method's search: every step of it, and what it chose (before the confirming run)."""

    method: str
    seconds: float
    history: tuple[TriedPlan, ...]
    best: float | None


@record
class TunedRegion:
    """What became of a region. `plan` is what goes into the file; without figures nothing was measured."""

    index: int
    title: str
    digest: str
    plan: str
    default_plan: str
    sizes: Mapping[str, int] = field(default_factory=dict)
    original: Timing | None = None
    default: Timing | None = None
    tuned: Timing | None = None
    runs: tuple[SearchRun, ...] = ()
    space: int = 0
    method: str = ""
    note: str = ""
    interrupted: bool = False
    exact: str = ""  # how the winner's results compare with the original's, bit by bit


@record
class TunedFile:
    """A plan for a whole file, and the regions it is made of."""

    name: str
    plan: str
    regions: tuple[TunedRegion, ...]
    diagnostics: tuple[Diagnostic, ...]
    machine: str = ""
    compiler: str = ""
    flags: str = ""
    threads: int = 1


Say = Callable[[str], None]
