"""Work arrays whose size only the run knows, or too big for a stack: each thread has its own, all in one block."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from codegen.diagnostics import InputError
from codegen.options import GenOptions
from codegen.pipeline import generate
from tests.threads import run, sanitizer, witnessed

HEAD = "#include <stdio.h>\nstatic double A[40][60], B[40][60];\n"
TAIL = """int main(void)
{
  for (int i = 0; i < 40; i++)
    for (int j = 0; j < 60; j++)
      A[i][j] = (i * 7 + j * 13) % 11;
  double sum = 0;
  CALLS
  printf("%.17g\\n", sum);
  return 0;
}
"""
CALL = """
  f0(40, 60);
  for (int i = 0; i < 40; i++)
    for (int j = 0; j < 60; j++)
      sum = sum * 0.99 + B[i][j];
"""
FILL = "for (int j = 0; j < m; j++) t[j] = A[i][j] + i;"
USE = "for (int j = 1; j < m; j++) B[i][j] = t[j] * t[m - 1 - j] + t[j - 1];"
ROWS = f"for (int i = 0; i < n; i++) {{ {FILL} {USE} }}"
# The lines up to the region, those in it, and the sizes that are asked for.
CASES = {
    "declared before": ("double t[m];", ROWS, "m"),
    "declared in the region": ("", f"for (int i = 0; i < n; i++) {{ double t[m]; {FILL} {USE} }}", "m"),
    "of another size by now": ("int k = 2 * m; double t[k]; k = 1;", ROWS, "m"),
    "too big for a stack": ("double t[9000];", ROWS, "m"),
    "of two dimensions": (
        "double t[3][m + 1];",
        "for (int i = 1; i < n - 1; i++) {"
        " for (int k = 0; k < 3; k++) for (int j = 0; j < m; j++) t[k][j + 1] = A[i + k - 1][j] * (k + 1);"
        " for (int j = 0; j < m; j++) B[i][j] = t[0][j + 1] + t[1][m - j] + t[2][j + 1]; }",
        "3 x (m + 1)",
    ),
    "two of them": (
        "double t[m]; float u[m];",
        f"for (int i = 0; i < n; i++) {{ {FILL} for (int j = 0; j < m; j++) u[j] = t[m - 1 - j];"
        " for (int j = 0; j < m; j++) B[i][j] = u[j] - t[j]; }",
        "m",
    ),
}


def function(k: int, before: str, body: str) -> str:
    return f"static void f{k}(int n, int m)\n{{\n  {before}\n#pragma scop\n  {body}\n#pragma endscop\n}}\n"


def program(*names: str) -> str:
    """A program that calls functions with these regions."""
    parts = [function(k, *CASES[n][:2]) for k, n in enumerate(names)]
    calls = "".join(CALL.replace("f0", f"f{k}") for k in range(len(names)))
    return HEAD + "".join(parts) + TAIL.replace("CALLS", calls)


def output(text: str, folder: Path, *flags: str) -> str:
    (folder / "x.c").write_text(text)
    flags = ("-O1", "-w", "-fopenmp", "-ffp-contract=off", "-DTW_PARALLEL_MIN=0", *flags)
    subprocess.run(["gcc", *flags, "-o", folder / "x", folder / "x.c", "-lm"], check=True, timeout=60)
    env = {**os.environ, "ASAN_OPTIONS": "detect_leaks=1", "OMP_NUM_THREADS": "3", "OMP_WAIT_POLICY": "passive"}
    done = subprocess.run([folder / "x"], check=True, capture_output=True, text=True, timeout=60, env=env)
    return done.stdout


def test_each_thread_has_its_own(tmp_path: Path) -> None:
    source = program(*CASES)
    made = generate("own.c", source, GenOptions())
    assert not [d.message for d in made.diagnostics if d.id in ("fallback", "unproven")]
    parts = re.split(r"^static void f\d", made.text, flags=re.M)[1:]
    for part, (_, _, sizes) in zip(parts, CASES.values(), strict=True):
        assert f"one `t` for each thread: {sizes}" in " ".join(part.split())
        assert "#pragma omp parallel for" in part and "tw_thread() * tw_bytes_t" in part
    want = output(source, tmp_path)
    assert output(made.text, tmp_path, "-fsanitize=address,undefined") == want
    none = re.sub(r"(?s)char \*const raw =.*?;", "char *const raw = 0;", made.text)
    assert none != made.text and output(none, tmp_path) == want


def test_few_elements_are_on_the_stack() -> None:
    """Of the work array, that is, as it is used; whatever was declared."""
    body = (
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) { t[0] = A[i][j] * 2; t[1] = t[0] + i;"
        " B[i][j] = t[0] * t[1]; }"
    )
    text = generate("own.c", HEAD + function(0, "double t[m];", body), GenOptions()).text
    assert "double t[2];" in text and "tw_own_t" not in text


def test_the_remark_tells_the_cost() -> None:
    made = generate("own.c", program("declared before"), GenOptions())
    (note,) = (d.message for d in made.diagnostics if d.id == "privatized")
    assert note == (
        "each iteration of i has its own `t`, m elements of 8 bytes for each thread; where they cannot be had the "
        "region runs as written"
    )


@pytest.mark.parametrize("name", ["declared before", "of two dimensions"])
def test_threads_do_not_meet(name: str) -> None:
    text = generate("own.c", program(name), GenOptions()).text
    found = run(sanitizer(), witnessed(text))
    assert found is not None and found.races == "" and max(found.threads) > 1
    broken = run(sanitizer(), text.replace("tw_thread() * tw_bytes_t", "0"))
    assert broken is not None and broken.races


def test_inside_a_parallel_region_of_the_caller(tmp_path: Path) -> None:
    """Threads are numbered in each team: the number of the caller's thread says nothing here."""
    calls = """#include <omp.h>
    omp_set_max_active_levels(2);
    #pragma omp parallel num_threads(4)
    { if (omp_get_thread_num() == 3) { omp_set_num_threads(2); f0(40, 60); } }
    """
    text = generate("own.c", program("declared before"), GenOptions()).text
    want = output(program("declared before"), tmp_path)
    nested = text.replace("  f0(40, 60);", re.sub("^ +#", "#", calls, flags=re.M))
    assert output(nested, tmp_path, "-fsanitize=address") == want


def test_one_team_has_numbers() -> None:
    """Threads inside of threads are counted from 0 in every team, and would meet."""
    inner = "double t[m]; for (int k = 0; k < m; k++) t[k] = A[i][k] + j; B[i][j] = t[0] * t[m - 1 - j];"
    text = HEAD + function(0, "", f"for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) {{ {inner} }}")
    plan = "region 1\n  parallel S1.i\n  parallel S1.j\n"
    with pytest.raises(InputError, match="`t` would be shared by iterations of `i`"):
        generate("own.c", text, GenOptions(plan_text=plan))
    assert "tw_own_t" in generate("own.c", text, GenOptions(plan_text=plan.replace("  parallel S1.j\n", ""))).text


def test_nothing_is_asked_for_where_no_loop_gains() -> None:
    use = "for (int j = 0; j < m; j++) B[i][j] = B[i - 1][m - 1 - j] + t[j];"
    body = f"for (int i = 1; i < n; i++) {{ {FILL} {use} }}"
    made = generate("own.c", HEAD + function(0, "double t[m];", body), GenOptions())
    assert "tw_own_t" not in made.text
