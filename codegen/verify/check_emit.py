"""A region as a C function of its memory: declarations, sizes, fills, the region itself, and what goes back."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from pycparser import c_ast, c_generator

from codegen.frontend.affine import c_text
from codegen.frontend.layers import Layer, Shape
from codegen.frontend.symbols import RegionSite
from codegen.resources import templates_dir
from codegen.verify.check_leaves import Leaf, leaves
from codegen.verify.check_memory import Buffer, Memory
from codegen.verify.check_paths import follow, names_in

if TYPE_CHECKING:
    import jinja2


@dataclass(frozen=True)
class Harness:
    """What is needed to print and to drive one region. `leaves` belong to the buffers, in order."""

    number: int
    site: RegionSite
    memory: Memory
    leaves: tuple[tuple[Leaf, ...], ...]

    def slot(self, buffer: int) -> int:
        """Where a buffer's first index, count and row length stand in `tw_in`."""
        return len(self.memory.ints) + 3 * buffer


@dataclass(frozen=True)
class Fill:
    """One call of tw_fill, as C texts."""

    buffer: int
    leaf: tuple[str, ...]
    count: str
    size: str
    row: str


def harness_of(number: int, site: RegionSite, memory: Memory) -> Harness:
    return Harness(number, site, memory, tuple(leaves(b.elem, site.types) for b in memory.buffers))


@lru_cache(maxsize=1)
def _environment() -> "jinja2.Environment":
    import jinja2

    loader = jinja2.FileSystemLoader(str(templates_dir()))
    return jinja2.Environment(loader=loader, keep_trailing_newline=True, undefined=jinja2.StrictUndefined)


def runtime_text() -> str:
    """The part that all programs share, the same for every file."""
    return _environment().get_template("check_runtime.c.j2").render()


def cases_text(cases: Sequence[tuple[Harness, str]]) -> str:
    """A function for each region with its text, to stand below the file it comes from."""
    return _environment().get_template("check_case.c.j2").render(cases=[_view(h, body) for h, body in cases])


def _view(h: Harness, body: str) -> dict[str, object]:
    return {
        "number": h.number,
        "declarations": list(_declarations(h)),
        "layout": list(layout_texts(h)),
        "fills": list(_fills(h)),
        "body": body.rstrip("\r\n"),
        "stores": list(_copies(h, out=True)),
    }


def layout_texts(h: Harness) -> Iterator[str]:
    """What the function tells about sizes: integers; per buffer its element size, elements, row length, sizes
    from the outermost in, leaves; then the declared sizes of all levels. `check_layout` reads it."""
    yield from (i.text for i in h.memory.ints)
    for k, b in enumerate(h.memory.buffers):
        around = [count for _, count in _around(h, k)]
        yield from (f"sizeof(tw_e{k})", _elements(h, k), _row(h, k), *around, _rows(h, k), *b.dims)
        for leaf in h.leaves[k]:
            yield from _leaf(k, leaf)
    yield from (level.size for level in h.memory.levels)


def _fills(h: Harness) -> Iterator[Fill]:
    for k in range(len(h.memory.buffers)):
        for leaf in h.leaves[k]:
            yield Fill(k, _leaf(k, leaf), _elements(h, k), f"sizeof(tw_e{k})", _row(h, k))


def _leaf(k: int, leaf: Leaf) -> tuple[str, ...]:
    whole = f"(*(tw_e{k} *)0){leaf.path}"
    offset = f"__builtin_offsetof(tw_e{k}, {leaf.path[1:]})" if leaf.path else "0"
    kind = "0" if leaf.opaque else f"TW_KIND({whole}{leaf.first})"
    return offset, f"sizeof({whole}{leaf.first})", f"sizeof({whole}) / sizeof({whole}{leaf.first})", kind


# -- sizes ---------------------------------------------------------------------------------------------


def _rows(h: Harness, k: int) -> str:
    rows = h.memory.buffers[k].rows
    return f"tw_in[{h.slot(k) + 1}]" if rows is None else f"TW_POSITIVE({rows})"


def _elements(h: Harness, k: int) -> str:
    factors = [count for _, count in _around(h, k)] + [_rows(h, k)]
    return " * ".join([*factors, *(f"TW_POSITIVE({d})" for d in h.memory.buffers[k].dims)])


def _row(h: Harness, k: int) -> str:
    """Row length of a square matrix, 0 for everything else."""
    b = h.memory.buffers[k]
    sizes = [_rows(h, k), *(f"(long)({d})" for d in b.dims)]
    return f"({sizes[-2]} == {sizes[-1]} ? {sizes[-1]} : 0)" if len(sizes) > 1 else f"tw_in[{h.slot(k) + 2}]"


