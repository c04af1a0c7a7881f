"""The table of message ids is complete, and the page made from it is current."""

from __future__ import annotations

from pathlib import Path

import pytest

from codegen.refusals import FAMILIES, REFUSAL, TABLE, Entry, find, markdown
from tests.refuse.ids import ids_in_source

ROOT = Path(__file__).parents[2]
NEVER_SHOWN = {"ok"}  # a placeholder that region.py does not pass on


def test_every_id_in_the_source_is_in_the_table() -> None:
    known = {e.id for e in TABLE}
    missing = {id: place for id, place in ids_in_source().items() if id not in known | NEVER_SHOWN}
    assert not missing


def test_every_id_in_the_table_is_in_the_source() -> None:
    assert {e.id for e in TABLE} <= set(ids_in_source())


def test_ids_are_unique_and_sorted_within_their_family() -> None:
    for family in FAMILIES:
        ids = [e.id for e in TABLE if e.family == family]
        assert ids == sorted(set(ids)), family
    assert len({e.id for e in TABLE}) == len(TABLE)


@pytest.mark.parametrize("entry", TABLE, ids=lambda e: e.id)
def test_entries_are_sentences(entry: Entry) -> None:
    assert entry.family in FAMILIES
    assert entry.meaning[0].isupper() or entry.meaning[0] == "`"
    assert entry.meaning.endswith(".")
    assert not entry.advice or entry.advice.endswith((".", "`."))
    assert entry.advice or entry.family in ("note", "remark")


def test_the_page_is_current() -> None:
    assert (ROOT / "docs" / "refusals.md").read_text(encoding="utf-8") == markdown(), (
        "run python -m codegen.refusals > docs/refusals.md"
    )


def test_every_refusal_has_a_case() -> None:
    from tests.refuse.test_cases import CASES, MADE_UP

    have = {c.id for c in CASES} | set(MADE_UP) | {"unknown-size"}  # of the check command
    cores = ("array", "call", "ldm", "remainders", "shared", "slower", "store", "value")  # tests/sunway
    have |= {"no-parallelism", *(f"sunway-{x}" for x in cores)}
    have |= {f"gpu-{x}" for x in ("array", "call", "value")}  # tests/gpu
    have |= {"no-communicator"}  # tests/mpi/test_communicators.py
    have |= {"thread-local"}  # tests/run/test_thread_local.py
    assert have >= {e.id for e in TABLE if e.family == REFUSAL}


def test_find() -> None:
    entry = find("jump")
    assert entry is not None and entry.family == REFUSAL
    assert find("no-such-id") is None
