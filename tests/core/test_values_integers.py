"""Whole numbers of any length: read and written with all their digits, by every door."""

import json
import sys
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

import seal
from seal.core import Task, Tool, ToolCall
from seal.core.call_formats import form_of, parse_call
from seal.core.records import decode, encode
from seal.core.values import exact_json, json_bytes, json_text, json_value
from seal.pools.reading.files import json_of_text, parse_json, parse_leniently
from seal.pools.reading.tool_schemas import literal

LONG = 987654321098765432109
whole = st.one_of(st.integers(), st.integers(2**62, 2**66), st.integers(-(2**66), -(2**62)))
read = st.recursive(
    st.one_of(st.none(), st.booleans(), whole, st.floats(allow_nan=False, allow_infinity=False)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=6,
)


@given(read)
def test_what_is_written_is_read_as_it_was(value: Any) -> None:
    assert json_value(json_bytes(value)) == value == json_value(json_text(value))
    assert json.loads(json_bytes(value)) == value == exact_json(value)


@pytest.mark.parametrize("text", [f"{LONG}", f'{{"a":[-{LONG}]}}', "-9223372036854775809", "1e22"])
def test_every_reader_of_json_keeps_all_digits(text: str) -> None:
    wanted = json.loads(text)
    readers: list[Any] = [json_value, json_of_text, literal]
    assert [reader(text) for reader in readers] == [wanted] * len(readers)
    assert parse_json(text.encode(), "here") == wanted == parse_leniently(text.encode())


@pytest.mark.parametrize(
    "text",
    [
        "1" * (sys.get_int_max_str_digits() + 1),
        f"[{LONG}, 1e999]",
        f"[{LONG}, NaN]",
        f'["\\ud800", {"9" * 400}]',
        "[" * 2000 + str(LONG) + "]" * 2000,
        f"{LONG},",
    ],
    ids=["digits", "infinite", "none", "half a pair", "deep", "more"],
)
def test_what_is_no_json_is_refused_with_a_word(text: str) -> None:
    with pytest.raises(orjson.JSONDecodeError) as refused:
        json_value(text)
    assert str(refused.value)


@pytest.mark.parametrize("text", [r"C:\users\dude", "\U0001f600", r'{"a": "\ud83d"}'])
def test_a_long_number_is_read_beside_any_text(text: str) -> None:
    value = {"id": int("9" * 4_299), "said": text}
    assert json_value(json_bytes(value)) == value == json_value(json.dumps(value))


def test_the_readers_of_our_own_files_are_this_one() -> None:
    """orjson alone refuses a whole number beyond 308 digits, which is written all the same."""
    chapters = Path(seal.__file__).parent.rglob("*.py")
    others = {path.stem for path in chapters if "orjson.loads" in path.read_text("utf-8")}
    # The store has a reader of its own for long numbers; kept indexes hold none.
    assert others <= {"values", "store", "kept"}


@pytest.mark.parametrize("given", [json.dumps({"id": LONG}), {"id": LONG}])
def test_a_native_call_keeps_all_digits(given: Any) -> None:
    assert parse_call("find", given) == ToolCall("", "find", {"id": LONG})


@pytest.mark.parametrize("format", ["json", "action"])
@pytest.mark.parametrize("given", [json.dumps({"id": LONG}), repr({"id": LONG})])
def test_a_call_in_text_keeps_all_digits(format: str, given: str) -> None:
    form = form_of(format)
    assert form is not None
    (call,) = form.read(form.put("find", given)).calls
    assert call.arguments == {"id": LONG}
    (again,) = form.read(form.write(call)).calls
    assert again.arguments == call.arguments


@pytest.mark.parametrize("kind", ["integer", "number"])
def test_a_request_in_brackets_keeps_all_digits(kind: str) -> None:
    form = form_of("bracket")
    assert form is not None
    parameters = {"type": "object", "properties": {"id": {"type": kind}}}
    (call,) = (
        form.among([Tool("find", "find", parameters=parameters)])
        .read(f"[find(#id='{LONG}')]")
        .calls
    )
    assert call.arguments == {"id": LONG}


def test_a_record_keeps_all_digits() -> None:
    task = Task("one", "own", (), tags={"customer": LONG}, metadata={"deep": [{"id": -LONG}]})
    assert decode(encode(task), Task) == task
