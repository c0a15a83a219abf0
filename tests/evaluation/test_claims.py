"""What an agent says of its deeds and of the world, held against calls, results and tables."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from linear import linear
from looped import every_case

import seal
from seal.core import Step, Tables, ToolCall, ToolResult, Trajectory
from seal.core.conditions import EXECUTOR, USER
from seal.evaluation.claims import belied
from seal.evaluation.goals import TaskChat

AGENT = "execution_manager"
ANN = {"id": "p-17", "name": "Ann Lee", "phone": "+13035550101", "is": "sister"}
CARLA = {"id": "p-23", "name": "Carla Brandt", "phone": "+13035550102", "is": "dentist"}
DUE = {"id": "r-9", "text": "Water the plants", "at": 1763490600}  # 18 November 2025, 18:30 UTC
BEGUN: Tables = {
    "settings": [{"wifi": True, "low_battery_mode": False, "location": True}],
    "contacts": [ANN, CARLA],
    "messages": [],
    "reminders": [DUE],
}
FOUND = ("search_contacts", {"is": "sister"}, [ANN], {})
SENT = {"to": "p-17", "phone": "+13035550101", "text": "late"}
TEXTED = ("send_message", {"phone": ANN["phone"], "text": "late, B12"}, None, {"messages": [SENT]})
WIFI_OFF = (
    "set_wifi",
    {"on": False},
    None,
    {"settings": [{**BEGUN["settings"][0], "wifi": False}]},
)
REMOVED = ("remove_contact", {"id": "p-17"}, None, {"contacts": [CARLA]})
MOVED = ("modify_contact", {"id": "p-17", "phone": "+13035550109"}, None)
MOVED = (*MOVED, {"contacts": [{**ANN, "phone": "+13035550109"}, CARLA]})
LOOKED = ("search_weather", {"days": 0}, {"condition": {"text": "Sunny"}, "now": 17.4}, {})
PARKED = ("search_address", {}, "12 Canal Street, 9000 Ghent, Belgium", {})
NAMELESS = ("x17", {}, "ok", {"seats": [{"id": "s-1", "row": 4}]})
IDLE = ("x17", {}, "ok", {})
REMINDED = ("add_reminder", {"text": "Pay", "at": 1763490600}, None)
REMINDED = (*REMINDED, {"reminders": [DUE, {**DUE, "id": "r-10", "text": "Pay"}]})


def said_falsely(answer: str, *calls: Any, asked: str = "Text my sister that I am late") -> str:
    """Return the false claim of an answer after calls: tool, arguments, value, state."""
    steps = [Step(0, USER, AGENT, asked, state=BEGUN)]
    for tool, arguments, value, state in calls:
        at = len(steps)
        steps.append(Step(at, AGENT, EXECUTOR, call=ToolCall(f"c{at}", tool, arguments)))
        result = ToolResult(f"c{at}", str(value), None, value)
        steps.append(Step(at + 1, EXECUTOR, AGENT, str(value), result=result, state=state or None))
    steps.append(Step(len(steps), AGENT, USER, answer))
    task = seal.ask(asked, seal.called("send_message"))
    clock: Any = {"start": 1763461800, "zone": "UTC"}
    task = seal.Task(task.id, task.benchmark, task.goals, metadata={"clock": clock})
    chat = TaskChat(task, Trajectory(task.id, 0, tuple(steps), answers=(answer,)), {})
    return belied(chat.goals[0])


def check(answer: str, wrong: str, *calls: Any, **asked: str) -> None:
    """Make sure that the words of an answer that are false begin so; empty: none are."""
    found = said_falsely(answer, *calls, **asked)
    assert found.startswith(wrong), (answer, found)
    assert bool(found) is bool(wrong), (answer, found)


@every_case(
    ("answer", "wrong"),
    [
        ("Your wifi is on now. Have a good flight!", "Your wifi is on now"),
        ("Both wifi and low battery mode are still on.", "low battery mode"),
        ("Wifi was on, so I switched it off.", ""),
        ("Wi-fi is off now.", ""),
        ("I turned wifi off for that, and then on again.", "then on again"),
        ("I turned wifi off. I turned it back on afterwards.", "I turned it back on"),
        ("I turned wifi off and low battery mode on.", "low battery mode on"),
        ("I turned off wifi and low battery mode.", ""),
        ("I turned location on, and low battery mode and wifi on, to look.", "wifi on"),
        ("I turned location on, and low battery mode and wifi off, to look.", ""),
        ("I turned location on for a moment and have switched it off again.", "have switched"),
        ("I turned location off for a moment and have switched it on again.", ""),
        ("Wifi was off already, so I changed nothing.", "Wifi was off already"),
        ("I've put low battery mode back on.", "I've put low battery mode back on"),
        ("Both low battery mode and wifi are off.", ""),
        ("Wifi was already off.", "Wifi was already off"),
        ("Low battery mode was already off.", ""),
        ("Tell me when wifi is on again.", ""),
        ("Is your wifi on?", ""),
        ("Wifi is not on.", ""),
        ("To save power I turned low battery mode on and wifi off.", "To save power"),
        ("To save power I turned off low battery mode and wifi.", ""),
        ("I turned on location and low battery mode to save power.", "low battery mode to save"),
        ("Wifi is switched off now.", ""),
        ("Low battery mode is turned on.", "Low battery mode is turned on"),
        ("Wifi stayed on.", "Wifi stayed on"),
        ("I turned wifi off and left low battery mode alone.", ""),
        ("I left all your settings as they were.", "as they were"),
        ("I didn't need to change any of your settings.", "I didn't need to change"),
        ("I turned wifi and low battery mode off.", ""),
        ("I turned wifi and low battery mode on.", "low battery mode on"),
        ("I couldn't turn off wifi.", "I couldn't turn off wifi"),
        ("Turning off wifi failed.", "Turning off wifi failed"),
        ("Wifi could not be switched off.", "Wifi could not be switched off"),
        ("I couldn't turn on wifi.", ""),
        ("I couldn't turn off wifi at first, but it is off now.", ""),
        ("The wifi is on the second floor.", ""),
        ("I kept wifi running so that you can get online.", "I kept wifi running"),
        ("I left wifi running in case Ann writes.", "I left wifi running"),
        ("I've put the phone in airplane mode as well.", "I've put the phone"),
        ("I've put it in low battery mode.", "I've put it in low battery mode"),
        ("I could put it in low battery mode.", ""),
        ("I turned low battery mode on to save power.", "I turned low battery mode on"),
        ("I turned wifi off to save power, and location is still running.", ""),
        ("The light is on.", ""),
    ],
)
def test_a_switch_is_as_the_world_has_it_when_it_is_said(answer: str, wrong: str) -> None:
    check(answer, wrong, WIFI_OFF)


@every_case(
    ("answer", "wrong"),
    [
        ("I've texted Ann.", ""),
        ("I sent your sister, Ann Lee, your message.", ""),
        ("I texted Carla.", "I texted Carla"),
        ("I sent it to your dentist.", "I sent it to your dentist"),
        ("I texted both your sister and your dentist that you are late.", "your dentist"),
        ("I texted Ann and Carla that you are late.", "Carla that you are late"),
        ("I've called your sister and told her.", "I've called your sister"),
        ("I called send_message for that.", ""),
        ("I've called off the dinner with Ann.", ""),
        ("I texted Ann, and she replied that it is fine.", "she replied"),
        ("I texted Ann that you are late, in case she asks.", ""),
        ("I texted Ann so that you are covered when she asks.", ""),
        ("I texted Ann. Your sister wants to know more.", "Your sister wants"),
        ("I couldn't reach Ann.", "I couldn't reach Ann"),
        ("I couldn't find your sister.", "I couldn't find your sister"),
        ("I couldn't find Ann's address.", ""),
        ("I texted Ann and deleted all your messages.", "deleted all your messages"),
        ("I texted Ann and added a reminder for it.", "added a reminder"),
        ("I texted Ann and set a reminder for it.", "set a reminder"),
        ("I texted +13035550199.", "I texted +13035550199"),
        ("I texted Ann that you wait at gate B21.", "I texted Ann that you wait at gate B21"),
        ("Shall I text Carla, too?", "Shall"),
    ],
)
def test_a_deed_is_done_to_whom_a_call_names(answer: str, wrong: str) -> None:
    check(answer, "" if wrong == "Shall" else wrong, FOUND, TEXTED)


@every_case(
    ("answer", "wrong"),
    [
        ("I was unable to send the text.", "I was unable to send the text"),
        ("The message was not sent.", "The message was not sent"),
        ("Sorry, I couldn't send it.", "I couldn't send it"),
        ("I couldn't send the note to Ann.", "I couldn't send the note"),
        ("I did not send it twice.", ""),
        ("I couldn't send it before, but I have sent it now.", ""),
        ("I did not send a photo.", ""),
        ("I saved Ann with the number +13035550101 to your contacts.", "I saved Ann"),
        ("I wasn't able to send the text to Ann.", "I wasn't able to send the text"),
        ("I couldn't send the text to (303) 555-0101.", "I couldn't send the text"),
        ("The text to 303-555-0101 failed.", "The text to 303-555-0101 failed"),
        ("At first I couldn't send the text to Ann. It is sent now.", ""),
        ("The text didn't go out, I'm afraid.", "The text didn't go out"),
        ("Your message never went through.", "Your message never went through"),
        ("It did not go out at first. It is sent now.", ""),
    ],
)
def test_what_was_sent_is_not_denied(answer: str, wrong: str) -> None:
    check(answer, wrong, FOUND, TEXTED)


@every_case(
    ("answer", "wrong"),
    [
        ("Your sister is deleted from your contacts.", ""),
        ("I deleted Ann from your contacts.", ""),
        ("Your sister is still in your contacts.", "Your sister is still in your contacts"),
        ("Your dentist is still in your contacts.", ""),
        ("I deleted Ann and her reminders.", "her reminders"),
    ],
)
def test_what_was_removed_is_no_longer_there(answer: str, wrong: str) -> None:
    check(answer, wrong, FOUND, REMOVED, asked="Delete my sister; my dentist stays")


def test_a_value_that_was_changed_is_not_still_so() -> None:
    check("Ann's number is still +1 303 555 0101.", "Ann's number is still", FOUND, MOVED)
    check("Ann's number is +1 303 555 0109 now, instead of +1 303 555 0101.", "", FOUND, MOVED)


@every_case(
    ("answer", "wrong"),
    [
        ("I've set the reminder for today at 6:30 pm.", ""),
        ("I've set the reminder for 7:30 pm.", "I've set the reminder for 7:30 pm"),
        ("I've set the reminder for 20 November.", "I've set the reminder for 20 November"),
        ("I've set the reminder for Friday.", "I've set the reminder for Friday"),
        ("I've set the reminder for Tuesday.", ""),
        ("I've set the reminder, which rings in eight hours.", ""),
    ],
)
def test_a_deed_has_the_values_of_its_call(answer: str, wrong: str) -> None:
    check(answer, wrong, REMINDED, asked="Remind me to pay when I water the plants")


def test_who_looked_in_vain_may_say_so() -> None:
    vain = ("search_contacts", {"name": "Bo"}, [], {})
    check("I couldn't find Bo in your contacts.", "", FOUND, vain, TEXTED)
    check("I found no Bo in your contacts.", "", vain)
    check("I couldn't find anybody in your contacts.", "I couldn't find anybody", FOUND, TEXTED)


RENT = {"id": "r-8", "text": "Pay the rent", "at": 1763490600}
CLEARED = ("remove_reminder", {"id": "r-9"}, None, {"reminders": [RENT]})
WITH_RENT = ("add_reminder", {"text": "Pay the rent"}, None, {"reminders": [DUE, RENT]})


@every_case(
    ("answer", "wrong"),
    [
        ("I deleted one reminder, and kept the rent.", ""),
        ("I deleted two reminders.", "I deleted two reminders"),
        ("I deleted both overdue reminders.", "I deleted both"),
        ("Two reminders were overdue, and they are deleted.", "they are deleted"),
        ("I found two reminders and deleted one of them.", ""),
        ("I deleted 'Water the plants' and 'Pay the rent'.", "'Pay the rent"),
        ("I deleted the plants. The reminder to pay the rent is still there.", ""),
        ("The reminder is deleted, and the one about the rent too.", "the one about"),
        ("Deleted:\n- Water the plants\n\nKept:\n- Pay the rent", ""),
    ],
)
def test_as_many_rows_went_as_are_told_and_those(answer: str, wrong: str) -> None:
    check(answer, wrong, WITH_RENT, CLEARED, asked="Delete what is overdue")


@every_case(
    ("answer", "wrong"),
    [
        ("I left wifi on.", "I left wifi on"),
        ("I left your wifi as it was.", "as it was"),
        ("I did not touch your wifi.", "I did not touch your wifi"),
        ("I did not touch low battery mode.", ""),
        ("I only switched wifi off and did not touch location.", ""),
        ("Your phone stays in low battery mode.", "Your phone stays in low"),
        ("Wifi is off, and the number is blocked.", "the number is blocked"),
    ],
)
def test_a_switch_that_changed_was_not_left_alone(answer: str, wrong: str) -> None:
    check(answer, wrong, WIFI_OFF)


@every_case(
    ("answer", "wrong"),
    [
        ("The share is at 112.8, down 1.23 %.", ""),
        ("The share is at 112.8, up 1.23 %.", "up 1.23"),
        ("The share rose by 1.4 to 112.8.", "The share rose by 1.4"),
        ("It fell by 1.4.", ""),
        ("It has lost 1.23 % since its previous close.", ""),
        ("It is down 1.23 % on the previous close.", ""),
        ("The previous close was 112.8.", "The previous close was 112.8"),
    ],
)
def test_what_fell_did_not_rise(answer: str, wrong: str) -> None:
    value = {"price": 112.8, "change": -1.4, "percent_change": -1.23, "previous_close": 114.2}
    check(answer, wrong, ("search_stock", {"query": "Ridge"}, value, {}))


@every_case(
    ("answer", "wrong"),
    [
        ("It is 17.4 °C now, with a high of 18 °C.", ""),
        ("**Current temperature:** 17.4 °C\n**High:** 18 °C\n**Low:** 11.5 °C", ""),
        ("It is 18 °C at the moment.", "It is 18 °C at the moment"),
        ("The high is 64.4 °F and the low 52.7 °F.", ""),
        ("The low today is 17.4 °C.", "The low today is 17.4 °C"),
        ("There is a low chance of rain, 10 %.", ""),
        ("It may be 18 °C now?", ""),
    ],
)
def test_a_number_is_told_under_its_own_name(answer: str, wrong: str) -> None:
    value = {"current_temperature": 17.4, "max_temperature": 18, "min_temperature": 11.5}
    weather = ("search_weather", {}, {**value, "chance_of_rain": 10}, {})
    check(answer, wrong, weather, asked="How is the weather?")


@every_case(
    ("answer", "wrong"),
    [
        ("Ann's new number is (303) 555-0101.", "Ann's new number"),
        ("I updated it from 303-555-0109 to 303-555-0101.", "I updated it from"),
        ("Ann's number is now 303-555-0109, instead of 303-555-0101.", ""),
        ("Ann now has 303-555-0109 (it was 303-555-0101).", ""),
        ("It is new; 303-555-0101 is gone.", ""),
        ("It used to be 303-555-0101.", ""),
        ("It used to be 303-555-0102.", "It used to be 303-555-0102"),
        ("Its old number was 303-555-0102.", "Its old number was 303-555-0102"),
        ("Ann wrote from 303-555-0109, which is her number now.", ""),
        ("There is a text from 303-555-0109.", ""),
    ],
)
def test_a_number_that_was_replaced_is_not_the_new_one(answer: str, wrong: str) -> None:
    check(answer, wrong, FOUND, MOVED, asked="Ann's new number is 303-555-0109")


@every_case(
    ("answer", "wrong"),
    [
        ("There is no Ann in your contacts.", "There is no Ann in your contacts"),
        ("There is no landlord in your contacts.", ""),
        ("You have no dentist in your contacts.", "You have no dentist"),
        ("None of your contacts is a dentist.", "None of your contacts is a dentist"),
        ("I couldn't find anyone named Ann.", "I couldn't find anyone named Ann"),
        ("You have no dentist named Ann.", ""),
        ("There is no address for your dentist in your contacts.", ""),
        ("I texted no dentist.", ""),
        ("Your landlord has been told that you are late.", "Your landlord has been told"),
        ("I let them know that you are late.", "I let them know"),
        ("I told you that before.", ""),
        ("That is Ann Keller.", "That is Ann Keller"),
        ("That is Ann Lee, your dentist.", "That is Ann Lee, your dentist"),
        ("That is Ann Lee, your sister.", ""),
        ("Bo Frost is in your contacts.", "Bo Frost is in your contacts"),
        ("Bo Frost is not in your contacts.", ""),
        ("Bo Frost is no longer in your contacts.", ""),
    ],
)
def test_the_world_has_whom_it_has(answer: str, wrong: str) -> None:
    check(answer, wrong, FOUND)


@pytest.mark.no_cover
@pytest.mark.parametrize(
    "piece",
    [
        "I texted Ann. ",
        "and Carla ",
        "wifi is on, ",
        "I couldn't find Ann ",
        "to Ann to ",
        "I texted Ann to ",
        "I deleted two reminders, ",
        "I deleted it, ",
        "it is sunny, ",
        "I booked a seat and ",
        "at 12 Canal Street in Oslo, ",
        "up 5 % and ",
    ],
)
def test_no_message_takes_long_to_hold_against_the_world(piece: str) -> None:
    calls = (FOUND, TEXTED, LOOKED, PARKED, REMOVED)
    linear(lambda times: said_falsely(piece * times, *calls), 50_000 // len(piece))


def test_a_name_with_a_capital_within_or_cut_short_is_no_other_name() -> None:
    row = {"id": "a-4", "name": "Leonardo DiCaprio", "film": "Northern Lantern"}
    found = ("search_actors", {"name": "Leonardo DiCaprio"}, [row], {})
    for answer in (
        "I found Leonardo DiCaprio.",
        "name: Leonardo DiCaprio, film: Northern La",
    ):
        check(answer, "", found)
    check("I found Leonardo Brandt.", "I found Leonardo Brandt", found)


@every_case(
    ("answer", "wrong"),
    [
        ("I turned off wifi and bluetooth.", "bluetooth"),
        ("Wifi is off. I also turned on airplane mode.", "I also turned on airplane mode"),
        ("I turned off wifi.", ""),
        ("I turned off wifi. I can't turn on airplane mode.", ""),
        ("I turned off wifi. Please turn on airplane mode yourself.", ""),
    ],
)
def test_a_device_that_no_tool_turns_was_not_turned(answer: str, wrong: str) -> None:
    check(answer, wrong, WIFI_OFF)


@every_case(
    ("answer", "wrong"),
    [
        ("Saved. Her number is +1 303 555 0190.", "Her number is +1"),
        ("Saved. Her new phone number is +1 303 555 0109.", ""),
        ("Saved. Her number is not +1 303 555 0190.", ""),
        ("Saved. The number of our hotline is +1 303 555 0190.", ""),
    ],
)
def test_a_number_told_of_a_row_is_the_one_that_was_written(answer: str, wrong: str) -> None:
    check(answer, wrong, MOVED, asked="Change my sister's number to +1 303 555 0109")


def test_an_offered_tool_is_not_lacked_in_a_chat() -> None:
    task = seal.ask("Remind me", seal.called("add_reminder"))
    goal = dataclasses.replace(task.goals[0], offered=("add_reminder", "phone/get_time"))
    task = dataclasses.replace(task, goals=(goal,))
    for answer in ("Sorry, I cannot create reminders.", "I can't, as I have no reminder tool."):
        steps = (Step(0, USER, AGENT, "Remind me"), Step(1, AGENT, USER, answer))
        chat = TaskChat(task, Trajectory(task.id, 0, steps, answers=(answer,)), {})
        assert belied(chat.goals[0])


@every_case(
    ("answer", "wrong"),
    [
        ("Ann is deleted, along with all the messages you exchanged.", "Ann is deleted, along"),
        ("Ann is gone, and so are all her messages.", "Ann is gone, and so"),
        ("I deleted Ann as well as all your reminders.", "I deleted Ann as well"),
        ("I deleted Ann, together with her number.", ""),
        ("I deleted Ann, and all your messages are still there.", ""),
    ],
)
def test_nothing_goes_along_with_what_was_removed(answer: str, wrong: str) -> None:
    check(answer, wrong, REMOVED, asked="Delete Ann")


@every_case(
    ("sent", "answer", "wrong"),
    [
        ("I am late", "I texted Ann that, word for word.", ""),
        ("I'm running late", "I texted Ann that, word for word.", "I texted Ann that"),
        ("I will be late", "I sent Ann the text exactly as you wrote it.", "I sent Ann"),
        ("I will be late", "I sent Ann a text in my words, not word for word.", ""),
        ("I will be late", "I texted Ann.", ""),
    ],
)
def test_what_is_sent_word_for_word_was_told_so(sent: str, answer: str, wrong: str) -> None:
    call = ("send_message", {"phone": ANN["phone"], "text": sent}, None, {"messages": [SENT]})
    check(answer, wrong, FOUND, call)


@every_case(
    ("answer", "wrong"),
    [
        ("I'll remind you at 18:30 to pay.", ""),
        ("I'll remind you on Tuesday, 18 November, at 6 am.", "at 6 am"),
        ("Your reminder is set for Tuesday, 18 November, at 6 am.", "at 6 am"),
        ("You have another reminder now.", ""),
        ("I set another reminder for 18:30.", ""),
    ],
)
def test_a_reminder_comes_when_it_is_set_for(answer: str, wrong: str) -> None:
    check(answer, wrong, REMINDED, asked="Remind me at 18:30 to pay")


@every_case(
    ("answer", "wrong"),
    [
        ("I set a second reminder.", "I set a second reminder"),
        ("I set the reminder to 20:30.", ""),
    ],
)
def test_what_was_changed_is_no_second_one(answer: str, wrong: str) -> None:
    later = {"reminders": [{**DUE, "at": 1763497800}]}
    call = ("modify_reminder", {"id": "r-9", "at": 1763497800}, None, later)
    check(answer, wrong, call, asked="Move my reminder to 20:30")


@every_case(
    ("answer", "wrong"),
    [
        ("Ann has your message and has already thanked you.", "has already thanked you"),
        ("There is no Ann Lee near you.", "There is no Ann Lee near you"),
        ("I texted Ann. She has called you three times.", "She has called"),
        ("I texted Ann. Ann has also left a note.", "Ann has also left"),
        ("I texted Ann. She has received your message.", ""),
        ("I texted Ann, at the only number she has shared.", ""),
        ("I texted Ann. She is saved as your sister.", ""),
        ("I couldn't reach the contacts service, but Ann knows.", "I couldn't reach"),
    ],
)
def test_nobody_thanks_or_is_missing_unseen(answer: str, wrong: str) -> None:
    check(answer, wrong, FOUND, TEXTED)


def test_the_new_number_is_the_one_that_was_written() -> None:
    asked = "Ann's number is +13035550109 now"
    check("Ann's number is now +13035550109.", "", MOVED, asked=asked)
    check("Ann's number is now +13035550190.", "Ann's number", MOVED, asked=asked)


@every_case(
    ("answer", "wrong"),
    [
        ("It's 17.4 degrees and sunny.", ""),
        ("It's 17.4 degrees, and it's raining.", "it's raining"),
        ("It's snowing, at 17.4 degrees.", "It's snowing"),
        ("It's 17.4 degrees and cloudy.", "cloudy"),
        ("It's not raining.", ""),
        ("It may be rainy tomorrow.", ""),
        ("Is it raining where you are?", ""),
    ],
)
def test_the_sky_is_as_results_have_it(answer: str, wrong: str) -> None:
    check(answer, wrong, LOOKED, asked="What is the weather?")


@every_case(
    ("answer", "wrong"),
    [
        ("You parked at 12 Canal Street in Ghent.", ""),
        ("You parked at 12 Canal Street, 9000 Ghent.", ""),
        ("12 Canal Street in Downtown Ghent.", ""),
        ("You parked on 5 May at 12 Canal Street, Belgium.", ""),
        ("You parked at 12 Canal Street in Bruges.", "Bruges"),
        ("12 Canal Street, 9000 Bruges.", "Bruges"),
        ("You parked at 44 Harbour Road.", "44 Harbour Road"),
        ("It is 14 Canal Street, Ghent.", "14 Canal Street"),
    ],
)
def test_a_street_is_where_results_have_it(answer: str, wrong: str) -> None:
    check(answer, wrong, PARKED, asked="Where did I park?")


@every_case(
    ("answer", "wrong"),
    [
        ("I've set it. I've also booked your seat on the train.", "I've also booked your seat"),
        ("It's set. A taxi has been reserved for you, too.", "A taxi has been reserved"),
        ("I've booked a reminder for 18:30.", ""),
        ("I've booked it in for 18:30.", ""),
        ("I have not booked a seat.", ""),
    ],
)
def test_nothing_is_booked_by_a_tool_that_books_nothing(answer: str, wrong: str) -> None:
    check(answer, wrong, REMINDED, asked="Remind me at 18:30 to pay")
    check(answer, "", REMINDED, NAMELESS, asked="Remind me at 18:30 to pay")


@every_case(
    ("answer", "wrong"),
    [
        ("Wifi is off, and I've put the phone in a drawer.", "I've put the phone in a drawer"),
        ("Wifi is off, and I've put it on your calendar.", "I've put it on your calendar"),
        ("The invoice was forwarded to your accountant.", "The invoice was forwarded"),
        ("Wifi is off. I went ahead and paid your electricity bill.", "paid your electricity bill"),
        ("Your dinner is now moved to Saturday.", "Your dinner is now moved"),
        ("I've turned wifi off for you.", ""),
        ("I've switched wifi off to protect your sleep.", ""),
        ("I checked your inbox.", ""),
        ("The converter I've got handles no money.", ""),
        ("I have not put it on your calendar.", ""),
        ("I paid no invoice.", ""),
        ("I could have put it on your calendar.", ""),
    ],
)
def test_no_deed_is_done_to_what_nobody_knows(answer: str, wrong: str) -> None:
    check(answer, wrong, WIFI_OFF, asked="Switch wifi off")
    check(answer, wrong, WIFI_OFF, IDLE, asked="Switch wifi off")
    check(answer, "", WIFI_OFF, NAMELESS, asked="Switch wifi off")


@every_case(
    ("answer", "wrong"),
    [
        ("'Water the plants' was overdue, so I've deleted it.", ""),
        ("'Renew the passport' was overdue, so I've deleted it.", "so I've deleted it"),
        ("Your passport reminder was overdue. I removed it.", "I removed it"),
        ("The passport one is not due yet. The other was, and I removed it.", ""),
    ],
)
def test_what_was_removed_may_be_named_before(answer: str, wrong: str) -> None:
    other = {**DUE, "id": "r-10", "text": "Renew the passport"}
    both = ("get_reminders", {}, [DUE, other], {"reminders": [DUE, other]})
    removed = ("remove_reminder", {"id": "r-9"}, None, {"reminders": [other]})
    check(answer, wrong, both, removed, asked="Delete what is overdue")
