"""The pass rate of goals, what judges did in a run, and the names of published judges."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from seal.core import (
    JSON,
    DataError,
    Goal,
    InfrastructureError,
    Judge,
    NotRecordedError,
    NoVerdictError,
    Scale,
    Score,
    Step,
    Verdict,
    shortened,
)
from seal.core.conditions import CLEAN, USER, Condition, Match, Replied, parts
from seal.core.slots import WORDS
from seal.core.text import deeds_of, role, sentences, words
from seal.evaluation.calls import effects_of, lost_of, never_done, never_worked
from seal.evaluation.goals import (
    CRASHED,
    INFRASTRUCTURE,
    JUDGED,
    UNDECIDED,
    GoalChat,
    GoalMetric,
    Value,
    applies,
    asks_calls_alone,
    breaches_of,
    is_decidable,
    is_talk,
    made_calls,
    match_of,
    stop_of,
    undefined,
    unserved,
)
from seal.evaluation.rule_judge import RuleJudge, judge_calls

if TYPE_CHECKING:
    from seal.evaluation.agreement import Judged
    from seal.evaluation.panel import Ballot

# -- The pass rate: the share of goals that are solved, as a judge says, or the milestones.
#
# Source: the SEAL paper, "Pass rate". What it leaves open: of what gold asks to be told a rule says
# whether it was (`words`); what words leave open, a judge's model decides. Where a model judges
# alone and stays unsure, the goal is not passed if gold says what is to be told
# (`goals.is_decidable`): vague words do not leave the denominator. Otherwise the goal is undecided.
# It is neither passed nor failed, has no value, and is counted beside the rate.
#
# If a goal's plans ask of a world and its milestones decide (`plans.verdict_on`), no judge is
# asked. So the pass rate is never above the similarity, but where gold is a sentence: its values
# alone count (`sentences`). If gold also has an answer, the judge says whether it was given once
# all milestones are reached. No judge is asked either if gold is
# calls and nothing else (`judge_calls`). The right calls solve such a goal, whatever was answered
# and however the chat ended, unless the agent crashed.
#
# What is solved so is not where a call changed what gold does not (`calls.effects_of`). A call that
# looks does no harm where gold says more than calls. It is not solved either where the world lacks
# at the end what gold calls leave (`calls.lost_of`).
#
# Nothing is solved by a call that broke a rule of the world's policy (`BREACHES`).

UNUSABLE = "no usable verdict"
"""First words of the reason of a score that a judge's unusable answers left without a value."""


BROKEN = "a call broke the policy"
"""First words of the reason of a goal that failed by one."""


def judged(measure: Callable[[], Value]) -> Value:
    """Return what is measured; without a value where the judge failed or said nothing usable."""
    try:
        return measure()
    except InfrastructureError as error:
        return undefined(f"{INFRASTRUCTURE}: judge: {error}")
    except NoVerdictError as error:
        return undefined(f"{UNUSABLE}: {error}")
    except NotRecordedError as error:
        return undefined(f"no verdict recorded: {error}")


NAME = "pass_rate"
MILESTONES = "milestones"
CALLS = "calls"
POLICY = "policy"
"""Who says so, in a score's details, where no judge does."""


