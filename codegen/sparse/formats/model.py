"""The `Descriptor` record of a sparse format, without anything about other formats: its map from stored tuples to dense
coordinates, index arrays, the place of values, promised orders, symmetry and permutation."""
from __future__ import annotations

from codegen.diagnostics import Loc
from codegen.record import record
from codegen.sparse.algebra.expr import Exp
from codegen.sparse.algebra.relation import Relation


@record
class Function:
    """An uninterpreted function: an index array. `fill` is what elements that no entry owns hold."""

    name: str
    domain: Relation
    range: Relation
    fill: int | None = None
    loc: Loc = Loc("")


@record
class Quantifier:
    """forall v1 < v2: left(v1) sign left(v2), with the quantified variable written `v` in `key`."""

    variable: str
    key: Exp
    sign: str
    loc: Loc = Loc("")

    @property
    def down(self) -> bool:
        return self.sign in (">", ">=")

    @property
    def strict(self) -> bool:
        return self.sign in ("<", ">")


@record
class Key:
    """A user's key function: a C body that returns uint64_t."""

    name: str
    parameters: tuple[str, ...]
    body: str


@record
class Permutation:
    """Rows in another order: row p of the map is row array[p] of the matrix. Those with most entries come first, among
    all rows, or among each `window` rows that follow one another."""

    array: str
    window: int = 0


@record
class Descriptor:
    """One format. `access` is the index of an entry's value in the array `data`.

    `fill`: the value array holds zeros where no entry is, so zeros read from it are no entries. `mirror`: the map is of
    a triangle, and an entry beside the diagonal also stands for the element across it; with its sign changed for -1.
    `ordered`: the entries that the map describes come from rows that were permuted, those with most entries first.
    """

    name: str
    shape: tuple[str, ...]
    map: Relation
    access: Exp
    data: str
    fill: bool
    lets: tuple[tuple[str, Exp], ...]
    functions: tuple[Function, ...]
    quantifiers: tuple[Quantifier, ...]
    keys: tuple[Key, ...]
    text: str
    loc: Loc = Loc("")
    map_loc: Loc = Loc("")
    access_loc: Loc = Loc("")
    mirror: int = 0
    permutation: Permutation | None = None
    ordered: bool = False

    def __hash__(self) -> int:
        return hash((self.name, self.shape, str(self.map)))

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def indirect(self) -> bool:
        """Is the matrix another than the one that the map describes?"""
        return bool(self.mirror or self.permutation)

    @property
    def falling(self) -> bool:
        """Has no row of the map more entries than the one before?"""
        return self.ordered or (self.permutation is not None and not self.permutation.window)

    def function(self, name: str) -> Function | None:
        return next((f for f in self.functions if f.name == name), None)
