"""Measures the host's peak: memory bandwidth and multiply-adds per second, the roofs of the roofline model."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Sequence

from codegen.bench.model import Ceilings
from codegen.machine.bandwidth import built, measure
from codegen.machine.model import Machine

# Independent chains of multiply-adds, enough for two units of latency four or five and few enough for the registers.
# Where multiply-adds only add to what they change, sums go on from themselves; the empty statement keeps compilers from
# making the products ahead of the loop.
_MULTIPLY_ADD = """\
#if defined(__AVX512F__)
#define LANES 8
#elif defined(__AVX__)
#define LANES 4
#else
#define LANES 2
#endif
#define CHAINS 12
typedef double lanes __attribute__((vector_size(8 * LANES)));
long per_round(void) { return 2L * LANES * CHAINS; }
double multiply_add(long n, double x)
{
  lanes s[CHAINS], a[3], all, f = {0};
  f = f + x;
  for (int k = 0; k < CHAINS; k++)
    s[k] = f + k;
  for (int k = 0; k < 3; k++)
    a[k] = f * (k + 1);
#ifdef __aarch64__
  lanes b0 = f, b1 = f + 1, b2 = f + 2, b3 = f + 3;
  for (long i = 0; i < n; i++) {
    __asm__ volatile("" : "+w"(b0), "+w"(b1), "+w"(b2), "+w"(b3));
#pragma GCC unroll 3
    for (int k = 0; k < 3; k++) {
      s[4 * k] += a[k] * b0;
      s[4 * k + 1] += a[k] * b1;
      s[4 * k + 2] += a[k] * b2;
      s[4 * k + 3] += a[k] * b3;
    }
  }
#else
  for (long i = 0; i < n; i++)
#pragma GCC unroll 12
    for (int k = 0; k < CHAINS; k++)
      s[k] = s[k] * f + f;
#endif
  all = a[0];
  for (int k = 0; k < CHAINS; k++)
    all += s[k];
  return all[0];
}
"""
ROUNDS = 200_000
TRIES = 20


def ceilings(machine: Machine, compiler: Sequence[str]) -> Ceilings:
    """About two seconds of measuring. OSError or LimitPassed where that cannot be done."""
    bandwidth = measure(machine, compiler)
    cache = max((c.bytes for c in machine.caches), default=0)
    return Ceilings(bandwidth.one, bandwidth.all, _operations(compiler), cache)


def _operations(compiler: Sequence[str]) -> float:
    library = built(_MULTIPLY_ADD, compiler, ("-ffp-contract=fast",))
    work = library.multiply_add
    work.restype, work.argtypes = ctypes.c_double, (ctypes.c_long, ctypes.c_double)
    library.per_round.restype = ctypes.c_long
    best = 1e9
    for _ in range(TRIES):
        start = time.perf_counter()
        work(ROUNDS, 0.5)
        best = min(best, time.perf_counter() - start)
    return float(library.per_round() * ROUNDS / best)
