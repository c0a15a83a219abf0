"""The chats of one task: their limits, what was said before, and the one trajectory of all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from seal.agents.conversation import REPEATS, ChatLimits
from seal.agents.teams import MANAGER, USER
from seal.core import JSON, Goal, Plan, Step, Task, Trajectory
from seal.core.conditions import SYSTEM
from seal.runs.settings import RunSettings

# -- The goals of a task in its chats: limits, what was said before, one trajectory of all.


def messages_of(task: Task, given: int | None) -> int | None:
    """Return the messages that each goal of a task may take; None: no limit.

    Args:
        task: May have a limit of its own, `metadata["max_messages"]`.
        given: The run's; None: it says nothing.
    """
    return _own(task, "max_messages") if given is None else given


def turns_of(task: Task, given: int | None, messages: int | None = None) -> int:
    """Return the model turns that each goal of a task may take.

    Args:
        task: May need more than the default: `metadata["max_turns"]`, its own messages, or one for
            each gold step and the report.
        given: The run's; None: it says nothing.
        messages: The run's limit of messages; None: the task's own counts.
    """
    if given is not None:
        return given
    spoken = messages_of(task, None) if messages is None else None
    gold = max((len(plan.milestones) for plan in _plans(task)), default=0)
    return max(ChatLimits().max_turns, _own(task, "max_turns") or 0, spoken or 0, gold + 1)


def limits_of(task: Task, settings: RunSettings) -> ChatLimits:
    """Return how far a chat may go: as the run says, else as its task does, and as far as its gold.

    Repeats do not end a recording: what it repeated is part of what is played. Nor do they end a
    task that has a limit of messages of its own.
    """
    messages = messages_of(task, settings.max_messages)
    recorded = isinstance(settings.model, str) and settings.model.startswith("recorded:")
    gold = [[repr(step.condition) for step in plan.milestones] for plan in _plans(task)]
    said = "max_calls" in settings.origins or settings.max_calls != ChatLimits().max_calls
    equal = max((count for steps in gold for count in Counter(steps).values()), default=0)
    return ChatLimits(
        turns_of(task, settings.max_turns, settings.max_messages),
        max([settings.max_calls, *(0 if said else len(steps) for steps in gold)]),
        settings.max_tokens,
        settings.max_seconds,
        None if recorded or messages != settings.max_messages else max(REPEATS, equal + 1),
        messages,
    )


def _plans(task: Task) -> Iterator[Plan]:
    return (plan for goal in task.goals for plan in goal.plans or ())


def _own(task: Task, name: str) -> int | None:
    own = task.metadata.get(name)
    return own if type(own) is int and own > 0 else None


BEFORE = -1
"""Goal of the steps of a task's own history: they belong to none that is played."""


def history_of(task: Task, goal: int, lead: str, caller: str = MANAGER) -> list[Step]:
    """Return the steps before a goal, numbered through.

    What the system says, such as a policy or the date, goes to the lead and to who makes the calls.
    Where `metadata["golden_history"]` is `texts`, earlier goals come without calls and results.

    Args:
        task: The task.
        goal: Position of the first goal that is played: those before it come as their references.
        lead: Role that hears the user. Where another role makes the calls, the lead hands requests
            on to it, and passes its reports on to the user, as in a chat.
        caller: Role that makes the calls; where it is the lead too, nothing is handed on.
    """
    steps: list[Step] = []
    before: list[Step] = []
    more = 0
    for step in task.before:
        heard = _spoken(step, lead, caller) if _is_systems(step) else [step]
        before += [replace(s, goal=BEFORE, turn=s.turn + more + n) for n, s in enumerate(heard)]
        more += len(heard) - 1
    append_renumbered(steps, before)
    in_words = task.metadata.get("golden_history") == "texts"
    for position, earlier in enumerate(task.goals[:goal]):
        text = task.said_first(position) or earlier.text
        said = _said_before(earlier, lead, caller, position)
        said += _golden(earlier, lead, caller, text)
        told = [step for step in said if not (in_words and (step.call or step.result))]
        append_renumbered(steps, [replace(step, goal=position) for step in told])
    everybody = (SYSTEM, USER, MANAGER)
    append_renumbered(steps, _said_before(task.goals[goal], lead, caller, goal, everybody))
    return steps


