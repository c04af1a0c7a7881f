"""Choices that come again in a statement get names, where they are made for sure."""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from codegen.options import GenOptions
from codegen.pipeline import generate

# What `MIN(a, MIN(b, c))` is once macros are expanded.
TABLE = """\
void f(int n, TYPE x[n], TYPE D[n + 1][n + 1])
{
#pragma scop
  for (int i = 1; i <= n; i++)
    for (int j = 1; j <= n; j++)
      D[i][j] = x[j - 1] + (D[i - 1][j - 1] < (D[i - 1][j] < D[i][j - 1] ? D[i - 1][j] : D[i][j - 1])
        ? D[i - 1][j - 1] : (D[i - 1][j] < D[i][j - 1] ? D[i - 1][j] : D[i][j - 1]));
#pragma endscop
}
"""
MAIN = """
#include <stdio.h>
#include <string.h>
static TYPE x[40], d[41 * 41], e[41 * 41];
int main(void)
{
  for (int n = 0; n <= 40; n++) {
    for (int k = 0; k < 41 * 41; k++)
      d[k] = e[k] = (TYPE)(k * 37 % 101 - 50);
    for (int k = 0; k < 40; k++)
      x[k] = (TYPE)(k * 13 % 29 - 14);
    f(n, x, (void *)d);
    g(n, x, (void *)e);
    if (memcmp(d, e, sizeof d))
      return printf("n = %d\\n", n), 1;
  }
  return 0;
}
"""


CARRY = replace(GenOptions(), plan_text="region 1\n  scalar_replace j\n")


@pytest.mark.parametrize("kind", ["double", "float", "int", "unsigned", "short"])
def test_least_of_three(kind: str, tmp_path: Path) -> None:
    """Of small integers C chooses an int."""
    source = TABLE.replace("TYPE", kind)
    text = generate("in.c", source, CARRY).text
    chosen = "int" if kind == "short" else kind
    assert text.count(f"const {chosen} choice_0 = D_0 < D2_1 ? D_0 : D2_1;") == 1
    assert "D_1 < choice_0 ? D_1 : choice_0" in text
    plain = re.sub("#pragma.*", "", source).replace("void f(", "static void g(")
    (tmp_path / "t.c").write_text(text + plain + MAIN.replace("TYPE", kind))
    flags = ["-O2", "-Wall", "-Werror", "-fopenmp", "-DTW_PARALLEL_MIN=0"]
    subprocess.run(["cc", *flags, "-o", tmp_path / "t", tmp_path / "t.c"], check=True)
    ran = subprocess.run([tmp_path / "t"], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout


def test_not_where_it_may_not_be_made() -> None:
    """Behind a condition the elements need not be there."""
    choice = "(D[i - 1][j] < D[i][j - 1] ? D[i - 1][j] : D[i][j - 1])"
    source = TABLE.replace("TYPE", "double").split("x[j - 1] +")[0] + f"x[j - 1] < 0 ? 1 / {choice} : {choice};\n"
    text = generate("in.c", source + "#pragma endscop\n}\n", CARRY).text
    assert "D[i - 1][j] < D_1" in text and "choice" not in text
