"""Reductions of all cores into one variable: finds them in a kernel, and prints a private part for each core and the
join of all parts by the first core.

A loop whose iterations only join values to a variable may be shared by cores where the order of that is free. Each core
gathers in a variable of its own kernel, leaves what it has in the launch's arguments, and when all have met the first
core joins the parts to the variable, in the order of the cores.
"""

from __future__ import annotations

from codegen.ast.ctree import CNode, For, Instance, walk
from codegen.record import record
from codegen.scop.model import Scop
from codegen.scop.tree import THREADED
from codegen.sunway.plan.machine import CoreGroup
from codegen.sunway.plan.threads import CoreGrid
from codegen.sunway.staging.local import SNode, staged_nodes
from codegen.sunway.text import dialect
from codegen.sunway.text.bodies import LocalNames, LocalView, base_type
from codegen.sunway.text.views import SlaveView, line
from codegen.target.view import fresh, reserved

# What a part begins with; with other operators that is the variable itself, which changes nothing when it comes twice.
_BEGIN = {"+": "0", "-": "0", "*": "1", "^": "0"}
_NOTHING = "-0.0"  # to which any floating-point number can be added, and stays what it is; not so 0.0 and -0.0
_JOIN = {"+": "+", "-": "+", "*": "*", "^": "^", "&": "&", "|": "|"}
_BETTER = {"max": ">", "min": "<"}


@record
class PartialResult:
    """A variable, how values are joined to it, and the names of a core's own part and of all parts."""

    array: str
    op: str
    own: str
    parts: str


def gathered_in(scop: Scop, kernel: CNode) -> tuple[PartialResult, ...]:
    """What the cores that share the loops of a kernel gather."""
    loops = (n for n in walk(kernel) if isinstance(n, For) and n.loop.kind in THREADED)
    found = {array: op for lp in loops for op, array in lp.loop.reductions}
    taken = reserved(scop) | scop.names
    return tuple(
        PartialResult(array, op, fresh(f"{array}_part", taken), fresh(f"{array}_parts", taken))
        for array, op in sorted(found.items())
    )


def own_views(scop: Scop, kernel: SNode, results: tuple[PartialResult, ...]) -> dict[tuple[int, int], LocalView]:
    """Where accesses of the kernel find their core's part."""
    names = {r.array: r.own for r in results}
    return {
        (id(n), k): LocalView(names[a.array], (), (), True)
        for n in staged_nodes(kernel) if isinstance(n, Instance)
        for k, a in enumerate(scop.statement(n.stmt).accesses) if a.array in names
    }  # fmt: skip


def begin(scop: Scop, r: PartialResult, words: LocalNames, model: bool) -> SlaveView:
    """A core's part, before the kernel. The timing model has no values."""
    elem = scop.arrays[r.array].elem
    sum_ = elem.kind == "float" and r.op in ("+", "-")
    value = "0" if model else _NOTHING if sum_ else _BEGIN.get(r.op) or _variable(scop, r, words)
    return line(f"{base_type(elem)} {r.own} = {value};", "this core's part")


def leave(r: PartialResult, words: LocalNames) -> SlaveView:
    """A core's part, behind the kernel."""
    return line(f"{words.args}->{r.parts}[{words.id}] = {r.own};")


def joined(
    scop: Scop, results: tuple[PartialResult, ...], group: CoreGroup, grid: CoreGrid, words: LocalNames, model: bool
) -> tuple[SlaveView, ...]:
    """What the first core does when all have met."""
    out: list[SlaveView] = []
    taken = reserved(scop) | scop.names | set(words.all)
    for r in results:
        elem = scop.arrays[r.array].elem
        everything, got, now, core = (fresh(n, taken) for n in (f"{r.array}_all", f"{r.array}_got", r.own, "core"))
        aligned = f"__attribute__((aligned({group.vector_bits // 8})))"
        size = f"{grid.count * elem.bytes}"
        command = dialect.DmaCommand(f"&{words.args}->{r.parts}[0]", everything, size, f"&{got}", "0", "0")
        out += [line(f"{base_type(elem)} {everything}[{grid.count}] {aligned};"), line(f"volatile int {got} = 0;"),
                line(dialect.get(group, command)), line(dialect.wait(group, f"&{got}", "1"))]  # fmt: skip
        if model:
            out.append(line(f"sw_work({grid.count * group.fma_latency + 2 * group.gld:g});"))
            continue
        variable, part = _variable(scop, r, words), f"{everything}[{core}]"
        if r.op in _BETTER and elem.kind == "float":  # which knows what to do with what is no number
            new = f"f{r.op}({now}, {part})"
        else:
            better = f"{part} {_BETTER.get(r.op)} {now} ? {part} : {now}"
            new = better if r.op in _BETTER else f"{now} {_JOIN[r.op]} {part}"
        out.append(line(f"{base_type(elem)} {now} = {variable};"))
        out.append(SlaveView("for", f"int {core} = 0; {core} < {grid.count}; {core}++", (line(f"{now} = {new};"),)))
        out.append(line(f"{variable} = {now};"))
    return tuple(out)


def _variable(scop: Scop, r: PartialResult, words: LocalNames) -> str:
    a = scop.arrays[r.array]
    return f"{words.args}->{a.name}" if a.inside else f"*{a.base}"
