"""The sample of missions: the gold scores 1.0, and whatever spoils it scores less."""

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby, pairwise

import pytest

from seal.benchmarks.mmtb import SAMPLE
from seal.core import Goal, Step, Stop, Task, ToolCall, Trajectory
from seal.evaluation.missions import Missions
from seal.pools.pool import load_pool

POOL = load_pool(SAMPLE.folder)
TOOLS = {tool.id: tool for tool in POOL.tools()}
TASKS = list(POOL.tasks())
Turns = list[list[Step]]
"""What is said and done for a goal, turn by turn."""
Spoil = Callable[[Turns, Goal, random.Random], Turns | None]
"""Returns turns that are wrong; None: the goal cannot be spoilt in this way."""


def referred(task: Task) -> Trajectory:
    """Return the references of a task as a trajectory."""
    return Trajectory(task.id, 0, tuple(numbered(task.goals)), stops=(Stop("done"),))


def numbered(goals: Sequence[Goal]) -> Iterator[Step]:
    """Yield the user's texts and the references, numbered and with their goals."""
    index = turn = 0
    for position, goal in enumerate(goals):
        steps = goal.reference
        if steps[0].author != "user_simulator":
            steps = (Step(0, "user_simulator", "agent", goal.text, turn=-1), *steps)
        for _, batch in groupby(steps, lambda step: step.turn):
            for step in batch:
                yield replace(step, index=index, turn=turn, goal=position)
                index += 1
            turn += 1


def accuracies(task: Task, trajectory: Trajectory) -> list[float]:
    scores = Missions().score(task, trajectory, TOOLS)
    return [score.value for score in scores if score.metric == "mission_accuracy"]


def calling(turns: Turns) -> list[int]:
    return [n for n, turn in enumerate(turns) if turn[0].call is not None]


def with_call(turns: Turns, change: Callable[[ToolCall], ToolCall]) -> Turns | None:
    """Change the first call that there is."""
    places = calling(turns)
    if not places:
        return None
    first = turns[places[0]][0]
    turn = [replace(first, call=change(first.call)), *turns[places[0]][1:]]
    return [*turns[: places[0]], turn, *turns[places[0] + 1 :]]


def drop_last_calls(turns: Turns, goal: Goal, rng: random.Random) -> Turns | None:
    places = calling(turns)
    return turns[: places[-1]] + turns[places[-1] + 2 :] if places else None


def repeat_a_call(turns: Turns, goal: Goal, rng: random.Random) -> Turns | None:
    places = calling(turns)
    return turns[: places[0] + 2] + turns[places[0] :] if places else None


def call_another_tool(turns: Turns, goal: Goal, rng: random.Random) -> Turns | None:
    other = next(tool for tool in goal.offered or () if tool not in goal.relevant)
    return with_call(turns, lambda call: replace(call, name=TOOLS[other].name, tool=other))


def call_what_there_is_not(turns: Turns, goal: Goal, rng: random.Random) -> Turns | None:
    return with_call(turns, lambda call: replace(call, name="look_it_up", tool=None))


def leave_out_an_argument(turns: Turns, goal: Goal, rng: random.Random) -> Turns | None:
    def change(call: ToolCall) -> ToolCall:
        required = TOOLS[call.tool].parameters.get("required", [])
        kept = {name: value for name, value in call.arguments.items() if name not in required[:1]}
        return replace(call, arguments=kept)

    places = calling(turns)
    if not places or not TOOLS[turns[places[0]][0].call.tool].parameters.get("required"):
        return None
    return with_call(turns, change)


def leave_out_what_the_user_asked_for(turns: Turns, goal: Goal, rng: random.Random) -> Turns | None:
    places = calling(turns)
    if not places:
        return None
    call = turns[places[0]][0].call
    schema = TOOLS[call.tool].parameters
    usual = {name: one.get("default") for name, one in schema["properties"].items()}
    free = {name for name, value in call.arguments.items() if value != usual[name]}
    free -= set(schema.get("required", []))
    if not free:
        return None
    kept = {name: value for name, value in call.arguments.items() if name != min(free)}
    return with_call(turns, lambda call: replace(call, arguments=kept))


def make_up_an_argument(turns: Turns, goal: Goal, rng: random.Random) -> Turns | None:
    return with_call(
        turns, lambda call: replace(call, arguments={**call.arguments, "mood": "sunny"})
    )


def change_a_value(turns: Turns, goal: Goal, rng: random.Random) -> Turns | None:
    def change(call: ToolCall) -> ToolCall:
        name = rng.choice(sorted(call.arguments))
        return replace(call, arguments={**call.arguments, name: "Atlantis"})

    places = calling(turns)
    return with_call(turns, change) if places and turns[places[0]][0].call.arguments else None


def write_no_json(turns: Turns, goal: Goal, rng: random.Random) -> Turns | None:
    return with_call(turns, lambda call: replace(call, arguments=None, raw='{"location": '))


def call_in_the_wrong_order(turns: Turns, goal: Goal, rng: random.Random) -> Turns | None:
    if goal.labels.get("leaf") not in ("serial", "mixed"):
        return None
    first, last = calling(turns)[0], calling(turns)[-1]
    swapped = [*turns]
    swapped[first : first + 2], swapped[last : last + 2] = (
        turns[last : last + 2],
        turns[first : first + 2],
    )
    return swapped


