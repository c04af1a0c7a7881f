"""What the timing model has to show. It is deterministic, so these are tests and not measurements."""

import pytest

from benchmarks.sunway import TABLE, Bench, mean, percent, sizes_of
from benchmarks.sunway_programs import SIZES
from tests.sunway.bound import lower_bound


@pytest.fixture(scope="session")
def bench(tmp_path_factory):
    return Bench(tmp_path_factory.mktemp("models"))


@pytest.mark.slow
def test_the_thirteen_programs(bench):
    """Against the published scheme, at sizes that are no multiple of anything, and in bytes that are moved."""
    ratios = {}
    for name in TABLE:
        ragged, padded = (bench.predict(name, "full", sizes_of(name, k)) for k in (0, 1))
        ratios[name] = bench.predict(name, "published", sizes_of(name, 0)).cycles / ragged.cycles
        assert ragged.cycles <= 1.05 * padded.cycles, name
        # Small enough for isl to count. Panels that cores share come in slices, which is another bound.
        sizes = dict(zip(TABLE[name][0].split(), SIZES[name][1], strict=True))
        counts = bench.predict(name, "no-mesh" if ragged.counts["mesh_messages"] else "full", sizes).counts
        moved, bound = counts["get_bytes"] + counts["put_bytes"], lower_bound(name, sizes)
        assert bound <= moved * 1.0001 and moved <= 1.1 * bound, name
    assert min(ratios.values()) > 1.5, ratios
    assert mean(list(ratios.values())) >= 3, ratios


@pytest.mark.slow
def test_gemm_and_jacobi(bench):
    """Of the modelled peak, with panels shared and without; and many time steps at once against one a launch."""
    for which in range(4):
        sizes = sizes_of("gemm", which)
        shared, alone = (percent("gemm", sizes, bench.predict("gemm", s, sizes)) for s in ("full", "no-mesh"))
        assert shared > 80 and alone > 9, (sizes, shared, alone)
    stencil = {"tsteps": 12, "n": 1300}
    steps = [bench.predict("jacobi-2d", s, stencil) for s in ("published", "full")]
    assert steps[0].cycles >= 5 * steps[1].cycles
    assert steps[0].counts["launches"] >= 24 and steps[1].counts["launches"] == 1
