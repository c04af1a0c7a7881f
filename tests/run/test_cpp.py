"""Regions that are plain C inside C++ files: read, generated, compiled as C++, and the same results."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from codegen.diagnostics import Severity
from codegen.options import GenOptions
from codegen.pipeline import generate
from tests.run.sources import run

pytestmark = pytest.mark.skipif(not shutil.which("g++"), reason="no C++ compiler")

PRODUCT = """
#include <cmath>
#include <iostream>
#include <vector>

namespace linear { namespace {

void multiply(int n, int m, std::size_t k, const double *a, const double *b, double *c)
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      c[i * m + j] = 0.0;
      for (std::size_t p = 0; p < k; p++)
        c[i * m + j] += a[i * k + p] * b[p * m + j];
    }
#pragma endscop
}

}
void sum(int n) { std::vector<double> v(n * n); multiply(n, n, n, v.data(), v.data(), v.data()); std::cout << v[0]; }
}
"""

# Constants, structs, functions, a member function with pointers of its own, references to arrays, allocation.
NAMES = """
#include <algorithm>
#include <cmath>
#include <memory>
constexpr int N = 60;
const int M = 2 * 20;
using real = float;
static double G[N][M], H[N][M];
struct particle { double x, y; int n{3}; bool on; double norm() const { return x * x; } };
enum { FIRST = 3, SECOND };
inline double cube(double x) noexcept { return x * x * x + std::sqrt(x); }
static constexpr real twice(real x) { return real(2) * x; }
namespace app {
class Solver {
public:
  void run(int n, double *out, const particle *p);
  int rank = 1;
};
void Solver::run(int n, double *out, const particle *p)
{
  std::unique_ptr<double[]> keep(new double[n]);
  double *tmp = keep.get();
#pragma scop
  for (int i = 0; i < n; ++i) {
    tmp[i] = p[i].on ? p[i].x : p[i].y;
    out[i] = std::max(tmp[i], 0.5) + std::fabs(p[i].x) + static_cast<double>(i) + double(p[i].n);
  }
#pragma endscop
}
template <typename T, int W>
T filter(std::size_t n, const float *a, float *b, T x)
{
  real k[3] = {1, 2, 1};
  float s{0};
  using std::abs;
#pragma scop
  for (std::size_t i = 1; i + 1 < n; i++) {
    float t{0.0f};
    for (int j = 0; j < 3; j++)
      t += k[j] * abs(a[i + j - 1]);
    b[i] = std::pow(t, 2) > 3 and not (t < 0) ? std::sqrt(t) : twice(t);
    s += b[i];
  }
#pragma endscop
  return x + s;
}
template float filter<float, 3>(std::size_t, const float *, float *, float);
}
void grid()
{
#pragma scop
  for (int i = FIRST; i < N; i++)
    for (int j = 0; j < M; j++) {
      G[i][j] = cube(G[i][j]) + H[i][j];
      H[i][j] = std::min<double>(G[i - SECOND + 1][j], 1);
    }
#pragma endscop
}
void by_reference(double (&a)[N][M], double const *__restrict b, long n)
{
  for (int t = 0; t < n; t++) {
    double *row = new double[M];
#pragma scop
    for (int i = FIRST; i < N; i++)
      for (int j = 0; j < M; j++) {
        row[j] = b[i] + t;
        a[i][j] = a[i - 1][j] * row[j];
      }
#pragma endscop
    delete[] row;
  }
}
"""

# Which function a name means depends on the types of its arguments, and on what is visible.
OVERLOADS = """
#include <cmath>
#include <cstdint>
#include <cstdlib>
void standard(int n, const float *x, const double *y, const std::int32_t *z, const long *w, float *f, double *d)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    f[i] = std::sqrt(x[i]) + std::abs(x[i] - 1) + std::exp(x[i] * 0.25f) + std::fmax(x[i], 0.25f);
    d[i] = std::sqrt(x[i] + y[i]) + std::abs(y[i] - 1.25) + std::abs(z[i]) + std::abs(w[i]) + std::pow(x[i], 2)
           + std::sqrt(z[i] * z[i]) + std::floor(y[i]) + (std::isnan(y[i]) ? 1 : 2) + std::hypot(x[i], y[i]);
  }
