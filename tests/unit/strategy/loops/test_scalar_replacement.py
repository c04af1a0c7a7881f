"""Elements that stay in variables from iteration to iteration: what is found, what the proof refuses, and runs."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from codegen.ast.ctree import CNode, For, ReplacedElements, walk
from codegen.ast.generate import generate as generate_ast
from codegen.diagnostics import InputError
from codegen.machine import load
from codegen.options import GenOptions
from codegen.pipeline import generate
from codegen.plan.model import LoopRef, ScalarReplace
from codegen.region_model import model_region
from codegen.scop.tree import loops
from codegen.source_file import open_source
from codegen.strategy.loops.scalar_replacement import replacement_gain
from codegen.transform.apply import apply
from codegen.transform.program import Program
from codegen.verify.proofs import prove
from tests.compilers import quick

HEAD = "(int n, double x[n + 2], double y[n + 2], double z[n + 2], double a[n + 2][n + 2], int L[n + 2][n + 2])"
# By name: the loop that carries, its body, and lines that have to be there.
CASES = {
    "scan": ("i", "for (int i = 1; i < n; i++) { y[i] = y[i - 1] + x[i]; z[i] = z[i - 1] + y[i]; }",
             ("double y_1 = y[0];", "const double y_0 = y_1 + x[i];", "const double z_0 = z_1 + y_0;", "z_1 = z_0;")),
    "down": ("i", "for (int i = n - 1; i >= 0; i--) y[i] = 0.5 * y[i + 1] + x[i];",
             ("const double y_0 = 0.5 * y_1 + ",)),
    "relax": ("i", "for (int i = 1; i < n - 1; i++) y[i] = (y[i - 1] + y[i] + y[i + 1]) / 3;",
              ("const double y2_0 = y[i + 1];", "const double y_0 = (y_1 + y2_1 + y2_0) / 3;")),
    "three": ("i", "for (int i = 2; i < n; i++) { y[i] = x[i - 2] + 2 * x[i - 1] + x[i]; z[0] = z[0] * 0.5 + y[i]; }",
              ("double x_2 = x[0];", "double x_1 = x[1];", "x_2 = x_1;", "z[0] = z_1;")),
    "gap": ("i", "for (int i = 2; i < n; i++) y[i] += 0.5 * y[i - 2] * x[0];",
            ("double y_1 = 3 < n ? y[1] : 0;", "if (2 < n) {", "const double c0 = x[0];")),
    "sum": ("j", "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) y[i] = y[i] * 0.5 + a[i][j] * x[j];",
            ("double y_1 = y[i];", "const double y_0 = y_1 * 0.5 + a[i][j] * x[j];", "y[i] = y_1;")),
    "table": ("j", "for (int i = 1; i <= n; i++) for (int j = 1; j <= n; j++) L[i][j] = a[i][j] > 3 ?"
              " L[i - 1][j - 1] + 1 : L[i - 1][j] > L[i][j - 1] ? L[i - 1][j] : L[i][j - 1];",
              ("const int L_0 = L[i - 1][j];", "L_1 + 1 : L_0 > L2_1 ? L_0 : L2_1;")),
    "others": ("k", "for (int i = 0; i < n; i++) for (int j = i + 1; j < n; j++) for (int k = i; k < j; k++)"
               " L[i][j] = L[i][j] < L[i][k] + L[k + 1][j] ? L[i][j] : L[i][k] + L[k + 1][j];",
               ("int L_1 = L[i][j];", "L[i][j] = L_1;")),
    "local": ("i", "for (int i = 1; i < n; i++) { double t = y[i - 1] + x[i]; y[i] = t * 0.5; }",
              ("double t;", "= y_1 + ")),
    "two steps": ("i", "for (int i = 0; i < n; i++) { y[i + 1] = y[i] + 1; y[i] = 2 * y[i + 1]; }", ("y[i] =",)),
    "other column": ("i", "for (int i = 1; i < n; i++) a[i][1] = a[i - 1][1] + a[i][2];",
                     ("const double a_0 = a_1 + a[i][2];",)),
}


def source(name: str, function: str = "f") -> str:
    return f"void {function}{HEAD}\n{{\n#pragma scop\n{CASES[name][1]}\n#pragma endscop\n}}\n"


def planned(text: str, plan: str) -> str:
    return generate("in.c", text, replace(GenOptions(), plan_text=f"region 1\n  {plan}\n")).text


@pytest.mark.parametrize("name", CASES)
def test_what_is_kept(name: str) -> None:
    loop, _, lines = CASES[name]
    text = planned(source(name), f"scalar_replace {loop}")
    assert all(line in text for line in lines), text


def test_nothing_is_kept_of_what_is_not_sure_to_be_there() -> None:
    """Beyond its condition the element need not exist."""
    body = "for (int i = 1; i < n; i++) y[i] = x[i] > 0 ? p[i - 1] + p[i] : 0;"
    text = source("scan").replace(CASES["scan"][1], body).replace("int n,", "int n, double *p,")
    assert "p_" not in planned(text, "scalar_replace i")


@pytest.mark.parametrize(
    "name, plan, words",
    [
        ("sum", "scalar_replace i", "is not innermost"),
        ("sum", "tile i:8\n  parallel i\n  scalar_replace i", "is not innermost"),
        ("scan", "scalar_replace k", "no loop k"),
        ("copy", "scalar_replace i", "no element is used again"),
        ("copy", "vector i\n  scalar_replace i", "is vector already"),
    ],
)
def test_refused(name: str, plan: str, words: str) -> None:
    text = source("scan").replace(CASES["scan"][1], "for (int i = 0; i < n; i++) y[i] = x[i];")
    with pytest.raises(InputError) as caught:
        planned(text if name == "copy" else source(name), plan)
    assert caught.value.id == "illegal-plan" and words in caught.value.message


def test_recurrences_carry_by_default() -> None:
    made = generate("in.c", source("scan"), GenOptions())
    assert "const double y_0 = y_1 + x[i];" in made.text
    assert [d.id for d in made.diagnostics if d.id == "scalar-replacement"] == ["scalar-replacement"]


def test_loops_that_wait_for_memory_do_not_carry() -> None:
    """A table whose columns come from memory: the chain through its sum is shorter than that."""
    table = ("for (int i = n - 1; i >= 0; i--) for (int j = i + 1; j < n; j++) for (int k = i; k < j; k++)"
             " L[i][j] = L[i][j] > L[i][k] + L[k + 1][j] ? L[i][j] : L[i][k] + L[k + 1][j];")
    made = generate("in.c", source("scan").replace(CASES["scan"][1], table), GenOptions())
    assert "carry" not in made.regions[0].plan


def test_what_an_iteration_waits_for() -> None:
    """A sum of doubles: an addition in registers, a store and a load more through memory, where another store stands
    between them."""
    body = "for (int i = n - 1; i >= 0; i--) { y[i] = 0.5 * y[i + 1] + x[i]; z[i] = x[i]; }"
    text = source("down").replace(CASES["down"][1], body)
    model = model_region(open_source("in.c", text, GenOptions()).slices[0], GenOptions())
    assert model is not None
    (place,) = loops(model.program.tree)
    machine = load("neoverse-n1")
    found = replacement_gain(model.program, place, machine)
    assert found is not None and found.pays and found.before == found.after + machine.load_latency


FORWARDED = {
    "always read": ("for (int i = 1; i < n; i++) y[i] = y[i - 1] + x[i];", True),
    "another type is stored": ("for (int i = 1; i < n; i++) { y[i] = y[i - 1] + x[i]; L[0][i] = i; }", True),
    "another width": ("for (int i = 1; i < n; i++) L[0][i] = (int)((long)L[0][i - 1] + i);", False),
    "a store between": ("for (int i = 1; i < n; i++) { y[i] = y[i - 1] + x[i]; z[i] = x[i]; }", False),
    "under a condition": ("for (int i = 1; i < n; i++) y[i] = x[i] > 0 ? y[i - 1] + x[i] : x[i];", False),
    "the less of two numbers": ("for (int i = 1; i < n; i++) y[i] = (y[i - 1] < x[i] ? y[i - 1] : x[i]) + 1;", False),
    "two iterations ago": ("for (int i = 2; i < n; i++) y[i] = y[i - 2] + x[i];", False),
}


@pytest.mark.parametrize("name", FORWARDED)
def test_what_compilers_forward_by_themselves(name: str) -> None:
    """The last store's value, always read in the next iteration: variables of ours only stand in the way."""
    body, forwarded = FORWARDED[name]
    text = source("scan").replace(CASES["scan"][1], body)
    model = model_region(open_source("in.c", text, GenOptions()).slices[0], GenOptions())
    assert model is not None
    (place,) = loops(model.program.tree)
    found = replacement_gain(model.program, place, load("neoverse-n1"))
    assert found is not None and (found.before > found.after) is not forwarded


