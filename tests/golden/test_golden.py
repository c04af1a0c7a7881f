"""Whole files, and narrow views of them: pragma lines, plans, dependences.

tests/golden/src holds the sources; make golden rewrites the results after a change that is meant.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from codegen.options import GenOptions
from codegen.pipeline import Generated, generate
from codegen.region_model import model_region
from codegen.source.write import read_source
from codegen.source_file import open_source
from tests.compilers import with_openmp

SRC = Path(__file__).parent / "src"
SOURCES = sorted(p.stem for p in SRC.glob("*.c"))
VARIANTS = {
    **{name: (name, GenOptions()) for name in SOURCES},
    "gemm.plain-c": ("gemm", GenOptions(target="c")),
    "gemm.dispatch": ("gemm", GenOptions(dispatch=True)),
    "seidel.dispatch": ("seidel", GenOptions(dispatch=True, target="c", line_directives=True)),
    "reduction.reassociate": ("reduction", GenOptions(reassociate=True)),
    "axpy.check-alias": ("axpy", GenOptions(check_alias=True)),
    "locals.line": ("locals", GenOptions(line_directives=True)),
    "flat.context": ("flat", GenOptions(context="ld >= m and n >= 1")),
    "flat.prefix": ("flat", GenOptions(prefix="mine")),
    "axpy.no-banner": ("axpy", GenOptions(banner=False)),
}
WARNING_FREE = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-fopenmp", "-c", "-o", "/dev/null", "-xc", "-"]
COMPILERS = with_openmp()
Golden = Callable[[str, str], None]


@cache
def made(variant: str) -> Generated:
    name, options = VARIANTS[variant]
    path = SRC / f"{name}.c"
    return generate(f"{name}.c", read_source(str(path)), options)


@pytest.mark.parametrize("variant", VARIANTS)
def test_whole_file(variant: str, golden: Golden) -> None:
    golden(f"{variant}.out.c", made(variant).text)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("compiler", COMPILERS)
def test_compiles_without_warnings(variant: str, compiler: str) -> None:
    done = subprocess.run([compiler, *WARNING_FREE], input=made(variant).text, text=True, capture_output=True)
    # The one region that is refused keeps its own pragmas, which no compiler knows.
    own = ("[-Werror=unknown-pragmas]", "[-Werror,-Wunknown-pragmas]")
    lines = [x for x in done.stderr.splitlines() if "error:" in x and not x.endswith(own)]
    assert not lines
    assert done.returncode == 0 or variant == "refused"


@pytest.mark.parametrize("variant", VARIANTS)
def test_text_outside_the_regions_is_kept(variant: str) -> None:
    text = made(variant).text
    for line in (SRC / f"{VARIANTS[variant][0]}.c").read_text(encoding="utf-8").split("#pragma scop")[0].splitlines():
        assert line in text


def test_pragma_lines(golden: Golden) -> None:
    """Only what tells the compiler about threads and vectors."""
    out = []
    for variant in VARIANTS:
        text = made(variant).text.replace(" \\\n    ", " ")
        lines = [x.strip() for x in text.splitlines() if x.strip().startswith(("#pragma", "TW_SIMD"))]
        out += [f"{variant}:", *(f"  {x}" for x in lines)]
    golden("pragmas.txt", "\n".join(out) + "\n")


def test_plans(golden: Golden) -> None:
    golden("plans.txt", "".join(f"# {v}\n{made(v).plan}\n" for v in VARIANTS))


def test_messages(golden: Golden) -> None:
    out = []
    for variant in VARIANTS:
        for d in made(variant).diagnostics:
            for m in (d, *d.notes):
                out.append(f"{variant}: {m.loc}: {m.severity.value}: {m.message} [{m.id}]")
    golden("messages.txt", "\n".join(out) + "\n")


@pytest.mark.parametrize("name", [s for s in SOURCES if s != "refused"])
def test_dependences(name: str, golden: Golden) -> None:
    text = read_source(str(SRC / f"{name}.c"))
    out = []
    for s in open_source(f"{name}.c", text, GenOptions()).slices:
        model = model_region(s, GenOptions())
        assert model is not None
        out.append(f"region {s.region.index}")
        for stmt in model.program.scop.statements:
            out.append(f"  {stmt.name} line {stmt.loc.line}: {stmt.source}")
        for d in model.program.deps.all:
            maps: list[str] = []
            d.relation.coalesce().foreach_map(lambda m, into=maps: into.append(m.to_str()))
            out += [f"  {d.kind} {d.array}: {m}" for m in sorted(maps)]
    golden(f"dependences/{name}.txt", "\n".join(out) + "\n")
