"""The `mpi` target, MPI around OpenMP: ranks share outer loops, their threads what is inside. Holds its options
(--distribute, --network), the support code in C, and how `check` compiles and runs it; `mpi/region.py` makes
regions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from os import path
from types import MappingProxyType
from typing import TYPE_CHECKING

from codegen.diagnostics import Diagnostic, InputError, Loc, Severity
from codegen.options import NETWORK
from codegen.record import record
from codegen.targets.base import GRIDS, STAYS, Emulator, Extra, Placed, RegionJob, Target

if TYPE_CHECKING:
    from codegen.options import GenOptions
    from codegen.region import RegionOutcome
    from codegen.region_model import Modelled
    from codegen.source_file import Opened
    from codegen.target.finish.names import NameSpelling


@record
class Support:
    """What the functions for ranks are printed for: what lies between ranks, a grid of so many axes, panels, arrays in
    blocks, and communicators that the program names, in all regions the same one if `comm` says so."""

    network: str = NETWORK
    axes: int = 1
    panels: bool = False
    blocks: bool = False
    named: bool = False
    comm: str = ""


def support(how: Support | None = None) -> str:
    """The functions that generated code calls for ranks."""
    from codegen.mpi.network import DEALT, ITERATION, MESSAGES, PANEL, PANEL_ARRAYS, PLAIN, load_network
    from codegen.mpi.program import WORLD
    from codegen.print.templates import environment
    from codegen.target.finish.index_type import defined, index_typed

    how = how or Support()
    found = load_network(how.network)
    text = environment().get_template("mpi.c.j2").render(
        network=found.description or found.name,
        latency=repr(found.latency),
        bandwidth=repr(found.bandwidth),
        iteration=repr(ITERATION),
        messages=MESSAGES,
        plain=PLAIN,
        blocks=DEALT,
        panel=PANEL,
        panel_arrays=PANEL_ARRAYS if how.panels else 0,
        axes=how.axes,
        panels=how.panels,
        distributed=how.blocks,
        named=how.named,
        world=how.comm == WORLD,
    )
    text = index_typed(text)
    return defined(text) + text


class Mpi(Target):
    """Every rank runs the program; a region is computed together."""

    name, help = "mpi", "C with MPI calls and OpenMP pragmas"
    threads, runs_here, tunes, predicts, languages = True, False, False, True, ("c",)
    compiled_with = ("-fopenmp",)
    cannot = MappingProxyType({**GRIDS, **STAYS})

    def check_thread_local(self, name: str, loc: Loc) -> tuple[Diagnostic, ...]:
        text = f"the region stays on one thread: each thread has its own `{name}`"
        return (Diagnostic(Severity.REMARK, "one-thread", text, loc, kind="missed"),)

    options = ("distribute", "network", "comm")

    def opened(self, source: Opened, options: GenOptions) -> Opened:
        from codegen.mpi.program import opened

        return opened(source, options)

    def words(self, options: GenOptions) -> Sequence[str]:
        held = (f"--distribute={options.distribute}",) if options.distribute else ()
        held = (*held, *((f"--comm={options.comm}",) if options.comm else ()))
        return (*held, *(() if options.network == NETWORK else (f"--network={path.basename(options.network)}",)))

    def check_options(self, options: GenOptions) -> None:
        from codegen.mpi.layout import words

        words(options.distribute)

    def placed(self, source: Opened, outcomes: tuple[RegionOutcome, ...], options: GenOptions) -> Placed:
        from codegen.mpi.layout import check_named

        check_named(options.distribute, source.text)
        return super().placed(source, outcomes, options)

    def process(self, job: RegionJob) -> RegionOutcome:
        from codegen.mpi.region import process

        return process(job)

    def extra(
        self, outcomes: Iterable[RegionOutcome], options: GenOptions, banner: str, names: NameSpelling | None
    ) -> Extra:
        found = tuple(outcomes)
        if not options.distribute and not any(o.part == RANKS for o in found):
            return Extra()
        from codegen.mpi.layout import axes_of

        axes = axes_of(options.distribute)
        used = "".join(o.text or "" for o in found)
        how = Support(options.network, axes, "panel_send(" in used, bool(options.distribute), "ranks_of(" in used,
                      options.comm)  # fmt: skip
        text = support(how)
        return Extra(text if names is None else names.of(text), as_called=True)

    def shared(self, model: Modelled, options: GenOptions) -> Sequence[str]:
        from codegen.mpi.predict.report import shared_lines

        return tuple(shared_lines(model, options))

    def timeline(self, path: str, text: str, options: GenOptions, sizes: Mapping[str, int], picture: str) -> list[str]:
        from codegen.mpi.predict.report import predicted

        return predicted(path, text, options, sizes, picture)

    def emulator(self, options: GenOptions) -> Emulator:
        from shutil import which

        flags = ("-DTW_SWITCH",)
        if which("mpicc") is None:
            raise InputError("no-compiler", "no mpicc found to check with", Loc("mpicc"), "install an MPI")
        if which("mpirun") is None:
            return Emulator(flags, compiler=("mpicc",))
        return Emulator(flags, (), ("mpicc",), ("mpirun", "-n"), (2, 3, 4, 6, 7))


RANKS = "ranks"  # what a region says that calls the functions for ranks
TARGETS: dict[str, Target] = {"mpi": Mpi()}