def test_a_way_leads_through_several_statements() -> None:
    """Behind a store to another array, what an iteration has just written comes from memory as well."""
    body = "for (int i = 1; i < n; i++) { y[i] = x[i] - y[i - 1]; z[i] = x[i]; y[i] = y[i] * 0.5; }"
    model = model_region(open_source("in.c", source("scan").replace(CASES["scan"][1], body), GenOptions()).slices[0],
                         GenOptions())
    assert model is not None
    (place,) = loops(model.program.tree)
    machine = load("neoverse-n1")
    found = replacement_gain(model.program, place, machine)
    assert found is not None and found.before == found.after + 2 * machine.load_latency


# -- the proof -----------------------------------------------------------------------------------------------------


def carrying(name: str) -> tuple[Program, CNode, For]:
    model = model_region(open_source("in.c", source(name), GenOptions()).slices[0], GenOptions())
    assert model is not None
    p = apply(model.program, ScalarReplace(LoopRef(CASES[name][0])))
    code = generate_ast(p.scop, p.tree)
    return p, code, next(x for x in walk(code) if isinstance(x, For) and x.carried)


def put(code: CNode, old: For, new: For) -> CNode:
    if code is old:
        return new
    assert isinstance(code, For)
    return replace(code, body=put(code.body, old, new))


