"""Takes files and programs away from a child that answers a request (`confine`): Python opens only what belongs to the
tool, its interpreter and the description of the processor, and starts no program but the compiler, which is asked for
its macros and headers. No text names a file to the parts that a request reaches; this holds where one of them is
wrong."""
from __future__ import annotations

import os
import sys
from pathlib import Path

import codegen
from codegen.resources import templates_dir

_SYSTEM = ("/proc/self/statm", "/proc/cpuinfo", "/proc/meminfo", "/sys/devices/", os.devnull)
_NEVER = frozenset({"os.system", "os.exec", "os.posix_spawn", "os.spawn", "pty.spawn", "socket.connect"})


class Confined(PermissionError):
    """A file was to be opened, or a program to be started, that no request needs."""


def confine(compiler: str) -> None:
    """Confine this process for the rest of its life. `compiler` is the program that it may start."""
    folders = _folders()

    def audit(event: str, arguments: tuple[object, ...]) -> None:
        if event == "open":
            allowed = isinstance(arguments[0], int) or _belongs(arguments[0], folders)
        elif event == "subprocess.Popen":
            allowed = isinstance(arguments[1], (list, tuple)) and compiler in arguments[1]
        else:
            allowed = event not in _NEVER
        if not allowed:
            raise Confined(1, "not for requests of a page")

    sys.addaudithook(audit)


def _folders() -> tuple[str, ...]:
    """Where the tool and its interpreter are. Python has the present folder among those of its modules, too."""
    package, here = Path(codegen.__file__).resolve().parent, os.getcwd()
    modules = (p for p in sys.path if p not in ("", here))
    own = (str(package), str(templates_dir()), sys.prefix, sys.base_prefix, *modules)
    return tuple(sorted({f"{os.path.realpath(p)}{os.sep}" for p in own}))


def _belongs(path: object, folders: tuple[str, ...]) -> bool:
    if not isinstance(path, (str, bytes)):
        return False
    name = os.fsdecode(path)
    return os.path.normpath(name).startswith(_SYSTEM) or os.path.realpath(name).startswith(folders)
