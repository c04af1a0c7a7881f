"""What flags, pragmas and attributes make of C: the last word counts, and the compiler is asked where it can tell."""

from __future__ import annotations

import re

import pytest

from codegen.options import CppOptions, GenOptions
from codegen.scop.dialect import Dialect
from codegen.source.dialect.facts import dialect_of
from codegen.source.dialect.flags import FLAGS, HARMLESS, MODELLED, REFUSED
from codegen.source_file import open_source

NEST = """\
void f(int n, double *a)
{
#pragma scop
  for (int i = 0; i < n; i++)
    a[i] = 0;
#pragma endscop
}
"""
FLAG_FOR = {  # one word for each fact that refuses a region
    "traps": "-ftrapv",
    "call_exceptions": "-fnon-call-exceptions",
    "rounding": "-frounding-math",
    "exceptions": "-ftrapping-math",
    "signaling_nans": "-fsignaling-nans",
    "extended_precision": "-mfpmath=387",
    "single_constants": "-fsingle-precision-constant",
    "packed": "-fpack-struct=1",
    "other_charset": "-fexec-charset=IBM1047",
    "other_byte_order": "-fsso-struct=big-endian",
    "before_c99": "-std=c90",
    "other_long_double": "-mlong-double-64",
}


def _read(flags: str) -> Dialect:
    return dialect_of(flags.split(), {})


def _dialect(text: str, *flags: str) -> Dialect:
    (s,) = open_source("-", text, GenOptions(cpp=CppOptions(args=flags))).slices
    return s.dialect


@pytest.mark.parametrize(
    ("flags", "fact", "value"),
    [
        ("", "wraps", False),
        ("-fwrapv", "wraps", True),
        ("-fwrapv -fno-wrapv", "wraps", False),
        ("-fno-strict-overflow", "wraps", True),
        ("-fno-strict-overflow -fstrict-overflow", "wraps", False),
        ("-fwrapv -ftrapv", "wraps", False),
        ("-ftrapv -fwrapv", "wraps", True),
        ("-fno-strict-aliasing", "typed_memory", False),
        ("-fno-strict-aliasing -O2 -fstrict-aliasing", "typed_memory", True),
        ("-fshort-enums", "short_enums", True),
        ("-fshort-enums -fno-short-enums", "short_enums", False),
        ("-ffreestanding", "known_library", False),
        ("-fno-builtin -fbuiltin", "known_library", True),
        ("-fno-math-errno", "math_errno", False),
        ("-Ofast", "math_errno", False),
        ("-Ofast -fmath-errno", "math_errno", True),
        ("-fno-finite-loops", "finite_loops", False),
        ("-m32", "narrow", True),
        ("-mx32 -m64", "narrow", False),
        ("-fopenmp", "openmp", True),
        ("-fopenmp=libomp -fno-openmp", "openmp", False),
    ],
)
def test_the_last_word_counts(flags: str, fact: str, value: bool) -> None:
    assert getattr(_read(flags), fact) is value


def test_functions_are_unknown_by_name() -> None:
    assert _read("-fno-builtin-sqrt -fno-builtin-exp -fbuiltin-exp").unknown == {"sqrt"}


@pytest.mark.parametrize("fact", REFUSED)
def test_what_is_refused_has_a_flag(fact: str) -> None:
    (refused,) = _read(FLAG_FOR[fact]).refused
    assert refused.flag == FLAG_FOR[fact]
    assert (refused.why, refused.hint) == REFUSED[fact]


@pytest.mark.parametrize("flags", ["-ftrapv -fwrapv", "-ftrapv -fno-trapv", "-frounding-math -fno-rounding-math",
                                   "-ftrapping-math -Ofast", "-fpack-struct -fno-pack-struct",
                                   "-mfpmath=387 -mfpmath=sse", "-fpack-struct=8", "-fexec-charset=UTF-8",
                                   "-ansi -std=gnu11", "-std=c89 -std=c99"])  # fmt: skip
def test_refusals_are_taken_back(flags: str) -> None:
    assert not _read(flags).refused


def test_one_fact_takes_back_no_other() -> None:
    assert [r.flag for r in _read("-frounding-math -fno-trapping-math").refused] == ["-frounding-math"]


def test_facts_are_in_the_tables() -> None:
    assert {f for flag in FLAGS for f in flag.sets} == MODELLED.keys() | REFUSED.keys()


@pytest.mark.parametrize("words", ["-Ofast", "-ffast-math", "-ffinite-math-only", "-fassociative-math",
                                   "-fsanitize=undefined", "-O2", "-std=c99", "-funsigned-char", "-fsigned-bitfields",
                                   "-fshort-wchar", "-ffloat-store", "-fwrapv-pointer",
                                   "-fno-delete-null-pointer-checks", "-fopenmp-simd"])  # fmt: skip
def test_what_is_harmless_is_said(words: str) -> None:
    assert not _read(words).refused
    known = [*HARMLESS, *(flag.words for flag in FLAGS)]
    assert any(re.fullmatch(p, words) for p in known)


def test_the_compiler_is_asked() -> None:
    assert dialect_of(["-mfpmath=387"], {"__FLT_EVAL_METHOD__": "0"}).refused == ()
    assert dialect_of([], {"__SIZEOF_LONG__": "4"}).narrow
    (refused,) = dialect_of([], {"__FLT_EVAL_METHOD__": "2"}).refused
    assert refused.flag == "__FLT_EVAL_METHOD__=2"
    assert not _dialect(NEST, "-ffast-math").math_errno
    assert _dialect(NEST, "-ffast-math", "-fmath-errno").math_errno
    assert not _dialect(NEST, "-ffreestanding").known_library
    assert _dialect(NEST, "-fopenmp").openmp


@pytest.mark.parametrize(
    ("before", "wraps"),
    [
        ('#pragma GCC optimize ("wrapv")', True),
        ('#pragma GCC optimize "O3,-fwrapv"', True),
        ('_Pragma("GCC optimize (\\"wrapv\\")")', True),
        ('#pragma GCC push_options\n#pragma GCC optimize ("wrapv")\n#pragma GCC pop_options', False),
        ('#pragma GCC optimize ("wrapv")\n#pragma GCC reset_options', False),
        ('#pragma GCC optimize ("O3")', False),
        ('__attribute__((optimize("wrapv"))) void f(int n, double *a);', True),
        ("__attribute__((__optimize__(3))) void f(int n, double *a);", False),
    ],
)
def test_pragmas_and_attributes_are_flags(before: str, wraps: bool) -> None:
    assert _dialect(f"{before}\n{NEST}").wraps is wraps


def test_attributes_take_nothing_back() -> None:
    text = f'__attribute__((optimize("no-wrapv"))) void g(void);\n{NEST}'
    assert _dialect(text, "-fwrapv").wraps


def test_pragmas_count_from_where_they_are() -> None:
    assert not _dialect(f'{NEST}#pragma GCC optimize ("wrapv")\n').wraps


@pytest.mark.parametrize("before", ["#pragma STDC FENV_ACCESS ON", '_Pragma("STDC FENV_ACCESS ON")',
                                    "#pragma clang fp exceptions(strict)", "#pragma float_control(except, on)"])
def test_what_changes_the_arithmetic_is_refused(before: str) -> None:
    assert _dialect(f"{before}\n{NEST}").refused


def test_types_that_may_alias() -> None:
    assert not _dialect(f"typedef int any __attribute__((may_alias));\n{NEST}").typed_memory
    assert _dialect(f"#include <immintrin.h>\n{NEST}").typed_memory
