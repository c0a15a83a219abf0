"""Requests in brackets: what is read, what is repaired and told, what cannot be read."""

import json

import pytest
from core_strategies import texts
from hypothesis import given
from hypothesis import strategies as st
from linear import linear
from looped import every_case

from seal.core import Tool, ToolCall
from seal.core.call_formats import form_of, repairs_of

TYPES = {
    "city": "string",
    "seats": "integer",
    "outdoor": "boolean",
    "price": "number",
    "tags": "array",
}


def tool(service: str, api: str, app: str, required=("city",), **types: str) -> Tool:
    """Return an API of an app."""
    properties = {name: {"type": kind} for name, kind in (types or TYPES).items()}
    schema = {"type": "object", "properties": properties, "required": list(required)}
    source = {"tool": service, "api": api}
    return Tool(f"d/{service}/{api}", f"{service}_{api}", "", schema, app, None, source)


FIND = tool("Restaurants_2", "FindRestaurants", "Restaurants")
BOOK = tool("Restaurants_2", "ReserveRestaurant", "Restaurants", ("city", "seats"))
MOVIES = tool("Movies_1", "FindMovies", "Movies")
MEDIA = tool("Media_3", "FindMovies", "Media")
TOOLS = (FIND, BOOK, MOVIES, MEDIA)
FORM = form_of("bracket").among(TOOLS)
OFFERED = tuple(tool.name for tool in TOOLS)
BERN = {"city": "Bern"}


def read(text, cut=False):
    """Return the words, and (name, arguments, repairs) of each call."""
    found = FORM.read(text, OFFERED, cut)
    return found.content, [(call.name, call.arguments, repairs_of(call)) for call in found.calls]


RIGHT = {
    "flat": ("[Restaurants: findrestaurants(#city='Bern')]", ""),
    "without its app": ("[findrestaurants(#city='Bern')]", ""),
    "in any case": ("[RESTAURANTS: FindRestaurants(#city='Bern')]", ""),
    "by its service": ("[Restaurants_2: findrestaurants(#city='Bern')]", ""),
    "by its own name": ("[Restaurants_2_FindRestaurants(#city='Bern')]", ""),
    "double quotes": ('[findrestaurants(#city="Bern")]', ""),
    "spread out": ("[ Restaurants : findrestaurants (\n #city = 'Bern' ,\n) ]", ""),
    "words around": (
        "I look.\n```\n[findrestaurants(#city='Bern')]\n```\nDone",
        "I look.\nDone",
    ),
}


@pytest.mark.parametrize(("text", "words"), RIGHT.values(), ids=RIGHT)
def test_a_right_bracket_is_read_without_a_repair(text, words):
    assert read(text) == (words, [(FIND.name, BERN, ())])
    assert FORM.read(text, OFFERED).calls[0].raw == ""


REPAIRED = {
    "no hash": ("[findrestaurants(city='Bern')]", "missing_mark"),
    "no quotes": ("[findrestaurants(#city=Bern)]", "no_quotes"),
    "typographic quotes": ("[findrestaurants(#city=\u2018Bern\u2019)]", "typographic_quotes"),
    "typographic double quotes": (
        "[findrestaurants(#city=\u201cBern\u201d)]",
        "typographic_quotes",
    ),
    "no last bracket": ("[findrestaurants(#city='Bern')", "closed"),
    "no brackets": ("[findrestaurants(#city='Bern'", "closed"),
    "no round bracket": ("[findrestaurants(#city='Bern']", "closed"),
    "twice": ("[findrestaurants(#city='Thun', #city='Bern')]", "repeated_argument"),
}


@pytest.mark.parametrize(("text", "repair"), REPAIRED.values(), ids=REPAIRED)
def test_what_is_repaired_in_a_bracket_is_told_and_kept(text, repair):
    assert read(text) == ("", [(FIND.name, BERN, (repair,))])
    assert FORM.read(text, OFFERED).calls[0].raw == text


def test_quotes_inside_a_value_are_read_with_a_backslash_or_repaired():
    name = "Mc Donald's"
    assert read(f'[findrestaurants(#city="{name}")]')[1] == [(FIND.name, {"city": name}, ())]
    assert read("[findrestaurants(#city='Mc Donald\\'s')]")[1] == [(FIND.name, {"city": name}, ())]
    assert read(f"[findrestaurants(#city='{name}', #seats='2')]")[1] == [
        (FIND.name, {"city": name, "seats": 2}, ("inner_quote",))
    ]


