"""Descriptors and kernels that are wrong: each error with its id and place."""
from __future__ import annotations

from pathlib import Path

import pytest

from codegen.cli.main import main
from codegen.diagnostics import InputError
from codegen.sparse.formats.load import load
from codegen.sparse.formats.read import read
from codegen.sparse.synth.layout import layout

COO = load("COO").text


def _swap(old: str, new: str) -> str:
    assert old in COO
    return COO.replace(old, new)


BAD = {
    "statement": ("formt X\n", 1, "unknown statement 'formt'"),
    "twice": (COO + "data val\n", 9, "a second 'data'"),
    "missing": ("format X\nshape N\n", 3, "no 'map'"),
    "parenthesis": (_swap("row(n) = i", "row(n = i"), 4, "expected ')'"),
    "comparison": (_swap("0 <= n < NNZ", "0 + n"), 4, "expected a comparison"),
    "undeclared": (_swap("uf col ", "uf other "), 3, "col is used in the map but not declared"),
    "unused": (COO + "uf more {[y] : 0 <= y < 3} -> {[z] : 0 <= z < 3}\n", 9, "the map does not use it"),
    "no function": (_swap("row(n) = i and ", "").replace("ii = i and", "").replace(
        "uf row {[x] : 0 <= x < NNZ} -> {[y] : 0 <= y < NR}\n", ""), 3, "no function"),
    "arity": (_swap("row(n) = i", "row(n, n) = i"), 3, "takes 1 arguments"),
    "rank": (_swap("shape NR, NC", "shape NR"), 3, "dense coordinates"),
    "key": (COO + "forall n1, n2 : n1 < n2 <=> ZIG(n1) < ZIG(n2)\n", 9, "ZIG is not known"),
    "sides": (COO + "forall n1, n2 : n1 < n2 <=> row(n1) < col(n2)\n", 9, "the same key"),
    "dimension": (COO + "forall n1, n2 : n1 < n2 <=> dim2(n1) < dim2(n2)\n", 9, "2 dimensions"),
    "variable": (COO + "forall a, b : a < b <=> dim0(a) < dim0(b)\n", 9, "cannot tell which"),
    "name": (_swap("data val", "data for"), 3, "cannot be a name"),
    "divisor": (COO + "let X = NR div 0\n", 9, "only positive literals"),
    "character": (_swap("data val", "data $"), 6, "expected the name"),
}


@pytest.mark.parametrize("name", sorted(BAD))
def test_bad_descriptors_are_located(name: str) -> None:
    text, line, words = BAD[name]
    with pytest.raises(InputError) as caught:
        read("f.fmt", text)
    assert (caught.value.id, caught.value.loc.file, caught.value.loc.line) == ("bad-descriptor", "f.fmt", line)
    assert words in caught.value.message


@pytest.mark.parametrize("text, words", [
    (_swap("0 <= n < NNZ", "0 <= n"), "neither given by the coordinates nor counted"),
    (load("CSR").text.replace("dim0(k1) <= dim0(k2)", "dim1(k1) <= dim1(k2)"), "contradicts rowptr"),
])
def test_unsolvable_descriptors(text: str, words: str) -> None:
    with pytest.raises(InputError) as caught:
        layout(read("f.fmt", text))
    assert caught.value.id == "unsolved-format" and words in caught.value.message


