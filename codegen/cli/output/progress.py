"""Progress of long commands on standard error: one line that is overwritten on a terminal, all lines with -v, otherwise
nothing."""
from __future__ import annotations

import argparse
import shutil
import sys


class Line:
    """Progress: one line of a terminal that is written over; with -v, all lines; else nothing.

    Nothing is mixed into a JSON or SARIF document.
    """

    def __init__(self, arguments: argparse.Namespace) -> None:
        text = arguments.diagnostics_format == "text"
        self.all = arguments.verbose and text
        self.live = text and sys.stderr.isatty() and not arguments.quiet and not self.all

    def say(self, text: str) -> None:
        if self.all:
            sys.stderr.write(f"{text}\n")
        elif self.live:
            width = shutil.get_terminal_size().columns - 1
            sys.stderr.write(f"\r\x1b[K{text[:width]}")
        sys.stderr.flush()

    def end(self) -> None:
        if self.live:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