@dataclass(frozen=True)
class PassRate(GoalMetric):
    """1.0 for solved, 0.0 for unsolved; details: label, stage, reason.

    - pass_rate: solved / (solved + unsolved + unsure), beside the share of unsure and the number of
      undecided goals. In a world its milestones decide, and an extra effect fails a goal. If the
      gold is only calls, these decide under any judge, with or without an answer.

    A verdict of unsure is 0.0 where gold says what a right answer states, else None. Where no tool
    serves the goal, an answer that may not say so fails it: the label is unsolved.

    Where no judge said so, the details have `by` too: `MILESTONES`, `CALLS` or `POLICY`. Of a
    `Panel` they have each vote and the share of votes that say solved; the majority counts, a tie
    is unsure.

    A goal without a final answer is unsolved, unless it is measured by milestones or calls alone.
    The value is None, with the reason, if milestones cannot be measured. It is None too if the
    judge fails (server, cache under replay) or says nothing usable.

    Args:
        judge: Asked where milestones do not say.
        match: Rules of milestones (`goals.milestone_match`); None: each task's own.
    """

    judge: Judge = field(default_factory=RuleJudge)
    match: Match | None = None

    names = (NAME,)
    main = JUDGED  # with what published judges say, which stands beside it
    scales = dict.fromkeys(names, Scale(gold_is_best=True))

    def measure(self, goal: GoalChat) -> dict[str, Value]:
        """Return the value of one goal."""
        if broken := breaches_of(goal):
            amiss = Verdict("unsolved", f"{BROKEN}: {broken[0]['why']}", 2)
            return {NAME: value_of(0.0, amiss, by=POLICY, breaches=[*broken])}
        if applies(goal.task, goal.goal):
            from seal.evaluation.plans import measure_goal, verdict_on

            try:
                match = self.match or match_of(goal.task)
                best = goal.chat.once(measure_goal, goal, match)
            except DataError as error:
                return {NAME: undefined(f"the plan cannot be measured: {error}")}
            verdict = verdict_on(goal, best)
            if self.match is None and (verdict is None or verdict.label == "unsolved"):
                from seal.evaluation.sentences import judge_sentences

                worded = judge_sentences(goal, match)
                if worded is not None and worded.label == "unsure":
                    return {NAME: judged(lambda: self._of_words(goal, worded))}
                verdict = worded or verdict
            verdict = _unless_crashed(goal, verdict)
            if verdict is not None and verdict.label == "solved":
                acted, said = effects_of(goal, self.match or CLEAN)
                verdict = Verdict("unsolved", said, 2) if acted else verdict
            told = bool(goal.goal.answers or goal.goal.tells) and match == CLEAN
            if verdict is not None and not (told and verdict.label == "solved"):
                if self.match in (None, CLEAN) and (odd := _belied(goal, verdict)) is not None:
                    return {NAME: odd}
                return {NAME: value_of(float(verdict.label == "solved"), verdict, by=MILESTONES)}
            if verdict is not None:  # what is left to judge is the answer
                return {NAME: judged(lambda: self._judged(goal, replace(goal.goal, plans=None)))}
        if (verdict := _unless_crashed(goal, judge_calls(goal.goal, goal.steps))) is not None:
            return {NAME: value_of(float(verdict.label == "solved"), verdict, by=CALLS)}
        return {NAME: judged(lambda: self._judged(goal, goal.goal))}

    def _of_words(self, goal: GoalChat, verdict: Verdict) -> Value:
        """Return the value of a goal of which all was done, and words are open."""
        votes: dict[str, JSON] = {}
        if not isinstance(self.judge, RuleJudge):
            from seal.evaluation.panel import verdict_of

            verdict, votes = verdict_of(self.judge, goal.goal, goal.answer, goal.steps)
        elif (odd := _belied(goal, verdict)) is not None:
            return odd
        value = value_of(float(verdict.label == "solved"), verdict, **votes)
        if verdict.label != "unsure":
            return value
        return replace(value, value=None, weight=0.0, reason=f"{UNDECIDED}: {verdict.reason}")

    def _judged(self, goal: GoalChat, gold: Goal) -> Value:
        by_rule, votes = isinstance(self.judge, RuleJudge), dict[str, JSON]()
        verdict = Verdict("unsure", "", 2)
        if by_rule or gold.tells:  # what a rule is sure of, no model is asked
            from seal.evaluation.words import known_to

            known = goal.chat.once(known_to, goal)
            verdict = RuleJudge().judge(gold, goal.answer, goal.steps, known)
            if verdict.label != "unsolved" and _is_foreign(goal):
                told = "the answer is not English, and rules read no other language"
                verdict = replace(verdict, label="unsure", reason=told)
        if not by_rule and verdict.label == "unsure":
            from seal.evaluation.panel import verdict_of

            verdict, votes = verdict_of(self.judge, _shown(gold), goal.answer, goal.steps)
        if verdict.label == "unsure" and unserved(gold):
            told = "no call was made, but the answer does not say that no tool serves the request"
            verdict = replace(verdict, label="unsolved", reason=told)
        vain = never_worked(goal) if verdict.label == "solved" else ""
        if vain:
            told = f"the gold call of {vain} was refused, whatever the answer says"
            verdict = replace(verdict, label="unsolved", reason=told)
        if verdict.label == "solved" and (lacks := never_done(goal)):
            told = (
                f"the deed was never made: no call of {lacks} is gold's, whatever the answer says"
            )
            verdict = replace(verdict, label="unsolved", reason=told)
        if verdict.label == "solved":
            acted, said = effects_of(goal, self.match)
            said = said if acted else lost_of(goal)[1]
            verdict = replace(verdict, label="unsolved", reason=said) if said else verdict
        if by_rule and (odd := _belied(goal, verdict)) is not None:
            return odd
        stop = stop_of(goal.trajectory, goal.position, "done")
        if not goal.answer and stop != "done":
            verdict = replace(verdict, reason=f"{verdict.reason} ({stop})")
        value = value_of(float(verdict.label == "solved"), verdict, **votes, **_told(goal))
        replies = (isinstance(part, Replied) for part in _conditions(gold))
        by_words = by_rule and (
            bool(gold.tells or gold.answers or _is_foreign(goal)) or any(replies)
        )
        if verdict.label != "unsure" or (is_decidable(gold) and not by_words):
            return value
        return replace(value, value=None, weight=0.0, reason=f"{UNDECIDED}: {verdict.reason}")


