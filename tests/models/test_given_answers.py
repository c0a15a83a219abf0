import io
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from seal.core import (
    END_CONVERSATION,
    Completion,
    DataError,
    Goal,
    Message,
    ModelError,
    NotRecordedError,
    Request,
    Step,
    Task,
    Tool,
    ToolCall,
    Trajectory,
    UnknownNameError,
    Usage,
    UsageError,
)
from seal.core.text import count_by_bytes
from seal.models.given_answers import Human, RecordedModel, ScriptedModel
from seal.models.lexical import random_value
from seal.models.server_model import estimate_usage, table_is_at_hand, token_counter
from seal.models.spec import ModelSettings, build_model, is_cached, model_identity, open_model

TOOL = Tool("d/w/now", "weather", "Weather", {"type": "object", "properties": {"city": {}}})
ASK = Request((Message("user", "Weather?"),), (TOOL,), "execution_manager")
TASK = Task("t1", "demo", (Goal("Weather?"),))

# building


def test_an_unknown_model_lists_the_known_ones():
    with pytest.raises(UnknownNameError, match=r"lexical.*Did you mean 'lexical'"):
        build_model("lexicl")
    with pytest.raises(UnknownNameError, match=r"no model 'openia'.*Did you mean 'openai'"):
        build_model("openia/gpt-4o")


class Echo:
    def complete(self, request):
        return Completion(request.messages[-1].content)


def echo_of(rest, given_settings):
    return Echo()


def test_a_model_may_be_an_object_a_class_or_a_factory_by_dotted_path():
    for spec in (Echo(), f"{__name__}:Echo", f"{__name__}:echo_of"):
        assert build_model(spec).complete(ASK).content == "Weather?"
    with pytest.raises(UsageError, match="is no model"):
        build_model(42)
    with pytest.raises(UsageError, match="has no 'Nothing'"):
        build_model(f"{__name__}:Nothing")


def test_identity_is_plain_json_without_secrets():
    assert model_identity("lexical") == {"model": "lexical"}
    assert model_identity(Echo())["model"].endswith(":Echo")
    named = model_identity("x", ModelSettings(base_url="http://h/v1?k=1", options={"n": 2}))
    assert named == {"model": "x", "base_url": "http://h/v1", "options": {"n": 2}}


