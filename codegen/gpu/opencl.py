"""OpenCL's `Dialect`: prints kernel parameters, launches, buffers and copies for kernels that the driver compiles from
text, and launchers in C."""

from __future__ import annotations

from collections.abc import Sequence

from codegen.gpu.body import MATH
from codegen.gpu.dialect import MOST, Dialect
from codegen.gpu.transfers import ArrayText
from codegen.record import record

# Functions go by the types of their arguments there, and `abs` has an unsigned value.
_CALLS = {n: n.removesuffix("f") for n, kind in MATH.items() if kind == "float"}
CALLS = {**_CALLS, "abs": "(int)abs", "labs": "(long)abs"}


@record
class OpenCLDialect(Dialect):
    """Buffers are objects, arguments are set one by one, and a launch says how many threads there are in all."""

    def pointer(self, a: ArrayText, written: bool) -> str:
        return f"__global {'' if written else 'const '}{a.kind} *restrict {a.name}"

    def launch(self, kernel: str, sizes: Sequence[int], arguments: Sequence[str], step: bool) -> str:
        counts = ("tw_count_x", "tw_count_y - tw_first_y", "tw_count_z - tw_first_z")
        axes = zip(counts, sizes, MOST, strict=False)
        every = ", ".join(f"tw_threads({count}, {n}, {most})" for count, n, most in axes) or "1"
        given = ", ".join(f"{{ sizeof {a}, &{a} }}" for a in arguments)
        return (
            f'tw_status |= tw_launch("{kernel}", {len(sizes) or 1}, (size_t[]){{ {every} }}, '
            f"(size_t[]){{ {', '.join(map(str, sizes or [1]))} }}, {len(arguments)}, (tw_argument[]){{ {given} }});"
        )

    def started(self, region: str, kept: bool) -> str:
        return self._try("tw_status", region)

    def finished(self, region: str, kept: bool) -> str:
        return self._try("clFinish(tw_queue)", region)

    def present(self, region: str) -> str:
        return f"cl_int tw_status = tw_begin();\n  {self._try('tw_status', region)}"

    def reserve(self, a: ArrayText, box: str, region: str) -> list[str]:
        return [
            f"static _Thread_local tw_memory tw_{a.name}_memory;",
            f"cl_mem {a.name} = NULL;",
            self._try(f"tw_reserve(&tw_{a.name}_memory, &{box}, sizeof({a.kind}), &{a.name})", region),
        ]

    def copy_in(self, a: ArrayText, box: str, region: str) -> str:
        return self._try(f"tw_copy({a.name}, tw_{a.name}, sizeof({a.kind}), &{box}, 1)", region)

    def copy_out(self, a: ArrayText, box: str, region: str) -> str:
        return self._kept(f"tw_copy({a.name}, tw_{a.name}, sizeof({a.kind}), &{box}, 0)", region)


_VECTORS = (f"{kind}{n}" for kind in ("char", "short", "int", "long", "uchar", "ushort", "uint", "ulong", "float",
                                      "double", "half") for n in ("", 2, 3, 4, 8, 16))  # fmt: skip
_PLAIN = "bool kernel global local constant private generic event_t sampler_t image2d_t image3d_t pipe true false"
WORDS = frozenset({*_VECTORS, *_PLAIN.split()})
OPENCL = OpenCLDialect(
    "opencl", "cl", "CL/cl.h", ".tw.cl.c", "", CALLS, "gpu/opencl.c.j2", WORDS, probes=True, keeps=False, tiles=False
)
