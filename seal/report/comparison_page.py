"""A comparison of runs as HTML: numbers lead to their tasks, and tasks to their steps."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from markupsafe import Markup

from seal.core.records import AtomicFile
from seal.report.anchors import task_link
from seal.report.comparison_preference import (
    COLUMNS,
    judges_of,
    preference_figures,
    preference_lines,
)
from seal.report.comparison_tables import (
    entries_of,
    excluded_lines,
    needed,
    notes_of,
    title_of,
)
from seal.report.divergence import Parting, partings
from seal.report.grids import chance, holm_chance, interval, signed
from seal.report.pages import asset, content_hash, render
from seal.runs.run_folder import RunFolder

PAGE = "comparison.html"
FLIPS = 200
"""Tasks or goals of a kind, such as those that turned in one direction, that a page lists."""
TASKS = 50
"""Tasks of one metric and direction that a page lists."""

Link = Callable[[str, str, int | None, int | None], str | None]
"""Name of a run, task, trial, step to an address; None: that run has no report."""
Lane = tuple[str, int]


@dataclass(frozen=True, slots=True)
class _Address:
    """A link to one run's chat."""

    run: str
    href: str
    label: str


@dataclass(frozen=True, slots=True)
class _Task:
    task: str
    addresses: Sequence[_Address]
    counts: str = ""
    """Solved before and now, of how many trials."""
    parting: str = ""
    """Where the chats part."""


@dataclass(frozen=True, slots=True)
class _Tasks:
    """Tasks behind one number."""

    anchor: str
    title: str
    shown: Sequence[_Task]
    more: int


@dataclass(frozen=True, slots=True)
class _Row:
    """One metric of two runs."""

    entry: Mapping[str, Any]
    difference: str
    interval: str
    p: str
    p_holm: str
    tasks_needed: str
    trials_needed: str
    higher: _Tasks
    lower: _Tasks


@dataclass(frozen=True, slots=True)
class _Pass:
    entry: Mapping[str, Any]
    difference: str
    interval: str
    own: str
    other: str
    p: str


