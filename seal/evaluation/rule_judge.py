"""A judge without a model: it says what results and answer prove, else unsure.

A goal whose gold is that no call is right is solved if none was made; of small talk
(`goals.is_talk`) a call fails whatever is answered, and so does a refusal. A goal that no tool
serves (`goals.unserved`) is unsolved if a call was made; else it is solved if the answer says that
it cannot be done.

What it can tell, in this order. From the answer alone (stage 1):

- solved: a plan asks the user, and the answer asks about the right thing. Or the answer is the
  reference reply, unless the goal has `tells`. Or everything that gold names is told
  (`seal.evaluation.words`): each slot of `Goal.tells`, each value of `Goal.answers` (one, if they
  are alternatives), or each text of a plan's `Replied`.
- unsolved: no answer; a give-up; no question though every plan asks; something that gold names is
  told wrong or left out. Or a refusal that states nothing, unless no plan needs a tool: then a
  refusal may be right.

Of a goal whose plans ask of a world it never says solved: words do not prove what was done there
(`plans.verdict_on` says what does). Where gold is calls and nothing else, these decide
alone, whatever was answered: solved as `calls_right` has it.

With the trajectory (stage 2):

- unsolved: every call failed. Or no call was made though every plan needs one.
- solved: only where the goal names no values. Every gold call of a plan succeeded with right
  arguments. For each of them the answer states a value of its result that was not in the request.
  The answer has no number from nowhere, and refuses nothing. Where gold has a reply with values or
  names, the answer has no other, nor one more often.

It says unsure of what it cannot tell, so that a solved or unsolved is safe:

- whether an answer is complete where neither values nor gold calls are annotated. Relevant tools do
  not say how often each must be called, so such goals are never solved;
- texts in other words, and a true result that was misread;
- refusals and denials in other languages than English;
- any answer of over `LONGEST` characters.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from seal.core import Goal, NoVerdictError, Plan, Step, Tool, ToolCall, ToolResult, Verdict
from seal.core.conditions import AGENT, USER, Asked, Called, Replied
from seal.core.facts import Record
from seal.core.quantities import numbers, read
from seal.core.statements import statement
from seal.core.text import plain_stems, stem
from seal.core.values import leaves
from seal.evaluation.calls import held_against
from seal.evaluation.goals import (
    asks_calls_alone,
    asks_no_call,
    asks_of_world,
    failed,
    is_talk,
    made_calls,
    unserved,
)
from seal.evaluation.words import judge_words

_GIVE_UP = re.compile(r"give_up_and_restart|^\W*(?:i )?give up\W*$", re.IGNORECASE)
_GENERIC = frozenset({"ok", "success", "successful", "true", "false", "none", "null", "error"})
_LONG_TEXT = 8
"""Tokens; of a longer text in a result only the numbers are values."""
LONGEST = 1_000_000
"""Characters of an answer that is read, which takes two seconds."""

Outcome = tuple[ToolCall, ToolResult | None]


@dataclass(frozen=True, slots=True)
class RuleJudge:
    """Judges by rule; safe in threads."""

    @property
    def identity(self) -> str:
        """Name and version, part of what a run measures."""
        return "rule/9"

    def judge(
        self,
        goal: Goal,
        answer: str | None,
        steps: Sequence[Step],
        record: Record | None = None,
    ) -> Verdict:
        """Return the verdict on one goal.

        Args:
            goal: The goal with its gold, which the judge may see.
            answer: The final answer.
            steps: What was said and done for this goal.
            record: What the chat tells, and of earlier goals; None: what these steps tell.
        """
        told = judge_calls(goal, steps) or judge_abstention(goal, answer, steps)
        verdict = told or judge_answer(goal, answer, steps, record)
        if verdict.label == "unsure" and answer is not None and len(answer) <= LONGEST:
            verdict = judge_trajectory(goal, answer, steps)
        if verdict.label == "solved" and any(map(asks_of_world, goal.plans or ())):
            return Verdict("unsure", "words do not prove what was done in the world", 2)
        return verdict

    def solvable(self, goal: Goal, tools: Sequence[Tool]) -> Literal["solvable", "unsure"]:
        """Return whether gold shows that a request can be met; nothing shows the contrary."""
        shown = goal.answers or goal.relevant or any(plan.calls() for plan in goal.plans or ())
        return "solvable" if shown else "unsure"

    def complete(self, goal: Goal, answer: str) -> Verdict:
        """Return whether the answer alone proves that all was addressed, or that it was not.

        Raises:
            NoVerdictError: It proves neither.
        """
        verdict = judge_answer(goal, answer)
        if verdict.label == "unsure":
            raise NoVerdictError("rules cannot tell from the answer alone; name a judge's model")
        return verdict


def judge_calls(goal: Goal, steps: Sequence[Step]) -> Verdict | None:
    """Return whether the calls are those of gold; None: gold asks more, or a call was cut."""
    if not asks_calls_alone(goal):
        return None
    results = {step.result.call_id: step.result for step in steps if step.result is not None}
    _, amiss = held_against(goal, made_calls(steps), results)
    if not amiss:
        return Verdict("solved", "every gold call was made, and no other", 2)
    for call, result in _outcomes(steps):
        cut = result is None or "arguments" in (result.error or {}).get("cut", ())
        if cut and call.arguments is None:
            return None
    return Verdict("unsolved", f"the calls are not those of gold: {amiss}", 2)


def judge_abstention(goal: Goal, answer: str | None, steps: Sequence[Step]) -> Verdict | None:
    """Return whether the agent abstained where no call is right; None: one is, or it cannot tell.

    Whoever calls has not seen that no tool is needed, whatever it answers in the end. Who does not,
    and is to state a value, is judged by that.
    """
    if not asks_no_call(goal) and not is_talk(goal):
        return None
    calls = len(made_calls(steps))
    if calls:
        told = "a call was" if calls == 1 else f"{calls} calls were"
        return Verdict("unsolved", f"{told} made, but no tool serves the request", 2)
    # Only where it is asked for: other runs do not load how words are judged.
    from seal.core.acts import acts

    cannot = acts(answer or "", goal.text).declines
    is_stated = bool(goal.answers) and judge_answer(goal, answer).label == "solved"
    if is_talk(goal) and goal.answers and (is_stated or not cannot):
        return None
    if is_talk(goal) and (cannot or not (answer or "").strip()):
        return Verdict("unsolved", "no call was needed, but the answer refuses or is missing", 2)
    if cannot:
        return Verdict("solved", "no tool serves the request: no call, and the answer says so", 2)
    if unserved(goal) or (is_talk(goal) and cannot is None):
        return None
    return Verdict("solved", "no call is right, and none was made", 2)


def judge_answer(
    goal: Goal,
    answer: str | None,
    steps: Sequence[Step] = (),
    record: Record | None = None,
) -> Verdict:
    """Return what the words of the agent prove."""
    if answer is None or not answer.strip():
        return Verdict("unsolved", "there is no final answer")
    if len(answer) > LONGEST:
        return Verdict("unsure", f"rules read no answer of over {LONGEST:,} characters")
    if _GIVE_UP.search(answer):
        return Verdict("unsolved", "the agent gave up")
    asking = [plan for plan in goal.plans or () if _asks_only(plan)]
    if asking:
        asked = _judge_question(answer, asking, len(asking) == len(goal.plans or ()))
        if asked is not None:
            return asked
    # Where gold names what to tell, an earlier message may tell it wrong.
    reference = None if goal.tells else _reference_reply(goal)
    if reference is not None and read(answer).values == read(reference).values:
        return Verdict("solved", "the answer is the reference reply")
    if len(answer) <= LONGEST:
        verdict, _ = judge_words(goal, answer, steps, record)
        if verdict is not None:
            return verdict
    if not goal.needs_no_tool and _only_refuses(answer, goal.text):
        return Verdict("unsolved", "the answer only refuses")
    return Verdict("unsure", "the answer alone does not prove it")


def judge_trajectory(goal: Goal, answer: str, steps: Sequence[Step]) -> Verdict:
    """Return what answer and trajectory prove together."""
    outcomes = _outcomes(steps)
    successes = [(call, result) for call, result in outcomes if result and result.error is None]
    if outcomes and all(failed(result) for _, result in outcomes):
        return Verdict("unsolved", f"every call failed ({len(outcomes)})", 2)
    if not outcomes and goal.plans and all(plan.calls() for plan in goal.plans):
        return Verdict("unsolved", "no call was made, but every plan needs one", 2)
    if goal.tells or goal.answers:
        return judge_answer(goal, answer, steps)
    known = _result_numbers(successes) | set(numbers(goal.text))
    strangers = [one for one in numbers(answer) if one not in known and _has_digits(one)]
    beyond = _beyond(answer, _reference_reply(goal))
    if not strangers and not beyond and _grounded(goal, answer, successes):
        return Verdict("solved", "the answer states values of every result that was needed", 2)
    return Verdict("unsure", "results and answer do not prove it", 2)


def _asks_only(plan: Plan) -> bool:
    kinds = {type(milestone.condition) for milestone in plan.milestones}
    return Asked in kinds and not kinds & {Called, Replied}


def _judge_question(answer: str, asking: Sequence[Plan], must_ask: bool) -> Verdict | None:
    step = Step(0, AGENT, USER, answer)
    questions = [
        m.condition for plan in asking for m in plan.milestones if isinstance(m.condition, Asked)
    ]
    if any(question.similarity(step, {}) == 1.0 for question in questions):
        return Verdict("solved", "the answer asks the user, as it should")
    if must_ask and not Asked().similarity(step, {}):
        return Verdict("unsolved", "the answer asks nothing, though something had to be asked")
    return None


def _reference_reply(goal: Goal) -> str | None:
    replies = [s.content for s in goal.reference if s.call is None and s.result is None]
    return replies[-1] if replies and read(replies[-1]).tokens else None


_MAY_REFUSE = re.compile(
    r"n['\u2019]t\b|\b(?:no|not|none|nothing|neither|cannot|cant|dont|wont|couldnt|havent|didnt|unable|failed|beyond"
    r"|outside|above|rather|wish|sorry|afraid|unfortunately|regret\w*|alas|sadly|apolog\w+)\b",
    re.IGNORECASE,
)
"""Every answer that refuses has one of these words."""


def _only_refuses(answer: str, request: str) -> bool:
    if not _MAY_REFUSE.search(answer):
        return False
    from seal.core.acts import acts

    told = acts(answer, request)
    return told.declines is True and told.states is False


def _beyond(answer: str, reference: str | None) -> bool:
    """Tell whether an answer has a value or name that a reference reply with such lacks."""
    said, known = (
        Counter(
            str(token.value)
            for whole in (read(text),)
            for token in whole.tokens
            if type(token.value) is not str
            or any(map(str.isdigit, token.value))
            or (whole.said(token.start, token.end)[:1].isupper() and _names(token.value))
        )
        for text in (answer, reference or answer)
    )
    return bool(known and said - known)


def _names(word: str) -> bool:
    return len(word) > 1 and stem(word) not in plain_stems()


def _outcomes(steps: Sequence[Step]) -> list[Outcome]:
    """Return each of the agent's calls with its result."""
    results = {s.result.call_id: s.result for s in steps if s.result is not None}
    return [(call, results.get(call.id)) for call in made_calls(steps)]


