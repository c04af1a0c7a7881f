"""Parses printed C into a tree of nodes: the few kinds of statements and expressions that templates use. Raises Unread
for everything else.

A name in parentheses is a type where what follows cannot follow a value, so that types of the user's need no list. What
the tool prints of the user's expressions is compared with other text that was read the same way.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from codegen.verify.poly import Unread as Unread


class Node(NamedTuple):
    """An expression or a statement. `text` is its operator, name, number or type."""

    kind: str
    text: str = ""
    kids: tuple[Node, ...] = ()


class ParsedFunction(NamedTuple):
    """A function's name, its parameters with their types, and its body."""

    name: str
    parameters: tuple[str, ...]
    body: tuple[Node, ...]
    types: dict[str, str]


NOTHING = Node("nothing")
_TOKEN = re.compile(
    r"(?:\s|/\*.*?\*/|//[^\n]*)*(?:(#[^\n]*)"
    r"|([A-Za-z_]\w*)|((?:0[xX][0-9a-fA-F]+|\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)[uUlLfF]*)"
    r'|("(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\')'
    r"|(<<=|>>=|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|[-+*/%&|^~!<>=?:;,.(){}\[\]])|\Z)",
    re.S,
)
_KINDS = ("", "line", "name", "number", "string", "sign")
_END = ("sign", ";")
_WORDS = frozenset(
    ("const", "long", "int", "short", "char", "double", "float", "unsigned", "signed", "void", "struct", "_Bool",
     "volatile")
)
_LEVELS = {
    "||": 1, "&&": 2, "|": 3, "^": 4, "&": 5, "==": 6, "!=": 6, "<": 7, ">": 7, "<=": 7, ">=": 7,
    "<<": 8, ">>": 8, "+": 9, "-": 9, "*": 10, "/": 10, "%": 10,
}  # fmt: skip
_ASSIGN = frozenset(("=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^="))
# Macros that say something to the compiler and compute nothing.
_SILENT = frozenset(("TW_SIMD", "TW_IVDEP", "TW_LITERAL", "TW_UNROLL", "TW_STEPS"))


def read_statements(text: str, types: frozenset[str] = frozenset()) -> tuple[Node, ...]:
    """The statements of a text, to its end."""
    r = _Reader(text, types)
    found = []
    while r.kind != "end":
        found.append(r.statement())
    return tuple(found)


def read_expression(text: str, types: frozenset[str] = frozenset()) -> Node:
    r = _Reader(text, types)
    found = r.expression()
    if r.kind != "end":
        raise Unread(f"`{r.text}` behind an expression")
    return found


def read_function(text: str, types: frozenset[str] = frozenset()) -> ParsedFunction:
    """Name, parameters and body of a function; what stands before its name says nothing about values."""
    head = re.search(r"\b(\w+)\(([^()]*)\)\s*\{", text)
    if head is None:
        raise Unread("no function")
    declared = re.findall(r"\s*([^,]*?)\s*\b(\w+)\s*(?:,|$)", head[2])
    body = text[head.end() :].rstrip()
    if not body.endswith("}"):
        raise Unread("the function has no end")
    parameters = tuple(name for _, name in declared)
    return ParsedFunction(head[1], parameters, read_statements(body[:-1], types),
                          {name: kind for kind, name in declared})


def read_functions(text: str, types: frozenset[str] = frozenset()) -> list[ParsedFunction]:
    """All functions of a text, one behind the other; each ends with a brace at the beginning of a line."""
    return [read_function(part + "\n}", types) for part in re.split(r"^\}$", text, flags=re.M)[:-1]]


def nodes(node: Node) -> list[Node]:
    """The node and all below it."""
    found = [node]
    for n in found:
        found.extend(n.kids)
    return found


def pointee(kind: str) -> str:
    """What a pointer's type points to, constant or not; empty for other types, and for pointers to pointers."""
    words = [x for x in kind.replace("*", " * ").split() if x not in ("const", "restrict")]
    return " ".join(words[:-1]) if words.count("*") == 1 and words[-1] == "*" else ""


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    at = 0
    for m in _TOKEN.finditer(text):
        start, end = m.span()
        if start != at:
            break
        at = end
        kind = m.lastindex
        if kind is not None:
            word = m[kind]
            if word not in _SILENT:
                yield _KINDS[kind], word
    if at != len(text):
        raise Unread(f"`{text[at : at + 10]}`")
    yield "end", ""


