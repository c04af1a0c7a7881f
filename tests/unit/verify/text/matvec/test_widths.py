"""Kernels whose vector width is left open are proven for every width, from the text that the compiler chooses from."""

from __future__ import annotations

import pytest

from codegen.isa.load import load as load_isa
from codegen.isa.widths import OPEN
from codegen.target.matvec.kernel import MatvecKernel, matvec_kernel, open_macros
from codegen.verify.text.check import wrong_text
from codegen.verify.text.matvec.check import wrong_matvecs
from codegen.verify.text.matvec.kernel import wrong_sweep_kernel
from tests.unit.verify.text.blocked.test_product import changed
from tests.unit.verify.text.matvec.test_kernel import ADD, SCALED, TWO, printed

ISA = load_isa(OPEN, 512)
STREAMS = {"lanes": (4, 7), "across": (8, 16)}  # those of shorter and of longer vectors


def kernel(form: str, elem: str = "f64") -> MatvecKernel:
    streams, wide = STREAMS[form]
    return MatvecKernel(form, elem, SCALED, 1, 1, 1, streams, 2, 8, 16, wide=wide)


def wrong(mk: MatvecKernel, text: str | None = None, macros: str | None = None) -> str:
    own = matvec_kernel(ISA, mk) if text is None else text
    return wrong_sweep_kernel(ISA, mk, own, open_macros(ISA, mk) if macros is None else macros)


@pytest.mark.parametrize("elem", ["f64", "f32"])
@pytest.mark.parametrize("form", STREAMS)
def test_every_width_is_proven(form: str, elem: str) -> None:
    streams, wide = STREAMS[form]
    others = [MatvecKernel(form, elem, ADD, 1, 1, 0, streams, 8, 8, 0, wide=wide)]
    others += [MatvecKernel(form, elem, TWO, 2, 2, 0, streams, 2, 8, 16, wide=wide)] if elem == "f64" else []
    others += [MatvecKernel(form, elem, ADD, 1, 1, 0, 8, 8, 8, 16)] if elem == "f64" else []
    for mk in (kernel(form, elem), *others):
        assert wrong(mk) == ""


def test_rows_of_one_short_vector_have_longer_ones_too() -> None:
    """Four rows of f32 are a vector of the shortest; sixteen are several of the others: the kernel is told how many."""
    assert wrong(MatvecKernel("across", "f32", SCALED, 1, 1, 1, 4, 1, 8, 48, wide=16)) == ""


# Of the kernel on doubles: its form, the text, what stands there instead, and which of several places.
KERNELS = {
    "right in the shortest vectors alone": ("lanes", "TW_F64_LANES", "2", -1),
    "right in the longest vectors alone": ("lanes", "TW_F64_LANES", "8", -1),
    "a vector further": ("lanes", "line[r] + j + TW_F64_LANES * v", "line[r] + j + 2 * v", 0),
    "vectors leave elements out": ("lanes", "j += TW_F64_LANES * vectors", "j += 8 * vectors", 0),
    "vectors overlap": ("lanes", "j += TW_F64_LANES * vectors", "j += 2 * vectors", 0),
    "there is no room for the rest": ("lanes", "rest[TW_F64_LANES * (TW_F64_LINES_4_7 + 1)] = ", "rest[40] = ", 0),
    "no room for the lines of longer vectors": ("lanes", "*line[TW_F64_LINES_4_7]", "*line[4]", 0),
    "steps of longer vectors are taken twice": ("lanes", "p += TW_F64_LINES_4_7", "p += 4", 0),
    "steps of shorter vectors are left out": ("lanes", "p += TW_F64_LINES_4_7", "p += 7", 0),
    "too few lines of longer vectors": ("lanes", "_steps(TW_F64_LINES_4_7, ", "_steps(4, ", 0),
    "the rest's lines overlap": ("lanes", "rest[TW_F64_LANES * (r + 1) + e]", "rest[2 * (r + 1) + e]", 0),
    "columns of the shortest vectors": ("across", "TW_F64_LANES", "2", -1),
    "a row is read twice": ("across", "line[TW_F64_LANES * g + r]", "line[2 * g + r]", 0),
    "rows that do not meet": ("across", "high = t[g][r + i + 2]", "high = t[g][r + i + 1]", 0),
    "rows of the longest vectors that do not meet": ("across", "high = t[g][r + 4]", "high = t[g][r + 2]", 0),
    "rows change places": ("across", "t[g][r + i + 2] = TW_F64_ODD", "t[g][r + i + 2] = TW_F64_EVEN", 0),
    "parts are not exchanged": ("across", "r < TW_F64_LANES - 2", "r < TW_F64_LANES - 4", 0),
    "parts of the longest vectors are exchanged once": ("across", "r < TW_F64_LANES - 4", "r < TW_F64_LANES - 8", 0),
    "too few groups": ("across", "_rows(TW_F64_ROWS_8_16 / TW_F64_LANES, ", "_rows(8 / TW_F64_LANES, ", 0),
    "no room for the sums": ("across", "sum[TW_F64_ROWS_8_16 / TW_F64_LANES]", "sum[8 / TW_F64_LANES]", 0),
    "no room for the lines": ("across", "*line[TW_F64_ROWS_8_16]", "*line[8]", 0),
    "no room for the lines' ends": ("across", "(TW_F64_ROWS_8_16 + 1)] = ", "(8 + 1)] = ", 0),
    "rows of the longest vectors are taken twice": ("across", "i += TW_F64_ROWS_8_16", "i += 8", 0),
    "the edge is taken to be whole": ("across", "c = m == TW_F64_LANES ? y", "c = m == 2 ? y", 0),
}


