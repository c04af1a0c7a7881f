"""C types as far as the model needs them: what an element is and how wide an integer is."""

from __future__ import annotations

from codegen.record import record

_LONG = frozenset({"long", "long int", "int64_t", "uint64_t", "unsigned long int", "size_t", "ptrdiff_t", "intptr_t"})

_FIXED = frozenset({"long", "int64_t", "uint64_t"})  # data of type `long` are spelled `long int`
LONG_DATA = "tw_long"  # the helper that asserts what is assumed of them


@record
class CType:
    """A scalar or opaque C type. `spelling` is valid C in front of a declarator (LP64 widths). `long` is the type of
    generated indices, which has 64 bits everywhere; the user's data of type `long` are spelled `long int`."""

    spelling: str
    kind: str  # "int", "float" or "other"
    bits: int = 0
    signed: bool = True
    plain_char: bool = False  # signed on some machines, unsigned on others
    enum: bool = False  # as wide and as signed as the compiler likes
    apart: bool = False  # `_Float64` and the like: another type than the one of this width that has a keyword

    @property
    def is_int(self) -> bool:
        return self.kind == "int"

    @property
    def by_keyword(self) -> bool:
        """Is it, to compilers' alias analysis, the type that kernels call it? They call 64-bit integers int64_t, which
        is `long`: other spellings may be `long long`."""
        return not self.apart and (self.bits < 64 or self.kind == "float" or self.spelling in _LONG)

    @property
    def shown(self) -> str:
        """The spelling for people."""
        return self.spelling.replace("long int", "long")

    @property
    def varies(self) -> bool:
        """Whether other machines may have an integer type of other width here: `long`, size_t and what is called
        after them."""
        return self.is_int and self.bits >= 64 and self.spelling not in _FIXED and "long long" not in self.spelling

    @property
    def bytes(self) -> int:
        """Size of one element; opaque types count as one double for the cost model."""
        return max(1, self.bits // 8) if self.bits else 8

    def range(self) -> tuple[int, int]:
        """Smallest and largest value of an integer type; for plain char, on any machine."""
        if self.plain_char:
            return -128, 255
        if self.signed:
            return -(1 << (self.bits - 1)), (1 << (self.bits - 1)) - 1
        return 0, (1 << self.bits) - 1

    def safe_range(self) -> tuple[int, int]:
        """The values that a conversion to this type leaves alone on every machine."""
        return (0, 127) if self.plain_char else self.range()


INT = CType("int", "int", 32, True)
LONG = CType("long", "int", 64, True)
# By their widths.
UNSIGNED = {
    bits: CType(f"unsigned {word}", "int", bits, False)
    for bits, word in ((8, "char"), (16, "short"), (32, "int"), (64, "long long"))
}

SIGNED = {
    bits: CType(word, "int", bits, True)
    for bits, word in ((8, "signed char"), (16, "short"), (32, "int"), (64, "long"))
}


def promote(t: CType) -> CType:
    """C's integer promotion."""
    return INT if t.is_int and t.bits < 32 else t


def common(a: CType, b: CType) -> CType:
    """C's usual arithmetic conversions, for two integer types."""
    a, b = promote(a), promote(b)
    if a.bits != b.bits:
        return a if a.bits > b.bits else b
    return b if a.signed else a
