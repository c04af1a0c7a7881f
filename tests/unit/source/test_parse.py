"""From a file on disk to the tree of a region, through real system headers."""
from __future__ import annotations

import shutil
import time
from pathlib import Path

import pytest
from pycparser import c_ast
from pycparser.c_generator import CGenerator

from codegen.diagnostics import Unsupported
from codegen.options import CppOptions
from codegen.source.parse import Parsed, parse_slice, parse_with_gaps
from codegen.source.preprocess import no_preprocess, preprocess
from codegen.source.region_slice import RegionSlice
from codegen.source.regions import find_regions
from codegen.source.slice import slice_unit

HEADERS = "".join(f"#include <{name}.h>\n" for name in
                  ("stdio", "stdlib", "math", "string", "stdint", "assert", "complex", "time"))
KERNEL = """\
#define N 100
typedef struct { double *data; size_t n; } vec_t;
static double A[N][N], B[N][N];
int unused(int a) { return __builtin_expect(a, 0); }
static inline double sq(double x) { return x * x; }
int kernel(int n, vec_t *v)
{
    int i, j;
    assert(n > 0 && v);
    printf("start %d\\n", n);
    #  pragma scop
    for (i = 0; i < n; i++)   /* rows */
        for (j = 0; j < N; j++)
            A[i][j] =   sq(B[j][i]) + sin(B[i][j]) + fabs(A[i][j]);
    #pragma endscop
    assert(A[0][0] >= 0);
    fprintf(stderr, "done\\n");
    return 0;
}
"""


def slices(source: str, name: str = "m.c") -> tuple[RegionSlice, ...]:
    return slice_unit(preprocess(name, source, CppOptions()), name, find_regions(source, name))


def only(source: str) -> RegionSlice:
    (found,) = slices(source)
    return found


def parsed(source: str) -> Parsed:
    return parse_with_gaps(only(source))


def text_of(tree: c_ast.Node) -> str:
    return str(CGenerator().visit(tree))


def in_function(before: str, region: str = "for (int i = 0; i < n; i++) A[i] = 1;", after: str = "") -> str:
    return f"int A[9];\nint f(int n) {{\n{before}\n#pragma scop\n{region}\n#pragma endscop\n{after}\nreturn 0;\n}}\n"


def uses(node: c_ast.Node, name: str) -> list[c_ast.ID]:
    here = [node] if isinstance(node, c_ast.ID) and node.name == name else []
    return here + [use for _, child in node.children() for use in uses(child, name)]


def test_headers_shrink_to_what_is_needed() -> None:
    s = only(HEADERS + KERNEL)
    assert s.function == "kernel"
    assert len(s.text.splitlines()) < 150
    assert "fabs" in s.pure_functions and "sq" not in s.pure_functions
    assert "return x * x" in s.text and "int unused(" not in s.text and "strtol" not in s.text
    tree = parse_slice(s)
    names = [node.name for node in tree.ext if isinstance(node, c_ast.Decl)]
    assert {"printf", "sin", "fabs", "A"} <= set(names)


def test_coordinates_are_the_users() -> None:
    source = HEADERS + KERNEL
    line = next(i for i, t in enumerate(source.splitlines(), 1) if "A[i][j] =" in t)
    (call,) = uses(parse_slice(only(source)), "sq")
    coord = call.coord
    assert (coord.file, coord.line, coord.column) == ("m.c", line, source.splitlines()[line - 1].index("sq") + 1)


def test_it_is_quick() -> None:
    source = HEADERS + KERNEL
    pre = preprocess("m.c", source, CppOptions())
    regions = find_regions(source, "m.c")
    best = 9.0
    for _ in range(5):
        begin = time.process_time()
        parse_slice(slice_unit(pre, "m.c", regions)[0])
        best = min(best, time.process_time() - begin)
    assert best < 0.1  # measured: 23 ms with nine headers, 35 ms more for the preprocessor itself


def test_inactive_regions_are_left_out() -> None:
    off = in_function("") + "#endif\n"
    source = "#if 0\n" + off + in_function("int k;") + "#ifdef X\n" + off
    assert [s.region.index for s in slices(source)] == [2]


@pytest.mark.parametrize("junk", [
    "void *t[] = { &&l, 0 }; l:;", "int k[9] = { [0 ... 8] = 1 };", "__auto_type k = n ?: 3;",
    "asm volatile (\"nop\");", "if (n) asm goto (\"\" : : : : l); else n++; l:;", "switch (n) { case 1 ... 5: n++; }",
    "int inner(int a) { return a; }", "int k = ({ int z = n; z; });", "n = __builtin_types_compatible_p(int, long);",
    "char *s = \"\\%\";", "struct { int a; __typeof__(n) b; } s; s.a = 1;", "_Static_assert(1, \"x;\");",
    "#pragma omp parallel\n{ n++; }", "float v __attribute__((vector_size(16)));"])
def test_what_surrounds_a_region_may_be_strange(junk: str) -> None:
    for source in (in_function(junk), in_function("", after=junk)):
        result = parsed(source)
        text = text_of(result.ast)
        assert "A[i] = 1" in text and "#pragma endscop" in text and "return 0" in text


