"""Statements of loops that read shared memory are compared with those of the plain loop: damaged ones are refused."""

from __future__ import annotations

import pytest

from codegen.diagnostics import Unsupported
from codegen.gpu import kernels
from codegen.gpu.dialect import CUDA
from codegen.gpu.emit import device_part
from codegen.gpu.region import device_code, made_for_device
from codegen.gpu.staged import text
from codegen.options import GenOptions
from codegen.region_model import model_region
from codegen.source_file import open_source
from codegen.target.text.pieces import View
from tests.gpu.test_staged import source

# The kind of loop, a part of its statements and what stands there instead.
DAMAGES = {
    "another operation": ("rows", "+=", "-="),
    "always the first iteration": ("rows", "[tw_k]", "[0]"),
    "the other operand": ("rows", "A_registers", "x_registers"),
    "another place": ("columns", "A_shared[", "A_shared[1 + "),
    "a kept value of another": ("before and behind", "y_kept", "z_kept"),
    "memory for what is kept": ("rows", "y_kept", "y[i]"),
    "a constant": ("before and behind", "y_kept +=", "y_kept = 1 +"),
}


def printed(kind: str) -> str:
    options = GenOptions(target="cuda")
    model = model_region(open_source("f.c", source(kind), options).slices[0], options)
    assert model is not None
    made = made_for_device(model, options, CUDA)
    part, _, _ = device_part(made.program.scop, made.program.deps, device_code(made, options), CUDA, "host")
    return "".join(k.tiles for k in part.kernels)


@pytest.mark.parametrize("what", DAMAGES)
def test_damaged_statements_are_refused(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kind, old, new = DAMAGES[what]
    seen = []
    real = text._Context._body

    def damaged(self: text._Context, *args: object) -> str:
        found = real(self, *args)  # type: ignore[arg-type]
        seen.append(old in found)
        return found.replace(old, new, 1)

    monkeypatch.setattr(text._Context, "_body", damaged)
    with pytest.raises(Unsupported, match="staged loop"):
        printed(kind)
    assert any(seen)


def test_damage_around_the_loop_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "y_kept" in printed("before and behind")
    real = kernels._Thread.views

    def damaged(self: kernels._Thread, *args: object) -> tuple[View, ...]:
        found = real(self, *args)  # type: ignore[arg-type]
        return found if self.chain else found[1:]

    monkeypatch.setattr(kernels._Thread, "views", damaged)
    with pytest.raises(Unsupported, match="not the proven tree"):
        printed("before and behind")
