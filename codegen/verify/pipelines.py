"""Proof of pipelined loops: which dependences their waits cover.

Iterations of a pipelined loop are shared out to threads in order. At stage b, iteration a waits until a - 1 has
finished stage b or a later one, or has ended; and it ends only after a - 1 has ended. By induction (a, b) begins after
(a', b') has ended for all a' < a and b' <= b: iteration a - 1 has passed b only after a - 2 had, and so on. Within an
iteration all work is in one loop over the stages, which rise. So a dependence between two iterations is kept if its
source lies in the earlier one, at the same stage or before. `check_pipeline` compares the printed lines around such a
loop (turns of threads, waits, stages) with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

import islpy as isl

from codegen.ast.ctree import Bin, For, Int, Name
from codegen.ast.pipelines import stage_of
from codegen.scop.dependences import Dependence, param_space
from codegen.scop.distance import after, before
from codegen.scop.isl_helpers import sample_pair
from codegen.scop.model import Scop
from codegen.target.text.pieces import View, beside
from codegen.verify.evidence import in_one_run
from codegen.verify.guards import Parameters
from codegen.verify.readback import StatementRun, TreePoint, same_iteration_until
from codegen.verify.sentences import describe_pair
from codegen.verify.text.read import Node, Unread, read_expression

VARIABLE = re.compile(r"(?:long|int) (\w+) = ")


def waits_keep(ties: Iterable[tuple[isl.Map, StatementRun, StatementRun]], lp: For, stage: For) -> bool:
    """Is every one of these ties of two places that lies in one run of the loop kept? Asked place by place and loop by
    loop, which is far cheaper than with whole times, but gives no example."""
    for pairs, a, b in ties:
        if not all(any(x is lp for x in r.point.loops) for r in (a, b)):
            continue
        depth = a.point.when.index(lp.var)
        first, then = a.times[depth], b.times[depth]
        early, late = (r.point.value(Name(stage.var)) for r in (a, b))
        assert not isinstance(first, int) and not isinstance(then, int)
        together = in_one_run(pairs, a, b, depth)
        if not together.is_disjoint(after(first, then)):
            return False
        if not together.intersect(after(early, late)).is_disjoint(before(first, then)):
            return False
    return True


def unsafe_pipeline(scop: Scop, ties: Sequence[Dependence], runs: Sequence[StatementRun], lp: For, stage: For) -> str:
    """A sentence about a dependence that no wait keeps; empty when there is none."""
    inside = [r for r in runs if any(x is lp for x in r.point.loops)]
    when = inside[0].point.when
    cut = when.index(lp.var) + 1
    times = isl.UnionMap.empty(param_space(scop))
    for r in inside:
        at = isl.Map.from_pw_aff(r.point.value(Name(stage.var)))
        both = r.time(cut).flat_range_product(at)
        times = times.union(isl.UnionMap.from_map(r.executes(scop).reverse().apply_range(both)))
    apart = isl.UnionMap.from_map(_uncovered(scop, cut, when, lp.var))
    times = times.coalesce()
    here = times.domain().universe()
    for d in ties:
        relation = d.relation.intersect_domain(here).intersect_range(here)
        early = relation.apply_domain(times).apply_range(times).intersect(apart)
        if not early.is_empty():
            back = times.reverse()
            pair = early.apply_domain(back).apply_range(back).intersect(relation)
            why = f"is not covered by the waits of the pipelined loop `{lp.loop.name}`"
            return describe_pair(scop, d, sample_pair(pair), why)
    return ""


def _uncovered(scop: Scop, cut: int, when: tuple[int | str, ...], var: str) -> isl.Map:
    """Pairs of times (up to the loop, then the stage) in one run of the loop that no wait puts in order."""
    pairs = same_iteration_until(param_space(scop), cut, when, var)
    pairs = pairs.insert_dims(isl.dim_type.in_, cut, 1).insert_dims(isl.dim_type.out, cut, 1)
    backwards = pairs.order_gt(isl.dim_type.in_, cut - 1, isl.dim_type.out, cut - 1)
    return backwards.union(pairs.order_gt(isl.dim_type.in_, cut, isl.dim_type.out, cut))


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
