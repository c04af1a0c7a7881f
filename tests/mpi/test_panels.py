"""Products in panels: what travels for each panel, faults that are planted in it, and results on grids of ranks."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import islpy as isl
import pytest

from codegen.ast.ctree import Bin, CNode, For, If, Instance, Int
from codegen.mpi.blocks import PANEL
from codegen.mpi.messages import START
from codegen.mpi.network import load_network
from codegen.mpi.panels.buffers import PANELS, panel_program
from codegen.mpi.predict.load import Setting, panel_ends
from codegen.mpi.predict.simulate import Machine, predict
from codegen.mpi.prove import wrong_loops, wrong_message
from codegen.mpi.prove_panels import wrong_panels
from codegen.mpi.share import SharedRegion, share_out
from codegen.mpi.target import TARGETS
from codegen.mpi.trees import MessageLoops, panel_transfers
from codegen.options import GenOptions
from codegen.region_model import model_region
from codegen.source_file import open_source
from tests.mpi.programs import SMALL, compiled, for_ranks, needs_mpi, on_ranks
from tests.mpi.test_proofs import swapped, with_more

PROGRAM = Path(__file__).parents[2] / "benchmarks" / "mpi" / "product.c"
BOXES = "C: block, block; A: block, block; B: block, block"
FEW_STEPS = (*SMALL, "-fopenmp", "-DTW_PANEL=5", "-Wno-unknown-pragmas")
ROWS = "C: block, *; A: block, *; B: block, *"
PRODUCT = """void product(int n, double C[n][n], double A[n][n], double B[n][n])
{
#pragma scop
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++)
      C[i][j] *= 2;
    for (int k = 0; k < n; k++)
      for (int j = 0; j < n; j++)
        C[i][j] += A[i][k] * B[k][j];
  }
#pragma endscop
}
"""


@cache
def shared(text: str, distribute: str = BOXES) -> SharedRegion:
    options = GenOptions(target="mpi", distribute=distribute)
    model = model_region(open_source("in.c", text, options).slices[0], options)
    assert model is not None
    return share_out(model, options, None)


def with_loops(x: SharedRegion, change: Callable[[MessageLoops], MessageLoops]) -> list[MessageLoops]:
    (_, loops) = x.moves[-1]
    return [change(t) for t in loops]


def test_statements_ahead_of_panels_and_in_them() -> None:
    """Nothing is sent first; for each panel, parts of A and B are. Memory of both is that of a panel."""
    x = shared(PRODUCT)
    assert [(q.stmts, q.along(x.program.scop)) for q in x.ranked.cut.phases] == [(("S1",), ""), (("S2",), "k")]
    assert [(e.phase, sorted(e.elements)) for e, _ in x.moves] == [(f"{PANELS}P2", ["A", "B"])]
    assert wrong_panels(x.ranked, x.moves) == "" == wrong_message(x.program, x.ranked.cut, x.ranked.blocks, x.moves)
    p = panel_program(x.ranked, x.ranked.cut.phases[1])
    used = {a.array: p.scop.arrays[a.array].extents for a in p.scop.statements[0].accesses}
    assert sorted(used) == ["C", "tw_panel_A", "tw_panel_B"]
    assert used["tw_panel_A"][1] == used["tw_panel_B"][0] == "tw_width"


def test_rows_of_one_operand_travel_along_one_axis() -> None:
    x = shared(PRODUCT, ROWS)
    assert [(e.phase, sorted(e.elements)) for e, _ in x.moves] == [(f"{PANELS}P2", ["B"])]
    assert wrong_panels(x.ranked, x.moves) == ""


def test_products_that_follow_each_other() -> None:
    """What the first one computes is read in panels of the second, from who computed and holds it."""
    second = PRODUCT.replace("C[n][n], double A", "C[n][n], double D[n][n], double A").replace(
        "#pragma endscop",
        """  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        D[i][j] += C[i][k] * A[k][j];
#pragma endscop""",
    )
    x = shared(second, f"{BOXES}; D: block, block")
    assert [sorted(e.elements) for e, _ in x.moves] == [["A", "B"], ["A", "C"]]
    assert wrong_panels(x.ranked, x.moves) == "" == wrong_message(x.program, x.ranked.cut, x.ranked.blocks, x.moves)


