"""--check-alias against the source where arrays do overlap: parameters, members, global pointers and scalars."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from codegen.options import GenOptions
from codegen.pipeline import generate
from tests.run.test_microkernel import compiler

SOURCE = """\
struct line { int n; int *data; int *more; };
struct pair { int re, im; };
extern int *from, *to, total;
void shift(int n, int *a, const int *b)
{
#pragma scop
    for (int i = 0; i < n; i++)
        a[i] = b[i] + 1;
#pragma endscop
}
void structs(struct line *a, const struct line *b)
{
#pragma scop
    for (int i = 0; i < a->n; i++)
        a->data[i] = b->data[i] + 1;
#pragma endscop
}
void members(struct line *p)
{
#pragma scop
    for (int i = 0; i < p->n; i++)
        p->data[i] = p->more[i] + 1;
#pragma endscop
}
void globals(int n)
{
#pragma scop
    for (int i = 0; i < n; i++)
        to[i] = from[i] + 1;
#pragma endscop
}
void scalar(int n, int *a)
{
#pragma scop
    for (int i = 0; i < n; i++)
        total += a[i];
#pragma endscop
}
void elements(int n, struct pair *x)
{
#pragma scop
    for (int i = 0; i < n; i++)
        x[i].re = x[i].im + 1;
#pragma endscop
}
"""
DRIVER = r"""
#include <stdio.h>
#include <string.h>
int *from, *to, total;
#define TRY(NAME, ...) do { \
  for (int k = 0; k < 100; k++) x[k] = y[k] = k * k % 37; \
  from = x; to = x + 1; l.data = x + 1; l.more = m.data = x; old_##NAME(__VA_ARGS__);  \
  from = y; to = y + 1; l.data = y + 1; l.more = m.data = y; now = y; new_##NAME(__VA_ARGS__); \
  if (memcmp(x, y, sizeof x)) printf(#NAME " differs\n"); now = x; } while (0)
int main(void)
{
  static int x[100], y[100], *now = x;
  struct line l = { 64, 0, 0 }, m = { 64, 0, 0 };
  TRY(shift, 64, now + 1, now);
  TRY(structs, &l, &m);
  TRY(members, &l);
  TRY(globals, 64);
  TRY(elements, 32, (struct pair *)now);
  return 0;
}
"""


def test_overlapping_arrays(tmp_path: Path) -> None:
    made = generate("new.c", SOURCE, GenOptions(check_alias=True))
    assert all(r.transformed for r in made.regions)
    texts = made.text.split("\nvoid ")[1:]
    assert ["tw_disjoint(" in t for t in texts] == [True, True, True, True, True, False]
    assert "&total, 0, (long)sizeof total" in " ".join(texts[4].split())  # one C object each, so nothing to run
    assert "const int *const b_data = b->data;" not in texts[1]  # b is read by the loop alone: it may lead nowhere
    assert "int *const p_data = p->data;" in texts[2] and "const int *const p_more = p->more;" in texts[2]
    words = re.compile(r"\bvoid (\w+)\(")
    (tmp_path / "new.c").write_text(words.sub(r"void new_\1(", made.text))
    (tmp_path / "old.c").write_text(words.sub(r"void old_\1(", SOURCE))
    heads = "".join(f"void {p}_{h};\n" for p in ("old", "new") for h in re.findall(r"^void (.*)$", SOURCE, re.M))
    types = "".join(re.findall(r"^struct \w+ \{.*$", SOURCE, re.M))
    (tmp_path / "driver.c").write_text(types + "\n" + heads + DRIVER)
    files = [str(tmp_path / f) for f in ("old.c", "new.c", "driver.c")]
    flags = ("-O2", "-w", "-fopenmp", "-fsanitize=address,undefined")
    subprocess.run([compiler(""), *flags, *files, "-o", str(tmp_path / "run")], check=True)
    run = subprocess.run([str(tmp_path / "run")], capture_output=True, text=True, timeout=60)
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")
