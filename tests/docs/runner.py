"""Documents whose listings are tried out.

A fence whose first line is ```LANGUAGE NAME writes its text to the file NAME in a scratch folder; ```LANGUAGE NAME +=
adds to it. In a ```console fence, lines with `$ ` are commands (a line that ends in a backslash goes on), and the lines
below one are what it prints, both streams together. A line `...` stands for any lines, `...` inside a line for any
text, and a last line `(exit status 3)` for a command that fails.
"""
from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
_FENCE = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<body>.*?)^```$", re.M | re.S)
_STATUS = re.compile(r"\(exit status (\d+)\)")


@dataclass(frozen=True)
class Step:
    """A file to write, or a command with what it prints. `line` is where it stands in the document."""

    line: int
    file: str = ""
    text: str = ""
    append: bool = False
    command: str = ""
    status: int = 0


def steps(document: str) -> list[Step]:
    found: list[Step] = []
    for fence in _FENCE.finditer(document):
        line = document.count("\n", 0, fence.start("body")) + 1
        words, body = fence["info"].split(), fence["body"]
        if words == ["console"]:
            found += _commands(body, line)
        elif len(words) > 1:
            found.append(Step(line, words[1], body, words[2:] == ["+="]))
    return found


def _commands(body: str, line: int) -> list[Step]:
    found: list[Step] = []
    lines = body.split("\n")[:-1]
    at = 0
    while at < len(lines):
        assert lines[at].startswith("$ "), f"line {line + at}: a command was expected"
        start, command = at, lines[at][2:]
        while command.endswith("\\"):
            at += 1
            command = command[:-1] + lines[at].strip()
        at += 1
        output = []
        while at < len(lines) and not lines[at].startswith("$ "):
            output.append(lines[at])
            at += 1
        status = _STATUS.fullmatch(output[-1]) if output else None
        text = "\n".join(output[:-1] if status else output)
        found.append(Step(line + start, text=text, command=command, status=int(status[1]) if status else 0))
    return found


def matches(expected: str, printed: str) -> bool:
    """Whether a listing with elisions is what was printed; spaces at the ends of lines do not count."""
    pattern = ""
    for line in expected.split("\n"):
        if line.strip() == "...":
            pattern += r"(?:[^\n]*\n)*?"
        else:
            pattern += ".*?".join(re.escape(part) for part in line.rstrip().split("...")) + r"[ \t]*\n"
    text = "".join(line.rstrip() + "\n" for line in printed.rstrip("\n").split("\n"))
    return re.fullmatch(pattern, text) is not None


def environment(folder: Path) -> dict[str, str]:
    """`tilewright` and its compiler wrapper on PATH, as an installed package has them; nothing of the user's."""
    binaries = folder / ".bin"
    binaries.mkdir(exist_ok=True)
    for name, module in (("tilewright", "codegen"), ("tilewright-cc", "codegen.cli.wrap.wrapper")):
        (binaries / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" -m {module} "$@"\n', encoding="utf-8")
        (binaries / name).chmod(0o755)
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "CC", "CFLAGS", "TILEWRIGHT"))}
    path = os.pathsep.join([str(binaries), os.path.dirname(sys.executable), kept["PATH"]])
    return kept | {"PATH": path, "PYTHONPATH": str(ROOT), "LC_ALL": "C", "OMP_NUM_THREADS": "2", "NO_COLOR": "1",
                   "XDG_CACHE_HOME": str(folder / ".cache")}


def follow(document: Path, folder: Path) -> int:
    """Do what a document says in a scratch folder; the number of commands. AssertionError where it is wrong."""
    env, count = environment(folder), 0
    for step in steps(document.read_text(encoding="utf-8")):
        if step.file:
            target = folder / step.file
            target.parent.mkdir(parents=True, exist_ok=True)
            with open(target, "a" if step.append else "w", encoding="utf-8") as stream:
                stream.write(step.text)
            continue
        count += 1
        done = subprocess.run(["bash", "-c", step.command], cwd=folder, env=env, stdin=subprocess.DEVNULL, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, timeout=200)
        where = f"{document.name}:{step.line}: $ {step.command}"
        assert done.returncode == step.status, f"{where}\nexit status {done.returncode}\n{done.stdout}"
        assert matches(step.text, done.stdout), f"{where}\nexpected\n{step.text}\nprinted\n{done.stdout}"
    return count
