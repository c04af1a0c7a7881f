"""The README's first figures, measured here: `make bench-readme`.

Reads what `tilewright bench` prints from standard input, and writes it between the two `bench` comments of README.md
and docs/bench.md, with the command and the machine.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence

from benchmarks.picture import ROOT, between
from codegen.machine.detect import detect

COMMAND = "tilewright bench gemm.c --machine native --sizes n=500"


def block(printed: str, host: str) -> str:
    """The table below its command, and where it was measured."""
    head, _, table = printed.partition("\n\n")
    compiler = re.sub(r"^[^:]*: |\s*\([^)]*\)|;.*", "", head)
    lines = (f"    {line}".rstrip() for line in (f"$ {COMMAND}", *table.rstrip("\n").split("\n")))
    return "\n".join(lines) + f"\n\nOn {host}, with {compiler}.\n"


def main(words: Sequence[str]) -> int:
    text = block(sys.stdin.read(), words[0] if words else detect().machine.description)
    for name in ("README.md", "docs/bench.md"):
        page = ROOT / name
        page.write_text(between(page.read_text(encoding="utf-8"), "bench", text), encoding="utf-8")
    sys.stdout.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
