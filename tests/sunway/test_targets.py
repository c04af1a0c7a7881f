"""What the timing model has to show. It is deterministic, so these are tests and not measurements."""

import pytest

from benchmarks.sunway import TABLE, Bench, mean, percent, sizes_of
from benchmarks.sunway_bound import lower_bound
from benchmarks.sunway_programs import SIZES
from tests.corpus import some


@pytest.fixture(scope="session")
def bench(tmp_path_factory):
    return Bench(tmp_path_factory.mktemp("models"))


@pytest.mark.slow
def test_the_thirteen_programs(bench):
    """Against the published scheme, at sizes that are no multiple of anything, and in bytes that are moved."""
    ratios = {}
    thorough = some(list(TABLE), 0, 2)
    for name in TABLE:
        ragged = bench.predict(name, "full", sizes_of(name, 0))
        ratios[name] = bench.predict(name, "published", sizes_of(name, 0)).cycles / ragged.cycles
        if name not in thorough:
            continue
        padded = bench.predict(name, "full", sizes_of(name, 1))
        assert ragged.cycles <= 1.05 * padded.cycles, name
        # Small enough for isl to count. Panels that cores share come in slices, which is another bound.
        sizes = dict(zip(TABLE[name][0].split(), SIZES[name][1], strict=True))
        counts = bench.predict(name, "no-mesh" if ragged.counts["mesh_messages"] else "no-forms", sizes).counts
        moved, bound = counts["get_bytes"] + counts["put_bytes"], lower_bound(name, sizes)
        assert bound <= moved * 1.0001 and moved <= 1.1 * bound, name
    assert min(ratios.values()) > 1.5, ratios
    assert mean(list(ratios.values())) >= 3, ratios


@pytest.mark.slow
def test_gemm_and_jacobi(bench):
    """Of the modelled peak, with panels shared and without; and many time steps at once against one a launch."""
    for which, asked in enumerate((65, 67, 78, 80)):
        sizes = sizes_of("gemm", which)
        shared, alone = (percent("gemm", sizes, bench.predict("gemm", s, sizes)) for s in ("full", "no-mesh"))
        assert shared > asked and alone > 7, (sizes, shared, alone)
    stencil = {"tsteps": 12, "n": 1300}
    steps = [bench.predict("jacobi-2d", s, stencil) for s in ("published", "full")]
    assert steps[0].cycles >= 5 * steps[1].cycles
    assert steps[0].counts["launches"] >= 24 and steps[1].counts["launches"] == 1


def test_slow_blocks_are_avoided():
    """Blocks of 224 and 448 bytes run at half the speed of shorter ones, and tiles keep away from them."""
    from codegen.sunway.plan.machine import SW26010
    from codegen.sunway.plan.nest import KernelNest, ReferenceGroup
    from codegen.sunway.plan.threads import parse_grid
    from codegen.sunway.plan.tiles import TileModel

    assert SW26010.transfer(1344, 224) > 1.6 * SW26010.transfer(1344, 192)
    assert SW26010.transfer(2688, 448) > 1.4 * SW26010.transfer(2688, 384)
    rows = (
        ReferenceGroup("a", 8, ((1, 0), (0, 1)), (0, 0), False),
        ReferenceGroup("b", 8, ((1, 0), (0, 1)), (0, 0), True),
    )
    nest = KernelNest(("i", "j"), (None, None), 1, rows, 1.0, False, 0)
    model = TileModel(SW26010, parse_grid("64"))
    assert model.cost(nest, (16, 28)) > model.cost(nest, (16, 24)) < model.cost(nest, (16, 56))
    assert model.best(nest)[1] * 8 not in (224, 448)
