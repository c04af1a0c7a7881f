"""No two threads of the generated code meet: one kernel for each way to use threads, all of them for `make corpus`, at
their own small sizes and where order is free with sums gathered on threads, too."""

from __future__ import annotations

import re

import pytest

from tests.corpus import ALL, KERNELS
from tests.threads import generated, run, sanitizer, witnessed

# By what the threads rely on: a kernel, and sizes at which no loop is left to one thread.
SAMPLE = {
    "packed products, dealt out": ("gemm.c", "23 25 27"),
    "packed products, each thread a part": ("2mm.c", "13 15 37 50"),
    "factorizations in panels": ("lu.c", "70"),
    "copies of what is read while it changes": ("closure-bits.c", "150"),
    "temporaries that are expanded": ("symm.c", "40 50"),
    "matrix-vector products": ("atax.c", "41 43"),
    "a pipeline of tiles over time": ("jacobi-2d.c", "5 60"),
    "a pipeline of tiles, rows side by side": ("seidel-2d.c", "40 60"),
    "a pipeline of tiles of a table": ("lcs.c", "150 160"),
    "private scalars": ("softmax-rows.c", "20 30"),
    "private strips of variables": ("deriche.c", "300 300"),
    "lines and columns by turns": ("correlation.c", "31 33"),
}
# The same where the order of sums is free.
GATHERED = {
    "one sum, a part for each thread": ("dot.c", "40000"),
}
LAST = """#include <stdio.h>
static double A[60][8], B[60][8], w[8];
static double f(int n)
{
  double u = 0;
#pragma scop
  for (int i = 0; i < n; i++) {
    u = A[i][0] + 1;
    for (int j = 0; j < 8; j++) w[j] = u * A[i][j];
    for (int j = 0; j < 8; j++) B[i][j] = w[7 - j];
  }
#pragma endscop
  return u + w[3];
}
int main(void) { printf("%g %g\\n", f(60), B[7][2]); return 0; }
"""


def cases(sample: dict[str, tuple[str, str]]) -> list[tuple[str, str]]:
    if not ALL:
        return list(sample.values())
    given = {**dict(SAMPLE.values()), **dict(sample.values())}
    return [(path.name, given.get(path.name, "")) for path in sorted(KERNELS.glob("*.c"))]


@pytest.mark.parametrize(("name", "sizes"), cases(SAMPLE), ids=lambda x: x.partition(".")[0])
def test_no_races(name: str, sizes: str) -> None:
    cc = sanitizer()
    text = generated(name)
    if "#pragma omp parallel" not in text:
        assert (name, sizes) not in SAMPLE.values()
        pytest.skip("no threads")
    found = run(cc, witnessed(text), sizes, threads=5 if name == "gemm.c" else 3)  # those deal products out
    assert found is not None and found.races == ""
    lone = [k for k, n in enumerate(found.threads) if n == 1]
    assert not lone or (name, sizes) not in SAMPLE.values(), f"loops {lone} ran on one thread"


@pytest.mark.parametrize(("name", "sizes"), cases(GATHERED), ids=lambda x: x.partition(".")[0])
def test_no_races_where_order_is_free(name: str, sizes: str) -> None:
    """Sums that threads gather in parts of their own, and other plans that only free sums allow."""
    cc = sanitizer()
    text = generated(name, True)
    if "#pragma omp parallel" not in text or _code(text) == _code(generated(name)):
        assert (name, sizes) not in GATHERED.values()
        pytest.skip("nothing that order keeps from threads")
    found = run(cc, witnessed(text), sizes)
    assert found is not None and found.races == ""
    if (name, sizes) in GATHERED.values():
        assert min(found.threads) > 1
        broken, count = re.subn(r" reduction\([^)]*\)", "", text)
        assert count
        lost = run(cc, broken, sizes)
        assert lost is not None and lost.races, "the clauses keep the threads apart: without them they meet"


def _code(text: str) -> str:
    """Without the comment at the top, which has the options."""
    return text.partition("*/")[2]


def test_diamonds_do_not_meet() -> None:
    """A machine of many cores gets diamonds instead of a pipeline."""
    text = generated("jacobi-2d.c", machine="neoverse-n1")
    assert "diamond" in text
    found = run(sanitizer(), witnessed(text), "40 150")
    assert found is not None and found.races == "" and max(found.threads) > 1


def test_what_iterations_own_is_not_shared() -> None:
    """A scalar and an array of the caller's, of which each iteration has its own and the last is copied back."""
    from codegen.options import GenOptions
    from codegen.pipeline import generate

    text = generate("last.c", LAST, GenOptions()).text
    assert "u_own" in text and "w_own" in text
    found = run(sanitizer(), witnessed(text))
    assert found is not None and found.races == "" and max(found.threads) > 1
    shared = re.sub(r"^ *(double (u|w)_own(\[8\])?;)$", "", text, flags=re.M)
    shared = shared.replace("static double f(", "double u_own, w_own[8];\nstatic double f(")
    broken = run(sanitizer(), shared)
    assert broken is not None and broken.races


@pytest.mark.parametrize("name", ["gemm.c", "softmax-rows.c", "lu.c"])
def test_a_place_that_all_threads_write_is_found(name: str) -> None:
    found = run(sanitizer(), witnessed(generated(name)), dict(SAMPLE.values())[name], planted=True)
    assert found is not None and found.races


def test_a_parallel_loop_that_carries_a_dependence_is_found() -> None:
    """Threads on the loop that the plan runs in order."""
    text = generated("gauss-jordan.c")
    head = re.search(r"^( *)(for \(tw_index k = )", text, re.M)
    assert head is not None
    broken = text[: head.start()] + "#pragma omp parallel for\n" + text[head.start() :]
    found = run(sanitizer(), broken, "24 13")
    assert found is not None and found.races
