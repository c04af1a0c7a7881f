"""Random descriptors: formats of many families, most of them sound, some with a condition too many or too few."""
from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace


@dataclass(frozen=True)
class Draft:
    """A descriptor in parts. `o` and `i` are the dense coordinates that are outer and inner in this format."""

    loops: tuple[str, ...]
    cons: tuple[str, ...]
    access: str
    data: str
    ufs: tuple[str, ...] = ()
    lets: tuple[str, ...] = ()
    promises: tuple[str, ...] = field(default=())

    def text(self, name: str) -> str:
        variables = ", ".join(self.loops)
        lines = [f"format {name}", "shape NR, NC", *self.lets,
                 f"map {{[{variables}] -> [i, j] : {' and '.join(self.cons)}}}",
                 f"access {{[{variables}] -> [{self.access}]}}", f"data {self.data}", *self.ufs, *self.promises]
        return "".join(f"{line}\n" for line in lines)


_SHAPE = {"i": "NR", "j": "NC"}


def draft(rng: random.Random) -> Draft:
    """A format, and perhaps a mistake in it."""
    outer, inner = rng.choice((("i", "j"), ("j", "i")))
    out = rng.choice(_FAMILIES)(rng, outer, inner)
    for _ in range(rng.choice((0, 0, 0, 1, 1, 2))):
        out = rng.choice(_MISTAKES)(rng, out)
    return out


def _uf(name: str, domain: str, low: str, high: str, fill: str = "") -> str:
    args = [part.split("<=")[1].split("<")[0].strip() for part in domain.split(" and ")]
    return f"uf {name} {{[{', '.join(args)}] : {domain}}} -> {{[y] : {low} <= y <= {high}}}{fill}"


def _coordinates(rng: random.Random, o: str, i: str) -> Draft:
    cons = ("row(n) = i", "col(n) = j", "0 <= i < NR", "0 <= j < NC", "0 <= n < NNZ")
    promise = rng.choice(("", "row(n1) <= row(n2)", "dim1(n1) >= dim1(n2)",
                          "MORTON(row(n1), col(n1)) <= MORTON(row(n2), col(n2))",
                          "LEX(dim1(n1), dim0(n1)) <= LEX(dim1(n2), dim0(n2))",
                          "dim0(n1) div 3 <= dim0(n2) div 3"))
    return Draft(("n",), cons, rng.choice(("n", "n", "2*n")), "val",
                 (_uf("row", "0 <= x < NNZ", "0", "NR - 1"), _uf("col", "0 <= x < NNZ", "0", "NC - 1")),
                 promises=(f"forall n1, n2 : n1 < n2 <=> {promise}",) if promise else ())


def _compressed(rng: random.Random, o: str, i: str) -> Draft:
    n, m = _SHAPE[o], _SHAPE[i]
    ends = rng.random() < 0.4
    bound = "begin(u) <= k < end(u)" if ends else "ptr(u) <= k < ptr(u+1)"
    cons = (f"u = {o}", f"w = {i}", "w = idx(k)", f"0 <= u < {n}", bound, "0 <= k < NNZ", f"0 <= w < {m}")
    pointers = (_uf("begin", f"0 <= x < {n}", "0", "NNZ"), _uf("end", f"0 <= x < {n}", "0", "NNZ")) if ends else \
        (_uf("ptr", f"0 <= x < {n} + 1", "0", "NNZ"),)
    dim = "01"["ij".index(i)]
    order = rng.choice(((), (f"forall k1, k2 : k1 < k2 <=> LEX(dim{'01'['ij'.index(o)]}(k1), dim{dim}(k1)) <= "
                             f"LEX(dim{'01'['ij'.index(o)]}(k2), dim{dim}(k2))",)))
    return Draft(("u", "k", "w"), cons, "k", "val", (*pointers, _uf("idx", "0 <= x < NNZ", "0", f"{m} - 1")),
                 promises=order)


