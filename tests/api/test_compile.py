"""codegen.compile: C functions on NumPy arrays."""
from __future__ import annotations

import inspect
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import pytest
from pycparser import CParser

import codegen
import tilewright
from codegen.api.call import Callee, Given, caller_text
from codegen.api.display import region_texts
from codegen.api.signature import signature
from codegen.api.writes import written

np = pytest.importorskip("numpy")

ROOT = Path(__file__).parents[2]
TYPES = """\
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include <complex.h>
#include "size.h"
enum { K = 3 };
typedef float real;
typedef double complex point;
void f32(int n, real a[n], const real *b)
{
#pragma scop
  for (int i = 0; i < n; i++) a[i] = b[i] + 1;
#pragma endscop
}
long i16(unsigned char n, int16_t a[n + 2][K], long double s)
{
#pragma scop
  for (int i = 0; i < n + 2; i++)
    for (int j = 0; j < K; j++) a[i][j] = a[i][j] + 2;
#pragma endscop
  return n + (long)s;
}
float any(size_t n, uint64_t (*a)[SIZE], _Bool up)
{
#pragma scop
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < SIZE; j++) a[i][j] = a[i][j] * 3u;
#pragma endscop
  return up ? 0.5f : 0.25f;
}
void kept(int n, double a[n], bool b[static n], const point c[])
{
#pragma scop
  for (int i = 0; i < n; i++) a[i] = 1;
#pragma endscop
  for (int i = 0; i < n; i++) { b[i] = !b[i]; a[i] += creal(c[i]); }
}
static void inner(int n, double a[n])
{
#pragma scop
  for (int i = 0; i < n; i++) a[i] = 1;
#pragma endscop
}
void rows(int n, double *a[n])
{
#pragma scop
  for (int i = 0; i < n; i++) a[i][0] = 1;
#pragma endscop
  inner(1, a[0]);
}
"""


