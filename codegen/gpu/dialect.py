"""The `Dialect` record: prints kernel parameters, launches, device memory, copies and error checks with the names of
one device API. Instances for CUDA and HIP; OpenCL's is in `opencl.py`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

from codegen.gpu.transfers import ArrayText
from codegen.record import record

MOST = (2147483647, 65535, 65535)  # blocks along each axis


CXX_WORDS = frozenset((
    "alignas", "alignof", "and", "and_eq", "asm", "bitand", "bitor", "bool", "catch", "char16_t", "char32_t",
    "class", "compl", "constexpr", "const_cast", "decltype", "delete", "dynamic_cast", "explicit", "export",
    "false", "friend", "mutable", "namespace", "new", "noexcept", "not", "not_eq", "nullptr", "operator", "or",
    "or_eq", "private", "protected", "public", "reinterpret_cast", "static_assert", "static_cast", "template",
    "this", "thread_local", "throw", "true", "try", "typeid", "typename", "using", "virtual", "wchar_t", "xor",
    "xor_eq", "blockIdx", "blockDim", "threadIdx", "gridDim", "warpSize", "dim3",
))  # fmt: skip


@record
class Dialect:
    """An interface in the style of CUDA."""

    name: str
    api: str
    include: str
    ending: str
    compiler: str
    calls: Mapping[str, str] = field(default_factory=dict)  # functions of C that have other names on the device
    template: str = "gpu/device.cu.j2"
    words: frozenset[str] = CXX_WORDS  # names that mean something there, and are plain ones in C
    probes: bool = False  # a launcher asks first whether there is a device
    keeps: bool = True  # arrays can stay on the device between regions
    tiles: bool = True  # products run in tiles, from shared memory

    def pointer(self, a: ArrayText, written: bool) -> str:
        """A parameter of a kernel, which writes the array or does not. No two arrays overlap.

        Those that are only read are not restricted: where a load is from one of these or from an array that is written,
        as in `c ? a[i] : m[j]`, nvcc (13.0) takes the cache for constants for both, and old values come from it. That
        the others are restricted says as much.
        """
        return f"{a.kind} *__restrict__ {a.name}" if written else f"const {a.kind} *{a.name}"

    def launch(self, kernel: str, sizes: Sequence[int], arguments: Sequence[str], step: bool) -> str:
        """Sizes of a block along x, y and z; none for a single thread. A `step` follows others at once."""
        counts = ("tw_count_x", "tw_count_y - tw_first_y", "tw_count_z - tw_first_z")
        axes = zip(counts, sizes, MOST, strict=False)
        blocks = ", ".join(f"tw_blocks({count}, {n}, {most})" for count, n, most in axes)
        threads = ", ".join(map(str, sizes))
        word = "TW_LAUNCH_STEP" if step else "TW_LAUNCH"
        return f"{word}({kernel}, dim3({blocks or 1}), dim3({threads or 1}), {', '.join(arguments)});"

    def started(self, region: str, kept: bool) -> str:
        """Behind a launch: it may have failed at once."""
        call = f"{self.api}GetLastError()"
        return self._kept(call, region) if kept else self._try(call, region)

    def finished(self, region: str, kept: bool) -> str:
        """All kernels are through, and none of them failed."""
        call = f"{self.api}DeviceSynchronize()"
        return self._kept(call, region) if kept else self._try(call, region)

    def present(self, region: str) -> str:
        """Is there a device at all?"""
        return self._try(f"{self.api}Free(NULL)", region)

    def reserve(self, a: ArrayText, box: str, region: str) -> list[str]:
        return [
            f"static thread_local tw_memory tw_{a.name}_memory;",
            f"{a.kind} *{a.name} = NULL;",
            self._try(f"tw_reserve(&tw_{a.name}_memory, &{box}, sizeof *{a.name}, (void **)&{a.name})", region),
        ]

    def copy_in(self, a: ArrayText, box: str, region: str) -> str:
        kind = f"{self.api}MemcpyHostToDevice"
        return self._try(f"tw_copy({a.name}, tw_{a.name}, sizeof *{a.name}, &{box}, {kind})", region)

    def copy_out(self, a: ArrayText, box: str, region: str) -> str:
        kind = f"{self.api}MemcpyDeviceToHost"
        return self._kept(f"tw_copy(tw_{a.name}, {a.name}, sizeof *{a.name}, &{box}, {kind})", region)

    def hold(self, a: ArrayText, box: str, region: str) -> list[str]:
        """Room for an array that may stay on the device."""
        given = f"&tw_{a.name}_memory, tw_{a.name}, &{box}, sizeof *{a.name}, (void **)&{a.name}, &tw_{a.name}_held"
        return [
            f"static thread_local tw_memory tw_{a.name}_memory;",
            f"tw_held *tw_{a.name}_held;",
            f"{a.kind} *{a.name} = NULL;",
            self._try(f"tw_hold({given})", region),
        ]

    def bring(self, a: ArrayText, box: str, region: str) -> str:
        return self._try(f"tw_bring(tw_{a.name}_held, {a.name}, tw_{a.name}, sizeof *{a.name}, &{box})", region)

    def wrote(self, a: ArrayText, box: str, region: str) -> str:
        return self._kept(f"tw_wrote(tw_{a.name}_held, tw_{a.name}, {a.name}, sizeof *{a.name}, &{box})", region)

    def settled(self, region: str) -> str:
        return self._try("tw_settled()", region)

    def _try(self, call: str, region: str) -> str:
        return f'TW_TRY({call}, "{region}");'

    def _kept(self, call: str, region: str) -> str:
        return f'tw_kept({call}, "{region}");'


CUDA = Dialect("cuda", "cuda", "cuda_runtime.h", ".tw.cu", "nvcc")
HIP = Dialect("hip", "hip", "hip/hip_runtime.h", ".tw.hip", "hipcc")
