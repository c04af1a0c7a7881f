"""Values that are the same in all rows: what is found, what is not, what the proof refuses, and runs."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from codegen.ast.ctree import For, walk
from codegen.ast.generate import generate as generate_ast
from codegen.options import GenOptions
from codegen.pipeline import generate
from codegen.plan_reader.parse import parse
from codegen.recognize.access.invariant_values import alike, alike_reads
from codegen.region_model import model_region
from codegen.source_file import open_source
from codegen.transform.apply import apply
from codegen.transform.program import Program
from codegen.verify.proofs import prove

START = "p[i][0] = c;"
NEXT = "p[i][j] = c / (2 + p[i][j - 1]);"
SOURCE = f"""\
void f(int n, double c, double x[n], double p[n][n], double q[n][n])
{{
#pragma scop
    for (int i = 0; i < n; i++) {{
        {START}
        q[i][0] = x[i];
        for (int j = 1; j < n; j++) {{
            {NEXT}
            q[i][j] = (x[j] + q[i][j - 1]) * p[i][j - 1];
        }}
    }}
#pragma endscop
}}
"""
PLAN = "region 1\n  tile S1.i:4\n  distribute S1.i\n  order S3.j, S3.i\n  interleave S3.i\n"


def program(text: str) -> Program:
    model = model_region(open_source("in.c", text, GenOptions()).slices[0], GenOptions())
    assert model is not None
    return model.program


def test_what_every_row_computes_alike() -> None:
    p = program(SOURCE)
    found = [s.name for s in p.scop.statements if alike(p.scop, p.deps, s.name, 0)]
    assert found == ["S1", "S3"]
    assert not alike(p.scop, p.deps, "S3", 1)
    s = p.scop.statement("S4")
    assert [s.accesses[n].array for n in alike_reads(p.scop, p.deps, "S4", 0)] == ["x", "p"]


@pytest.mark.parametrize(
    "start, step",
    [
        ("p[i][0] = i;", NEXT),
        ("p[i][0] = x[i];", NEXT),
        ("x[i] = c;", NEXT),  # every row begins with what was there
        ("if (i < 7) p[i][0] = c;", NEXT),
        (START, "p[i][j] = c / (i + p[i][j - 1]);"),
        (START, "p[i][j] = c / (2 + p[i][j - 1]); if (j == 5) p[i][j] = x[i];"),
        (START, "if (j < i) p[i][j] = c / (2 + p[i][j - 1]);"),  # some are not there: they do not matter, others do
        (START, "p[i][j] += c / (2 + p[i][j - 1]);"),
    ],
)
def test_what_differs_between_rows(start: str, step: str) -> None:
    p = program(SOURCE.replace(START, start).replace(NEXT, step))
    last = p.scop.statements[-1]
    found = [last.accesses[n].array for n in alike_reads(p.scop, p.deps, last.name, 0)]
    assert "p" not in found


def test_rows_side_by_side_share_it() -> None:
    text = generate("in.c", SOURCE, GenOptions(plan_text=PLAN, assume_no_alias=True)).text
    assert text.count("c / (2 + p[i][j - 1])") == 2  # four rows, and the rest one by one
    assert "(x[j] + q[i + 3][j - 1]) * p[i][j - 1];" in text
    assert "p[i + 3][j] = v0;" in text


def test_reads_that_differ_are_found() -> None:
    p = program(SOURCE)
    for d in parse(PLAN, "plan", {1: p.scop})[0].directives:
        p = apply(p, d)
    assert not prove(p.scop, p.deps, generate_ast(p.scop, p.tree))
    code = generate_ast(p.scop, p.tree)
    loop = next(x for x in walk(code) if isinstance(x, For) and x.loop.alike)
    own = next(n for n, a in enumerate(p.scop.statement("S4").accesses) if a.array == "q" and not a.write)
    loop.__dict__["loop"] = replace(loop.loop, alike=(*loop.loop.alike, ("S4", own)))
    found = prove(p.scop, p.deps, code)
    assert [f.check for f in found] == ["alike"] and "`q`" in found[0].message


MAIN = """
#include <stdio.h>
int main(void)
{
    enum { n = 21 };
    static double x[n], p[n][n], q[n][n];
    for (int i = 0; i < n; i++) x[i] = i * 0.37;
    f(n, 0.7, x, p, q);
    for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) printf("%a %a\\n", p[i][j], q[i][j]);
}
"""


def test_the_same_bits(tmp_path: Path) -> None:
    out = []
    for name, plan in (("as-it-is", None), ("planned", PLAN), ("default", "")):
        options = GenOptions() if not plan else replace(GenOptions(), plan_text=plan)
        text = SOURCE if plan is None else generate("in.c", SOURCE, options).text
        (tmp_path / f"{name}.c").write_text(text + MAIN)
        command = ["gcc", "-O2", "-ffp-contract=off", "-Wno-unknown-pragmas", f"{name}.c", "-o", name]
        subprocess.run(command, cwd=tmp_path, check=True, timeout=60)
        out.append(subprocess.run([tmp_path / name], capture_output=True, check=True, timeout=20).stdout)
    assert out[0] == out[1] == out[2]
