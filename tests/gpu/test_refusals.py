"""What stays on the host, and why."""

from __future__ import annotations

from pathlib import Path

import pytest

from codegen.diagnostics import InputError
from codegen.gpu.plan.device import load_device, names, parse
from codegen.options import GenOptions
from codegen.pipeline import generate
from tests.gpu.programs import compiled

REGION = """{before}
void f(int n, {arguments})
{{
#pragma scop
  for (int i = 0; i < n; i++)
    {body}
#pragma endscop
}}
"""


@pytest.mark.parametrize(
    ("id", "arguments", "body", "before"),
    [
        ("gpu-array", "double **a", "for (int j = 0; j < n; j++) a[i][j] = 0;", ""),
        ("gpu-array", "long double *a", "a[i] = 0;", ""),
        ("gpu-call", "double *a", "a[i] = lgamma(a[i]);", "#include <math.h>"),
        ("gpu-value", "double *a, struct p *p", "a[i] *= p->scale;", "struct p { double scale; };"),
        ("gpu-value", "double *a, double new", "a[i] = new;", ""),
        ("data-dependent-subscript", "double *a, int *k, double *b", "a[i] = b[k[i]];", ""),
        ("no-parallelism", "double *a", "if (i > 0) a[i] += a[i - 1];", ""),
        ("thread-local", "double *a", "a[i] = t;", "static _Thread_local double t;"),
    ],
)
def test_refused(id: str, arguments: str, body: str, before: str) -> None:
    text = REGION.format(arguments=arguments, body=body, before=before)
    made = generate("f.c", text, GenOptions(target="cuda", stem="f"))
    assert not any(r.transformed for r in made.regions)
    assert id in {n.id for d in made.diagnostics for n in d.notes}


def test_every_device_can_be_read() -> None:
    assert set(names()) >= {"v100", "a100", "h100", "h200", "rtx4090", "mi250x", "generic"}
    for name in names():
        found = load_device(name)
        assert found.name == name and found.warp in (32, 64) and found.bandwidth > 1e11 > found.link


def test_a_device_that_is_wrong() -> None:
    with pytest.raises(InputError, match="unknown device 'h2000'"):
        load_device("h2000")
    with pytest.raises(InputError, match="unknown key `wrap`"):
        parse("x.toml", "wrap = 32")
    with pytest.raises(InputError, match="`warp` is no int"):
        parse("x.toml", "warp = '32'")
    with pytest.raises(InputError, match="is missing"):
        parse("x.toml", "warp = 32")


def test_blocks_fit_the_device() -> None:
    text = REGION.format(arguments="double *a", body="a[i] = 0;", before="")
    device = generate("f.c", text, GenOptions(target="hip", stem="f", device="mi250x")).extra.file(".tw.hip")
    assert "hipMemcpy2D" in device and "cuda" not in device and "__launch_bounds__(512)" in device


@pytest.mark.parametrize(("target", "ending"), [("cuda", ".tw.cu"), ("hip", ".tw.hip"), ("opencl", ".tw.cl.c")])
def test_files_without_anything_for_a_device(target: str, ending: str, tmp_path: Path) -> None:
    """They are there, since rules of builds name them, and need no compiler for devices."""
    refused = REGION.format(arguments="long double *a", body="a[i] = 0;", before="")
    for text in (refused, "int x;\n"):
        made = generate("f.c", text, GenOptions(target=target, stem="f"))
        for name in (ending, ".tw.h"):
            (tmp_path / f"f{name}").write_text(made.extra.file(name))
        strict = ["-pedantic", "-Wall", "-Wextra", "-Werror", "-c", f"{tmp_path}/f{ending}", "-o", f"{tmp_path}/f.o"]
        for compiler in (["gcc", "-x", "c"], ["g++", "-x", "c++"]):
            compiled([*compiler, *strict])
