"""The two things that are trained: a whole encoder, and a linear map of the vectors of any.

Both have an `identity`, that of their base (empty: it has none), and `packages`, whose versions are
recorded.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, ClassVar

from threadpoolctl import threadpool_limits

from seal.core import UsageError
from seal.core.store import open_store
from seal.experiments.training.training_settings import TrainSettings
from seal.retrievers import REGISTRY
from seal.retrievers.embedders import EMBEDDERS, build_embedder, embed_documents, embed_queries
from seal.retrievers.embedders.linear_map import write_map
from seal.retrievers.embedders.sentence_transformers import SentenceEmbedder
from seal.retrievers.fine_tuning import Recipe, check_installed, fine_tune, load_base, write_model
from seal.retrievers.map_training import Progress, fit_map
from seal.retrievers.training_pairs import GoldPair

Losses = list[dict[str, float]]


class EncoderTrainer:
    """Trains a sentence-transformers model.

    Raises:
        MissingExtraError: A package is not installed.
        UsageError: There is no such model.
    """

    packages: ClassVar[tuple[str, ...]] = ("sentence-transformers", "transformers", "torch")

    def __init__(self, settings: TrainSettings) -> None:
        check_installed()
        self._settings = settings
        self.identity = SentenceEmbedder({"model": settings.base}).identity
        self._base: Any = None

    def prepare(self) -> None:
        """Load the model."""
        settings = self._settings
        self._base = load_base(settings.base, settings.device, settings.max_length)

    def train(
        self,
        pairs: Sequence[GoldPair],
        batches: Sequence[Sequence[int]],
        work: Path,
        model: Path,
        progress: Progress | None,
    ) -> Losses:
        """Train, or go on from the newest checkpoint."""
        settings = self._settings
        recipe = Recipe(
            batch_size=settings.batch_size,
            learning_rate=settings.rate,
            checkpoint_every=settings.checkpoints_for(len(batches)),
            seed=settings.seed,
            device=settings.device,
        )
        trained = fine_tune(self._base, pairs, batches, recipe, work, progress)
        write_model(trained.model, model)
        return trained.losses


class MapTrainer:
    """Trains a linear map of the vectors of any embedder; those are kept.

    Raises:
        UsageError: There is no such embedder.
    """

    packages: ClassVar[tuple[str, ...]] = ("numpy",)

    def __init__(self, settings: TrainSettings) -> None:
        self._settings = settings
        if settings.base in REGISTRY and settings.base not in EMBEDDERS:
            raise UsageError(
                f"base {settings.base!r} is a retriever, and a map is trained over an embedder; "
                f"name a model of sentence-transformers, or one of {', '.join(EMBEDDERS.names())}"
            )
        self.identity = str(getattr(build_embedder(settings.base, {}), "identity", ""))

    def prepare(self) -> None:
        """Do nothing: embedders load themselves when they are asked."""

    def train(
        self,
        pairs: Sequence[GoldPair],
        batches: Sequence[Sequence[int]],
        work: Path,
        model: Path,
        progress: Progress | None,
    ) -> Losses:
        """Embed what is not kept yet, and train."""
        settings = self._settings
        queries = list(dict.fromkeys(pair.query for pair in pairs))
        texts = list(
            dict.fromkeys(text for pair in pairs for text in (pair.document, *pair.negatives))
        )
        with closing(open_store(settings.cache_dir)) as store:
            embedder = build_embedder(settings.base, {}, store, settings.cache)
            documents = embed_documents(embedder, texts)
            asked = embed_queries(embedder, queries, documents.shape[1])
        vectors = dict(zip(queries, asked, strict=True)), dict(zip(texts, documents, strict=True))
        every = settings.checkpoints_for(len(batches))
        # Its products are small: threads of BLAS would wait for each other.
        with threadpool_limits(1, user_api="blas"):
            fitted = fit_map(pairs, batches, vectors, settings.rate, every, progress)
        write_map(fitted.matrices, settings.base, self.identity, model)
        return fitted.losses
