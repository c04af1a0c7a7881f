"""Ranks against threads on this machine, beside what the simulator predicts.

    make bench-mpi                             all cores
    make bench-mpi B='--cores 4 --only gemm'
    make bench-mpi B='--prepare FOLDER'        the files alone, for another machine: `sh run.sh` there

For each kernel: one process with all threads (`--target openmp`), the result for ranks on one rank with all threads,
one rank to a core, and ranks with several threads; ranks hold boxes. Then ranks with one thread
each, measured and predicted, and a picture of the predicted scaling to 10,000 ranks: build/bench/mpi-NAME.svg. The last
column of the first table says how many of the bytes that the sets ask for are sent. A product in boxes (product.c) also
says how much memory a rank needs. Programs begin MPI before their
time is taken, as those do that call MPI_Init themselves.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from codegen.checking.ranks.run import MORE_THAN_CORES
from codegen.mpi.network import load_network
from codegen.mpi.predict.load import Setting, setting
from codegen.mpi.predict.scaling import chart, scaling
from codegen.mpi.predict.simulate import Crowding, Machine, predict, work
from codegen.mpi.predict.wide import TimeTiles
from codegen.mpi.share import SharedRegion, share_out
from codegen.options import GenOptions
from codegen.pipeline import generate
from codegen.region_model import model_region
from codegen.source_file import open_source

KERNELS = Path(__file__).parent.parent / "examples" / "kernels"
# Sizes in the order of the programs' arguments.
CASES: Mapping[str, tuple[tuple[str, int], ...]] = {
    "jacobi-2d": (("tsteps", 100), ("n", 4000)),
    "heat-3d": (("tsteps", 50), ("n", 300)),
    "gemm": (("ni", 4000), ("nj", 4000), ("nk", 4000)),
    "product": (("n", 4000),),
}
QUICK: Mapping[str, tuple[tuple[str, int], ...]] = {
    "jacobi-2d": (("tsteps", 50), ("n", 1500)),
    "heat-3d": (("tsteps", 20), ("n", 150)),
    "gemm": (("ni", 1200), ("nj", 1200), ("nk", 1200)),
    "product": (("n", 1200),),
}
BLOCKS = {
    "jacobi-2d": "a: block, block; b: block, block",
    "heat-3d": "A: block, block, block; B: block, block, block",
    "gemm": "C: block, block; A: block, block; B: block, block",
    "product": "C: block, block; A: block, block; B: block, block",
}
FLAGS = ("-O3", "-march=native", "-std=gnu11", "-DDRIVER", f"-I{KERNELS}", "-fopenmp")
ADDED = """
__attribute__((constructor)) static void tw_early(void) { tw_ranks(); }
__attribute__((destructor)) static void tw_say(void) { fprintf(stderr, "sent %lld\\n", tw_world.sent); }
"""
# A program takes its time as often as ROUNDS says, and tells the least, of ranks that of the slowest. Ranks begin
# together: who is late with its own data is not waited for in the region.
TOGETHER = "MPI_Barrier(MPI_COMM_WORLD)"
SLOWEST = "MPI_Allreduce(MPI_IN_PLACE, &tw_took, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD)"
BEST = """
#define TW_BEST(...)                                                                       \\
  do {                                                                                     \\
    double tw_least = 1e30;                                                                \\
    for (long tw_left = getenv("ROUNDS") ? atol(getenv("ROUNDS")) : 1; tw_left > 0; tw_left--) { \\
      {together};                                                                          \\
      const double tw_begun = now();                                                       \\
      __VA_ARGS__;                                                                         \\
      double tw_took = now() - tw_begun;                                                   \\
      {slowest};                                                                           \\
      tw_least = tw_took < tw_least ? tw_took : tw_least;                                  \\
    }                                                                                      \\
    report_time(argc, argv, tw_least);                                                     \\
  } while (0)
