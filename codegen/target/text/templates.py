"""The templates of `templates/`. Run as a program, compiles all templates and tables ahead of time, and keeps what
makes a start quick."""

from __future__ import annotations

from functools import lru_cache

from codegen.resources import data_dir, templates_dir, toml
from codegen.startup import modules, regexes
from codegen.target.text.plain import Templates


@lru_cache(maxsize=1)
def environment() -> Templates:
    return Templates(templates_dir())


def compile_all() -> None:
    """Compile every template and table, also where Python was told not to write bytecode on its own."""
    environment().compile_all()
    for room in ("isa", "machine"):
        for file in sorted(data_dir(room).rglob("*.toml")):
            toml(file, keep=True)


if __name__ == "__main__":
    regexes.use()
    compile_all()
    regexes.keep()
    modules.keep()