def test_only_models_behind_a_server_are_cached(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    assert is_cached(build_model("openai/m"))
    assert not any(is_cached(build_model(name)) for name in ("lexical", "oracle", "random"))


def test_options_that_name_a_setting_are_settings():
    given = ModelSettings().told({"timeout_s": "3", "max_tries": 2, "top_p": 0.1})
    assert (given.timeout_s, given.max_tries, dict(given.options)) == (3.0, 2, {"top_p": 0.1})
    assert ModelSettings().told({"temperature": None}).options == {"temperature": None}
    for bad in ({"timeout_s": "soon"}, {"timeout_s": 0}, {"max_tries": 0}):
        with pytest.raises(UsageError):
            ModelSettings().told(bad)


# scripted


def test_a_script_is_given_in_order_and_anew_in_each_chat():
    model = build_model(ScriptedModel(["a", {"calls": [{"name": "d/w/now", "arguments": {}}]}]))
    for trial in range(2):
        chat = open_model(model, TASK, trial)
        assert chat.complete(ASK) == Completion("a")
        assert chat.complete(ASK).calls == (ToolCall("", "weather", {}),)
        with pytest.raises(ModelError, match="the script has 2 answers"):
            chat.complete(ASK)


def test_a_script_may_go_by_role_or_be_a_function():
    chat = ScriptedModel({"execution_manager": ["m"], "*": ["x", "y"]})
    said = [chat.complete(Request((), role=r)).content for r in ("a", "execution_manager", "b")]
    assert said == ["x", "m", "y"]
    counted = ScriptedModel(lambda request: {"content": request.role, "usage": [3, 4]})
    assert counted.complete(ASK) == Completion("execution_manager", usage=Usage(3, 4))


def test_a_script_may_hold_arguments_that_do_not_parse():
    chat = ScriptedModel([{"calls": [{"name": "weather", "arguments": "{oops"}]}])
    assert chat.complete(ASK).calls == (ToolCall("", "weather", None, "{oops"),)


@pytest.mark.parametrize("answer", [5, {"text": "x"}, {"calls": ["weather"]}, {"calls": [{}]}])
def test_a_script_of_another_form_is_refused_at_once(answer):
    with pytest.raises(UsageError, match="expected"):
        ScriptedModel([answer])


@pytest.mark.parametrize("content", ["{", "5", '{"planner": "x"}', "[7]"])
def test_a_script_file_that_holds_none_is_refused(tmp_path, content):
    file = tmp_path / "script.json"
    file.write_text(content)
    with pytest.raises(DataError, match=r"script\.json: "):
        build_model(f"scripted:{file}")


def test_a_script_file_is_played(tmp_path):
    file = tmp_path / "script.json"
    file.write_text(json.dumps({"*": ["hello"]}))
    assert open_model(build_model(f"scripted:{file}"), TASK, 0).complete(ASK).content == "hello"
    with pytest.raises(
        DataError, match=r"--model scripted:.*: No such file.*; expected scripted:FILE"
    ):
        build_model(f"scripted:{tmp_path}/none.json")
    with pytest.raises(UsageError, match="scripted:FILE"):
        build_model("scripted")


# recorded


def step(index, author, content="", call=None, turn=0, goal=0):
    return Step(index, author, "someone", content, call, None, turn, goal)


RUN = Trajectory(
    "t1",
    0,
    (
        step(0, "user_simulator", "Weather?"),
        step(
            1, "execution_manager", "Look.", ToolCall("c0", "old", {"city": "A"}, tool=TOOL.id), 1
        ),
        step(2, "execution_manager", "", ToolCall("c1", "gone", None, "{x"), 1),
        step(3, "execution_manager", "", ToolCall("c2", "old", {}, tool=TOOL.id), 2),
        step(4, "execution_manager", "It rains.", None, 3),
        step(5, "orchestrator", "Rain.", None, 4),
    ),
    answers=("Rain.",),
)


def test_a_recording_plays_its_calls_reply_by_reply_and_then_its_answer():
    chat = open_model(RecordedModel(lambda task, trial: RUN), TASK, 0)
    first = chat.complete(ASK)
    assert first.content == "Look."
    assert first.calls == (
        ToolCall("", "weather", {"city": "A"}, tool=TOOL.id),
        ToolCall("", "gone", None, "{x"),
    )
    messages = [*ASK.messages, Message("assistant", "", first.calls), Message("tool")]
    second = chat.complete(Request(tuple(messages), (TOOL,), "execution_manager"))
    assert [call.arguments for call in second.calls] == [{}]
    messages += [Message("assistant", "", second.calls), Message("tool")]
    assert chat.complete(Request(tuple(messages), (TOOL,), "execution_manager")).content == (
        "It rains."
    )
    assert chat.complete(Request(ASK.messages, role="orchestrator")).content == "Rain."
    assert chat.complete(Request((), role="user_simulator")).content == "Weather?"


def told(index, content):
    return Step(index, "execution_manager", "user_simulator", content, turn=index)


def test_a_recording_plays_what_it_told_the_user_between_its_calls():
    call = ToolCall("c0", "old", {}, tool=TOOL.id)
    end = ToolCall("c1", "end_conversation", {})
    steps = (
        Step(0, "user_simulator", "execution_manager", "Weather?"),
        told(1, "Where?"),
        Step(2, "user_simulator", "execution_manager", "In Rome.", turn=2),
        Step(3, "execution_manager", "executor", "", call, turn=3),
        told(4, "It rains."),
        Step(5, "user_simulator", "executor", "", end, turn=5),
    )
    run = Trajectory("t1", 0, steps, answers=("It rains.",))
    chat = RecordedModel(lambda *key: run).open(TASK, 0)
    messages = [*ASK.messages]
    replies = []
    for _ in range(4):
        reply = chat.complete(Request(tuple(messages), (TOOL,), "execution_manager"))
        replies.append(reply.content or reply.calls[0].name)
        messages += [Message("assistant", reply.content, reply.calls), Message("user", "And?")]
    assert replies == ["Where?", "weather", "It rains.", "It rains."]


def test_a_recording_without_a_report_ends_with_its_answer():
    bare = Trajectory("t1", 0, (step(0, "assistant", "", ToolCall("c", "f", {})),), answers=("5",))
    chat = RecordedModel(lambda task, trial: bare).open(TASK, 0)
    call = chat.complete(ASK).calls
    after = Request((*ASK.messages, Message("assistant", "", call)), (), "execution_manager")
    assert chat.complete(after).content == "5"


def test_a_recording_that_gave_up_has_no_final_word():
    """What its orchestrator handed on is the request, and no answer to it."""
    spoken = (
        Step(0, "user_simulator", "orchestrator", "Weather?"),
        Step(1, "orchestrator", "execution_manager", "Weather?", turn=1),
        Step(2, "execution_manager", "orchestrator", "", turn=2),
    )
    chat = RecordedModel(lambda *key: Trajectory("t1", 0, spoken, answers=(None,))).open(TASK, 0)
    assert chat.complete(Request(ASK.messages, role="orchestrator")).content == ""
    assert chat.complete(Request(ASK.messages, role="execution_manager")).content == ""


def test_a_recording_that_a_limit_ended_has_what_it_told_the_user_last():
    spoken = (
        Step(0, "orchestrator", "user_simulator", "Where?"),
        Step(1, "orchestrator", "execution_manager", "In Rome.", turn=1),
    )
    chat = RecordedModel(lambda *key: Trajectory("t1", 0, spoken, answers=(None,))).open(TASK, 0)
    assert chat.complete(Request(ASK.messages, role="orchestrator")).content == "Where?"


def test_a_task_without_a_recording_is_skipped():
    model = build_model(
        "recorded:run", ModelSettings(recordings=lambda spec: lambda task, trial: None)
    )
    with pytest.raises(NotRecordedError, match="recorded:run has no recording of task t1"):
        open_model(model, TASK, 0)


@pytest.mark.parametrize("spec", ["recorded", "replay:", "replay:somewhere"])
def test_a_recording_that_nothing_finds_is_refused(spec):
    with pytest.raises(UsageError, match=r"recorded:NAME|recordings"):
        build_model(spec)


# random


def test_chance_is_seeded_and_calls_an_offered_tool():
    model = build_model("random")
    answers = [model.complete(Request(ASK.messages, (TOOL,), seed=seed)) for seed in range(9)]
    assert answers[0] == model.complete(Request(ASK.messages, (TOOL,), seed=0))
    assert {call.name for answer in answers for call in answer.calls} == {"weather"}
    assert len({str(answer.calls) for answer in answers}) > 1
    done = (*ASK.messages, Message("assistant", "", answers[0].calls), Message("tool", '"sun"'))
    assert model.complete(Request(done, (TOOL,))).content == "sun"


bounded = st.one_of(
    st.builds(
        lambda kind, low, more: {"type": kind, "minimum": low, "maximum": low + more},
        st.sampled_from(["integer", "number"]),
        st.integers(-9, 9),
        st.integers(0, 9),
    ),
    st.builds(lambda low: {"type": "integer", "exclusiveMinimum": low}, st.integers(-9, 9)),
    st.builds(
        lambda low, more: {"type": "string", "minLength": low, "maxLength": low + more},
        st.integers(0, 20),
        st.integers(0, 9),
    ),
    st.sampled_from([{"enum": [1, "a"]}, {"const": None}, {"type": ["null", "boolean"]}, {}]),
)
nested = st.recursive(
    bounded,
    lambda inner: st.builds(
        lambda a, b, n: {
            "type": "object",
            "properties": {"a": a, "b": {"type": "array", "items": b, "minItems": n}},
            "required": ["a"],
        },
        inner,
        inner,
        st.integers(0, 3),
    ),
    max_leaves=5,
)


@given(nested, st.randoms(use_true_random=False))
@settings(max_examples=60)
def test_random_values_are_valid(schema, draw):
    faults = Draft202012Validator(schema).iter_errors(random_value(schema, draw))
    assert [fault.message for fault in faults] == []


# human


def test_a_person_may_speak_or_call():
    screen = io.StringIO()
    typed = '/call\n/call weather [1]\n/call weather {"city": "Bern"}\n/call unknown\n\nHello.\n'
    person = Human(io.StringIO(typed), screen)
    assert person.complete(ASK).calls == (
        ToolCall("", "weather", {"city": "Bern"}),
        ToolCall("", "unknown", {}),
    )
    assert person.complete(ASK) == Completion("Hello.")
    shown = screen.getvalue()
    assert "[user] Weather?" in shown and "weather([city]): Weather" in shown
    assert "'[1]' is no JSON object" in shown and "no tool named 'unknown'" in shown


def test_a_person_who_plays_the_user_reads_their_own_words_as_theirs():
    screen = io.StringIO()
    end = Tool(END_CONVERSATION, "end_conversation")
    said = (
        Message("system", "Your goal: a song"),
        Message("assistant", "Play a song"),
        Message("user", "Which one?"),
    )

    answer = Human(io.StringIO("Any\n"), screen).complete(Request(said, (end,), "user_simulator"))

    assert answer == Completion("Any")
    shown = screen.getvalue()
    assert "[you] Play a song\n[assistant] Which one?\n" in shown
    assert "[your part] Your goal: a song" in shown


def test_the_end_of_the_input_is_told():
    with pytest.raises(ModelError, match="the input ended while a person was to speak"):
        Human(io.StringIO(""), io.StringIO()).complete(ASK)


# tokens


def test_without_a_table_tokens_are_bytes_by_four(monkeypatch, tmp_path):
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    assert not table_is_at_hand("o200k_base")
    assert [count_by_bytes(text) for text in ("", "a", "abcd", "abcde", "天气")] == [0, 1, 1, 2, 2]
    counted = estimate_usage(ASK, Completion("abcdefgh")).usage
    assert counted.estimated and counted.tokens_out == 2


def test_a_damaged_table_is_not_taken_for_one(monkeypatch, tmp_path):
    name = "fb374d419588a4632f3f557e76b4b70aebbca790"
    (tmp_path / name).write_bytes(b"damaged")
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    assert not table_is_at_hand("o200k_base")
    assert (tmp_path / name).exists()


def test_a_table_at_hand_is_used():
    if not table_is_at_hand("o200k_base"):
        pytest.skip("tiktoken's table o200k_base is not in its cache folder")
    assert token_counter("gpt-4o")("hello world") == 2


@pytest.mark.parametrize("name", ["lexical", "oracle", "random", "human", "recorded:x"])
def test_a_field_of_a_request_is_refused_where_none_is_sent(name):
    settings = ModelSettings(options={"foo": 1})
    with pytest.raises(UnknownNameError, match=f"no option -M of {name.partition(':')[0]} 'foo'"):
        build_model(name, settings)


@pytest.mark.parametrize("name", ["openai/x", "gemini/x"])
def test_a_misnamed_option_of_a_server_is_refused(name: str) -> None:
    settings = ModelSettings().told({"retries": 0})
    with pytest.raises(UnknownNameError, match=r"no option -M of .* 'retries'; .*max_tries"):
        build_model(name, settings)
