"""Reads the source and the keyword options of a Python call (`generate`, `compile`, `check`, `Plan.apply`) into an
`Input`: C text, its name, and `GenOptions`. Keywords are named as the command line's options; unknown ones raise
TypeError."""
from __future__ import annotations

import difflib
import os
import shlex
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypedDict, Union

from codegen.options import CppOptions, GenOptions
from codegen.record import record
from codegen.target.finish.names import prefix

if TYPE_CHECKING:
    from codegen.api.plans import Plan

Source = Union[str, "os.PathLike[str]"]


class Options(TypedDict, total=False):
    """Keywords of `generate`, `compile`, `check` and `Plan.apply`; each is the option of that name of `tilewright gen`.

    `include` are folders (-I), `define` macros with their values or None (-D), `cpp_args` any other words for the
    preprocessor; `cpp=False` runs none. `name` is what messages call C text that is not in a file.
    """

    name: str
    target: str
    machine: str
    isa: str
    plan: "Plan | str | os.PathLike[str] | None"
    plan_path: Sequence[Source]
    reassociate: bool
    check_alias: bool
    assume_no_alias: bool
    fp_contract: str
    fusion: str
    context: str
    threads: str
    distribute: str
    comm: str
    network: str
    line: "bool | str"
    file_prefix_map: Mapping[str, str]
    require_isa: bool
    banner: bool
    version: bool
    dispatch: bool
    keep_original: bool
    prefix: str
    timeout: float
    include: Sequence[Source]
    define: Mapping[str, object]
    cpp: "str | bool"
    cpp_args: Sequence[str]


@record
class Input:
    """C text, what it is called, and how to treat it."""

    name: str
    text: str
    options: GenOptions


_SAME = ("target", "machine", "isa", "reassociate", "check_alias", "assume_no_alias", "fp_contract", "fusion",
         "context", "threads", "distribute", "network", "comm",
         "banner", "version", "dispatch", "keep_original", "prefix", "require_isa", "timeout")


def read(source: Source, given: Options) -> Input:
    """The input of a call. A string with a line break in it is C text, any other names a file."""
    known = Options.__annotations__
    for name in given:
        if name not in known:
            close = difflib.get_close_matches(name, known, n=1)
            raise TypeError(f"unknown option '{name}'" + (f"; did you mean '{close[0]}'?" if close else ""))
    name, text = _text(source, given.get("name", ""))
    plan, plan_name = _plan(given.get("plan"))
    values = {k: given[k] for k in _SAME if k in given}  # type: ignore[literal-required]
    if "prefix" in given:
        values["prefix"] = prefix(given["prefix"])
    options = GenOptions(
        **values,
        line_directives=given.get("line", False) not in (False, "none"),
        line_statements=given.get("line") == "statements",
        prefix_map=tuple(given.get("file_prefix_map", {}).items()),
        plan_text=plan,
        plan_name=plan_name,
        plan_paths=tuple(os.fspath(folder) for folder in given.get("plan_path", ())),
        stem=os.path.basename(name).removesuffix(".c").strip("<>") or "region",
        cpp=_cpp(given),
    )
    return Input(name, text, options)


def _text(source: Source, name: str) -> tuple[str, str]:
    if isinstance(source, str) and "\n" in source:
        return name or "<string>", source
    from codegen.source.language import check_language
    from codegen.source.write import read_source

    path = os.fspath(source)
    text = read_source(path)
    check_language(path, text)
    return name or path, text


def _plan(plan: "Plan | str | os.PathLike[str] | None") -> tuple[str | None, str]:
    """The text of a plan and its name; a string with a line break in it is the text itself."""
    if plan is None:
        return None, "<plan>"
    if isinstance(plan, os.PathLike) or (isinstance(plan, str) and "\n" not in plan):
        from codegen.plan.files import read_plan

        return read_plan(os.fspath(plan)), os.fspath(plan)
    return str(plan), "<plan>"


def _cpp(given: Options) -> CppOptions:
    words = [f"-I{os.fspath(folder)}" for folder in given.get("include", ())]
    words += [f"-D{n}" if v is None else f"-D{n}={v}" for n, v in given.get("define", {}).items()]
    command = given.get("cpp", True)
    return CppOptions(
        tuple(shlex.split(command)) if isinstance(command, str) else (),
        (*words, *given.get("cpp_args", ())),
        command is not False,
    )
