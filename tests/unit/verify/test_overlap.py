"""The test that arrays do not overlap, read back: one that leaves memory out is refused."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from codegen.options import GenOptions
from codegen.region_model import model_region
from codegen.scop.model import Scop
from codegen.scop.origins import Origins
from codegen.source_file import open_source
from codegen.target.guards.alias import AliasTest, alias_test
from codegen.verify.overlap.check import wrong_overlap

SOURCES = {
    "rows": """void f(int n, int m, double *a, const double *b, const double *c) {
#pragma scop
  for (int i = 1; i < n; i++)
    for (int j = 0; j < m; j++)
      a[i * m + j] = b[(i - 1) * m + j] + c[j + 2];
#pragma endscop
}
""",
    "members": """struct s { int n; double *x; float *y; };
void f(struct s *p, double (*a)[8]) {
#pragma scop
  for (int i = 0; i < p->n; i++)
    a[i + 1][3] = p->x[2 * i] + p->y[i];
#pragma endscop
}
""",
    "blocks": """void f(int l, int n, int m, double *a, const double *b) {
#pragma scop
  for (int k = 0; k < l; k++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < m; j++)
        a[k * n * m + i * m + j] = b[i * m + j];
#pragma endscop
}
""",
    "tables": """struct s { double scale; };
void f(int n, int m, double **a, double **b, const struct s *p) {
#pragma scop
  for (int i = 1; i < n; i++)
    for (int j = 0; j < m; j++)
      a[i][j] = b[i - 1][j + 1] * p->scale;
#pragma endscop
}
""",
    "bytes": """struct s { int n; char *from; };
extern char *more;
void f(int n, char **a, const struct s *p) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      a[i][j] = p->from[j] + more[i];
#pragma endscop
}
""",
    "looked up": """int table[16];
void f(int n, int *a, const unsigned char *b, const int *c) {
#pragma scop
  for (int i = 0; i < n; i++)
    a[i] = c[b[i]] + table[b[i] & 15];
#pragma endscop
}
""",
    "asked": """struct t { int n; double *x; };
