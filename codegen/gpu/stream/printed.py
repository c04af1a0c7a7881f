"""Prints the kernel of a stencil on tiles of either kind (`kernel_text`): they stay in their place, or are marched."""

from __future__ import annotations

from collections.abc import Mapping

from codegen.gpu.steps.context import StepText
from codegen.gpu.steps.text import kernel_text as steps_text
from codegen.gpu.stream.model import StreamTile, TimeTile
from codegen.gpu.stream.text import kernel_text as stream_text
from codegen.gpu.tiles.text import Printed
from codegen.scop.model import Scop


def kernel_text(scop: Scop, p: TimeTile, how: Printed, calls: Mapping[str, str], api: str) -> StepText:
    """The kernel, and the function that starts it."""
    if isinstance(p, StreamTile):
        return stream_text(scop, p, how, calls, api)
    return steps_text(scop, p, how, calls, api)