def wrong(name: str) -> Iterator[tuple[tuple[ReplacedElements, ...], str]]:
    _, _, loop = carrying(name)
    (first, *rest) = loop.carried
    older = tuple((k, n, age + 1) for k, n, age in first.reads)
    yield (replace(first, reads=older), *rest), "another element"
    yield (replace(first, reads=tuple((k, n, age - 1) for k, n, age in first.reads)), *rest), "before it is there"


@pytest.mark.parametrize("name", ["scan", "down"])
def test_another_age_is_found(name: str) -> None:
    p, code, loop = carrying(name)
    assert not prove(p.scop, p.deps, code)
    for changed, words in wrong(name):
        found = prove(p.scop, p.deps, put(code, loop, replace(loop, carried=changed)))
        assert any(f.check == "carried" and words in f.message for f in found), found


def test_a_write_in_between_is_found() -> None:
    """y[i] is written after it was read ahead as y[i + 1]: the next but one iteration must not use that."""
    p, code, loop = carrying("relax")
    ahead = next(c for c in loop.carried if c.source[1])
    left = next(n for n, a in enumerate(p.scop.statements[0].accesses) if not a.write)
    bad = (replace(ahead, reads=((0, left, 2),)),)
    (found,) = prove(p.scop, p.deps, put(code, loop, replace(loop, carried=bad)))
    assert found.check == "carried" and "written again" in found.message


