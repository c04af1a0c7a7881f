"""Functions of support code that a file does not call are left out."""

from __future__ import annotations

from codegen.target.text.functions_used import functions_used

SUPPORT = """#include <mpi.h>
#define LAST(n) last_of(n)
static int total;
/* Behind
 * it. */
static inline long last_of(long n) { return n - 1; }
/* Twice. */
static long twice(long n)
{
  if (n) {
    n += n;
  }
  return n;
}
static inline long four_times(long n) { return twice(twice(n)); }
/* Nobody's. */
static inline void nothing(void)
{
  total = 0;
}
"""


def test_what_is_named_stays_with_what_it_calls() -> None:
    assert functions_used(SUPPORT, "x = four_times(3);") == SUPPORT[: SUPPORT.index("/* Nobody's")]


def test_macros_name_functions_too() -> None:
    left = functions_used(SUPPORT, "")
    assert "last_of(long" in left and "/* Behind" in left and "static int total;" in left
    assert "twice" not in left and "Twice" not in left and "nothing" not in left


def test_files_of_the_user_may_call_any() -> None:
    assert functions_used(SUPPORT, '#include "mine.h"\n') == SUPPORT
    assert functions_used(SUPPORT, "#include <stdio.h>\n") != SUPPORT