def _shown(gold: Goal) -> Goal:
    """Return a goal as a model judges it, which sees of gold only what is to be told."""
    if not gold.tells:
        return gold
    told = "; ".join(slot.told for slot in gold.tells)
    return replace(gold, text=f"{gold.text}\n\n(A right answer tells: {told})")


def _conditions(goal: Goal) -> Iterator[Condition]:
    """Yield the conditions of a goal's milestones, each apart."""
    nodes = (node for plan in goal.plans or () for node in plan.milestones)
    return (part for node in nodes for part in parts(node.condition))


def _told(goal: GoalChat) -> dict[str, JSON]:
    """Return what was told of each slot, for the details of a score."""
    if not (goal.goal.tells or goal.goal.answers):
        return {}
    from seal.evaluation.words import findings_of

    found = goal.chat.once(findings_of, goal)
    return {"tells": [one.to_json() for one in found]} if found else {}


def _is_foreign(goal: GoalChat) -> bool:
    """Tell whether words decide the goal that rules cannot read."""
    from seal.core.quantities import is_foreign, normalise

    return is_foreign(normalise(goal.answer or "")) and not asks_calls_alone(goal.goal)


def _says_undone(chat: GoalChat) -> bool:
    """Tell whether an answer refuses, or says that a deed was not done, where gold asks for none.

    Most answers have no word of a refusal, for which the judge of messages need not be loaded.
    """
    goal, answer = chat.goal, chat.answer or ""
    asked = {getattr(part, "kind", "") for part in _conditions(goal)}
    lacks = any(slot.type in WORDS for slot in goal.tells)
    if "refused" in asked or lacks or _MAY_REFUSE.search(answer) is None:
        return False
    if goal.plans and not any(plan.milestones for plan in goal.plans):
        return False  # gold asks for nothing to be done, so a refusal may be right
    from seal.core.acts import acts
    from seal.core.untruths import denies_all
    from seal.evaluation.words import gold_sentences

    wanted = [step.content for step in goal.reference if step.call is None and step.result is None]
    declined = any(acts(one, goal.text).declines for one in (*gold_sentences(goal), *wanted[-1:]))
    if denies_all(answer, goal.text, chat.steps):
        return not (declined and _refuses_last(answer, goal.text, chat.steps))
    if declined or _FORESEES.search(goal.text):
        return False
    # A longer answer may refuse one thing rightly, and tell another that was done.
    is_long = len(sentences(answer[:_LONG])) > 2 or len(answer) > _LONG
    if is_long or asked & {"asked", "told"}:
        return False
    # "At first I couldn't. It is sent now."
    told = [one for one in sentences(answer) if role("partly").isdisjoint(words(one))]
    said = acts(" ".join(told) or answer, goal.text)
    calls = made_calls(chat.steps)
    looked = all(deeds_of(call.tool or call.name) <= {"read"} for call in calls) and not any(
        step.result is not None and step.state for step in chat.steps
    )
    if looked and not {one.kind for one in said.deeds} & {"read", "any"} and not said.declines:
        return False  # "I haven't changed anything", and nothing was to be changed
    return bool(said.declines or (said.denies_deed and not said.claims_deed))


