"""The tensor benchmark's table, the sources it makes from it, and how it judges."""

from __future__ import annotations

import pytest

from benchmarks.tensor import GROUPS, arguments
from benchmarks.tensor_build import SOURCES
from benchmarks.tensor_contractions import contractions, driver_table, parse
from benchmarks.tensor_kernels import Kernels, difference
from benchmarks.tensor_report import Goal, Row, geometric_mean, verdicts
from codegen.options import GenOptions
from codegen.source_file import open_source


def test_every_contraction_is_a_product() -> None:
    rows = contractions()
    assert len(rows) == 46
    assert len({c.name for c in rows}) == 46
    for c in rows:
        for letter in c.letters:
            assert sum(letter in t for t in c.tensors) == 2, c.name
        m, n, k = c.shape()
        assert m * n * k == 2**30, c.name
        sm, sn, sk = c.scaled().shape()
        assert 2**26 <= sm * sn * sk < 2**30, c.name


def test_a_contraction_with_two_extents_for_an_index_is_refused() -> None:
    with pytest.raises(ValueError, match="two extents for b"):
        parse("ab-ac-cb 4x5-4x6-6x7")


def test_nest_of_a_contraction() -> None:
    c = parse("abc-adc-bd 4x5x6-4x7x6-5x7")
    assert c.shape() == (24, 5, 7)
    assert c.case() == "abc-adc-bd:4,5,6,7"
    assert (
        c.nest()
        == """\
void tc_abc_adc_bd(long na, long nb, long nc, long nd, double C[na][nb][nc], double A[na][nd][nc], double B[nb][nd])
{
#pragma scop
    for (long a = 0; a < na; a++)
        for (long b = 0; b < nb; b++)
            for (long c = 0; c < nc; c++)
                for (long d = 0; d < nd; d++)
                    C[a][b][c] += A[a][d][c] * B[b][d];
#pragma endscop
}
"""
    )
    assert '{"abc-adc-bd", call_tc_abc_adc_bd},' in driver_table([c])


@pytest.mark.parametrize(("file", "regions"), [("gemm", 3), ("mv", 2), ("semiring", 6), ("bits", 1), ("integer", 1)])
def test_sources_can_be_read(file: str, regions: int) -> None:
    path = SOURCES / f"{file}.c"
    assert len(open_source(str(path), path.read_text(), GenOptions()).slices) == regions


def test_every_file_of_every_group_exists() -> None:
    groups = [g() for g in GROUPS if g.name != "contraction"]
    for group in groups:
        names = {g.name for g in group.generated}
        assert all(g.source.is_file() for g in group.generated)
        for program in group.programs:
            assert all(path.is_file() for path in program.sources)
            assert names.issuperset(program.objects), program.name


def test_large_sizes_are_those_of_the_kernels() -> None:
    for generated in Kernels.generated:
        if generated.name.startswith("k-"):
            text = generated.source.read_text()
            large = text.partition("large ")[2].partition("\n")[0]
            sizes = tuple(int(word.partition("=")[2]) for word in large.split())
            assert sizes == Kernels.kernels[generated.name[2:]].sizes


def test_checksums_are_compared_with_a_tolerance() -> None:
    assert not difference("C 100.0 aa\n", "C 100.00000001 bb\n", 1e-9)
    assert "checksum of C" in difference("C 100.0 aa\n", "C 101 bb\n", 1e-9)
    assert "checksum of C" in difference("C nan aa\n", "C 101 bb\n", 1e-9)
    assert "other arrays" in difference("", "", 1e-9)


def test_verdicts() -> None:
    rows = [
        Row("g", "s", "a", 1, 2.0, 1.0),
        Row("g", "s", "b", 1, 0.5, 1.0),
        Row("g", "s", "c", 1, 0.0, 0.0, wrong="x"),
    ]
    assert geometric_mean([2.0, 0.5]) == pytest.approx(1.0)
    (v,) = verdicts(rows, Goal(1.0, 0.6, "it"))
    assert v.mean == pytest.approx(1.0)
    assert (v.least, v.least_case, v.met) == (0.5, "b", False)
    (v,) = verdicts(rows, Goal(1.0, 0.5, "it"))
    assert v.met is True
    assert [x.threads for x in verdicts([Row("g", "s", "a", t, 1.0, 1.0) for t in (1, 2)], None)] == [1, 2]


def test_arguments() -> None:
    given = arguments(["--only", "gemm,mv", "--threads", "1,3"])
    assert (given.only, given.threads) == (["gemm", "mv"], (1, 3))
    for bad in (["--only", "nothing"], ["--threads", "0"], ["--threads", "many"]):
        with pytest.raises(SystemExit):
            arguments(bad)
