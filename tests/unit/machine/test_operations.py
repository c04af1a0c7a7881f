"""What a pair of vector operations costs, from tables and without."""
from __future__ import annotations

from dataclasses import replace
from fractions import Fraction as F

import pytest

from codegen.diagnostics import InputError
from codegen.machine.load import load
from codegen.machine.model import Operation
from codegen.machine.operations import chain, exact, operation, pair
from codegen.machine.toml import dump, parse

SANDY = load("sandy-bridge")


@pytest.mark.parametrize(("combine", "reduce", "throughput", "flops"), [
    ("mul", "add", F(1), F(8)), ("mul", "min", F(1), F(8)), ("mul", "max", F(1), F(8)), ("mul", "sub", F(1), F(8)),
    ("add", "min", F(1, 2), F(4)), ("add", "max", F(1, 2), F(4)), ("min", "max", F(1, 2), F(4)),
    ("div", "max", F(1, 20), F(2, 5)),
])
def test_sandy_bridge(combine: str, reduce: str, throughput: F, flops: F) -> None:
    """The published examples, in double."""
    step = pair(SANDY, "f64", combine, reduce)
    assert step.throughput == throughput and step.flops_per_cycle(4) == flops and not step.fused


def test_latencies_add_up() -> None:
    assert pair(SANDY, "f64", "mul", "add").latency == 8
    assert pair(SANDY, "f64", "add", "min").latency == 6
    assert pair(SANDY, "f64", "mul", "add").last_latency == 3


@pytest.mark.parametrize("name", ["sandy-bridge", "xeon-e5-2660", "xeon-e5450", "opteron-8354"])
def test_machines_without_fma_agree_with_themselves(name: str) -> None:
    m = load(name)
    step = pair(m, "f64", "mul", "add")
    assert (step.latency, step.throughput, step.fused) == (exact(m.fma_latency), exact(m.fma_throughput), False)


@pytest.mark.parametrize("name", ["haswell", "neoverse-n1", "zen4", "generic", "power8", "cortex-a72", "x-gene1"])
@pytest.mark.parametrize("elem", ["f64", "f32"])
@pytest.mark.parametrize("reduce", ["add", "sub"])
def test_fma_is_one_instruction(name: str, elem: str, reduce: str) -> None:
    m = load(name)
    step = pair(m, elem, "mul", reduce)
    assert (step.latency, step.throughput, step.fused) == (exact(m.fma_latency), exact(m.fma_throughput), True)
    assert step.last_latency == exact(operation(m, elem, "add").latency)


def test_how_soon_a_sum_can_be_added_to() -> None:
    n1, haswell = load("neoverse-n1"), load("haswell")
    assert (pair(n1, "f64", "mul", "add").repeat, pair(n1, "f32", "mul", "add").repeat) == (2, 2)
    assert pair(n1, "f64", "add", "min").repeat == 2 and pair(n1, "f64", "mul", "add").latency == 4
    assert pair(haswell, "f64", "mul", "add").repeat == exact(haswell.fma_latency)


def test_units_decide_what_runs_together() -> None:
    """Haswell adds on one unit and multiplies on two, that one among them; Skylake does both on the same two."""
    assert pair(load("haswell"), "f64", "mul", "min").throughput == 1
    assert pair(load("kaby-lake"), "f64", "mul", "min").throughput == 1
    assert pair(load("zen3"), "f64", "mul", "add").throughput == 2
    assert pair(load("zen2"), "f64", "add", "min").throughput == 2


def test_integers() -> None:
    assert pair(load("neoverse-n1"), "i32", "mul", "add").fused
    assert pair(load("neoverse-n1"), "u16", "mul", "add").throughput == F(1, 2)
    assert not pair(load("haswell"), "i16", "mul", "add").fused
    assert pair(load("haswell"), "i16", "mul", "add").latency == 6
    assert pair(load("haswell"), "u8", "add", "max").latency == 2


def test_without_tables() -> None:
    m = load("generic")
    assert not m.operations
    step = pair(m, "f64", "add", "min")
    assert (step.latency, step.throughput) == (2 * 4, F(2, 2)), "on the same units, as far as one knows"
    assert operation(m, "i32", "add").latency == 2 and operation(m, "f32", "or").latency == 2
    assert operation(m, "f64", "div") == Operation("f64", "div", 16.0, 0.125)
    assert operation(replace(m, add_latency=3.0), "f64", "sub").latency == 3


def test_longer_chains() -> None:
    m = load("neoverse-n1")
    assert chain(m, "f64", ("mul", "add", "anymax")).latency == 4 + 2
    assert chain(m, "f64", ("mul", "add", "neg")).fused
    assert chain(m, "f64", ("lt", "select", "add")).throughput == F(2, 3)
    with pytest.raises(ValueError, match="no operation 'sqrt'"):
        chain(m, "f64", ("sqrt",))


TABLE = """\
[operations.f64]
add = { latency = 3, throughput = 1 }
[operations.i32]
add = { latency = 1, throughput = 2 }
"""
BASE = dump(load("generic"))


def test_tables_are_read() -> None:
    m = parse("m.toml", BASE + TABLE)
    assert m.operations == (Operation("f64", "add", 3.0, 1.0), Operation("i32", "add", 1.0, 2.0))
    assert parse("m.toml", dump(m)) == m
    assert parse("m.toml", dump(load("neoverse-n1"))) == load("neoverse-n1"), "with units and chains"


@pytest.mark.parametrize(("old", "new", "line", "says"), [
    ("[operations.i32]", "[operations.i33]", 3, "unknown type 'i33'"),
    ("[operations.i32]\nadd", "[operations.i32]\nadn", 4, "unknown operation 'adn'"),
    ("{ latency = 1, ", "{ ", 4, "'add' must be { latency"),
    ("latency = 1", 'latency = "1"', 4, "'latency' must be a number"),
    ("throughput = 2", "throughput = 0", 4, "'throughput' must be positive"),
    ("throughput = 2", "throughput = inf", 4, "'throughput' must be positive"),
    ("throughput = 2", "throughput = 2, units = 5", 4, "'units' must be a string"),
    ("throughput = 2", 'throughput = 2, units = "0,1"', 4, "letters and digits"),
    ("throughput = 2", "throughput = 2, chain = 0", 4, "'chain' must be positive"),
    ("throughput = 2", "throughput = 2, port = 1", 4, "'add' must be { latency"),
])
def test_a_bad_table_is_located(old: str, new: str, line: int, says: str) -> None:
    assert old in TABLE
    with pytest.raises(InputError) as caught:
        parse("m.toml", BASE + TABLE.replace(old, new))
    assert says in caught.value.message
    assert caught.value.loc.line == BASE.count("\n") + line


def test_operations_that_are_no_table() -> None:
    for text in ("operations = 3\n", "operations.f64 = 3\n"):
        with pytest.raises(InputError, match="table"):
            parse("m.toml", text + BASE)
