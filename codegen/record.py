"""Immutable value classes that cost little to define and to make.

`@record` is `@dataclass(frozen=True)` in use: same fields, `replace`, equality, hash and representation. Python
compiles six methods for every frozen dataclass, 0.8 ms each class; a command that starts in a build a hundred
times a day notices. Here only `__init__` is compiled, when the first object is made; the others are shared.
"""
from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field, fields
from threading import RLock
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING or sys.version_info >= (3, 11):
    from typing import dataclass_transform
else:

    def dataclass_transform(**_: Any) -> Any:
        """Only type checkers need the real one."""
        return lambda f: f


T = TypeVar("T")
_completing = RLock()


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def record(cls: type[T]) -> type[T]:
    """Make a class an immutable record of its annotated fields."""
    for name, method in _SHARED.items():
        if name not in cls.__dict__:
            setattr(cls, name, method)

    def first(self: Any, *values: Any, **named: Any) -> None:
        _complete(cls)
        cls.__init__(self, *values, **named)

    later = {name: _Later(cls, name) for name in ("__dataclass_fields__", "__match_args__")}
    _put(cls, {"__init__": first, **later})
    return cls


def _put(cls: type, attributes: dict[str, Any]) -> None:
    for name, value in attributes.items():
        setattr(cls, name, value)


class _Later:
    """An attribute of a record class that is there once somebody asks."""

    def __init__(self, owner: type, name: str) -> None:
        self._owner, self._name = owner, name

    def __get__(self, instance: object, cls: type) -> Any:
        _complete(self._owner)
        return getattr(cls, self._name)


def _complete(cls: type) -> None:
    """Find the fields of a record class and compile its `__init__`, once."""
    own: Mapping[str, Any] = cls.__dict__
    with _completing:
        if isinstance(own["__dataclass_fields__"], _Later):
            dataclass(init=False, repr=False, eq=False, match_args=False)(cls)
            found = fields(cls)
            _put(cls, {"__match_args__": tuple([f.name for f in found]), "__init__": _init(cls, found)})


def _init(cls: type, found: tuple[Field[Any], ...]) -> Callable[..., None]:
    """`__init__`, which is faster than setting the attributes one by one through `__setattr__`."""
    known: dict[str, Any] = {"_MISSING": MISSING}
    head, body = "self", ""
    for f in found:
        value = f.name
        if f.default is not MISSING:
            known[f"_{f.name}"] = f.default
            head += f", {f.name}=_{f.name}"
        elif f.default_factory is not MISSING:
            known[f"_{f.name}"] = f.default_factory
            head += f", {f.name}=_MISSING"
            value = f"_{f.name}() if {f.name} is _MISSING else {f.name}"
        else:
            head += f", {f.name}"
        body += f"    _values_[{f.name!r}] = {value}\n"  # a name that no field has
    if hasattr(cls, "__post_init__"):
        body += "    self.__post_init__()\n"
    exec(f"def __init__({head}):\n    _values_ = self.__dict__\n{body}", known)
    made: Callable[..., None] = known["__init__"]
    return made


def _values(self: Any) -> tuple[Any, ...]:
    own = self.__dict__
    return tuple([own[n] for n in self.__dataclass_fields__])


def _eq(self: Any, other: object) -> Any:
    return _values(self) == _values(other) if other.__class__ is self.__class__ else NotImplemented


def _hash(self: Any) -> int:
    return hash(_values(self))


def _repr(self: Any) -> str:
    inner = ", ".join(f"{n}={self.__dict__[n]!r}" for n in self.__dataclass_fields__)
    return f"{self.__class__.__qualname__}({inner})"


def _setattr(self: Any, name: str, value: object) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _delattr(self: Any, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


_SHARED = {
    "__eq__": _eq, "__hash__": _hash, "__repr__": _repr, "__setattr__": _setattr, "__delattr__": _delattr,
}
