"""Why goals failed, and which errors each role caught and caused: sections of the report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from markupsafe import Markup

from seal.core.text import counted, one_line, printable
from seal.experiments.explanation import OUTCOMES, Outcome, Work, work_of
from seal.report.chat_list import explained
from seal.report.grids import Columns, Grid, figure, grid_of, grouped, listed, tallied
from seal.report.lanes import Lane
from seal.report.pages import (
    Bar,
    BarGroup,
    Fold,
    Part,
    bar_chart,
    paragraphs,
    place_link,
    place_text,
    table,
)
from seal.report.run_results import text_call_notes
from seal.runs.run import RunFolder

# -- Why a run's goals failed, for a person: the table and the report's section.

WATERFALL = "First stage that explains each failed goal"
CAUSES = 3
"""Causes of a stage that the table names, the most frequent ones."""
MISSING = 5
"""Tasks, and trials, that a run lacks that are named."""
LOST = 10
"""Most tools of the table of those that the retriever lost."""
_FOLDED = 500
"""Most of those of a page."""
LINKED = 100
"""Most goals of a stage, and steps of one role and outcome, that are linked."""
LONGEST = 160
"""Characters of a task's id, and of a line of an example."""
_TEXT = 300
"""Characters of a line of an example on a page."""


def section(lanes: Sequence[Lane]) -> Markup | None:
    """Return waterfall, table and examples, run by run; None where no run has a failed goal."""
    several = sum(lane.kind == "run" for lane in lanes) > 1
    parts: list[Part] = []
    for place, lane in enumerate(lanes):
        if lane.kind == "run" and _played(lane.run) and _decided(lane):
            content = explained(lane.run)
            if content["failed"] or content["errors"]:
                parts += [Markup("<h3>{}</h3>").format(printable(lane.label))] * several
                parts += _explained(content, lane, place)
    return paragraphs(parts) or None


def _played(run: RunFolder) -> bool:
    """Tell whether there are tasks, chats and scores to explain."""
    paths = (run.path / "tasks.jsonl", run.trajectories_path, run.scores_path)
    return all(path.is_file() and path.stat().st_size for path in paths)


def _decided(lane: Lane) -> bool:
    """Tell whether there is a verdict to explain.

    A benchmark may declare its own success. If it is not installed, a run that is scored again has
    no value of that metric. Then only failures of the infrastructure can be explained.
    """
    success = lane.run.declared().get("success")
    has_value = not success or lane.metrics.get(success, {}).get("n")
    return bool(has_value or lane.summary.get("errors"))


def _explained(content: Mapping[str, Any], lane: Lane, place: int) -> Iterator[Part]:
    """Yield what a page shows of a run."""
    by_stage = grouped((found["stage"], found) for found in content["attributions"])
    stages = {
        row["stage"]: _stage(row, by_stage[row["stage"]], place) for row in explaining(content)
    }
    title = "Goals by the first stage that explains them; share of the failed with 95 % interval"
    grid = waterfall(content, lambda row: stages[row["stage"]].counted)
    bars = waterfall_bars(content, lane.label, lane.colour)
    yield bar_chart(f"{WATERFALL}: goals left after it", bars, content["goals"], axis="goals left")
    yield table(grid._replace(title=title), "Why goals failed")
    yield from notes(content)
    lost = len(content["tools_lost"])
    if lost:
        yield table(lost_tools(content), "Tools that the retriever lost")
    if lost > LOST:
        shown = f"{min(lost, _FOLDED):,} of {counted(lost, 'lost tool')}"
        yield Fold(shown, above=table(lost_tools(content, _FOLDED), shown))
    yield from lost_notes(content)
    yield from stages.values()


