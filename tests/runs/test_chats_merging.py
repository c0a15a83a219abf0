"""Chats of single goals as one trajectory, and the golden history before each."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from small_pools import recording, weather_goal, weather_task

from seal.agents.roles import messages
from seal.core import Step, Stop, Task, ToolCall, ToolResult, Trajectory
from seal.runs.chats import BEFORE, append_renumbered, history_of, merge_goals

TASK = Task("t", "b", (weather_goal("Rome"), weather_goal("Oslo"), weather_goal("Bern")))


def chat(calls: int, first: int = 0, goal: int = 0) -> Trajectory:
    """Return a chat whose numbers go on from a history of `first` steps, turns and calls."""
    steps = [Step(first, "user_simulator", "execution_manager", "?", turn=first, goal=goal)]
    for n in range(calls):
        call = ToolCall(f"call_{first + n}", "weather", {"n": n})
        steps.append(Step(0, "execution_manager", "executor", call=call, turn=first + 1, goal=goal))
    for n in reversed(range(calls)):
        result = ToolResult(f"call_{first + n}", str(n))
        steps.append(
            Step(0, "executor", "execution_manager", result=result, turn=first + 2, goal=goal)
        )
    steps = [replace(step, index=first + n) for n, step in enumerate(steps)]
    return Trajectory("t", 1, tuple(steps), stops=(Stop("done"),), answers=(str(goal),))


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 9)), min_size=1, max_size=4))
def test_merged_chats_are_numbered_through_and_calls_keep_their_results(shapes):
    parts = [chat(calls, first, goal) for goal, (calls, first) in enumerate(shapes)]
    merged = merge_goals(TASK, 1, parts)

    assert [step.index for step in merged.steps] == list(range(len(merged.steps)))
    assert [s.call.id for s in merged.steps if s.call] == [
        f"call_{n}" for n in range(sum(calls for calls, _ in shapes))
    ]
    turns = [step.turn for step in merged.steps]
    assert turns == sorted(turns)
    assert turns[0] == 0
    for called, answered in merged.calls():
        assert answered.result.content == str(called.call.arguments["n"])
        assert answered.goal == called.goal
    assert merged.answers == tuple(str(goal) for goal in range(len(shapes)))
    assert len(merged.stops) == len(shapes)


def test_a_chat_from_the_start_is_left_as_it_is():
    assert merge_goals(TASK, 1, [chat(2)]).steps == chat(2).steps


def test_a_chat_without_a_step_is_merged_too():
    empty = replace(chat(0), steps=())

    assert merge_goals(TASK, 1, [empty, chat(1), empty]).steps == chat(1).steps


def test_the_first_goal_has_no_history_but_the_tasks_own():
    own = recording(weather_task("Lima"), "rain").steps

    assert history_of(TASK, 0, "orchestrator") == []
    before = history_of(replace(TASK, history=own), 0, "orchestrator")
    assert {step.goal for step in before} == {BEFORE}
    assert [step.content for step in before] == [step.content for step in own]


def route(steps: list[Step]) -> list[str]:
    return [f"{step.goal} {step.author}>{step.recipient}" for step in steps]


def test_history_of_a_team_whose_manager_leads_is_request_calls_reply():
    steps = history_of(TASK, 2, "execution_manager")

    assert route(steps[:4]) == [
        "0 user_simulator>execution_manager",
        "0 execution_manager>executor",
        "0 executor>execution_manager",
        "0 execution_manager>user_simulator",
    ]
    assert [step.goal for step in steps] == [0] * 4 + [1] * 4
    assert [step.index for step in steps] == list(range(8))
    assert [step.call.id for step in steps if step.call] == ["call_0", "call_1"]


def test_history_of_another_lead_passes_through_it():
    steps = history_of(TASK, 1, "orchestrator")

    assert route(steps) == [
        "0 user_simulator>orchestrator",
        "0 orchestrator>execution_manager",
        "0 execution_manager>executor",
        "0 executor>execution_manager",
        "0 execution_manager>orchestrator",
        "0 orchestrator>user_simulator",
    ]
    heard = [m.role for m in messages(steps, "orchestrator")]
    assert heard == ["user", "assistant", "user", "assistant"]
    assert [m.role for m in messages(steps, "execution_manager")] == [
        "user",
        "assistant",
        "tool",
        "assistant",
    ]


def test_parallel_calls_of_a_reference_stay_one_reply():
    first, result, reply = TASK.goals[0].reference
    second = replace(first, call=replace(first.call, id="call_1"))
    other = replace(result, result=replace(result.result, call_id="call_1"))
    goal = replace(TASK.goals[0], reference=(first, second, result, other, reply))
    steps = history_of(replace(TASK, goals=(goal, *TASK.goals[1:])), 2, "execution_manager")

    told = messages(steps, "execution_manager")
    assert [len(m.calls) for m in told] == [0, 2, 0, 0, 0, 0, 1, 0, 0]
    assert len({call.id for m in told for call in m.calls}) == 3


def test_reference_that_begins_with_the_user_is_not_doubled():
    spoken = Step(0, "user_simulator", "orchestrator", "Rome, please.")
    goal = replace(TASK.goals[0], reference=(spoken, *TASK.goals[0].reference))
    steps = history_of(replace(TASK, goals=(goal, TASK.goals[1])), 1, "execution_manager")

    assert [s.content for s in steps if s.author == "user_simulator"] == ["Rome, please."]


def test_goal_without_a_reference_leaves_its_request():
    goal = replace(TASK.goals[0], reference=())
    steps = history_of(replace(TASK, goals=(goal, TASK.goals[1])), 1, "execution_manager")

    assert [step.content for step in steps] == ["What is the weather in Rome?"]


def test_append_goes_on_from_turns_and_calls_before():
    steps = list(chat(1).steps)
    append_renumbered(steps, chat(1, goal=1).steps)

    assert [step.turn for step in steps] == [0, 1, 2, 3, 4, 5]
    assert [step.call.id for step in steps if step.call] == ["call_0", "call_1"]