"""


class Effort(NamedTuple):
    """Programs are started so often, and take their time so often each."""

    starts: int
    rounds: int
    split: tuple[int, ...] = ()  # ranks that fill the cores with threads; all that can if none is given


FREE = {**MORE_THAN_CORES, "OMPI_MCA_mpi_yield_when_idle": "0", "OMPI_MCA_hwloc_base_binding_policy": "none"}


def source_of(name: str) -> Path:
    return next(p for p in (KERNELS / f"{name}.c", Path(__file__).parent / "mpi" / f"{name}.c") if p.exists())


def written(name: str, folder: Path, machine: str) -> None:
    """The text of a kernel for threads and for ranks."""
    source = source_of(name)
    for target in ("openmp", "mpi"):
        options = GenOptions(target=target, machine=machine)
        if target == "mpi":
            options = replace(options, network="shared-memory", distribute=BLOCKS[name])
        text = generate(str(source), source.read_text(encoding="utf-8"), options).text
        together, slowest = (TOGETHER, SLOWEST) if target == "mpi" else ("(void)0", "(void)0")
        macro = BEST.replace("{together}", together).replace("{slowest}", slowest)
        text = text.replace("    TIMED(", "    TW_BEST(").replace("int main(", f"{macro}int main(")
        text += ADDED * (target == "mpi")
        (folder / f"{name}-{target}.c").write_text(text, encoding="utf-8")


def built(name: str, folder: Path) -> None:
    """The kernel for threads and for ranks."""
    written(name, folder, "native")
    for target, compiler in (("openmp", "cc"), ("mpi", "mpicc")):
        at = folder / f"{name}-{target}.c"
        subprocess.run([compiler, *FLAGS, str(at), "-o", str(at.with_suffix("")), "-lm"], check=True)


def prepared(names: Sequence[str], folder: Path, machine: str) -> None:
    """All that another machine needs to measure, with a script for its shell."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        written(name, folder, machine)
    for file in (KERNELS / "kernels.h", Path(__file__).parent / "mpi" / "run.sh"):
        shutil.copy(file, folder / file.name)
    cases = "".join(f"{n} {' '.join(str(v) for _, v in CASES[n])}\n" for n in names)
    (folder / "cases.txt").write_text(cases, encoding="utf-8")


def run(
    name: str, folder: Path, sizes: Sequence[int], ranks: int, threads: int, rounds: int
) -> tuple[float, float, int]:
    """Seconds of the slowest rank, the least of some rounds; bytes sent in one; and bytes of memory of a rank if it
    says so; no ranks: the program for threads."""
    program = folder / f"{name}-{'mpi' if ranks else 'openmp'}"
    env = {**os.environ, **FREE, "OMP_NUM_THREADS": str(threads), "ROUNDS": str(rounds)}
    launch = ["mpirun", "-n", str(ranks)] if ranks else []
    words = [*launch, str(program), *map(str, sizes), "time"]
    done = subprocess.run(words, capture_output=True, text=True, env=env, check=True)
    seconds = [float(s) for s in re.findall(r"^(\d+\.\d+)$", done.stderr, re.M)]
    sent = sum(int(s) for s in re.findall(r"^sent (\d+)$", done.stderr, re.M))
    memory = max((int(s) for s in re.findall(r"^memory (\d+)$", done.stderr, re.M)), default=0)
    return max(seconds), sent / rounds, memory


Measured = dict[tuple[int, int], tuple[float, float, int]]  # by ranks and threads


def in_turns(name: str, folder: Path, sizes: Sequence[int], hows: Sequence[tuple[int, int]], given: Effort) -> Measured:
    """The same of programs that are started one after the other, several times: where processes and pages lie differs,
    and machines are now and then slower for a while."""
    found: Measured = {}
    for _ in range(given.starts):
        for how in hows:
            one = run(name, folder, sizes, *how, given.rounds)
            found[how] = min(one, found.get(how, one))
    return found


def time_tiles(name: str, folder: Path) -> TimeTiles:
    """Tiles over time of what a rank runs, as the generated text says."""
    text = (folder / f"{name}-mpi.c").read_text(encoding="utf-8")
    found = re.search(r"= *tw_wide_steps\([^;]*,\s(\d+),\s(\d),\s\d,\s\(const tw_index", re.sub(r"\s+", " ", text))
    return TimeTiles(int(found[1]), found[2] == "1") if found else TimeTiles()


def region(name: str) -> SharedRegion:
    """What ranks share of a kernel."""
    source, options = source_of(name), GenOptions(target="mpi", distribute=BLOCKS[name])
    model = model_region(open_source(str(source), source.read_text(encoding="utf-8"), options).slices[0], options)
    assert model is not None
    return share_out(model, options, None)