def explaining(content: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the stages that explain a goal."""
    return [row for row in content["stages"] if row["goals"]]


def waterfall_bars(
    content: Mapping[str, Any], label: str = "", colour: str = "run-0"
) -> list[BarGroup]:
    """Return the waterfall: all goals, a bar a stage, undecided (where any goal is), and solved.

    Args:
        content: Of explanation.json.
        label: Whose goals they are.
        colour: Of the stages.
    """
    goals = content["goals"]
    bars = [BarGroup("all goals", (Bar(label, "floor", goals),))]
    for row in explaining(content):
        # A stage that explains more leaves less: its interval is that of where the bar begins.
        end = row["left"] + row["goals"]
        low, high = (row[n] if row[n] is None else end - row[n] * goals for n in ("high", "low"))
        bar = Bar(label, colour, row["goals"], low, high, begin=row["left"])
        bars.append(BarGroup(row["meaning"], (bar,)))
    if content["undecided"]:
        bar = Bar(label, "undecided", content["undecided"], begin=content["solved"])
        bars.append(BarGroup("undecided", (bar,)))
    return [*bars, BarGroup("solved", (Bar(label, "ceiling", content["solved"]),))]


def waterfall(
    content: Mapping[str, Any],
    counted: Callable[[Mapping[str, Any]], str] = lambda row: f"{row['goals']:,}",
) -> Grid:
    """Return the table of stages; those that explain nothing are left out.

    Args:
        content: Of explanation.json.
        counted: Gives the number of a stage's goals as a cell.
    """
    columns: Columns = [
        ("stage", "meaning"),
        ("goals", counted),
        ("left", lambda row: f"{row['left']:,}"),
        ("of failed", figure("of_failed", percent)),
        ("95 %", lambda row: bounds(row["of_failed_low"], row["of_failed_high"])),
        ("partly", figure("partly", lambda count: f"{count:,}" if count else "")),
        ("causes", figure("causes", causes_text)),
    ]
    grid = grid_of(f"why goals failed: {content['run']}", columns, explaining(content))
    first = ("all goals", "", f"{content['goals']:,}", "", "", "", "")
    states = ["undecided"] * bool(content["undecided"]) + ["solved"]
    rest = [(state, f"{content[state]:,}", "", "", "", "", "") for state in states]
    return grid._replace(rows=[first, *grid.rows, *rest])


def lost_tools(content: Mapping[str, Any], most: int = LOST) -> Grid:
    """Return the tools that the retriever lost for most of the goals that need them.

    Args:
        content: Of explanation.json.
        most: Tools that it has, at most.
    """
    rows, names = content["tools_lost"], Counter(row["name"] for row in content["tools_lost"])
    columns: Columns = [
        ("tool", lambda row: printable(row["name"] if names[row["name"]] == 1 else row["tool"])),
        ("lost", lambda row: f"{row['lost']:,} of {row['needed']:,}"),
        ("share", lambda row: percent(row["lost"] / row["needed"])),
    ]
    return grid_of(
        "tools that the retriever lost, of the goals that need them", columns, rows[:most]
    )


def lost_notes(content: Mapping[str, Any]) -> Iterator[str]:
    """Yield how many goals lack a tool that they need, or none, and where all lost tools are.

    Nothing where a retriever was asked for no goal that needs a tool.
    """
    more = len(content["tools_lost"]) - LOST
    if more > 0:
        yield f"{counted(more, 'other tool')} lost: tools_lost.csv of seal explain RUN --out DIR"
    needed = content["tools_needed"]
    goals, lost, earlier = (needed[name] for name in ("goals", "lost", "earlier"))
    of = f"{goals:,} goals that need a tool and for which a retriever was asked"
    cut = f"cut-off of {needed['k']}" if needed["k"] else "cut-off"
    if lost:
        yield f"lacked a tool: {lost:,} of {of}"
    elif goals and not earlier:
        yield f"no tool that gold needs was below the {cut}, in {of}"
    if earlier:
        yield (
            f"had a tool from an earlier goal of the chat alone: {earlier:,} of {goals:,}; in "
            f"their own ranking it is below the {cut}, and it counts as found"
        )


def _stage(row: Mapping[str, Any], goals: Sequence[Mapping[str, Any]], place: int) -> Fold:
    """Return the goals that a stage explains, below its examples."""
    line = Markup('<br><small>{}</small> <span dir="auto">{}</span>')
    examples = Markup()
    for example in row["examples"]:
        told = ((name, one_line(text, _TEXT)) for name, text in example_lines(example))
        lines = Markup("").join(line.format(name, printable(text)) for name, text in told)
        head = place_link(example, place), example["cause"]
        examples += Markup("<p>{} <small>{}</small>{}</p>\n").format(*head, lines)
    title = f"{row['meaning']}: {counted(row['goals'], 'goal')}"
    links = [place_link(found, place) for found in goals[:LINKED]]
    anchor = f"why-{place}-{row['stage']}"
    return Fold(title, links, len(goals), "seal explain --json", anchor, examples)


def notes(content: Mapping[str, Any]) -> list[str]:
    """Return what has to be said of the table in plain lines."""
    decided = tallied(content["decided_by"])
    undecided, open_goals = bool(content["undecided"]), content.get("open", ())
    by = f"; decided by {decided}" if decided else ""
    lines = [
        f"{content['failed']:,} of {counted(content['goals'], 'goal')} failed{by}",
        *([f"{content['undecided']:,} undecided: neither gold nor a judge tells"] * undecided),
        *(
            f"{one_line(place_text(one), LONGEST)}: {one_line(one['reason'], _TEXT)}"
            for one in open_goals
        ),
        "left: goals that no stage so far explains; of failed: share of what the model failed",
    ]
    if content["partly"]:
        lines.append(
            f"partly solved: {content['partly']:,}, where some of several gold tools or gold steps "
            "got past the stage"
        )
    if content["unexplained"]:
        lines.append(f"unexplained: {percent(content['unexplained'])} of the failed")
    if content["clusters"] < content["tasks"]:
        lines.append(
            "variants of one task count together in intervals: "
            f"{counted(content['tasks'], 'task')} in {counted(content['clusters'], 'family')}"
        )
    lines += text_call_notes(content)
    lines += _missing(content["missing"])
    lines += [f"left out: {count:,} {reason}" for reason, count in content["excluded"].items()]
    return lines


def _missing(missing: Mapping[str, Any]) -> Iterator[str]:
    """Yield which tasks and trials the run lacks."""
    trials = [f"{one['task']} trial {one['trial']}" for one in missing["trials"]]
    for what, names in (("tasks", missing["tasks"]), ("trials of other tasks", trials)):
        if names:
            named = listed([one_line(name, LONGEST) for name in names], MISSING)
            yield f"missing from the run: {len(names):,} {what}: {named}"


def percent(share: float | None) -> str:
    """Return a share in per cent; empty where there is none."""
    return "" if share is None else f"{100 * share:.1f} %"


def bounds(low: float | None, high: float | None) -> str:
    """Return an interval of a share in per cent; empty where there is none."""
    return "" if low is None or high is None else f"[{100 * low:.1f}, {100 * high:.1f}]"


def causes_text(causes: Mapping[str, int]) -> str:
    """Return the most frequent causes with their counts."""
    named = [
        f"{cause.replace('_', ' ')} {count:,}" for cause, count in list(causes.items())[:CAUSES]
    ]
    more = [f"{len(causes) - CAUSES} more"] if len(causes) > CAUSES else []
    return ", ".join((*named, *more))


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


# -- The report's part about roles: who spoke, what it took, which errors each caught and caused.

_TITLE = (
    "Who spoke, what it took, and the errors that each role caught and caused, by rule with the "
    "gold"
)
MEANINGS: dict[Outcome, str] = {
    "caught": "sent back what was wrong",
    "caused": "sent back what was right, or planned an idle sub-step",
    "missed": "let pass what was wrong",
    "passed": "let pass what was right",
}


def role_section(lanes: Sequence[Lane]) -> Markup | None:
    """Return the table with links to the steps of planners, verifiers and checkers.

    None if no such role did something in any run.
    """
    rows, lists = [], []
    for place, lane in enumerate(lanes):
        found = _work(lane)
        asked = any(work.tokens_in or work.tokens_out for work in found.values())
        for role, work in sorted(found.items()):
            steps = [_steps(lane, place, role, work, outcome) for outcome in OUTCOMES]
            tokens = (f"{n:,}" if asked else "n/a" for n in (work.tokens_in, work.tokens_out))
            counts = (each.counted for each in steps)
            done = (f"{work.replies:,}", f"{len(work.goals):,}", *tokens)
            rows.append((lane.label, role, *done, *counts))
            lists += [each for each in steps if each.total]
    if not lists:
        return None
    heads = (Markup('<span title="{}">{}</span>').format(MEANINGS[each], each) for each in OUTCOMES)
    columns = ("run", "role", "replies", "goals", "tokens in", "tokens out", *heads)
    meanings = "; ".join(f"{outcome}: {meaning}" for outcome, meaning in MEANINGS.items())
    shown = table(Grid(_TITLE, columns, rows, names=2), "What each role did")
    return paragraphs((shown, meanings, *lists))


def _work(lane: Lane) -> Mapping[str, Work]:
    files = (lane.run.path / "tasks.jsonl", lane.run.trajectories_path)
    played = lane.kind == "run" and all(file.is_file() for file in files)
    return work_of(lane.run) if played else {}


def _steps(lane: Lane, lane_place: int, role: str, work: Work, outcome: Outcome) -> Fold:
    places = work.places[outcome]
    title = f"{role} of {lane.label}: {MEANINGS[outcome]}: {len(places):,}"
    links = [place_link(place._asdict(), lane_place) for place in places[:LINKED]]
    return Fold(title, links, len(places), "the run", f"role-{lane_place}-{role}-{outcome}")
