"""Finds a target by the name that --target takes (c, openmp, sunway, mpi, cuda, hip, opencl, or one that is registered
at run time), and lists the names. Each is loaded when it is asked for: start-up time counts in a build."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module

from codegen.targets.base import Target

# In the order of --help: the module that defines each, as `TARGETS`.
_MODULES = {"c": "codegen.hosts.target", "openmp": "codegen.hosts.target", "sunway": "codegen.sunway.target",
            "mpi": "codegen.mpi.target", "cuda": "codegen.gpu.target", "hip": "codegen.gpu.target",
            "opencl": "codegen.gpu.target"}  # fmt: skip
DEFAULT = "openmp"
_ADDED: dict[str, Target] = {}


def target_names() -> tuple[str, ...]:
    """All targets, as --target takes them."""
    return (*_MODULES, *_ADDED)


def host_names() -> tuple[str, ...]:
    """Those whose results run on this machine."""
    return tuple(n for n in target_names() if target_named(n).runs_here)


def tuned_names() -> tuple[str, ...]:
    """Those whose results `tune` can measure."""
    return tuple(n for n in target_names() if target_named(n).tunes)


@cache
def _built_in(name: str) -> Target:
    found: dict[str, Target] = import_module(_MODULES[name]).TARGETS
    return found[name]


def target_named(name: str) -> Target:
    """The target of this name. Raises KeyError for names that are none."""
    return _ADDED[name] if name in _ADDED else _built_in(name)


def host(threads: bool) -> str:
    """The target for this machine, with or without threads."""
    return next(n for n in _MODULES if target_named(n).runs_here and target_named(n).threads == threads)


@contextmanager
def registered(target: Target) -> Iterator[None]:
    """With one target more, for as long as the block runs."""
    before = dict(_ADDED)
    _ADDED[target.name] = target
    try:
        yield
    finally:
        _ADDED.clear()
        _ADDED.update(before)
