"""Memoization within one run, by identity of arguments: several planners ask the same questions about the same
region."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import islpy as isl

F = TypeVar("F", bound=Callable[..., Any])


def remember(answers: int, failures: bool = False) -> Callable[[F], F]:
    """Keep the last answers of a pure function, for the very same objects (equality of models would take longer than
    most answers). With `failures`, that isl gave up is an answer as well: for what an author asks first, since asked
    again it would come to the same end."""

    def of(function: F) -> F:
        known: dict[tuple[object, ...], tuple[tuple[object, ...], Any, isl.Error | None]] = {}

        @wraps(function)
        def asked(*questions: object) -> Any:
            key = tuple(map(_identity, questions))
            found = known.get(key)
            if found is None:
                found = (questions, *_tried(function, questions, failures))  # the objects stay, and so do their numbers
                known[key] = found
                while len(known) > answers:
                    del known[next(iter(known))]
            if found[2] is not None:
                raise found[2]
            return found[1]

        return asked  # type: ignore[return-value]

    return of


def _identity(x: object) -> object:
    """The same for the very same object, and for equal words and numbers, alone or in a row."""
    if isinstance(x, (str, int)):
        return (x,)
    return tuple(map(_identity, x)) if type(x) is tuple else id(x)


def _tried(function: Callable[..., Any], questions: tuple[object, ...], failures: bool) -> tuple[Any, isl.Error | None]:
    try:
        return function(*questions), None
    except isl.Error as error:
        if not failures:
            raise
        return None, error
