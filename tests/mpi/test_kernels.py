"""Kernels of the corpus on ranks: the same bits as in one process, on every rank."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.corpus import ALL, KERNELS
from tests.mpi.programs import SMALL, compiled, for_ranks, needs_mpi, on_ranks, results

# Stencils, products, factorizations, reductions, dynamic programming: with the sizes to run beside those of the source.
SHARED = {
    "jacobi-2d": (("5", "2"), ("3", "8")),
    "fdtd-2d": (("3", "4", "9"),),
    "gemm": (("5", "3", "7"), ("0", "4", "4")),
    "lu": (("4",),),
    "covariance": (("3", "5"),),
    "matrix-chain": (),
    "gauss-jordan": (("5",),),
    "atax": (("2", "9"),),
}
REPLICATED = ("prefix-sum", "reverse-copy")
# Parts of regions beside each other, with variables that several of them use; all others for `make corpus`.
OTHERS = [p.stem for p in sorted(KERNELS.glob("*.c")) if p.stem not in SHARED] if ALL else ["gramschmidt", "adi"]


@needs_mpi
@pytest.mark.parametrize("name", sorted(SHARED))
def test_every_rank_has_the_bits_of_one_process(name: str, tmp_path: Path) -> None:
    source = (KERNELS / f"{name}.c").read_text()
    made = for_ranks(str(KERNELS / f"{name}.c"), source)
    assert "tw_exchange();" in made
    if name == "gemm":  # several ranks call the kernels that one calls, chosen when it is compiled: tasks, and parts
        assert made.count("tw_f64_add_mul(tw_m, tw_n,") == 4
    one = compiled("cc", source, tmp_path / "one", ("-Wno-unknown-pragmas",))
    many = compiled("mpicc", made, tmp_path / "many", (*SMALL, "-fopenmp", "-Wno-unknown-pragmas"))
    for sizes, counts in (((), (3,)), *((s, (2, 7)) for s in SHARED[name])):
        want = subprocess.run([str(one), *sizes], capture_output=True, text=True, timeout=60).stdout
        for ranks in counts:
            done = on_ranks(many, ranks, sizes, threads=2 if ranks == 2 else 1)
            assert done.returncode == 0, done.stderr
            assert results(done.stdout) == results(want), (ranks, sizes)


@needs_mpi
def test_steps_without_a_message(tmp_path: Path) -> None:
    """Three steps at a time, which take what is beyond a neighbour's block, too. Many threads have too few tiles."""
    source = (KERNELS / "jacobi-2d.c").read_text()
    one = compiled("cc", source, tmp_path / "one", ("-Wno-unknown-pragmas",))
    made = for_ranks(str(KERNELS / "jacobi-2d.c"), source)
    many = compiled("mpicc", made, tmp_path / "many", (*SMALL, "-fopenmp", "-Wno-unknown-pragmas", "-DTW_WIDE_STEPS=3"))
    assert "tw_few_tiles(tw_step_to - tw_step_from" in made
    for sizes, ranks, threads in ((("8", "30"), 2, 1), (("8", "30"), 2, 3), (("5", "9"), 7, 1)):
        want = subprocess.run([str(one), *sizes], capture_output=True, text=True, timeout=60).stdout
        done = on_ranks(many, ranks, sizes, threads)
        assert done.returncode == 0, done.stderr
        assert results(done.stdout) == results(want), (ranks, sizes)


@needs_mpi
@pytest.mark.parametrize("name", OTHERS)
def test_other_kernels(name: str, tmp_path: Path) -> None:
    source = (KERNELS / f"{name}.c").read_text()
    made = for_ranks(str(KERNELS / f"{name}.c"), source)
    if "tw_exchange();" not in made:
        return  # every rank runs it as one process would
    one = compiled("cc", source, tmp_path / "one", ("-Wno-unknown-pragmas",))
    many = compiled("mpicc", made, tmp_path / "many", (*SMALL, "-fopenmp", "-Wno-unknown-pragmas"))
    want = subprocess.run([str(one)], capture_output=True, text=True, timeout=60).stdout
    for ranks in (1, 2, 3, 4, 7) if ALL else (3,):
        done = on_ranks(many, ranks)
        assert done.returncode == 0, done.stderr
        assert results(done.stdout) == results(want), ranks


@pytest.mark.parametrize("name", REPLICATED)
def test_what_cannot_be_shared_out_is_told(name: str) -> None:
    from codegen.options import GenOptions
    from codegen.pipeline import generate

    path = KERNELS / f"{name}.c"
    made = generate(str(path), path.read_text(), GenOptions(target="mpi"))
    assert "tw_exchange" not in made.text and "mpi.h" not in made.text
    assert "replicated" in {d.id for d in made.diagnostics}


def test_targets_do_not_mix(capsys: pytest.CaptureFixture[str]) -> None:
    from codegen.cli.main import main

    assert main(["gen", str(KERNELS / "gemm.c"), "--target", "mpi,cuda"]) == 2
    assert "'mpi,cuda'" in capsys.readouterr().err


def test_products_over_several_loops_are_shared() -> None:
    path = KERNELS / "contract-4d.c"
    assert "tw_exchange();" in for_ranks(str(path), path.read_text())
