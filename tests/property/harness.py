"""Compile the originals and the results of many programs at once, run each pair, and compare every byte."""
from __future__ import annotations

import os
import re
import subprocess
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from tests.property.driver import driver_text
from tests.property.generate import LONG, Effort, Failure, Outcome, run_program
from tests.property.products import random_product
from tests.property.programs import Program, random_program
from tests.property.tree import smaller

FLAGS = (
    "-O1", "-fopenmp", "-ffp-contract=off", "-fwrapv", "-DTW_NO_FMA", "-DTW_PARALLEL_MIN=tw_least_work",
    "-DTW_SIZE(n)=((n) < 20 ? (n) : 20)", "-w",
)
PRODUCTS = 900_000


@dataclass
class Report:
    """What a batch showed."""

    failures: list[Failure] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    def add(self, other: "Report") -> None:
        self.failures += other.failures
        self.counts += other.counts


def program_of(seed: int) -> Program:
    """The program of a seed; those from `PRODUCTS` on are built around products."""
    return random_product(seed) if seed >= PRODUCTS else random_program(seed)


def run_batch(seeds: Sequence[int], folder: Path, effort: Effort = LONG, again: bool = False) -> Report:
    """Generate and compare the programs of all seeds."""
    outcomes = [run_program(program_of(s), effort, again) for s in seeds]
    return compare(outcomes, folder)


def compare(outcomes: Sequence[Outcome], folder: Path) -> Report:
    """Run what was generated against the originals."""
    report = Report()
    for o in outcomes:
        report.failures += o.failures
        report.counts += o.counts
        report.counts["programs"] += 1
    some = [o for o in outcomes if o.variants]
    if some:
        report.failures += _run(some, folder)
        report.counts["compared"] += sum(len(o.variants) for o in some)
    return report


def _run(outcomes: Sequence[Outcome], folder: Path) -> list[Failure]:
    """One executable for all; if it does not compile or crashes, one for each, to find the culprit."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "old.c").write_text("".join(_renamed(o.program.text(), k, 0) for k, o in enumerate(outcomes)))
    (folder / "new.c").write_text("extern double tw_least_work;\n" + "".join(
        _renamed(v.text, k, j) for k, o in enumerate(outcomes) for j, v in enumerate(o.variants, 1)))
    (folder / "main.c").write_text(driver_text([(o.program, len(o.variants)) for o in outcomes]))
    build = ["gcc", *FLAGS, "-o", str(folder / "run"), *(str(folder / f"{f}.c") for f in ("old", "new", "main")),
             "-lm"]
    made = subprocess.run(build, capture_output=True, text=True, timeout=300)
    if made.returncode:
        return _apart(outcomes, folder, "does not compile:\n" + made.stderr[:2000])
    env = {**os.environ, "OMP_NUM_THREADS": "3", "OMP_WAIT_POLICY": "passive", "OMP_DYNAMIC": "false"}
    try:
        ran = subprocess.run([str(folder / "run")], capture_output=True, text=True, timeout=300, env=env)
    except subprocess.TimeoutExpired:
        return _apart(outcomes, folder, "does not end")
    if ran.returncode:
        return _apart(outcomes, folder, f"ends with code {ran.returncode}")
    out = []
    for k, j, where in re.findall(r"^differs (\d+) (\d+) (.*)$", ran.stdout, re.M):
        o = outcomes[int(k)]
        v = o.variants[int(j) - 1]
        both = f"{o.program.text()}\n--- result ---\n{v.text}"
        out.append(Failure(o.program.seed, v.label, f"differs at {where}", both))
    return out


def _apart(outcomes: Sequence[Outcome], folder: Path, what: str) -> list[Failure]:
    """The same one by one; for a single result, the failure itself."""
    if len(outcomes) > 1:
        return [f for o in outcomes for f in _run([o], folder)]
    (o,) = outcomes
    if len(o.variants) > 1:
        return [f for v in o.variants for f in _run([Outcome(o.program, [v])], folder)]
    (v,) = o.variants
    return [Failure(o.program.seed, v.label, what, f"{o.program.text()}\n--- result ---\n{v.text}")]


def _renamed(text: str, program: int, variant: int) -> str:
    return re.sub(r"\bkernel\b", f"f{program}_{variant}", _once(text)) + "\n"


def _once(text: str) -> str:
    """Many results share one file: the inline helpers of the programs are defined only once."""
    pattern = r"^static inline int i(min|max)\(.*\n"
    return re.sub(pattern, lambda m: f"#ifndef HAVE_{m[1]}\n#define HAVE_{m[1]}\n{m[0]}#endif\n", text, flags=re.M)


def smallest(program: Program, fails: str, folder: Path, effort: Effort = LONG) -> Program:
    """A smaller program on which something whose text contains `fails` still goes wrong."""

    def still(p: Program) -> bool:
        return any(fails in f.what for f in compare([run_program(p, effort)], folder).failures)

    for body in smaller(program.body):
        candidate = replace(program, body=body)
        if body and still(candidate):
            return smallest(candidate, fails, folder, effort)
    return program
