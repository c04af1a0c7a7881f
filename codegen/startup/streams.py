"""Opens standard streams that the caller has closed (`>&-`)."""

from __future__ import annotations

import os
import sys


def open_streams() -> None:
    """Those that are closed, in order, so that no other file gets their numbers. What is to go to standard output
    cannot be written then; nothing is said where nobody listens."""
    for name, mode, flags in (("stdin", "r", os.O_RDONLY), ("stdout", "w", os.O_RDONLY), ("stderr", "w", os.O_WRONLY)):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, flags), mode))
