"""Predicts the time of a file's first region on a core group: builds its slave file in model form, which counts cycles
and has no data, and runs it on the emulator at given sizes. Raises Unsupported where nothing runs on the cores."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from codegen.diagnostics import Loc, Unsupported
from codegen.options import GenOptions
from codegen.pipeline import generate
from codegen.record import record
from codegen.source.write import read_source
from codegen.sunway.emulation.host import compile_program, run_program
from codegen.sunway.plan.launch_options import OTHERS
from codegen.sunway.plan.machine import KB, group_for, group_of


@record
class Prediction:
    """Cycles and what the emulator counted on the way."""

    cycles: float
    seconds: float
    counts: Mapping[str, float]


def model_program(
    path: str, options: GenOptions, folder: Path, library: Path, tag: str = "", text: str | None = None
) -> Path:
    """Build the timing model of a file's first region. Parameters are given to the program as NAME=VALUE. Raises
    Unsupported where there is nothing to run."""
    stem, text = Path(path).stem, read_source(path) if text is None else text
    made = generate(path, text, replace(options, target="sunway", model=True, stem=stem))
    files = dict(made.extra.files)
    if "typedef struct" not in files.get("_args.h", ""):
        raise Unsupported("no-parallelism", "nothing of it runs on the compute cores", Loc(path))
    work = folder / f"{stem}{tag}"
    work.mkdir(parents=True, exist_ok=True)
    (work / f"{stem}_args.h").write_text(files["_args.h"])
    (work / "model.c").write_text(files["_slave.c"] + _main(files["_args.h"], options))
    messages = compile_program([work / "model.c"], work / "model", library, ["-w", "-O1"], watched=False)
    assert not messages, messages[:2000]
    return work / "model"


def _main(header: str, options: GenOptions) -> str:
    """A main function that fills every launch's arguments from the command line and runs them in order: of the forms of
    a region, those of the first that is for such sizes."""
    count = 1
    for n in options.threads.split(","):
        count *= int(n)
    group = group_of(options)
    lines = ["#include <stdlib.h>", "#include <string.h>", "#include <athread.h>",
             "static double value(int n, char **v, const char *name) {",
             "  for (int k = 1; k < n; k++) { char *e = strchr(v[k], '=');",
             "    if (e && !strncmp(v[k], name, (size_t)(e - v[k])) && !name[e - v[k]]) return atof(e + 1); }",
             "  return 1; }",
             "int main(int argc, char **argv) {", "  (void)value;",
             f'  sw_made_for("{group.short_name}", {group.cache_bytes // KB}, __FILE__);', "  athread_init();",
             f"  athread_set_num_threads({count});", "  char chosen[1000] = {0};"]  # fmt: skip
    for when, body, name in re.findall(r"(?:/\* if ([^/]*?) \*/\s*)?typedef struct \{(.*?)\} (\w+);", header, re.S):
        lines.append(f"  {{ static {name} a; long at = 1L << 32;")
        for field in re.findall(r"(\w+(?:\s\w+)*)\s(\*?)(\w+)(?:\[[^;]*)?;", body):
            _, star, word = field
            if star:
                lines.append(f"    a.{word} = (void *)at; at += 1L << 32;")
            elif "[" not in body.split(word)[1].split(";")[0]:
                lines.append(f'    a.{word} = value(argc, argv, "{word}");')
                lines += [f"    const __typeof__(a.{word}) {word} = a.{word};"] if _names(when, word) else []
        region, form = _form(name)
        free = f"(!chosen[{region}] || chosen[{region}] == {form})"
        lines.append(f"    if ({free} && ({when or 1})) {{ chosen[{region}] = {form};")
        lines.append(f"      athread_spawn({name.removesuffix('_args')}, &a); athread_join(); }} }}")
    lines += ["  athread_halt();", "  return 0;", "}"]
    return "\n".join(lines) + "\n"


def _form(name: str) -> tuple[int, int]:
    """The region of a launch, and which of its forms it belongs to, by the name of its arguments."""
    found = re.search(rf"_r(\d+)(?:_({'|'.join(OTHERS)}))?(?:_\d+)?_args$", name)
    assert found is not None
    return int(found[1]), 1 + [*OTHERS, None].index(found[2])


def _names(text: str, word: str) -> bool:
    return re.search(rf"\b{word}\b", text) is not None


def scalars(program: Path) -> dict[str, str]:
    """The numbers that the launches of a model are given, and their types."""
    (header,) = program.parent.glob("*_args.h")
    found = re.findall(r"^ *(\w+(?: \w+)*) (\w+);", header.read_text(encoding="utf-8"), re.M)
    return {name: kind for kind, name in found}


def predict(
    program: Path, sizes: Mapping[str, int], machine: str = "generic", trace: Path | None = None, limit: float = 300
) -> Prediction:
    """Run a model for these sizes. Raises LimitPassed where that takes more than so many seconds."""
    env = {"SW_MODEL": "1", "SW_MACHINE": "", "SW_LDM_CACHE": "", **({"SW_TRACE": str(trace)} if trace else {})}
    ran = run_program(program, [f"{k}={v}" for k, v in sizes.items()], env, limit)
    assert ran.code == 0, ran.err
    cycles = ran.counts["cycles"]
    return Prediction(cycles, cycles / group_for(machine).clock_hz, ran.counts)
