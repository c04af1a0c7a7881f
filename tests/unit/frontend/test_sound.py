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
    "place that is only there where the condition holds": (
        region(
            "int n, const int *A, double *B, double *C",
            "    for (int i = 0; i < n; i++) {\n        if (A[i] > 0)\n            B[i] = A[i];\n"
            "        if (A[i] > 0)\n            C[i] += 1.0;\n    }",
        ),
        "",
        "    static const double C[5] = {1, 2, 3, 4, 5}; int A[5] = {0, -1, 0, -2, 0}; f(5, A, 0, (double *)C);\n"
        '    printf("%g\\n", C[4]);',
    ),
    "place of a branch not taken": (
        region(
            "int n, const int *A, double *B",
            "    for (int i = 0; i < n; i++)\n        if (A[i] > 1) {\n            if (A[i] > 2)\n"
            "                B[i] = 3;\n        } else if (A[i] < 0)\n            B[i] = -1;",
        ),
        "",
        "    double B[4] = {0}; int A[8] = {3, -1, 2, 0, 1, 2, 1, 0}; f(8, A, B);\n"
        '    for (int k = 0; k < 4; k++) printf("%g\\n", B[k]);',
    ),
    "value that only the taken branch may compute": (
        region(
            "int n, const int *A, int *B, const int *C",
            "    for (int i = 0; i < n; i++) {\n        if (A[i] != 0)\n            B[i] = 100 / A[i];\n"
            "        else\n            B[i] = C[i];\n        if (i > 0 && B[i - 1] > 2)\n            B[i] += 1;\n    }",
        ),
        "",
        "    int A[6] = {3, 0, -7, 0, 100, 1}, C[4] = {1, 2, 3, 4}, B[6]; f(6, A, B, C);\n"
        '    for (int k = 0; k < 6; k++) printf("%d\\n", B[k]);',
    ),
    "variable that is not always set": (
        region(
            "int n, const int *A, double *B",
            "    for (int i = 0; i < n; i++) {\n        _Bool odd;\n        double t;\n        if (A[i] > 0)\n"
            "            odd = A[i] & 1;\n        if (A[i] > 0)\n            t = A[i];\n"
            "        if (A[i] > 0)\n            B[i] = odd ? t : -t;\n    }",
        ),
        "",
        "    int A[6] = {3, 0, -7, 4, 100, 1}; double B[6] = {0}; f(6, A, B);\n"
        '    for (int k = 0; k < 6; k++) printf("%g\\n", B[k]);',
    ),
    "variable that keeps a value from an earlier iteration": (
        region(
            "int n, const int *A, double *B",
            "    for (int i = 0; i < n; i++) {\n        if (A[i] > 0)\n            last = A[i];\n"
            "        B[i] = last;\n    }",
            "static double last = 7;\n",
        ),
        "",
        f"    int *A = malloc({N} * sizeof *A); double *B = malloc({N} * sizeof *B), s = 0;\n"
        f"    for (int k = 0; k < {N}; k++) A[k] = k % 100 == 7 ? k : 0;\n    f({N}, A, B);\n"
        f'    for (int k = 0; k < {N}; k++) s += B[k] * (k % 7); printf("%g %g\\n", s, last);',
    ),
    "branches of different types": (
        region(
            "int n, const int *A, long *L, float *F, unsigned char *C, int *I, unsigned *U",
            "    for (int i = 0; i < n; i++) {\n        if (A[i] > 0)\n            L[i] = U[i];\n        else\n"
            "            L[i] = -1;\n        if (A[i] > 1)\n            I[i] = F[i];\n        else\n"
            "            I[i] = 16777217;\n        if (A[i] > 2)\n            C[i] += 250;\n        else\n"
            "            C[i] = 2.5f;\n        if (A[i] == 0)\n            I[i] = U[i];\n        if (A[i] != 2)\n"
            "            F[i] = I[i];\n        else\n            F[i] = 0.1;\n    }",
        ),
        "",
        "    int A[4] = {0, 1, 2, 3}, I[4] = {9, 8, 7, 6}; long L[4]; float F[4] = {1.5, 2.5, 3.5, 4.5};\n"
        "    unsigned char C[4] = {200, 201, 202, 203}; unsigned U[4] = {4000000000u, 1, 2, 3000000000u};\n"
        "    f(4, A, L, F, C, I, U);\n"
        '    for (int k = 0; k < 4; k++) printf("%ld %d %.9g %d\\n", L[k], I[k], F[k], C[k]);',
    ),
    "one assignment in another": (
        region(
            "int n, double *A, int *B, unsigned char *C, float *D",
            "    for (int i = 0; i < n; i++) {\n        A[i] = B[i] = C[i] = D[i] = A[i] * 300.7;\n"
            "        A[i] += B[i] -= 2;\n        double t = C[i] = i + 0.5;\n        D[i] = t;\n    }",
        ),
        "",
        "    double A[3] = {0.3, 0.2, 0.1}; int B[3]; unsigned char C[3]; float D[3]; f(3, A, B, C, D);\n"
        '    for (int k = 0; k < 3; k++) printf("%.17g %d %d %.9g\\n", A[k], B[k], C[k], D[k]);',
    ),
    "truth that ends the search": (
        region(
            "int n, const int *A",
            "    for (int i = 0; i < n; i++)\n        found = found || 12 / A[i] == 4;\n"
            "    for (int i = 0; i < n; i++)\n        some = A[i] || some;",
            "int found, some = 5;\n",
        ),
        "",
        '    int A[5] = {1, 2, 3, 0, 4}; f(5, A); printf("%d %d\\n", found, some);\n'
        '    some = 5; found = 0; f(0, A); printf("%d %d\\n", found, some);',
    ),
    "largest and smallest": (
        region(
            "int n, const int *A, const unsigned *U, const short *H, const signed char *C",
            "    for (int i = 0; i < n; i++) {\n        if (A[i] > most)\n            most = A[i];\n"
            "        least = least < A[i] ? least : A[i];\n        if (U[i] > mixed)\n            mixed = U[i];\n"
            "        if (H[i] * 3 > cut)\n            cut = H[i] * 3;\n"
            "        tiny = C[i] <= tiny ? C[i] : tiny;\n        if (A[i] % 3 == 0)\n            times++;\n    }",
            "int most = -5, least = 3, mixed = 1;\nshort cut;\nsigned char tiny = 3;\nunsigned times;\n",
        ),
        "",
        f"    int *A = malloc({N} * sizeof *A); unsigned *U = malloc({N} * sizeof *U);\n"
        f"    short *H = malloc({N} * sizeof *H); signed char *C = malloc({N});\n"
        f"    for (int k = 0; k < {N}; k++) {{ A[k] = k * 7919 % 99991 - 40000; U[k] = k * 85899u; H[k] = k * 3;"
        f" C[k] = k % 99 - 49; }}\n"
        f'    f({N}, A, U, H, C); printf("%d %d %d %d %d %u\\n", most, least, mixed, cut, tiny, times);',
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
    "last element that is large": region(
        "int n, const double *A, double *B",
        "    for (int i = 0; i < n; i++)\n        if (A[i] > 0.5)\n            B[0] = A[i];",
    ),
    "variable that a condition may leave alone": region(
        "int n, const double *A, double *B",
        "    for (int i = 0; i < n; i++) {\n        if (A[i] > 0.5)\n            t = A[i];\n        B[i] = t;\n    }",
        "double t;\n",
    ),
    "largest of values that are cut to a byte": region(
        "int n, const int *A",
        "    for (int i = 0; i < n; i++)\n        if (A[i] > top)\n            top = A[i];",
        "unsigned char top;\n",
    ),
    "largest of unsigned values as an int": region(
        "int n, const unsigned *A",
        "    for (int i = 0; i < n; i++)\n        top = A[i] > top ? A[i] : top;",
        "int top;\n",
    ),
    "largest floating-point number": region(
        "int n, const double *A",
        "    for (int i = 0; i < n; i++)\n        top = A[i] > top ? A[i] : top;",
        "double top;\n",
    ),
    "choice of something else than the larger": region(
        "int n, const int *A",
        "    for (int i = 0; i < n; i++)\n        top = A[i] > top ? A[i] + 1 : top;",
        "int top;\n",
    ),
    "sum under a condition on the sum": region(
        "int n, const unsigned *A",
        "    for (int i = 0; i < n; i++)\n        if (sum < 100)\n            sum += A[i];",
        "unsigned sum;\n",
    ),
    "logical or that a clause would make 0 or 1": region(
        "int n, const int *A", "    for (int i = 0; i < n; i++)\n        some = A[i] || some;", "int some;\n"
    ),
    "product of short integers that could overflow in another order": region(
        "int n, const unsigned short *A", "    for (int i = 0; i < n; i++)\n        p *= A[i];", "unsigned short p;\n"
    ),
}


def test_a_global_scalar_as_a_temporary_keeps_its_last_value() -> None:
    body = "    for (int i = 0; i < n; i++) {\n        t = A[i];\n        B[i] = t * t;\n    }"
    made = generate("in.c", region("int n, double *A, double *B", body, "double t;\n"), GenOptions())
    text = " ".join(made.text.split())
    assert "#pragma omp parallel" in text  # all iterations but the last, which alone is seen afterwards
    assert "B[(tw_index)n - 1] = t_own * t_own; t = t_own;" in text and text.count("t = t_own;") == 1


@pytest.mark.parametrize("name", CARRIED)
def test_is_not_made_parallel(name: str) -> None:
    made = generate("in.c", CARRIED[name], GenOptions())
    assert "#pragma omp" not in made.text
