"""A target is one file: nothing else of the tool knows its name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import MappingProxyType

import pytest

from codegen.cli.main import main
from codegen.diagnostics import Diagnostic, Loc, Severity, Unsupported
from codegen.hosts.region import printed
from codegen.options import GenOptions, effective_options
from codegen.pipeline import generate
from codegen.region import RegionOutcome, make
from codegen.target.finish.names import NameSpelling
from codegen.targets.base import Extra, RegionJob, Target
from codegen.targets.registry import host, host_names, registered, target_names

SCALE = """void scale(int n, double x[n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    x[i] *= 2.0;
#pragma endscop
}
"""
LOCAL = """_Thread_local double t;
void add(int n, double x[n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    x[i] += t;
#pragma endscop
}
"""


class Logged(Target):
    """Plain C with a list of what was done in a file beside it."""

    name, help = "logged", "plain C with a log"
    endings = MappingProxyType({"c": (".c", "_log.txt")})
    languages = ("c",)

    def check_thread_local(self, name: str, loc: Loc) -> tuple[Diagnostic, ...]:
        raise Unsupported("thread-local", f"no `{name}` here", loc)

    def process(self, job: RegionJob) -> RegionOutcome:
        made = make(job.model, job.options, job.machine, job.crashed)
        return printed(job, made)

    def words(self, options: GenOptions) -> Sequence[str]:
        return ("--logged",)

    def extra(
        self, outcomes: Iterable[RegionOutcome], options: GenOptions, banner: str, names: NameSpelling | None
    ) -> Extra:
        log = "".join(f"region {o.index}: {o.summary}\n" for o in outcomes)
        return Extra("/* logged */\n", (("_log.txt", log),), log)


def test_a_target_of_ones_own() -> None:
    with registered(Logged()):
        made = generate("in.c", SCALE, GenOptions(target="logged"))
        assert "logged" in target_names() and "logged" in host_names()
        assert effective_options(GenOptions(target="logged")).endswith("--logged")
    assert "logged" not in target_names()
    assert "/* logged */\n" in made.text and "#pragma omp" not in made.text.split("void scale")[1]
    assert made.extra.file("_log.txt") == "region 1: vectors along i\n"


def test_it_says_what_it_cannot_do() -> None:
    with registered(Logged()):
        made = generate("in.c", LOCAL, GenOptions(target="logged"))
    assert [n.id for d in made.diagnostics if d.severity is Severity.WARNING for n in d.notes] == ["thread-local"]


def test_names_and_their_order() -> None:
    assert target_names() == ("c", "openmp", "sunway", "mpi", "cuda", "hip", "opencl")
    assert host_names() == ("c", "openmp")
    assert (host(True), host(False)) == ("openmp", "c")


def test_an_unknown_target_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "in.c").write_text(SCALE)
    assert main(["gen", str(tmp_path / "in.c"), "--target", "opnmp"]) == 2
    assert "openmp" in capsys.readouterr().err


def test_no_name_of_a_target_outside_its_room() -> None:
    """But where targets are listed; `openmp` is also what `doctor` looks for and a flag of compilers turns on, and
    templates are in folders of rooms' names."""
    root = Path(__file__).parents[3] / "codegen"
    rooms = ("sunway", "gpu", "hosts", "mpi", "targets")
    others = {"cli/doctor.py", "source/dialect/flags.py", "source/dialect/facts.py", "verify/text/closure.py"}
    found = []
    for path in sorted(root.rglob("*.py")):
        inside = path.relative_to(root)
        if inside.parts[0] not in rooms and str(inside) not in others:
            words = r"""["'](?:sunway|openmp|mpi|cuda|hip|opencl)["']"""
            found += [str(inside) for _ in re.findall(words, path.read_text())]
    assert found == []
