from functools import partial

import pytest

from seal.core import Goal, Milestone, Plan, Response, Step, Task, Tool, ToolCall, Trajectory
from seal.core.conditions import Argument, Called
from seal.core.store import Store
from seal.runs.cache_fill import PlannedCall, answered, fill, gold_calls, made_calls
from seal.simulator_cache.answer_cache import Cached
from seal.simulator_cache.simulators import SimulatorSetup, build_simulator

TOOL = Tool(
    "lab/weather/now",
    "now_for_weather",
    parameters={
        "type": "object",
        "properties": {"city": {"type": "string"}, "unit": {"type": "string", "default": "C"}},
        "required": ["city"],
    },
)
TOOLS = {TOOL.id: TOOL}


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "answers.sqlite") as opened:
        yield opened


def task(*conditions) -> Task:
    plan = Plan(tuple(Milestone(condition) for condition in conditions))
    return Task("lab/1", "lab", (Goal("Weather?", plans=(plan,)), Goal("Bye")))


def by(simulator):
    """Have calls answered by a simulator."""
    return partial(map, lambda call: answered(simulator, TOOLS[call.tool], call.arguments))


def test_gold_calls_take_the_first_accepted_values():
    gold = Called(TOOL.id, {"city": Argument(("Oslo", "oslo")), "unit": Argument(("C",), True)})
    calls = list(gold_calls([task(gold, Called(TOOL.id, None))]))
    assert calls == [PlannedCall(TOOL.id, {"city": "Oslo"})]


def test_calls_of_runs_are_those_whose_tool_and_arguments_are_known():
    calls = [
        ToolCall("call_0", TOOL.name, {"city": "Oslo"}, tool=TOOL.id),
        ToolCall("call_1", "nothing", {"city": "Oslo"}),
        ToolCall("call_2", TOOL.name, None, "{", TOOL.id),
    ]
    steps = tuple(Step(n, "execution_manager", "executor", call=c) for n, c in enumerate(calls))
    assert list(made_calls([Trajectory("t", 0, steps)])) == [PlannedCall(TOOL.id, {"city": "Oslo"})]


def test_each_different_call_is_simulated_once_and_found_by_a_later_run(store):
    simulator = build_simulator("template", SimulatorSetup(tools=TOOLS, store=store))
    calls = [
        PlannedCall(TOOL.id, {"city": "Oslo"}),
        PlannedCall(TOOL.id, {"unit": "C", "city": "Oslo"}),
        PlannedCall(TOOL.id, {"city": "Lima"}),
    ]
    report = fill(by(simulator), TOOLS, calls)
    assert (report.calls, report.stored, report.known, report.failed) == (2, 2, 0, {})
    assert fill(by(simulator), TOOLS, calls).known == 2
    replay = build_simulator("template", SimulatorSetup(tools=TOOLS, store=store, mode="replay"))
    assert replay.respond(TOOL, {"city": "Oslo", "unit": "C"}).error == ""


def test_calls_without_an_answer_are_counted_by_reason(store):
    class Silent:
        identity = "silent/1"

        def respond(self, tool, arguments):
            return Response("", "no idea", cacheable=False, kind="simulator")

    calls = [
        PlannedCall(TOOL.id, {"city": "Oslo"}),
        PlannedCall(TOOL.id, {}),
        PlannedCall("lab/none/such", {}),
    ]
    report = fill(by(Cached(Silent(), store)), TOOLS, calls)
    assert report.failed == {"simulator": 1, "missing_argument": 1, "unknown_tool": 1}
    assert report.messages[0] == "lab/weather/now: no idea"
    assert report.stored == 0