def _said_before(
    goal: Goal, lead: str, caller: str, position: int, authors: Sequence[str] = (USER, MANAGER)
) -> list[Step]:
    """Return what the label `before` says between two goals: [[author, text]...].

    What the system says, such as the date, holds for its own goal alone.
    """
    said: list[Step] = []
    for author, text in goal.labels.get("before", ()):
        if author in authors:
            spoken = _spoken(Step(0, author, lead, text, goal=position), lead, caller)
            said += [replace(one, turn=len(said) + n) for n, one in enumerate(spoken)]
    return said


def _is_systems(step: Step) -> bool:
    """Tell whether the system says something to the agent."""
    return step.author == SYSTEM and step.recipient != USER and step.call is None


def append_renumbered(steps: list[Step], played: Sequence[Step]) -> None:
    """Append steps whose indices, turns and call ids go on from those before them."""
    first_turn = steps[-1].turn + 1 if steps else 0
    offset = first_turn - (played[0].turn if played else 0)
    calls = sum(step.call is not None for step in steps)
    ids: dict[str, str] = {}
    for step in played:
        if step.call is not None:
            ids[step.call.id] = f"call_{calls + len(ids)}"
    for step in played:
        call = replace(step.call, id=ids[step.call.id]) if step.call else None
        result = step.result
        if result is not None:
            result = replace(result, call_id=ids.get(result.call_id, result.call_id))
        steps.append(
            replace(step, index=len(steps), turn=step.turn + offset, call=call, result=result)
        )


def _golden(goal: Goal, lead: str, caller: str, text: str) -> list[Step]:
    """Return a goal's request, in the user's words, and reference as the team would say them."""
    said: list[Step] = []
    turn, before = -1, None
    for step in _with_request(goal, lead, text):
        for spoken in _spoken(step, lead, caller):
            together = step.call is not None and step.turn == before
            turn += not together
            said.append(replace(spoken, turn=turn))
        before = step.turn if step.call is not None else None
    return said


def _with_request(goal: Goal, lead: str, text: str) -> Iterator[Step]:
    if not goal.reference or goal.reference[0].author != USER:
        yield Step(0, USER, lead, text, turn=-1)
    yield from goal.reference


def _spoken(step: Step, lead: str, caller: str) -> list[Step]:
    """Return a step as it is said in this team: texts but the system's pass through the lead."""
    if step.call is not None:
        return [replace(step, author=caller)]
    if step.result is not None:
        return [replace(step, recipient=caller)]
    if step.author == SYSTEM:
        route = [(SYSTEM, role) for role in dict.fromkeys((lead, caller))]
    elif step.author == USER:
        route = [(USER, lead), (lead, caller)]
    else:
        route = [(caller, lead), (lead, USER)]
    return [
        replace(step, author=author, recipient=recipient)
        for author, recipient in route
        if author != recipient
    ]


def merge_goals(task: Task, trial: int, parts: Sequence[Trajectory]) -> Trajectory:
    """Return what chats played as one trajectory.

    Indices, turns and call ids are numbered anew from 0, in the order of the chats.

    Args:
        task: The task.
        trial: Number of the repetition.
        parts: What was said in each chat, without the history before it.
    """
    steps: list[Step] = []
    printed: list[JSON] = []
    asked: dict[str, JSON] = {}
    for part in parts:
        asked |= part.provenance.get("own_models", {})
        for one in part.provenance.get("printed", ()):
            printed.append({**one, "step": one["step"] - part.steps[0].index + len(steps)})
        append_renumbered(steps, part.steps)
    return Trajectory(
        task.id,
        trial,
        tuple(steps),
        tuple(ranking for part in parts for ranking in part.rankings),
        tuple(offered for part in parts for offered in part.offered),
        tuple(stop for part in parts for stop in part.stops),
        tuple(answer for part in parts for answer in part.answers),
        {**({"printed": printed} if printed else {}), **({"own_models": asked} if asked else {})},
    )
