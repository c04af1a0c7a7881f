"""The text in the file against the proven one: whatever is more than layout and spelling is refused."""

from __future__ import annotations

from functools import cache

import pytest

from codegen.machine.load import load_for
from codegen.options import GenOptions
from codegen.region import make
from codegen.region_model import model_region
from codegen.source_file import open_source
from codegen.target.emit import RegionText, Surroundings, emit_region
from codegen.target.finish.index_type import index_typed
from codegen.target.finish.names import NameSpelling
from codegen.target.finished import FinishedText, finished
from codegen.verify.finish import wrong_finish
from tests.corpus import KERNELS

NAMES = {"tw": NameSpelling(), "own": NameSpelling("own")}


@cache
def made(name: str, prefix: str = "tw") -> tuple[RegionText, FinishedText]:
    options = GenOptions(target="openmp")
    path = KERNELS / f"{name}.c"
    s = open_source(str(path), path.read_text(), options).slices[0]
    model = model_region(s, options)
    assert model is not None
    found = make(model, options, load_for("generic", "generic"))
    around = Surroundings("x;", names=NAMES[prefix])
    emitted = emit_region(found.program.scop, found.code, around, True)
    return emitted, finished(emitted, around)


@pytest.mark.parametrize("prefix", NAMES)
@pytest.mark.parametrize("name", ["seidel-2d", "gaussian-5x5", "gemm"])
def test_what_stands_in_the_file_is_what_was_proven(name: str, prefix: str) -> None:
    emitted, done = made(name, prefix)
    assert wrong_finish(index_typed(emitted.plain), done.text, NAMES[prefix]) == ""


# A kernel, a part of its text, and what stands there instead.
CHANGES = {
    "one number less": ("seidel-2d", "tw_max4(0, ", "tw_max3("),
    "the least in place of the greatest": ("seidel-2d", "tw_max4(", "tw_min4("),
    "another of several": ("seidel-2d", "tw_max4(0, ", "tw_max4(1, "),
    "a call of more than there are": ("seidel-2d", "tw_max3(", "tw_max4("),
    "two as three": ("seidel-2d", "tw_min(", "tw_min3("),
    "a directive and a statement on a line": ("seidel-2d", "#pragma omp parallel", "; #pragma omp parallel"),
    "a statement that is lost": ("seidel-2d", "tw_begin(tw_line);", ""),
    "another name": ("seidel-2d", "tw_begin(tw_line)", "tw_begin(tw_lines)"),
    "words that become one": ("seidel-2d", "const tw_index", "consttw_index"),
    "a sum that goes on": ("gemm", "tw_rows = ", "tw_rows = 1 + "),
}


@pytest.mark.parametrize("what", CHANGES)
def test_any_other_change_is_refused(what: str) -> None:
    name, old, new = CHANGES[what]
    emitted, done = made(name)
    assert old in done.text, done.text
    assert wrong_finish(index_typed(emitted.plain), done.text.replace(old, new, 1), NAMES["tw"])


def test_names_that_are_chosen_are_each_for_one() -> None:
    own = NAMES["own"]
    assert wrong_finish("tw_a = tw_b;", "own_a = own_b;", own) == ""
    assert wrong_finish("tw_a = own_a;", "own_a = own_a;", own)  # the user's own variable
    assert wrong_finish("tw_a = tw_b;", "own_a = own_a;", own)
    assert wrong_finish("tw_a = tw_b;", "own_a = tw_b;", own)
    assert wrong_finish("tw_a = tw_b;", "own_a = own_b;", NameSpelling("own", frozenset(("tw_b",))))


def test_white_space_is_all_that_a_layout_changes() -> None:
    plain = "#pragma omp simd\nfor (long i = 0; i < n; i++)\n  a[i] = tw_min(tw_min(x, y), b[i]);\n"
    same = "#pragma omp simd\nfor (long i = 0; i < n; i++)\n  a[i] =\n    tw_min3(x, y,\n            b[i]);\n"
    assert wrong_finish(plain, same, NAMES["tw"]) == ""
    assert wrong_finish(plain, same.replace("simd\nfor", "simd for"), NAMES["tw"])
    assert wrong_finish(plain, same.replace("#pragma omp simd\n", "") + "#pragma omp simd\n", NAMES["tw"])
    assert wrong_finish(plain, same.replace("(x, y,", "(y, x,"), NAMES["tw"])


PLAIN = "x[i] = a[i] + b[i + 1];\nx[i + 1] = a[i + 1] + b[i + 2];\nf(i); g(i);\nf(j); g(j);\n"
OUTLINED = """#define TW_V(i) (a[i] + b[i + 1])
#define TW_W(i) \\
  f(i); g(i)
x[i] = TW_V(i);
x[i + 1] = TW_V(i + 1);
TW_W(i);
TW_W(j);
#undef TW_V
#undef TW_W
"""


@pytest.mark.parametrize(
    "old, new",
    [
        ("b[i + 1])", "b[i + 2])"),
        ("TW_V(i + 1)", "TW_V(i)"),
        ("#define TW_V(i)", "#define TW_V(a)"),
        ("#undef TW_V\n", ""),
        ("TW_V(i);", "2 * TW_V(i);"),
        ("f(i); g(i)\n", "g(i); f(i)\n"),
        ("TW_W(j)", "TW_W(i)"),
        ("#define TW_W(i)", "#define TW_W(i, j)"),
        ("#define TW_W(i)", "#define f(i)"),
    ],
)
def test_macros_stand_for_what_was_proven(old: str, new: str) -> None:
    assert wrong_finish(PLAIN, OUTLINED, NAMES["tw"]) == ""
    assert old in OUTLINED and wrong_finish(PLAIN, OUTLINED.replace(old, new, 1), NAMES["tw"])


def test_a_macro_of_a_value_in_parentheses() -> None:
    """The macro has a pair of its own, which is one more around all that is assigned."""
    plain = "x = (a ? b : (c || d) && e);\ny = (a ? b : (c || d) && e);\n"
    made = "#define TW_V() ((a ? b : (c || d) && e))\nx = TW_V();\ny = TW_V();\n#undef TW_V\n"
    assert wrong_finish(plain, made, NAMES["tw"]) == ""
    assert wrong_finish(plain, made.replace("((a ? b : (c || d) && e))", "((a ? b : c || d && e))"), NAMES["tw"])
    assert wrong_finish(plain, made.replace("x = TW_V()", "x = !TW_V()"), NAMES["tw"])


def test_a_macro_of_a_value_that_ends_in_a_comparison() -> None:
    """Its parentheses are no pair around all that is assigned."""
    proven = "c = d[k + 1] - d[k] == (n > 1);\nx = (y);\n"
    text = "#define TW_V(k) (d[k + 1] - d[k] == (n > 1))\nc = TW_V(k);\n#undef TW_V\nx = (y);\n"
    assert wrong_finish(proven, text, NameSpelling()) == ""
    assert wrong_finish(proven, text.replace("(n > 1)", "n > 1"), NameSpelling())
    assert wrong_finish(proven.replace("==", "<="), text, NameSpelling())
