"""Kernel files: an executor, a solver, a sum of sparse tensors, or a conversion and a kernel in one function."""
from __future__ import annotations

from dataclasses import replace

from codegen.record import record
from codegen.sparse.api import Options, convert, key_functions
from codegen.sparse.emit.file import CFile, CFunction, c_file
from codegen.sparse.emit.formats import Struct, struct, type_name
from codegen.sparse.emit.types import Types, Writer
from codegen.sparse.formats.builtin import INDEX
from codegen.sparse.formats.load import load
from codegen.sparse.formats.model import Descriptor
from codegen.sparse.kernels.executor import executor
from codegen.sparse.kernels.notation import Kernel, Tensor, Term, bad_kernel, read_kernel
from codegen.sparse.kernels.rowwise import COLUMNS, ROWS, paths, rowwise
from codegen.sparse.kernels.semiring import PLUS_TIMES, SEMIRINGS
from codegen.sparse.kernels.solve import solver
from codegen.sparse.prove.proof import proven
from codegen.sparse.synth.layout import layout


@record
class KernelFile:
    """The functions and the text; `structs` are the formats it speaks of."""

    kernel: Kernel
    functions: tuple[CFunction, ...]
    structs: tuple[Struct, ...]
    file: CFile


def kernel_file(text: str, formats: dict[str, Descriptor], options: Options, header: str = "",
                converted: dict[str, Descriptor] | None = None) -> KernelFile:
    """`formats`: what callers pass; `converted`: operands to be converted first, inside the same function."""
    k = _over(read_kernel(text), options)
    inner = {**formats, **(converted or {})}
    _check(k, formats, converted or {})
    if options.types.value.startswith("i") and any(
            t.over or any(not s.isidentifier() and not s.isdigit() for s in t.scalars) for t in k.terms):
        raise bad_kernel("integers are neither divided nor multiplied by fractions", hint="choose --values f64")
    for d in inner.values():
        proven(d)
    name = options.name or "kernel"
    by_rows = None if converted or k.solve else paths(k, formats)
    by_rows = None if by_rows and len(k.terms) == 1 and len(by_rows[0].operands) == 1 else by_rows  # a value an entry
    sums = not by_rows and k.out is not None and len(k.terms) > 1 and all(
        f.name in formats for t in k.terms for f in t.factors[:1])
    if by_rows:
        functions = rowwise(k, by_rows, formats, name, options)
    elif sums:
        functions = _sum(k, formats, name, options)
    else:
        functions = _executors(k, inner, name, options.types)
        if converted:
            functions = _composed(k, functions, formats, converted, name, options)
    used = [d for n, d in {**formats, **inner}.items()] + list(formats.values())
    if by_rows:
        used += [load(ROWS), load(COLUMNS)]
    if sums and k.semiring != PLUS_TIMES:
        raise bad_kernel(f"sums of sparse tensors other than matrices are not made over {k.semiring.name}")
    if sums:
        used.append(load(_coo(k)))
    structs = tuple(struct(layout(d), options.types) for d in used)
    file = c_file(text, structs, functions, options.types, header, key_functions(*used))
    return KernelFile(k, functions, structs, file)


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
    if k.out is not None and k.out.name in formats:
        raise bad_kernel("a result with the places of its operand cannot be computed on a converted one")
    (tensor,) = converted
    made = convert(formats[tensor], converted[tensor], replace(options, name=f"{name}_convert"))
    w, types = Writer(), options.types
    kind = type_name(converted[tensor], types)
    w.line(f"{kind} made = {{0}};")
    w.line(f"status = {name}_convert({tensor}, &made);")
    w.open("if (status == TW_SPARSE_OK)")
    names = [p.split()[-1].lstrip("*") for p in _parameters(functions[-1])]
    call = f"status = {name}_on({', '.join({tensor: '&made', 'levels': '&levels'}.get(n, n) for n in names)});"
    if "levels" in names:
        w.line(f"tw_levels_i{types.index} levels = {{0}};")
        w.line(f"status = {name}_on_levels(&made, &levels);")
        w.line("if (status == TW_SPARSE_OK)")
        w.line(f"    {call}")
        w.line(f"tw_levels_i{types.index}_free(&levels);")
    else:
        w.line(call)
    w.line(f"{kind}_free(&made);")
    w.close()
    own = type_name(formats[tensor], types)
    parameters = [p.replace(kind, own) if p.split()[-1].lstrip("*") == tensor else p
                  for p in _parameters(functions[-1]) if not p.startswith("const tw_levels")]
    comment = f"/* {k.text}, with {tensor} converted from {formats[tensor].name} to {converted[tensor].name} first. */"
    whole = CFunction(comment, f"int {name}({', '.join(parameters)})", "    int status = TW_SPARSE_OK;\n", w.text, "")
    inside = [replace(f, prototype=f.prototype.replace(f"int {name}", f"int {name}_on", 1)) for f in functions]
    return (_static(made.function), *(_static(f) for f in inside), whole)


