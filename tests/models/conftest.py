"""Fixtures for tests of models."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
from servers import ModelServer, Script


@pytest.fixture
def model_server() -> Iterator[Callable[[Script], ModelServer]]:
    """Start local model servers, each with its script; all stop when the test ends."""
    with ExitStack() as stack:
        yield lambda script: stack.enter_context(ModelServer(script))
