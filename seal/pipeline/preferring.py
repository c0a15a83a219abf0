"""The win rate of one run against another, over the goals that both played."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from seal.core.errors import DataError
from seal.core.store import Store
from seal.core.types import JSON, Task, Trajectory
from seal.evaluation.goals import goal_steps
from seal.evaluation.judges.measures import answer_of
from seal.evaluation.llm_judge import LLMJudge
from seal.evaluation.preference import (
    Contestant,
    LLMPreference,
    Pairing,
    PreferenceJudge,
    RulePreference,
    pair,
    preference_identity,
    summarise_pairings,
)
from seal.pipeline.cast import Cast
from seal.pipeline.judges import check_votes
from seal.pipeline.places import cache_folder
from seal.pipeline.run_folder import RunFolder
from seal.pipeline.settings import RunSettings

SHOWN = 20
"""Goals that are named where there is no outcome."""
Judging = Callable[[Task, int], list[PreferenceJudge]]
"""(task, trial) to the judges of that chat, one a vote."""


def win_rate(
    base: Path,
    other: Path,
    judge_model: Any = None,
    votes: int = 1,
    model_options: Mapping[str, Any] | None = None,
    base_url: str | None = None,
    cache_dir: Path | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, JSON]:
    """Return how often a run served a goal better than another.

    Args:
        base: Run folder of the reference.
        other: Run folder of the candidate.
        judge_model: Model, or several in a tuple, asked in both orders; None: by rule, from the
            labels of the runs' pass rates, without which a goal has no outcome.
        votes: Of each model on each goal.
        model_options: Of the models.
        base_url: Their server.
        cache_dir: Where answers are kept; None: the usual place.
        progress: Called with (chats compared, of how many).

    Returns:
        What `summarise_pairings` says, and `base`, `other`, `judge`, `unmatched`: chats that one
        of both has alone, and `failed`: goals without outcome, with the reason.

    Raises:
        DataError: No chat is in both, or a run is damaged.
        UsageError: A judge that cannot be.
    """
    check_votes(votes)
    runs = RunFolder.open(base), RunFolder.open(other)
    seed = int(runs[0].manifest().get("measure", {}).get("seed", 0))
    settings = RunSettings(
        role_models={} if judge_model is None else {"judge": judge_model},
        model_options=model_options or {},
        base_url=base_url,
        seed=seed,
    )
    with Store(cache_folder(cache_dir) / "answers.sqlite") as store:
        cast = Cast(settings, store, None)
        for spec in cast.judge_specs:
            cast.check_able("judge", spec)
        told = _compared(runs, _judging(cast, votes), seed, progress)
        models = [cast.identity_of(spec) for spec in cast.judge_specs]
    name = preference_identity() if models else RulePreference.identity
    return {
        "base": str(base),
        "other": str(other),
        "judge": {"judge": name, "models": models, "votes": votes if models else 0},
        **told,
    }


def _judging(cast: Cast, votes: int) -> Judging:
    def judges(task: Task, trial: int) -> list[PreferenceJudge]:
        if not cast.judge_specs:
            return [RulePreference()]
        return [
            LLMPreference(
                LLMJudge(
                    cast.judge_model(spec, task, trial, vote),
                    seed=cast.judge_seed(task, trial, vote),
                )
            )
            for spec in cast.judge_specs
            for vote in range(votes)
        ]

    return judges


def _compared(
    runs: tuple[RunFolder, RunFolder],
    judging: Judging,
    seed: int,
    progress: Callable[[int, int], None] | None,
) -> dict[str, JSON]:
    chats = tuple({(t.task_id, t.trial): t for t in run.trajectories()} for run in runs)
    labels = tuple(_labels(run) for run in runs)
    both = sorted(chats[0].keys() & chats[1].keys())
    if not both:
        raise DataError(
            f"{runs[0].path} and {runs[1].path} have no task and trial in common: "
            "compare runs of one benchmark"
        )
    tasks = {task.id: task for task in runs[0].tasks()}
    found: list[tuple[int, Pairing]] = []
    failed: list[dict[str, JSON]] = []
    numbers = {task_id: n for n, task_id in enumerate(dict.fromkeys(name for name, _ in both))}
    for done, key in enumerate(both, 1):
        task, trial = tasks[key[0]], key[1]
        judges = judging(task, trial)
        for position, goal in enumerate(task.goals):
            pairing = Pairing(None, "error", reason="the run failed")
            if not chats[0][key].failed and not chats[1][key].failed:
                sides = [
                    _contestant(chats[n][key], position, labels[n].get((*key, position), ""))
                    for n in range(2)
                ]
                pairing = pair(goal, sides[0], sides[1], judges)
            found.append((numbers[task.id], pairing))
            if pairing.outcome is None:
                failed.append({"task": task.id, "trial": trial, "goal": position,
                               "by": pairing.by, "reason": pairing.reason})  # fmt: skip
        if progress is not None:
            progress(done, len(both))
    unmatched = len(chats[0].keys() ^ chats[1].keys())
    return {**summarise_pairings(found, seed), "unmatched": unmatched, "failed": failed[:SHOWN]}


def _labels(run: RunFolder) -> dict[tuple[str, int, int], str]:
    return dict(_judged(run)) if run.scores_path.is_file() else {}


def _judged(run: RunFolder) -> Iterator[tuple[tuple[str, int, int], str]]:
    for score in run.scores():
        if score.metric == "pass_rate" and score.value is not None:
            yield (score.task_id, score.trial, score.goal), str(score.details.get("label", ""))


def _contestant(trajectory: Trajectory, position: int, label: str) -> Contestant:
    return Contestant(answer_of(trajectory, position), label, goal_steps(trajectory, position))