def _result_values(result: ToolResult) -> list[str]:
    """Return the texts and numbers of a result; of long texts their numbers."""
    found = []
    for leaf in leaves(result.content if result.value is None else result.value):
        if len(read(leaf).tokens) > _LONG_TEXT:
            found += [format(number, "f") for number in numbers(leaf)]
        else:
            found.append(leaf)
    return found


def _telling(value: str) -> bool:
    """Tell whether a value is unlikely to occur in an answer by chance."""
    parts = read(value).values
    if len(parts) == 1 and isinstance(parts[0], Decimal):
        return _has_digits(parts[0])
    return sum(len(str(part)) for part in parts) > 2 and not _GENERIC.issuperset(map(str, parts))


def _result_numbers(outcomes: Sequence[Outcome]) -> set[Decimal]:
    return {
        number
        for _, result in outcomes
        if result is not None
        for leaf in leaves(result.content if result.value is None else result.value)
        for number in numbers(leaf)
    }


def _has_digits(number: Decimal) -> bool:
    return len(number.normalize().as_tuple().digits) > 1


def _grounded(goal: Goal, answer: str, successes: Sequence[Outcome]) -> bool:
    """Tell whether every call of a plan succeeded with a result of which the answer tells."""
    plans = [plan.calls() for plan in goal.plans or ()]
    needed = {gold.tool for calls in plans for gold in calls}
    told = [
        call
        for call, result in successes
        if call.tool in needed and result is not None and _tells(goal, answer, result)
    ]
    if not any(
        all(any(gold.tool == c.tool and gold.accepts(c.arguments) for c in told) for gold in calls)
        for calls in plans
        if calls
    ):
        return False
    if not _MAY_REFUSE.search(answer):
        return True
    from seal.core.acts import acts

    return acts(answer, goal.text).refuses is False


def _tells(goal: Goal, answer: str, result: ToolResult) -> bool:
    """Tell whether an answer states a value of a result that was not in the request."""
    return any(
        _telling(value)
        and statement(answer, value) == "stated"
        and statement(goal.text, value) == "absent"
        for value in _result_values(result)
    )
