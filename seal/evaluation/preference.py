"""Which of two runs served a goal better; verdicts recorded elsewhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal, Protocol, get_args

from seal.core import JSON, Goal, InfrastructureError, NoVerdictError, Step
from seal.evaluation.llm_judge import (
    LLMJudge,
    OneOf,
    ask,
    choice,
    prompt,
    prompts_digest,
    shown_steps,
)
from seal.evaluation.statistics import mean_interval, rounded, share

# -- Which of two runs served a goal better: win, lose and tie, asked in both orders.
#
# Source: ToolEval, win rate. A missing answer loses; a solved goal beats an unsolved one, without a
# judge; equal answers, for which the original tosses a coin, are a tie. Else a judge is asked
# twice, with either standing first: only one that it prefers in both orders wins the vote, so that
# where it stands brings nothing. More votes than the other win the goal.

Choice = Literal["first", "second", "tie"]
PREFERENCE = "judge_preference"
Outcome = Literal["win", "lose", "tie"]
CHOICES: Mapping[str, Choice] = {choice: choice for choice in get_args(Choice)}
_RANKS = {"solved": 2, "unsure": 1}


@dataclass(frozen=True, slots=True)
class Contestant:
    """What one run did for a goal."""

    answer: str | None
    label: str = ""
    """solved, unsolved or unsure; empty where the run was not judged."""
    steps: Sequence[Step] = ()

    @property
    def missing(self) -> bool:
        """True where there is no answer."""
        return self.answer is None or not self.answer.strip()


class PreferenceJudge(Protocol):
    """Says which of two is better."""

    def prefer(self, goal: Goal, first: Contestant, second: Contestant) -> Choice:
        """Return which of two served a goal better."""
        ...


@dataclass(frozen=True, slots=True)
class RulePreference:
    """Prefers solved to unsure and unsure to unsolved; else neither. Needs no model."""

    identity: ClassVar[str] = "rule/1"

    def prefer(self, goal: Goal, first: Contestant, second: Contestant) -> Choice:
        """Return which of two served a goal better.

        Raises:
            NoVerdictError: One of them was not judged, which does not make it the worse.
        """
        if not first.label or not second.label:
            raise NoVerdictError("an answer has no verdict: judge both runs, or name a judge model")
        ranks = [_RANKS.get(one.label, 0) for one in (first, second)]
        if ranks[0] == ranks[1]:
            return "tie"
        return "first" if ranks[0] > ranks[1] else "second"


@dataclass(frozen=True, slots=True)
class LLMPreference:
    """Asks a model, which sees request, answers and trajectories, and no gold."""

    judge: LLMJudge

    def prefer(self, goal: Goal, first: Contestant, second: Contestant) -> Choice:
        """Return which of two served a goal better.

        Raises:
            ModelError: The model's server failed.
            NoVerdictError: The model gave no usable answer.
        """
        shown = {"request": goal.text, "first": _shown(first), "second": _shown(second)}
        return ask(self.judge, prompt(PREFERENCE), shown, read_choice, OneOf("better", CHOICES))


@dataclass(frozen=True, slots=True)
class Pairing:
    """How one goal came out, seen from the second run."""

    outcome: Outcome | None
    """None: the judge failed, or said nothing usable."""
    by: str
    """missing, solved, equal or judge; where there is no outcome unusable, error (the judge's
    server) or failed (a run had no chat to judge)."""
    answers: Counter[str] = field(default_factory=Counter)
    """first, second and tie: what a judge said, by where it stood, over all votes and orders."""
    votes: int = 0
    """Votes with a usable answer in both orders."""
    turned: int = 0
    """Of these, how many named another run when the order was changed."""
    unusable: int = 0
    """Votes without."""
    reason: str = ""


def pair(
    goal: Goal, base: Contestant, other: Contestant, judges: Sequence[PreferenceJudge]
) -> Pairing:
    """Return whether the other run served a goal better than the base.

    Args:
        goal: What both were asked.
        base: The reference.
        other: The candidate, whose win it may be.
        judges: One a vote.
    """
    if base.missing or other.missing:
        return Pairing(outcome_of(base.missing - other.missing), "missing")
    if {base.label, other.label} == {"solved", "unsolved"}:
        return Pairing("win" if other.label == "solved" else "lose", "solved")
    if base.answer == other.answer:
        return Pairing("tie", "equal")
    try:
        return _voted(goal, base, other, judges)
    except InfrastructureError as error:
        return Pairing(None, "error", reason=str(error))


def outcome_of(lead: int) -> Outcome:
    """Return how a goal came out by how far the second run is ahead."""
    return "win" if lead > 0 else "lose" if lead < 0 else "tie"


def _voted(
    goal: Goal, base: Contestant, other: Contestant, judges: Sequence[PreferenceJudge]
) -> Pairing:
    answers: Counter[str] = Counter()
    points = votes = turned = unusable = 0
    reason = ""
    for judge in judges:
        try:
            ahead = judge.prefer(goal, base, other)
            behind = judge.prefer(goal, other, base)
        except NoVerdictError as error:
            unusable, reason = unusable + 1, str(error)
            continue
        votes += 1
        answers.update((ahead, behind))
        if ahead == "second" and behind == "first":
            points += 1
        elif ahead == "first" and behind == "second":
            points -= 1
        elif not ahead == behind == "tie":
            turned += 1
    if not votes:
        return Pairing(None, "unusable", unusable=unusable, reason=reason)
    return Pairing(outcome_of(points), "judge", answers, votes, turned, unusable)


def summarise_pairings(pairings: Sequence[tuple[int, Pairing]]) -> dict[str, JSON]:
    """Return win, lose and tie of the second run, and what the order of the two did.

    Args:
        pairings: (task, outcome of one of its goals).

    Returns:
        - n: goals with an outcome; win, lose, tie: their shares, None where n is 0
        - goals: how many there are, those without outcome too
        - win_rate: win + tie / 2, low, high: its 95 % interval over tasks
        - by: how many goals were decided by what (`Pairing.by`), those without outcome too
        - order: `first`, of the answers that name one of both the share that names the one shown
          first (0.5: no bias), `turned`, the share of votes that named the other run, or one and
          then neither, when the order was changed, and of how many `answers` and `votes` they are
    """
    known = [(task, found.outcome) for task, found in pairings if found.outcome is not None]
    counts = Counter[str](outcome for _, outcome in known)
    worth = {"win": 1.0, "lose": 0.0, "tie": 0.5}
    values = [worth[outcome] for _, outcome in known]
    low, high = mean_interval(values, [task for task, _ in known])
    answers = sum((found.answers for _, found in pairings), Counter[str]())
    votes = sum(found.votes for _, found in pairings)
    named = answers["first"] + answers["second"]
    shares = {name: share(counts[name], len(known)) for name in worth}
    return {
        "n": len(known),
        "goals": len(pairings),
        **shares,
        "win_rate": share(sum(values), len(known)),
        "low": rounded(low),
        "high": rounded(high),
        "by": dict(sorted(Counter(found.by for _, found in pairings).items())),
        "unusable": sum(found.unusable for _, found in pairings),
        "order": {
            "first": share(answers["first"], named),
            "answers": named,
            "turned": share(sum(found.turned for _, found in pairings), votes),
            "votes": votes,
        },
    }


def preference_identity() -> str:
    """Return name and prompt version of a model's preferences; the model is named apart."""
    return f"llm/{prompts_digest((PREFERENCE,))[:12]}"


def read_choice(text: str) -> Choice | None:
    """Return the choice that a JSON object gives; None where it is none."""
    found = choice(text, "better", CHOICES)
    return None if found is None else found[0]


def _shown(one: Contestant) -> dict[str, Any]:
    return {"final_answer": one.answer, "trajectory": shown_steps(one.steps)}


# -- Verdicts that were recorded elsewhere, whatever their format was.


@dataclass(frozen=True, slots=True)
class QueryVerdicts:
    """What the runs of a judge said of one query."""

    query: str | None
    """None: its id alone says which it is."""
    labels: Mapping[int, str]
    """Run to its label in lower case: solved, unsolved, unsure, or what else stands there."""
    answer: str | None
    """The final answer that was judged; None: the run did not finish, or it cannot be read."""


@dataclass(frozen=True, slots=True)
class VerdictFile:
    """A file of verdicts, or a folder of them."""

    path: Path
    queries: Mapping[str, QueryVerdicts]
    """By query id."""
    judges: tuple[str, ...] = ()
    """Of each run its judge; empty: one judge was run several times."""

    @property
    def runs(self) -> int:
        """How many runs of judges there are: one more than the highest of any query."""
        return max((run for found in self.queries.values() for run in found.labels), default=-1) + 1
