"""No plan of the corpus is given up unseen: the kernels that no other test generates, and the list itself."""

from __future__ import annotations

import pytest

from codegen.options import CppOptions, GenOptions
from codegen.pipeline import generate
from codegen.source.write import read_source
from tests.corpus import FALLBACKS, KERNELS, POLYBENCH, kernels, lost

OPTIONS = GenOptions(cpp=CppOptions(args=(f"-I{KERNELS}",)))


@pytest.mark.slow
@pytest.mark.parametrize("name", [p.stem for k in (2, 3) for p in kernels(k, 4) if p.stem not in POLYBENCH])
def test_first_plan_is_carried_out(name: str) -> None:
    path = KERNELS / f"{name}.c"
    assert not lost(name, generate(str(path), read_source(str(path)), OPTIONS).diagnostics)


@pytest.mark.parametrize("name", sorted(FALLBACKS))
def test_expected_fallbacks_are_still_there(name: str) -> None:
    path = KERNELS / f"{name}.c"
    made = generate(str(path), read_source(str(path)), OPTIONS)
    assert any(d.id == "fallback" for d in made.diagnostics), f"{name} is fine now: take it off the list"
