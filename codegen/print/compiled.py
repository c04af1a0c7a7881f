"""The jinja2 bytecode cache: loads and stores compiled templates as Python does compiled modules, in `__pycache__`
beside their source.

Compiling the templates of one blocked product takes 0.15 s, a quarter of a run.
`python -m codegen.print.templates` compiles all of them, as `compileall` does for modules; else each is compiled
when it is first used. A folder that cannot be written to costs time and nothing else.
"""

from __future__ import annotations

import hashlib
import sys
from contextlib import suppress
from importlib.util import cache_from_source
from pathlib import Path

import jinja2
from jinja2.bccache import Bucket

from codegen import __version__
from codegen.resources import write_aside


class Compiled(jinja2.BytecodeCache):
    """The cache. jinja2 compares checksums and the versions of itself and Python; what differs is compiled anew."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.write = not sys.dont_write_bytecode

    def get_cache_key(self, name: str, filename: str | None = None) -> str:
        return name

    def get_source_checksum(self, source: str) -> str:
        """The settings of the environment have a say in the code, and may change with the version."""
        return hashlib.sha1(f"{__version__}\n{source}".encode()).hexdigest()

    def load_bytecode(self, bucket: Bucket) -> None:
        try:
            with open(self._file(bucket), "rb") as file:
                bucket.load_bytecode(file)
        except (OSError, NotImplementedError):
            bucket.reset()

    def dump_bytecode(self, bucket: Bucket) -> None:
        if self.write:
            with suppress(OSError, NotImplementedError):
                write_aside(self._file(bucket), bucket.bytecode_to_string())

    def _file(self, bucket: Bucket) -> str:
        """Where the code is kept. Python does not say (NotImplementedError) when it keeps no code at all."""
        return cache_from_source(str(self._folder / bucket.key))
