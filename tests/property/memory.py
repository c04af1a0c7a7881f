"""The memory of random programs: arrays and scalars of many types, structs, unions, several ways to reach a place.

Arrays are parameters of the function, or objects of the file or the function that are filled from a parameter before
the region and copied back after it. Their extents are known only when every subscript has been written, so texts of
declarations are made at the end.
"""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

from tests.property import data as dt
from tests.property.affine import BYTE, UNSIGNED, IntType

HOMES = {  # how an object that is no parameter is declared: in front of the function, or in it
    "file": "static {}", "thread": "static _Thread_local {}", "automatic": "{}", "static": "static {}",
    "own thread": "static _Thread_local {}", "old thread": "static __thread {}",
}
OUTSIDE = ("file", "thread", "old thread")
THREADS = ("thread", "own thread", "old thread")


@dataclass(frozen=True)
class Member:
    """A part of a struct or union. `count` is 0 for a single value; of more, those below `stores` may be written."""

    path: str
    elem: IntType
    count: int = 0
    pun: str = ""  # see Place
    stores: int = 0


@dataclass(frozen=True)
class Record:
    """A struct or union type: its name in C, its definition, and what the harness fills and compares."""

    name: str
    definition: str
    members: tuple[Member, ...]
    fields: tuple[Member, ...]


@dataclass(frozen=True)
class Place:
    """Something to read or write. A float that shares its bytes gets only finite numbers (`pun` "float"); so do the
    integers over it ("bits32", "bits64": patterns of such numbers; "low": bytes that do not make the exponent)."""

    text: str
    elem: IntType
    pun: str = ""


@dataclass
class Array:
    """An array. `need` is the largest subscript seen per dimension; `base` is where a pointer to it starts."""

    name: str
    elem: IntType
    form: str  # fixed, vla, flat (rows of `ld`), pairs (of values in such rows), flatn (rows of n), plain, point (*p)
    rank: int
    need: list[int] = field(default_factory=list)
    record: Record | None = None
    home: str = "parameter"
    base: "Array | None" = None
    shift: int = 0
    extra: int = 0
    restrict: bool = False

    @property
    def type(self) -> str:
        return self.record.name if self.record else self.elem.text


@dataclass(frozen=True)
class Scalar:
    """A variable from before the region."""

    name: str
    elem: IntType
    record: Record | None = None
    home: str = "automatic"

    @property
    def type(self) -> str:
        return self.record.name if self.record else self.elem.text


@dataclass(frozen=True)
class Buffer:
    """What the harness passes for a pointer: `fields` are kind, member (empty for the element itself) and count.

    Kinds: f, d, i, b; capitals for small whole numbers; g and e for floats that are never NaN or infinite.
    `copied` ones are written back after the region, whatever it does, unless a compiler sees that nothing changed.
    """

    ctype: str
    count: int
    fields: tuple[tuple[str, str, int], ...]
    copied: bool = False


def kind_of(t: IntType) -> str:
    return "b" if t == dt.BOOL else {"float": "f", "double": "d"}.get(t.text, "i")


def buffer(type_: str, elem: IntType, record: Record | None, count: int, exact: bool = False,
           copied: bool = False) -> Buffer:
    """A buffer of elements; `exact` ones hold small whole numbers."""
    parts = record.fields if record else (Member("", elem),)
    kinds = [({"f": "g", "d": "e"}.get(kind_of(m.elem), "i") if m.pun else kind_of(m.elem), m.path, max(m.count, 1))
             for m in parts]
    return Buffer(type_, count, tuple((k.upper() if exact else k, path, n) for k, path, n in kinds), copied)


UNIONS = (
    ("float f; unsigned u;", (Member("f", dt.FLOAT, pun="float"), Member("u", UNSIGNED, pun="bits32")), "f"),
    ("unsigned u; float f; unsigned char b[4];",
     (Member("f", dt.FLOAT, pun="float"), Member("u", UNSIGNED, pun="bits32"), Member("b", BYTE, 4, "low", 2)),
     "f"),
    ("double d; unsigned long u; unsigned w[2];",
     (Member("d", dt.DOUBLE, pun="float"), Member("u", dt.ULONG, pun="bits64"), Member("w", UNSIGNED, 2, "low", 1)),
     "d"),
    ("unsigned u; unsigned short h[2]; unsigned char b[4];",
     (Member("u", UNSIGNED), Member("h", dt.USHORT, 2), Member("b", BYTE, 4)), "u"),
    ("unsigned char b[8]; unsigned long u;", (Member("b", BYTE, 8), Member("u", dt.ULONG)), "u"),
)


