import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seal.core import (
    CacheMissError,
    Completion,
    Execution,
    Goal,
    Response,
    Step,
    Task,
    Tool,
    ToolCall,
    ToolResult,
    Trajectory,
    UnknownNameError,
    UsageError,
)
from seal.core.store import Store, digest_of_entries
from seal.simulator_cache.recorded import RecordedAnswers, RecordedEnvironments
from seal.simulator_cache.simulators import SimulatedEnvironments, SimulatorSetup, build_simulator

TOOL = Tool(
    "lab/weather/now",
    "now_for_weather",
    parameters={
        "type": "object",
        "properties": {
            "city": {"type": "string"},
            "unit": {"type": "string", "default": "C"},
        },
        "required": ["city"],
        "additionalProperties": False,
    },
    returns={"temperature": "float"},
)
TOOLS = {TOOL.id: TOOL}
TASK = Task("lab/1", "lab", (Goal("Weather in Oslo?"),))


class Echo:
    """Answers with the arguments it got."""

    identity = "echo/1"

    def respond(self, tool, arguments):
        if arguments["city"] == "Nowhere":
            return Response("", "no such city")
        return Response(arguments)


def call(number: int, arguments: dict | None, name: str = TOOL.name, raw: str = "") -> ToolCall:
    tool = TOOL.id if name == TOOL.name else None
    return ToolCall(f"call_{number}", name, arguments, raw, tool)


def observation(call_id: str, text: str, executed: bool = True, **fields) -> ToolResult:
    content = json.dumps({"error": "", "response": text})
    ran = Execution(TOOL.id, {}) if executed else None
    return ToolResult(call_id, content, value=text, executed=ran, **fields)


def trajectory(task_id: str, *pairs: tuple[ToolCall, ToolResult], trial: int = 0) -> Trajectory:
    steps: list[Step] = []
    for made, result in pairs:
        executed = result.executed and Execution(TOOL.id, made.arguments or {})
        full = replace(result, call_id=made.id, executed=executed)
        steps.append(Step(len(steps), "execution_manager", "executor", call=made))
        steps.append(Step(len(steps), "executor", "execution_manager", result=full))
    return Trajectory(task_id, trial, tuple(steps))


def recorded_chat(*recordings: Trajectory, task: Task = TASK):
    by_id = {recording.task_id: recording for recording in recordings}
    answers = RecordedAnswers(recordings, TOOLS)
    factory = RecordedEnvironments(lambda task_id, trial: by_id.get(task_id), answers, TOOLS)
    return factory.open(task, 0, [TOOL.name])


def test_a_valid_call_runs_with_its_defaults():
    environment = SimulatedEnvironments(Echo(), TOOLS).open(TASK, 0, [TOOL.name])
    (result,) = environment.call([call(0, {"city": "Oslo"})])
    assert result.value == {"city": "Oslo", "unit": "C"}
    assert json.loads(result.content) == {"error": "", "response": result.value}
    assert (result.call_id, result.error) == ("call_0", None)
    assert result.executed == Execution(TOOL.id, {"city": "Oslo", "unit": "C"})
    assert not environment.states()


def test_the_error_of_an_api_is_data():
    environment = SimulatedEnvironments(Echo(), TOOLS).open(TASK, 0)
    (result,) = environment.call([call(0, {"city": "Nowhere"})])
    assert result.error == {"kind": "api", "message": "no such city"}
    assert json.loads(result.content) == {"error": "no such city", "response": ""}


def test_an_invalid_call_is_rejected_by_rule_and_never_simulated():
    environment = SimulatedEnvironments(Echo(), TOOLS).open(TASK, 0, [TOOL.name])
    results = environment.call(
        [call(0, {"town": "Oslo"}), call(1, {"city": "Lima"}), call(2, {}, "now_for_wether")]
    )
    assert [r.call_id for r in results] == ["call_0", "call_1", "call_2"]
    assert [r.error and r.error["kind"] for r in results] == [
        "unknown_argument",
        None,
        "unknown_tool",
    ]
    assert results[2].error["nearest"] == TOOL.name
    assert results[0].executed is None


