"""A judge of a finished run held against rules and people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from seal.core import JSON, DataError, UsageError, shortened
from seal.evaluation.agreement import Case, audit, decisions, panel_audit, votes_of
from seal.evaluation.goals import answer_of, goal_steps, gold_in_chat
from seal.evaluation.pass_rates import METRICS
from seal.evaluation.rule_judge import RuleJudge
from seal.experiments.annotation import LABEL, Judgements, SheetRow, decided, items_of, read_sheet
from seal.runs.finished import verdicts_for
from seal.runs.run import RunFolder

_RECORDED_FILES = (".json", ".gz")
"""Endings of files that hold verdicts as authors recorded them, not sheets."""


def audit_run(folder: RunFolder, labels: Path | None = None) -> dict[str, JSON]:
    """Compare every judged metric of a run with rules, and with people's labels if given.

    Args:
        folder: A scored run; its summary.json gets the audit.
        labels: CSV with the columns label (solved, unsolved or unsure) and task_id, and optionally
            trial, goal and rater; or a sheet of `seal annotate export`. Or verdicts that the
            benchmark's authors recorded: JSON or a folder. If there are several raters, the
            majority counts.

    Returns:
        {metric: {rules: audit, people: audit}}. If several judges voted, an audit has the fields of
        `panel_audit` too. The audit against rules covers the goals that rules can decide safely; it
        is missing if the judge is these rules. With labels there is also labels: {taken: goals that
        people decide, undecided: goals that they leave unsure, empty: rows without a label, raters,
        problems}.

    Raises:
        DataError: The run is not scored, the file cannot be read, or no label is of the run.
        UsageError: The judge is a rule, and no labels are given.
    """
    references: dict[str, Mapping[Case, bool]] = {}
    judge = (folder.manifest().get("measure") or {}).get("judge") or {}
    if judge.get("judge") != RuleJudge().identity:
        references["rules"] = _rules(folder)
    elif labels is None:
        raise UsageError(
            f"{folder.path} is judged by rule, and rules always agree with themselves; name a "
            "judge's model, or give labels of people: --audit FILE.csv"
        )
    summary = folder.summary()
    told: dict[str, JSON] = {}
    if labels is not None:
        given = Judgements.of(_rows(folder, labels))
        references["people"] = _of_run(folder, given, labels)
        taken = len(references["people"])
        told["labels"] = {
            "taken": taken,
            "undecided": len(given.votes) - taken,
            "empty": given.empty,
            "raters": len(given.raters),
            "problems": list(given.problems),
        }
    found: dict[str, JSON] = {}
    for metric in [name for name in METRICS.values() if name in summary["metrics"]]:
        judged = decisions(folder.scores(), metric)
        judges = votes_of(folder.scores(), metric)
        found[metric] = {
            name: audit(judged, cases).record()
            | (panel_audit(judges, cases) if len(judges) > 1 else {})
            for name, cases in references.items()
        }
    found |= told
    folder.write_json("summary.json", {**summary, "audit": found})
    return found


def _rows(folder: RunFolder, path: Path) -> Iterator[SheetRow[Case] | str]:
    """Yield what people say of a run's goals."""
    if path.suffix.lower() not in _RECORDED_FILES and not path.is_dir():
        goals = {item.id: item.case for item in items_of(folder, LABEL)}
        yield from read_sheet(path, LABEL, goals)
        return
    found, by_task = verdicts_for(folder, path)
    raters = found.judges or [f"run {run}" for run in range(found.runs)]
    for task_id, query in by_task.items():
        for run, label in query.labels.items():
            case, where = (task_id, 0, 0), f"{path.name}, task {task_id}"
            if label in LABEL.values:
                yield SheetRow(where, case, label, raters[run])
            else:
                yield f"{where}: label {shortened(label)}: expected {', '.join(LABEL.values)}"


def _of_run(folder: RunFolder, given: Judgements[Case], path: Path) -> Mapping[Case, bool]:
    tasks = {task.id for task in folder.tasks()}
    if not any(case[0] in tasks for case in given.votes):
        first = next(iter(given.votes), ("nothing", 0, 0))[0]
        raise DataError(
            f"{path}: labels of another run: none of {len(given.votes)} is of a task of "
            f"{folder.path}, such as {first!r}; rows without a label: {given.empty}; rows that are "
            f"no label: {len(given.problems)}"
            + (f", such as {given.problems[0]}" if given.problems else "")
        )
    return decided(given.votes)


def _rules(folder: RunFolder) -> dict[Case, bool]:
    """Return what rules decide: goals that they leave unsure are left out."""
    judge, tools = RuleJudge(), folder.tools()
    found: dict[Case, bool] = {}
    for task, trajectory in folder.chats():
        known, lacking = gold_in_chat(task.of_tools(tools), trajectory)
        goals = () if trajectory.failed or lacking else known.goals
        for position, goal in enumerate(goals):
            steps = goal_steps(trajectory, position)
            verdict = judge.judge(goal, answer_of(trajectory, position), steps)
            if verdict.label != "unsure":
                found[task.id, trajectory.trial, position] = verdict.label == "solved"
    return found
