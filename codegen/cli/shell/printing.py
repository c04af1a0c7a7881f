"""`tilewright --print-...`: what build systems and shells ask the command about itself."""
from __future__ import annotations

from collections.abc import Callable

from codegen import __version__
from codegen.cli.argv import BadCommandLine
from codegen.record import record
from codegen.resources import share_dir


@record
class Print:
    """One question: its option, its one argument if it has one, and who answers."""

    flag: str
    help: str
    answer: Callable[[str], str]
    choices: tuple[str, ...] = ()

    @property
    def spelling(self) -> str:
        return f"{self.flag} {'|'.join(self.choices)}" if self.choices else self.flag


def _make_rules(_: str) -> str:
    """Where `include` takes words apart, a blank needs a backslash."""
    path = str(share_dir() / "tilewright.mk")
    return path.replace(" ", "\\ ") + "\n"


def _completion(shell: str) -> str:
    from codegen.cli.shell.completion import completion

    return completion(shell)


def _emulator(_: str) -> str:
    from codegen.sunway.emulation.host import emulator_folder

    return f"{emulator_folder()}\n"


def _device_emulator(_: str) -> str:
    from codegen.gpu.emulation import emulator_folder

    return f"{emulator_folder()}\n"


def _targets(_: str) -> str:
    from codegen.cli.options import TABLE
    from codegen.isa.known import ISAS
    from codegen.machine import names

    targets = next(o.choices for o in TABLE if o.name == "target")
    rows = [*(("target", t) for t in targets), *(("machine", m) for m in (*names(), "native"))]
    return "".join(f"{kind} {name}\n" for kind, name in [*rows, *(("isa", i) for i in ISAS)])


def _manual(_: str) -> str:
    from codegen.cli.shell.manual import manual

    return manual()


PRINTS: tuple[Print, ...] = (
    Print("--print-make", "the file to include in a Makefile, as make wants it", _make_rules),
    Print("--print-ninja", "the file to include in build.ninja", lambda _: f"{share_dir() / 'tilewright.ninja'}\n"),
    Print("--print-cmake-dir", "the folder for Tilewright_DIR, as find_package() wants it",
          lambda _: f"{share_dir() / 'cmake'}\n"),
    Print("--print-emulator", "the folder of the emulator of Sunway core groups, to compile with", _emulator),
    Print("--print-device-emulator", "the folder of the emulator of devices, to compile CUDA and HIP files with",
          _device_emulator),
    Print("--print-completion", "completion of the command line for a shell", _completion, ("bash", "zsh", "fish")),
    Print("--print-man", "the manual page", _manual),
    Print("--print-targets", "targets, processors and instruction sets, a word and a name in each line", _targets),
    Print("--print-version", "the version alone", lambda _: f"{__version__}\n"),
)


def answer(words: list[str]) -> str | None:
    """The answer to a `--print-...` on the command line; None when its first word is not one."""
    asked = next((p for p in PRINTS if p.flag == words[0].partition("=")[0]), None)
    if asked is None:
        return None
    value = [words[0].partition("=")[2]] if "=" in words[0] else words[1:2]
    given = len(words) - 1 + ("=" in words[0])
    if not asked.choices and given:
        raise BadCommandLine(f"{asked.flag} takes no argument")
    if asked.choices and (given != 1 or value[0] not in asked.choices):
        raise BadCommandLine(f"{asked.flag} needs one of: {', '.join(asked.choices)}")
    return asked.answer("".join(value))