#pragma endscop
}
namespace other {
using namespace std;
void visible(int n, const float *x, double *d)
{
#pragma scop
  for (int i = 0; i < n; i++)
    d[i] = sqrt(x[i]) + abs(x[i] - 0.75f) + fabs(x[i]);
#pragma endscop
}
}
"""

# Members are like variables of the file, references in a region like pointers to elements.
MEMBERS = """
namespace fluid {
class Grid {
public:
  void step();
  void scale(const double &by, const int &rows);
  double total() const
  {
    double sum = 0;
#pragma scop
    for (int i = 0; i < n_ * n_; ++i)
      sum += cells_[i] * this->weight_[i % K];
#pragma endscop
    return sum;
  }
private:
  static constexpr int K = 4;
  int n_;
  double dt_;
  double *cells_, *next_;
  double weight_[K];
};
void Grid::step()
{
#pragma scop
  for (int i = 1; i < n_ - 1; ++i)
    for (int j = 1; j < n_ - 1; ++j) {
      const double &c = cells_[i * n_ + j];
      double &out = next_[i * n_ + j];
      out = c + dt_ * (cells_[(i - 1) * n_ + j] - 2 * c + cells_[(i + 1) * n_ + j]);
    }
#pragma endscop
}
void Grid::scale(const double &by, const int &rows)
{
  double *p = cells_;
  const int w = 3, h = 2 * w;
#pragma scop
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < h; ++j)
      p[i * h + j] *= by;
#pragma endscop
}
}
"""

# Structs by reference, sizes that are macros, memory of the function's own, constants of other scopes.
OTHERS = """
#include <cstddef>
#include <cstdlib>
#include <cmath>
#ifndef SIZE
#define SIZE 200
#endif
constexpr std::size_t N = 128;
static float A[N][N], B[N][N];
static float C[SIZE];
struct state { int nx, ny; double dt; double *u; const double *v; };
namespace setting { constexpr int BASE = 2, STEPS = BASE + 3; }
void product()
{
#pragma scop
  for (std::size_t i = 0; i < N; ++i)
    for (std::size_t j = 0; j < N; ++j)
      for (size_t k = 0; k < N; ++k)
        A[i][j] += B[i][k] * B[k][j];
#pragma endscop
}
void advance(const state &p)
{
#pragma scop
  for (int j = 0; j < p.ny; ++j)
    for (int i = 0; i < p.nx; ++i)
      p.u[j * p.nx + i] += p.dt * p.v[j * p.nx + i];
#pragma endscop
}
void fill(state *p, unsigned n)
{
#pragma scop
  for (int i = 0; i < SIZE; i++)
    C[i] = static_cast<float>(i) / SIZE;
  for (unsigned i = 0; i < n; ++i)
    p->u[i] = std::exp(-p->v[i]) * M_PI + setting::STEPS;
#pragma endscop
}
int main(int argc, char **argv)
{
  const int n = argc > 1 ? std::atoi(argv[1]) : 100;
  double *x = new double[n], *y = static_cast<double *>(std::malloc(n * sizeof(double)));
  double s = 0;
  for (int t = 0; t < 3; ++t) {
#pragma scop
    for (int i = 0; i < n; ++i)
      y[i] = 2 * x[i] + y[i];
    for (int i = 0; i < n; ++i)
      s += y[i];
#pragma endscop
  }
  delete[] x;
  std::free(y);
  return s > 0;
}
"""

POINTERS = """#include <cstdint>
#define AT(type, line, n) (*(type *)((std::uintptr_t)((type *)(line) + (n)) ^ 3))
double *scale(int n, int m, double *u, int ld, const double *w)
{
#pragma scop
  for (int j = 0; j < n; j++, u += ld)
    for (int i = 0; i < m; i++)
      u[i] *= w[j];
#pragma endscop
  return u;
}
void invert(int w, int h, int wpl, const std::uint32_t *in, std::uint32_t *out)
{
#pragma scop
  for (int i = 0; i < h; i++) {
    const std::uint32_t *line = in + i * wpl;
    for (int j = 0; j < w; j++)
      AT(std::uint8_t, out + i * wpl, j) = 255 - AT(const std::uint8_t, line, j);
  }
#pragma endscop
}
"""

SOURCES = {"product": PRODUCT, "others": OTHERS, "members": MEMBERS, "names": NAMES, "overloads": OVERLOADS}
SOURCES["pointers"] = POINTERS


@pytest.mark.parametrize("name", SOURCES)
def test_agrees(name: str) -> None:
    report = run(SOURCES[name], path="in.cpp")
    assert report.ok and all("agree" in line for line in report.lines), report
    assert all(d.severity is Severity.REMARK for d in report.diagnostics)


@pytest.mark.parametrize("name", SOURCES)
def test_compiles_without_warnings(name: str, tmp_path: Path) -> None:
    path = tmp_path / f"{name}.cpp"
    path.write_text(generate(path.name, SOURCES[name], GenOptions()).text)
    for compiler in filter(shutil.which, ("g++", "clang++")):
        for standard in ("c++11", "c++20"):
            words = [compiler, f"-std={standard}", "-Wall", "-Wextra", "-Wvla", "-Werror", "-Wno-unknown-pragmas"]
            done = subprocess.run([*words, "-fsyntax-only", str(path)], capture_output=True, text=True)
            assert done.returncode == 0, done.stderr


def test_hidden_code_is_not_forgotten() -> None:
    """A reference may make a variable and an element the same; so may a call."""
    text = """
