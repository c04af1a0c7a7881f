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
        known: list[tuple[tuple[object, ...], Any, isl.Error | None]] = []

        @wraps(function)
        def asked(*questions: object) -> Any:
            found = next((k for k in known if _same(k[0], questions)), None)
            if found is None:
                found = (questions, *_tried(function, questions, failures))
                known.append(found)
                del known[:-answers]
            if found[2] is not None:
                raise found[2]
            return found[1]

        return asked  # type: ignore[return-value]

    return of


def _same(before: tuple[object, ...], now: tuple[object, ...]) -> bool:
    return all(a is b or (isinstance(a, (str, int)) and a == b) for a, b in zip(before, now, strict=True))


def _tried(function: Callable[..., Any], questions: tuple[object, ...], failures: bool) -> tuple[Any, isl.Error | None]:
    try:
        return function(*questions), None
    except isl.Error as error:
        if not failures:
            raise
        return None, error
