"""Other spellings of a random program, which mean the same: enums in place of integers that they are represented by,
arrays behind pointers in memory, and objects that are volatile."""
from __future__ import annotations

import re
from dataclasses import replace
from random import Random

from tests.property.model import Features, Program
from tests.property.tree import For, If, Line, Node

# How a type is written where it is meant, and the enumerators of an enum that is represented by it.
ENUMS = {
    "unsigned": (r"\bunsigned\b(?! (?:char|short|int|long))", "", "{0}_0, {0}_1 = 7"),
    "int": (r"(?<!unsigned )(?<!long )\bint\b", "", "{0}_0 = -1, {0}_1 = 1 << 4"),
    "unsigned char": (r"\bunsigned char\b", "__attribute__((packed)) ", "{0}_0, {0}_1 = 200"),
    "unsigned short": (r"\bunsigned short\b", "__attribute__((packed)) ", "{0}_0 = 3, {0}_1 = 60000"),
    "short": (r"(?<!unsigned )\bshort\b", "__attribute__((packed)) ", "{0}_0 = -1, {0}_1 = 30000"),
    "signed char": (r"(?<!un)\bsigned char\b", "__attribute__((packed)) ", "{0}_0 = -1, {0}_1 = 'a'"),
}
# What is declared for an array `A` of elements `T`, and how it is used then.
WAYS = (
    ("struct {{ T *p; }} v_A = {{A}}, *s_A = &v_A;", ("(*s_A).p", "s_A->p", "(&*s_A)->p", "s_A[0].p", "(*&v_A).p")),
    ("T *h_A = A, **p_A = &h_A;", ("(*p_A)", "p_A[0]", "(*(p_A + 0))", "(*&h_A)")),
    ("T *h_A = A, **p_A = &h_A, ***d_A = &p_A;", ("(**d_A)", "d_A[0][0]", "(*d_A)[0]")),
    ("struct {{ T *p; }} v_A = {{A}}, *s_A = &v_A, **d_A = &s_A;", ("(*d_A)->p", "(**d_A).p", "d_A[0]->p")),
    ("struct {{ int n; struct {{ T *q[2]; }} in; }} v_A = {{1, {{{{A, A}}}}}}, *s_A = &v_A;",
     ("(*s_A).in.q[1]", "(*s_A->in.q)", "s_A->in.q[0]")),
    ("struct {{ T *p; }} v_A = {{A}}, *s_A = &v_A; T *w_A = (*s_A).p;", ("w_A",)),
)  # fmt: skip


def respelled(program: Program, features: Features) -> Program:
    """The program, in other words for some seeds."""
    rng = Random(f"spellings {program.seed}")
    if rng.random() < features.enums:
        program = _with_enums(program, rng)
    if rng.random() < features.places:
        program = _with_places(program, rng)
    return _with_volatile(program, rng) if rng.random() < features.volatiles else program


def _changed(nodes: tuple[Node, ...], pattern: str, new: str) -> tuple[Node, ...]:
    """A body with other text."""
    def of(text: str) -> str:
        return re.sub(pattern, lambda _: new, text)

    def node(n: Node) -> Node:
        if isinstance(n, Line):
            return Line(of(n.text))
        if isinstance(n, For):
            return For(of(n.head), tuple(map(node, n.body)))
        return If(of(n.cond), tuple(map(node, n.body)), tuple(map(node, n.other)))

    return tuple(map(node, nodes))


def _with_enums(p: Program, rng: Random) -> Program:
    """One or two types become enums wherever they are written."""
    definitions = ""
    for name in rng.sample(sorted(ENUMS), 2):
        pattern, packed, values = ENUMS[name]
        tag = f"e{p.seed}_{name.replace(' ', '_')}"
        texts = (p.params, p.before, p.types, p.objects, *(b.ctype for b in p.buffers), p.text())
        if not any(re.search(pattern, t.replace(p.prelude, "")) for t in texts):
            continue
        named = rng.random() < 0.5
        body = f"enum {packed}{'' if named else f'{tag} '}{{ {values.format(tag)} }}"
        definitions += f"typedef {body} {tag};\n" if named else f"{body};\n"
        new = tag if named else f"enum {tag}"
        params, before, types, objects = (re.sub(pattern, new, t) for t in texts[:4])
        buffers = tuple(replace(b, ctype=re.sub(pattern, new, b.ctype)) for b in p.buffers)
        p = replace(p, params=params, before=before, types=types, objects=objects, buffers=buffers,
                    body=_changed(p.body, pattern, new))
    return replace(p, types=definitions + p.types, kinds=(*p.kinds, "enums")) if definitions else p


def _with_places(p: Program, rng: Random) -> Program:
    """Some parameters that are pointers lie behind further ones, and the region uses those."""
    found = [m for m in re.finditer(r"(?:^|, )([^,*]+?) \*(\w+)(?=,|$)", p.params) if not m[2].startswith("p_")]
    chosen = [m for m in found if rng.random() < 0.7]
    for m in chosen:
        how, uses = rng.choice(WAYS)
        declared = re.sub(r"\bT\b", m[1], re.sub(r"(?<![A-Za-z0-9])A\b|(?<=_)A\b", m[2], how.format()))
        body = _changed(p.body, rf"\b{m[2]}\b", rng.choice(uses).replace("_A", f"_{m[2]}"))
        p = replace(p, before=f"{p.before}  {declared}\n", body=body)
    return replace(p, kinds=(*p.kinds, "places")) if chosen else p


def _with_volatile(p: Program, rng: Random) -> Program:
    """A counter or a variable is volatile."""
    found = list(re.finditer(r"^  (?=[a-z_0-9 ]+ (?:[ijkl]|s\d) = )", p.before, re.M))
    if not found:
        return p
    at = rng.choice(found).end()
    return replace(p, before=f"{p.before[:at]}volatile {p.before[at:]}", kinds=(*p.kinds, "volatile"))