@pytest.mark.parametrize(
    "change",
    [
        ("C[i][j] += A[i][k] * B[k][j]", "B[k][j] += A[i][k] * C[i][j]"),  # k is no sum, but rows of what is written
        ("C[i][j] += A[i][k]", "C[i][j] += A[i][n - 1 - k] * C[i][j] + A[i][k]"),  # of A both ends at a time
        ("A[i][k] * B[k][j];", "A[i][k] * B[k][j];\n    for (int j = 0; j < n; j++)\n      B[i][j] = C[i][j];"),
    ],
)
def test_what_cannot_be_in_panels_is_sent_as_before(change: tuple[str, str]) -> None:
    """An array is in panels where nobody writes it meanwhile, and a panel needs a box of known size."""
    try:
        x = shared(PRODUCT.replace(*change))
    except Exception as error:  # not shared at all, which is as right
        assert type(error).__name__ == "NotShared"
        return
    assert wrong_panels(x.ranked, x.moves) == ""
    for q in x.ranked.cut.shared:
        written = {a.array for s in q.stmts for a in x.program.scop.statement(s).writes}
        assert q.panels is None or not written & set(q.panels.arrays)


def test_a_sum_that_is_used_at_once_keeps_its_order() -> None:
    """Behind each sum its result is stored elsewhere by the same loop: that runs behind all panels."""
    last = "A[i][k] * B[k][j];"
    text = PRODUCT.replace(last, f"{last}\n    for (int j = 0; j < n; j++)\n      C[i][j] += 1;")
    x = shared(text)
    assert [q.along(x.program.scop) for q in x.ranked.cut.phases] == ["", "k", ""]
    assert wrong_panels(x.ranked, x.moves) == ""
    turned = replace(x.ranked, cut=replace(x.ranked.cut, phases=x.ranked.cut.phases[::-1]))
    assert "would run before" in wrong_panels(turned, x.moves)


def test_wrong_messages_of_a_panel_are_found() -> None:
    """Without a column of the panel, for another rank, with what the giver does not hold, or left out."""
    x = shared(PRODUCT)
    q, (exchange, loops) = x.ranked.cut.phases[1], x.moves[0]

    def without_first(e: isl.Set) -> isl.Set:
        at = e.find_dim_by_name(isl.dim_type.param, PANEL[0])
        return e.subtract(e.equate(isl.dim_type.set, 1, isl.dim_type.param, at))

    for change in (without_first, swapped, with_more):
        faulty = replace(exchange, elements={a: change(e) for a, e in exchange.elements.items()})
        assert wrong_panels(x.ranked, ((faulty, panel_transfers(x.ranked, q, faulty)),)) != "", change.__name__
    assert "not sent" in wrong_panels(x.ranked, ((exchange, loops[:1]),))
    assert "not sent" in wrong_panels(x.ranked, ())


def test_a_wrong_place_in_a_buffer_is_found() -> None:
    """The second subscripts of a message's elements are where the product reads them."""

    def later(node: CNode) -> CNode:
        if isinstance(node, If):
            return replace(node, then=later(node.then))
        if isinstance(node, For):
            return replace(node, body=later(node.body))
        assert isinstance(node, Instance)
        here, (row, column) = node.accesses
        return replace(node, accesses=(here, (row, Bin("+", column, Int(1)))))

    x = shared(PRODUCT)
    moved = with_loops(x, lambda t: replace(t, made=replace(t.made, code=later(t.made.code))))
    assert wrong_loops(moved) != "" == wrong_loops(list(x.moves[-1][1]))


