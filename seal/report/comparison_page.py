"""A comparison of runs as HTML: numbers lead to their tasks, and tasks to their steps."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

from markupsafe import Markup

from seal.core import Scale, UsageError
from seal.core.records import AtomicFile
from seal.core.text import counted
from seal.evaluation.goals import RATE
from seal.experiments.comparison.comparison_settings import CompareSettings
from seal.experiments.comparison.study import study
from seal.report import comparison_results as results
from seal.report.chat_records import decisive_of
from seal.report.lanes import Lane, measure_differences
from seal.report.pages import (
    Bar,
    BarGroup,
    Listing,
    Shown,
    forest,
    inline,
    link,
    paragraphs,
    render,
    task_link,
)
from seal.report.partings import Chat, Parting, partings
from seal.report.printable import printable
from seal.runs.run_folder import RunFolder

PAGE = "comparison.html"
FLIPS = 200
"""Tasks or goals of a kind, such as those that turned in one direction, that a page lists."""
TASKS = 50
"""Tasks of one metric and direction that a page lists."""

Link = Callable[[str, str, int | None, int | None], str | None]
"""Name of a run, task, trial, step to an address; None: that run has no report."""

_KINDS = {
    "won": "that {run} served better",
    "lost": "that {other} served better",
    "undecided": "without an outcome",
}


def section(lanes: Sequence[Lane]) -> Markup | None:
    """Return each run less the first, for a report of several.

    None where the runs do not measure the same, or have no task in common.
    """
    places = {lane.label: place for place, lane in enumerate(lanes) if lane.kind == "run"}
    runs = {label: lanes[place].run for label, place in places.items()}
    played = list(runs.values())
    scored = all(run.scores_path.is_file() for run in played)
    if not scored or measure_differences(played):
        return None

    def address(name: str, task: str, trial: int | None, step: int | None) -> str:
        return task_link(task, places[name], trial, step)

    try:
        content = study(runs, CompareSettings(), results.family_of(played), decisive_of(played))
    except UsageError:  # no task in common: nothing stands beside each other
        return None
    return _body(content, runs, address)


def write_page(content: Mapping[str, Any], runs: Mapping[str, RunFolder], path: Path) -> None:
    """Write the page; it links to the reports that lie in the run folders, relative to it.

    Args:
        content: Of comparison.json.
        runs: Name to run, as in the content.
        path: The file.

    Raises:
        DataError: A trajectory cannot be read.
    """
    reports = {name: _report(run, path.parent) for name, run in runs.items()}
    # A run's own report shows it after its floor.
    lanes = {name: int("floor" in run.baselines()) for name, run in runs.items()}

    def address(name: str, task: str, trial: int | None, step: int | None) -> str | None:
        report = reports[name]
        return None if report is None else report + task_link(task, lanes[name], trial, step)

    page = render(
        "comparison_page.html",
        title=results.title_of(content),
        runs=content["runs"],
        links=reports,
        notes=results.notes_of(content),
        protocol=content["protocol"],
        body=_body(content, runs, address),
        **inline(scripted=False),
    )
    with AtomicFile(path) as file:
        file.write(page.encode())


def _report(run: RunFolder, start: Path) -> str | None:
    """Return the address of a run's report as seen from a folder; None where it has none."""
    if not run.report_path.is_file():
        return None
    path = Path(os.path.relpath(run.report_path.resolve(), start.resolve()))
    return quote(os.fsencode(path.as_posix()))  # a name may be bytes that are no text


def _body(content: Mapping[str, Any], runs: Mapping[str, RunFolder], link: Link) -> Markup:
    pairs = [
        _Pair(f"pair-{place}", content, pair, link).shown(runs)
        for place, pair in enumerate(content["pairs"], 1)
    ]
    return render("comparison.html", pairs=pairs)


Steps = tuple[int | None, int | None]
"""Of the chats of the other run, and of the one."""


