"""Instruction sets from users' files: `--isa FILE`.

A table is written as the built-in ones are (see `load.py`), and says `like = "generic"` to take over everything it does
not say itself. What is wrong with it is an InputError `bad-isa`.
"""

from __future__ import annotations

import re
import string
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from codegen.diagnostics import InputError, Loc
from codegen.isa.derived import derived
from codegen.isa.helpers import arity
from codegen.isa.known import ISAS, OwnIsa, add
from codegen.isa.load import isa_of, load, table
from codegen.isa.model import Isa, Vec, is_float
from codegen.isa.text import FUSED
from codegen.scop.lanes import ARITHMETIC, BITWISE, DOUBTS, EXTREMES, MASKS, WRAPS
from codegen.source.write import read_source

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_KEYS = ("name", "like", "header", "target", "processor", "enabled", "vector_bits", "registers", "typedef",
         "typedef_unaligned", "types", "words", "broadcast", "fold", "ops")
_MEMORY = ("load", "store", "dup")
_OPERATIONS = {*ARITHMETIC, *BITWISE, *DOUBTS, *EXTREMES, *MASKS, *WRAPS, *_MEMORY, *FUSED, "select", "any",
               "lane_load", "mul_lane", "mul_n", "neg", "not", "half_load", "half_dup", "long_lane_load",
               *(f"long_{op}" for op in FUSED)}


def read(spec: str) -> str:
    """Read a table and make it known under its name, which is returned."""
    text = read_source(spec)
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _bad(spec, text, f"not TOML: {error}") from None
    whole = _completed(spec, text, data)
    made = _made(spec, text, whole)
    for problem, key in _problems(made):
        raise _bad(spec, text, problem, key)
    add(OwnIsa(made.name, whole, made.bits, made.registers))
    load.cache_clear()
    return made.name


def _bad(file: str, text: str, message: str, key: str = "") -> InputError:
    """An error at the line that begins with `key`."""
    line = next((n for n, x in enumerate(text.splitlines(), 1) if key and re.match(rf"\s*{re.escape(key)}\s*=", x)), 1)
    return InputError("bad-isa", message, Loc(file, line, 1), "docs/howto/isa.md says what a table holds")


def _completed(file: str, text: str, data: Mapping[str, Any]) -> dict[str, Any]:
    """The table with what it leaves to the one it is like."""
    for key in data:
        if key not in _KEYS:
            raise _bad(file, text, f"unknown key '{key}' (known: {', '.join(_KEYS)})", key)
    name, like = data.get("name"), data.get("like", "")
    if not isinstance(name, str) or not re.fullmatch(r"[a-z]\w*", name) or name in ISAS:
        raise _bad(file, text, "'name' must be a word of its own: small letters and digits, no built-in name", "name")
    if like and like not in ISAS:
        raise _bad(file, text, f"'like' must be one of {', '.join(ISAS)}", "like")
    whole = _merged(table(like) if like else {}, data)
    texts = (("header", str), ("target", str), ("processor", str), ("enabled", str))
    for key, kind in (("vector_bits", int), ("registers", int), *texts):
        if not isinstance(whole.get(key, "" if key in ("processor", "enabled") else None), kind):
            raise _bad(file, text, f"'{key}' must be {'a whole number' if kind is int else 'a string'}", key)
    for key in ("words", "ops", "broadcast"):
        if not isinstance(whole.get(key), dict):
            raise _bad(file, text, f"there is no table [{key}]; say like = \"generic\" to start from that one")
    if whole["vector_bits"] not in (64, 128, 256, 512, 1024, 2048):
        raise _bad(file, text, "'vector_bits' must be a power of two from 64 to 2048", "vector_bits")
    return whole


def _merged(base: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    both = {k: _merged(base[k], v) if isinstance(v, dict) and isinstance(base.get(k), dict) else v
            for k, v in own.items()}
    return {**base, **both}


def _made(file: str, text: str, whole: Mapping[str, Any]) -> Isa:
    for group, patterns in whole["ops"].items():
        for name, pattern in patterns.items():
            if name not in _OPERATIONS:
                raise _bad(file, text, f"[ops.{group}] has an operation '{name}' that nobody asks for", name)
            if not isinstance(pattern, str):
                raise _bad(file, text, f"'{name}' in [ops.{group}] must be a string", name)
    try:
        return isa_of(whole["name"], whole)
    except KeyError as error:
        raise _bad(file, text, f"nothing says what <{error.args[0]}> means; give it in [words] or [types]") from None
    except StopIteration:
        raise _bad(file, text, "[broadcast] needs a figure for 'all'") from None


def _problems(isa: Isa) -> Iterable[tuple[str, str]]:
    """(message, key) for patterns that cannot be filled, and for operations that are missing."""
    for vec in isa.vecs:
        for name, pattern in vec.ops:
            if not pattern.startswith("{{"):
                yield from ((f"'{name}' {why}", name) for why in _misfit(pattern, arity(name)))
        for name in _needed(vec):
            if not _available(vec, name):
                yield f"there is no '{name}' for {vec.elem}, and it cannot be composed from others", ""


def _misfit(pattern: str, count: int) -> Iterable[str]:
    try:
        asked = {field for _, field, _, _ in string.Formatter().parse(pattern) if field is not None}
    except ValueError as error:
        yield f"has a pattern that cannot be filled: {error}; braces of C are written twice"
        return
    wanted = {str(i) for i in range(count)}
    if asked != wanted:
        yield f"must use {', '.join(f'{{{i}}}' for i in range(count))} in its pattern"


def _needed(vec: Vec) -> tuple[str, ...]:
    always = (*_MEMORY, *ARITHMETIC, *MASKS, "select", "min", "max")
    return (*always, "fmin", "fmax") if is_float(vec.elem) else (*always, *BITWISE)


def _available(vec: Vec, name: str) -> bool:
    """Has the operation a pattern, or is it made of operations that are available?"""
    if vec.op(name):
        return True
    made = derived(vec.elem).get(name)
    return made is not None and all(_available(vec, op) for op in _ops(made))


def _ops(lane: Any) -> set[str]:
    inner = {op for x in lane.args for op in _ops(x)}
    return inner | ({lane.op} if lane.args else {"dup"} if lane.op == "number" else set())
