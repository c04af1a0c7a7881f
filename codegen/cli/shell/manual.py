"""The manual page, from the tables of commands and options."""
from __future__ import annotations

from codegen import __version__
from codegen.cli.commands import COMMANDS
from codegen.cli.options import GROUPS, TABLE
from codegen.cli.shell.printing import PRINTS

EXIT_CODES = (
    ("0", "done"), ("1", "error in the input"), ("2", "bad command line"),
    ("3", "a region was refused under --strict"), ("4", "check found a difference"), ("70", "internal error"),
)
_HEAD = """\
.TH TILEWRIGHT 1 "" "tilewright {version}" "User Commands"
.SH NAME
tilewright \\- generate fast, proven C from C with marked loop nests
.SH SYNOPSIS
.B tilewright
.I COMMAND
.RI [ OPTION ]...
.SH DESCRIPTION
Loop nests between
.B #pragma scop
and
.B #pragma endscop
are transformed; the rest of the file comes out byte for byte. What cannot be proven right is left as written, with a
message.
.B \\-\\-
ends the options,
.BI @ FILE
reads more words from a file, and
.B \\-
as a file is standard input or output.
"""


def manual() -> str:
    """The page in man's language."""
    parts = [_HEAD.format(version=__version__), ".SH COMMANDS\n"]
    for command in COMMANDS:
        words = " ".join([command.name, *(_positional(p.metavar, p.optional, p.many) for p in command.positionals)])
        parts.append(_entry(words, command.summary))
    parts.append(".SH OPTIONS\n")
    for group, title in GROUPS.items():
        parts.append(f".SS {_text(title)}\n")
        for option in (o for o in TABLE if o.group == group):
            default = f" Default: {option.default}." if option.default not in (None, "") else ""
            commands = ", ".join(option.commands)
            parts.append(_entry(option.spelling, f"{option.help}.{default} ({commands})"))
    parts.append(".SS In place of a command\n")
    parts += [_entry(p.spelling, p.help) for p in PRINTS]
    parts.append(".SH EXIT STATUS\n")
    parts += [_entry(code, meaning) for code, meaning in EXIT_CODES]
    return "".join(parts)


def _positional(metavar: str, optional: bool, many: bool) -> str:
    return f"[{metavar}]" if optional else f"{metavar}..." if many else metavar


def _entry(head: str, text: str) -> str:
    return f".TP\n.B {_text(head)}\n{_text(text)}\n"


def _text(text: str) -> str:
    """Plain text: backslashes and hyphens are escaped, a dot or quote at the start is not a request."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-").replace("`", "")
    return f"\\&{escaped}" if escaped[:1] in (".", "'") else escaped
