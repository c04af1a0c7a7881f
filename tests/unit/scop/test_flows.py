"""Next writers of what is read and written: compared with the definition, in orders where one analysis gives both kinds
of dependences and where it cannot."""

from __future__ import annotations

import islpy as isl
import pytest

from codegen.scop.flows import false_dependences, last_writers

TIMES = "[n] -> { S[i] -> [i, 0, 0]; T[i, j] -> [i, 1, j]; U[i] -> [i, 2, 0] }"
CASES = {
    "readers write nothing": (
        "[n] -> { T[i, j] -> x[] : 0 <= i < n and 0 <= j < 4; U[i] -> x[] : 0 <= i < n }",
        "[n] -> { S[i] -> x[] : 0 <= i < n }",
    ),
    "one adds to what it reads": (
        "[n] -> { T[i, j] -> x[] : 0 <= i < n and 0 <= j < 4; U[i] -> x[] : 0 <= i < n }",
        "[n] -> { S[i] -> x[] : 0 <= i < n; T[i, j] -> x[] : 0 <= i < n and 0 <= j < 4 }",
    ),
    "one reads what it does not write": (
        "[n] -> { T[i, j] -> x[j - 1] : 0 <= i < n and 0 < j < 4; U[i] -> x[3] : 0 <= i < n }",
        "[n] -> { S[i] -> x[0] : 0 <= i < n; T[i, j] -> x[j] : 0 <= i < n and 0 < j < 4 }",
    ),
    "nobody reads": ("[n] -> { }", "[n] -> { S[i] -> x[] : 0 <= i < n; U[i] -> x[] : 0 <= i < n }"),
}


@pytest.mark.parametrize("case", CASES)
def test_next_writers_are_those_of_the_definition(case: str) -> None:
    reads, writes = map(isl.UnionMap, CASES[case])
    times = isl.UnionMap(TIMES)
    output, anti = false_dependences(reads, writes, times, last_writers(reads, writes, times)[0])
    both = _next(writes, writes, times).union(_next(reads, writes, times))
    assert output.union(anti).is_equal(both)
    assert output.is_subset(_next(writes, writes, times).union(_next(reads.intersect(writes), writes, times)))
    assert anti.is_subset(_next(reads, writes, times))


def _next(accesses: isl.UnionMap, writes: isl.UnionMap, times: isl.UnionMap) -> isl.UnionMap:
    """From each access to the first write of its element behind it."""
    access, element = accesses.domain_map(), accesses.range_map()
    before = access.apply_range(times).lex_lt_union_map(times)
    later = element.apply_range(writes.reverse()).intersect(before)
    first = later.apply_range(times).lexmin().apply_range(times.reverse())
    return first.intersect(later).apply_domain(access)
