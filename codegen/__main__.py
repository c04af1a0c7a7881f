"""Entry point of `python -m codegen` and of the installed command `tilewright`: runs `cli/main.py` and returns its exit
status, with few garbage collections and with what earlier runs have kept for a quick start (`startup/`)."""

import gc
import os
import sys

from codegen.startup.streams import open_streams

SELDOM = 100_000  # objects between two searches for garbage: a run is short, and most of them live to its end


def run() -> int:
    """The command, as a process of its own. Generation is done by a child from the start."""
    open_streams()
    if sys.argv[1:2] == ["gen"] and hasattr(os, "fork"):
        from codegen.startup.ahead import outcome

        try:
            code = outcome(_child)
        except KeyboardInterrupt:
            from codegen.cli.exitcodes import INTERRUPTED

            sys.stderr.write("tilewright: interrupted\n")
            return INTERRUPTED
        if code is not None:
            os._exit(code)  # this process has nothing to tidy up, which would take 12 ms
    _start()
    return _command()


def _child() -> None:
    _start()
    from codegen.children.worker import stay
    from codegen.cli.exitcodes import INTERNAL

    def life() -> None:
        code = INTERNAL
        try:
            code = _command()
        finally:
            os._exit(code)

    stay(life, limited_here=False)


def _start() -> None:
    gc.set_threshold(SELDOM)
    from codegen.startup import kept

    kept.use()


def _command() -> int:
    """At its end nothing is searched for garbage, either."""
    from codegen.cli.main import main
    from codegen.startup import kept

    try:
        return main()
    finally:
        kept.keep()
        gc.freeze()


if __name__ == "__main__":
    sys.exit(run())
