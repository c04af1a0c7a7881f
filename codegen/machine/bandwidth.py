"""Measures how fast this host reads memory, in bytes per second: one thread alone, and one on every core. Compiles a
small C function for that (`built`); OSError or LimitPassed where it cannot."""
from __future__ import annotations

import ctypes
import mmap
import os
import platform
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from codegen.limits import COMPILER, run
from codegen.machine.model import Machine
from codegen.record import record

_NATIVE = "-mcpu=native" if platform.machine() in ("aarch64", "arm64") else "-march=native"
_READ = """\
unsigned long read_all(const unsigned long *p, long n)
{
  unsigned long s[16] = {0}, all = 0;
  for (long i = 0; i + 16 <= n; i += 16)
    for (int k = 0; k < 16; k++)
      s[k] ^= p[i + k];
  for (int k = 0; k < 16; k++)
    all ^= s[k];
  return all;
}
"""
LEAST = 1 << 26  # bytes in all; at least four times what the caches hold
MOST = 1 << 30
SECONDS = 0.4


@record
class Bandwidth:
    """Bytes per second."""

    one: float
    all: float


def measure(machine: Machine, compiler: Sequence[str]) -> Bandwidth:
    """Read memory for about a second. OSError or LimitPassed where that cannot be done."""
    held = sum(c.bytes * -(-machine.cores // c.shared_by) for c in machine.caches)
    total = min(max(LEAST, 4 * held), MOST)
    read = built(_READ, compiler).read_all
    read.restype, read.argtypes = ctypes.c_ulong, (ctypes.c_void_p, ctypes.c_long)
    one = _rate(read, total, 1)
    return Bandwidth(one, max(one, _rate(read, total, machine.cores)) if machine.cores > 1 else one)


def built(text: str, compiler: Sequence[str], flags: Sequence[str] = ()) -> ctypes.CDLL:
    """A little C, compiled for this host and loaded. OSError or LimitPassed where that cannot be done."""
    with tempfile.TemporaryDirectory(prefix="tilewright-") as folder:
        source, library = os.path.join(folder, "code.c"), os.path.join(folder, "code.so")
        with open(source, "w", encoding="ascii") as stream:
            stream.write(text)
        done = run([*compiler, "-O3", _NATIVE, *flags, "-shared", "-fPIC", source, "-o", library], COMPILER)
        if done.code:
            raise OSError("the compiler failed")
        return ctypes.CDLL(library)


def _rate(read: "ctypes._NamedFuncPointer", total: int, threads: int) -> float:
    """The best of a few runs over memory that is split between threads. Foreign calls run beside each other."""
    share = total // threads // 4096 * 4096
    with mmap.mmap(-1, share * threads) as memory:
        first = ctypes.c_char.from_buffer(memory)
        at = ctypes.addressof(first)
        ctypes.memset(at, 1, share * threads)
        parts = [at + k * share for k in range(threads)]
        best, end = 1e9, time.perf_counter() + SECONDS
        with ThreadPoolExecutor(threads) as pool:
            while time.perf_counter() < end:
                start = time.perf_counter()
                list(pool.map(lambda p: read(p, share // 8), parts))
                best = min(best, time.perf_counter() - start)
        del first
    return share * threads / best
