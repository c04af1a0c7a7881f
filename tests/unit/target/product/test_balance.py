"""The helper that shares out rows of different work keeps what the proofs of products take for granted."""

from __future__ import annotations

import subprocess
from pathlib import Path

from codegen.target.emit import SUPPORT
from codegen.target.support import SupportOptions, emit_support

MAIN = """
int main(void)
{
  for (long parts = 1; parts <= 9; parts++)
    for (long panels = 1; panels <= 40; panels += 3)
      for (long top = 0; top <= 1000000007; top = 3 * top + 7)
        for (long bottom = 0; bottom <= 1000000007; bottom = 5 * bottom + 3) {
          long last = tw_balance(0, parts, panels, top, bottom);
          if (last != 0 || tw_balance(parts, parts, panels, top, bottom) != panels)
            return 1;
          for (long part = 1; part < parts; part++) {
            const long here = tw_balance(part, parts, panels, top, bottom);
            if (here < last || here >= panels)
              return 2;
            last = here;
          }
        }
  return tw_balance(1, 2, 100, 1, 100) == 71 ? 0 : 3; /* half of a triangle */
}
"""


def test_parts_begin_in_order(tmp_path: Path) -> None:
    text = emit_support(frozenset(SUPPORT["tw_balance"]), frozenset(), SupportOptions())
    (tmp_path / "a.c").write_text(text + MAIN)
    subprocess.run(["cc", "-O1", "-Wall", "-Wextra", "-Werror", "-o", "a", "a.c"], cwd=tmp_path, check=True)
    assert subprocess.run([tmp_path / "a"]).returncode == 0
