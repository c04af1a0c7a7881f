"""The C program that calls originals and results on the same inputs and compares what they leave behind.

Every buffer has a margin on both sides, so that a stray write shows up. Inputs are small numbers, in every third round
with NaN, infinities and -0.0 between them. Where the original leaves a whole buffer alone, the results run with that
buffer read-only.
"""
from __future__ import annotations

import re
from collections.abc import Sequence

from tests.property.model import Program

MARGIN = 64  # elements before and after each array

HEAD = r"""
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
typedef void call(int, long, long, void **);
struct field { char kind; size_t offset, size; int n; };
struct buffer { size_t size, count, room; int copied, nf; const struct field *f; };
struct overlap { int k, j; long offset; };
struct test {
  int id, variants, nb, ns, nl, zeros;
  call *run;
  const struct buffer *b;
  const long (*sizes)[2];
  const struct overlap *laps;
};
double tw_least_work; /* nests with less run on one thread, perhaps in a form of their own */
extern void omp_set_num_threads(int);

static unsigned long state;
static unsigned long next(void) { return state = state * 6364136223846793005UL + 1442695040888963407UL; }

static void fill_one(char kind, size_t size, char *to, int odd)
{
  static const double strange[] = {-0.0, 0.0, 1.0 / 0.0, -1.0 / 0.0, 0.0 / 0.0};
  int small = (int)((next() >> 40) % 201) - 100;
  float f = small / 128.0f;
  double d = small / 100.0;
  long i = kind == 'b' || kind == 'B' ? small & 1 : small;
  if (odd && (next() >> 40) % 8 == 0) d = strange[(next() >> 40) % 5], f = (float)d;
  if (kind == 'F' || kind == 'D') d = small % 9, f = (float)d;
  if (kind == 'g') f = small / 128.0f;
  if (kind == 'e') d = small / 100.0;
  switch (kind) {
    case 'f': case 'F': case 'g': memcpy(to, &f, size); break;
    case 'd': case 'D': case 'e': memcpy(to, &d, size); break;
    default: memcpy(to, &i, size);
  }
}

static void fill(const struct buffer *b, char *to, int odd)
{
  memset(to, 0, b->room * b->size);
  for (size_t k = 0; k < b->room; k++, to += b->size)
    for (int f = 0; f < b->nf; f++)
      for (int e = 0; e < b->f[f].n; e++)
        fill_one(b->f[f].kind, b->f[f].size, to + b->f[f].offset + e * b->f[f].size, odd);
}

/* Equal bits, or both not a number, or (where C or another order leaves the sign of a zero open) both zero. */
static int same_one(char kind, size_t size, const char *x, const char *y, int zeros)
{
  double u, v;
  if (!memcmp(x, y, size)) return 1;
  zeros |= kind == 'F' || kind == 'D';
  if (kind == 'f' || kind == 'F') { float f, g; memcpy(&f, x, sizeof f); memcpy(&g, y, sizeof g); u = f; v = g; }
  else if (kind == 'd' || kind == 'D') { memcpy(&u, x, sizeof u); memcpy(&v, y, sizeof v); }
  else return 0;
  return (u != u && v != v) || (zeros && u == 0 && v == 0);
}

static int same(const struct buffer *b, const char *x, const char *y, int zeros)
{
  for (int f = 0; f < b->nf; f++)
    for (int e = 0; e < b->f[f].n; e++) {
      size_t at = b->f[f].offset + e * b->f[f].size;
      if (!same_one(b->f[f].kind, b->f[f].size, x + at, y + at, zeros)) return 0;
    }
  return 1;
}

static char *pages(size_t bytes)
{
  char *made = mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (made == MAP_FAILED) abort();
  return made;
}

static sigjmp_buf away;
static volatile sig_atomic_t trying, now_id, now_variant;
static void stopped(int sig)
{
  if (trying) siglongjmp(away, 1);
  char text[160];
  int length = snprintf(text, sizeof text, "differs %d %d %s\n", (int)now_id, (int)now_variant,
                        sig == SIGSEGV ? "it stores where the original does not, or leaves its arrays" : "signal");
  if (write(1, text, length)) { }
  _exit(7);
}

static char *given[2][16], **in, *want[16], *got[16]; /* data without and with infinities, and what came of them */

static void place(const struct test *t, char **from, void **at, int lap)
{
  for (int k = 0; k < t->nb; k++) at[k] = from[k] + MARGIN * t->b[k].size;
  if (lap) {
    const struct overlap *o = &t->laps[lap - 1];
    at[o->k] = (char *)at[o->j] + o->offset * (long)t->b[o->j].size;
  }
}

static void report(const struct test *t, int v, int s, int lap, int k, long e)
{
  printf("differs %d %d n = %ld, m = %ld, array %d, element %ld%s\n", t->id, v, t->sizes[s][0], t->sizes[s][1], k, e,
         lap ? ", arrays overlap" : "");
  fflush(stdout);
}

static void compare(const struct test *t, int v, int s, int lap, char *bad)
{
  for (int k = 0; k < t->nb && !bad[v]; k++) {
    const struct buffer *b = &t->b[k];
    if (!memcmp(want[k], got[k], b->room * b->size)) continue;
    for (size_t e = 0; e < b->room && !bad[v]; e++)
      if (!same(b, want[k] + e * b->size, got[k] + e * b->size, t->zeros)) {
        report(t, v, s, lap, k, (long)e - MARGIN);
        bad[v] = 1;
      }
  }
}

/* Buffers that the original does not write are read-only for the results, one at a time, on one thread. */
static void sealed(const struct test *t, int s, int only)
{
  void *at[16];
  tw_least_work = 1e300;
  for (int k = 0; k < t->nb; k++) {
    size_t bytes = t->b[k].room * t->b[k].size;
    for (int v = -1; v <= t->variants && !t->b[k].copied; v += v < 0 ? 2 : 1) {
      if (v > 0 && only && v != only) continue;
      for (int j = 0; j < t->nb; j++) memcpy(got[j], in[j], t->b[j].room * t->b[j].size);
      place(t, got, at, 0);
      mprotect(got[k], bytes, PROT_READ);
      now_id = t->id, now_variant = v, trying = v < 0;
      const int writes = v < 0 && sigsetjmp(away, 1);
      if (!writes) t->run(v, t->sizes[s][0], t->sizes[s][1], at);
      trying = 0;
      mprotect(got[k], bytes, PROT_READ | PROT_WRITE);
      if (writes) break;
    }
  }
}

static void check(const struct test *t, int only, int seal)
{
  void *at[16];
  char bad[64] = {0};
  omp_set_num_threads(2 + t->id % 2);
  for (int k = 0; k < t->nb; k++) {
    size_t bytes = t->b[k].room * t->b[k].size;
    want[k] = pages(bytes); got[k] = pages(bytes);
    for (int odd = 0; odd < 2; odd++) {
      state = 1234567UL * (t->id + 1) + 16 * odd + k;
      fill(&t->b[k], given[odd][k] = pages(bytes), odd);
    }
  }
  for (int lap = 0; lap <= t->nl; lap++)
    for (int s = 0; s < t->ns; s++) {
      in = given[s % 3 == 2];
      for (int k = 0; k < t->nb; k++) memcpy(want[k], in[k], t->b[k].room * t->b[k].size);
      place(t, want, at, lap);
      now_id = t->id, now_variant = 0;
      t->run(0, t->sizes[s][0], t->sizes[s][1], at);
      for (int twice = 2; twice < 2 * t->variants + 2; twice++) {
        const int v = twice / 2;
        if (only && v != only) continue;
        tw_least_work = twice % 2 ? 1e300 : 0;
        for (int k = 0; k < t->nb; k++) memcpy(got[k], in[k], t->b[k].room * t->b[k].size);
        place(t, got, at, lap);
        now_variant = v;
        t->run(v, t->sizes[s][0], t->sizes[s][1], at);
        compare(t, v, s, lap, bad);
      }
      if (seal && !lap && s < 2) sealed(t, s, only);
    }
  for (int k = 0; k < t->nb; k++) {
    size_t bytes = t->b[k].room * t->b[k].size;
    munmap(given[0][k], bytes); munmap(given[1][k], bytes); munmap(want[k], bytes); munmap(got[k], bytes);
  }
}
"""

