"""Renames tensors, indices and scalars of a kernel whose names are keywords of C or those of variables in generated
functions: `y(i) = sum*A(i,j)*x(j)`. Returns the kernel and the new names of arguments."""
from __future__ import annotations

from dataclasses import replace

from codegen.sparse.formats.check import KEYWORDS
from codegen.sparse.kernels.notation import Kernel, Tensor, Term

# What the printers of kernels call their own variables where indices of the kernel are variables, too; and elsewhere.
# Names that begin with tw_, n_ or the name of a tensor are theirs as well.
_BESIDE_INDICES = KEYWORDS | frozenset(("a", "dot", "made", "room", "status", "sum"))
_LOCALS = _BESIDE_INDICES | frozenset((
    "all", "ascending", "at", "base", "before", "bits", "both", "bound", "by_bits", "c", "chunks", "clock", "col",
    "columns", "common", "count", "done", "end", "entries", "failed", "far", "fewer", "first", "fold", "free",
    "from", "hashed", "here", "high", "i", "j", "key", "known", "last", "least", "left", "length", "less_col",
    "less_val", "low", "many", "mark", "me", "memcpy", "memmove", "memset", "middle", "mine", "most", "near", "need",
    "next", "next_left", "next_right", "of_a", "of_b", "of_left", "of_right", "other", "over", "own", "p", "p_last",
    "part", "pivot", "product", "q", "q_last", "rare", "ready", "realloc", "right", "room", "row", "rows", "share",
    "singular", "slots", "spare", "start", "team", "threads", "to", "total", "val", "waits", "widest", "words",
    "INFINITY", "NULL",
))


def apart(k: Kernel) -> tuple[Kernel, dict[str, str]]:
    """The kernel with other names where its own are taken, and the new name of each argument that has one."""
    tensors = {t.name for t in k.tensors}
    indices = {x for t in k.tensors for x in t.indices}
    beside = dict.fromkeys(k.solve[1].indices[1:], _LOCALS) if k.solve else dict.fromkeys(indices, _BESIDE_INDICES)
    used = tensors | indices | set(k.scalars)
    new: dict[str, str] = {}
    for n in sorted(used):
        taken = n in (beside.get(n, frozenset()) if n in indices else _LOCALS)
        if taken or n.startswith(("tw_", "n_", *(f"{t}_" for t in tensors))):
            fresh = f"{n}_"
            while fresh in used or fresh in new.values():
                fresh += "_"
            new[n] = fresh
    arguments = {**new, **{f"n_{x}": f"n_{new[x]}" for x in indices if x in new}}
    return (_renamed(k, new), arguments) if new else (k, {})


def _renamed(k: Kernel, new: dict[str, str]) -> Kernel:
    def tensor(t: Tensor) -> Tensor:
        return replace(t, name=new.get(t.name, t.name), indices=tuple(new.get(x, x) for x in t.indices))

    def scalar(s: str) -> str:
        head, sign, name = s.strip("()").rpartition("/ ")
        return f"({head}{sign}{new.get(name, name)})" if sign else new.get(s, s)

    def term(t: Term) -> Term:
        return replace(t, factors=tuple(map(tensor, t.factors)), over=tuple(map(tensor, t.over)),
                       scalars=tuple(map(scalar, t.scalars)))

    solve = (tensor(k.solve[0]), tensor(k.solve[1]), tensor(k.solve[2])) if k.solve else None
    return replace(k, out=tensor(k.out) if k.out else None, terms=tuple(map(term, k.terms)), solve=solve)
