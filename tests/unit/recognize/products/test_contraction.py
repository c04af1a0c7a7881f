"""Which statements are products, of which rows, columns and depth, by which step; and what is none, and why."""

from __future__ import annotations

import pytest

from codegen.options import GenOptions
from codegen.pipeline import generate
from codegen.recognize.products.contraction import NoContraction, contraction
from codegen.region_model import model_region
from codegen.scop.model import Scop
from codegen.scop.product import Contraction
from codegen.source_file import open_source

HEAD = """#include <math.h>
#include <stdint.h>
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
enum color { RED, GREEN };
struct cell { double x; float y; };
double user(double x) { return x * x; }
"""
PARAMS = (
    "int n, int m, int flag, double alpha, float f, double A[n][n], double B[n][n], double C[n][n], double D[n][n][n],"
    " double E[n][n][n], double v[n], double w[n], float F[n][n], float G[n][n], float H[n][n], int I[n][n],"
    " int J[n][n], int K[n][n], long L[n][n], long M[n][n], unsigned U[n][n], unsigned V[n][n],"
    " short S[n][n], short T[n][n],"
    " int8_t a8[n][n], int8_t b8[n][n], int8_t c8[n][n], uint8_t u8[n][n], uint8_t v8[n][n], uint8_t w8[n][n],"
    " uint64_t W[n][n], double **P, double *Q, double ***R, enum color X[n][n], char Y[n][n], struct cell Z[n][n],"
    " double (*band)[7], int *q, double tw_c"
)
NEST = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < n; k++) "


def scop_of(body: str) -> Scop:
    text = f"{HEAD}void f({PARAMS})\n{{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"
    model = model_region(open_source("in.c", text, GenOptions()).slices[0], GenOptions())
    assert model is not None
    return model.program.scop


def found(body: str, outer: int = 0, free: bool = False) -> Contraction:
    scop = scop_of(body)
    return contraction(scop, scop.statements[-1], range(outer), free)


def why_not(body: str) -> str:
    with pytest.raises(NoContraction) as error:
        found(body)
    return str(error.value)


