"""Entry point of `python -m codegen` and of the installed command `tilewright`: runs `cli/main.py` and returns its exit
status, with few garbage collections and with compiled regular expressions from a cache (`patterns/kept.py`)."""

import gc
import sys

SELDOM = 100_000  # objects between two searches for garbage: a run is short, and most of them live to its end


def run() -> int:
    """The command, as a process of its own; at its end nothing is searched, either."""
    gc.set_threshold(SELDOM)
    from codegen.patterns.kept import keep, may_keep, use

    kept = use()
    from codegen.cli.main import main

    try:
        return main()
    finally:
        if not kept and may_keep():
            keep()
        gc.freeze()


if __name__ == "__main__":
    sys.exit(run())
