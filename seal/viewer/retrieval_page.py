"""The page of an experiment in retrieval: tables, curves, and the queries that failed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from markupsafe import Markup

from seal.core import DataError, Ranking
from seal.core.trec import query_id, trec_word
from seal.experiments.retrieval.files import RETRIEVAL, ranking_folders
from seal.report.pages import Curve, Point, curves, paragraphs, render
from seal.report.retrieval_results import retrieval_parts
from seal.runs.lines import Tail

FAILED = 50
"""Failed queries of one retriever and pool that a page lists."""
FOUND = 3
"""First tools of a ranking that stand beside a query that failed."""


class Failure(NamedTuple):
    """A query none of whose relevant tools is among the first K."""

    query: str
    task: str
    wanted: Sequence[str]
    found: Sequence[str]


class Failures(NamedTuple):
    """The queries on which one retriever failed in one pool."""

    pool: str
    retriever: str
    shown: Sequence[Failure]
    failed: int
    queries: int


def experiment_page(name: str, folder: Path, **how: Any) -> str:
    """Return the page of an experiment.

    Args:
        name: What it is called.
        folder: That `seal retrieve --out` wrote.
        **how: Style, script and `home` of the template.

    Raises:
        DataError: Its results or rankings are damaged.
    """
    file = folder / RETRIEVAL.name
    try:
        return _page(name, folder, RETRIEVAL.read(file), how)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise DataError(
            f"{file} is no result of `seal retrieve`: {error!r:.100}; run the experiment again"
        ) from error


def _page(name: str, folder: Path, found: Mapping[str, Any], how: Mapping[str, Any]) -> str:
    return render(
        "retrieval.html",
        title=name,
        tables=paragraphs(retrieval_parts(found)),
        charts=list(_charts(found)),
        failures=list(_failures(found, folder)),
        deepest=found["protocol"]["k"][-1],
        **how,
    )


def _charts(found: Mapping[str, Any]) -> Iterator[Markup]:
    """Yield for each pool the curves of recall over K, and over the sizes of drawn pools."""
    entries = [entry for entry in found["results"] if "unavailable" not in entry]
    ks = found["protocol"]["k"]
    deepest = f"recall@{ks[-1]}"
    for pool in dict.fromkeys(entry["pool"] for entry in entries):
        mine = [entry for entry in entries if entry["pool"] == pool]
        largest = max(entry["tools"] for entry in mine)
        whole = [entry for entry in mine if entry["tools"] == largest]
        if len(ks) > 1:
            lines = [_curve(entry, ((k, entry, f"recall@{k}") for k in ks)) for entry in whole]
            yield curves(
                f"{pool}: recall over K", [c for c in lines if c.points], ("K", "recall@K")
            )
        if len({entry["tools"] for entry in mine}) > 1:
            lines = [
                _curve(
                    entry,
                    (
                        (each["tools"], each, deepest)
                        for each in sorted(mine, key=lambda each: int(each["tools"]))
                        if each["retriever"] == entry["retriever"]
                    ),
                )
                for entry in whole
            ]
            yield _drawn(f"{pool}: {deepest} over the size of the pool", lines, ("tools", deepest))


def _drawn(title: str, lines: Sequence[Curve], axes: tuple[str, str]) -> Markup:
    return curves(title, [line for line in lines if line.points], axes)


def _curve(entry: Mapping[str, Any], places: Any) -> Curve:
    measured = [(x, each["metrics"].get(metric) or {}) for x, each, metric in places]
    points = [
        Point(x, it["mean"], it.get("low"), it.get("high"))
        for x, it in measured
        if it.get("mean") is not None
    ]
    return Curve(entry["retriever"], points)


def _failures(found: Mapping[str, Any], folder: Path) -> Iterator[Failures]:
    """Yield the failed queries of each retriever in each whole pool whose rankings are there."""
    deepest = found["protocol"]["k"][-1]
    for (pool, retriever), name in ranking_folders(found).items():
        place = folder / name
        relevant = _relevant(place / "qrels.trec")
        if not relevant or not (place / "rankings.jsonl").is_file():
            continue
        shown: list[Failure] = []
        failed = queries = 0
        for ranking in Tail(place / "rankings.jsonl", Ranking).read():
            wanted = relevant.get(query_id((ranking.task_id, ranking.goal)))
            if not wanted:
                continue
            queries += 1
            first = [tool for tool, _ in islice(ranking.hits, deepest)]
            if not wanted & {*map(trec_word, first)}:
                failed += 1
                if len(shown) < FAILED:
                    told = ranking.query, ranking.task_id, sorted(wanted), first[:FOUND]
                    shown.append(Failure(*told))
        yield Failures(pool, retriever, shown, failed, queries)


def _relevant(path: Path) -> dict[str, set[str]]:
    """Return the relevant tools of each query of a qrels file; empty where there is none."""
    found: dict[str, set[str]] = {}
    if path.is_file():
        for number, line in enumerate(path.read_text("utf-8", "replace").splitlines(), 1):
            try:
                query, _, tool, grade = line.split()
            except ValueError:
                raise DataError(
                    f"{path}, line {number}: expected query, 0, tool and grade, got {line!r:.100}; "
                    "run the experiment again"
                ) from None
            if grade != "0":
                found.setdefault(query, set()).add(tool)
    return found