def _around(h: Harness, k: int) -> list[tuple[str, str]]:
    """First index and count of every array and pointer around the pointers that lead to a buffer."""
    b = h.memory.buffers[k]
    out = []
    for at, layer, _ in follow(h.site.variables[b.base].shape, h.site.types, b.path):
        outer = h.memory.find(b.base, at)
        if outer is not None:
            out.append((f"tw_in[{h.slot(outer)}]", _rows(h, outer)))
        else:
            out.append(("0", f"TW_POSITIVE({'0' if layer.dim is None else c_text(layer.dim)})"))
    return out


# -- declarations --------------------------------------------------------------------------------------


def _declarations(h: Harness) -> Iterator[str]:
    """In the order in which C needs them: integers, values, structs, their members, then everything else."""
    yield from _local_types(h.site)
    for k, i in enumerate(h.memory.ints):
        if i.how in ("declare", "global"):
            yield f"{i.ctype.spelling + ' ' if i.how == 'declare' else ''}{i.text} = ({i.ctype.spelling})tw_in[{k}];"
    buffers = list(enumerate(h.memory.buffers))
    for k, b in buffers:
        if b.how in ("value", "global"):
            yield _typedef(k, b)
            if b.how == "value":
                yield f"tw_e{k} {b.base};"
    yield from _copies(h, out=False)
    yield from (line for k, b in buffers if b.of_structs for line in _pointer(h, k, b))
    for k, i in enumerate(h.memory.ints):
        if i.how == "member":
            yield f"{i.text} = ({i.ctype.spelling})tw_in[{k}];"
    yield from (line for k, b in buffers if not b.of_structs for line in _pointer(h, k, b))


def _local_types(site: RegionSite) -> Iterator[str]:
    """Types that the function defines for itself, other than those whose sizes are its variables."""
    for node in _blocks(site.function.body):
        inner = node.type
        while isinstance(inner, (c_ast.ArrayDecl, c_ast.PtrDecl, c_ast.TypeDecl)):
            inner = inner.type
        own = getattr(inner, "decls", None) or getattr(inner, "values", None)
        if isinstance(node, c_ast.Typedef) and not names_in([node]) & set(site.variables):
            yield c_text(node) + ";"
        elif own and getattr(inner, "name", None):
            yield " ".join(str(c_generator.CGenerator().visit(inner)).split()) + ";"


def _blocks(node: c_ast.Node) -> Iterator[c_ast.Node]:
    """Declarations of a function's body, outer blocks first."""
    for item in node:
        if isinstance(item, (c_ast.Decl, c_ast.Typedef)):
            yield item
        else:
            yield from _blocks(item)


def _copies(h: Harness, out: bool) -> Iterator[str]:
    for k, b in enumerate(h.memory.buffers):
        if b.how in ("value", "global"):
            ends = f"tw_args[{k}], &{b.base}" if out else f"&{b.base}, tw_args[{k}]"
            guard = "if (tw_op == 2) " if b.how == "global" and not out else ""
            yield f"{guard}__builtin_memcpy({ends}, sizeof {b.base});"


def _pointer(h: Harness, k: int, b: Buffer) -> Iterator[str]:
    """Make the variable, or the pointers inside another buffer, point to a buffer."""
    if b.how in ("value", "global"):
        return
    yield _typedef(k, b)
    first, rows = f"tw_in[{h.slot(k)}]", _rows(h, k)
    if b.how != "inner":
        declared = f"tw_e{k} (*{b.base}){''.join(f'[{d}]' for d in b.dims)}" if b.how == "pointer" else b.base
        yield f"{declared} = tw_args[{k}];"
        yield f"{b.base} -= {first};"
        return
    around = _around(h, k)
    place, at = b.base, "0"
    loops, t = "", 0
    for step in b.path:
        place += f"[tw_t{t}]" if step == "*" else step
        t += step == "*"
    for t, (begin, count) in enumerate(around):
        loops += f"for (long tw_t{t} = {begin}; tw_t{t} < {begin} + (tw_op ? {count} : 1); tw_t{t}++) "
        at = f"({at} * {count} + tw_t{t} - {begin})"
    yield f"{loops}{place} = tw_args[{k}], {place} += {at} * {rows} - {first};"


def _typedef(k: int, b: Buffer) -> str:
    return f"typedef {_declared(b.elem.layers, f'tw_e{k}', b.elem)};"


def _declared(layers: Sequence[Layer], name: str, elem: Shape) -> str:
    """A C declaration; a struct without a name is spelled out."""
    for layer in layers:
        dim = "" if layer.dim is None else c_text(layer.dim)
        name = f"(*{name})" if layer.kind == "pointer" else f"{name}[{dim}]"
    text = elem.elem.spelling
    if elem.struct is not None and text in ("struct", "union"):
        text = " ".join(str(c_generator.CGenerator().visit(elem.struct)).split())
    return f"{text} {name}"
