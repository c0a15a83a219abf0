"""Fixtures for tests of models."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from servers import ModelServer, Script


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep answers for this test alone: a later server may get the port of an earlier one."""
    monkeypatch.setenv("SEAL_CACHE_DIR", str(tmp_path / "cache"))


@pytest.fixture
def model_server() -> Iterator[Callable[[Script], ModelServer]]:
    """Start local model servers, each with its script; all stop when the test ends."""
    with ExitStack() as stack:
        yield lambda script: stack.enter_context(ModelServer(script))
