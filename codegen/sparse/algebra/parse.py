"""Parser (`Reader`) of integer expressions, chains of comparisons, sets and relations, for format descriptors and
kernels' index notation; raises located errors."""
from __future__ import annotations

from codegen.diagnostics import Loc
from codegen.sparse.algebra.expr import Call, Exp, atom, div, mod, num, product, var
from codegen.sparse.algebra.lexer import Token, bad, tokens
from codegen.sparse.algebra.relation import Constraint, Relation, equal

_COMPARE = ("<=", "<", ">=", ">", "=")


class Reader:
    """A cursor over tokens; every method reads one thing or raises a located error."""

    def __init__(self, name: str, text: str) -> None:
        self.text = text
        self.tokens = tokens(name, text)
        self.at = 0

    @property
    def here(self) -> Token:
        return self.tokens[self.at]

    @property
    def loc(self) -> Loc:
        return self.here.loc

    def peek(self, *words: str) -> bool:
        return self.here.kind != "end" and self.here.text in words

    def accept(self, *words: str) -> str | None:
        if not self.peek(*words):
            return None
        self.at += 1
        return self.tokens[self.at - 1].text

    def expect(self, word: str, why: str = "") -> Token:
        if self.accept(word) is None:
            raise bad(f"expected '{word}'{why}, found '{self.here.text}'", self.loc)
        return self.tokens[self.at - 1]

    def ident(self, what: str) -> str:
        if self.here.kind != "word":
            raise bad(f"expected {what}, found '{self.here.text}'", self.loc)
        self.at += 1
        return self.tokens[self.at - 1].text

    def integer(self, what: str) -> int:
        sign = -1 if self.accept("-") else 1
        if self.here.kind != "num":
            raise bad(f"expected {what}, found '{self.here.text}'", self.loc)
        self.at += 1
        return sign * int(self.tokens[self.at - 1].text)

    def exp(self) -> Exp:
        out = self._term() * -1 if self.accept("-") else self._term()
        while self.peek("+", "-"):
            minus = self.accept("+", "-") == "-"
            out = out - self._term() if minus else out + self._term()
        return out

    def _term(self) -> Exp:
        out = self._atom()
        while True:
            if self.accept("*"):
                out = product(out, self._atom())
            elif self.peek("div", "mod"):
                word = self.ident("div")
                loc = self.loc
                by = self.integer("a positive literal to divide by")
                if by < 1:
                    raise bad("only positive literals divide", loc)
                out = div(out, by) if word == "div" else mod(out, by)
            elif self.here.kind == "word" and self._touches() and self.tokens[self.at - 1].kind == "num":
                out = product(out, self._atom())  # 2x
            else:
                return out

    def _touches(self) -> bool:
        return self.tokens[self.at - 1].stop == self.here.start

    def _atom(self) -> Exp:
        if self.here.kind == "num":
            return num(self.integer("a number"))
        if self.accept("("):
            out = self.exp()
            self.expect(")")
            return out
        id = self.ident("an expression")
        if not self.accept("("):
            return var(id)
        args = [self.exp()]
        while self.accept(","):
            args.append(self.exp())
        self.expect(")", f" after the arguments of {id}")
        return atom(Call(id, tuple(args)))

    def chain(self) -> tuple[Constraint, ...]:
        """a <= b < c, one constraint for each sign."""
        out: list[Constraint] = []
        left = self.exp()
        while True:
            sign = self.accept(*_COMPARE)
            if sign is None:
                if not out:
                    raise bad(f"expected a comparison, found '{self.here.text}'", self.loc)
                return tuple(out)
            right = self.exp()
            out.append(compare(left, sign, right))
            left = right

    def tuple_(self, taken: tuple[str, ...] = ()) -> tuple[tuple[str, ...], tuple[Constraint, ...]]:
        """[a, b+1]: names; an expression or a name that is taken becomes a fresh name with an equality."""
        self.expect("[")
        names: list[str] = []
        cons: list[Constraint] = []
        while not self.accept("]"):
            if names:
                self.expect(",")
            e = self.exp()
            plain = str(e) if e == var(str(e)) else ""
            name = plain if plain and plain not in (*names, *taken) else f"e_{len(names)}"
            names.append(name)
            cons += [] if name == plain else [equal(var(name), e)]
        return tuple(names), tuple(cons)

    def relation(self) -> Relation:
        """{[x] -> [y] : conditions}, or a set without the arrow."""
        self.expect("{")
        ins, cons = self.tuple_()
        outs: tuple[str, ...] = ()
        if self.accept("->"):
            outs, more = self.tuple_(ins)
            cons = (*cons, *more)
        if self.accept(":"):
            cons = (*cons, *self.chain())
            while self.accept("and"):
                cons = (*cons, *self.chain())
        self.expect("}", " after the conditions")
        return Relation(ins, outs, cons)


def compare(left: Exp, sign: str, right: Exp) -> Constraint:
    if sign == "=":
        return equal(left, right)
    if sign in ("<", "<="):
        return Constraint(right - left - (1 if sign == "<" else 0))
    return Constraint(left - right - (1 if sign == ">" else 0))
