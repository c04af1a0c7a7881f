"""Messages of kernels that share panels across the mesh: text in which cores would wait for nobody is refused."""

from __future__ import annotations

from functools import cache
from unittest import mock

import pytest

from codegen.options import GenOptions
from codegen.region_model import model_region
from codegen.source_file import open_source
from codegen.sunway import emit
from codegen.sunway.region import for_cores
from codegen.verify.cores.check import wrong_messages
from codegen.verify.cores.records import KernelNames
from tests.corpus import KERNELS
from tests.sunway.test_kernel_proofs import damaged

OLD, NEW = "sw26010-cpe", "sw26010-pro-cpe"


@cache
def printed(machine: str) -> tuple[str, KernelNames]:
    """A product as it is printed for a machine: by messages of vectors, and by broadcasts between local memories."""
    chosen = GenOptions(target="sunway", stem="f", machine=machine)
    (s,) = open_source(str(KERNELS / "gemm.c"), (KERNELS / "gemm.c").read_text(), chosen).slices
    model = model_region(s, chosen)
    assert model is not None
    found: list[tuple[str, KernelNames]] = []

    def note(text: str, words: KernelNames) -> str:
        found.append((" ".join(text.split()), words))
        return wrong_messages(text, words)

    with mock.patch.object(emit, "wrong_messages", note):
        for_cores(s, model, chosen, "")
    return found[0]


@pytest.mark.parametrize("machine", [OLD, NEW])
def test_messages_are_proven(machine: str) -> None:
    assert wrong_messages(*printed(machine)) == ""


# What is damaged, on which machine, the text, what stands there instead, and which of several places.
CHANGES = {
    "cores have other numbers of rows": (OLD, "ni - it + rid * tall", "ni - it", 0),
    "cores have other numbers of columns": (OLD, "nj - jt + cid * wide", "nj - jt", 0),
    "some are not busy": (OLD, "t >= 0 && t < tiles", "t >= 0 && t * 8 + rid < tiles", 0),
    "steps of their own": (OLD, "nk - kt - s * deep", "nk - kt - s * deep - cid", 0),
    "nobody receives": (OLD, "right[w / 4] = simd_getc(right[w / 4]);", "", 0),
    "along the row": (OLD, "simd_getc(right[w / 4]);", "simd_getr(right[w / 4]);", 0),
    "into another register": (OLD, "right[w / 4] = simd_getc(", "right[0] = simd_getc(", 0),
    "all of a column send": (OLD, "if (rid == half * 4 + s)", "if (cid == half * 4 + s)", 0),
    "several send": (OLD, "if (cid == from[u])", "if (cid <= from[u])", 0),
    "everybody is the sender": (OLD, "half * 4 + (i + u) / A_rows", "cid + (i + u) / A_rows", 0),
    "sent twice": (OLD, "simd_putr(left, 8);", "simd_putr(left, 8); simd_putr(left, 8);", 0),
    "some leave": (OLD, "if (ni <= 0 || nj <= 0)", "if (ni <= rid || nj <= 0)", 0),
    "halves of their own": (OLD, "half ^= 1", "half ^= rid", 0),
    "not all wait": (NEW, "tw_barrier();", "if (rid) tw_barrier();", 0),
    "the wrong ones broadcast": (NEW, "if (cid == half * 4 + s)", "if (rid == half * 4 + s)", 0),
    "some wait for others": (NEW, "athread_rma_wait_value(&A_sent, 1);", "athread_rma_wait_value(&A_here[0], 1);", 0),
    "some do not wait for a slice": (NEW, "nk - kt - (s - 1) * deep", "nk - kt - (s - 1) * deep - rid", 0),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_damaged_messages_are_refused(name: str) -> None:
    machine, *change = CHANGES[name]
    text, words = printed(machine)
    assert wrong_messages(damaged(text, *change), words)  # type: ignore[arg-type]
