"""Evaluates the conditions of `#if` (`holds`): arithmetic of intmax_t and uintmax_t, `defined`, and `__has_include` of
headers that a text may include."""
from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from codegen.diagnostics import InputError
from codegen.source.preprocessor.macros import Expander
from codegen.source.preprocessor.tokens import CHAR, NAME, NUMBER, Token

BITS = 64
DEPTH = 100  # parentheses and operators within each other
_LEVELS = (("||",), ("&&",), ("|",), ("^",), ("&",), ("==", "!="), ("<", "<=", ">", ">="), ("<<", ">>"), ("+", "-"),
           ("*", "/", "%"))  # fmt: skip
_INTEGER = re.compile(r"(0[xX][0-9a-fA-F]+|0[bB][01]+|0[0-7]*|[1-9][0-9]*)([uU]?(?:ll|LL|[lL])?[uU]?)")
_ESCAPES = {"n": 10, "t": 9, "r": 13, "a": 7, "b": 8, "f": 12, "v": 11, "e": 27, "E": 27}
_CHARACTER = re.compile(r"\\(?:x([0-9a-fA-F]+)|([0-7]{1,3})|([^\n]))|(.)", re.S)


class Value(NamedTuple):
    """A number, and whether it is unsigned."""

    number: int
    unsigned: bool = False


def _wrapped(number: int, unsigned: bool) -> Value:
    low = number & (1 << BITS) - 1
    return Value(low if unsigned or low < 1 << (BITS - 1) else low - (1 << BITS), unsigned)


