"""The integers that represent enums, compared with what compilers say."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from pycparser.c_parser import CParser

from codegen.frontend.syntax.declarators import build_type_table, enum_constants
from codegen.source.gnu import clean
from codegen.source.layout.enums import annotated, enum_types
from tests.compilers import with_openmp

BODIES = (
    "A", "A, B = 255", "A, B = 256", "A = -1, B = 127", "A = -1, B = 128", "A = -129", "A, B = 65535", "A, B = 65536",
    "A = -1, B = 0x7fffffff", "A = -1, B = 0x80000000", "A, B = 0xffffffff", "A, B = 0x100000000", "A = -(1LL << 40)",
    "A, B = 0x7fffffffffffffff", "A, B = 0xffffffffffffffff", "A = 'x', B = A * 3", "A = '\\\\', B = '\\101'",
    "A = ~0u", "A = -1u", "A = 1 ? 3 : 70000", "A = (char)65 + sizeof(long)", "A = 7 % 4 + -7 / 2, B = A << 3",
    "A = 3 < 5, B = !A, C = A && B || 1", "A = (unsigned char)300", "A = 0x80000000 / -2",
    "A = 1 << 30, B = A + (A - 1)",
)  # fmt: skip
FORMS = (
    "enum %s { %s };",
    "enum __attribute__((packed)) %s { %s };",
    "enum %s { %s, } __attribute__ ((unused, __packed__));"
)  # fmt: skip


def _names(k: int, body: str) -> str:
    """The body with enumerators of its own."""
    return "".join(f"{c}{k}" if c in "ABC" and "'" not in body[i - 1 : i] and body[i - 1 : i] != "x" else c
                   for i, c in enumerate(body))  # fmt: skip


DEFINITIONS = [(form, body) for form in FORMS for body in BODIES]
TEXT = "\n".join(form % (f"e{k}", _names(k, body)) for k, (form, body) in enumerate(DEFINITIONS))


def _as_read(short: bool) -> dict[str, tuple[int, bool]]:
    """By tag, the size in bytes and whether it is signed."""
    text, types = enum_types(TEXT)
    assert len(text) == len(TEXT)
    tree = annotated(CParser().parse(clean(text).text), types, short)
    found = {tag: build_type_table(tree).enum(node) for tag, node in build_type_table(tree).enums.items()}
    return {tag: (t.bits // 8, t.signed) for tag, t in found.items()}


@pytest.mark.parametrize("short", (False, True))
@pytest.mark.parametrize("compiler", with_openmp())
def test_as_compilers_choose(compiler: str, short: bool, tmp_path: Path) -> None:
    tags = [f"e{k}" for k in range(len(DEFINITIONS))]
    show = "".join(f'printf("{t} %d %d\\n", (int)sizeof(enum {t}), (enum {t})-1 < 0);' for t in tags)
    words = [compiler, "-w", "-xc", "-", "-o", tmp_path / "run", *(("-fshort-enums",) if short else ())]
    source = f"#include <stdio.h>\n{TEXT}\nint main(void) {{ {show} }}\n"
    subprocess.run(words, input=source, text=True, check=True)
    lines = subprocess.run([tmp_path / "run"], check=True, capture_output=True, text=True).stdout.splitlines()
    assert _as_read(short) == {tag: (int(size), signed != "0") for tag, size, signed in map(str.split, lines)}


def test_enumerators_of_type_int_are_constants() -> None:
    tree = CParser().parse("enum a { A, B = 7 }; enum b { C, D = 0xffffffff }; enum c { E = F }; int G;")
    assert enum_constants(tree) == {"A": 0, "B": 7}
