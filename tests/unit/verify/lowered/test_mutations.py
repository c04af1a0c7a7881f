"""The proofs find what is wrong with the form of a loop: vectors, what is left over, rows side by side, values kept in
variables, reads ahead. Forms that the tool has made are damaged, one place at a time, and none is accepted."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import fields, replace
from functools import cache
from typing import Any

import pytest

from codegen.ast.ctree import Bin, Block, CNode, For, Instance, Int, Name, substitute, walk
from codegen.ast.lowered import (
    Ahead,
    Alone,
    Backwards,
    Contiguous,
    Do,
    Each,
    Enough,
    First,
    Inner,
    Interleaved,
    InVariable,
    Join,
    Load,
    Move,
    OverlappingSteps,
    Picked,
    Plain,
    PutBoth,
    ReductionInit,
    ScalarReplacement,
    Split,
    StoreValue,
    Strips,
    Together,
    Until,
    Value,
    While,
    Work,
    Zip,
)
from codegen.machine import load
from codegen.options import GenOptions
from codegen.pipeline import generate
from codegen.region import ProvenRegion, make
from codegen.region_model import model_region
from codegen.scop.expr import Ref
from codegen.source_file import open_source
from codegen.verify.evidence import Finding
from codegen.verify.lowered.check import check_form
from codegen.verify.lowered.elements import Wrong
from codegen.verify.lowered.variables import BodyContext
from codegen.verify.proofs import prove

HEAD = (
    "void f(int n, int m, double c, double x[2 * n + 9], double y[2 * n + 9], double z[2 * n + 9],"
    " double A[n + m + 9][2 * (n + m) + 9], double B[n + m + 9][n + m + 9])"
)
PAIR = "vector i by 2 of 16 bytes"
# By name: the region, the plan, and whether sums may be reordered.
CASES = {
    "copy": ("for (int i = 0; i < n; i++) y[i] = x[i] + x[i + 1];", PAIR),
    "update": ("for (int i = 0; i < n; i++) y[i] += c * x[i];", PAIR),
    "chain": ("for (int i = 0; i < n; i++) { y[i] = x[i] * c; z[i] = y[i] + x[i]; }", PAIR),
    "reversed": ("for (int i = 0; i < n; i++) y[i] = x[n - i];", "vector i by 1 of 32 bytes"),
    "pairs": ("for (int i = 0; i < n; i++) y[i] = x[2 * i] + x[2 * i + 1];", PAIR),
    "apart": ("for (int i = 0; i < n; i++) y[i] += B[i][3];", "vector i by 1 of 16 bytes"),
    "in turn": ("for (int i = 0; i < n; i++) { y[2 * i] = x[i] + c; y[2 * i + 1] = x[i] * c; }", PAIR),
    "rows": (
        "for (int i = 1; i < n; i++) for (int j = 1; j < m; j++)"
        " B[i][j] = A[i][j - 1] + A[i][j + 1] + A[i - 1][j] + A[i + 1][j];",
        "jam i by 4\n  vector j by 2 of 16 bytes",
    ),
    "two of a row": (
        "for (int i = 1; i < n; i++) for (int j = 1; j < m; j++) B[i][j] = A[i][j - 1] + A[i][j + 1];",
        "jam i by 2\n  vector j by 2 of 16 bytes",
    ),
    "plain rows": ("for (int i = 0; i < n; i++) for (int j = 1; j < m; j++) B[i][j] += B[i][j - 1];", "jam i by 3"),
    "abreast": (
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) B[i][j] += c * A[i][j];",
        "tile i:3, j:0\n  order j, i\n  interleave i",
    ),
    "sums": (
        "for (int i = 0; i < n; i++) for (int k = 0; k < m; k++) y[i] += x[k] * z[i + k];",
        "vector i by 2 of 16 bytes",
    ),
    "triangle": (
        "for (int i = 0; i < n; i++) for (int k = i; k < m; k++) B[k][i] = A[i][k] - A[i][i + k];",
        "vector i by 1 of 16 bytes",
    ),
    "turned": (
        "for (int i = 0; i < n; i++) for (int k = 0; k < m; k++) B[k][i] = A[i][k];",
        "vector i by 1 of 16 bytes",
    ),
    "dot": ("for (int i = 0; i < n; i++) y[0] += x[i] * z[i];", PAIR),
    "hoist": ("for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) B[i][j] = x[i] * A[i][j] + y[i];", "vector j"),
    "carried": (
        "for (int i = 2; i < n; i++) { y[i] = c * y[i - 1] + x[i - 2]; z[i] = y[i] - x[i]; }",
        "scalar_replace i",
    ),
    "choices": (
        "for (int i = 1; i < n; i++)"
        " y[i] = y[i - 1] < (x[i] < z[i] ? x[i] : z[i]) ? y[i - 1] : (x[i] < z[i] ? x[i] : z[i]);",
        "scalar_replace i",
    ),
    "last": ("for (int i = 1; i < n; i++) for (int k = 1; k < m; k++) y[i] += x[k] * z[i - 1];", "scalar_replace k"),
    "asked": (
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) if (x[i] > c) B[i][j] = A[i][j] + x[i];",
        "vector j",
    ),
    "asked, then read": (
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) if (x[i] > c) B[i][j] = A[i][j] + y[i];",
        "vector j",
    ),
    "named": (
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) B[i][j] = A[i < 3 ? 0 : i > 7 ? 9 : i][j];",
        "vector j",
    ),
    "update of a row": (
        "for (int i = 1; i < n; i++) for (int j = 0; j < i; j++) B[n][j] += B[n][n] * A[i][j];",
        "vector j",
    ),
}


@cache
def made(name: str) -> ProvenRegion:
    body, plan = CASES[name]
    text = f"{HEAD}\n{{\n#pragma scop\n    {body}\n#pragma endscop\n}}\n"
    options = replace(GenOptions(), plan_text=f"region 1\n  {plan}\n", reassociate=name == "dot")
    model = model_region(open_source("in.c", text, options).slices[0], options)
    assert model is not None
    return make(model, options, load("generic"))


def changed(x: Any, kind: type, new: Callable[[Any], Any], which: int = 0) -> Any:
    """A tree in which one of its parts of a kind, counted in order, is another."""
    count = [which]

    def go(x: Any) -> Any:
        if isinstance(x, kind):
            count[0] -= 1
            if count[0] == -1:
                return new(x)
        if isinstance(x, tuple):
            return tuple(go(y) for y in x)
        if type(x).__module__ in ("codegen.ast.ctree", "codegen.ast.lowered"):
            parts = {f.name: getattr(x, f.name) for f in fields(x) if f.name not in ("head", "loop")}
            other = {k: go(v) for k, v in parts.items()}
            return replace(x, **{k: v for k, v in other.items() if v is not parts[k]})
        return x

    out = go(x)
    assert count[0] < 0, "there is nothing to change"
    return out


def findings(name: str, tree: CNode) -> tuple[Finding, ...]:
    m = made(name)
    return prove(m.program.scop, m.program.deps, tree)


def moved(place: Any, by: int = 1) -> Any:
    """The place so many elements further on."""
    return replace(place, at=(*place.at[:-1], Bin("+", place.at[-1], Int(by))))


def no_last(x: Any) -> Any:
    return replace(x, parts=x.parts[:-1])


def body_of(x: Any, *items: Any) -> Any:
    return replace(x, body=tuple(items))


def swapped(x: While) -> While:
    return replace(x, body=(*x.body[1:], x.body[0]))


def unguarded(f: Strips) -> Strips:
    (enough,) = f.parts
    return replace(f, parts=enough.then)


def again_in_place(f: Strips) -> Strips:
    """The rest by a vector that overlaps others, though the loop reads what it writes."""
    whole = next(p for p in f.parts if isinstance(p, While) and p.step > 1)
    half = whole.body[: len(whole.body) // 2]
    works = [x for x in half if isinstance(x, Value)]
    assert works
    body = (Do(works[0].work),)
    return replace(f, parts=(Enough(2, (*f.parts[:-1], OverlappingSteps(2, body)), (f.parts[-1],)),))


# By name: the case, the kind of part, which of them, what becomes of it, and words of the finding.
MUTATIONS: dict[str, tuple[str, type, int, Callable[[Any], Any], str]] = {
    "a wrong lane is read": ("copy", Contiguous, 1, moved, "another element of `x`"),
    "a wrong lane is stored": ("copy", Contiguous, 0, moved, "another element of `y`"),
    "the tail is lost": ("update", Strips, 0, no_last, "leave iterations out"),
    "the tail is lost where some run again": (
        "copy",
        Enough,
        0,
        lambda e: replace(e, then=e.then[:-1]),
        "leave iterations out",
    ),
    "the tail of a few is lost": ("copy", Enough, 0, lambda e: replace(e, orelse=()), "leave iterations out"),
    "a tail that overlaps what is not idempotent": ("update", Strips, 0, again_in_place, "runs iterations again"),
    "a tail that begins before the loop": ("copy", Strips, 0, unguarded, "more iterations than may be there"),
    "a tail that is longer than what is there": (
        "copy",
        Enough,
        0,
        lambda e: replace(e, step=1),
        "more iterations than may be there",
    ),
    "a step that is too long": ("copy", While, 0, lambda w: replace(w, step=w.step + 1), "once in each iteration"),
    "a step that is too short": ("copy", While, 0, lambda w: replace(w, step=w.step - 1), "none of the block|beyond"),
    "a peel that may go too far": ("copy", Until, 0, lambda u: replace(u, each=16), "beyond what has run"),
    "a lane that is right in the shortest vectors alone": (
        "copy",
        Contiguous,
        8,
        lambda p: Contiguous(tuple(substitute(e, {"TW_F64_LANES": Int(2)}) for e in p.at)),
        "another element of `x`|none of the block",
    ),
    "a step of short vectors that is too long": (
        "sums",
        While,
        2,
        lambda w: replace(w, step=w.step + 1),
        "once in each iteration",
    ),
    "a step of short vectors that is too short": (
        "sums",
        While,
        2,
        lambda w: replace(w, step=w.step - 1),
        "may not be there",
    ),
    "short vectors of another length": (
        "sums",
        While,
        2,
        lambda w: replace(w, lanes=replace(w.lanes, count=2 * w.lanes.count)),
        "vectors of another length",
    ),
    "short vectors of any length": (
        "sums",
        While,
        2,
        lambda w: replace(w, lanes=replace(w.lanes, wider=True)),
        "leaves open how long",
    ),
    "short vectors of other lanes": ("sums", Contiguous, 9, moved, "another element of `z`"),
    "other bounds": (
        "copy",
        Strips,
        0,
        lambda f: replace(f, head=replace(f.head, upper=Name("m"))),
        "other bounds",
    ),
    "a statement is left out": ("chain", While, 0, lambda w: replace(w, body=w.body[1:]), "once in each iteration"),
    "a statement runs twice": ("chain", While, 0, lambda w: body_of(w, w.body[0], *w.body), "once in each iteration"),
    "statements in another order": ("chain", While, 0, swapped, "changes the order"),
    "a value of another vector is stored": (
        "copy",
        StoreValue,
        0,
        lambda p: replace(p, name="v.1"),
        "another iteration",
    ),
    "a row backwards": ("reversed", Backwards, 0, lambda b: Contiguous(b.at), "another element of `x`"),
    "other places are picked": ("pairs", Picked, 0, lambda p: replace(p, places=(0, 1)), "another element of `x`"),
    "a vector behind the end is picked from": (
        "pairs",
        Picked,
        1,
        lambda p: replace(p, at=(p.at[0], (Bin("+", p.at[1][0], Int(2)),)), places=(p.places[0], 1)),
        "another element|may not be there",
    ),
    "lanes one by one, two exchanged": (
        "apart",
        Each,
        0,
        lambda e: replace(e, at=e.at[::-1]),
        "another element of `B`",
    ),
    "elements in turn, the second first": (
        "in turn",
        PutBoth,
        0,
        lambda p: PutBoth(p.second, p.first, p.names[::-1]),
        "another element of `y`",
    ),
    "elements in turn, values exchanged": (
        "in turn",
        PutBoth,
        0,
        lambda p: replace(p, names=p.names[::-1]),
        "another iteration",
    ),
    "a row too many": ("plain rows", While, 0, lambda w: replace(w, step=4), "once in each iteration"),
    "a row too few": ("plain rows", While, 0, lambda w: replace(w, step=2), "none of the block"),
    "rows that are left over are lost": ("plain rows", Strips, 0, no_last, "leave iterations out"),
    "rows that are left over have another loop": (
        "plain rows",
        Plain,
        0,
        lambda p: Plain(replace(p.node, upper=Name("n"))),
        "something else in single",
    ),
    "one row's value goes to another": (
        "plain rows",
        StoreValue,
        0,
        lambda p: replace(p, name="v.1"),
        "another iteration",
    ),
    "rows inside another loop": (
        "plain rows",
        Inner,
        0,
        lambda x: replace(x, head=replace(x.head, lower=Int(0))),
        "other bounds",
    ),
    "a stale vector": ("rows", Move, 0, lambda m: replace(m, source=m.name), "another element of `A`"),
    "a vector that the next step does not find": (
        "rows",
        Move,
        4,
        lambda m: replace(m, source=m.name),
        "not the next one's|another element of `A`",
    ),
    "another vector is kept": (
        "rows",
        Load,
        0,
        lambda x: replace(x, place=moved(x.place)),
        "may not be there|not the next one's|another",
    ),
    "vectors are read ahead of steps that may not be there": (
        "two of a row",
        Enough,
        2,
        lambda e: replace(e, step=1),
        "may not be there",
    ),
    "an element of another row": (
        "rows",
        Contiguous,
        3,
        lambda w: Contiguous((Bin("+", w.at[0], Int(1)), w.at[1])),
        "another|may not be there",
    ),
    "fewer iterations abreast": ("abreast", Interleaved, 0, lambda a: replace(a, count=2), "none of the block"),
    "more iterations abreast": ("abreast", Interleaved, 0, lambda a: replace(a, count=4), "once in each iteration"),
    "sums that are not stored": ("sums", Together, 0, lambda t: replace(t, stores=()), "not where it does"),
    "sums that may not be there": ("sums", Together, 0, lambda t: replace(t, tests=()), "may not be there"),
    "sums in memory and in a variable": (
        "sums",
        InVariable,
        0,
        lambda k: Contiguous((Name("c0"),)),
        "in memory while variables|another element",
    ),
    "one sum in two variables": ("sums", InVariable, 0, lambda k: InVariable("v.1"), "another element of `y`"),
    "lanes that are left out alone": ("triangle", Alone, 0, lambda a: replace(a, count=1), "all lanes"),
    "lanes that begin too early": (
        "triangle",
        Split,
        0,
        lambda s: replace(s, first=Bin("-", s.first, Int(1))),
        "every lane's iterations",
    ),
    "lanes that begin too late": (
        "triangle",
        Split,
        0,
        lambda s: replace(s, before=None),
        "every lane's iterations",
    ),
    "a block turned wrongly": ("turned", Zip, 0, lambda z: replace(z, second=not z.second), "another element of `A`"),
    "a block of other rows": ("turned", Zip, 0, lambda z: replace(z, of=z.of[::-1]), "another element of `A`"),
    "a turned loop without its rest": ("turned", Together, 0, lambda t: replace(t, rest=False), "leave iterations of"),
    "a sum that is not joined": ("dot", Join, 0, lambda j: replace(j, names=j.names[:1]), "does not join all"),
    "a sum that is joined twice": ("dot", Join, 0, lambda j: replace(j, names=(*j.names, j.names[0])), "join all"),
    "a sum of products": ("dot", Join, 0, lambda j: replace(j, op="*"), "in another way"),
    "sums that begin with another value": ("dot", ReductionInit, 0, lambda g: replace(g, op="*"), "no fold"),
    "a kept value that is too old": ("carried", Move, 0, lambda m: replace(m, source=m.name), "in the next iteration"),
    "kept values in another order": (
        "carried",
        ScalarReplacement,
        0,
        lambda k: replace(k, body=(k.body[-1], *k.body[:-1])),
        "is not there|none of this",
    ),
    "a kept value that is read too early": (
        "carried",
        First,
        1,
        lambda f: replace(f, wait=f.wait + 3),
        "may not be there",
    ),
    "a kept value that begins elsewhere": (
        "carried",
        First,
        0,
        lambda f: replace(f, index=(Int(7),)),
        "begins with another element",
    ),
    "a loop that keeps values and loses a store": (
        "carried",
        ScalarReplacement,
        0,
        lambda k: replace(k, body=tuple(x for x in k.body if not isinstance(x, StoreValue))),
        "order",
    ),
    "a choice that is another one": (
        "choices",
        Work,
        0,
        lambda w: replace(w, choices=tuple(replace(e, yes=e.no) for e in w.choices)),
        "may not compute",
    ),
    "a value that is not always computed": (
        "choices",
        Work,
        0,
        lambda w: replace(w, choices=(Ref(w.places.index(w.places[-1])), *w.choices)),
        "may not compute",
    ),
    "a last value that is not stored": ("last", ScalarReplacement, 0, lambda k: replace(k, last=()), "the last value"),
    "a condition that is asked where the loop may not run": (
        "asked",
        For,
        1,
        lambda f: replace(f, asked=(False,)),
        "may not be there",
    ),
    "a read ahead whose condition is not asked": (
        "asked, then read",
        For,
        1,
        lambda f: replace(f, asked=()),
        "may not be there",
    ),
    "a condition too many": ("asked", For, 1, lambda f: replace(f, asked=(True, True)), "stores without it"),
    "a condition of statements that have none": (
        "hoist",
        For,
        1,
        lambda f: replace(f, asked=(True,)),
        "stores without it",
    ),
    "a read ahead of another element": (
        "hoist",
        Ahead,
        1,
        lambda a: replace(a, name="c.0"),
        "two elements",
    ),
    "a read ahead that moves": ("hoist", Ahead, 0, lambda a: replace(a, access=2), "moves with it|not in it"),
    "a read ahead of a loop that may not run": (
        "hoist",
        For,
        1,
        lambda f: replace(f, sure=True),
        "no test",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_forms_are_proven(name: str) -> None:
    m = made(name)
    assert any(isinstance(x, For) and (x.form or x.ahead or x.lets) for x in walk(m.code))
    assert not findings(name, m.code)


@pytest.mark.parametrize("mutation", MUTATIONS)
def test_wrong_forms_are_found(mutation: str) -> None:
    name, kind, which, new, words = MUTATIONS[mutation]
    found = findings(name, changed(made(name).code, kind, new, which))
    assert found, "nothing was found"
    assert all(f.check in ("form", "ahead") for f in found), found
    assert any(w in f.message for f in found for w in words.split("|")), found


def test_memory_that_is_written_is_not_read_ahead() -> None:
    """A loop that keeps values in variables: y[0] is written in each iteration before it is read."""
    body = "for (int i = 1; i < n; i++) { y[0] = x[i] * c; z[i] = y[0] + z[i - 1]; }"
    CASES["written"] = (body, "scalar_replace i")
    code = made("written").code
    loop = next(x for x in walk(code) if isinstance(x, For))
    assert loop.carried and not loop.ahead and isinstance(loop.body, Block)
    second = loop.body.children[1]
    assert isinstance(second, Instance)
    number = next(n for n, index in enumerate(second.accesses) if index == (Int(0),))
    found = findings("written", changed(code, For, lambda f: replace(f, ahead=(Ahead("c.0", second, number),))))
    assert [f.check for f in found] == ["ahead"] and "written before it is used" in found[0].message


def test_each_of_several_reads_ahead_has_its_own_variable() -> None:
    """A body that is written out has one statement several times, with another element each time."""
    body = "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) for (int k = 0; k < 3; k++) B[i][j] += A[i][k];"
    text = f"{HEAD}\n{{\n#pragma scop\n    {body}\n#pragma endscop\n}}\n"
    plan = "region 1\n  unroll k by 3\n  vector j\n"
    out = generate("in.c", text, replace(GenOptions(), plan_text=plan)).text
    added = re.findall(r"B\[i\]\[j\] \+= ([^;]+);", out)
    assert len(set(added[:3])) == 3


def test_names_for_subscripts_are_followed() -> None:
    """A name that stands for another row, or for one that changes in the loop."""
    code = made("named").code
    loop = next(x for x in walk(code) if isinstance(x, For) and x.lets)
    ((name, value),) = loop.lets
    wrong = changed(code, For, lambda f: replace(f, lets=((name, Bin("+", value, Int(1))),)), 1)
    assert {f.check for f in findings("named", wrong)} == {"subscript"}
    moving = changed(code, For, lambda f: replace(f, lets=((name, Bin("+", value, Name(loop.var))),)), 1)
    assert "ahead" in {f.check for f in findings("named", moving)}


@pytest.mark.parametrize("body, narrow", [("i < n; i++) y[i] = i", True), ("i < n + m; i++) y[i] = i", False)])
def test_counters_are_as_wide_as_they_have_to_be(body: str, narrow: bool) -> None:
    """A loop that computes with its counter counts in an `int`, as the source does, where its end is one."""
    CASES[body] = (f"for (int i = 0; {body};", "vector i")
    code = made(body).code
    assert [x.narrow for x in walk(code) if isinstance(x, For)] == [narrow] and not findings(body, code)
    wrong = findings(body, changed(code, For, lambda f: replace(f, narrow=True, upper=Bin("+", f.upper, Int(1)))))
    assert any("counts in an int" in f.message for f in wrong)


def test_a_form_of_open_width_is_proven_written_out_alone() -> None:
    """As it is, it would be proven for the shortest vectors."""
    m = made("copy")
    loop = next(x for x in walk(m.code) if isinstance(x, For) and x.form is not None)
    with pytest.raises(Wrong, match="leaves open how long"):
        check_form(BodyContext(m.program.scop, None, "", frozenset()), loop, loop.form)