def _parameters(f: CFunction) -> list[str]:
    return f.prototype[f.prototype.index("(") + 1:-1].split(", ")


# --- sums ------------------------------------------------------------------------------------------------------------

def _coo(k: Kernel) -> str:
    assert k.out is not None
    return f"COO{len(k.out.indices)}"


def _sum(k: Kernel, formats: dict[str, Descriptor], name: str, options: Options) -> tuple[CFunction, ...]:
    """Every operand as coordinates, all of them in a row, then the result's format with values added."""
    assert k.out is not None
    operands = [_operand(k, t, formats) for t in k.terms]
    if k.out.name not in formats:
        raise bad_kernel(f"the result of a sum needs a format: --format {k.out.name}=CSR")
    coo = load(_coo(k))
    parts: dict[str, CFunction] = {}
    for t in operands:
        d = formats[t.name]
        own = replace(options, name=f"{name}_from_{d.name.lower()}", duplicates=None)
        parts[d.name] = convert(d, coo, own).function
    last = convert(coo, formats[k.out.name], replace(options, name=f"{name}_made", duplicates="sum")).function
    whole = _added(k, operands, formats, coo, name, options.types)
    return (*(_static(f) for f in parts.values()), _static(last), whole)


def _operand(k: Kernel, term: Term, formats: dict[str, Descriptor]) -> Tensor:
    assert k.out is not None
    (t, *more) = term.tensors
    if more or t.name not in formats or set(t.indices) != set(k.out.indices):
        raise bad_kernel("a sum has sparse tensors with the indices of the result, one in each term")
    d = formats[t.name]
    if d.rank != len(t.indices):
        raise bad_kernel(f"{t} has {len(t.indices)} indices and {d.name} {d.rank} dimensions")
    return t


def _added(k: Kernel, operands: list[Tensor], formats: dict[str, Descriptor], coo: Descriptor, name: str,
           types: Types) -> CFunction:
    assert k.out is not None
    w, kind, out = Writer(), type_name(coo, types), k.out
    rank = len(out.indices)
    w.line(f"{kind} part[{len(operands)}] = {{{{0}}}}, all = {{0}};")
    for n, t in enumerate(operands):
        d = formats[t.name]
        w.open("if (status == TW_SPARSE_OK)")
        w.line(f"status = {name}_from_{d.name.lower()}({t.name}, &part[{n}]);")
        w.close()
    first = operands[0]
    for axis, x in enumerate(out.indices):
        w.line(f"all.{coo.shape[axis]} = part[0].{coo.shape[first.indices.index(x)]};")
    w.open(f"for (int p = 0; p < {len(operands)}; p++)")
    w.line("all.NNZ += part[p].NNZ;")
    w.close()
    for t_n, t in enumerate(operands[1:], 1):
        same = " || ".join(f"part[{t_n}].{coo.shape[t.indices.index(x)]} != all.{coo.shape[d]}"
                           for d, x in enumerate(out.indices))
        w.line(f"if (status == TW_SPARSE_OK && ({same}))")
        w.line("    status = TW_SPARSE_RANGE;")
    arrays = [*INDEX[:rank], coo.data]
    for a in arrays:
        w.line(f"all.{a} = tw_new(all.NNZ, sizeof *all.{a}, 0);")
    w.line(f"if (status == TW_SPARSE_OK && !({' && '.join(f'all.{a}' for a in arrays)}))")
    w.line("    status = TW_SPARSE_NO_MEMORY;")
    w.open("if (status == TW_SPARSE_OK)")
    w.line("int64_t at = 0;")
    for n, t in enumerate(operands):
        w.open(f"for (int64_t x = 0; x < part[{n}].NNZ; x++, at++)")
        for axis, x in enumerate(out.indices):
            w.line(f"all.{INDEX[axis]}[at] = part[{n}].{INDEX[t.indices.index(x)]}[x];")
        scale = k.terms[n].scale
        scale = "-" if scale == "-1" else f"{scale} * " if scale else ""
        w.line(f"all.{coo.data}[at] = {scale}part[{n}].{coo.data}[x];")
        w.close()
    w.line(f"status = {name}_made(&all, {out.name});")
    w.close()
    w.line(f"for (int p = 0; p < {len(operands)}; p++)")
    w.line(f"    {kind}_free(&part[p]);")
    w.line(f"{kind}_free(&all);")
    parameters = [f"{type_name(formats[out.name], types)} *{out.name}"]
    parameters += [f"const {type_name(formats[t.name], types)} *{t.name}" for t in operands]
    parameters += [f"{types.c_value} {s}" for s in k.scalars]
    return CFunction(f"/* {k.text}; fills *{out.name}. */", f"int {name}({', '.join(parameters)})",
                     "    int status = TW_SPARSE_OK;\n", w.text, "")
