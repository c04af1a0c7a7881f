"""Removes redundant braces from generated C, as views: those of a block that is the whole body of a loop or a
branch."""

from __future__ import annotations

from dataclasses import replace

from codegen.target.text.pieces import View


def unwrapped(views: tuple[View, ...]) -> tuple[View, ...]:
    """The same views with fewer braces. Scopes stay as they are: a body is a scope of its own anyway."""
    return tuple(replace(v, body=_inside(v.body), orelse=_inside(v.orelse)) if v.body else v for v in views)


def _inside(body: tuple[View, ...]) -> tuple[View, ...]:
    while len(body) == 1 and body[0].kind == "block":
        body = body[0].body
    return unwrapped(body)
