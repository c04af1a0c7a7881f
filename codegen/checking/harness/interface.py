"""The `Harness` record: what is needed to print and to run one region by itself, its parameters, and the C texts of the
sizes of its memory."""

from __future__ import annotations

from codegen.checking.harness.gathers import index_sources
from codegen.checking.harness.leaves import ScalarRun, leaves
from codegen.checking.harness.memory import Memory
from codegen.checking.harness.paths import follow
from codegen.frontend.expressions.affine import c_text
from codegen.frontend.syntax.symbols import RegionSite
from codegen.record import record
from codegen.source.language import CXX, C, Language
from codegen.target.guards.computed_parameters import ComputedText


@record
class FunctionPlace:
    """Where a region's function has to be so that names mean the same: in which language and, for C++, in which
    namespaces, with which `using` declarations."""

    language: Language = C
    scope: tuple[str, ...] = ()
    usings: tuple[str, ...] = ()
    objects: tuple[str, ...] = ()  # declarations of members and references, which are variables of their own here

    def cast(self, kind: str) -> str:
        """C converts pointers to memory of no type by itself."""
        return f"({kind})" if self.language is CXX else ""


HERE = FunctionPlace()


@record
class Harness:
    """What is needed to print and to drive one region. `leaves` belong to the buffers, in order.

    The region's function gets an array `tw_in`: the integers, then three numbers for each buffer, its first index,
    its count of rows where the source declares none, and the row length of a square matrix in a flat array.
    """

    number: int
    site: RegionSite
    memory: Memory
    leaves: tuple[tuple[ScalarRun, ...], ...]
    computed: tuple[ComputedText, ...] = ()
    sources: frozenset[str] = frozenset()  # variables whose values become subscripts
    place: FunctionPlace = HERE

    def slot(self, buffer: int) -> int:
        """Where the three numbers of a buffer begin."""
        return len(self.memory.ints) + 3 * buffer

    def first(self, buffer: int) -> str:
        return f"tw_in[{self.slot(buffer)}]"

    def rows(self, buffer: int) -> str:
        declared = self.memory.buffers[buffer].rows
        return f"tw_in[{self.slot(buffer) + 1}]" if declared is None else f"TW_POSITIVE({declared})"

    def around(self, buffer: int) -> list[tuple[str, str]]:
        """First index and count of every array and pointer around the pointers that lead to a buffer."""
        b = self.memory.buffers[buffer]
        out = []
        for at, declarator, _ in follow(self.site.variables[b.base].shape, self.site.types, b.path):
            outer = self.memory.find(b.base, at)
            if outer is not None:
                out.append((self.first(outer), self.rows(outer)))
            else:
                out.append(("0", f"TW_POSITIVE({'0' if declarator.dim is None else c_text(declarator.dim)})"))
        return out

    def sizes(self, buffer: int) -> list[str]:
        """All sizes of a buffer, from the variable in."""
        around = [count for _, count in self.around(buffer)]
        inner = [f"TW_POSITIVE({d})" for d in self.memory.buffers[buffer].dims]
        return [*around, self.rows(buffer), *inner]

    def row(self, buffer: int) -> str:
        """Row length of a square matrix, 0 for everything else."""
        sizes = self.sizes(buffer)
        if not self.memory.buffers[buffer].dims:
            return f"tw_in[{self.slot(buffer) + 2}]"
        return f"({sizes[-2]} == {sizes[-1]} ? {sizes[-1]} : 0)"


def harness_of(
    number: int, site: RegionSite, memory: Memory, computed: tuple[ComputedText, ...] = (), place: FunctionPlace = HERE
) -> Harness:
    """The harness of the region with this number."""
    own = tuple(leaves(b.elem, site.types) for b in memory.buffers)
    return Harness(number, site, memory, own, computed, index_sources(site.statements), place)
