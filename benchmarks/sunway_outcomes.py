"""What runs of the Sunway corpus have found, kept in a file from run to run."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from pathlib import Path

from benchmarks.sunway_programs import Outcome, Subject
from codegen.sunway.emulation.host import FLAGS, emulator_folder

ROOT = Path(__file__).parents[1]


def tool_digest() -> str:
    """Stands for the generator, its templates and the emulator as they are."""
    found = hashlib.sha256(repr(FLAGS).encode())
    files = [*ROOT.glob("codegen/**/*.py"), *ROOT.glob("templates/**/*.j2"), *emulator_folder().iterdir(),
             Path(__file__).with_name("sunway_programs.py"), ROOT / "examples" / "kernels" / "kernels.h"]  # fmt: skip
    for path in sorted(files):
        if path.is_file():
            found.update(path.read_bytes())
    return found.hexdigest()


class Kept:
    """Outcomes by program, its text and sizes, and grid. Failures are not kept: they are to be tried again."""

    def __init__(self, path: Path, tool: str, forget: bool = False) -> None:
        self.path, self.tool = path, tool
        old = json.loads(path.read_text()) if path.exists() and not forget else {}
        self.found: dict[str, dict[str, object]] = old.get("outcomes", {}) if old.get("tool") == tool else {}

    def get(self, s: Subject, grid: str) -> Outcome | None:
        row = self.found.get(self._key(s, grid))
        return None if row is None else Outcome(**row)  # type: ignore[arg-type]

    def put(self, s: Subject, one: Outcome) -> None:
        if one.kind == "failed":
            return
        self.found[self._key(s, one.grid)] = asdict(one)
        part = self.path.with_suffix(".part")
        part.write_text(json.dumps({"tool": self.tool, "outcomes": self.found}, indent=1))
        part.replace(self.path)

    def _key(self, s: Subject, grid: str) -> str:
        text = hashlib.sha256(s.path.read_bytes()).hexdigest()[:16]
        return f"{s.name} {grid} {text} {' '.join(map(str, s.sizes))}"
