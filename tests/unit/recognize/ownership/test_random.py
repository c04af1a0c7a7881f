"""Random references against enumeration: the linear tests never say yes wrongly, the exact test is always right."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import product

import islpy as isl
import pytest

from codegen.recognize.ownership.algebra import matrix
from codegen.recognize.ownership.decide import verdict
from codegen.recognize.ownership.exact import disjoint_images, private
from codegen.recognize.ownership.linear import equal_subscripts, linear, remark2, theorem1
from codegen.recognize.ownership.model import Form, NestFrame, Reference, ThreadAxis
from tests.corpus import ALL

PARTS, CASES = 4, 2_500 if ALL else 1_000
Rows = list[list[int]]


class Case:
    """One block of two statement groups, each with a reference to one array, on coarse threads."""

    def __init__(self, rng: random.Random) -> None:
        self.depth = rng.choice((1, 2, 2, 3))
        rank = rng.choice((1, 2, 2))
        self.sizes = [rng.randint(1, 4) for _ in range(self.depth)]
        first = [[rng.choice((0, 0, 1, 1, -1, 2, 4)) for _ in range(self.depth)] for _ in range(rank)]
        second = first if rng.random() < 0.6 else [[rng.choice((0, 0, 1, -1)) for _ in r] for r in first]
        self.matrices = (first, second)
        near = [rng.choice((0, 0, 0, 1, -2)) for _ in range(rank)]
        self.offsets = ([0] * rank, near)
        dims = rng.sample(range(self.depth), rng.randint(1, self.depth))
        skew = rng.random() < 0.2 and self.depth > 1
        self.rows = [[int(d == k) for d in range(self.depth)] for k in dims]
        if skew:
            self.rows[0] = [x + (1 if d == (dims[0] + 1) % self.depth else 0) for d, x in enumerate(self.rows[0])]
        self.coarse = [rng.choice((1, 1, 2, 3)) for _ in dims]

    def points(self) -> list[tuple[int, ...]]:
        return list(product(*(range(n) for n in self.sizes)))

    def thread(self, it: Sequence[int]) -> tuple[int, ...]:
        return tuple(_dot(r, it) // c for r, c in zip(self.rows, self.coarse, strict=True))

    def private(self, a: int, b: int) -> bool:
        """No element that `a` touches is touched through `b` by another thread."""
        users: dict[tuple[int, ...], set[tuple[int, ...]]] = {}
        for it in self.points():
            users.setdefault(self._element(b, it), set()).add(self.thread(it))
        return all(users.get(self._element(a, it), {t}) == {t} for it in self.points() for t in (self.thread(it),))

    def meet(self) -> bool:
        one, two = ({self._element(k, it) for it in self.points()} for k in (0, 1))
        return bool(one & two)

    def _element(self, which: int, it: Sequence[int]) -> tuple[int, ...]:
        rows, offset = self.matrices[which], self.offsets[which]
        return tuple(_dot(r, it) + f for r, f in zip(rows, offset, strict=True))

    def frame(self) -> tuple[NestFrame, tuple[ThreadAxis, ...]]:
        its = [f"x{k}" for k in range(self.depth)]
        bounds = " and ".join(f"0 <= {x} < {n}" for x, n in zip(its, self.sizes, strict=True))
        head = f"S[{', '.join(its)}]"
        domain = isl.Set(f"{{ {head} : {bounds} }}")
        refs = []
        for k in (0, 1):
            form = Form(matrix(self.matrices[k]), matrix([[f] for f in self.offsets[k]]))
            index = ", ".join(_text(r, its, f) for r, f in zip(self.matrices[k], self.offsets[k], strict=True))
            relation = isl.Map(f"{{ {head} -> A[{index}] : {bounds} }}")
            refs.append(Reference("S", k, "A", k == 0, f"A[{index}]", self.depth, relation, form))
        axes = []
        for k, (row, size) in enumerate(zip(self.rows, self.coarse, strict=True)):
            value = isl.PwAff(f"{{ {head} -> [{_text(row, its, 0)}] }}")
            thread = isl.PwAff(f"{{ {head} -> [floor(({_text(row, its, 0)})/{size})] }}") if size > 1 else value
            axes.append(
                ThreadAxis(f"t{k}", size, {"S": value}, {"S": thread}, {"S": Form(matrix([row]), matrix([[0]]))})
            )
        return NestFrame({"S": domain}, tuple(refs), (), tuple(axes)), tuple(axes)


def _dot(row: Sequence[int], it: Sequence[int]) -> int:
    return sum(a * b for a, b in zip(row, it, strict=True))


def _text(row: Sequence[int], names: Sequence[str], constant: int) -> str:
    return " + ".join([*(f"{c}*{n}" for c, n in zip(row, names, strict=True) if c), str(constant)])


@pytest.mark.parametrize("part", range(PARTS))
def test_tests_against_enumeration(part: int) -> None:
    rng = random.Random(20181 + part)
    said_yes = dict.fromkeys(("theorem 1", "theorem 2", "remark 2", "linear", "disjoint", "exact", "verdict"), 0)
    for number in range(CASES):
        case = Case(rng)
        frame, threads = case.frame()
        a, b = frame.references
        alone, pair = case.private(0, 0), case.private(0, 1)
        claims = {
            "theorem 1": (theorem1(a, threads), alone),
            "theorem 2": (equal_subscripts(a, b, threads), pair),
            "remark 2": (remark2(a, b, threads), pair),
            "linear": (linear(a, b, threads), pair),
        }
        for name, (claim, truth) in claims.items():
            assert truth or not claim, (number, name, vars(case))
            said_yes[name] += claim
        exact = private(frame, a, b, threads)
        assert exact == pair, (number, vars(case))
        said_yes["exact"] += exact
        if number % 5 == 0:
            apart = disjoint_images(frame, a, b)
            assert apart == (not case.meet()), (number, vars(case))
            found = verdict(frame, a, threads)
            assert (found.answer == "yes") == (alone and pair), (number, found, vars(case))
            said_yes["disjoint"] += apart
            said_yes["verdict"] += found.answer == "yes"
        # What one test shows, the linear one shows as well: they are special cases of it.
        assert claims["linear"][0] or not (claims["theorem 2"][0] or claims["remark 2"][0]), (number, vars(case))
        assert theorem1(a, threads) == linear(a, a, threads), (number, vars(case))
    assert all(count > CASES // 200 for count in said_yes.values()), said_yes
