"""Spelling of symbols: each gets its hint, or the hint with a number where a scope around it has that name."""

from __future__ import annotations

from collections.abc import Collection

from codegen.kir.nodes import Sym


class Names:
    """The names of the scopes that are open. Scopes beside each other may use the same ones."""

    def __init__(self, taken: Collection[str] = ()) -> None:
        self._of: dict[Sym, str] = {}
        self._scopes: list[set[str]] = [set(taken)]

    def open(self) -> None:
        """Begin a scope."""
        self._scopes.append(set())

    def close(self) -> None:
        """End a scope: what it named is free."""
        self._scopes.pop()

    def of(self, sym: Sym) -> str:
        """The name of a symbol; its first use is in the scope that it belongs to."""
        found = self._of.get(sym)
        if found is None:
            found = self._of[sym] = sym.hint if sym.role == "user" else self._free(sym.hint)
            self._scopes[-1].add(found)
        return found

    def _free(self, hint: str) -> str:
        name, number = hint, 1
        while any(name in scope for scope in self._scopes):
            number += 1
            name = f"{hint}_{number}"
        return name
