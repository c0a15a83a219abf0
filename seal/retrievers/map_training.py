"""Training of a linear map of vectors that are kept: no encoder is run, so it takes seconds.

Queries and documents have a matrix each, which begins as the identity. Source of the loss: van den
Oord et al. 2018 (InfoNCE); of the steps: Kingma and Ba 2015 (Adam, algorithm 1).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from seal.retrievers.embedders.vectors import Vectors
from seal.retrievers.training_pairs import GoldPair, Relevance

SCALE = 20.0
"""Cosines are multiplied by it: one over the temperature."""
WARM_UP = 0.1
"""Share of the steps in which the learning rate rises; then it falls to 0 in a straight line."""
_MEAN, _SQUARE, _SMALLEST = 0.9, 0.999, 1e-8
"""Adam's decays, and what keeps it from dividing by 0."""

Progress = Callable[[str, int, int], None]
"""Told the stage, how many of its items are done, and how many there are."""


class Mapped(NamedTuple):
    """A trained map."""

    matrices: Vectors
    """float32, (2, dimension, dimension): of queries, of documents."""
    losses: list[dict[str, float]]
    """{step, loss}: means since the step before it in the list."""


def fit_map(
    pairs: Sequence[GoldPair],
    batches: Sequence[Sequence[int]],
    vectors: tuple[Mapping[str, Vectors], Mapping[str, Vectors]],
    learning_rate: float,
    told_every: int,
    progress: Progress | None = None,
) -> Mapped:
    """Train a map. Equal arguments give equal matrices on one machine.

    Args:
        pairs: What it is trained on.
        batches: Positions of pairs; one step each.
        vectors: Text to its unit vector: of the queries, of the documents.
        learning_rate: At its highest.
        told_every: Steps between losses.
        progress: Told of every step.
    """
    relevance = Relevance(pairs)
    queries, documents = vectors
    width = len(next(iter(queries.values())))
    matrices = np.stack([np.eye(width, dtype=np.float32)] * 2)
    mean, square = np.zeros_like(matrices), np.zeros_like(matrices)
    losses: list[dict[str, float]] = []
    recent: list[float] = []
    for step, batch in enumerate(batches, 1):
        asked = np.array([queries[pairs[position].query] for position in batch])
        offered = np.array([documents[text] for text in relevance.documents(batch)])
        loss, gradient = _loss(matrices, asked, offered, relevance.needed_too(batch))
        mean += (1 - _MEAN) * (gradient - mean)
        square += (1 - _SQUARE) * (gradient * gradient - square)
        size = np.sqrt(square / (1 - _SQUARE**step)) + _SMALLEST
        rate = learning_rate * _share(step, len(batches))
        matrices -= np.float32(rate / (1 - _MEAN**step)) * mean / size
        recent.append(loss)
        if step % told_every == 0:
            losses.append({"step": step, "loss": float(np.mean(recent))})
            recent.clear()
        if progress is not None:
            progress("steps", step, len(batches))
    return Mapped(matrices, losses)


def _share(step: int, steps: int) -> float:
    """Return which share of the highest learning rate a step has, in [0, 1]."""
    warm = max(1.0, WARM_UP * steps)
    return min(step / warm, (steps - step + 1) / max(1.0, steps - warm + 1))


def _loss(
    matrices: Vectors, asked: Vectors, offered: Vectors, needed: npt.NDArray[np.bool_]
) -> tuple[float, Vectors]:
    """Return the mean cross entropy of the own documents among all, and its gradient.

    Args:
        matrices: As of `Mapped`.
        asked: Vectors of n queries.
        offered: Vectors of documents; the first n are the queries' own.
        needed: (n, documents): those that are no negatives of a query.
    """
    queries, query_sizes = _unit(asked @ matrices[0])
    documents, document_sizes = _unit(offered @ matrices[1])
    scores = np.where(needed, -np.inf, SCALE * queries @ documents.T)
    scores -= scores.max(axis=1, keepdims=True)
    shares = np.exp(scores)
    shares /= shares.sum(axis=1, keepdims=True)
    own = np.arange(len(asked))
    loss = -float(np.log(np.maximum(shares[own, own], np.finfo(np.float32).tiny)).mean())
    shares[own, own] -= 1
    shares *= SCALE / len(asked)
    by_query = asked.T @ _before_unit(shares @ documents, queries, query_sizes)
    by_document = offered.T @ _before_unit(shares.T @ queries, documents, document_sizes)
    return loss, np.stack([by_query, by_document]).astype(np.float32)


def _unit(rows: Vectors) -> tuple[Vectors, Vectors]:
    """Return rows of length 1, and their lengths before, (n, 1)."""
    sizes = np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), _SMALLEST)
    return rows / sizes, sizes


def _before_unit(gradient: Vectors, rows: Vectors, sizes: Vectors) -> Vectors:
    """Return the gradient with respect to rows before they were scaled to length 1."""
    along = (gradient * rows).sum(axis=1, keepdims=True)
    before: Vectors = (gradient - rows * along) / sizes
    return before
