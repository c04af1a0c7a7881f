"""The emulator, built once for all tests here."""

import pytest

from codegen.sunway.emulation.host import build_library


@pytest.fixture(scope="session")
def library(tmp_path_factory):
    return build_library(tmp_path_factory.mktemp("emulator"))
