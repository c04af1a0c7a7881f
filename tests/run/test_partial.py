"""Regions that are understood in part: the nests that are come out transformed, every other byte as it was."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from codegen.diagnostics import InputError
from codegen.options import GenOptions
from codegen.pipeline import Generated, generate
from tests.run.sources import run

HEAD = """#include <stdio.h>
#define N 40
#define EACH(i) for (int i = 0; i < N; i++)
#define SQUARE(x) ((x) * (x))
double a[N][N], b[N][N], c[N];
double sum(double *p) { double s = 0; fflush(stdout); EACH(k) s += p[k]; return s; }
void f(int n, int steps)
{
  int i, j;
#pragma scop
"""
TAIL = """#pragma endscop
}
int main(void)
{
  EACH(i) EACH(j) a[i][j] = i - 2 * j;
  f(N, 3);
  double s = 0;
  EACH(i) EACH(j) s += (i + 1) * a[i][j] + (j + 2) * b[i][j] + c[j];
  printf("%.12g\\n", s);
}
"""
NEST = "for (i = 0; i < n; i++)\n    for (j = 0; j < n; j++)\n      b[i][j] = SQUARE(a[i][j]);\n"
STEPS = """  for (int t = 0; t < steps; t++) {
    double w = sum(c); /* not known */
    for (i = 1; i < n - 1; i++)
      for (j = 1; j < n - 1; j++)
        b[i][j] = w + a[i - 1][j] + a[i + 1][j];   // a stencil
    for (i = 1; i < n - 1; i++)
      for (j = 1; j < n - 1; j++)
        a[i][j] = 0.25 * b[i][j];
    if (w > 1e9) break;
    c[t] = sum(a[t]);
  }
"""
IF = f"""  if (sum(c) > 0)
  {NEST}  else {{
    c[0] = sum(c);
    {NEST}  }}
"""


def made(body: str, options: GenOptions | None = None) -> Generated:
    return generate("p.c", HEAD + body + TAIL, options or GenOptions(target="c"))


def ids(result: Generated) -> list[str]:
    return [d.id for d in result.diagnostics if d.severity.value == "warning"]


def output(folder: Path, name: str, text: str) -> str:
    (folder / f"{name}.c").write_text(text, encoding="utf-8")
    subprocess.run(
        ["cc", "-std=gnu11", "-Wall", "-Wextra", "-Wno-unused-parameter", "-Wno-unknown-pragmas", "-Werror", "-O1",
         "-fopenmp", "-ffp-contract=off", "-o", name, f"{name}.c", "-lm"],
        cwd=folder, check=True,
    )  # fmt: skip
    return subprocess.run([folder / name], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("target", ["c", "openmp"])
@pytest.mark.parametrize("body", [f'  {NEST}  printf("x");\n  {NEST}', STEPS, IF], ids=["sequence", "steps", "if"])
def test_same_results(body: str, target: str, tmp_path: Path) -> None:
    result = made(body, GenOptions(target=target))
    assert ids(result) == ["region-partly"] and result.regions[0].transformed
    assert result.regions[0].summary.startswith("in part; line ")
    assert output(tmp_path, "new", result.text) == output(tmp_path, "old", HEAD + body + TAIL)


def test_parts_are_checked() -> None:
    report = run(HEAD + STEPS + TAIL, GenOptions(target="c"))
    assert report.ok and any(re.match(r"region 1 \(f, line 13\): \d+ size vectors agree", x) for x in report.lines)


def test_what_stays_is_as_it_was_written() -> None:
    result = made(STEPS)
    before, rest = STEPS.split("    for (i = 1", 1)
    after = rest[rest.index("    if (w > 1e9)") :]
    text = result.text[result.text.index("void f(") :]
    assert text.index(before) < text.index("tilewright: region 1") < text.index(after)
    (warning,) = (d for d in result.diagnostics if d.id == "region-partly")
    assert "from line 13 on" in warning.message
    assert [n.id for n in warning.notes] == ["unknown-call", "jump"]


def test_line_ends_and_lines_are_kept() -> None:
    text = (HEAD + STEPS + TAIL).replace("\n", "\r\n")
    result = generate("p.c", text, GenOptions(target="c", line_directives=True))
    assert "\n" not in result.text.replace("\r\n", "") and ids(result) == ["region-partly"]
    number = text[: text.index("    if (w > 1e9)")].count("\n") + 1
    assert re.search(rf'#line {number} "p.c"\r\n    if \(w > 1e9\)', result.text)


@pytest.mark.parametrize(
    "body",
    [
        # A loop of one row inside one that stays; a nest that sets the counter of the loop around it; and one that
        # comes out of a macro together with something else.
        "  for (i = 0; i < n; i++) {\n    c[i] = sum(c);\n    for (j = 0; j < n; j++)\n      a[i][j] = 0;\n  }\n",
        f"  for (i = 0; i < n; i++) {{\n    c[i] = sum(c);\n  {NEST}  }}\n",
        '#define NESTS(x) EACH(u) EACH(v) a[u][v] = x; printf("x")\n  NESTS(2);\n',
    ],
    ids=["row", "counter", "macro"],
)
def test_what_is_left_alone(body: str) -> None:
    assert ids(made(body)) == ["region-refused"]


def test_plans_of_some_parts() -> None:
    """A part that would come out as it is stays as it is, with the plan that says nothing of it, too."""
    body = f"  double w = sum(c);\n  for (i = 0; i < n; i++)\n    w += a[i][i];\n  c[0] = sum(c) + w;\n  {NEST}"
    first = made(body)
    assert "region 1 part 1 " not in first.plan and "region 1 part 2 " in first.plan
    again = made(body, GenOptions(target="c", plan_text=first.plan, plan_name="p.plan"))
    assert again.plan == first.plan
    assert again.text.partition("*/")[2] == first.text.partition("*/")[2]
    asked = f"region 1 part 1\n{first.plan}"
    assert made(body, GenOptions(target="c", plan_text=asked, plan_name="p.plan")).plan.startswith("region 1 part 1 ")


def test_plans_of_parts() -> None:
    first = made(STEPS)
    assert first.plan.startswith("region 1 part 1 ")
    again = made(STEPS, GenOptions(target="c", plan_text=first.plan, plan_name="p.plan"))
    assert again.text.partition("*/")[2] == first.text.partition("*/")[2]
    with pytest.raises(InputError) as caught:
        made(STEPS, GenOptions(target="c", plan_text=first.plan.replace("part 1", "part 7"), plan_name="p.plan"))
    assert caught.value.id == "bad-plan"
