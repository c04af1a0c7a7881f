"""Files that travel with the code."""
from __future__ import annotations

from pathlib import Path

import pytest

from codegen.resources import data_dir, templates_dir, toml


def test_templates_of_the_source_tree() -> None:
    assert templates_dir() == Path(__file__).resolve().parents[2] / "templates"
    assert templates_dir().is_dir()


@pytest.mark.parametrize("room", ["isa", "machine"])
def test_what_is_kept_of_a_table_is_what_it_says(room: str, tmp_path: Path) -> None:
    for file in data_dir(room).rglob("*.toml"):
        mine = tmp_path / file.name
        mine.write_bytes(file.read_bytes())
        first = toml(mine, keep=True)
        assert next((tmp_path / "__pycache__").glob(f"{file.stem}.*"))
        assert toml(mine) == first
        assert list(toml(mine)[1]) == list(first[1])


def test_a_table_that_has_changed_is_read_again(tmp_path: Path) -> None:
    file = tmp_path / "a.toml"
    for number in (1, 2):
        file.write_text(f"x = {number}\n")
        assert toml(file, keep=True) == (f"x = {number}\n", {"x": number})
    for kept in (tmp_path / "__pycache__").iterdir():
        kept.write_bytes(b"no table")
    assert toml(file) == ("x = 2\n", {"x": 2})
