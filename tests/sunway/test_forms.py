"""Forms of a region with tiles for few and many iterations: all compute the same, and the one that is chosen pays."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from codegen.ast.ctree import Name
from codegen.options import GenOptions
from codegen.pipeline import generate
from codegen.region_model import model_region
from codegen.source_file import open_source
from codegen.sunway.emulation.host import compile_program, run_program
from codegen.sunway.emulation.predict import model_program, predict
from codegen.sunway.forms import TRIED, _condition, _interval
from tests.sunway.programs import KERNELS

SCAN = """#include <stdio.h>
#include <stdlib.h>
void scan(int n, int m, double a[n][m], double x[n][m]) {
#pragma scop
  for (int i = 1; i < n; i++)
    for (int j = 0; j < m; j++)
      a[i][j] = a[i - 1][j] * 0.5 + x[i][j];
#pragma endscop
}
int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 3, m = argc > 2 ? atoi(argv[2]) : 5;
  double (*a)[m] = malloc(sizeof(double[n][m])), (*x)[m] = malloc(sizeof(double[n][m]));
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      a[i][j] = i % 7 + j % 3;
      x[i][j] = (i + 2 * j) % 11;
    }
  scan(n, m, a, x);
  double sum = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      sum += a[i][j] * (i % 5 + 1) * (j % 13 + 1);
  printf("%.17g\\n", sum);
  return 0;
}
"""
LAUNCH = re.compile(r"athread_spawn\((\w+), ")


def options(**more: object) -> GenOptions:
    return GenOptions(target="sunway", stem="f", **{"scheme": "launch", **more})  # type: ignore[arg-type]


def test_every_form_computes_the_same(tmp_path: Path, library: Path) -> None:
    """Each size is one of another form; one row more than a tile has, and columns that leave a rest."""
    made = generate("f.c", SCAN, options())
    assert LAUNCH.findall(made.text) == ["scan_r1_many", "scan_r1_some", "scan_r1_few", "scan_r1"]
    source, master, slave = tmp_path / "f.c", tmp_path / "f_master.c", tmp_path / "f_slave.c"
    source.write_text(SCAN)
    master.write_text(made.text)
    slave.write_text(made.extra.file("_slave.c"))
    (tmp_path / "f_args.h").write_text(made.extra.file("_args.h"))
    assert compile_program([source], tmp_path / "plain", library, ["-Wno-unknown-pragmas", "-DTW_NO_FMA"]) == ""
    assert compile_program([master, slave], tmp_path / "cores", library, ["-Wno-unknown-pragmas", "-DTW_NO_FMA"]) == ""
    for n, m in ((130, 61), (66, 251), (34, 1003), (10, 4099)):
        want, got = (run_program(tmp_path / name, [str(n), str(m)]) for name in ("plain", "cores"))
        assert got.code == 0, got.err
        assert got.out == want.out != ""


@pytest.mark.parametrize(
    ("name", "threads", "faster", "others"),
    [
        ("scan", "8,8", {"n": 300, "m": 60}, ({"n": 100, "m": 300}, {"n": 100, "m": 5000}, {"n": 100, "m": 1000})),
        ("gemm", "4,8", {"ni": 60, "nj": 60, "nk": 60}, ({"ni": 100, "nj": 100, "nk": 400},)),
        ("jacobi-2d", "8,8", {"tsteps": 20, "n": 60}, ({"tsteps": 20, "n": 300},)),
    ],
)
def test_what_is_chosen_pays(
    tmp_path: Path, library: Path, name: str, threads: str, faster: dict[str, int], others: tuple[dict[str, int], ...]
) -> None:
    """By the model that runs every loop, which is not the one that chooses."""
    path = tmp_path / "scan.c" if name == "scan" else KERNELS / f"{name}.c"
    if name == "scan":
        path.write_text(SCAN)
    one, all_ = (
        model_program(str(path), GenOptions(scheme=scheme, threads=threads), tmp_path, library, scheme)
        for scheme in ("no-forms", "full")
    )
    assert predict(one, faster).seconds > 1.25 * predict(all_, faster).seconds
    for sizes in others:
        assert predict(one, sizes).seconds >= 0.99 * predict(all_, sizes).seconds


def test_one_form_where_others_gain_nothing() -> None:
    """Panels that the mesh shares have sides that are chosen when it runs; a plan has one form."""
    gemm = KERNELS / "gemm.c"
    text = gemm.read_text(encoding="utf-8")
    assert LAUNCH.findall(generate(str(gemm), text, options()).text) == ["kernel_gemm_r1"]
    made = generate("f.c", SCAN, options())
    planned = generate("f.c", SCAN, options(plan_text=made.regions[0].plan))
    assert LAUNCH.findall(planned.text) == ["scan_r1"]
    assert LAUNCH.findall(generate("f.c", SCAN, options(scheme="no-forms")).text) == ["scan_r1"]


def test_conditions_are_never_empty() -> None:
    """Also of a form that is faster at all sizes that were tried."""
    model = model_region(open_source("f.c", SCAN, options()).slices[0], options())
    assert model is not None
    scop, last = model.program.scop, len(TRIED) - 1
    assert _condition(scop, (Name("m"),), 0, last) == f"m <= {TRIED[-1]}"
    assert _condition(scop, (Name("m"),), 2, last) == f"m >= {TRIED[2]}"
    assert _condition(scop, (Name("n"), Name("m")), 0, 2) == f"(double)(n) * (m) <= {TRIED[2] ** 2}"


def test_between_which_sizes_a_form_is_used() -> None:
    """Around the best of them, as far as it is sure to pay; to the end where nothing is lost."""
    last = len(TRIED) - 1
    assert _interval([0.5, 1.2, 2.0, 1.2, 1.05, *[0.9] * (last - 4)]) == (1, 3)
    assert _interval([1.0, 1.2, 2.0, 1.05, *[0.9] * (last - 3)]) == (0, 2)
    assert _interval([*[0.8] * (last - 1), 1.5, 1.0]) == (last - 1, last)


def test_a_plan_whose_text_cannot_be_proven_makes_room_for_another() -> None:
    """Parts of a tile with loops of their own leave a box that may be empty; with shared loops there is none."""
    path = KERNELS / "nbody-forces.c"
    made = generate(str(path), path.read_text(encoding="utf-8"), options(scheme="no-forms"))
    assert made.regions[0].transformed
