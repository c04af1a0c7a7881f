"""The 200 numbers and the graph, by hand for one tree."""

from codegen.tune.actions import replay
from codegen.tune.contraction import matmul
from codegen.tune.graph import GraphEdge, graph
from codegen.tune.observe import FEATURES, SIZE, features, histogram, observe
from codegen.tune.tree import parse, start

TREE = parse("i28 j8* k192 i4 j16 | i28 i4 j128", matmul(112, 128, 192))


def bins(**shares: float) -> list[float]:
    return [shares.get(f"b{n}", 0.0) for n in range(16)]


def test_one_tree_by_hand() -> None:
    rows = features(TREE)
    # i28 moves A by 4 rows of 192 (768: bin 10) and, since it also writes back, the sum by 4 rows of 128 (512: bin 9).
    assert rows[0] == [0, 28, 0, 1, *bins(b10=0.5, b9=0.5)]
    assert rows[1] == [1, 8, 0, 1, *bins(b4=1.0)]  # 16 columns of B
    assert rows[2] == [0, 192, 0, 1, *bins(b0=0.5, b7=0.5)]  # one element of A, one row of B
    assert rows[3] == [0, 4, 0, 1, *bins(b8=1.0)]  # a row of A, 192 rounded up to 256
    assert rows[4] == [0, 16, 0, 1, *bins(b0=1.0)]
    assert rows[5] == [0, 4, 0, 0, *bins(b7=1.0)]
    assert rows[6] == [0, 128, 0, 0, *bins(b0=1.0)]
    assert len(rows) == 7


def test_the_vector() -> None:
    seen = observe(TREE)
    assert seen.shape == (SIZE,) == (200,)
    assert list(seen[FEATURES : FEATURES + 3]) == [1.0, 8.0, 0.0]
    assert not seen[7 * FEATURES :].any()


def test_tails_and_the_cursor_are_seen() -> None:
    tree = replay(start(matmul(100, 128, 192)), ("split_16", "down"))
    seen = observe(tree).reshape(10, FEATURES)
    assert list(seen[0, :4]) == [0.0, 6.0, 4.0, 1.0]
    assert list(seen[1, :4]) == [1.0, 16.0, 0.0, 1.0]


def test_bins() -> None:
    assert histogram([(1, 3), (2, 1)])[:2] == [0.75, 0.25]
    assert histogram([(3, 1)])[2] == 1.0
    assert histogram([(1 << 15, 1)])[15] == 1.0
    assert histogram([(0, 5), ((1 << 15) + 1, 5)]) == [0.0] * 16


def test_the_graph() -> None:
    made = graph(TREE)
    assert [n.label for n in made.nodes if n.kind == "loop"] == ["i28", "j8", "k192", "i4", "j16", "i4", "j128"]
    assert {e.stride for e in made.edges if (e.kind, e.target) == ("stride", "A")} == {768, 1, 192}
    assert GraphEdge("L1", "B", "stride", 16) in made.edges
    assert GraphEdge("L0", "T1", "stride", 512) in made.edges
    assert GraphEdge("L0", "L5", "nesting") in made.edges
    assert GraphEdge("L6", "write", "nesting") in made.edges
    assert GraphEdge("T1", "write", "flow") in made.edges
    assert len({(e.source, e.target, e.kind) for e in made.edges}) == len(made.edges)
