"""A core's own stores are in main memory before its commands touch the same array, and a barrier is one for all cores
that are started: both are proven from printed text, and damaged text is refused."""

from __future__ import annotations

import re
from functools import cache

import pytest

from codegen.cli.main import main
from codegen.sunway.plan.machine import CoreGroup, group_for
from codegen.sunway.plan.threads import CoreGrid
from codegen.sunway.text.dialect import barrier_lines, fence
from codegen.verify.cores.launches.fences import open_accesses
from codegen.verify.cores.launches.meeting import wrong_barrier
from codegen.verify.text.read import Unread, read_statements
from tests.sunway.kernels import Printed, PrintedEntry, launched
from tests.sunway.test_kernel_proofs import damaged

# The first column is stored without a box, and is fetched with the others behind it.
ROWS = """void f(int n, double a, double p[n][n], double u[n][n]) {
#pragma scop
for (int i = 0; i < n; i++) {
  p[i][0] = a;
  for (int j = 1; j < n - 1; j++) p[i][j] = u[i][j] / (p[i][j - 1] + a);
  for (int j = n - 3; j > 0; j--) p[i][j] -= u[i][j] * p[i][j + 1];
}
#pragma endscop
}
"""


@cache
def rows() -> tuple[Printed, PrintedEntry]:
    kernels, (entry,) = launched(ROWS)
    return kernels[0], entry


# What is damaged: in the kernel or in what every core runs, the text, what stands there instead, and which of several.
CHANGES = {
    "no fence ahead of a get": ("kernel", "memb();", "", 0),
    "a fence behind the get": (
        "kernel",
        r"memb\(\);(\s+p_got = 0;\s+athread_get[^;]*;)",
        r"\1 memb();",
        0,
    ),
    "a fence ahead of the stores": ("kernel", r"(p\[i\]\[0\] = a;)((?s:.*?))memb\(\);", r"memb(); \1\2", 0),
    "a fence only for some": ("kernel", "memb();", "if (n > 9) memb();", 0),
    "a fence in a loop that may not run": ("kernel", "memb();", "for (long z = 0; z < n; z++) memb();", 0),
    "no fence between kernels": ("entry", "memb();", "", 0),
    "a fence behind the second kernel": ("entry", r"memb\(\);(\s+f_r1_k1\(args, id\);)", r"\1 memb();", 0),
}


@pytest.mark.parametrize("what", CHANGES)
def test_missing_fences_are_found(what: str) -> None:
    where, old, new, which = CHANGES[what]
    found = rows()[where == "entry"]
    assert found.wrong(found.text) == ""
    text = re.sub(old, new, found.text, count=1) if "\\" in old else damaged(found.text, old, new, which)
    assert text != found.text and found.wrong(text) != ""


def test_rows_run_on_the_emulator(tmp_path) -> None:
    source = tmp_path / "f.c"
    source.write_text(ROWS)
    assert main(["check", "--target", "sunway", "--scheme", "launch", str(source)]) == 0


GET = "athread_get(PE_MODE, &A[i][0], A_ldm, 8, (void *)&got, 0, 0, 0);"
HEAD = "double (*const A)[n] = (void *)args->A; double (*const B)[n] = (void *)args->B; double *s = args->s;"
ORDERED = {
    "a fence between": f"A[i][0] = 1; memb(); {GET}",
    "a barrier between": f"A[i][0] = 1; tw_barrier(); {GET}",
    "another array": f"B[i][0] = 1; *s = 2; args->t = A[i][0]; {GET}",
    "values of elements alone": f"B[i][0] = sqrt(A[i][0]) + f(A[0][A[i][1]]); {GET}",
    "in local memory": f"A_t[i][0] = 1; {GET}",
    "a fence in both branches": f"A[i][0] = 1; if (n) memb(); else {{ tw_barrier(); }} {GET}",
    "commands before": f"{GET} A[i][0] = 1;",
    "a fence in every turn": f"for (long k = 0; k < n; k++) {{ memb(); {GET} A[k][0] = 1; }}",
}
UNORDERED = {
    "a store": f"A[i][0] = 1; {GET}",
    "a sum": f"A[i][0] += 1; {GET}",
    "counting": f"A[i][0]++; {GET}",
    "counting ahead": f"--A[i][0]; {GET}",
    "a store by another name": f"double *const q = &A[i][0]; q[0] = 1; {GET}",
    "one of two arrays": f"double *const q = n ? &B[0][0] : &A[i][0]; q[0] = 1; {GET}",
    "a row that is handed on": f"simd_store(v, A[i]); {GET}",
    "an address that is handed on": f"B[i][0] = f(&A[i][0]); {GET}",
    "a put": f"A[i][0] = 1; {GET.replace('athread_get', 'athread_put')}",
    "the other spelling": "A[i][0] = 1; athread_dma_iget_stride(A_ldm, &A[0][0], 8, 0, 0, &got);",
    "the arguments": "args->t[0] = 1; athread_get(PE_MODE, &args->t[0], m, 8, (void *)&got, 0, 0, 0);",
    "a variable": "*s = 1; athread_get(PE_MODE, &s[0], m, 8, (void *)&got, 0, 0, 0);",
    "a fence in one branch": f"A[i][0] = 1; if (n) memb(); {GET}",
    "the turn before": f"for (long k = 0; k < n; k++) {{ {GET} A[k][0] = 1; }}",
    "a fence for another store": f"memb(); A[i][0] = 1; {GET}",
}


