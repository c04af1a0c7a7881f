"""Preprocesses C text in this process (`preprocessed`). Directives name no file but headers of the C library, which
come from the compiler (`headers.py`). The result looks as gcc prints it with -E -dD."""
from __future__ import annotations

import re
from collections.abc import Callable
from typing import NoReturn

from codegen.diagnostics import InputError, Loc
from codegen.source.layout.linemap import quote
from codegen.source.preprocessor.conditions import Condition
from codegen.source.preprocessor.headers import FEATURE_VALUE, FEATURES, HEADERS, Compiler, error_at
from codegen.source.preprocessor.macros import Expander, Macro, defined, macro_of
from codegen.source.preprocessor.tokens import MARK, NAME, STRING, Token, lines_of, spelled, tokens_of, would_merge

HINT = "only `#include <...>` of headers of the C library is read here; write the declarations out, or use the command"
_NO_MACRO = frozenset({"__DATE__", "__TIME__", "__TIMESTAMP__"})
_DYNAMIC = frozenset({"__FILE__", "__BASE_FILE__", "__LINE__", "__COUNTER__", "__INCLUDE_LEVEL__"})
_HAS = frozenset({"__has_include", "__has_attribute", "__has_builtin", "__has_c_attribute"})
_RESERVED = _NO_MACRO | _DYNAMIC | _HAS | {"_Pragma"}
_CONDITIONALS = frozenset({"if", "ifdef", "ifndef", "elif", "elifdef", "elifndef", "else", "endif"})
_IGNORED = frozenset({"warning", "ident", "sccs"})
_WORD = re.compile(r"[A-Za-z_]\w*")


def preprocessed(text: str, name: str, compiler: Compiler) -> str:
    """The preprocessed text of the file `name`, with line markers and the definitions of macros."""
    try:
        return _Run(name, compiler).done(text)
    except RecursionError:
        raise InputError("limit-passed", "macros are called within each other too deeply", Loc(name)) from None


class _Group:
    """A conditional that is open: whether its branch counts, whether one was taken, whether `#else` has been seen."""

    def __init__(self, counts: bool, outer: bool) -> None:
        self.counts, self.taken, self.outer, self.last = counts and outer, counts, outer, False


