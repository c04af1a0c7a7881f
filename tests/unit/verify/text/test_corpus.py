"""The printed products of the corpus are read back and proven: kernels of every form here, all in `make corpus`."""

from __future__ import annotations

import pytest

from codegen.machine.load import load_for
from codegen.options import GenOptions
from codegen.region import make
from codegen.region_model import model_region
from codegen.source_file import open_source
from codegen.target.emit import Surroundings, emit_region
from codegen.verify.text.check import wrong_text
from tests.corpus import ALL, KERNELS

SOME = ("2mm", "causal-attention", "cgemm", "contract-4d", "covariance", "gemver", "gesummv", "ldlt")


@pytest.mark.parametrize("name", sorted(p.stem for p in KERNELS.glob("*.c")) if ALL else SOME)
def test_printed_products_are_proven(name: str) -> None:
    options = GenOptions(target="openmp")
    path = KERNELS / f"{name}.c"
    for s in open_source(str(path), path.read_text(encoding="utf-8"), options).slices:
        model = model_region(s, options)
        assert model is not None
        made = make(model, options, load_for("generic", ""))
        emitted = emit_region(made.program.scop, made.code, Surroundings(), True)
        assert emitted.products or emitted.matvecs or emitted.nests or ALL
        assert wrong_text(emitted) == ""
