import re

from hypothesis import given
from hypothesis import strategies as st

from seal.core import Tool
from seal.core.call_formats import parse_call, wire_names
from seal.core.text_formats import parse_object
from seal.models.wire import wire_tools

OPENAI = re.compile(r"[A-Za-z0-9_-]{1,64}")
GEMINI = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
names = st.lists(
    st.one_of(st.text(max_size=80), st.from_regex(r"[a-c._ -]{1,4}", fullmatch=True)), max_size=12
)


@given(names)
def test_wire_names_are_valid_and_distinct(given_names):
    for leading_letter, pattern in ((False, OPENAI), (True, GEMINI)):
        wired = wire_names(given_names, leading_letter)
        assert len(set(wired)) == len(wired) == len(given_names)
        assert all(pattern.fullmatch(name) for name in wired)


@given(names)
def test_a_valid_name_stays_and_every_name_maps_back(given_names):
    tools = tuple(Tool(str(n), name) for n, name in enumerate(given_names))
    wired = wire_tools(tools)
    for tool, wire in zip(tools, wired.names, strict=True):
        assert wired.from_wire[wire] == tool.name
        assert wired.from_wire[wired.to_wire[tool.name]] == tool.name
        if OPENAI.fullmatch(tool.name):
            assert wired.to_wire[tool.name] == tool.name


def test_names_with_dots_blanks_and_cjk_stay_readable_where_they_can():
    assert wire_names(["weather.now", "get weather", "ok-1"]) == [
        "weather_now",
        "get_weather",
        "ok-1",
    ]
    (chinese,) = wire_names(["查询天气"])
    assert re.fullmatch(r"tool_[0-9a-f]{8}", chinese)


def test_names_that_meet_are_told_apart_whatever_their_order():
    first = wire_names(["a.b", "a b", "a_b"])
    again = wire_names(["a_b", "a b", "a.b"])
    assert first[2] == "a_b" and first == again[::-1]


def test_a_name_may_not_begin_with_a_digit_for_gemini():
    assert wire_names(["7day.forecast"], leading_letter=True) == ["_7day_forecast"]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)


@given(st.text())
def test_any_text_parses_to_an_object_or_keeps_its_words(text):
    call = parse_call("f", text)
    assert isinstance(call.arguments, dict) or call.raw == text or "?" in call.raw


@given(st.dictionaries(st.text(max_size=5), json_values))
def test_an_object_is_read_back(value):
    import orjson

    assert parse_object(orjson.dumps(value).decode()) == value
