"""Pointers that lead nowhere may be passed where the source does not follow them.

Sizes and pointers in structs are read ahead of the loops: only where the source surely comes to read them.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from codegen.options import GenOptions
from codegen.pipeline import generate

HEAD = """\
#include <stddef.h>
#include <stdlib.h>
struct grid { int m, k, dim[3]; long wide; double w; float *f; double *x; struct grid *in; struct grid *rows; };
static int zeros[300];
static double room[90000], other[90000];
static struct grid *const no = NULL;
"""

# Parameters, the region, and calls for which the source follows no pointer that leads nowhere.
CASES = {
    "bound": (
        "int n, struct grid *to",
        "for (int i = 0; i < n; i++) for (int j = 0; j < to->m; j++) to->x[j] += to->w * i;",
        ("0, no", "-3, no"),
    ),
    "only_data": (
        "int n, const int *c, struct grid *to",
        "for (int i = 0; i < n; i++) if (c[i]) for (int j = 0; j < to->m; j++) to->x[j] += i;",
        ("0, c, no", "300, zeros, no"),
    ),
    "data_and_more": (
        "int n, const int *c, double *y, struct grid *to",
        "for (int i = 0; i < n; i++) { y[i] += 1; if (c[i] && to->k > 3) for (int j = 0; j < to->m; j++) y[j] += i; }",
        ("0, no, no, no", "300, zeros, room, no"),
    ),
    "chosen": (
        "int n, const int *c, double *y, struct grid *to, const int *size",
        "for (int i = 0; i < n; i++) { y[i] = c[i] && *size > i ? to->w : i < 5 || !c[i] || to->m > i ? y[i] : 0; }",
        ("0, c, no, no, c", "300, zeros, room, no, NULL"),
    ),
    "nested": (
        "int n, struct grid *to, double *y",
        "for (int i = 0; i < n; i++) for (int j = 0; j < to->in->m; j++) y[i] += to->in->x[j];",
        ("0, no, NULL", "0, &half, NULL"),
    ),
    "inner": (
        "int n, struct grid *to, double *y",
        "for (int i = 0; i < n; i++) for (int j = 0; j < to->m; j++) for (int k = 0; k < to->in->m; k++)"
        " y[i] += to->in->x[k] * to->x[j];",
        ("0, no, NULL", "0, &half, NULL", "300, &half, NULL"),
    ),
    "value": (
        "int n, int m, struct grid *to, double *y",
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) y[i * 300 + j] = to->in->w * y[i * 300 + j];",
        ("0, 300, no, NULL", "300, 0, &half, NULL"),
    ),
    "flat": (
        "int n, struct grid *to, double *y",
        "for (int i = 0; i < n; i++) for (int j = 0; j < to->m; j++)"
        " y[i * to->m + j] = to->w * y[i * to->m + j] + to->x[j * to->k];",
        ("0, no, NULL", "300, &half, NULL"),
    ),
    "array": (
        "int n, struct grid *to, double *y",
        "for (int i = 0; i < n; i++) for (int j = 0; j < to->dim[2]; j++) y[i] += to->x[i * to->dim[2] + j];",
        ("0, no, NULL", "300, &half, room"),
    ),
    "element": (
        "int n, int k, struct grid *t, double *y",
        "for (int i = 0; i < n; i++) for (int j = 0; j < t[k].m; j++) y[i] += t[k].x[j];",
        ("0, 3, no, NULL",),
    ),
    "rows": (
        "int n, int m, double **p, double *y",
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) { y[i] += p[i][j]; p[i][j] = y[i]; }",
        ("0, 300, NULL, NULL", "300, 0, NULL, NULL"),
    ),
    "wide": (
        "long n, struct grid *to, double *y",
        "for (long i = 0; i < n; i++) for (long j = 0; j < to->wide; j++) y[j] += i;",
        ("0, no, NULL", "-9223372036854775807, no, NULL"),
    ),
    "product": (
        "int n, struct grid *a, struct grid *b, struct grid *c",
        "for (int i = 0; i < n; i++) for (int j = 0; j < c->m; j++) for (int k = 0; k < a->m; k++)"
        " c->x[i * c->m + j] += a->x[i * a->m + k] * b->x[k * c->m + j];",
        ("0, no, no, no", "300, no, no, &half", "300, &half, no, &full"),
    ),
    "beside": (
        "int n, int l, struct grid *to, double *y, double *z",
        "for (int i = 0; i < n; i++) z[i] += 1;"
        " for (int i = 0; i < l; i++) for (int j = 0; j < to->m; j++) y[i * 300 + j] += to->w * to->x[j];",
        ("0, 0, no, NULL, NULL", "300, 0, no, NULL, room"),
    ),
    "products": (
        "int n, int l, struct grid *to, double *y",
        "for (int i = 0; i < n; i++) for (int j = 0; j < to->m * to->k; j++) if (l > 0 && to->in->k > j) y[j] += i;",
        ("0, 0, no, NULL", "300, 0, &full, room", "300, 2, &half, NULL"),
    ),
    "own": (
        "int n, struct grid *to, double *y",
        "for (int i = 0; i < n; i++) { double t[to->m + 1]; for (int j = 0; j < to->m; j++) t[j] = y[j] + i;"
        " for (int j = 1; j < to->m; j++) y[j] = t[to->m - j] + t[j - 1]; }",
        ("0, no, NULL", "300, &half, NULL"),
    ),
}  # fmt: skip
SETUP = "  static struct grid half, full = {.m = 4, .k = 2, .x = room};\n  const int *const c = zeros;\n  (void)c;\n"


def _program(text: str) -> str:
    calls = [f"  {name}({given});\n" for name, (_, _, sets) in CASES.items() for given in sets]
    return text + "int main(void)\n{\n" + SETUP + "".join(calls) + "  return 0;\n}\n"


def _source() -> str:
    parts = [
        f"void {name}({params})\n{{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"
        for name, (params, body, _) in CASES.items()
    ]
    return HEAD + "".join(parts)


def _run(text: str, folder: Path, *flags: str) -> None:
    (folder / "z.c").write_text(_program(text))
    always = ("-O0", "-w", "-fopenmp", "-fsanitize=address,undefined", "-fno-sanitize-recover")
    subprocess.run(["gcc", *always, *flags, "-o", folder / "z", folder / "z.c", "-lm"], check=True, timeout=100)
    env = {**os.environ, "OMP_NUM_THREADS": "2", "OMP_WAIT_POLICY": "passive"}
    done = subprocess.run([folder / "z"], capture_output=True, text=True, timeout=100, env=env)
    assert done.returncode == 0, "\n".join(done.stderr.splitlines()[-30:])


def test_the_source_follows_none(tmp_path: Path) -> None:
    _run(_source(), tmp_path)


def test_what_stands_before_the_loops() -> None:
    """The fast version is for calls that follow the pointer; nothing changes where that is all of them."""
    made = generate("z.c", _source(), GenOptions(target="c")).text
    assert "if (n >= 1 && tw_apart(1, 2, (tw_span[]){ TW_SPAN(to->x, 0, to->m), TW_SPAN(to, 0, 1) })) {" in made
    assert "const int to_m = l >= 1 ? to->m : 0;" in made  # beside loops that do not follow it
    sure = "struct g { int m, k; };\nvoid f(struct g *to, double *y)\n{\n#pragma scop\nfor (int i = 0; i < to->m; i++)"
    sure += " for (int j = 0; j < to->k; j++) y[i] += j;\n#pragma endscop\n}\n"
    assert "?" not in generate("z.c", sure, GenOptions(target="c", assume_no_alias=True)).text.split("void f")[1]


def test_cores_get_values_that_were_read() -> None:
    params, body, _ = CASES["beside"]
    body = body.replace("y[i * 300 + j] += to->w * to->x[j]", "y[i][j] += i")
    params = params.replace("double *y", "double (*y)[300]")
    text = f"{HEAD}void f({params})\n{{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"
    made = generate("z.c", text, GenOptions(target="sunway"))
    assert made.regions[0].transformed
    assert "const int to_m = l >= 1 ? to->m : 0;" in made.text and ".to_m = to_m" in made.text


@pytest.mark.parametrize("options", [GenOptions(), GenOptions(target="c", assume_no_alias=True)], ids=["openmp", "c"])
def test_none_is_followed(options: GenOptions, tmp_path: Path) -> None:
    made = generate("z.c", _source(), options)
    assert all(r.transformed for r in made.regions)
    _run(made.text, tmp_path, "-DTW_PARALLEL_MIN=0")
