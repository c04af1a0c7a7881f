"""Runs a result on several MPI ranks at once and compares the memory of each rank with what one rank alone computes;
returns how many test vectors agree, and the first failure."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from codegen.checking.harness.interface import Harness
from codegen.checking.harness.shared_object import open_library
from codegen.checking.sanitize import subset
from codegen.checking.show import element_text
from codegen.checking.test_sizes.survey import Survey, TestVector
from codegen.checking.trials import TOLERANCE, ComparedObjects
from codegen.limits import PROGRAM, finished, limited
from codegen.record import record
from codegen.source.encoding import decode
from codegen.targets.base import Emulator

# More ranks than cores, for Open MPI, which else refuses them (4, 5), and lets those that wait keep their core. MPICH
# asks for nothing.
MORE_THAN_CORES = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    "OMPI_MCA_mpi_yield_when_idle": "1",
}
SECONDS = 60  # for all vectors of a region; ranks that wait for each other come to no end


@record
class RankFailure:
    """What is wrong at one vector."""

    vector: TestVector
    message: str


def on_ranks(
    h: Harness, pair: ComparedObjects, s: Survey, emulator: Emulator, program: Path, folder: Path
) -> tuple[int, RankFailure | None]:
    """How many vectors were run on all numbers of ranks, and the first failure."""
    vectors = [v for v in subset(s.vectors) if v.overlap is None]
    if not vectors:
        return 0, None
    listed = folder / "ranks.list"
    listed.write_text("".join(_line(h, pair, s, k, v) for k, v in enumerate(vectors)))
    tolerance = str(TOLERANCE[8] if s.reassociate else 0.0)
    words = [*emulator.launcher, str(max(emulator.ranks)), str(program), str(pair.result), str(listed), tolerance]
    text, code = _run([*words, *map(str, emulator.ranks)])
    begun = re.findall(r"^tw: (\d+)$", text, re.M)
    wrong = re.search(r"^tw: differs (\d+) (\d+) (\d+) (\d+) (\d+) (\d+)$", text, re.M)
    if wrong is not None:
        at, ranks, rank, buffer, leaf, scalar = map(int, wrong.groups())
        return at, RankFailure(vectors[at], _message(h, pair, vectors[at], (ranks, rank), (buffer, leaf, scalar)))
    if code == 0 and re.search(r"^tw: done$", text, re.M):
        return len(vectors), None
    at = int(begun[-1]) if begun else 0
    why = "does not end" if code is None else "fails"
    said = next((line for line in text.splitlines() if line.startswith("tilewright: ")), "")
    tried = ", ".join(map(str, emulator.ranks))
    message = f"the result {why} on one of {tried} ranks{f' ({said})' if said else ''}"
    return at, RankFailure(vectors[at], message)


def _line(h: Harness, pair: ComparedObjects, s: Survey, k: int, v: TestVector) -> str:
    """A vector, and what is compared of its memory."""
    layout = open_library(pair.original, pair.numbers).layout(h, v.ins)
    numbers: list[int] = [k, h.number, v.seed, len(v.ins), *v.ins, len(v.sizes), *v.sizes]
    for buffer, have in zip(h.memory.buffers, layout.buffers, strict=True):
        leaves = () if s.forgets(buffer.base, buffer.how == "value") else have.leaves
        numbers += [have.elements, have.size, len(leaves), *(x for leaf in leaves for x in leaf)]
    return " ".join(map(str, numbers)) + "\n"


def _message(
    h: Harness, pair: ComparedObjects, v: TestVector, who: tuple[int, int], where: tuple[int, int, int]
) -> str:
    buffer, leaf, scalar = where
    have = open_library(pair.original, pair.numbers).layout(h, v.ins).buffers[buffer]
    numbers = have.leaves[leaf]
    place = element_text(h.memory.buffers[buffer], h.leaves[buffer][leaf], have.dims, numbers[2], scalar,
                         v.ins[h.slot(buffer)])  # fmt: skip
    return f"of {who[0]} ranks, rank {who[1]} has another {place} than one rank alone"


def _run(words: Sequence[str]) -> tuple[str, int | None]:
    """Standard error and exit status; None when it did not end."""
    env = {**os.environ, **MORE_THAN_CORES, "OMP_WAIT_POLICY": "passive", "LC_ALL": "C"}
    with tempfile.TemporaryFile() as said:
        nothing = subprocess.DEVNULL
        process = subprocess.Popen(limited(words, PROGRAM), stdin=nothing, stdout=nothing, stderr=said, env=env,
                                   start_new_session=True)  # fmt: skip
        code = finished(process, SECONDS)
        said.seek(0)
        return decode(said.read(1 << 20)), code
