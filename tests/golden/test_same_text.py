"""Text of the whole corpus, by digests: a few kernels after each commit, all of them with `make same-text`."""

from __future__ import annotations

import pytest

from benchmarks.same_text import different, digests, keys, listed, text_of
from tests.fast import turn_of_commit

STRIDE = 7  # a number without a common factor with that of texts, so that all are seen
SOME = 12
EVERY = keys()
CHOSEN = [EVERY[(turn_of_commit() * SOME + k) * STRIDE % len(EVERY)] for k in range(SOME)]


def test_every_text_is_listed() -> None:
    assert set(listed()) == set(EVERY)
    assert len(EVERY) % STRIDE


@pytest.mark.parametrize("key", CHOSEN, ids="-".join)
def test_text_is_what_it_was(key: tuple[str, str]) -> None:
    changed = list(different({key: digests(text_of(key))}, listed()))
    assert not changed, "if it is meant: make same-text B=--write"


def test_what_differs_is_said() -> None:
    one, other = digests("a = b; /* c */"), digests("a  = b;")
    assert one.tokens == other.tokens and one.bytes != other.bytes
    key = ("k", "c")
    assert list(different({key: one}, {key: other})) == ["k c: the same tokens, other bytes"]
    assert list(different({key: one}, {key: digests("a = c;")})) == ["k c: other tokens"]
    assert list(different({key: one}, {})) == ["k c: not listed"]
