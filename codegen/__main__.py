"""Entry point of `python -m codegen` and of the installed command `tilewright`: runs `cli/main.py` and returns its exit
status, with few garbage collections and with what earlier runs have kept for a quick start (`startup/`)."""

import gc
import sys

SELDOM = 100_000  # objects between two searches for garbage: a run is short, and most of them live to its end


def run() -> int:
    """The command, as a process of its own; at its end nothing is searched, either."""
    gc.set_threshold(SELDOM)
    from codegen.startup import kept

    kept.use()
    from codegen.cli.main import main

    try:
        return main()
    finally:
        kept.keep()
        gc.freeze()


if __name__ == "__main__":
    sys.exit(run())
