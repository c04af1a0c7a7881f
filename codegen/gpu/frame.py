"""Raises Unread unless printed text around what was proven of regions is right: kernels and launchers stand in the
device's file once, whole, in order, with the heads that launches need; the host calls its launcher with the right
arguments; the string that an OpenCL driver compiles is the kernels' text."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from codegen.gpu.read_back import printed_lines
from codegen.patterns import pattern
from codegen.verify.text.read import Node, Unread, read_expression

if TYPE_CHECKING:
    from codegen.gpu.emit import DevicePart, KernelText

_FUNCTION = r" (\w+)\(([^\n]*)\)\n\{\n(.*?)^\}$"
_TEMPLATE = "template <class tw_int> "
_KERNEL = pattern(rf"^((?:{_TEMPLATE})?)static __global__ void __launch_bounds__\((\d+)\){_FUNCTION}", re.M | re.S)
_KERNEL_CL = pattern(rf"^()__kernel void(){_FUNCTION}", re.M | re.S)
_LAUNCHER = pattern(r"^(?:extern \"C\" )?(int (\w+)\([^\n]*\))\n\{\n(.*?)^\}$", re.M | re.S)
_STEP = "TW_STEP;"
_SOURCE = pattern(r"^static const char tw_source\[\] =\n(.*?)\n    ;$", re.M | re.S)
_QUOTED = pattern(r"    \"(.*)\\n\"")


def check_kernels(text: str, parts: Sequence[DevicePart]) -> None:
    """Raises Unread unless a text has exactly the kernels of some regions."""
    found = _KERNEL.findall(text) or _KERNEL_CL.findall(text)
    wanted = [(k, p) for p in parts for k in p.kernels]
    if [name for _, _, name, _, _ in found] != [k.name for k, _ in wanted]:
        raise Unread("kernels stand in another order, or some are left out")
    for (template, block, name, parameters, body), (k, p) in zip(found, wanted, strict=True):
        if bool(template) != k.narrow:
            raise Unread(f"`{name}` counts in another type")
        _check_kernel(block, parameters, _stripped(body), k)
        overlaps = re.search(rf"\bTW_LAUNCH_STEP\(\(?{name}\b", printed_lines(p.body)) is not None
        if overlaps and _stripped(body)[:1] != [_STEP]:
            raise Unread(f"`{name}` may start before the kernel ahead of it has ended, and does not wait for it")
        if k.tiles and text.count(k.tiles) != 1:
            raise Unread(f"`{name}` has other tiles")


def _check_kernel(block: str, parameters: str, body: list[str], k: KernelText) -> None:
    if block not in ("", str(k.block)) or parameters != k.parameters:
        raise Unread(f"`{k.name}` has another head")
    if body not in (_stripped(printed_lines(k.body)), [_STEP, *_stripped(printed_lines(k.body))]):
        raise Unread(f"`{k.name}` does something else than was proven of it")


def check_launchers(text: str, parts: Sequence[DevicePart]) -> None:
    """Raises Unread unless a text has exactly the launchers of some regions."""
    names = {p.name for p in parts}
    found = [m for m in _LAUNCHER.finditer(text) if m[2] in names]
    if [m[1] for m in found] != [p.prototype for p in parts]:
        raise Unread("launchers stand in another order, or some are left out")
    for m, p in zip(found, parts, strict=True):
        kept = p.kept if p.stays and p.kept is not None else p
        lines = [x for text in (*kept.before, printed_lines(p.body), *kept.after) for x in _stripped(text)]
        if _stripped(m[3]) != [*lines, "return 0;"]:
            raise Unread(f"`{p.name}` does something else than was proven of it")


def check_call(text: str, prototype: str, arrays: Mapping[str, str], values: Mapping[str, str]) -> None:
    """Raises Unread unless the host calls a launcher once, with the arrays and values that its parameters stand for,
    and sees whether that worked. `arrays` has the host's texts by parameters, `values` those that have other ones."""
    name, _, rest = prototype.removeprefix("int ").partition("(")
    found = re.findall(rf"\b{name}\(.*\) != 0(?=\) \{{$)", text, re.M)
    given = read_expression(found[0].removesuffix(" != 0")).kids if len(found) == 1 else None
    parameters = [] if rest == "void)" else rest.removesuffix(")").split(", ")
    if given is None or len(given) != len(parameters):
        raise Unread(f"`{name}` is called in another way")
    for parameter, e in zip(parameters, given, strict=True):
        kind, _, own = parameter.rpartition(" ")
        if own.startswith("*"):
            wanted = Node("cast", f"{kind} *", (read_expression(arrays.get(own[1:], "0")),))
        else:
            wanted = read_expression(values.get(own, own))
        if e != wanted:
            raise Unread(f"`{name}` is called with another value for `{own}`")


def check_source(text: str, kernels: str) -> None:
    """Raises Unread unless the string that a driver compiles is a text."""
    found = _SOURCE.search(text)
    lines = found[1].split("\n") if found is not None else []
    plain = [re.sub(r"\\(.)", r"\1", m[1]) for x in lines if (m := _QUOTED.fullmatch(x)) is not None]
    if len(plain) != len(lines) or plain != kernels.strip().split("\n"):
        raise Unread("the text of kernels for the driver is another one")


def _stripped(text: str) -> list[str]:
    return [x for x in map(str.strip, text.split("\n")) if x]
