"""Translates C++ statements to C in place: casts, constants and names of the standard library respelled; raises NotC,
with the name of the construct, for what has no counterpart in C."""
from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress

from codegen.record import record
from codegen.source.cxx.declare import FUNDAMENTAL, QUALIFIERS, CxxDeclarator, Declaration, declaration
from codegen.source.cxx.prefix import STD
from codegen.source.cxx.refusal import NotC
from codegen.source.cxx.tokens import CxxToken, Tokens, angle_end, code, group_end, split_at
from codegen.source.edits import Edit

_WORDS = {"true": "1", "false": "0", "nullptr": "0", "constexpr": "const", "and": "&&", "or": "||", "not": "!",
          "not_eq": "!=", "bitand": "&", "bitor": "|", "xor": "^", "compl": "~", "and_eq": "&=", "or_eq": "|=",
          "xor_eq": "^="}
_CASTS = frozenset({"static_cast", "reinterpret_cast", "const_cast"})
_BEYOND = {
    "auto": "`auto`", "new": "`new`", "delete": "`delete`", "throw": "an exception", "try": "an exception handler",
    "catch": "an exception handler", "template": "a template", "typename": "a template", "operator": "an operator",
    "this": "`this`", "using": "`using`", "namespace": "`namespace`", "decltype": "`decltype`",
    "dynamic_cast": "`dynamic_cast`", "typeid": "`typeid`", "class": "a class", "mutable": "`mutable`",
    "co_await": "a coroutine", "co_yield": "a coroutine", "co_return": "a coroutine", "thread_local": "`thread_local`",
    "wchar_t": "`wchar_t`", "char8_t": "`char8_t`", "char16_t": "`char16_t`", "char32_t": "`char32_t`",
}
_HINTS = {"auto": "write the type", "this": "take a pointer to the member before the region",
          "new": "allocate before the region"}
_SIGNS = {"<=>": "the operator `<=>`", "->*": "a pointer to a member", ".*": "a pointer to a member",
          "...": "`...`"}
