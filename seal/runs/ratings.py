"""What people say of a run's words: the ratings that its folder holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

import orjson

from seal.core.errors import DataError
from seal.core.types import JSON
from seal.runs.run_folder import RunFolder

HUMAN = "human.json"
"""File of a run folder that holds the ratings."""


@dataclass(frozen=True, slots=True)
class Human:
    """What raters say of a run."""

    mean: float | None
    """Over items, of each item's mean over raters; None: nothing was rated."""
    alpha: float | None
    """Krippendorff's alpha; None where fewer than two raters share an item, or all ratings are one.
    """
    items: int
    raters: int
    ratings: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Item to rater to rating."""


def read_human(run: RunFolder) -> Human | None:
    """Return what raters say of a run; None where it was not rated.

    Raises:
        DataError: Its `human.json` is damaged.
    """
    path = run.path / HUMAN
    if not path.is_file():
        return None
    try:
        return Human(**orjson.loads(path.read_bytes()))
    except (TypeError, orjson.JSONDecodeError) as error:
        raise DataError(f"{path}: {error}; delete it and import the ratings again") from error


def human_summary(run: RunFolder) -> dict[str, JSON]:
    """Return what the summary says of ratings; empty where there are none."""
    human = read_human(run)
    if human is None:
        return {}
    return {"human": {name: value for name, value in asdict(human).items() if name != "ratings"}}