# Statement, element type, step.
STEPS = {
    "C[i][j] += A[i][k] * B[k][j];": ("f64", "add(acc, mul(a, b))"),
    "C[i][j] = C[i][j] + B[k][j] * A[i][k];": ("f64", "add(acc, mul(a, b))"),
    "C[i][j] -= A[i][k] * B[k][j];": ("f64", "sub(acc, mul(a, b))"),
    "C[i][j] = A[i][k] * B[k][j] - C[i][j];": ("f64", "sub(mul(a, b), acc)"),
    "C[i][j] += alpha * A[i][k] * B[k][j];": ("f64", "add(acc, mul(a, b))"),
    "C[i][j] += alpha * (A[i][k] * B[k][j]);": ("f64", "add(acc, mul(s0, mul(a, b)))"),
    "C[i][j] += A[i][k] * B[k][j] - A[i][n - 1 - k] * B[n - 1 - k][j];": (
        "f64",
        "add(acc, sub(mul(a, b), mul(a1, b1)))",
    ),
    "C[i][j] = fmin(C[i][j], A[i][k] + B[k][j]);": ("f64", "fmin(acc, add(a, b))"),
    "C[i][j] = fmax(A[i][k] / B[k][j], C[i][j]);": ("f64", "fmax(div(a, b), acc)"),
    "H[i][j] = fmaxf(H[i][j], F[i][k] * G[k][j]);": ("f32", "fmax(acc, mul(a, b))"),
    "C[i][j] += A[i][k] < B[k][j];": ("f64", "add(acc, select(lt(a, b), s0, s1))"),
    "C[i][j] += A[i][k] * I[k][j];": ("f64", "add(acc, mul(a, b))"),
    "C[i][j] += F[i][k] * B[k][j];": ("f64", "add(acc, mul(a, b))"),
    "C[i][j] += A[i][k] * (B[k][j] + j) * (k + 1);": ("f64", None),
    "K[i][j] += I[i][k] * J[k][j];": ("i32", "add(acc, mul(a, b))"),
    "L[i][j] += I[i][k] * J[k][j];": ("i64", "add(acc, mul(a, b))"),
    "K[i][j] += S[i][k] * T[k][j];": ("i32", "add(acc, mul(a, b))"),
    "K[i][j] += a8[i][k] * u8[k][j];": ("i32", "add(acc, mul(a, b))"),
    "c8[i][j] += a8[i][k] * b8[k][j];": ("i8", "add(acc, mul(a, b))"),
    "c8[i][j] += I[i][k] * L[k][j];": ("i8", "add(acc, mul(a, b))"),
    "c8[i][j] = MAX(c8[i][j], MIN(a8[i][k], b8[k][j]));": ("i8", None),
    "c8[i][j] = MAX(c8[i][j], a8[i][k] + b8[k][j]);": ("i32", "wrap8(max(acc, add(a, b)))"),
    "w8[i][j] = MIN(w8[i][j], u8[i][k] + v8[k][j]);": ("i32", "wrapu8(min(acc, add(a, b)))"),
    "V[i][j] -= I[i][k] * U[k][j];": ("u32", "sub(acc, mul(a, b))"),
    "K[i][j] += U[i][k] * V[k][j];": ("i32", "add(acc, mul(a, b))"),
    "K[i][j] |= I[i][k] & J[k][j];": ("i32", "or(acc, and(a, b))"),
    "K[i][j] ^= ~I[i][k] | J[k][j];": ("i32", "xor(acc, or(a, b))"),
    "K[i][j] = K[i][j] || (I[i][k] && J[k][j]);": ("i32", None),
    "if (I[i][k] + J[k][j] < K[i][j]) K[i][j] = I[i][k] + J[k][j];": ("i32", "min(add(a, b), acc)"),
    "Z[i][j].y += Z[i][k].x * F[k][j];": ("", "stores"),
}


@pytest.mark.parametrize("text", STEPS)
def test_steps(text: str) -> None:
    elem, step = STEPS[text]
    if not elem:
        assert "stores float" in why_not(NEST + text)
        return
    made = found(NEST + text)
    assert (made.rows, made.columns, made.depth) == ((0,), (1,), (2,))
    assert made.step.elem == elem
    if step is not None:
        assert str(made.step.lane) == step


MINIMA = {
    # What a NaN or a zero of the other sign makes of it must be what C makes of it.
    "C[i][j] = C[i][j] < x ? C[i][j] : x;": "min(acc, add(a, b))",
    "C[i][j] = C[i][j] < x ? x : C[i][j];": "max(add(a, b), acc)",
    "C[i][j] = C[i][j] > x ? C[i][j] : x;": "max(acc, add(a, b))",
    "C[i][j] = x > C[i][j] ? C[i][j] : x;": "min(acc, add(a, b))",
    "C[i][j] = x < C[i][j] ? x : C[i][j];": "min(add(a, b), acc)",
    "C[i][j] = C[i][j] <= x ? C[i][j] : x;": "select(le(acc, add(a, b)), acc, add(a, b))",
    "C[i][j] = x >= C[i][j] ? x : C[i][j];": "select(ge(add(a, b), acc), add(a, b), acc)",
    "C[i][j] = MIN(C[i][j], x);": "min(acc, add(a, b))",
    "if (C[i][j] > x) C[i][j] = x;": "min(add(a, b), acc)",
    "if (x >= C[i][j]) C[i][j] = x;": "select(ge(add(a, b), acc), add(a, b), acc)",
}


@pytest.mark.parametrize("text", MINIMA)
def test_minima(text: str) -> None:
    text = text.replace("x", "A[i][k] + B[k][j]")
    assert str(found(NEST + text).step.lane) == MINIMA[text.replace("A[i][k] + B[k][j]", "x")]
    assert str(found(NEST + text, free=True).step.lane).startswith("any")
    whole = text.replace("A[", "I[").replace("B[", "J[").replace("C[", "K[")
    assert str(found(NEST + whole).step.lane).startswith("m")


