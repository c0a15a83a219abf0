"""The example that a task is shown: of its environment, of another task, always the same."""

from dataclasses import replace

import pytest
from small_pools import TOOLS, WEATHER, weather_goal, weather_task

from seal.core import Goal, Milestone, Plan, Task, ToolCall
from seal.core.conditions import Argument, Called
from seal.runs.chats import Examples, environment_of, example_of

BY_ID = {tool.id: tool for tool in TOOLS}
ROME, OSLO, BERN = (weather_task(city) for city in ("Rome", "Oslo", "Bern"))


def gold(tool: str, result: object = None, after: tuple[int, ...] = (), **arguments) -> Milestone:
    return Milestone(Called(tool, {k: Argument((v,)) for k, v in arguments.items()}), after, result)


def test_an_example_is_the_reference_of_another_task():
    example = Examples([ROME, OSLO], BY_ID).of(ROME)
    assert example is not None
    assert example.request == "What is the weather in Oslo?"
    assert example.exchanges[0].calls == (ToolCall("", "weather", {"city": "Oslo"}),)
    assert example.exchanges[0].results == ("sunny",)
    assert example.answer == "It is sunny in Oslo."


def test_most_tasks_share_one_example_whatever_their_order():
    tasks = [ROME, OSLO, BERN]
    found = [Examples(tasks, BY_ID).of(task) for task in tasks]
    assert [Examples(tasks[::-1], BY_ID).of(task) for task in tasks] == found
    assert len({example.request for example in found}) == 2


def test_another_seed_may_draw_another_example():
    tasks = [weather_task(f"City{n}", n) for n in range(12)]
    drawn = {Examples(tasks, BY_ID, seed).of(ROME).request for seed in range(8)}
    assert len(drawn) > 1


@pytest.mark.parametrize(
    "variant",
    [
        replace(ROME, id="again"),
        replace(ROME, id="told", goals=(weather_goal("Rome", text="Rome, is it warm?"),)),
        replace(OSLO, id="made of it", metadata={"seed": ROME.id}),
    ],
    ids=["the same text", "the same calls", "the same seed"],
)
def test_a_variant_of_the_task_is_no_example(variant):
    assert Examples([ROME, variant], BY_ID).of(ROME) is None


def test_an_example_is_of_the_same_environment():
    alps = replace(OSLO, tags={"environment": "alps"})
    sea = replace(BERN, tags={"environment": "sea"})
    asked = replace(ROME, tags={"environment": "sea"})
    assert Examples([alps, sea], BY_ID).of(asked).request == "What is the weather in Bern?"
    assert environment_of(ROME, BY_ID) == WEATHER.category


def test_without_a_reference_the_plan_is_played_with_its_recorded_results():
    plan = Plan(
        (
            gold("small/news/get", {"text": "fair"}, topic="Rome"),
            gold("small/weather/get", None, (0,), city="Rome"),
        )
    )
    goal = Goal("News and weather?", (plan,), ("fair",))
    example = example_of(Task("t", "small", (goal,)), BY_ID)
    assert example is not None
    assert [exchange.calls[0].name for exchange in example.exchanges] == ["news", "weather"]
    assert [exchange.results for exchange in example.exchanges] == [
        ('{"error":"","response":{"text":"fair"}}',),
        ("",),
    ]
    assert example.answer == "fair"


def test_a_task_without_gold_calls_is_no_example():
    for goal in (Goal("Hello?"), Goal("Hello?", (Plan(),))):
        assert example_of(Task("t", "small", (goal,)), BY_ID) is None
    assert example_of(Task("t", "small", ()), BY_ID) is None
