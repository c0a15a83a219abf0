"""Gold that is a sentence: state and calls hold exactly, and of the words their values alone."""

from __future__ import annotations

from looped import every_case

from seal.core import Goal, Milestone, Plan, Step, Task, ToolCall, ToolResult, Trajectory
from seal.core.conditions import AGENT, MESSAGE, USER
from seal.core.state_conditions import AllOf, StateHas
from seal.core.table_matching import Column
from seal.evaluation.goals import TaskChat
from seal.evaluation.pass_rates import PassRate
from seal.evaluation.sentences import judge_sentences

WIFI = StateHas("settings", ({"wifi": False},), columns={})


def said(text: str) -> AllOf:
    row = {"author": AGENT, "recipient": USER, "content": text}
    return AllOf((StateHas(MESSAGE, (row,), columns={"content": Column("rouge_l")}),))


def chat(wanted: str, answer: str, wifi: bool = False) -> TaskChat:
    """Return a chat in which wifi was switched, and the agent said something."""
    plan = Plan((Milestone(AllOf((WIFI,))), Milestone(said(wanted), (0,))))
    begun, ended = {"settings": [{"wifi": True}]}, {"settings": [{"wifi": wifi}]}
    call = ToolCall("1", "set_wifi_status", {"on": wifi}, tool="phone/set_wifi_status")
    steps = (
        Step(0, USER, "agent", "Is it 71 degrees, and is my wifi off?", state=begun),
        Step(1, "agent", "executor", call=call),
        Step(2, "executor", "agent", "done", result=ToolResult("1", "done"), state=ended),
        Step(3, "agent", USER, answer),
    )
    task = Task("t", "b", (Goal("Is my wifi off?", (plan,)),), begun, metadata={"match": "clean"})
    return TaskChat(task, Trajectory("t", 0, steps, answers=(answer,)), {})


@every_case(
    ("wanted", "answer", "wifi", "label"),
    [
        ("Wifi is turned off", "Wifi is turned off", False, "solved"),
        ("Wifi is turned off", "I have switched your wifi off.", False, "solved"),
        ("Wifi is turned off", "Your wifi is on.", False, "unsolved"),
        ("Wifi is turned off", "I have switched your wifi off.", True, "unsolved"),
        ("It is 71 degrees Fahrenheit", "About 21.7 °C.", False, "solved"),
        ("It is 71 degrees Fahrenheit", "It is 84 degrees Fahrenheit.", False, "unsolved"),
        ("It is 71 degrees Fahrenheit", "Done.", False, "unsolved"),
        ("Your reminder is on March 5 at 5 PM", "It rings on 5 March, 17:00.", False, "solved"),
        ("All of that is taken care of", "I did everything you wanted.", False, "unsure"),
    ],
)
def test_a_sentence_is_told_by_its_values(wanted: str, answer: str, wifi: bool, label: str) -> None:
    goal = chat(wanted, answer, wifi).goals[0]
    verdict = judge_sentences(goal, "clean")
    assert verdict is not None
    assert verdict.label == label, verdict.reason
    (score,) = PassRate().of(goal.chat)
    expected = {"solved": 1.0, "unsolved": 0.0, "unsure": None}[label]
    assert score.value == expected, score


def test_a_plan_without_a_sentence_is_none_of_this() -> None:
    one = chat("x", "Done.")
    goal = one.task.goals[0]
    bare = TaskChat(
        Task("t", "b", (Goal(goal.text, (Plan((Milestone(AllOf((WIFI,))),)),)),), metadata={}),
        one.trajectory,
        {},
    )
    assert judge_sentences(bare.goals[0], "clean") is None
