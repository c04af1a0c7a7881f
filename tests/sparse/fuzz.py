"""Random descriptors, refused by name or right: decoded by brute force after conversions there, read back, multiplied.

    python -m tests.sparse.fuzz --count 1000 --seed 1000 [--flags "-O0 -fsanitize=address,undefined"]

Run as a program so that a sanitizer's library can be loaded before Python.
"""
from __future__ import annotations

import argparse
import collections
import json
import os
import random
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from codegen.diagnostics import InputError
from codegen.sparse.api import Options, convert, key_functions
from codegen.sparse.emit.file import CFunction, c_file
from codegen.sparse.emit.formats import Struct, struct
from codegen.sparse.emit.types import Types
from codegen.sparse.formats.load import load
from codegen.sparse.formats.model import Descriptor
from codegen.sparse.formats.read import read
from codegen.sparse.kernels.compose import kernel_file
from codegen.sparse.prove.proof import proven
from codegen.sparse.python.arrays import from_struct, to_struct
from codegen.sparse.python.build import declarations, load_library
from codegen.sparse.synth.layout import layout
from tests.sparse.brute import Brute
from tests.sparse.descriptors import draft
from tests.sparse.reference import Codec, Entry, decode, encode

TYPES = Types()
SHAPES = ((5, 6), (4, 4), (7, 3), (1, 1), (3, 8), (0, 4), (9, 9))


class Tried:
    """What came of the descriptors."""

    def __init__(self) -> None:
        self.right = self.outside = self.runs = 0
        self.refused: collections.Counter[str] = collections.Counter()
        self.wrong: list[str] = []


def functions(d: Descriptor, name: str) -> tuple[CFunction, ...]:
    """From coordinates by both chains and with sums, back with the input checked, and a product."""
    coo = load("COO")
    there = [convert(coo, d, Options(TYPES, name=f"{name}_{kind}", optimize=fast, duplicates=policy)).function
             for kind, fast, policy in (("fast", True, None), ("plain", False, None), ("sum", True, "sum"))]
    back = convert(d, coo, Options(TYPES, name=f"{name}_back", check=True)).function
    product = kernel_file("y(i) = A(i,j) * x(j)", {"A": d}, Options(TYPES, name=f"{name}_product")).functions
    return (*there, back, *product)


def accepted(texts: list[str], tried: Tried) -> list[tuple[Descriptor, tuple[CFunction, ...]]]:
    out = []
    for text in texts:
        n = text.split()[1]
        try:
            d = read("f.fmt", text)
            proven(d)
            out.append((d, functions(d, n.lower())))
        except InputError as error:
            tried.refused[f"{error.id}: {error.message.removeprefix(f'{n}: ')[:40]}"] += 1
        except Exception as error:  # a crash of the tool is a finding like any other
            tried.wrong.append(f"{type(error).__name__}: {error}\n{text}")
    return out


class Library:
    def __init__(self, formats: list[tuple[Descriptor, tuple[CFunction, ...]]], flags: tuple[str, ...]) -> None:
        self.structs: dict[str, Struct] = {"COO": struct(layout(load("COO")), TYPES)}
        self.structs |= {d.name: struct(layout(d), TYPES) for d, _ in formats}
        made = tuple(f for _, fs in formats for f in fs)
        file = c_file("fuzz", tuple(self.structs.values()), made, TYPES, "", key_functions(*(d for d, _ in formats)))
        self.folder = tempfile.TemporaryDirectory()
        declared = declarations(self.structs.values(), [f.prototype for f in made])
        self.ffi, self.library = load_library(file.source, declared, flags, Path(self.folder.name))

    def convert(self, name: str, source: Descriptor, target: Descriptor, values: dict[str, Any]) -> tuple[int, Any]:
        src, keep = to_struct(self.ffi, layout(source), self.structs[source.name], values)
        dst = self.ffi.new(f"{self.structs[target.name].type} *")
        status = getattr(self.library, name)(src, dst)
        del keep
        if status:
            return status, {}
        return 0, from_struct(self.ffi, self.library, layout(target), self.structs[target.name], dst)

    def product(self, name: str, d: Descriptor, values: dict[str, Any], x: np.ndarray, y: np.ndarray) -> None:
        a, keep = to_struct(self.ffi, layout(d), self.structs[d.name], values)
        status = getattr(self.library, name)(self.ffi.cast("double *", self.ffi.from_buffer(y)), a,
                                             self.ffi.cast("double *", self.ffi.from_buffer(x)))
        del keep
        assert status == 0, f"product: status {status}"