def _refuses_last(answer: str, asked: str, steps: Sequence[Step]) -> bool:
    """Tell whether what an answer denies at its end is what it refused just before.

    "The second is too old, so I cannot claim it. I did not do it."
    """
    from seal.core.acts import acts
    from seal.core.untruths import denies_all

    told = sentences(answer)
    while told and denies_all(told[-1], asked, steps):
        told.pop()
    return bool(told and acts(told[-1], asked).refuses)


_LONG = 300
_FORESEES = re.compile(
    r"\bif (?:it|that|this)[^.?!;,]{0,40} (?:can't|cannot|can not)\b", re.IGNORECASE
)
"""Says in a request what is to be done where it must be refused."""
_MAY_REFUSE = re.compile(
    r"\b(?:not|no|never|none|nothing|neither|alone|un(?:touched|changed|able)|before|to be|cannot"
    r"|fail\w*|sorry|unfortunately|regret\w*)\b|n['\u2019]t\b",
    re.IGNORECASE,
)


def _belied(goal: GoalChat, verdict: Verdict) -> Value | None:
    """Return the value of a goal that was not failed, but for what is said; None: it is well.

    An answer that claims what was not done fails, and one that says that it was not done. One that
    tells a value that is no request's, result's or gold's, and does not follow from them, decides
    nothing.
    """
    if verdict.label == "unsolved" or not goal.answer or is_talk(goal.goal):
        return None
    from seal.core.untruths import wrong_day
    from seal.evaluation.claims import belied
    from seal.evaluation.inventions import deleted_otherwise, without_sign
    from seal.evaluation.words import (
        doubtful,
        findings_of,
        flat,
        invented,
        known_to,
        may_claim,
        reworded_cell,
        spoken,
        told_otherwise,
        with_marks,
    )

    goal = with_marks(goal)
    lacks = any(slot.type == "lack" for slot in goal.goal.tells)
    if (lacks or any(map(may_claim, spoken(goal)))) and (claimed := _claimed_falsely(goal)):
        told = f"the answer claims what was not done: {shortened(claimed)}"
        return value_of(0.0, replace(verdict, label="unsolved", reason=told))
    record = goal.chat.once(known_to, goal)
    if day := wrong_day(goal.answer or "", record):
        told = f"the answer says {shortened(day)}, and the day or its weekday is another"
        return value_of(0.0, replace(verdict, label="unsolved", reason=told))
    if claimed := belied(goal) or told_otherwise(goal) or deleted_otherwise(goal):
        told = f"the answer says what is not so: {shortened(claimed)}"
        return value_of(0.0, replace(verdict, label="unsolved", reason=told))
    if verdict.label == "unsure":
        return None
    cell, is_strange = reworded_cell(goal)
    if is_strange:
        told = f"a text that gold has of nobody names {shortened(cell)}"
        return value_of(0.0, replace(verdict, label="unsolved", reason=told))
    if not unserved(goal.goal) and _says_undone(goal):
        told = "the answer says that it was not done, and it was"
        return value_of(0.0, replace(verdict, label="unsolved", reason=told))
    said, is_false = flat(goal)
    if is_false:
        told = f"the answer says {shortened(said)}, and it is the other way round"
        return value_of(0.0, replace(verdict, label="unsolved", reason=told))
    # How far a day is away follows from today, which few records tell.
    usual = {"tomorrow", "tonight", "yesterday", *record.weekdays}
    values = (one for one in goal.chat.once(findings_of, goal) if one.slot.type not in WORDS)
    slots = [one.said for one in values if one.state == "told"]
    found = [one for text in spoken(goal) for one in record.unexplained(text, names=True)]
    odd = [said for said in found if said.lower() not in usual and said not in " ".join(slots)]
    if code := invented(goal):
        told = f"the answer says {shortened(code)}, which nobody told and nothing comes to"
        return value_of(0.0, replace(verdict, label="unsolved", reason=told))
    unknown = doubtful(goal, slots) or without_sign(goal)
    if said:
        told = f"gold does not tell whether {shortened(said)} is right"
    elif odd:
        told = f"the answer says {shortened(odd[0])}, which neither the request nor a result tells"
    elif unknown:
        told = f"nothing in the chat tells of what the agent says: {shortened(unknown)}"
    elif cell:
        told = f"gold has other words than {shortened(cell)}"
    else:
        return None
    verdict = replace(verdict, label="unsure", reason=told)
    value = value_of(0.0, verdict, unexplained=[said[:200] for said in odd[:_SHOWN]])
    return replace(value, value=None, weight=0.0, reason=f"{UNDECIDED}: {told}")


