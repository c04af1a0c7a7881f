"""Integers seen as their bytes, in the order of memory and turned around within words."""

from __future__ import annotations

import pytest

from codegen.options import GenOptions
from codegen.pipeline import generate
from tests.run.sources import run

HEAD = """\
#include <stdint.h>
#define AT(type, line, n) (*(type *)((uintptr_t)((type *)(line) + (n)) ^ 3))
"""
FORMS = (
    HEAD
    + """
void invert(int w, int h, int from, int to, const uint32_t *in, uint32_t *out)
{
  int i, j;
  const uint32_t *line;
  uint32_t *made;
#pragma scop
  for (i = 0; i < h; i++) {
    line = in + i * from;
    made = out + i * to;
    for (j = 0; j < w; j++)
      AT(uint8_t, made, j) = 255 - AT(const uint8_t, line, j);
  }
#pragma endscop
}
void widen(int w, int h, int from, int to, uint32_t *in, uint32_t *out)
{
#pragma scop
  for (int i = 0; i < h; i++) {
    uint8_t *line = (uint8_t *)(in + i * from);
    for (int j = 0; j < w; j++)
      out[i * to + j] = line[j] << 8;
  }
#pragma endscop
}
void count(int w, int h, int wpl, const uint32_t *in, int *hits)
{
#pragma scop
  for (int i = 0; i < h; i++)
    for (int j = 0; j < w; j++)
      hits[AT(const uint8_t, in + i * wpl, j)]++;
#pragma endscop
}
void mark(int n, uint16_t *p)
{
#pragma scop
  for (int i = 0; i < n; i++, p += 2)
    *(unsigned char *)p = 1;
#pragma endscop
  p[0] = 3;
}
"""
)


def test_bytes_agree() -> None:
    report = run(FORMS, GenOptions(target="c"))
    assert report.ok and all("size vectors agree" in line for line in report.lines), report.lines


def body(loop: str) -> str:
    head = "void f(int n, uint32_t *a, uint32_t *b, float *x, uint64_t *q)"
    return f"{HEAD}{head}\n{{\n#pragma scop\n  for (int i = 0; i < n; i++)\n    {loop}\n#pragma endscop\n}}\n"


def test_what_is_only_read_may_be_seen_in_both_ways() -> None:
    made = generate("in.c", body("b[i] = n > 8 ? AT(uint8_t, a, i) : a[i];"), GenOptions(target="c"))
    assert made.regions[0].transformed and "a_bytes[i - 2 * (i % 4) + 3]" in made.text, made.text


@pytest.mark.parametrize(
    "loop",
    [
        "a[i] = AT(uint8_t, a, i);",  # written as words, read as bytes
        "AT(uint8_t, a, 4 * i) = b[i] + ((int8_t *)a)[i];",  # bytes of two types
        "b[i] = ((uint16_t *)a)[i];",  # no bytes
        "b[i] = ((uint8_t *)x)[i];",  # no integers
        "b[i] = *(uint8_t *)((uintptr_t)((uint8_t *)a + i) ^ 7);",  # words are not aligned to that
        "b[i] = *(uint8_t *)((uintptr_t)((uint8_t *)q + i) ^ (unsigned)n);",  # nobody knows which
    ],
)
def test_what_stays_out(loop: str) -> None:
    made = generate("in.c", body(loop), GenOptions(target="c"))
    assert not made.regions[0].transformed, made.text
