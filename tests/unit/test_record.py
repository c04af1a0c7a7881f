"""Records behave as frozen dataclasses do."""
from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError, asdict, dataclass, field, fields, is_dataclass, replace

import pytest

from codegen.record import mutable, record


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


@record
class Base:
    x: int
    notes: tuple[str, ...] = field(default_factory=tuple)


@record
class Derived(Base):
    z: int = 7


def test_fields_are_those_of_a_dataclass() -> None:
    @dataclass
    class Plain:
        x: int
        y: int = 2
        notes: tuple[str, ...] = field(default_factory=tuple)

    for mine, theirs in zip(fields(Point), fields(Plain), strict=True):
        assert repr(mine) == repr(theirs)
    assert is_dataclass(Point) and asdict(Point(1)) == asdict(Plain(1))


@record
class Unmade:
    x: int


def test_inheritance() -> None:
    """Whichever class is completed first, fields of the base come first."""
    d = Derived(1)
    assert (d.x, d.notes, d.z) == (1, (), 7)
    assert Base(2, ("a",)).notes == ("a",)
    assert [f.name for f in fields(Derived)] == ["x", "notes", "z"]


def test_classes_whose_objects_were_never_made_here() -> None:
    """As in a process that receives an object from another one."""
    u = Unmade.__new__(Unmade)
    u.__dict__["x"] = 1
    assert repr(u) == "Unmade(x=1)" and u == replace(u, x=1)
    match u:
        case Unmade(x):
            assert x == 1


def test_patterns() -> None:
    match Point(1, 3):
        case Point(1, y):
            assert y == 3


def test_fields_may_have_the_names_of_the_inner_workings():
    @record
    class Odd:
        own: int
        known: int = 2
        MISSING: int = 3

    assert (Odd(1).own, Odd(1).known, Odd(1).MISSING) == (1, 2, 3)


def test_checks_after_the_fields_are_set() -> None:
    @record
    class Positive:
        value: int

        def __post_init__(self) -> None:
            if self.value < 1:
                raise ValueError("not positive")

    assert Positive(1).value == 1
    with pytest.raises(ValueError, match="not positive"):
        Positive(0)


def test_the_first_objects_are_as_later_ones() -> None:
    """The first are made before `__init__` is compiled."""

    @record
    class Made:
        x: int
        y: list[int] = field(default_factory=list)
        z: int = field(default=3)

    for k in range(20):
        made = Made(k, z=4) if k % 2 else Made(x=k)
        assert (made.x, made.y, made.z) == (k, [], 4 if k % 2 else 3)
        with pytest.raises(TypeError):
            Made(k, x=k)
        with pytest.raises(TypeError):
            Made(k, [], 3, 4)
    assert Made(1).y is not Made(1).y


@mutable
class Counter:
    start: int
    seen: list[int] = field(default_factory=list)
    total: int = 0


def test_mutable_objects_change_and_share_nothing() -> None:
    for n in range(20):  # before and after `__init__` is compiled
        one, two = Counter(n), Counter(n, total=1)
        one.total += 2
        one.seen.append(n)
        assert (one.total, two.total, two.seen) == (2, 1, []) and one != Counter(n, [n], 2)
    with pytest.raises(TypeError):
        Counter()  # type: ignore[call-arg]
