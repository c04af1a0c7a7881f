"""What a compiler makes of headers of the C library (`Compiler.prelude`, `Compiler.header`): it is given lines that are
written here, from names of a list, and nothing of the text that is preprocessed."""
from __future__ import annotations

import os
import re
from collections.abc import Callable
from functools import lru_cache

from codegen.diagnostics import InputError, Loc
from codegen.limits import PREPROCESSOR, LimitPassed, run
from codegen.record import record
from codegen.source.encoding import decode

_NAMES = """assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdalign stdarg
stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string tgmath time uchar wchar wctype omp"""
HEADERS = frozenset(f"<{name}.h>" for name in _NAMES.split())
# Macros of a text that headers ask for.
_FEATURES = """NDEBUG _GNU_SOURCE _DEFAULT_SOURCE _BSD_SOURCE _SVID_SOURCE _ISOC99_SOURCE _ISOC11_SOURCE _POSIX_SOURCE
_POSIX_C_SOURCE _XOPEN_SOURCE _XOPEN_SOURCE_EXTENDED _FILE_OFFSET_BITS _LARGEFILE64_SOURCE _USE_MATH_DEFINES"""
FEATURES = frozenset(_FEATURES.split())
FEATURE_VALUE = re.compile(r"[A-Za-z0-9_]{0,20}")
_MARK = '# 1 "<included here>"'


@record
class Compiler:
    """The words of a preprocessor that prints definitions, too."""

    words: tuple[str, ...]
    name: str  # of the text, for messages

    def prelude(self) -> str:
        """What comes before any text: the macros that the compiler defines."""
        return _output(self.words, "", self.name)

    def header(self, before: tuple[str, ...], header: str) -> str:
        """What `#include header` brings after earlier lines, `#include`, `#define` and `#undef` of these lists."""
        assert header in HEADERS
        text = "".join(f"{line}\n" for line in before)
        out = _output(self.words, f"{text}{_MARK}\n#include {header}\n", self.name)
        return re.sub(r'\n# \d+ "<included here>" 2\n\Z', "\n", out.partition(f"{_MARK}\n")[2])


@lru_cache(maxsize=64)
def _output(words: tuple[str, ...], text: str, name: str) -> str:
    try:
        done = run([*words, "-"], PREPROCESSOR, text.encode("ascii"), {**os.environ, "LC_ALL": "C"})
    except (OSError, LimitPassed) as error:
        raise InputError("no-preprocessor", f"cannot run {words[0]}: {error}", Loc(name)) from error
    if done.code != 0:
        raise InputError("preprocess-failed", f"{words[0]} does not find a header", Loc(name))
    return decode(done.out).replace("\r", "")


def error_at(name: str, line: int) -> Callable[[str], InputError]:
    """Makes errors of a line."""
    return lambda words: InputError("preprocess-failed", words, Loc(name, line))
