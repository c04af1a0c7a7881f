"""What stays on the host, and why."""

from __future__ import annotations

import subprocess
import sys
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


GOOD = """void good(int n, double *a)
{
#pragma scop
  for (int i = 0; i < n; i++)
    a[i] = 2 * a[i];
#pragma endscop
}
"""
SEVERAL = """void several(int n, double *a, long double *b)
{
#pragma scop
  for (int i = 0; i < n; i++)
    a[i] = 2 * a[i];
  for (int i = 0; i < n; i++)
    b[i] = 0;
#pragma endscop
}
"""
EMPTY = "void nothing(void)\n{\n#pragma scop\n#pragma endscop\n}\n"
REFUSED = REGION.format(arguments="long double *a", body="a[i] = 0;", before="")
NO_MODEL = REGION.format(arguments="double *a", body="{ a[i] = 0; g(a); }", before="void g(double *);")
DEVICES = ("cuda", "hip", "opencl")


@pytest.mark.parametrize("target", DEVICES)
@pytest.mark.parametrize("before", ["", GOOD])
@pytest.mark.parametrize("refused", [REFUSED, NO_MODEL, SEVERAL])
def test_the_host_does_not_follow_pointers_of_the_device(target: str, before: str, refused: str) -> None:
    with pytest.raises(InputError, match="pointers of the device") as raised:
        generate("f.c", before + refused, GenOptions(target=target, stem="f", arrays="device"))
    error = raised.value
    line = (before + refused)[: (before + refused).rindex("#pragma scop")].count("\n") + 1
    assert error.id == "device-arrays" and error.loc.file == "f.c"
    assert error.loc.line in (line, line + 1) or target == "opencl"


@pytest.mark.parametrize("target", DEVICES)
def test_what_runs_on_the_device_is_no_error(target: str) -> None:
    for arrays, text in (("device", EMPTY), ("device", "int x;\n"), ("host", GOOD + REFUSED)):
        generate("f.c", text, GenOptions(target=target, stem="f", arrays=arrays))
    if target != "opencl":
        made = generate("f.c", GOOD + EMPTY, GenOptions(target=target, stem="f", arrays="device"))
        assert made.regions[0].transformed
        generate("f.c", GOOD + REFUSED, GenOptions(target=target, stem="f", arrays="managed"))


def test_several_regions_that_are_refused_are_counted() -> None:
    text, options = REFUSED + GOOD + REFUSED.replace("f(", "g("), GenOptions(target="cuda", stem="f", arrays="device")
    with pytest.raises(InputError, match="so do those of 1 more region"):
        generate("f.c", text, options)


def test_nothing_is_written(tmp_path: Path) -> None:
    source = tmp_path / "f.c"
    source.write_text(GOOD + REFUSED)
    words = [sys.executable, "-m", "tilewright", "gen", str(source), "--target=cuda", "--arrays=device"]
    done = subprocess.run([*words, "-o", str(tmp_path / "out")], capture_output=True, text=True)
    assert done.returncode == 1 and "f.c:11:" in done.stderr and "[device-arrays]" in done.stderr
    assert not (tmp_path / "out").exists()
