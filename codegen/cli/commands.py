"""The subcommands: name, one line for the help, positional arguments. Their code is imported on use."""
from __future__ import annotations

from codegen.record import record


@record
class Positional:
    """An argument without a flag; `optional` ones may be left out, `many` may be given several times."""

    name: str
    metavar: str
    help: str
    choices: tuple[str, ...] = ()
    optional: bool = False
    many: bool = False


@record
class Subcommand:
    """One subcommand; `module` has a function run(Invocation) -> Outcome, or, where several inputs are seen `together`,
    run_all(Jobs) -> Outcomes. `extension` is that of results in a folder; empty: the source's own."""

    name: str
    summary: str
    positionals: tuple[Positional, ...] = ()
    reads_source: bool = False
    together: bool = False
    extension: str = ""

    @property
    def module(self) -> str:
        return f"codegen.cli.{self.name}"


_ABOUT_FILE = "C source with #pragma scop regions; `-` is standard input"
_FILE = (Positional("file", "FILE.c", _ABOUT_FILE),)
_FILES = (Positional("file", "FILE.c", f"{_ABOUT_FILE}; several need -o FOLDER", many=True),)
_EACH = (Positional("file", "FILE.c", f"{_ABOUT_FILE}; several are taken one by one", many=True),)

COMMANDS: tuple[Subcommand, ...] = (
    Subcommand("gen", "generate: the file with its marked loop nests transformed", _FILES, True),
    Subcommand("check", "generate, compile original and result, run both, compare", _EACH, True),
    Subcommand("inspect", "show what the tool sees and does: regions, dependences, schedules, plan", _FILE, True),
    Subcommand("bench", "how much faster the marked loop nests became: before and after, in turns", _FILE, True),
    Subcommand("tune", "search for the plan that runs fastest on this machine", _FILES, True, True, ".plan"),
    Subcommand("scan", "every loop nest of a code base: what would gain by `gen --auto`, what stands in the way", (
        Positional("paths", "DIR|FILE.c", "folders, of which all C and C++ files are read, and files", many=True),
    )),
    Subcommand("serve", "a page on this machine: C on the left, its result, plan and messages on the right"),
    Subcommand("explain", "what a message means, what leads to it, what to do", (
        Positional("id", "ID", "the word in brackets at the end of the message; without it, all of them",
                   optional=True),
    )),
    Subcommand("sparse", "sparse formats: convert one to another, kernels over them, what is built in", (
        Positional("action", "convert|kernel|formats", "what to do", ("convert", "kernel", "formats")),
        Positional("expression", "EXPR|FMT", "kernel: index notation such as 'y(i) = A(i,j)*x(j)'; formats: show one",
                   optional=True),
    )),
    Subcommand("machine", "processor descriptions: list them, show one, detect this host", (
        Positional("action", "list|show|detect", "what to print", ("list", "show", "detect")),
        Positional("name", "NAME|FILE", "the machine to show", optional=True),
    )),
    Subcommand("doctor", "versions, compiler, a short self-test"),
)


def find(name: str) -> Subcommand | None:
    return next((c for c in COMMANDS if c.name == name), None)
