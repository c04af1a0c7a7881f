"""Members of structs that are read ahead of all loops: variables that stand for something else are found."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from codegen.machine import load
from codegen.options import GenOptions
from codegen.region import ProvenRegion, make
from codegen.region_model import model_region
from codegen.source_file import open_source
from codegen.target.emit import Locals, Surroundings, emit_region
from codegen.verify.locals import wrong_locals

SOURCE = """
struct image { int w, h; float gain; float *data; unsigned char *bytes; };
void f(struct image *a, struct image *b)
{
#pragma scop
    for (int y = 0; y < a->h; y++)
        for (int x = 0; x < a->w; x++)
            a->data[y * a->w + x] = a->gain * b->bytes[y * a->w + x];
#pragma endscop
}
"""



@cache
def kept() -> tuple[ProvenRegion, Locals]:
    options = GenOptions(target="c", assume_no_alias=True)
    model = model_region(open_source("in.c", SOURCE, options).slices[0], options)
    assert model is not None
    made = make(model, options, load("generic"))
    found = emit_region(made.program.scop, made.code, Surroundings(), False).locals
    assert found is not None
    return made, found


def wrong(x: Locals) -> str:
    made = kept()[0]
    return wrong_locals(made.program.scop, x.scop, x.declarations, made.code, x.guard)


def test_variables_are_proven() -> None:
    found = kept()[1]
    assert {"a_w", "a_h", "a_data"} <= set(found.declarations) and wrong(found) == ""


# A part of a declaration, and what stands there instead.
CHANGES = {
    "another member": (" = a->w;", " = a->h;"),
    "another struct": (" = a->h;", " = b->h;"),
    "another pointer": (" = a->data;", " = b->data;"),
    "fewer bits": ("const int a_w", "const short a_w"),
    "without a sign": ("const int a_h", "const unsigned a_h"),
    "other elements": ("float *const a_data", "double *const a_data"),
    "the pointer's address": (" = a->data;", " = &a->data;"),
    "more than a member": (" = a->w;", " = a->w + 1;"),
    "another name": ("int a_w =", "int a_v ="),
    "two lines": (" = a->w;", " = a->w; a->h = 0;"),
}


@pytest.mark.parametrize("what", CHANGES)
def test_wrong_variables_are_found(what: str) -> None:
    old, new = CHANGES[what]
    found = kept()[1]
    lines = {name: line.replace(old, new) for name, line in found.declarations.items()}
    assert lines != found.declarations
    assert wrong(replace(found, declarations=lines)) != ""


def test_pointers_are_followed_only_where_the_region_does() -> None:
    """Nothing of `b` is read unless both loops run."""
    found = kept()[1]
    assert not any("b->" in line for line in found.declarations.values())
    more = {**found.declarations, "b_w": "const int b_w = b->w;"}
    assert "may not follow its pointers" in wrong(replace(found, declarations=more))


def test_uses_are_compared() -> None:
    found = kept()[1]
    params = [p.text for p in found.scop.params]
    swapped = tuple(replace(p, text=t) for p, t in zip(found.scop.params, params[::-1], strict=True))
    assert len(params) > 1 and wrong(replace(found, scop=replace(found.scop, params=swapped))) != ""
    data = next(n for n, a in found.scop.arrays.items() if a.base == "a_data")
    arrays = {**found.scop.arrays, data: replace(found.scop.arrays[data], base="a_bytes")}
    assert "uses another member" in wrong(replace(found, scop=replace(found.scop, arrays=arrays)))