MAIN = r"""
/* run [SEAL [PROGRAM [VARIANT]]] */
int main(int argc, char **argv)
{
  const int seal = argc > 1 ? atoi(argv[1]) : 1, one = argc > 2 ? atoi(argv[2]) : -1;
  const int only = argc > 3 ? atoi(argv[3]) : 0;
  signal(SIGSEGV, stopped);
  signal(SIGBUS, stopped);
  for (size_t k = 0; k < sizeof tests / sizeof tests[0]; k++)
    if (one < 0 || one == (int)k) check(&tests[k], only, seal);
  return 0;
}
"""


def driver_text(programs: Sequence[tuple[Program, int]]) -> str:
    """A main program for functions f<k>_<variant>, variant 0 being the original, and f<k>_plain, an original built such
    that it stores all that it says: it tells which arrays may be read-only."""
    parts = [f"#define MARGIN {MARGIN}", HEAD]
    tests = []
    for k, (p, variants) in enumerate(programs):
        names = {v: f"f{k}_{v}" for v in range(variants + 1)} | {-1: f"f{k}_plain"}
        parts += [p.types, *(f"void {name}({p.params});" for name in names.values())]
        args = ", ".join(["n", "m", str(p.ld), *(f"b[{x}]" for x in range(len(p.buffers)))])
        cases = " ".join(f"case {v}: {name}({args}); break;" for v, name in names.items())
        parts.append(f"static void run{k}(int v, long n, long m, void **b) {{ switch (v) {{ {cases} }} }}")
        parts.append(_tables(k, p))
        # fmin(+0, -0) may be either zero in C, and libraries and instructions differ.
        zeros = int(bool(re.search(r"\bf(min|max)f?\(", p.text())))
        counts = f"{variants}, {len(p.buffers)}, {len(p.sizes)}, {len(p.overlaps)}"
        tests.append(f"  {{{k}, {counts}, {zeros}, run{k}, b{k}, z{k}, l{k}}},")
    return "\n".join([*parts, "static const struct test tests[] = {", *tests, "};", MAIN])


