"""Regular expressions that are compiled on first use."""

from __future__ import annotations

import re
import sys
from importlib import import_module

import pytest

from codegen.patterns import _Later, pattern
from tests.unit.trees import CODEGEN, SOURCES


def test_a_pattern_matches_as_a_compiled_one() -> None:
    word = pattern(r"(?P<word>\w+)", re.M)
    assert word.findall("a b") == ["a", "b"]
    assert word.sub("x", "a b") == "x x"
    assert (word.pattern, word.groups, dict(word.groupindex)) == (r"(?P<word>\w+)", 1, {"word": 1})


def test_other_attributes_are_missing() -> None:
    with pytest.raises(AttributeError):
        pattern("a").no_such_method  # type: ignore[attr-defined]  # noqa: B018


def test_every_pattern_is_one() -> None:
    using = [p for p in SOURCES if "import pattern\n" in p.read_text()]
    names = [".".join(p.relative_to(CODEGEN.parent).with_suffix("").parts) for p in using]
    found = [x for n in names for x in vars(import_module(n) and sys.modules[n]).values() if isinstance(x, _Later)]
    assert len(found) > 40
    for x in found:
        x.match("")