INSIDE = ["a, b", "f(x)", "[x]", "x] [findmovies(#city='y')] z", "a=b", "#", "?", "", "\\", "a\nb"]


@every_case("value", INSIDE)
def test_commas_brackets_and_marks_inside_quotes_belong_to_the_value(value):
    written = FORM.write(ToolCall("", FIND.name, {"city": value, "seats": 2}))
    assert read(written) == ("", [(FIND.name, {"city": value, "seats": 2}, ())])


def test_a_call_is_written_by_app_and_api_with_all_values_as_texts():
    call = ToolCall("", BOOK.name, {"city": "Bern", "seats": 2, "outdoor": True, "price": "?"})
    assert FORM.write(call) == (
        "[Restaurants: reserverestaurant(#city='Bern', #seats='2', #outdoor='True', #price='?')]"
    )


TYPED = {
    "seats": {"2": 2, "02": "02", "2.0": "2.0", "?": "?", "-3": -3, "two": "two"},
    "outdoor": {"True": True, "false": False, "yes": "yes", "?": "?"},
    "price": {"4.5": 4.5, "60": 60, "cheap": "cheap", "1e999": "1e999", "?": "?"},
    "city": {"2": "2", "True": "True"},
    "tags": {'["a", 1]': ["a", 1], "a": "a", '{"a": 1}': '{"a": 1}'},
    "undeclared": {"2": "2"},
}


@every_case(
    ("argument", "text", "value"),
    [(name, text, value) for name, of in TYPED.items() for text, value in of.items()],
)
def test_values_become_what_the_schema_says_where_nothing_is_lost(argument, text, value):
    found = read(f"[findrestaurants(#{argument}='{text}')]")[1][0][1]
    assert found == {argument: value} and type(found[argument]) is type(value)


def test_several_brackets_and_several_calls_in_one_are_several_calls():
    calls = [(FIND.name, BERN, ()), (MEDIA.name, {}, ())]
    one, other = "findrestaurants(#city='Bern')", "Media: findmovies()"
    assert read(f"[{one}] and\n[{other}]") == ("and", calls)
    assert read(f"[{one}, {other}]") == ("", calls)
    found = read(f"[{one}, Media: findmovies(city='Thun')]")[1]
    assert found[1] == (MEDIA.name, {"city": "Thun"}, ("missing_mark",))


UNREAD = {
    "unbalanced quotes": ("[findrestaurants(#city='Bern)]", FIND.name),
    "a quote before the bracket": ("[findrestaurants(#city='Bern)", FIND.name),
    "no value": ("[findrestaurants(#city=)]", FIND.name),
    "no name": ("[findrestaurants('Bern')]", FIND.name),
    "a bracket in the bracket": ("[findrestaurants(#city=[findmovies])]", FIND.name),
    "an unknown API": ("[eat(#what='Bern)]", "eat"),
}


@pytest.mark.parametrize(("text", "name"), UNREAD.values(), ids=UNREAD)
def test_a_bracket_that_breaks_off_is_a_call_without_arguments_that_keeps_its_text(text, name):
    (call,) = FORM.read(text, OFFERED).calls
    assert (call.name, call.arguments, call.raw) == (name, None, text)
    assert FORM.write(call) == text


def test_a_bracket_that_breaks_off_takes_no_other_with_it():
    text = "[findrestaurants(#city='Bern)]\n[Media: findmovies(#city='Thun', #price='1')]"
    assert [(name, given) for name, given, _ in read(text)[1]] == [
        (FIND.name, None),
        (MEDIA.name, {"city": "Thun", "price": 1}),
    ]


WORDS = [
    "[]",
    "[Restaurants]",
    "[ Restaurants ]",
    "There are 10 [1] (see below).",
    "{}",
    "",
]


@pytest.mark.parametrize("text", WORDS)
def test_what_requests_nothing_is_words(text):
    assert read(text) == (text, [])


def test_an_api_without_round_brackets_is_a_call_without_arguments():
    for text in ("[Restaurants: findrestaurants]", "[findrestaurants]"):
        assert read(text) == ("", [(FIND.name, {}, ("no_input",))])
        assert FORM.read(text).calls[0].raw == text


def test_a_name_that_several_apps_have_means_none_without_its_app():
    assert read("[findmovies(#city='x')]")[1] == [("findmovies", {"city": "x"}, ())]
    assert read("[Movies: findmovies(#city='x')]")[1] == [(MOVIES.name, {"city": "x"}, ())]
    assert read("[Restaurants: findmovies(#city='x')]")[1][0][0] == "Restaurants: findmovies"


