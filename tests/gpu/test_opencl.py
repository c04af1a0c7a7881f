"""OpenCL, really run where there is a driver: a second judge of indices, launches and copies."""

from __future__ import annotations

import subprocess
import tempfile
from functools import cache
from pathlib import Path

import pytest

from codegen.options import GenOptions
from codegen.pipeline import generate
from tests.corpus import KERNELS
from tests.gpu.programs import C, compiled, run_program

PROBE = "#include <CL/cl.h>\nint main(void) { cl_uint n = 0; return clGetPlatformIDs(0, 0, &n) || !n; }\n"


@cache
def driver() -> bool:
    """Are there headers, a library and a platform?"""
    with tempfile.TemporaryDirectory() as folder:
        return _platform(f"{folder}/probe")


def _platform(program: str) -> bool:
    words = ["gcc", "-w", "-DCL_TARGET_OPENCL_VERSION=120", "-xc", "-", "-o", program, "-lOpenCL"]
    if subprocess.run(words, input=PROBE.encode(), capture_output=True).returncode:
        return False
    return subprocess.run([program], capture_output=True).returncode == 0


@pytest.mark.slow
@pytest.mark.skipif(not driver(), reason="no OpenCL")
@pytest.mark.parametrize("name", ["gemver", "jacobi-2d", "clamp"])
def test_kernel(tmp_path: Path, name: str) -> None:
    path = KERNELS / f"{name}.c"
    made = generate(str(path), path.read_text(), GenOptions(target="opencl", stem=name))
    (tmp_path / f"{name}.tw.c").write_text(made.text)
    for ending, text in made.extra.files:
        (tmp_path / f"{name}{ending}").write_text(text)
    flags = [*C, "-I", str(KERNELS), "-DDRIVER", "-DTW_NO_FMA", "-DTW_DEVICE_ONLY", "-Wno-deprecated-declarations"]
    files = [str(tmp_path / f"{name}{ending}") for ending in (".tw.c", ".tw.cl.c")]
    compiled(["gcc", *flags, *files, "-lOpenCL", "-lm", "-o", str(tmp_path / "device")])
    compiled(["gcc", *flags, str(path), "-lm", "-o", str(tmp_path / "plain")])
    want, got = run_program(tmp_path / "plain", []), run_program(tmp_path / "device", [])
    assert (got.code, got.out, got.err) == (0, want.out, "")


def test_text() -> None:
    text = """#include <math.h>
void f(int n, float *a, int *k)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    a[i] = sqrtf(a[i]);
    k[i] = abs(k[i]) - 1;
  }
#pragma endscop
}
"""
    made = generate("f.c", "#include <stdlib.h>\n" + text, GenOptions(target="opencl", stem="f"))
    device = made.extra.file(".tw.cl.c")
    assert "a[i] = sqrt(a[i]);" in device and "k[i] = (int)abs(k[i]) - 1;" in device
    assert "__global float *restrict a" in device
