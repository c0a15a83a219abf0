"""What an embedder tells whose server fails."""

import traceback

import pytest

from seal.core import ModelError
from seal.retrievers.embedders import embed_documents

QUICK = {"first_wait_s": 0.001, "max_wait_s": 0.01, "timeout_s": 5}
"""Options of an embedder that tries again at once."""


def failing(embedder, *hidden):
    """Return why two texts cannot be embedded; nothing that is shown of it has the hidden texts."""
    with pytest.raises(ModelError) as caught:
        embed_documents(embedder, ("one", "two"))
    shown = "".join(traceback.format_exception(caught.value))
    assert not [text for text in hidden if text in shown]
    return str(caught.value)
