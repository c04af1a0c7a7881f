"""Random kernels, refused by name or right: evaluated by NumPy's einsum on the dense tensors.

    python -m tests.sparse.fuzz_kernels --count 300 --seed 1 [--flags "-O0 -fsanitize=address,undefined"]
"""
from __future__ import annotations

import argparse
import collections
import random
import sys
from typing import Any

import numpy as np

from codegen.diagnostics import InputError
from codegen.sparse.kernels.notation import Kernel, Term, read_kernel
from codegen.sparse.python.kernel import KernelCall
from tests.sparse.reference import Codec, decode, encode

FORMATS = {1: ("COO1", "SCOO1", "DENSE1"), 2: ("CSR", "CSR", "CSC", "COO", "DIA", "ELL", "BCSR:3x2", "MCOO", "CSF2",
               "ALTO2"),
           3: ("COO3", "CSF", "HICOO", "ALTO")}
# Among them what generated functions call their own variables.
NAMES = ("A", "B", "C", "D", "E", "x", "y", "z", "p", "q", "mark", "sum", "made", "c", "i", "first", "status", "total")
INDICES = ("j", "k", "l", "r", "s", "a", "dot", "at", "room")


def drawn(rng: random.Random) -> tuple[str, dict[str, str]]:
    """A kernel, and the formats of its sparse tensors."""
    names, pool = list(NAMES), rng.sample(INDICES, 4)
    rng.shuffle(names)
    formats: dict[str, str] = {}
    out = rng.sample(pool, rng.choice((0, 1, 1, 2, 2, 2, 3)))
    result = names.pop()
    if out and rng.random() < 0.5:
        formats[result] = rng.choice(FORMATS[len(out)])
    terms, scalars = [], [names.pop(), names.pop()]
    for _ in range(rng.choice((1, 1, 1, 2, 2))):
        factors, have = [], set()
        for _ in range(rng.choice((1, 1, 2, 2, 3))):
            rank = rng.choice((1, 2, 2, 2, 3))
            index = [rng.choice(pool) for _ in range(rank)] if rng.random() < 0.1 else rng.sample(pool, rank)
            factors.append((names.pop() if len(names) > 3 else "A", tuple(index), rng.random() < 0.75))
            have |= set(index)
        missing = [x for x in out if x not in have]
        if missing:
            factors.append((names.pop() if len(names) > 2 else "B", tuple(missing), rng.random() < 0.3))
        parts = [f"{n}({','.join(x)})" for n, x, _ in factors]
        formats |= {n: rng.choice(FORMATS[len(x)]) for n, x, sparse in factors if sparse and n not in formats}
        scale = rng.choice(("", "", "2*", "0.5*", "1e-1*", f"{scalars[0]}*"))
        terms.append(scale + "*".join(parts) + rng.choice(("", "", "", f"/{scalars[1]}", "/4")))
    left = f"{result}({','.join(out)})" if out else result
    sign = rng.choice(("=", "=", "=", "+=", "-=")) if result not in formats else "="
    body = terms[0] + "".join(rng.choice((" + ", " - ")) + t for t in terms[1:])
    return f"{left} {sign} {body}", formats


def dense_of(term: Term, given: dict[str, np.ndarray], out: tuple[str, ...], scalars: dict[str, float]) -> np.ndarray:
    letters = {x: chr(97 + n) for n, x in enumerate(dict.fromkeys(x for f in term.tensors for x in f.indices))}
    spec = ",".join("".join(letters[x] for x in f.indices) for f in term.factors)
    made = np.einsum(f"{spec}->{''.join(letters[x] for x in out)}", *(given[f.name] for f in term.factors))
    for s in term.scalars:
        made = made * eval(s, {}, scalars)
    return np.asarray(made * term.sign)


def judged(kernel: KernelCall, k: Kernel, formats: dict[str, str], rng: np.random.Generator) -> None:
    """One kernel on random tensors; AssertionError where the result is another than einsum's."""
    assert k.out is not None
    extent = {x: int(rng.integers(1, 8)) for t in k.tensors for x in t.indices}
    for _ in extent:  # a diagonal is of a square, and a name means one shape
        for name in {t.name for t in k.tensors}:
            for group in zip(*(t.indices for t in k.tensors if t.name == name), strict=True):
                extent |= dict.fromkeys(group, min(extent[x] for x in group))
    given: dict[str, np.ndarray] = {}
    values: dict[str, Any] = {}
    for t in k.tensors:
        shape = tuple(extent[x] for x in t.indices)
        there = rng.random(shape) < (0.4 if t.name in formats else 1)
        full = np.where(there, rng.integers(1, 9, shape), 0).astype(float)
        if t.name in given:
            assert given[t.name].shape == shape
            continue
        given[t.name] = full
        if t.name in formats:
            entries = [(tuple(map(int, c)), float(full[tuple(c)])) for c in np.argwhere(full)]
            values[t.name] = encode(formats[t.name], Codec(shape), entries)
        else:
            values[t.name] = np.ascontiguousarray(full if t.indices else full.reshape(1))
    scalars = {s: float(rng.integers(1, 5)) for s in k.scalars}
    sizes = {f"n_{x}": n for x, n in extent.items() if f"n_{x}" in kernel.wanted}
    before = given[k.out.name].copy()
    want = sum((dense_of(t, given, k.out.indices, scalars) for t in k.terms), np.zeros(before.shape))
    want = want + before if k.adds else want
    if k.out.name in formats:
        if "double *" in kernel.prototype.split(",")[0]:  # a value for each entry of the operand
            return
        del values[k.out.name]
    made = kernel(**values, **scalars, **sizes)
    got = values.get(k.out.name) if made is None else None
    if made is not None:
        got = np.zeros(want.shape)
        for c, v in decode(formats[k.out.name], Codec(want.shape), made):
            got[c] += v
    np.testing.assert_allclose(np.asarray(got).reshape(want.shape), want, rtol=1e-9, atol=1e-9)


def run(count: int, seed: int, flags: tuple[str, ...]) -> tuple[int, collections.Counter[str], list[str]]:
    """How many were right, what was refused, and what was wrong; each kernel is drawn by its own number alone."""
    right, refused, wrong = 0, collections.Counter[str](), []
    for n in range(seed, seed + count):
        text, formats = drawn(random.Random(n))
        try:
            k = read_kernel(text)
            kernel = KernelCall(text, formats, flags=flags)
        except InputError as error:
            refused[f"{error.id}: {error.message[:60]}"] += 1
            if error.id == "cannot-compile":
                wrong.append(f"{n}: {text} {formats}: {error.message}")
            continue
        try:
            for again in range(3):
                judged(kernel, k, formats, np.random.default_rng(10 * n + again))
            right += 1
        except AssertionError as error:
            wrong.append(f"{n}: {text} {formats}: {str(error)[:300]}")
        except Exception as error:  # a crash is a finding like any other
            wrong.append(f"{n}: {text} {formats}: {type(error).__name__}: {error}")
    return right, refused, wrong


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--flags", default="-O0")
    given = parser.parse_args()
    right, refused, wrong = run(given.count, given.seed, tuple(given.flags.split()))
    print(f"{given.count} kernels: {right} right, {sum(refused.values())} refused, {len(wrong)} wrong")
    for text, n in sorted(refused.items()):
        print(f"  {n} {text}")
    for text in wrong[:20]:
        print(text)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