_NUMBER = re.compile(r"(?:0[xX][\da-fA-F.]+(?:[pP][+-]?\d+)?|0[bB][01]+|[\d.]+(?:[eE][+-]?\d+)?)([uUlLfF]*)$")
_OF_C = """break case const continue default do else enum extern for goto if register return sizeof static struct
switch typedef union volatile while inline __restrict __restrict__ __extension__ __attribute__ alignof _Alignof"""
_KEYWORDS = frozenset(_OF_C.split()) | FUNDAMENTAL
_BEFORE = "put its value into a variable before the region"
_ENDS = frozenset({";", "{", "}"})
_SETS = frozenset({"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "++", "--"})
_VALUES = frozenset({")", "]"})


@record
class NameLookup:
    """What a body asks about names: makes sure that a variable or type is declared, and says how C calls a function
    or a type with scopes before it."""

    use: Callable[[CxxToken, bool], None]  # and whether it is changed here
    call: Callable[[CxxToken], str]
    type: Callable[[Tokens], str]
    is_type: Callable[[str], bool]
    is_local: Callable[[str], bool]
    number: Callable[[Tokens], int | None]  # the value of a constant with scopes before it


class Body:
    """The translation of some statements. `own` are names that they declare; `edits` what changes in the text."""

    def __init__(self, found: Tokens, names: NameLookup, own: frozenset[str] = frozenset()) -> None:
        self.found = code(found)
        self.names = names
        self.own = set(own)
        self.edits: list[Edit] = []
        self.references: dict[str, int] = {}  # and where they are declared
        self.written: set[str] = set()  # variables, or memory that they lead to, that are changed
        self.skip: set[int] = set()
        self.index = {t.begin: k for k, t in enumerate(self.found)}

    def translate(self) -> list[Edit]:
        self._declarations()
        k = 0
        while k < len(self.found):
            k = self._token(k) if k not in self.skip else k + 1
        return sorted(self.edits, key=lambda e: (e.begin, e.end))

    # -- declarations ----------------------------------------------------------------------------------

    def _declarations(self) -> None:
        """Find them, so that their names are known, and give them C's form of values."""
        for k in range(len(self.found)):
            if self._is_start(k):
                made = declaration(self._statement(k), self._is_variable, self.names.is_type)
                if made is not None:
                    self._declaration(made)
            if self._text(k) == "for" and self._text(k + 1) == "(":
                self._loop(k + 1)

    def _is_variable(self, name: str) -> bool:
        return name in self.own or not self.names.is_type(name)

    def _is_start(self, k: int) -> bool:
        before = self._text(k - 1)
        if k == 0 or before in _ENDS or before in ("else", "do"):
            return True
        if before == "(":
            return self._text(k - 2) == "for"
        return before == ")" and self.found[k].kind == "word" and self._heads(k - 1)

    def _heads(self, close: int) -> bool:
        """Does the parenthesis end the header of a statement?"""
        depth = 0
        for k in range(close, -1, -1):
            depth += (self._text(k) == ")") - (self._text(k) == "(")
            if depth == 0:
                return self._text(k - 1) in ("for", "if", "while", "switch")
        return False

    def _statement(self, k: int) -> list[CxxToken]:
        end = k
        while end < len(self.found) and self._text(end) not in (";", ")", "}"):
            end = group_end(self.found, end) if self._text(end) in ("(", "[", "{") else end + 1
        return self.found[k:end]

    def _declaration(self, made: Declaration) -> None:
        for d in made.declarators:
            if d.is_reference:
                self._reference(d, made.has("const"))
            self.own.add(d.name.text)
            if d.style in ("{", "(") and d.value:
                first, last = self.index[d.value[0].begin] - 1, self.index[d.value[-1].begin] + 1
                opening, closing = ("= {", "}") if d.behind and d.style == "{" else ("= (", ")")
                self._edit(self.found[first], opening)
                self._edit(self.found[last], closing)
            elif d.style in ("{", "("):
                raise NotC(f"`{d.name.text}` has no value that C has a form for", d.name.begin, "write `= 0`")

    def _reference(self, d: CxxDeclarator, const: bool) -> None:
        """A name for an element is a pointer to it; a constant one for a value is a variable."""
        signs = [t for t in d.before if t.text in ("&", "&&")]
        if len(signs) != 1 or d.behind or d.round or d.style != "=" or d.name.text in self.own:
            raise NotC(f"`{d.name.text}` is a reference", d.name.begin, "use a pointer, or the element itself")
        if _is_element(d.value):
            self._edit(signs[0], "*")
            first, last = d.value[0].begin, d.value[-1].end
            self.edits += [Edit(first, first, "&("), Edit(last, last, ")")]
            self.references[d.name.text] = d.name.begin
        elif const:
            self._edit(signs[0], "")
        else:
            raise NotC(f"`{d.name.text}` is a reference", d.name.begin, "use a variable")

    def _loop(self, opening: int) -> None:
        inside = self.found[opening + 1 : group_end(self.found, opening) - 1]
        if len(split_at(inside, ";")) == 1:
            raise NotC("a loop over a range", self.found[opening].begin, "count with an index")

    # -- tokens ----------------------------------------------------------------------------------------

    def _token(self, k: int) -> int:
        t = self.found[k]
        if t.text in _SIGNS:
            raise NotC(f"{_SIGNS[t.text]} has no counterpart in C", t.begin)
        if t.text[0] == "'" and "sizeof" in (self._text(k - 1), self._text(k - 2)):
            raise NotC("the size of a character is 1 in C++", t.begin, "write 1")
        if t.kind == "text" and t.text[0] not in "\"'":
            raise NotC("a constant of another character set", t.begin)
        if t.kind == "number" and not _NUMBER.match(t.text):
            raise NotC(f"the constant `{t.text}` is of no C type", t.begin)
        if t.text == "[" and not self._is_value(k - 1):
            end = group_end(self.found, k)
            if self._text(k + 1) == "[":
                return end
            if self._text(end) in ("(", "{"):
                raise NotC("a lambda has no counterpart in C", t.begin, "write its statements in place of the call")
        if t.text == "::" or self._text(k + 1) == "::":
            return self._scoped(k)
        return self._word(k) if t.kind == "word" else k + 1

    def _word(self, k: int) -> int:
        t, following = self.found[k], self._text(k + 1)
        if t.text == "this" and following == "->" and self._text(k + 2) not in self.own:
            return self._own_member(k)
        if t.text in _BEYOND:
            raise NotC(f"{_BEYOND[t.text]} has no counterpart in C", t.begin, _HINTS.get(t.text, ""))
        if t.text in _WORDS:
            self._edit(t, _WORDS[t.text])
            return k + 1
        if t.text in _CASTS:
            return self._cast(k)
        if self._text(k - 1) in (".", "->") and self._text(k - 2) != "this":
            if following == "(":
                raise NotC(f"`{t.text}` is called as a function of an object", t.begin,
                           _BEFORE)
            return k + 1
        if following in ("(", "{") and self._is_expression(k) and (t.text in FUNDAMENTAL or self._names_type(t)):
            self._function_cast(k, k + 1, t.text)
            return k + 1
        if t.text == "__attribute__" and following == "(":
            return group_end(self.found, k + 1)
        if t.text in _KEYWORDS or t.text in QUALIFIERS or t.text.startswith("__builtin_"):
            return k + 1
        if t.text in self.own:
            if self.references.get(t.text, t.begin) != t.begin:
                self._edit(t, f"(*{t.text})")
            elif self.names.is_local(t.text):
                self._outer(t)
            return k + 1
        if following == "(":
            made = self.names.call(t)
            if made != t.text:
                self._edit(t, made)
        elif following == "<" and angle_end(self.found, k + 1) > 0 and self._text(angle_end(self.found, k + 1)) == "(":
            raise NotC(f"`{t.text}` is a template", t.begin, "write the expression it stands for")
        elif self._names_type(t):
            self.names.type([t])
        else:
            changed = self._changed(k)
            self.names.use(t, changed)
            if changed or self._changed(k, True):
                self.written.add(t.text)
        return k + 1

    def _outer(self, t: CxxToken) -> None:
        """A name that both the region and the function declare: the parser knows which is meant, if it sees both."""
        with suppress(NotC):  # then it sees the region's alone
            self.names.use(t, True)

    def _own_member(self, k: int) -> int:
        """this->x is x, unless that is something else."""
        member = self.found[k + 2]
        if self._text(k + 3) == "(" or self.names.is_local(member.text):
            raise NotC("`this` has no counterpart in C", self.found[k].begin, _HINTS["this"])
        self.edits.append(Edit(self.found[k].begin, self.found[k + 1].end, ""))
        return k + 2

    def _changed(self, k: int, elements: bool = False) -> bool:
        """Is the variable set here, or its address taken; or with `elements`, what it leads to?"""
        before, at = self._text(k - 1), k + 1
        if before in ("++", "--") or (before == "&" and not self._is_value(k - 2)):
            return True
        while self._text(at) == "." or (elements and self._text(at) in ("[", "->", ")")):
            at = group_end(self.found, at) if self._text(at) == "[" else at + 1 + (self._text(at) != ")")
        return self._text(at) in _SETS or (elements and before == "*" and not self._is_value(k - 2))

    def _names_type(self, t: CxxToken) -> bool:
        return t.text not in _KEYWORDS and t.text not in self.own and self.names.is_type(t.text)

    def _cast(self, k: int) -> int:
        end = angle_end(self.found, k + 1) if self._text(k + 1) == "<" else -1
        if end < 0 or self._text(end) != "(":
            raise NotC(f"`{self.found[k].text}` in a form that cannot be read", self.found[k].begin)
        kind = self._type_text(self.found[k + 2 : end - 1])
        self._replace(k, end, f"({kind})")
        return end

    def _type_text(self, found: Tokens) -> str:
        """A type with pointers behind it."""
        at = next((i for i, t in enumerate(found) if t.text in ("*", "&", "&&", "(", "[")), len(found))
        if any(t.text not in ("*", "const", "volatile", "__restrict") for t in found[at:]):
            raise NotC("a cast to a type that cannot be read", found[0].begin if found else 0)
        kind = [t for t in found[:at] if t.text not in QUALIFIERS]
        const = "const " if any(t.text == "const" for t in found[:at]) else ""
        pointers = "".join(f" {t.text}" for t in found[at:]).replace("__restrict", "restrict")
        return f"{const}{self.names.type(kind)}{pointers}"

    def _function_cast(self, k: int, opening: int, kind: str) -> None:
        """double(x) and double{x}, whose name begins at `k`."""
        end = group_end(self.found, opening)
        if end - opening == 2:
            raise NotC(f"`{kind}()` has no counterpart in C", self.found[k].begin, "write 0")
        if kind not in FUNDAMENTAL:
            self.names.type(self.found[k:opening])
        self._replace(k, opening, f"({kind})")
        if self._text(opening) == "{":
            self._edit(self.found[opening], "(")
            self._edit(self.found[end - 1], ")")

    def _scoped(self, k: int) -> int:
        """A name with scopes before it: a function of the standard library, or a type."""
        end = k + (self._text(k) == "::")
        while self._text(end + 1) == "::":
            end += 2
        if end >= len(self.found) or self.found[end].kind != "word":
            raise NotC("a name that cannot be read", self.found[k].begin)
        path, name = [t.text for t in self.found[k:end] if t.kind == "word"], self.found[end]
        following = self._text(end + 1)
        if path == ["std"] and following == "(" and not self._is_scoped_type(k, end):
            self._replace(k, end + 1, STD + name.text)
            return end + 1
        if path == ["std"] and following == "<":
            return self._chosen(k, end)
        if not path and following == "(":
            self._replace(k, end + 1, self.names.call(name))
            return end + 1
        if following in ("(", "{") and self._is_expression(k):
            self._function_cast(k, end + 1, self.names.type(self.found[k : end + 1]))
            return end + 1
        if self._is_scoped_type(k, end):
            self._replace(k, end + 1, self.names.type(self.found[k : end + 1]))
            return end + 1
        value = self.names.number(self.found[k : end + 1])
        if value is not None:
            self._replace(k, end + 1, f"({value})")
            return end + 1
        whole = "".join(t.text for t in self.found[k : end + 1])
        raise NotC(f"`{whole}` is a name of another scope", self.found[k].begin,
                   _BEFORE)

    def _is_scoped_type(self, k: int, end: int) -> bool:
        try:
            self.names.type(self.found[k : end + 1])
        except NotC:
            return False
        return True

    def _chosen(self, k: int, end: int) -> int:
        """std::max<double>(a, b): both arguments are converted."""
        close = angle_end(self.found, end + 1)
        if close < 0 or self._text(close) != "(":
            whole = "".join(t.text for t in self.found[k : max(close, end + 1)])
            raise NotC(f"`{whole}` is a template", self.found[k].begin, _BEFORE)
        kind = self._type_text(self.found[end + 2 : close - 1])
        self._replace(k, close, STD + self.found[end].text)
        for part in filter(None, split_at(self.found[close + 1 : group_end(self.found, close) - 1], ",")):
            self.edits += [Edit(part[0].begin, part[0].begin, f"({kind})("), Edit(part[-1].end, part[-1].end, ")")]
        return close

    # -- helpers ---------------------------------------------------------------------------------------

    def _text(self, k: int) -> str:
        return self.found[k].text if 0 <= k < len(self.found) else ""

    def _is_value(self, k: int) -> bool:
        """Does a value end here, so that a bracket behind it is a subscript?"""
        if k < 0:
            return False
        t = self.found[k]
        word = t.kind == "word" and t.text not in ("return", "else")
        return word or t.text in _VALUES or t.kind in ("number", "text")

    def _is_expression(self, k: int) -> bool:
        """Is it inside an expression, where the name of a type is a conversion?"""
        declares = k > 0 and self.found[k - 1].kind == "word" and self._text(k - 1) not in ("return", "case")
        return not self._is_start(k) and not declares

    def _edit(self, t: CxxToken, new: str) -> None:
        self.edits.append(Edit(t.begin, t.end, new))
        self.skip.add(self.index[t.begin])

    def _replace(self, first: int, after: int, new: str) -> None:
        self.edits.append(Edit(self.found[first].begin, self.found[after - 1].end, new))


def _is_element(found: Tokens) -> bool:
    """Is it a variable, an element or a member: a name with subscripts and members behind it?"""
    k = 1 if found and found[0].kind == "word" else len(found) + 1
    while k < len(found):
        if found[k].text == "[":
            k = group_end(found, k)
        elif found[k].text in (".", "->") and k + 1 < len(found) and found[k + 1].kind == "word":
            k += 2
        else:
            return False
    return k == len(found)


def edited(text: str, begin: int, end: int, edits: Sequence[Edit]) -> str:
    """text[begin:end] with edits; lines stay lines."""
    parts: list[str] = []
    at = begin
    for e in edits:
        parts += [text[at : e.begin], e.new, "\n" * text.count("\n", e.begin, e.end)]
        at = e.end
    return "".join([*parts, text[at:end]])
