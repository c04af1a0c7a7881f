"""Names that generated code makes up are none that the preprocessor replaces: macros of the file, of its headers and of
the command line."""
from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from codegen.api.generate import generate
from codegen.diagnostics import InputError
from tests.corpus import KERNELS

PRODUCT = """
void product(int n, int m, double A[n][m], double B[m][n], double C[n][n]) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < m; k++)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
"""
PATHS = """
void paths(int n, float d[n][n]) {
#pragma scop
  for (int k = 0; k < n; k++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        d[i][j] = d[i][j] < d[i][k] + d[k][j] ? d[i][j] : d[i][k] + d[k][j];
#pragma endscop
}
"""
FILL = """
void fill(int n, float d[n][n]) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      d[i][j] = 1 + (i * 31 + j * 17) % 101;
#pragma endscop
}
"""
PRODUCT_MAIN = """
#include <stdio.h>
int main(void) {
  static double A[37][41], B[41][37], C[37][37];
  for (int i = 0; i < 37 * 41; i++)
    A[0][i] = i % 7, B[0][i] = i % 5;
  product(37, 41, A, B, C);
  double sum = 0;
  for (int i = 0; i < 37 * 37; i++)
    sum = 0.5 * sum + C[0][i];
  printf("%.17g\\n", sum);
  return 0;
}
"""
PATHS_MAIN = """
#include <stdio.h>
int main(void) {
  static float d[90][90];
  fill(90, d);
  paths(90, d);
  double sum = 0;
  for (int i = 0; i < 90 * 90; i++)
    sum = 0.5 * sum + d[0][i];
  printf("%.17g\\n", sum);
  return 0;
}
"""
HEADER = "#define kb 3\n#define jb(x) (x)\n"
ABOVE = '#include "names.h"\n#define ib 7\n#define jt(x) 8\n'
BETWEEN = "#define d_ik1 5\n#define d_kj3(x) x\n#define c0 6\n"
NAMES = {"kb", "jb", "ib", "jt", "d_ik1", "d_kj3", "c0"}
WORD = re.compile(r"[A-Za-z_]\w*")


def _run(folder: Path, name: str, text: str, *options: str) -> str:
    (folder / f"{name}.c").write_text(text)
    subprocess.run(["gcc", "-O0", *options, f"{name}.c", "-o", name], check=True, cwd=folder)
    return subprocess.run([str(folder / name)], check=True, capture_output=True, text=True).stdout


def _code(text: str) -> set[str]:
    return set(WORD.findall(re.sub(r"^#(?:define|undef)[^\n]*|/\*.*?\*/", "", text, flags=re.M | re.S)))


def test_no_name_of_a_macro_is_made_up(tmp_path: Path) -> None:
    (tmp_path / "names.h").write_text(HEADER)
    source = ABOVE + FILL + BETWEEN + PATHS + PATHS_MAIN
    made = generate(source, include=[tmp_path]).text
    words = _code(made)
    assert NAMES.isdisjoint(words)
    assert {"d_ik_1", "d_kj_3"} <= words  # in their place: they would have been used
    assert _run(tmp_path, "new", made) == _run(tmp_path, "old", source)


def test_options_make_macros(tmp_path: Path) -> None:
    """Of names in the region, and of helpers, which stand above the file's own definitions. Files that helpers include
    and words of directives are no such names."""
    (tmp_path / "first.h").write_text("#define begin 3\n#define jt 8\n")
    options = ["-Dkb=7", "-Dp=4", "-Dh=2", "-Domp=1", "-include", str(tmp_path / "first.h")]
    made = generate(PRODUCT, cpp_args=options).text
    assert {"kb", "jt", "p", "begin"}.isdisjoint(_code(made))
    assert "#include <omp.h>" in made and "#pragma omp parallel" in made
    new, old = (_run(tmp_path, name, text + PRODUCT_MAIN, *options) for name, text in (("new", made), ("old", PRODUCT)))
    assert new == old


def test_a_helper_that_is_a_macro_of_the_options_is_refused() -> None:
    with pytest.raises(InputError, match="tw_apart"):
        generate(PRODUCT, cpp_args=["-Dtw_apart=1"])


@pytest.mark.parametrize("where", ["file", "header", "options"])
def test_a_variable_of_a_region_that_is_a_macro_is_refused(where: str, tmp_path: Path) -> None:
    """Also where only regions have it: helpers above the file have no such name."""
    assert "tw_kc" in _code(generate(PRODUCT).text)
    (tmp_path / "names.h").write_text("#define tw_kc 5\n")
    above = {"file": "#define tw_kc 5\n", "header": '#include "names.h"\n', "options": ""}[where]
    options = ["-Dtw_kc=5"] if where == "options" else []
    with pytest.raises(InputError, match="tw_kc") as raised:
        generate(above + PRODUCT, include=[tmp_path], cpp_args=options)
    assert raised.value.id == "name-taken" and (where == "options" or raised.value.loc.line == 1)
    made = generate(above + PRODUCT, include=[tmp_path], cpp_args=options, prefix="own").text
    new = _run(tmp_path, "new", made + PRODUCT_MAIN, *options, f"-I{tmp_path}")
    assert new == _run(tmp_path, "old", PRODUCT + PRODUCT_MAIN)


def test_macros_of_headers_and_a_prefix(tmp_path: Path) -> None:
    (tmp_path / "names.h").write_text("#define own_kc 5\n")
    with pytest.raises(InputError, match="own_kc"):
        generate('#include "names.h"\n' + PRODUCT, include=[tmp_path], prefix="own")


def test_a_region_may_use_macros_that_look_like_helpers(tmp_path: Path) -> None:
    source = "#define tw_half(x) ((x) / 2)\n#define tw_i i\n" + FILL.replace("d[i][j] =", "d[tw_i][j] = tw_half(7) +")
    made = generate(source + PATHS + PATHS_MAIN).text
    assert "tilewright: region" in made
    assert _run(tmp_path, "new", made) == _run(tmp_path, "old", source + PATHS + PATHS_MAIN)


@pytest.mark.parametrize("target", ["cuda", "hip"])
def test_files_for_devices_are_compiled_with_the_same_options(target: str) -> None:
    """Their text has names of its own: parameters of templates, enumerators, variables."""
    plain, made = (
        dict(generate(PRODUCT, target=target, cpp_args=options).files)
        for options in ([], ["-DN=5", "-DT=float", "-DROWS=3", "-Dto=1", "-Dk=2"])
    )
    (file,) = (name for name in made if name.endswith((".cu", ".hip")))
    assert {"N", "T", "to"} <= _code(plain[file])  # they would have been used
    assert {"N", "T", "ROWS", "to"}.isdisjoint(_code(made[file]))


def test_a_member_of_launch_arguments_that_is_a_macro_is_refused() -> None:
    """The master file fills them in below the macros of the source."""
    source = (KERNELS / "jacobi-2d.c").read_text()
    name = re.search(r"\.(\w+_other) = ", generate(source, target="sunway", include=[KERNELS]).text)
    assert name is not None
    with pytest.raises(InputError, match=name[1]):
        generate(f"#define {name[1]} 3\n{source}", target="sunway", include=[KERNELS])
