"""Synthesis cases: which constraints of the composed relation can fill an uninterpreted function or symbol, and how.

| case | constraint          | statement                        |
|------|---------------------|----------------------------------|
| 1    | UF(u) = f(u)        | UF(u) = f(u)                     |
| 2    | UF(f'(u)) <= f(u)   | UF(f'(u)) = min(UF(f'(u)), f(u)) |
| 3    | UF(f'(u)) >= f(u)   | UF(f'(u)) = max(UF(f'(u)), f(u)) |
| 4    | UF(u) = f(v)        | insert u; the position is v      |
| 5    | UF(v) = f(u)        | insert f(u); v is its rank       |

u are variables of the source and what is known of the destination, v positions that are not known yet.
"""
from __future__ import annotations

from codegen.record import record
from codegen.sparse.algebra.expr import Exp, Name, call, var
from codegen.sparse.algebra.relation import Constraint, Relation, compose, equal, inverse
from codegen.sparse.algebra.terms import calls, coefficient, functions, names, solve, subst
from codegen.sparse.synth.pair import Pair


@record
class Candidate:
    """A constraint that can fill an unknown; `used`: the one that does."""

    constraint: Constraint
    case: int
    used: bool = False


def classify(c: Constraint, uf: str, known: frozenset[str], unknown: frozenset[str]) -> int:
    """The case of a constraint for a function or symbol, 0 when it is none of the five.

    `known`: tuple variables with a value; `unknown`: functions and symbols without one.
    """
    term = next((k for k in calls(c.exp) if k.id == uf and coefficient(c.exp, k)), None) or \
        (Name(uf) if coefficient(c.exp, Name(uf)) else None)
    rhs = solve(c.exp, term) if term is not None else None
    if term is None or rhs is None or uf in functions(rhs) or (functions(rhs) | names(rhs)) & (unknown - {uf}):
        return 0
    variables = frozenset(n for n in names(c.exp) if n not in unknown)
    args = frozenset().union(*(names(a) for a in getattr(term, "args", ()))) - known
    outside = (names(rhs) & variables) - known
    if c.equal:
        return {(False, False): 1, (True, False): 4, (False, True): 5}.get((bool(outside), bool(args)), 0)
    if outside or args:
        return 0
    return 2 if coefficient(c.exp, term) < 0 else 3


def candidates(p: Pair) -> list[tuple[str, tuple[Candidate, ...]]]:
    """For every unknown, the constraints that can fill it, in the order in which the fixed point finds them."""
    t = p.target
    rel = compose(inverse(t.desc.map), p.source.desc.map)
    assert rel is not None  # descriptors are checked to be functions
    symbols = frozenset({*p.shape, *(n for n, _ in t.desc.lets)})
    symbols |= frozenset(n for c in p.source.desc.map.cons for n in names(c.exp)) - {*t.desc.map.ins}
    known = frozenset({*rel.ins, *(v for v, _ in t.resolved)}) | symbols
    unknown = [f.name for f in t.desc.functions] + [*t.counted]
    out: list[tuple[str, tuple[Candidate, ...]]] = []
    for q in p.places:
        where = equal(call(f"P_{q.pos.var}", *(var(x) for x in rel.ins)), var(q.pos.var))
        shared = [f for f, _ in q.pos.values]
        if not q.dedup or q.pos.ptr or len(shared) > 1:
            out.append((f"P_{q.pos.var}", (Candidate(where, 4, True),)))
            known |= {q.pos.var}
    queue, waited = unknown, 0
    while queue and waited <= len(queue):
        uf = queue.pop(0)
        found = _found(p, rel, uf, known, frozenset([uf, *queue]))
        if not found:
            queue.append(uf)
            waited += 1
            continue
        waited = 0
        out.append((uf, found))
        known |= {uf} | {q.pos.var for q in p.places if uf in dict(q.pos.values)}
    out += [(uf, (Candidate(equal(var(uf), var(f"size_of_{uf}")), 1, True),)) for uf in queue]
    return out


def _found(p: Pair, rel: Relation, uf: str, known: frozenset[str],
           unknown: frozenset[str]) -> tuple[Candidate, ...]:
    direct = dict(p.target.resolved)
    dense = dict(zip(p.target.coords, (var(x) for x in p.source.coords), strict=True))
    more = tuple(Constraint(subst(subst(c.exp, direct), dense), c.equal) for c in p.target.desc.map.cons)
    cons = dict.fromkeys(c for c in (*rel.cons, *more) if uf in functions(c.exp) or uf in names(c.exp))
    full = known | frozenset(p.source.coords)
    found = [Candidate(c, classify(c, uf, full, unknown)) for c in cons]
    found = sorted((f for f in found if f.case), key=lambda f: (f.case not in (1, 5), -_score(f.constraint.exp, full)))
    if not found:
        return ()
    if found[0].case in (1, 4, 5):
        return tuple(Candidate(f.constraint, f.case, n == 0) for n, f in enumerate(found))
    first = {case: next((f for f in found if f.case == case), None) for case in (2, 3)}
    return tuple(Candidate(f.constraint, f.case, f is first[f.case]) for f in found)


def _score(e: Exp, known: frozenset[str]) -> int:
    """Constraints with many known variables say most."""
    return sum(10 if n in known else 1 for n in names(e))