def test_panels_are_told_and_predicted(tmp_path: Path) -> None:
    """Bytes: of each operand a rank gets all that is in its row, or column, of the grid and not its own."""
    x, picture = shared(PRODUCT), tmp_path / "panels.svg"
    n = 240
    assert panel_ends(x.ranked.cut.phases[1], Setting({"n": n}, 16)) == (0, 60, 120, 180, 240)
    found = predict(x, Setting({"n": n}, 16), Machine(load_network("infiniband-hdr")))
    assert found.sent == 2 * 3 * n * n * 8 and found.hidden > 0
    options = GenOptions(target="mpi", distribute=BOXES)
    said = "\n".join(TARGETS["mpi"].timeline("in.c", PRODUCT, options, {"n": n, "ranks": 4}, str(picture)))
    assert f"{2 * n * n * 8 / 4 / 1e3:.3g} kB" in said or "MB" in said
    ElementTree.fromstring(picture.read_text())
    model = model_region(open_source("in.c", PRODUCT, options).slices[0], options)
    assert model is not None
    lines = "\n".join(TARGETS["mpi"].shared(model, options))
    assert "S2: blocks of i and j, in panels of k" in lines and "sent for each panel: B" in lines
    assert START not in [e.phase for e, _ in x.moves]


@needs_mpi
def test_products_on_grids_of_ranks(tmp_path: Path) -> None:
    """Odd sizes, fewer rows than ranks, panels of a few steps; the kernels are those of one rank."""
    made = for_ranks(str(PROGRAM), PROGRAM.read_text(), distribute=BOXES)
    assert made.count("tw_f64_add_mul(tw_m, tw_n,") == 4 and "tw_panel_run(" in made
    for name, least in (("sent", "1L << 60"), ("told", "25")):
        many = compiled("mpicc", made, tmp_path / name, (*FEW_STEPS, f"-DTW_TELL=({least})"))
        for ranks, n in ((1, 9), (2, 33), (3, 47), (4, 31), (6, 4), (6, 53)):
            done = on_ranks(many, ranks, (str(n),), threads=2 if ranks == 2 else 1)
            assert done.returncode == 0, (name, ranks, n, done.stderr)
            assert done.stdout.count("off by 0\n") == ranks, (name, ranks, n, done.stdout)


@needs_mpi
def test_messages_that_ranks_of_a_node_are_told_of(tmp_path: Path) -> None:
    """Who is late to read one where it lies is waited for; where memory is not shared, messages are sent; faults are
    found: a room that is filled too early, that is given back before it is read, that is read elsewhere."""
    made = for_ranks(str(PROGRAM), PROGRAM.read_text(), distribute=BOXES)
    waits = "  for (double to = MPI_Wtime() + 0.02 * tw_world.rank; MPI_Wtime() < to;)\n    (void)0;\n"
    reads = "  return r->seen ? r->seen : r->at[tw_node.rank];"
    late = (reads, waits + reads)
    alone = ("&r->window) == MPI_SUCCESS;", "&r->window) != MPI_SUCCESS;")
    no_wait = ("  tw_all_taken(tw_node.turn);\n  tw_count", "  tw_count")
    early = ("tw_held.of[h].panel < tw_held.sends", "tw_held.of[h].panel <= tw_held.sends")
    elsewhere = ("->at[tw_node.number[giver]] + told.first;", "->at[tw_node.number[giver]] + told.first + 8;")
    cases = (((late,), True), ((alone,), True), ((late, no_wait), False), ((late, early), False),
             ((elsewhere,), False))  # fmt: skip
    for k, (changes, right) in enumerate(cases):
        text = made
        for old, new in changes:
            assert text.count(old) == 1
            text = text.replace(old, new)
        program = compiled("mpicc", text, tmp_path / f"told{k}", (*FEW_STEPS, "-DTW_TELL=25"))
        done = on_ranks(program, 2, ("61",))
        assert (done.returncode == 0) == right, (changes, done.stderr)


@needs_mpi
def test_memory_is_that_of_a_box(tmp_path: Path) -> None:
    """Of three matrices of 8 MB a rank of four holds a quarter each, and panels."""
    made = for_ranks(str(PROGRAM), PROGRAM.read_text(), distribute=BOXES)
    many = compiled("mpicc", made, tmp_path / "many", ("-O2", "-DTW_PANEL=64", "-Wno-unknown-pragmas"))
    done = on_ranks(many, 4, ("1000",))
    assert done.returncode == 0, done.stderr
    used = [int(b) for b in re.findall(r"^memory (\d+)$", done.stderr, re.M)]
    assert len(used) == 4 and max(used) < 0.6 * 3 * 8e6
