"""What ownership brings: `tilewright gen` without any use of it, to compare with, and the difference in words.

Left out are variables of which each iteration gets its own, those that are expanded, copies of what is read while it
changes, and values that stay in registers from iteration to iteration or for rows side by side. Products keep their
tiles in registers all the same. No option of the command does this: nobody would want it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from types import ModuleType

from codegen import region_model
from codegen.cli.main import main
from codegen.recognize.ownership.registers import alone
from codegen.strategy import planner, tiling, vectors
from codegen.strategy.loops import time_tiles as stencils
from codegen.strategy.products import panels
from codegen.strategy.products.expansion import Expanded

# What each part of the tool is told instead; where the name is gone from its module, so is the comparison.
INSTEAD: tuple[tuple[ModuleType, str, Callable[..., object]], ...] = (
    (region_model, "privatize", lambda scop, *rest: scop),
    (region_model, "privatize_roomy", lambda scop, tree, deps, site: (scop, deps)),
    (region_model, "lastprivates", lambda *rest: None),
    (planner, "expand_for_products", lambda p, found, *rest: Expanded(p, found, (), ())),
    (panels, "copies_of_reads", lambda *rest: ()),
    (vectors, "replacement_gain", lambda *rest: None),
    (tiling, "around_recurrence", lambda *rest: None),
    (vectors, "around_taps", lambda *rest: None),
    (stencils, "register_tile", alone),
)
KEPT = {
    "expand": r"expand (\S+)",
    "copy": r"copy (\S+)",
    "scalar_replace": r"scalar_replace (\S+)",
    "jam": r"jam (\S+ by \d+)",
}

COUNTED = {"product": "product", "parallel loop": "(?:parallel|pipeline)", "vector loop": "vector"}


def without_owners() -> None:
    for module, name, what in INSTEAD:
        assert hasattr(module, name), f"{module.__name__} has no {name}"
        setattr(module, name, what)


def brought(plan: str, before: str, remarks: str) -> str:
    """What a plan has that it would not have without ownership, in a few words; `remarks` tell of own variables."""
    words = []
    for word, pattern in KEPT.items():
        found = re.findall(rf"^ *{pattern}", plan, re.M)
        if found and f"\n  {word} " not in before:
            words.append(f"{word} {', '.join(found)}" if len(found) < 4 else f"{word} {len(found)} times")
    own = sorted(set(re.findall(r"has its own `(\w+)`", remarks)))
    words += [f"own {', '.join(own)}"] if own else []
    for word, pattern in COUNTED.items():
        more = len(re.findall(rf"^ *{pattern} ", plan, re.M)) - len(re.findall(rf"^ *{pattern} ", before, re.M))
        words += [f"{more:+d} {word}{'s' if abs(more) > 1 else ''}"] if more else []
    return "; ".join(words) or "another order"


if __name__ == "__main__":
    without_owners()
    sys.exit(main())
