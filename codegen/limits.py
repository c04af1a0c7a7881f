"""Runs child processes with limits on processor time, memory, output and wall-clock time (`run`), or limits this
process (`restrict`); raises LimitPassed where one is passed.

Whatever passes a limit here is an error and nothing is written: the load of a machine must never choose between two
results. What chooses between results is counted work (`scop/effort.py`), which is the same everywhere.
"""

from __future__ import annotations

import contextlib
import os
import re
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from codegen.record import record

try:
    import resource
except ImportError:  # not on Windows
    resource = None  # type: ignore[assignment]

MIB = 1 << 20
HOUR = 3600.0  # far beyond what any child takes, on a machine with forty times as much to do as it can
GRACE = 5  # seconds of processor time between the signal that ends a child and the one that cannot be caught
_SHELL = "/bin/sh"
# The shell sets limits and becomes the program, so that whatever that starts has them too, from its first moment.
_SCRIPT = (
    'ulimit -c 0; ulimit -St "$1"; ulimit -Ht "$2"; [ "$3" = 0 ] || ulimit -v "$3"; ulimit -f "$4"; shift 4; exec "$@"'
)
_MEMORY = (b"out of memory", b"memory exhausted", b"Cannot allocate memory", b"bad_alloc")
_TIME = (b"CPU time limit exceeded", b"Cputime limit exceeded", b"Killed signal terminated")
_SIZE = (b"File size limit exceeded", b"File too large")


@record
class Limits:
    """Seconds of processor time for each process, bytes of memory on top of what is there (0: any), bytes of output
    and of any file written, and seconds on the wall."""

    cpu: float
    memory: int
    output: int = 64 * MIB
    wall: float = HOUR


