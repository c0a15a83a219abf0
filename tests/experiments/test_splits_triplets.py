"""Hard negatives: what is taken, and what is left out as a false negative."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from small_pools import write_pool

from seal.api.benchmarks import load_pool
from seal.core import DataError, Goal, Pool, Query, Task, Tool, UsageError
from seal.core.store import open_store
from seal.experiments.splits import Mined, MiningSettings, asked_of, mine
from seal.retrievers.base import documents

SCORES = {"own": 1.0, "above": 2.0, "close": 0.96, "twin": 0.8, "hard": 0.7, "far": 0.2}
TEXTS = {
    "own": "Rain that falls in a city, hour by hour, for the next ten days.",
    "above": "Clouds over any place of the world.",
    "close": "Storms and their paths.",
    "twin": "Rain that falls in a city, hour by hour, for the next ten days!",
    "hard": "Rain of the past, as it was measured at airports.",
    "far": "Recipes of soups.",
}
TOOLS = tuple(Tool(f"toy/{name}/get", "get", text) for name, text in TEXTS.items())


class Planted:
    """Gives every tool its planted score."""

    def __init__(self, pool: Pool) -> None:
        self.ids = {tool.id.split("/")[1]: tool.id for tool in pool.tools}

    def retrieve(self, queries: Sequence[Query], k: int) -> list[list[tuple[str, float]]]:
        ranked = sorted(SCORES.items(), key=lambda one: -one[1])
        return [[(self.ids[name], score) for name, score in ranked] for _ in queries]


class Ordered(Planted):
    """The same, by their order alone."""

    measures = False


Mine = Callable[..., Mined]


@pytest.fixture
def mined(tmp_path: Path) -> Mine:
    """Mine for one query that needs the tools `own` and, where it is named, another."""

    def call(*others: str, by: str = "Planted", tools: Sequence[Tool] = TOOLS, **changes: Any):
        relevant = tuple(f"toy/{name}/get" for name in ("own", *others))
        pool = write_pool(
            tmp_path / "pool", [Task("t", "toy", (Goal("rain?", relevant=relevant),))], tools
        )
        stored = load_pool(pool)
        by = by if by == "oracle" else f"{__name__}:{by}"
        settings = MiningSettings(**{"negatives": 1, "negatives_by": by, **changes})
        texts = dict(zip((tool.id for tool in tools), documents(tools), strict=True))
        with open_store(tmp_path / "cache") as store:
            return mine(stored, asked_of(stored.tasks()), texts, settings, store)

    return call


def test_tools_too_near_the_wanted_one_in_score_or_text_are_no_negatives(mined: Mine) -> None:
    found = mined()
    [negatives] = found.negatives.values()
    assert len(negatives) == 1
    assert "measured at airports" in negatives[0]
    assert (found.found, found.drawn) == (1, 0)
    assert (found.too_near_in_score, found.too_near_in_text) == (2, 1)


def test_a_wanted_tool_is_never_a_negative(mined: Mine) -> None:
    found = mined("hard", negatives=2)
    texts = {text for negatives in found.negatives.values() for text in negatives}
    assert not any("measured at airports" in text or "hour by hour" in text for text in texts)
    assert len(found.negatives) == 2


def test_too_few_candidates_are_filled_up_by_chance(mined: Mine) -> None:
    found = mined(negatives=4)
    assert (found.found, found.drawn) == (2, 2)
    assert found.negatives == mined(negatives=4).negatives
    [negatives] = found.negatives.values()
    assert len(set(negatives)) == 4


@pytest.mark.parametrize(
    ("changes", "fault", "says"),
    [
        ({"negatives": 5}, DataError, "--negatives 5: pool pool has 4 tools neither"),
        ({"by": "oracle"}, UsageError, "--negatives-by oracle: it reads gold"),
        ({"by": "Ordered"}, UsageError, "its scores hold the order alone"),
        ({"negatives": 0}, UsageError, "--negatives 0: expected a whole number of at least 1"),
    ],
)
def test_what_gives_no_negatives_is_refused(
    mined: Mine, changes: dict[str, Any], fault: type[Exception], says: str
) -> None:
    with pytest.raises(fault) as failed:
        mined(**changes)
    assert says in str(failed.value)