def entries_of(rng: random.Random, shape: tuple[int, int], rounds: int) -> list[Entry]:
    """Few, many, or only some near the diagonal, so that formats of a part of the matrix get entries, too."""
    near = (99, 99, 0, 1)[rounds % 4]
    places = [(i, j) for i in range(shape[0]) for j in range(shape[1]) if abs(i - j) <= near and (near != 1 or j <= i)]
    chosen = rng.sample(places, min(len(places), rng.choice((0, 1, 3, 9, 40))))
    return [(c, float(rng.randint(1, 99))) for c in chosen]


def judged(library: Library, d: Descriptor, name: str, rng: random.Random, tried: Tried) -> None:
    """One format on several matrices; AssertionError where a result is not what went in."""
    coo = load("COO")
    for rounds in range(8):
        shape = SHAPES[rng.randrange(len(SHAPES))]
        entries = entries_of(rng, shape, rounds)
        given = encode("COO", Codec(shape), entries)
        status, made = library.convert(f"{name}_fast", coo, d, given)
        plain, other = library.convert(f"{name}_plain", coo, d, given)
        assert status == plain, f"status {status} and {plain}"
        tried.runs += 1
        if status:
            assert status == 2 and layout(d).members, f"status {status}"
            tried.outside += 1
            continue
        assert all(np.array_equal(made[k], other[k]) for k in made), "the two chains differ"
        found = Brute(d, made).entries()
        assert sorted(found) == sorted(entries), f"{entries} became {found}"
        back, again = library.convert(f"{name}_back", d, coo, made)
        assert back == 0, f"back: status {back}"
        assert sorted(decode("COO", Codec(shape), again)) == sorted(entries), "back"
        x, y = np.arange(1.0, shape[1] + 1), np.full(shape[0], 7.0)
        library.product(f"{name}_product", d, made, x, y)
        full = np.zeros(shape)
        for c, v in entries:
            full[c] += v
        assert np.array_equal(y, full @ x), "product"
        twice = [*entries, *entries[:3]]
        status, made = library.convert(f"{name}_sum", coo, d, encode("COO", Codec(shape), twice))
        assert status == 0, f"sum: status {status}"
        total = {c: v + sum(w for e, w in entries[:3] if e == c) for c, v in entries}
        assert sorted(Brute(d, made).entries()) == sorted(total.items()), "sum"
    tried.right += 1


def run(count: int, seed: int, flags: tuple[str, ...], batch: int = 40) -> Tried:
    """Descriptors `seed` to `seed + count - 1`; each is drawn and tried by its own number alone."""
    tried = Tried()
    for first in range(seed, seed + count, batch):
        numbers = range(first, min(first + batch, seed + count))
        formats = accepted([draft(random.Random(n)).text(f"F{n}") for n in numbers], tried)
        if not formats:
            continue
        library = Library(formats, flags)
        for d, fs in formats:
            name = fs[0].prototype.split("(")[0].split()[-1].removesuffix("_fast")
            wrong = in_a_child(library, d, name, int(d.name[1:]), tried)
            if wrong:
                tried.wrong.append(f"{wrong}\n{d.text}")
    return tried


def in_a_child(library: Library, d: Descriptor, name: str, seed: int, tried: Tried) -> str:
    """What is wrong with a format, in words; a result that destroys its process is one finding, not the last."""
    inward, outward = os.pipe()
    child = os.fork()
    if not child:
        found = ""
        try:
            judged(library, d, name, random.Random(seed), tried)
        except AssertionError as error:
            found = str(error)[:400]
        os.write(outward, json.dumps([tried.right, tried.outside, tried.runs, found]).encode())
        os._exit(0)
    os.close(outward)
    with os.fdopen(inward, "rb") as answer:
        text = answer.read()
    _, status = os.waitpid(child, 0)
    if not text:
        return f"the process ended with {status}"
    tried.right, tried.outside, tried.runs, wrong = json.loads(text)
    return str(wrong)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--flags", default="-O0")
    parser.add_argument("--all", action="store_true", help="also what was refused, and how often")
    given = parser.parse_args()
    tried = run(given.count, given.seed, tuple(given.flags.split()))
    print(f"{given.count} descriptors: {tried.right} right, {sum(tried.refused.values())} refused, "
          f"{len(tried.wrong)} wrong; {tried.runs} matrices, {tried.outside} of them with entries outside the format")
    for text, n in sorted(tried.refused.items()) if given.all else ():
        print(f"  {n} {text}")
    for text in tried.wrong[:20]:
        print(text)
    return 1 if tried.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
