"""Record types of symbolic values that variables have in a lowered body (a copy of memory, in place of memory, a
partial result, a statement's value), of what is known where the body runs, and of uses of memory."""

from __future__ import annotations

from codegen.ast.lowered import Lanes
from codegen.record import record
from codegen.scop.model import Scop
from codegen.verify.lowered.elements import Element, Offsets


@record
class VariableCopy:
    """A variable that has what memory held at some time, in each lane. `None`: before the body."""

    elements: tuple[Element, ...]
    time: int | None


@record
class Instead:
    """A variable that is used in place of memory, in each lane, as long as a loop runs."""

    elements: tuple[Element, ...]


@record
class Partial:
    """A variable in which a statement gathers."""

    stmt: str


@record
class VariableValue:
    """A variable that has the value of statements: (number in the body, iteration), one for each lane."""

    of: tuple[tuple[int, Offsets], ...]


Variable = VariableCopy | Instead | Partial | VariableValue


@record
class BodyContext:
    """What is known where a body runs."""

    scop: Scop
    lanes: Lanes | None
    var: str  # of the loop whose iterations are lanes
    written: frozenset[str]  # arrays that the loop with the form writes
    alike: frozenset[tuple[str, int]] = frozenset()  # reads that find one value in all iterations of a box


@record
class MemoryUse:
    """A use of memory: by which statement, in which iteration, and when."""

    k: int
    by: Offsets
    element: Element
    write: bool
    time: int
