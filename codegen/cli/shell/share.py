"""Writes the manual page and the shell completions that are installed (`codegen/share`), made from the tables of
commands and options: python -m codegen.cli.shell.share"""
from __future__ import annotations

from pathlib import Path

from codegen.cli.shell.completion import completion
from codegen.cli.shell.manual import manual
from codegen.resources import share_dir


def files() -> dict[Path, str]:
    """Where each is, and what it holds."""
    completions = share_dir() / "completions"
    return {
        share_dir() / "man" / "tilewright.1": manual(),
        completions / "tilewright": completion("bash"),
        completions / "_tilewright": completion("zsh"),
        completions / "tilewright.fish": completion("fish"),
    }


if __name__ == "__main__":
    for path, text in files().items():
        path.write_text(text, encoding="utf-8")
