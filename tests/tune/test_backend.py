"""The order-preserving back end: every tree computes the contraction, on each instruction set that runs here."""

import ctypes
import platform
import random
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from codegen.isa.load import load
from codegen.lower.nest.kernel import Options
from codegen.lower.nest.schedule import CannotEmit, schedule
from codegen.target.nest_text import file_for
from codegen.tune.actions import ACTION_SETS, allowed
from codegen.tune.contraction import Contraction, extents, matmul, strides
from codegen.tune.contraction import parse as parse_problem
from codegen.tune.measure.texts import c_for
from codegen.tune.tree import Tree, parse, show_nest, start

NATIVE = {"aarch64": ("neon", "generic"), "arm64": ("neon", "generic"), "x86_64": ("avx2", "generic")}
HERE = NATIVE.get(platform.machine(), ("generic",))

PROBLEMS = (
    matmul(24, 36, 20),
    matmul(7, 5, 3),
    matmul(16, 16, 16, "f64"),
    matmul(13, 33, 9, "f64"),
    parse_problem("C[i,j] += A[k,i] * B[j,k] : i=17 k=12 j=24"),
    parse_problem("C[j,i] += A[i,k] * B[k,j] : i=12 k=10 j=19"),
    parse_problem("C[i] += A[i,k] * B[k] : i=21 k=35"),
    parse_problem("C[] += A[k] * B[k] : k=67"),
    parse_problem("C[i,j] += A[i,k,l] * B[l,j,k] : i=9 j=16 k=5 l=6"),
    parse_problem("C[o,r,c] += A[i,r+x,2*c+y] * B[o,i,x,y] : o=5 i=3 r=6 c=9 x=3 y=2"),
    parse_problem("C[b,i] += A[b,i,k] * B[b,k] : b=4 i=9 k=11"),
    parse_problem("C[i,j] += A[i] * B[j,k] : i=6 j=7 k=9"),
)


def walks(seed: int, problem: Contraction, count: int) -> list[Tree]:
    """Trees that random actions lead to, any innermost length, and the start."""
    rng, found = random.Random(seed), [start(problem)]
    while len(found) < count:
        tree = start(problem)
        for _ in range(rng.randrange(1, 14)):
            tree = allowed(tree, rng.choice(ACTION_SETS["v2"]), lanes=1) or tree
        found.append(tree)
    return found


