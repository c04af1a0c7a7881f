"""The corpus on 1, 2, 3, 4 and 7 ranks: every rank has to print what the original prints, bit by bit.

    make mpi-corpus                               all kernels; says so where there is no MPI
    make mpi-corpus B='--only lu,adi --jobs 4'
    make mpi-corpus B='--reassociate'             sums in another order, too: near, not equal
    make mpi-corpus B='--machine skylake-avx512'  a part of it: B='--part 2/3'
    make mpi-corpus B='--mpicc mpicc.mpich --mpirun mpirun.mpich --out build/mpi-corpus-mpich'

What was equal is kept in FOLDER/equal.json by its generated text, so that a run that was stopped goes on where it was.
Blocks and panels are small, threads run for little work, and messages cost nothing, so that all that can be shared out
is. Kernels of which nothing is shared out run as in one process, and are counted as such.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from codegen.checking.ranks.run import MORE_THAN_CORES

KERNELS = Path(__file__).parent.parent / "examples" / "kernels"
RANKS = (1, 2, 3, 4, 7)
FLAGS = ("-O1", "-w", "-std=gnu11", "-ffp-contract=off", "-DTW_NO_FMA", "-DDRIVER", f"-I{KERNELS}")
SMALL = ("-DTW_SIZE(n)=((n) < 20 ? (n) : 20)", "-DTW_PARALLEL_MIN=100", "-DTW_LATENCY=0", "-DTW_BANDWIDTH=1e30",
         "-DTW_PANEL=5", "-fopenmp")  # fmt: skip
NEAR = 1e-9  # of a checksum, where sums may be in another order
LIMIT = 300  # seconds for one command


@dataclass(frozen=True)
class Found:
    """What became of a kernel: `equal`, `near`, `alone` (nothing is shared out), or what is `wrong`."""

    name: str
    state: str
    why: str = ""


@dataclass(frozen=True)
class Task:
    """How kernels are generated, where files go, texts that were equal before, and the commands of an MPI."""

    folder: Path
    options: tuple[str, ...]
    known: frozenset[str]
    mpicc: str = "mpicc"
    mpirun: str = "mpirun"

    @property
    def exact(self) -> bool:
        return "--reassociate" not in self.options


def done(words: Sequence[str], threads: int = 1) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, **MORE_THAN_CORES, "OMPI_MCA_hwloc_base_binding_policy": "none",
           "OMP_NUM_THREADS": str(threads), "OMP_WAIT_POLICY": "passive"}  # fmt: skip
    return subprocess.run(words, capture_output=True, text=True, timeout=LIMIT, env=env)


def last_line(text: str) -> str:
    """The last line that says something: mpirun frames its own with dashes."""
    return ([line for line in text.splitlines() if line.strip("- ")] or ["nothing was said"])[-1]


def printed(text: str) -> set[str]:
    """Lines with results; all ranks print the same ones."""
    return {line for line in text.splitlines() if line.strip() and "time" not in line.lower()}


def same(have: set[str], want: set[str], exact: bool) -> bool:
    """The same lines; or, for each, the same name and a number that is near (a hash of all bits stands behind it)."""
    if exact or have == want:
        return have == want
    pairs = list(zip(sorted(have), sorted(want), strict=False))
    return len(have) == len(want) and all(_near(h.split(), w.split()) for h, w in pairs)


def _near(have: Sequence[str], want: Sequence[str]) -> bool:
    try:
        return have[0] == want[0] and math.isclose(float(have[1]), float(want[1]), rel_tol=NEAR)
    except (IndexError, ValueError):
        return False


def key(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def compared(name: str, task: Task) -> tuple[Found, str]:
    """A kernel, with the key of its generated text."""
    source, one, many = KERNELS / f"{name}.c", task.folder / f"{name}-one", task.folder / f"{name}-many"
    made = done([sys.executable, "-m", "codegen", "gen", str(source), "--target", "mpi", *task.options])
    if made.returncode:
        return Found(name, "wrong", last_line(made.stderr)), ""
    text = made.stdout
    if "tw_world" not in text:
        return Found(name, "alone"), ""
    state = "equal" if task.exact else "near"
    if key(text) in task.known:
        return Found(name, state), key(text)
    many.with_suffix(".c").write_text(text, encoding="utf-8")
    for words in (["cc", *FLAGS, str(source), "-o", str(one), "-lm"],
                  [task.mpicc, *FLAGS, *SMALL, str(many.with_suffix(".c")), "-o", str(many), "-lm"]):  # fmt: skip
        built = done(words)
        if built.returncode:
            return Found(name, "wrong", last_line(built.stderr)), ""
    want = printed(done([str(one)]).stdout)
    for ranks in RANKS:
        try:
            ran = done([task.mpirun, "-n", str(ranks), str(many)], threads=2 if ranks <= 2 else 1)
        except subprocess.TimeoutExpired:
            return Found(name, "wrong", f"{ranks} ranks do not end"), ""
        have = printed(ran.stdout)
        if ran.returncode or not want or not same(have, want, task.exact):
            unlike = f"{sorted(have - want)[:2]}, not {sorted(want - have)[:2]}"
            said = last_line(ran.stderr) if ran.returncode else unlike
            return Found(name, "wrong", f"{ranks} ranks: {said}"), ""
    return Found(name, state), key(text)


def table(found: Sequence[Found]) -> list[str]:
    """How many of each kind, and every kernel that is wrong."""
    kinds = Counter(f.state for f in found)
    out = [f"{len(found)} kernels on {', '.join(map(str, RANKS))} ranks: "
           + ", ".join(f"{n} {kind}" for kind, n in sorted(kinds.items()))]  # fmt: skip
    return out + [f"  {f.name}: {f.why}" for f in found if f.state == "wrong"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--only", default="", help="kernels, by commas")
    parser.add_argument("--part", default="1/1", help="one of so many parts, as 2/3")
    parser.add_argument("--jobs", type=int, default=max(1, (os.cpu_count() or 1) // 2))
    parser.add_argument("--reassociate", action="store_true", help="sums may be in another order")
    parser.add_argument("--machine", default="", help="the machine that plans are made for")
    parser.add_argument("--mpicc", default="mpicc", help="the compiler of an MPI")
    parser.add_argument("--mpirun", default="mpirun", help="what starts its programs")
    parser.add_argument("--out", default="build/mpi-corpus", help="folder for files, and what was equal")
    given = parser.parse_args()
    if not (shutil.which(given.mpicc) and shutil.which(given.mpirun)):
        print(f"mpi-corpus: nothing is compared: there is no {given.mpicc} or {given.mpirun}")
        return 0
    folder = Path(given.out)
    folder.mkdir(parents=True, exist_ok=True)
    kept = folder / "equal.json"
    known = set(json.loads(kept.read_text())) if kept.exists() else set()
    options = ("--reassociate",) * given.reassociate + (("--machine", given.machine) if given.machine else ())
    task = Task(folder, options, frozenset(known), given.mpicc, given.mpirun)
    part, parts = map(int, given.part.split("/"))
    names = given.only.split(",") if given.only else sorted(p.stem for p in KERNELS.glob("*.c"))[part - 1 :: parts]
    found = []
    with ThreadPoolExecutor(given.jobs) as pool:
        for one, text in pool.map(lambda n: compared(n, task), names):
            found.append(one)
            print(f"{one.name}: {one.state} {one.why}".rstrip(), flush=True)
            if text:
                known.add(text)
                kept.write_text(json.dumps(sorted(known)), encoding="utf-8")
    print("\n".join(table(found)))
    return 1 if any(f.state == "wrong" for f in found) else 0


if __name__ == "__main__":
    sys.exit(main())
