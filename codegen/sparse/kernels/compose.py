"""Makes the C file of a kernel in index notation: by its operands it is one executor or several, a triangular solver, a
row-wise kernel or a join of sparse tensors; operands may be converted first, in the same function."""
from __future__ import annotations

from dataclasses import replace

from codegen.record import record
from codegen.sparse.api import Options, convert, key_functions
from codegen.sparse.emit.file import CFile, CFunction, c_file
from codegen.sparse.emit.formats import Struct, struct, type_name
from codegen.sparse.emit.types import Types, Writer
from codegen.sparse.formats.load import load
from codegen.sparse.formats.model import Descriptor
from codegen.sparse.indirect import formats_inside
from codegen.sparse.kernels.executor import executor
from codegen.sparse.kernels.join import join
from codegen.sparse.kernels.merge import COLUMNS, ROWS
from codegen.sparse.kernels.names import apart
from codegen.sparse.kernels.notation import Kernel, Tensor, bad_kernel, read_kernel
from codegen.sparse.kernels.plan import keeps_places
from codegen.sparse.kernels.rowwise import paths, rowwise
from codegen.sparse.kernels.semiring import PLUS_TIMES, SEMIRINGS
from codegen.sparse.kernels.several import both_triangles, parameters_of, several
from codegen.sparse.kernels.systems.solve import solver
from codegen.sparse.prove.proof import proven
from codegen.sparse.synth.layout import layout


@record
class KernelFile:
    """The functions and the text; `structs` are the formats it speaks of, `renamed`: arguments with new names."""

    kernel: Kernel
    functions: tuple[CFunction, ...]
    structs: tuple[Struct, ...]
    file: CFile
    renamed: dict[str, str]


def kernel_file(text: str, formats: dict[str, Descriptor], options: Options, header: str = "",
                converted: dict[str, Descriptor] | None = None) -> KernelFile:
    """`formats`: what callers pass; `converted`: operands to be converted first, inside the same function."""
    k, renamed = apart(_over(read_kernel(text), options))
    formats = {renamed.get(n, n): d for n, d in formats.items()}
    converted = {renamed.get(n, n): d for n, d in (converted or {}).items()}
    inner = {**formats, **converted}
    _check(k, formats, converted)
    if options.types.value.startswith("i") and any(
            t.over or any(not s.isidentifier() and not s.isdigit() for s in t.scalars) for t in k.terms):
        raise bad_kernel("integers are neither divided nor multiplied by fractions", hint="choose --values f64")
    for d in inner.values():
        proven(d)
    name = options.name or "kernel"
    functions, more = _functions(k, formats, converted, name, options)
    used = [*formats.values(), *inner.values(), *more]
    if any(d.indirect for d in used):
        used += formats_inside()
    structs = tuple(struct(layout(d), options.types) for d in used)
    file = c_file(text, structs, functions, options.types, header, key_functions(*used))
    return KernelFile(k, functions, structs, file, renamed)


def _functions(k: Kernel, formats: dict[str, Descriptor], converted: dict[str, Descriptor], name: str,
               options: Options) -> tuple[tuple[CFunction, ...], tuple[Descriptor, ...]]:
    """The functions of a kernel, the last one for its users, and the formats inside beside its own."""
    if converted:
        functions = _executors(k, {**formats, **converted}, name, options.types)
        return _composed(k, functions, formats, converted, name, options), ()
    if k.out is None:
        return solver(k, formats, name, options.types), ()
    operands = [[f for f in t.factors if f.name in formats] for t in k.terms]
    first = next((f for o in operands for f in o), None)
    if first and sum(map(len, operands)) == 1 and _direct(k.out, first, formats):
        if formats[first.name].mirror:
            return several(both_triangles(k, first, formats[first.name].mirror), formats, name, options.types), ()
        return (executor(k, formats, name, options.types),), ()
    by_rows = paths(k, formats)
    if by_rows:
        return rowwise(k, by_rows, formats, name, options), (load(ROWS), load(COLUMNS))
    indirect = any(formats[f.name].indirect for o in operands for f in o)
    if k.out.name not in formats and first and all(len(o) < 2 for o in operands) and not indirect:
        return several(k, formats, name, options.types), ()
    if first is None:
        raise bad_kernel("at least one operand must be sparse", hint="name its format with --format A=CSR")
    return join(k, formats, name, options)