def reference(problem: Contraction, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Point by point, exact: the values are small integers."""
    sizes = dict(problem.sizes)
    grid = dict(zip(problem.names, np.indices([sizes[n] for n in problem.names]), strict=True))

    def at(tensor: str) -> np.ndarray:
        moves = strides(problem, tensor)
        return sum((moves[v] * grid[v] for v in problem.names), np.zeros_like(grid[problem.names[0]]))

    found = c.astype(np.float64).ravel()
    np.add.at(found, at("C"), a.ravel()[at("A")].astype(np.float64) * b.ravel()[at("B")])
    return found.reshape(c.shape)


def library(tmp_path: Path, text: str, *more: str) -> ctypes.CDLL:
    source, shared = tmp_path / "trees.c", tmp_path / "trees.so"
    source.write_text(text)
    flags = ("-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", "-Wno-psabi", "-shared", "-fPIC", *more)
    # clang takes a tenth of gcc's time for thousands of intrinsics, but often comes without OpenMP
    compiler = (not more and shutil.which("clang")) or "cc"
    subprocess.run([compiler, *flags, "-o", shared, source], check=True)
    return ctypes.CDLL(str(shared))


@pytest.mark.parametrize("isa", HERE)
def test_random_trees_compute_the_contraction(isa: str, tmp_path: Path) -> None:
    each = 2 if isa == "generic" else 5
    trees = [(t, m % 2 > 0) for n, p in enumerate(PROBLEMS) for m, t in enumerate(walks(n, p, each))]
    texts = [c_for(t, load(isa), f"f{n}", Options(fresh=o)) for n, (t, o) in enumerate(trees)]
    lib = library(tmp_path, file_for(texts, load(isa)))
    rng = np.random.default_rng(3)
    for n, (tree, fresh) in enumerate(trees):
        kind = np.float32 if tree.problem.elem == "f32" else np.float64
        a, b, c = (rng.integers(-8, 9, extents(tree.problem, t)).astype(kind) for t in "ABC")
        want = reference(tree.problem, a, b, np.zeros_like(c) if fresh else c)
        guarded = np.concatenate([np.full(16, 99, kind), c.ravel(), np.full(16, 99, kind)])
        ends = [np.concatenate([x.ravel(), np.full(64, np.nan, kind)]) for x in (a, b)]
        getattr(lib, f"f{n}")(*(ctypes.c_void_p(x.ctypes.data) for x in (*ends, guarded[16:])))
        assert np.array_equal(guarded[16:-16].reshape(c.shape), want), (tree.problem, show_nest(tree.compute), fresh)
        assert (guarded[:16] == 99).all() and (guarded[-16:] == 99).all()


def test_threads_share_the_outermost_loop(tmp_path: Path) -> None:
    """With what is packed before it for all, and inside it for each."""
    problem, isa = matmul(37, 44, 29), load(HERE[0])
    texts = ("i9+1[T] j2+12 k29 i4 j16", "j2+12[T] i9+1[B] k29 i4 j16", "i9+1[BT] j2+12[A] k29 i4 j16")
    functions = [c_for(parse(x, problem), isa, f"f{n}") for n, x in enumerate(texts)]
    assert [f.count("#pragma omp parallel for") for f in functions] == [1, 1, 1]
    assert ["private(" in f for f in functions] == [False, True, True]
    lib = library(tmp_path, file_for(functions, isa), "-fopenmp")
    lib.omp_set_num_threads(3)
    rng = np.random.default_rng(5)
    a, b, c = (rng.integers(-8, 9, extents(problem, t)).astype(np.float32) for t in "ABC")
    for n in range(len(texts)):
        found = c.copy()
        getattr(lib, f"f{n}")(*(ctypes.c_void_p(x.ctypes.data) for x in (a, b, found)))
        assert np.array_equal(found, reference(problem, a, b, c)), texts[n]
    for wrong in ("k29[T] i37 j44", "i9+1 j2+12[T] k29 i4 j16"):
        with pytest.raises(CannotEmit, match="threads"):
            c_for(parse(wrong, problem), isa, "f")


def test_the_order_of_a_sum_is_kept_unless_it_may_change() -> None:
    problem = matmul(16, 16, 64)
    with pytest.raises(CannotEmit, match="another order"):
        c_for(parse("i16 j16 k64", problem), load("neon"), "f", Options(reassociate=False))
    small = parse("i16 j4 k64 j4", problem)
    assert "c0x1" in c_for(small, load("neon"), "f")
    assert "c0x1" not in c_for(small, load("neon"), "f", Options(reassociate=False))


def test_what_is_held_in_registers() -> None:
    made = schedule(parse("i28 j8 k192 i4 j16", matmul(112, 128, 192)), load("neon"))
    assert [f"{v.var}{v.size}" for v in made.levels] == ["i28", "j8", "k192", "i4", "j16"]
    assert (made.hold, made.unroll) == (2, 3)
    # One vector of C: eight sums side by side.
    made = schedule(parse("i112 j32 k400 j4", matmul(112, 128, 400)), load("neon"))
    assert [f"{v.var}{v.size}" for v in made.levels] == ["i112", "j32", "k50", "k8", "j4"]
    assert (made.hold, made.unroll) == (2, 3)
    # 32 vectors of a row of C are more than there are registers: two halves, and only those are held.
    made = schedule(parse("i112 k192 j128", matmul(112, 128, 192)), load("neon"))
    assert [f"{v.var}{v.size}" for v in made.levels] == ["i112", "k192", "j2", "j64"]
    assert (made.hold, made.unroll) == (3, 3)
    # Both operands along vectors: a piece of C and of one of them must have room.
    both = schedule(parse("k8 j1024", parse_problem("C[j] += A[k,j] * B[j] : k=8 j=1024")), load("avx2"))
    assert [f"{v.var}{v.size}" for v in both.levels] == ["k8", "j18", "j56"]
    # 16 registers: a tile of 8 x 16 does not fit, and half of it does.
    made = schedule(parse("i14 j8 k192 i8 j16", matmul(112, 128, 192)), load("avx2"))
    assert [f"{v.var}{v.size}" for v in made.levels] == ["i14", "j8", "k192", "i2", "i4", "j16"]
    assert (made.hold, made.unroll) == (4, 4)


def test_cuts_that_keep_the_order_make_no_difference() -> None:
    for one, other in (("i28 i4 k192 j8 j16", "i112 k192 j128"), ("j8 i28 k12 k16 i4 j16", "j8 i28 k192 i2 i2 j16")):
        made = [schedule(parse(x, matmul(112, 128, 192)), load("neon")) for x in (one, other)]
        assert made[0] == made[1]


def test_too_much_to_pack() -> None:
    with pytest.raises(CannotEmit, match="stack"):
        c_for(parse("i1024[B] k1024 j1024", matmul(1024, 1024, 1024)), load("neon"), "f")


def test_vectors_of_unknown_length() -> None:
    with pytest.raises(CannotEmit, match="no fixed length"):
        c_for(start(matmul(16, 16, 16)), load("sve"), "f")


@pytest.mark.parametrize("isa", ["avx2", "avx512"])
def test_other_instruction_sets_are_data(isa: str) -> None:
    text = c_for(parse("i4 j2 k16 i4 j16", matmul(16, 32, 16)), load(isa), "f")
    assert "_mm" in text and "target(" in text
