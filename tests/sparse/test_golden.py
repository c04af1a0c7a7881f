"""Generated text, for people to look at: a conversion, a kernel, a derivation."""
from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable

import pytest

from codegen.sparse.api import Options, convert
from codegen.sparse.explain import explain
from codegen.sparse.formats.load import load
from codegen.sparse.kernels.compose import kernel_file


def test_golden_conversion(golden: Callable[[str, str], None]) -> None:
    made = convert(load("CSR"), load("CSC"), Options(parallel=True), "csr_to_csc.h")
    golden("sparse/csr_to_csc.c", made.file.source)
    golden("sparse/csr_to_csc.h", made.file.header)


def test_golden_plain_chain(golden: Callable[[str, str], None]) -> None:
    golden("sparse/coo_to_dia.plain.c", convert(load("COO"), load("DIA"), Options(optimize=False)).file.source)


def test_golden_kernel(golden: Callable[[str, str], None]) -> None:
    golden("sparse/spmv_dia.c", kernel_file("y(i) = A(i,j)*x(j)", {"A": load("DIA")}, Options(name="spmv")).file.source)


def test_golden_derivation(golden: Callable[[str, str], None]) -> None:
    golden("sparse/coo_to_bcsr.txt", explain(convert(load("COO"), load("BCSR"))))


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
def test_outputs_one_after_the_other() -> None:
    """Helpers are defined once, whichever output comes first; their functions have names of their own."""
    pairs = (("COO", "CSR"), ("CSR", "CSC"), ("COO", "MCOO"), ("CSC", "DIA"))
    parts = [convert(load(a), load(b), Options(parallel=a == "COO")).file.source for a, b in pairs]
    parts.append(kernel_file("y(i) = A(i,j)*x(j)", {"A": load("CSR")}, Options(name="spmv")).file.source)
    for order in (parts, parts[::-1]):
        for flags in ((), ("-fopenmp",)):
            words = ["gcc", "-std=c99", "-Wall", "-Wextra", "-Werror", *flags, "-c", "-o", "/dev/null", "-xc", "-"]
            subprocess.run(words, input="".join(order), text=True, check=True)
