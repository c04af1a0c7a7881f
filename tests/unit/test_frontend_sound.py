"""Sources that look harmless and are not: the result behaves as the source, or the region is refused."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from codegen.options import GenOptions
from codegen.pipeline import generate

N = 50_000  # enough work for threads


def region(params: str, body: str, before: str = "") -> str:
    return f"{before}void f({params})\n{{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"


def behaviour(folder: Path, name: str, text: str, main: str) -> str:
    """What a program does: its output and its exit status."""
    (folder / f"{name}.c").write_text(text + main, encoding="utf-8")
    words = ["gcc", "-std=gnu11", "-O1", "-fopenmp", "-w", f"{name}.c", "-o", name, "-lm"]
    built = subprocess.run(words, cwd=folder, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    done = subprocess.run(
        [f"./{name}"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "OMP_NUM_THREADS": "2", "OMP_DYNAMIC": "false"},
    )
    return f"{done.stdout}exit {done.returncode}"


MAIN = "#include <stdio.h>\n#include <stdlib.h>\nint main(void)\n{{\n{0}\n    return 0;\n}}\n"
RUN = {
    "variable of the region hides one that is still read": (
        region(
            "int n, double t, double *A, double *B",
            "    for (int i = 0; i < n; i++) {\n        A[i] = t;\n        double t = i * 2.0;\n"
            "        B[i] = t;\n    }",
        ),
        "",
        "    double A[9], B[9]; f(9, 7.5, A, B);\n"
        '    for (int k = 0; k < 9; k++) printf("%g %g\\n", A[k], B[k]);',
    ),
    "narrowing cast in a flat subscript": (
        region(
            "int n, double *A",
            "    for (int i = 0; i < 1000; i++)\n        for (int j = 0; j < n; j++)\n"
            "            A[(unsigned char)i * n + j] += 1.0;",
        ),
        "",
        '    static double A[1000 * 3]; f(3, A);\n    for (int k = 0; k < 3000; k += 50) printf("%g\\n", A[k]);',
    ),
    "narrow variable in a flat subscript": (
        region(
            "int n, double *A",
            "    for (int i = 0; i < 1000; i++) {\n        unsigned char k = i;\n"
            "        for (int j = 0; j < n; j++)\n            A[k * n + j] += 1.0;\n    }",
        ),
        "",
        '    static double A[1000 * 3]; f(3, A);\n    for (int k = 0; k < 3000; k += 50) printf("%g\\n", A[k]);',
    ),
    "size of a loop variable": (
        region("int n, unsigned long *A", "    for (int i = 0; i < n; i++)\n        A[i] = sizeof i;"),
        "",
        '    unsigned long A[4]; f(4, A); printf("%lu\\n", A[3]);',
    ),
    "size of a variable of the region": (
        region(
            "int n, unsigned long *A",
            "    for (int i = 0; i < n; i++) {\n        float t = 1.0f;\n        A[i] = sizeof(t);\n    }",
        ),
        "",
        '    unsigned long A[4]; f(4, A); printf("%lu\\n", A[3]);',
    ),
    "array as long as a loop variable": (
        region(
            "int n, double *A, double *B",
            "    for (int i = n - 1; i >= 0; i--) {\n        double t[i + 1];\n"
            "        for (int j = 0; j <= i; j++)\n            t[j] = A[j] * i;\n"
            "        for (int j = 0; j <= i; j++)\n            B[i] += t[j];\n    }",
        ),
        "region 1\n",
        "    double A[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9}, B[9] = {0}; f(9, A, B);\n"
        '    for (int k = 0; k < 9; k++) printf("%g\\n", B[k]);',
    ),
    "members of a struct variable of the region": (
        region(
            "int n, struct c *x",
            "    for (int i = 0; i < n; i++) {\n        struct c t = x[i];\n        x[i].re = t.im;\n"
            "        x[i].im = -t.re;\n    }",
            "struct c {\n    double re, im;\n};\n",
        ),
        "",
        '    struct c x[2] = {{1, 2}, {3, 4}}; f(2, x); printf("%g %g\\n", x[1].re, x[1].im);',
    ),
    "unsigned sum of fractions": (
        region(
            "int n, const double *d", "    for (int i = 0; i < n; i++)\n        u += d[i];", "unsigned u = 40000;\n"
        ),
        "",
        f"    double *d = malloc({N} * sizeof *d); for (int k = 0; k < {N}; k++) d[k] = k % 2 ? -0.75 : 0.5;\n"
        f'    f({N}, d); printf("%u\\n", u);',
    ),
    "unsigned product of fractions": (
        region("int n, const double *d", "    for (int i = 0; i < n; i++)\n        u *= d[i];", "unsigned u = 7;\n"),
        "",
        f"    double *d = malloc({N} * sizeof *d); for (int k = 0; k < {N}; k++) d[k] = k % 2 ? 0.5 : 2.0;\n"
        f'    f({N}, d); printf("%u\\n", u);',
    ),
}


@pytest.mark.parametrize("name", RUN)
def test_runs_alike(name: str, tmp_path: Path) -> None:
    text, plan, calls = RUN[name]
    made = generate("in.c", text, GenOptions(plan_text=plan or None))
    main = MAIN.format(calls)
    assert behaviour(tmp_path, "after", made.text, main) == behaviour(tmp_path, "before", text, main)


CARRIED = {
    # A function with the attribute `pure` may read memory, such as the array that the region writes.
    "pure function that reads what the region writes": region(
        "int n",
        "    for (int i = 1; i < n; i++)\n        G[i] = get(i - 1) + 1.0;",
        "double G[1000];\ndouble get(int i) __attribute__((pure));\n",
    ),
    "members of a union within a struct": region(
        "int n, struct box *b",
        "    for (int i = 1; i < n; i++)\n        b[i].v.f = b[i - 1].v.u + 1;",
        "struct box {\n    union {\n        float f;\n        unsigned u;\n    } v;\n};\n",
    ),
    "members of a union": region(
        "int n, union v *b",
        "    for (int i = 1; i < n; i++)\n        b[i].f = b[i - 1].u + 1;",
        "union v {\n    float f;\n    unsigned u;\n};\n",
    ),
    "volatile source": region(
        "int n, volatile double *r, double *A", "    for (int i = 0; i < n; i++)\n        A[i] = *r;"
    ),
    "volatile target": region(
        "int n, volatile double *r, double *A", "    for (int i = 0; i < n; i++)\n        r[i] = A[i];"
    ),
    "volatile scalar": region(
        "int n, double *A", "    for (int i = 0; i < n; i++)\n        A[i] = clock;", "extern volatile double clock;\n"
    ),
    "atomic counter": region(
        "int n, double *A", "    for (int i = 0; i < n; i++)\n        A[i] = ticks;", "extern _Atomic int ticks;\n"
    ),
    "global scalar as a temporary": region(
        "int n, double *A, double *B",
        "    for (int i = 0; i < n; i++) {\n        t = A[i];\n        B[i] = t * t;\n    }",
        "double t;\n",
    ),
}


@pytest.mark.parametrize("name", CARRIED)
def test_is_not_made_parallel(name: str) -> None:
    made = generate("in.c", CARRIED[name], GenOptions())
    assert "#pragma omp" not in made.text
