"""Instruction set tables: complete, well-formed, and printed as C that says what was asked."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from importlib import resources
from string import Formatter
from typing import Any

import pytest

from codegen.isa.derived import derived
from codegen.isa.helpers import arity, definitions
from codegen.isa.known import ISAS
from codegen.isa.load import groups, load
from codegen.isa.model import is_float
from codegen.isa.text import FUSED, bare, call, expression, takes_lane
from codegen.scop.lanes import ARITHMETIC, BITWISE, DOUBTS, ELEMENTS, EXTREMES, MASKS, WRAPS, Lane
from codegen.target.finish.wrap import wrapped
from codegen.target.product.microkernel import MicroKernel, lanes_text, micro_kernel, name, nr_max, nr_text, prelude

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

A, B, C = Lane("a"), Lane("b"), Lane("acc")
ADD_MUL = Lane("add", (C, Lane("mul", (A, B))))
MEMORY = ("load", "store", "dup")
INNER = ("lane_load", "mul_lane", "mul_n", *FUSED)
BOTH = [(isa, elem) for isa in ISAS for elem in ELEMENTS]


def operations(elem: str) -> list[str]:
    """What must be there for a type."""
    plain = [*ARITHMETIC, *MASKS, "select", "min", "max", "anymin", "anymax"]
    return [*plain, "fmin", "fmax", *DOUBTS] if is_float(elem) else [*plain, *BITWISE, *WRAPS]


def test_a_table_for_every_machine() -> None:
    data = resources.files("codegen.isa") / "data"
    assert {p.name for p in data.iterdir() if p.is_file()} == {f"{name}.toml" for name in ISAS}


def test_no_operation_is_forgotten() -> None:
    """This file's list of what a table must have is the language's."""
    every = {*ARITHMETIC, *BITWISE, *DOUBTS, *EXTREMES, *MASKS, *WRAPS, "select"}
    assert {op for elem in ELEMENTS for op in operations(elem)} == every


@pytest.mark.parametrize(("isa", "elem"), BOTH)
def test_complete(isa: str, elem: str) -> None:
    """Every operation has C text, and so has everything that this text calls."""
    table = load(isa)
    for op in operations(elem):
        arguments = ("first", "second", "third")[: arity(op)]
        text = call(table, elem, op, arguments)
        assert all(text.count(x) == 1 for x in arguments), text
        for defined in definitions(table, [text]).values():
            assert not re.search(r"[<]\w+[>]|\{\d", defined), defined
    assert all(table.vec(elem).op(op) for op in MEMORY)


@pytest.mark.parametrize(("isa", "elem"), BOTH)
def test_patterns(isa: str, elem: str) -> None:
    """Placeholders are 0, 1, ... up to the number of arguments, and an expression can stand as an operand."""
    for op, pattern in load(isa).vec(elem).ops:
        places = {field for _, field, _, _ in Formatter().parse(pattern) if field is not None}
        if pattern.startswith("{{"):
            assert not places and all(re.search(rf"\b{x}\b", pattern) for x in ("x", "y")[: arity(op)])
            continue
        assert places == {str(i) for i in range(arity(op))}, (op, pattern)
        text = pattern.format(*"xyzw")
        assert bare(text) != text or re.fullmatch(r"\w+\(.*\)", text, re.S), f"{op} is no operand: {pattern}"
        assert not re.search(r"<\w+>", text)


@pytest.mark.parametrize("isa", ISAS)
def test_no_strange_keys(isa: str) -> None:
    """A misspelt group or operation would silently do nothing."""
    path = resources.files("codegen.isa") / "data" / f"{isa}.toml"
    data: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    facts = {"name", "header", "target", "processor", "enabled", "vector_bits", "registers"}
    tables = {"types", "words", "ops", "typedef", "typedef_unaligned", "broadcast", "fold"}
    assert set(data) <= facts | tables and data["name"] == isa
    assert "all" in data["broadcast"] and set(data["broadcast"]) <= {g for elem in ELEMENTS for g in groups(elem)}
    assert set(data["ops"]) <= {g for elem in ELEMENTS for g in groups(elem)}
    known = {op for elem in ELEMENTS for op in operations(elem)} | {*MEMORY, *INNER, "any"}
    known |= {"half_load", "half_dup", "long_lane_load", *(f"long_{op}" for op in FUSED)}
    fold = data.get("fold", {})
    assert set(fold) | set(fold.values()) <= set(EXTREMES) and (not fold or "any" in data["ops"]["float"])
    assert {op for group in data["ops"].values() for op in group} <= known
    assert set(data.get("types", {})) <= set(ELEMENTS)


def test_facts() -> None:
    assert (load("avx2").target, load("avx2").registers, load("avx2").bits) == ("avx2,fma", 16, 256)
    assert (load("sve").bits, load("neon").header, load("generic").header) == (0, "arm_neon.h", "")
    assert [load(i).lane_fma for i in ISAS] == [False, True, True, False, False]
    assert load("neon").vec("f32").group == 4 and load("neon").vec("i64").group == 0
    assert load("generic", 256).vec("f64").vector == "tw_f64x4"


def test_composed_operations_mean_what_they_say() -> None:
    """Signed wraps in every wider type, on numbers; the narrow ones are nothing to do."""
    assert derived("i8")["wrap8"] == derived("u16")["wrapu16"] == Lane("x")
    for bits, op in ((8, "wrap8"), (16, "wrap16")):
        for x in (0, 1, 127, 128, 255, 256, 32767, 32768, 65535, 2**31 - 1):
            assert _value(derived("i32")[op], x) == (x + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)


def _value(e: Lane, x: int) -> int:
    if not e.args:
        return x if e.op == "x" else e.index
    p, q = (_value(k, x) for k in e.args)
    return {"and": p & q, "xor": p ^ q, "sub": p - q}[e.op]


def test_multiply_adds_are_found() -> None:
    neon, leaf = load("neon"), lambda e: e.op
    assert expression(neon, "f64", ADD_MUL, leaf) == "tw_neon_fma_f64(acc, a, b)"
    assert expression(neon, "f64", Lane("add", (Lane("mul", (A, B)), C)), leaf) == "tw_neon_fma_f64(acc, a, b)"
    assert expression(neon, "f64", Lane("sub", (C, Lane("mul", (A, B)))), leaf) == "tw_neon_fms_f64(acc, a, b)"
    assert expression(neon, "i32", ADD_MUL, leaf) == "vmlaq_s32(acc, a, b)"
    assert bare(expression(load("generic"), "f32", ADD_MUL, leaf)) == "acc + (a * b)"
    assert takes_lane(neon.vec("f64"), ADD_MUL)
    assert not takes_lane(neon.vec("f64"), Lane("min", (C, Lane("add", (A, B)))))
    assert not takes_lane(neon.vec("f64"), Lane("add", (C, Lane("mul", (A, A)))))


def test_names_tell_kernels_apart() -> None:
    mk = MicroKernel("f64", ADD_MUL, 0, 6, 4)
    assert name(load("neon"), mk) == "tw_neon_f64_6x8_add_mul"
    assert name(load("sve"), mk) == "tw_sve_f64_6x4v_add_mul"
    assert name(load("generic"), mk) == "tw_v128_f64_6x8_add_mul"
    other = Lane("add", (C, Lane("mul", (B, A))))
    variants = [mk, replace(mk, direct=True), replace(mk, unroll=2), replace(mk, ahead=0), replace(mk, step=other)]
    variants += [replace(mk, spread=True), replace(mk, consts=1), replace(mk, elem="f32", nv=2), replace(mk, mr=5)]
    assert len({name(load("neon"), v) for v in variants}) == len(variants)


def test_sizes() -> None:
    mk = MicroKernel("f64", ADD_MUL, 0, 6, 4)
    assert (nr_text(load("neon"), mk), nr_max(load("neon"), mk), lanes_text(load("neon"), "f64")) == ("8", 8, "2")
    assert (nr_text(load("sve"), mk), nr_max(load("sve"), mk)) == ("(4 * (long)svcntd())", 128)
    assert nr_max(load("generic", 256), mk) == 16


def test_prelude_has_what_is_used_and_no_more() -> None:
    neon = load("neon")
    simple = prelude(neon, [MicroKernel("f64", ADD_MUL, 0, 6, 4)])
    assert "#include <arm_neon.h>" in simple and simple.count("static") == 0 and "TW_KEEP_ORDER" not in simple
    assert simple.count("TW_NO_FMA") == 1
    least = MicroKernel("f64", Lane("fmin", (C, Lane("add", (A, B)))), 0, 2, 1)
    text = prelude(load("generic"), [least, replace(least, mr=3)])
    order = [text.index(f"tw_v128_{op}_f64(") for op in ("select", "min", "fmin")]
    assert order == sorted(order) and text.count("#define tw_v128_select_f64(x") == 1
    assert "#include" not in prelude(load("generic"), [MicroKernel("f64", ADD_MUL, 0, 2, 1)])


def test_kernel_text() -> None:
    text = micro_kernel(load("neon"), MicroKernel("f64", ADD_MUL, 0, 2, 2))
    assert "    c10 = tw_neon_fma_lane_f64(c10, b0, av0, 1);\n" in text and "[" not in text.split("{", 1)[1]
    assert max(map(len, wrapped(text).splitlines())) <= 120
    text = micro_kernel(load("avx2"), MicroKernel("f64", ADD_MUL, 0, 2, 2))
    head = 'static void tw_avx2_f64_2x8_add_mul(long m, long n, long k,'
    assert f'__attribute__((noinline, target("avx2,fma")))\n{head}' in text and "acc[2][2];" in text
