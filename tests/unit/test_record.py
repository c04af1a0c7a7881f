"""Records behave as frozen dataclasses do."""
from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError, field, fields, replace

import pytest

from codegen.record import record


@record
class Point:
    """Two numbers and notes."""

    x: int
    y: int = 2
    notes: tuple[str, ...] = field(default_factory=tuple)


@record
class Other:
    x: int
    y: int = 2
    notes: tuple[str, ...] = ()


def test_values() -> None:
    assert Point(1) == Point(1, 2) != Point(1, 3)
    assert Point(1) != Other(1)
    assert hash(Point(1)) == hash(Point(1, 2, ()))
    assert repr(Point(1)) == "Point(x=1, y=2, notes=())"
    assert [f.name for f in fields(Point)] == ["x", "y", "notes"]


def test_replace_and_pickle() -> None:
    p = replace(Point(1), y=5)
    assert (p.x, p.y) == (1, 5)
    assert pickle.loads(pickle.dumps(p)) == p


def test_frozen() -> None:
    p = Point(1)
    for change in (lambda: setattr(p, "x", 2), lambda: setattr(p, "z", 2), lambda: delattr(p, "x")):
        with pytest.raises(FrozenInstanceError):
            change()
    assert p == Point(1)


def test_arguments_are_checked() -> None:
    with pytest.raises(TypeError):
        Point()
    with pytest.raises(TypeError):
        Point(1, z=3)