def _padded(rng: random.Random, o: str, i: str) -> Draft:
    n, m = _SHAPE[o], _SHAPE[i]
    counted, turned = rng.random() < 0.4, rng.random() < 0.5
    call, domain = ("idx(s, u)", f"0 <= t < K and 0 <= x < {n}") if turned else \
        ("idx(u, s)", f"0 <= x < {n} and 0 <= t < K")
    cons = (f"u = {o}", f"w = {i}", f"w = {call}", f"0 <= u < {n}", "0 <= s < K", f"0 <= w < {m}",
            *(("0 <= s < len(u)",) if counted else ()))
    ufs = (_uf("idx", domain, "0" if counted else "-1", f"{m} - 1", "" if counted else " fill -1"),
           *((_uf("len", f"0 <= x < {n}", "0", "K"),) if counted else ()))
    access = rng.choice((f"{n}*s + u", "K*u + s"))
    return Draft(("u", "s", "w"), cons, access, "val" if counted else "val fill 0", ufs)


def _sliced(rng: random.Random, o: str, i: str) -> Draft:
    n, m, c = _SHAPE[o], _SHAPE[i], rng.choice((1, 2, 3, 4))
    cons = (f"{o} = {c}*sl + r", f"0 <= r < {c}", "0 <= sl < NS", "sptr(sl) <= s < sptr(sl+1)", "0 <= s < NK",
            "w = idx(s, r)", f"w = {i}", f"0 <= {o} < {n}", f"0 <= w < {m}")
    return Draft(("sl", "s", "r", "w"), cons, f"{c}*s + r", "val fill 0",
                 (_uf("sptr", "0 <= x < NS + 1", "0", "NK"),
                  _uf("idx", f"0 <= t < NK and 0 <= x < {c}", "-1", f"{m} - 1", " fill -1")),
                 (f"let NS = ({n} + {c - 1}) div {c}",))


def _grid(rng: random.Random, o: str, i: str) -> Draft:
    n, m, b, c = _SHAPE[o], _SHAPE[i], rng.choice((2, 3, 4)), rng.choice((2, 3, 5))
    ends = rng.random() < 0.3
    bound = "first(bo, bi) <= k < last(bo, bi)" if ends else "first(bo, bi) <= k < first(bo, bi+1)"
    cons = (f"{o} = {b}*bo + r", f"{i} = {c}*bi + c", f"0 <= r < {b}", f"0 <= c < {c}", "0 <= bo < NBO",
            "0 <= bi < NBI", bound, "0 <= k < NNZ", "r = er(k)", "c = ec(k)", "0 <= i < NR", "0 <= j < NC")
    domain = f"0 <= x < NBO and 0 <= z < NBI{'' if ends else ' + 1'}"
    ufs = (_uf("first", domain, "0", "NNZ"), _uf("er", "0 <= x < NNZ", "0", f"{b - 1}"),
           _uf("ec", "0 <= x < NNZ", "0", f"{c - 1}"), *((_uf("last", domain, "0", "NNZ"),) if ends else ()))
    return Draft(("bo", "bi", "k", "r", "c"), cons, "k", "val", ufs,
                 (f"let NBO = ({n} + {b - 1}) div {b}", f"let NBI = ({m} + {c - 1}) div {c}"))


