"""Random programs of several techniques for all targets that run here: a random region in a file with functions of
usual techniques, a main function that calls all of them and prints what came of it, and the results of targets.

    python -m tests.property.combined FIRST COUNT [--targets openmp,sunway-pro]
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random

from codegen.checking.ranks.run import MORE_THAN_CORES
from codegen.diagnostics import TilewrightError
from codegen.options import GenOptions
from codegen.pipeline import Generated, generate
from codegen.sunway.emulation.host import ANY_FORM, WATCHED, emulator_folder
from tests.property.companions import Companion, companions
from tests.property.driver import MARGIN
from tests.property.harness import program_of
from tests.property.model import Features, Program
from tests.property.texts import flag, messages

# What targets other than processors leave alone in any case: a file of it would show little of them.
FEATURES = Features.without(["structs", "unions", "homes", "pointers", "overlaps", "gathers"])
SUPPORT = r"""
#include <stdio.h>
#include <stdlib.h>
static unsigned long mix_state;
static unsigned long mix_next(void) { return mix_state = mix_state * 6364136223846793005UL + 1442695040888963407UL; }
static void mix_fill(char kind, size_t size, size_t count, char *to)
{
  for (size_t k = 0; k < count; k++, to += size) {
    const int small = (int)((mix_next() >> 40) % 201) - 100;
    const float f = kind == 'F' ? small % 9 : small / 128.0f;
    const double d = kind == 'D' ? small % 9 : small / 100.0;
    const long i = kind == 'b' || kind == 'B' ? small & 1 : small;
    if (kind == 'f' || kind == 'F' || kind == 'g') memcpy(to, &f, size);
    else if (kind == 'd' || kind == 'D' || kind == 'e') memcpy(to, &d, size);
    else memcpy(to, &i, size);
  }
}
/* What is no number is one value, and so are both zeros: C leaves open which of them there is. */
static void mix_told(const char *what, char kind, size_t size, size_t count, const char *from)
{
  unsigned long hash = 14695981039346656037UL;
  for (size_t k = 0; k < count; k++, from += size) {
    unsigned char bytes[16] = {0};
    memcpy(bytes, from, size);
    if (kind == 'f' || kind == 'F' || kind == 'g') {
      float f;
      memcpy(&f, from, sizeof f);
      f = f != f ? 1e30f : f == 0 ? 0 : f;
      memcpy(bytes, &f, sizeof f);
    } else if (kind == 'd' || kind == 'D' || kind == 'e') {
      double d;
      memcpy(&d, from, sizeof d);
      d = d != d ? 1e300 : d == 0 ? 0 : d;
      memcpy(bytes, &d, sizeof d);
    }
    for (size_t x = 0; x < size; x++)
      hash = (hash ^ bytes[x]) * 1099511628211UL;
  }
  printf("%s %016lx\n", what, hash);
}
"""
CALLS = 4  # of the random function, with different sizes


@dataclass(frozen=True)
class Combined:
    """A program of several techniques."""

    seed: int
    text: str
    kinds: tuple[str, ...]


def combined(seed: int) -> Combined:
    """The program of a seed."""
    rng = Random(f"combined {seed}")
    program = program_of(seed, FEATURES)
    some = companions(rng)
    cut = rng.randint(0, len(some))
    random = program.text().removeprefix(program.head)
    parts = [program.head, SUPPORT, *(c.text for c in some[:cut]), random, *(c.text for c in some[cut:])]
    return Combined(seed, "".join((*parts, _main(rng, program, some))), tuple(c.name.split("_")[0] for c in some))


def _main(rng: Random, program: Program, some: Sequence[Companion]) -> str:
    """Calls of everything in some order, each on data of its own."""
    calls = [_companion_call(c) for c in some]
    for n, m in rng.sample(program.sizes, min(CALLS, len(program.sizes))):
        calls.insert(rng.randint(0, len(calls)), _random_call(program, n, m))
    return "int main(void)\n{\n" + "".join(calls) + "  return 0;\n}\n"


def _companion_call(c: Companion) -> str:
    lines, names = ["  {\n    mix_state = 77;\n"], []
    for k, (ctype, count, kind) in enumerate(c.arrays):
        lines.append(f"    {ctype} *b{k} = malloc({count} * sizeof *b{k});\n")
        lines.append(f"    mix_fill('{kind}', sizeof *b{k}, {count}, (char *)b{k});\n")
        names.append(f"(void *)b{k}")
    lines.append(f"    {c.name}({', '.join((*c.values, *names))});\n")
    for k, (_, count, kind) in enumerate(c.arrays):
        lines.append(_told(f"{c.name} {k}", kind, k, str(count)))
    return "".join((*lines, "  }\n"))


def _told(what: str, kind: str, k: int, count: str) -> str:
    return f"    mix_told(\"{what}\", '{kind}', sizeof *b{k}, {count}, (char *)b{k});\n    free(b{k});\n"


def _random_call(p: Program, n: int, m: int) -> str:
    """Arrays of the random function have a margin on both sides, which is told, too."""
    lines, names = [f"  {{\n    mix_state = {p.seed % 1000 + 1};\n"], []
    for k, b in enumerate(p.buffers):
        room = b.count + 2 * MARGIN
        (kind, member, _), *more = b.fields
        assert not member and not more
        lines.append(f"    {b.ctype} *b{k} = malloc({room} * sizeof *b{k});\n")
        lines.append(f"    mix_fill('{kind}', sizeof *b{k}, {room}, (char *)b{k});\n")
        names.append(f"(void *)(b{k} + {MARGIN})")
    lines.append(f"    kernel({', '.join((str(n), str(m), str(p.ld), *names))});\n")
    for k, b in enumerate(p.buffers):
        lines.append(_told(f"kernel {n} {m} {k}", b.fields[0][0], k, str(b.count + 2 * MARGIN)))
    return "".join((*lines, "  }\n"))


# -- targets ---------------------------------------------------------------------------------------

WARNINGS = ("-Wall", "-Wextra", "-Wno-unknown-pragmas")
EXACT = ("-std=gnu11", "-O1", "-ffp-contract=off", "-fwrapv", "-DTW_NO_FMA", "-DTW_PARALLEL_MIN=0",
         "-DTW_SIZE(n)=((n) < 20 ? (n) : 20)")  # fmt: skip


@dataclass(frozen=True)
class Way:
    """A target and how its results are compiled and run: compilers, flags of all files, ending of the main file, those
    of the others and their flags, more files, words ahead of the program, and a program that has to be there."""

    options: Mapping[str, object]
    compilers: tuple[str, ...] = ("gcc",)
    flags: tuple[str, ...] = ()
    main: str = ".c"
    others: tuple[tuple[str, tuple[str, ...]], ...] = ()
    sources: Callable[[], Sequence[str]] = tuple
    links: tuple[str, ...] = ("-lm",)
    launcher: Callable[[Random], Sequence[str]] = lambda _: ()
    needs: str = "gcc"


def _cores(machine: str) -> Way:
    folder = emulator_folder()
    return Way(
        {"target": "sunway", "machine": machine}, flags=("-I", str(folder), ANY_FORM), main="_master.c",
        others=(("_slave.c", WATCHED),), sources=lambda: [str(p) for p in sorted(folder.glob("*.c"))],
    )  # fmt: skip


WAYS = {
    "openmp": Way({"target": "openmp"}, ("gcc", "clang"), ("-fopenmp",)),
    "c": Way({"target": "c"}, ("gcc", "clang")),
    "dispatch": Way({"target": "openmp", "dispatch": True}, ("gcc", "clang"), ("-fopenmp",)),
    "sunway": _cores("sw26010-cpe"),
    "sunway-pro": _cores("sw26010-pro-cpe"),
    "mpi": Way({"target": "mpi"}, ("mpicc",), ("-DTW_LATENCY=0", "-DTW_BANDWIDTH=1e30"), needs="mpirun",
               launcher=lambda rng: ("mpirun", "-n", str(rng.choice((1, 2, 3, 4))))),
    "opencl": Way({"target": "opencl"}, flags=("-DTW_DEVICE_ONLY", "-Wno-deprecated-declarations"), main=".tw.c",
                  others=((".tw.cl.c", ()),), links=("-lOpenCL", "-lm"), needs="clang"),
}  # fmt: skip
GRIDS = ("8,8", "64", "16", "2,8", "4,8", "5")


@cache
def ways() -> tuple[str, ...]:
    """Targets that run here."""
    return tuple(name for name, way in WAYS.items() if shutil.which(way.needs) and (name != "opencl" or _opencl()))


def _opencl() -> bool:
    from tests.gpu.test_opencl import driver

    return driver()


def options_of(name: str, rng: Random) -> GenOptions:
    """How a program is generated for a target."""
    more = dict(WAYS[name].options)
    if name.startswith("sunway"):
        more |= {"threads": rng.choice(GRIDS), "scheme": "launch", "fp_contract": rng.choice(("", "off"))}
    if name == "sunway-pro":
        more["ldm_cache"] = rng.choice(("", "0", "32", "128"))
    return GenOptions(stem="prog", timeout=20, **more)  # type: ignore[arg-type]


def _run(command: Sequence[str], folder: Path, seconds: float) -> tuple[int, str, str]:
    env = {**os.environ, **MORE_THAN_CORES, "OMP_NUM_THREADS": "2", "OMP_WAIT_POLICY": "passive"}
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=seconds, env=env)
    except subprocess.TimeoutExpired:
        return 124, "", "does not end"
    return done.returncode, done.stdout, done.stderr


def original(program: Combined, folder: Path) -> str:
    """What the program prints as it is; its undefined behaviour is an error."""
    (folder / "old.c").write_text(program.text)
    sanitized = ("-fsanitize=address,undefined", "-fno-sanitize=vla-bound", "-fno-sanitize-recover=all")
    for flags in ((*sanitized, "-fno-wrapv"), ()):
        code, _, said = _run(["gcc", *EXACT, "-w", *flags, "old.c", "-o", "old", "-lm"], folder, 120)
        if code:
            raise RuntimeError(f"the original does not compile:\n{said[:2000]}")
        code, out, said = _run(["./old"], folder, 120)
        if code:
            raise RuntimeError(f"the original fails:\n{said[:2000]}")
    return out


def differs(program: Combined, name: str, want: str, folder: Path, counts: Counter[str]) -> str:
    """What is wrong with a target's result; empty where nothing is."""
    rng = Random(f"{name} {program.seed}")
    way, options = WAYS[name], options_of(name, rng)
    try:
        made = generate("prog.c", program.text, options)
    except TilewrightError as error:
        return f"not generated: {error}"
    done = sum(r.transformed for r in made.regions)
    counts.update({f"{name}: regions": len(made.regions), f"{name}: transformed": done})
    if not done:
        return ""
    problem = _compiled(way, made, rng, folder)
    if problem:
        return problem
    words = (*way.launcher(rng), "./new")
    code, out, said = _run(words, folder, 300)
    if code:
        return f"{' '.join(words)} ends with {code}:\n{out[-300:]}{said[:1500]}"
    expected = Counter(want.splitlines())
    got = Counter(out.splitlines())
    ranks = int(words[2]) if way.launcher(rng) else 1
    wrong = [line for line in expected if got[line] != ranks * expected[line]]
    return f"{' '.join(words)}: " + ", ".join(x.rsplit(" ", 1)[0] for x in wrong[:8]) if wrong else ""


