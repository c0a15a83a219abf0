"""Fixtures of tests that play runs: a cache and variables of their own, a pool, local servers."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from servers import ModelServer, Script
from small_pools import write_pool


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folder of the answer store; no key, server or data folder of this machine is seen."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "GOOGLE_API_KEY", "SEAL_DATA"):
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "cache"
    monkeypatch.setenv("SEAL_CACHE_DIR", str(folder))
    return folder


@pytest.fixture
def pool(tmp_path: Path) -> Path:
    """A pool of three tools and four tasks."""
    return write_pool(tmp_path / "pool")


@pytest.fixture
def model_server() -> Iterator[Callable[..., ModelServer]]:
    """Start local model servers, each with its script; all stop when the test ends."""
    with ExitStack() as stack:

        def start(script: Script, **options: bool) -> ModelServer:
            return stack.enter_context(ModelServer(script, **options))

        yield start
