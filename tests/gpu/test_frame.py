"""Copies of launchers, calls of them and the device's file around kernels are proven from the text: damaged text is
refused, one place at a time. Nothing here is run."""

from __future__ import annotations

from functools import cache

import pytest

from codegen.diagnostics import Unsupported
from codegen.gpu import files, frame
from codegen.gpu.dialect import CUDA, Dialect
from codegen.gpu.emit import DevicePart, device_part
from codegen.gpu.opencl import OPENCL
from codegen.gpu.read_copies import LauncherLines, check_copies
from codegen.gpu.region import device_code, made_for_device
from codegen.options import GenOptions
from codegen.region import ProvenRegion
from codegen.region_model import model_region
from codegen.source_file import open_source
from codegen.verify.text.read import Unread
from tests.gpu.test_read_back import region

# All of `a` is overwritten, `b` is read, a triangle of `c` is written, and `s` is one element.
COPIES = """void f(int n, double a[n][n], double b[n][n], double c[n][n], double *s)
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      a[i][j] = b[i][j] * *s;
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++)
      c[i][j] = a[i][j];
#pragma endscop
}
"""
DIALECTS = {"cuda": CUDA, "opencl": OPENCL}


@cache
def made() -> ProvenRegion:
    options = GenOptions(target="cuda")
    model = model_region(open_source("f.c", COPIES, options).slices[0], options)
    assert model is not None
    return made_for_device(model, options, CUDA)


@cache
def part(dialect: str) -> DevicePart:
    found = made()
    code = device_code(found, GenOptions(target="cuda"))
    return device_part(found.program.scop, found.program.deps, code, DIALECTS[dialect], "host")[0]


def check(lines: tuple[tuple[str, ...], tuple[str, ...]], where: str = "host") -> None:
    moved = dict.fromkeys("abcs", where == "host")
    p = made().program
    check_copies(p.scop, p.deps, [LauncherLines(*lines, moved, frozenset())])


def lines_of(dialect: str, kept: bool = False) -> tuple[tuple[str, ...], tuple[str, ...]]:
    p = part(dialect)
    if kept:
        assert p.kept is not None
        return p.kept.before, p.kept.after
    return p.before, p.after


@pytest.mark.parametrize(("dialect", "kept"), [("cuda", False), ("cuda", True), ("opencl", False)])
def test_copies_are_proven(dialect: str, kept: bool) -> None:
    check(lines_of(dialect, kept))


# What is damaged, and what stands there instead; None: the whole line is lost.
LOST = {
    "an array does not come": "tw_copy(b, tw_b",
    "what is around a triangle does not come": "tw_copy(c, tw_c",
    "an array does not go back": "tw_copy(tw_a, a",
    "an array has no room": "tw_reserve(&tw_b_memory",
    "a pointer is not there": "double *b = NULL",
    "a box is not there": "const tw_box tw_b_all",
    "kernels are not waited for": "cudaDeviceSynchronize()",
}
CHANGED = {
    "a row too few": ("tw_b_all = { 2, { 0, 0 }, { n,", "tw_b_all = { 2, { 0, 0 }, { n - 1,"),
    "a row too late": ("tw_b_all = { 2, { 0, 0 }", "tw_b_all = { 2, { 1, 0 }"),
    "a column too few": ("tw_a_all = { 2, { 0, 0 }, { n, n }", "tw_a_all = { 2, { 0, 0 }, { n, (long)n - 1 }"),
    "rows of another length": ("{ n, n }, { (long)n, 1 }", "{ n, n }, { (long)n + 1, 1 }"),
    "columns apart": ("{ n, n }, { (long)n, 1 }", "{ n, n }, { (long)n, 2 }"),
    "one subscript": ("tw_b_all = { 2, { 0, 0 }, { n, n }, { (long)n, 1 } }", "tw_b_all = { 1, { 0 }, { n }, { 1 } }"),
    "the box of another array": ("sizeof *b, &tw_b_all, cuda", "sizeof *b, &tw_s_all, cuda"),
    "elements of another size": ("tw_copy(b, tw_b, sizeof *b", "tw_copy(b, tw_b, sizeof *tw_c_memory"),
    "memory of another array": ("tw_copy(b, tw_b,", "tw_copy(b, tw_a,"),
    "the other way": ("&tw_b_all, cudaMemcpyHostToDevice", "&tw_b_all, cudaMemcpyDeviceToHost"),
    "nothing is seen of an error": ("tw_kept(tw_copy(tw_a", "(void)(tw_copy(tw_a"),
    "an error is no end": ("tw_kept(tw_copy(tw_a", "TW_TRY(tw_copy(tw_a"),
    "room for another box": ("tw_reserve(&tw_a_memory, &tw_a_all", "tw_reserve(&tw_a_memory, &tw_s_all"),
    "room of another type": ("double *a = NULL;", "float *a = NULL;"),
    "an array of the host": ("double *a = NULL;", "double *const a = tw_a;"),
    "under another condition": ("if (n >= 1) TW_TRY(tw_copy(b", "if (n >= 2) TW_TRY(tw_copy(b"),
}  # fmt: skip


