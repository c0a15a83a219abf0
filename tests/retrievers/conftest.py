"""Pools, queries and embedders of the retriever tests."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest

from seal.core import Goal, Pool, Query, Task, Tool
from seal.core.text import words

TOOLS = (
    Tool("toy/Weather/forecast", "forecast_for_weather", "Forecast of rain and wind for a city."),
    Tool("toy/Weather/airQuality", "air_quality_for_weather", "Pollution of the air in a city."),
    Tool("toy/Bank/send_money", "send_money_for_bank", "Transfer an amount to an account."),
    Tool("toy/Bank/balance", "balance_for_bank", "Balance of an account."),
    Tool("toy/Radio/play", "play_for_radio", "Play a station."),
)
TASKS = (
    Task(
        "t1",
        "toy",
        (
            Goal("Will it rain in Oslo?", relevant=("toy/Weather/forecast",)),
            Goal(
                "Send 5 to Ann and tell me my balance.",
                relevant=("toy/Bank/send_money", "toy/Bank/balance"),
                offered=("toy/Radio/play", "toy/Bank/send_money", "toy/Bank/balance"),
            ),
            Goal("Say hello.", offered=()),
        ),
    ),
)


@pytest.fixture
def pool() -> Pool:
    return Pool(TOOLS, TASKS)


@pytest.fixture
def queries() -> list[Query]:
    return [Query(goal.text, "t1", position) for position, goal in enumerate(TASKS[0].goals)]


@dataclass
class HashedWords:
    """A real if small embedder: each word has a random direction, a text is their sum."""

    dimension: int = 32
    identity: str = "hashed-words/1"
    asked: list[int] = field(default_factory=list)

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        self.asked.append(len(texts))
        rows = [self._row(text) for text in texts]
        return np.stack(rows) if rows else np.empty((0, self.dimension))

    def _row(self, text: str) -> np.ndarray:
        row = np.zeros(self.dimension)
        for word in words(text):
            seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:4])
            row += np.random.default_rng(seed).normal(size=self.dimension)
        return row


@pytest.fixture
def embedder() -> HashedWords:
    return HashedWords()


@pytest.fixture
def with_options() -> Callable[..., Pool]:
    def build(**options: object) -> Pool:
        return Pool(TOOLS, TASKS, options=options)

    return build
