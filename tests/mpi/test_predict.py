"""What is predicted for ranks: bytes as they are counted, time that behaves, pictures that are well-formed."""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace
from itertools import product
from pathlib import Path
from xml.etree import ElementTree

import pytest

from benchmarks.mpi import ADDED, region, time_tiles
from benchmarks.mpi import BLOCKS as BY_KERNEL
from codegen.mpi.network import load_network
from codegen.mpi.predict.load import Setting, setting
from codegen.mpi.predict.scaling import chart, scaling
from codegen.mpi.predict.simulate import Crowding, Machine, predict, work
from codegen.mpi.predict.timeline import simulate
from codegen.mpi.predict.wide import TimeTiles, depth
from codegen.mpi.share import SharedRegion, share_out
from codegen.mpi.target import TARGETS, Support, support
from codegen.mpi.wide.steps import widened
from codegen.options import GenOptions
from codegen.region_model import model_region
from codegen.source_file import open_source
from tests.corpus import KERNELS
from tests.mpi.programs import compiled, for_ranks, needs_mpi, on_ranks
from tests.mpi.test_bytes import RANKS, STEPS, N, counted
from tests.mpi.test_proofs import BLOCKS, HEAT, LU

MPI = TARGETS["mpi"]
SIZES = {"steps": 100, "n": 4000}


def shared(text: str, distribute: str = "") -> SharedRegion:
    options = GenOptions(target="mpi", distribute=distribute)
    model = model_region(open_source("in.c", text, options).slices[0], options)
    assert model is not None
    return share_out(model, options, None)


def on(network: str) -> Machine:
    return Machine(load_network(network))


@pytest.mark.parametrize("distribute", ["", BLOCKS])
def test_bytes_are_those_that_are_sent(distribute: str) -> None:
    found = predict(shared(HEAT, distribute), Setting({"steps": STEPS, "n": N}, RANKS), on("shared-memory"))
    assert found.sent == counted(distribute)


def test_messages_travel_while_ranks_compute() -> None:
    x, at = shared(HEAT, BLOCKS), Setting(SIZES, 4)
    found = predict(x, at, on("infiniband-hdr"))
    assert found.waiting == 0 < found.hidden
    assert found.computing == pytest.approx(work(x, SIZES) * 0.5e-9 / 4, rel=0.01)
    assert all(e.kind != "wait" for e in simulate(x, at, on("infiniband-hdr")))
    thin = Setting({"steps": 100, "n": 40}, 8)
    assert predict(x, thin, on("ethernet-10g")).waiting > predict(x, thin, on("infiniband-hdr")).waiting > 0
    assert any(e.kind == "wait" for e in simulate(x, thin, on("ethernet-10g")))


def test_all_ranks_have_some_of_what_is_left() -> None:
    """With one block of rows for each of four ranks, a factorization would take 0.44 of the time of one."""
    x = shared(LU)
    assert x.cyclic
    share = predict(x, Setting({"n": 400}, 4), on("infiniband-hdr")).computing / (work(x, {"n": 400}) * 0.5e-9)
    assert 0.25 < share < 0.32


def test_scaling_to_ten_thousand_ranks() -> None:
    x = shared(HEAT, BLOCKS)
    found = {n: scaling(x, SIZES, on(n), (1, 16, 1024, 10_000)) for n in ("infiniband-hdr", "ethernet-10g")}
    fast, slow = found.values()
    assert fast.speedup[0] == pytest.approx(1) and 15 < fast.speedup[1] <= 16
    assert all(a >= b for a, b in zip(fast.speedup, slow.speedup, strict=True))
    assert all(0 < v <= 1.01 for s in (fast, slow) for v in s.weak)
    ElementTree.fromstring(chart(found, "heat < cold", {2: 1.9}))


