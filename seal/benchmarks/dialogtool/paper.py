"""The DialogTool paper's tables beside the counts of an import, and why they differ."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

FILES = {"train": 127, "dev": 20, "test": 34}
"""Dialogue files of each split, numbered from 1."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """A figure of the paper beside ours."""

    table: str
    """Of the DialogTool paper."""
    figure: str
    paper: float
    here: float | None
    """None: nothing that was imported tells it."""
    reason: str
    """Why the two differ, or what they have in common."""


_PAPER = (
    ("1", "mean results", 7.5, "all.results_mean", "the union of all splits' schemas, rounded"),
    ("1", "mean inputs", 4.2, "all.inputs_mean", "no split's schemas or calls give it"),
    ("2", "training dialogues", 16_142, "train.dialogues", "SGD's train split in full"),
    ("2", "training turns", 329_964, "train.turns", "SGD's train split in full"),
    ("2", "training multi-app dialogues", 10_739, "train.multi_domain", "in full, by domain"),
    ("2", "training turns a dialogue", 20.4, "train.turns_mean", "SGD's train split in full"),
    ("2", "training apps", 20, "all.domains", "domains of all splits; train has 16"),
    ("2", "training APIs", 45, "all.services", "services of all splits, not APIs"),
    (
        "2",
        "training calls",
        85_191,
        "train.requests_written",
        "turns on which a request is written: calls, and requests with ? for what is missing",
    ),
    (
        "2",
        "training inputs, most",
        9,
        "train.inputs_max",
        "a round trip has 10 in schema and calls",
    ),
    (
        "2",
        "training mean inputs",
        3.3,
        "train.inputs_mean",
        "no count of schemas or calls gives it",
    ),
    ("2", "evaluation dialogues", 900, "test.dialogues", "a sample of test: -T sample=900"),
    ("2", "evaluation turns", 15_568, "test.turns", "a sample of test, chosen by an unknown rule"),
    ("2", "evaluation multi-app dialogues", 360, "test.multi_domain", "a sample of test"),
    (
        "2",
        "evaluation calls",
        4_274,
        "test.requests_written",
        "a sample of test, chosen by an unknown rule",
    ),
    (
        "2",
        "evaluation apps",
        15,
        "test.domains",
        "test's without Alarm and Messaging, RentalCars and RideSharing as one",
    ),
    ("2", "evaluation APIs", 30, "test.app_apis", "those of the 15 apps"),
    ("2", "evaluation inputs, most", 7, "test.inputs_max", "test's schemas"),
    (
        "2",
        "evaluation mean inputs",
        3.8,
        "test.inputs_mean",
        "no count of schemas or calls gives it",
    ),
    ("6", "pairs of app and API", 47, "all.app_apis", "the union of all splits' schemas"),
)
"""Table, figure, value there, where ours stands, and why they differ."""
_OF_DIALOGUES = frozenset({"dialogues", "turns", "turns_mean", "multi_domain", "requests_written"})
"""Counts that missing files make smaller."""


def beside_paper(report: Mapping[str, Any]) -> list[Comparison]:
    """Return the paper's counts beside those of an import.

    Args:
        report: Content of `import.json`; whatever splits it has are compared.
    """
    here = {**report.get("schemas", {})}
    for split, counts in report.get("counts", {}).items():
        kinds = counts["kinds"]
        written = {"requests_written": kinds.get("call", 0) + kinds.get("request", 0)}
        here[split] = {**here.get(split, {}), **counts, **written}
    missing = {split: len(files) for split, files in report.get("missing_files", {}).items()}
    found = []
    for table, figure, paper, place, reason in _PAPER:
        split, _, name = place.partition(".")
        value = here.get(split, {}).get(name)
        if value is not None and name in _OF_DIALOGUES and missing.get(split):
            reason += f"; {missing[split]} of {FILES[split]} files are missing here"
        found.append(Comparison(table, figure, paper, value, reason))
    return found
