"""The proof of what a compute core runs: its text read back, and what it keeps in local memory against main memory.

The tree has been proven; here the text has to run that tree. A failure is told by what the text does differently.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from codegen.ast.ctree import CExpr, For, Held, Name
from codegen.record import record
from codegen.scop.dependences import Dependences
from codegen.scop.model import Scop
from codegen.verify.cores.kernel import Kernel
from codegen.verify.cores.order import check_order
from codegen.verify.cores.records import Words
from codegen.verify.cores.staging import check_staging
from codegen.verify.cores.values import Scope
from codegen.verify.readback import Point
from codegen.verify.text.read import Unread, read_statements

_ATTRIBUTE = re.compile(r"__attribute__\(\(aligned\(\d+\)\)\)")


@record
class KernelTask:
    """A kernel of the proven tree. `at` is the point just outside it, `names` the C names of the variables there."""

    node: For
    at: Point
    names: Mapping[str, str]
    held: Mapping[str, Held]  # variables of the region in the arguments
    wide: int  # bound loops, one inside the other


def wrong_kernel(scop: Scop, deps: Dependences, task: KernelTask, text: str, words: Words) -> str:
    """What the text of a kernel does differently from its tree; empty when it does the same."""
    try:
        walk = read_kernel(scop, task, text, words)
        for nest in walk.nests:
            check_order(scop, deps, nest)
        check_staging(scop, deps, walk, len(task.at.vars))
    except Unread as problem:
        return str(problem)
    return ""


def read_kernel(scop: Scop, task: KernelTask, text: str, words: Words) -> Kernel:
    """The text of a kernel beside its tree. Raises Unread."""
    walk = Kernel(scop, words, task.wide, dict(task.names))
    integers: dict[str, CExpr] = {c: Name(v) for v, c in task.names.items()}
    integers[words.id] = Name(words.id)
    scope = Scope(scop, integers, {}, {}, dict(task.held), frozenset(task.held), {}, words.args)
    walk.run(read_statements(_ATTRIBUTE.sub("", text)), task.node, scope, task.at)
    return walk
