"""Runs the user's preprocessor on a source, and returns its text with line markers, the macro definitions and the files
it read (`Preprocessed`). `no_preprocess` runs none: macros and conditionals are an error then."""
from __future__ import annotations

import os
import re
from collections.abc import Callable

from codegen.diagnostics import InputError, Loc
from codegen.limits import PREPROCESSOR, LimitPassed, run
from codegen.options import CppOptions
from codegen.patterns import pattern
from codegen.record import record
from codegen.source.encoding import decode, encode
from codegen.source.language import C, Language, compiler_for, language_of
from codegen.source.layout.lexis import SPLICE, blank, blank_comments, without_separators
from codegen.source.layout.line_directives import line_directives, with_distinct_files, with_physical_lines
from codegen.source.layout.linemap import LineMap, quote
from codegen.source.macro_tables import Change, take_changes

STDIN = "<stdin>"
_MESSAGE = pattern(r"^(.+?):(\d+):(?:(\d+):)? (?:fatal )?error: (.*)$", re.M)
_DIRECTIVE = pattern(r"^([ \t]*)#[ \t]*(\w*)[^\n]*", re.M)


@record
class Preprocessed:
    """Preprocessed text of a language with its line markers, and the files that went into it besides the main one."""

    text: str
    deps: tuple[str, ...] = ()
    system_headers: frozenset[str] = frozenset()
    changes: tuple[Change, ...] = ()  # the definitions of macros, by lines of `text`
    language: Language = C

    @property
    def user_deps(self) -> tuple[str, ...]:
        """The dependencies as `gcc -MMD` lists them: no system headers."""
        return tuple(dep for dep in self.deps if dep not in self.system_headers)


def display_name(path: str) -> str:
    """The name that line markers and messages give to `path`."""
    return STDIN if path == "-" else path


def preprocess(
    path: str, text: str, cpp: CppOptions, meanwhile: Callable[[], None] = lambda: None, instead: str | None = None
) -> Preprocessed:
    """Preprocess `text`, the content of the file `path` (or `-`), with one run of the preprocessor.

    `meanwhile` is done while it runs. `instead` is what it reads in place of the text: with other lines, and markers
    that say which of the text's they are.
    """
    name = display_name(path)
    directives = line_directives(text, name)
    plain = with_distinct_files(text).removeprefix("\ufeff") if instead is None else instead
    if plain == text and not cpp.confined and _on_disk(path, text):
        words, data = [path], b""
    else:
        words, data = ["-iquote", os.path.dirname(path) or ".", "-"], encode(f"# 1 {quote(name)}\n{plain}")
    out = with_physical_lines(_with_definitions(cpp, words, data, name, meanwhile), directives, name)
    out, changes = take_changes(out)
    where = LineMap(out, name)
    deps, system = _dependencies(where, name)
    spaced = _with_source_columns(out, where, name, text)
    return Preprocessed(spaced, deps, system, changes, language_of(path, cpp.language))


def preprocess_alone(text: str, cpp: CppOptions, name: str) -> str:
    """What the preprocessor makes of a few lines, for the file `name`."""
    if cpp.confined:
        return _confined(cpp, text, name)
    return _run([*_words(cpp, name), "-"], encode(text), name, lambda: None)


def _words(cpp: CppOptions, name: str) -> list[str]:
    language = language_of(name, cpp.language)
    return [*_command(cpp, name, language), "-x", language.name, "-D__TILEWRIGHT__=1", *cpp.args]


def compiler_words(cpp: CppOptions, name: str) -> list[str]:
    """The words that say how the file is compiled: of the preprocessor's command, if it is run, and the user's own."""
    return _words(cpp, name) if cpp.enabled else list(cpp.args)


def _with_definitions(
    cpp: CppOptions, words: list[str], data: bytes, name: str, meanwhile: Callable[[], None]
) -> str:
    """The preprocessor's output with the definitions of macros in it, unless the user's own knows no -dD."""
    if cpp.confined:
        meanwhile()
        return _confined(cpp, decode(data), name)
    try:
        return _run([*_words(cpp, name), "-dD", *words], data, name, meanwhile)
    except InputError:
        if not cpp.command:
            raise
        return _run([*_words(cpp, name), *words], data, name, lambda: None)


def _confined(cpp: CppOptions, text: str, name: str) -> str:
    """What this process makes of a text, without opening a file."""
    from codegen.source.preprocessor.headers import Compiler
    from codegen.source.preprocessor.run import preprocessed

    return without_separators(preprocessed(text, name, Compiler((*_words(cpp, name), "-dD"), name)))


