"""Kernels whose vector width is left open are proven for every width, from the text that the compiler chooses from."""

from __future__ import annotations

import pytest

from codegen.isa.load import load as load_isa
from codegen.isa.widths import OPEN, WIDTHS, widths
from codegen.target.matvec.kernel import MatvecKernel, matvec_kernel, open_shuffles
from codegen.verify.text.matvec.kernel import wrong_sweep_kernel
from tests.unit.verify.text.blocked.test_product import changed
from tests.unit.verify.text.matvec.test_kernel import ADD, SCALED, TWO

BITS = {"lanes": 512, "across": 256}


def kernel(form: str, elem: str = "f64") -> MatvecKernel:
    return MatvecKernel(form, elem, SCALED, 1, 1, 1, 8 if form == "across" else 3, 2, 8, 16)


def wrong(mk: MatvecKernel, text: str | None = None, shuffles: str | None = None) -> str:
    isa = load_isa(OPEN, BITS[mk.form])
    own = matvec_kernel(isa, mk) if text is None else text
    return wrong_sweep_kernel(isa, mk, own, open_shuffles(isa, mk) if shuffles is None else shuffles)


@pytest.mark.parametrize("elem", ["f64", "f32"])
@pytest.mark.parametrize("form", BITS)
def test_every_width_is_proven(form: str, elem: str) -> None:
    streams = 8 if form == "across" else 3
    others = [MatvecKernel(form, elem, ADD, 1, 1, 0, streams, 8, 8, 0)]
    others += [MatvecKernel(form, elem, TWO, 2, 2, 0, streams, 2, 8, 16)] if elem == "f64" else []
    others += [MatvecKernel(form, elem, ADD, 1, 1, 0, 2 * streams, 8, 8, 16)] if elem == "f64" else []
    for mk in (kernel(form, elem), *others):
        assert wrong(mk) == ""
    assert widths(load_isa(OPEN, 512)) == WIDTHS


# Of the kernel on doubles: its form, the text, what stands there instead, and which of several places.
KERNELS = {
    "right in the shortest vectors alone": ("lanes", "TW_F64_LANES", "2", -1),
    "right in the longest vectors alone": ("lanes", "TW_F64_LANES", "8", -1),
    "a vector further": ("lanes", "line[r] + j + TW_F64_LANES * v", "line[r] + j + 2 * v", 0),
    "vectors leave elements out": ("lanes", "j += TW_F64_LANES * vectors", "j += 8 * vectors", 0),
    "vectors overlap": ("lanes", "j += TW_F64_LANES * vectors", "j += 2 * vectors", 0),
    "there is no room for the rest": ("lanes", "double rest[4 * TW_F64_LANES]", "double rest[16]", 0),
    "the rest's lines overlap": ("lanes", "rest[TW_F64_LANES * (r + 1) + e]", "rest[2 * (r + 1) + e]", 0),
    "columns of the shortest vectors": ("across", "TW_F64_LANES_32", "2", -1),
    "a row is read twice": ("across", "line[TW_F64_LANES_32 * g + r]", "line[2 * g + r]", 0),
    "rows that do not meet": ("across", "high = t[g][r + 2]", "high = t[g][r + 1]", 0),
    "rows change places": ("across", "t[g][r + 2] = TW_F64_HIGH", "t[g][r + 2] = TW_F64_LOW", 0),
    "halves are not exchanged": ("across", "r < TW_F64_LANES_32 - 2", "r < TW_F64_LANES_32 - 4", 0),
    "too few groups": ("across", "_rows(8 / TW_F64_LANES_32, ", "_rows(4 / TW_F64_LANES_32, ", 0),
    "no room for the sums": ("across", "sum[8 / TW_F64_LANES_32]", "sum[4 / TW_F64_LANES_32]", 0),
    "the edge is taken to be whole": ("across", "c = m == TW_F64_LANES_32 ? y", "c = m == 2 ? y", 0),
}


@pytest.mark.parametrize("what", KERNELS)
def test_damaged_kernels_are_refused(what: str) -> None:
    form, *change = KERNELS[what]
    text = matvec_kernel(load_isa(OPEN, BITS[form]), kernel(form))
    assert wrong(kernel(form), changed(text, *change))  # type: ignore[arg-type]


# What stands in the macros, and what instead.
SHUFFLES = {
    "a lane of the longer vectors": ("0, 4, 2, 6", "0, 5, 2, 6"),
    "a lane of the shorter vectors": ("_PICK(x, y, 0, 2)", "_PICK(x, y, 0, 3)"),
    "the condition of the longer vectors": ("TW_F64_LANES_32 == 4", "TW_F64_LANES_32 == 2"),
    "a condition on something else": ("TW_F64_LANES_32 == 4", "TW_F64_LANES == 4"),
    "no condition": ("#if TW_F64_LANES_32 == 4", ""),
    "no other vectors": ("#else", ""),
    "vectors change places": ("_PICK(x, y, 0, 1,", "_PICK(y, x, 0, 1,"),
    "a lane too few": ("2, 3, 6, 7", "2, 3, 6"),
    "a lane that is not there": ("2, 3, 6, 7", "2, 3, 6, 8"),
    "one macro is missing": ("#define TW_F64_HIGH(x, y) TW_F64V32_PICK(x, y, 2, 3, 6, 7)\n", ""),
    "something else": ("#endif", "#endif\n#undef TW_F64_LOW"),
}  # fmt: skip


@pytest.mark.parametrize("what", SHUFFLES)
def test_damaged_macros_are_refused(what: str) -> None:
    text = open_shuffles(load_isa(OPEN, 256), kernel("across"))
    assert wrong(kernel("across"), None, changed(text, *SHUFFLES[what], 0))
