"""What `make same-text` says of a text that changed."""

from __future__ import annotations

from benchmarks.same_text import different, digests


def test_what_differs_is_said() -> None:
    one, other = digests("a = b; /* c */"), digests("a  = b;")
    assert one.tokens == other.tokens and one.bytes != other.bytes
    key = ("k", "c")
    assert list(different({key: one}, {key: other})) == ["k c: the same tokens, other bytes"]
    assert list(different({key: one}, {key: digests("a = c;")})) == ["k c: other tokens"]
    assert list(different({key: one}, {})) == ["k c: not listed"]
    assert not list(different({key: one}, {key: one}))
