"""The emulator, compiled once for all tests here."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.gpu.programs import build_emulator


@pytest.fixture(scope="session")
def emulator(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_emulator(tmp_path_factory.mktemp("device"))
