"""Parses a command line of gcc or clang into options and inputs (`CcLine`), and makes others of it: the command that
only preprocesses, and the same command with other input files. For `tilewright-cc` and compile_commands.json."""
from __future__ import annotations

import os
import re
from collections.abc import Sequence

from codegen.record import record
from codegen.source.language import HEADERS, language_compiled

# Options whose value is the next word. Where the value may also be joined (-Ifolder), a joined word is no match here.
_SEPARATE = (
    "-o", "-x", "-I", "-D", "-U", "-L", "-l", "-T", "-u", "-z", "-e", "-A", "-B", "-G", "-include", "-imacros",
    "-isystem", "-iquote", "-idirafter", "-iprefix", "-iwithprefix", "-iwithprefixbefore", "-isysroot", "-imultilib",
    "-MF", "-MT", "-MQ", "-MJ", "-Xlinker", "-Xassembler", "-Xpreprocessor", "-Xclang", "-mllvm", "-arch", "-target",
    "--param", "--sysroot", "-aux-info", "-dumpbase", "-dumpbase-ext", "-dumpdir", "-wrapper", "-framework",
)
# Of no use to a run of the preprocessor alone, or harmful to it.
_NOT_FOR_CPP = ("-c", "-S", "-E", "-P", "-C", "-CC", "-o", "-x", "-l", "-L", "-T", "-u", "-z", "-e", "-Xlinker",
                "-MF", "-MT", "-MQ", "-MJ", "-MD", "-MMD", "-MP", "-MG", "-fsyntax-only", "-shared", "-static", "-pie",
                "-rdynamic")
_NOT_FOR_CPP_JOINED = ("-o", "-x", "-l", "-L", "-Wl,", "-Wp,-M", "-Wa,", "-MF", "-MT", "-MQ", "-MJ", "-save-temps",
                       "-Werror", "-d", "-time")
_LINKED = (".o", ".a", ".so", ".lo", ".obj")
# With these the compiler reads the sources for something else than code.
_NO_CODE = ("-M", "-MM", "-###", "--help", "--version", "-print-prog-name", "-dumpversion")


@record
class Word:
    """An option with its value, or an input; `is_c` marks an input that is read as C or C++, the `language`."""

    words: tuple[str, ...]
    is_input: bool = False
    is_c: bool = False
    language: str = ""

    @property
    def head(self) -> str:
        return self.words[0]


@record
class CcLine:
    """A command line taken apart; joining the words of `parts` behind `program` gives it back."""

    program: str
    parts: tuple[Word, ...]

    @property
    def c_inputs(self) -> tuple[str, ...]:
        """The C and C++ sources, unless the compiler is asked for something else than to read them as code."""
        if any(p.head in _NO_CODE for p in self.parts):
            return ()
        return tuple(p.head for p in self.parts if p.is_c)

    @property
    def openmp(self) -> bool:
        """Whether the compiler obeys OpenMP's pragmas; the last word on it counts."""
        said = [p.head for p in self.parts if re.match(r"-(fopenmp|fno-openmp|qopenmp)(=|$)", p.head)]
        return bool(said) and said[-1] != "-fno-openmp"

    @property
    def debug(self) -> bool:
        return any(p.head.startswith("-g") and p.head != "-g0" for p in self.parts)

    def language(self, name: str) -> str:
        """What the compiler reads a source as."""
        return next((p.language for p in self.parts if p.is_c and p.head == name), "")

    def preprocessor(self) -> tuple[str, ...]:
        """The command that preprocesses as this one would: -E and every flag that may matter."""
        kept = [w for p in self.parts if not _linked_only(p) for w in p.words]
        return (self.program, *kept, "-E")

    def depfiles(self) -> tuple[str, ...]:
        """Where the compiler may write dependencies."""
        named = [_value(p, "-MF") for p in self.parts if p.head.startswith("-MF")]
        named += [p.head.split(",")[2] for p in self.parts
                  if p.head.startswith(("-Wp,-MD,", "-Wp,-MMD,")) and p.head.count(",") >= 2]
        if named:
            return tuple(named)
        if not any(p.head in ("-MD", "-MMD") for p in self.parts):
            return ()
        stems = [os.path.splitext(os.path.basename(name))[0] for name in self.c_inputs]
        outputs = [_value(p, "-o") for p in self.parts if p.head.startswith("-o")]
        names = [os.path.splitext(out)[0] for out in outputs] + outputs
        # gcc joins output and source when it links as well; without -o the program is called a.out.
        return tuple(f"{n}.d" for n in [*stems, *names, *(f"{o}-{s}" for o in [*names, "a"] for s in stems)])

    def with_inputs(self, renamed: dict[str, str], extra: Sequence[str]) -> list[str]:
        """The command with other files in place of some inputs, and `extra` before all other options.

        A launcher's command (`ccache gcc`) stays in front.
        """
        words: list[str] = []
        at = next((i for i, p in enumerate(self.parts) if p.head.startswith("-") or p.is_c), 0)
        for index, part in enumerate(self.parts):
            words += extra if index == at else ()
            words += [renamed.get(part.head, part.head)] if part.is_c else part.words
        return [self.program, *words]


def parse(words: Sequence[str]) -> CcLine:
    """Take a command line apart; never fails, what it does not know is an option without a value."""
    parts: list[Word] = []
    language = ""
    stream = iter(words[1:])
    for word in stream:
        if not word.startswith("-") or word == "-":
            read = language_compiled(words[0], word, language)
            if read is not None and not language and word.endswith(HEADERS):
                read = None  # compiled by itself, a header is no code
            parts.append(Word((word,), True, read is not None and word != "-", read.name if read else ""))
            continue
        value = next(stream, None) if word in _SEPARATE else None
        parts.append(Word((word,) if value is None else (word, value)))
        if word.startswith("-x"):
            language = (value if word == "-x" else word[2:]) or ""
            language = "" if language == "none" else language
    return CcLine(words[0], tuple(parts))


def _linked_only(part: Word) -> bool:
    if part.is_input:
        return part.is_c or part.head == "-" or part.head.endswith(_LINKED)
    return part.head in _NOT_FOR_CPP or part.head.startswith(_NOT_FOR_CPP_JOINED)


def _value(part: Word, flag: str) -> str:
    return part.words[1] if len(part.words) == 2 else part.head[len(flag):]
