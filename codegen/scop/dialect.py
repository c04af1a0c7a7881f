"""The `Dialect` record: what the compiler's flags, and pragmas and attributes that stand for them, make of C. They are
facts of the model; `source/dialect/` reads them."""

from __future__ import annotations

from codegen.record import record


@record
class FlagRefusal:
    """A flag under which a region stays as it is: how it is written, what it does to the program, what to do. With
    `reals` it is about floating-point arithmetic, and regions of integers do not mind."""

    flag: str
    why: str
    hint: str
    reals: bool = False

    @property
    def message(self) -> str:
        return f"it is compiled with {self.flag}: {self.why}"


@record
class Dialect:
    """The meaning of C in one region.

    wraps         signed arithmetic wraps around (-fwrapv): it is no error of the source
    typed_memory  an object is accessed by its own type or by characters (not so under -fno-strict-aliasing)
    short_enums   an enum has the smallest type that holds its values (-fshort-enums)
    known_library    functions of the standard library mean what the standard says (not so under -fno-builtin)
    unknown       functions of which that is not known (-fno-builtin-sqrt)
    math_errno    math functions may set errno (not so under -fno-math-errno)
    finite_loops  loops without other effects come to an end (not so under -fno-finite-loops)
    narrow        `long` has 32 bits, and size_t may have
    openmp        the compiler obeys the pragmas of OpenMP
    refused       why regions stay as they are
    """

    wraps: bool = False
    typed_memory: bool = True
    short_enums: bool = False
    known_library: bool = True
    unknown: frozenset[str] = frozenset()
    math_errno: bool = True
    finite_loops: bool = True
    narrow: bool = False
    openmp: bool = False
    refused: tuple[FlagRefusal, ...] = ()

    def weakest(self, other: Dialect) -> Dialect:
        """What holds in both."""
        return Dialect(
            self.wraps or other.wraps,
            self.typed_memory and other.typed_memory,
            self.short_enums or other.short_enums,
            self.known_library and other.known_library,
            self.unknown | other.unknown,
            self.math_errno or other.math_errno,
            self.finite_loops and other.finite_loops,
            self.narrow or other.narrow,
            self.openmp or other.openmp,
            tuple(dict.fromkeys((*self.refused, *other.refused))),
        )


STANDARD = Dialect()