def test_names_offered_later_are_known_to_messages():
    names: list[str] = []
    environment = SimulatedEnvironments(Echo(), TOOLS).open(TASK, 0, names)
    names.append(TOOL.name)
    (result,) = environment.call([call(0, {}, "now_for_wether")])
    assert result.error["nearest"] == TOOL.name


def test_a_recording_gives_the_nth_observation_to_the_nth_equal_call():
    made = call(0, {"city": "Oslo"})
    chat = recorded_chat(
        trajectory(
            "lab/1",
            (made, observation("", "cold")),
            (call(1, {"city": "Oslo"}), observation("", "colder")),
        )
    )
    first, second = chat.call([call(0, {"city": "Oslo"}), call(1, {"city": "Oslo"})])
    (third,) = chat.call([call(2, {"city": "Oslo"})])
    assert [first.value, second.value, third.value] == ["cold", "colder", "colder"]
    assert [first.call_id, second.call_id, third.call_id] == ["call_0", "call_1", "call_2"]


def test_a_recording_plays_hallucinated_names_and_unparsable_arguments_too():
    odd = call(0, None, "Finnish", '{"a": ')
    unknown = ToolResult("", "No such function.", {"kind": "unknown_tool", "message": "no"})
    chat = recorded_chat(trajectory("lab/1", (odd, unknown)))
    (result,) = chat.call([replace(odd, id="call_7")])
    assert (result.content, result.call_id) == ("No such function.", "call_7")


def test_a_call_of_another_tasks_recording_is_found():
    chat = recorded_chat(
        trajectory("lab/1"),
        trajectory("lab/2", (call(0, {"city": "Lima"}), observation("", "mild"))),
    )
    (result,) = chat.call([call(0, {"city": "Lima", "unit": "C"})])
    assert result.value == "mild"


def test_what_nobody_recorded_is_refused_by_rule_or_as_not_recorded():
    chat = recorded_chat(trajectory("lab/1"))
    wrong, missing = chat.call([call(0, {"town": "Oslo"}), call(1, {"city": "Oslo"})])
    assert wrong.error["kind"] == "unknown_argument"
    assert missing.error["kind"] == "not_recorded"
    assert missing.executed is None


def test_a_task_without_a_recording_is_served_from_the_others():
    chat = recorded_chat(
        trajectory("lab/2", (call(0, {"city": "Lima"}), observation("", "mild"))),
    )
    assert chat.call([call(0, {"city": "Lima"})])[0].value == "mild"


def test_texts_that_were_cut_off_are_never_given_out():
    cut = observation("", "the temperat", error={"kind": "truncated", "message": "cut"})
    chat = recorded_chat(trajectory("lab/1", (call(0, {"city": "Oslo"}), cut)))
    assert chat.call([call(0, {"city": "Oslo"})])[0].error["kind"] == "not_recorded"


def test_where_recordings_disagree_the_first_task_counts():
    late = trajectory("lab/9", (call(0, {"city": "Oslo"}), observation("", "late")))
    early = trajectory("lab/3", (call(0, {"city": "Oslo"}), observation("", "early")))
    for order in ([late, early], [early, late]):
        found = RecordedAnswers(order, TOOLS).respond(TOOL, {"city": "Oslo", "unit": "C"})
        assert found == Response("early")


def test_a_dead_service_is_a_recorded_answer():
    text = '{"error": "Unsubscribed error...", "response": "not subscribed"}'
    dead = ToolResult(
        "",
        text,
        {"kind": "service", "message": "Unsubscribed error..."},
        "not subscribed",
        Execution(TOOL.id, {}),
    )
    answers = RecordedAnswers([trajectory("t", (call(0, {"city": "Oslo"}), dead))], TOOLS)
    assert answers.respond(TOOL, {"city": "Oslo"}) == Response(
        "not subscribed", "Unsubscribed error..."
    )
    assert answers.examples(TOOL.id) == []
    found = answers.find(TOOL.id, {"city": "Oslo"})
    assert found is not None
    assert found.content == text


def test_errors_that_rules_gave_are_no_answers_of_the_tool():
    wrong = ToolResult("", "{}", {"kind": "wrong_type", "message": "no"})
    answers = RecordedAnswers([trajectory("t", (call(0, {"city": 1}), wrong))], TOOLS)
    missing = answers.respond(TOOL, {"city": 1})
    assert (missing.kind, missing.cacheable) == ("not_recorded", False)


