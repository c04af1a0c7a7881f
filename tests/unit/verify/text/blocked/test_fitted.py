"""Products whose blocks are computed from the caches: proven for any sizes of these, and damaged text is refused."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from codegen.machine.load import load_for
from codegen.region import make
from codegen.region_model import model_region
from codegen.scop.product import Blocking, Contraction
from codegen.source_file import open_source
from codegen.strategy.products.selection import blocking
from codegen.target.emit import RegionText, Surroundings, region_text
from codegen.target.region_views import region_views
from codegen.verify.text.blocked.product import wrong_products
from codegen.verify.text.check import wrong_text
from tests.unit.verify.text.blocked.test_product import SOURCE, changed, options


@cache
def fitted(target: str) -> RegionText:
    """The text of a product of doubles with AVX2, in register tiles of 6 x 8."""
    chosen, machine = options(target, "avx2"), load_for("generic", "avx2")
    (s,) = open_source("in.c", SOURCE, chosen).slices
    model = model_region(s, chosen)
    assert model is not None
    made = make(model, chosen, machine)

    def blocks(what: Contraction) -> Blocking:
        return replace(blocking(what, machine), fitted=True)

    return region_text(region_views(made.program.scop, made.code, target != "c", blocks=blocks), Surroundings())


@pytest.mark.parametrize("target", ["c", "openmp"])
def test_blocks_of_any_size_are_proven(target: str) -> None:
    emitted = fitted(target)
    assert "tw_fit_depth(" in emitted.plain and "tw_caches" in emitted.helpers
    assert wrong_text(emitted) == ""


# What is damaged, the text, what stands there instead, and which of several places.
CHANGES = {
    "no step at all": ("TW_SIZE(tw_small ? 1 : tw_fit_depth(", "TW_SIZE(tw_small ? 0 : tw_fit_depth(", 0),
    "less than fits": (": tw_fit_depth(", ": -1 + tw_fit_depth(", 0),
    "rows that may be none": (": tw_fit_rows(", ": -1 + tw_fit_rows(", 0),
    "columns that may be none": (": tw_fit_columns(", ": -1 + tw_fit_columns(", 0),
    "no rows in a tile": ("tw_fit_depth(6,", "tw_fit_depth(0,", 0),
    "a run of less than a sliver": ("tw_small ? tw_nr : tw_fit_run(", "tw_small ? 1 : tw_fit_run(", 0),
    "a run of parts of slivers": ("tw_fit_run(tw_deep, tw_nr,", "tw_fit_run(tw_deep, tw_nr - 1,", 0),
    "rows for no thread": ("(long)sizeof(double), 0, tw_team));", "(long)sizeof(double), 0, 0));", 0),
    "a run for less than a team": ("sizeof(double), 0, tw_team);", "sizeof(double), 0, tw_team - 1);", 0),
    "threads are forgotten": ("(long)sizeof(double), 0, tw_team));", "(long)sizeof(double), 0));", 0),
    "sizes of something else": (": tw_fit_depth(", ": tw_fit_nothing(", 0),
}


@pytest.mark.parametrize("what", CHANGES)
def test_damaged_products_are_refused(what: str) -> None:
    emitted = fitted("c")
    assert wrong_products(changed(emitted.plain, *CHANGES[what]), emitted.products)