def test_nobody_is_faster_than_all_ranks_together() -> None:
    """With more ranks than rows, most have nothing to do, and are sent nothing; on one node they share its memory and
    copy messages."""
    x = shared(HEAT, BLOCKS)
    for network in ("shared-memory", "infiniband-hdr"):
        found = scaling(x, {"steps": 100, "n": 200}, on(network), (16, 1024, 10_000))
        assert all(v <= p for p, v in zip(found.ranks, found.speedup, strict=True)) and max(found.speedup) < 198
        assert found.speedup[2] == pytest.approx(found.speedup[1], rel=0.05) and found.speedup[2] > found.speedup[0]
    alone, node = predict(x, Setting(SIZES, 1), on("shared-memory")), load_network("shared-memory")
    crowded = Machine(node, crowding=Crowding.measured({16: 8.0}))
    assert alone.seconds / predict(x, Setting(SIZES, 16), crowded).seconds == pytest.approx(8, rel=0.1)
    assert crowded.slower(1) == 1 and replace(crowded, network=load_network("ethernet-10g")).slower(16) == 1
    assert crowded.slower(31) == 3  # as much for each core beyond those that are known
    some = Crowding.measured({4: 4.0, 8: 4.0, 16: 8.0})  # cores that share in fours, all of them as long
    assert [some.slower(n) for n in (1, 4, 6, 8, 12, 16)] == [1, 1, 1.5, 2, 2, 2]


def test_inspect_shows_owners_bytes_and_a_trace(tmp_path: Path) -> None:
    options, picture = GenOptions(target="mpi", distribute=BLOCKS), tmp_path / "heat.svg"
    model = model_region(open_source("in.c", HEAT, options).slices[0], options)
    assert model is not None
    said = "\n".join(MPI.shared(model, options))
    assert "S1: blocks of i in each iteration of t; while messages travel, all but 1 + 1" in said
    assert "u: blocks of dimension 1" in said
    said = "\n".join(MPI.timeline("in.c", HEAT, options, {"steps": 10, "n": 400, "ranks": 3}, str(picture)))
    assert "rank  1: i, u (dimension 1), v (dimension 1) = 134 to 266" in said
    assert "31.8 kB" in said  # ten rows of 398 elements, from one block to the next
    ElementTree.fromstring(picture.read_text())
    with pytest.raises(ValueError, match="a size for n is missing"):
        MPI.timeline("in.c", HEAT, options, {"steps": 10}, "")


@needs_mpi
def test_steps_without_a_message_are_those_that_ranks_choose(tmp_path: Path) -> None:
    x, network = shared(HEAT, BLOCKS), load_network("shared-memory")
    wide = widened(x.ranked)
    assert wide is not None
    cases, lines = [], []
    reach = max(wide.slope, *wide.more.values())
    threads = {0: 1, 1: 4}
    for n, steps, ranks, tile, line in product((50, 400, 4000), (3, 100), (2, 5, 16), (1, 4, 12), threads):
        at = Setting({"steps": steps, "n": n}, ranks)
        amount = work(x, at.sizes)
        cases.append(depth(x, wide, at, network, amount, TimeTiles(tile, bool(line), threads[line])))
        asked = f"tw_wide_steps({amount}, {steps}, {reach}, {tile}, {line}, 1, (const tw_index[]){{ {n} }})"
        lines.append(f"  tw_world.size = {ranks};\n  omp_set_num_threads({threads[line]});")
        lines.append(f'  printf("%lld\\n", {asked});')
    text = support(Support("shared-memory")) + "\nint main(void)\n{\n" + "\n".join(lines) + "\n  return 0;\n}\n"
    program = compiled("mpicc", text, tmp_path / "steps", ("-fopenmp",))
    done = subprocess.run([str(program)], capture_output=True, text=True, timeout=60)
    assert [int(v) for v in done.stdout.split()] == cases and len(set(cases)) > 3


@needs_mpi
def test_bytes_of_steps_without_a_message(tmp_path: Path) -> None:
    """Counted where they are sent: wide halos. What is no box is predicted from some of its slices."""
    source, ranks, sizes = KERNELS / "jacobi-2d.c", 3, {"tsteps": 27, "n": 190}
    text = for_ranks(str(source), source.read_text(), distribute=BY_KERNEL["jacobi-2d"]) + ADDED
    (tmp_path / "in-mpi.c").write_text(text)
    program = compiled("mpicc", text, tmp_path / "many", ("-DTW_LATENCY=0", "-Wno-unknown-pragmas"))
    done = on_ranks(program, ranks, [str(v) for v in sizes.values()])
    sent = sum(map(int, re.findall(r"^sent (\d+)$", done.stderr, re.M)))
    x, free = region("jacobi-2d"), Machine(replace(load_network("shared-memory"), latency=0.0))
    at = setting(x.program.scop, sizes, ranks)
    found, plain = predict(x, at, free, time_tiles("in", tmp_path)), predict(x, at, free)
    assert found.sent == pytest.approx(sent, rel=0.01) and sent > 0
    assert found.sent != plain.sent and found.computing > plain.computing
