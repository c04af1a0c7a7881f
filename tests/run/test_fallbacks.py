"""No plan of the corpus is given up unseen: the kernels that no other test generates, and the list itself."""

from __future__ import annotations

from dataclasses import replace

import pytest

from codegen.options import CppOptions, GenOptions
from codegen.pipeline import generate
from codegen.source.write import read_source
from tests.corpus import ALL, COMPILED, FALLBACKS, KERNELS, RUN, kernels, lost, some

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


# Nothing is given up unproven for other machines and targets either. A third of the kernels each time; each kernel is
# tried in one of these ways, `make corpus` tries all.
WAYS = (
    *(GenOptions(machine=m) for m in ("haswell", "skylake-x", "sapphire-rapids", "neoverse-n1", "neoverse-v1")),
    *(GenOptions(target=t, machine="haswell" if t == "mpi" else "generic") for t in ("mpi", "sunway")),
)
_EVERY = sorted(KERNELS.glob("*.c"))
WAYS_OF = [(p.stem, k) for n, p in enumerate(_EVERY) for k in (range(len(WAYS)) if ALL else [n % len(WAYS)])]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "way"), some(WAYS_OF, 0, 3))
def test_nothing_is_given_up_unproven(name: str, way: int) -> None:
    path = KERNELS / f"{name}.c"
    made = generate(str(path), read_source(str(path)), replace(WAYS[way], cpp=OPTIONS.cpp))
    assert [d.message for d in made.diagnostics if d.id == "unproven"] == []
