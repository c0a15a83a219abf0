"""The win rate of one run against another, over the goals that both played."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from seal.core import JSON, DataError, Task, Trajectory
from seal.core.store import open_store
from seal.evaluation.goals import answer_of, goal_steps
from seal.evaluation.judges.verdict_files import Place
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
from seal.experiments.comparison.comparison_settings import PreferenceSettings
from seal.experiments.preferences import recorded_preferences
from seal.runs.cast import Cast, judges_under
from seal.runs.judge_setup import check_votes
from seal.runs.run_folder import RunFolder
from seal.runs.settings import RunSettings

Deciding = Callable[[Place, Contestant, Contestant], Pairing]
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

        - judge: who judged; for recorded preferences `RecordedPreferences.judge`.
        - unmatched: number of chats that only one of the runs has.
        - won, lost, undecided: for each such goal {task, trial, goal, by, reason}. An undecided
          goal has no outcome.

    Raises:
        DataError: The runs have no chat in common, a run is damaged, or recorded preferences are of
            other runs.
        UsageError: The judge is no model that can judge.
    """
    check_votes(settings.votes)
    votes = settings.votes or 1
    seed = int(base.manifest().get("measure", {}).get("seed", 0))
    if settings.preferences is not None:
        found = recorded_preferences(run, base, Path(settings.preferences))
        told = _compared(run, base, lambda *_: lambda place, *_: found.pairing(place), seed)
        return {"judge": found.judge(), **told}
    judging = judges_under(settings.judge_model, settings.base_url, settings.model_options or {})
    asked = RunSettings(role_models={"judge": judging}, seed=seed)
    with open_store(settings.cache_dir) as store:
        cast = Cast(asked, store, None)
        for judge in cast.judge_models:
            judge.check_able("judge")
        told = _compared(run, base, _asking(cast, votes), seed)
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
        return lambda place, base, other: pair(task.goals[place[2]], base, other, asked)

    return of_chat


def _compared(run: RunFolder, base: RunFolder, of_chat: OfChat, seed: int) -> dict[str, JSON]:
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
        for position in range(len(task.goals)):
            place = (task_id, trial, position)
            one, other = theirs.contestant(place), ours.contestant(place)
            if one is None or other is None:
                pairing = Pairing(None, "failed", reason="a run failed there")
            else:
                pairing = decide(place, one, other)
            found.append((numbers[task_id], pairing))
            kind = _LISTED[pairing.outcome]
            if kind is not None:
                listed[kind].append({"task": task_id, "trial": trial, "goal": position,
                                     "by": pairing.by, "reason": pairing.reason})  # fmt: skip
    unmatched = len(ours.chats.keys() ^ theirs.chats.keys())
    return {**summarise_pairings(found, seed), "unmatched": unmatched, **listed}


_LISTED = {"win": "won", "lose": "lost", "tie": None, None: "undecided"}


@dataclass(frozen=True, slots=True)
class _Side:
    """One of two runs."""

    chats: Mapping[Chat, Trajectory]
    labels: Mapping[Place, str]
    """Goal to the label that its pass rate has."""

    @classmethod
    def of(cls, run: RunFolder) -> _Side:
        labels = {
            (score.task_id, score.trial, score.goal): str(score.details.get("label", ""))
            for score in (run.scores() if run.scores_path.is_file() else ())
            if score.metric == "pass_rate" and score.value is not None
        }
        return cls({(t.task_id, t.trial): t for t in run.trajectories()}, labels)

    def contestant(self, place: Place) -> Contestant | None:
        """Return what was done for a goal; None where the infrastructure failed."""
        chat, goal = self.chats[place[:2]], place[2]
        if chat.failed:
            return None
        label = self.labels.get(place, "")
        return Contestant(answer_of(chat, goal), label, goal_steps(chat, goal))
