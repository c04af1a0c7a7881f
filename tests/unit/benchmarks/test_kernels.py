"""The kernel benchmark's cases, its words for plans, and how it judges."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.kernels import arguments
from benchmarks.kernels_build import Shop, in_a_word
from benchmarks.kernels_cases import HAND, POLYBENCH, case, corpus, of_type, thirty
from benchmarks.kernels_gains import gains, gains_markdown, gains_text
from benchmarks.kernels_measure import Best, unlike
from benchmarks.kernels_owners import INSTEAD, brought
from benchmarks.kernels_report import as_data, asked, in_any_order, table


def test_thirty_computations_with_their_sizes() -> None:
    assert len(set(thirty())) == 30
    assert case("gemm", "large").sizes == (1000, 1100, 1200)
    assert case("gemm", "small").sizes == (60, 70, 80)
    assert case("lu", "medium").sizes == (490,)
    assert all(min(case(name, "large").sizes) > 0 for name in thirty())
    assert "trsm" in corpus() and not set(corpus()) & set(thirty())


def test_every_stencil_is_there_by_hand_with_the_same_function() -> None:
    assert {p.stem for p in HAND.glob("*.c")} == set(POLYBENCH["stencils"])
    for name in POLYBENCH["stencils"]:
        function = f"void kernel_{name.replace('-', '_')}("
        found = case(name, "large")
        assert found.by_hand is not None
        assert function in found.by_hand.read_text() and function in found.source.read_text()


def test_a_plan_in_a_word() -> None:
    sweep = "isa neon bits 128 form rows streams 4 by 2 vectors,\n"
    assert in_a_word("region 1\n  schedule {\n    S1\n  }\n") == "order"
    assert in_a_word("region 1\n") == "original"
    assert in_a_word("region 1\n  parallel i\n  vector j\n") == "parallel+vector"
    assert in_a_word("region 1\n  tile i:3\n  product S1 rows i depth k\n    block 3 by 4\n") == "tile+product"
    assert in_a_word(f"region 1\n  product S1 rows i depth k\n  {sweep}") == "sweep"


def test_element_types() -> None:
    """Kernels that have the type get it as a definition; the others are named."""
    found, others = of_type([case(n, "small") for n in ("gemm", "lu", "gemm-i16")], "i32")
    assert [c.name for c in found] == ["gemm"] and others == ["lu", "gemm-i16"]
    assert found[0].defines == ("-DREAL=int",) and case("gemm", "small").defines == ("-DREAL=double",)
    assert unlike("C 3 00", "C 3 01", found[0]) and not unlike("C 3 00", "C 3 01", case("gemm", "small"))
    assert arguments(["--real", "f32"]).real == "f32" and not arguments([]).real


def test_judgement() -> None:
    lu, jacobi = Best(case("lu", "large"), "product"), Best(case("jacobi-2d", "large"), "tile")
    lu.seconds = {("gcc", 1): 8.0, ("polly", 1): 4.0, ("ours", 1): 1.0, ("ours", 2): 0.5, ("polly", 2): 5.0}
    jacobi.seconds = {("gcc", 1): 1.0, ("ours", 1): 1.25, ("ours", 2): 0.5, ("hand", 2): 1.0}
    product = Best(case("gemm", "large"), "product")
    product.seconds = {("ours", 1): 1.0}
    told = {a.what: a for a in asked([lu, jacobi], (1, 2), product)}
    assert told["2 of PolyBench, 1 thread: none below 0.97 of gcc"].found.endswith(": jacobi-2d 0.80")
    assert told["2 of PolyBench, 1 thread: geometric mean / gcc (asked 4)"].found == "2.53"
    assert told["2 of PolyBench, 2 threads: geometric mean / the better of gcc and Polly (asked 1.5)"].met
    assert told["stencils, 2 threads: each >= 1.5 of OpenMP by hand"].met
    assert told["lu, 1 thread: >= 0.5 of the matrix product of order 2000"].met
    assert "jacobi-2d" in table([lu, jacobi], (1, 2))


def test_element_types_and_free_order() -> None:
    """PolyBench's nussinov is of int; where the order of sums matters, ours is shown in any order, too."""
    assert case("nussinov", "large").defines == case("floyd-warshall", "large").defines == ("-DREAL=int",)
    assert case("lu", "large").defines == ("-DREAL=double",) and case("matrix-chain", "large").defines == ()
    best = Best(case("durbin", "large"), "sweep")
    best.seconds = {("gcc", 1): 8.0, ("polly", 1): 4.0, ("ours", 1): 3.0, ("free", 1): 2.0}
    told = in_any_order([best, Best(case("lu", "large"), "product")], (1,))
    assert told.splitlines()[-1].split() == ["durbin", "|", "2.00", "1.50", "4.00", "2.00"]
    assert in_any_order([], (1,)) == ""


def test_any_order_beside_peers_where_polly_is_ahead(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine, shop, built = case("durbin", "large"), Shop(tmp_path, peers=True), list[str]()
    best = Best(mine, "sweep")
    best.seconds = {("gcc", 1): 8.0, ("polly", 1): 2.0, ("ours", 1): 3.0, ("ours", 2): 1.0}
    assert best.behind((1, 2)) and not best.behind((2,))
    best.wrong = {("polly", 1): "other results"}
    assert not best.behind((1,))
    assert "free" not in shop.sides(mine, False)
    monkeypatch.setattr(shop, "_try", lambda case, side: built.append(side))
    shop.add_free(mine)
    assert built == ["free"] and "free" in shop.sides(mine, False)
    assert "free" not in shop.sides(case("lu", "large"), True)


def test_what_ownership_brings() -> None:
    """Everything that is switched off for the comparison is there, and the difference is told in words."""
    for module, name, _ in INSTEAD:
        assert hasattr(module, name), (module, name)
    plan, before = "region 1\n  scalar_replace S1.i\n  parallel S2.j\n  parallel S3.j\n", "region 1\n  parallel S2.j\n"
    assert brought(plan, before, "x.c:1:1: remark: each iteration of i has its own `t`, 64 bytes [privatized]") == (
        "scalar_replace S1.i; own t; +1 parallel loop"
    )
    best = Best(case("lu", "large"), "product", brought="keep 8 times")
    best.seconds = {("ours", 1): 1.0, ("before", 1): 3.0, ("ours", 2): 1.0, ("before", 2): 0.9, ("gcc", 1): 9.0}
    best.runs = dict.fromkeys(best.seconds, 1)
    (found,) = gains(as_data([best], ()))
    assert (found.kernel, found.ratio(1), found.ratio(4)) == ("lu", 3.0, None)
    text = gains_text([found], "ownership")
    assert "2 threads: 0 of 1 kernels gain, 1 lose" in text and "keep 8 times" in text
    assert "| lu | keep 8 times | 3.0000 | 1.0000 | 3.00 | 0.9000 | 1.0000 | 0.90 |" in gains_markdown([found])


def test_arguments() -> None:
    assert arguments(["--only", "lu,adi", "--threads", "1"]).only == ["lu", "adi"]
    assert len(arguments(["--set", "polybench"]).only) == 30
    assert len(arguments([]).only) == 30 + len(corpus())
    for bad in (["--only", "nothing"], ["--threads", "0"], ["--size", "huge"]):
        with pytest.raises(SystemExit):
            arguments(bad)