def _blocks(rng: random.Random, o: str, i: str) -> Draft:
    n, m, b, c = _SHAPE[o], _SHAPE[i], rng.choice((1, 2, 3)), rng.choice((2, 4))
    kind = rng.choice(("rows", "list", "padded"))
    head = (f"{o} = {b}*bo + r", f"{i} = {c}*bi + c", f"0 <= r < {b}", f"0 <= c < {c}", "0 <= i < NR", "0 <= j < NC")
    lets = (f"let NBO = ({n} + {b - 1}) div {b}", f"let NBI = ({m} + {c - 1}) div {c}")
    if kind == "rows":
        return Draft(("bo", "k", "bi", "r", "c"), (*head, "0 <= bo < NBO", "ptr(bo) <= k < ptr(bo+1)", "0 <= k < NB",
                                                   "bi = idx(k)"), f"{b * c}*k + {c}*r + c", "val fill 0",
                     (_uf("ptr", "0 <= x < NBO + 1", "0", "NB"), _uf("idx", "0 <= x < NB", "0", "NBI - 1")), lets)
    if kind == "list":
        return Draft(("k", "bo", "bi", "r", "c"), (*head, "0 <= k < NB", "bo = own(k)", "bi = idx(k)"),
                     f"{b * c}*k + {c}*r + c", "val fill 0",
                     (_uf("own", "0 <= x < NB", "0", "NBO - 1"), _uf("idx", "0 <= x < NB", "0", "NBI - 1")), lets)
    return Draft(("bo", "s", "bi", "r", "c"), (*head, "0 <= bo < NBO", "0 <= s < K", "bi = idx(bo, s)"),
                 f"{b * c}*(K*bo + s) + {c}*r + c", "val fill 0",
                 (_uf("idx", "0 <= x < NBO and 0 <= t < K", "-1", "NBI - 1", " fill -1"),), lets)


def _diagonals(rng: random.Random, o: str, i: str) -> Draft:
    cons = (f"u = {o}", f"w = {i}", f"0 <= u < {_SHAPE[o]}", "0 <= d < ND", "w = u + off(d)", f"0 <= w < {_SHAPE[i]}")
    promise = rng.choice(((), ("forall d1, d2 : d1 < d2 <=> off(d1) < off(d2)",),
                          ("forall d1, d2 : d1 < d2 <=> off(d1) > off(d2)",)))
    return Draft(("u", "d", "w"), cons, rng.choice(("ND*u + d", f"{_SHAPE[o]}*d + u")), "val fill 0",
                 (_uf("off", "0 <= x < ND", f"1 - {_SHAPE[o]}", f"{_SHAPE[i]} - 1"),), promises=promise)


def _dense(rng: random.Random, o: str, i: str) -> Draft:
    n, m = _SHAPE[o], _SHAPE[i]
    cons, access = rng.choice((
        (("0 <= w <= u", f"w < {m}"), "(u*(u + 1)) div 2 + w"),
        ((f"0 <= w < {m}", "u - 2 <= w <= u + 1"), rng.choice(("3*u + w", "4*u + w"))),
        ((f"0 <= w < {m}",), f"{m}*u + w"),
        (("0 <= w < 3",), "3*u + w"),
        ((f"0 <= w < {m}", "w mod 2 = 0"), f"{m}*u + w"),
        (("w = u", f"0 <= w < {m}"), "u"),
    ))
    return Draft(("u", "w"), (f"u = {o}", f"w = {i}", f"0 <= u < {n}", *cons), access, "val fill 0")


def _tables(rng: random.Random, o: str, i: str) -> Draft:
    cons = (f"u = {o}", f"w = {i}", "0 <= p < NP", "u = own(p)", "ptr(p) <= k < ptr(p+1)", "0 <= k < NNZ", "w = idx(k)",
            "0 <= i < NR", "0 <= j < NC")
    return Draft(("p", "k", "u", "w"), cons, "k", "val",
                 (_uf("own", "0 <= x < NP", "0", f"{_SHAPE[o]} - 1"), _uf("ptr", "0 <= x < NP + 1", "0", "NNZ"),
                  _uf("idx", "0 <= x < NNZ", "0", f"{_SHAPE[i]} - 1")))


