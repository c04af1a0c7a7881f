"""Many time steps at once are proven from the text: damaged text is refused, one place at a time."""

from __future__ import annotations

from functools import cache
from unittest import mock

import pytest

from codegen.options import GenOptions
from codegen.region_model import model_region
from codegen.scop.dependences import Dependences
from codegen.scop.model import Scop
from codegen.source_file import open_source
from codegen.sunway import read_back
from codegen.sunway.region import for_cores
from codegen.verify.cores.check import EntryTask, proven_steps, wrong_entry
from codegen.verify.cores.launches.entry import Stepped
from codegen.verify.cores.records import KernelNames
from codegen.verify.cores.steps.read import SteppedTask
from codegen.verify.text.read import Unread
from tests.sunway.test_kernel_proofs import damaged

HEAT = """void heat(int t, long n, double c, double a[n][n], double b[n][n], const double pulse[t])
{
#pragma scop
  for (int s = 0; s < t; s++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        b[i][j] = c * (a[i][j] + a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]) + pulse[s];
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        a[i][j] = b[i][j];
  }
#pragma endscop
}
"""
Asked = tuple[Scop, Dependences, SteppedTask, str, KernelNames]
AskedEntry = tuple[Scop, Dependences, EntryTask, str, KernelNames]


@cache
def asked() -> tuple[Asked, AskedEntry]:
    """What the proofs are asked of a function that takes many steps, and of what every core runs."""
    chosen = GenOptions(target="sunway", stem="f")
    (s,) = open_source("f.c", HEAT, chosen).slices
    model = model_region(s, chosen)
    assert model is not None
    steps: list[Asked] = []
    entries: list[AskedEntry] = []

    def note(*args: object) -> Stepped:
        steps.append(args)  # type: ignore[arg-type]
        return proven_steps(*args)  # type: ignore[arg-type]

    def note_entry(*args: object) -> str:
        entries.append(args)  # type: ignore[arg-type]
        return wrong_entry(*args)  # type: ignore[arg-type]

    with mock.patch.object(read_back, "proven_steps", note), mock.patch.object(read_back, "wrong_entry", note_entry):
        made = for_cores(s, model, chosen, HEAT)
    assert not [d for d in made.diagnostics if d.id == "region-refused"]
    return steps[0], entries[0]


def changed(text: str, old: str, new: str, which: int) -> str:
    """Damaged text, whatever its lines are."""
    return damaged(" ".join(text.split()), " ".join(old.split()), new, which)


# What is damaged, the text, what stands there instead, and which of several places.
CHANGES = {
    "a step too few": ("tw_max(0, t)", "tw_max(0, t - 1)", 0),
    "an odd number of blocks": ("/ 24 * 2", "/ 24 * 2 + 1", 0),
    "blocks of too many steps": ("(left + 23) / 24", "(left + 47) / 48", 0),
    "steps twice": ("(left * block) / blocks;", "(left * block) / blocks + 1;", 0),
    "copies are not exchanged": ("block % 2 ? a_other : a", "block % 2 ? a : a_other", 0),
    "the margin is too narrow": ("1 + 1 * (steps - 1)", "0 + 1 * (steps - 1)", 0),
    "the margin does not grow": ("1 + 1 * (steps - 1)", "1 + 0 * (steps - 1)", 0),
    "a column of tiles is left out": ("long t1 = 0", "long t1 = 1", 0),
    "tiles overlap": ("t0 += ", "t0 += 1 + ", 0),
    "tiles run on all cores": ("turn++ % 64 != id", "turn++ % 64 > id", 0),
    "the tile begins elsewhere": ("tw_max(0, t0 - halo)", "tw_max(1, t0 - halo)", 0),
    "the tile ends early": ("t1 + 48 + halo", "t1 + 48 - halo", 0),
    "fetched from the next row": ("&a_from[low0][low1]", "&a_from[low0 + 1][low1]", 0),
    "fetched from the copy that is written": ("&a_from[low0][low1]", "&a_to[low0][low1]", 0),
    "a row too few": ("a_ldm, len0 * len1 * 8", "a_ldm, (len0 - 1) * len1 * 8", 0),
    "nobody waits for the tile": ("dma_wait(&got, b_in + 1);", "", 0),
    "nobody waits for all of it": ("dma_wait(&got, b_in + 1)", "dma_wait(&got, 1)", 0),
    "the border is not fetched": ("|| low1 < 1", "", 0),
    "rows of another length": ("(*const a_t)[len1]", "(*const a_t)[len0]", 0),
    "a step too many": ("tt >= 0", "tt >= -1", 0),
    "another time": ("steps - 1 - tt", "steps - tt", 0),
    "the steps' margins are too wide": ("margin0 = 1 * tt", "margin0 = 1 + 1 * tt", 0),
    "margins do not become smaller": ("margin1 = 1 * tt", "margin1 = 2 * tt", 0),
    "the border is computed": ("tw_max(1, t0 - margin0)", "tw_max(0, t0 - margin0)", 0),
    "the margin is not computed": ("tw_max(1, t0 - margin0)", "tw_max(1, t0)", 0),
    "another element": ("a_t[i - low0][j - low1 - 1]", "a_t[i - low0][j - low1 - 2]", 0),
    "another array": ("&b_t[i - low0][j - low1]", "&a_t[i - low0][j - low1]", 0),
    "the margin goes, too": ("[t0 - low0 + q0]", "[q0]", 0),
    "moved to other rows": ("q0 * len1_own", "q0 * len1", 0),
    "put to the copy that others read": ("&a_to[t0][t1]", "&a_from[t0][t1]", 0),
    "put to another place": ("&b_to[t0][t1]", "&b_to[low0][low1]", 0),
    "the buffer is filled again before it is gone": ("dma_wait(&put, b_out + 1);", "", 0),
    "one of two is waited for": ("dma_wait(&put, b_out + 1)", "dma_wait(&put, 1)", 0),
    "the last block does not leave it": ("b_in || block + 1 == blocks", "b_in", 0),
    "the last block but one leaves it": ("block + 1 == blocks", "block + 2 == blocks", 0),
    "borders do not go on": ("b_in || block + 1 == blocks", "block + 1 == blocks", 0),
    "only borders of the last block": ("b_in || block", "b_in && block", 0),
    "what the next block reads does not go": ("if (b_out) {", "if (b_in) {", 0),
    "it goes elsewhere only": ("if (b_out)", "if (!b_out)", 0),
    "cores do not meet": ("tw_barrier();", "", 0),
    "no room": ("a_ldm[", "a_ldm[1 + 0 * ", 0),
}


def test_steps_are_proven() -> None:
    (scop, deps, task, text, words), entry = asked()
    assert proven_steps(scop, deps, task, text, words).others == {"a", "b"}
    assert wrong_entry(*entry) == ""


@pytest.mark.parametrize("name", CHANGES)
def test_damaged_steps_are_refused(name: str) -> None:
    scop, deps, task, text, words = asked()[0]
    with pytest.raises(Unread):
        proven_steps(scop, deps, task, changed(text, *CHANGES[name]), words)


ENTRY = {
    "without memory for a copy": ("args->a_other && ", "", 0),
    "steps that are not taken otherwise": ("else", "if (0)", 0),
    "with another number": ("steps0(args, id)", "steps0(args, 0)", 0),
}


@pytest.mark.parametrize("name", ENTRY)
def test_damaged_calls_are_refused(name: str) -> None:
    scop, deps, task, text, words = asked()[1]
    assert wrong_entry(scop, deps, task, changed(text, *ENTRY[name]), words)
