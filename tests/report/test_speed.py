"""Counts at large sizes, roofs, and what is measured when asked."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from codegen.cli.main import main
from codegen.machine import load
from codegen.machine.toml import parse
from codegen.options import GenOptions
from codegen.region_model import model_region
from codegen.report.counting import region_operations
from codegen.report.html.roofline import peak, roofs
from codegen.report.speed import Speed
from codegen.source_file import open_source
from tests.report.pages import read

SCALE = """void f(int n, double a[n], double b[n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    a[i] += 3 * b[i];
#pragma endscop
}
"""


def _operations(body: str, **sizes: int) -> dict[str, int]:
    head = "void f(int n, int m, double a[n][n], double b[m][n])\n{\n#pragma scop\n"
    (part,) = open_source("in.c", f"{head}{body}\n#pragma endscop\n}}\n", GenOptions()).slices
    model = model_region(part, GenOptions())
    assert model is not None
    return region_operations(model.program.scop, sizes)


def test_operations_of_large_regions() -> None:
    """Boxes, simplices, loops with steps, and sizes that differ."""
    n, m = 2003, 700
    box = _operations("for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) a[i][j] += 2 * a[i][j];", n=n)
    assert box == {"S1": 2 * n * n}
    simplex = "for (int k = 0; k < n; k++) for (int i = k; i < n; i++) for (int j = i; j < n; j++) a[i][j] -= a[k][j];"
    assert _operations(simplex, n=n) == {"S1": n * (n + 1) * (n + 2) // 6}
    two = "for (int k = 0; k < m; k++) for (int i = 0; i < n; i++) for (int j = 0; j <= i; j++) a[i][j] += b[k][j];"
    assert _operations(two, n=n, m=m) == {"S1": m * n * (n + 1) // 2}
    small = _operations("for (int i = 0; i < n; i += 3) a[i][0] = -a[i][0];", n=100)
    assert small == {"S1": 34}
    odd = "for (int i = 0; i < n; i += 2) for (int j = 0; j < n; j += 3) for (int k = 0; k < m; k++) a[i][j] += 1;"
    assert _operations(odd, n=n, m=m) == {}  # no polynomial: better no figure than a wrong one


def test_roofs_are_those_of_the_memory() -> None:
    machine = replace(load("generic"), cores=4, frequency_hz=2e9, core_bandwidth=16e9, memory_bandwidth=32e9)
    assert [(r.bytes, r.name) for r in roofs(machine)] == [(4.0, "memory, all 4 cores"), (8.0, "memory, one core")]
    alone = replace(machine, memory_bandwidth=160e9)  # more than four cores can ask for
    assert [r.bytes for r in roofs(alone)] == [8.0]
    unknown = replace(machine, core_bandwidth=None, memory_bandwidth=None)
    assert [r.name for r in roofs(unknown)] == ["lines one by one", "lines as asked for"]
    assert peak(machine, 8) == 8 and peak(machine, 4) == 16


def test_every_machine_tells_its_memory() -> None:
    from codegen.machine.load import names

    assert all(m.memory_bandwidth and m.frequency_hz for m in map(load, names()))


def test_text_of_a_measurement() -> None:
    speed = Speed({"n": 10}, 2.0, 0.5, {"S1": 3_000_000_000})
    assert speed.text == ("at n = 10 the source took 2 s (1.5 billion operations per second), the generated code "
                          "500 ms (6 billion operations per second), 4 times as fast")
    assert Speed({}, 1.0, 1.0).text.startswith("at its own sizes the source took 1 s, the generated code 1 s,")


@pytest.mark.slow
def test_inspect_measures_when_asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, page = tmp_path / "in.c", tmp_path / "out.html"
    source.write_text(SCALE, encoding="utf-8")
    assert main(["inspect", "--measure", "--sizes", "n=5000", str(source)]) == 0
    said = capsys.readouterr()
    assert "measured on one thread: at n = 5000 the source took " in said.out and said.err == ""
    assert main(["inspect", "--measure", "--sizes", "n=5000", "--html", str(page), str(source)]) == 0
    html = page.read_text(encoding="utf-8")
    assert "generated, measured" in html and 'class="is"' in html and "times as fast" in " ".join(read(html).words)
    for bad in (["--sizes", "n=5"], ["--measure", "--sizes", "n"], ["--measure", "--target", "sunway"]):
        assert main(["inspect", *bad, str(source)]) == 2


@pytest.mark.slow
def test_machine_detect_measures_when_asked(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["machine", "detect", "--measure"]) == 0
    out = capsys.readouterr().out
    found = parse("native.toml", out)
    assert found.core_bandwidth and found.memory_bandwidth and found.memory_bandwidth >= found.core_bandwidth > 1e7
    assert "# found: memory = " in out and " (measured)\n" in out
    assert main(["machine", "list", "--measure"]) == 2
