"""The ways to search for a tree. Each is a function of a trial, which knows the start, the space and the budget.

    found = run(METHODS["greedy2"], start, value, Budget(60.0), progress)
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from codegen.isa.model import Isa
from codegen.tune.search.beam import broad, deep, wide
from codegen.tune.search.frame import Budget, Found, Improvement, Search, Space, Trial, Value, run
from codegen.tune.search.greedy import greedy
from codegen.tune.search.sampling import exhaustive, sample
from codegen.tune.search.tiles import analytic, fixed, shortlist

__all__ = ["METHODS", "Budget", "Found", "Improvement", "Search", "Space", "Trial", "Value", "modelled", "run"]

# Those of the published comparison, sorted by value, and the two it lacks: the oracle and the fixed schedule.
METHODS: Mapping[str, Search] = {
    "greedy1": partial(greedy, ahead=1),
    "greedy2": partial(greedy, ahead=2),
    "beam2dfs": partial(deep, width=2),
    "beam4dfs": partial(deep, width=4),
    "beam2bfs": partial(broad, width=2),
    "beam4bfs": partial(broad, width=4),
    "random": sample,
    "exhaustive": exhaustive,
    "fixed": fixed,
}


def modelled(model: Value, isa: Isa) -> Mapping[str, Search]:
    """Searches that ask a value of no cost first: the processor's model, or a learned one."""
    return {
        "analytic": partial(analytic, model=model, isa=isa),
        "shortlist": partial(shortlist, model=model, isa=isa),
        "wide": partial(wide, width=64),
    }
