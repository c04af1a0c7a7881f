"""`-p`: reads a build's compile_commands.json and returns the preprocessor command, flags and language that it has for
one file, or for all; InputError where it cannot be read or has no entry."""
from __future__ import annotations

import json
import os
import shlex
from typing import Any

from codegen.cli.cc.ccline import CcLine, Word, parse
from codegen.diagnostics import InputError, Loc
from codegen.options import CppOptions
from codegen.source.language import ending_of

# Options with a path that counts from the folder of the command.
_PATHS = ("-I", "-isystem", "-iquote", "-idirafter", "-include", "-imacros", "-isysroot", "--sysroot", "-B")


def database_path(given: str) -> str:
    """The file that -p means: itself, or the one in the folder."""
    return os.path.join(given, "compile_commands.json") if os.path.isdir(given) else given


def flags_for(given: str, file: str) -> CppOptions:
    """How the build preprocesses `file`. InputError when the database does not say."""
    path = database_path(given)
    entry = next((e for e in _entries(path) if _is(e, file)), None)
    if entry is None:
        raise InputError("bad-database", f"there is no command for {file} in {path}", Loc(path),
                         "configure the build again, or give -I and -D by hand")
    return _flags(entry, path, file)


def all_flags(given: str) -> dict[str, CppOptions]:
    """How the build preprocesses each of its C and C++ files, by their real paths; of several commands the first."""
    path = database_path(given)
    out: dict[str, CppOptions] = {}
    for entry in _entries(path):
        if ending_of(entry["file"]):
            file = os.path.realpath(os.path.join(os.path.dirname(path), entry.get("directory", ""), entry["file"]))
            if file not in out:
                out[file] = _flags(entry, path, file)
    return out


def _flags(entry: dict[str, Any], path: str, file: str) -> CppOptions:
    words = entry.get("arguments") or shlex.split(entry.get("command", ""))
    if not words:
        raise InputError("bad-database", f"the command for {file} is empty", Loc(path))
    line = parse(words)
    folder = os.path.join(os.path.dirname(path), entry.get("directory", ""))
    if os.path.realpath(folder) != os.path.realpath("."):
        line = CcLine(line.program, tuple(_moved(p, folder) for p in line.parts))
    program, *flags = line.preprocessor()
    name = os.path.basename(entry["file"])
    language = next((p.language for p in line.parts if p.is_c and os.path.basename(p.head) == name), "")
    return CppOptions((program, "-E"), tuple(f for f in flags if f != "-E"), language=language)


def _entries(path: str) -> list[dict[str, Any]]:
    try:
        with open(path, encoding="utf-8") as stream:
            data = json.load(stream)
    except OSError as error:
        raise InputError("cannot-read", f"cannot read {path}: {error.strerror}", Loc(path)) from None
    except ValueError as error:
        raise InputError("bad-database", f"not JSON: {error}", Loc(path)) from None
    if not isinstance(data, list) or not all(isinstance(e, dict) and isinstance(e.get("file"), str) for e in data):
        raise InputError("bad-database", "not a list of commands, each with its file", Loc(path))
    return data


def _is(entry: dict[str, Any], file: str) -> bool:
    named = os.path.join(entry.get("directory", ""), entry["file"])
    return bool(os.path.realpath(named) == os.path.realpath(file))


def _moved(part: Word, folder: str) -> Word:
    """The option with its path as seen from here; a header that is looked for in the folders of -I stays as it is."""
    flag = next((f for f in _PATHS if part.head == f or (part.head.startswith(f) and len(part.words) == 1)), "")
    if not flag:
        return part
    value = part.words[1] if len(part.words) == 2 else part.head[len(flag):].removeprefix("=")
    there = os.path.relpath(os.path.join(folder, value))
    if os.path.isabs(value) or (flag in ("-include", "-imacros") and not os.path.exists(there)):
        return part
    if len(part.words) == 2:
        return Word((flag, there))
    return Word((f"{flag}={there}" if flag.startswith("--") else f"{flag}{there}",))
