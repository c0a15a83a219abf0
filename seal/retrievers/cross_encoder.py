"""Cross-encoders of the sentence-transformers library, by name or from a folder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from seal.core import DataError, UsageError
from seal.retrievers.embedders.sentence_transformers import LibraryModel

_HEADS = ("ForSequenceClassification", "ForCausalLM")
"""How the architectures end that have a layer for scores; any other would get a random one."""


class CrossEncoder(LibraryModel):
    """Scores a query and a tool by a model that reads both together."""

    kind: ClassVar[str] = "CrossEncoder"

    def scores(self, pairs: Sequence[tuple[str, str]]) -> Sequence[float]:
        """Return the score of each pair, in the model's own range.

        Raises:
            MissingExtraError: sentence-transformers is not installed.
            UsageError: There is no such model, or it is no cross-encoder.
            DataError: It gives more than one number for a pair.
        """
        with self._alone() as model:
            found = model.predict(list(pairs), batch_size=self._size, show_progress_bar=False)
        if found.ndim != 1:
            raise DataError(
                f"the cross-encoder {self._name} gives {found.shape[1]} numbers for a pair, "
                "expected one: choose a model that was trained to rank"
            )
        scores: list[float] = found.tolist()
        return scores

    def _loaded(self) -> Any:
        model = super()._loaded()
        told = getattr(model.config, "architectures", None) or []
        if not any(name.endswith(_HEADS) for name in told):
            raise UsageError(
                f"{self._name} is no cross-encoder ({', '.join(told) or 'no architecture'}): it "
                "has no layer that scores; choose one such as cross-encoder/ms-marco-MiniLM-L6-v2"
            )
        return model
