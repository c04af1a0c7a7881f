"""The `Target` interface: what a kind of generated code can express, which files it writes, how `check` runs it. No
other module asks for a target's name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from codegen.record import record

if TYPE_CHECKING:
    from codegen.diagnostics import Diagnostic, Loc
    from codegen.machine import Machine
    from codegen.options import GenOptions
    from codegen.region import RegionOutcome
    from codegen.region_model import Modelled
    from codegen.scop.model import Scop
    from codegen.source.region_slice import RegionSlice
    from codegen.source_file import Opened
    from codegen.target.finish.names import NameSpelling
    from codegen.targets.tuning import DeviceTuning


# What most targets have not, by the directives that ask for it.
TILES = {"registers": "has no tiles of threads", "stage shared": "has no shared memory of threads"}
GRIDS = {"grid": "has no grids of threads", **TILES}
RANKS = {"ranks": "has no ranks"}
STAYS = {
    "stay": "has no cores that keep tiles",
    "stage": "has no local memory of cores",
    "mesh": "has no mesh of cores",
    "steps": "has no local memory of cores",
    "lanes": "has no local memory of cores",
}


@record
class RegionJob:
    """A region to be transformed: where it stands, its model, and its own text. So many authors of plans have
    `crashed` before: simpler ones are asked."""

    slice: RegionSlice
    model: Modelled
    original: str
    options: GenOptions
    machine: Machine
    crashed: int = 0


@record
class Extra:
    """What a target adds to a file: text above the user's own, other files by the endings of their names, and lines for
    the report. With `as_called`, functions of the text above that the file does not name are left out."""

    support: str = ""
    files: tuple[tuple[str, str], ...] = ()
    report: str = ""
    as_called: bool = False

    def file(self, ending: str) -> str:
        return dict(self.files)[ending]


@record
class Placed:
    """The outcomes of a file as they are printed, and what a target changes in the user's own text around them: offsets
    from where up to where, and the new text. It adds no lines."""

    outcomes: tuple[RegionOutcome, ...]
    edits: tuple[tuple[int, int, str], ...] = ()
    messages: tuple[Diagnostic, ...] = ()


@record
class Emulator:
    """What stands in for a machine that is not this one when results are run: flags for code that runs on it, and its
    own sources. It has checks of its own, in place of sanitizers. Results for ranks need a compiler of their own, and
    are run on so many `ranks` at a time by the `launcher`, whose words the number of processes follows."""

    flags: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    compiler: tuple[str, ...] = ()
    launcher: tuple[str, ...] = ()
    ranks: tuple[int, ...] = ()
    # How files of the target are compiled that are no C: endings of their names, and the words of a command.
    companions: tuple[tuple[str, tuple[str, ...]], ...] = ()
    links: tuple[str, ...] = ()  # what results are linked with
    watched: tuple[str, ...] = ()  # more flags, for files beside the result; compilers need not know them
    reserves: bool = False  # drivers reserve more addresses than there is memory: no limit on them


class Target(ABC):
    """One kind of generated code. What stands here is true of targets that have nothing of their own to say."""

    name: str
    help: str  # as in `kind of code: plain C`

    # What it can express.
    compiled_with: tuple[str, ...] = ()  # flags that results are compiled with, whose macros the source sees
    threads: bool = False  # loops share their iterations among threads
    runs_here: bool = True  # results are C for this machine
    tunes: bool = True  # `tune` can measure results
    languages: tuple[str, ...] = ("c", "c++")  # of regions
    own_variables: bool = False  # results declare variables of their own ahead of a region, and use them in the end
    predicts: bool = False  # has a model of time: `timeline`
    # Directives of plans that its results cannot carry out, by their words, and why: `the target c has ...`.
    cannot: Mapping[str, str] = MappingProxyType({**GRIDS, **RANKS, **STAYS})

    # What may be done to a region before it is planned for.
    keeps_macros: bool = True  # macros in bounds may keep their names, so that compilers may give them other values
    in_parts: bool = True  # some parts of a region may be transformed, others left as they are
    private_arrays: bool = True  # whole arrays, and values that are needed behind the region, may be private
    simpler_plans: bool = True  # other authors are asked after one whose plan crashed isl

    c99: bool = False  # compilers for it may know nothing newer than C99 with GNU extensions

    # What it writes: endings of the files for each artefact of --emit, in place of `.c`, the main file's first.
    endings: Mapping[str, tuple[str, ...]] = MappingProxyType({"c": (".c",)})
    dispatches: bool = False  # --dispatch makes sense
    keeps_original: bool = True  # --keep-original makes sense

    # Fields of GenOptions that only this target looks at, and those for all others that it does not.
    options: tuple[str, ...] = ()
    ignores: tuple[str, ...] = ()

    def stem(self, output: str) -> str:
        """What the names of its files begin with, if -o says `output`."""
        return output.removesuffix(self.endings["c"][0]).removesuffix(".c")

    def check_options(self, options: GenOptions) -> None:
        """Raise InputError for words of its own options that mean nothing."""
        return

    def prepared(self, scop: Scop) -> Scop:
        """The model in a form that the target can carry out."""
        return scop

    def opened(self, source: Opened, options: GenOptions) -> Opened:
        """A file, with refusals at regions that this target cannot have. Raises InputError."""
        return source

    def check_thread_local(self, name: str, loc: Loc) -> tuple[Diagnostic, ...]:
        """A region uses a variable of which each thread has its own: a remark where that restricts the target. Raises
        Unsupported."""
        return ()

    @abstractmethod
    def process(self, job: RegionJob) -> RegionOutcome:
        """The region's new text, planned and proven. Raises Unsupported."""

    def words(self, options: GenOptions) -> Sequence[str]:
        """Its own options that shape the output, as words of a command line."""
        return ()

    def names(self, outcomes: Iterable[RegionOutcome]) -> Iterable[str]:
        """Names of functions that the regions' other files define."""
        return ()

    def placed(self, source: Opened, outcomes: tuple[RegionOutcome, ...], options: GenOptions) -> Placed:
        """What becomes of a whole file, once all of its regions are known."""
        return Placed(outcomes)

    def extra(
        self, outcomes: Iterable[RegionOutcome], options: GenOptions, banner: str, names: NameSpelling | None
    ) -> Extra:
        """What is written besides the regions."""
        return Extra()

    def emulator(self, options: GenOptions) -> Emulator | None:
        """What `check` runs results on; None: this machine."""
        return None

    def tuning(self, options: GenOptions) -> DeviceTuning | None:
        """What `tune` measures results on; None: this machine. Raises InputError where there is no such device."""
        return None

    def described(self, model: Modelled, options: GenOptions) -> Sequence[str] | None:
        """What `inspect` shows of a region in place of its plan and its loops."""
        return None

    def shared(self, model: Modelled, options: GenOptions) -> Sequence[str]:
        """What `inspect` shows of a region behind its plan and its loops: who runs what, where that is not one machine
        alone."""
        return ()

    def machine(self, machine: Machine, options: GenOptions) -> str:
        """A line on what code is made for."""
        return f"{machine.name}: {machine.description}"

    def timeline(self, path: str, text: str, options: GenOptions, sizes: Mapping[str, int], picture: str) -> list[str]:
        """The predicted time for these sizes, for targets that predict; the picture goes to a file, if one is named.
        Raises ValueError for sizes that are missing."""
        return []