def no_preprocess(path: str, text: str, language: Language = C) -> Preprocessed:
    """The text for the parser without running any preprocessor: comments and continued lines only.

    Includes are skipped. Macros and conditionals would be misread, so they are an error.
    """
    name = display_name(path)
    plain = without_separators(blank_comments(_join_lines(text.removeprefix("\ufeff").replace("\r", ""))))

    def drop(match: re.Match[str]) -> str:
        if match.group(2) == "pragma":
            return match.group()
        if match.group(2) not in ("include", "line", ""):
            line = plain.count("\n", 0, match.start()) + 1
            raise InputError("needs-preprocessor", f"`#{match.group(2)}` needs the preprocessor, which is switched off",
                             Loc(name, line, len(match.group(1)) + 1), "drop --no-cpp")
        return blank(match.group())

    return Preprocessed(f"# 1 {quote(name)}\n{_DIRECTIVE.sub(drop, plain)}", language=language)


def _command(cpp: CppOptions, name: str, language: Language) -> list[str]:
    """The preprocessor: the user's, or a compiler that exists."""
    if cpp.command:
        return list(cpp.command)
    words = compiler_for(language)
    if not words:
        raise _no_preprocessor(f"no {language.title} compiler found to preprocess with", name, language)
    return [*words, "-E"]


def _no_preprocessor(message: str, name: str, language: Language) -> InputError:
    return InputError("no-preprocessor", message, Loc(name), f"set {language.variable} to a {language.title} compiler, "
                      "install one, or use --no-cpp for files without macros")


def _on_disk(path: str, text: str) -> bool:
    """Whether the compiler can read `path` itself, which gives it the right folder for quoted includes first."""
    if path.startswith("-") or not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        return file.read() == encode(text)


def _run(command: list[str], data: bytes, name: str, meanwhile: Callable[[], None]) -> str:
    try:
        done = run(command, PREPROCESSOR, data, {**os.environ, "LC_ALL": "C"}, meanwhile=meanwhile)
    except OSError as error:
        what = f"cannot run the preprocessor `{command[0]}`: {error.strerror}"
        raise _no_preprocessor(what, name, language_of(name)) from error
    except LimitPassed as error:
        raise InputError("limit-passed", f"the preprocessor {error}", Loc(name, 1, 1),
                         "look for a macro that expands to very much, or a header without an end") from None
    if done.code != 0:
        raise _failure(decode(done.err), name, command[0])
    return without_separators(decode(done.out).replace("\r", ""))


def _failure(stderr: str, name: str, program: str) -> InputError:
    """The first located message of the preprocessor, as a message of ours."""
    match = _MESSAGE.search(stderr)
    if match is None:
        first = next((line for line in stderr.splitlines() if line.strip()), "no message")
        return InputError("preprocess-failed", f"{program} failed: {first.strip()}", Loc(name))
    file, line, column, message = match.groups()
    hint = "add the header's folder with -I" if "No such file" in message else ""
    return InputError("preprocess-failed", message, Loc(file, int(line), int(column or 0)), hint)


def _dependencies(where: LineMap, name: str) -> tuple[tuple[str, ...], frozenset[str]]:
    """Files named by line markers; a system header is one that was entered with flag 3.

    Flag 3 alone says nothing: it also marks the expansion of a system macro in the user's own file.
    """
    files, system = set(), set()
    for marker in where.markers:
        files.add(marker.file)
        if "1" in marker.flags and "3" in marker.flags:
            system.add(marker.file)
    files = {file for file in files if file != name and not re.fullmatch(r"<.*>|.*//", file)}
    return tuple(sorted(files)), frozenset(system)


def _with_source_columns(out: str, where: LineMap, name: str, text: str) -> str:
    """Give back the white space that the preprocessor squeezed from lines it did not otherwise change.

    With it, columns in messages are those of the user's file.
    """
    source = blank_comments(text).replace("\r", "").split("\n")
    parts: list[str] = []
    at = 0
    ends = [marker.offset for marker in where.markers[1:]] + [len(out)]
    for marker, end in zip(where.markers, ends, strict=True):
        if marker.file == name and end > marker.start:
            lines = out[marker.start:end].split("\n")
            first = max(marker.line - 1, 0)
            parts += [out[at:marker.start], "\n".join(map(_respaced, lines, _padded(source, first, len(lines))))]
            at = end
    return "".join([*parts, out[at:]])


def _padded(source: list[str], first: int, count: int) -> list[str]:
    lines = source[first:first + count]
    return lines + [""] * (count - len(lines))


def _respaced(line: str, original: str) -> str:
    """The original line when it differs in white space only."""
    return original.rstrip() if line != original and line.split() == original.split() else line


def _join_lines(text: str) -> str:
    """Continued lines on one line, followed by the empty lines that keep the numbering."""
    if not SPLICE.search(text):
        return text
    joined: list[str] = []
    pending = 0
    for line in text.split("\n"):
        extended = joined[-1] + line if pending else line
        if pending:
            joined.pop()
        if extended.endswith("\\"):
            joined.append(extended[:-1])
            pending += 1
            continue
        joined += [extended, *[""] * pending]
        pending = 0
    return "\n".join(joined)
