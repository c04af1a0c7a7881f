"""Prints the declarations of a region's variables in its harness function, bound to the buffers that it is given."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from pycparser import c_ast, c_generator

from codegen.checking.harness.interface import Harness
from codegen.checking.harness.memory import HarnessBuffer
from codegen.checking.harness.paths import names_in
from codegen.frontend.expressions.affine import c_text
from codegen.frontend.syntax.symbols import RegionSite

_COPIED = ("value", "array", "global")  # buffers that the variable itself does not lie in


def declarations(h: Harness) -> Iterator[str]:
    """In the order in which C needs them: types, integers, values, structs, their members, then everything else.

    Buffer number k has the element type tw_ek. It comes ahead of variables, which may have the name of a type; behind
    integers where it has sizes.
    """
    yield from _local_types(h.site)
    yield from (_typedef(k, b) for k, b in enumerate(h.memory.buffers) if not _is_sized(b))
    for k, i in enumerate(h.memory.ints):
        if i.how in ("declare", "global"):
            yield f"{i.ctype.spelling + ' ' if i.how == 'declare' else ''}{i.text} = ({i.ctype.spelling})tw_in[{k}];"
        elif i.how.startswith("constant "):
            yield f"const {i.ctype.spelling} {i.text} = {i.how.removeprefix('constant ')};"
    buffers = list(enumerate(h.memory.buffers))
    for k, b in buffers:
        if b.how in _COPIED:
            yield from _typedefs(k, b)
            if b.how != "global":
                sizes = f"[{b.rows}]" + "".join(f"[{d}]" for d in b.dims) if b.how == "array" else ""
                yield f"tw_e{k} {b.base}{sizes};"
    yield from copies(h, out=False)
    early = [(k, b) for k, b in buffers if any(_leads_to(b, x) for _, x in buffers if x.of_structs)]
    yield from (line for k, b in early for line in _pointer(h, k, b))
    for k, i in enumerate(h.memory.ints):
        if i.how == "member":
            yield f"{i.text} = ({i.ctype.spelling})tw_in[{k}];"
    yield from (line for k, b in buffers if (k, b) not in early for line in _pointer(h, k, b))
    bases = {b.base for _, b in buffers}
    for o in (o for o in h.site.own if not o.end and o.source not in bases):
        kind = f"{h.site.variables[o.source].shape.elem.spelling} *"
        yield f"{kind}{o.source} = ({kind}){o.name};"
    for d in h.site.derived:
        yield f"__typeof__(&{d.root}[0]) {d.name}{f' = &{d.element}' if d.element else ''};"
    yield from h.memory.spare
    yield from (f"__typeof__({o.source}) tw_first_{o.source} = {o.source};" for o in h.site.own if o.end)
    have = {*(i.text for i in h.memory.ints), *(b.base for b in h.memory.buffers)}
    for s in h.site.started:
        declared = "" if s.name in have else f"{h.site.variables[s.name].shape.elem.spelling} "
        if declared or s.value:
            yield f"{declared}{s.name}{f' = {s.value}' if s.value else ''};"
    for k, i in enumerate(h.memory.ints):
        if i.how in ("element", "before"):
            yield f"*({i.ctype.spelling} *)&{i.text} = ({i.ctype.spelling})tw_in[{k}];"
        elif i.how == "apart":  # end - begin
            end, begin = i.text.split(" - ")
            yield f"*(void **)&{end} = (void *)({begin} + tw_in[{k}]);"
    yield from _computed(h)


def _leads_to(one: HarnessBuffer, two: HarnessBuffer) -> bool:
    """Is it the same buffer, or one with a pointer on the way to the other?"""
    return one.base == two.base and two.path[: len(one.path)] == one.path


def moves(h: Harness) -> Iterator[str]:
    """How far the region has moved pointers, in the variables that stand for that."""
    yield from (f"{o.name} = {o.source} - tw_first_{o.source};" for o in h.site.own if o.end)


def _computed(h: Harness) -> Iterator[str]:
    """Computed parameters, from the integers alone: memory is not there yet when only sizes are asked for."""
    known = {i.text: (k, i) for k, i in enumerate(h.memory.ints)}
    for d in h.computed:
        found = [known[text] for text, _, _ in d.reads]
        texts = [i.text if i.how == "pinned" else f"({i.ctype.spelling})tw_in[{k}]" for k, i in found]
        defined = [f"({d.filled(x, texts)}) != 0" for x in d.divisors]
        # The original has no helpers of generated code: the cases bring their own.
        test = re.sub(r"\btw_(min|max|floord|fits|fits_unsigned)\(", r"tw_case_\1(", d.test) or "1"
        ends = [f"({d.filled(x, texts)}) > 0 && " for x in d.divisors if x in h.site.strides]
        yield f"const int tw_defined_{d.name} = {''.join(ends)}(!({test}) || ({' && '.join(defined) or '1'}));"
        yield replace(d, test=f"tw_defined_{d.name} && ({test})").declaration(texts)


def copies(h: Harness, out: bool) -> Iterator[str]:
    """Values and globals from their buffers, or back. Operation 3 leaves globals where they are, 4 only sets them."""
    for k, b in enumerate(h.memory.buffers):
        if b.how in _COPIED:
            ends = f"tw_args[{k}], &{b.base}" if out else f"&{b.base}, tw_args[{k}]"
            guard = ""
            if b.how == "global":
                guard = "if (tw_op == 2) " if out else "if (tw_op == 2 || tw_op == 4) "
            yield f"{guard}__builtin_memcpy({ends}, sizeof {b.base});"


def _local_types(site: RegionSite) -> Iterator[str]:
    """Types that the function defines for itself, other than those whose sizes are its variables."""
    for node in _declared_in(site.function.body):
        inner = node.type
        while isinstance(inner, (c_ast.ArrayDecl, c_ast.PtrDecl, c_ast.TypeDecl)):
            inner = inner.type
        if isinstance(node, c_ast.Typedef) and not names_in([node]) & set(site.variables):
            yield c_text(node) + ";"
        elif getattr(inner, "values", None) or (getattr(inner, "decls", None) and inner.name):
            yield _spelled(inner) + ";"


def _declared_in(node: c_ast.Node) -> Iterator[c_ast.Node]:
    """Declarations of a function's body, outer blocks first."""
    for item in node:
        if isinstance(item, (c_ast.Decl, c_ast.Typedef)):
            yield item
        else:
            yield from _declared_in(item)


