"""Every target with every technique, and every two techniques in one file: compiled with all warnings as errors, and
run against the source. A run of all tests has a part of the files (tests/slow.txt), `make test-all` has all."""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path

import pytest

from codegen.options import GenOptions
from codegen.pipeline import generate
from tests.combinations.build import made, original, outputs
from tests.combinations.design import File, designed, files, program, targets, techniques

# Plans that are given up because their text is not proven, by target and technique: each is a loss to be mended.
LOST = {
    ("mpi", "product-in-place"): "ranks do not share it: a remainder of the columns that threads share is not proven",
}


@pytest.mark.parametrize("file", files(), ids=lambda f: f.name)
def test_file(file: File, tmp_path: Path) -> None:
    result = made(file)
    lost = [d.message for d in result.diagnostics if d.id == "fallback" or "could not be proven" in d.message]
    assert len(lost) <= sum((file.target, name) in LOST for name in file.techniques), lost
    want = original(file, tmp_path)
    assert len(want) == 5 * len(file.techniques)
    found = outputs(file, result, tmp_path)
    if not found:
        pytest.skip(f"nothing here runs results of {file.target}")
    for build, said in found.items():
        assert said == want, build


@pytest.mark.parametrize("name", techniques())
def test_a_technique_is_what_it_says(name: str) -> None:
    """Its region is transformed on processors, and its plan has what the table says."""
    found = generate("in.c", program([name]), GenOptions(machine="neoverse-n1"))
    assert [r.transformed for r in found.regions] == [True], found.diagnostics
    assert re.search(techniques()[name].plan, found.plan, re.S), found.plan


def test_every_target_has_every_technique() -> None:
    assert {(f.target, t) for f in files() for t in f.techniques} == {(k, t) for k in targets() for t in techniques()}


def test_every_two_techniques_meet() -> None:
    assert {frozenset(p) for f in files() for p in combinations(f.techniques, 2)} == {
        frozenset(p) for p in combinations(techniques(), 2)
    }


@pytest.mark.parametrize(("names", "kinds", "together"), [(1, 1, 2), (2, 1, 2), (7, 1, 3), (9, 4, 4), (5, 2, 8)])
def test_designs(names: int, kinds: int, together: int) -> None:
    """Few targets, whose files cannot have all pairs: others are added, none of them too large."""
    all_names, all_kinds = [f"t{k}" for k in range(names)], [f"k{k}" for k in range(kinds)]
    rows = dict.fromkeys(all_kinds, together)
    found = designed(all_names, rows)
    assert {(f.target, t) for f in found for t in f.techniques} == {(k, t) for k in all_kinds for t in all_names}
    met = {frozenset(p) for f in found for p in combinations(f.techniques, 2)}
    assert met == {frozenset(p) for p in combinations(all_names, 2)}
    assert all(len(f.techniques) <= together for f in found) and found == designed(all_names, rows)
