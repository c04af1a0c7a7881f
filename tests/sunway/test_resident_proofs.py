"""Tiles that stay on their cores are proven from the text: damaged text is refused, one place at a time."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import NamedTuple
from unittest import mock

import pytest

from codegen.options import GenOptions
from codegen.region_model import model_region
from codegen.scop.dependences import Dependences
from codegen.scop.model import Scop
from codegen.source_file import open_source
from codegen.sunway import read_back
from codegen.sunway.region import for_cores
from codegen.verify.cores.check import EntryTask, KernelTask, proven_kernel, wrong_entry
from codegen.verify.cores.kernel import KernelReader
from codegen.verify.cores.records import KernelNames
from codegen.verify.text.read import Unread
from tests.sunway.kernels import tiled
from tests.sunway.test_kernel_proofs import damaged
from tests.sunway.test_resident import BODIES


class Stays(NamedTuple):
    """What the proofs of a launch are asked: of its kernels, then of what every core runs."""

    kernels: list[tuple[Scop, Dependences, KernelTask, str, KernelNames]]
    entry: tuple[Scop, Dependences, EntryTask, str, KernelNames]


@cache
def stays() -> Stays:
    chosen = GenOptions(target="sunway", stem="f")
    (s,) = open_source("f.c", BODIES, chosen).slices
    model = model_region(s, chosen)
    assert model is not None
    kernels: list[tuple[Scop, Dependences, KernelTask, str, KernelNames]] = []
    entries: list[tuple[Scop, Dependences, EntryTask, str, KernelNames]] = []

    def note(*args: object) -> KernelReader:
        kernels.append(args)  # type: ignore[arg-type]
        return proven_kernel(*args)  # type: ignore[arg-type]

    def note_entry(*args: object) -> str:
        entries.append(args)  # type: ignore[arg-type]
        return wrong_entry(*args)  # type: ignore[arg-type]

    watched = mock.patch.multiple(read_back, proven_kernel=note, wrong_entry=note_entry)
    with watched, tiled(48, 512):
        for_cores(s, model, chosen, BODIES)
    return Stays(kernels, entries[0])


def changed(text: str, old: str, new: str, which: int) -> str:
    """Damaged text, whatever its lines are."""
    return damaged(" ".join(text.split()), " ".join(old.split()), new, which)


def wrong(where: str, old: str, new: str, which: int = 0) -> str:
    """What is found where a text is damaged: that of a kernel, of a function that moves tiles, or the entry."""
    kernels, (scop, deps, task, text, words) = stays()
    if where == "entry":
        return wrong_entry(scop, deps, task, changed(text, old, new, which), words)
    if where in task.functions:
        one = kernels[int(where[-1])]
        try:
            walk = proven_kernel(one[0], one[1], one[2], changed(one[3], old, new, which), words)
        except Unread as problem:
            return str(problem)
        head, kernel, _ = task.functions[where]
        return wrong_entry(
            scop, deps, replace(task, functions={**task.functions, where: (head, kernel, walk)}), text, words
        )
    move, body = task.movers[where]
    moved = replace(task, movers={**task.movers, where: (move, changed(body, old, new, which))})
    return wrong_entry(scop, deps, moved, text, words)


def test_tiles_that_stay_are_proven() -> None:
    scop, deps, task, text, words = stays().entry
    assert "v_kept[" in text and len(task.movers) == 2 and wrong_entry(scop, deps, task, text, words) == ""


KEEP, BACK = "f_r1_keep", "f_r1_give_back"
# What is damaged: the function, the text, what stands there instead, and which of several places.
CHANGES = {
    "a kernel keeps a tile too many": ("f_r1_k0", "tile < 2", "tile < 3", 0),
    "a kernel keeps a tile too few": ("f_r1_k1", "tile < 2", "tile < 1", 0),
    "tiles are counted from one": ("f_r1_k1", "long tile = -1;", "long tile = 0;", 0),
    "tiles are not counted": ("f_r1_k1", "tile++;", "", 0),
    "tiles are counted twice": ("f_r1_k1", "tile++;", "tile++;\ntile++;", 0),
    "the place of another tile": ("f_r1_k1", "v_kept[tile]", "v_kept[0]", 0),
    "the place of another array": ("f_r1_k0", "v_kept[tile]", "a_kept[tile]", 0),
    "a tile that stays is used where others are": ("f_r1_k1", "stays ? v_kept[tile] : v_ldm", "v_ldm", 0),
    "a tile that stays is brought back": ("f_r1_k0", "if (!stays) {\n      a_put", "if (stays) {\n      a_put", 0),
    "a tile that stays is fetched again": ("f_r1_k1", "if (!stays) {\n      v_got", "{\n      v_got", 0),
    "others wait only for tiles that go": ("f_r1_k1", "dma_wait(&x_put,", "if (!stays) dma_wait(&x_put,", 0),
    "other tiles come": (KEEP, "it = id * 48", "it = id * 48 + 48", 0),
    "fewer tiles come": (KEEP, "tile < 2", "tile < 1", 0),
    "another part comes": (KEEP, "&v[it]", "&v[it + 1]", 0),
    "another array comes": (KEEP, "athread_get(PE_MODE, &v[it]", "athread_get(PE_MODE, &a[it]", 0),
    "less of a tile comes": (KEEP, "v_len * 8, (void *)&done", "v_len * 8 - 8, (void *)&done", 0),
    "tiles come to one place": (KEEP, "v_kept[tile]", "v_kept[0]", 0),
    "nobody waits for them": (KEEP, "dma_wait(&done, sent);", "", 0),
    "they are not counted": (KEEP, "sent++;", "", 0),
    "tiles that come are numbered otherwise": (KEEP, "tile++;", "", 0),
    "tiles of all cores": (KEEP, "it += 3072", "it += 48", 0),
    "a tile does not go": (
        BACK,
        "athread_put(PE_MODE, v_kept[tile], &v[it], v_len * 8, (void *)&done, 0, 0); sent++;",
        "",
        0,
    ),
    "a tile goes elsewhere": (BACK, "&v[it], v_len * 8, (void *)&done", "&x[it], v_len * 8, (void *)&done", 0),
    "a tile goes from another place": (BACK, "a_kept[tile]", "v_kept[tile]", 0),
    "a tile goes as what it was": (BACK, "tile < 2", "tile < 3", 0),
    "nobody waits in the end": (BACK, "dma_wait(&done, sent);", "", 0),
    "tiles do not come": ("entry", "  if (0 < T)\n    f_r1_keep(args, id, v_kept);\n", "", 0),
    "tiles come too late": ("entry", "if (0 < T)\n    f_r1_keep", "if (1 < T)\n    f_r1_keep", 0),
    "tiles do not go back": ("entry", "if (0 < T)\n    f_r1_give_back", "if (1 < T)\n    f_r1_give_back", 0),
    "tiles go where there are none": ("entry", "  if (0 < T)\n    f_r1_give_back", "  f_r1_give_back", 0),
    "no place for a tile": ("entry", "v_kept[2][48]", "v_kept[1][48]", 0),
    "a place that is too small": ("entry", "v_kept[2][48]", "v_kept[2][40]", 0),
    "kernels get each other's places": ("entry", "k0(args, id, v_kept, a_kept)", "k0(args, id, a_kept, v_kept)", 0),
    "a kernel gets another place": ("entry", "f_r1_k1(args, id, v_kept)", "f_r1_k1(args, id, a_kept)", 0),
}  # fmt: skip


@pytest.mark.parametrize("what", CHANGES)
def test_damage_is_found(what: str) -> None:
    assert wrong(*CHANGES[what]) != ""
