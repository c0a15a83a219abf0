"""What an agent's words tell of the slots of gold: told, contradicted, left out or undecided."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from linear import linear
from looped import every_case

from seal.core import Step, ToolCall
from seal.core.facts import Record
from seal.core.slots import Slot, slots_of
from seal.core.telling import find
from seal.core.untruths import wrong_day

PLACE = Slot("1420 Larkspur Street", type="place")
LACK = Slot(["number", "contacts"], type="lack")
DELETE = Slot(["delete", "remove"], type="question")

TOLD: list[tuple[Any, list[str]]] = [
    (
        "36.50 EUR",
        [
            "It costs €36.50 now.",
            "36.5 euros, up 0.7 from 35.8.",
            "Thirty-six euros fifty.",
            "36,50 €",
            "It is not 35.8 but 36.50 euros.",
            "It costs 36.5 euros. That is 0.7 more than 35.8.",
        ],
    ),
    ("12.9 °C", ["12.9 degrees.", "It's 12.9 °C there.", "It is 55.2 °F."]),
    ("2025-09-01", ["On 1 Sept 2025.", "Monday the 1st of September.", "On 2025-09-01.", "9/1"]),
    ("17:30", ["At 5:30 pm.", "At half past five.", "At 17h30.", "It is at 5.30pm."]),
    (
        "Sofia Lacerda",
        ["sofia lacerda called.", "It was Sofia.", "Sofia's number.", "Hi! Sofia called."],
    ),
    (PLACE, ["At 1420 Larkspur St.", "1420 Larkspur Street in Denver."]),
    (
        {"wifi": True},
        ["Wifi is on.", "I turned wifi on.", "Bluetooth is off. Wi-Fi is on now.", "Yes."],
    ),
    ({"wifi": False}, ["Wi-Fi is off now.", "I have turned wifi off."]),
    ("+351 936 118 240", ["+351936118240", "It is 936 118 240.", "Call 936-118-240."]),
    ("+351 936 118 240", ["It's +351936118240. 15:10.", "00351936118240. 2 texts came from it."]),
    ("B12", ["Gate B12.", "At gate B 12.", "Your gate is b12."]),
    (5, ["There are five.", "5 of them.", "There are 5 of 12."]),
    (
        LACK,
        [
            "I have no number for her, so I can't text her.",
            "What is her number?",
            "I'm afraid I can't do that here.",
            "Nobody in your contacts is called so.",
            "She has no number here. Please look it up.",
        ],
    ),
    (DELETE, ["It says 'Renew'. Shall I delete it?"]),
    (
        "Renew the library books",
        ["It reads: Renew the library books.", "'Renew the library books': may I delete it?"],
    ),
    ("Tuesday", ["It is on Tuesdays.", "Tue, 9 to 11."]),
    ("2 h 43 min", ["2h43m.", "Two hours forty-three.", "2h 43m", "163 minutes"]),
    ("-4.5 °C", ["It is 4.5 degrees below zero."]),
    ("4.2 kg", ["About 4 kg.", "About 9.3 pounds."]),
    ("67.86 km", ["Approximately 70 km.", "About 67 km.", "Around 67.9 km.", "About 42.2 miles."]),
    (1_234_567, ["About 1.2 million."]),
    ("37.5 %", ["37.5% is spent, so 62.5% is left."]),
    ({"chance of rain": "80 %"}, ["The rain is 80% likely, so a 20% chance that it's dry."]),
    ("42.165 km", ["It is 42.16 km.", "It is 42.17 km."]),
    ({"wifi is on": True}, ["Wifi is on. Shall I turn it off?"]),
    (Slot("14 Canal Street, Ghent", type="place"), ["On Canal Street, number 14.", "14 Canal St."]),
    (Slot("Kraków", type="place"), ["In Krakow."]),
    (Slot("Dr. Wenke Albrecht"), ["Doctor Albrecht does.", "It's Wenke."]),
    (
        {"wifi is on": True},
        ["Your Wi-Fi is turned on.", "Yep, it's on.", "Wifi is on, location is off."],
    ),
]
CONTRADICTED: list[tuple[Any, list[str]]] = [
    (
        "36.50 EUR",
        [
            "It costs 35.8 euros.",
            "It isn't 36.5 euros.",
            "36.5 or 37.5 euros.",
            "37 euros or 36.5 euros.",
            "It costs 36.5 euros, which were 49.5 euros before.",
        ],
    ),
    ("12.9 °C", ["14.9 degrees.", "12.9 or 13.5 degrees.", "12.9 degrees Fahrenheit.", "-12.9 °C"]),
    ("2025-09-01", ["On September 8.", "Sunday, September 1.", "It isn't on September 1."]),
    ("17:30", ["At 6:30 pm.", "At 5.30pm or 6.30pm.", "Not at 17:30."]),
    ("Sofia Lacerda", ["That wasn't Sofia Lacerda.", "It was Sofia Mendes."]),
    ("B12", ["Gate B13."]),
    (
        "67.86 km",
        ["Approximately 68.86 km.", "About 68.1 km.", "About 42.4 miles."],
    ),
    ({"wifi": True}, ["Wi-Fi is off."]),
    ("+351 936 118 240", ["It is 936 118 241."]),
    (5, ["There are 6."]),
    ({"unread": 5}, ["It has 7 unread ones, and 5 that are read."]),
    ({"wifi is on": True}, ["No, your wifi is off."]),
    (LACK, ["I have texted her. Her number was in your contacts."]),
]
LEFT_OUT: list[tuple[Any, list[str]]] = [
    ("36.50 EUR", ["Done.", "I couldn't find the price.", "It costs $36.50.", "Is it 36.5 euros?"]),
    ("Sofia Lacerda", ["The neighbour called.", "Nobody you know.", "Was it Sofia Lacerda?"]),
    (PLACE, ["At 1402 Larkspur Street."]),
    ("B12", ["The gate is near."]),
    ("Tuesday", ["Every day but Tuesday.", "It takes place every day except Tuesday."]),
    (Slot("Halcyon Air"), ["Every airline is cheaper than Halcyon Air."]),
    (Slot("Kraków", type="place"), ["It was last seen in Kraków or Katowice.", "Far from Kraków."]),
    (
        Slot("hypertension"),
        ["It is hypertension or hypotension.", "It's anything but hypertension."],
    ),
    (Slot("Dr. Wenke Albrecht"), ["Dr. Wenke Albrecht takes no new patients."]),
    ({"wifi": True}, ["Your wifi may be on or off.", "Bluetooth is on."]),
    (LACK, ["She will be glad.", "Your text to her is on its way.", "I've let her know."]),
    (DELETE, ["It says 'Renew'."]),
    (Slot("Copper Rain"), ["Is 'Copper Rain' the longest?"]),
]
UNDECIDED: list[tuple[Any, list[str]]] = [
    ("36.50 EUR", ["Das kostet 36,50 Euro, und der Kurs ist gut."]),
    ("36.50 EUR", ["I could not check whether it costs 36.5 euros.", "I guess 36.5 euros."]),
    (Slot("Renew the library books", type="text"), ["It is about books that you have to extend."]),
]
EVERY = [
    (slot, text, state)
    for state, rows in (
        *(("told", TOLD), ("contradicted", CONTRADICTED)),
        *(("left out", LEFT_OUT), ("undecided", UNDECIDED)),
    )
    for slot, texts in rows
    for text in texts
]


def state(tells: Any, *messages: str) -> str:
    """Return what messages tell of one slot; a result has told 35.8 euros, 0.7 less than it is."""
    slots = slots_of(tells)
    told = Record(["35.8 EUR, change 0.7", *(text for slot in slots for text in slot.texts)])
    (found,) = find(slots, messages, told, request="Text her that I am late")
    return found.state


@every_case(("tells", "text", "expected"), EVERY)
def test_a_message_tells_a_slot_or_does_not(tells: Any, text: str, expected: str) -> None:
    assert state(tells, text) == expected


@every_case(
    ("messages", "expected"),
    [
        (["It costs 36.5 euros.", "Anything else?"], "told"),
        (["I am looking.", "36.50 euros."], "told"),
        (["It costs 36.5 euros.", "It costs 39 euros."], "contradicted"),
        (["Is it 36.5 euros?", "It is 36.5 euros."], "told"),
        (["It costs 35.8 euros.", "I looked again: 36.5 euros."], "told"),
        (["It costs 49 euros.", "It costs 36.5 euros."], "contradicted"),
    ],
)
def test_every_message_counts(messages: list[str], expected: str) -> None:
    assert state("36.50 EUR", *messages) == expected


@every_case(
    ("text", "wrong"),
    [
        ("On Tuesday, 1 December 2026.", ""),
        ("On Monday, 1 December 2026.", "Monday, 1 December 2026"),
        ("On Monday, 1 December.", "Monday, 1 December"),
        ("On Mon. 1 December.", "Mon. 1 December"),
        ("On Friday, and on 1 December.", ""),
        ("On Monday. 2026-12-01 was the order.", ""),
        ("On Monday!\n1 December was the order.", ""),
        ("Ordered on 1 December. Monday it ships.", ""),
        ("On Monday, 24 May.", ""),
    ],
)
def test_a_day_has_its_weekday(text: str, wrong: str) -> None:
    assert wrong_day(text, Record(["2026-12-01"])) == wrong


@every_case(
    ("text", "wrong"),
    [
        ("It is set for today at 19:30.", ""),
        ("It is set for tomorrow at 19:30.", "tomorrow at 19:30"),
        ("It is set for 7:30 pm on 18 November.", ""),
        ("It is set for 7:30 pm on 19 November.", "7:30 pm on 19 November"),
        ("It is at 19:30 on Tuesday.", ""),
        ("It is at 19:30 on Friday.", "19:30 on Friday"),
        ("The shop opens tomorrow at 9:15.", ""),
    ],
)
def test_a_moment_of_a_call_has_its_day(text: str, wrong: str) -> None:
    record = Record(now=datetime(2025, 11, 18, 10, 30, tzinfo=UTC))
    moment = {"at": datetime(2025, 11, 18, 19, 30, tzinfo=UTC).timestamp()}
    record.add_step(Step(0, "agent", "executor", call=ToolCall("c", "add_reminder", moment)))
    assert wrong_day(text, record) == wrong


def test_the_oracle_tells_what_it_is_to_tell() -> None:
    for slot in (Slot(42), Slot(12.9, unit="c"), Slot(True, name="wifi"), LACK, DELETE, PLACE):
        assert state(slot, slot.told) == "told", slot


@pytest.mark.no_cover
@pytest.mark.parametrize(
    "piece",
    [
        "36.5 euros or ",
        "Sofia ",
        "9/1 ",
        "1420 ",
        "September 1, ",
        "not ",
        "36.5 euros. 35.8 euros. ",
    ],
)
def test_long_messages_take_linear_time(piece: str) -> None:
    slots = slots_of(["36.50 EUR", "Sofia Lacerda", "2025-09-01", PLACE, "B12", "+351 936 118 240"])
    linear(
        lambda times: find(slots, [piece * times], Record(["35.8 euros"])), 100_000 // len(piece)
    )


@pytest.mark.no_cover
@pytest.mark.parametrize("piece", ["1 ", "1,", "$1"])
def test_many_slots_read_the_numbers_of_a_long_message_in_linear_time(piece: str) -> None:
    slots = slots_of(
        [
            *("36.50 EUR", "12.9 °C", 42, "2025-09-01", "Monday", "17:30", "B12", "Lena"),
            *("+351 936 118 240", {"wifi": True}, "Old ice tells of a warm winter"),
        ]
    )
    told = ["price 36.5, before 35.8", *(text for slot in slots for text in slot.texts)]
    linear(lambda times: find(slots, [piece * times], Record(told)), 100_000 // len(piece))


@pytest.mark.parametrize("names", [True, False])
def test_what_a_record_learns_explains_a_text_that_was_asked_of_before(names: bool) -> None:
    record = Record(["It costs 5."])
    assert record.unexplained("It is 77, of 3.", names) == ["77", "3"]
    record.add("It is 77.")
    assert record.unexplained("It is 77, of 3.", names) == ["3"]
    record.add_step(Step(0, "executor", "agent", state={"rows": []}))
    record.add_step(Step(1, "executor", "agent", state={"rows": [{"id": n} for n in "abc"]}))
    assert record.unexplained("It is 77, of 3.", names) == []


@every_case(
    ("text", "expected"),
    [
        ("141 days and 10 hours.", "told"),
        ("141 full days and almost 10 hours to go!", "told"),
        ("141 days, 9 hours and 54 minutes", "told"),
        ("141 whole days and a bit under ten hours", "told"),
        ("142 days and 10 hours.", "contradicted"),
    ],
)
def test_a_duration_of_several_parts_tells_its_days(text: str, expected: str) -> None:
    assert state({"days": {"value": 141, "unit": "days"}}, text) == expected


@every_case(
    ("text", "expected"),
    [
        ("Yes, take an umbrella.", "told"),
        ("You won't need an umbrella.", "contradicted"),
        ("No umbrella needed.", "contradicted"),
        ("Do you have an umbrella?", "left out"),
    ],
)
def test_a_truth_that_may_be_left_out_may_not_be_denied(text: str, expected: str) -> None:
    assert state({"umbrella": {"value": True, "optional": True}}, text) == expected


@pytest.mark.parametrize(
    ("gold", "text", "expected"),
    [
        ("42.165 km", "That's 42.1648128 km.", "told"),
        ("42.165 km", "That's 42.16481 km.", "told"),
        ("0.693 km", "It is 0.6933159231161157 km away.", "told"),
        ("0.693 km", "It is 693.3 m away.", "told"),
        ("200.05 km", "They are 200,055 metres apart.", "told"),
        ("200.05 km", "They are 656,348 feet apart.", "told"),
        ("42.165 km", "That's 42.1658128 km.", "contradicted"),
        ("42.165 km", "That's 42.166 km.", "contradicted"),
        ("42.165 km", "That's 42.17 km.", "told"),  # rounded from gold
        ("0.693 km", "It is 639.3 m away.", "contradicted"),
        ("200.05 km", "They are 200,155 metres apart.", "contradicted"),
        ("200.05 km", "They are 656,438 feet apart.", "contradicted"),
    ],
)
def test_a_number_may_be_told_with_more_digits_as_a_tool_gave_it(
    gold: str, text: str, expected: str
) -> None:
    record = Record([gold, "42.1648128", "0.6933159231161157", "200.05496405479664"])

    assert find([Slot(gold)], [text], record)[0].state == expected


@every_case(
    ("tells", "text", "expected"),
    [
        ("2 h 43 min", "2:43:00, in other words 17 minutes short of three hours.", "told"),
        ("2 h 43 min", "It's 17 minutes less than 3 hours.", "told"),
        ("2 h 43 min", "2 h 43 min, that's 43 minutes over two hours.", "told"),
        ("2 h 43 min", "2 h 43 min, 27 minutes short of three hours.", "contradicted"),
        ("2 h 43 min", "2 hours 43 minutes, so just under three hours.", "told"),
        ("2 h 43 min", "2 h 43 min, which isn't more than three hours.", "told"),
        ("2 h 43 min", "2 hours 43 minutes, so well over three hours.", "contradicted"),
        ("2 h 43 min", "2 h 43 min, less than two hours.", "contradicted"),
        ("2 h 43 min", "2 h 43 min, so just over three hours.", "contradicted"),
        ("141 days", "141 days left, so it's less than four months away.", "contradicted"),
        ("141 days", "141 days left, so it's less than five months away.", "told"),
        ("0.693 km", "You're some 0.7 km away.", "told"),
        ("0.693 km", "Not far at all: seven hundred metres, more or less.", "told"),
        ("0.693 km", "It's 700 metres or so.", "told"),
        ("0.693 km", "It's 900 metres, give or take.", "contradicted"),
        ("0.693 km", "0.69 km, so you could be there in ten minutes or so.", "told"),
        ("2 h 43 min", "2 h 43 min. It was recorded over three days.", "told"),
        ("112.80 USD", "$112.80, $12.80 more than $100.", "told"),
        ("112.80 USD", "$112.80, so under $100.", "contradicted"),
        ("92.3 °F", "92.3 °F, 2.3 degrees above 90.", "told"),
        ("92.3 °F", "92.3 °F today, over 95 tomorrow.", "told"),
    ],
)
def test_a_bound_or_difference_of_the_right_amount_tells_it_or_not(
    tells: str, text: str, expected: str
) -> None:
    assert state(tells, text) == expected


@every_case(
    ("text", "expected"),
    [
        ("Off. I haven't changed anything.", "told"),
        ("Location service? Off.", "told"),
        ("No \u2014 location service is off, so apps can't see you.", "told"),
        ("No - location service is on, so apps can see you.", "contradicted"),
        ("Apps can't see your location since the service is switched off.", "told"),
        ("Off right now; I only looked.", "told"),
        ("If privacy is what you're after: location service is off.", "told"),
        ("If you were wondering, location service is off.", "told"),
        ("On.", "contradicted"),
        ("If privacy is what you're after: location service is on.", "contradicted"),
        ("On the other hand, I could look.", "left out"),
        ("If location service is off, apps do not see you.", "left out"),
        ("I don't know whether it is on or off.", "left out"),
    ],
)
def test_a_switch_is_told_briefly_and_behind_a_condition_of_speech(
    text: str, expected: str
) -> None:
    assert state({"location service": False}, text) == expected


@every_case(
    ("text", "expected"),
    [
        ("Okay, I'll text Sofia that the room is booked.", "left out"),
        ("Sure, I'll let Sofia know that the room is booked.", "left out"),
        ("I'm going to text her right away.", "left out"),
        ("I'll find her number and text her 'do not wait'.", "left out"),
        ("I'll text her once I have her number.", "undecided"),
        ("I'll text her as soon as you say where she can be reached.", "undecided"),
        ("What is her number? I'll text her then.", "told"),
    ],
)
def test_who_only_promises_neither_refuses_nor_asks(text: str, expected: str) -> None:
    assert state({"type": "lack", "value": ["number", "contacts"]}, text) == expected


@every_case(
    ("text", "expected"),
    [
        ("I sent your dad Gus's message.", "left out"),
        ("Your dad has the text, just as Gus wrote it.", "left out"),
        ("Your dad knows that Gus can come.", "left out"),
        ("I sent Walt what Gus Moreau's text says.", "told"),
        ("I sent the text to Gus.", "contradicted"),
        ("Ann Ostrander has it.", "contradicted"),
        ("It is sent. Ann Ostrander has it.", "contradicted"),
        ("Texted Walt Ostrander.", "told"),
        ("Thank you, Gus Moreau. It is sent.", "left out"),
        ("All done, Gus!", "left out"),
        ("Sorry, Gus Moreau got it.", "contradicted"),
        ("I texted your friend, Gus Moreau.", "contradicted"),
    ],
)
def test_whose_a_text_is_is_not_who_got_it(text: str, expected: str) -> None:
    assert state({"who": {"value": "Walt Ostrander", "optional": True}}, text) == expected


@every_case(
    ("text", "expected"),
    [
        ("It's Gus Moreau.", "contradicted"),
        ("The answer is Gus Moreau.", "contradicted"),
        ("It went to Gus Moreau, and is archived.", "contradicted"),
        ("I've sent your letter to Gus.", "contradicted"),
        ("Shall I send it to Gus Moreau?", "left out"),
        ("I found you, Gus Moreau, and your number.", "left out"),
        ("The organiser is Gus Moreau.", "left out"),
    ],
)
def test_who_got_it_is_not_told_wrong_in_an_earlier_message(text: str, expected: str) -> None:
    slots = slots_of({"who": {"value": "Walt Ostrander", "optional": True}})
    told = Record(["Walt Ostrander; Gus Moreau"])
    (found,) = find(slots, [text, "Your number is changed."], told, request="Text Walt Ostrander")
    assert found.state == expected


@every_case(
    ("asked", "tells", "text", "expected"),
    [
        ("Extend it by 7 days.", "7 days", "I've extended it by 7 days.", "told"),
        ("Move it by 2 hours.", "2 hours", "Moved by 2 hours.", "told"),
        ("How many miles is 5 km?", "3.1 miles", "It is 5 km.", "left out"),
        ("How many loans has b2?", "0", "There are no loans.", "told"),
        ("How many loans has b2?", "0", "b2 has no loans now (0).", "told"),
        ("How many loans has b2?", "0", "None.", "told"),
        ("How many loans has b2?", "0", "b2 has no due date.", "left out"),
        ("How many loans has b2?", "0", "3 loans; no loans are late.", "undecided"),
        ("How many loans has b2?", "0", "It has no more loans than b1.", "left out"),
        ("How many loans has b2?", "2", "There are no loans.", "left out"),
    ],
)
def test_gold_may_be_of_the_requests_words_or_none(
    asked: str, tells: str, text: str, expected: str
) -> None:
    (found,) = find(slots_of(tells), [text], Record([asked]), request=asked)
    assert found.state == expected
