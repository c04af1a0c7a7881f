"""Checks the printed lines around a pipelined loop (turns of threads, waits, stages) against the loop; raises Unread.
`pipelines.py` shows which dependences these waits cover."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import islpy as isl

from codegen.ast.ctree import Bin, For, Int, Name
from codegen.ast.pipelines import stage_of
from codegen.scop.model import Scop
from codegen.target.text.pieces import View, beside
from codegen.verify.guards import Parameters
from codegen.verify.readback import TreePoint
from codegen.verify.text.read import Node, Unread, read_expression

VARIABLE = re.compile(r"(?:long|int) (\w+) = ")


def check_pipeline(scop: Scop, v: View, node: For, around: Sequence[View]) -> None:
    """Raises Unread where the text of a pipelined loop is another one."""
    _check_waits(v, node, around)
    _check_turns(scop, v, node, around)


def _check_waits(v: View, node: For, around: Sequence[View]) -> None:
    """Iterations are taken in turn; each waits for the one before it at every stage, and at its end."""
    turn = VARIABLE.match(v.head)
    stage = stage_of(node)
    lines = [x.head for x in v.body]
    found = [x for x in _all(v.body) if x.kind == "for" and x.loop is stage]
    first = beside(around[-1], v)[0] if around else ()
    if turn is None or stage is None or len(found) != 1:
        raise Unread("a pipeline without a loop over its stages")
    t = turn[1]
    name = VARIABLE.match(found[0].head)
    inner = [x.head for x in found[0].body]
    ends = [f"tw_follow(tw_line, {t}, TW_LAST);", "tw_reach(tw_line, TW_LAST);"]
    right = (
        v.head.startswith(f"long {t} = tw_thread(); ") and v.head.endswith(f"; {t} += tw_team_size()")
        and lines[-2:] == ends and f"tw_enter(tw_line, {t});" in lines[:2]
        and name is not None and inner[0] == f"tw_follow(tw_line, {t}, {name[1]});"
        and inner[-1] == f"tw_reach(tw_line, {name[1]});"
        and [x.head for x in first] == ["tw_place tw_line[TW_LINE];", "tw_begin(tw_line);"]
    )  # fmt: skip
    if not right:
        raise Unread("a pipeline does not wait where it has to")


def _check_turns(scop: Scop, v: View, node: For, around: Sequence[View]) -> None:
    """The iterations that are taken in turn are those of the loop."""
    head = re.fullmatch(r"long (\w+) = tw_thread\(\); (.+) (<=?) (.+); \1 \+= tw_team_size\(\)", v.head)
    if head is None or head[3] != node.op:
        raise Unread("a pipeline of another form")
    given = {m[1]: x.loop.var for x in around if x.loop is not None and (m := VARIABLE.match(x.head))}
    given[head[1]] = head[1]
    p = Parameters(scop)
    p.params |= {Node("name", text): var for text, var in given.items()}
    space = scop.context.get_space().align_params(p.ranges.get_space())
    space = space.set_from_params().add_dims(isl.dim_type.set, len(given))
    here = TreePoint(isl.Set.universe(space), tuple(given.values()), (), (), ())
    turn = Bin("+", node.lower, Bin("*", Int(node.step), Name(head[1])))
    names = [x.head.partition(" = ")[2].removesuffix(";") for x in v.body[:1] if x.head.startswith("const long ")]
    for text, wanted in ((head[2], turn), (head[4], node.upper), *((text, turn) for text in names)):
        got = here.value(p.value(read_expression(text)))
        if not here.domain.is_subset(got.eq_set(here.value(wanted))):
            raise Unread("a pipeline takes other iterations than its loop has")


def _all(views: Sequence[View]) -> Iterator[View]:
    for v in views:
        yield v
        yield from _all((*v.body, *v.orelse))