class _Pair:
    """Two runs on a page.

    Args:
        anchor: Begins the ids of its lists.
        content: Of comparison.json.
        pair: Its part about these two.
        link: Where a chat is shown.
    """

    def __init__(
        self, anchor: str, content: Mapping[str, Any], pair: Mapping[str, Any], link: Link
    ) -> None:
        self._anchor, self._content, self._pair, self._link = anchor, content, pair, link

    def shown(self, runs: Mapping[str, RunFolder]) -> dict[str, Any]:
        """Return what the template takes."""
        pair, content = self._pair, self._content
        entries = results.entries_of(content, pair)
        ways = {
            (entry["metric"], way): self._differing(f"{place}-{way}", entry, way)
            for place, entry in enumerate(entries, 1)
            for way in ("higher", "lower")
        }

        def counted(entry: Mapping[str, Any], way: str) -> str:
            return ways[entry["metric"], way].counted

        def tables(entries: Sequence[Mapping[str, Any]]) -> Markup:
            grids = results.difference_grids(content, pair, entries, counted)
            return paragraphs(grids, wrapping=True)

        told = results.told_entries(content, pair)
        others = [entry for entry in entries if entry not in told]
        judged = pair["win_rate"] is not None
        return {
            "pair": pair,
            "matched": results.matched_text(pair).replace("matched", "Matched", 1),
            "alone": list(self._alone()),
            "forest": _forest(pair, told, results.scales_in(content)),
            "told": tables(told),
            "others": tables(others),
            "count": len(others),
            "flips": list(self._flips(runs)),
            "mcnemar": results.mcnemar_text((pair["flips"] or {}).get("mcnemar")),
            "further": paragraphs(results.further_grids(pair), wrapping=True),
            "judged": paragraphs(results.preference_lines(pair) if judged else ()),
            "goals": list(self._goals()) if judged else [],
            "tasks": [way for way in ways.values() if way.shown],
            "excluded": paragraphs(results.excluded_lines(content, pair)),
        }

    def _differing(self, anchor: str, entry: Mapping[str, Any], way: str) -> Listing:
        title = f"{entry['metric']} {way} in {counted(len(entry[way]), 'task')}"
        return self._list(anchor, title, entry[way], self._task, TASKS)

    def _list(
        self, anchor: str, title: str, found: Sequence[Any], shown: Shown, most: int = FLIPS
    ) -> Listing:
        return Listing.of(f"{self._anchor}-{anchor}", title, found, shown, most)

    def _task(self, task: str, sides: Sequence[str] = ("other", "run")) -> Markup:
        return _item(task, *self._links(task, sides=sides))

    def _alone(self) -> Iterator[Listing]:
        """Yield the tasks that one of the runs has alone."""
        for side, way in (("run", "alone"), ("other", "other_alone")):
            alone = self._pair[way]
            counts = f"{counted(alone['chats'], 'chat')} ({counted(alone['tasks'], 'task')})"
            title = f"{self._pair[side]} alone has {counts}, not compared"
            if alone["named"]:
                yield self._list(way, title, alone["named"], partial(self._task, sides=(side,)))

    def _flips(self, runs: Mapping[str, RunFolder]) -> Iterator[Listing]:
        """Yield the tasks that were won, and those that were lost."""
        if self._pair["flips"] is None:
            return
        turned = {way: self._pair["flips"][way] for way in ("won", "lost")}
        shown = [flip for flips in turned.values() for flip in flips[:FLIPS]]
        chats = {(flip["task"], flip["flipped"][0]) for flip in shown if flip["flipped"]}
        parted = partings(runs[self._pair["run"]], runs[self._pair["other"]], chats)
        for way, flips in turned.items():
            title = f"{len(flips)} {way} by {self._pair['run']}"
            yield self._list(way, title, flips, partial(self._flip, parted))

    def _flip(self, parted: Mapping[Chat, Parting | None], flip: Mapping[str, Any]) -> Markup:
        task, counts = flip["task"], results.flip_counts(flip, "→")
        if not flip["flipped"]:  # no trial of both turned
            return _item(task, counts, *self._links(task))
        trial = flip["flipped"][0]
        found = parted.get((task, trial))
        if found is None:
            same = (task, trial) in parted
            note = "the same chat, judged otherwise" if same else "no trajectories"
            return _item(task, counts, *self._links(task, trial), note)
        note = "offered other tools" if found.offered else ""
        note += ", the same chat" if (found.step, found.other_step) == (None, None) else ""
        steps = (found.other_step, found.step)
        return _item(task, counts, *self._links(task, trial, steps), note)

    def _goals(self) -> Iterator[Listing]:
        """Yield the goals won, lost and undecided, as far as there are any."""
        for kind, title in _KINDS.items():
            goals = self._pair["win_rate"][kind]
            if goals:
                named = f"{counted(len(goals), 'goal')} {title.format(**self._pair)}"
                yield self._list(f"goals-{kind}", named, goals, self._goal)

    def _goal(self, goal: Mapping[str, Any]) -> Markup:
        note = f"{goal['by']}: {goal['reason']}" if goal["reason"] else goal["by"]
        counts = f"trial {goal['trial']}, goal {goal['goal']}"
        return _item(goal["task"], counts, *self._links(goal["task"], goal["trial"]), note)

    def _links(
        self,
        task: str,
        trial: int | None = None,
        steps: Steps = (None, None),
        sides: Sequence[str] = ("other", "run"),
    ) -> Iterator[Markup]:
        """Yield links to the chats of a task, of both runs or of one."""
        for side, step in zip(sides, steps, strict=False):
            name = self._pair[side]
            href = self._link(name, task, trial, step)
            if href is not None:
                yield link(name if step is None else f"{name}, step {step}", href)


def _item(task: str, *parts: str) -> Markup:
    """Return a task in a list with its links; of other parts plain texts stand small."""
    small = Markup("<small>{}</small>")
    told = (it if isinstance(it, Markup) else small.format(printable(it)) for it in parts if it)
    return Markup(" ").join((Markup('<span dir="auto">{}</span>').format(printable(task)), *told))


def _forest(
    pair: Mapping[str, Any], entries: Sequence[Mapping[str, Any]], scales: Mapping[str, Scale]
) -> Markup:
    """Draw the differences of the metrics in [0, 1]; nothing where there is none."""
    drawn = [entry for entry in entries if scales.get(entry["metric"], RATE).bounded]
    ends = (entry[end] for entry in drawn for end in ("low", "high", "difference"))
    most = max((abs(end) for end in ends if end is not None), default=0.0)
    if not most:
        return Markup()
    wide = next(end for end in (0.1, 0.2, 0.5, 1.0) if most <= end or end == 1.0)
    groups = [
        BarGroup(
            entry["metric"],
            (Bar(pair["run"], "run-0", entry["difference"], entry["low"], entry["high"]),),
        )
        for entry in drawn
    ]
    title = f"{pair['run']} less {pair['other']}, with 95 % interval; 0 is no difference"
    return forest(title, groups, (-wide, wide))