@dataclass(frozen=True, slots=True)
class _Preference:
    """A win rate."""

    columns: Sequence[str]
    judges: str
    figures: Sequence[str]
    """In the order of the columns after the first."""
    lines: Sequence[str]
    goals: Sequence[_Tasks]
    """Those won, lost and undecided."""


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two runs."""

    pair: Mapping[str, Any]
    alone: Sequence[_Tasks]
    """What each run has without a partner, where there is any."""
    told: Sequence[_Row]
    """Metrics of the family."""
    others: Sequence[_Row]
    flips: Sequence[_Tasks]
    passes: Sequence[_Pass]
    preference: _Preference | None
    excluded: Sequence[str]


def write_page(content: Mapping[str, Any], runs: Mapping[str, RunFolder], path: Path) -> None:
    """Write the page; it links to the reports that lie in the run folders, relative to it.

    Args:
        content: Of comparison.json.
        runs: Name to run, as in the content.
        path: The file.

    Raises:
        DataError: A trajectory cannot be read.
    """
    style = asset("style.css")
    page = render(
        "comparison_page.html",
        title=title_of(content),
        runs=content["runs"],
        links={name: _report(run, path.parent) for name, run in runs.items()},
        notes=notes_of(content),
        protocol=content["protocol"],
        body=comparison_body(content, runs, _links(runs, path.parent)),
        style=style,
        style_hash=content_hash(style),
    )
    with AtomicFile(path) as file:
        file.write(page.encode())


def comparison_body(
    content: Mapping[str, Any], runs: Mapping[str, RunFolder], link: Link
) -> Markup:
    """Return the tables of a comparison, for a page of their own or a section of the report.

    Args:
        content: Of comparison.json.
        runs: Name to run, as in the content.
        link: Where a chat is shown.

    Raises:
        DataError: A trajectory cannot be read.
    """
    pairs = [
        _pair(f"pair-{place}", content, pair, runs, link)
        for place, pair in enumerate(content["pairs"], 1)
    ]
    return render("comparison.html", pairs=pairs, protocol=content["protocol"])


def _pair(
    anchor: str,
    content: Mapping[str, Any],
    pair: Mapping[str, Any],
    runs: Mapping[str, RunFolder],
    link: Link,
) -> _Pair:
    names = (pair["other"], pair["run"])
    rows = [
        _row(f"{anchor}-{place}", entry, names, link)
        for place, entry in enumerate(entries_of(content, pair), 1)
    ]
    family = content["protocol"]["family"]
    told = [row for row in rows if not family or row.entry["metric"] in family]
    return _Pair(
        pair,
        list(_alone(anchor, pair, link)),
        told,
        [row for row in rows if row not in told],
        list(_flips(anchor, pair, runs, link)),
        [_pass(entry) for entry in pair["passes"]],
        None if pair["win_rate"] is None else _preference(anchor, pair, link),
        list(excluded_lines(content, pair)),
    )


def _row(anchor: str, entry: Mapping[str, Any], names: tuple[str, str], link: Link) -> _Row:
    higher, lower = (
        _tasks(f"{anchor}-{way}", f"{entry['metric']} {way}", entry[way], names, link)
        for way in ("higher", "lower")
    )
    return _Row(
        entry,
        signed(entry["difference"]),
        interval(entry),
        chance(entry["p"]),
        holm_chance(entry),
        *needed(entry),
        higher,
        lower,
    )


def _alone(anchor: str, pair: Mapping[str, Any], link: Link) -> Iterator[_Tasks]:
    for side, way in (("run", "alone"), ("other", "other_alone")):
        name, alone = pair[side], pair[way]
        chats = [(task, None) for task in alone["named"]]
        chats += [(one["task"], one["trial"]) for one in alone["trials"]]
        shown = [
            _Task(
                task,
                list(_addresses((name,), task, trial, (None,), link)),
                "" if trial is None else f"trial {trial}",
            )
            for task, trial in chats[:FLIPS]
        ]
        title = f"{name} alone has {alone['chats']} chats ({alone['tasks']} tasks), not compared"
        if chats:
            yield _Tasks(f"{anchor}-{way}", title, shown, max(0, len(chats) - FLIPS))


def _tasks(
    anchor: str, title: str, tasks: Sequence[str], names: tuple[str, str], link: Link
) -> _Tasks:
    shown = [
        _Task(task, list(_addresses(names, task, None, (None, None), link)))
        for task in tasks[:TASKS]
    ]
    return _Tasks(anchor, title, shown, max(0, len(tasks) - TASKS))


def _flips(
    anchor: str, pair: Mapping[str, Any], runs: Mapping[str, RunFolder], link: Link
) -> Iterator[_Tasks]:
    if pair["flips"] is None:
        return
    turned = {way: pair["flips"][way] for way in ("won", "lost")}
    chats = {
        (flip["task"], flip["flipped"][0]) for flips in turned.values() for flip in flips[:FLIPS]
    }
    parted = partings(runs[pair["run"]], runs[pair["other"]], chats)
    for way, flips in turned.items():
        shown = [_flip(flip, pair, parted, link) for flip in flips[:FLIPS]]
        title = f"{len(flips)} {way} by {pair['run']}"
        yield _Tasks(f"{anchor}-{way}", title, shown, max(0, len(flips) - FLIPS))


def _flip(
    flip: Mapping[str, Any],
    pair: Mapping[str, Any],
    parted: Mapping[tuple[str, int], Parting | None],
    link: Link,
) -> _Task:
    trial = flip["flipped"][0]
    found = parted.get((flip["task"], trial))
    steps = (None, None) if found is None else (found.other_step, found.step)
    names = (pair["other"], pair["run"])
    text = "" if (flip["task"], trial) in parted else "no trajectories"
    if found is None and not text:
        text = "the same chat, judged otherwise"
    elif found is not None:
        text = "offered other tools" if found.offered else ""
        if steps == (None, None):
            text += ", the same chat"
    return _Task(
        flip["task"],
        list(_addresses(names, flip["task"], trial, steps, link)),
        f"{flip['other_solved']} → {flip['solved']} of {flip['trials']}",
        text,
    )


def _preference(anchor: str, pair: Mapping[str, Any], link: Link) -> _Preference:
    names = (pair["other"], pair["run"])
    listed = []
    for kind, title in _KINDS.items():
        goals = pair["win_rate"][kind]
        shown = [
            _Task(
                goal["task"],
                list(_addresses(names, goal["task"], goal["trial"], (None, None), link)),
                f"trial {goal['trial']}, goal {goal['goal']}",
                f"{goal['by']}: {goal['reason']}" if goal["reason"] else goal["by"],
            )
            for goal in goals[:FLIPS]
        ]
        more = max(0, len(goals) - FLIPS)
        title = f"{len(goals)} goals {title.format(**pair)}"
        listed.append(_Tasks(f"{anchor}-goals-{kind}", title, shown, more))
    lines = list(preference_lines(pair))
    return _Preference(COLUMNS, judges_of(pair), preference_figures(pair), lines, listed)


_KINDS = {
    "won": "that {run} served better",
    "lost": "that {other} served better",
    "undecided": "without an outcome",
}


def _addresses(
    names: Sequence[str],
    task: str,
    trial: int | None,
    steps: Sequence[int | None],
    link: Link,
) -> Iterator[_Address]:
    for name, step in zip(names, steps, strict=True):
        href = link(name, task, trial, step)
        if href is not None:
            yield _Address(name, href, name if step is None else f"{name}, step {step}")


def _pass(entry: Mapping[str, Any]) -> _Pass:
    own, other = (
        interval({"low": low, "high": high})
        for low, high in (entry["interval"], entry["other_interval"])
    )
    return _Pass(
        entry, signed(entry["difference"]), interval(entry), own, other, chance(entry["p"])
    )


def _report(run: RunFolder, start: Path) -> str | None:
    """Return the address of a run's report as seen from a folder; None where it has none."""
    if not run.report_path.is_file():
        return None
    path = Path(os.path.relpath(run.report_path.resolve(), start.resolve()))
    return quote(os.fsencode(path.as_posix()))  # a name may be bytes that are no text


def _links(runs: Mapping[str, RunFolder], start: Path) -> Link:
    reports = {name: _report(run, start) for name, run in runs.items()}
    # A run's own report shows it after its floor.
    lanes = {name: int("floor" in run.baselines()) for name, run in runs.items()}

    def link(name: str, task: str, trial: int | None, step: int | None) -> str | None:
        report = reports[name]
        return None if report is None else report + task_link(task, lanes[name], trial, step)

    return link
