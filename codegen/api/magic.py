"""`%%tilewright` in notebooks: the cell is C; its functions with marked loops can be called in the cells below.

    %load_ext tilewright
    %%tilewright --reassociate --machine native
    void scale(int n, double a[n]) { ... #pragma scop ... }
"""
from __future__ import annotations

import shlex
from typing import Any

from codegen.api.module import Module, compile


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
    if "cflags" in found:
        found["cflags"] = shlex.split(found["cflags"])
    return {**found, **({"cpp_args": cpp} if cpp else {})}


def _keyword(name: str) -> str:
    return name.replace("-", "_")


def load(shell: Any) -> None:
    """Make the magic known to an IPython shell."""

    def tilewright(line: str, cell: str) -> Module:
        module = compile(cell if cell.endswith("\n") else f"{cell}\n", **options_of(line))
        shell.push(dict(module.functions()))
        return module

    tilewright.__doc__ = __doc__
    shell.register_magic_function(tilewright, "cell", "tilewright")
