"""Entry point of `python -m codegen` and of the installed command `tilewright`: runs `cli/main.py` and returns its exit
status, with few garbage collections and with what earlier runs have kept for a quick start (`startup/`)."""

import gc
import os
import sys

SELDOM = 100_000  # objects between two searches for garbage: a run is short, and most of them live to its end


def run() -> int:
    """The command, as a process of its own; at its end nothing is searched, either."""
    gc.set_threshold(SELDOM)
    _open_streams()
    from codegen.startup import kept

    kept.use()
    from codegen.cli.main import main

    try:
        return main()
    finally:
        kept.keep()
        gc.freeze()


def _open_streams() -> None:
    """Streams that the caller has closed (`>&-`), in order, so that no other file gets their numbers. What is to go to
    standard output cannot be written then; nothing is said where nobody listens."""
    for name, mode, flags in (("stdin", "r", os.O_RDONLY), ("stdout", "w", os.O_RDONLY), ("stderr", "w", os.O_WRONLY)):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, flags), mode))


if __name__ == "__main__":
    sys.exit(run())
