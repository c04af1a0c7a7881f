"""Beam search over plans: neighbours of the best few points are ranked, and the most promising are measured."""

from __future__ import annotations

from codegen.machine.detect import detect
from codegen.tune.plans.learned.facts import facts_of
from codegen.tune.plans.learned.model import model_of
from codegen.tune.plans.prior import Surrogate
from codegen.tune.plans.search.greedy import starts
from codegen.tune.plans.sizes import spelled
from codegen.tune.plans.space import Point
from codegen.tune.plans.study import Study

MEASURED = 4  # times the width, at each level


def surrogate_of(study: Study) -> Surrogate:
    """With the learned model of the region's plans, where there is one."""
    bench, program = study.bench, study.bench.subject.model.program
    if bench.subject.tuning is not None:  # what was learned is about processors
        return Surrogate(study.space, bench.subject.tuning.expected)
    sizes = spelled(bench.subject, bench.vector)
    facts = facts_of(program.scop, program.tree, sizes, detect().machine, bench.threads)
    return Surrogate(study.space, model_of(facts, study.space.bases[0].plan, study.learned).slowdown)


def beam(study: Study, width: int) -> None:
    """Levels of single turns, until one has nothing new."""
    guide = surrogate_of(study)
    front = starts(study)
    for seconds, point in front:
        guide.learn(point, seconds)
    seen: set[Point] = {p for _, p in front}
    front = front[:width]
    while True:
        turns = {q for _, p in front for k in range(len(p.choices)) for q in study.space.along(p, k)} - seen
        ranked = sorted(turns, key=lambda p: (guide.value(p), p.base, p.choices))[: MEASURED * width]
        if not ranked:
            return
        seen |= set(ranked)
        times = study.measure(ranked)
        for p, t in zip(ranked, times, strict=True):
            guide.learn(p, t)
        level = [(t, p) for t, p in zip(times, ranked, strict=True) if t is not None]
        front = sorted([*front, *level], key=lambda x: x[0])[:width]
