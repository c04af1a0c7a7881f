"""`%%tilewright` in notebooks: the cell is C; its functions with marked loops can be called in the cells below.

    %load_ext tilewright
    %%tilewright --reassociate --machine native
    void scale(int n, double a[n]) { ... #pragma scop ... }

Options are those of `tilewright gen`, and --cflags='-O2 -g' for the compiler.
"""
from __future__ import annotations

import shlex
import sys
from typing import Any

from codegen.api.module import Module, compile
from codegen.diagnostics import TilewrightError


def options_of(line: str) -> dict[str, Any]:
    """The words behind `%%tilewright` as keywords of `compile`: --name value, --name=value, or --flag; -I and -D too.

    >>> options_of("--machine native --reassociate -DN=4")
    {'machine': 'native', 'reassociate': True, 'cpp_args': ['-DN=4']}
    """
    words = shlex.split(line)
    found: dict[str, Any] = {}
    cpp: list[str] = []
    while words:
        word = words.pop(0)
        if not word.startswith("--"):
            cpp.append(word)
            continue
        name, sign, value = word[2:].partition("=")
        if not sign and words and not words[0].startswith("-"):
            found[_keyword(name)] = words.pop(0)
        else:
            found[_keyword(name)] = value if sign else True
    if found.get("cflags") is True:
        raise ValueError("--cflags needs flags: --cflags='-O2 -g'")
    if "cflags" in found:
        found["cflags"] = shlex.split(found["cflags"])
    return {**found, **({"cpp_args": cpp} if cpp else {})}


def _keyword(name: str) -> str:
    return name.replace("-", "_")


def load(shell: Any) -> None:
    """Make the magic known to an IPython shell."""

    def tilewright(line: str, cell: str) -> Module:
        try:
            options = {"name": "cell", "line": True, **options_of(line)}  # compilers' messages name lines of the cell
            module = compile(cell if cell.endswith("\n") else f"{cell}\n", **options)
        except (TilewrightError, TypeError, ValueError) as error:  # about the cell, not about the calls in here
            from IPython.core.error import UsageError  # type: ignore[import-not-found,unused-ignore]

            raise UsageError(str(error)) from None
        if not module.result.transformed:
            print(module.result.messages(), file=sys.stderr, end="")
        shell.push(dict(module.functions()))
        return module

    tilewright.__doc__ = __doc__
    shell.register_magic_function(tilewright, "cell", "tilewright")
