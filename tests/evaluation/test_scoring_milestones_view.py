"""What milestones see of a trajectory."""

from dataclasses import replace

from milestone_chats import EXECUTOR, LEAD, MANAGER, START, USER, A, B, asks, chat, does, says

from seal.core import Step, ToolCall, Trajectory
from seal.evaluation.plans import turn_count, view


def test_the_agents_roles_are_one_party() -> None:
    done = chat(
        asks(), says("Do it", LEAD, MANAGER), *does("t"), says("ok", MANAGER, LEAD), says("Done")
    )
    steps = view(done, 0, None, "clean")
    assert [(s.author, s.recipient) for s in steps] == [
        (USER, LEAD),
        (MANAGER, EXECUTOR),
        (EXECUTOR, MANAGER),
        (LEAD, USER),
    ]
    assert [s.index for s in steps] == [0, 2, 3, 5]


def test_each_step_has_the_whole_world_and_shares_what_did_not_change() -> None:
    steps = view(chat(asks(), *does("t", notes=[A, B]), says("Done")), 0, None, "clean")
    assert [s.state and s.state["notes"] for s in steps] == [[A], [A], [A, B], [A, B]]
    assert steps[0].state and steps[3].state
    assert steps[0].state["lamps"] is steps[3].state["lamps"]


def test_a_table_that_is_again_as_it_was_is_the_same_object() -> None:
    done = chat(asks(), *does("t", notes=[A, B]), *does("t", 1, notes=[dict(A)]))
    steps = view(done, 0, None, "clean")
    assert steps[0].state and steps[-1].state
    assert steps[0].state["notes"] is steps[-1].state["notes"]


def test_rows_that_stay_are_the_same_objects() -> None:
    steps = view(chat(asks(), *does("t", notes=[dict(A), B])), 0, None, "clean")
    assert steps[0].state and steps[-1].state
    assert steps[0].state["notes"][0] is steps[-1].state["notes"][0]


def test_the_tasks_own_world_stands_in_where_no_step_has_one() -> None:
    silent = Trajectory("t", 0, (asks(), replace(says("Done"), index=1)))
    assert [s.state for s in view(silent, 0, START, "clean")] == [START, START]
    assert [s.state for s in view(silent, 0, None, "clean")] == [{}, {}]


def test_a_batch_changes_the_world_at_once_for_the_original_alone() -> None:
    (call, first), (other, second) = does("t", notes=[A, B]), does("u", lamps=[])
    done = chat(asks(), call, other, first, second, says("Done"))
    seen = {
        m: [s.state and s.state["lamps"] for s in view(done, 0, None, m)][3:5]
        for m in ("clean", "toolsandbox")
    }  # type: ignore[arg-type]
    assert seen == {"clean": [START["lamps"], []], "toolsandbox": [[], []]}


def test_a_goal_begins_in_the_world_that_the_one_before_left() -> None:
    done = chat(asks(), *does("t", notes=[]), replace(asks("More"), goal=1))
    (step,) = view(done, 1, None, "clean")
    assert step.state and step.state["notes"] == []


def test_turns_are_messages_after_the_first_without_the_end_of_the_chat() -> None:
    ending = Step(0, USER, EXECUTOR, call=ToolCall("", "end", {}))
    done = chat(
        asks(), *does("t"), says("Done"), ending, replace(ending, author=EXECUTOR, recipient=USER)
    )
    assert turn_count(view(done, 0, None, "clean")) == 3
    assert turn_count(()) == 0