def damaged(lines: tuple[str, ...], old: str, new: str | None) -> tuple[str, ...]:
    return tuple(x if new is None else x.replace(old, new, 1) for x in lines if new is not None or old not in x)


@pytest.mark.parametrize("what", [*LOST, *CHANGED])
def test_damaged_copies_are_refused(what: str) -> None:
    before, after = lines_of("cuda")
    old, new = (LOST[what], None) if what in LOST else CHANGED[what]
    changed = damaged(before, old, new), damaged(after, old, new)
    assert changed != (before, after), (before, after)
    with pytest.raises(Unsupported, match="transfers could not be proven"):
        check(changed)


def test_copies_ahead_of_the_wait_are_refused() -> None:
    before, after = lines_of("cuda")
    with pytest.raises(Unsupported):
        check((before, (after[1], after[0], *after[2:])))
    with pytest.raises(Unsupported):
        check(((before[-1], *before[:-1]), after))


# -- files -----------------------------------------------------------------------------------------


def text_of(dialect: Dialect) -> str:
    name = "opencl" if dialect is OPENCL else "cuda"
    return dict(files.device_files([part(name)], "f", "", dialect, "host"))[dialect.ending]


FRAME = {
    "a kernel is left out": ("void __launch_bounds__(256) f_r1_1", "void __launch_bounds__(256) f_r1_3"),
    "fewer threads": ("__launch_bounds__(256)", "__launch_bounds__(128)"),
    "parameters in another order": ("const double *b, ", ""),
    "something more": ("TW_LAUNCH(f_r1_1", "(void)0; TW_LAUNCH(f_r1_1"),
    "a line of a kernel": ("TW_THREAD_X;", "TW_THREAD_X + 1;"),
    "a copy is left out": ("cudaMemcpyDeviceToHost", "cudaMemcpyHostToDevice"),
    "no end": ("  return 0;\n}\n", "  return 1;\n}\n"),
    "another launcher": ('extern "C" int f_r1(', 'extern "C" int f_r2('),
}


@pytest.mark.parametrize("what", FRAME)
def test_damaged_files_are_refused(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    real = frame.check_launchers
    old, new = FRAME[what]

    def damage(text: str, parts: list[DevicePart]) -> None:
        at = text.rindex("tw_blocks(long count")
        assert old in text[at:], text[at:]
        changed = text[:at] + text[at:].replace(old, new, 1)
        real(changed, parts)
        frame.check_kernels(changed, parts)

    monkeypatch.setattr(files, "check_launchers", damage)
    with pytest.raises(Unread):
        text_of(CUDA)


def test_kernels_that_overlap_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    found, code = region("steps")
    p, _, _ = device_part(found.program.scop, found.program.deps, code, CUDA, "host")
    files.device_files([p], "f", "", CUDA, "host")
    real = files.check_kernels
    monkeypatch.setattr(files, "check_kernels", lambda text, parts: real(text.replace("  TW_STEP;\n", "", 1), parts))
    with pytest.raises(Unread, match="before the kernel ahead of it has ended"):
        files.device_files([p], "f", "", CUDA, "host")


def test_the_text_for_a_driver_is_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "__kernel void f_r1_1" in text_of(OPENCL)
    real = files._quoted
    monkeypatch.setattr(files, "_quoted", lambda text: real(text.replace("TW_THREAD_X;", "TW_THREAD_Y;", 1)))
    with pytest.raises(Unread, match="for the driver"):
        text_of(OPENCL)


CALL = "  if (!tw_worth || f_r1(n, (double *)a, (double *)s, A_1) != 0) {\n"
PROTOTYPE = "int f_r1(int n, double *tw_a, double *tw_s, long A_1)"


def test_calls_are_compared() -> None:
    arrays = {"tw_a": "a", "tw_s": "s"}
    values: dict[str, str] = {}
    frame.check_call(CALL, PROTOTYPE, arrays, values)
    frame.check_call(CALL.replace("A_1", "(long)(sizeof a[0])"), PROTOTYPE, arrays, {"A_1": "(long)(sizeof a[0])"})
    for old, new in (("n,", "n + 1,"), ("(double *)a", "(double *)s"), (" != 0", " > 0"), ("(double *)s", "(float *)s"),
                     (", A_1", ""), ("f_r1(", "f_r2("), ("!= 0) {", "!= 0)")):  # fmt: skip
        assert old in CALL
        with pytest.raises(Unread):
            frame.check_call(CALL.replace(old, new), PROTOTYPE, arrays, values)
    with pytest.raises(Unread):
        frame.check_call(CALL + CALL, PROTOTYPE, arrays, values)
