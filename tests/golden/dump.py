"""Generated text of the whole corpus in a folder, for `diff -r` before and after a change that is to leave it alone:

    python -m tests.golden.dump OUTDIR [NAME ...]

With names, only the kernels that have one of them in theirs. Messages and plans are written along, and the seconds of
the processor that each took.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from codegen.diagnostics import InputError
from codegen.options import CppOptions, GenOptions
from codegen.pipeline import generate
from codegen.source.write import read_source
from tests.corpus import KERNELS

EXAMPLES = KERNELS.parent
WAYS = {
    "openmp": GenOptions(),
    "c": GenOptions(target="c"),
    "neoverse-n1": GenOptions(machine="neoverse-n1"),
    "c.neoverse-n1": GenOptions(target="c", machine="neoverse-n1"),
    "sapphire-rapids.reassociate": GenOptions(machine="sapphire-rapids", reassociate=True),
}


def sources(names: list[str]) -> list[Path]:
    """The kernels, and the examples that look like code of users."""
    every = [*sorted(KERNELS.glob("*.c")), *sorted((EXAMPLES / "real-style").rglob("*.c"))]
    return [p for p in every if not names or any(n in p.stem for n in names)]


def dump(path: Path, way: str, options: GenOptions, out: Path) -> float:
    """One file one way; the seconds that it took, all processes together."""
    begin = sum(os.times()[:4])
    cpp = CppOptions(args=(f"-I{path.parent}", f"-I{EXAMPLES}"))
    try:
        made = generate(path.name, read_source(str(path)), GenOptions(**{**options.__dict__, "cpp": cpp}))
        notes = [f"{d.loc}: {d.severity.value}: {d.message} [{d.id}]" for d in made.diagnostics]
        text, plan = made.text, made.plan
    except InputError as error:
        text, plan, notes = "", "", [error.message]
    for suffix, lines in ((".c", text), (".plan", plan), (".txt", "\n".join(notes) + "\n")):
        (out / f"{path.parent.name}.{path.stem}.{way}{suffix}").write_text(lines, encoding="utf-8")
    return sum(os.times()[:4]) - begin


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    for path in sources(args.names):
        for way, options in WAYS.items():
            print(f"{path.stem} {way} {dump(path, way, options, args.out):.2f}", flush=True)


if __name__ == "__main__":
    main()
