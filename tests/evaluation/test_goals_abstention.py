"""What counts as abstaining, sentence by sentence and goal by goal."""

import pytest

import seal
from seal.api.benchmarks import load_pool
from seal.core import Goal, Plan, Step, Stop, Task, ToolCall, Trajectory
from seal.core.acts import acts
from seal.evaluation.conversation_audit import Abstention
from seal.evaluation.goals import unserved
from seal.evaluation.rule_judge import RuleJudge

REFUSALS = (
    "None of the tools at hand fits this request.",
    "I'm sorry, but I don't have a tool for translating signs.",
    "I can list the oils, but nothing here records how they were reviewed.",
    "I cannot book a table.",
    "I\u2019m unable to help with that.",
    "That is beyond what I can look up.",
    "There is no function for this.",
    "Unfortunately this is not supported.",
)
ANSWERS = (
    "",
    "count: 1, title: Mother and Clay",
    "Could you tell me the month?",
    "Do you mean that nothing here fits?",
)
OPEN = (
    "We have no weather forecast.",
    "I couldn't find any results.",
    "There are no direct ferries on that day.",
    "No oil paintings are on loan.",
    "You don't need to book; I don't think it is full.",
    "The museum has no closing day.",
)
"""They deny something: whether they answer the request by that, words alone cannot say."""


@pytest.mark.parametrize("text", REFUSALS)
def test_a_refusal_says_that_it_cannot(text: str) -> None:
    assert acts(text).declines is True


@pytest.mark.parametrize("text", ANSWERS)
def test_an_answer_a_question_or_an_empty_search_does_not(text: str) -> None:
    assert acts(text).declines is False


@pytest.mark.parametrize("text", OPEN)
def test_a_denial_may_refuse_or_answer(text: str) -> None:
    assert acts(text).declines is None
    assert played(text) == {"abstained": None, "no_call": 1.0, "says_cannot": None}
    assert played(text, ToolCall("call_0", "get", {}))["abstained"] == 0.0


def test_a_refusal_that_claims_a_deed_is_none() -> None:
    told = acts("I cannot book a table, but I have ordered a pizza.", "Book me a table.")
    assert told.refuses is True
    assert told.declines is False


def test_the_reference_replies_of_the_sample_say_so() -> None:
    tasks = list(load_pool("toolscan-sample").tasks())
    irrelevant = [task for task in tasks if task.tags["irrelevance"] != "none"]
    goals = [task.goals[0] for task in irrelevant]
    told = [acts(goal.reference[-1].content, goal.text).declines for goal in goals]
    assert len(told) == 18
    assert all(told)


def played(answer: str | None, *calls: ToolCall, **changes) -> dict[str, float | None]:
    steps = tuple(Step(n, "execution_manager", "executor", call=c) for n, c in enumerate(calls))
    whole = {"stops": (Stop("done"),), "answers": (answer,), **changes}
    trajectory = Trajectory("t", 0, steps, **whole)
    scores = Abstention().score(Task("t", "b", (Goal("When was it?"),)), trajectory, {})
    return {score.metric: score.value for score in scores}


def test_whoever_calls_or_does_not_say_so_has_not_abstained() -> None:
    call = ToolCall("call_0", "get", {"id": 1}, tool="b/get")
    wrong = ToolCall("call_0", "gett", {"id": 1})
    assert played("I cannot do that.") == {"abstained": 1.0, "no_call": 1.0, "says_cannot": 1.0}
    assert played("I cannot do that.", call)["abstained"] == 0.0
    assert played("I cannot do that.", wrong)["no_call"] == 0.0
    assert played("It was in 1878.") == {"abstained": 0.0, "no_call": 1.0, "says_cannot": 0.0}
    assert played(None)["abstained"] == 0.0


def test_looking_for_tools_is_no_call() -> None:
    search = ToolCall("call_0", "find_tools", {"query": "x"}, tool="seal/chat/find_tools")
    assert played("No tool does this.", search)["abstained"] == 1.0


def test_an_error_is_no_score() -> None:
    failed = played(None, stops=(Stop("error", "no server"),))
    assert failed == {"abstained": None, "no_call": None, "says_cannot": None}


def test_goals_of_the_sample_say_themselves_which_ones_no_tool_serves() -> None:
    tasks = load_pool("toolscan-sample").tasks()
    told = {task.id: unserved(task.goals[0]) for task in tasks}
    assert {id for id, alone in told.items() if alone} == {
        f"{name}-{kind}"
        for name in ("museum", "trails", "ferries", "garden", "radio", "permits")
        for kind in "ufr"
    }
    assert not unserved(Goal("Hello", (Plan(),)))


@pytest.mark.parametrize(
    ("answer", "called", "label"),
    [
        ("4", False, "solved"),
        ("It is 4.", True, "unsolved"),
        ("Five.", False, "unsolved"),
        ("I cannot do that.", False, "unsolved"),
        ("I have no tool for this, but it is 4.", False, "solved"),
    ],
)
def test_small_talk_with_an_answer_is_decided_by_both(
    answer: str, called: bool, label: str
) -> None:
    call = ToolCall("call_0", "get", {}, tool="b/get")
    steps = [Step(0, "execution_manager", "executor", call=call)] if called else []
    goal = seal.ask("2+2?", needs_no_tool=True, answer="4").goals[0]
    assert RuleJudge().judge(goal, answer, steps).label == label
