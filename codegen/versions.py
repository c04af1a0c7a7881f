"""Versions of a file's functions for what processors may have (`--dispatch`): finds the functions, has the copies made
and checked, and says of which functions there are none."""

from __future__ import annotations

from collections.abc import Sequence

from codegen.diagnostics import InputError, Loc
from codegen.machine import Machine
from codegen.machine.variants import MachineVariant, variants
from codegen.options import GenOptions
from codegen.source.language import C
from codegen.source_file import Performed
from codegen.target.dispatch.file import Dispatched, Spelling, dispatched, marks, words_of
from codegen.target.dispatch.functions import DispatchedFunction, dispatchable
from codegen.target.dispatch.levels import attribute
from codegen.target.finish.links import Links
from codegen.target.finish.names import NameSpelling
from codegen.targets.base import Target
from codegen.targets.registry import target_named
from codegen.verify.choices.dispatch import wrong_versions


class Versions:
    """The functions of a file that get versions, `marks` to be put into the source at them, and `messages` on those
    that get none."""

    def __init__(self, done: Performed, machines: Sequence[MachineVariant]) -> None:
        source = done.source
        changed = {o.index for o in done.outcomes if o.text is not None}
        slices = [s for s in source.slices if s.region.index in changed]
        self.functions, self.messages = dispatchable(source.name, source.text, source.pre, slices)
        self.machines = machines
        self.taken = words_of(source.text, source.pre)
        self.marks = marks(self.functions)
        self.moved: tuple[tuple[int, int], ...] = ()

    def of(self, body: str, support: str, names: NameSpelling, line_name: str) -> tuple[str, str]:
        """The file's body, which has the marks, and what stands above it, with the versions."""
        if not self.functions:
            return body, support
        made = self._made(body, support, self.functions, Spelling(names, self.taken, line_name))
        self.moved = made.moved
        return made.body, made.support

    def of_tests(self, body: str, support: str, names: Sequence[str], arguments: Sequence[str]) -> tuple[str, str]:
        """The same for other functions with the same regions: `void NAME(...)`, each with these arguments."""
        calls = any(f.calls for f in self.functions)
        at = len("void ")
        functions = [DispatchedFunction(n, 0, 0, 0, at, 0, tuple(arguments), False, calls) for n in names]
        made = self._made(body, support, functions, Spelling(NameSpelling(), self.taken))
        return made.body, made.support

    def _made(
        self, body: str, support: str, functions: Sequence[DispatchedFunction], spelling: Spelling
    ) -> Dispatched:
        made = dispatched(body, support, functions, self.machines, spelling)
        problem = _wrong(made, support, self.machines, spelling.names)
        assert not problem, problem
        return made

    @property
    def levels(self) -> tuple[str, ...]:
        """Of the versions beside the functions themselves, from the lowest."""
        return tuple(m.level for m in reversed(self.machines) if m.level)

    def has(self, function: str) -> bool:
        return any(f.name == function for f in self.functions)

    def further(self, links: Links, above: int) -> Links:
        """Lines of the new file, `above` of them before the user's own, where versions stand before them."""
        return tuple((line + sum(n for first, n in self.moved if first <= line - above), stmt) for line, stmt in links)


def check_dispatch(machine: Machine, target: Target) -> None:
    """Raises InputError where there is nothing to choose among at run time."""
    if not target.dispatches:
        raise _bad(f"--dispatch is not for --target {target.name}", "use the target openmp or c")
    if not variants(machine):
        raise _bad("--dispatch is for code of no processor in particular", "leave out --machine and --isa")


def versions_of(done: Performed, options: GenOptions, machine: Machine) -> Versions | None:
    """The versions that a file gets, where they are asked for."""
    if not options.dispatch:
        return None
    check_dispatch(machine, target_named(options.target))
    if done.source.pre.language is not C:
        raise _bad("--dispatch is for C files", "leave it out", done.source.name)
    return Versions(done, variants(machine))


def _bad(words: str, hint: str, file: str = "--dispatch") -> InputError:
    return InputError("bad-target", words, Loc(file), hint)


def _wrong(made: Dispatched, support: str, machines: Sequence[MachineVariant], names: NameSpelling) -> str:
    """What is not right about the versions. That anything is would be a fault of the printer."""
    whens = [*(m.when for m in machines), ""]
    for k, (m, level) in enumerate(zip((m for m in machines if m.level), made.levels, strict=True)):
        text = names.of(level.text.replace(f"{attribute(level.level)} ", ""))
        words = {names.word(a): names.word(b) for a, b in level.names.items()}
        pairs = [(v.original, v.copy) for v in made.versions if v.level == k]
        problem = wrong_versions(names.of(support), whens, whens.index(m.when), (text, words), pairs)
        if problem:
            return f"{m.level}: {problem}"
    return ""
