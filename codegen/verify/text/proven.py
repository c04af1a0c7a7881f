"""Cache of texts that were proven when this version of the tool was made, so that builds need not prove them again.

A block of a product is listed whatever the user's variables are called, and once more wherever its elements lie; a
kernel by its instruction set, type and form.
The list speaks for the proofs that made it, and for what they and the printers import (`closure.py`): after a change of
any of that it counts for nothing, and a test asks for `make proven`, which writes it anew. A test proves a part of it
anew, another one with each commit.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from hashlib import blake2b
from pathlib import Path

from codegen.scop.memo import remember
from codegen.verify.text.closure import SOURCES, digest, found, recorded

_HERE = Path(__file__).parent
LIST = _HERE / "data" / "proven.txt"
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*|\\\n", re.S)
_TOKEN = re.compile(r"\w+|^[ \t]*#[^\n]*|\S", re.M)  # a line of the preprocessor is one
_KEPT = re.compile(r"(?:tw_|TW_)\w*|u?int\d+_t|_Bool|[a-z]*size_t|ptrdiff_t|None|True|False")
_WORDS = frozenset(
    ("const", "long", "int", "short", "char", "double", "float", "unsigned", "signed", "void", "struct", "for", "if",
     "else", "continue", "break", "restrict", "sizeof", "static", "return", "volatile", "pragma", "omp")
)  # fmt: skip
made: set[str] = set()  # proven in this process


def block_key(text: str, wanted: object, given: object) -> str:
    """All that a proof of a product's block looks at, the same whatever the user's variables are called: the text, C
    texts of what is wanted of it, and what has no names in it. Where keys are equal, a renaming of names, each by one
    of its own, makes one text and what is wanted of it of the other."""
    names: dict[str, str] = {}
    read = _TOKEN.findall(_COMMENT.sub(" ", text))
    tokens = [*[_spaced(t) if "#" in t else t for t in read], "", *_TOKEN.findall(repr(wanted))]
    theirs = frozenset(filter(_is_theirs, frozenset(tokens)))
    for k in [k for k, t in enumerate(tokens) if t in theirs]:
        if tokens[k + 1 : k + 2] != ["("]:
            tokens[k] = names.setdefault(tokens[k], f"${len(names)}")
    return _digest(f"{' '.join(tokens)}\n{given}")


def _is_theirs(token: str) -> bool:
    """Is it a name that the user chose?"""
    return (token[:1].isalpha() or token[:1] == "_") and token not in _WORDS and not _KEPT.fullmatch(token)


def _spaced(token: str) -> str:
    """A directive without its indentation, which is the user's."""
    return " ".join(token.split()) if '"' not in token else token


def form_key(all_of_it: str) -> str:
    """The key of a block that was read, with elements wherever they lie (`blocked/elements.py`)."""
    return _digest(all_of_it)


def kernel_key(isa: object, kernel: object, text: str) -> str:
    """All that a proof of a kernel looks at."""
    return _digest(f"{_shown(isa)}\n{kernel}\n{text}")


@remember(16)
def _shown(isa: object) -> str:
    """All of an instruction set, which has many kernels."""
    return f"{isa}"


def is_proven(key: str) -> bool:
    return key in made or key in listed()


@cache
def listed() -> frozenset[str]:
    """What was proven by the proofs as they are; nothing where they have changed since."""
    return frozenset(_words()[1:]) if is_current() else frozenset()


def is_current() -> bool:
    """Was the list made by the proofs as they are?"""
    return _words()[:1] == [_proofs()]


def _words() -> list[str]:
    return LIST.read_text(encoding="ascii").split() if LIST.is_file() else []


def _proofs() -> str:
    """A digest of all that proves texts and makes them."""
    return digest(recorded())


def write(keys: Iterable[str]) -> None:
    LIST.parent.mkdir(exist_ok=True)
    SOURCES.write_text("\n".join(found()) + "\n", encoding="ascii")
    LIST.write_text("\n".join([_proofs(), *sorted(keys)]) + "\n", encoding="ascii")


def _digest(text: str) -> str:
    return blake2b(text.encode(), digest_size=16).hexdigest()
