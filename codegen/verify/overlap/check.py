"""Builds and proves the run-time overlap test of a region (`overlap_test` returns it, or raises Unsupported): all
memory that is not known to be separate is compared, and all of it. `wrong_overlap` returns what a test leaves out, or
the empty string.

The printed test is read back. Each array that may share memory with one that is written, as far as the rules of C tell,
has to be in it with every element that the region touches; so has every single value and every pointer that a store
might change. What the test looks at ahead of the loops, such as pointers to rows, the source has to look at, too. An
array whose memory cannot be compared is believed to be separate where a remark says so, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Collection
from itertools import combinations

import islpy as isl

from codegen.diagnostics import Unsupported
from codegen.scop.model import Scop
from codegen.target.guards.alias import AliasTest, alias_test
from codegen.verify.overlap.covered import CoveredMemory, Uncovered
from codegen.verify.overlap.entries import read_test
from codegen.verify.overlap.separate import Value, outside, related, separate, separate_value, values, written
from codegen.verify.text.read import Unread


def overlap_test(scop: Scop, trust: bool, strict: bool) -> AliasTest:
    """The test of a region, proven. With `trust`, only arrays that the function sets from one another may overlap; if
    `strict`, none is believed to be separate. Raises Unsupported."""
    made = alias_test(scop, trust, strict)
    problem = wrong_overlap(scop, made, trust, strict)
    if problem:
        raise Unsupported("no-proof", f"the test for overlap could not be proven: {problem}", scop.loc)
    return made


def wrong_overlap(scop: Scop, made: AliasTest, trust: bool, strict: bool = False) -> str:
    """What a printed test leaves out; empty where nothing is."""
    try:
        memory = CoveredMemory(scop, read_test(made.text))
        believed = frozenset() if strict else _believed(made)
        _check_pairs(scop, memory, trust, believed)
        if not trust:
            _check_values(scop, memory, believed)
        memory.check_reads()
    except Unread as problem:
        return str(problem)
    except (KeyError, isl.Error):
        return "the test is of a form that is not read"
    return ""


def _believed(made: AliasTest) -> frozenset[str]:
    """Variables that remarks say are taken not to overlap with others."""
    said = [d.message for d in made.remarks if d.id == "overlap" and d.kind == "analysis"]
    return frozenset(text.split("`")[1] for text in said)


def _check_pairs(scop: Scop, memory: CoveredMemory, trust: bool, believed: Collection[str]) -> None:
    changed = written(scop)
    for one, two in combinations(outside(scop), 2):
        if not {one.name, two.name} & changed or separate(scop, one, two):
            continue
        shown = related(scop, one, two)
        if trust and not shown:
            continue
        try:
            entries = [memory.of_array(x) for x in (one, two)]
        except Uncovered:
            if shown or not {one.base, two.base} & set(believed):
                raise
            continue
        if entries[0] & entries[1]:
            raise Unread(f"`{one.base}` and `{two.base}` are compared as one")


def _check_values(scop: Scop, memory: CoveredMemory, believed: Collection[str]) -> None:
    stored = [scop.arrays[n] for n in sorted(written(scop)) if scop.arrays[n] in outside(scop)]
    for v in dict.fromkeys(values(scop)):
        over = [x for x in stored if x.base not in believed and not separate_value(scop, x, v)]
        for array in over:
            memory.of_array(array)
        if over:
            memory.check_value(v.text, v.used)
    for x in outside(scop):
        if not x.scattered or x.opaque or x.base in believed:
            continue
        over = [w for w in stored if not separate_value(scop, w, Value(f"{x.base}[0]", None, None))]
        if over:
            memory.check_pointers(x)
