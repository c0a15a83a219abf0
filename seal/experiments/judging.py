"""Judges of finished runs: win rates, and a judge held against rules and people."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from seal.core import JSON, DataError, Goal, Task, Trajectory, UsageError, shortened
from seal.core.store import open_store
from seal.evaluation.agreement import Case, audit, decisions, panel_audit, votes_of
from seal.evaluation.goals import answer_of, goal_steps, gold_in_chat
from seal.evaluation.llm_judge import (
    Contestant,
    LLMJudge,
    LLMPreference,
    Pairing,
    PreferenceJudge,
    RulePreference,
    pair,
    preference_identity,
    summarise_pairings,
)
from seal.evaluation.pass_rates import METRICS
from seal.evaluation.rule_judge import RuleJudge
from seal.experiments.annotation import LABEL, Judgements, SheetRow, decided, items_of, read_sheet
from seal.experiments.settings import PreferenceSettings
from seal.runs.finished import verdicts_for
from seal.runs.judges import check_votes
from seal.runs.role_models import Cast, judges_under
from seal.runs.run import RunFolder
from seal.runs.settings import RunSettings

# -- Compares the judge of a scored run with rules, and with people's labels.

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


# -- The win rate of one run against another, over the goals that both played.

Deciding = Callable[[Goal, Contestant, Contestant], Pairing]
"""(goal, what the base did, what the run did) to how it came out."""
OfChat = Callable[[Task, int], Deciding]
"""(task, trial) to who decides on the goals of that chat."""
Chat = tuple[str, int]
"""Task id, trial."""


def win_rate(run: RunFolder, base: RunFolder, settings: PreferenceSettings) -> dict[str, JSON]:
    """Return how often a run served a goal better than another.

    Args:
        run: The candidate.
        base: The reference.
        settings: Who judges.

    Returns:
        The keys of `summarise_pairings`, and:

        - judge: who judged: {judge, models, votes}.
        - unmatched: number of chats that only one of the runs has.
        - won, lost, undecided: for each such goal {task, trial, goal, by, reason}. An undecided
          goal has no outcome.

    Raises:
        DataError: The runs have no chat in common, or a run is damaged.
        UsageError: The judge is no model that can judge.
    """
    check_votes(settings.votes)
    votes = settings.votes or 1
    seed = int(base.manifest().get("measure", {}).get("seed", 0))
    judging = judges_under(settings.judge_model, settings.base_url, settings.model_options or {})
    asked = RunSettings(role_models={"judge": judging}, seed=seed)
    with open_store(settings.cache_dir, if_asked=not judging) as store:
        cast = Cast(asked, store, None)
        for judge in cast.judge_models:
            judge.check_able("judge")
        told = _compared(run, base, _asking(cast, votes))
        models = [judge.identity for judge in cast.judge_models]
    name = preference_identity() if models else RulePreference.identity
    return {"judge": {"judge": name, "models": models, "votes": votes if models else 0}, **told}


def _asking(cast: Cast, votes: int) -> OfChat:
    """Return what asks the judges of a chat; rules, where no model is named."""

    def of_chat(task: Task, trial: int) -> Deciding:
        judges: list[PreferenceJudge] = [
            LLMPreference(
                LLMJudge(
                    cast.opened("judge", task, trial, model, vote),
                    seed=cast.judge_seed(task, trial, vote),
                )
            )
            for model in cast.judge_models
            for vote in range(votes)
        ]
        asked = judges or [RulePreference()]
        return partial(pair, judges=asked)

    return of_chat


def _compared(run: RunFolder, base: RunFolder, of_chat: OfChat) -> dict[str, JSON]:
    ours, theirs = (_Side.of(side) for side in (run, base))
    both = sorted(ours.chats.keys() & theirs.chats.keys())
    if not both:
        raise DataError(
            f"{base.path} and {run.path} have no task and trial in common: "
            "compare runs of one benchmark"
        )
    tasks = {task.id: task for task in base.tasks()}
    numbers = {task_id: n for n, task_id in enumerate(dict.fromkeys(name for name, _ in both))}
    found: list[tuple[int, Pairing]] = []
    listed: dict[str, list[JSON]] = {"won": [], "lost": [], "undecided": []}
    for task_id, trial in both:
        task = tasks[task_id]
        decide = of_chat(task, trial)
        for position, goal in enumerate(task.goals):
            place = (task_id, trial, position)
            one, other = theirs.contestant(place), ours.contestant(place)
            if one is None or other is None:
                pairing = Pairing(None, "failed", reason="a run failed there")
            else:
                pairing = decide(goal, one, other)
            found.append((numbers[task_id], pairing))
            kind = _LISTED[pairing.outcome]
            if kind is not None:
                listed[kind].append({"task": task_id, "trial": trial, "goal": position,
                                     "by": pairing.by, "reason": pairing.reason})  # fmt: skip
    unmatched = len(ours.chats.keys() ^ theirs.chats.keys())
    return {**summarise_pairings(found), "unmatched": unmatched, **listed}


_LISTED = {"win": "won", "lose": "lost", "tie": None, None: "undecided"}


@dataclass(frozen=True, slots=True)
class _Side:
    """One of two runs."""

    chats: Mapping[Chat, Trajectory]
    labels: Mapping[Case, str]
    """Goal to the label that its pass rate has."""

    @classmethod
    def of(cls, run: RunFolder) -> _Side:
        labels = {
            (score.task_id, score.trial, score.goal): str(score.details.get("label", ""))
            for score in (run.scores() if run.scores_path.is_file() else ())
            if score.metric == "pass_rate" and score.value is not None
        }
        return cls({(t.task_id, t.trial): t for t in run.trajectories()}, labels)

    def contestant(self, place: Case) -> Contestant | None:
        """Return what was done for a goal; None where the infrastructure failed."""
        chat, goal = self.chats[place[:2]], place[2]
        if chat.failed:
            return None
        label = self.labels.get(place, "")
        return Contestant(answer_of(chat, goal), label, goal_steps(chat, goal))