@pytest.fixture(scope="module")
def types(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("types")
    (folder / "size.h").write_text("#define SIZE 5\n", encoding="utf-8")
    (folder / "types.c").write_text(TYPES, encoding="utf-8")
    return codegen.compile(folder / "types.c", cflags=["-O1"], cache=folder / "cache")


@pytest.fixture(scope="module")
def gemm(tmp_path_factory: pytest.TempPathFactory) -> Any:
    source = ROOT / "examples" / "quickstart" / "gemm.c"
    return codegen.compile(source, cflags=["-O1"], cache=tmp_path_factory.mktemp("cache")).gemm


def test_products_in_place_for_every_way_to_call(gemm: Any) -> None:
    rng = np.random.default_rng(1)
    for n in (0, 1, 7, 33):
        a, b, c = (rng.standard_normal((n, n)) for _ in range(3))
        expected = 1.5 * (a @ b) + 0.5 * c
        calls: list[Callable[[Any], object]] = [
            lambda c, n=n, a=a, b=b: gemm(n, 1.5, 0.5, a, b, c),
            lambda c, a=a, b=b: gemm(1.5, 0.5, a, b, c),
            lambda c, a=a, b=b: gemm(alpha=1.5, beta=0.5, A=a, B=b, C=c),
            lambda c, a=a, b=b: gemm(1.5, np.float32(0.5), A=a, B=b, C=c),
        ]
        for call in calls:
            out = c.copy()
            where = out.ctypes.data
            assert call(out) is None and out.ctypes.data == where
            np.testing.assert_allclose(out, expected, rtol=1e-12, atol=1e-12)


def wrong(gemm: Any, **changed: Any) -> None:
    a, b, c = (np.zeros((6, 6)) for _ in range(3))
    gemm(**{"n": 6, "alpha": 1.0, "beta": 0.0, "A": a, "B": b, "C": c} | changed)


READ_ONLY = np.zeros((6, 6))
READ_ONLY.flags.writeable = False
BIG = np.zeros((12, 6))


@pytest.mark.parametrize(("changed", "error", "says"), [
    ({"A": np.zeros((6, 6), np.float32)}, TypeError, r"A must have elements of float64 .*not float32; use A.astype"),
    ({"A": np.zeros((6, 6)).astype(">f8")}, TypeError, "A must have elements of float64"),
    ({"A": [[0.0] * 6] * 6}, TypeError, "A must be a NumPy array of float64, not list"),
    ({"A": np.zeros((6, 6)).T[::2]}, ValueError, "A must lie row by row .*ascontiguousarray"),
    ({"B": np.zeros((6, 5))}, ValueError, r"B must have the shape \(n = 6, n = 6\) .*, not \(6, 5\)"),
    ({"B": np.zeros(36)}, ValueError, "B must have the shape"),
    ({"C": READ_ONLY}, ValueError, "C is read-only"),
    ({"n": 7}, ValueError, r"shape \(n = 7, n = 7\)"),
    ({"n": 6.0}, TypeError, "n must be an integer, not float"),
    ({"n": 1 << 31}, OverflowError, "n = 2147483648 does not fit `int n`"),
    ({"alpha": "x"}, TypeError, "alpha must be a number, not str"),
    ({"D": 1}, TypeError, "D is no parameter"),
])
def test_wrong_arguments(gemm: Any, changed: dict[str, Any], error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        wrong(gemm, **changed)


def test_wrong_counts(gemm: Any) -> None:
    a = np.zeros((2, 2))
    with pytest.raises(TypeError, match="gemm misses A, B, C: void gemm"):
        gemm(2, 1.0, 0.0)
    with pytest.raises(TypeError, match="takes 6 arguments, not 7"):
        gemm(2, 1.0, 0.0, a, a, a, a)
    with pytest.raises(TypeError, match="n is given twice"):
        gemm(2, 1.0, 0.0, a, a, a, n=2)


def test_types_and_extents(types: Any) -> None:
    a, b = np.zeros(4, np.float32), np.arange(4, dtype=np.float32)
    types.f32(4, a, b.reshape(2, 2))  # a bare pointer takes any shape
    assert a.tolist() == [1, 2, 3, 4]
    i = np.ones((6, 3), np.int16)
    assert types.i16(4, i, 2.5) == 6 and (i == 3).all()
    with pytest.raises(ValueError, match=r"\(n \+ 2 = 7, K = 3\)"):
        types.i16(5, i, 0)
    with pytest.raises(OverflowError, match="n = 256"):
        types.i16(256, i, 0)
    u = np.ones((2, 5), np.uint64)
    assert types.any(2, u, True) == 0.5 and (u == 3).all()
    with pytest.raises(ValueError, match=r"\(any, 5\)"):
        types.any(2, np.ones((2, 4), np.uint64), False)
    d, t, c = np.zeros(3), np.array([True, False, True]), np.full(3, 2 + 1j)
    types.kept(d, t, c)
    assert (d == 3).all() and t.tolist() == [False, True, False]


def test_extents_from_shapes_that_are_not_there(gemm: Any) -> None:
    a = np.zeros((2, 2))
    with pytest.raises(TypeError, match="A must be a NumPy array of float64, not list"):
        gemm(1.0, 0.0, [[1.0]], a, a)
    with pytest.raises(ValueError, match=r"A must have 2 dimensions \(C: `.*A\[n\]\[n\]`\), not 0"):
        gemm(1.0, 0.0, np.float64(1), a, a)


def test_unusual_arguments_that_fit(types: Any, gemm: Any) -> None:
    """They do not pass the short checks, and are right all the same."""
    class Own(np.ndarray):
        pass

    out = np.zeros((3, 3))
    gemm(np.int64(3), np.float32(2), True, np.eye(3).view(Own), np.ones((3, 3)), out)
    assert (out == 2).all()
    constant = np.arange(4, dtype=np.float32)
    constant.flags.writeable = False
    types.f32(np.uint8(4), out32 := np.zeros(4, np.float32), constant)
    assert out32.tolist() == [1, 2, 3, 4]


SHAPES = """enum { N = 7 };
extern int far;
void f(int n, int m, double a[n], double b[][n * m - 1], double c[far][N], double d[N + m])
{
#pragma scop
  for (int i = 0; i < n; i++) a[i] = b[0][i] + c[0][0] + d[0];
#pragma endscop
}
"""


def test_extents_of_every_kind() -> None:
    """Parameters, computed ones, numbers, and those that C or the call does not say."""
    parsed = CParser().parse("\n".join(line for line in SHAPES.splitlines() if not line.startswith("#")))
    text = caller_text(Callee(signature(parsed, "f"), None, None, ()), [Given(k) for k in range(6)])
    assert "v2.shape == (v0,)" in text and "v3.ndim == 2 and v3.shape[1] == e3_1({'N': 7, 'n': v0, 'm': v1})" in text
    assert "v4.ndim == 2 and v4.shape[1] == 7" in text and "v5.shape == (e5_0({'N': 7, 'n': v0, 'm': v1}),)" in text
    f = codegen.compile(SHAPES).f
    a, b, c, d = np.zeros(2), np.ones((4, 3)), np.ones((9, 7)), np.ones(9)
    f(2, 2, a, b, c, d)
    assert a.tolist() == [3, 3]
    for wrong_one in ({"b": np.ones((4, 4))}, {"c": np.ones((9, 6))}, {"d": np.ones(8)}, {"a": np.ones((2, 1))}):
        with pytest.raises(ValueError, match="must have the shape"):
            f(**{"n": 2, "m": 2, "a": a, "b": b, "c": c, "d": d} | wrong_one)


def test_what_cannot_be_called_says_why(types: Any) -> None:
    with pytest.raises(TypeError, match="inner cannot be called from Python: it is static"):
        types.inner(1, np.zeros(1))
    with pytest.raises(TypeError, match=r"`double \*a\[n\]` is an array of pointers"):
        types.rows(1, np.zeros(1))
    with pytest.raises(AttributeError, match=r"no function 'other' .*there are: f32, i16"):
        types.other  # noqa: B018
    assert "f32" in dir(types) and "real a[n]" in types.f32.__doc__


def test_a_changed_header_is_another_library(tmp_path: Path) -> None:
    source = tmp_path / "a.c"
    source.write_text('#include "b.h"\nvoid f(int n, double a[n])\n{\n#pragma scop\n  for (int i = 0; i < n; i++)\n'
                      "    a[i] = B;\n#pragma endscop\n}\n", encoding="utf-8")
    got = []
    for value in (1, 2, 1):
        (tmp_path / "b.h").write_text(f"#define B {value}\n", encoding="utf-8")
        module = codegen.compile(source, target="c", transform=value == 1, cflags=["-O0"], cache=tmp_path / "cache")
        a = np.zeros(3)
        module.f(a)
        got.append((a[0], module.path))
    assert [v for v, _ in got] == [1, 2, 1] and got[0][1] == got[2][1] != got[1][1]


def test_overlap_is_refused_where_the_code_relies_on_it(tmp_path: Path) -> None:
    trusting = codegen.compile(ROOT / "examples" / "quickstart" / "gemm.c", assume_no_alias=True, cflags=["-O1"],
                               cache=tmp_path)
    with pytest.raises(ValueError, match="A and C overlap in memory; copy one, or compile without assume_no_alias"):
        wrong(trusting.gemm, A=BIG[:6], C=BIG[3:9])


def test_overlap_is_allowed_where_the_code_tests_it(tmp_path: Path) -> None:
    text = ("void f(int n, double *a, double *b)\n{\n#pragma scop\n  for (int i = 0; i < n; i++)\n"
            "    a[i] = b[i] + 1;\n#pragma endscop\n}\n")
    buffer = np.arange(5.0)
    codegen.compile(text, cflags=["-O1"], cache=tmp_path).f(4, buffer[1:], buffer[:4])
    assert buffer.tolist() == [0, 1, 2, 3, 4]


def test_bad_compilers_and_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = ROOT / "examples" / "quickstart" / "gemm.c"
    with pytest.raises(codegen.InputError, match="cannot run the C compiler `no-such-cc`"):
        codegen.compile(source, cc="no-such-cc", cache=tmp_path)
    with pytest.raises(codegen.InputError, match="the C compiler failed"):
        codegen.compile(source, cflags=["-Dgemm=3x"], cache=tmp_path)
    with pytest.raises(codegen.InputError, match="no function with"):
        codegen.compile("int x;\n")
    with pytest.raises(codegen.InputError, match="sunway do not run"):
        codegen.compile(source, target="sunway")


def test_without_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("codegen.api.module.find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"needs NumPy: pip install 'tilewright\[notebook\]'"):
        codegen.compile(ROOT / "examples" / "quickstart" / "gemm.c")


def test_threads(tmp_path: Path) -> None:
    """In a process of its own, since the number stays."""
    code = ("import codegen, numpy as np\n"
            f"m = codegen.compile({str(ROOT / 'examples' / 'quickstart' / 'gemm.c')!r}, cache={str(tmp_path)!r})\n"
            "m.set_threads(2)\na, b, c = (np.ones((200, 200)) for _ in range(3))\nm.gemm(1, 0, a, b, c)\n"
            "assert (c == 200).all()\nassert codegen.compile('''void f(int n, double a[n])\n{\n#pragma scop\n"
            "  for (int i = 0; i < n; i++) a[i] = 1;\n#pragma endscop\n}\n''').f(c[0]) is None\nprint(c[0].sum())\n")
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False,
                          cwd=ROOT, timeout=120)
    assert (done.returncode, done.stdout) == (0, "200.0\n"), done.stderr


SUM = """void add(int n, double a[n], double b[n], double c[n + 1])
{
#pragma scop
  for (int i = 0; i < n; i++) c[i] = a[i] + b[i];
#pragma endscop
}
"""


def test_memory_that_is_only_read_may_be_shared() -> None:
    """Even where C does not say const: the function stores to `c` alone."""
    add = codegen.compile(SUM, assume_no_alias=True).add
    a, c = np.ones(4), np.zeros(5)
    add(4, a, a, c)
    assert c.tolist() == [2, 2, 2, 2, 0]
    with pytest.raises(ValueError, match="a and c overlap"):
        add(4, c[:4], a, c)


def test_signature() -> None:
    shown = inspect.signature(codegen.compile(SUM).add)
    assert list(shown.parameters) == ["n", "a", "b", "c"] and shown.return_annotation is None
    assert shown.parameters["n"].annotation is int
    assert shown.parameters["c"].annotation == "ndarray[float64, (n + 1)]"


def test_keywords_of_python_as_names() -> None:
    head = "void add(int n, const double in[n], double in_[n], double lambda)"
    body = "{\n#pragma scop\n  for (int i = 0; i < n; i++) in_[i] += in[i] * lambda;\n#pragma endscop\n}\n"
    add = codegen.compile(f"{head}\n{body}").add
    assert list(inspect.signature(add).parameters) == ["n", "in__", "in_", "lambda_"]
    a, c = np.ones(4), np.zeros(4)
    add(in__=a, in_=c, lambda_=2)
    add(**{"in": a, "in_": c, "lambda": 3})
    assert c.tolist() == [5, 5, 5, 5]
    with pytest.raises(TypeError, match="lambda is given twice"):
        add(a, c, lambda_=2, **{"lambda": 3})


@pytest.mark.parametrize(("body", "stored"), [
    ("a[i] = b[i];", {"a"}), ("a[b[i]] += 1;", {"a"}), ("*a = *b;", {"a"}), ("a[i]++;", {"a"}),
    ("s.x[a[i]] = 1;", {"s"}),
    ("double *q = a; q[0] = 1;", {"a", "q"}), ("f(a, b[0]);", {"a", "f"}), ("p = &b[0];", {"b", "p"}),
    ("int k = sizeof(a) + a[0];", set()), ("(*a)[i] = 1;", {"a"}), ("x = a[0] > b[1] ? a[i] : 0;", {"x"}),
])  # fmt: skip
def test_what_is_stored(body: str, stored: set[str]) -> None:
    tree = CParser().parse(f"void f(void) {{ {body} }}").ext[0].body
    assert written(tree) - {"i"} == stored


def test_magic() -> None:
    class Shell:
        names: ClassVar[dict[str, Any]] = {}
        magic: ClassVar[dict[str, Callable[[str, str], Any]]] = {}

        def push(self, names: dict[str, Any]) -> None:
            self.names.update(names)

        def register_magic_function(self, function: Callable[[str, str], Any], kind: str, name: str) -> None:
            assert kind == "cell"
            self.magic[name] = function

    shell = Shell()
    tilewright.load_ipython_extension(shell)
    module = shell.magic["tilewright"]("--target c --cflags='-O1 -g' -DN=4", SUM.rstrip())
    assert module.result.source.options.target == "c" and module.result.source.options.cpp.args == ("-DN=4",)
    c = np.zeros(3)
    shell.names["add"](2, np.ones(2), np.ones(2), c)
    assert c.tolist() == [2, 2, 0]


def test_a_result_shows_its_regions_first() -> None:
    result = codegen.generate(SUM)
    ((number, text),) = region_texts(result.text)
    assert number == 1 and text.startswith("/* tilewright: region 1 of add") and text.endswith("\n}")
    page = result._repr_html_()
    assert page.index("region 1, generated") < page.index("the whole file, generated")
