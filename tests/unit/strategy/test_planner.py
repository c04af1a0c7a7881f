"""The table of techniques: what the planner thought of is on record, with the reason where it was not taken."""

from __future__ import annotations

from codegen.machine import load
from codegen.opened import open_source
from codegen.options import GenOptions
from codegen.region import make
from codegen.region_model import model_region
from codegen.report.text import technique_lines
from codegen.strategy.author import Author, Considered
from codegen.strategy.planner import REGIONS, THREADS, TILING, VECTORS
from codegen.strategy.technique import Site, Technique, Unsuited, first_that_suits

LOOPS = "for (int i = 1; i < n; i++) for (int j = 0; j < n; j++) "
PRODUCT = LOOPS + "for (int k = 0; k < n; k++) c[i][j] += a[i][k] * b[k][j];"
STEPS = LOOPS + "c[i][j] = c[i - 1][j] * a[i][j];"
SUM = "for (int i = 0; i < n; i++) c[0][0] += a[0][i];"


def considered(body: str) -> tuple[Considered, ...]:
    head = "void f(int n, double a[n][n], double b[n][n], double c[n][n])"
    text = f"{head}\n{{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"
    options = GenOptions()
    model = model_region(open_source("in.c", text, options).slices[0], options)
    assert model is not None
    return make(model, options, load("generic")).considered


def why(found: tuple[Considered, ...], name: str) -> list[str]:
    return [c.why for c in found if c.technique == name]


def test_names_are_unique_and_every_row_says_what_it_does_and_needs() -> None:
    rows = [*REGIONS, *(t for part in TILING for t in part), *THREADS, *VECTORS]
    assert len({t.name for t in rows}) == len(rows)
    assert all(t.does and t.needs for t in rows)


def test_a_product_needs_no_other_technique_for_its_region() -> None:
    found = considered(PRODUCT)
    assert why(found, "products") == [""]
    assert why(found, "tiles over time") == []  # the first that suits is taken


def test_losers_say_what_they_need() -> None:
    found = considered(STEPS)
    (reason,) = why(found, "products")
    assert reason.startswith("needs sums of products")
    assert "" in why(found, "nest by nest") and "" in why(found, "work sharing")


def test_what_was_illegal_says_why() -> None:
    found = considered(SUM)
    (reason,) = why(found, "vectors by the compiler")
    assert "is carried by loop `i`" in reason


def test_lines_for_people() -> None:
    tiles = Considered("tiles", ("S1",))
    lines = technique_lines((Considered("products", (), "needs sums"), tiles, tiles))
    assert lines == ["for the region", "  products: needs sums", "for S1", "  tiles: taken"]


def test_the_first_that_suits_is_taken_and_all_before_it_are_recorded() -> None:
    text = "void f(int n, double *a)\n{\n#pragma scop\nfor (int i = 0; i < n; i++) a[i] = 1;\n#pragma endscop\n}\n"
    model = model_region(open_source("in.c", text, GenOptions()).slices[0], GenOptions())
    assert model is not None

    def never(author: Author, site: Site) -> None:
        raise Unsuited("not today")

    ways = (("one", never), ("two", lambda a, s: None), ("three", never))
    rows = [Technique(n, "", "something else", f) for n, f in ways]
    author = Author(model.program, [], [], load("generic"))
    band = model.program.tree
    taken = first_that_suits(author, Site(band), rows)  # type: ignore[arg-type]
    assert taken is rows[1]
    assert [(c.technique, c.why) for c in author.considered] == [("one", "not today"), ("two", "")]
