"""Fixtures of the importers' tests."""

from pathlib import Path

import pytest
from toolbench_sources import Workshop


@pytest.fixture
def workshop(tmp_path: Path) -> Workshop:
    """Writes files of ToolBench's formats and imports them."""
    return Workshop(tmp_path)