def test_of_two_services_of_an_app_the_one_is_meant_that_the_arguments_fit():
    one = tool("Hotels_1", "SearchHotel", "Hotels", ("location",), location="string")
    other = tool("Hotels_4", "SearchHotel", "Hotels", ("place",), place="string")
    form = form_of("bracket").among((one, other))
    for meant, argument in ((one, "location"), (other, "place")):
        (call,) = form.read(f"[Hotels: searchhotel(#{argument}='Bern')]").calls
        assert call.name == meant.name
    assert [form.called(one), form.called(other)] == [
        "Hotels_1: searchhotel",
        "Hotels_4: searchhotel",
    ]
    (call,) = form.read(form.write(ToolCall("", other.name, {}))).calls
    assert call.name == other.name


def test_a_scrambled_name_and_a_tool_without_an_app_keep_their_names():
    scrambled = Tool("d/x~names", "restaurants_1", "", {}, "Restaurants", None, FIND.source)
    plain = Tool("demo/weather", "weather")
    form = form_of("bracket").among((scrambled, plain))
    assert [form.called(scrambled), form.called(plain)] == ["restaurants_1", "weather"]
    assert form.read("[weather(#city='Bern')]").calls[0].name == "weather"


def test_a_text_that_was_cut_off_is_not_closed():
    written = "[findrestaurants(#city='Bern'"
    assert FORM.read(written).calls[0].arguments == BERN
    assert FORM.read(written, cut=True).calls[0].arguments is None
    assert FORM.read(f"{written})", cut=True).calls[0].arguments == BERN


def test_a_bracket_that_finishes_is_the_answer():
    assert read("[finish(#answer='It is sunny.')]") == ("It is sunny.", [])


NAMES = st.from_regex(r"[\w.-]{1,20}", fullmatch=True)


@given(
    name=st.from_regex(r"[\w./-]{1,20}", fullmatch=True).filter(lambda n: n != "final_answer"),
    arguments=st.dictionaries(NAMES, texts, max_size=3),
)
def test_texts_are_read_back_as_they_were_written(name, arguments):
    form = form_of("bracket")
    (call,) = form.read(form.write(ToolCall("", name, arguments)), [name]).calls
    assert (call.name, call.arguments, call.raw) == (name, arguments, "")


@given(
    seats=st.integers(-(10**17), 10**17),
    price=st.floats(allow_nan=False, allow_infinity=False),
    outdoor=st.booleans(),
    city=texts,
)
def test_typed_values_are_read_back_as_they_were_written(seats, price, outdoor, city):
    given_ = {"city": city, "seats": seats, "outdoor": outdoor, "price": price}
    (call,) = FORM.read(FORM.write(ToolCall("", BOOK.name, given_))).calls
    assert (call.name, call.arguments, call.raw) == (BOOK.name, given_, "")


SYNTAX = ("[", "]", "(", ")", "#", "=", "'", '"', "\\", ",", ": ", "\n", "?", "```", "\u2018")
PIECES = st.lists(
    st.one_of(
        st.text(max_size=6),
        st.sampled_from((*SYNTAX, "findmovies", "[Media: findmovies(", "#city='", "')]", "\ud800")),
    ),
    max_size=16,
).map("".join)


@given(text=PIECES, cut=st.booleans())
def test_no_text_raises_and_every_call_can_be_written(text, cut):
    for call in FORM.read(text, OFFERED, cut).calls:
        assert call.arguments is not None or call.raw
        json.dumps(call.arguments, allow_nan=False)
        FORM.write(call).encode()
        assert repairs_of(call) or call.arguments is None or not call.raw


HOSTILE = [
    "[",
    "[a(",
    "[a()]",
    "[a(#b='",
    "[a(#b=\u201c",
    "[a(#b='x', ",
    "[a(#b='[a(', ",
    "' , ",
    "[aaaa ",
    "[a\\'",
    "[a()][[[[[[",
    "[a(#b='a(b='c'), ",
    "[a(b='c'), a(b='c'), ",
    "[ \n",
    "[a(#b='x'" + " " * 999_990,
    "[a(#b='x'," + " " * 999_990,
    "[a(#b='" + ("'" + " " * 1000) * 990,
]


@pytest.mark.parametrize("piece", HOSTILE, ids=range(len(HOSTILE)))
def test_a_megabyte_of_brackets_is_read_in_linear_time(piece):
    linear(
        lambda length: FORM.read((piece * (length // len(piece) + 1))[:length], OFFERED), 1_000_000
    )
