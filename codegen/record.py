"""Immutable value classes that cost little to define and to make.

`@record` is `@dataclass(frozen=True)` in use: same fields, `replace`, equality, hash and representation. Python
compiles six methods for every frozen dataclass, 0.8 ms each class; a command that starts in a build a hundred
times a day notices. Here only `__init__` is compiled, once some objects were made; the others are shared. What `fields`
and `replace` ask for is made when they do. `@mutable` is for classes whose objects change while they work.
"""
from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field
from itertools import islice
from threading import RLock
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING or sys.version_info >= (3, 11):
    from typing import dataclass_transform
else:

    def dataclass_transform(**_: Any) -> Any:
        """Only type checkers need the real one."""
        return lambda f: f


T = TypeVar("T")
_FEW = 40  # objects that are made without compiling anything, which takes as long as to make so many
_completing = RLock()
_DEFAULTS: dict[type, dict[str, Any]] = {}


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def record(cls: type[T]) -> type[T]:
    """Make a class an immutable record of its annotated fields."""
    for name, method in _SHARED.items():
        if name not in cls.__dict__:
            setattr(cls, name, method)
    return mutable(cls)


@dataclass_transform(field_specifiers=(field,))
def mutable(cls: type[T]) -> type[T]:
    """Give a class an `__init__` of its annotated fields; its objects are equal to themselves alone."""
    made = 0

    def first(self: Any, *values: Any, **named: Any) -> None:
        nonlocal made
        made += 1
        if made > _FEW or not _filled(self, _DEFAULTS.get(cls) or _defaults(cls), values, named):
            _compile(cls)
            cls.__init__(self, *values, **named)

    makers = {"__dataclass_fields__": _describe, "__match_args__": _name_fields}
    _put(cls, {"__init__": first, **{name: _Later(cls, name, make) for name, make in makers.items()}})
    return cls


def _put(cls: type, attributes: dict[str, Any]) -> None:
    for name, value in attributes.items():
        setattr(cls, name, value)


class _Later:
    """An attribute of a record class that is there once somebody asks."""

    def __init__(self, owner: type, name: str, make: Callable[[type], None]) -> None:
        self._owner, self._name, self._make = owner, name, make

    def __get__(self, instance: object, cls: type) -> Any:
        self._make(self._owner)
        return getattr(cls, self._name)


def _name_fields(cls: type) -> None:
    _put(cls, {"__match_args__": tuple(_defaults(cls))})


def _filled(self: Any, found: Mapping[str, Any], values: tuple[Any, ...], named: dict[str, Any]) -> bool:
    """Set the fields of a new object. Arguments that do not fit are for a compiled `__init__` to complain about."""
    own, more = self.__dict__, len(named)
    own.update(zip(found, values, strict=False))
    for name in islice(found, len(values), None):
        if name in named:
            own[name] = named[name]
            more -= 1
            continue
        value = found[name]
        if value.__class__ is Field:
            value = value.default if value.default_factory is MISSING else value.default_factory()
        if value is MISSING:
            return False
        own[name] = value
    if more or len(values) > len(found):
        return False
    if hasattr(self, "__post_init__"):
        self.__post_init__()
    return True


def _compile(cls: type) -> None:
    _put(cls, {"__init__": _init(cls, _defaults(cls))})


def _describe(cls: type) -> None:
    """Make the fields of a record class as `dataclasses` knows them, once; that itself takes several times as long."""
    own: Mapping[str, Any] = cls.__dict__
    with _completing:
        if isinstance(own["__dataclass_fields__"], _Later):
            _put(cls, {"__dataclass_fields__": _fields(cls), "__dataclass_params__": _PARAMETERS})


def _fields(cls: type) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for base in reversed(cls.__mro__[1:]):
        found |= getattr(base, "__dataclass_fields__", {})
    for name, annotation in cls.__annotations__.items():
        default = _defaults(cls)[name]
        made: Any = default if isinstance(default, Field) else field(default=default)
        made.name, made.type, made.kw_only, made._field_type = name, annotation, False, _PLAIN
        found[name] = made
    return found


def _defaults(cls: type) -> dict[str, Any]:
    """The fields of a record class in order, each with its default, a `field` with one, or MISSING."""
    if cls not in _DEFAULTS:
        found: dict[str, Any] = {}
        for base in reversed(cls.__mro__[1:]):
            if "__match_args__" in base.__dict__:
                found |= _defaults(base)
        found |= {name: cls.__dict__.get(name, MISSING) for name in cls.__annotations__}
        _DEFAULTS[cls] = found
    return _DEFAULTS[cls]


def _init(cls: type, found: Mapping[str, Any]) -> Callable[..., None]:
    """`__init__`, which is faster than setting the attributes one by one through `__setattr__`."""
    known: dict[str, Any] = {"_MISSING": MISSING}
    head, body = "self", ""
    for name, default in found.items():
        value = name
        factory = default.default_factory if isinstance(default, Field) else MISSING
        default = default.default if isinstance(default, Field) else default
        if default is not MISSING:
            known[f"_{name}"] = default
            head += f", {name}=_{name}"
        elif factory is not MISSING:
            known[f"_{name}"] = factory
            head += f", {name}=_MISSING"
            value = f"_{name}() if {name} is _MISSING else {name}"
        else:
            head += f", {name}"
        body += f"    _values_[{name!r}] = {value}\n"  # a name that no field has
    if hasattr(cls, "__post_init__"):
        body += "    self.__post_init__()\n"
    exec(f"def __init__({head}):\n    _values_ = self.__dict__\n{body}", known)
    made: Callable[..., None] = known["__init__"]
    return made


def _values(self: Any) -> tuple[Any, ...]:
    own = self.__dict__
    return tuple([own[n] for n in self.__match_args__])


def _eq(self: Any, other: object) -> Any:
    if self is other:
        return True
    return _values(self) == _values(other) if other.__class__ is self.__class__ else NotImplemented


def _hash(self: Any) -> int:
    return hash(_values(self))


def _repr(self: Any) -> str:
    inner = ", ".join(f"{n}={self.__dict__[n]!r}" for n in self.__match_args__)
    return f"{self.__class__.__qualname__}({inner})"


def _setattr(self: Any, name: str, value: object) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _delattr(self: Any, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


_SHARED = {
    "__eq__": _eq, "__hash__": _hash, "__repr__": _repr, "__setattr__": _setattr, "__delattr__": _delattr,
}


@dataclass(init=False, repr=False, eq=False, match_args=False)
class _Described:
    """What `dataclasses` writes down of a class and its fields."""

    any: object = None


_PARAMETERS: Any = vars(_Described)["__dataclass_params__"]
_PLAIN: Any = vars(_Described)["__dataclass_fields__"]["any"]._field_type  # not of the class, nor for `__init__` alone
