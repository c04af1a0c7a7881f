"""The scanner for C++: entities, declarations, names."""

from __future__ import annotations

from contextlib import suppress

import pytest

from codegen.diagnostics import Unsupported
from codegen.source.cxx.declare import declaration
from codegen.source.cxx.names import TranslationUnit, function_name
from codegen.source.cxx.tokens import code, plain_strings, tokens
from codegen.source.language import CXX
from codegen.source.parse import parse_with_gaps
from codegen.source.preprocess import no_preprocess
from codegen.source.regions import find_regions
from codegen.source.slice import slice_unit

UNIT = r"""
namespace a { inline namespace v1 { typedef unsigned long size; } namespace { constexpr int N = 3; } }
namespace a::b {
using real = double;
using a::size;
extern "C" { int c_function(int, char *); }
template <class T, int K = (3 > 2)> struct box { T x[K]; box() : x{} {} operator bool() const { return true; } };
class K : public box<int> { public: K() : box<int>(), m{1}, n(2) { } int f(int z) const { return z; } int m, n; };
static double g[N][N] = { { 1 } }, *h = nullptr;
enum { FIRST, SECOND = 5 };
auto lambda = [](int x) { return x; };
const char *text = R"(struct no { int y; };)";
inline double square(double x) noexcept(true) { return x * x; }
}
using namespace a;
[[nodiscard]] long use(int n);
"""


@pytest.fixture
def unit() -> TranslationUnit:
    return TranslationUnit(UNIT, ())


def kinds(found: list) -> set[str]:
    return {n.kind for n in found}


def test_names_in_scopes(unit: TranslationUnit) -> None:
    end = len(UNIT)
    inside = ("a", "b")
    wanted = {"real": "type", "box": "template", "K": "class", "g": "variable", "h": "variable", "N": "variable",
              "SECOND": "enumerator", "lambda": "variable", "square": "function", "size": "type"}  # fmt: skip
    assert {name: kinds(unit.find(name, inside, end)) for name in wanted} == {n: {k} for n, k in wanted.items()}
    assert kinds(unit.find("use", inside, end)) == {"function"}
    assert kinds(unit.find("c_function", inside, end)) == {"function"}
    assert unit.find("no", inside, end) == [] and unit.find("g", (), end) == []
    assert kinds(unit.find("size", (), end)) == {"type"}, "the directive at file scope makes it visible"
    assert [n.entity.scope for n in unit.find("size", (), end)] == [("a",)]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("const double *const p = a + 1, q[3]", "p q"),
        ("std::vector<std::pair<int, double>> v(n)", "v"),
        ("unsigned long (*rows)[8] = 0", "rows"),
        ("auto &[x, y] = pair()", "x y"),
        ("int n __attribute__((unused)) = 3", "n"),
        ("double s{0.0}, t(1)", "s t"),
        ("typename T::type x", "x"),
        ("a * b", None),
        ("a[i] = b", None),
        ("f(x)", None),
        ("std::free(*p)", None),
        ("return x", None),
        ("x < y > (z)", None),
    ],
)
def test_declarations(text: str, names: str | None) -> None:
    made = declaration(code(tokens(text)), lambda n: n == "a", lambda n: n[0].isupper())
    found = None if made is None else " ".join(d.name.text for d in made.declarators)
    assert found == names


def test_function_names() -> None:
    heads = {"[[deprecated(\"x\")]] void A::f(int n) const noexcept(true)": "f", "explicit B(int x) : y(x)": "B",
             "auto g(double x) -> decltype(x)": "g", "__attribute__((noinline)) static int h()": "h"}  # fmt: skip
    for head, name in heads.items():
        found = function_name(code(tokens(head)))
        assert found is not None and found.text == name, head


def test_raw_strings_keep_their_length() -> None:
    text = 'x = R"ab({ " \n })ab"; y'
    assert len(plain_strings(text)) == len(text) and "{" not in plain_strings(text)
    assert plain_strings(text).count("\n") == 1


@pytest.mark.parametrize(
    "text",
    ["a[i] = ::;", "a[i] = std::max<double>(,);", "int m[m]; a[i] = m[0];", "a[i] = std::", "a[i] = x{;",
     "a[i] = static_cast<double>;", "for (;;",
     "double &x = ;", "enum { E = E }; a[i] = E;", "a[i] = [&] { return 1; }();"],
)  # fmt: skip
def test_broken_code_ends_well(text: str) -> None:
    """Whatever stands in a region, the scanner ends with a slice that the parser judges, or with a refusal."""
    source = f"void f(int n, double *a)\n{{\n  double *p = malloc;\n#pragma scop\n{text}\n#pragma endscop\n}}\n"
    pre = no_preprocess("in.cpp", source, CXX)
    for s in slice_unit(pre, "in.cpp", find_regions(source, "in.cpp")):
        with suppress(Unsupported):
            parse_with_gaps(s)
