"""The `Target` class of `--target sunway`: which options and plan commands it takes, and hooks that call the rest of
the package to generate a region, to make the master, slave and argument files, to set up the emulator for checks, and
to report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from codegen.diagnostics import Diagnostic, Loc, Unsupported
from codegen.targets.base import GRIDS, RANKS, Emulator, Extra, RegionJob, Target

if TYPE_CHECKING:
    from codegen.machine import Machine
    from codegen.options import GenOptions
    from codegen.region import RegionOutcome
    from codegen.region_model import Modelled
    from codegen.scop.model import Scop
    from codegen.sunway.emit import SlavePart
    from codegen.target.finish.names import NameSpelling

_CHOOSES = "has `lanes` for vectors and what stays in registers"
_PROGRAM = ("_master.c", "_slave.c", "_args.h")


class Sunway(Target):
    """A region becomes launches on the compute cores, which stage their tiles in local memory."""

    name, help = "sunway", "master and slave files for Sunway"
    runs_here, tunes, languages, predicts = False, False, ("c",), True
    c99 = True
    keeps_macros = False  # cores get parameters in a struct, whose members cannot be called as macros are
    in_parts = private_arrays = simpler_plans = False
    endings = MappingProxyType({"c": _PROGRAM, "harness": (*_PROGRAM, ".sw.mk", ".host.mk")})
    cannot = MappingProxyType(
        {
            **GRIDS,
            **RANKS,
            **dict.fromkeys(("interleave", "jam", "product", "scalar_replace", "vector"), _CHOOSES),
            **dict.fromkeys(("balance", "parallel by", "parallel with"), "deals tiles out in its own way"),
            "pipeline": "has cores that wait only for all others",
        }
    )
    keeps_original = False  # -DTW_SERIAL does the same
    options = ("threads", "ldm_cache", "scheme")
    ignores = ("isa", "require_isa", "fusion")

    def prepared(self, scop: Scop) -> Scop:
        from codegen.recognize.access.struct_members import with_members

        return with_members(scop)

    def check_thread_local(self, name: str, loc: Loc) -> tuple[Diagnostic, ...]:
        hint = "copy it to a plain variable before the region, and back behind it"
        raise Unsupported("thread-local", f"each thread has its own `{name}`, and compute cores have none", loc, hint)

    def check_options(self, options: GenOptions) -> None:
        from codegen.sunway.plan.threads import parse_grid

        parse_grid(options.threads)

    def process(self, job: RegionJob) -> RegionOutcome:
        from codegen.sunway.region import for_cores

        return for_cores(job.slice, job.model, job.options, job.original)

    def words(self, options: GenOptions) -> Sequence[str]:
        scheme = () if options.scheme == "full" else (f"--scheme={options.scheme}",)
        cache = (f"--ldm-cache={options.ldm_cache}",) if options.ldm_cache else ()
        return f"--threads={options.threads}", *cache, *scheme

    def names(self, outcomes: Iterable[RegionOutcome]) -> Iterable[str]:
        return (e for part in _parts(outcomes) for e in part.entries)

    def extra(
        self, outcomes: Iterable[RegionOutcome], options: GenOptions, banner: str, names: NameSpelling | None
    ) -> Extra:
        from codegen.sunway.files import master_support, slave_files
        from codegen.sunway.plan.machine import group_of
        from codegen.sunway.plan.threads import parse_grid

        parts = tuple(_parts(outcomes))
        grid, group = parse_grid(options.threads), group_of(options)
        report = "\n".join(p.report for p in parts)
        return Extra(
            master_support(parts, options.stem, group, grid, names),
            slave_files(parts, options.stem, banner, group, grid, names),
            report if names is None else names.of(report),
        )

    def emulator(self, options: GenOptions) -> Emulator:
        from codegen.sunway.emulation.host import ANY_FORM, WATCHED, emulator_folder

        folder = emulator_folder()
        flags = "-I", str(folder), ANY_FORM
        return Emulator(flags, tuple(str(p) for p in sorted(folder.glob("*.c"))), watched=WATCHED)

    def described(self, model: Modelled, options: GenOptions) -> Sequence[str]:
        from codegen.sunway.report import describe_cores

        return tuple(describe_cores(model, options))

    def machine(self, machine: Machine, options: GenOptions) -> str:
        from codegen.sunway.plan.machine import group_for

        return group_for(options.machine).description

    def timeline(self, path: str, text: str, options: GenOptions, sizes: Mapping[str, int], picture: str) -> list[str]:
        from codegen.sunway.report import timeline

        return timeline(path, text, options, sizes, picture)


def _parts(outcomes: Iterable[RegionOutcome]) -> Iterator[SlavePart]:
    from codegen.sunway.emit import SlavePart

    return (o.part for o in outcomes if isinstance(o.part, SlavePart))


TARGETS: dict[str, Target] = {"sunway": Sunway()}
