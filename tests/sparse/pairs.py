"""Every ordered pair of a list of formats, compiled together, compared with the references.

    python -m tests.sparse.pairs RANK [--flags "-fsanitize=address,undefined"] [--policies keep,sum,reject]

Run as a program so that a sanitizer's library can be loaded before Python.
"""
from __future__ import annotations

import argparse
import itertools
import sys
from functools import cache
from typing import Any

import numpy as np

from codegen.sparse.emit.types import VALUES, Types
from codegen.sparse.formats.load import load
from codegen.sparse.synth.layout import layout
from tests.sparse.harness import Batch, Job
from tests.sparse.inputs import cases, with_duplicates
from tests.sparse.reference import Codec, Entry, decode, encode, summed

FORMATS = {
    1: ("COO1", "SCOO1", "MCOO1", "DENSE1"),
    2: ("COO", "SCOO", "MCOO", "CSR", "CSC", "DIA", "ELL", "BCSR", "BCSR:3x2", "CSF2", "HICOO2", "ALTO2", "DENSE"),
    3: ("COO3", "SCOO3", "MCOO3", "CSF", "HICOO", "ALTO", "DENSE3"),
    4: ("COO4", "SCOO4", "MCOO4", "CSF4", "HICOO4", "ALTO4", "DENSE4"),
}
NUMPY = {"f32": "float32", "f64": "float64", "i32": "int32", "i64": "int64"}


def unique(fmt: str) -> bool:
    return layout(load(fmt)).unique


@cache
def inputs(rank: int) -> dict[str, tuple[tuple[int, ...], tuple[Entry, ...]]]:
    found = {name: (shape, tuple(entries)) for name, (shape, entries) in cases(rank).items()}
    shape, entries = with_duplicates(rank)
    return {**found, "duplicates": (shape, tuple(entries))}


@cache
def encoded(fmt: str, rank: int, name: str, types: Types) -> tuple[dict[str, Any], list[Entry]]:
    shape, entries = inputs(rank)[name]
    codec = Codec(shape, NUMPY[types.value], types.index)
    arrays = encode(fmt, codec, list(entries))
    return arrays, decode(fmt, codec, arrays)


def check(batch: Batch, job: Job, rank: int, name: str) -> None:
    """One conversion of one input."""
    source, target, policy, fast = job
    shape, _ = inputs(rank)[name]
    codec = Codec(shape, NUMPY[batch.types.value], batch.types.index)
    arrays, had = encoded(source, rank, name, batch.types)
    status, made = batch.run(job, arrays)
    if policy == "reject" and len(summed(had)) < len(had):
        assert status == 4, f"status {status} instead of DUPLICATE"
        return
    assert status == 0, f"status {status}"
    got = decode(target, codec, made)
    if policy == "sum" or unique(target):
        assert len(summed(got)) == len(got), "an element twice"
        assert {k: v for k, v in summed(got).items() if v} == {k: v for k, v in summed(had).items() if v}
    else:
        assert sorted(got) == sorted(had)
    if batch.threads > 1:
        _, other = batch.run(job, arrays, batch.threads)
        for key in made:
            assert np.array_equal(made[key], other[key]), f"{key} differs on {batch.threads} threads"
    plain = (source, target, policy, False)
    if fast and plain in batch.names:
        _, other = batch.run(plain, arrays)
        for key in made:
            assert np.array_equal(made[key], other[key]), f"{key} differs from the unoptimised chain"


def jobs_for(formats: tuple[str, ...], policies: tuple[str, ...], plain: bool) -> list[Job]:
    chains = (True, False) if plain else (True,)
    out = []
    for a, b, policy, fast in itertools.product(formats, formats, policies, chains):
        if policy != "keep" or not unique(b) or unique(a):
            out.append((a, b, policy, fast))
    return out


def run(jobs: list[Job], rank: int, types: Types, flags: tuple[str, ...], threads: int = 1) -> list[str]:
    """Failures, in words."""
    batch = Batch(jobs, types, flags, threads)
    out = []
    for job, name in itertools.product(jobs, inputs(rank)):
        try:
            check(batch, job, rank, name)
        except AssertionError as error:
            out.append(f"{job} on {name}: {str(error)[:300]}")
    return out


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("rank", type=int)
    parser.add_argument("--flags", default="-O0")
    parser.add_argument("--policies", default="", help="keep, sum, reject; nothing: the default policy")
    parser.add_argument("--formats", default="")
    parser.add_argument("--with", default="", dest="one_of", help="only pairs with one of these formats")
    parser.add_argument("--plain", action="store_true")
    parser.add_argument("--values", default="f64", choices=VALUES)
    parser.add_argument("--indices", default="32")
    parser.add_argument("--threads", type=int, default=1, help="also compare with the result on so many threads")
    given = parser.parse_args()
    formats = tuple(given.formats.split(",")) if given.formats else FORMATS[given.rank]
    jobs = jobs_for(formats, tuple(given.policies.split(",")), given.plain)
    if given.one_of:
        jobs = [job for job in jobs if set(job[:2]) & set(given.one_of.split(","))]
    failures = run(jobs, given.rank, Types(given.values, given.indices), tuple(given.flags.split()),
                   given.threads)
    print(f"{len(jobs)} conversions, {len(failures)} failures")
    for f in failures[:20]:
        print(f)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
