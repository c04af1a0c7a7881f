"""Compile the originals and the results of many programs at once, run each pair, and compare every byte.

Two builds: one optimised, one under the undefined-behaviour sanitizer; where there are two compilers each takes one,
in turns. Neither may say more about a result than about its original. Both are told which sizes the program is called
with: beyond them it is undefined, and a compiler that sees a subscript leave its array there is right about both.
"""
from __future__ import annotations

import os
import re
import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from tests.compilers import finds_openmp, with_openmp
from tests.property.driver import driver_text
from tests.property.generate import LONG, Effort, Failure, Outcome, run_program
from tests.property.model import ALL, Features, Program
from tests.property.products import random_product
from tests.property.programs import random_program
from tests.property.texts import CRASH, first_lines, flag, messages, renamed
from tests.property.tree import smaller

FLAGS = (
    "-std=c11", "-fopenmp", "-ffp-contract=off", "-Wall", "-Wextra",
    *(f"-D{p}_{what}" for p in ("TW", "ZZ") for what in ("NO_FMA", "PARALLEL_MIN=tw_least_work",
                                                         "SIZE(n)=((n) < 20 ? (n) : 20)")),
)
FAST = ("-O2",)
BOUNDS = ("-Warray-bounds", "-Waggressive-loop-optimizations", "-Wstringop-over")
PRODUCTS, MIXED = 900_000, 1_000_000


@dataclass
class Report:
    """What a batch showed."""

    failures: list[Failure] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    def add(self, other: "Report") -> None:
        self.failures += other.failures
        self.counts += other.counts


@dataclass(frozen=True)
class Build:
    """One compiler with its flags. The sanitizer's own code makes gcc guess wrongly: no warnings count there."""

    compiler: str
    flags: tuple[str, ...]
    sanitized: bool

    @property
    def name(self) -> str:
        return f"{self.compiler} {'sanitized' if self.sanitized else ' '.join(self.flags)}"

    @property
    def warns(self) -> bool:
        return not (self.sanitized and self.compiler == "gcc")

    @property
    def words(self) -> list[str]:
        """What is called. gcc is to say where a macro stands, not where it is defined: that is in another program."""
        return [self.compiler, *FLAGS, *self.flags, *(["-ftrack-macro-expansion=0"] if self.compiler == "gcc" else ())]


@cache
def sanitizer(compiler: str) -> tuple[str, ...]:
    """Flags that stop at undefined behaviour, with a message where the library for it is there."""
    flags = ("-O0", "-fsanitize=undefined", "-fno-sanitize-recover=all")
    tried = subprocess.run([compiler, *flags, "-xc", "-", "-o", os.devnull], input=b"int main(void) { return 0; }",
                           capture_output=True)
    return flags if tried.returncode == 0 else (*flags, "-fsanitize-undefined-trap-on-error")


@cache
def compilers() -> tuple[str, ...]:
    """One of each kind that is there; a clang may go by its version."""
    found = with_openmp()
    if "clang" in found:
        return found
    return (*found, *[name for name in (f"clang-{v}" for v in range(25, 13, -1)) if finds_openmp(name)][:1])


def builds(turn: int, more: tuple[str, ...] = ()) -> tuple[Build, ...]:
    """Two compilers in turns, with the flags that the programs are for."""
    found = compilers()[:: -1 if turn % 2 else 1]
    return Build(found[0], (*sanitizer(found[0]), *more), True), Build(found[-1], (*FAST, *more), False)


def program_of(seed: int, features: Features = ALL) -> Program:
    """The program of a seed; those from `PRODUCTS` on are built around products, from `MIXED` on every sixth."""
    product = seed >= PRODUCTS if seed < MIXED else seed % 6 == 0
    return random_product(seed) if product else random_program(seed, features)


