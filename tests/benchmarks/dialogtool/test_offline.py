"""The roles of a tool's life without a model: what is said is what the words allow."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from looped import every_case
from tool_life_tasks import FIND, creation

from seal.benchmarks.dialogtool.api_code import example_of
from seal.benchmarks.dialogtool.offline import (
    ask_api,
    create,
    create_knowingly,
    in_words,
    next_act,
    restyled,
    told,
)
from seal.benchmarks.dialogtool.roles import creation_messages
from seal.benchmarks.dialogtool.tool_life import (
    ACTS,
    Lesson,
    checked_roles,
    read_act,
    read_lesson,
    shipped_roles,
    write_act,
)
from seal.core import DataError, Message, Request, ToolCall


def heard(*texts: str) -> list[Message]:
    """Return a dialogue, the user first."""
    return [Message("assistant" if n % 2 else "user", text) for n, text in enumerate(texts)]


@every_case(
    ("texts", "act"),
    [
        (["Find me a movie."], "request"),
        (["x", "A table for 2 at Nopa, correct?", "Yes, that is right."], "notify_success"),
        (["x", "A table for 2 at Nopa, correct?", "No, make it 3."], "confirm"),
        (["x", "How about Nopa?", "Is there anything else?"], "offer_alts"),
        (["x", "Nopa is in Oakland.", "What is their phone number?"], "inform"),
        (["x", "Which city?", "Oakland."], "offer"),
        (["x", "It is booked.", "Thanks a lot!"], "req_more"),
        (["x", "Anything else I can do?", "No, that's all."], "goodbye"),
        (["x", "There is Nopa in Oakland.", "Sounds great."], "offer_intent"),
        (["x", "Do you want to buy tickets?", "No, not now."], "req_more"),
    ],
)
def test_the_last_words_speak_for_an_action(texts, act):
    assert next_act(heard(*texts))[0] == act


APPS = "- Buses: Find and book tickets of a bus\n- Restaurants: Find and reserve a restaurant"


@every_case(
    ("texts", "app"),
    [
        (["I need a bus ticket.", "From where?", "From Bern, please."], "[Buses]"),
        (["Find me a bus.", "Which city?", "Bern.", "How about 9?", "Find a restaurant too."],
         "[Restaurants]"),
        (["I need a bus ticket.", "Anything else?", "No, that's all."], "[]"),
        (["I need a bus ticket.", "One to Bern, correct?", "No, two."], "[]"),
        (["Hello."], "[]"),
    ],
)  # fmt: skip
def test_an_app_is_opened_for_the_wish_that_the_whole_dialogue_tells(texts, app):
    request = Request((Message("system", APPS), *heard(*texts)), (), "requester")
    assert ask_api(request).content == app


@given(st.text(max_size=300))
def test_any_text_is_read_as_some_action_or_none(text):
    assert next_act(heard(text))[0] in ACTS
    assert read_act(text) == read_act(text).lower()
    read_lesson(text)


@given(st.sampled_from(sorted(ACTS)), st.text(max_size=40))
def test_a_written_action_is_read_again(act, why):
    assert read_act(write_act(act, why)) == act


def test_an_action_is_found_where_a_model_writes_around_it():
    assert read_act("I choose [Offer_Alts(another one)]!") == "offer_alts"
    assert read_act("notify_success, for it worked") == "notify_success"
    assert read_act("no idea") == ""


def test_a_lesson_is_read_as_it_was_written():
    lesson = Lesson("offer", "[a(#b='c')]", '[{"x":1}]', "{}", "Hello\nthere")
    assert read_lesson(lesson.write()) == lesson


def schema(**slots: dict[str, object]) -> object:
    return FIND.__class__("t", "t", parameters={"properties": slots, "required": list(slots)})


@every_case(
    ("slot", "kind", "texts", "value"),
    [
        ("date", "string", ["On the 8th of March, please"], "2019-03-08"),
        ("visit_date", "string", ["March 3rd works"], "2019-03-03"),
        ("date", "string", ["tomorrow"], "2019-03-02"),
        ("date", "string", ["next Monday"], "2019-03-04"),
        ("time", "string", ["at quarter to 7 in the evening"], "18:45"),
        ("time", "string", ["half past 12 in the afternoon"], "12:30"),
        ("time", "string", ["6 pm"], "18:00"),
        ("time", "string", ["12 am"], "00:00"),
        ("party_size", "integer", ["for two people"], 2),
        ("number_of_seats", "integer", ["x", "How many seats?", "4"], 4),
        ("outdoor_seats", "boolean", ["I need outdoor seats"], True),
        ("outdoor_seats", "boolean", ["without outdoor seats"], False),
        ("city", "string", ["a table in San Jose"], "San Jose"),
        ("city", "string", ["x", "What city?", "Oakland"], "Oakland"),
        ("date", "string", ["whenever"], None),
    ],
)
def test_a_slot_takes_what_was_said(slot, kind, texts, value):
    found = told(schema(**{slot: {"type": kind}}), heard(*texts))
    assert found.get(slot) == value


def test_a_slot_takes_what_an_earlier_result_calls_so():
    rows = json.dumps([{"restaurant_name": "Nopa"}, {"restaurant_name": "Zaya Grill"}])
    messages = [
        *heard("Find a restaurant"),
        Message("assistant", calls=(ToolCall("c", "f", {"city": "Oakland"}),)),
        Message("tool", rows, call_id="c"),
        *heard("x", "How about Zaya Grill?", "Book a table there")[1:],
    ]
    found = told(schema(restaurant_name={"type": "string"}, city={"type": "string"}), messages)
    assert found["restaurant_name"] == "Zaya Grill"


@given(st.lists(st.text(max_size=60), min_size=1, max_size=5))
def test_slots_never_fail_and_are_of_their_type(texts):
    tool = schema(
        date={"type": "string"},
        time={"type": "string"},
        party_size={"type": "integer"},
        shared={"type": "boolean"},
        kind={"type": "string", "enum": ["Pool", "Luxury"]},
    )
    found = told(tool, heard(*texts))
    assert re.fullmatch(r"2019-\d\d-\d\d", found.get("date", "2019-01-01"))
    assert re.fullmatch(r"[0-2]\d:[0-5]\d", found.get("time", "00:00"))
    assert found.get("kind", "Pool") in ("Pool", "Luxury")
    assert isinstance(found.get("party_size", 0), int)
    assert isinstance(found.get("shared", True), bool)


def test_templates_say_what_was_decided():
    rows = '[{"name": "Nopa", "city": "Oakland"}, {"name": "Zaya"}]'
    assert in_words(Lesson("request", "[a(#city='?', #day='today')]"), []) == "What is the city?"
    assert "I found 2" in in_words(Lesson("inform_count", result=rows), [])
    assert "Nopa" in in_words(Lesson("offer", result=rows), [])
    before = [*heard("Which city is it in?"), Message("tool", rows, call_id="c")]
    assert in_words(Lesson("inform"), before) == "The city is Oakland."
    assert "Zaya" in in_words(Lesson("offer_alts"), before)
    refused = Lesson("offer", "[a(#city='Oakland')]", '{"error": "not confirmed", "response": []}')
    assert in_words(refused, []) == "I would go on with city Oakland. Shall I go ahead?"
    assert "city San Jose" in in_words(Lesson("confirm", state='{"city": ["San Jose"]}'), [])


SAID = (
    "I'm sure you'll love it, and please note that there is a table for 2 people at Nopa in San "
    "Jose on March 8th at 6:30 pm, which isn't far from the great city park. Okay? It cannot fail!"
)


@every_case("role", shipped_roles(), ids=lambda role: role["name"].replace(" ", "-"))
@every_case("said", ["Nopa is in Oakland.", "Do you want it?", SAID])
def test_what_a_role_says_has_its_features(role, said):
    features = role["features"]
    text = restyled(said, features)
    if features["opening"]:
        assert text.startswith(tuple(features["opening"]))
    if features["closing"]:
        assert text.endswith(tuple(features["closing"]))
    for word in features["avoid"]:
        assert not re.search(rf"\b{word}\b", text, re.IGNORECASE), word
    if features["exclamations"] is not None:
        assert ("!" in text) == features["exclamations"]
    if features["question"]:
        assert text.endswith("?")
    if features["contractions"] is False:
        assert not re.search(r"\w'(?:m|re|ll|ve|d)\b|n't\b", text)
    if features["max_words"]:
        longest = max(len(s.split()) for s in re.split(r"(?<=[.!?])\s+", text))
        assert longest <= features["max_words"]
    for fact in ("Nopa", "6:30 pm", "San", "8th"):
        assert (fact in said) <= (fact in text)


def test_there_are_roles_enough_and_all_are_types():
    roles = shipped_roles()
    assert len(roles) >= 16
    assert all(role["name"] == role["name"].lower() for role in roles)
    assert len({role["mbti"] for role in roles}) >= 10


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"emotion": ""}, "lacks emotion"),
        ({"mbti": "ABCD"}, "mbti: expected a type such as INTJ"),
        ({"features": {"speed": 1}}, "no feature 'speed'; there are: max_words"),
        ({"features": {"max_words": "ten"}}, "max_words: expected int"),
        ({"features": {"avoid": [1]}}, "avoid: expected texts"),
        ({"features": []}, "lacks features"),
        ({"name": 7}, "name: expected str"),
    ],
)
def test_a_role_that_lacks_a_field_is_told(change, says):
    with pytest.raises(DataError, match=says):
        checked_roles([{**shipped_roles()[0], **change}], "mine.json")


def test_two_roles_of_one_name_and_no_list_are_refused():
    role = shipped_roles()[0]
    with pytest.raises(DataError, match="two roles have the name"):
        checked_roles([role, role], "mine.json")
    with pytest.raises(DataError, match="expected a list of roles"):
        checked_roles({}, "mine.json")
    with pytest.raises(DataError, match="role 0: expected an object"):
        checked_roles(["x"], "mine.json")


def test_a_function_is_written_from_the_document_of_the_prompt():
    task = creation()
    messages = creation_messages(FIND, task.goals[0].text, example_of(task.metadata))
    prompt = messages[0].content
    assert "- cuisine (string): Cuisine, one of" in prompt
    assert "findrestaurants(table, city='Oakland', cuisine='Thai') returns these rows" in prompt
    request = Request(tuple(messages), role="creator")
    for source in (create(request), create_knowingly(request, task.metadata)):
        assert "def findrestaurants(table, city, cuisine, outdoor_seats=None):" in source.content
        compile(source.content, "function", "exec")
