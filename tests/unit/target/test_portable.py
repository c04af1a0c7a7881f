"""The default output: one text whose products take the kernels that the compiler's macros choose."""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from codegen.api.generate import generate
from codegen.isa.common import common_name
from codegen.isa.load import load as load_isa
from codegen.machine import variants
from codegen.scop.lanes import Lane
from codegen.target.portable import Portable, TextVariant, merged, together
from codegen.target.product.microkernel import (
    MicroKernel,
    common_kernel,
    micro_kernel,
    numbers,
    row_unit,
    smaller,
    with_numbers,
)
from codegen.verify.text.kernel import wrong_kernel

GEMM = """
void product(int m, int n, int k, const double *restrict a, const double *restrict b, double *restrict c)
{
#pragma scop
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++)
      for (int l = 0; l < k; l++)
        c[i * n + j] += a[i * k + l] * b[l * n + j];
#pragma endscop
}
"""
MAIN = """
#include <stdlib.h>
int main(void)
{
  static double a[150 * 70], b[70 * 150], c[150 * 150], d[150 * 150];
  for (int t = 0; t < 40; t++) {
    const int m = 1 + rand() % 150, n = 1 + rand() % 150, k = 1 + rand() % 70;
    for (int x = 0; x < 150 * 70; x++)
      a[x] = rand() % 100, b[x] = rand() % 100;
    for (int x = 0; x < 150 * 150; x++)
      c[x] = d[x] = x;
    product(m, n, k, a, b, c);
    for (int i = 0; i < m; i++)
      for (int j = 0; j < n; j++)
        for (int l = 0; l < k; l++)
          d[i * n + j] += a[i * k + l] * b[l * n + j];
    for (int x = 0; x < 150 * 150; x++)
      if (c[x] != d[x])
        return 1;
  }
  return 0;
}
"""
FLAGS = {
    "": (),
    "avx2": ("-mavx2", "-mfma"),
    "avx512bw": ("-mavx512f", "-mavx512bw", "-mavx512dq", "-mfma", "-mavx2"),
}


def test_tiles_on_arm_are_those_of_lanes_in_vectors_of_the_compiler() -> None:
    """Of vfmsq with a value in all lanes gcc makes a negation for each row; of its own vectors it makes none."""
    text = generate(GEMM.replace("+=", "-=")).text
    assert "#define TW_F64_SUB_MUL_MR TW_MACHINE(6, 14, 9, 14, 6, 4)" in text
    assert "#define TW_F64_SUB_MUL_NV TW_MACHINE(4, 2, 3, 2, 2, 3)" in text
    assert "#define tw_vec_fms_f64(x, y, z) ((x) - ((y) * (z)))" in text
    assert "arm_neon.h" not in text


def test_a_macro_has_one_value() -> None:
    """Else a text that is proven would change with its neighbour."""
    four, five = (Portable((TextVariant("", (("TW_ROWS", x),), ()),)) for x in "45")
    assert together([four, four])[0].macros == (("TW_ROWS", "4"),)
    with pytest.raises(AssertionError, match="TW_ROWS"):
        together([four, five])


def test_words_become_macros() -> None:
    known = [{"TW_ROWS": "4", "TW_KERNEL": "f"}, {"TW_ROWS": "14", "TW_KERNEL": "g"}]
    text, tables = merged(["f(4, 1);", "g(14, 1);"], known) or ("", ())
    assert text == "TW_KERNEL(TW_ROWS, 1);" and list(tables) == known


@pytest.mark.parametrize("other", ["g(14, 2);", "g(14);", "g(3, 1);"])
def test_texts_that_differ_in_more_stay_apart(other: str) -> None:
    known = [{"TW_ROWS": "4", "TW_KERNEL": "f"}, {"TW_ROWS": "14", "TW_KERNEL": "g"}]
    assert merged(["f(4, 1);", other], known) is None


@pytest.fixture(scope="module")
def text() -> str:
    return str(generate(GEMM).text)


def test_every_machine_has_all_macros(text: str) -> None:
    """A row of numbers for each that the text uses, a column for each machine."""
    names = set(re.findall(r"TW_F64_ADD_MUL_[A-Z]\w*", text))
    rows = dict(re.findall(r"^#define (\w+) TW_MACHINE\((.*)\)$", text, re.M))
    columns = re.findall(r"^#define TW_MACHINE\((.*)\) (\w+)$", text, re.M)
    assert names and names <= set(rows)
    assert {len(x.split(",")) for x in rows.values()} == {6}
    assert [one for _, one in columns] == columns[0][0].split(", ")


