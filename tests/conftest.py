"""Fixtures that every test may use."""

import os
import signal
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("unhurried", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unhurried")  # a busy machine is no failure

# A shell that starts the tests in the background has them, and what they start, ignore Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Where no bytecode is kept, each of the hundreds of processes that are started compiles all anew.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def seal_data() -> Path:
    """Folder of real benchmark files; the test is skipped where it is absent."""
    folder = Path(os.environ.get("SEAL_DATA") or ROOT.parent / "shared" / "data")
    if not folder.is_dir():
        pytest.skip(f"no benchmark files at {folder}: set SEAL_DATA")
    return folder
