"""Kernels of the corpus against their originals.

Half of PolyBench's and a twelfth of the others, with one of its element types each (which one differs from kernel to
kernel); `make corpus` runs them all.
"""

from __future__ import annotations

import re

import pytest

from codegen.checking.compare import check
from codegen.options import CppOptions, GenOptions
from tests.corpus import ALL, KERNELS, RUN, kernels, lost

REALS = {"f64": "double", "f32": "float", "i32": "int", "i64": "long"}


def cases() -> list[tuple[str, str]]:
    """File names and types; `fixed` stands for a file that chooses its own."""
    found = []
    for path in kernels(*RUN):
        types = re.search(r"^ \* types: (.*)$", path.read_text(encoding="utf-8"), re.M)
        assert types, f"{path.name} does not say its types"
        words = types.group(1).split()
        if not ALL:
            words = [words[len(found) % len(words)]]
        found += [(path.name, word) for word in words]
    return found


@pytest.mark.slow
@pytest.mark.parametrize(("name", "real"), cases())
def test_kernel(name: str, real: str) -> None:
    path = KERNELS / name
    flags = () if real == "fixed" else (f"-DREAL={REALS[real]}",)
    options = GenOptions(cpp=CppOptions(args=flags))
    report = check(str(path), path.read_text(encoding="utf-8"), options, lambda line: None)
    assert report.ok, report.lines
    assert all("agree" in line for line in report.lines), report.lines
    weak = [d for d in report.diagnostics if d.id == "unproven"]
    assert not weak, weak
    assert not lost(path.stem, report.diagnostics)
