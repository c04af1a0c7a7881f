"""Makes the operations that subscripts and addresses need, once each, ahead of the loops that do not change them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from codegen.ast.ctree import Bin, CExpr, Int, Name, Neg, expr_names
from codegen.gpu.registers.model import (
    INDEX,
    NARROW,
    OFFSET,
    POINTER,
    PRODUCT,
    WIDE,
    WORK,
    Factors,
    Operation,
    Part,
    Polynomial,
    Straight,
    Terms,
    added,
    multiplied,
)
from codegen.record import record

UNIFORM = -1  # the level of what all threads of a block have in common


@record
class Place:
    """An element: its array, and the number of elements before it."""

    array: str
    terms: Terms

    def apart(self, other: Place) -> bool:
        """Are they different elements of an array, whatever the values of names?"""
        mine, theirs = dict(self.terms), dict(other.terms)
        first, second = mine.pop((), 0), theirs.pop((), 0)
        return self.array == other.array and mine == theirs and first != second


@record
class Atom:
    """A name or a value that polynomials are made of: the loop that changes it, and its operation."""

    level: int
    value: int


@dataclass
class OpenLoop:
    """What is known of a loop, or of the whole, while its operations are made."""

    parts: list[Part] = field(default_factory=list)
    now: list[int] = field(default_factory=list)
    known: dict[object, int] = field(default_factory=dict)

    def end_straight(self) -> None:
        if self.now:
            self.parts.append(Straight(tuple(self.now)))
            self.now = []


@dataclass
class IndexOperations:
    """Operations so far, in the loops that are open. What is made for an outer one comes ahead of the inner ones."""

    counter: int  # registers of a counter
    operations: list[Operation] = field(default_factory=list)
    loops: list[OpenLoop] = field(default_factory=lambda: [OpenLoop()])
    atoms: dict[str, Atom] = field(default_factory=dict)
    values_of: dict[str, Polynomial] = field(default_factory=dict)  # of loop variables, where they are not their own

    def make(self, op: Operation, key: object = None, level: int | None = None) -> int:
        """The number of an operation; of one with this key that was made before, if there is one."""
        where = self.loops[-1 if level is None else max(0, level)]
        if key is not None and key in where.known:
            return where.known[key]
        number = len(self.operations)
        self.operations.append(op)
        where.now.append(number)
        if key is not None:
            where.known[key] = number
        return number

    def level(self, names: Sequence[str]) -> int:
        """The innermost loop that changes one of the names."""
        return max((self.atoms[n].level for n in names if n in self.atoms), default=UNIFORM)

    def polynomial(self, e: CExpr) -> Polynomial:
        if isinstance(e, Int):
            return {(): e.value} if e.value else {}
        if isinstance(e, Name):
            return self.values_of.get(e.name, {(e.name,): 1})
        if isinstance(e, Neg):
            return added({}, self.polynomial(e.arg), -1)
        if isinstance(e, Bin) and e.op in ("+", "-"):
            return added(self.polynomial(e.left), self.polynomial(e.right), 1 if e.op == "+" else -1)
        if isinstance(e, Bin) and e.op == "*":
            return multiplied(self.polynomial(e.left), self.polynomial(e.right))
        inside = {n: sorted(self.polynomial(Name(n)).items()) for n in sorted(expr_names(e))}
        name, used = repr((e, inside)), [m for terms in inside.values() for key, _ in terms for m in key]
        if self.level(used) != UNIFORM and name not in self.atoms:
            level = self.level(used)
            uses = tuple(self.atoms[n].value for n in used if n in self.atoms)
            self.atoms[name] = Atom(level, self.make(Operation(WORK, self.counter, uses), name, level))
        return {(name,): 1}

    def product(self, key: Factors) -> int | None:
        """The value of a product of names; None where it is the same for all threads of a block."""
        own = [n for n in key if n in self.atoms]
        if not own:
            return None
        if len(key) == 1:
            return self.atoms[key[0]].value
        uses = tuple(self.atoms[n].value for n in own)
        return self.make(Operation(PRODUCT, self.counter, uses), ("product", key), self.level(own))

    def integer(self, e: CExpr) -> int | None:
        """The value of an expression of names; None where it is the same for all threads of a block."""
        p = self.polynomial(e)
        uses = self._products(p)
        if len(p) < 2 or not uses:
            return uses[0] if uses else None
        level = self.level([n for key in p for n in key])
        return self.make(Operation(WORK, self.counter, uses), ("sum", tuple(sorted(p.items()))), level)

    def _products(self, keys: Sequence[Factors] | Polynomial) -> tuple[int, ...]:
        return tuple(v for key in keys for v in (self.product(key),) if v is not None)

    def address(self, where: Place) -> int:
        """A pointer to an element, or to one at a constant distance, which loads and stores add by themselves. Pointers
        move on with a loop; a distance that is the same for all threads is added to one that is there already."""
        own = [key for key, _ in where.terms if any(n in self.atoms for n in key)]
        shared = tuple(x for x in where.terms if x[0] and x[0] not in own)
        terms = tuple(x for x in where.terms if x[0] in own)
        level = self.level([n for key in own for n in key])
        moving = [key for key in own if self.level(key) == level] if level > 0 else []
        moves = bool(moving) and all(sum(n in self.atoms for n in key) == 1 for key in moving)
        uses = self._products([key for key in own if not moves or key not in moving])
        at = level - moves
        first = self.loops[max(0, at)].known.get(("first", where.array, terms))
        if not shared or (first is None and not moves):
            return self._pointer(where.array, terms, shared, uses, at)
        if first is None:
            first = self._pointer(where.array, terms, (), uses, at)
        return self.make(Operation(OFFSET, WIDE, (first,)), ("address", where.array, terms, shared), level)

    def _pointer(self, array: str, terms: Terms, shared: Terms, uses: tuple[int, ...], level: int) -> int:
        if len(terms) + len(shared) > 1 and uses:
            uses = (self.make(Operation(INDEX, self.counter, uses), ("index", terms, shared), level),)
        made = self.make(Operation(POINTER, WIDE, uses), ("pointer", array, terms, shared), level)
        self.loops[max(0, level)].known.setdefault(("first", array, terms), made)
        return made


def words(size: int) -> int:
    """Registers of a value of so many bytes."""
    return WIDE if size > 4 else NARROW