@pytest.mark.parametrize("what", ORDERED)
def test_ordered_commands_are_accepted(what: str) -> None:
    open_accesses(read_statements(HEAD + ORDERED[what]), "args", {})


@pytest.mark.parametrize("what", UNORDERED)
def test_unordered_commands_are_refused(what: str) -> None:
    with pytest.raises(Unread, match="own stores"):
        open_accesses(read_statements(HEAD + UNORDERED[what]), "args", {})


CACHED = {
    "a put ahead of a load": "athread_put(PE_MODE, A_ldm, &A[i][0], 8, (void *)&put, 0, 0); *s = A[0][1];",
    "a put ahead of a sum": "athread_put(PE_MODE, A_ldm, &A[i][0], 8, (void *)&put, 0, 0); A[0][1] += 2;",
    "in a test": "athread_dma_iput_stride(&A[i][0], A_ldm, 8, 0, 0, &put); if (A[0][1] > 2) *s = 1;",
    "the turn before": "for (long k = 0; k < n; k++) { *s = A[k][0]; "
    "athread_put(PE_MODE, A_ldm, &A[i][0], 8, (void *)&put, 0, 0); }",
}


@pytest.mark.parametrize("what", CACHED)
def test_a_cache_does_not_see_commands(what: str) -> None:
    """Without a fence a load may find what was there before; the machine without a cache has no such loads."""
    text = read_statements(HEAD + CACHED[what])
    open_accesses(text, "args", {})
    with pytest.raises(Unread, match="from its cache"):
        open_accesses(text, "args", {}, True)
    fenced = re.sub(r"(athread_\w*put\w*\([^;]*;)", r"\1 tw_fence();", CACHED[what])
    open_accesses(read_statements(HEAD + fenced), "args", {}, True)


# -- barriers ---------------------------------------------------------------------------------------

MACHINES = ("sw26010-cpe", "sw26010-pro-cpe")


def barrier(group: CoreGroup, count: int) -> str:
    lines = "".join(f"  {x}\n" for x in barrier_lines(group, CoreGrid(1, count)))
    return f"static int tw_barrier(void)\n{{\n  {fence(group)}\n{lines}  return 0;\n}}\n"


def started(count: int) -> str:
    return f"  athread_init();\n  athread_set_num_threads({count});\n"


@pytest.mark.parametrize("machine", MACHINES)
def test_barriers_are_for_the_cores_that_are_started(machine: str) -> None:
    group = group_for(machine)
    for count in range(1, 65):
        text = barrier(group, count)
        assert wrong_barrier(text, started(count)) == ""
        assert all(wrong_barrier(text, started(n)) for n in (count - 1, count + 1) if n)


# What is damaged: the cores, the text and what stands there instead.
BARRIERS = {
    "stores on their way": (64, "memb();", ""),
    "no wait at all": (64, "athread_syn(ARRAY_SCOPE, 0xffff);", ""),
    "half of the cores": (64, "0xffff", "0xff"),
    "a row alone": (64, "ARRAY_SCOPE, 0xffff", "ROW_SCOPE, 0xff"),
    "one core of a row too few": (16, "0xff", "0x7f"),
    "rows that do not meet": (16, "athread_syn(COL_SCOPE, 0x03);", ""),
    "a row that is not there": (16, "0x03", "0x07"),
    "columns for rows": (5, "ROW_SCOPE", "COL_SCOPE"),
    "the last row waits for a whole one": (13, ": 0x1f", ": 0xff"),
    "columns without the last row": (13, "? 0x03", "? 0x01"),
    "columns that end before": (13, ": 0x01", ": 0x03"),
    "the last row is not handed on": (13, "athread_syn(ROW_SCOPE, mine);\n  return", "return"),
    "rows of another length": (13, "id / 8", "id / 4"),
    "another core's number": (13, "athread_get_id(-1)", "athread_get_id(0)"),
    "only some come": (16, "athread_syn(COL_SCOPE, 0x03);", "if (id) athread_syn(COL_SCOPE, 0x03);"),
}


@pytest.mark.parametrize("what", BARRIERS)
def test_damaged_barriers_are_found(what: str) -> None:
    count, old, new = BARRIERS[what]
    text = barrier(group_for(MACHINES[0]), count)
    assert wrong_barrier(text, started(count)) == "" and text.count(old)
    assert wrong_barrier(text.replace(old, new, 1), started(count)) != ""


def test_barriers_have_to_be_there_once() -> None:
    text = barrier(group_for(MACHINES[0]), 64)
    assert wrong_barrier("tw_barrier();", started(64)) and wrong_barrier(text + text, started(64))
    assert wrong_barrier("", started(64)) == "" and wrong_barrier(text, "")
    assert wrong_barrier(text, started(64) * 2) == "" and wrong_barrier(text, started(64) + started(63))