def _direct(out: Tensor, a: Tensor, formats: dict[str, Descriptor]) -> bool:
    """Can the operand be gone through as it is stored?"""
    d, diagonal = formats[a.name], len(set(a.indices)) < len(a.indices)
    if out.name in formats:
        return keeps_places(out, a, formats) and not d.mirror
    return not (d.indirect and diagonal)


def _over(k: Kernel, options: Options) -> Kernel:
    """The kernel over the semiring that was asked for."""
    ring = SEMIRINGS[options.semiring]
    if ring == PLUS_TIMES:
        return k
    if k.solve or any(t.sign < 0 or t.over for t in k.terms):
        raise bad_kernel(f"{ring.name} has neither differences nor quotients")
    if ring.reals == options.types.value.startswith("i"):
        need = "an infinity" if ring.reals else "integers"
        raise bad_kernel(f"{ring.name} needs {need}", hint=f"choose --values {'f64' if ring.reals else 'i32'}")
    return replace(k, semiring=ring)


def _check(k: Kernel, formats: dict[str, Descriptor], converted: dict[str, Descriptor]) -> None:
    known = {t.name for t in k.tensors}
    for n in (*formats, *converted):
        if n not in known:
            raise bad_kernel(f"there is no tensor {n} in the kernel")
    for n in converted:
        if n not in formats:
            raise bad_kernel(f"{n} is to be converted but has no format", hint=f"add --format {n}=COO")


def _executors(k: Kernel, formats: dict[str, Descriptor], name: str, types: Types) -> tuple[CFunction, ...]:
    return solver(k, formats, name, types) if k.solve else (executor(k, formats, name, types),)


def _static(f: CFunction) -> CFunction:
    return replace(f, prototype=f"static {f.prototype}")


def _composed(k: Kernel, functions: tuple[CFunction, ...], formats: dict[str, Descriptor],
              converted: dict[str, Descriptor], name: str, options: Options) -> tuple[CFunction, ...]:
    """static conversion and kernel, and one function that calls both."""
    if any(d.mirror for d in converted.values()):
        raise bad_kernel("operands are not converted to a triangle of themselves")
    if k.out is not None and k.out.name in formats:
        raise bad_kernel("a result with the places of its operand cannot be computed on a converted one")
    (tensor,) = converted
    made = convert(formats[tensor], converted[tensor], replace(options, name=f"{name}_convert"))
    w, types = Writer(), options.types
    kind = type_name(converted[tensor], types)
    w.line(f"{kind} made = {{0}};")
    w.line(f"status = {name}_convert({tensor}, &made);")
    w.open("if (status == TW_SPARSE_OK)")
    names = [p.split()[-1].lstrip("*") for p in parameters_of(functions[-1])]
    call = f"status = {name}_on({', '.join({tensor: '&made', 'waits': '&waits'}.get(n, n) for n in names)});"
    if "waits" in names:
        w.line(f"tw_waits_i{types.index} waits = {{0}};")
        w.line(f"status = {name}_on_waits(&made, &waits);")
        w.line("if (status == TW_SPARSE_OK)")
        w.line(f"    {call}")
        w.line(f"tw_waits_i{types.index}_free(&waits);")
    else:
        w.line(call)
    w.line(f"{kind}_free(&made);")
    w.close()
    own = type_name(formats[tensor], types)
    parameters = [p.replace(kind, own) if p.split()[-1].lstrip("*") == tensor else p
                  for p in parameters_of(functions[-1]) if not p.startswith("const tw_waits")]
    comment = f"/* {k.text}, with {tensor} converted from {formats[tensor].name} to {converted[tensor].name} first. */"
    whole = CFunction(comment, f"int {name}({', '.join(parameters)})", "    int status = TW_SPARSE_OK;\n", w.text, "")
    inside = [replace(f, prototype=f.prototype.replace(f"int {name}", f"int {name}_on", 1)) for f in functions]
    return (*made.parts, _static(made.function), *(_static(f) for f in inside), whole)
