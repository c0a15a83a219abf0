"""Slots: the values that gold asks to be told, their types and what is refused."""

from __future__ import annotations

import re
from datetime import date, time
from typing import Any

import pytest
from looped import every_case

import seal
from seal.core.slots import TYPES, Slot, slots_of

OF_TYPE: dict[str, Slot] = {
    "number": Slot(42),
    "quantity": Slot(12.9, unit="celsius"),
    "money": Slot("36.50 EUR"),
    "date": Slot("2025-09-01"),
    "weekday": Slot("Monday"),
    "time": Slot("17:30"),
    "phone": Slot("+351 936 118 240"),
    "code": Slot("B12"),
    "name": Slot("Sofia Lacerda"),
    "place": Slot("Rua da Palmeira Brava 18"),
    "truth": Slot(True, name="wifi"),
    "term": Slot("shared drive"),
    "text": Slot("renew the three books of the library"),
    "question": Slot(["delete", "remove"], type="question"),
    "lack": Slot(["number", "contacts"], type="lack"),
}


def test_the_type_of_a_value_is_found() -> None:
    assert list(OF_TYPE) == list(TYPES)
    assert [slot.type for slot in OF_TYPE.values()] == list(TYPES)


@every_case(
    ("tells", "found"),
    [
        ({"temperature": 92.3, "unit": "F"}, [("temperature", "quantity")]),
        ({"value": 351.4, "unit": "K"}, [("", "quantity")]),
        ({"price": "36.50 EUR", "day": "2025-09-01"}, [("price", "money"), ("day", "date")]),
        ({"price": {"value": 36.5, "unit": "eur"}}, [("price", "money")]),
        ({"value": "Lena", "also": ["Lena Ruiz"]}, [("", "name")]),
        ([5, "Monday"], [("", "number"), ("", "weekday")]),
        ("8", [("", "number")]),
        ({"at": {"value": "8", "type": "time"}}, [("at", "time")]),
        (date(2025, 9, 1), [("", "date")]),
        (time(17, 30), [("", "time")]),
        (Slot("B12"), [("", "code")]),
        ((), []),
        ({}, []),
    ],
)
def test_slots_are_written_in_several_ways(tells: Any, found: list[tuple[str, str]]) -> None:
    assert [(slot.name, slot.type) for slot in slots_of(tells)] == found


@every_case(
    ("tells", "told"),
    [
        ({"value": "x", "type": "colour"}, "unknown type 'colour'; one of number, "),
        ({"value": "blue", "unit": "F"}, "a unit needs a number"),
        ({"value": True, "name": "wifi", "unit": "F"}, "a unit needs a number"),
        ({"value": 5, "unit": "zorks"}, "unknown unit 'zorks'"),
        ({"unit": "F"}, "a unit belongs to one number"),
        ({"a": 1, "b": 2, "unit": "F"}, "a unit belongs to one number"),
        ({"value": ""}, "it says nothing"),
        ({"value": "?!"}, "it says nothing"),
        ({"value": [], "type": "lack"}, "it says nothing"),
        ({"value": "soon", "type": "date"}, "it is no date; such a value is '2025-09-01'"),
        ({"value": 5, "also": ["Monday"]}, "its values are of several types"),
        ({"value": True}, "name what is so"),
        ({"value": 5, "kind": "number"}, "unknown key 'kind'"),
        ({"price": {"unit": "F"}}, "it has no value"),
        ({"price": None}, "expected a text, number, day, time or truth"),
        ({"price": [[[]]]}, "tells [[[]]]: expected a list of texts"),
        ({"price": [1, 2]}, "expected a list of texts"),
        ({"value": "Lena", "also": 5}, "also: expected a list of values"),
        ({"value": "Lena", "also": "Lena Ruiz"}, "also: expected a list of values"),
        ({"value": "Lena", "also": [None]}, "expected a text, number, day, time or truth"),
        ({"value": "Lena", "optional": "no"}, "optional: expected true or false"),
        ({"value": "Lena", "type": []}, "type: expected a text"),
        ({"value": 5, "unit": []}, "unit: expected a text"),
        ({5: "Lena"}, "name: expected a text"),
    ],
)
def test_what_is_no_slot_is_refused_with_the_repair(tells: Any, told: str) -> None:
    with pytest.raises(seal.SealError, match=re.escape(told)):
        seal.ask("How much?", tells=tells)
