"""Pointers as elements: set, copied and asked, where the region does not follow pointers of their type."""

from __future__ import annotations

import pytest

from codegen.options import GenOptions
from codegen.pipeline import generate
from tests.run.sources import run

HEAD = (
    "#include <stddef.h>\n"
    "struct item { int id; float *cost; };\n"
    "typedef struct { int n, alloc; char **name; const char **tag; float **rows; struct item *items; float *data; }\n"
    "  table;\n"
    "static float *kept;\n"
)
ARGUMENTS = "(int n, int m, table *t, float **a, float **b, float *x)"
TAKEN = {
    "cleared": "for (int i = t->n; i < t->alloc; i++) { t->name[i] = NULL; t->tag[i] = 0; }",
    "copied": "for (int i = 0; i < n; i++) a[i] = b[m + i];",
    "members": "for (int i = 0; i < n; i++) { t->items[i].cost = NULL; t->items[i].id = i; x[i] = 1; }",
    "asked": "for (int i = 0; i < n; i++) if (t->items[i].cost != NULL) x[i] += 1;",
    "other_type": "for (int i = 0; i < n; i++) { t->name[i] = NULL; t->data[i] = 0; a[0][i] = 1; }",
}
REFUSED = {
    "row_followed": "for (int i = 0; i < n; i++) { a[i] = b[i]; b[i][0] = 1; }",
    "member_followed": "for (int i = 0; i < n; i++) { t->items[i].cost = NULL; t->data[i] = 1; }",
    "global_followed": "for (int i = 0; i < n; i++) { a[i] = NULL; kept[i] = 1; }",
    "asked_ahead": "for (int i = 0; i < n; i++) { a[i] = NULL; if (t->data != NULL) x[i] = 1; }",
}


def source(forms: dict[str, str]) -> str:
    return HEAD + "".join(
        f"void {name}{ARGUMENTS}\n{{\n  (void)m, (void)t, (void)a, (void)b, (void)x, (void)kept;\n"
        f"#pragma scop\n  {body}\n#pragma endscop\n}}\n"
        for name, body in forms.items()
    )


def test_pointers_are_stored_and_read() -> None:
    report = run(source(TAKEN), GenOptions(target="c"))
    assert report.ok and all("agree" in line for line in report.lines), report


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_pointers_that_are_followed_are_not_set(name: str) -> None:
    made = generate("in.c", source({name: REFUSED[name]}), GenOptions(target="c"))
    assert [n.id for d in made.diagnostics for n in d.notes] == ["array-as-value"], made.diagnostics
