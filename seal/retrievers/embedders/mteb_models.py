"""Models of mteb, the Massive Text Embedding Benchmark, asked as its own evaluation asks them.

Source: mteb 2, `mteb.models.EncoderProtocol`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any, ClassVar

from seal.core import UsageError

PROMPT = "Given a request, retrieve the tools that serve it."
"""What models that take an instruction are told."""


class MtebEmbedder:
    """Embeds texts by an encoder of mteb. Tools are ranked by cosine, as most of them are meant to.

    Args:
        options: `model`: a name that mteb knows, or an encoder of mteb; optional `batch_size`
            (default 32) and, of a name, `revision`.

    Raises:
        UsageError: mteb is not installed, or has no such encoder.
    """

    OPTIONS: ClassVar[frozenset[str]] = frozenset({"batch_size", "revision"})

    def __init__(self, options: Mapping[str, Any]) -> None:
        what: Any = options.get("model")
        self._size = int(options.get("batch_size") or 32)
        self._model = _named(what, options.get("revision")) if isinstance(what, str) else what
        if not callable(getattr(self._model, "encode", None)):
            raise UsageError(f"{what!r} is no encoder of mteb: it has no encode(inputs, ...)")
        revision = getattr(self._model.mteb_model_meta, "revision", None)
        if isinstance(what, str) and revision:  # objects of any weights share a name
            self.identity = f"mteb/{what}@{revision}"

    def embed(self, texts: Sequence[str]) -> Any:
        """Return one row for each document, (n, dimension)."""
        return self._encoded([text.strip() for text in texts], "document")  # as mteb does

    def embed_queries(self, texts: Sequence[str]) -> Any:
        """Return one row for each query, (n, dimension)."""
        return self._encoded(texts, "query")

    def _encoded(self, texts: Sequence[str], kind: str) -> Any:
        from datasets import Dataset
        from mteb.types import PromptType
        from torch.utils.data import DataLoader

        rows = Dataset.from_dict({"text": list(texts)})
        return self._model.encode(
            DataLoader(rows, batch_size=self._size),
            task_metadata=task_metadata("seal"),
            hf_split="test",
            hf_subset="default",
            prompt_type=PromptType(kind),
            batch_size=self._size,
            show_progress_bar=False,
        )


def task_metadata(pool: str) -> Any:
    """Return what mteb tells a model of the task of a pool.

    Raises:
        UsageError: mteb is not installed.
    """
    require_mteb()
    from mteb import TaskMetadata

    return TaskMetadata(
        name=pool,
        description=f"Tools of {pool} that serve a request.",
        prompt=PROMPT,
        dataset={"path": pool, "revision": "seal"},
        type="Retrieval",
        category="t2t",
        eval_langs=["eng-Latn"],
        main_score="ndcg_at_10",
    )


def require_mteb() -> None:
    """Raise UsageError where mteb is not installed."""
    if find_spec("mteb") is None:
        raise UsageError("mteb is not installed; get it with: pip install mteb")


def _named(name: str, revision: str | None) -> Any:
    require_mteb()
    from mteb import get_model

    try:
        return get_model(name, revision)
    except (KeyError, OSError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise UsageError(f"mteb cannot load an encoder {name!r}: {reason}") from error