struct s { struct t *t; };
int counts[64];
void f(int m, const int *n, struct s *p, double *a) {
#pragma scop
  for (int i = 0; i < *n; i++)
    counts[i] = i;
  for (int i = 0; i < m; i++)
    a[i] = p->t->x[i];
#pragma endscop
}
""",
}


@cache
def printed(name: str) -> tuple[Scop, AliasTest]:
    return made(SOURCES[name])


def made(text: str) -> tuple[Scop, AliasTest]:
    options = GenOptions(target="c")
    (s,) = open_source("f.c", text, options).slices
    model = model_region(s, options)
    assert model is not None
    return model.program.scop, alias_test(model.program.scop, False, False)


@pytest.mark.parametrize("name", SOURCES)
def test_what_is_printed_is_proven(name: str) -> None:
    scop, test = printed(name)
    assert "TW_SPAN" in test.text or "TW_ROWS" in test.text
    assert wrong_overlap(scop, test, False, True) == ""


# What is left out: the source, the text, what stands there instead.
CHANGES = {
    "the first row": ("rows", "TW_ROWS(a, 1,", "TW_ROWS(a, 2,"),
    "the last row": ("rows", "TW_ROWS(a, 1, n,", "TW_ROWS(a, 1, n - 1,"),
    "rows of another length": ("rows", "TW_ROWS(a, 1, n, m)", "TW_ROWS(a, 1, n, n)"),
    "elements in place of rows": ("rows", "TW_ROWS(a, 1, n, m)", "TW_SPAN(a, 1, n)"),
    "the last element": ("rows", "m + 2)", "m + 1)"),
    "another array": ("rows", "TW_ROWS(b,", "TW_ROWS(d,"),
    "nothing is written": ("rows", "tw_apart(1,", "tw_apart(0,"),
    "one part too few": ("rows", "tw_apart(1, 3,", "tw_apart(1, 2,"),
    "another order": (
        "rows", "TW_ROWS(a, 1, n, m), TW_ROWS(b, 0, (long)n - 1, m)",
        "TW_ROWS(b, 0, (long)n - 1, m), TW_ROWS(a, 1, n, m)",
    ),
    "the last row of a table": ("members", "TW_SPAN(a, 1, (long)p->n + 1)", "TW_SPAN(a, 1, p->n)"),
    "every second element": ("members", "2 * (long)p->n - 1", "p->n"),
    "behind a member": ("members", "p->y, 0,", "p->y, 1,"),
    "a text of another form": ("members", "TW_SPAN(a,", "TW_AREA(a,"),
    "blocks of one row": ("blocks", "TW_ROWS(a, 0, l, (unsigned long long)m * n)", "TW_ROWS(a, 0, l, m)"),
    "the last block": ("blocks", "TW_ROWS(a, 0, l,", "TW_ROWS(a, 0, l - 1,"),
    "the first pointer": ("tables", "TW_TABLE(b, b[0], 0,", "TW_TABLE(b, b[0], 1,"),
    "the last pointer": ("tables", "TW_TABLE(a, a[0], 1, n,", "TW_TABLE(a, a[0], 1, n - 1,"),
    "a pointer that is not there": ("tables", "TW_TABLE(a, a[0], 1, n,", "TW_TABLE(a, a[0], 1, n + 1,"),
    "a pointer ahead of all": ("tables", "TW_TABLE(a, a[0], 1, n,", "TW_TABLE(a, a[0], 0, n,"),
    "the first column": ("tables", "TW_TABLE(b, b[0], 0, (long)n - 1, 1,", "TW_TABLE(b, b[0], 0, (long)n - 1, 2,"),
    "the last column": ("tables", "1, n, 0, m)", "1, n, 0, m - 1)"),
    "the rows of another table": ("tables", "TW_TABLE(b, b[0],", "TW_TABLE(b, a[0],"),
    "the steps of another table": ("tables", "TW_TABLE(b, b[0],", "TW_TABLE(a, b[0],"),
    "the memory of a table": (
        "tables", "TW_TABLE(b, b[0], 0, (long)n - 1, 1, (long)m + 1)", "tw_line(TW_SPAN(b, 0, n))"
    ),
    "a value in a struct": ("tables", "TW_SPAN(p, 0, 1)", "TW_SPAN(p, 0, 0)"),
    "another value": ("tables", "TW_SPAN(p, 0, 1)", "TW_SPAN(p, 1, 2)"),
    "a pointer in a struct": ("bytes", "TW_SPAN(p, 0, 1)", "TW_NOWHERE"),
    "a pointer of the file": ("bytes", "TW_SPAN(&more, 0, 1)", "TW_SPAN(more, 0, 1)"),
    "pointers under characters": ("bytes", "TW_SPAN(a, 0, n)", "TW_SPAN(a, 0, n - 1)"),
    "the end of what bytes reach": ("looked up", "TW_SPAN(c, 0, 256)", "TW_SPAN(c, 0, 255)"),
    "the beginning of what bytes reach": ("looked up", "TW_SPAN(c, 0, 256)", "TW_SPAN(c, 1, 256)"),
    "a part of an object": ("looked up", "TW_SPAN(&table, 0, 1)", "TW_SPAN(table, 0, 1)"),
    "a length behind a pointer": ("asked", "TW_SPAN(&*n, 0, 1)", "TW_SPAN(&*n, 0, 0)"),
    "an array of the file": ("asked", "TW_SPAN(counts, 0,", "TW_SPAN(counts, 1,"),
    "a pointer that may lead nowhere": (
        "asked", "(m >= 1 ? TW_SPAN(p->t->x, 0, m) : TW_NOWHERE)", "TW_SPAN(p->t->x, 0, m)"
    ),
    "a condition that is too narrow": ("asked", "m >= 1 ? TW_SPAN(p->t->x", "m >= 2 ? TW_SPAN(p->t->x"),
}  # fmt: skip


@pytest.mark.parametrize("what", CHANGES)
def test_tests_that_leave_memory_out_are_refused(what: str) -> None:
    name, old, new = CHANGES[what]
    scop, test = printed(name)
    assert old in test.text, test.text
    assert wrong_overlap(scop, replace(test, text=test.text.replace(old, new, 1)), False)


@pytest.mark.parametrize("name", SOURCES)
def test_no_test_at_all_is_refused(name: str) -> None:
    scop, test = printed(name)
    assert wrong_overlap(scop, replace(test, text=""), False)


@pytest.mark.parametrize("name", SOURCES)
def test_no_part_of_a_test_can_be_left_out(name: str) -> None:
    """Each entry is there for something."""
    scop, test = printed(name)
    head, _, rest = test.text.partition("{ ")
    entries = _split(rest.removesuffix(" })"))
    written = int(head.split("(")[1].split(",")[0])
    for k in range(len(entries)):
        left = entries[:k] + entries[k + 1 :]
        call = head.replace(f"({written}, {len(entries)},", f"({written - (k < written)}, {len(left)},")
        assert wrong_overlap(scop, replace(test, text=f"{call}{{ {', '.join(left)} }})"), False), entries[k]


def _split(text: str) -> list[str]:
    found, depth = [""], 0
    for c in text:
        depth += (c == "(") - (c == ")")
        if c == "," and not depth:
            found.append("")
        else:
            found[-1] += c
    return [x.strip() for x in found]


UNKNOWN = """void f(int n, const int *at, double *a, const double *b) {
#pragma scop
  for (int i = 0; i < n; i++)
    a[i] = b[at[i]];
#pragma endscop
}
"""


def test_what_cannot_be_compared_is_believed_where_a_remark_says_so() -> None:
    scop, test = made(UNKNOWN)
    assert wrong_overlap(scop, test, False) == ""
    assert wrong_overlap(scop, replace(test, remarks=()), False)
    assert wrong_overlap(scop, test, False, strict=True)


def test_one_memory_under_two_names_is_compared_under_one() -> None:
    text = UNKNOWN.replace("b[at[i]]", "b[0] + *b").replace("const int *at, double *a", "double *a")
    scop, test = made(text)
    assert wrong_overlap(scop, test, False, True) == ""


# Facts of the model by which no test is needed: without them, there has to be one.
FACTS = {
    "restrict": "void f(int n, double *restrict a, const double *b) {",
    "fresh": "void *malloc(unsigned long);\nvoid f(int n, const double *b) {\n  double *a = malloc(8 * n);",
    "settled": "void use(double *);\nvoid f(int n, const double *b) {\n  double a[64];\n  use(a);",
    "related": "void f(int n, int q, double *a) {\n  double *b = a;\n  if (q)\n    b = a + 1;",
}


@pytest.mark.parametrize("fact", FACTS)
def test_every_reason_not_to_compare_is_one_of_c(fact: str) -> None:
    text = FACTS[fact] + "\n#pragma scop\n  for (int i = 0; i < n; i++)\n    a[i] = b[i];\n#pragma endscop\n}\n"
    scop, test = made(text)
    assert wrong_overlap(scop, test, False) == ""
    if fact == "related":
        assert wrong_overlap(scop, AliasTest(), True)
    else:
        assert test.text == "" and wrong_overlap(replace(scop, origins=Origins()), test, False)


# Names that hide others: what is known of a parameter, or of new memory, is not known of them.
HIDING = {
    "a parameter that is restrict": ("double *restrict p, double *q", "{{ double *p = get(n); LOOP }}"),
    "new memory": ("double *q", "double *p = malloc(8); free(p); {{ extern double *p; LOOP }}"),
    "new memory, and one of the file": ("double *q", "double *p = malloc(8); free(p); {{ static double *p; LOOP }}"),
    "new memory, and one that another function sets": (
        "double *q", "double *p = malloc(8); free(p); {{ double *p; set(&p); LOOP }}",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", HIDING)
def test_what_hides_a_name_is_another_variable(what: str) -> None:
    given, body = HIDING[what]
    loop = "\n#pragma scop\nfor (int i = 1; i < n; i++) p[i] = q[i - 1] * 2.0;\n#pragma endscop\n"
    inside = body.format().replace("LOOP", loop)
    known = "double *get(int); void set(double **); void *malloc(unsigned long); void free(void *);\n"
    source = f"{known}void f(int n, {given})\n{{\n{inside}\n}}\n"
    options = GenOptions()
    model = model_region(open_source("f.c", source, options).slices[0], options)
    assert model is not None
    scop = model.program.scop
    assert "p" not in scop.origins.restricted | scop.origins.settled | scop.origins.fresh
    assert "TW_SPAN(p, " in alias_test(scop, False, False).text
