"""Proofs of what is printed for the cores, asked while it is printed: each text is read back beside its part of the
proven tree. What cannot be shown is refused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from codegen.diagnostics import Unsupported
from codegen.print.templates import environment
from codegen.sunway.launch import LaunchPrinter
from codegen.sunway.text.views import SlaveFunction
from codegen.verify.cores.check import (
    EntryTask,
    KernelTask,
    left_in_cache,
    proven_kernel,
    proven_steps,
    wrong_entry,
    wrong_mesh,
)
from codegen.verify.cores.kernel import KernelReader
from codegen.verify.cores.launches.arguments import wrong_launch
from codegen.verify.cores.launches.entry import Stepped
from codegen.verify.cores.records import KernelNames
from codegen.verify.cores.steps.read import SteppedTask
from codegen.verify.text.read import Unread


@contextmanager
def _refusing(launch: LaunchPrinter, what: str) -> Iterator[None]:
    """Raises Unsupported in place of Unread: the region is not put on cores."""
    try:
        yield
    except Unread as problem:
        raise Unsupported("no-proof", f"{what} could not be proven: {problem}", launch.scop.loc) from None


def prove_kernel(launch: LaunchPrinter, task: KernelTask, text: str) -> KernelReader:
    """Raises Unsupported unless the text of a kernel is shown to do what its tree does."""
    with _refusing(launch, "what a core would run"):
        return proven_kernel(launch.source, launch.deps, task, text, _own_words(launch))


def prove_mesh(launch: LaunchPrinter, task: KernelTask, text: str) -> None:
    """Raises Unsupported unless the text of a product that cores share is shown to do what its tree does."""
    problem = wrong_mesh(launch.source, launch.deps, task, text, _own_words(launch))
    if problem:
        raise Unsupported("no-proof", f"a product on the mesh could not be proven: {problem}", launch.scop.loc)


def prove_steps(launch: LaunchPrinter, task: SteppedTask, text: str) -> Stepped:
    """Raises Unsupported unless the text of many time steps is shown to do what the loop over them does."""
    with _refusing(launch, "many time steps at once"):
        return proven_steps(launch.source, launch.deps, task, text, _own_words(launch))


def prove_entry(launch: LaunchPrinter, task: EntryTask | None, entry: SlaveFunction) -> None:
    """Raises Unsupported unless kernels are called, cores wait for each other, and tiles that stay come and go as the
    tree needs it."""
    if launch.model or task is None:
        return
    problem = wrong_entry(launch.source, launch.deps, task, function_text(entry), _own_words(launch))
    if problem:
        raise Unsupported("no-proof", f"what all cores would run could not be proven: {problem}", launch.scop.loc)


def prove_start(launch: LaunchPrinter, members: Sequence[str], text: str) -> None:
    """Raises Unsupported unless cores are started with the values that kernels were proven for."""
    problem = wrong_launch(launch.source, launch.task, members, text)
    if problem:
        raise Unsupported("no-proof", f"what cores would get could not be proven: {problem}", launch.scop.loc)


def function_text(f: SlaveFunction) -> str:
    """What is proven of a function: the statements of its body."""
    return str(environment().get_template("sunway/lines.j2").module.lines(f.body, ""))  # type: ignore[attr-defined]


def title_of(head: str) -> str:
    return head[len("void ") : head.index("(")]


def leaves_stores(launch: LaunchPrinter, texts: Mapping[str, str], entry: SlaveFunction) -> bool:
    """Whether what every core runs ends with stores of its own that may be in its data cache. Raises Unsupported."""
    with _refusing(launch, "what all cores would run"):
        return bool(left_in_cache(texts, function_text(entry), _own_words(launch)))


def _own_words(launch: LaunchPrinter) -> KernelNames:
    """Names that the text of a launch has of its own, and its cores."""
    w, grid, cached = launch.words, launch.grid, launch.group.cache_bytes > 0
    return KernelNames(w.args, w.id, w.row, w.column, w.turn, w.tile, w.stays, grid.rows, grid.columns, cached)
