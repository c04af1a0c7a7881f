"""With `serve --run`: compiles and times the page's C, before and after, as `tilewright bench` does it, and returns the
table as text (`bench`)."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from codegen.bench.measure import measure
from codegen.bench.show import text as shown
from codegen.diagnostics import TilewrightError
from codegen.serve.answer import NAME, options_of, source_of, text_of
from codegen.targets.registry import target_named
from codegen.tune.build import FLAGS
from codegen.tune.plans.sizes import parse_sizes
from codegen.tune.region import open_file
from codegen.tune.timing import cores


def bench(given: Mapping[str, Any]) -> dict[str, Any]:
    """The table as text."""
    try:
        source, options = source_of(given), options_of(given)
        opened = open_file(NAME, source, options)
        threads = tuple(dict.fromkeys((1, cores()))) if target_named(options.target).threads else (1,)
        found = tuple(measure(opened, threads, parse_sizes(text_of(given, "sizes")), FLAGS, lambda line: None))
        return {"ok": True, "table": shown(found, FLAGS, None)}
    except TilewrightError as error:
        return {"ok": False, "table": str(error)}
    except ValueError as error:
        return {"ok": False, "table": f"sizes: {error}"}
    except RecursionError:
        return {"ok": False, "table": "the text is nested too deeply"}
