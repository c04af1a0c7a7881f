"""The preprocessor that opens no file, beside gcc's: the same tokens on the same lines."""

from __future__ import annotations

import random
import re
import shutil
import subprocess

import pytest

from codegen.diagnostics import InputError
from codegen.source.preprocessor.headers import Compiler
from codegen.source.preprocessor.run import preprocessed

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="compares with gcc")
NAME = "t.c"
WORDS = ("gcc", "-E", "-x", "c", "-dD")
_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|\w+|\S')
_MARKER = re.compile(r'# (\d+) "(.*?)"')


def ours(text: str) -> str:
    return preprocessed(text, NAME, Compiler(WORDS, NAME))


def gcc(text: str) -> str | None:
    """What gcc prints; None for an error."""
    done = subprocess.run([*WORDS, "-"], input=f'# 1 "{NAME}"\n{text}'.encode(), capture_output=True, check=False)
    return done.stdout.decode() if done.returncode == 0 else None


def tokens(text: str) -> list[str]:
    return _TOKEN.findall("\n".join(line for line in text.split("\n") if not _MARKER.match(line)))


def places(text: str) -> list[tuple[int, str]]:
    """The tokens of the file itself with their lines."""
    out, line, here = [], 0, False
    for words in text.split("\n"):
        marker = _MARKER.match(words)
        if marker:
            line, here = int(marker[1]), marker[2] == NAME
            continue
        out += [(line, t) for t in _TOKEN.findall(words) if here and not words.startswith(("#define", "#undef"))]
        line += 1
    return out


def assert_same(text: str) -> None:
    theirs = gcc(text)
    assert theirs is not None
    assert tokens(ours(text)) == tokens(theirs)
    assert places(ours(text)) == places(theirs)


def test_the_examples_of_the_standard() -> None:
    assert_same("""\
#define x 3
#define f(a) f(x * (a))
#undef x
#define x 2
#define g f
#define z z[0]
#define h g(~
#define m(a) a(w)
#define w 0,1
#define t(a) a
#define p() int
#define q(x) x
#define r(x,y) x ## y
#define str(x) # x
f(y+1) + f(f(z)) % t(t(g)(0) + t)(1);
g(x+(3,4)-w) | h 5) & m
 (f)^m(m);
p() i[q()] = { q(1), r(2,3), r(4,), r(,5), r(,) };
char c[2][6] = { str(hello), str() };
#define t3(x,y,z) x ## y ## z
int j[] = { t3(1,2,3), t3(,4,5), t3(6,,7), t3(8,9,), t3(10,,), t3(,11,), t3(,,12), t3(,,) };
#define hash_hash # ## #
#define mkstr(a) # a
#define in_between(a) mkstr(a)
#define join(c, d) in_between(c hash_hash d)
char s[] = join(x, y);
#define xstr(s) str(s)
#define debug(s, t) printf("x" # s "= %d, x" # t "= %s", x ## s, x ## t)
debug(1, 2); fputs(str(strncmp("abc\\0d", "abc", '\\4') == 0) str(: @\\n), s);
xstr(i.j) r(x, 1)
""")


PROGRAMS = r"""#define E(fmt, args...) printf(fmt, ## args)
E(1); E(1,); E(1,2,3);
#define F(...) f(,##__VA_ARGS__)
F() F(1)
----
#define F(a,...) f(a __VA_OPT__(,) __VA_ARGS__)
#define E
F(1) F(1,2) F(1,E) F(1,)
----
#define F(a,...) a##__VA_OPT__(x y)##z
F(1) F(1,2)
----
#define EMPTY
#define D(id) id EMPTY
#define A() 123
#define X(...) __VA_ARGS__
D(A)() X(D(A)()) X(X(D(A)()))
----
#define foo() bar
foo
()
foo
#define next 1
() next
----
#define f(a) a*g
#define g(a) f(a)
f(2)(9) g(1)(2)(3)
----
#define self (s->self)
#define a b
#define b a
self a b
----
__LINE__ __COUNTER__
__COUNTER__ __FILE__ __INCLUDE_LEVEL__
#define L __LINE__
#define G(x) x L
G(
1
) L
----
#if 10/3*3==9 && 0x10u - 17 > 0 && 'a'==97 && '\n' == 10 && -1 > 0u && (2 || 1/0) && -7 / 2 == -3 && -7 % 2 == -1
yes
#elif 1/0
no
#endif
----
#if 0
#if 1/0
'
#else
#endif
#elif defined X || defined(__FILE__)
yes
#else
no
#endif
----
#if (1 ? 2 : 1/0) == 2 && ~0 == -1 && !0 && 1 << 3 >> 2 == 2 && 0xffffffffffffffff > 1 && 07 == 7 && 0b11 == 3
y
#endif
----
#define D defined X
#define X
#if D
yes
#endif
#ifdef Y
#elifdef X
elif
#endif
#ifndef X
#elifndef X
#else
x
#endif
----
#def\
ine sp\
liced 7\
7
spliced /* a
b */ c // d \
 e
f
%: define X(a) %:a
X(y) <: :> <% %>
----
L"x" u8"y" U'z' '\'' "\"" 0x1p-3f .5e+3 1..2 1e+x ... ->* a+++b x--->y # \ @ ` $a
----
#define P(a) -a
#define M -
-P(-1) -M- M- +M= P(=)
----
_Pragma("omp simd") a;
#define Q _Pragma("x \"y\"") b
Q c
#pragma  a   b
d
----
#define N(x) N2 x
#define N2(x) [x]
N((1)) N((N((2))))
----
#
#warning w
z
"""


