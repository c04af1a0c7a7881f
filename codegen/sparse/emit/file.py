"""Assembles a generated C file and its header (`CFile`) from functions, the structs of formats, and the static C
functions of the templates that they call."""
from __future__ import annotations

import re
from functools import lru_cache

from codegen import __version__
from codegen.print.templates import environment
from codegen.record import record
from codegen.resources import templates_dir
from codegen.sparse.emit.formats import Struct
from codegen.sparse.emit.types import Types
from codegen.target.finish.wrap import wrapped


@record
class CFunction:
    """One function of the file. `only`: a macro that must be defined for it to exist."""

    comment: str
    prototype: str
    declarations: str
    body: str
    ending: str
    only: str = ""


@record
class CFile:
    """A source and its header."""

    source: str
    header: str


def c_file(title: str, structs: tuple[Struct, ...], functions: tuple[CFunction, ...], types: Types, header: str,
           keys: tuple[str, ...] = ()) -> CFile:
    """`header` is the name the source includes; without one the declarations stand in the source itself."""
    env = environment()
    once = tuple({s.type: s for s in structs}.values())
    waits = types.index if any("tw_waits" in f.prototype for f in functions) else ""
    # Outside of headers clang speaks of functions that nobody calls.
    declared = env.get_template("sparse/formats.h.j2").render(formats=once, waits=waits, alone=not header)
    formats = _squeeze(declared).strip("\n")
    body = "".join(f.declarations + f.body + f.ending for f in functions) + "".join(keys)
    guard = re.sub(r"\W", "_", header or "H").upper()
    common = {"version": __version__, "title": title, "formats": formats, "functions": functions, "guard": guard}
    source = env.get_template("sparse/file.c.j2").render(
        **common, header=header, helpers=[*(h.strip("\n") for h in helpers(body, types)), *keys],
        parallel=any(f.only for f in functions) or "omp_get_" in body, math="INFINITY" in body)
    return CFile(_squeeze(source), _squeeze(env.get_template("sparse/file.h.j2").render(**common)))


def _squeeze(text: str) -> str:
    """At most one empty line in a row, one end of line at the end, and no line too long."""
    lines = [line.rstrip() for line in text.split("\n")]
    return wrapped(re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip("\n") + "\n")


@lru_cache(maxsize=1)
def _names() -> tuple[str, ...]:
    return tuple(sorted(p.name.removesuffix(".c.j2") for p in (templates_dir() / "sparse" / "helpers").glob("*.j2")))


def helpers(body: str, types: Types) -> list[str]:
    """The helpers a text needs, each after those it needs itself."""
    out: dict[str, str] = {}

    def need(text: str) -> None:
        for name in _names():
            if name not in out and _needs(text, name):
                template = environment().get_template(f"sparse/helpers/{name}.c.j2")
                mine = template.render(value=types.c_value, index=types.c_index)
                typed = mine != template.render(value="?", index="?")
                if name.endswith(("_omp", "_starts", "_share", "_join")):
                    mine = f"#ifdef _OPENMP\n{mine}#endif\n"
                out[name] = ""  # it may call itself
                need(mine)
                del out[name]
                out[name] = _once(name, mine, types if typed else None)

    need(body)
    return list(out.values())


def _once(name: str, text: str, types: Types | None) -> str:
    """Of several outputs in one translation unit only the first defines a helper. One that depends on types says so in
    its guard: those of other types are another function, and compilers complain rather than take the wrong one."""
    kind = re.sub(r"\W", "_", f"{types.c_value}_{types.c_index}_").upper() if types else ""
    guard = f"{name.upper()}_{kind}"
    return f"#ifndef {guard}\n#define {guard}\n{text.strip(chr(10))}\n#endif\n"


def _needs(text: str, name: str) -> bool:
    return re.search(rf"\b{_entry(name)}\b", text) is not None


def _entry(name: str) -> str:
    """What calls a helper; a list is needed by everything that handles one."""
    shared = {"tw_list_sort": "(tw_list|tw_list_sort|tw_list_insert|tw_list_free|tw_list_key)",
              "tw_buckets": "(tw_buckets|TW_BUCKETS)"}
    return shared.get(name, name)
