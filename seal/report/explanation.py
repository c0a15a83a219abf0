"""The report's part about why goals failed: waterfall, shares, examples, links to the steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from seal.experiments.explanation.explain import explain_run
from seal.report.anchors import task_link
from seal.report.charts import BAR, GAP, HEADING, TRACK, WIDTH
from seal.report.lanes import Lane
from seal.report.pages import render
from seal.report.printable import one_line
from seal.runs.run_folder import RunFolder

CAUSES = 3
"""Causes of a stage that the table names, the most frequent ones."""
MISSING = 5
"""Tasks, and trials, that a run lacks that are named."""
_LONGEST = 160
"""Characters of a task's id."""
LINKED = 100
"""Most goals of a stage that are linked; `seal explain --json` has all."""
_TEXT = 300
"""Characters of a line of an example."""


@dataclass(frozen=True, slots=True)
class Link:
    """A goal of the page."""

    text: str
    address: str


@dataclass(frozen=True, slots=True)
class Bar:
    """A stage in the waterfall, in the units of the drawing."""

    heading: str
    colour: str
    x: float
    width: float
    y: int
    count: int


@dataclass(frozen=True, slots=True)
class StageRow:
    """A stage that explains something."""

    anchor: str
    """Id of the list of its goals in the page."""
    meaning: str
    goals: int
    left: int
    share: str
    interval: str
    partly: int
    causes: str
    links: tuple[Link, ...]
    more: int
    """Goals that are not linked."""
    examples: tuple[tuple[Link, str, tuple[tuple[str, str], ...]], ...]
    """(link, cause, what it shows)."""


@dataclass(frozen=True, slots=True)
class Explained:
    """One run of the page."""

    label: str
    solved: int
    rows: tuple[StageRow, ...]
    bars: tuple[Bar, ...]
    height: int
    notes: tuple[str, ...]


class ExplanationSection:
    """The first stage that explains each failed goal, run by run."""

    title = "Why goals failed"

    def render(self, lanes: Sequence[Lane]) -> Markup | None:
        """Return waterfall, table and examples; None where no run has a failed goal."""
        runs = list(_explained(lanes))
        if not runs:
            return None
        return render("explanation.html", runs=runs, width=WIDTH, track=TRACK, bar=BAR)


def _explained(lanes: Sequence[Lane]) -> Iterator[Explained]:
    for place, lane in enumerate(lanes):
        if lane.kind != "run" or not (_played(lane.run) and _decided(lane)):
            continue
        content = explain_run(lane.run)
        if content["failed"] or content["errors"]:
            bars = tuple(_bars(content, lane.colour))
            yield Explained(
                lane.label,
                content["solved"],
                tuple(_rows(content, place)),
                bars,
                len(bars) * (HEADING + BAR + GAP),
                tuple(notes(content)),
            )


def _played(run: RunFolder) -> bool:
    """Tell whether there are tasks, chats and scores to explain."""
    paths = (run.path / "tasks.jsonl", run.trajectories_path, run.scores_path)
    return all(path.is_file() and path.stat().st_size for path in paths)


def _decided(lane: Lane) -> bool:
    """Tell whether there is a verdict to explain.

    Where a benchmark declares its own success and is not installed, a run that is scored again has
    no value of that metric; only its infrastructure's failures can be explained then.
    """
    success = lane.run.declared().get("success")
    has_value = not success or lane.metrics.get(success, {}).get("n")
    return bool(has_value or lane.summary.get("errors"))


def _rows(content: Mapping[str, Any], lane: int) -> Iterator[StageRow]:
    by_stage: dict[str, list[Mapping[str, Any]]] = {}
    for found in content["attributions"]:
        by_stage.setdefault(found["stage"], []).append(found)
    for row in content["stages"]:
        if not row["goals"]:
            continue
        goals = by_stage[row["stage"]]
        yield StageRow(
            f"why-{lane}-{row['stage']}",
            row["meaning"],
            row["goals"],
            row["left"],
            percent(row["of_failed"]),
            bounds(row["of_failed_low"], row["of_failed_high"]),
            row["partly"],
            causes_text(row["causes"]),
            tuple(_link(found, lane) for found in goals[:LINKED]),
            max(0, len(goals) - LINKED),
            tuple(_example(example, lane) for example in row["examples"]),
        )