@pytest.mark.parametrize("text", [*PROGRAMS.split("----\n"), "#def\\ \t\f\nine a b\\\v\nc\na\n"])
def test_as_gcc_does(text: str) -> None:
    assert_same(text)


def test_headers_are_those_of_the_compiler() -> None:
    text = """\
#include <stdio.h>
#define _GNU_SOURCE 1
#  include   <math.h>  /* c */
#include <assert.h>
#define NDEBUG
#define H <assert.h>
#include H
#define N 100
#if __has_include(<math.h>) && defined NDEBUG && defined(N) && defined EOF
x = M_PI; assert(x); y = N;
#endif
"""
    theirs = gcc(text)
    assert theirs is not None and tokens(ours(text)) == tokens(theirs)


@pytest.mark.parametrize(("text", "id"), [
    ("#include \"x.h\"\n", "not-here"), ("#include <unistd.h>\n", "not-here"), ("#embed <x>\n", "not-here"),
    ("#line 3 \"x\"\n", "not-here"), ("#define EOF 1\n#define int long\n#include <stdio.h>\n", "not-here"),
    ("#define _POSIX_C_SOURCE (1)\n#include <stdio.h>\n", "not-here"), ("#if 1\n", "preprocess-failed"),
    ("#endif\n", "preprocess-failed"), ("#if\n#endif\n", "preprocess-failed"),
    ("#if 1/0\n#endif\n", "preprocess-failed"),
    ("#error no\n", "preprocess-failed"), ("#define f(x) x\nf(1\n", "preprocess-failed"),
    ("#foo\n", "preprocess-failed"),
    ("#define f(x) x\nf(1,2)\n", "preprocess-failed"), ("#define f(a,b) a##b\nf(+,1)\n", "preprocess-failed"),
    ("#define f(x) #y\nf(1)\n", "preprocess-failed"), ("#define ## x\n", "preprocess-failed"),
    ("#define x ##\n", "preprocess-failed"), ("/* x\n", "preprocess-failed"), ('R"(x)"\n', "preprocess-failed"),
    ("#define __has_include(x) 1\n", "preprocess-failed"), ("#if 1 +\n#endif\n", "preprocess-failed"),
    ("#if __has_builtin(x)\n#endif\n", "preprocess-failed"), ("#pragma push_macro(\"x\")\n", "preprocess-failed"),
    ("#define f(x) x\nf(\n#undef f\n)\n", "preprocess-failed"), ("__DATE__\n", "preprocess-failed"),
])  # fmt: skip
def test_what_is_refused(text: str, id: str) -> None:
    with pytest.raises(InputError) as raised:
        ours(text)
    assert raised.value.id == id


def test_random_macros() -> None:
    """Object-like, function-like and variadic ones, that name each other, paste and quote."""
    compared = 0
    for seed in range(60):
        text = _program(random.Random(seed))
        theirs = gcc(text)
        if theirs is not None:
            assert tokens(ours(text)) == tokens(theirs), text
            compared += 1
    assert compared > 15


NAMES = tuple("fghxyzwv")


def _program(r: random.Random) -> str:
    arity = {n: r.choice([None, None, 0, 1, 1, 2, 2, 3, "v"]) for n in NAMES}

    def piece(params: list[str], depth: int = 0) -> str:
        kind = r.random()
        if kind < 0.3:
            return r.choice(NAMES)
        if kind < 0.6:
            return r.choice(params or ["1", "+", "EMPTY"])
        if kind < 0.68:
            return f"#{r.choice(params)}" if params else "..."
        if kind < 0.76:
            return f"{r.choice([*params, *NAMES])}##{r.choice([*params, *NAMES])}" if not depth else "k"
        return call(params, depth) if depth < 3 else "q"

    def call(params: list[str], depth: int) -> str:
        name = r.choice(NAMES)
        count = arity[name]
        wanted = r.randint(1, 3) if isinstance(count, str) else count or 0
        given = [" ".join(piece(params, depth + 1) for _ in range(r.randint(0, 2))) for _ in range(wanted)]
        return f"{name}{r.choice(['', ' '])}({', '.join(given)})"

    lines = ["#define EMPTY"]
    for name in NAMES[: r.randint(2, 8)]:
        count = arity[name]
        named = ["a", "b", "c"][: count if isinstance(count, int) else 1]
        params = [] if count is None else [*named, *(["__VA_ARGS__"] if count == "v" else [])]
        head = f"{name}({','.join(named)}{', ...' if count == 'v' else ''})" if count is not None else name
        body = [piece(params) for _ in range(r.randint(0, 5))] + (["q, ## __VA_ARGS__"] if count == "v" else [])
        lines.append(f"#define {head} {' '.join(body)}")
    lines += [" ".join(piece([]) for _ in range(r.randint(1, 6))) + r.choice(["", "", " (", "\n)", " (1)"])
              for _ in range(5)]
    return "\n".join(lines) + "\n"
