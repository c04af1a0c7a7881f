"""What forked children need, loaded once: each region is worked on in a child of this process, and what such a child
loads, compiles and completes for itself (modules, templates, records, patterns) is lost with it."""

from __future__ import annotations

import gc

from codegen.isa.known import use
from codegen.machine import load_for
from codegen.options import GenOptions
from codegen.pipeline import generate
from codegen.source.regions import written
from codegen.source_file import open_source
from tests.corpus import KERNELS

MANY = 100  # tests; for fewer it is not worth it
_KERNELS = ("gesummv", "gemm", "jacobi-2d")  # a nest, a product, and tiles


def warm() -> None:
    """Carry out a few regions in this process, and keep the collector away from all that is there now."""
    from codegen.region import process_region

    options = GenOptions()
    machine = load_for(options.machine, use(options.isa))
    for name in _KERNELS:
        path = KERNELS / f"{name}.c"
        text = path.read_text(encoding="utf-8")
        source = open_source(str(path), text, options)
        for s in source.slices:
            process_region(s, written(text, s.region), options, machine)
    generate(str(path), text, options)
    gc.collect()
    gc.freeze()