def _physical() -> int:
    """The machine's memory."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return 0


# Measured: the preprocessor takes 40 MB for the largest file of the corpus and 190 MB for 30 MB of output; compilers
# 160 MB, a compiler that makes sanitized programs 330 MB, an analysis 240 MB.
PREPROCESSOR = Limits(60, 2048 * MIB, 32 * MIB)
COMPILER = Limits(300, 4096 * MIB, 1024 * MIB)
PROGRAM = Limits(300, _physical(), 1024 * MIB)  # whose size the user chooses
QUESTION = Limits(60, 2048 * MIB, 4 * MIB)  # what are you, and what can you do?


class LimitPassed(Exception):
    """A child used more than it may. The text says what, as in `took more than 60 s of processor time`."""

    @property
    def processor(self) -> bool:
        """Was it processor time? How long a machine takes for something else says nothing about the input."""
        return "processor time" in str(self)

    @property
    def memory(self) -> bool:
        """Was it memory?"""
        return "of memory" in str(self)


@record
class Ended:
    """How a program ended."""

    code: int
    out: bytes
    err: bytes


def limited(words: Sequence[str], limits: Limits) -> list[str]:
    """The command that runs `words` with the limits on processor time, memory and files."""
    if not os.path.exists(_SHELL):
        return list(words)
    cpu = max(1, round(limits.cpu))
    # An address sanitizer that is loaded ahead of every program reserves terabytes of addresses.
    sanitized = re.search(r"\b(lib)?(clang_rt\.)?asan", os.environ.get("LD_PRELOAD", ""))
    memory = 0 if sanitized else limits.memory // 1024
    numbers = (cpu, cpu + GRACE, memory, max(1, limits.output // 512))
    return [_SHELL, "-c", _SCRIPT, "sh", *map(str, numbers), *words]


def run(
    words: Sequence[str], limits: Limits, data: bytes = b"", env: Mapping[str, str] | None = None,
    cwd: str | os.PathLike[str] | None = None, meanwhile: Callable[[], None] = lambda: None,
) -> Ended:  # fmt: skip
    """Run a program to its end and keep what it prints. Raises LimitPassed, and OSError where it cannot be started.

    `meanwhile` is done while it runs.
    """
    _check_there(words[0])
    pipe = subprocess.PIPE
    process = subprocess.Popen(limited(words, limits), stdin=pipe, stdout=pipe, stderr=pipe, env=env, cwd=cwd,
                               start_new_session=True)  # fmt: skip
    with process:
        try:
            meanwhile()
            out, err = _talk(process, data, limits)
        except BaseException:
            end(process)
            raise
    passed = what_passed(process.returncode, err, limits)
    if passed:
        raise LimitPassed(passed)
    return Ended(process.returncode, out, err)


def _check_there(program: str) -> None:
    """The shell would say so in its own words."""
    from shutil import which

    if which(program) is None:
        raise FileNotFoundError(2, os.strerror(2), program)


def finished(process: subprocess.Popen[bytes], seconds: float) -> int | None:
    """The exit status of a process; None where it has not ended by then. It and its children are gone in any case."""
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        return None
    finally:
        end(process)
        process.wait()


def end(process: subprocess.Popen[bytes]) -> None:
    """Kill a child that was started in a session of its own, and all that it started."""
    with contextlib.suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)
    process.kill()


def what_passed(code: int, err: bytes, limits: Limits) -> str:
    """Which limit ended a program; empty when none did. Drivers of compilers tell it in their own words only."""
    if code == 0:
        return ""
    if -code in (signal.SIGXCPU, signal.SIGKILL) or any(words in err for words in _TIME):
        return f"took more than {limits.cpu:g} s of processor time"
    if limits.memory and any(words in err for words in _MEMORY):
        return f"took more than {limits.memory // MIB} MiB of memory"
    if -code == signal.SIGXFSZ or any(words in err for words in _SIZE):
        return f"wrote more than {limits.output // MIB} MiB"
    return ""


def _talk(process: subprocess.Popen[bytes], data: bytes, limits: Limits) -> tuple[bytes, bytes]:
    """Write `data`, read both streams to their ends; no more than the limits allow."""
    assert process.stdin is not None and process.stdout is not None and process.stderr is not None
    deadline, view, size = time.monotonic() + limits.wall, memoryview(data), 0
    kept: dict[str, list[bytes]] = {"out": [], "err": []}
    with selectors.DefaultSelector() as waiting:
        os.set_blocking(process.stdin.fileno(), False)
        waiting.register(process.stdin, selectors.EVENT_WRITE, "in")
        waiting.register(process.stdout, selectors.EVENT_READ, "out")
        waiting.register(process.stderr, selectors.EVENT_READ, "err")
        while waiting.get_map():
            ready = waiting.select(max(0.0, deadline - time.monotonic()))
            if not ready:
                raise LimitPassed(f"did not end within {limits.wall:g} s")
            for key, _ in ready:
                if key.data == "in":
                    with contextlib.suppress(BrokenPipeError):
                        view = view[os.write(key.fd, view[:65536]) :]
                        if view:
                            continue
                    waiting.unregister(key.fileobj)
                    process.stdin.close()
                    continue
                chunk = os.read(key.fd, 65536)
                size += len(chunk)
                if size > limits.output:
                    raise LimitPassed(f"wrote more than {limits.output // MIB} MiB")
                kept[key.data].append(chunk)
                if not chunk:
                    waiting.unregister(key.fileobj)
    return b"".join(kept["out"]), b"".join(kept["err"])


def restrict(limits: Limits) -> None:
    """Put limits on this process, a child that was just forked. Memory is counted on top of what the parent had."""
    if resource is None:
        return
    _lower(resource.RLIMIT_CORE, 0, 0)
    _lower(resource.RLIMIT_CPU, max(1, round(limits.cpu)), GRACE)
    if limits.memory:
        _lower(resource.RLIMIT_AS, _size() + limits.memory, 0)


def allow(limits: Limits) -> None:
    """Let this process take so much more processor time and memory than it has until now, and no more. For a process
    that does one thing after another: what it may take is set again and again."""
    if resource is None:
        return
    _set_soft(resource.RLIMIT_CORE, 0)
    used = resource.getrusage(resource.RUSAGE_SELF)
    _set_soft(resource.RLIMIT_CPU, max(1, round(used.ru_utime + used.ru_stime + limits.cpu)))
    if limits.memory:
        _set_soft(resource.RLIMIT_AS, _size() + limits.memory)


def _set_soft(kind: int, value: int) -> None:
    _, hard = resource.getrlimit(kind)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(kind, (value if hard == resource.RLIM_INFINITY else min(value, hard), hard))


def _lower(kind: int, value: int, more: int) -> None:
    """Set a limit, if it is below the one that is there; systems without one go on without."""
    _, hard = resource.getrlimit(kind)
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    highest = value + more if hard == resource.RLIM_INFINITY else min(value + more, hard)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(kind, (value, highest))


def resident() -> int:
    """Bytes of memory that this process uses."""
    return _pages(1)


def _size() -> int:
    """Bytes of address space that this process has."""
    return _pages(0)


def _pages(column: int) -> int:
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[column]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


def analysis(seconds: float) -> Limits:
    """For the analysis of a region with so many nominal seconds of counted work: eight times that, and never less than
    a minute. Slow processors take four seconds for a nominal one, and twice that where macros are tried by name first;
    so only what counts no work (`scop/effort.py`) comes near, as isl's scheduler does for a few regions."""
    return replace(ANALYSIS, cpu=max(ANALYSIS.cpu, 8 * seconds), wall=max(ANALYSIS.wall, 1000 * seconds))


ANALYSIS = Limits(60, 4096 * MIB)