def say_nothing_but_a_reply(turns: Turns, goal: Goal, rng: random.Random) -> Turns | None:
    return [turns[0], turns[-1]] if calling(turns) else None


def call_where_none_is_needed(turns: Turns, goal: Goal, rng: random.Random) -> Turns | None:
    if goal.labels["type"] != "chat":
        return None
    tool = TOOLS[goal.offered[0]]
    call = ToolCall("call_0", tool.name, {}, tool=tool.id)
    return [
        turns[0],
        [replace(turns[-1][0], recipient="executor", content="", call=call)],
        turns[-1],
    ]


def say_only_no(turns: Turns, goal: Goal, rng: random.Random) -> Turns | None:
    if goal.labels["type"] != "chat":
        return None
    return [*turns[:-1], [replace(turns[-1][0], content="No.")]]


def ask_nothing(turns: Turns, goal: Goal, rng: random.Random) -> Turns | None:
    if goal.labels["type"] != "clarify":
        return None
    return [turns[0], *turns[calling(turns)[0] :]]


def ask_where_all_is_said(turns: Turns, goal: Goal, rng: random.Random) -> Turns | None:
    if goal.labels["type"] not in ("single", "multi"):
        return None
    asked = replace(turns[-1][0], content="Are you sure?")
    answer = replace(turns[0][0], content="Yes.")
    return [turns[0], [asked], [answer], *turns[1:]]


SPOILS: Sequence[Spoil] = (
    drop_last_calls,
    repeat_a_call,
    call_another_tool,
    call_what_there_is_not,
    leave_out_an_argument,
    leave_out_what_the_user_asked_for,
    make_up_an_argument,
    change_a_value,
    write_no_json,
    call_in_the_wrong_order,
    say_nothing_but_a_reply,
    call_where_none_is_needed,
    say_only_no,
    ask_nothing,
    ask_where_all_is_said,
)


def spoilt(task: Task, number: int, spoil: Spoil) -> Trajectory | None:
    """Return the gold of a task with one mission spoilt."""
    gold = referred(task)
    turns = [list(turn) for _, turn in groupby(gold.steps, lambda s: (s.goal, s.turn))]
    mine = [turn for turn in turns if turn[0].goal == number]
    wrong = spoil(mine, task.goals[number], random.Random(f"{task.id}/{number}"))
    if wrong is None:
        return None
    place = turns.index(mine[0])
    turns[place : place + len(mine)] = wrong
    steps = (replace(step, turn=n) for n, turn in enumerate(turns) for step in turn)
    return replace(gold, steps=tuple(replace(s, index=n) for n, s in enumerate(steps)))


def test_nothing_of_the_sample_was_dropped() -> None:
    assert len(TASKS) == 60
    assert POOL.report["dropped"] == {}
    assert POOL.digest == POOL.report["digest"]


def test_every_switch_of_types_stands_often() -> None:
    sequences = [tuple(goal.labels["type"] for goal in task.goals) for task in TASKS]
    switches = Counter(pair for sequence in sequences for pair in pairwise(sequence))

    assert len(set(sequences)) == 60
    assert len(switches) == 16
    assert min(switches.values()) >= 8


def test_most_tools_are_called_and_several_are_offered() -> None:
    goals = [goal for task in TASKS for goal in task.goals]

    assert len({tool for goal in goals for tool in goal.relevant}) >= 60
    assert min(len(goal.offered) for goal in goals) >= 4


def test_every_leaf_and_relation_occurs_often() -> None:
    goals = [goal for task in TASKS for goal in task.goals]
    leaves = Counter(goal.labels.get("leaf") for goal in goals)
    relations = Counter(goal.labels.get("relation") for goal in goals)

    assert leaves["serial"] >= 10
    assert leaves["parallel"] >= 40
    assert leaves["mixed"] >= 5
    assert min(relations[relation] for relation in ("implicit", "ellipsis", "memory")) >= 36


def test_tasks_say_how_they_are_compared() -> None:
    assert {task.benchmark for task in TASKS} == {SAMPLE.name}
    assert {task.metadata["argument_scorer"] for task in TASKS} == {"exact"}


def test_requests_are_no_one_template() -> None:
    requests = [goal.text for task in TASKS for goal in task.goals]

    assert len(set(requests)) > 0.9 * len(requests)
    assert len({" ".join(text.split()[:2]) for text in requests}) > 80


def test_the_gold_is_right_in_every_mission() -> None:
    assert all(accuracies(task, referred(task)) == [1.0] * 4 for task in TASKS)


@pytest.mark.parametrize("spoil", SPOILS, ids=lambda spoil: spoil.__name__)
def test_a_spoilt_mission_is_wrong_and_no_other(spoil: Spoil) -> None:
    tried = 0
    for position, task in enumerate(TASKS):
        for number in sorted(range(4), key=lambda n: (n - position) % 4):
            trajectory = spoilt(task, number, spoil)
            if trajectory is not None:
                tried += 1
                right = [float(n != number) for n in range(4)]
                assert accuracies(task, trajectory) == right, (task.id, number)
                break

    few = {call_in_the_wrong_order: 14, leave_out_what_the_user_asked_for: 30}
    assert tried >= few.get(spoil, 40)
