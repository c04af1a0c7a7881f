"""Macros and their expansion (`Expander`), step by step as gcc does it, so that the cases that the C standard leaves
open come out the same, too.

A macro is disabled while tokens of its expansion are still to be read; a name that is met meanwhile stays as it is.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field

from codegen.diagnostics import InputError, Loc
from codegen.record import mutable, record
from codegen.source.preprocessor.tokens import EMPTY, MARK, NAME, STRING, Token, single, spelled, tokens_of

MOST = 500_000  # tokens that one text may expand to
REST = "__VA_ARGS__"
CHOICE = "__VA_OPT__"


@record
class Macro:
    """A definition; `parameters` is None for a macro without arguments. If `variadic`, the last takes the rest."""

    name: str
    parameters: tuple[str, ...] | None
    body: tuple[Token, ...]
    variadic: bool = False

    def text(self) -> str:
        """As -dD prints it."""
        head = self.name
        if self.parameters is not None:
            shown = list(self.parameters)
            if self.variadic:
                shown[-1] = "..." if shown[-1] == REST else f"{shown[-1]}..."
            head += f"({','.join(shown)})"
        return f"#define {head} {spelled([t._replace(text=t.meaning) for t in self.body])}".rstrip()


@mutable
class _Context:
    """Tokens that are read next. `macro` is disabled until they have been; `last`: reading ends here."""

    tokens: Sequence[Token]
    macro: str = ""
    last: bool = False
    at: int = 0


@mutable
class Expander:
    """Expands tokens with the macros of `table`. `dynamic` gives the tokens of names such as __LINE__, None for others;
    `error` makes the error of a line."""

    table: dict[str, Macro]
    dynamic: Callable[[Token], list[Token] | None]
    name: str
    stack: list[_Context] = field(default_factory=list)
    disabled: set[str] = field(default_factory=set)
    keeping: int = 0  # more than 0: tokens are read without being expanded
    count: int = 0

    def expanded(self, tokens: Sequence[Token]) -> list[Token]:
        """All that comes of these tokens, by themselves."""
        self.begin(tokens)
        out: list[Token] = []
        while (token := self.next()) is not None:
            out.append(token)
        self.stack.pop()
        return out

    def begin(self, tokens: Sequence[Token]) -> None:
        """Let `next` read these tokens."""
        self.stack.append(_Context(tokens, last=True))

    def next(self) -> Token | None:
        """The next token after expansion; None at the end of those that were begun."""
        while True:
            token = self._read()
            if token is None or token.kind != NAME or token.blocked:
                return token
            macro = self.table.get(token.text)
            if macro is not None and macro.name in self.disabled:
                return token._replace(blocked=True)
            if self.keeping:
                return token
            found = self.dynamic(token) if macro is None else self._entered(macro, token)
            if found is None:
                return token
            self._push(found, macro.name if macro is not None else "")

    def _read(self) -> Token | None:
        while True:
            context = self.stack[-1]
            if context.at < len(context.tokens):
                context.at += 1
                return context.tokens[context.at - 1]
            if context.last:
                return None
            self.stack.pop()
            self.disabled.discard(context.macro)

    def _push(self, tokens: list[Token], macro: str) -> None:
        self.count += len(tokens) + 1
        if self.count > MOST:
            raise InputError("limit-passed", f"macros expand to more than {MOST:,} tokens", Loc(self.name))
        self.stack.append(_Context(tokens, macro))
        if macro:
            self.disabled.add(macro)

    def _entered(self, macro: Macro, token: Token) -> list[Token] | None:
        """The expansion of a macro at a name; None where the name is no call."""
        if macro.parameters is None:
            return self._placed(_pasted(list(macro.body), self._error(token)), token)
        if not self._opens():
            return None
        arguments = self._arguments(macro, token)
        return self._placed(_Substitution(self, macro, arguments, token).done(), token)

    def _placed(self, tokens: list[Token], at: Token) -> list[Token]:
        """Tokens on the line of the name that they replace, and with its space ahead of the first."""
        out = [t._replace(line=at.line) for t in tokens if t.kind != EMPTY]
        if out:
            out[0] = out[0]._replace(space=at.space)
        return out

    def _opens(self) -> bool:
        """Whether the next token is an opening parenthesis, which is read then. Contexts that end before it are over,
        whichever token it is."""
        while True:
            context = self.stack[-1]
            if context.at < len(context.tokens):
                opening = context.tokens[context.at].text == "("
                context.at += opening
                return opening
            if context.last:
                return False
            self.stack.pop()
            self.disabled.discard(context.macro)

    def _arguments(self, macro: Macro, name: Token) -> list[list[Token]]:
        """The arguments of a call, unexpanded, its parenthesis having been read."""
        assert macro.parameters is not None
        out: list[list[Token]] = [[]]
        depth = 0
        self.keeping += 1
        while True:
            token = self.next()
            if token is None:
                raise self._error(name)(f"the call of macro `{macro.name}` has no end, or a directive inside it")
            rest = macro.variadic and len(out) >= len(macro.parameters)
            if depth == 0 and token.text == ")":
                break
            if depth == 0 and token.text == "," and not rest:
                out.append([])
                continue
            depth += (token.text == "(") - (token.text == ")")
            out[-1].append(token)
        self.keeping -= 1
        self._check(macro, out, name)
        return out

    def _check(self, macro: Macro, found: list[list[Token]], name: Token) -> None:
        assert macro.parameters is not None
        wanted = len(macro.parameters)
        if wanted == 0 and found == [[]]:
            found.clear()
        if len(found) == wanted or (macro.variadic and len(found) == wanted - 1):
            return
        raise self._error(name)(f"macro `{macro.name}` takes {wanted} argument(s) and is given {len(found)}")

    def _error(self, token: Token) -> Callable[[str], InputError]:
        return lambda words: InputError("preprocess-failed", words, Loc(self.name, token.line))


class _Substitution:
    """One call: the body with arguments in place of parameters."""

    def __init__(self, expander: Expander, macro: Macro, arguments: list[list[Token]], call: Token) -> None:
        self.expander, self.macro, self.call = expander, macro, call
        names = macro.parameters or ()
        # What the rest was left out of takes a comma before it away: `, ## __VA_ARGS__`.
        self.left_out = macro.variadic and (len(arguments) < len(names) or (len(names) == 1 and not arguments[0]))
        self.given = dict(zip(names, [*arguments, []], strict=False))
        self.full: dict[str, list[Token]] = {}

    def done(self) -> list[Token]:
        """The replacement of the call."""
        return self._replaced(list(self.macro.body))

    def _replaced(self, body: list[Token]) -> list[Token]:
        out: list[Token] = []
        at, paste = 0, False
        while at < len(body):
            token = body[at]
            if _is_paste(token) and at and at + 1 < len(body):
                paste, at = True, at + 1
                continue
            pastes_next = at + 1 < len(body) and _is_paste(body[at + 1])
            piece, at = self._operand(body, at, paste or pastes_next)
            if paste and self._takes_comma(out, token):
                if self.left_out:
                    out.pop()
                out += piece if not self.left_out else []
            elif paste:
                out[-1:] = self._joined(out[-1:], piece)
            else:
                out += piece
            paste = False
        return out

    def _operand(self, body: list[Token], at: int, raw: bool) -> tuple[list[Token], int]:
        """What stands at a place of the body, and the place after it."""
        token = body[at]
        if token.meaning == "#" and token.kind == MARK and at + 1 < len(body):
            if body[at + 1].text in self.given:
                return [_quoted(self.given[body[at + 1].text], token)], at + 2
            if self.macro.parameters is not None:
                raise self._error("`#` is not followed by a parameter")
        if token.text == CHOICE and self.macro.variadic:
            end = _closing(body, at + 1)
            if end < 0:
                raise self._error(f"`{CHOICE}` needs parentheses")
            kept = self._replaced(body[at + 2 : end]) if self._expanded((self.macro.parameters or ("",))[-1]) else []
            return _spaced(kept, token), end + 1
        if token.text in self.given and token.kind == NAME:
            return _spaced(self.given[token.text] if raw else self._expanded(token.text), token), at + 1
        return [token], at + 1

    def _takes_comma(self, out: list[Token], token: Token) -> bool:
        """Whether this is `, ## rest`."""
        last = (self.macro.parameters or ("",))[-1]
        return self.macro.variadic and token.text == last and bool(out) and out[-1].text == ","

    def _expanded(self, name: str) -> list[Token]:
        if name not in self.full:
            self.full[name] = self.expander.expanded(self.given[name])
        return self.full[name]

    def _joined(self, left: list[Token], right: list[Token]) -> list[Token]:
        return _paste(left[-1], right[0], self._error) + right[1:] if left and right else left + right

    def _error(self, words: str) -> InputError:
        return InputError("preprocess-failed", f"in macro `{self.macro.name}`: {words}",
                          Loc(self.expander.name, self.call.line))


def _is_paste(token: Token) -> bool:
    return token.kind == MARK and token.meaning == "##"


def _spaced(tokens: list[Token], like: Token) -> list[Token]:
    """Tokens with the space of what they replace ahead; never none, so that ## has an operand."""
    if not tokens:
        return [Token(EMPTY, "", like.space, like.line)]
    return [tokens[0]._replace(space=like.space), *tokens[1:]]