void bind(double &, double *);
void f(int n, double *a, double *b)
{
  double s = 0;
  double &r = s;
  double *p = &r;
  bind(s, b);
#pragma scop
  for (int i = 0; i < n; i++)
    p[i] = a[i] + s;
#pragma endscop
}
"""
    made = generate("in.cpp", text, GenOptions(target="c"))
    assert "TW_SPAN(&s, 0, 1)" in made.text or made.regions[0].summary == "sequential", made.text


def refused(text: str) -> str:
    """Why the one region of a source is left as it is."""
    (warning,) = generate("in.cpp", text, GenOptions(target="c")).diagnostics
    return warning.notes[0].message


@pytest.mark.parametrize(
    ("declared", "why"),
    [
        ("struct { int x; } a[9];", "has no name"),
        ("enum { i0, a };", "`a`"),
        ("auto [a, b] = pair();", "`auto`"),
        ("out: vec a;", "`vec`"),
        ("vec a __attribute__((unused)) = {};", "`vec`"),
        ("extern double a[];", "extern"),
        ("decltype(n) a = 0;", "`decltype(n)`"),
        ("vec (*a)[3] = 0;", "`vec`"),
        ("typename vec::type a;", "`vec::type`"),
    ],
)
def test_names_are_not_mixed_up(declared: str, why: str) -> None:
    """Whatever hides the parameter, the region does not mean the parameter."""
    text = f"""
struct vec {{ double x[3]; double &operator[](int); }};
struct two {{ int a, b; }};
two pair();
void f(int n, double *a)
{{
  {{
    {declared}
#pragma scop
    for (int i = 0; i < n; i++)
      a[i] = 0;
#pragma endscop
  }}
}}
"""
    assert why in refused(text)


def test_a_parameter_of_a_template_is_no_type_of_the_file() -> None:
    text = """
typedef float T;
template <class T> struct matrix { T *p; int n; void copy(double *q); };
template <class U> void matrix<U>::copy(double *q)
{
#pragma scop
  for (int i = 0; i < n; i++)
    q[i] = p[i];
#pragma endscop
}
"""
    assert "only an instance" in refused(text)


def test_sizes_keep_their_names_and_memory_its_owner() -> None:
    made = generate("in.cpp", OTHERS, GenOptions()).text
    assert "i < SIZE; i++)\n" in made.partition("region 3")[2]
    assert "tw_apart" not in made.partition("region 4")[2], "what new and malloc return overlaps with nothing"
