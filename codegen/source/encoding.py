"""Bytes to text and back without loss: UTF-8, and whatever is not UTF-8 survives the round trip.

The locale never has a say; the same file gives the same text on every host.
"""
from __future__ import annotations


def decode(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