def test_kernels_are_what_was_proven(text: str) -> None:
    """With its numbers and operations in place, the one kernel is the kernel of every machine."""
    what = MicroKernel("f64", Lane("add", (Lane("acc"), Lane("mul", (Lane("a"), Lane("b"))))), 0, 14, 2)
    tiles = [("avx512", 512, 14, 2), ("avx2", 256, 6, 2), ("avx2", 256, 11, 1), ("generic", 128, 4, 3)]
    tiles += [("generic", 512, 14, 2)]
    for name, bits, mr, nv in tiles:
        isa, mk = load_isa(common_name(name), bits), replace(what, mr=mr, nv=nv)
        kernel = with_numbers(common_kernel(isa, mk), numbers(isa, mk))
        assert kernel == micro_kernel(isa, mk) and not wrong_kernel(isa, mk, kernel)
        narrow, lows = smaller(mk, row_unit(isa, "f64"))
        assert lows and not any(wrong_kernel(isa, k, kernel) for k in (*narrow, *lows))


def test_a_plan_with_another_tile_is_obeyed_on_every_machine() -> None:
    plan = """region 1
      product S1 rows i columns j depth l
        isa generic bits 128 tile 2 by 3 vectors, block 128 by 384 by 1536, direct 2500 threads 80000"""
    text = str(generate(GEMM, plan=plan).text)
    assert "in register tiles of 2 x 6." in text
    assert "TW_F64_ADD_MUL_" not in text and "__AVX512F__" not in text


LEAST = "#define MIN(a, b) ((a) < (b) ? (a) : (b))" + GEMM.replace(
    "c[i * n + j] += a[i * k + l] * b[l * n + j]", "c[i * n + j] = MIN(c[i * n + j], a[i * k + l] + b[l * n + j])"
)
NARROW = GEMM.replace("const double", "const signed char").replace("double", "int")
ARM = f"#if {variants.ARM}\n"


@pytest.mark.parametrize(
    "source, common, own", [(LEAST, "tw_f64_min_add(", "_spread("), (NARROW, "tw_i32_add_mul(", "_narrow(")]
)
def test_operands_that_one_machine_packs_otherwise_have_two_texts(source: str, common: str, own: str) -> None:
    """Narrow vectors want every value as often as they have lanes, and multiply narrow factors; wide ones do not."""
    text = str(generate(source).text)
    kernels, region = text[: text.index("void product")], text[text.index("void product") :]
    assert region.count(ARM) == 1
    mine, _, others = region.partition(ARM)[2].partition("#else\n")
    others = others.partition("#endif\n")[0]
    assert own in mine and common not in mine and own not in others and common in others
    assert "aarch64" not in re.search(r"#define TW_MACHINE\((.*)\)", kernels)[1]  # type: ignore[index]
    assert kernels.count(f"static void {common}") == 1 and "arm_neon.h" in kernels


def test_a_product_with_a_text_of_its_own_beside_a_common_one() -> None:
    """The table of numbers has all machines again, and each kernel is there where it is called."""
    sums = GEMM.replace("product", "sums").replace("+=", "-=")
    text = str(generate(LEAST + sums).text)
    assert "#define TW_MACHINE(aarch64, sve512, sve256, avx512, avx2, other)" in text
    assert "TW_F64_SUB_MUL_MR TW_MACHINE(6, 14" in text
    assert text.count(ARM) == 5  # caches, operations, the table, kernels, the region


@pytest.mark.parametrize("source", [LEAST, NARROW])
def test_results_of_texts_of_their_own(source: str, tmp_path: Path) -> None:
    main = MAIN
    if source is LEAST:
        step = "d[i * n + j] = sum < d[i * n + j] ? sum : d[i * n + j]; }"
        main = main.replace("d[i * n + j] += a[i * k + l] * b", "{ const double sum = a[i * k + l] + b")
        main = main.replace("b[l * n + j];", f"b[l * n + j]; {step}")
    else:
        chars = "static signed char a[10500], b[10500]; static int"
        main = main.replace("static double a[150 * 70], b[70 * 150],", chars)
    text = str(generate(source).text)
    (tmp_path / "a.c").write_text("#define TW_SIZE(n) ((n) / 16 + 1)\n" + text + main)
    command = ["cc", "-std=c11", "-O2", "-fopenmp", "-Wall", "-Wextra", "-Werror", "-o", "a", "a.c"]
    subprocess.run(command, cwd=tmp_path, check=True)
    assert subprocess.run([tmp_path / "a"], env={"OMP_NUM_THREADS": "3"}).returncode == 0


@pytest.mark.parametrize("feature", FLAGS)
def test_results_are_right_for_every_machine(text: str, feature: str, tmp_path: Path) -> None:
    info = Path("/proc/cpuinfo")
    if feature and (not info.is_file() or feature not in info.read_text().split()):
        pytest.skip(f"no {feature} here")
    (tmp_path / "a.c").write_text("#define TW_SIZE(n) ((n) / 16 + 1)\n" + text + MAIN)
    command = ["cc", "-std=c11", "-O2", "-fopenmp", "-Wall", "-Wextra", "-Werror", *FLAGS[feature], "-o", "a", "a.c"]
    subprocess.run(command, cwd=tmp_path, check=True)
    assert subprocess.run([tmp_path / "a"], env={"OMP_NUM_THREADS": "3"}).returncode == 0
