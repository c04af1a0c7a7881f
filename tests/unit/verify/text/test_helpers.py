"""What the proofs of printed text take helpers to do, tried on all small numbers."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from codegen.target.support import SupportOptions, emit_support
from tests.compilers import with_openmp

TEST = """
#define MOST 24
int main(void)
{
  const long edge = 1L << 60, most = 9223372036854775807L;
  const long inside[] = { 0, 1, -1, edge - 1, -edge }, outside[] = { edge, -edge - 1, 2 * edge, most, -most - 1 };
  for (int k = 0; k < 5; k++)
    if (!tw_fits(inside[k]) || tw_fits(outside[k]) || tw_fits_unsigned((unsigned long)outside[k])
        || tw_fits_unsigned((unsigned long)inside[k]) != (inside[k] >= 0))
      return 5;
  for (long n = 1; n <= MOST; n++)
    for (long m = 1; m <= MOST; m++) {
      if (tw_min(n, m) != (n < m ? n : m) || tw_max(n, m) != (n > m ? n : m))
        return 1;
      const long p = tw_panels(n, m);
      if (p * m < n || (p - 1) * m >= n)
        return 2;
      for (long unit = 1; unit <= MOST; unit++) {
        const long s = tw_share(n, m, unit);
        if (s < unit || s % unit || (unit == 1 && s > m))
          return 3;
        for (long tasks = 1; tasks <= 9; tasks++) {
          const long some = tw_task(tasks, unit, n, m);
          if (some < 1 || some > m || (tasks == 1 && some != m))
            return 6;
        }
        const long tasks = tw_tasks(n, 2, m * unit * 8, 16);
        if (tasks < n || tasks > 2 * n || (n == 1 && tasks != 1))
          return 7;
        const long wide = tw_deal_columns(n, m, unit), tall = tw_deal_rows(n, m, unit, 3);
        if (wide < 1 || wide > unit || (m >= 3 * n && wide != unit) || tall < 1 || tall > 3)
          return 8;
        if (tw_deal_rows(n, m, unit, 0) != 1) /* blocks may be smaller than a tile */
          return 9;
        const long down = tw_grid(n, m, unit);
        if (down < 1 || down > n || n % down)
          return 4;
      }
    }
  return 0;
}
"""


@pytest.mark.parametrize("compiler", with_openmp()[:1])
def test_helpers_keep_their_contracts(compiler: str, tmp_path: Path) -> None:
    parts = ("tw_panels", "tw_share", "tw_grid", "tw_tasks", "tw_deal_rows")
    names = frozenset({"tw_min", "tw_max", *parts, "tw_fits", "tw_fits_unsigned"})
    source = tmp_path / "helpers.c"
    source.write_text(emit_support(names, frozenset(), SupportOptions()) + TEST, encoding="utf-8")
    subprocess.run([compiler, "-O1", str(source), "-o", str(tmp_path / "helpers")], check=True)
    assert subprocess.run([tmp_path / "helpers"]).returncode == 0