def _pasted(body: list[Token], error: Callable[[str], InputError]) -> list[Token]:
    """The body of a macro without arguments, with its ## carried out."""
    out: list[Token] = []
    at = 0
    while at < len(body):
        if _is_paste(body[at]) and out and at + 1 < len(body):
            out[-1:] = _paste(out[-1], body[at + 1], error)
            at += 2
        else:
            out.append(body[at])
            at += 1
    return out


def _paste(left: Token, right: Token, error: Callable[[str], InputError]) -> list[Token]:
    if right.kind == EMPTY:
        return [left]
    if left.kind == EMPTY:
        return [right._replace(space=left.space)]
    found = single(left.text + right.text)
    if found is None:
        raise error(f"pasting `{left.text}` and `{right.text}` gives no valid token")
    kind = "other" if found[1] in ("##", "%:%:") else found[0]  # no operator any more
    return [Token(kind, found[1], left.space, left.line)]


def _quoted(tokens: list[Token], at: Token) -> Token:
    """The string that `#` makes of an argument."""
    words: list[str] = []
    for t in tokens:
        inside = t.text.replace("\\", "\\\\").replace('"', '\\"') if t.kind in (STRING, "char") else t.text
        words.append((" " if t.space and words else "") + inside)
    return Token(STRING, f'"{"".join(words)}"', at.space, at.line)