def _codes(rng: random.Random, o: str, i: str) -> Draft:
    """Coordinates in one number: of an entry in any order or in its own, of the entries of a row, or padded."""
    n, code = _SHAPE[o], rng.choice((f"INTERLEAVE({o}, {i})", "INTERLEAVE(i, j)"))
    shape = ("0 <= i < NR", "0 <= j < NC")
    kind = rng.choice(("list", "rows", "padded"))
    if kind == "list":
        order = rng.choice((("forall n1, n2 : n1 < n2 <=> lin(n1) <= lin(n2)",), ()))
        return Draft(("n",), (f"lin(n) = {code}", *shape, "0 <= n < NNZ"), "n", "val",
                     ("uf lin {[x] : 0 <= x < NNZ} -> {[y] : 0 <= y}",), promises=order)
    if kind == "rows":
        cons = (f"u = {o}", f"lin(k) = {code}", *shape, "ptr(u) <= k < ptr(u+1)", "0 <= k < NNZ", f"0 <= u < {n}")
        return Draft(("u", "k"), cons, "k", "val", (_uf("ptr", f"0 <= x < {n} + 1", "0", "NNZ"),
                                                    "uf lin {[x] : 0 <= x < NNZ} -> {[y] : 0 <= y}"))
    cons = (f"u = {o}", f"lin(u, s) = {code}", *shape, "0 <= s < K", f"0 <= u < {n}")
    return Draft(("u", "s"), cons, "K*u + s", "val fill 0",
                 (f"uf lin {{[x, t] : 0 <= x < {n} and 0 <= t < K}} -> {{[y] : -1 <= y}} fill -1",))


_FAMILIES: tuple[Callable[[random.Random, str, str], Draft], ...] = (
    _coordinates, _compressed, _compressed, _padded, _padded, _sliced, _grid, _blocks, _diagonals, _dense, _tables,
    _codes)


# --- mistakes --------------------------------------------------------------------------------------------------------

def _without(rng: random.Random, d: Draft) -> Draft:
    """A condition is missing."""
    gone = rng.randrange(len(d.cons))
    return replace(d, cons=(*d.cons[:gone], *d.cons[gone + 1:]))


def _more(rng: random.Random, d: Draft) -> Draft:
    """A condition more, on whatever comes to hand."""
    a, b = (rng.choice((*d.loops, "i", "j")) for _ in range(2))
    more = rng.choice((f"{a} <= {b}", f"{a} <= {b} + {rng.randint(0, 3)}", f"{a} < {rng.randint(1, 9)}",
                       f"{a} + {b} <= {rng.randint(2, 12)}", f"{a} mod 2 = 0", f"{a} = {b}", f"2*{a} <= 3*{b} + 4"))
    return replace(d, cons=(*d.cons, more))


def _index(rng: random.Random, d: Draft) -> Draft:
    """Another place for the values."""
    return replace(d, access=rng.choice((rng.choice(d.loops), f"{d.access} + {rng.choice(d.loops)}", f"{d.access} + 1",
                                         f"2*({d.access})", d.access.replace("*", " + ", 1))))


def _array(rng: random.Random, d: Draft) -> Draft:
    """A domain, a range or a fill is another one."""
    if not d.ufs:
        return d
    at = rng.randrange(len(d.ufs))
    old, new = rng.choice(((" fill -1", ""), (" fill -1", " fill 0"), ("0 <= y", "1 <= y"), ("} -> {", " + 1} -> {"),
                           (" - 1}", " - 2}"), (" + 1}", "}"), ("0 <= x", "1 <= x"), ("-1 <= y", "0 <= y")))
    return replace(d, ufs=(*d.ufs[:at], d.ufs[at].replace(old, new), *d.ufs[at + 1:]))


def _values(rng: random.Random, d: Draft) -> Draft:
    return replace(d, data="val" if d.data != "val" else "val fill 0")


def _promise(rng: random.Random, d: Draft) -> Draft:
    """An order that the family does not have."""
    v = rng.choice(d.loops)
    key = rng.choice(("dim0", "dim1"))
    return replace(d, promises=(*d.promises, f"forall {v}1, {v}2 : {v}1 < {v}2 <=> {key}({v}1) <= {key}({v}2)"))


def _turned(rng: random.Random, d: Draft) -> Draft:
    """The loops in another order."""
    return replace(d, loops=tuple(rng.sample(d.loops, len(d.loops))))


_MISTAKES = (_without, _more, _more, _index, _array, _array, _values, _promise, _turned)