# Body, how many loops stay outside, and the loops of the product: rows; columns; depth; those outside.
SHAPES = {
    "for (i) for (j) for (k) C[i][j] += A[i][k] * B[k][j];": (0, "i; j; k;"),
    "for (k) for (j) for (i) C[i][j] += A[i][k] * B[k][j];": (0, "i; j; k;"),
    "for (i) for (j) for (k) C[j][i] += A[i][k] * B[k][j];": (0, "j; i; k;"),
    "for (i) for (j) for (k) C[i][2 * j] += A[i][k] * B[k][j];": (0, "i; j; k;"),
    "for (i) for (j) for (k) for (l) C[i][j] += D[i][k][l] * E[k][l][j];": (0, "i; j; k, l;"),
    "for (i) for (j) for (k) for (l) D[i][j][k] += E[j][l][i] * A[l][k];": (0, "i, j; k; l;"),
    "for (i) for (j) for (k) for (l) D[i][j][k] += E[l][j][k] * A[i][l];": (0, "i; j, k; l;"),
    "for (i) for (j) for (k) for (l) D[i][j][k] += D[i][j][k] < 0 ? 0 : A[i][l] * E[i][j][k];": (0, ""),
    "for (t) for (i) for (j) for (k) D[t][i][j] += E[t][i][k] * E[t][k][j];": (0, "i; j; k; t"),
    "for (i) for (t) for (j) for (k) C[i][j] += A[i][k] * B[k][j] * v[t];": (0, "i; j; t, k;"),
    "for (t) for (i) for (j) for (k) C[i][j] += A[i][k] * B[k][j] * v[t];": (1, "i; j; k; t"),
    "for (i) for (k) v[i] += A[i][k] * w[k];": (0, "i; ; k;"),
    "for (i) for (j) for (k) P[i][j] += A[i][k] * B[k][j];": (0, "i; j; k;"),
    "for (i) for (j) for (k) Q[i * n + j] += A[i][k] * B[k][j];": (0, "i; j; k;"),
}


def spelled(text: str) -> str:
    for name in "tijkl":
        text = text.replace(f"for ({name})", f"for (int {name} = 0; {name} < n; {name}++)")
    return text


@pytest.mark.parametrize("text", SHAPES)
def test_loops(text: str) -> None:
    outer, want = SHAPES[text]
    scop = scop_of(spelled(text))
    s = scop.statements[-1]
    if not want:
        with pytest.raises(NoContraction):
            contraction(scop, s, range(outer))
        return
    made = contraction(scop, s, range(outer))
    parts = (made.rows, made.columns, made.depth, made.outer)
    assert "; ".join(", ".join(s.iterators[d] for d in part) for part in parts).rstrip() == want


