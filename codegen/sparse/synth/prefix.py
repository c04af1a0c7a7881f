"""Renames the symbols and arrays of a sparse format's descriptor with a prefix, and its extents as the caller says, so
that the descriptors of two formats can be used in one generated function."""
from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from codegen.sparse.algebra.expr import Exp, var
from codegen.sparse.algebra.relation import Constraint, Relation
from codegen.sparse.algebra.terms import names, rename_calls, subst
from codegen.sparse.formats.model import Descriptor


@lru_cache(maxsize=256)
def prefixed(d: Descriptor, prefix: str, shape: tuple[str, ...]) -> Descriptor:
    """The descriptor with `prefix` before its own names, and its extents named as the caller says."""
    own = {*(s for c in d.map.cons for s in names(c.exp)), *(n for n, _ in d.lets),
           *(s for f in d.functions for c in (*f.domain.cons, *f.range.cons) for s in names(c.exp))}
    own -= {*d.map.ins, *d.map.outs, *d.shape, *(v for f in d.functions for v in (*f.domain.ins, *f.range.ins))}
    values = {**{s: var(prefix + s) for s in own}, **{s: var(n) for s, n in zip(d.shape, shape, strict=True)}}
    calls_ = {f.name: prefix + f.name for f in d.functions}

    def new(e: Exp) -> Exp:
        return rename_calls(subst(e, values), calls_)

    def rel(r: Relation) -> Relation:
        return Relation(r.ins, r.outs, tuple(Constraint(new(c.exp), c.equal) for c in r.cons))

    return replace(
        d, shape=shape, map=rel(d.map), access=new(d.access), data=prefix + d.data,
        lets=tuple((prefix + n, new(e)) for n, e in d.lets),
        functions=tuple(replace(f, name=calls_[f.name], domain=rel(f.domain), range=rel(f.range))
                        for f in d.functions),
        quantifiers=tuple(replace(q, key=new(q.key)) for q in d.quantifiers),
        permutation=replace(d.permutation, array=prefix + d.permutation.array) if d.permutation else None,
    )
