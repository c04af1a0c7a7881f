"""`codegen.generate` and `codegen.check`: the commands gen and check as Python functions, which return a `Result` and a
`CheckReport`."""
from __future__ import annotations

from typing import TYPE_CHECKING

from codegen.api.options import Input, read
from codegen.api.plans import Plan
from codegen.api.result import Result
from codegen.pipeline import Generated
from codegen.pipeline import generate as transform
from codegen.targets.registry import target_named

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from codegen.api.options import Options, Source
    from codegen.checking.compare import CheckReport


def generate(source: Source, **options: Unpack[Options]) -> Result:
    """Transform the marked loop nests of a C file.

    Parameters
    ----------
    source : str or path
        The name of a file, or C text: any string with a line break in it.
    **options
        Those of `tilewright gen`: target, machine, isa, plan, reassociate, assume_no_alias, fusion, context, ...
        (`codegen.api.options.Options` lists all).

    Returns
    -------
    Result
        The new text, the plan, and every message. Regions that cannot be transformed stay as they are, and
        `Result.diagnostics` says why.

    Raises
    ------
    InputError
        For what must be mended before anything is generated.

    Examples
    --------
    >>> result = generate("gemm.c", machine="native")
    >>> print(result.plan)
    """
    return run(read(source, options))


def run(given: Input) -> Result:
    """`generate` for an input that was read."""
    made: Generated = transform(given.name, given.text, given.options)
    endings = target_named(given.options.target).endings["c"]
    files = {f"{given.options.stem}{ending}": text for ending, text in made.extra.files if ending in endings}
    return Result(given, made.text, made.regions, Plan.parse(made.plan), made.diagnostics, made.deps, files)


def check(source: Source, **options: Unpack[Options]) -> CheckReport:
    """Compile the original and the result, run both on random and awkward sizes, and compare.

    Parameters
    ----------
    source, **options
        As for `generate`.

    Returns
    -------
    CheckReport
        `ok` says whether all agree, `lines` what was tried for each region.
    """
    from codegen.checking.compare import check as compare

    given = read(source, options)
    return compare(given.name, given.text, given.options, lambda line: None)
