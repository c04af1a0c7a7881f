"""The C program that calls originals and results on the same inputs and compares what they leave behind."""
from __future__ import annotations

import re
from collections.abc import Sequence

from tests.property.programs import Program

MARGIN = 64  # elements before and after each array, so that a stray write shows up

HEAD = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stddef.h>
typedef void call(int, long, long, void **);
struct buffer { char kind; size_t size, count; };
double tw_least_work; /* nests with less run on one thread, perhaps in a form of their own */

static unsigned long state;
static unsigned long next(void) { return state = state * 6364136223846793005UL + 1442695040888963407UL; }

static void fill(const struct buffer *b, char *to)
{
  for (size_t k = 0; k < b->count; k++, to += b->size) {
    int small = (int)((next() >> 40) % 201) - 100;
    if (b->kind == 'f') { float v = small / 128.0f; memcpy(to, &v, sizeof v); }
    else if (b->kind == 'd') { double v = small / 100.0; memcpy(to, &v, sizeof v); }
    else { long v = small; memcpy(to, &v, b->size); }
  }
}

/* Equal bits, or both not a number, or (where C leaves the sign of a zero open) both zero. */
static int same(const struct buffer *b, const char *x, const char *y, int zeros)
{
  double u, v;
  if (!memcmp(x, y, b->size)) return 1;
  if (b->kind == 'f') { float f, g; memcpy(&f, x, sizeof f); memcpy(&g, y, sizeof g); u = f; v = g; }
  else if (b->kind == 'd') { memcpy(&u, x, sizeof u); memcpy(&v, y, sizeof v); }
  else return 0;
  return (u != u && v != v) || (zeros && u == 0 && v == 0);
}

static void check(int id, int variants, call *run, int nb, const struct buffer *b, int ns, const long (*sizes)[2],
                  int zeros)
{
  char *in[16], *want[16], *got[16];
  void *at[16];
  for (int k = 0; k < nb; k++) {
    size_t bytes = b[k].count * b[k].size;
    in[k] = malloc(bytes); want[k] = malloc(bytes); got[k] = malloc(bytes);
  }
  char bad[64] = {0};
  for (int s = 0; s < ns; s++) {
    state = 1234567UL * (id + 1) + s;
    for (int k = 0; k < nb; k++) {
      fill(&b[k], in[k]);
      memcpy(want[k], in[k], b[k].count * b[k].size);
      at[k] = want[k] + MARGIN * b[k].size;
    }
    run(0, sizes[s][0], sizes[s][1], at);
    for (int twice = 2; twice < 2 * variants + 2; twice++) {
      const int v = twice / 2;
      tw_least_work = twice % 2 ? 1e300 : 0;
      for (int k = 0; k < nb; k++) {
        memcpy(got[k], in[k], b[k].count * b[k].size);
        at[k] = got[k] + MARGIN * b[k].size;
      }
      run(v, sizes[s][0], sizes[s][1], at);
      for (int k = 0; k < nb && !bad[v]; k++) {
        if (!memcmp(want[k], got[k], b[k].count * b[k].size)) continue;
        for (size_t e = 0; e < b[k].count && !bad[v]; e++)
          if (!same(&b[k], want[k] + e * b[k].size, got[k] + e * b[k].size, zeros)) {
            printf("differs %d %d n = %ld, m = %ld, array %d, element %ld\n", id, v, sizes[s][0], sizes[s][1], k,
                   (long)e - MARGIN);
            bad[v] = 1;
          }
      }
    }
  }
  for (int k = 0; k < nb; k++) { free(in[k]); free(want[k]); free(got[k]); }
}
"""


def driver_text(programs: Sequence[tuple[Program, int]]) -> str:
    """A main program for functions f<k>_<variant>, variant 0 being the original."""
    parts = [f"#define MARGIN {MARGIN}", HEAD]
    calls = []
    for k, (p, variants) in enumerate(programs):
        names = [f"f{k}_{v}" for v in range(variants + 1)]
        parts += [f"void {name}({p.params});" for name in names]
        args = ", ".join(["n", "m", str(p.ld), *(f"b[{x}]" for x in range(len(p.buffers)))])
        cases = " ".join(f"case {v}: {name}({args}); break;" for v, name in enumerate(names))
        parts.append(f"static void run{k}(int v, long n, long m, void **b) {{ switch (v) {{ {cases} }} }}")
        kinds = ", ".join(f"{{'{_kind(t)}', sizeof({t}), {c + 2 * MARGIN}}}" for t, c in p.buffers)
        sizes = ", ".join(f"{{{n}, {m}}}" for n, m in p.sizes)
        parts.append(f"static const struct buffer b{k}[] = {{{kinds}}};\nstatic const long z{k}[][2] = {{{sizes}}};")
        # fmin(+0, -0) may be either zero in C, and libraries and instructions differ.
        zeros = int(bool(re.search(r"\bf(min|max)f?\(", p.text())))
        calls.append(f"  check({k}, {variants}, run{k}, {len(p.buffers)}, b{k}, {len(p.sizes)}, z{k}, {zeros});")
    return "\n".join([*parts, "int main(void)\n{", *calls, "  return 0;\n}", ""])


def _kind(ctype: str) -> str:
    return {"float": "f", "double": "d"}.get(ctype, "i")
