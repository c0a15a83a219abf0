"""The page of an experiment in retrieval: tables, curves, and the queries that failed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from markupsafe import Markup

from seal.core import DataError, Ranking
from seal.core.trec import query_id, trec_word
from seal.experiments.retrieval.ranking_files import RETRIEVAL, ranking_folders
from seal.report.curve_chart import Curve, Point, curves
from seal.report.pages import paragraphs, render
from seal.report.retrieval_results import retrieval_parts
from seal.runs.lines import Tail

FAILED = 50
"""Failed queries of one retriever and pool that a page lists."""
FOUND = 3
"""First tools of a ranking that stand beside a query that failed."""


class Failures(NamedTuple):
    """The queries on which one retriever failed in one pool."""

    pool: str
    retriever: str
    shown: Sequence[tuple[Ranking, Sequence[str]]]
    """Rankings none of whose first K tools is relevant, each with the relevant ones."""
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
        most=FOUND,
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
        names = [entry["retriever"] for entry in whole]
        if len(ks) > 1:
            told = [(e["retriever"], k, e["metrics"].get(f"recall@{k}")) for e in whole for k in ks]
            yield curves(f"{pool}: recall over K", _curves(names, told), ("K", "recall@K"))
        if len({entry["tools"] for entry in mine}) > 1:
            mine.sort(key=lambda entry: int(entry["tools"]))
            told = [(e["retriever"], e["tools"], e["metrics"].get(deepest)) for e in mine]
            title = f"{pool}: {deepest} over the size of the pool"
            yield curves(title, _curves(names, told), ("tools", deepest))


def _curves(names: Sequence[str], told: Sequence[tuple[str, float, Any]]) -> list[Curve]:
    """Return a curve for each retriever that has a mean.

    Args:
        names: Of the retrievers.
        told: Retriever, x, and the entry of the metric, which may be None.
    """
    points: dict[str, list[Point]] = {name: [] for name in names}
    for name, x, found in told:
        if found and found.get("mean") is not None and name in points:
            points[name].append(Point(x, found["mean"], found.get("low"), found.get("high")))
    return [Curve(name, places) for name, places in points.items() if places]


def _failures(found: Mapping[str, Any], folder: Path) -> Iterator[Failures]:
    """Yield the failed queries of each retriever in each whole pool whose rankings are there."""
    deepest = found["protocol"]["k"][-1]
    for (pool, retriever), name in ranking_folders(found).items():
        place = folder / name
        relevant = _relevant(place / "qrels.trec")
        if not relevant or not (place / "rankings.jsonl").is_file():
            continue
        shown: list[tuple[Ranking, list[str]]] = []
        failed = queries = 0
        for ranking in Tail(place / "rankings.jsonl", Ranking).read():
            wanted = relevant.get(query_id((ranking.task_id, ranking.goal)))
            if not wanted:
                continue
            queries += 1
            if not wanted & {trec_word(tool) for tool, _ in islice(ranking.hits, deepest)}:
                failed += 1
                if len(shown) < FAILED:
                    shown.append((ranking, sorted(wanted)))
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
