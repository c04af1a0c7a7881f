"""Compiles loop trees into shared objects: several functions, a clock and the peak kernels in each."""

from __future__ import annotations

import hashlib
import os
import shlex
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from codegen import isa as isa_tables
from codegen import kir
from codegen import print as printing
from codegen.checking.build import find_compiler, first_error
from codegen.isa.model import Isa
from codegen.isa.text import bare, call, expression
from codegen.limits import COMPILER, LimitPassed, run
from codegen.lower import nest as lower_nest
from codegen.lower.nest.kernel import ADDED, Options
from codegen.lower.nest.tile import STEP
from codegen.options import CppOptions
from codegen.print.templates import environment
from codegen.record import record
from codegen.resources import templates_dir
from codegen.target.finish.index_type import defined
from codegen.target.nest_text import prelude
from codegen.tune.build import FLAGS, Failed, compiler_version
from codegen.tune.measure.texts import c_for
from codegen.tune.tree import Tree

SECONDS = 60.0
TURNS = 1000
HEADERS = "headers.h"
_SHARED = ("-shared", "-fPIC", "-std=gnu11", "-w")


@record
class TreeCompiler:
    """Compiles candidate trees for one instruction set, in one folder with one compiler."""

    folder: Path
    isa: Isa
    words: tuple[str, ...]
    flags: tuple[str, ...]
    options: Options

    @property
    def setting(self) -> str:
        """What a figure depends on, beside the tree and the machine: also on how trees become code."""
        how = f"fresh={self.options.fresh} reassociate={self.options.reassociate}"
        return f"{self.isa.name} | {compiler_version(self.words)} | {' '.join(self.flags)} | {how} | {_digest()}"

    def compile(self, trees: Sequence[Tree], name: str) -> Path:
        """A shared object in which tree number n is function `tree_n`."""
        texts = [c_for(tree, self.isa, f"tree_{n}", self.options) for n, tree in enumerate(trees)]
        source, out = self.folder / f"{name}.c", self.folder / f"{name}.so"
        clock = clock_text(self.isa)
        body = "\n".join([prelude(self.isa, [*texts, *clock]), clock[1], *texts])
        source.write_text("\n".join([clock[0], defined(body), body]), "utf-8")
        first = ("-include", str(self.folder / HEADERS)) if (self.folder / f"{HEADERS}.gch").exists() else ()
        self._run([*_SHARED, *first, str(source), "-o", str(out)])
        return out

    def prepare(self) -> None:
        """The headers in the form that gcc reads fastest: they are most of a small compilation."""
        names = ("stdint.h", "stdlib.h", "string.h", "time.h", *((self.isa.header,) if self.isa.header else ()))
        header = self.folder / HEADERS
        header.write_text("#define _GNU_SOURCE\n" + "".join(f"#include <{name}>\n" for name in names))
        if "clang" not in compiler_version(self.words):
            with suppress(Failed):
                self._run([*_SHARED[1:], str(header), "-o", f"{header}.gch"])

    def _run(self, more: Sequence[str]) -> None:
        words = [*self.words, *self.flags, *more]
        try:
            done = run(words, COMPILER, env={**os.environ, "LC_ALL": "C"})
        except LimitPassed as error:
            raise Failed(f"the compiler {error}") from None
        if done.code:
            raise Failed(f"does not compile: {first_error(done.err.decode('utf-8', 'replace'))}")


def _sources() -> list[Path]:
    """The modules and tables that C of a tree depends on."""
    rooms = [Path(module.__file__ or "").parent for module in (kir, printing, lower_nest, isa_tables)]
    return [*(f for room in rooms for f in room.glob("*.py")), *rooms[-1].glob("data/*.toml")]


@lru_cache(maxsize=1)
def _digest() -> str:
    """Of everything that makes C of a tree: figures of another version are those of other code."""
    files = _sources()
    forms = [(templates_dir() / name).read_bytes() for name in ("kernel_prelude.c.j2", "dialect/c.j2")]
    texts = [x.read_bytes() for x in sorted(files)] + forms
    return hashlib.sha256(b"".join(texts)).hexdigest()[:12]


def open_tree_compiler(folder: Path, isa: Isa, flags: str = FLAGS, options: Options = ADDED) -> TreeCompiler:
    """With the compiler that is found."""
    words = find_compiler("", CppOptions(), folder).words
    compiler = TreeCompiler(folder, isa, words, tuple(shlex.split(flags)), options)
    compiler.prepare()
    return compiler


def clock_text(isa: Isa) -> tuple[str, str]:
    """The C of the clock, and of the peak kernels, which stand below the prelude."""
    text = environment().get_template("tune/clock.c.j2").render(
        target=isa.target, turns=TURNS, elements=[_peak(isa, elem) for elem in ("f32", "f64")]
    )
    clock, mark, kernels = text.partition("/* Multiply-adds that need")
    return clock, mark + kernels


def _peak(isa: Isa, elem: str) -> dict[str, object]:
    vec, registers = isa.vec(elem), isa.registers - 4
    accs = [f"c{n}" for n in range(registers)]

    def update(acc: str) -> str:
        value = expression(isa, elem, STEP, lambda x: acc if x.op == "acc" else "x" if x.op == "a" else "y")
        return f"{acc} = {bare(value)};"

    def operation(op: str, *args: str) -> str:
        return bare(call(isa, elem, op, args))

    return {
        "name": elem,
        "vector": vec.vector,
        "lanes": isa.lanes_max(elem),
        "count": registers,
        "begins": [operation("load", f"(const {vec.scalar} *)a + {n}") for n in range(registers)],
        "load_a": operation("load", f"(const {vec.scalar} *)a"),
        "load_b": operation("load", f"(const {vec.scalar} *)b"),
        "updates": [update(acc) for acc in accs],
        "joins": [f"c0 = {operation('add', 'c0', acc)};" for acc in accs[1:]],
        "store": operation("store", f"({vec.scalar} *)c", "c0"),
    }


def peak_flops(isa: Isa, elem: str) -> int:
    """Of one call of the peak kernel."""
    return 2 * isa.lanes_max(elem) * (isa.registers - 4) * TURNS