def _link(found: Mapping[str, Any], lane: int) -> Link:
    address = task_link(found["task"], lane, found["trial"], found["step"])
    return Link(one_line(place_text(found), 80), address)


def _example(
    example: Mapping[str, Any], lane: int
) -> tuple[Link, str, tuple[tuple[str, str], ...]]:
    shown = tuple((name, one_line(text, _TEXT)) for name, text in example_lines(example))
    return _link(example, lane), example["cause"], shown


def _bars(content: Mapping[str, Any], colour: str) -> Iterator[Bar]:
    goals = content["goals"]
    rows = [row for row in content["stages"] if row["goals"]]
    told = [("all goals", "floor", 0, goals)]
    told += [(row["meaning"], colour, row["left"], row["goals"]) for row in rows]
    told.append(("solved", "ceiling", 0, content["solved"]))
    for place, (heading, painted, left, count) in enumerate(told):
        y = place * (HEADING + BAR + GAP) + HEADING
        x, width = (round(TRACK * value / goals, 1) for value in (left, count))
        yield Bar(heading, painted, x, width, y, count)


def notes(content: Mapping[str, Any]) -> list[str]:
    """Return what has to be said of the table in plain lines."""
    decided = ", ".join(f"{name} {count}" for name, count in content["decided_by"].items())
    lines = [
        f"{content['failed']} of {content['goals']} goals failed; decided by {decided}",
        "left: goals that no stage so far explains; of failed: share of what the model failed",
    ]
    if content["partly"]:
        lines.append(
            f"partly solved: {content['partly']}, where some of several gold tools or gold steps "
            "got past the stage"
        )
    if content["unexplained"]:
        lines.append(f"unexplained: {percent(content['unexplained'])} of the failed")
    if content["clusters"] < content["tasks"]:
        lines.append(
            f"intervals draw variants of one task together: {content['tasks']} tasks in "
            f"{content['clusters']} families"
        )
    lines += _missing(content["missing"])
    lines += [f"left out: {count} {reason}" for reason, count in content["excluded"].items()]
    return lines


def _missing(missing: Mapping[str, Any]) -> Iterator[str]:
    """Yield which tasks and trials the run lacks."""
    trials = [f"{one['task']} trial {one['trial']}" for one in missing["trials"]]
    for what, names in (("tasks", missing["tasks"]), ("trials of other tasks", trials)):
        if names:
            named = ", ".join(one_line(name, _LONGEST) for name in names[:MISSING])
            more = f" and {len(names) - MISSING} more" if len(names) > MISSING else ""
            yield f"missing from the run: {len(names)} {what}: {named}{more}"


def percent(share: float | None) -> str:
    """Return a share in per cent; empty where there is none."""
    return "" if share is None else f"{100 * share:.1f} %"


def bounds(low: float | None, high: float | None) -> str:
    """Return an interval of a share in per cent; empty where there is none."""
    return "" if low is None or high is None else f"[{100 * low:.1f}, {100 * high:.1f}]"


def causes_text(causes: Mapping[str, int]) -> str:
    """Return the most frequent causes with their counts."""
    named = [f"{cause} {count}" for cause, count in list(causes.items())[:CAUSES]]
    more = [f"{len(causes) - CAUSES} more"] if len(causes) > CAUSES else []
    return ", ".join((*named, *more))


def place_text(row: Mapping[str, Any]) -> str:
    """Return which goal of which chat a row is about."""
    parts = [str(row["task"])]
    parts += [f"trial {row['trial']}"] if row["trial"] else []
    parts += [f"goal {row['goal']}"] if row["goal"] else []
    parts += [f"step {row['step']}"] if row["step"] is not None else []
    return ", ".join(parts)


def example_lines(example: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what an example shows, as names and texts."""
    yield "query", example["query"]
    yield "evidence", example["evidence"]
    yield "gold", "; ".join(example["gold"]) or "not annotated"
    yield "calls", "; ".join(example["calls"]) or "none"
    yield "answer", example["answer"] or "none"
    judge = (
        f"{example['verdict']}: {example['reason']}" if example["reason"] else example["verdict"]
    )
    yield example["metric"] or "verdict", judge
