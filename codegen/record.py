"""Immutable value classes that cost little to define.

`@record` is `@dataclass(frozen=True)` in use: same fields, `replace`, equality, hash and representation. Python
compiles six methods for every frozen dataclass, 0.8 ms each class; a command that starts in a build a hundred
times a day notices. Here only `__init__` is compiled; the others are shared.
"""
from __future__ import annotations

import sys
from dataclasses import FrozenInstanceError, dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING or sys.version_info >= (3, 11):
    from typing import dataclass_transform
else:

    def dataclass_transform(**_: Any) -> Any:
        """Only type checkers need the real one."""
        return lambda f: f


T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def record(cls: type[T]) -> type[T]:
    """Make a class an immutable record of its annotated fields."""
    made = dataclass(eq=False, repr=False)(cls)
    for name, method in _SHARED.items():
        if name not in cls.__dict__:
            setattr(made, name, method)
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
    """Each field is set once, by `__init__`."""
    if name in self.__dict__ or name not in self.__dataclass_fields__:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")
    self.__dict__[name] = value


def _delattr(self: Any, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


_SHARED = {
    "__eq__": _eq, "__hash__": _hash, "__repr__": _repr, "__setattr__": _setattr, "__delattr__": _delattr,
}