@pytest.mark.parametrize("what", KERNELS)
def test_damaged_kernels_are_refused(what: str) -> None:
    form, *change = KERNELS[what]
    text = matvec_kernel(ISA, kernel(form))
    assert wrong(kernel(form), changed(text, *change))  # type: ignore[arg-type]


# What stands in the macros, and what instead.
MACROS = {
    "a lane of the longest vectors": ("0, 8, 2, 10", "0, 8, 2, 11"),
    "parts of the longest vectors": ("0, 1, 4, 5, 8, 9, 12, 13", "0, 1, 8, 9, 4, 5, 12, 13"),
    "a lane of the longer vectors": ("0, 4, 2, 6)", "0, 5, 2, 6)"),
    "a lane of the shorter vectors": ("_PICK(x, y, 0, 2)", "_PICK(x, y, 0, 3)"),
    "the condition of the longest vectors": ("TW_F64_LANES == 8", "TW_F64_LANES == 2"),
    "the condition of the longer vectors": ("TW_F64_LANES == 4", "TW_F64_LANES == 2"),
    "a condition on something else": ("TW_F64_LANES == 4", "TW_F32_LANES == 4"),
    "no condition": ("#if TW_F64_LANES == 8", ""),
    "no other vectors": ("#else", ""),
    "vectors change places": ("_PICK(x, y, 0, 1,", "_PICK(y, x, 0, 1,"),
    "a lane too few": ("2, 3, 6, 7)", "2, 3, 6)"),
    "a lane that is not there": ("2, 3, 6, 7)", "2, 3, 6, 8)"),
    "one macro is missing": ("#define TW_F64_ODD(x, y) TW_F64V_PICK(x, y, 2, 3, 6, 7)\n", ""),
    "something else": ("#endif", "#endif\n#undef TW_F64_EVEN"),
    "more rows than what calls it knows of": ("? 8 : 16", "? 8 : 32"),
    "rows that are no whole vectors": ("? 8 : 16", "? 8 : 12"),
    "fewer rows than a vector has lanes": ("TW_F64_LANES < 8 ? 8 : 16", "TW_F64_LANES < 8 ? 8 : 4"),
    "no rows": ("? 8 : 16", "? 8 : 0"),
    "rows of other vectors": ("(TW_F64_LANES < 8", "(TW_F32_LANES < 8"),
    "rows are not defined": ("\n#define TW_F64_ROWS_8_16 (TW_F64_LANES < 8 ? 8 : 16)", ""),
    "rows are defined again": ("? 8 : 16)", "? 8 : 16)\n#define TW_F64_ROWS_8_16 (TW_F64_LANES < 8 ? 16 : 8)"),
    "lanes are defined again": ("? 8 : 16)", "? 8 : 16)\n#define TW_F64_LANES (TW_F64_LANES < 8 ? 8 : 8)"),
}  # fmt: skip


@pytest.mark.parametrize("what", MACROS)
def test_damaged_macros_are_refused(what: str) -> None:
    text = open_macros(ISA, kernel("across"))
    assert wrong(kernel("across"), None, changed(text, *MACROS[what], 0))


def test_rows_may_be_others_where_the_kernel_takes_them_all() -> None:
    text = open_macros(ISA, kernel("across"))
    assert wrong(kernel("across"), None, text.replace("TW_F64_LANES < 8 ? 8 : 16", "TW_F64_LANES < 4 ? 8 : 16")) == ""


# What stands around the kernel, and what instead.
BLOCKS = {
    "groups of vectors that are not wide": ("tw_rows / TW_F64_ROWS_8_16 * TW_F64_ROWS_8_16", "tw_rows / 8 * 8"),
    "a part of a group": ("/ TW_F64_ROWS_8_16 * TW_F64_ROWS_8_16", "/ TW_F64_ROWS_8_16 * 8"),
    "groups of another kernel": ("/ TW_F64_ROWS_8_16 * TW_F64_ROWS_8_16", "/ TW_F64_ROWS_4_16 * TW_F64_ROWS_4_16"),
    "a group too many": ("tw_rows / TW_F64_ROWS_8_16 *", "(tw_rows / TW_F64_ROWS_8_16 + 1) *"),
    "threads share parts of groups": ("tw_panels(tw_rows, TW_F64_ROWS_8_16)", "tw_panels(tw_rows, 8)"),
    "more rows than a thread has": ("(tw_past - tw_first) / TW_F64_ROWS", "tw_past / TW_F64_ROWS"),
}


def test_what_calls_them_is_proven_for_every_width() -> None:
    emitted = printed("across", isa="")
    assert emitted.matvecs[0].how.wide == 16 and emitted.matvecs[0].unit == "TW_F64_ROWS_8_16"
    assert wrong_text(emitted) == ""


def test_what_calls_them_along_the_result_is_proven_for_every_width() -> None:
    emitted = printed("lanes", isa="")
    assert (emitted.matvecs[0].how.streams, emitted.matvecs[0].how.wide) == (4, 7)
    assert "TW_F64_LINES_4_7" in emitted.plain and wrong_text(emitted) == ""
    assert wrong_matvecs(changed(emitted.plain, "/ TW_F64_LINES_4_7 * TW_F64_LINES_4_7", "/ 4 * 4", 0), emitted.matvecs)


@pytest.mark.parametrize("what", BLOCKS)
def test_damaged_blocks_are_refused(what: str) -> None:
    emitted = printed("across", isa="")
    assert wrong_matvecs(changed(emitted.plain, *BLOCKS[what], 0), emitted.matvecs)
