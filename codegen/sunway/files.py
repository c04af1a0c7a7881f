"""Prints the files of a core group's program beside the master: slave file, header of launch arguments, two Makefiles
(machine, emulator); and what stands above the user's text in the master. Asserts that the slave file holds the
functions as proven."""

from __future__ import annotations

from collections.abc import Sequence

from codegen.patterns import pattern
from codegen.print.templates import environment
from codegen.sunway.emit import SlavePart
from codegen.sunway.emulation.host import WATCHED
from codegen.sunway.plan.machine import CoreGroup
from codegen.sunway.plan.threads import CoreGrid
from codegen.sunway.read_back import function_text
from codegen.sunway.text import dialect
from codegen.sunway.text.views import SlaveFunction, texts
from codegen.target.finish.names import NameSpelling
from codegen.target.support import SupportOptions, emit_support
from codegen.verify.cores.launches.meeting import wrong_barrier
from codegen.verify.finish import broken_lines


def master_support(
    parts: Sequence[SlavePart], stem: str, group: CoreGroup, grid: CoreGrid, names: NameSpelling | None = None
) -> str:
    """What stands above the user's own text in the master file."""
    entries = [e for p in parts for e in p.entries]
    if not entries:
        return ""
    forms = any(p.conditions for p in parts)
    facts = {"entries": entries, "stem": stem, "count": grid.count, "forms": forms, "group": group}
    text = environment().get_template("sunway/master.h.j2").render(**facts)
    return broken_lines((names or NameSpelling()).of(text))


def _check_slave(text: str, functions: Sequence[SlaveFunction], master: str, group: CoreGroup) -> None:
    """The file for the cores ends with the functions as they were proven, and cores wait for all that are started. That
    they do not is a fault of templates, which no input can lead to."""
    made = "\n".join(f"{f.head}\n{{\n{function_text(f)}\n}}" for f in functions)
    assert _ends_with(text, made), "the functions for the cores are not those that were proven"
    problem = wrong_barrier(text, master) if functions else ""
    assert not problem, problem
    cached = group.cache_bytes > 0
    own = [t for f in functions for t in texts(f.body)]
    assert dialect.fence(group) == ("tw_fence();" if cached else "memb();")
    assert ("memb();" if cached else "tw_fence();") not in own, "a fence of cores that have another cache"
    assert text.count("{\n  flush_slave_cache();\n  memb();\n}") == text.count("tw_fence(void)"), "a fence that is none"


_FUSED = pattern(r"\bsimd_v\w*ma[ds]\(")


def _fused(functions: Sequence[SlaveFunction]) -> bool:
    """Are vectors multiplied and added in one operation?"""
    return any(_FUSED.search(text) for f in functions for text in texts(f.body))


def _ends_with(text: str, functions: str) -> bool:
    static = "static __attribute__((noinline)) "
    lines, wanted = ([x for x in map(str.strip, t.split("\n")) if x and x[:2] != "/*"] for t in (text, functions))
    return [x.removeprefix(static) for x in lines[-len(wanted) :]] == wanted or not wanted


def _has(functions: Sequence[SlaveFunction], statement: str) -> bool:
    """Does it stand in any of them?"""
    return any(statement in text for f in functions for text in texts(f.body))


def slave_files(
    parts: Sequence[SlavePart], stem: str, banner: str, group: CoreGroup, grid: CoreGrid,
    names: NameSpelling | None = None
) -> tuple[tuple[str, str], ...]:
    """Texts by the ending of their file's name, master apart: it is the source with its regions replaced."""
    env = environment()
    helpers = frozenset[str]().union(*(p.helpers for p in parts))
    support = emit_support(helpers, frozenset(), SupportOptions(c99=True, lp64=True))
    functions = [f for p in parts for f in p.functions]
    slave = env.get_template("sunway/slave.c.j2").render(
        banner=banner, header=f"{stem}_args.h", math=any(p.math for p in parts),
        typedefs=sorted(frozenset[str]().union(*(p.typedefs for p in parts))),
        support=support, functions=functions, holds=any(p.holds for p in parts), group=group, grid=grid,
        barrier=dialect.barrier_lines(group, grid) if _has(functions, dialect.BARRIER) else None,
        fence=dialect.fence(group), fused=_fused(functions),
        fences=_has(functions, dialect.BARRIER) or _has(functions, dialect.fence(group)),
    )  # fmt: skip
    args = env.get_template("sunway/args.h.j2").render(
        banner=banner, guard=f"TW_{''.join(c if c.isalnum() else '_' for c in stem).upper()}_ARGS_H",
        structs=[s for p in parts for s in p.structs],
        conditions={f"{entry}_args": when for p in parts for entry, when in p.conditions},
    )  # fmt: skip
    apart = not all(p.fuses for p in parts)
    assert all(p.fuses or not _fused(p.functions) for p in parts), "a product and a sum that may not be fused"
    facts = {"stem": stem, "group": group, "grid": grid, "apart": apart, "watched": " ".join(WATCHED)}
    _check_slave(slave, functions, master_support(parts, stem, group, grid), group)
    of = (names or NameSpelling()).of
    return (
        ("_slave.c", broken_lines(of(slave.rstrip("\n") + "\n"))),
        ("_args.h", broken_lines(of(args))),
        (".sw.mk", of(env.get_template("sunway/Makefile.sw.j2").render(**facts))),
        (".host.mk", of(env.get_template("sunway/Makefile.host.j2").render(**facts))),
    )