def _claimed_falsely(goal: GoalChat) -> str:
    """Return what the agent told its user to have done in this goal, and no call did."""
    from seal.core.untruths import untruths
    from seal.evaluation.words import gold_texts, looking

    steps = [step for step in goal.trajectory.steps if step.goal <= goal.position]
    here = {step.index for step in steps if step.goal == goal.position}
    lacks = any(slot.type == "lack" for slot in goal.goal.tells)
    for one in untruths(steps, gold_texts(goal), goal.chat.once(looking, goal)):
        # "Done." may be said where nothing had to be done.
        is_false = one.kind == "false_success" or lacks  # who knows nothing invents a value
        if is_false and one.step in here and not one.vague:
            return one.said
    return _says_done(goal) if lacks else ""


def _says_done(goal: GoalChat) -> str:
    """Return where an answer says "it's done" and no call of the goal changed anything."""
    from seal.core.acts import acts

    if any(step.result is not None and step.state for step in goal.steps):
        return ""
    asked = [step.content for step in goal.steps if step.author == USER]
    deeds = acts(goal.answer or "", "".join(asked[-1:])).deeds
    return next((deed.said for deed in deeds if deed.kind == "any" and deed.done), "")


_SHOWN = 10
"""Values that nothing explains, of which a score's details tell."""


def _unless_crashed(goal: GoalChat, verdict: Verdict | None) -> Verdict | None:
    if verdict is not None and verdict.label == "solved" and goal.stop == CRASHED:
        return Verdict("unsolved", "the agent crashed after it did what gold asks", 2)
    return verdict


def value_of(value: float, said: Verdict | Ballot, **details: JSON) -> Value:
    """Return the value of a goal, with what was said of it."""
    told: dict[str, JSON] = {"label": said.label, "stage": said.stage, "reason": said.reason}
    return Value(value, details={**told, **details})


class JudgingSummary:
    """Collects the scores of judged metrics one by one; no score is kept."""

    def __init__(self) -> None:
        self._metrics: dict[str, Judged] = {}

    def add(self, score: Score) -> None:
        """Take one score in; one that no panel voted on is not counted, unless as unusable."""
        votes = score.details.get("votes")
        if isinstance(votes, list) and votes:
            self._judged(score.metric, len(votes)).add(votes)
        elif score.value is None and score.reason.startswith(UNUSABLE):
            self._judged(score.metric, 0).lost += 1
        elif score.metric == "sopr" and score.value is not None:
            self._judged(score.metric, 0).settled += 1

    def result(self) -> dict[str, dict[str, JSON]]:
        """Return metric to what its judges did.

        - votes, judges: votes on each goal, and who cast them
        - unusable: votes that were none, and lost: goals that have no usable vote
        - agreement: of each judge with itself, where it votes more than once
        - kappa: Fleiss' kappa; kappa_n: goals that it is of, and kappa_votes: usable votes on each
        - runs, of sopr: the rate of each vote, and deviation: their population deviation, in points
          of 100, as published
        """
        return {name: found.result(name) for name, found in sorted(self._metrics.items())}

    def _judged(self, metric: str, seats: int) -> Judged:
        from seal.evaluation.agreement import Judged

        return self._metrics.setdefault(metric, Judged(seats))


# -- Published judges by name; `panel` has who votes, what votes come to, and their metrics.

PASS_PAPER = "pass_paper"
PUBLISHED = (PASS_PAPER, "tooleval", "sopr", "fac")
"""Judges that papers describe; the metric of the first is `pass_rate`."""
VOTES = {PASS_PAPER: 1, "tooleval": 4, "sopr": 4, "fac": 1}
"""Judgements of each goal, as published."""
METRICS = {PASS_PAPER: "pass_rate", "tooleval": "tooleval", "sopr": "sopr", "fac": "fac"}
"""Judge to its metric."""
