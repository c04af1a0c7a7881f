"""Descriptions of networks, and what generated code makes of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from codegen.diagnostics import InputError
from codegen.mpi.network import load_network, network_names
from codegen.mpi.target import Support, support
from codegen.options import GenOptions, effective_options
from codegen.pipeline import generate
from tests.mpi.test_proofs import BLOCKS, HEAT


def test_built_in_ones() -> None:
    assert network_names() == ("ethernet-10g", "infiniband-hdr", "shared-memory")
    for name in network_names():
        found = load_network(name)
        assert found.name == name and found.description and 1e-7 < found.latency < 1e-3 < 1e8 < found.bandwidth
    assert "#define TW_LATENCY 2.5e-05 /* 10 Gbit/s Ethernet" in support(Support("ethernet-10g"))


def test_a_file_of_ones_own(tmp_path: Path) -> None:
    own = tmp_path / "mine.toml"
    own.write_text('name = "mine"\nlatency = 1e-6\nbandwidth = 5e9\n')
    assert load_network(str(own)).bandwidth == 5e9
    assert effective_options(GenOptions(target="mpi", network=str(own))).endswith("--network=mine.toml")
    own.write_text('name = "mine"\nlatency = -1\nbandwidth = 5e9\n')
    with pytest.raises(InputError, match="latency"):
        load_network(str(own))


def test_who_pays_is_asked_once() -> None:
    """Iterations, exchanges and bytes; not for blocks, which nobody can work on alone."""
    text = generate("in.c", HEAT, GenOptions(target="mpi")).text
    squares = "(double)steps * ((tw_index)n - 2) * ((tw_index)n - 2)"
    assert f"tw_pays(2. * {squares}, (double)steps + 1," in " ".join(text.split())
    blocks = generate("in.c", HEAT, GenOptions(target="mpi", distribute=BLOCKS)).text
    assert "&& tw_pays(" not in blocks
