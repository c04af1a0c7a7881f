"""Which techniques meet in which file, for which target: every target has every technique in one of its files, and
every two techniques are together in some file (all pairs, not all sets). Targets that say `whole` have all techniques
in one file: there all pairs meet with the support code of that target; in the small files nothing that one of many
needs hides what another one lacks."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations, cycle
from pathlib import Path
from typing import Any

from codegen.resources import toml

HERE = Path(__file__).parent
TECHNIQUES = HERE / "techniques"
TOGETHER = 6  # techniques of one file


@dataclass(frozen=True)
class Technique:
    """A program with one region. `plan` is a pattern of what its plan, or its text, has on processors."""

    name: str
    text: str
    plan: str

    @property
    def function(self) -> str:
        return f"run_{self.name.replace('-', '_')}"


@dataclass(frozen=True)
class File:
    """Techniques that meet in one file for a target."""

    target: str
    techniques: tuple[str, ...]

    @property
    def name(self) -> str:
        return f"{self.target}:{'+'.join(self.techniques) if len(self.techniques) <= TOGETHER else 'all'}"


@cache
def techniques() -> Mapping[str, Technique]:
    """The table of techniques: a file each, whose first comment says what it is and what its plan has."""
    found = {}
    for path in sorted(TECHNIQUES.glob("*.c")):
        text = path.read_text(encoding="utf-8")
        head = re.match(r"/\* [^*]*\. Plan: ?([^*]*?) ?\*/\n", text)
        assert head, f"{path.name} begins with no comment that says what it is and what its plan has"
        found[path.stem] = Technique(path.stem, text, head[1])
    return found


@cache
def targets() -> Mapping[str, Mapping[str, Any]]:
    _, table = toml(HERE / "targets.toml", keep=False)
    return {row["name"]: {**row, "flags": table["small"]["flags"]} for row in table["target"]}


def designed(names: Sequence[str], kinds: Mapping[str, int]) -> tuple[File, ...]:
    """The files of each target in turn, of so many techniques at most; then those for the pairs that have not met, for
    one target after the other."""
    met: Counter[frozenset[str]] = Counter()
    files: list[File] = []
    for kind, together in kinds.items():
        left = list(names)
        for k in range(-(-len(names) // together), 0, -1):
            seed = max(left, key=lambda n: (sum(not met[frozenset((n, m))] for m in left), -names.index(n)))
            group = _grown([seed], left, met, -(-len(left) // k))
            left = [n for n in left if n not in group]
            met.update(_pairs(group))
            files.append(File(kind, group))
    turns = cycle(kinds.items())
    while apart := [p for p in combinations(names, 2) if not met[frozenset(p)]]:
        kind, together = next(turns)
        group = _grown(apart[0], names, met, together)
        met.update(_pairs(group))
        files.append(File(kind, group))
    return tuple(files)


def _grown(begun: Sequence[str], among: Sequence[str], met: Counter[frozenset[str]], size: int) -> tuple[str, ...]:
    """The techniques that are begun with, and those that have met the fewest of the group, and those least often."""
    group = list(begun)
    while len(group) < size and (rest := [n for n in among if n not in group]):
        group.append(min(rest, key=lambda n: (_known(n, group, met), among.index(n))))
    return tuple(sorted(group))


def _known(name: str, group: Sequence[str], met: Counter[frozenset[str]]) -> tuple[int, int]:
    times = [met[frozenset((name, g))] for g in group]
    return sum(map(bool, times)), sum(times)


def _pairs(group: Sequence[str]) -> list[frozenset[str]]:
    return [frozenset(p) for p in combinations(group, 2)]


@cache
def files() -> tuple[File, ...]:
    """The matrix."""
    count = len(techniques())
    rows = targets().items()
    return designed(tuple(techniques()), {name: count if row.get("whole") else TOGETHER for name, row in rows})


def program(names: Sequence[str]) -> str:
    """The source of a file: each technique is run at some sizes, and says what it leaves."""
    own = [techniques()[n] for n in names]
    calls = "".join(f'    fill(n);\n    {t.function}(n);\n    show("{t.name}", n);\n' for t in own)
    main = (
        "int main(void)\n{\n  static const int sizes[] = { 1, 2, 7, 24, 37 };\n"
        "  for (unsigned k = 0; k < sizeof sizes / sizeof *sizes; k++) {\n    const int n = sizes[k];\n"
        f"{calls}  }}\n  return 0;\n}}\n"
    )
    return "\n".join(((HERE / "head.c").read_text(encoding="utf-8"), *(t.text for t in own), main))