def test_memory_that_is_looked_at_is_found() -> None:
    p, code, loop = carrying("scan")
    (found,) = prove(p.scop, p.deps, put(code, loop, replace(loop, carried=(replace(loop.carried[0], last=True),))))
    assert "not one element" in found.message
    p, code, loop = carrying("sum")
    assert [c.last for c in loop.carried] == [True]
    read = replace(loop.carried[0], reads=())
    (found,) = prove(p.scop, p.deps, put(code, loop, replace(loop, carried=(read,))))
    assert "before the loop ends" in found.message


# -- and run -------------------------------------------------------------------------------------------------------

DRIVER = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef void kernel HEAD;
static kernel *const old[] = {OLD}, *const new[] = {NEW};
int main(void)
{
  for (int k = 0; k < COUNT; k++)
    for (int n = 0; n < 12; n++) {
      size_t cells = (size_t)(n + 2) * (n + 2);
      double *d[2];
      int *t[2];
      for (int q = 0; q < 2; q++) {
        d[q] = malloc(4 * cells * sizeof(double));
        t[q] = malloc(cells * sizeof(int));
        for (size_t c = 0; c < 4 * cells; c++) d[q][c] = 1.0 + (double)(c * 7 % 13) / 4;
        for (size_t c = 0; c < cells; c++) t[q][c] = (int)(c % 5);
        (q ? new : old)[k](n, d[q], d[q] + cells, d[q] + 2 * cells, (void *)(d[q] + 3 * cells), (void *)t[q]);
      }
      if (memcmp(d[0], d[1], 4 * cells * sizeof(double)) || memcmp(t[0], t[1], cells * sizeof(int)))
        return printf("case %d, n = %d\\n", k, n);
      for (int q = 0; q < 2; q++) { free(d[q]); free(t[q]); }
    }
  return 0;
}
"""


def test_same_bits(tmp_path: Path) -> None:
    parts, old, new = [], [], []
    for k, (name, (loop, _, _)) in enumerate(CASES.items()):
        parts += [
            f"static {source(name, f'old{k}')}",
            f"static {planned(source(name, f'new{k}'), f'scalar_replace {loop}')}",
        ]
        old.append(f"old{k}")
        new.append(f"new{k}")
    names = DRIVER.replace("HEAD", HEAD).replace("OLD", ", ".join(old)).replace("NEW", ", ".join(new))
    text = "\n".join((*parts, names.replace("COUNT", str(len(old))))).replace("static /* @gen", "/* @gen")
    program = tmp_path / "x"
    (tmp_path / "x.c").write_text(text)
    sanitized = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all", *quick("gcc"))
    flags = ("-O2", "-ffp-contract=off", "-w", *sanitized)
    subprocess.run(["gcc", *flags, str(tmp_path / "x.c"), "-o", str(program)], check=True)
    done = subprocess.run([str(program)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


SUM = """#include <stdint.h>
void f(int n, int m, {target}s, const {element} a[n][m], const {element} b[m])
{{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            s[i] {op} (uint32_t)(a[i][j] > b[j] ? a[i][j] - b[j] : b[j] - a[i][j]);
#pragma endscop
}}
"""


@pytest.mark.parametrize(
    ("target", "element", "op", "kept"),
    [
        ("uint32_t *", "uint8_t", "+=", True),  # characters may be the sum's bytes
        ("int *", "signed char", "+=", True),
        ("uint32_t *", "int", "^=", True),  # the same type but for its sign
        ("uint32_t *", "uint16_t", "+=", False),  # another type: no
        ("uint32_t *restrict ", "uint8_t", "+=", False),  # the program says so
    ],
)
def test_sums_that_compilers_leave_in_memory_stay_in_a_register(target: str, element: str, op: str, kept: bool) -> None:
    text = generate("in.c", SUM.format(target=target, element=element, op=op), GenOptions(machine="generic")).text
    assert ("s[i] = s_1;" in text) == kept
