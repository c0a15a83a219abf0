"""Calls that a server left in a model's text, as each family writes them."""

import pytest
from linear import linear
from looped import every_case

from seal.core import Tool
from seal.core.dialects import (
    DIALECTS,
    called_name,
    calls_thought,
    calls_written,
    holds_end_mark,
    is_amid_marks,
    read_calls,
)

CITY = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
    "required": ["city"],
}
TOOL = Tool("t/get_weather", "get_weather", "Weather", CITY)
OBJECT = '{"name": "get_weather", "arguments": {"city": "Bern", "days": 3}}'
GIVEN = '{"city": "Bern", "days": 3}'
WRITTEN = {
    "Hermes": ("hermes", f"I look.\n<tool_call>\n{OBJECT}\n</tool_call>"),
    "Qwen3-Coder": (
        "hermes",
        "<tool_call>\n<function=get_weather>\n<parameter=city>\nBern\n</parameter>\n"
        "<parameter=days>\n3\n</parameter>\n</function>\n</tool_call>",
    ),
    "Llama 3.1": ("llama", f"<|python_tag|>{OBJECT.replace('arguments', 'parameters')}<|eom_id|>"),
    "Llama's function": ("function", f"<function=get_weather>{GIVEN}</function>"),
    "Llama's object": ("json", OBJECT.replace("arguments", "parameters")),
    "Mistral": ("mistral", f"[TOOL_CALLS][{OBJECT}]"),
    "Mistral, newer": ("mistral", f"[TOOL_CALLS]get_weather[ARGS]{GIVEN}"),
    "DeepSeek": (
        "deepseek",
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather\n```json\n"
        f"{GIVEN}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
    ),
    "DeepSeek, newer": (
        "deepseek",
        f"<｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>{GIVEN}<｜tool▁call▁end｜>",
    ),
    "gpt-oss": (
        "harmony",
        f"<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>{GIVEN}",
    ),
    "gpt-oss, without marks": ("harmony", f"to=functions.get_weather {GIVEN}"),
    "Kimi": (
        "kimi",
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0"
        f"<|tool_call_argument_begin|>{GIVEN}<|tool_call_end|><|tool_calls_section_end|>",
    ),
    "GLM": (
        "hermes",
        "<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Bern</arg_value>\n"
        "<arg_key>days</arg_key>\n<arg_value>3</arg_value>\n</tool_call>",
    ),
    "Python": ("python", "[get_weather(city='Bern', days=3)]"),
    "Gemini's code": (
        "tool_code",
        '```tool_code\nprint(default_api.get_weather(city="Bern", days=3))\n```',
    ),
    "Gemma's code": ("tool_code", "```tool_code\nget_weather(city='Bern', days=3)\n```"),
    "functioncall": (
        "functioncall",
        '<functioncall> {"name": "get_weather", "arguments": \'{"city": "Bern", "days": 3}\'}',
    ),
    "a fence": ("json", f"```json\n{OBJECT}\n```"),
    "a bare list (xLAM)": ("json", f"[{OBJECT}]"),
    "Granite, newer": ("hermes", f"<tool_call>[{OBJECT}]</tool_call>"),
    "Granite": ("granite", f"<|tool_call|>[{OBJECT}]"),
    "Phi-4-mini": ("granite", f"<|tool_call|>[{OBJECT}]<|/tool_call|>"),
    "FireFunction": ("functools", f"functools[{OBJECT}]"),
    "Nemotron": ("nemotron", f"<TOOLCALL>[{OBJECT}]</TOOLCALL>"),
    "LFM2": (
        "lfm",
        "I look.<|tool_call_start|>[get_weather(city='Bern', days=3)]<|tool_call_end|>",
    ),
    "LFM2's objects": ("lfm", f"<|tool_call_start|>[{OBJECT}]<|tool_call_end|>"),
    "InternLM": (
        "internlm",
        f"I look.<|action_start|> <|plugin|>\n{OBJECT.replace('arguments', 'parameters')}"
        "<|action_end|>",
    ),
    "Command R7B": (
        "command",
        '<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "get_weather", '
        f'"parameters": {GIVEN}}}]<|END_ACTION|>',
    ),
    "Command R": (
        "command",
        f'Action: ```json\n[{{"tool_name": "get_weather", "parameters": {GIVEN}}}]\n```',
    ),
    "Jamba": ("tool_calls", f"<tool_calls>[{OBJECT}]</tool_calls>"),
    "MiniMax M1": ("tool_calls", f"<tool_calls>\n{OBJECT}\n</tool_calls>"),
    "MiniMax M2": (
        "invoke",
        'I look.\n<minimax:tool_call>\n<invoke name="get_weather">\n<parameter name="city">Bern'
        '</parameter>\n<parameter name="days">3</parameter>\n</invoke>\n</minimax:tool_call>',
    ),
    "MiniMax M3": (
        "hermes",
        'I look.]<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name="get_weather">\n'
        "]<]minimax[>[<city>Bern]<]minimax[>[</city>\n]<]minimax[>[<days>3]<]minimax[>[</days>\n"
        "]<]minimax[>[</invoke>\n]<]minimax[>[</tool_call>",
    ),
    "MiniMax M3 without the outer tag": (
        "invoke",
        ']<]minimax[>[<invoke name="get_weather">]<]minimax[>[<city>Bern]<]minimax[>[</city>'
        "]<]minimax[>[<days>3]<]minimax[>[</days>]<]minimax[>[</invoke>",
    ),
    "DeepSeek V3.2": (
        "invoke",
        '<｜DSML｜function_calls>\n<｜DSML｜invoke name="get_weather">\n'
        '<｜DSML｜parameter name="city" string="true">Bern</｜DSML｜parameter>\n'
        '<｜DSML｜parameter name="days" string="false">3</｜DSML｜parameter>\n'
        "</｜DSML｜invoke>\n</｜DSML｜function_calls>",
    ),
    "Step3": (
        "invoke",
        "<｜tool_calls_begin｜><｜tool_call_begin｜>function<｜tool_sep｜>"
        '<steptml:invoke name="get_weather"><steptml:parameter name="city">Bern'
        '</steptml:parameter><steptml:parameter name="days">3</steptml:parameter>'
        "</steptml:invoke><｜tool_call_end｜><｜tool_calls_end｜>",
    ),
    "Seed-OSS": (
        "function",
        "<seed:tool_call>\n<function=get_weather>\n<parameter=city>Bern</parameter>\n"
        "<parameter=days>3</parameter>\n</function>\n</seed:tool_call>",
    ),
    "Gemma 4": ("gemma", '<|tool_call>call:get_weather{city:<|"|>Bern<|"|>,days:3}<tool_call|>'),
    "FunctionGemma": (
        "gemma",
        "<start_function_call>call:get_weather{city:<escape>Bern<escape>,days:3}"
        "<end_function_call>",
    ),
    "LongCat": ("longcat", f"I look.\n<longcat_tool_call>{OBJECT}</longcat_tool_call>"),
    "LongCat's other way": (
        "longcat",
        "I look.\n<longcat_tool_call>get_weather\n<longcat_arg_key>city</longcat_arg_key>\n"
        "<longcat_arg_value>Bern</longcat_arg_value>\n<longcat_arg_key>days</longcat_arg_key>\n"
        "<longcat_arg_value>3</longcat_arg_value>\n</longcat_tool_call>",
    ),
    "Olmo 3": ("olmo", '<function_calls>\nget_weather(city="Bern", days=3)\n</function_calls>'),
    "Apertus": ("apertus", f'<|tools_prefix|>[{{"get_weather": {GIVEN}}}]<|tools_suffix|>'),
}


@every_case(("dialect", "text"), WRITTEN.values(), ids=WRITTEN)
def test_each_family_is_read_as_it_writes(dialect, text):
    calls, words = read_calls(text, [TOOL], [dialect])
    assert [(call.name, call.arguments) for call in calls] == [
        ("get_weather", {"city": "Bern", "days": 3})
    ]
    assert calls[0].raw == text and "get_weather" not in words
    assert words == "I look." or "I look." not in text
    assert [one.dialect for one in calls_written(text, ["get_weather"])] == [dialect]
    assert dialect in DIALECTS
    assert read_calls(text, [TOOL], []) == ([], text)


def test_words_of_json_are_values_in_calls_that_look_like_python():
    text = "<function_calls>\nget_weather(city=null, days=[true, false])\n</function_calls>"
    calls, _ = read_calls(text, [TOOL], ["olmo"])
    assert [call.arguments for call in calls] == [{"city": None, "days": [True, False]}]


def test_two_calls_are_two():
    text = f"<tool_call>{OBJECT}</tool_call>\n<tool_call>{OBJECT.replace('Bern', 'Oslo')}"
    calls, _ = read_calls(text, [TOOL], ["hermes"])
    assert [call.arguments["city"] for call in calls] == ["Bern", "Oslo"]


@pytest.mark.parametrize(
    "text",
    [
        "It is sunny in Bern.",
        "Use get_weather(city='Bern') for that.",
        '{"city": "Bern"}',
        '{"name": "Ann", "arguments": "none"}',
        f"Such as {OBJECT}, for example.",
        "<tool_call>",
        "<function=other>{}</function>",
        "[1, 2, 3]",
        "[get_weather(*rest)]",
        f"[{OBJECT}, 1]",
        "Write <|tool_call|> before a call of get_weather.",
        'With <invoke name="other"> a model calls get_weather.',
        "functools[0] is get_weather.",
    ],
)
def test_words_are_no_calls(text):
    assert calls_written(text, ["get_weather"]) == []


def test_a_bare_call_at_the_end_of_thinking_is_told_and_one_amid_it_is_not():
    bare = '{"name": "get_weather", "arguments": {"city": "Bern"}}'
    for thought in (bare, f"I need it.\n{bare}\n", f"I need it.\n\n```json\n{bare}\n```"):
        assert [one.name for one in calls_thought(thought, ["get_weather"])] == ["get_weather"]
    for thought in (f"I need it.\n{bare}\nOr not?", f"As {bare}", f"Hm.\n{bare[:-1]}"):
        assert calls_thought(thought, ["get_weather"]) == []
    linear(lambda times: calls_thought("\n{" * times, ["get_weather"]), 100_000)


def test_bare_calls_that_the_tool_does_not_take_stay_words():
    assert read_calls('{"name": "get_weather", "arguments": {}}', [TOOL], ["json"])[0] == []
    assert read_calls("[get_weather(town='Bern')]", [TOOL], ["python"])[0] == []


def test_what_leaks_around_a_name_is_taken_off():
    for leaked in (
        "default_api:get_weather",
        "get_weather<|channel|>commentary",
        "get_weather</arg_value>",
        "get_weather<tool_call>",
        "<tool_call>get_weather",
        'get_weather" />',
        'invoke name="get_weather"',
        "get_weather\n",
        "functions.get_weather:0",
        "proxy_get_weather",
        "get_weather",
    ):
        assert called_name(leaked, ["get_weather"]) == "get_weather"
    assert called_name("default_api:get_weather", ["get_weather"]) == "get_weather"
    for kept in ("functions.other:0", "proxy_other"):
        assert called_name(kept, ["get_weather"]) == kept
    assert called_name("proxy_get", ["get", "proxy_get"]) == "proxy_get"
    more = 'get_weather" />\n<parameter name="city">Bern', "get_weather<parameter=city>Bern"
    for name in more:
        assert called_name(name, ["get_weather"]) == name
        assert is_amid_marks(name, ["get_weather"]) and not is_amid_marks(name, ["other", name])
    for marks in ("<tool_call>", "</arg_value>", '" />', "<|tool_call|>"):
        assert is_amid_marks(marks, ["get_weather"])
    assert not is_amid_marks("get_weather", ["get_weather"])


def test_no_text_takes_long():
    marks = ("<|tool_call_start|>[", "<|tool_call|>", 'invoke name="get_weather">', "functools[")
    marks += ("<|tools_prefix|>[", '<|tool_call>call:get_weather{a:<|"|>', "<|START_ACTION|>{")
    marks += (
        'parameter name="a">',
        "<tool_call>",
        "<function=",
        "[TOOL_CALLS]",
        "to=functions.",
        "<arg_key>a</arg_key>",
    )
    marks += (']<]minimax[>[<tool_call>invoke name="', "]<]minimax[>[<a>")
    for mark in (*marks, "<parameter=a>", "{", "[", "<tool_call>{", "[f(", '{"name":'):
        linear(lambda times, mark=mark: calls_written(mark * times, ["get_weather"]), 20_000)


def test_an_end_mark_of_any_family_is_seen_and_no_word_is_taken_for_one():
    for mark in (
        *("<|im_end|>", "<|END_RESPONSE|>", "<end_of_utterance>", "<|im_assistant|>", "<|end|>"),
        *("<｜end▁of▁sentence｜>", "<turn|>", "</s>\n", "[|endofturn|]", "<|eom_id|>", "<eos>"),
    ):
        assert holds_end_mark(f"It is sunny.{mark}"), mark
    for words in (
        "It is <s>rainy</s> sunny.",
        "The <user> of turn 3",
        "<|box_start|>7",
        "[EOS] it",
    ):
        assert not holds_end_mark(words), words
