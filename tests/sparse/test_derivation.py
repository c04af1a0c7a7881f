"""The derivation: parser, relations, cases, orders, and what it leads to."""
from __future__ import annotations

import pytest

from codegen.cli.main import main
from codegen.sparse.algebra.expr import call, div, var
from codegen.sparse.algebra.parse import Reader
from codegen.sparse.algebra.relation import compose, inverse
from codegen.sparse.api import Options, convert
from codegen.sparse.explain import explain
from codegen.sparse.formats.load import load
from codegen.sparse.ir.counting import Count, Scatter
from codegen.sparse.ir.model import Branch, Copy, Loop, Sweep
from codegen.sparse.ir.sorting import Radix
from codegen.sparse.ir.walk import parts
from codegen.sparse.synth.cases import classify
from codegen.sparse.synth.layout import layout
from codegen.sparse.synth.scan import scan
from codegen.sparse.synth.visits import orders, sorted_by


def constraint(text: str):
    (c,) = Reader("", text).chain()
    return c


@pytest.mark.parametrize("text, uf, known, case", [
    ("F(x, y) = n", "F", "x y", 4), ("rowptr(5*ii + hr) = k", "rowptr", "ii hr", 4),
    ("col(inv) = 5*jj + hc", "col", "inv jj hc", 1), ("rowptr(a) <= inv", "rowptr", "a inv", 2),
    ("rowptr(a) >= inv + 1", "rowptr", "a inv", 3), ("off(k) = j - i", "off", "i j", 5), ("F(n) = y", "F", "y", 5),
    ("F(n) = m", "F", "", 0), ("rowptr(i + 1) >= rowptr(i) + 1", "rowptr", "i", 0),
    ("F(n) = G(n)", "F", "n", 0),
])
def test_cases(text: str, uf: str, known: str, case: int) -> None:
    assert classify(constraint(text), uf, frozenset(known.split()), frozenset({uf, "G"})) == case


def test_composition_substitutes_the_dense_coordinates() -> None:
    coo, csr = load("COO").map, load("CSR").map
    rel = compose(inverse(csr), coo)
    assert rel is not None and rel.ins == ("n", "ii", "jj") and rel.outs == ("ii", "k", "jj")
    assert not {"i", "j"} & {n for c in rel.cons for n in str(c).replace("(", " ").split()}


def steps(source: str, target: str, **options) -> list:
    return list(parts(convert(load(source), load(target), Options(**options)).chain.steps))


def test_sorted_coordinates_need_no_permutation() -> None:
    found = steps("SCOO", "CSR")
    assert not any(isinstance(s, (Count, Scatter, Radix)) for s in found)
    assert {s.target for s in found if isinstance(s, Copy)} == {"col", "val"}
    assert sum(isinstance(s, Sweep) for s in found) == 1  # empty rows


def test_rows_to_columns_is_one_counting_permutation() -> None:
    found = steps("CSR", "CSC")
    assert sum(isinstance(s, Scatter) for s in found) == 1
    assert not any(isinstance(s, (Radix, Sweep)) for s in found)


def test_unsorted_coordinates_are_looked_at_first() -> None:
    assert isinstance(convert(load("COO"), load("CSR")).chain.steps[0], Branch)


def test_rows_to_coordinates_copies_in_blocks() -> None:
    found = steps("CSR", "COO")
    assert {s.target for s in found if isinstance(s, Copy)} == {"col", "val"}
    assert sum(isinstance(s, Loop) for s in found) == 1


def test_fibres_need_no_sweep() -> None:
    """A fibre without entries is not stored, so its pointers need no repair."""
    assert not any(isinstance(s, Sweep) for s in steps("COO3", "CSF"))


def test_orders() -> None:
    i, j = var("i"), var("j")
    facts = {"CSR": [(i,), (div(i, 3),)], "DIA": [(i, j)], "MCOO": [(call("MORTON", i, j),)], "SCOO": [(i,)],
             "CSF2": [(i, j), (i,)], "COO": [], "BCSR": [(div(i, 2),)]}
    for name, known in facts.items():
        lay = layout(load(name))
        for parts_ in [(i,), (j,), (i, j), (div(i, 3),), (div(i, 2),), (call("MORTON", i, j),)]:
            implied = any(k[:len(parts_)] == parts_ or (len(parts_) == 1 and str(parts_[0]).startswith("i div")
                                                       and k[0] == i) for k in known)
            assert sorted_by(lay, scan(lay), parts_, False) == implied, (name, parts_)
    blocks = layout(load("BCSR"))
    assert any(sorted_by(blocks, scan(blocks, o), (i,), False) for o in orders(blocks)), "by interchange"
    coarse = (call("MORTON", div(i, 8), div(j, 8)),)
    assert sorted_by(layout(load("MCOO")), scan(layout(load("MCOO"))), coarse, False)


def test_explanation(capsys: pytest.CaptureFixture[str]) -> None:
    text = explain(convert(load("COO"), load("DIA")))
    assert "case 5: jj1 = ii1 + off(d)  <- used" in text and "position d: table" in text
    assert main(["sparse", "convert", "--from", "COO", "--to", "CSR", "--explain"]) == 0
    out = capsys.readouterr().out
    assert "{[n] : n >= 0 and s_NNZ >= n + 1} at [5, n]; reads s_row(n); writes rowptr(s_row(n) + 1)" in out
    assert "case 2: k >= rowptr(ii1)  <- used" in out and "permutations that stay: k" in out


def test_same_text_every_time() -> None:
    first = convert(load("COO3"), load("HICOO"), Options(parallel=True)).file
    assert first == convert(load("COO3"), load("HICOO"), Options(parallel=True)).file


def test_formats_can_be_printed_and_read_back(capsys: pytest.CaptureFixture[str], tmp_path) -> None:
    for name in ("CSR", "BCSR:3x2", "HICOO4:16"):
        assert main(["sparse", "formats", name]) == 0
        (tmp_path / "f.fmt").write_text(capsys.readouterr().out)
        assert layout(load(str(tmp_path / "f.fmt"))).positions == layout(load(name)).positions
        load.cache_clear()
