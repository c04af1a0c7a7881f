"""The one text for several machines is each machine's proven text again: a damaged one is refused."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from unittest import mock

import pytest

from codegen.machine import load_for
from codegen.machine import variants as machines
from codegen.options import GenOptions
from codegen.region import process_region
from codegen.source_file import open_source
from codegen.target.kernels import kernel_texts
from codegen.target.portable import Portable, TextVariant, together
from codegen.verify.choices import variants
from codegen.verify.choices.variants import wrong_choice, wrong_variants

GEMM = """
void product(int m, int n, int k, const double *restrict a, const double *restrict b, double *restrict c)
{
#pragma scop
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++)
      for (int l = 0; l < k; l++)
        c[i * n + j] += a[i * k + l] * b[l * n + j];
#pragma endscop
}
"""
Region = tuple[str, tuple[TextVariant, ...], tuple[str, ...]]
File = tuple[str, tuple[TextVariant, ...]]


ARM = f"#if {machines.ARM}\n"
LEAST = GEMM.replace(
    "c[i * n + j] += a[i * k + l] * b[l * n + j]",
    "c[i * n + j] = a[i * k + l] + b[l * n + j] < c[i * n + j] ? a[i * k + l] + b[l * n + j] : c[i * n + j]",
)


@cache
def asked(source: str = GEMM) -> tuple[Region, File]:
    """What the proofs are asked about a product for all machines: its common text, and the macros above it."""
    found: list[Region] = []

    def note(text: str, chosen: Sequence[TextVariant], proven: Sequence[str]) -> str:
        found.append((text, tuple(chosen), tuple(proven)))
        return wrong_variants(text, chosen, proven)

    options = GenOptions(target="c")
    (s,) = open_source("f.c", source, options).slices
    with mock.patch.object(variants, "wrong_variants", note):
        outcome = process_region(s, source, options, load_for("generic", ""))
    assert outcome.text is not None
    chosen = together(k for _, _, k in outcome.kernels if isinstance(k, Portable))
    return found[0], ("".join(kernel_texts(outcome.kernels, False)), chosen)


def test_what_is_printed_is_proven() -> None:
    (text, found, proven), (support, chosen) = asked()
    assert len(found) == 6 and wrong_variants(text, found, proven) == "" and wrong_choice(support, chosen) == ""


@pytest.mark.parametrize("change", [
    ("TW_F64_ADD_MUL_MR", "TW_F64_ADD_MUL_NR"), ("TW_F64_ADD_MUL_MR", "4"), ("TW_F64_ADD_MUL_GROUP", "256"),
    ("tw_m, tw_n,", "tw_n, tw_m,"), ("< m", "<= m"),
])  # fmt: skip
def test_another_common_text_is_refused(change: tuple[str, str]) -> None:
    (text, found, proven), _ = asked()
    assert change[0] in text
    assert wrong_variants(change[1].join(text.rsplit(change[0], 1)), found, proven)


@pytest.mark.parametrize("change", [
    (ARM, f"#if !({machines.ARM})\n"), (ARM, "#if 0\n"), (ARM, ""), (ARM, "#ifdef __aarch64__\n"),
    ("#else\n", ""), ("#else\n", "#elif 1\n"), ("#else\n", "#else\n#else\n"), ("#endif\n", ""),
    ("_spread(tw_m, tw_n,", "_spread(tw_n, tw_m,"), ("< tw_stop; jt += TW_", "<= tw_stop; jt += TW_"),
    ("#else\n", "#else\nc[0]++;\n"), ("#else\n", "c[0]++;\n#else\n"), ("#endif\n", "#endif\nc[0]++;\n"),
    ("#else\n", "#define tw_min tw_max\n#else\n"), ("#else\n", "#if 0\n#else\n#endif\n"),
])  # fmt: skip
def test_another_text_for_one_machine_is_refused(change: tuple[str, str]) -> None:
    """Where a product stands there twice, for one machine and for the others."""
    (text, found, proven), _ = asked(LEAST)
    assert wrong_variants(text, found, proven) == ""
    assert change[0] in text
    assert wrong_variants(text.replace(change[0], change[1], 1), found, proven), change


def test_other_values_of_macros_are_refused() -> None:
    """One macro after the other has the value of the next machine, or none."""
    (text, found, proven), _ = asked()
    count = 0
    for k, v in enumerate(found):
        for name, value in v.macros:
            for other in (dict(w.macros).get(name, "0") for w in (*found[:k], *found[k + 1 :])):
                if other != value and name.split("(")[0] in text:
                    macros = tuple((n, other if n == name else x) for n, x in v.macros)
                    damaged = (*found[:k], TextVariant(v.when, macros, v.kernels), *found[k + 1 :])
                    assert wrong_variants(text, damaged, proven), (v.when, name)
                    count += 1
    assert count > 20


def test_variants_in_another_order_are_refused() -> None:
    (text, found, proven), _ = asked()
    assert wrong_variants(text, found, proven[::-1])
    assert wrong_variants(text, found[:-1], proven[:-1])
    assert wrong_variants(text, (*found[:1], *found[:1], *found[2:]), proven)


def test_other_printed_macros_are_refused() -> None:
    """Every definition, lost, changed or under another condition."""
    _, (support, chosen) = asked()
    names = {n for v in chosen for n, _ in v.macros}
    lines = [x for x in support.split("\n") if x.startswith("#define ") and x.split()[1] in names]
    assert len(lines) == len(names) > 8
    for line in lines:
        assert wrong_choice(support.replace(f"{line}\n", "", 1), chosen), line
        assert wrong_choice(support.replace(line, f"#ifdef X\n{line}\n#endif", 1), chosen), line
        assert wrong_choice(support.replace(line, f"{line}\n{line}", 1), chosen), line
        for number in set(re.findall(r"\b\d+\b", line)):
            assert wrong_choice(support.replace(line, re.sub(rf"\b{number}\b", f"{number}1", line), 1), chosen), line


def test_other_conditions_are_refused() -> None:
    _, (support, chosen) = asked()
    first, second = (v.when for v in chosen[:2])
    swapped = support.replace(first, "\0").replace(second, first).replace("\0", second)
    assert wrong_choice(swapped, chosen)
    for when in (first, second):
        assert wrong_choice(support.replace(when, f"!({when})"), chosen)


def test_macros_are_replaced_as_the_preprocessor_does() -> None:
    macros = [("A(m, n, ...)", "f(n, __VA_ARGS__)"), ("B", "3"), ("C", "C + B")]
    found = variants.expanded("A(x, (y, B), g(1, 2), B) /* B */ A \"B\" C", macros)
    assert "".join(found) == 'f((y,3),g(1,2),3)A"B"C+3'
