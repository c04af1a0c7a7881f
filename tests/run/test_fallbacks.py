"""No plan of the corpus is given up unseen: the kernels that no other test generates, and the list itself."""

from __future__ import annotations

import pytest

from codegen.options import CppOptions, GenOptions
from codegen.pipeline import generate
from codegen.source.write import read_source
from tests.corpus import ALL, COMPILED, FALLBACKS, KERNELS, RUN, kernels, lost

ELSEWHERE = {*kernels(*RUN), *kernels(*COMPILED)}
REST = [p.stem for p in sorted(KERNELS.glob("*.c")) if ALL or p not in ELSEWHERE]
OPTIONS = GenOptions(cpp=CppOptions(args=(f"-I{KERNELS}",)))


@pytest.mark.slow
@pytest.mark.parametrize("name", REST)
def test_first_plan_is_carried_out(name: str) -> None:
    path = KERNELS / f"{name}.c"
    assert not lost(name, generate(str(path), read_source(str(path)), OPTIONS).diagnostics)


@pytest.mark.parametrize("name", sorted(FALLBACKS))
def test_expected_fallbacks_are_still_there(name: str) -> None:
    path = KERNELS / f"{name}.c"
    made = generate(str(path), read_source(str(path)), OPTIONS)
    assert any(d.id == "fallback" for d in made.diagnostics), f"{name} is fine now: take it off the list"