def _compiled(way: Way, made: Generated, rng: Random, folder: Path) -> str:
    """The compiler's messages about a result."""
    compiler = rng.choice([c for c in way.compilers if shutil.which(c)])
    (folder / f"prog{way.main}").write_text(made.text)
    for ending, text in made.extra.files:
        (folder / f"prog{ending}").write_text(text)
    openmp = [f for f in way.flags if f == "-fopenmp"]
    before = [compiler, *EXACT, *WARNINGS, *openmp, "-c", "-o", os.devnull, "../old.c"]
    known = {flag(what) for _, _, what in messages(_run(before, folder, 300)[2], "old.c")}
    objects = []
    for ending, flags in ((way.main, ()), *way.others):
        objects.append(f"prog{ending}.o")
        words = [compiler, *EXACT, *WARNINGS, *way.flags, *flags, "-c", f"prog{ending}", "-o", objects[-1]]
        code, _, said = _run(words, folder, 300)
        if code:
            return f"{compiler} does not compile prog{ending}:\n{said[:3000]}"
        new = [what for _, _, what in messages(said, f"prog{ending}") if flag(what) not in known]
        if new:
            return f"{compiler} warns of prog{ending}:\n" + "\n".join(new[:8])
    words = [compiler, *EXACT, "-w", *way.flags, *objects, *way.sources(), *way.links, "-o", "new"]
    code, _, said = _run(words, folder, 300)
    return f"{compiler} does not link:\n{said[:2000]}" if code else ""


