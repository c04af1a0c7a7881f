"""Statements of matrix-vector kernels as C: loads, multiply-adds and stores of vectors, whatever the loop order."""

from __future__ import annotations

from collections.abc import Sequence

from codegen.isa.model import Isa, bits_of, is_float
from codegen.isa.text import LINE_BYTES, ScalarOperand, bare, call, expression, takes_lane
from codegen.record import record
from codegen.scop.lanes import Lane
from codegen.target.product.microkernel_view import times

FETCH = "TW_FETCH"
_SWAP = {"a": "b", "b": "a"}


@record
class Ops:
    """The step of a kernel on vectors of one instruction set."""

    isa: Isa
    elem: str
    step: Lane
    matrices: int
    operands: int
    consts: int
    second: bool = False  # of two products in one kernel

    @property
    def stems(self) -> tuple[str, str, str]:
        """How names of vectors, of their values in registers and of constants begin."""
        return ("u", "d", "w") if self.second else ("x", "b", "s")

    @property
    def constants(self) -> list[str]:
        return [f"{self.stems[2]}{i}" for i in range(self.consts)]

    @property
    def vector(self) -> str:
        return self.isa.vec(self.elem).vector

    @property
    def scalar(self) -> str:
        return self.isa.vec(self.elem).scalar

    @property
    def lanes(self) -> int:
        return self.isa.lanes_max(self.elem)

    @property
    def count(self) -> str:
        """The elements of a vector as C text."""
        return self.isa.vec(self.elem).lanes

    def elements(self, vectors: str) -> str:
        """How many elements so many vectors have."""
        if self.count.isdigit():
            return times(self.lanes, vectors)
        return times(int(vectors), self.count) if vectors.isdigit() else f"{self.count} * {_factor(vectors)}"

    def groups(self, elements: int | str) -> str:
        """How many vectors have so many elements."""
        return str(int(elements) // self.lanes) if self.count.isdigit() else f"{elements} / {self.count}"

    @property
    def line(self) -> int:
        """Elements in a line of cache."""
        return max(self.lanes, LINE_BYTES * 8 // bits_of(self.elem))

    @property
    def by_lane(self) -> bool:
        """Can the step take the vector's elements out of a register, one lane at a time?"""
        vec = self.isa.vec(self.elem)
        return self.operands == 1 and vec.group == self.lanes and takes_lane(vec, swapped(self.step))

    def call(self, op: str, *args: str) -> str:
        """An operation that can stand as an operand of others."""
        return call(self.isa, self.elem, op, args)

    def let(self, name: str, value: str) -> str:
        """A new vector."""
        return f"const {self.vector} {name} = {bare(value)};"

    def load(self, at: str) -> str:
        return self.call("load", at)

    def store(self, at: str, value: str) -> str:
        return bare(self.call("store", at, value)) + ";"

    def dup(self, value: str) -> str:
        return self.call("dup", value)

    def value(self, acc: str, a: Sequence[str], b: Sequence[str]) -> str:
        """The new value of an accumulator, as C text."""
        names = {"acc": [acc], "a": a, "b": b, "const": [f"{x}v" for x in self.constants]}
        return bare(expression(self.isa, self.elem, self.step, lambda x: names[x.op][x.index]))

    def value_by_lane(self, acc: str, a: Sequence[str], register: str, lane: int) -> str:
        """The same with the vector's element in a lane of a register."""
        names = {"acc": [acc], "b": a, "const": [f"{x}v" for x in self.constants]}
        where, step = ScalarOperand("_lane", (register, str(lane))), swapped(self.step)
        return bare(expression(self.isa, self.elem, step, lambda x: names[x.op][x.index], lambda _: where))

    def spread(self) -> list[str]:
        """Constants in every lane."""
        return [self.let(f"{x}v", self.dup(x)) for x in self.constants]

    def neutral(self, kind: str) -> str:
        """The value that leaves others as they are when joined with them."""
        if is_float(self.elem):
            f = "f" if self.elem == "f32" else ""
            inf = f"__builtin_inf{f}()"
            return {"zero": f"-0.0{f}", "one": f"1.0{f}", "most": inf, "least": f"-{inf}"}[kind]
        name = self.scalar.removesuffix("_t").upper()
        least = "0" if self.elem[0] == "u" else f"{name}_MIN"
        return {"zero": "0", "one": "1", "ones": f"({self.scalar})-1", "most": f"{name}_MAX", "least": least}[kind]


def _factor(text: str) -> str:
    return text if text.isidentifier() else f"({text})"


def swapped(e: Lane) -> Lane:
    """The same expression with the two operands' names exchanged."""
    return Lane(_SWAP.get(e.op, e.op), tuple(swapped(x) for x in e.args), e.index)


def numbered(stem: str, count: int) -> list[str]:
    """One name is the stem itself; several are counted."""
    return [stem] if count == 1 else [f"{stem}{i}" for i in range(count)]
