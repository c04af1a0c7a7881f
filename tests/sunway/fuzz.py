"""Random programs on the emulator against their originals: python -m tests.sunway.fuzz FIRST COUNT."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from codegen.options import GenOptions
from codegen.pipeline import generate
from codegen.sunway.emulation.host import ANY_FORM, FLAGS, build_library, emulator_folder
from tests.property.driver import driver_text
from tests.property.harness import program_of
from tests.property.model import Features

# Core groups take arrays of plain numbers, one object each, at subscripts that are known before data is.
FEATURES = Features.without(["structs", "unions", "homes", "pointers", "overlaps", "gathers"])
GRIDS = ("8,8", "64", "16", "2,8", "8,8", "5")


def run_seed(seed: int, folder: Path, library: Path) -> str:
    """What became of a program: `equal`, `master: ...` or what went wrong."""
    program = program_of(seed, FEATURES)
    source = program.text()
    grid = GRIDS[seed % len(GRIDS)]
    options = GenOptions(target="sunway", stem="prog", threads=grid, timeout=20, scheme="launch")
    made = generate("prog.c", source, options)
    if not any(r.transformed for r in made.regions):
        return "master: " + ", ".join(n.id for d in made.diagnostics for n in d.notes)
    (folder / "prog_args.h").write_text(made.extra.file("_args.h"))
    (folder / "slave.c").write_text(made.extra.file("_slave.c"))
    (folder / "new.c").write_text(re.sub(r"\bkernel\b(?=\()", "f0_1", made.text))
    (folder / "old.c").write_text(re.sub(r"\bkernel\b(?=\()", "f0_0", source))
    (folder / "plain.c").write_text(re.sub(r"\bkernel\b(?=\()", "f0_plain", source))
    (folder / "main.c").write_text(driver_text([(program, 1)]))
    command = ["gcc", *FLAGS, "-w", "-DTW_NO_FMA", ANY_FORM, "-fopenmp", "-I", str(emulator_folder())]
    plain = str(folder / "plain.o")
    subprocess.run([*command, "-O0", "-c", str(folder / "plain.c"), "-o", plain], check=True)
    files = [*(str(folder / f"{n}.c") for n in ("old", "new", "slave", "main")), plain, str(library)]
    built = subprocess.run([*command, *files, "-lm", "-o", str(folder / "run")], capture_output=True, text=True)
    if built.returncode:
        return "does not compile: " + built.stderr[:1500]
    ran = subprocess.run([str(folder / "run")], capture_output=True, text=True, timeout=120)
    if ran.returncode or "differs" in ran.stdout:
        return f"wrong: {ran.stdout[:300]}{ran.stderr[:500]}"
    return "equal"


def main(first: int, count: int) -> int:
    wrong = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        library = build_library(folder)
        for seed in range(first, first + count):
            try:
                found = run_seed(seed, folder, library)
            except Exception as error:
                found = f"crash: {error!r}"[:600]
            if found != "equal":
                print(seed, found, flush=True)
            wrong += not found.startswith(("equal", "master"))
    print(f"{count} programs, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2])))
