"""What the planner expects of a file's first region."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from codegen.options import CppOptions, GenOptions
from codegen.region_model import model_region
from codegen.source_file import open_source
from codegen.sunway.profit.decide import Estimate, estimate
from codegen.sunway.region import author_of
from codegen.sunway.report import launches_of


def estimated(path: Path, sizes: Mapping[str, int], options: GenOptions | None = None) -> Estimate:
    """For these sizes, on the cores and on the management core."""
    given = options or GenOptions(target="sunway", cpp=CppOptions(args=("-I", str(path.parent))))
    model = model_region(open_source(str(path), path.read_text(encoding="utf-8"), given).slices[0], given)
    assert model is not None
    return estimate(model.program, launches_of(model, given), author_of(given)[1], sizes)