def _closing(body: list[Token], at: int) -> int:
    """The place of the parenthesis that closes the one at `at`; -1 where there is none."""
    depth = 0
    for place in range(at, len(body)):
        depth += (body[place].text == "(") - (body[place].text == ")")
        if depth <= 0:
            return place if place > at else -1
    return -1


def macro_of(text: str) -> Macro | None:
    """The macro of what follows `#define` in a text of gcc's own; None where it is none."""
    tokens = tokens_of(text)
    return defined(tokens, lambda words: InputError("preprocess-failed", words, Loc(""))) if tokens else None


def defined(tokens: list[Token], error: Callable[[str], InputError]) -> Macro:
    """The macro that the tokens after `define` make."""
    if not tokens or tokens[0].kind != NAME or tokens[0].text == "defined":
        raise error("a macro needs a name")
    name, rest = tokens[0].text, tokens[1:]
    if not rest or rest[0].text != "(" or rest[0].space:
        return Macro(name, None, _body(rest, (), error))
    closing = next((i for i, t in enumerate(rest) if t.text == ")"), -1)
    if closing < 0:
        raise error(f"the parameters of macro `{name}` have no end")
    parameters, variadic = _parameters(rest[1:closing], name, error)
    return Macro(name, parameters, _body(rest[closing + 1 :], parameters, error), variadic)


def _parameters(
    tokens: list[Token], name: str, error: Callable[[str], InputError]
) -> tuple[tuple[str, ...], bool]:
    words = " ".join(t.text for t in tokens)
    found = [p.strip() for p in words.split(",")] if words else []
    variadic = bool(found) and found[-1].endswith("...")
    if variadic:
        found[-1] = found[-1].removesuffix("...").strip() or REST
    names = [t.text for t in tokens if t.kind == NAME] + ([REST] if variadic and found[-1] == REST else [])
    if found != names or len(set(found)) != len(found):
        raise error(f"the parameters of macro `{name}` are no list of names")
    return tuple(found), variadic


def _body(
    tokens: list[Token], parameters: tuple[str, ...], error: Callable[[str], InputError]
) -> tuple[Token, ...]:
    if tokens and (_is_paste(tokens[0]) or _is_paste(tokens[-1])):
        raise error("`##` cannot be at an end of a macro")
    if REST in (t.text for t in tokens) and REST not in parameters:
        raise error(f"`{REST}` is for macros that take any number of arguments")
    return tuple(tokens)
