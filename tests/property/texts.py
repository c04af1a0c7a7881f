"""The C files of a batch, and what compilers say about them."""
from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from tests.property.model import SIZES_USED, Program

CRASH = "internal compiler error"


def messages(said: str, file: str) -> Iterator[tuple[int, str, str]]:
    """Line, kind and text of a compiler's messages about a file."""
    kinds = f"warning|error|fatal error|{CRASH}"
    for line, kind, what in re.findall(rf"^[^\n:]*\b{file}:(\d+):\d+: ({kinds}): (.*)$", said, re.M):
        yield int(line), kind, what


def flag(what: str) -> str:
    """The kind of a warning. A variable that nobody reads is unused with its value and set but not used without it."""
    unused = re.search(r"(?:unused variable|variable) ['‘](\w+)['’](?: set but not used)?", what)
    if unused and "-Wunused" in what:
        return f"unused {unused.group(1)}"
    found = re.search(r"\[(-W[^\]]*)\]$", what)
    return found.group(1) if found else what


def first_lines(texts: Sequence[str]) -> list[int]:
    """The lines that texts begin at, one behind the other."""
    out = [1]
    for t in texts[:-1]:
        out.append(out[-1] + t.count("\n"))
    return out


def renamed(text: str, program: Program, k: int, variant: str) -> str:
    """Many results share one file: functions get names of their own, and what stands before them is there once."""
    own = program.types + program.objects
    text = text.replace(SIZES_USED, f"{SIZES_USED} {_sizes_told(program)}", 1)
    if own:
        text = text.replace(own, f"#ifndef HAVE_{k}\n#define HAVE_{k}\n{own}#endif\n", 1)
    return re.sub(r"\bkernel\b", f"f{k}_{variant}", text) + "\n"


def _sizes_told(program: Program) -> str:
    """For compilers: which sizes there are."""
    told = []
    for name, values in zip("nm", zip(*program.sizes, strict=True), strict=True):
        told += [f"{name} > {max(values)}", f"{name} + 1 < {min(values) + 1}"]  # so as not to ask whether n < 0
    return f"if ({' || '.join(told)}) __builtin_unreachable();"