REFUSED = {
    # Types.
    "H[i][j] += 0.1 * F[i][k] * G[k][j];": "computes in double but stores float",
    "H[i][j] += F[i][k] * B[k][j];": "computes in double but stores float",
    "C[i][j] += F[i][k] * G[k][j];": "computed in float",
    "C[i][j] += I[i][k] * J[k][j];": "computed in int",
    "K[i][j] += A[i][k] * B[k][j];": "between integer and floating point",
    "W[i][j] += U[i][k] * V[k][j];": "wraps around in unsigned",
    "W[i][j] += I[i][k] > U[k][j];": "another type",
    "C[i][j] += I[i][k] < F[k][j];": "another type",
    "L[i][j] += I[i][k] < U[k][j];": "signed and unsigned",
    "K[i][j] = I[i][k] < U[k][j] ? K[i][j] : 1;": "signed and unsigned",
    "M[i][j] += (int)(L[i][k] * L[k][j]);": "cut to int",
    "M[i][j] += (short)(L[i][k] ^ L[k][j]);": "cut to short",
    "K[i][j] = MAX(K[i][j], L[i][k] + L[k][j]);": "computes in long but stores int",
    "K[i][j] = (long)(I[i][k] ^ J[k][j]) * 65536 * 65536 ? 1 : K[i][j];": "another type",
    "Y[i][j] += a8[i][k] * b8[k][j];": "`char` elements",
    "X[i][j] += X[i][k] * X[k][j];": "elements or a part of unknown type",
    "K[i][j] += X[i][k] * J[k][j];": "elements or a part of unknown type",
    "C[i][j] += user(A[i][k] * B[k][j]);": "unknown type",
    # Operators.
    "K[i][j] += I[i][k] / J[k][j];": "operator `/`",
    "K[i][j] += I[i][k] << J[k][j];": "operator `<<`",
    "K[i][j] = K[i][j] % 7 + I[i][k] * J[k][j];": "operator `%`",
    "C[i][j] += sqrt(A[i][k] * B[k][j]);": "`sqrt` joins both operands",
    # What the source reads only under a condition need not be there, or may trap.
    "C[i][j] += A[i][k] < B[k][j] ? Q[k] : 1.0;": "only under a condition",
    "C[i][j] += A[i][k] < B[k][j] ? P[i][k] : B[k][j];": "only under a condition",
    "K[i][j] += k < n - 1 ? I[i][k + 1] * J[k][j] : 0;": "only under a condition",
    "K[i][j] += flag ? I[i][k] * q[j] : I[i][k];": "only under a condition",
    "K[i][j] += I[i][k] < J[k][j] ? I[i][k] / J[k][0] : 0;": "only under a condition",
    "K[i][j] += I[i][k] < J[k][j] ? I[i][k] + 1 : 0;": "only under a condition",
    "K[i][j] = K[i][j] || (I[i][k] && q[k * n + j]);": "only under a condition",
    "if (I[i][k] && J[k][j]) q[i * n + j] = 1;": "need not be there at all",
    # Accesses.
    "C[i][j] = A[i][k] * B[k][j];": "exactly once",
    "C[i][j] += A[i][k] * C[i][j];": "exactly once",
    "v[0] += A[i][k] * B[k][j];": "no operand varies",
    "D[i][j][k] += A[i][k] * B[k][j];": "no loop folds",
    "C[i][j] += A[i][k] * B[k][j] * D[0][j][i];": "",
    "C[i][j] += tw_c * A[i][k] * B[k][j];": "names that begin with tw_",
    "C[i / 2][j] += A[i][k] * B[k][j];": "no plain affine formula",
    "C[i][j] += A[i][k] * B[k % 3][j];": "no plain affine formula",
}


@pytest.mark.parametrize("text", REFUSED)
def test_refused(text: str) -> None:
    if REFUSED[text]:
        assert REFUSED[text] in why_not(NEST + text)
    else:  # a matrix-vector product at best
        assert not found(NEST + text).columns


def test_a_guarded_target_is_written_only_where_it_changes() -> None:
    guarded = NEST + "if (I[i][k] && J[k][j]) K[i][j] = 1;"
    assert found(guarded).step.careful
    first = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) K[i][j] = 0;"
    assert not found(first + guarded).step.careful  # the region writes it all in any case
    assert found(first.replace("i < n", "i < n - 1") + guarded).step.careful
    perhaps = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) if (I[i][j]) K[i][j] = 0;"
    assert found(perhaps + guarded).step.careful
    row = "for (int i = 0; i < n; i++) for (int k = 0; k < n; k++) if (A[i][k] > 1) v[i] += A[i][k];"
    assert "left alone" in why_not(row)