def run_batch(seeds: Sequence[int], folder: Path, effort: Effort = LONG, again: bool = False,
              features: Features = ALL) -> Report:
    """Generate and compare the programs of all seeds."""
    outcomes = [run_program(program_of(s, features), effort, again) for s in seeds]
    report = Report()
    for flags in sorted({o.program.flags for o in outcomes}):
        same = [o for o in outcomes if o.program.flags == flags]
        report.add(compare(same, folder, effort, seeds[0] // max(len(seeds), 1)))
    return report


def compare(outcomes: Sequence[Outcome], folder: Path, effort: Effort = LONG, turn: int = 0) -> Report:
    """Run what was generated against the originals."""
    report = Report()
    for o in outcomes:
        report.failures += o.failures
        report.counts += o.counts
        report.counts["programs"] += 1
        report.counts.update(f"with {k}" for k in o.program.kinds)
        report.counts.update(f"with {k}, transformed" for k in o.program.kinds if o.variants)
    some = [o for o in outcomes if o.variants]
    folder.mkdir(parents=True, exist_ok=True)
    for build in builds(turn, outcomes[0].program.flags) if some else ():
        run = _Run(some, folder, build, effort, report.counts)
        report.failures += run.failures()
        report.counts[f"compared: {build.name}"] += sum(len(o.variants) for o in some)
    return report


class _Run:
    """One build of a batch. `bad` are the (program, variant) that do not compile."""

    def __init__(
        self, outcomes: Sequence[Outcome], folder: Path, build: Build, effort: Effort, counts: Counter[str]
    ) -> None:
        self.outcomes, self.folder, self.build, self.effort, self.counts = outcomes, folder, build, effort, counts
        self.starts: list[tuple[int, int, int]] = []  # first line in new.c, program, variant
        self.bad: dict[tuple[int, int], str] = {}
        self.said = ""
        self.bounds: frozenset[tuple[int, int]] | None = None

    def failures(self) -> Iterator[Failure]:
        """What this build shows, each variant once. A compiler that crashes says nothing about the program."""
        while True:
            told = self._compiled()
            if told is None:
                break
            if not told:
                yield from self._halves()
                return
            for at, what in told.items():
                if CRASH in what:
                    self.counts[f"compiler crashed: {self.build.name}"] += 1
                else:
                    yield self._failure(*at, f"does not compile:\n{what}")
            self.bad |= told
        for (k, v), warnings in self.warned.items():
            yield self._failure(k, v, "warnings that the original does not have:\n" + "\n".join(warnings))
        yield from self._runs()

    def _halves(self) -> Iterator[Failure]:
        """Whatever stops the compiler without a word on where, one program of the batch shows it."""
        if len(self.outcomes) == 1 and any(words in self.said for words in (CRASH, "signal terminated program")):
            self.counts[f"compiler crashed: {self.build.name}"] += 1
            return
        if len(self.outcomes) == 1:
            yield self._failure(0, 0, f"its results do not compile:\n{self.said[-1500:]}")
            return
        middle = len(self.outcomes) // 2
        for part in (self.outcomes[:middle], self.outcomes[middle:]):
            yield from _Run(part, self.folder, self.build, self.effort, self.counts).failures()

    def _failure(self, k: int, v: int, what: str) -> Failure:
        o = self.outcomes[k]
        result = o.variants[v - 1].text if v else ""
        label = o.variants[v - 1].label if v else "original"
        both = f"{o.program.text()}\n--- result ---\n{result}"
        return Failure(o.program.seed, label, f"{self.build.name}: {what}", both)

    # -- compile -----------------------------------------------------------------------------------

    def _write(self) -> None:
        self.starts, new, line = [], ["extern double tw_least_work;\n"], 2
        for k, o in enumerate(self.outcomes):
            for v, variant in enumerate(o.variants, 1):
                stub = f"void kernel({o.program.params}) {{ }}\n"
                bad = (k, v) in self.bad
                text = renamed(f"{o.program.head}{stub}" if bad else variant.text, o.program, k, str(v))
                self.starts.append((line, k, v))
                new.append(text)
                line += text.count("\n")
        for name, call in (("old", "0"), ("plain", "plain")):
            (self.folder / f"{name}.c").write_text("".join(renamed(o.program.text(), o.program, k, call)
                                                           for k, o in enumerate(self.outcomes)))
        (self.folder / "new.c").write_text("".join(new))
        (self.folder / "main.c").write_text(driver_text([(o.program, len(o.variants)) for o in self.outcomes]))

    def _compiled(self) -> dict[tuple[int, int], str] | None:
        """None when all is well; else the errors of each variant."""
        self._write()
        b, folder = self.build, self.folder
        words = dict.fromkeys(("old", "new"), b.words)
        # What the original stores is seen only where no compiler thinks about it.
        flags = self.outcomes[0].program.flags
        words |= {"plain": [b.compiler, *FLAGS, *flags, "-O0", "-w"], "main": [b.compiler, "-O1", "-w"]}
        said = {f: subprocess.run([*w, "-c", "-o", str(folder / f"{f}.o"), str(folder / f"{f}.c")],
                                  capture_output=True, text=True, timeout=600) for f, w in words.items()}
        self.said = said["new"].stderr
        objects = [str(folder / f"{f}.o") for f in words]
        link = [b.compiler, "-fopenmp", *b.flags, "-o", str(folder / "run"), *objects, "-lm"]
        if not any(s.returncode for s in said.values()):
            counted = b.warns and self.effort.warnings
            self.warned = self._new_warnings(said["old"].stderr, said["new"].stderr) if counted else {}
            linked = subprocess.run(link, capture_output=True, text=True, timeout=300)
            if linked.returncode:
                raise RuntimeError(f"cannot link:\n{linked.stderr[:2000]}")
            return None
        if any(said[f].returncode for f in said if f != "new"):
            told = "".join(said[f].stderr[:2000] for f in said if f != "new")
            raise RuntimeError(f"the originals do not compile:\n{told}")
        out: dict[tuple[int, int], str] = {}
        for line, kind, what in messages(said["new"].stderr, "new.c"):
            if kind.endswith("error"):
                out.setdefault(self._at(line), f"{kind}: {what}")
        return {at: what for at, what in out.items() if at not in self.bad}

    def _at(self, line: int) -> tuple[int, int]:
        _, k, v = max(s for s in self.starts if s[0] <= max(line, 2))
        return k, v

    def _new_warnings(self, old: str, new: str) -> dict[tuple[int, int], list[str]]:
        """Warnings in results, less those of a kind that the original has as well."""
        first = first_lines([renamed(o.program.text(), o.program, k, "0") for k, o in enumerate(self.outcomes)])
        known = set()
        for line, _, what in messages(old, "old.c"):
            known.add((max(k for k, at in enumerate(first) if at <= line), flag(what)))
        out: dict[tuple[int, int], list[str]] = {}
        for line, kind, what in messages(new, "new.c"):
            k, v = self._at(line)
            seen = (k, flag(what)) in known or (flag(what).startswith(BOUNDS) and (k, v) not in self._with_sizes())
            if kind == "warning" and not seen and not self._expected(k, v, what):
                start = max(s[0] for s in self.starts if s[0] <= max(line, 2))
                out.setdefault((k, v), []).append(f"{line - start + 1}: {what}")
        return out

    def _with_sizes(self) -> frozenset[tuple[int, int]]:
        """Results of which the compiler says that subscripts leave arrays where it knows the sizes: it forgets them in
        what OpenMP makes functions of their own."""
        if self.bounds is None:
            flags = [f if f != "-fopenmp" else "-fopenmp-simd" for f in self.build.words]
            words = [*flags, "-c", "-o", os.devnull, str(self.folder / "new.c")]
            said = subprocess.run(words, capture_output=True, text=True, timeout=600).stderr
            found = (self._at(line) for line, _, what in messages(said, "new.c") if flag(what).startswith(BOUNDS))
            self.bounds = frozenset(found)
        return self.bounds

    def _expected(self, k: int, v: int, what: str) -> bool:
        """clang says where it does not vectorize as it was told: the sanitizer's own code keeps it from that, and a
        random plan may name any loop."""
        asked = self.outcomes[k].variants[v - 1].label.startswith("plan\n")
        return flag(what).startswith("-Wpass-failed") and (self.build.sanitized or asked)

    # -- run ---------------------------------------------------------------------------------------

    def _runs(self) -> Iterator[Failure]:
        whole = self._ran()
        if whole[0] == 0:
            yield from self._differences(whole[1])
            return
        for k, o in enumerate(self.outcomes):
            code, said, _ = self._ran(k)
            if code == 0:
                yield from self._differences(said)
                continue
            for v in range(1, len(o.variants) + 1):
                code, said, error = self._ran(k, v)
                shown = list(self._differences(said))
                yield from shown
                if "old.c:" in error:
                    yield self._failure(k, 0, f"undefined behaviour in the original:\n{error[:600]}")
                    break
                if code and not shown:
                    yield self._failure(k, v, f"ends with code {code}:\n{error[:600]}")

    def _ran(self, *only: int) -> tuple[int, str, str]:
        env = {**os.environ, "OMP_WAIT_POLICY": "passive", "OMP_DYNAMIC": "false"}
        seal = self.effort.sealed and not self.build.sanitized
        words = [str(self.folder / "run"), str(int(seal)), *map(str, only)]
        try:
            ran = subprocess.run(words, capture_output=True, text=True, timeout=300, env=env)
        except subprocess.TimeoutExpired:
            return 1, "", "does not end"
        return ran.returncode, ran.stdout, ran.stderr

    def _differences(self, said: str) -> Iterator[Failure]:
        seen = set()
        for k, v, where in re.findall(r"^differs (\d+) (\d+) (.*)$", said, re.M):
            at = int(k), int(v)
            if at not in self.bad and at not in seen:
                yield self._failure(*at, f"differs: {where}")
            seen.add(at)


def smallest(program: Program, fails: str, folder: Path, effort: Effort = LONG, turn: int = 0) -> Program:
    """A smaller program on which something whose text contains `fails` still goes wrong."""

    def still(p: Program) -> bool:
        found = compare([run_program(p, effort)], folder, effort, turn).failures
        return any(fails in f.what for f in found)

    for body in smaller(program.body):
        candidate = replace(program, body=body)
        if body and still(candidate):
            return smallest(candidate, fails, folder, effort, turn)
    return program
