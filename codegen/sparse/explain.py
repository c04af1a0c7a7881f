"""Prints the derivation of a conversion as text (`--explain`): relations, unknowns with their cases, orders, what was
chosen, and the chain of steps."""
from __future__ import annotations

from codegen.sparse.algebra.expr import Exp, call, var
from codegen.sparse.algebra.relation import compose, equal, inverse, with_constraints
from codegen.sparse.api import Conversion
from codegen.sparse.ir.model import Branch, Either, Step
from codegen.sparse.ir.view import view
from codegen.sparse.synth.cases import candidates
from codegen.sparse.synth.mechanisms import as_they_come
from codegen.sparse.synth.model import Layout
from codegen.sparse.synth.pair import Pair


def explain(made: Conversion) -> str:
    """Inverse, permutations, composition, unknowns with their cases, quantifiers, then what was chosen."""
    p = made.pair
    lines = [f"{p.source.desc.name} to {p.target.desc.name}", "", *_relations(p), *_resolved(p.target),
             *_positions(p), *_unknowns(p), *_quantifiers(p), "", "Chosen:"]
    lines += [f"  {line}" for line in (*p.log[2:], *made.chain.log)]
    lines += ["", "Chain:"]
    lines += _chain(made.chain.steps, "  ")
    return "".join(f"{line}\n" for line in lines)


def _chain(steps: tuple[Step, ...], indent: str) -> list[str]:
    out = []
    for n, s in enumerate(steps):
        out.append(f"{indent}{n}: {_step(s)}")
        seen = view(n, s)
        out += [f"{indent}   {seen}"] if seen is not None else []
        if isinstance(s, Branch):
            out += [f"{indent}   they do:", *_chain(s.then, indent + "     ")]
            out += [f"{indent}   they do not:", *_chain(s.other, indent + "     ")]
        elif isinstance(s, Either):
            out += [f"{indent}   {s.condition}:", *_chain(s.then, indent + "     ")]
            out += [f"{indent}   else:", *_chain(s.other, indent + "     ")]
    return out


def _relations(p: Pair) -> list[str]:
    s, t = p.source.desc.map, p.target.desc.map
    back = inverse(t)
    named = [equal(call(f"P{n}", *(var(x) for x in back.ins)), var(v)) for n, v in enumerate(back.outs)]
    out = [f"Source to dense       {s}", f"Dense to destination  {with_constraints(back, tuple(named))}"]
    composed = compose(back, s)
    if composed is not None:
        out.append(f"Composed              {composed}")
    return out


def _resolved(t: Layout) -> list[str]:
    out = ["", "Variables of the destination that the coordinates give; their permutations say nothing and go:"]
    out += [f"  {v} = {e}" for v, e in t.resolved]
    left = [q.var for q in t.positions]
    return [*out, f"  permutations that stay: {', '.join(left) if left else 'none'}"]


def _positions(p: Pair) -> list[str]:
    out = []
    for q in p.places:
        kind = "shared by entries of equal key" if q.dedup else "one for each entry"
        group = f", counted anew for each {', '.join(map(str, q.pos.group))}" if q.pos.group else ""
        parts = q.order.parts[:-q.order.free] if as_they_come(p, q) else q.order.parts
        order = f", ordered by {_list(parts)}{' descending' if q.order.down else ''}" if parts else ""
        order += ", then as they are met" if parts != q.order.parts else ""
        where = f", in the segments {q.pos.ptr}({', '.join(q.pos.segment.above)})" if q.pos.ptr else ""
        out.append(f"  {q.pos.var}: {kind}, key {_list(q.pos.key)}{order}{group}{where}")
    return out


def _unknowns(p: Pair) -> list[str]:
    out = ["", "Unknown functions and symbols, the constraints that can fill them, and their cases:"]
    for name, found in candidates(p):
        out.append(f"  {name}:")
        out += [f"    case {c.case}: {c.constraint}{'  <- used' if c.used else ''}" for c in found]
    return out


def _quantifiers(p: Pair) -> list[str]:
    out = ["", "Quantifiers:"]
    for q in p.target.desc.quantifiers:
        ptr = any(str(q.key).startswith(f"{pos.ptr}(") for pos in p.target.positions if pos.ptr)
        how = "enforced by a linear sweep unless the fill gives it" if ptr else "the order of the entries"
        out.append(f"  {q.variable}: {q.key} {q.sign}  ({how})")
    return out if len(out) > 2 else []


def _list(parts: tuple[Exp, ...]) -> str:
    return f"[{', '.join(map(str, parts))}]"


def _step(s: object) -> str:
    """A step in one line."""
    fields = getattr(s, "__dataclass_fields__", {})
    note = getattr(s, "note", "")
    simple = [f"{getattr(s, n)}" for n in fields if isinstance(getattr(s, n), (str, Exp)) and n not in ("note", "kind")]
    return f"{type(s).__name__.lower()} {note or ' '.join(x for x in simple if x)}"


