"""Verdicts and preferences that upstream's judges left: `pass_rate_results`, `preference_results`.

- verdicts, JSON: query id to `{query, final_step, is_solved: {run: "AnswerStatus.Solved"}}`; the
  same as CSV with tabs and Python literals, columns `query_id, query, model_final_step, is_solved`
- preferences, JSON: query id to `{model: points, model: points, round_0: "complete"...}`; the same
  as CSV with tabs, where `preference_label` is 1 (the reference is better), 2 (the other) or 3
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from seal.core import DataError, located, shortened
from seal.core.plain import literal_value
from seal.evaluation.judges.verdict_files import PreferenceFile, QueryVerdicts, VerdictFile
from seal.pools.reading.upstream_files import expect, json_file

_STATUS = "AnswerStatus."
_FINAL = "Final step: "
_COLUMNS = ("query_id", "query", "model_final_step", "is_solved")
_PREFERRED = (
    "query_id", "query", "ref_model", "output_model", "ref_model_final_step",
    "output_model_final_step", "preference_label",
)  # fmt: skip
_POINTS = {"1": (1, 0), "2": (0, 1), "3": (0, 0)}
_ROUND = "round_"


def read_verdicts(path: Path) -> VerdictFile:
    """Return the verdicts of a file, JSON or CSV.

    Raises:
        DataError: The file cannot be read or holds no verdicts; the text names the place.
    """
    records = _csv_records(path) if path.suffix == ".csv" else _json_records(path)
    queries = {}
    for query_id, record in records:
        with located(f"{path}: query {query_id}"):
            queries[query_id] = _verdicts(record)
    if not queries:
        raise DataError(f"{path}: no verdicts; expected a file of pass_rate_results")
    return VerdictFile(path, queries)


def read_preferences(path: Path) -> PreferenceFile:
    """Return the preferences of a file, JSON or CSV.

    Raises:
        DataError: The file cannot be read, or does not compare the same two models throughout.
    """
    found = _preference_table(path) if path.suffix == ".csv" else _preference_points(path)
    if not found.points:
        raise DataError(f"{path}: no preferences; expected a file of preference_results")
    return found


def _preference_points(path: Path) -> PreferenceFile:
    points: dict[str, tuple[int, int]] = {}
    unjudged = set()
    models: tuple[str, ...] = ()
    for query_id, record in _json_records(path):
        given = {key: value for key, value in record.items() if not key.startswith(_ROUND)}
        names = tuple(given)
        if len(names) != 2 or (models and {*names} != {*models}):
            raise DataError(
                f"{path}: query {query_id}: expected points of two models"
                f"{f', {models[0]} and {models[1]}' if models else ''}, as in "
                f"preference_results, got {shortened(record)}"
            )
        models = models or names
        first, second = (given[model] for model in models)
        if type(first) is not int or type(second) is not int:
            raise DataError(f"{path}: query {query_id}: points are no whole numbers: {given}")
        points[query_id] = (first, second)
        rounds = [value for key, value in record.items() if key.startswith(_ROUND)]
        # Points can also come without a complete round: where an answer is missing.
        if not first and not second and "complete" not in rounds:
            unjudged.add(query_id)
    pair = (models[0], models[1]) if models else ("", "")
    return PreferenceFile(path, pair, points, frozenset(unjudged))


def _preference_table(path: Path) -> PreferenceFile:
    points: dict[str, tuple[int, int]] = {}
    queries: dict[str, str] = {}
    answers: dict[str, tuple[str | None, str | None]] = {}
    models = ("", "")
    for row in _table(path, _PREFERRED):
        query_id, label = str(row["query_id"]), str(row["preference_label"])
        names = (str(row["ref_model"]), str(row["output_model"]))
        if label not in _POINTS or (points and names != models):
            raise DataError(
                f"{path}: query {query_id}: expected preference_label 1, 2 or 3"
                f"{f' of {models[0]} and {models[1]}' if points else ''}, got "
                f"{shortened(label)} of {names[0]} and {names[1]}"
            )
        models = names
        points[query_id], queries[query_id] = _POINTS[label], str(row["query"])
        steps = (row["ref_model_final_step"], row["output_model_final_step"])
        answers[query_id] = (_final_answer(steps[0]), _final_answer(steps[1]))
    return PreferenceFile(path, models, points, queries=queries, answers=answers)


def _json_records(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    found = expect(json_file(path), dict, path, "an object of query ids")
    for query_id, record in found.items():
        yield query_id, expect(record, dict, f"{path}: query {query_id}")


def _csv_records(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for row in _table(path, _COLUMNS):
        solved = _literal(row["is_solved"], "is_solved")
        record = {"query": row["query"], "final_step": row["model_final_step"]}
        yield str(row["query_id"]), {**record, "is_solved": solved}


def _table(path: Path, columns: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    """Yield the rows of a table by tabs.

    Raises:
        DataError: The file cannot be read, or lacks one of the columns.
    """
    limit = csv.field_size_limit(sys.maxsize)  # of the whole process, so it is put back
    try:
        with path.open(encoding="utf-8", newline="") as lines:
            table = csv.DictReader(lines, delimiter="\t")
            lacking = [name for name in columns if name not in (table.fieldnames or ())]
            if lacking:
                raise DataError(f"{path}: no column {', '.join(lacking)}; expected them, by tabs")
            yield from table
    except OSError as error:
        raise DataError(f"{path}: {error.strerror}") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{path}: no table: {error}") from None
    finally:
        csv.field_size_limit(limit)


def _literal(text: Any, name: str) -> Any:
    try:
        return literal_value(text)
    except (ValueError, TypeError, AttributeError) as error:
        raise DataError(f"{name}: {error}") from error


def _verdicts(record: Mapping[str, Any]) -> QueryVerdicts:
    query, solved = record.get("query"), record.get("is_solved")
    if not isinstance(query, str) or not isinstance(solved, dict):
        raise DataError(
            "expected query (a text) and is_solved (an object of runs), got fields "
            f"{', '.join(sorted(map(str, record)))}"
        )
    labels = {}
    for run, status in solved.items():
        if not str(run).isdecimal():
            raise DataError(f"is_solved: run {run!r} is no whole number")
        labels[int(run)] = str(status).removeprefix(_STATUS).lower()
    return QueryVerdicts(query, labels, _final_answer(record.get("final_step")))


def _final_answer(step: Any) -> str | None:
    """Return the answer that a final step gives."""
    try:
        call = literal_value(str(step).removeprefix(_FINAL))
        if call["name"] != "Finish":
            return None
        arguments = call["arguments"]
        fields = orjson.loads(arguments) if isinstance(arguments, str) else arguments
        answer = fields.get("final_answer")
    except (ValueError, TypeError, KeyError, AttributeError):
        return None
    return answer if isinstance(answer, str) else None
