"""A judge without a model: it says what results and answer prove, else unsure.

A goal that no tool serves (`goals.unserved`), or whose gold is that no call is right, is unsolved
if a call was made. Else it is solved if the answer says that it cannot be done.

What it can tell, in this order. From the answer alone (stage 1):

- solved: a plan asks the user, and the answer asks about the right thing. Or the answer is the
  reference reply. Or it states every value of `Goal.answers` (one, if they are alternatives), or
  every text of a plan's `Replied`.
- unsolved: no answer; a give-up; no question though every plan asks. Or nothing but apology and
  refusal, unless no plan needs a tool: then a refusal may be right.

Of a goal whose plans ask of a world it never says solved: words do not prove what was done there
(`pass_rates.milestones_verdict` says what does). Where gold is calls and nothing else, these decide
alone, whatever they brought and whatever was answered: solved as `calls_right` has it.

With the trajectory (stage 2):

- unsolved: every call failed. Or no call was made though every plan needs one. Or a successful
  result has the number that is expected, and the answer has another one that no result and no
  request has. Or the answer has no number, and every expected value holds one of several digits.
- solved: only where the goal names no values. Every gold call of a plan succeeded with right
  arguments. For each of them the answer states a value of its result that was not in the request.
  The answer has no number from nowhere, and refuses nothing.

It says unsure of what it cannot tell, so that a solved or unsolved is safe:

- whether an answer is complete where neither values nor gold calls are annotated. Relevant tools do
  not say how often each must be called, so such goals are never solved;
- values in other words or units (see `core.statements`), and a true result that was misread;
- refusals and denials in other languages than English;
- any answer of over `LONGEST` characters.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from seal.core import Goal, NoVerdictError, Plan, Step, Tool, ToolCall, ToolResult, Verdict
from seal.core.conditions import Asked, Called, Replied
from seal.core.english import normalise, numbers, read
from seal.core.statements import statement
from seal.core.text import sentences
from seal.core.values import leaves
from seal.evaluation.calls import best_alignment, misplaced, wrong
from seal.evaluation.goals import asks_calls_alone, asks_no_call, asks_of_world, failed, made_calls

_GIVE_UP = re.compile(r"give_up_and_restart|^\W*(?:i )?give up\W*$", re.IGNORECASE)
_INABILITY = (
    r"\b(?:i|we)(?:'m| am| are| was| were|'re)? (?:(?:currently|really|still) )?"
    r"(?:cannot|can't|can not|could not|couldn't|unable to|not able to|won't be able to"
    r"|don't have|do not have|failed to)\b"
)
_APOLOGY = r"\b(?:sorry|apologi[sz]e|apologies|unfortunately)\b"
_REFUSAL = re.compile(f"{_INABILITY}|{_APOLOGY}")
_FOUND_NOTHING = re.compile(
    r"\b(?:find|found|locate|results?|matches|there (?:is|are|were|was) no)\b"
)
"""A search may truly find nothing: that is no refusal."""
_FILLER = re.compile(
    r"^(?:please|let me know|feel free|is there anything|if you|i hope|thank|hope)\b"
)
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
        return "rule/6"

    def judge(self, goal: Goal, answer: str | None, steps: Sequence[Step]) -> Verdict:
        """Return the verdict on one goal.

        Args:
            goal: The goal with its gold, which the judge may see.
            answer: The final answer.
            steps: What was said and done for this goal.
        """
        told = judge_calls(goal, steps) or judge_abstention(goal, answer, steps)
        verdict = told or judge_answer(goal, answer)
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
    best = best_alignment(goal.plans or (), made_calls(steps))
    amiss = wrong(best) or misplaced(goal, best)
    if not amiss:
        return Verdict("solved", "every gold call was made, and no other", 2)
    for call, result in _outcomes(steps):
        cut = result is None or "arguments" in (result.error or {}).get("cut", ())
        if cut and call.arguments is None:
            return None
    return Verdict("unsolved", f"the calls are not those of gold: {amiss}", 2)


def judge_abstention(goal: Goal, answer: str | None, steps: Sequence[Step]) -> Verdict | None:
    """Return whether the agent abstained where no call is right; None: one is, or it cannot tell.

    Whoever calls has not seen that the tool is missing, whatever it answers in the end.
    """
    if not asks_no_call(goal):
        return None
    calls = len(made_calls(steps))
    if calls:
        told = "a call was" if calls == 1 else f"{calls} calls were"
        return Verdict("unsolved", f"{told} made, but no tool serves the request", 2)
    # Of such goals alone: other runs do not load the words of a refusal.
    from seal.core.speech import says_cannot

    if says_cannot(answer or ""):
        return Verdict("solved", "no tool serves the request: no call, and the answer says so", 2)
    return None


def judge_answer(goal: Goal, answer: str | None) -> Verdict:
    """Return what the answer alone proves."""
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
    reference = _reference_reply(goal)
    if reference is not None and read(answer).values == read(reference).values:
        return Verdict("solved", "the answer is the reference reply")
    for values in expected_values(goal):
        if values and all(statement(answer, value) == "stated" for value in values):
            return Verdict("solved", f"the answer states {_listed(values)}")
    if _only_refuses(answer) and not goal.needs_no_tool:
        return Verdict("unsolved", "the answer only refuses or apologises")
    return Verdict("unsure", "the answer alone does not prove it")


def judge_trajectory(goal: Goal, answer: str, steps: Sequence[Step]) -> Verdict:
    """Return what answer and trajectory prove together."""
    outcomes = _outcomes(steps)
    successes = [(call, result) for call, result in outcomes if result and result.error is None]
    if outcomes and all(failed(result) for _, result in outcomes):
        return Verdict("unsolved", f"every call failed ({len(outcomes)})", 2)
    if not outcomes and goal.plans and all(plan.calls() for plan in goal.plans):
        return Verdict("unsolved", "no call was made, but every plan needs one", 2)
    seen = _result_numbers(successes)
    known = seen | set(numbers(goal.text))
    strangers = [one for one in numbers(answer) if one not in known and _has_digits(one)]
    contradiction = _contradiction(goal, answer, seen, strangers) or _omission(goal, answer)
    if contradiction and successes:
        return Verdict("unsolved", contradiction, 2)
    if not goal.answers and not strangers and _grounded(goal, answer, successes):
        return Verdict("solved", "the answer states values of every result that was needed", 2)
    if not goal.answers:
        return Verdict("unsure", "results and answer do not prove it", 2)
    lacking = [value for value in goal.answers if statement(answer, value) != "stated"]
    return Verdict("unsure", f"the answer does not plainly state {_listed(lacking)}", 2)


def _asks_only(plan: Plan) -> bool:
    kinds = {type(milestone.condition) for milestone in plan.milestones}
    return Asked in kinds and not kinds & {Called, Replied}


def _judge_question(answer: str, asking: Sequence[Plan], must_ask: bool) -> Verdict | None:
    step = Step(0, "", "", answer)
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


def expected_values(goal: Goal) -> list[tuple[str, ...]]:
    """Return sets of values of which one must be stated in full; one may be empty."""
    if goal.any_answer:
        return [(answer,) for answer in goal.answers]
    if goal.answers:
        return [goal.answers]
    return [
        tuple(
            text
            for milestone in plan.milestones
            if isinstance(milestone.condition, Replied)
            for text in milestone.condition.states
        )
        for plan in goal.plans or ()
    ]


def _only_refuses(answer: str) -> bool:
    parts = [normalise(part) for part in sentences(answer)]
    refusals = [part for part in parts if _refuses(part)]
    return bool(refusals) and all(
        _refuses(part) or _FILLER.search(part) for part in parts if read(part).tokens
    )


def _refuses(sentence: str) -> bool:
    return bool(_REFUSAL.search(sentence)) and not _FOUND_NOTHING.search(sentence)


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


def _contradiction(
    goal: Goal, answer: str, seen: Set[Decimal], strangers: Sequence[Decimal]
) -> str:
    """Return how the answer contradicts a result in an expected number; empty: it does not.

    Args:
        goal: With its gold.
        answer: The final answer.
        seen: Numbers of the results.
        strangers: The answer's numbers, of several digits, that neither request nor result has.
    """
    for value in () if goal.any_answer else goal.answers:
        wanted = numbers(value)
        if len(wanted) != 1 or len(read(value).tokens) != 1 or wanted[0] not in seen:
            continue
        rivals = [number for number in strangers if not _rounds_to(wanted[0], number)]
        if rivals and rivals == strangers and statement(answer, value) == "absent":
            return f"a result says {value}, the answer says {rivals[0]}"
    return ""


def _omission(goal: Goal, answer: str) -> str:
    """Return that an answer lacks every expected number; empty: it may state one."""
    wanted = () if goal.any_answer else goal.answers
    if not wanted or numbers(answer):
        return ""
    for value in wanted:
        if not any(isinstance(one, Decimal) and _has_digits(one) for one in read(value).values):
            return ""
    return f"the answer has no number, so it does not state {_listed(wanted)}"


def _has_digits(number: Decimal) -> bool:
    return len(number.normalize().as_tuple().digits) > 1


def _rounds_to(exact: Decimal, shown: Decimal) -> bool:
    exponent = shown.as_tuple().exponent
    unit = Decimal(1).scaleb(exponent if isinstance(exponent, int) else 0)
    return abs(exact - shown) <= max(unit, abs(exact) / 100)


def _grounded(goal: Goal, answer: str, successes: Sequence[Outcome]) -> bool:
    """Tell whether every call of a plan succeeded with a result of which the answer tells."""
    if any(_REFUSAL.search(normalise(part)) for part in sentences(answer)):
        return False
    plans = [plan.calls() for plan in goal.plans or ()]
    needed = {gold.tool for calls in plans for gold in calls}
    told = [
        call
        for call, result in successes
        if call.tool in needed and result is not None and _tells(goal, answer, result)
    ]
    return any(
        all(any(gold.tool == c.tool and gold.accepts(c.arguments) for c in told) for gold in calls)
        for calls in plans
        if calls
    )


def _tells(goal: Goal, answer: str, result: ToolResult) -> bool:
    """Tell whether an answer states a value of a result that was not in the request."""
    return any(
        _telling(value)
        and statement(answer, value) == "stated"
        and statement(goal.text, value) == "absent"
        for value in _result_values(result)
    )


def _listed(values: Sequence[str]) -> str:
    shown = ", ".join(repr(value) for value in values[:3])
    return f"{shown} and {len(values) - 3} more" if len(values) > 3 else shown