def combinations(cores: int) -> list[tuple[int, int]]:
    """Ranks and threads that fill the cores: one rank, one to a core, and what lies between."""
    return [(1, cores), *((r, cores // r) for r in range(2, cores) if cores % r == 0), *([(cores, 1)] * (cores > 1))]


def measured(name: str, sizes: Mapping[str, int], folder: Path, cores: int, given: Effort) -> None:
    built(name, folder)
    x, tiles = region(name), time_tiles(name, folder)
    print(f"\n{name}, {', '.join(f'{k} = {v}' for k, v in sizes.items())}, {cores} cores")
    counts = [n for n in (1, 2, 4, 8, 16, 32, 64) if n <= cores]
    tried = [c for c in combinations(cores) if c[0] in (1, *given.split) or not given.split]
    hows = dict.fromkeys([(0, cores), *tried, *((n, 1) for n in counts), *((0, n) for n in counts if n > 1)])
    found = in_turns(name, folder, tuple(sizes.values()), tuple(hows), given)
    alone, _, _ = found[0, cores]
    together = min(alone, found[1, cores][0])  # it is the same text
    print(f"  {'threads only':14} {alone:9.4f} s, one rank {alone / found[1, cores][0]:5.3f} of that")
    for ranks, threads in tried:
        seconds, sent, memory = found[ranks, threads]
        here = replace(tiles, threads=threads)
        asked = predict(x, setting(x.program.scop, sizes, ranks), Machine(load_network("shared-memory")), here).sent
        ratio = f", bytes sent {sent / asked:.3f} of what the sets have" if asked else ""
        ratio += f", {memory / 1e6:.0f} MB of memory" if memory else ""
        print(f"  {ranks:3} x {threads:<8} {seconds:9.4f} s, {together / seconds:5.2f} of the best of threads{ratio}")
    ahead(name, x, sizes, folder, cores, found)


def ahead(
    name: str, x: SharedRegion, sizes: Mapping[str, int], folder: Path, cores: int, found: Measured
) -> None:
    """Ranks with one thread each, measured and predicted: from the time of one, and how much faster threads are."""
    tiles, one, at = time_tiles(name, folder), found[1, 1][0], setting(x.program.scop, sizes, 1)
    threads = {n: one / seconds for (ranks, n), (seconds, _, _) in found.items() if not ranks}
    beside = Crowding.measured({**threads, cores: max(threads[cores], one / found[1, cores][0])})
    machine = Machine(load_network("shared-memory"), one / work(x, at.sizes), beside)
    speeds = {n: one / seconds for (n, threads), (seconds, _, _) in sorted(found.items()) if n and threads == 1}
    for n, v in speeds.items():
        expected = one / predict(x, Setting(at.sizes, n), machine, tiles).seconds
        off = f"{100 * (expected / v - 1):+.0f} %"
        print(f"  {n:3} ranks x 1: {v:6.2f} times as fast as one, predicted {expected:6.2f} ({off})")
    networks = ("shared-memory", "infiniband-hdr", "ethernet-10g")
    scaled = {n: scaling(x, at.sizes, Machine(load_network(n), machine.iteration), tiles=tiles) for n in networks}
    picture = folder / f"mpi-{name}.svg"
    picture.write_text(chart(scaled, f"{name}: predicted scaling, measured here as dots", speeds), encoding="utf-8")
    print(f"  predicted to 10,000 ranks: {picture}")
    for network, s in scaled.items():
        print(f"    {network:15} {' '.join(f'{p}:{v:.3g}' for p, v in zip(s.ranks, s.speedup, strict=True))}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--cores", type=int, default=os.cpu_count() or 1, help="ranks times threads")
    parser.add_argument("--only", default="", help="kernels, separated by commas")
    parser.add_argument("--quick", action="store_true", help="small sizes")
    parser.add_argument("--rounds", type=int, default=3, help="each program takes its time so often")
    parser.add_argument("--starts", type=int, default=2, help="each program is started so often, in turns")
    parser.add_argument("--split", default="", help="ranks beside one that fill the cores with threads, by commas")
    parser.add_argument("--prepare", metavar="FOLDER", help="write the files for another machine there and stop")
    parser.add_argument("--machine", default="generic", help="the machine that files are prepared for")
    given = parser.parse_args()
    names = [n for n in CASES if not given.only or n in given.only.split(",")]
    if given.prepare:
        prepared(names, Path(given.prepare), given.machine)
        return 0
    if not (shutil.which("mpicc") and shutil.which("mpirun")):
        print("bench-mpi: nothing is measured: there is no mpicc or mpirun")
        return 0
    folder = Path("build/bench")
    folder.mkdir(parents=True, exist_ok=True)
    effort = Effort(given.starts, given.rounds, tuple(int(n) for n in given.split.split(",") if n))
    for name in names:
        measured(name, dict((QUICK if given.quick else CASES)[name]), folder, given.cores, effort)
    return 0


if __name__ == "__main__":
    sys.exit(main())
