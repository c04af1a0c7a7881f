"""Printed loops, conditions, forms and statements are read back beside the proven tree: texts that the tool has printed
are damaged, one place at a time, and each is refused by what the tree says."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from codegen.patterns import pattern
from tests.unit.verify.loops.texts import CASES, LANES, NAMES, printed

# By name: the region, a part of its text, and what stands there instead.
SHARED = "parallel for simd firstprivate(n, x, y)\n        for (long i = 0; i < n"
DAMAGES = {
    "a wrong step": ("hoist", "j < m; j++", "j < m; j += 2"),
    "a wrong step of vectors": ("copy", "i_end; i += 2 * TW_F64_LANES", "i_end; i += TW_F64_LANES"),
    "a bound too far": ("hoist", "j < m;", "j <= m;"),
    "a bound off by one": ("abreast", "tw_min(n, it + 3)", "tw_min(n, it + 4)"),
    "a vector beyond the end": ("update", "i + 2 * TW_F64_LANES - 1 < i_end", "i + 2 * TW_F64_LANES - 2 < i_end"),
    "a first value off by one": ("hoist", "long i = 0;", "long i = 1;"),
    "a counter of another type": ("hoist", "long j = 0;", "int j = 0;"),
    "a wrong counter": ("hoist", "j < m", "i < m"),
    "two counters of one name": ("hoist", "for (long j = 0; j < m; j++)", "for (long i = 0; i < m; i++)"),
    "a counter that hides an array": ("abreast", "long it = 0; it < n; it += 3", "long A = 0; A < n; A += 3"),
    "the tail is lost": ("update", "        for (; i < i_end; i++) { /* the rest */\n          TW_ONE_BY_ONE();\n"
                         "          y[i] = y[i] + (c * x[i]);\n        }\n      }", "      }"),
    "the rest does not go back": ("copy", "            i = tw_min(i, i_end - TW_F64_LANES);\n", ""),
    "the rest goes back too far": ("copy", "i_end - TW_F64_LANES", "i_end - 4"),
    "too few for a vector": ("copy", "if (i + TW_F64_LANES - 1 < i_end)", "if (i + 1 < i_end)"),
    "a vector too many at the beginning": ("copy", "i += 1 + tw_until", "i += 2 + tw_until"),
    "up to another vector": ("update", "tw_until(&y[i], TW_VECTOR_BYTES, 8)", "tw_until(&y[i], 32, 8)"),
    "a wrong lane is read": ("copy", "TW_F64V(x[i + TW_F64_LANES + 1])", "TW_F64V(x[i + TW_F64_LANES])"),
    "a wrong lane is stored": ("copy", "TW_F64V(y[i + TW_F64_LANES]) = v1", "TW_F64V(y[i + 2]) = v1"),
    "lanes in another order": ("apart", "{B[i][3], B[i + 1][3]}", "{B[i + 1][3], B[i][3]}"),
    "lanes that are not turned": ("reversed", "tw_f64x4u_turned(TW_F64X4U(x[n - i - 3]))", "TW_F64X4U(x[n - i - 3])"),
    "one half twice": ("in turn", "tw_f64x2u_high(v0, v1)", "tw_f64x2u_low(v0, v1)"),
    "a stored value of another": ("copy", "TW_F64V(y[i]) = v0", "TW_F64V(y[i]) = v1"),
    "statements in another order": ("chain", "          y[i] = x[i] * c;\n          z[i] = y[i] + x[i];",
                                    "          z[i] = y[i] + x[i];\n          y[i] = x[i] * c;"),
    "a statement is lost": ("in turn", "            y[2 * i + 1] = x[i] * c;\n", ""),
    "a statement runs twice": ("own", "t = t * t;", "t = t * t;\n            t = t * t;"),
    "a loop runs twice": ("abreast", "for (; i < i_end; i++)",
                          "for (; i < i_end; i++)\n  for (long z = 0; z < 2; z++)"),
    "a condition is negated": ("asked", "(x[i] > c)", "(!(x[i] > c))"),
    "a condition is lost": ("own", "if (m >= 1) {", "{"),
    "another condition": ("own", "if (m >= 1)", "if (m >= 2)"),
    "both branches run": ("abreast", "} else {\n            for (; i", "} {\n            for (; i"),
    "branches change places": ("abreast", "i_end - i == 3", "i_end - i != 3"),
    "a value is read where no loop runs": ("hoist", "if (0 < m) {", "{"),
    "another value is read ahead": ("hoist", "c1 = y[i]", "c1 = y[j]"),
    "a value is read ahead from elsewhere": ("last", "c0 = z[i - 1]", "c0 = z[i]"),
    "a kept value is not passed on": ("carried", "          x_2 = x_1;\n", ""),
    "kept values in another order": ("carried", "          x_2 = x_1;\n          x_1 = x_0;",
                                     "          x_1 = x_0;\n          x_2 = x_1;"),
    "a kept value begins elsewhere": ("carried", "double y_1 = y[1]", "double y_1 = y[0]"),
    "a kept value is read beyond the end": ("carried", "3 < n ? x[1] : 0", "x[1]"),
    "a kept value is not stored": ("last", "          y[i] = y_1;\n", ""),
    "a kept value is stored inside": ("last", "            y_1 = y_0;\n",
                                      "            y_1 = y_0;\n            y[i] = y_1;\n"),
    "a subscript of another row": ("named", "at0 = i <= 2 ? 0", "at0 = i <= 3 ? 0"),
    "a subscript that is gone": ("named", "        const long at0 = i <= 2 ? 0 : (i >= 8 ? 9 : i);\n", ""),
    "the result of a sum is lost": ("sum", "          y[0] = y[0] + ((w0[0] + w0[2]) + (w0[1] + w0[3]));\n", ""),
    "a lane of a sum is lost": ("sum", "(w0[1] + w0[3])", "(w0[1] + w0[1])"),
    "a vector of a sum is lost": ("sum", "          w0 = w0 + w1;\n", ""),
    "a vector of a sum counts twice": ("sum", "w0 = w0 + w1;", "w0 = w0 + w0;"),
    "a sum that begins with something": ("sum", "w1 = {0}", "w1 = {1}"),
    "a product that begins with nothing": ("factors", "w0 = 1 - ", "w0 = 0 - "),
    "a product that adds": ("factors", "(w0[0] * w0[2])", "(w0[0] + w0[2])"),
    "the least in place of the greatest": ("greatest", "w1 > w0", "w1 < w0"),
    "a lane of the greatest is lost": ("greatest", "          if (w0[2] > y[0]) y[0] = w0[2];\n", ""),
    "the greatest so far is forgotten": ("greatest", "w1 = y[0] - (tw_f64x4u){0}", "w1 = {0}"),
    "the first lane of an open sum is lost": ("open sum", "tw_lane = 0", "tw_lane = 1"),
    "lanes of another width": ("open sum", "tw_lane < TW_F64_LANES", "tw_lane < 2"),
    "one lane again and again": ("open sum", "+ w0[tw_lane]", "+ w0[0]"),
    "a lane of the greatest is stored anyway": ("open greatest", "if (w0[tw_lane] > y[0]) y[0]", "y[0]"),
    "a loop for threads that is another one": ("shared", SHARED, f"{SHARED} - 1"),
    "a loop for threads that does other things": ("shared", f"{SHARED}; i++)\n          y[i] = x[i] + 1",
                                                  f"{SHARED}; i++)\n          y[i] = x[i] + 2"),
    "a loop for threads alone": ("shared", "      } else {\n#pragma", "      }\n      {\n#pragma"),
    "a test that changes something": ("shared", "(double)n <", "(double)n++ <"),
    "what is gathered is lost": ("gathered", "          tw_total = total;\n", ""),
    "what is gathered begins anew": ("gathered", "(unsigned int)total;", "0;"),
    "what is gathered goes nowhere": ("gathered", "          tw_total = total;\n        }\n",
                                      "          tw_total = total;\n"),
    "a variable that is not there": ("own", "            double t;\n", ""),
    "a variable for all iterations": ("own", "            double t;\n            t = A[i][j]",
                                      "            {\n              double t;\n            }\n            t = A[i][j]"),
    "a wait that is missing": ("pipeline", "          tw_follow(tw_line, kt_turn, k_it);\n", ""),
    "a turn of another loop": ("pipeline", "kt = 16 * kt_turn - k_ahead", "kt = 8 * kt_turn - k_ahead"),
    "another row": ("rows", "p_row1 = p[i - 1]", "p_row1 = p[i]"),
    "rows that change places": ("rows", "- TW_F64V(p_row1[j]);\n          j", "- TW_F64V(p_row0[j]);\n          j"),
    "a row of another array": ("rows", "q_row0 = q[i]", "q_row0 = p[i]"),
    "a row that may be written": ("rows", "const double *const p_row0", "double *const p_row0"),
    "a row that nobody follows for certain": (
        "rows", "double *const q_row0 = q[i];",
        "double *const q_row0 = q[i];\n          double *const q_row1 = q[i + 1];"),
    "a row of elements along the loop": (
        "rows", "const double *const p_row0 = p[i];", "const double *const p_row0 = p[j];"),
    "a row that is read where no vector is": (
        "rows in place", "if (j + 2 * TW_F64_LANES - 1 < j_end) {\n          double *const q_row0 = q[i];",
        "double *const q_row0 = q[i];\n        if (j + 2 * TW_F64_LANES - 1 < j_end) {"),
    "a name of a row behind its block": (
        "rows in place", "TW_F64V(q[i][j]) = TW_F64V(q[i][j])", "TW_F64V(q_row0[j]) = TW_F64V(q_row0[j])"),
    "lanes that run before they may": ("triangle", "k_from = i + 1;", "k_from = i;"),
    "too many lanes": ("triangle", "lane < i + 2", "lane < i + 3"),
    "the part before all lanes is lost": (
        "triangle", "          for (long lane = i; lane < i + 2; lane++)\n"
        "            for (long k2 = lane; k2 < tw_min(k_from, m); k2++)\n"
        "              B[k2][lane] = A[lane][k2] - A[lane][lane + k2];\n", ""),
    "a search that goes on": ("search", "k_21 < m && A[i][k_21] < 0", "k_21 < m"),
    "a search that finds another": ("search", "k = k_21 + 1", "k = k_21"),
    "memory is not given back": ("memory", "      tw_free(tw_memory);\n", ""),
    "memory of threads is given back too early": ("memory", "tw_own_tw_all_sum = tw_memory;\n",
                                                  "tw_own_tw_all_sum = tw_memory;\n      tw_free(tw_memory);\n"),
    "memory of all is given back too early": ("memory of all", "= tw_memory;\n",
                                              "= tw_memory;\n      tw_free(tw_memory);\n"),
    "threads share their memory": ("memory", "tw_own_tw_all_sum + tw_thread() *", "tw_own_tw_all_sum + 0 *"),
    "memory of a product is not given back": ("product", "            tw_free(tw_dealt_out);\n", ""),
    "memory of a product is given back twice": ("product", "            tw_free(tw_dealt_out);\n",
                                                "            tw_free(tw_dealt_out);\n" * 2),
    "memory of its other way is not given back": ("product", "            tw_free(tw_owned);\n", ""),
    "memory of its other way is given back": ("product", "tw_free(tw_owned);", "tw_free(tw_dealt_out);"),
    "memory of both ways is given back": ("product", "            tw_free(tw_owned);\n",
                                          "            tw_free(tw_dealt_out);\n            tw_free(tw_owned);\n"),
    "a way without a test": ("product", "} else if (tw_owned) {", "} else if (tw_small) {"),
    "a plain nest that is another one": ("product", "i < n; i++) /* rows */", "i < n - 1; i++) /* rows */"),
    "a plain nest that is lost": ("product", "              C[i][j] += A[i][k] * B[k][j];\n", "              ;\n"),
    "memory without a test": ("memory", "= tw_apart(2, 3", "= 1 || tw_apart(2, 3"),
    "a test that is lost": ("hoist", "if (tw_apart(1, 4, ", "if (1 || tw_apart(1, 4, "),
    "another test": ("hoist", "TW_SPAN(y, 0, n) }", "TW_SPAN(y, 0, 1) }"),
    "the source's text is lost": ("hoist", "        old(i);\n", ""),
    "the source's text runs, too": ("hoist", "    } else {\n      for (int", "    } {\n      for (int"),
    "something behind it all": ("hoist", "        old(i);\n    }\n", "        old(i);\n    }\n    n = 0;\n"),
    "something ahead of it all": ("hoist", "    /* The fast", "    y[0] = 0;\n    /* The fast"),
}  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_what_is_printed_is_the_tree(name: str) -> None:
    assert printed(name).wrong == ""


@pytest.mark.parametrize("what", DAMAGES)
def test_a_damaged_text_is_refused(what: str) -> None:
    name, old, new = DAMAGES[what]
    p = printed(name)
    assert old in p.text.plain
    assert p.damaged(p.text.plain.replace(old, new, 1))


_EDITS = (
    (pattern(r"\+\+\)"), " += 2)"),
    (pattern(r" < "), " <= "),
    (pattern(r" > "), " >= "),
    (pattern(r"\b0\b"), "1"),
    (pattern(r"\b([1-9]\d*)\b"), r"1\1"),
    (pattern(r" \+ "), " - "),
    (pattern(r" - "), " + "),
    (pattern(r" \* "), " + "),
    (pattern(r"\bi\b"), "n"),
    (pattern(r"\bj\b"), "i"),
    (pattern(r"\bx\["), "y["),
    (pattern(r"\bif \((.*)\)( \{|$)"), r"if (!(\1))\2"),
    (pattern(r"_low\("), "_high("),
)
# Directives are compared as a whole, comments and ends of rows say nothing, and how much there is to do matters to
# nobody.
_ELSEWHERE = pattern(r"^\s*(?:#|/\*|TW_NEXT_ROWS\(\);$)|TW_PARALLEL_MIN|tw_even_tiles")


def edits(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    """All texts with one line lost, printed twice, in the place of its neighbour, or with one word changed."""
    for k, line in enumerate(lines):
        if _ELSEWHERE.search(line):
            continue
        code = re.sub(r"/\*.*?\*/", lambda m: " " * len(m[0]), line)
        if code.rstrip().endswith(";"):
            yield f"lost: {line}", [*lines[:k], *lines[k + 1 :]]
            if not code.lstrip().startswith("const"):
                yield f"twice: {line}", [*lines[: k + 1], *lines[k:]]
        for old, new in _EDITS:
            for m in old.finditer(code):
                other = line[: m.start()] + m.expand(new) + line[m.end() :]
                yield f"{m[0]} in {line}", [*lines[:k], other, *lines[k + 1 :]]


@pytest.mark.parametrize("name", [*CASES, *LANES, "gathered", "shared", "own", "search"])
def test_any_edit_is_refused(name: str) -> None:
    p = printed(name)
    lines = p.text.plain.removesuffix("\n").split("\n")
    fallback = next((k for k, line in enumerate(lines) if line == "    } else {"), len(lines))
    found = list(edits(lines[:fallback]))
    assert len(found) > 20
    left = [what for what, text in found if not p.damaged("\n".join((*text, *lines[fallback:], "")))]
    assert left == []
