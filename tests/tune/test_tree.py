"""Loop trees: text, actions, and the counts and the worked example of the published system."""

import random
from collections.abc import Iterator

import pytest

from codegen.tune.actions import ACTION_SETS, action, allowed, apply, legal, replay
from codegen.tune.contraction import BadContraction, Contraction, elements, matmul, strides
from codegen.tune.contraction import parse as parse_problem
from codegen.tune.contraction import show as show_problem
from codegen.tune.tree import BadTree, Loop, Tree, inner, joined, key, loops, parse, show, start, steps

FIGURE = ("split_4", "swap_down", "swap_down", "down", "split_16", "swap_up", "swap_up")


def test_the_worked_example() -> None:
    tree = start(matmul(112, 128, 192))
    assert show(tree) == "i112* k192 j128 | i112 j128"
    seen = []
    for name in FIGURE:
        made = apply(tree, action(name, "v1"))
        assert made is not None
        tree = made
        seen.append(show(tree))
    assert seen == [
        "i28* i4 k192 j128 | i28 i4 j128",
        "i28 i4* k192 j128 | i28 i4 j128",
        "i28 k192 i4* j128 | i28 i4 j128",
        "i28 k192 i4 j128* | i28 i4 j128",
        "i28 k192 i4 j8* j16 | i28 i4 j128",
        "i28 k192 j8* i4 j16 | i28 i4 j128",
        "i28 j8* k192 i4 j16 | i28 i4 j128",
    ]
    assert loops(tree) == 7
    assert steps(tree.compute) == (4, 16, 1, 1, 1)


def counts(problem: Contraction, depth: int) -> tuple[list[int], int]:
    """Distinct computing nests within 1, 2, ... actions, and distinct trees within `depth`."""
    first = start(problem)
    seen, nests, front, found = {first}, {first.compute}, [first], []
    for _ in range(depth):
        ahead: list[Tree] = []
        for tree in front:
            for act in ACTION_SETS["v1"]:
                made = allowed(tree, act)
                if made is not None and made not in seen:
                    seen.add(made)
                    nests.add(made.compute)
                    ahead.append(made)
        front = ahead
        found.append(len(nests))
    return found, len(seen)


def test_counts_of_the_space() -> None:
    # Ten actions take a quarter of a minute: 30,009 nests with nine; 70,925 with ten, 208,184 trees.
    assert counts(matmul(128, 128, 128), 8)[0][4:] == [560, 1631, 4459, 11881]


def test_what_is_not_possible() -> None:
    tree = start(matmul(64, 64, 64))
    assert legal(tree) == (False, True, False, True, True, True, True)
    last = replay(tree, ("down", "down"))
    # swap_up leaves k innermost, of 64 iterations; a split by 4 would leave half a vector.
    assert legal(last) == (True, False, True, False, False, True, True)
    assert apply(last, action("down")) is None
    assert apply(last, action("swap_down")) is None
    assert apply(tree, action("swap_up")) is None
    assert apply(start(matmul(3, 64, 64)), action("split_4")) is None


def test_the_rules_bind_changes_only() -> None:
    tree = start(matmul(64, 100, 64))
    assert allowed(tree, action("down")) is not None
    assert allowed(tree, action("split_4")) is None
    assert allowed(tree, action("split_4"), lanes=4) is not None


def test_a_split_with_a_rest() -> None:
    tree = replay(start(matmul(64, 100, 64)), ("down", "down", "split_8", "split_4", "split_2"))
    assert show(tree) == "i64 k64 j1+36* j2 j4 j8 | i64 j100"
    assert [inner(tree.compute, n) for n in range(2, 6)] == [64, 32, 8, 1]


def test_a_merge_undoes_a_split() -> None:
    tree = start(matmul(64, 100, 64))
    split = replay(tree, ("split_16", "split_2"))
    assert show(split) == "i2* i2 i16 k64 j100 | i2 i2 i16 j100"
    once = replay(split, ("merge",))
    assert show(once) == "i4* i16 k64 j100 | i4 i16 j100"
    assert replay(once, ("merge",)) == tree
    assert apply(tree, action("merge")) is None


def test_packing_is_a_note_on_a_loop() -> None:
    tree = replay(start(matmul(64, 64, 64)), ("down", "pack_b", "pack_a"))
    assert show(tree) == "i64 k64[AB]* j64 | i64 j64"
    assert apply(replay(tree, ("down",)), action("pack_b")) is None
    assert show(replay(tree, ("pack_b", "swap_down"))) == "i64 j64 k64[A]* | i64 j64"


