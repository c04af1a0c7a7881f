"""Building and running the programs of the kernel benchmark: one per kernel and way of compiling it."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.kernels_cases import Case
from benchmarks.kernels_owners import brought
from benchmarks.tensor_build import FLAGS, KERNELS, ROOT, Failed

CLOCK = Path(__file__).resolve().parent / "kernels" / "clock.c"
WRAP = ("-Wl,--wrap=timespec_get", "-Wl,--wrap=calloc")
# Polly as its manual recommends it, with the freedom to reassociate that it needs to do anything to a reduction.
_CPU = "-mcpu=native" if platform.machine() in ("aarch64", "arm64") else "-march=native"
CLANG = ("-O3", _CPU, "-std=gnu11", "-ffast-math")
POLLY = ("-mllvm", "-polly", "-mllvm", "-polly-vectorizer=stripmine")
POLLY_THREADS = ("-fopenmp", "-mllvm", "-polly-parallel")
OWNERSHIP, OWN = "ownership", "privatized"
FREE = "--reassociate"  # what Polly has with -ffast-math
COMPARED = ("before", "free")  # with ours, and built only where they differ from it
_BUILD_SECONDS, _RUN_SECONDS = 600, 900


@dataclass
class Shop:
    """A folder in which everything is built."""

    out: Path
    busy: bool = False
    options: tuple[str, ...] = ()  # for the generator
    compiler: str = field(default_factory=lambda: os.environ.get("CC") or shutil.which("gcc") or "cc")
    clang: str | None = None
    failed: dict[str, str] = field(default_factory=dict)
    plans: dict[str, str] = field(default_factory=dict)  # kernel: its plan in a word
    peers: bool = False  # nothing but gcc and Polly beside ours
    freed: set[str] = field(default_factory=set)  # kernels of which, all the same, there is ours in any order
    without: tuple[str, ...] = ()  # directives to leave out of plans, or OWNERSHIP, for a program to compare with
    said: dict[str, str] = field(default_factory=dict)  # kernel: remarks on variables of its iterations' own
    brought: dict[str, str] = field(default_factory=dict)  # kernel: what its plan has that was left out for comparison

    def find_polly(self, wanted: str) -> str:
        """Look for a clang that knows Polly; says what was found."""
        source = self.out / "polly.c"
        source.write_text("int nothing;\n")
        for name in (wanted,) if wanted else ("clang-19", "clang"):
            path = shutil.which(name)
            if path and not self._call([path, *CLANG, *POLLY, "-c", str(source), "-o", f"{source}.o"]).returncode:
                self.clang = path
                return self._call([path, "--version"]).stdout.partition("\n")[0]
        return "no clang with Polly here"

    def version(self) -> str:
        return self._call([self.compiler, "--version"]).stdout.partition("\n")[0]

    def build(self, cases: Iterable[Case], threads: bool) -> None:
        """All at once, before anything is measured. What fails is remembered until it is asked for."""
        self._compile([self.compiler, *FLAGS, "-fopenmp", str(CLOCK)], CLOCK, self.out / "clock.o")
        jobs = [(case, side) for case in cases for side in self.sides(case, threads)]
        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            for last in (False, True):  # what is compared with ours comes after it
                list(pool.map(lambda job: self._try(*job), [job for job in jobs if (job[1] in COMPARED) is last]))

    def add_free(self, case: Case) -> None:
        """Ours with Polly's freedom beside the others, once they are built."""
        self.freed.add(case.name)
        if "free" in self.sides(case, False):
            self._try(case, "free")

    def sides(self, case: Case, threads: bool) -> list[str]:
        """The programs of a kernel; those for several threads only where asked for."""
        polly = ["polly", *(["polly-threads"] if threads else [])] if self.clang else []
        before = ["before"] if self.without else []
        free = ["free"] if FREE not in self.options and (not self.peers or case.name in self.freed) else []
        hand = ["hand"] if case.by_hand and threads and not self.peers else []
        return ["ours", *before, *free, "gcc", *polly, *hand]

    def run(self, side: str, case: Case, threads: int, limit: float = _RUN_SECONDS) -> tuple[float, str]:
        """The seconds that the kernel's main() reports, and the checksums that it prints."""
        name = f"{side}-{case.name}"
        if name in self.failed:
            raise Failed(self.failed[name])
        env = {
            **os.environ,
            "KERNEL_TIME": "1",
            "OMP_NUM_THREADS": str(threads),
            "OMP_SCHEDULE": "static",
            "BENCH_BUSY": str(int(self.busy)),
            **({"OMP_WAIT_POLICY": "passive"} if self.busy else {}),  # whoever waits leaves the core to others
        }
        done = self._call([str(self.out / name), *map(str, case.sizes)], limit, env)
        if done.returncode:
            raise Failed(f"{name}: exit code {done.returncode}\n{done.stderr}")
        return float(done.stderr.split()[-1]), done.stdout

    # -- steps ---------------------------------------------------------------------------------------

    def _try(self, case: Case, side: str) -> None:
        try:
            self._program(case, side)
        except Failed as failure:
            self.failed[f"{side}-{case.name}"] = str(failure)

    def _program(self, case: Case, side: str) -> None:
        program = self.out / f"{side}-{case.name}"
        source, command = case.source, [self.compiler, *FLAGS]
        if side == "ours":
            source, command = self._generate(case), [*command, "-fopenmp"]
        elif side == "before":
            source, command = self._before(case), [*command, "-fopenmp"]
        elif side == "free":
            source, command = self._free(case), [*command, "-fopenmp"]
        elif side == "hand":
            source, command = self._by_hand(case), [*command, "-fopenmp"]
        elif side != "gcc":
            assert self.clang is not None
            command = [self.clang, *CLANG, *POLLY, *(POLLY_THREADS if side == "polly-threads" else ())]
        made = Path(f"{program}.o")
        self._compile([*command, "-DDRIVER", f"-I{KERNELS}", *case.defines, str(source)], source, made)
        link = [self.compiler, "-fopenmp", str(made), str(self.out / "clock.o"), "-o", str(program), *WRAP, "-lm"]
        self._checked(link)

    def _compile(self, command: Sequence[str], source: Path, made: Path) -> None:
        """A file made from an older source by the same command is kept."""
        note = Path(f"{made}.command")
        newest = max(source.stat().st_mtime, *(h.stat().st_mtime for h in KERNELS.glob("*.h")))
        text = "\n".join(command)
        if made.is_file() and made.stat().st_mtime > newest and note.is_file() and note.read_text() == text:
            return
        self._checked([*command, "-c", "-o", str(made)])
        note.write_text(text)

    def _generate(self, case: Case) -> Path:
        text = self.out / f"ours-{case.name}.c"
        told = f"-Rpass={OWN}"
        done = self._checked([*self._command(case), told, "--force", "--emit", "c,plan", "-o", str(text)])
        self.plans[case.name] = in_a_word(text.with_suffix(".plan").read_text())
        lines = done.stderr.splitlines()
        self.said[case.name] = "\n".join(x for x in lines if f"[{OWN}]" in x)
        said = [x for x in lines if re.search(r": (note|warning|error): ", x) and "[native-machine]" not in x]
        if said:
            print(f"{case.name}: the generator says\n" + "\n".join(said), file=sys.stderr)
        return text

    def _command(self, case: Case, module: str = "codegen") -> list[str]:
        command = [sys.executable, "-m", module, "gen", str(case.source), "--machine", "native", "-DDRIVER"]
        return [*command, *case.defines, *self.options]

    def _free(self, case: Case) -> Path:
        """With sums and extremes in any order; fails where that changes nothing."""
        text, ours = self.out / f"free-{case.name}.c", self.out / f"ours-{case.name}.c"
        self._checked([*self._command(case), FREE, "--force", "-o", str(text)])
        if not ours.is_file() or _without_head(text) == _without_head(ours):
            raise Failed("any order gives the same code")
        return text

    def _before(self, case: Case) -> Path:
        """What comes of the plan without some of its directives, or without ownership; fails where it has none of
        them."""
        text, ours = self.out / f"before-{case.name}.c", self.out / f"ours-{case.name}.c"
        whole = self.without == (OWNERSHIP,)
        command = self._command(case, "benchmarks.kernels_owners" if whole else "codegen")
        if not ours.is_file():
            raise Failed("ours was not generated")
        plan = ours.with_suffix(".plan").read_text()
        if whole:
            self._checked([*command, "--force", "--emit", "c,plan", "-o", str(text)])
            less = text.with_suffix(".plan").read_text()
            if text.read_text() == ours.read_text():
                raise Failed("ownership changes nothing here")
        else:
            kept = self.out / f"less-{case.name}.plan"
            less = "".join(x for x in plan.splitlines(True) if x.split()[:1] not in [[w] for w in self.without])
            kept.write_text(less)
            if less == plan:
                raise Failed("its plan has none of these directives")
            self._checked([*command, "--force", "--plan", str(kept), "-o", str(text)])
        self.brought[case.name] = brought(plan, less, self.said.get(case.name, ""))
        return text

    def _by_hand(self, case: Case) -> Path:
        """The kernel written by hand with the main() of the original."""
        assert case.by_hand is not None
        driver = "#ifdef DRIVER" + case.source.read_text().partition("#ifdef DRIVER")[2]
        text = self.out / f"hand-{case.name}.c"
        both = case.by_hand.read_text() + driver
        if not text.is_file() or text.read_text() != both:
            text.write_text(both)
        return text

    def _checked(self, command: Sequence[str]) -> subprocess.CompletedProcess[str]:
        done = self._call(command)
        if done.returncode:
            raise Failed(f"{' '.join(command[:6])} ...: exit code {done.returncode}\n{done.stderr}")
        return done

    def _call(
        self, command: Sequence[str], seconds: float = _BUILD_SECONDS, env: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        try:
            return subprocess.run(
                command, capture_output=True, text=True, cwd=ROOT, env=env, timeout=seconds, check=False
            )
        except subprocess.TimeoutExpired:
            raise Failed(f"{' '.join(command[:6])} ...: no end after {seconds:g} s") from None


def _without_head(text: Path) -> str:
    """A generated file without the comment that tells how it was made."""
    return text.read_text().partition("*/")[2]


def in_a_word(plan: str) -> str:
    """The directives of a plan that say most, each once: `product+tile`; `order` where only loops were rearranged."""
    lines = [line.strip() for line in plan.splitlines()]
    words = dict.fromkeys(m.group(1) for line in lines if (m := re.match(r"([a-z]+) \S", line)))
    if re.search(r"\bform \w+ streams\b", plan):
        words = {"sweep": None, **words}
        if len(re.findall(r"^ *product ", plan, re.M)) == len(re.findall(r"\bform \w+ streams\b", plan)):
            words.pop("product")
    dull = {"region", "isa", "block", "direct", "loop", "schedule", "store", "parallel", "vector", "unroll", "order"}
    telling = [w for w in words if w not in dull]
    fallback = [w for w in ("parallel", "vector") if w in words] or (["order"] if "schedule" in words else ["original"])
    return "+".join(telling or fallback)
