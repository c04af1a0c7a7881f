"""The `Isa` record: for every lane operation of `scop/lanes.py` and element type the C text of an instruction set."""

from __future__ import annotations

from dataclasses import replace

from codegen.record import record

C_TYPES = {
    "f64": "double",
    "f32": "float",
    "i64": "int64_t",
    "u64": "uint64_t",
    "i32": "int32_t",
    "u32": "uint32_t",
    "i16": "int16_t",
    "u16": "uint16_t",
    "i8": "int8_t",
    "u8": "uint8_t",
}

# Vectors of a run-time length are at most this long (the architectural limit of SVE).
LONGEST_BITS = 2048


def is_float(elem: str) -> bool:
    return elem.startswith("f")


def bits_of(elem: str) -> int:
    return int(elem[1:])


@record
class Vec:
    """One element type on one instruction set: C types of a vector and of a comparison's result, and patterns.

    `lanes` is C text for the number of elements. `group` is how many values one register holds for operations that
    take a lane of it (mul_lane, fma_lane, fms_lane); 0 where there are none. `broadcast` is how many vector operations
    it takes, beside the load, to bring a value from memory into every lane. A pattern is C text with {0}, {1}, ...
    where the arguments go, an expression that can stand as an operand, or a function's body {{ ... }} in x, y and z.
    """

    elem: str
    vector: str
    mask: str
    lanes: str
    group: int
    broadcast: int
    ops: tuple[tuple[str, str], ...]
    folds: tuple[tuple[str, str], ...] = ()
    half: str = ""  # C type of as many elements of half the width, the factors of long_fma

    @property
    def scalar(self) -> str:
        return C_TYPES[self.elem]

    def op(self, name: str) -> str:
        """The pattern of an operation, or "" where the instruction set has none of its own."""
        return next((text for known, text in self.ops if known == name), "")

    def fold(self, name: str) -> str:
        """The operation that may stand in for this one in chains (see `fast_paths.py`), or ""."""
        return next((other for known, other in self.folds if known == name), "")


@record
class Isa:
    """An instruction set. `bits` is 0 where the vector length is known at run time only.

    `header` and `target` (the text of the function attribute that switches the instructions on) may be "". So may
    `processor` and `enabled`, conditions of the C preprocessor: the compiler is one for processors that can have it,
    and was told that this one has.
    Everything printed for it begins with `prefix`, so that texts for two of them can share a file.
    """

    name: str
    prefix: str
    header: str
    target: str
    bits: int
    registers: int
    typedefs: tuple[tuple[str, str], ...]
    vecs: tuple[Vec, ...]
    processor: str = ""
    enabled: str = ""

    @property
    def lane_fma(self) -> bool:
        """Whether a multiply-add can take one lane of a vector as a multiplicand."""
        return any(v.group for v in self.vecs)

    def vec(self, elem: str) -> Vec:
        return next(v for v in self.vecs if v.elem == elem)

    def lanes_max(self, elem: str) -> int:
        """The most elements a vector can have."""
        return (self.bits or LONGEST_BITS) // bits_of(elem)


def longer(isa: Isa, elem: str) -> Isa | None:
    """The instruction set with those multiply-adds of a type whose factors are half as wide, in place of the plain
    ones; None where it has none."""
    vec = isa.vec(elem)
    found = tuple((name.removeprefix("long_"), text) for name, text in vec.ops if name.startswith("long_"))
    if not found:
        return None
    names = {name for name, _ in found}
    ops = (*(x for x in vec.ops if x[0] not in names), *found)
    mine = replace(vec, ops=ops, group=128 // bits_of(elem) if "fma_lane" in names else 0)
    return replace(isa, vecs=tuple(mine if v.elem == elem else v for v in isa.vecs))