def failures(seed: int, names: Sequence[str], counts: Counter[str]) -> list[str]:
    """What goes wrong with the program of a seed, by target."""
    program = combined(seed)
    counts["programs"] += 1
    counts.update(f"with {k}" for k in program.kinds)
    found = []
    with tempfile.TemporaryDirectory() as made:
        want = original(program, Path(made))
        for name in names:
            (Path(made) / name).mkdir()
            try:
                problem = differs(program, name, want, Path(made) / name, counts)
            except Exception:
                problem = traceback.format_exc()
            found += [f"seed {seed}, {name}: {problem}"] if problem else []
    return found


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.property.combined", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    parser.add_argument("first", type=int, nargs="?", default=1_000_000)
    parser.add_argument("count", type=int, nargs="?", default=20)
    parser.add_argument("--targets", default=",".join(ways()), help="of " + ", ".join(WAYS))
    parser.add_argument("--each", type=int, default=0, help="targets for each program, in turns; 0: all")
    parser.add_argument("--within", type=float, default=1e9, help="seconds, after which no more programs are begun")
    parser.add_argument("--text", action="store_true", help="print the program of the first seed, run nothing")
    args = parser.parse_args(words)
    if args.text:
        print(combined(args.first).text, end="")
        return 0
    counts, wrong, names, start = Counter[str](), 0, args.targets.split(","), time.monotonic()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    seed = args.first
    try:
        for seed in range(args.first, args.first + args.count):
            if time.monotonic() - start > args.within:
                break
            chosen = [names[(seed + k) % len(names)] for k in range(args.each or len(names))]
            for problem in failures(seed, chosen, counts):
                wrong += 1
                print(problem, flush=True)
    finally:
        print(f"the last: {seed}, after {time.monotonic() - start:.0f} s")
        _print_counts(counts, wrong)
    return 1 if wrong else 0


def _print_counts(counts: Counter[str], wrong: int) -> None:
    print(", ".join(f"{n} {what}" for what, n in sorted(counts.items())), f"{wrong} failures", sep="; ")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
