"""Cutting preprocessed text into declarations, and taking compiler extensions out of it."""
from __future__ import annotations

import time

import pytest

from codegen.source.gnu import beyond, clean, is_pure
from codegen.source.layout.chunks import declarations, split
from codegen.source.layout.lexis import without_separators
from codegen.source.layout.statements import enclosing

CASES = [
    ("typedef int (*fn)(int, void (*)(int));", {"fn"}),
    ("void (*signal(int s, void (*h)(int)))(int);", {"signal", "h"}),
    ("struct __attribute__((packed)) foo { int a; struct bar { int b; } c[3]; } g1, *g2;", {"foo", "bar", "g1", "g2"}),
    ("enum e { A, B = 3, C };", {"e", "A", "B", "C"}),
    ("int x __attribute__((aligned(8))) = 4, *y[10];", {"x", "y"}),
    ("static double M[10][20] = {{1,2},{3}};", {"M"}),
    ("int (f)(int a);", {"f"}),
    ("int old(a, b) int a; double b; { return a; }", {"old", "a", "b"}),
    ('extern int z asm("zz");', {"z"}),
    ("extern inline size_t __attribute__((pure)) len(const char *s) { return 0; }", {"len"}),
    ("typedef struct { int q; } T, *PT;", {"T", "PT"}),
    ("double (*mat)[100];", {"mat"}),
    ("char *s = \"a;b({\", c = '{', *r = \"})\";", {"s", "c", "r"}),
    ("struct pt p = (struct pt){1};", {"p"}),
]


def test_split_and_names() -> None:
    text = '# 1 "a.c"\n#pragma x "\n' + '\n# 7 "b.h" 3\n'.join(case for case, _ in CASES) + "\n\n  "
    chunks = split(text)
    assert [text[c.begin:c.end] for c in chunks] == [case for case, _ in CASES]
    assert declarations(text, chunks) == [names for _, names in CASES]
    assert [c.body >= 0 for c in chunks] == ["{ return" in case for case, _ in CASES]


def test_split_takes_linear_time_on_text_without_end() -> None:
    begin = time.perf_counter()
    split("int x\n# 1 \"a\"\n 'c' \"s\" " * 3000)
    assert time.perf_counter() - begin < 2


@pytest.mark.parametrize(("before", "after"), [
    ("int f(char *__restrict p) __attribute__((nonnull(1)));", "int f(char *restrict   p)" + " " * 28 + ";"),
    ("__extension__ typedef long long L;", "              typedef long long L;"),
    ("__inline__ int f(void);", "inline     int f(void);"),
    ("[[nodiscard]] int a[b[0]];", "              int a[b[0]];"),
    ('int f() __asm__ ("x;(");', "int f()                ;"),
    ('char *s = "__inline__";', 'char *s = "__inline__";'),
    ("__attribute__((\n# 3 \"a.h\"\nx)) int y;", " " * 15 + "\n# 3 \"a.h\"\n    int y;"),
    ("typedef float v4 __attribute__((vector_size(16)));", "typedef float v4 __attribute__((vector_size(16)));"),
])
def test_clean_moves_nothing(before: str, after: str) -> None:
    assert clean(before).text == after
    assert len(after) == len(before)


def test_clean_leaves_the_region_alone_and_says_what_it_hid() -> None:
    text = 'asm volatile ("" : "=r"(x)); asm("nop");'
    cut = text.index("asm(")
    cleaned = clean(text, (cut, len(text)))
    assert cleaned.text == " " * (cut - 2) + '; asm("nop");'
    assert "x" in cleaned.hidden
    assert beyond(text, cut, len(text)) == (cut, "assembler")
    assert beyond("a = ({ 1; });", 0, 13) == (4, "a statement expression")
    assert beyond("a = (int[]){ 1 }[asm_];", 0, 20) is None


@pytest.mark.parametrize(("head", "pure"), [
    ("int f(int) __attribute__((const));", True), ("int f(int) __attribute__ ((__nothrow__ , __pure__));", False),
    ("[[gnu::const]] int f(int);", True), ("const char *f(int) __attribute__((nonnull));", False),
    ("int f(const int *) __attribute__((format(printf, 1, 2)));", False)])
def test_pure(head: str, pure: bool) -> None:
    assert is_pure(head) is pure


def test_digit_separators() -> None:
    assert without_separators("x = 1'000'000u + 0xF'F; c = u8'a', d = '1';") == (
        "x = 1000000u   + 0xFF ; c = u8'a', d = '1';")


@pytest.mark.parametrize(("text", "spans"), [
    ("a; b = @; c;", ["b = @;"]),
    ("a;\n#pragma endscop\n b = @; c;", ["b = @;"]),
    ("for (i = 0; i < 3; i++) { x; @y; } z;", ["@y;", "for (i = 0; i < 3; i++) { x; @y; }"]),
    ("int a[] = { 1, @ }; z;", ["1, @ ", "int a[] = { 1, @ };"]),
    ("x = ({ @; }); z;", ["@;", "x = ({ @; });"]),
    ("do { @; } while (x); z;", ["@;", "do { @; } while (x);"]),
    ("if (a) { b; } @ c; d;", ["@ c;"]),
    ("l: { x; out@: }", ["out@: ", "l: { x; out@: }"]),
])
def test_enclosing_statements(text: str, spans: list[str]) -> None:
    assert [text[b:e] for b, e in enclosing(text, 0, len(text), text.index("@"))] == spans