@pytest.mark.parametrize("elem", ["double _Complex", "float _Complex", "_Complex double"])
def test_complex_numbers_are_not_taken_apart(elem: str) -> None:
    """Annex G recovers infinities where real products give NaN; a struct of two members says that nobody wants that."""
    head = f"void f(int n, {elem} A[n][n], {elem} B[n][n], {elem} C[n][n])"
    text = f"{head}\n{{\n#pragma scop\n{NEST}C[i][j] += A[i][k] * B[k][j];\n#pragma endscop\n}}\n"
    made = generate("in.c", text, GenOptions(machine="neoverse-n1"))
    (missed,) = [d for d in made.diagnostics if d.id == "no-product"]
    assert "Annex G" in missed.message and missed.kind == "missed"


def test_what_the_source_reads_anyhow_may_be_read_early() -> None:
    assert found(NEST + "C[i][j] += A[i][k] < Q[k * n + j] ? Q[k * n + j] : A[i][k];").columns
    assert found(NEST + "K[i][j] = K[i][j] || (I[i][k] && J[k][j]);").columns  # declared as large as that
    first = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) Q[i * n + j] = 1;"
    assert found(first + NEST + "C[i][j] += A[i][k] < B[k][j] ? Q[k * n + j] : 1.0;").columns


DOMAINS = {
    "for (int j = 0; j <= i; j++) for (int k = 0; k < n; k++)": "",
    "for (int j = 0; j < n; j++) for (int k = i; k < n; k++)": "",
    "for (int j = 0; j < n; j++) for (int k = n - 1; k >= i; k--)": "",
    "for (int j = i; j < n; j++) for (int k = i; k <= j; k++)": "",
    "for (int j = 0; j < n; j++) for (int k = 0; k < n; k++) if (i >= flag && k < flag)": "",
    "for (int j = 0; j < n; j++) for (int k = 0; k < n; k += 2)": "do not form a box",
    "for (int j = 0; j < n; j++) for (int k = 0; k < n; k++) if (k % 3 == 1)": "do not form a box",
    "for (int j = 0; j < n; j++) for (int k = 0; k < n; k++) if (i != j)": "do not form a box",
    "for (int j = 0; j < n; j++) for (int k = 0; k < n; k++) if (i == k)": "do not form a box",
    "for (int j = 0; j < n; j++) for (int k = 0; 2 * k < i + 3; k++)": "plain bound",
}


@pytest.mark.parametrize("loops", DOMAINS)
def test_domains(loops: str) -> None:
    body = f"for (int i = 0; i < n; i++) {loops} C[i][j] += A[i][k] * B[k][j];"
    if DOMAINS[loops]:
        assert DOMAINS[loops] in why_not(body)
    else:
        assert found(body).columns


def test_packing_a_box_reads_only_what_exists() -> None:
    """A triangle of the source is packed as a box: rows of their own length and bands do not have all of it."""
    triangle = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k <= i; k++) "
    assert found(triangle + "C[i][j] += Q[i * n + k] * B[k][j];").columns
    assert "need not exist" in why_not(triangle + "C[i][j] += P[i][k] * B[k][j];")
    strip = "for (int i = 3; i < n - 3; i++) for (int j = 0; j < n; j++) for (int k = i - 3; k <= i + 3; k++) "
    assert found(strip + "C[i][j] += A[i][k] * B[k][j];").columns
    assert "need not exist" in why_not(strip + "C[i][j] += band[i][k - i + 3] * B[k][j];")
    corner = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < n - i; k++) "
    assert found(corner + "C[i][j] += A[i][k] * B[k][j];").columns
    assert "need not exist" in why_not(corner + "C[i][j] += Q[i * n + k] * B[k][j];")


def test_several_loops_as_one_need_fixed_distances() -> None:
    nest = spelled("for (i) for (j) for (k) for (l) ")
    assert found(nest + "D[i][j][k] += E[i][j][l] * A[l][k];").rows == (0, 1)
    assert "fixed distances" in why_not(nest + "D[i][j][k] += R[i][l][j] * A[l][k];")
    assert "index of one of several loops" in why_not(nest + "D[i][j][k] += E[i][j][l] * A[l][k] * (i + j);")
    assert "fixed distances" in why_not(nest + "D[i][j][k] += E[i][j][l] * Z[l][k].x * Z[i][j].x;")
