"""The methods of `tune` that search loop trees (searched, modelled or learned) for a region that is one product; the
best trees become plans, which are measured again in the region."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from codegen.isa.load import load as load_isa
from codegen.isa.model import Isa
from codegen.lower.nest.kernel import KEPT
from codegen.lower.nest.loops import THREADS
from codegen.tune.contraction import show as show_problem
from codegen.tune.cost import Model
from codegen.tune.learn.answer import answers
from codegen.tune.learn.estimate import estimate
from codegen.tune.learn.network import shipped
from codegen.tune.measure.clock import Effort
from codegen.tune.measure.measurer import Measurer
from codegen.tune.plans.contractions import Sole, planned, sole_product
from codegen.tune.plans.search.sampling import only_default
from codegen.tune.plans.sizes import spelled
from codegen.tune.plans.study import Study
from codegen.tune.search import METHODS as SEARCHES
from codegen.tune.search import Budget, Found, Search, Trial, modelled, run
from codegen.tune.search.tiles import ranked
from codegen.tune.tree import Tree, joined, show_nest, start

SHARE = 0.75  # of the time that is left, for the search on trees
MOST = 2  # plans that the best trees become
COUNT = 12  # trees that each value of no cost may name
BEST = "shortlist"


class NoTrees(Exception):
    """A method that cannot be used here; the text says why."""


def by_trees(study: Study, method: str) -> None:
    """Search among trees, then measure the plans of the best. NoTrees where that cannot be."""
    base = study.space.bases[0]
    sole = sole_product(base, spelled(study.bench.subject, study.bench.vector))
    if sole is None:
        raise NoTrees(f"{method} is for one product of two arrays, which this region is not")
    only_default(study)
    team = study.bench.threads > 1 and sole.problem.flops // 2 >= sole.how.threads
    found = _search(study, method, sole, team)
    trees = [together(tree) if team else tree for tree in _best(found)]
    plans = [
        (base.text(planned(base, sole, tree), study.space.digest), f"{method}: {show_nest(tree.compute)}")
        for tree in trees
    ]
    study.measure_plans(plans[:MOST])
    if found.interrupted:
        raise KeyboardInterrupt


def together(tree: Tree) -> Tree:
    """The same tree with its outermost loop shared by threads, where that can be."""
    first, *rest = joined(tree.compute)
    if first.var not in tree.problem.c:
        return tree
    return tree._replace(compute=(first._replace(pack="".join(sorted({*first.pack, THREADS}))), *rest), cursor=0)


def _search(study: Study, method: str, sole: Sole, team: bool) -> Found:
    """`team`: the product is large enough for threads, so trees are measured with their outermost loop shared."""
    isa, machine = load_isa(sole.how.isa, sole.how.bits), study.bench.subject.machine
    model = Model(machine, isa)
    search = searches(model, isa, study.learned)[method]
    budget = Budget(max(1.0, SHARE * study.left))
    flags = shlex.join(study.bench.compiler.flags)
    effort = Effort(busy=study.bench.busy, threads=study.bench.threads if team else 1)
    with Measurer(isa, flags, KEPT, effort, jobs=study.jobs) as bench:
        value = (lambda trees: bench([together(t) for t in trees])) if team else bench
        return run(search, start(sole.problem), value, budget, lambda step: study.say(_words(method, sole, step.value)))


def searches(model: Model, isa: Isa, folder: str = "") -> Mapping[str, Search]:
    """All searches on trees by name; `folder` has networks to use instead of those that come with the package."""
    learned = {
        "policy": partial(_policy, model=model, folder=folder),
        "policy-v1": partial(_policy, model=model, folder=folder, version="v1"),
        "learned": partial(_learned, model=model, folder=folder),
        BEST: partial(_shortlist, model=model, folder=folder),
    }
    return {**SEARCHES, **modelled(model, isa), **learned}


def _policy(trial: Trial, model: Model, folder: str, version: str = "v2") -> None:
    trial.values(_answers(trial.start, model, folder, version)[:1])


def _learned(trial: Trial, model: Model, folder: str) -> None:
    trial.values(_likely(trial.start, model, folder))


def _answers(first: Tree, model: Model, folder: str, version: str = "v2") -> list[Tree]:
    """The trees that a trained policy ends with, best first."""
    with _trained(folder):
        return answers(first, model, version, folder)


def _likely(first: Tree, model: Model, folder: str) -> list[Tree]:
    """The few trees that a trained estimate likes best."""
    with _trained(folder):
        guess = estimate(shipped("estimate", folder), model)
    return ranked(first.problem, lambda trees: [*guess(trees)], model.isa)[:COUNT]


def _shortlist(trial: Trial, model: Model, folder: str) -> None:
    """What the processor's model likes best; where there is NumPy, also what was learned would choose."""
    trees = ranked(trial.start.problem, model, model.isa)[:COUNT]
    with suppress(NoTrees):
        trees += [*_answers(trial.start, model, folder)[:COUNT], *_likely(trial.start, model, folder)]
    trial.values(trees)


@contextmanager
def _trained(folder: str) -> Iterator[None]:
    """NoTrees where what was trained cannot be used."""
    try:
        yield
    except FileNotFoundError as error:
        name = Path(str(error.filename)).name
        raise NoTrees(f"there is no {name} in {folder}" if folder else f"this package has no {name}") from None
    except ImportError:
        raise NoTrees("what was trained needs NumPy: pip install 'tilewright[tune]'") from None


def _best(found: Found) -> Iterable[Tree]:
    """The best tree first, then those that were the best before it, up to the one that every search begins with."""
    return dict.fromkeys(step.tree._replace(cursor=0) for step in reversed(found.history[1:]))


def _words(method: str, sole: Sole, value: float) -> str:
    return f"{method}: {show_problem(sole.problem)}: {value:.3g} GFLOPS"
