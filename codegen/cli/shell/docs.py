"""docs/options.md from the option table: python -m codegen.cli.shell.docs > docs/options.md"""
from __future__ import annotations

import sys

from codegen.cli.commands import COMMANDS
from codegen.cli.options import GROUPS, TABLE, Option
from codegen.cli.shell.manual import EXIT_CODES
from codegen.cli.shell.printing import PRINTS

_HEAD = """\
# Options

Made from the option table by `python -m codegen.cli.shell.docs`; edit `codegen/cli/options.py` instead.

`--` ends the options, `@FILE` reads more words from a file, `-` as a file is standard input or output.

| command | what it does |
|---|---|
"""
_PRINTS = """
## For build systems and shells

These stand in place of a command and print one answer.

| option | prints |
|---|---|
"""
_TAIL = """
## Exit codes

| code | meaning |
|---|---|
"""


def markdown() -> str:
    """The whole page."""
    commands = "".join(f"| `{c.name}` | {c.summary} |\n" for c in COMMANDS)
    groups = "".join(_group(g, title) for g, title in GROUPS.items())
    prints = "".join(_cells(f"`{p.spelling}`", p.help) for p in PRINTS)
    codes = "".join(_cells(code, meaning) for code, meaning in EXIT_CODES)
    return _HEAD + commands + groups + _PRINTS + prints + _TAIL + codes


def _cells(*texts: str) -> str:
    return "| " + " | ".join(t.replace("|", "\\|") for t in texts) + " |\n"


def _group(group: str, title: str) -> str:
    rows = "".join(_row(o) for o in TABLE if o.group == group)
    head = "| option | default | commands | shapes the output | meaning |\n|---|---|---|---|---|\n"
    return f"\n## {title}\n\n{head}{rows}"


def _row(option: Option) -> str:
    default = f"`{option.default:g}`" if isinstance(option.default, float) else f"`{option.default}`"
    return _cells(
        f"`{option.spelling}`",
        default if option.default not in (None, "") else "",
        ", ".join(option.commands),
        "yes" if option.affects_output else "",
        option.help,
    )


if __name__ == "__main__":
    sys.stdout.write(markdown())
