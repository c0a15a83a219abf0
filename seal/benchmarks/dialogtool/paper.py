"""Counts of an import, the DialogTool paper's tables beside them, and why they differ.

Dialogues are counted before any is left out, so that the counts are the corpus's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from seal.benchmarks.dialogtool.dialogues import Reading
from seal.benchmarks.dialogtool.schemas import domain_of
from seal.core import JSON, Tool
from seal.core.package_data import shipped_json

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
    # Of each: table, figure, value there, where ours stands, and why they differ.
    for table, figure, paper, place, reason in shipped_json(__package__, "paper.json"):
        split, _, name = place.partition(".")
        value = here.get(split, {}).get(name)
        if value is not None and name in _OF_DIALOGUES and missing.get(split):
            reason += f"; {missing[split]} of {FILES[split]} files are missing here"
        found.append(Comparison(table, figure, paper, value, reason))
    return found


def schema_counts(tools: Iterable[Tool]) -> dict[str, JSON]:
    """Return what the schemas of some tools hold.

    Args:
        tools: Each a service's intent; one that several splits have counts once.

    Returns:
        Services, domains, apis (different names), app_apis (different names within an app),
        service_apis, transactional; of a service's API inputs_mean, inputs_max, required_mean and
        results_mean, rounded to 2 places.
    """
    apis = {(tool.source["tool"], tool.source["api"]): tool for tool in tools}
    inputs = [len(tool.parameters["properties"]) for tool in apis.values()]
    required = [len(tool.parameters["required"]) for tool in apis.values()]
    results = [len(tool.returns["items"]["properties"]) for tool in apis.values()]
    return {
        "services": len({service for service, _ in apis}),
        "domains": len({tool.category for tool in apis.values()}),
        "apis": len({api for _, api in apis}),
        "app_apis": len({(tool.category, api) for (_, api), tool in apis.items()}),
        "service_apis": len(apis),
        "transactional": sum(bool(tool.source["transactional"]) for tool in apis.values()),
        "inputs_mean": _mean(sum(inputs), len(apis)),
        "inputs_max": max(inputs, default=0),
        "required_mean": _mean(sum(required), len(apis)),
        "results_mean": _mean(sum(results), len(apis)),
    }


class Tally:
    """Counts of the dialogues of one split."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._acts: Counter[str] = Counter()
        self._kinds: Counter[str] = Counter()
        self._most: dict[str, int] = {"arguments": 0, "results": 0}
        self._brought: dict[tuple[str, bytes], int] = {}
        self._conflicts: set[tuple[str, bytes]] = set()

    def add(self, reading: Reading) -> None:
        """Count a dialogue and its calls."""
        self._counts["dialogues"] += 1
        self._counts["turns"] += reading.turns
        self._counts["multi_domain"] += len(set(map(domain_of, reading.services))) > 1
        self._counts["multi_service"] += len(set(reading.services)) > 1
        self._acts.update(reading.first_acts)
        self._kinds.update(str(goal.labels["kind"]) for goal in reading.goals)
        for call in reading.calls:
            self._counts["calls"] += 1
            self._counts["transactional_calls"] += call.api.transactional
            self._counts["empty_results"] += not call.rows
            for name, number in (("arguments", len(call.arguments)), ("results", len(call.rows))):
                self._counts[name] += number
                self._most[name] = max(self._most[name], number)
            key = call.api.tool, call.key
            if self._brought.setdefault(key, hash(call.rows)) != hash(call.rows):
                self._conflicts.add(key)

    def facts(self) -> dict[str, JSON]:
        """Return the counts, means rounded to 2 places."""
        counts, calls = self._counts, self._counts["calls"]
        return {
            "dialogues": counts["dialogues"],
            "turns": counts["turns"],
            "turns_mean": _mean(counts["turns"], counts["dialogues"]),
            "multi_domain": counts["multi_domain"],
            "multi_service": counts["multi_service"],
            "calls": calls,
            "transactional_calls": counts["transactional_calls"],
            "empty_results": counts["empty_results"],
            "distinct_calls": len(self._brought),
            "conflicting_calls": len(self._conflicts),
            "arguments_mean": _mean(counts["arguments"], calls),
            "arguments_max": self._most["arguments"],
            "results_mean": _mean(counts["results"], calls),
            "results_max": self._most["results"],
            "kinds": dict(sorted(self._kinds.items())),
            "first_acts": {name.lower(): number for name, number in self._acts.most_common()},
        }


def _mean(total: int, number: int) -> float:
    return round(total / number, 2) if number else 0.0
