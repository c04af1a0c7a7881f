"""Expression IR of vector kernels: the operations that one step computes in every lane, and functions on steps: their
names, reassociation of sums, and splitting into equal smaller steps. `recognize/products/lane_steps.py` builds them.

A step is a function of the accumulator, one value of each packed operand, and constants. All of it is computed in
one element type; operands are converted to that type when they are packed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from codegen.record import record

ELEMENTS = ("f64", "f32", "i64", "u64", "i32", "u32", "i16", "u16", "i8", "u8")

# Leaves: the accumulator, an element of the left and of the right operand, and constant number `index`.
LEAVES = ("acc", "a", "b", "const")
# Arithmetic of the element type; integers wrap (the source has no overflow to preserve, or it is unsigned).
ARITHMETIC = ("add", "sub", "mul", "div", "neg")
BITWISE = ("and", "or", "xor", "not")
# min(x, y) is `x < y ? x : y` and max(x, y) is `x > y ? x : y`: y when unordered or equal.
# fmin and fmax are C's functions: a number wins over a NaN, and the sign of a zero result is unspecified.
# anymin and anymax may return either operand where the two differ only in NaN or in the sign of zero.
EXTREMES = ("min", "max", "fmin", "fmax", "anymin", "anymax")
# Comparisons give a mask; select(mask, x, y) is x where the mask holds. Masks are joined by mand and mor.
MASKS = ("lt", "le", "gt", "ge", "eq", "ne", "mand", "mor", "mnot")
# Masks of one floating-point number: nan, and nought where it is NaN or a zero.
DOUBTS = ("nan", "nought")
# wrap8, wrapu8, wrap16, wrapu16: the value as if stored in that narrower integer and read back.
WRAPS = ("wrap8", "wrapu8", "wrap16", "wrapu16")


@record
class Lane:
    """An operation on lanes. `index` numbers constants, and operands where a side has several."""

    op: str
    args: tuple["Lane", ...] = ()
    index: int = 0

    def __str__(self) -> str:
        if not self.args and (self.index or self.op == "const"):
            return f"{'s' if self.op == 'const' else self.op}{self.index}"
        return f"{self.op}({', '.join(map(str, self.args))})" if self.args else self.op


def walk(e: Lane) -> Iterator[Lane]:
    """The step and everything below it, parents first."""
    yield e
    for k in e.args:
        yield from walk(k)


def spelled(e: Lane, given: tuple[int, int, int]) -> str:
    """A step as part of a name: f(acc, g(a, b)) by its two operations, others by all there is in them, each ahead of
    its arguments. `given` are its numbers of left and right operands and of constants, which are named where the step
    does not use them all. Steps that differ are spelled differently."""
    parts = tuple(walk(e))
    plain = len(e.args) == 2 and e.args[0] == Lane("acc") and e.args[1].args == (Lane("a"), Lane("b"))
    words = [x.op if x.args else str(x) for x in parts if x.args or not plain]
    used = tuple(len({x for x in parts if x.op == leaf}) for leaf in ("a", "b", "const"))
    words += ["of", *map(str, given)] if used != given else []
    return "_".join(words).replace("-", "m")


def chained(e: Lane) -> Lane:
    """acc + (x + y) as (acc + x) + y, and so for longer sums and differences: equal but for rounding."""
    if e.op not in ("add", "sub"):
        return e
    x, y = e.args
    if e.op == "add" and _has_acc(y) and not _has_acc(x):
        x, y = y, x
    return _join(e.op, chained(x), y) if _has_acc(x) and not _has_acc(y) else e


def _join(op: str, x: Lane, y: Lane) -> Lane:
    """x + y or x - y, with the terms of y one after another."""
    if y.op not in ("add", "sub"):
        return Lane(op, (x, y))
    same = op if y.op == "add" else ("sub" if op == "add" else "add")
    return _join(same, _join(op, x, y.args[0]), y.args[1])


def _has_acc(e: Lane) -> bool:
    return any(x.op == "acc" for x in walk(e))


def rounds(e: Lane, lefts: int, rights: int) -> tuple[Lane, int]:
    """A step that is the same smaller step, done with one pair of operands after the other, and how often it is done.

    min(min(acc, a0 + b0), a1 + b1) is min(acc, a + b) done twice. (e, 1) where a step is not made up like that.
    """
    if lefts == rights > 1:
        for part in dict.fromkeys(x for x in walk(e) if x.args and x != e and _has_acc(x)):
            once = _put(e, {part: Lane("acc")} | {Lane(op, (), lefts - 1): Lane(op) for op in ("a", "b")})
            if _repeated(once, lefts) == e:
                return once, lefts
    return e, 1


def _repeated(e: Lane, times: int) -> Lane:
    done = Lane("acc")
    for k in range(times):
        done = _put(e, {Lane("acc"): done, Lane("a"): Lane("a", (), k), Lane("b"): Lane("b", (), k)})
    return done


def _put(e: Lane, values: Mapping[Lane, Lane]) -> Lane:
    if e in values:
        return values[e]
    return Lane(e.op, tuple(_put(x, values) for x in e.args), e.index)
