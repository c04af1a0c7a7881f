"""Shared fixtures: golden files, and the way to refresh them; how sanitized programs run."""
from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.fast import WHOLE, fast_ones, listed, some_of_each, turn_of_commit
from tests.warm import MANY, warm

GOLDEN = Path(__file__).parent / "golden"
# The search for leaks takes seconds where a program may not be traced. Tests of memory that generated code asks for
# (test_own_memory, test_paths, test_kernels of sparse formats) turn it on.
os.environ.setdefault("ASAN_OPTIONS", "detect_leaks=0")
# Threads of one program that wait for each other leave the processors to the tests beside it.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--refresh-golden", action="store_true", help="rewrite tests/golden from the present results")
    parser.addoption("--fast", action="store_true", help="leave out what takes long (tests/slow.txt)")
    parser.addoption("--all", action="store_true", help="all cases of what takes long, in a run of all tests, too")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--fast"):
        kept = fast_ones([x.nodeid for x in items], listed())
    elif len(items) >= WHOLE and not config.getoption("--all"):
        kept = some_of_each([x.nodeid for x in items], listed(), turn_of_commit())
    else:
        return
    config.hook.pytest_deselected(items=[x for x in items if x.nodeid not in kept])
    items[:] = [x for x in items if x.nodeid in kept]


def pytest_collection_finish(session: pytest.Session) -> None:
    if len(session.items) >= MANY:
        warm()


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """golden(name, text): text must be what tests/golden/<name> holds, byte for byte."""

    def compare(name: str, text: str) -> None:
        path = GOLDEN / name
        if request.config.getoption("--refresh-golden"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode("utf-8"))
        assert path.exists(), f"no golden file {name}; run pytest --refresh-golden and look at what it writes"
        assert text == path.read_bytes().decode("utf-8"), f"{name} differs; if meant, run make golden"

    return compare