def _tables(k: int, p: Program) -> str:
    """Buffers, sizes and overlaps of a program."""
    out, buffers = [], []
    for x, b in enumerate(p.buffers):
        fields = ", ".join(_field(b.ctype, *f) for f in b.fields)
        out.append(f"static const struct field b{k}_{x}[] = {{{fields}}};")
        room = max([b.count, *(o + p.buffers[on].count for on, j, o in p.overlaps if j == x)]) + 2 * MARGIN
        buffers.append(f"{{sizeof({b.ctype}), {b.count}, {room}, {int(b.copied)}, {len(b.fields)}, b{k}_{x}}}")
    sizes = ", ".join(f"{{{n}, {m}}}" for n, m in p.sizes)
    laps = ", ".join(f"{{{x}, {j}, {o}}}" for x, j, o in p.overlaps) or "{0, 0, 0}"
    out.append(f"static const struct buffer b{k}[] = {{{', '.join(buffers)}}};")
    out.append(f"static const long z{k}[][2] = {{{sizes}}};\nstatic const struct overlap l{k}[] = {{{laps}}};")
    return "\n".join(out)


def _field(ctype: str, kind: str, member: str, count: int) -> str:
    if not member:
        return f"{{'{kind}', 0, sizeof({ctype}), 1}}"
    one = f"(({ctype} *)0)->{member}" + ("[0]" if count > 1 else "")
    return f"{{'{kind}', offsetof({ctype}, {member}), sizeof({one}), {count}}}"