class _Run:
    def __init__(self, name: str, compiler: Compiler) -> None:
        self.name, self.compiler = name, compiler
        self.table: dict[str, Macro] = {}
        self.out: list[str] = []
        self.line = 1  # that is being printed
        self.moved = 0  # added to physical lines by a line marker of the text
        self.before: list[str] = []  # what headers have seen
        self.own: dict[str, None] = {}  # macros that the text defined
        self.groups: list[_Group] = []
        self.counter = 0
        self.expander = Expander(self.table, self._dynamic, name)

    def done(self, text: str) -> str:
        self._take(self.compiler.prelude())
        self.out.append(f"# 1 {quote(self.name)}\n")
        if "__STRICT_ANSI__" in self.table and "??" in text:
            raise InputError("not-here", "there is `??`, which may be a trigraph", Loc(self.name),
                             "write the character itself")
        waiting: list[Token] = []
        for tokens in lines_of(text, self.name):
            tokens = [t._replace(line=t.line + self.moved) for t in tokens] if self.moved else tokens
            if tokens[0].kind == MARK and tokens[0].meaning == "#":
                self._print(self.expander.expanded(waiting))
                waiting = []
                self._directive(tokens[1:], tokens[0].line)
            elif self._counts():
                if waiting and not tokens[0].space:
                    tokens[0] = tokens[0]._replace(space=True)
                waiting += tokens
        self._print(self.expander.expanded(waiting))
        if self.groups:
            raise self._error(self.line)("a conditional has no `#endif`")
        return "".join([*self.out, "\n"])

    def _counts(self) -> bool:
        return not self.groups or self.groups[-1].counts

    def _error(self, line: int) -> Callable[[str], InputError]:
        return error_at(self.name, line)

    def _refuse(self, words: str, line: int) -> NoReturn:
        raise InputError("not-here", words, Loc(self.name, line), HINT)

    # printing

    def _sync(self, line: int) -> None:
        """Go to a line."""
        if line < self.line:
            self.out.append(f"\n# {line} {quote(self.name)}\n")
        else:
            self.out.append("\n" * (line - self.line))
        self.line = line

    def _print(self, tokens: list[Token]) -> None:
        at, fresh, before = 0, True, ""
        while at < len(tokens):
            t = tokens[at]
            if t.kind == NAME and t.text == "_Pragma":
                at = self._pragma_operator(tokens, at)
                fresh = True
                continue
            if t.line > self.line:
                self._sync(t.line)
                fresh = True
            if not fresh and (t.space or would_merge(before, t.text)):
                self.out.append(" ")
            elif fresh and t.text == "#":
                self.out.append(" ")  # no directive
            self.out.append(t.text)
            fresh, before, at = False, t.text, at + 1

    def _pragma_operator(self, tokens: list[Token], at: int) -> int:
        """Print `_Pragma("...")` as the directive that it is, and return the place after it."""
        call = tokens[at : at + 4]
        if [t.text for t in call[1::2]] != ["(", ")"] or call[2].kind != STRING:
            raise self._error(tokens[at].line)("`_Pragma` takes one string in parentheses")
        self._sync(max(self.line, tokens[at].line))
        body = re.sub(r'\\(["\\])', r"\1", call[2].text[call[2].text.index('"') + 1 : -1])
        marker = f"# {self.line} {quote(self.name)}\n"
        self._pragma(tokens_of(body), self.line, f"\n{marker}#pragma {body}\n{marker}")
        return at + 4

    # directives

    def _directive(self, tokens: list[Token], line: int) -> None:
        word = tokens[0].text if tokens else ""
        if word in _CONDITIONALS:
            self._conditional(word, tokens[1:], line)
        elif not tokens or not self._counts():
            return
        elif word in ("define", "undef"):
            self._definition(word, tokens[1:], line)
        elif word == "include":
            self._include(tokens[1:], line)
        elif word == "pragma":
            self._sync(line)
            self._pragma(tokens[1:], line, f"#pragma {spelled(tokens[1:])}")
        elif word == "line" or tokens[0].kind == "number":
            self._renumber(tokens, line)
        elif word == "error":
            raise self._error(line)(f"#error {spelled(tokens[1:])}")
        elif word in ("include_next", "import", "embed"):
            self._refuse(f"`#{word}` names a file", line)
        elif word not in _IGNORED:
            raise self._error(line)(f"`#{word}` is no directive that is known here")

    def _conditional(self, word: str, tokens: list[Token], line: int) -> None:
        error = self._error(line)
        if word.startswith("if"):
            outer = self._counts()
            self.groups.append(_Group(outer and self._asked(word[2:], tokens, line), outer))
            return
        if not self.groups:
            raise error(f"`#{word}` without `#if`")
        group = self.groups[-1]
        if word == "endif":
            self.groups.pop()
            return
        if group.last:
            raise error(f"`#{word}` after `#else`")
        group.last = word == "else"
        asked = group.outer and not group.taken
        group.counts = asked and (word == "else" or self._asked(word[4:], tokens, line))
        group.taken = group.taken or group.counts

    def _asked(self, kind: str, tokens: list[Token], line: int) -> bool:
        """The answer to a condition; `kind` is empty, def or ndef."""
        error = self._error(line)
        if kind:
            if not tokens or tokens[0].kind != NAME:
                raise error(f"`#if{kind}` without a name")
            return self._known(tokens[0].text) == (kind == "def")
        self.expander.disabled.clear()
        return Condition(self.expander, self._known, HEADERS.__contains__, error).holds(tokens)

    def _known(self, name: str) -> bool:
        return name in self.table or name in _RESERVED - {"_Pragma"}

    def _definition(self, word: str, tokens: list[Token], line: int) -> None:
        error = self._error(line)
        if not tokens or tokens[0].kind != NAME:
            raise error(f"`#{word}` without a name")
        name = tokens[0].text
        if name in _RESERVED or name == "defined":
            raise error(f"`{name}` cannot be defined or undefined")
        self._sync(line)
        if word == "define":
            macro = self.table[name] = defined(tokens, error)
            self.own[name] = None
            self.out.append(macro.text())
            self._feature(macro, line)
        else:
            self.table.pop(name, None)
            self.own.pop(name, None)
            self.out.append(f"#undef {name}")
            if name in FEATURES:
                self.before.append(f"#undef {name}")

    def _feature(self, macro: Macro, line: int) -> None:
        """Let headers see a macro that they ask for."""
        if macro.name not in FEATURES:
            return
        value = spelled(list(macro.body))
        if macro.parameters is not None or not FEATURE_VALUE.fullmatch(value):
            self._refuse(f"headers cannot be asked with this `{macro.name}`", line)
        self.before += [f"#undef {macro.name}", f"#define {macro.name} {value}".rstrip()]

    def _include(self, tokens: list[Token], line: int) -> None:
        named = "".join(t.text for t in tokens)
        if named not in HEADERS:
            named = "".join(t.text for t in self.expander.expanded(tokens))
        if named not in HEADERS:
            self._refuse("`#include` names a file", line)
        chunk = self.compiler.header(tuple(self.before), named)
        self.before.append(f"#include {named}")
        self._check_words(chunk, named, line)
        self._sync(line)
        self._take(chunk)
        self.line = line + 1
        self.out.append(f"# {self.line} {quote(self.name)} 2\n")

    def _check_words(self, chunk: str, header: str, line: int) -> None:
        """A header that uses a macro of the text would be another one."""
        words = set(_WORD.findall(re.sub(r"^#.*$", "", chunk, flags=re.M)))
        clash = next((n for n in self.own if n in words and n not in FEATURES), None)
        if clash is not None:
            self._refuse(f"{header} uses the word `{clash}`, which is a macro here: include it before", line)

    def _take(self, chunk: str) -> None:
        """Print what the compiler made of a header, and learn its macros."""
        self.out.append(chunk if chunk.endswith("\n") else f"{chunk}\n")
        for m in re.finditer(r"^#(define|undef) (\S.*)$", chunk, re.M):
            if m[1] == "undef":
                self.table.pop(m[2].strip(), None)
            elif (macro := macro_of(m[2])) is not None:
                self.table[macro.name] = macro

    def _pragma(self, tokens: list[Token], line: int, text: str) -> None:
        words = [t.text for t in tokens]
        if words[:1] in (["push_macro"], ["pop_macro"]):
            raise self._error(line)(f"`#pragma {words[0]}` is not read here")
        self.out.append(text)

    def _renumber(self, tokens: list[Token], line: int) -> None:
        """A line marker of this very file, as other parts of the tool put them in."""
        words = tokens[1:] if tokens[0].text == "line" else tokens
        known = len(words) == 2 and words[1].text == quote(self.name) and words[0].text.isdecimal()
        if not known or not words[0].text.isascii() or len(words[0].text) > 9:
            self._refuse("`#line` names a file", line)
        number = int(words[0].text)
        self.moved += number - line - 1
        self.line = number
        self.out.append(f"\n# {number} {quote(self.name)}\n")

    def _dynamic(self, token: Token) -> list[Token] | None:
        """The tokens of a macro that the preprocessor itself defines."""
        if token.text not in _DYNAMIC:
            if token.text in _NO_MACRO:
                raise self._error(token.line)(f"`{token.text}` is not read here")
            return None
        if token.text == "__COUNTER__":
            self.counter += 1
        values = {"__LINE__": token.line, "__COUNTER__": self.counter - 1, "__INCLUDE_LEVEL__": 0}
        value = values.get(token.text)
        return tokens_of(quote(self.name), token.line) if value is None else [
            Token("number", str(value), token.space, token.line)]
