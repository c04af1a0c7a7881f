"""Generating, building and running a file of the corpus, as the original and on the emulator."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from codegen.options import CppOptions, GenOptions
from codegen.pipeline import Generated, generate
from codegen.sunway.emulation.host import ANY_FORM, Ran, compile_program, run_program

KERNELS = Path(__file__).parents[2] / "examples" / "kernels"
FLAGS = ("-I", str(KERNELS), "-DDRIVER", "-Wall", "-Wextra", "-Wno-unknown-pragmas", "-DTW_NO_FMA", ANY_FORM)


@dataclass
class Built:
    made: Generated
    emulated: Path | None
    original: Path

    def agree(self, *sizes: int) -> Ran:
        """Run both; they must print the same. The emulator's run is returned."""
        assert self.emulated is not None
        words = [str(s) for s in sizes]
        want = run_program(self.original, words)
        got = run_program(self.emulated, words)
        assert got.code == 0, got.err
        assert got.out == want.out and want.code == 0
        return got


def build(name: str, folder: Path, library: Path, real: str = "", **options: object) -> Built:
    """Both programs. Code for the cores must compile without a warning."""
    path = KERNELS / f"{name}.c"
    flags = [f"-DREAL={real}"] if real else []
    made = generate(
        str(path),
        path.read_text(encoding="utf-8"),
        GenOptions(target="sunway", stem=name, cpp=CppOptions(args=tuple(flags)),
                   **{"scheme": "launch", **options}),  # type: ignore[arg-type]
    )
    original = folder / f"{name}_original"
    assert compile_program([path], original, library, [*FLAGS, *flags]) == ""
    if not any(r.transformed for r in made.regions):
        return Built(made, None, original)
    master, slave = folder / f"{name}_master.c", folder / f"{name}_slave.c"
    master.write_text(made.text)
    slave.write_text(made.extra.file("_slave.c"))
    (folder / f"{name}_args.h").write_text(made.extra.file("_args.h"))
    emulated = folder / f"{name}_emulated"
    messages = compile_program([master, slave], emulated, library, [*FLAGS, *flags])
    assert messages == "", messages
    return Built(made, emulated, original)
