"""Files that travel with the code."""
from __future__ import annotations

from pathlib import Path

from codegen.resources import templates_dir


def test_templates_of_the_source_tree() -> None:
    assert templates_dir() == Path(__file__).resolve().parents[2] / "templates"
    assert templates_dir().is_dir()
