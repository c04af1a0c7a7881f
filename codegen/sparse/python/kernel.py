"""`KernelCall`: compiles a kernel in index notation and calls it from Python on NumPy arrays; TypeError or ValueError
for arguments that do not fit.

    spmv = KernelCall("y(i) = A(i,j)*x(j)", {"A": "CSR"})
    spmv(y=y, A=dict(NR=..., NC=..., NNZ=..., rowptr=..., col=..., val=...), x=x)
"""
from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from codegen.sparse.api import Options
from codegen.sparse.emit.formats import struct
from codegen.sparse.emit.types import VALUES
from codegen.sparse.formats.load import load
from codegen.sparse.kernels.compose import kernel_file
from codegen.sparse.python.arrays import from_struct, lengths, shaped, to_struct
from codegen.sparse.python.build import declarations, load_library
from codegen.sparse.python.checks import ConversionError, FormatCheck, fields, known_names, scalar, types_of, whole
from codegen.sparse.synth.layout import layout


class KernelCall:
    """One kernel, compiled. Dense tensors are contiguous arrays, sparse ones dictionaries; results go in place.

    A sum of sparse tensors returns its result; what rows of a system wait for is found on every call. `parallel`:
    on as many threads as OMP_NUM_THREADS says; `semiring`: what sums and products are. Everything that the formats of
    sparse operands promise is checked on every call, in time linear in their arrays; with `check` False only names,
    sizes, types and lengths are.
    """

    def __init__(self, text: str, formats: dict[str, str], value: str = "f64", index: str = "32",
                 convert: dict[str, str] | None = None, flags: tuple[str, ...] = (), parallel: bool = False,
                 semiring: str = "plus-times", check: bool = True) -> None:
        self.types = types_of(value, index)
        self.formats = {n: load(f) for n, f in formats.items()}
        other = {n: load(f) for n, f in (convert or {}).items()}
        made = kernel_file(text, self.formats, Options(self.types, name="tw_kernel", semiring=semiring), "", other)
        self.kernel, self.renamed = made.kernel, made.renamed
        self.formats = {made.renamed.get(n, n): f for n, f in self.formats.items()}
        public = [f.prototype for f in made.functions if not f.prototype.startswith("static")]
        fields = f"int64_t count; int{index}_t *start; int{index}_t *need; int64_t ends;"
        waits = f"typedef struct {{ {fields} }} tw_waits_i{index};\n"
        declared = declarations(made.structs, public)
        self.prototype = re.sub(r"restrict ", "", public[-1])
        threads = "-fopenmp" if parallel else "-fopenmp-simd"
        flags = ("-ffp-contract=fast", *flags)  # sums may be added up in any order anyway
        self.ffi, self.library = load_library(made.file.source, waits + declared, (threads, *flags))
        self.inspects = any("_waits(" in p for p in public)
        words = [p.split() for p in self.prototype[self.prototype.index("(") + 1:-1].split(", ")]
        self.parameters = {w[-1].lstrip("*"): " ".join(w) for w in words}
        results = [t.name for t in (self.kernel.out,) if t is not None and t.name in self.formats]
        self.filled = results[0] if results and self._fills() else ""
        given = {n: p for n, p in self.parameters.items() if n not in ("waits", self.filled)}
        self.sparse = [n for n, p in given.items() if n in self.formats and p.split()[-2] not in VALUES.values()]
        self.own = {new: old for old, new in made.renamed.items()}
        self.wanted = [self.own.get(n, n) for n in given]
        self.checks = {n: FormatCheck(self.formats[n], self.types) for n in self.sparse} if check else {}

    def __call__(self, **values: Any) -> dict[str, Any] | None:
        """TypeError and ValueError for arguments that do not fit the kernel; nothing is read or written then."""
        return self.taken(self.prepared(**values)())

    def prepared(self, **values: Any) -> Callable[[], Any]:
        """The C call alone, its arguments made once. It returns the struct that it filled, if any: `taken` makes arrays
        of it, which free its memory."""
        values = self._given(values)
        need = self._shapes(values)
        keep: list[Any] = []
        filled = ""
        arguments: list[Any] = []
        for name, parameter in self.parameters.items():
            if name == "waits":
                arguments.append(self._waits(arguments[1]))
            elif name == self.filled:
                filled = f"{struct(layout(self.formats[name]), self.types).type} *"
            else:
                arguments.append(self._argument(parameter, values[name], need.get(name, ()), keep))
        self._apart(values)

        def run(keep: list[Any] = keep) -> Any:
            made = self.ffi.new(filled) if filled else None
            status = self.library.tw_kernel(*((made,) if filled else ()), *arguments)
            if status:
                raise ConversionError(status)
            return made

        return run

    def taken(self, made: Any) -> dict[str, Any] | None:
        """What a prepared call filled, as arrays."""
        if made is None:
            return None
        assert self.kernel.out is not None
        lay = layout(self.formats[self.kernel.out.name])
        return from_struct(self.ffi, self.library, lay, struct(lay, self.types), made)

    def _fills(self) -> bool:
        """Is the result a struct that the kernel fills, and no array of values?"""
        return self.prototype[self.prototype.index("(") + 1:].split()[0] not in VALUES.values()

    def _given(self, values: dict[str, Any]) -> dict[str, Any]:
        """The arguments under the names of the C function, sizes as integers; the operands keep their promises."""
        known_names(values, dict.fromkeys(self.wanted), "the kernel")
        values = {self.renamed.get(n, n): v for n, v in values.items()}
        for name in self.sparse:
            given, lay, who = values[name], layout(self.formats[name]), self.own.get(name, name)
            if not isinstance(given, dict):
                raise TypeError(f"{who} must be a dictionary of sizes and arrays, not {type(given).__name__}")
            values[name] = fields(lay, struct(lay, self.types), given, who)
            if name in self.checks:
                self.checks[name](values[name], who)
        return {n: whole(n, v) if self._is_extent(n) else v for n, v in values.items()}

    def _is_extent(self, name: str) -> bool:
        return name.startswith("n_") and "*" not in self.parameters[name]

    def _shapes(self, values: dict[str, Any]) -> dict[str, tuple[int, ...]]:
        """The shape of every dense argument: the extents of its indices. Extents that several sparse operands give are
        compared by the kernel itself."""
        extents: dict[str, int] = {n.removeprefix("n_"): v for n, v in values.items() if self._is_extent(n)}
        sparse = [t for t in self.kernel.tensors if t.name in self.sparse]
        for t in sparse:
            for x, n in zip(t.indices, self.formats[t.name].shape, strict=True):
                extents.setdefault(x, values[t.name][n])
        out = {t.name: tuple(extents[x] for x in t.indices) for t in self.kernel.tensors
               if t not in sparse and t.name not in self.formats}
        for t in self.kernel.tensors:
            if t.name in self.formats and t not in sparse and t.name != self.filled:
                given, d = values[sparse[0].name], self.formats[t.name]  # as many values as the operand has
                known = {n: v for n, v in given.items() if isinstance(v, int)}
                out[t.name] = (lengths(layout(d), known)[d.data],)
        return out

    def _apart(self, values: dict[str, Any]) -> None:
        """ValueError where a result shares memory with anything else that is given."""
        import numpy

        arrays = {n: v for n, v in values.items() if isinstance(v, numpy.ndarray)}
        for name in self.sparse:
            arrays |= {f"{self.own.get(name, name)}.{n}": v for n, v in values[name].items()
                       if isinstance(v, numpy.ndarray)}
        for result in (n for n, p in self.parameters.items() if n in arrays and not p.startswith("const")):
            for n, v in arrays.items():
                if n != result and numpy.may_share_memory(arrays[result], v):  # exact for contiguous arrays
                    raise ValueError(f"{self.own.get(result, result)} is written and shares memory with "
                                     f"{self.own.get(n, n)}: give the result an array of its own")

    def _argument(self, parameter: str, value: Any, shape: tuple[int, ...], keep: list[Any]) -> Any:
        name = parameter.split()[-1].lstrip("*")
        who = self.own.get(name, name)
        if name in self.sparse:
            lay = layout(self.formats[name])
            made, held = to_struct(self.ffi, lay, struct(lay, self.types), value)
            keep += [made, held]
            return made
        if "*" not in parameter:
            return value if self._is_extent(name) else scalar(who, value, self.types.value)
        shaped(who, value, self.types.c_value, shape)
        if not parameter.startswith("const") and not value.flags.writeable:
            raise ValueError(f"{who} must be writable")
        buffer = self.ffi.from_buffer(f"{self.types.c_value}[]", value)
        keep.append(buffer)
        return self.ffi.cast(f"{self.types.c_value} *", buffer)

    def _waits(self, matrix: Any) -> Any:
        waits = self.ffi.new(f"tw_waits_i{self.types.index} *")
        status = self.library.tw_kernel_waits(matrix, waits)
        if status:
            raise ConversionError(status)
        self._held = tuple(self.ffi.gc(p, self.library.free) for p in (waits.start, waits.need))
        return waits