class Condition:
    """Reads one condition. `has_include` answers for the text between its parentheses."""

    def __init__(self, expander: Expander, known: Callable[[str], bool], has_include: Callable[[str], bool],
                 error: Callable[[str], InputError]) -> None:
        self.expander, self.known, self.has_include, self.error = expander, known, has_include, error
        self.token: Token | None = None
        self.depth = 0

    def holds(self, tokens: list[Token]) -> bool:
        """Whether the condition that these tokens are is true."""
        self.expander.begin(tokens)
        self._next()
        if self.token is None:
            raise self.error("`#if` without a condition")
        value = self._choice(True)
        if self.token is not None:
            raise self.error(f"`{self.token.text}` is not expected in a condition")
        self.expander.stack.pop()
        return value.number != 0

    def _next(self, expand: bool = True) -> None:
        self.expander.keeping += not expand
        self.token = self.expander.next()
        self.expander.keeping -= not expand

    def _takes(self, *words: str) -> str:
        if self.token is None or self.token.meaning not in words or self.token.kind in (CHAR, NUMBER):
            return ""
        word = self.token.meaning
        self._next()
        return word

    def _choice(self, counts: bool) -> Value:
        """A conditional expression; one that does not `count` is read only, and may divide by zero."""
        self.depth += 1
        if self.depth > DEPTH:
            raise self.error(f"a condition with more than {DEPTH} levels")
        value = self._binary(0, counts)
        if self._takes("?"):
            yes = self._choice(counts and value.number != 0)
            if not self._takes(":"):
                raise self.error("`?` without `:` in a condition")
            no = self._choice(counts and value.number == 0)
            unsigned = yes.unsigned or no.unsigned
            value = _wrapped(yes.number if value.number else no.number, unsigned)
        self.depth -= 1
        return value

    def _binary(self, level: int, counts: bool) -> Value:
        if level == len(_LEVELS):
            return self._unary(counts)
        left = self._binary(level + 1, counts)
        while word := self._takes(*_LEVELS[level]):
            skipped = (word == "||" and left.number != 0) or (word == "&&" and left.number == 0)
            right = self._binary(level + 1, counts and not skipped)
            left = self._computed(word, left, right, counts)
        return left

    def _computed(self, word: str, left: Value, right: Value, counts: bool) -> Value:
        if word in ("||", "&&"):
            both = (left.number != 0, right.number != 0)
            return Value(int(any(both) if word == "||" else all(both)))
        if word in ("<<", ">>"):
            return self._shifted(left, right.number if word == "<<" else -right.number)
        unsigned = left.unsigned or right.unsigned
        a, b = _wrapped(left.number, unsigned).number, _wrapped(right.number, unsigned).number
        if word in ("/", "%"):
            if b == 0:
                if counts:
                    raise self.error("division by zero in `#if`")
                return Value(0, unsigned)
            quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
            return _wrapped(quotient if word == "/" else a - quotient * b, unsigned)
        compared = {"==": a == b, "!=": a != b, "<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}
        if word in compared:
            return Value(int(compared[word]))
        return _wrapped({"+": a + b, "-": a - b, "*": a * b, "&": a & b, "|": a | b, "^": a ^ b}[word], unsigned)

    def _shifted(self, value: Value, by: int) -> Value:
        by = max(-BITS, min(BITS, by))
        return _wrapped(value.number << by if by >= 0 else value.number >> -by, value.unsigned)

    def _unary(self, counts: bool) -> Value:
        word = self._takes("+", "-", "!", "~", "(")
        if not word:
            return self._primary()
        self.depth += 1
        if self.depth > DEPTH:
            raise self.error(f"a condition with more than {DEPTH} levels")
        if word == "(":
            value = self._choice(counts)
            if not self._takes(")"):
                raise self.error("`(` without `)` in a condition")
        else:
            found = self._unary(counts)
            value = {"+": found, "-": _wrapped(-found.number, found.unsigned), "!": Value(int(found.number == 0)),
                     "~": _wrapped(~found.number, found.unsigned)}[word]  # fmt: skip
        self.depth -= 1
        return value

    def _primary(self) -> Value:
        token = self.token
        if token is None:
            raise self.error("the condition ends too early")
        if token.kind == NAME and token.text == "defined":
            return self._defined()
        if token.kind == NAME and token.text == "__has_include":
            return self._included()
        if token.kind == NAME and token.text.startswith("__has_"):
            raise self.error(f"`{token.text}` is not answered here")
        self._next()
        if token.kind == NAME:
            return Value(0)
        if token.kind == NUMBER:
            return self._integer(token.text)
        if token.kind == CHAR:
            return self._character(token.text)
        raise self.error(f"`{token.text}` is not expected in a condition")

    def _defined(self) -> Value:
        self._next(expand=False)
        opened = self.token is not None and self.token.text == "("
        if opened:
            self._next(expand=False)
        if self.token is None or self.token.kind != NAME:
            raise self.error("`defined` without a name")
        value = Value(int(self.known(self.token.text)))
        self._next(expand=not opened)
        if opened and not self._takes(")"):
            raise self.error("`defined(` without `)`")
        return value

    def _included(self) -> Value:
        self._next(expand=False)
        words, opened = [], self.token is not None and self.token.text == "("
        self._next()
        while opened and self.token is not None and self.token.text != ")":
            words.append(self.token.text)
            self._next()
        if not opened or not self._takes(")"):
            raise self.error("`__has_include` without parentheses")
        return Value(int(self.has_include("".join(words))))

    def _integer(self, text: str) -> Value:
        m = _INTEGER.fullmatch(text)
        if m is None:
            raise self.error(f"`{text}` is no integer")
        if len(text) > 80:
            raise self.error("an integer is too large for its type")
        digits = m[1]
        base = {"0x": 16, "0b": 2}.get(digits[:2].lower(), 8 if digits[0] == "0" else 10)
        number = int(digits[2:] if base in (2, 16) else digits, base)
        if number >= 1 << BITS:
            raise self.error("an integer is too large for its type")
        return Value(number, "u" in m[2].lower() or number >= 1 << (BITS - 1))

    def _character(self, text: str) -> Value:
        body = text[text.index("'") + 1 : -1]
        found = _CHARACTER.findall(body)
        if len(found) != 1 or not text.startswith("'") or not text.isascii():
            raise self.error(f"the character constant {text} is not read here")
        hexadecimal, octal, escaped, plain = found[0]
        if hexadecimal or octal:
            number = int(hexadecimal or octal, 16 if hexadecimal else 8)
        elif escaped:
            number = _ESCAPES.get(escaped, ord(escaped))
        else:
            number = ord(plain)
        if number > 127:
            raise self.error(f"the character constant {text} is not read here")
        return Value(number)
