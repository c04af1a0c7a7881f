"""The two source languages, C and C++ (regions in it are plain C): decides which one a file is in, by option, ending or
compiler, and finds its compiler ($CC, $CXX or the first that is installed)."""
from __future__ import annotations

import os
import shlex
import shutil

from codegen.diagnostics import InputError, Loc
from codegen.patterns import pattern
from codegen.record import record


@record
class Language:
    """How a language is called by compilers, which files are written in it, and who compiles them.

    variable   the environment variable that names the compiler
    compilers  those that are looked for without it
    std        what `check` tells them, before the user's own flags
    """

    name: str
    title: str
    endings: tuple[str, ...]
    variable: str
    compilers: tuple[str, ...]
    std: tuple[str, ...] = ()


C = Language("c", "C", (".c",), "CC", ("cc", "gcc", "clang"), ("-std=gnu11",))
CXX = Language("c++", "C++", (".cpp", ".cc", ".cxx", ".c++", ".C", ".CPP", ".hpp", ".hh", ".hxx", ".h++", ".H"), "CXX",
               ("c++", "g++", "clang++"))  # fmt: skip
LANGUAGES = (C, CXX)
HEADERS = tuple(e for e in CXX.endings if e[1].lower() == "h")
_INCLUDED = (".h", ".inc", ".inl", ".i", ".ii", ".ipp", ".tpp", ".def", ".cu", ".cuh", ".cl", ".upc")
_MARK = pattern(r"\bpragma\b[^\n]*\b(?:end)?scop\b")
_FORTRAN = (".f", ".for", ".ftn", ".f77", ".f90", ".f95", ".f03", ".f08", ".f18", ".fpp")
_OTHERS = {**dict.fromkeys(_FORTRAN, "Fortran"), ".py": "Python", ".rs": "Rust", ".go": "Go", ".java": "Java",
           ".jl": "Julia", ".js": "JavaScript", ".ts": "TypeScript", ".s": "assembly", ".ll": "LLVM's assembly",
           ".md": "Markdown", ".json": "JSON", ".toml": "TOML", ".plan": "a plan"}  # fmt: skip
_DRIVER = pattern(r"(?:^|(?<=[-/]))(gcc|clang|cc)(?=(?:-[\d.]+)?(?:\.exe)?$)")
_OF_CXX = pattern(r"(?:^|[-/])(?:g\+\+|clang\+\+|c\+\+)(?:-[\d.]+)?(?:\.exe)?$")
_BESIDE = {"gcc": "g++", "clang": "clang++", "cc": "c++"}


def language_of(path: str, name: str = "") -> Language:
    """The language of a file: the one that is named, else by the file's ending."""
    if name:
        return next(x for x in LANGUAGES if x.name == name)
    return CXX if path.endswith(CXX.endings) else C


def check_language(path: str, text: str, name: str = "") -> None:
    """Raise InputError for a file in another language: neither its name nor a mark in it nor an option says C."""
    if path in ("-", "<stdin>") or name or path.endswith((*C.endings, *CXX.endings, *_INCLUDED)) or _MARK.search(text):
        return
    ending = os.path.splitext(path)[1]
    what = _OTHERS.get(ending.lower(), "")
    why = f"{path} is {what}, not C or C++" if what else (
        f"{path} does not look like C or C++: its name ends in {f'`{ending}`' if ending else 'nothing that says so'}, "
        "and there is no `#pragma scop` in it")
    hint = f"names of C end in .c, of C++ in {', '.join(CXX.endings[:3])} and the like; rename the file if it is C"
    raise InputError("other-language", why, Loc(path), hint)


def language_compiled(program: str, path: str, given: str) -> Language | None:
    """What a compiler takes a file for, given its -x; None where that is neither. Drivers for C++ read C as C++."""
    if given:
        return next((x for x in LANGUAGES if x.name == given), None)
    found = next((x for x in LANGUAGES if path.endswith(x.endings)), None)
    return CXX if found is C and _OF_CXX.search(program) else found


def stem_of(path: str) -> str:
    """A path without the ending of a source."""
    ending = ending_of(path)
    return path.removesuffix(ending) if ending else path


def ending_of(path: str) -> str:
    """The ending that makes it a source; empty if there is none."""
    return next((e for x in LANGUAGES for e in sorted(x.endings, key=len, reverse=True) if path.endswith(e)), "")


def compiler_for(language: Language) -> list[str]:
    """The compiler: $CC or $CXX, the one for C++ beside $CC, or the first that is found. May be empty."""
    words = [shlex.split(os.environ.get(language.variable, ""))]
    if language is CXX:
        words.append(_beside(shlex.split(os.environ.get(C.variable, ""))))
    return next((w for w in (*words, *([c] for c in language.compilers)) if w and shutil.which(w[0])), [])


def _beside(words: list[str]) -> list[str]:
    """The driver for C++ that belongs to one for C, with the same flags."""
    if not words or _OF_CXX.search(words[0]):
        return words
    made = _DRIVER.sub(lambda m: _BESIDE[m[1]], words[0])
    return [made, *words[1:]] if made != words[0] else []
