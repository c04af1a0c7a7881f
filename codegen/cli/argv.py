"""Normalizes the words of the command line before argparse sees them: expands @FILE, respells gcc's forms (-MFx, -MMD,
a bare -Rpass), and drops compiler flags that do not matter here. Raises BadCommandLine."""
from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator

_JOINED = re.compile(r"(-M[FT])(.+)")
_REMARK = re.compile(r"-Rpass(-missed|-analysis)?$")
# What a build's CFLAGS hold besides: it changes the compiler's work, not what the preprocessor prints.
_IGNORED = re.compile(
    r"-(c|S|s|pipe|pedantic(-errors)?|g[\w-]*(=\S+)?|MG|time|static|shared|rdynamic|W[alp],.*|[lL]\S+)$"
)
_SPELLINGS = {"-MMD": "-MD", "-O": "-O1", "-ansi": "-std=c90", "-pthread": "-D_REENTRANT"}
_LINE = {"--line": "--line=regions", "--no-line": "--line=none"}
# Deep enough for any honest use; a file that names itself must not run forever.
_MAX_DEPTH = 10


class BadCommandLine(Exception):
    """The command line cannot be understood; the text says why."""


def normalize(words: Iterable[str]) -> list[str]:
    """Expand @files and gcc's joined spellings; everything after `--` is left alone."""
    out: list[str] = []
    stream = iter(expand(words, 0))
    for word in stream:
        if word == "--":
            return [*out, word, *stream]
        out += _respell(word)
    return out


def _respell(word: str) -> list[str]:
    if _IGNORED.match(word):
        return []
    word = _SPELLINGS.get(word, word)
    joined = _JOINED.fullmatch(word)
    if joined:
        return [joined[1], joined[2]]
    # A bare -Rpass means every remark, and must not swallow the next word; nor must a bare --line.
    return [f"{word}=."] if _REMARK.match(word) else [_LINE.get(word, word)]


def expand(words: Iterable[str], depth: int = 0) -> Iterator[str]:
    """The words with those of response files in place of @FILE."""
    literal = False
    for word in words:
        literal = literal or word == "--"
        if literal or len(word) < 2 or word[0] != "@":
            yield word
        elif depth == _MAX_DEPTH:
            raise BadCommandLine(f"response files nest too deeply at '{word}'")
        else:
            yield from expand(_response_file(word[1:]), depth + 1)


def _response_file(path: str) -> list[str]:
    """The words of a response file: split at white space, with quotes and backslashes as in a shell."""
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as stream:
            return shlex.split(stream.read())
    except OSError as error:
        raise BadCommandLine(f"cannot read response file '{path}': {error.strerror}") from None
    except ValueError as error:
        raise BadCommandLine(f"response file '{path}': {error}".lower()) from None
