"""The benchmark of examples/real-style: a case for every function there, and a table that names what is slower."""

from __future__ import annotations

import re

from benchmarks.real_style import DRIVER, NESTS, Timed, report


def test_every_function_has_a_case() -> None:
    texts = [p.read_text(encoding="utf-8") for p in sorted(NESTS.glob("*.h"))]
    functions = {name for text in texts for name in re.findall(r"^\w+ (\w+)\([^;]*\);", text, re.M)}
    cases = (DRIVER / "cases.c").read_text(encoding="utf-8")
    assert len(functions) >= 60
    assert functions == set(re.findall(r'\{"(\w+)", run_', cases))


def test_what_is_slower_or_wrong_is_named() -> None:
    found = [Timed("fast", (2.0, 1.0, 1.0), (5.0, 5.0, 5.0)), Timed("slow", (1.0, 2.0, 1.0), (5.0, 5.0, 6.0))]
    lines = report("gcc", found).splitlines()
    assert lines[-2].endswith("slower than plain: slow 0.50")
    assert lines[-1].endswith("slower than plain: none")
    assert [line.endswith("WRONG") for line in lines if line.startswith(("fast", "slow"))] == [False, True]
