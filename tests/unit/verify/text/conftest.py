from __future__ import annotations

import pytest

from codegen.verify.text import proven


@pytest.fixture(autouse=True)
def prove_again(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test proves is proven there, not taken from the list."""
    proven.made.clear()
    if "listed" not in request.keywords:
        monkeypatch.setattr(proven, "listed", frozenset)