class _Reader:
    def __init__(self, text: str, types: frozenset[str]) -> None:
        self.tokens = list(_tokens(text))
        self.types = types | _WORDS
        self.read: dict[tuple[tuple[str, str], ...], Node] = {}  # simple statements, which printed code repeats
        self.at = 0
        self.kind, self.text = self.tokens[0]

    def next(self) -> str:
        was = self.text
        self.at += 1
        self.kind, self.text = self.tokens[self.at]
        return was

    def peek(self, ahead: int = 1) -> tuple[str, str]:
        return self.tokens[min(self.at + ahead, len(self.tokens) - 1)]

    def expect(self, text: str) -> None:
        if self.text != text:
            raise Unread(f"`{self.text}` in place of `{text}`")
        self.next()

    def accept(self, text: str) -> bool:
        if self.text != text or self.kind == "string":
            return False
        self.next()
        return True

    # -- statements --------------------------------------------------------------------------------

    def statement(self) -> Node:
        if self.kind == "line":
            return Node("line", " ".join(self.next().split()))
        if self.accept(";"):
            return Node("block")
        if self.accept("{"):
            return Node("block", "", self._until_brace())
        if self.accept("for"):
            return self._for()
        if self.accept("if"):
            self.expect("(")
            cond = self.expression()
            self.expect(")")
            then = self.statement()
            return Node("if", "", (cond, then, self.statement() if self.accept("else") else NOTHING))
        if self.text in ("continue", "break"):
            word = self.next()
            self.expect(";")
            return Node(word)
        if self.accept("return"):
            value = NOTHING if self.text == ";" else self.expression()
            self.expect(";")
            return Node("return", "", (value,))
        end = self._past_semicolon()
        words = tuple(self.tokens[self.at : end])
        if words not in self.read:
            self.read[words] = self._simple()
            if self.at != end:
                raise Unread(f"`{self.text}` in a statement")
        self.at = end
        self.kind, self.text = self.tokens[end]
        return self.read[words]

    def _past_semicolon(self) -> int:
        try:
            return self.tokens.index(_END, self.at) + 1
        except ValueError:
            raise Unread("a statement without an end") from None

    def _simple(self) -> Node:
        """A declaration or an expression, up to its semicolon."""
        if self._declares():
            return self._declaration()
        found = self._list()
        self.expect(";")
        return Node("do", "", (found,))

    def _until_brace(self) -> tuple[Node, ...]:
        found = []
        while not self.accept("}"):
            if self.kind == "end":
                raise Unread("a block without an end")
            found.append(self.statement())
        return tuple(found)

    def _for(self) -> Node:
        self.expect("(")
        first = self.statement()
        cond = NOTHING if self.text == ";" else self.expression()
        self.expect(";")
        step = NOTHING if self.text == ")" else self._list()
        self.expect(")")
        return Node("for", "", (first, cond, step, self.statement()))

    def _declares(self) -> bool:
        if self.kind != "name":
            return False
        (kind, text), (name, after) = self.peek(), self.peek(2)
        if self.text in self.types or kind == "name":
            return True
        # Nothing is assigned to a product: `T *x = ...` declares.
        return text == "*" and (after == "const" or (name == "name" and self.peek(3)[1] == "="))

    def _declaration(self) -> Node:
        """Several names of one type: a node for each, in a `several` node."""
        base = self._type_words()
        found = []
        while True:
            stars = ""
            while self.text in ("*", "const", "restrict"):
                stars += self.next()
            rows = self.accept("(")  # a pointer to rows
            while rows and self.text in ("*", "const"):
                stars += self.next()
            name, sizes = self.next(), []
            if rows:
                self.expect(")")
            while self.accept("["):
                sizes.append(self.expression())
                self.expect("]")
            value = self._initializer() if self.accept("=") else NOTHING
            found.append(Node("declare", name, (Node("type", base + stars), Node("sizes", "", tuple(sizes)), value)))
            if not self.accept(","):
                break
        self.expect(";")
        return found[0] if len(found) == 1 else Node("several", "", tuple(found))

    def _type_words(self) -> str:
        words = [self.next()]
        while self.kind == "name" and (self.text in self.types or words == ["const"]):
            words.append(self.next())
        return " ".join(words)

    def _initializer(self) -> Node:
        return self._braces() if self.text == "{" else self.assignment()

    def _braces(self) -> Node:
        self.expect("{")
        found = []
        while not self.accept("}"):
            found.append(self._initializer())
            self.accept(",")
        return Node("braces", "", tuple(found))

    # -- expressions -------------------------------------------------------------------------------

    def _list(self) -> Node:
        first = self.assignment()
        if self.text != ",":
            return first
        found = [first]
        while self.accept(","):
            found.append(self.assignment())
        return Node("comma", "", tuple(found))

    def assignment(self) -> Node:
        left = self.expression()
        if self.kind == "sign" and self.text in _ASSIGN:
            op = self.next()
            return Node("assign", op, (left, self.assignment()))
        return left

    def expression(self) -> Node:
        cond = self._binary(1)
        if not self.accept("?"):
            return cond
        then = self.expression()
        self.expect(":")
        return Node("choose", "", (cond, then, self.expression()))

    def _binary(self, level: int) -> Node:
        left = self._unary()
        while self.kind == "sign":
            mine = _LEVELS.get(self.text, 0)
            if mine < level:
                break
            op = self.next()
            left = Node("binary", op, (left, self._binary(mine + 1)))
        return left

    def _unary(self) -> Node:
        if self.kind == "sign":
            if self.text in ("-", "+", "!", "~", "*", "&", "++", "--"):
                op = self.next()
                return Node("unary", op, (self._unary(),))
            if self.text == "(" and self._casts():
                self.next()
                name = self._type_name()
                self.expect(")")
                return Node("cast", name, (self._braces() if self.text == "{" else self._unary(),))
        if self.text == "sizeof":
            self.next()
            if self.text == "(" and self._casts(True):
                self.next()
                name = self._type_name()
                self.expect(")")
                return Node("sizeof", name)
            return Node("sizeof", "", (self._unary(),))
        return self._postfix()

    def _casts(self, sure: bool = False) -> bool:
        """Do parentheses that begin here hold a type?"""
        kind, text = self.peek()
        if kind != "name":
            return False
        if text in self.types:
            return True
        (_, after), (kind, text) = self.peek(2), self.peek(3)
        if after == "*":
            return text in (")", "*", "const")
        return after == ")" and (sure or kind in ("name", "number") or text in ("(", "{", "~"))

    def _type_name(self) -> str:
        words = []
        while self.kind == "name" or self.text == "*":
            words.append(self.next())
        if self.accept("["):  # of an array
            words.append(f"[{self.next()}]")
            self.expect("]")
        return " ".join(words)

    def _postfix(self) -> Node:
        e = self._primary()
        while self.kind == "sign":
            if self.accept("["):
                e = Node("index", "", (e, self.expression()))
                self.expect("]")
            elif self.text == "(" and e.kind == "name":
                e = Node("call", e.text, self._arguments())
            elif self.text in (".", "->"):
                op = self.next()
                e = Node("member", op, (e, Node("name", self.next())))
            elif self.text in ("++", "--"):
                e = Node("after", self.next(), (e,))
            else:
                break
        return e

    def _arguments(self) -> tuple[Node, ...]:
        self.expect("(")
        found = []
        while not self.accept(")"):
            found.append(self.assignment())
            if self.text != ")":
                self.expect(",")
        return tuple(found)

    def _primary(self) -> Node:
        if self.accept("("):
            e = self._list()
            self.expect(")")
            return e
        if self.kind == "name":
            return Node("name", self.next())
        if self.kind in ("number", "string"):
            return Node("number" if self.kind == "number" else "string", self.next())
        raise Unread(f"`{self.text}` in an expression")
