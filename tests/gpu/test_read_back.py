"""Printed kernels and launches are read back: those that are not what the proven tree says are refused."""

from __future__ import annotations

from functools import cache

import pytest

from codegen.diagnostics import Unsupported
from codegen.gpu import read_back
from codegen.gpu.dialect import CUDA, Dialect
from codegen.gpu.emit import DeviceCode, device_part
from codegen.gpu.opencl import OPENCL
from codegen.gpu.region import device_code, made_for_device
from codegen.options import GenOptions
from codegen.region import ProvenRegion
from codegen.region_model import model_region
from codegen.source_file import open_source

SOURCES = {
    "steps": """void f(int t, int n, double a[n][n], double b[n][n]) {
#pragma scop
  for (int k = 0; k < t; k++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 2; j < n; j++)
        b[i][j] = a[i - 1][j] + a[i + 1][j];
    for (int i = 1; i < n - 1; i++)
      for (int j = 2; j < n; j++)
        a[i][j] = b[i][j] * k;
  }
#pragma endscop
}
""",
    "five": """void f(int n, double a[n][n], double b[n][n]) {
#pragma scop
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++)
      b[i][j] = a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1];
#pragma endscop
}
""",
    "own": """void f(int n, int m, double a[n][m], double b[n]) {
#pragma scop
  for (int i = 0; i < n; i++) {
    double s = 0;
    for (int j = 0; j < m; j++)
      if (j < i)
        s += a[i][j];
      else
        s -= a[i][j];
    b[i] = s;
  }
#pragma endscop
}
""",
}


@cache
def region(name: str) -> tuple[ProvenRegion, DeviceCode]:
    options = GenOptions(target="cuda")
    model = model_region(open_source("f.c", SOURCES[name], options).slices[0], options)
    assert model is not None
    made = made_for_device(model, options, CUDA)
    return made, device_code(made, options)


def texts(name: str, dialect: Dialect = CUDA) -> list[str]:
    """The printed bodies of kernels, and the launcher's behind them."""
    made, code = region(name)
    part, _, _ = device_part(made.program.scop, made.program.deps, code, dialect, "host")
    return [read_back.printed_lines(x) for x in (*(k.body for k in part.kernels), part.body)]


@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.parametrize("dialect", [CUDA, OPENCL], ids=["cuda", "opencl"])
def test_what_is_printed_is_the_tree(name: str, dialect: Dialect) -> None:
    assert texts(name, dialect)


# By name: the source, a part of a kernel or of the launcher, and what stands there instead.
DAMAGES = {
    "another first value": ("steps", "2L + TW_THREAD_X", "1L + TW_THREAD_X"),
    "another axis": ("steps", "tw_first_y + TW_THREAD_Y", "TW_THREAD_X"),
    "the first thread of each launch": ("steps", "tw_first_y + TW_THREAD_Y", "TW_THREAD_Y"),
    "a thread too many": ("steps", "if (j < n)", "if (j <= n)"),
    "no test for threads beyond the end": ("steps", "if (j < n)", "if (1)"),
    "another statement": ("steps", "a[(i - 1)", "a[(i - 2)"),
    "a statement that is lost": ("own", "b[i] = s;", ""),
    "a statement too many": ("own", "b[i] = s;", "b[i] = s;\n  b[i] = s;"),
    "a condition that is negated": ("steps", "if (it < (long)n - 1)", "if (!(it < (long)n - 1))"),
    "a loop of a thread that ends early": ("own", "j < m;", "j < m - 1;"),
    "a step of another size": ("own", "j++", "j += 2"),
    "a variable that is not there": ("own", "double s;", ""),
    "a variable of another type": ("own", "double s;", "float s;"),
    "host's loop of another length": ("steps", "k < t;", "k < t - 1;"),
    "launches in another order": ("steps", "f_r1_1,", "f_r1_2,"),
    "arguments in another order": ("steps", "dim3(64, 4), n, a, b", "dim3(64, 4), n, b, a"),
    "fewer threads than loops have values": ("steps", "tw_count_x = (long)n - 2", "tw_count_x = (long)n - 3"),
    "blocks of another size": ("steps", "tw_blocks(tw_count_x, 64,", "tw_blocks(tw_count_x, 128,"),
    "a launch that leaves some out": ("steps", "tw_first_y += 262140", "tw_first_y += 524280"),
    "a launch under another condition": ("steps", "if (tw_count_x > 0)", "if (tw_count_x > 1)"),
    "counters that are too narrow": ("five", "f_r1_1, n <= ", "f_r1_1, n <= 9"),
    "a size that is not asked": ("five", "TW_NARROW(f_r1_1, n <= ", "TW_NARROW(f_r1_1, 0 <= "),
    "counters of another type": ("own", "const long i", "const int i"),
    "a launch that is lost": ("steps", "TW_LAUNCH_STEP(f_r1_2", "(void)(f_r1_2"),
}


@pytest.mark.parametrize("what", DAMAGES)
def test_a_damaged_text_is_refused(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name, old, new = DAMAGES[what]
    assert any(old in text for text in texts(name)), texts(name)
    real = read_back.printed_lines
    monkeypatch.setattr(read_back, "printed_lines", lambda views: real(views).replace(old, new, 1))
    made, code = region(name)
    with pytest.raises(Unsupported) as error:
        device_part(made.program.scop, made.program.deps, code, CUDA, "host")
    assert error.value.id == "no-proof"
