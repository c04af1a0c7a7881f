"""The table of techniques: what the planner thought of is on record, with the reason where it was not taken."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from codegen.machine import load
from codegen.options import GenOptions
from codegen.region import ProvenRegion, make
from codegen.region_model import model_region
from codegen.report.text import technique_lines
from codegen.source_file import open_source
from codegen.strategy.author import Author, Considered
from codegen.strategy.planner import REGIONS, THREADS, TILING, VECTORS, knob_makers
from codegen.strategy.technique import Site, Technique, Unsuited, best_that_suits

LOOPS = "for (int i = 1; i < n; i++) for (int j = 0; j < n; j++) "
PRODUCT = LOOPS + "for (int k = 0; k < n; k++) c[i][j] += a[i][k] * b[k][j];"
STEPS = LOOPS + "c[i][j] = c[i - 1][j] * a[i][j];"
SUM = "for (int i = 0; i < n; i++) c[0][0] += a[0][i];"

AGAIN = """for (int k = 1; k < n; k++) {
  for (int i = 0; i < k; i++) b[0][i] = c[0][i] + a[0][k] * c[0][k - i - 1];
  for (int i = 0; i < k; i++) c[0][i] = b[0][i];
}"""


DILATED = LOOPS + """{
  c[i][j] = 0;
  for (int p = 0; p < 3; p++) for (int q = 0; q < 3; q++) if (j >= 2 && i + 6 < n && j + 6 < n)
    c[i][j] += a[i + 2 * p][j + 2 * q] * b[p][q];
}"""


def made(body: str, options: GenOptions) -> ProvenRegion:
    head = "void f(int n, double a[n][n], double b[n][n], double c[n][n])"
    text = f"{head}\n{{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"
    model = model_region(open_source("in.c", text, options).slices[0], options)
    assert model is not None
    return make(model, options, load("generic"))


def considered(body: str) -> tuple[Considered, ...]:
    return made(body, GenOptions()).considered


def why(found: tuple[Considered, ...], name: str) -> list[str]:
    return [c.why for c in found if c.technique == name]


def test_names_are_unique_and_every_row_says_what_it_does_and_needs() -> None:
    rows = [*REGIONS, *(t for part in TILING for t in part), *THREADS, *VECTORS]
    assert len({t.name for t in rows}) == len(rows)
    assert all(t.does and t.needs for t in rows)
    assert all(t.first for t in REGIONS[:-1])
    assert all(t.price for part in (*TILING, THREADS, VECTORS) for t in part)  # a prediction, or why there is none


def test_a_product_needs_no_other_technique_for_its_region() -> None:
    found = considered(PRODUCT)
    assert why(found, "products") == [""]
    (reason,) = why(found, "tiles over time")  # the first that suits is taken
    assert reason.startswith("not asked after `products`: ")


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


@pytest.fixture
def author() -> Author:
    text = "void f(int n, double *a)\n{\n#pragma scop\nfor (int i = 0; i < n; i++) a[i] = 1;\n#pragma endscop\n}\n"
    model = model_region(open_source("in.c", text, GenOptions()).slices[0], GenOptions())
    assert model is not None
    return Author(model.program, [], [], load("generic"))


def never(author: Author, site: Site) -> None:
    raise Unsuited("not today")


def says(word: str) -> Callable[[Author, Site], None]:
    return lambda author, site: author.remark("passed", word, word, "S1")


def choose(author: Author, *rows: Technique) -> Technique | None:
    return best_that_suits(author, Site(author.p.tree), rows)  # type: ignore[arg-type]


def test_the_first_that_suits_is_taken_and_all_before_it_are_recorded(author: Author) -> None:
    ways = (("one", never), ("two", says("two")), ("three", never))
    rows = [Technique(n, "", "something else", f, "no model") for n, f in ways]
    assert choose(author, *rows) is rows[1]
    assert [(c.technique, c.why) for c in author.considered] == [("one", "not today"), ("two", "")]


def priced(name: str, cycles: float, first: str = "") -> Technique:
    return Technique(name, "", "nothing", says(name), lambda p, names, machine: cycles, first)


def test_one_behind_that_costs_clearly_less_is_taken_and_its_rivals_are_recorded_with_figures(author: Author) -> None:
    rows = [priced("one", 2.0), Technique("two", "", "nothing", never, lambda *a: 0.5), priced("three", 1.0)]
    assert choose(author, *rows) is rows[2]
    found = {c.technique: (c.why, c.cycles) for c in author.considered}
    lost = "about 2 cycles an iteration against about 1 cycles an iteration of `three`"
    assert found == {"one": (lost, 2.0), "two": ("not today", None), "three": ("", 1.0)}
    assert [d.id for d in author.remarks] == ["three", "technique"]  # nothing of the first is left


def test_a_row_may_say_why_it_stays_ahead(author: Author) -> None:
    rows = [priced("one", 2.0, "measured otherwise"), priced("two", 1.0)]
    assert choose(author, *rows) is rows[0]
    assert author.considered[1].why.endswith("but measured otherwise")
    assert author.remarks[-1].message.endswith(": measured otherwise")


def test_little_less_is_not_enough(author: Author) -> None:
    rows = [priced("one", 1.05), priced("two", 1.0)]
    assert choose(author, *rows) is rows[0]


def test_rivals_for_a_loop_have_figures() -> None:
    found = considered(AGAIN)
    by_name = {c.technique: c for c in found if c.stmts == ("S2",)}
    taken, lost = by_name["vectors written out"], by_name["vectors by the compiler"]
    assert not taken.why and taken.cycles is not None and lost.cycles is not None
    assert taken.cycles < lost.cycles and "of `vectors written out`" in lost.why


def test_knobs_come_from_the_rows() -> None:
    rows = [*REGIONS, *(t for part in (*TILING, THREADS, VECTORS) for t in part)]
    assert set(knob_makers()) == {maker for t in rows for maker in t.knobs}
    assert len(knob_makers()) == len(set(knob_makers()))


def test_permission_for_sums_does_not_lead_to_a_worse_order() -> None:
    """isl takes them out of registers once their order is free."""
    kept, free = (made(DILATED, GenOptions(reassociate=r)).plan for r in (False, True))
    assert kept.directives == free.directives
