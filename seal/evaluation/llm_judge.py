"""A judge that asks a model, in two stages; and what else a model may be asked of an answer.

Source: the SEAL paper, "Pass rate": first request and final answer; only where that leaves it
unsure, the whole trajectory. The tools that were available are shown only to the question whether a
task can be solved at all (ToolEval), which is about nothing else. Completeness is the FAC of
StableToolBench and MirrorAPI. All prompts are our own.

Answers are read strictly. If an answer is off the scale, in prose or empty, the model is asked
again. After the last try there is no verdict (`NoVerdictError`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Literal, Protocol, TypeVar, get_args

import orjson

from seal.core import (
    JSON,
    ChatModel,
    Goal,
    InfrastructureError,
    Message,
    NoVerdictError,
    Request,
    Step,
    Tool,
    Verdict,
)
from seal.core.text import shipped_prompt
from seal.core.text_formats import objects_in
from seal.core.values import digest, json_bytes
from seal.evaluation.goals import EXECUTOR, USER
from seal.evaluation.panel import LABELS, Solvability
from seal.evaluation.pass_rates import PASS_PAPER
from seal.evaluation.rule_judge import judge_answer
from seal.evaluation.statistics import mean_interval, rounded, share

STAGES = {1: "judge_answer", 2: "judge_trajectory"}
SOLVABILITY = "judge_solvability"
COMPLETENESS = "judge_completeness"
_PROMPTS = {
    PASS_PAPER: tuple(STAGES.values()),
    "tooleval": (*STAGES.values(), SOLVABILITY),
    "sopr": tuple(STAGES.values()),
    "fac": (COMPLETENESS,),
}
_SOLVABLE: Mapping[str, Solvability] = {label: label for label in get_args(Solvability)}
_T = TypeVar("_T")
TRIES = 3
"""How often a question may be answered off the format before there is no verdict."""
_COMPLETE_REPAIR = "Answer with one word alone: Solved or Unsolved."


prompt = partial(shipped_prompt, __package__)
"""(name) to the text of `prompts/NAME.txt`."""
_OURS: Mapping[str, str] = {}


def prompts_digest(
    names: Sequence[str] = tuple(STAGES.values()), own: Mapping[str, str] = _OURS
) -> str:
    """Return one digest of prompts, else of both stages', part of what a run measures.

    Args:
        names: Of prompts.
        own: Name to the text that a run has instead of ours.
    """
    return digest([own.get(name) or prompt(name) for name in names])


def prompts_of(published: Sequence[str] = tuple(_PROMPTS)) -> list[str]:
    """Return the names of the prompts of published judges, each once; else of all."""
    return list(dict.fromkeys(p for name in published for p in _PROMPTS[name]))


@dataclass(frozen=True, slots=True)
class LLMJudge:
    """Asks a model for the verdict; safe in threads where the model is."""

    model: ChatModel
    seed: int = 0
    """Goes into the requests: judges of several votes differ in it."""
    prompts: Mapping[str, str] = field(default_factory=dict)
    """Name of a prompt to the text that stands in its place."""

    @property
    def identity(self) -> str:
        """Name and prompt version, part of what a run measures; the model is named apart."""
        return f"llm/{prompts_digest(own=self.prompts)[:12]}"

    def _prompt(self, name: str) -> str:
        return self.prompts.get(name) or prompt(name)

    def judge(self, goal: Goal, answer: str | None, steps: Sequence[Step]) -> Verdict:
        """Return the verdict on one goal.

        An empty answer and a give-up are unsolved without asking (`rule_judge.judge_answer` on
        the bare request).

        Args:
            goal: Only its text is shown.
            answer: The final answer.
            steps: What was said and done for this goal.

        Raises:
            ModelError: The model's server failed.
            NoVerdictError: The model gave no usable verdict.
        """
        bare = judge_answer(Goal(goal.text, plans=()), answer)
        if answer is None or bare.label == "unsolved":
            return bare
        asked = {"request": goal.text, "final_answer": answer}
        first = self._ask(1, asked)
        if first.label == "unsure":
            return self._ask(2, {**asked, "trajectory": shown_steps(steps)})
        return first

    def solvable(self, goal: Goal, tools: Sequence[Tool]) -> Solvability:
        """Return whether a request can be met at all, by what it says and these tools.

        Raises:
            ModelError: The model's server failed.
            NoVerdictError: The model gave no usable verdict.
        """
        offered = [{"name": tool.name, "description": tool.description} for tool in tools]
        shown = {"request": goal.text, "tools": offered}

        def read(text: str) -> Solvability | None:
            found = choice(text, "verdict", _SOLVABLE)
            return found[0] if found and isinstance(found[1], str) else None

        return ask(self, self._prompt(SOLVABILITY), shown, read, OneOf("verdict", _SOLVABLE))

    def complete(self, goal: Goal, answer: str) -> Verdict:
        """Return whether an answer addresses every part of a request: solved or unsolved.

        Raises:
            ModelError: The model's server failed.
            NoVerdictError: The model said neither word.
        """
        shown = {"request": goal.text, "final_answer": answer}
        instructions = self._prompt(COMPLETENESS)
        return ask(self, instructions, shown, read_completeness, _COMPLETE_REPAIR)

    def _ask(self, stage: int, shown: dict[str, Any]) -> Verdict:
        asked, form = self._prompt(STAGES[stage]), OneOf("verdict", LABELS)
        return ask(self, asked, shown, lambda text: parse_verdict(text, stage), form)


def ask(
    judge: LLMJudge,
    instructions: str,
    shown: Mapping[str, Any],
    read: Callable[[str], _T | None],
    form: OneOf | str,
) -> _T:
    """Return what a judge's model says of something.

    Args:
        judge: With model and seed.
        instructions: What the model is told to do.
        shown: What is to be judged; never part of the instructions, for JSON keeps them apart.
        read: Text to verdict; None where it is none.
        form: The JSON object that is asked for; of an answer in words what a model is told where
            it gives another.

    Raises:
        ModelError: The model's server failed.
        NoVerdictError: No try gave a verdict.
    """
    material = json_bytes(shown, orjson.OPT_INDENT_2).decode()
    messages = [Message("system", instructions), Message("user", material)]
    schema, repair = (None, form) if isinstance(form, str) else (form.schema(), form.repair())
    content = ""
    for _ in range(TRIES):
        request = Request(
            tuple(messages),
            role="judge",
            temperature=0.0,
            seed=judge.seed,
            json_object=schema is not None,
            json_schema=schema,
        )
        content = judge.model.complete(request).content
        verdict = read(content)
        if verdict is not None:
            return verdict
        messages += [Message("assistant", content), Message("user", repair)]
    raise NoVerdictError(f"the judge gave no verdict in {TRIES} tries; last: {content[:200]!r}")


def read_completeness(text: str) -> Verdict | None:
    """Return the verdict on completeness that a text gives; None: it says neither word.

    Source: StableToolBench, FAC: a text that contains "unsolved" is unsolved, else one that
    contains "solved" is solved. One with neither counts 0 there; here it is no verdict.
    """
    lower = text.lower()
    if "unsolved" in lower:
        return Verdict("unsolved", text.strip()[:200])
    return Verdict("solved", text.strip()[:200]) if "solved" in lower else None


def parse_verdict(text: str, stage: int) -> Verdict | None:
    """Return the verdict that a text gives, or None where it gives none.

    It is the one JSON object, anywhere in the text, with `verdict` solved, unsolved or unsure, in
    any case, and a text `reason`. Nothing is guessed from prose.
    """
    found = choice(text, "verdict", LABELS)
    return Verdict(*found, stage) if found and isinstance(found[1], str) else None


def choice(text: str, key: str, choices: Mapping[str, _T]) -> tuple[_T, Any] | None:
    """Return what the one JSON object in a text chooses, and its reason.

    None where there is no such object, or several that choose differently.

    Args:
        text: Of a model.
        key: Under which the object names its choice, in any case.
        choices: By their names in lower case.
    """
    given = [fields for fields in objects_in(text) if key in fields]
    names = {str(fields[key]).strip().lower() for fields in given}
    chosen = choices.get(names.pop()) if len(names) == 1 else None
    return None if chosen is None else (chosen, given[0].get("reason", ""))


@dataclass(frozen=True, slots=True)
class OneOf:
    """A JSON object that names one of three choices under a key, and a reason."""

    key: str
    choices: Mapping[str, object]

    def schema(self) -> dict[str, JSON]:
        """Return its JSON Schema."""
        return {
            "type": "object",
            "properties": {self.key: {"enum": [*self.choices]}, "reason": {"type": "string"}},
            "required": [self.key, "reason"],
            "additionalProperties": False,
        }

    def repair(self) -> str:
        """Return what a model is told whose answer is none of the choices."""
        first, second, third = self.choices
        return (
            "That was not the JSON object that was asked for. Answer with "
            f'{{"{self.key}": ..., "reason": ...}} alone; '
            f"{'the ' if self.key == 'verdict' else ''}{self.key} is {first}, {second} or {third}."
        )


def shown_steps(steps: Sequence[Step]) -> list[dict[str, Any]]:
    """Return what a judge is shown of a trajectory."""
    # A checker's own verdict must not decide the judge's; the user's calls are no work of it.
    return [
        _shown(step)
        for step in steps
        if step.author != "checker" and {step.author, step.recipient} != {USER, EXECUTOR}
    ]


def _shown(step: Step) -> dict[str, Any]:
    if step.call is not None:
        call = step.call
        arguments = call.raw if call.arguments is None else call.arguments
        return {"by": step.author, "calls": call.name, "id": call.id, "arguments": arguments}
    if step.result is not None:
        return {"by": step.author, "result_of": step.result.call_id, "content": step.result.content}
    return {"by": step.author, "to": step.recipient, "says": step.content}


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
        shown = {"request": goal.text, "first": _contest(first), "second": _contest(second)}
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


def _contest(one: Contestant) -> dict[str, Any]:
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
