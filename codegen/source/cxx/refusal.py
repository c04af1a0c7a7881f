"""The exception for C++ that has no counterpart in C."""
from __future__ import annotations


class NotC(Exception):
    """Something of C++ at an offset of the preprocessed text that has no counterpart in C, and what to do about it."""

    def __init__(self, message: str, offset: int, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset
        self.hint = hint
