"""Kernels fuse multiplications and additions only where nobody said not to."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from codegen.cli.cc.ccline import parse
from codegen.options import CppOptions, GenOptions, contracts
from codegen.pipeline import generate
from tests.run.test_microkernel import compiler

GEMM = """void f(int n, double A[n][n], double B[n][n], double C[n][n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
"""
PRAGMA = "#pragma STDC FP_CONTRACT OFF\n"


SPELLED = [PRAGMA, "  # pragma  STDC FP_CONTRACT  OFF\n", 'a; _Pragma("STDC FP_CONTRACT OFF") b;']


@pytest.mark.parametrize("text", SPELLED)
def test_the_pragma_is_obeyed(text: str) -> None:
    assert not contracts(GenOptions(), text)
    assert not contracts(GenOptions(fp_contract="on"), text)
    assert contracts(GenOptions(), text.replace("OFF", "ON"))


def test_the_last_flag_of_the_compiler_counts_and_the_own_option_more() -> None:
    line = parse(["gcc", "-ffp-contract=fast", "-ffp-contract=off", "-c", "x.c"])
    flags = GenOptions(cpp=CppOptions(line.preprocessor()))
    assert not contracts(flags, "")
    assert contracts(replace(flags, fp_contract="on"), "")
    assert contracts(GenOptions(cpp=CppOptions(("gcc",), ("-ffp-contract=off", "-ffp-contract=on"))), "")
    assert not contracts(GenOptions(fp_contract="off"), "")


INSIDE = GEMM.replace("{\n", "{\n" + PRAGMA, 1)


@pytest.mark.parametrize("text, fp_contract", [(GEMM, "off"), (PRAGMA + GEMM, ""), (INSIDE, "")])
def test_products_are_rounded_apart(text: str, fp_contract: str, tmp_path: Path) -> None:
    """In machine code for a processor that could fuse them."""
    flags = ("-O2", "-march=haswell", "-ffp-contract=off", "-w", "-S")
    cc = compiler("x86_64")
    for options, fused in ((GenOptions(isa="avx2", fp_contract=fp_contract), False), (GenOptions(isa="avx2"), True)):
        made = generate("f.c", text if not fused else GEMM, options).text
        (tmp_path / "f.c").write_text(made, encoding="utf-8")
        subprocess.run([cc, *flags, "f.c", "-o", "f.s"], cwd=tmp_path, check=True)
        assert ("vfmadd" in (tmp_path / "f.s").read_text(encoding="utf-8")) == fused


def test_results_that_fuse_and_results_that_must_not_do_not_meet(tmp_path: Path) -> None:
    command = [compiler("x86_64"), "-fsyntax-only", "-w", "both.c"]
    fused = generate("f.c", GEMM, GenOptions(isa="avx2")).text
    apart = generate("f.c", GEMM.replace("void f", "void g"), GenOptions(isa="avx2", fp_contract="off")).text
    (tmp_path / "both.c").write_text(fused + apart, encoding="utf-8")
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode and "--fp-contract=off" in done.stderr
    (tmp_path / "both.c").write_text(apart + fused, encoding="utf-8")
    subprocess.run(command, cwd=tmp_path, check=True)