KERNELS = [
    ("y(i) = A(i,j*x(j)", ["A=CSR"], "expected"), ("y(k) = A(i,j)*x(j)", ["A=CSR"], "index k"),
    ("y(i) = A(i,j)*x(j)", [], "at least one operand"), ("y(i) = A(i,j)*x(j)", ["A=COO3"], "3 dimensions"),
    ("y(i) = A(i,j)*x(j)", ["B=CSR"], "no tensor B"),
    ("L(i,j)*x(j) = b(i)", ["L=COO"], "keeps neither rows nor columns together"),
    ("L(i,j)*x(i) = b(i)", ["L=CSR"], "the form"),
    ("y(i) = A(i,j)*x(j) + y(j)", ["A=CSR"], "both sides"), ("y(i) = A(i,j)*x(j) + b(k)", ["A=CSR"], "dense term"),
    ("C(i,j) = A(i,j)/B(i,j)", ["A=CSR", "B=CSR", "C=CSR"], "only dense tensors divide"),
    ("y(i) = A(i,j)*B(i,j)/C(i,j)", ["A=CSR", "B=CSR", "C=CSR"], "only dense tensors divide"),
    ("C(i,j) = A(i,j) + 1", ["A=CSR", "C=CSR"], "would fill it"),
    ("C(i,j) = A(i,j)*d(i) + B(i,j) + 1", ["A=CSR", "B=CSR", "C=CSR"], "would fill it"),
    ("C(i,j) += A(i,j)*d(i) + B(i,j)", ["A=CSR", "B=CSR", "C=CSR"], "made anew"),
    ("y(i) = A(i,j)*x(j), j >= i", ["A=CSR"], "only a system has a triangle"),
    ("L(i,j)*x(j) = b(i), j >= k", ["L=CSR"], "expected j <= i"),
    ("L(i,j)*x(j) = x(i)", ["L=CSR"], "the form"),
    ("y(i) = A(i,j)*x(j) + A(i)", ["A=CSR"], "more indices in one place"),
    ("y(i) = A(i,j)*j", ["A=CSR"], "an index and a scalar"),
    ("s = X(i,j,k)*Y(i,j,k)", ["X=CSF", "Y=CSF"], "more than two dimensions"),
    ("y(i) = x*A(i,j)*x(j)", ["A=CSR"], "a tensor and a scalar"),
    ("A(i,i) = B(i,i)", ["B=CSR"], "an index twice"), ("x(i) = x(i)", [], "both sides"),
]


@pytest.mark.parametrize("text, formats, words", KERNELS)
def test_bad_kernels(text: str, formats: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    options = [w for f in formats for w in ("--format", f)]
    assert main(["sparse", "kernel", text, *options]) == 1
    out, err = capsys.readouterr()
    assert out == "" and "[bad-kernel]" in err and words in err


def test_semirings_that_do_not_fit(capsys: pytest.CaptureFixture[str]) -> None:
    for text, options, words in (
        ("y(i) = A(i,j)*x(j)", ["min-plus", "--values", "i32"], "needs an infinity"),
        ("y(i) = A(i,j)*x(j)", ["or-and"], "needs integers"),
        ("y(i) = b(i) - A(i,j)*x(j)", ["min-plus"], "neither differences nor quotients"),
    ):
        assert main(["sparse", "kernel", text, "--format", "A=CSR", "--semiring", *options]) == 1
        out, err = capsys.readouterr()
        assert out == "" and "[bad-kernel]" in err and words in err


@pytest.mark.parametrize("words, code, message", [
    (("convert", "--from", "COO", "--to", "CSQ"), 1, "[unknown-format]"),
    (("convert", "--from", "COO", "--to", "CSF"), 1, "[ranks-differ]"),
    (("convert", "--from", "COO", "--to", "DIA", "--duplicates", "keep"), 1, "[cannot-keep]"),
    (("convert", "--from", "COO"), 2, "needs --from and --to"),
    (("convert", "--from", "COO", "--to", "CSR", "--name", "a-b"), 2, "no C identifier"),
    (("kernel",), 2, "needs an expression"),
    (("kernel", "y(i) = A(i,j)*x(j)", "--format", "CSR"), 2, "TENSOR=FORMAT"),
])
def test_command_line(words: tuple[str, ...], code: int, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sparse", *words]) == code
    assert message in capsys.readouterr().err


def test_a_compiler_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from codegen.sparse.python.build import build

    with pytest.raises(InputError) as caught:
        build("this is no C", cache=tmp_path)
    assert caught.value.id == "cannot-compile" and not list(tmp_path.glob("*.so"))
