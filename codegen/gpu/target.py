"""The targets `cuda`, `hip` and `opencl`: a host file, a file of kernels and launchers, and a header."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from codegen.diagnostics import Diagnostic, Loc, Unsupported
from codegen.targets.base import RANKS, STAYS, TILES, Emulator, Extra, Placed, RegionJob, Target

if TYPE_CHECKING:
    from codegen.gpu.dialect import Dialect
    from codegen.gpu.emit import DevicePart
    from codegen.machine import Machine
    from codegen.options import GenOptions
    from codegen.region import RegionOutcome
    from codegen.region_model import Modelled
    from codegen.scop.model import Scop
    from codegen.source_file import Opened
    from codegen.target.finish.names import NameSpelling
    from codegen.targets.tuning import DeviceTuning


class Cuda(Target):
    """A region becomes kernels, one thread for each iteration of its parallel loops, and a launcher."""

    name, help = "cuda", "C with CUDA kernels beside it"
    runs_here, languages = False, ("c",)
    keeps_macros = private_arrays = simpler_plans = False
    endings = MappingProxyType({"c": (".tw.c", ".tw.cu", ".tw.h")})
    options = ("arrays", "device")
    ignores = ("machine", "isa", "require_isa", "fusion", "fp_contract")
    cannot = MappingProxyType(
        {
            **RANKS,
            **{word: why for word, why in STAYS.items() if word != "steps"},
            **dict.fromkeys(("parallel", "pipeline"), "runs iterations on the threads of a grid"),
            **dict.fromkeys(("interleave", "jam", "product", "scalar_replace", "unroll", "vector"), "has plain loops"),
            **dict.fromkeys(("balance", "diamond"), "has no such tiles"),
        }
    )

    @property
    def dialect(self) -> Dialect:
        from codegen.gpu.dialect import CUDA

        return CUDA

    def prepared(self, scop: Scop) -> Scop:
        from codegen.recognize.access.struct_members import with_members

        return with_members(scop)

    def check_thread_local(self, name: str, loc: Loc) -> tuple[Diagnostic, ...]:
        hint = "copy it to a plain variable before the region, and back behind it"
        raise Unsupported("thread-local", f"each thread has its own `{name}`, and devices have none", loc, hint)

    def process(self, job: RegionJob) -> RegionOutcome:
        from codegen.gpu.region import for_device

        return for_device(job, self.dialect)

    def words(self, options: GenOptions) -> Sequence[str]:
        from codegen.options import GenOptions as Options

        out = [f"--arrays={options.arrays}"] if options.arrays != Options.arrays else []
        return [*out, f"--device={options.device}"] if options.device != Options.device else out

    def names(self, outcomes: Iterable[RegionOutcome]) -> Iterable[str]:
        return (p.name for p in _parts(outcomes))

    def placed(self, source: Opened, outcomes: tuple[RegionOutcome, ...], options: GenOptions) -> Placed:
        from codegen.gpu.stays import check_device_arrays, placed

        if options.arrays == "device":
            check_device_arrays(source, outcomes)
        return placed(source, outcomes, options)

    def extra(
        self, outcomes: Iterable[RegionOutcome], options: GenOptions, banner: str, names: NameSpelling | None
    ) -> Extra:
        from codegen.gpu.files import device_files, host_support

        parts = tuple(_parts(outcomes))
        report = "\n".join(p.report for p in parts)
        files = device_files(parts, options.stem, banner, self.dialect, options.arrays, names)
        return Extra(host_support(parts, options.stem), files, report if names is None else names.of(report))

    def emulator(self, options: GenOptions) -> Emulator:
        from codegen.gpu.emulation import emulator

        return emulator(self.dialect, options)

    def tuning(self, options: GenOptions) -> DeviceTuning:
        from codegen.gpu.tuning import device_tuning

        return device_tuning(self.dialect, options)

    def described(self, model: Modelled, options: GenOptions) -> Sequence[str]:
        from codegen.gpu.report import described

        return tuple(described(model, options, self.dialect))

    def machine(self, machine: Machine, options: GenOptions) -> str:
        from codegen.gpu.plan.device import load_device

        found = load_device(options.device)
        return f"{found.name}: {found.description}"


class Hip(Cuda):
    """The same text with other names."""

    name, help, tunes = "hip", "C with HIP kernels beside it", False
    endings = MappingProxyType({"c": (".tw.c", ".tw.hip", ".tw.h")})

    @property
    def dialect(self) -> Dialect:
        from codegen.gpu.dialect import HIP

        return HIP


class OpenCL(Cuda):
    """Kernels as text that the driver compiles, and launchers in C."""

    name, help, tunes = "opencl", "C with OpenCL kernels beside it", False
    cannot = MappingProxyType({**Cuda.cannot, **TILES, "steps": "has no shared memory of threads"})
    endings = MappingProxyType({"c": (".tw.c", ".tw.cl.c", ".tw.h")})

    @property
    def dialect(self) -> Dialect:
        from codegen.gpu.opencl import OPENCL

        return OPENCL

    def emulator(self, options: GenOptions) -> Emulator:
        from codegen.gpu.emulation import opencl

        return opencl()


def _parts(outcomes: Iterable[RegionOutcome]) -> Iterator[DevicePart]:
    from codegen.gpu.emit import DevicePart

    return (o.part for o in outcomes if isinstance(o.part, DevicePart))


TARGETS: dict[str, Target] = {t.name: t for t in (Cuda(), Hip(), OpenCL())}