def _pointer(h: Harness, k: int, b: HarnessBuffer) -> Iterator[str]:
    """Make the variable, or the pointers inside another buffer, point to a buffer."""
    if b.how in _COPIED:
        return
    yield from _typedefs(k, b)
    if b.how == "inner":
        yield _inner_pointers(h, k, b)
        return
    dims = "".join(f"[{d}]" for d in b.dims)
    declared = f"tw_e{k} (*{b.base}){dims}" if b.how == "pointer" else b.base
    kind = f"tw_e{k} (*){dims}" if b.how == "pointer" else f"__typeof__({b.base})"
    yield f"{declared} = {h.place.cast(kind)}tw_args[{k}];"
    yield f"{b.base} -= {h.first(k)};"


def _inner_pointers(h: Harness, k: int, b: HarnessBuffer) -> str:
    """Every pointer gets its share of the buffer; when only sizes are asked for, the first one does."""
    place, number = b.base, 0
    for step in b.path:
        place += f"[tw_t{number}]" if step == "*" else step
        number += step == "*"
    loops, at = "", "0"
    for t, (first, count) in enumerate(h.around(k)):
        loops += f"for (long tw_t{t} = {first}; tw_t{t} < {first} + (tw_op ? {count} : 1); tw_t{t}++) "
        at = f"({at} * {count} + tw_t{t} - {first})"
    cast = h.place.cast(f"__typeof__({place})")
    return f"{loops}{place} = {cast}tw_args[{k}], {place} += {at} * {h.rows(k)} - {h.first(k)};"


def _is_sized(b: HarnessBuffer) -> bool:
    return any(declarator.dim is not None for declarator in b.elem.declarators)


def _typedefs(k: int, b: HarnessBuffer) -> list[str]:
    """The element type, if it is not there yet."""
    return [_typedef(k, b)] if _is_sized(b) else []


def _typedef(k: int, b: HarnessBuffer) -> str:
    """The element type; a struct without a name is spelled out."""
    name = f"tw_e{k}"
    for declarator in b.elem.declarators:
        size = "" if declarator.dim is None else c_text(declarator.dim)
        name = f"(*{name})" if declarator.kind == "pointer" else f"{name}[{size}]"
    text = b.elem.elem.spelling
    if b.elem.struct is not None and text in ("struct", "union"):
        text = _spelled(b.elem.struct)
    return f"typedef {text} {name};"


def _spelled(node: c_ast.Node) -> str:
    return " ".join(str(c_generator.CGenerator().visit(node)).split())