def test_random_walks_print_and_parse() -> None:
    rng = random.Random(7)
    problem = matmul(100, 96, 36)
    for _ in range(200):
        tree = start(problem)
        for _ in range(12):
            tree = allowed(tree, rng.choice(ACTION_SETS["v2"]), lanes=4) or tree
        assert parse(show(tree), problem) == tree
        assert parse(key(tree).rpartition(" : ")[2], problem).compute == joined(tree.compute)
        assert parse_problem(show_problem(problem)) == problem


def test_keys_leave_the_cursor_and_the_writing_out() -> None:
    problem = matmul(64, 64, 64)
    assert key(start(problem)) == "f32 C[i,j] += A[i,k] * B[k,j] : i=64 k=64 j=64 : i64 k64 j64"
    assert key(replay(start(problem), ("down",))) == key(start(problem))


def test_names_that_end_in_digits() -> None:
    problem = parse_problem("f64 C[i1,j] += A[k,i1] * B[j,k] : i1=64 k=32 j=16")
    assert problem.elem == "f64"
    tree = parse("i1:16 j16 k32 i1:4*", problem)
    assert (tree.cursor, show(tree)) == (3, "i1:16 j16 k32 i1:4* | i1:64 j16")


def test_a_convolution() -> None:
    problem = parse_problem("C[o,r,c] += A[i,r+x,2*c+y] * B[o,i,x,y] : o=8 i=4 r=6 c=5 x=3 y=3")
    assert strides(problem, "A") == {"o": 0, "i": 8 * 11, "r": 11, "c": 2, "x": 11, "y": 1}
    assert elements(problem, "A") == 4 * 8 * 11
    assert show(start(problem)) == "o8* r6 i4 x3 y3 c5 | o8 r6 c5"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("i64 k64", "cover 1 of 64"),
        ("i8 i4 k64 j64", "cover 32 of 64"),
        ("i64 k64 j64 x2", "does not have"),
        ("i64 k64 j63+1", "no shorter than its step"),
        ("i64 k64 j0", "no iterations"),
        ("i64 k64 j", "is no loop"),
        ("i64 k64 j64 | i64", "variables of C"),
    ],
)
def test_bad_trees(text: str, message: str) -> None:
    with pytest.raises(BadTree, match=message):
        parse(text, matmul(64, 64, 64))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("C = A * B", "expected"),
        ("C[i] += A[i,k] * B[k] : i=4", "each must have a size"),
        ("C[i,i] += A[i,k] * B[k] : i=4 k=4", "different variables"),
        ("C[i] += A[i,k-1] * B[k] : i=4 k=4", "no sum"),
        ("C[i] += A[i,k] * B[k] : i=4 k=0", "positive"),
        ("C[i] += A[i,k] * B[k] : i=4 k", "expected sizes"),
    ],
)
def test_bad_contractions(text: str, message: str) -> None:
    with pytest.raises(BadContraction, match=message):
        parse_problem(text)


def visits(nest: tuple[Loop, ...], left: dict[str, int], at: dict[str, int]) -> Iterator[tuple[int, ...]]:
    """The points of a nest, one after the other."""
    if not nest:
        yield tuple(at[v] for v in sorted(at))
        return
    var, step = nest[0].var, inner(nest, 0)
    for first in range(0, left[var], step):
        here = {**left, var: min(step, left[var] - first)}
        yield from visits(nest[1:], here, {**at, var: at[var] + first})


def test_pieces_that_follow_each_other_are_one_loop() -> None:
    """The order of the points stays, whatever the tails."""
    rng, shorter = random.Random(4), 0
    for _ in range(60):
        problem = matmul(*(rng.randrange(4, 15) for _ in range(3)))
        tree = start(problem)
        for _ in range(rng.randrange(4, 14)):
            tree = allowed(tree, rng.choice(ACTION_SETS["v2"]), lanes=1) or tree
        less, zero = joined(tree.compute), dict.fromkeys(problem.names, 0)
        sizes = dict(problem.sizes)
        assert list(visits(less, sizes, zero)) == list(visits(tree.compute, sizes, zero)), show(tree)
        shorter += len(less) < len(tree.compute)
    assert shorter > 20
    wide = matmul(112, 128, 192)
    same = ("i28 i4 k192 j8 j16", "i112 k1 k192 j128", "i112 k192 j4 j2 j16")
    assert {key(parse(x, wide)) for x in same} == {key(start(wide))}
    assert len(joined(parse("i28 j8 k192 i4 j16", wide).compute)) == 5
    assert len(joined(parse("i28 i4[B] k192 j128", wide).compute)) == 4
