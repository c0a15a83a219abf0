"""Gold calls from ToolBench's training answers, by the filters of the SEAL paper.

A run whose calls are not fit to be gold is dropped with the first reason that holds: `give_up`,
`no_calls`, `unmatched_api` (no called function is a tool of the task), `hallucinated_function` (one
of them is not), `unparsable_arguments`. Only the gold calls are dropped, never the task.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from seal.benchmarks.toolbench.answers import Run
from seal.benchmarks.toolbench.runs import LEAD, USER, call_steps
from seal.core.conditions import Argument, Called
from seal.core.order import levels
from seal.core.plain import leaves
from seal.core.types import JSON, Milestone, Plan, Step, Tool


@dataclass(frozen=True, slots=True)
class Gold:
    """What a training answer says of its task."""

    plan: Plan
    reference: tuple[Step, ...]
    """Calls, results and the final answer."""
    dependent: bool
    """A call uses a value that only an earlier result states."""
    parallel: bool
    """Two calls need not wait for each other."""


def gold_of(run: Run, query: str, tools: Mapping[str, Tool]) -> Gold | str:
    """Return the gold of a training answer, or the reason why there is none.

    Args:
        run: The training answer.
        query: The task's text.
        tools: The task's tools by their names of ToolBench's rule.
    """
    steps = tuple(call_steps(run.moves, tools, 0, 0))
    reason = _reason(run, steps)
    if reason is not None:
        return reason
    milestones = _milestones(steps, query, tools)
    return Gold(
        Plan(milestones),
        _with_answer(steps, run.answer),
        any(milestone.after for milestone in milestones),
        any(len(level) > 1 for level in levels([m.after for m in milestones])),
    )


def _reason(run: Run, steps: Sequence[Step]) -> str | None:
    calls = [step.call for step in steps if step.call is not None]
    known = [call for call in calls if call.tool is not None]
    if run.finish == "give_up" or run.finish_type == "give_up":
        return "give_up"
    if not calls or run.valid is False:
        return "no_calls"
    if not known:
        return "unmatched_api"
    if len(known) < len(calls):
        return "hallucinated_function"
    if any(call.arguments is None for call in calls):
        return "unparsable_arguments"
    return None


def _milestones(
    steps: Sequence[Step], query: str, tools: Mapping[str, Tool]
) -> tuple[Milestone, ...]:
    results = {step.result.call_id: step.result for step in steps if step.result is not None}
    by_id = {tool.id: tool for tool in tools.values()}
    milestones: list[Milestone] = []
    answers: list[str] = []
    for step in steps:
        if step.call is None or step.call.tool is None or step.call.arguments is None:
            continue
        needed = _new_values(step.call.arguments, query, by_id[step.call.tool])
        after = sorted({p for value in needed for p in _first_stating(value, answers)})
        result = results.get(step.call.id)
        milestones.append(
            Milestone(
                Called(
                    step.call.tool,
                    {name: Argument((value,)) for name, value in step.call.arguments.items()},
                ),
                tuple(after),
                None if result is None else result.value,
            )
        )
        answers.append("" if result is None else result.content)
    return tuple(milestones)


def _new_values(arguments: Mapping[str, JSON], query: str, tool: Tool) -> list[str]:
    """Return the texts of values that neither the query nor the tool's document states.

    Values of one character, true, false and null are left out: they occur by chance.
    """
    properties = tool.parameters.get("properties", {})
    found = []
    for name, argument in arguments.items():
        document = properties.get(name, {})
        stated = {str(document.get("default")), *map(str, document.get("examples", ()))}
        found += [
            value
            for value in map(str.strip, leaves(argument))
            if len(value) > 1 and value not in stated and not _states(query, value)
        ]
    return found


def _first_stating(value: str, answers: Sequence[str]) -> list[int]:
    """Return the position of the first answer that states the value; empty where none does."""
    return [position for position, answer in enumerate(answers) if _states(answer, value)][:1]


def _states(text: str, value: str) -> bool:
    """Tell whether the value stands in the text, not inside a longer word or number."""
    return re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text, re.IGNORECASE) is not None


def _with_answer(steps: tuple[Step, ...], answer: str | None) -> tuple[Step, ...]:
    if not answer:
        return steps
    turn = steps[-1].turn + 1 if steps else 0
    return (*steps, Step(len(steps), LEAD, USER, answer, turn=turn))
