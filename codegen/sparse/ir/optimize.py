"""The pass pipeline of the sparse IR. Each pass is a pure function from one computation to the next and says in the log
what it did."""
from __future__ import annotations

from collections.abc import Mapping

from codegen.sparse.algebra.expr import Exp
from codegen.sparse.ir.model import Computation
from codegen.sparse.ir.passes.copies import copies
from codegen.sparse.ir.passes.flatten import flatten
from codegen.sparse.ir.passes.forward import forward
from codegen.sparse.ir.passes.fuse import fuse
from codegen.sparse.ir.passes.overrun_fill import ahead
from codegen.sparse.ir.passes.prune import prune


def optimize(c: Computation, numbered: Mapping[str, Exp]) -> Computation:
    """`numbered`: see `copies`."""
    return ahead(prune(fuse(flatten(forward(copies(prune(c), numbered)), numbered))))
