"""Runs the pass pipeline of the sparse IR: dead code, copies, flattening, fusion, overrun fill. Each pass is a pure
function from one computation to the next; most say in its log what they did."""
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
