"""Builds a candidate plan as a shared object: transformed, proven, printed and compiled."""

from __future__ import annotations

import os
import platform
import shlex
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from codegen.checking.build import find_compiler, first_error
from codegen.checking.harness.emit import cases_text, runtime_text
from codegen.checking.versions import with_cases
from codegen.diagnostics import InputError, Loc, TilewrightError
from codegen.limits import COMPILER, QUESTION, LimitPassed, run
from codegen.pipeline import after_feature_macros
from codegen.print.templates import environment
from codegen.recognize.access.domain_shape import PARALLEL_MIN
from codegen.record import record
from codegen.region import RegionOutcome
from codegen.source.encoding import decode, encode
from codegen.source.language import C, Language
from codegen.target.support import SupportOptions, emit_support
from codegen.targets.base import Extra
from codegen.targets.registry import target_named
from codegen.targets.tuning import DeviceTuning
from codegen.tune.region import Subject

PLAIN = "-O3"  # for programs that ask the processor themselves
_NATIVE = "-mcpu=native" if platform.machine() in ("aarch64", "arm64") else "-march=native"
FLAGS = f"-O3 {_NATIVE}"  # what people compile such files with; another choice is --cflags
# Without fused operations, so that results can be compared bit by bit; compiled in little time, since nothing is timed.
EXACT = ("-ffp-contract=off", "-DTW_NO_FMA", "-O1")
_SHARED = ("-shared", "-fPIC", "-fvisibility=hidden", "-Wl,-Bsymbolic,-z,lazy", "-fopenmp", "-w",
           "-Dmain=tw_user_main")  # fmt: skip


class Failed(Exception):
    """A candidate that came to nothing; the text says where."""


@record
class RegionCompiler:
    """Compiles original and result of a region, in one folder with one compiler; `user` are the flags that the file
    needs."""

    folder: Path
    words: tuple[str, ...]
    flags: tuple[str, ...]
    user: tuple[str, ...]
    language: Language = C
    device: DeviceTuning | None = None

    def compile(self, name: str, text: str, more: tuple[str, ...] = (), extra: Extra | None = None) -> Path:
        """A shared object of this text and the runtime, and of the device's file in `extra`; Failed with the compiler's
        first complaint."""
        out = self.folder / f"{name}.so"
        source = self._source(out)
        source.write_bytes(encode(text))
        objects = [str(self.folder / f"{r}.o") for r in _RUNTIMES]
        flags = (*self.flags, *more, *_SHARED, *self.language.std, *self.user)
        links = ["-lm"]
        if self.device is not None and extra is not None:
            objects += self._of_device(name, extra, self.device.exact if more == EXACT else ())
            flags, links = (*flags, *self.device.flags), [*self.device.links, *links]
        self._run([*self.words, *flags, str(source), *objects, *links, "-o", str(out)])
        return out

    def _of_device(self, name: str, extra: Extra, more: tuple[str, ...]) -> list[str]:
        """Objects of the files for the device, and of what stands in for one."""
        assert self.device is not None
        for ending, text in extra.files:
            head = self.device.head if ending == self.device.ending else ""
            (self.folder / f"{name}{ending}").write_bytes(encode(head + text))
        source, out = f"{self.folder / name}{self.device.ending}", f"{self.folder / name}.device.o"
        self._run([*self.device.words, *more, "-c", source, "-o", out])
        objects = [out]
        for path in self.device.sources:
            objects.append(f"{self.folder / name}.{Path(path).stem}.o")
            self._run([*self.words, "-O1", "-fPIC", "-w", "-c", path, "-o", objects[-1]])
        return objects

    def source_of(self, library: Path) -> str:
        """The text that `compile` made this of."""
        return decode(self._source(library).read_bytes())

    def _source(self, library: Path) -> Path:
        return library.with_suffix(self.language.endings[0])

    def _run(self, words: list[str]) -> None:
        try:
            done = run(words, COMPILER, env={**os.environ, "LC_ALL": "C"})
        except LimitPassed as error:
            raise Failed(f"the compiler {error}") from None
        if done.code:
            raise Failed(f"does not compile: {first_error(decode(done.err))}")


_RUNTIMES = ("check_runtime", "tune_runtime")


def open_region_compiler(subject: Subject, folder: Path, flags: str) -> RegionCompiler:
    """The compiler, tried out on the runtime. InputError where there is none, or its flags are not understood."""
    found = find_compiler(subject.source.name, subject.options.cpp, folder)
    compiler = RegionCompiler(folder, found.words, tuple(shlex.split(flags)), found.flags, found.language,
                              subject.tuning)
    texts = (runtime_text(), environment().get_template("tune_runtime.c.j2").render())
    for name, text in zip(_RUNTIMES, texts, strict=True):
        source = folder / f"{name}.c"
        source.write_bytes(encode(text))
        try:
            out = str(source.with_suffix(".o"))
            words = (*compiler.words, *compiler.flags, "-fPIC", "-fopenmp", "-w")
            compiler._run([*words, "-c", "-xc", str(source), "-o", out])
        except Failed as error:
            raise InputError("no-compiler", f"the compiler does not work: {error}", Loc("--cflags")) from None
    return compiler


def original_text(subject: Subject) -> str:
    """The file as it is, with a function that calls the region."""
    return f"{subject.source.text}\n{cases_text([(subject.harness, subject.original)])}"


def result_text(subject: Subject, outcome: RegionOutcome, extra: Extra) -> str:
    """The same with what was made of the region."""
    assert outcome.text is not None
    text = subject.source.text
    start = after_feature_macros(text)
    language = subject.source.pre.language
    support = emit_support(outcome.helpers, outcome.kernels, SupportOptions(PARALLEL_MIN, language=language))
    body, support = with_cases(text[start:], support, [(subject.harness, outcome.text)], subject.versions)
    return f"{text[:start]}{support}{extra.support}{body}"


def built(subject: Subject, compiler: RegionCompiler, plan: str, name: str, more: tuple[str, ...] = ()) -> Path:
    """The shared object of a plan; Failed where it is refused, not proven or not compiled. The tool's own was carried
    out when the file was opened."""
    try:
        outcome = subject.outcome if plan == subject.outcome.plan else subject.carried_out(plan)
    except TilewrightError as error:
        raise Failed(f"refused: {error.message}") from None
    outcome = replace(outcome, diagnostics=())
    if compiler.device is not None:
        outcome = compiler.device.timed(outcome)
    options = replace(subject.options, stem=name)
    extra = target_named(options.target).extra((outcome,), options, "", None)
    return compiler.compile(name, result_text(subject, outcome, extra), more, extra)


@lru_cache(maxsize=4)
def compiler_version(words: tuple[str, ...]) -> str:
    """The compiler's first line about itself."""
    done = run([*words, "--version"], QUESTION)
    return decode(done.out).partition("\n")[0].strip()
