"""Plans for several regions of which some have no form as vectors: those are left to the compiler."""

from __future__ import annotations

import re
from collections.abc import Iterable


def plan_for(written: Iterable[bool], directives: str, otherwise: str | None = None) -> str:
    """The directives for each region, without a width, or `otherwise`, where its loop has no form."""
    plain = re.sub(r"(vector \w+) by \d+ of \d+ bytes", r"\1", directives) if otherwise is None else otherwise
    return "".join(f"region {k + 1}\n  {directives if w else plain}\n" for k, w in enumerate(written))