def test_what_is_blanked_is_named() -> None:
    result = parsed(in_function("int q = 0;", after="n = __builtin_types_compatible_p(int, long) + q;"))
    assert "q" in result.hidden
    assert "q" in parsed(in_function("int q = 0;", after='asm("" : "=r"(q));')).hidden
    assert not parsed(in_function("int q = 0;", after="n = q;")).hidden


@pytest.mark.parametrize(("source", "id", "line"), [
    (in_function("", "A[0] = ({ 1; });"), "parse-error", 5),
    (in_function("", 'A[0] = 1; asm("nop");'), "parse-error", 5),
    (in_function("", "A[0] = n ?: 1;"), "parse-error", 5),
    (in_function("for (__typeof__(n) t = 0; t < 3; t++) {", after="}"), "parse-error", 3),
    (in_function("__auto_type m = n;", "A[0] = m;"), "parse-error", 3),
    (in_function("", f"A[0] = {'(' * 300}1{')' * 300};"), "nesting-too-deep", 4),
    ("int x;\n#pragma scop\nint y;\n#pragma endscop\n", "region-outside-function", 2),
    ("void f(void) {\n#pragma scop\n}\nvoid g(void) {\n#pragma endscop\n}\n", "region-outside-function", 2),
])
def test_refusals_are_located(source: str, id: str, line: int) -> None:
    with pytest.raises(Unsupported) as caught:
        parse_slice(only(source))
    assert (caught.value.id, caught.value.loc.file, caught.value.loc.line) == (id, "m.c", line)
    assert caught.value.hint


def test_a_file_that_includes_itself_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.c"
    path.write_text("#ifndef ONCE\n#define ONCE\n#define F f\n#include __FILE__\n#undef F\n#define F g\n#endif\n"
                    + in_function("").replace("int f(", "int F("))
    source = path.read_text()
    (s,) = slice_unit(preprocess(str(path), source, CppOptions()), str(path), find_regions(source, str(path)))
    assert s.refusal is not None and s.refusal.id == "region-repeated"


def test_types_that_cannot_be_read_are_opaque() -> None:
    source = ("typedef float v4 __attribute__((vector_size(16)));\ntypedef __typeof__(sizeof(int)) size;\n"
              "v4 g;\n_Float128 q;\n" + in_function("v4 a = g; size s; q = 1;"))
    text = text_of(parsed(source).ast)
    assert "typedef struct __tw_v4 v4" in text and "typedef struct __tw_size size" in text
    assert "typedef struct __tw_Float128 _Float128" in text


def test_helpers() -> None:
    source = ("static int late(int);\nint other(int x) { return x; }\nstatic int odd(int x) { return x ?: 1; }\n"
              + in_function("other(n);", "for (int i = 0; i < n; i++) A[i] = late(i) + odd(i);")
              + "static int late(int x) { return x + 1; }\n")
    text = text_of(parsed(source).ast)
    assert "return x + 1" in text and "int other(int x);" in text and "int odd(int x);" in text


def test_old_style_definitions_and_transitive_needs() -> None:
    source = ("struct s { struct t *p; };\nstruct t { int v; };\ntypedef struct s S;\nenum { K = 4 };\nint unneeded;\n"
              "int f(n, x) int n; S *x;\n{\n#pragma scop\n  for (int i = 0; i < K; i++) x->p->v = n;\n"
              "#pragma endscop\n}\n")
    s = only(source)
    text = text_of(parse_slice(s))
    assert s.function == "f" and "struct t" in text and "K = 4" in text and "unneeded" not in text


def test_regions_of_one_function_and_of_stdin() -> None:
    source = in_function("") .replace("return 0;", "#pragma scop\nA[1] = 2;\n#pragma endscop\n")
    found = slice_unit(preprocess("-", source, CppOptions()), "-", find_regions(source, "<stdin>"))
    assert [s.region.index for s in found] == [1, 2]
    assert all("A[1] = 2" in text_of(parse_slice(s)) for s in found)
    without = slice_unit(no_preprocess("-", source), "-", find_regions(source, "<stdin>"))
    assert [s.text for s in without] == [s.text for s in found]


@pytest.mark.skipif(shutil.which("clang") is None, reason="no clang")
def test_clang_too() -> None:
    source = HEADERS + KERNEL
    pre = preprocess("m.c", source, CppOptions(command=("clang", "-E")))
    (s,) = slice_unit(pre, "m.c", find_regions(source, "m.c"))
    assert "sq" in text_of(parse_slice(s))


@pytest.mark.parametrize("pragma", [
    "#pragma \\\n scop", "#pragma scop /* a\n b */", "  # pragma scop // x", "%:pragma scop"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_odd_pragmas_are_found_again_after_preprocessing(pragma: str, newline: str) -> None:
    source = in_function("/* a\n b */ int k; \\\n").replace("#pragma scop", pragma).replace("\n", newline)
    assert "A[i] = 1" in text_of(parsed(source).ast)
