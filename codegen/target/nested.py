"""A product in the order of a nest as C: the addresses of its operands for the template `nested.c.j2`."""

from __future__ import annotations

from dataclasses import dataclass

from codegen.ast.ctree import Bin, CExpr, CNode, For, Instance, Int, Multiply, substitute
from codegen.recognize.pitches import pitches
from codegen.record import record
from codegen.scop.expr import Ref
from codegen.scop.model import Scop
from codegen.scop.product import Nested
from codegen.target.body import BodyPrinter
from codegen.target.cexpr import IntPrinter
from codegen.target.isa.model import C_TYPES
from codegen.target.nest.loops import Loop, show_nest
from codegen.target.nest.product import kernel_of


@record
class NestedView:
    """Everything the template prints. The kernel is right where all `conditions` hold: elements lie as it expects.
    There are none where the declarations of the arrays say so."""

    comment: str
    order: str
    conditions: tuple[str, ...]
    kernel: str
    arguments: tuple[str, ...]


@dataclass
class NestedPrinter:
    """Makes the view of one product."""

    scop: Scop
    ints: IntPrinter

    def view(self, node: Multiply) -> NestedView:
        what, how = node.product.what, node.product.how
        assert isinstance(how, Nested)
        self.s = self.scop.statement(what.stmt)
        self.loops, self.instance = _open(node.body)
        kernel = kernel_of(how, what.step.elem)
        sides = [e.access for e in (*what.step.left, *what.step.right) if isinstance(e, Ref)]
        elem = C_TYPES[what.step.elem]
        sizes = dict(kernel.nest.problem.sizes)
        checks, arguments = [], []
        for number, part, const in zip((*sides, self.s.target), how.pitches, ("const ", "const ", ""), strict=True):
            start = self._address(number, "")
            arguments.append(f"({const}{elem} *){start}")
            if pitches(self.scop, self.s, number) is not None:
                continue  # numbers, compared when the plan was carried out
            pitch = {**dict.fromkeys(sizes, 0), **dict(part)}
            checks += [f"{self._address(number, n)} - {start} == {x}" for n, x in pitch.items() if x and sizes[n] > 1]
        order = show_nest(tuple(Loop(*x) for x in how.loops))
        return NestedView(f"{self.s.name}: {self.s.source}", order, tuple(checks), kernel.name, tuple(arguments))

    def _address(self, number: int, later: str) -> str:
        """Of the first element, or of the next one along a loop."""
        env: dict[str, CExpr] = {}
        for lp in self.loops:
            first = substitute(lp.lower, env)
            step = 1 if lp.loop.name == later else 0
            env[lp.var] = Int(first.value + step) if isinstance(first, Int) else Bin("+", first, Int(step))
        at = Instance(
            self.instance.stmt,
            tuple(substitute(e, env) for e in self.instance.iterators),
            tuple(tuple(substitute(e, env) for e in a) for a in self.instance.accesses),
            tuple(substitute(e, env) for e in self.instance.values),
        )
        return f"&{BodyPrinter(self.scop, self.ints, {}).access(self.s, at, number)}"


def _open(node: CNode) -> tuple[tuple[For, ...], Instance]:
    """The loops of the plain nest and its statement."""
    loops: list[For] = []
    while isinstance(node, For):
        loops.append(node)
        node = node.body
    assert isinstance(node, Instance)
    return tuple(loops), node