def union(rng: Random, seed: int, number: int) -> Record:
    body, members, whole = rng.choice(UNIONS)
    tag = f"u{seed}_{number}"
    fields = tuple(m for m in members if m.path == whole)
    if rng.random() < 0.25:
        fields = tuple(Member(f"v.{m.path}", m.elem, pun=m.pun) for m in fields)
        inner = tuple(Member(f"v.{m.path}", m.elem, m.count, m.pun, m.stores) for m in members)
        x = Member("x", rng.choice(dt.ELEMENTS))
        parts = f"{x.elem.text} x; union {{ {body} }} v;"
        return Record(f"struct {tag}", f"struct {tag} {{ {parts} }};\n", (x, *inner),
                      (x, *fields))
    return _named(rng, "union", tag, body, members, fields)


def struct(rng: Random, seed: int, number: int, elems: Sequence[IntType]) -> Record:
    """A few members of some types; one may be an array, and one may stand in a struct of its own."""
    members = [Member(name, rng.choice(elems)) for name in "xyz"[: rng.randint(1, 3)]]
    body = "".join(f"{m.elem.text} {m.path}; " for m in members)
    if rng.random() < 0.4:
        members.append(Member("r", rng.choice(elems), rng.choice((2, 3))))
        body = f"{members[-1].elem.text} r[{members[-1].count}]; {body}"
    if rng.random() < 0.25:
        members.append(Member("in.p", rng.choice(elems)))
        body += f"struct {{ {members[-1].elem.text} p; }} in;"
    return _named(rng, "struct", f"r{seed}_{number}", body.strip(), tuple(members), tuple(members))


def _named(rng: Random, word: str, tag: str, body: str, members: tuple[Member, ...],
           fields: tuple[Member, ...]) -> Record:
    if rng.random() < 0.5:
        return Record(tag, f"typedef {word} {{ {body} }} {tag};\n", members, fields)
    return Record(f"{word} {tag}", f"{word} {tag} {{ {body} }};\n", members, fields)


def settle(arrays: Sequence[Array]) -> None:
    """Make room in arrays for what is reached through pointers into them; later pointers first."""
    for a in reversed(arrays):
        if a.base is None:
            continue
        if a.form in ("flat", "flatn", "pairs"):
            a.base.extra = max(a.base.extra, a.shift + a.extra)
            a.base.need = [max(x, y) for x, y in zip(a.base.need, a.need, strict=True)]
        else:
            moved = [a.need[0] + a.shift, *a.need[1:]]
            a.base.need = [max(x, y) for x, y in zip(a.base.need, moved, strict=True)]
    for a in arrays:
        if a.base is not None:  # rows are as long as the array's own
            a.need = [a.need[0], *a.base.need[1:]]


def extents(a: Array, least: int, params: Sequence[str]) -> list[str]:
    """The extents that a declaration names."""
    if a.form == "fixed":
        return [str(k + 1) for k in a.need]
    names = (params[0], params[1], params[0])
    return [f"{p} + {k + 1 - least}" for p, k in zip(names, a.need, strict=False)]


def declared(a: Array, least: int, params: Sequence[str]) -> str:
    """`T A[...]` or `T *A`, as a parameter."""
    if a.form in ("flat", "flatn", "pairs", "plain", "point"):
        return f"{a.type} *{'restrict ' if a.restrict else ''}{a.name}"
    return f"{a.type} {a.name}" + "".join(f"[{e}]" for e in extents(a, least, params))


def pointer(rng: Random, a: Array, least: int, params: Sequence[str]) -> str:
    """The declaration of a pointer into another array, as a line of the function."""
    assert a.base is not None
    rest = "".join(f"[{e}]" for e in extents(a.base, least, params)[1:]) if a.form in ("fixed", "vla") else ""
    name = f"(*{a.name}){rest}" if rest else f"*{a.name}"
    at = a.base.name if not a.shift else rng.choice((f"{a.base.name} + {a.shift}", f"&{a.base.name}[{a.shift}]"))
    if not rest and rng.random() < 0.3:
        return f"  {a.type} {name};\n  {a.name} = {at};\n"
    return f"  {a.type} {name} = {at};\n"


def elements(a: Array, least: int, largest: Sequence[int], ld: int) -> int:
    """How many elements the harness must pass."""
    if a.form == "flat":
        return a.need[0] * ld + a.need[1] + 1 + a.extra
    if a.form == "pairs":
        return 2 * (a.need[0] * ld + a.need[1]) + 2 + a.extra
    if a.form == "flatn":
        return max(0, a.need[0] * largest[0]) + a.need[1] + 1 + a.extra
    total = 1
    for k, most in zip(a.need, (largest[0], largest[1], largest[0]), strict=False):
        total *= k + 1 if a.form != "vla" else k + 1 - least + most
    return total + a.extra
