"""The real compiler, where it is installed: everything compiles, and no kernel spills registers."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from benchmarks.gpu_registers import nvcc, reported
from codegen.options import GenOptions
from codegen.pipeline import Generated, generate
from tests.corpus import KERNELS

PRODUCT = """void f(int n, REAL A[n][n], REAL B[n][n], REAL C[n][n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
"""
TILES = """region 1
  grid i:4, j:64
  registers S1.i:{} threads {}
  stage A in shared at S1.k:16 stages 4 pad 4
  stage B in shared at S1.k:16 stages 4 pad 4
"""


@pytest.mark.skipif(not nvcc(), reason="no CUDA compiler")
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "architecture", "device"),
    [("heat-3d", "sm_90", "generic"), ("gesummv", "sm_80", "generic"), ("softmax-rows", "sm_90", "generic"),
     ("jacobi-2d", "sm_90", "h200"), ("fdtd-2d", "sm_80", "h200")],
)  # fmt: skip
def test_compiles_without_spills(tmp_path: Path, name: str, architecture: str, device: str) -> None:
    path = KERNELS / f"{name}.c"
    made = generate(str(path), path.read_text(), GenOptions(target="cuda", stem=name, device=device))
    compile_without_spills(tmp_path, made, name, architecture)


@pytest.mark.skipif(not nvcc(), reason="no CUDA compiler")
@pytest.mark.slow
def test_what_is_written_is_not_read_as_a_constant(tmp_path: Path) -> None:
    """A load from one of two arrays by a condition: if the kernel writes one of them, the cache for constants has old
    values. The compiler does so for restricted pointers."""
    path = KERNELS / "suffix-sum.c"
    made = generate(str(path), path.read_text(), GenOptions(target="cuda", stem="k"))
    assert "?" in made.extra.file(".tw.cu")
    for ending, text in made.extra.files:
        (tmp_path / f"k{ending}").write_text(text)
    words = [nvcc(), "-arch=sm_90", "-O2", "-ptx", "k.tw.cu", "-o", "k.ptx"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "k.ptx").read_text()
    chosen = set(re.findall(r"selp\.b64\s+(%rd\d+)", text))
    constant = set(re.findall(r"ld\.global\.nc\.\w+\s+%\w+, \[(%rd\d+)", text))
    assert constant and not chosen & constant


@pytest.mark.skipif(not nvcc(), reason="no CUDA compiler")
@pytest.mark.slow
@pytest.mark.parametrize(
    ("real", "registers", "threads", "architecture"),
    [("double", "4, S1.j:8", "16 by 8 on m8n8k4", "sm_80"), ("double", "4, S1.j:8", "16 by 8 on m16n8k4", "sm_90"),
     ("float", "8, S1.j:4", "8 by 16", "sm_75")],
)  # fmt: skip
def test_tiles_compile_without_spills(
    tmp_path: Path, real: str, registers: str, threads: str, architecture: str
) -> None:
    options = GenOptions(target="cuda", stem="f", plan_text=TILES.format(registers, threads))
    made = generate("f.c", PRODUCT.replace("REAL", real), options)
    compile_without_spills(tmp_path, made, "f", architecture)


def compile_without_spills(tmp_path: Path, made: Generated, name: str, architecture: str) -> None:
    for ending, text in made.extra.files:
        (tmp_path / f"{name}{ending}").write_text(text)
    words = [nvcc(), f"-arch={architecture}", "-Xptxas", "-v", "-c", f"{name}.tw.cu", "-o", "out.o"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    kernels = reported(name, done.stdout + done.stderr)
    assert kernels and not any(k.spilled for k in kernels)


REPORT = """ptxas info    : Compiling entry function '_Z1fPd' for 'sm_90a'
ptxas info    : Function properties for _Z1fPd
    8 bytes stack frame, 16 bytes spill stores, 4 bytes spill loads
ptxas info    : Used 40 registers, used 1 barriers, 8 bytes cumulative stack size
ptxas info    : Compiling entry function '_Z1gPd' for 'sm_90a'
ptxas info    : Function properties for _Z1gPd
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 12 registers
"""


def test_the_compilers_report_is_read() -> None:
    f, g = reported("x", REPORT)
    assert (f.kernel, f.registers, f.spilled, f.stack) == ("_Z1fPd", 40, 20, 8)
    assert (g.kernel, g.registers, g.spilled, g.stack) == ("_Z1gPd", 12, 0, 0)