@given(cities=st.lists(st.text(max_size=4), min_size=1, max_size=6))
@settings(max_examples=40, deadline=None)
def test_every_recorded_call_of_a_task_gets_its_own_observation(cities):
    pairs = [
        (call(n, {"city": city}), observation("", f"answer {n}")) for n, city in enumerate(cities)
    ]
    chat = recorded_chat(trajectory("lab/1", *pairs))
    results = chat.call([made for made, _ in pairs])
    assert [result.value for result in results] == [f"answer {n}" for n in range(len(cities))]


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "answers.sqlite") as opened:
        yield opened


def setup(store, **fields) -> SimulatorSetup:
    return SimulatorSetup(tools=TOOLS, store=store, **fields)


def environments(what, given) -> SimulatedEnvironments:
    return SimulatedEnvironments(build_simulator(what, given), TOOLS)


def test_environments_are_built_by_name_and_keep_their_answers(store):
    built = environments("template", setup(store))
    (first,) = built.open(TASK, 0).call([call(0, {"city": "Oslo"})])
    replay = environments("template", setup(store, mode="replay"))
    (again,) = replay.open(TASK, 0).call([call(0, {"city": "Oslo"})])
    assert first == again
    with pytest.raises(CacheMissError, match="Lima"):
        replay.open(TASK, 0).call([call(0, {"city": "Lima"})])
    assert built.identity() == {"simulator": "template/1"}


def test_the_keys_that_a_finished_chat_used_come_from_its_trajectory(store):
    built = environments("template", setup(store))
    (result,) = built.open(TASK, 0).call([call(0, {"city": "Oslo"})])
    played = trajectory("lab/1", (call(0, {"city": "Oslo"}), result))
    played = Trajectory("lab/1", 0, (played.steps[0], replace(played.steps[1], result=result)))
    keys = environments("template", setup(store)).keys_of(played)
    assert len(keys) == 1
    assert digest_of_entries(store, keys) != digest_of_entries(store, [])


def test_several_simulators_are_asked_in_the_order_of_their_names(store):
    answers = RecordedAnswers(
        [trajectory("t", (call(0, {"city": "Oslo"}), observation("", "cold")))], TOOLS
    )
    both = build_simulator("recorded+template", setup(store, recorded=answers))
    assert both.respond(TOOL, {"city": "Oslo", "unit": "C"}).response == "cold"
    assert set(both.respond(TOOL, {"city": "Lima", "unit": "C"}).response) == {"temperature"}


def test_what_plays_recordings_is_identified_by_them_and_uses_no_stored_answer():
    recording = trajectory("lab/1", (call(0, {"city": "Oslo"}), observation("", "cold")))
    answers = RecordedAnswers([recording], TOOLS)
    built = RecordedEnvironments(lambda t, n: recording, answers, TOOLS)
    assert built.identity()["recorded"] == answers.digest()
    assert built.keys_of(recording) == set()


def test_a_language_model_simulates_by_name(store):
    class Model:
        def complete(self, request):
            return Completion('{"error": "", "response": {"temperature": 1.5}}')

    built = environments("llm", setup(store, model=Model(), model_name="lab/one"))
    (result,) = built.open(TASK, 0).call([call(0, {"city": "Oslo"})])
    assert result.value == {"temperature": 1.5}
    assert built.identity()["simulator"] == "llm/lab/one"
    assert len(built.identity()["prompt"]) == 16


def test_a_simulator_of_ones_own_is_an_object_or_a_factory(store):
    assert build_simulator(Echo(), setup(None)).respond(TOOL, {"city": "x"}).response == {
        "city": "x"
    }
    built = build_simulator(lambda given: Echo(), setup(store))
    assert built.identity == "echo/1"


def test_what_is_missing_is_named_with_the_repair(store):
    with pytest.raises(UnknownNameError, match=r"no simulator 'templat'.*Did you mean 'template'"):
        build_simulator("templat", setup(store))
    with pytest.raises(UsageError, match="--role-model simulator="):
        build_simulator("llm", setup(store))
    with pytest.raises(UsageError, match="needs recorded runs"):
        build_simulator("recorded", setup(store))
