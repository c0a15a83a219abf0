"""The verdict on an agent's words: by the slots of gold, with the reason."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from linear import linear
from looped import every_case

import seal
from seal.core import Step, ToolCall, ToolResult, Trajectory
from seal.core.conditions import EXECUTOR, USER
from seal.core.facts import phrases
from seal.core.quantities import read
from seal.core.text import deed_forms, role
from seal.core.untruths import untruths
from seal.evaluation.goals import TaskChat
from seal.evaluation.pass_rates import PassRate
from seal.evaluation.rule_judge import RuleJudge
from seal.evaluation.words import doubtful, is_label, may_claim, slots_for, told_otherwise

AGENT = "execution_manager"


@every_case(
    ("answer", "label", "reason"),
    [
        ("It is 92.3 °F.", "solved", "the answer states '92.3 °F'"),
        ("It is 105.3 °F.", "unsolved", "temperature: the answer says '105.3', gold is '92.3 °F'"),
        ("It is hot.", "unsolved", "temperature: the answer does not state '92.3 °F'"),
        (
            "I could not see whether it is 92.3 °F.",
            "unsure",
            "words do not tell whether the answer states '92.3 °F'",
        ),
    ],
)
def test_the_judge_decides_by_slots_and_says_which(answer: str, label: str, reason: str) -> None:
    goal = seal.ask("How hot is it?", tells={"temperature": 92.3, "unit": "F"}).goals[0]
    steps = [Step(0, "orchestrator", "user_simulator", answer)]
    verdict = RuleJudge().judge(goal, answer, steps)
    assert (verdict.label, verdict.reason) == (label, reason)


@every_case(
    ("answer", "label"),
    [
        ("It is Copper Rain, by Ana Roque.", "solved"),
        ("Ana Roque wrote Copper Rain.", "solved"),
        ("It is not Copper Rain by Ana Roque.", "unsolved"),
        ("Copper", "unsure"),
        ("Ana Roque", "unsure"),
        ("It is Silver Rain by Ana Roque.", "unsolved"),
        ("No idea.", "unsolved"),
    ],
)
def test_a_part_of_a_sentence_that_names_several_does_not_stand_for_it(
    answer: str, label: str
) -> None:
    for gold in ("It is Copper Rain by Ana Roque.", "Copper Rain by Ana Roque"):
        goal = seal.ask("Which song is the longest?", answer=gold).goals[0]
        steps = [Step(0, "orchestrator", "user_simulator", answer)]
        assert RuleJudge().judge(goal, answer, steps).label == label


def test_a_title_in_a_list_of_gold_is_not_parted() -> None:
    goal = seal.ask("Which novel, and by whom?", answer=["Pride and Prejudice", "Austen"]).goals[0]
    steps = [Step(0, "orchestrator", "user_simulator", "Emma.")]
    assert slots_for(goal)[0][0].texts == ("Pride and Prejudice",)
    assert "does not state 'Pride and Prejudice'" in (
        RuleJudge().judge(goal, "Emma.", steps).reason
    )


LOOKED = ("forecast", {"city": "Graz"}, {"high_f": 92.3, "sky": "clear"})
NAMELESS = ("x17", {"to": "Ann", "text": "late"}, "ok")


def doubt(*said: Any, asked: str = "How hot will it be in Graz?") -> str:
    """Return what is in doubt of a chat of texts of the agent and calls with results."""
    steps = [Step(0, USER, AGENT, asked)]
    for one in said:
        number = len(steps)
        if isinstance(one, str):
            steps.append(Step(number, AGENT, USER, one))
            continue
        tool, arguments, value = one
        steps.append(Step(number, AGENT, EXECUTOR, call=ToolCall(f"c{number}", tool, arguments)))
        result = ToolResult(f"c{number}", str(value), None, value)
        steps.append(Step(number + 1, EXECUTOR, AGENT, str(value), result=result))
    task = seal.ask(asked, tells={"temperature": 92.3, "unit": "F"}, id="t")
    answers = (next(one for one in reversed(said) if isinstance(one, str)),)
    goal = TaskChat(task, Trajectory("t", 0, tuple(steps), answers), {}).goals[0]
    return doubtful(goal, ["92.3 °F"])


@every_case(
    ("said", "in_doubt"),
    [
        ("It will be 92.3 °F.", ""),
        ("92.3 °F and clear in Graz.", ""),
        ("Quite hot: 92.3 °F. Have a good trip!", ""),
        ("92.3 °F, with thunderstorms in the evening.", "with thunderstorms in the evening"),
        ("92.3 °F, says your dentist.", "says your dentist"),
        ("92.3 °F. Bananas are yellow.", "Bananas are yellow"),
        ("92.3 °F. I also booked a taxi for you.", "I also booked a taxi for you"),
        ("92.3 °F. I went ahead and moved Graz.", "and moved Graz"),
        ("92.3 °F. I also emailed her.", "I also emailed her"),
        ("92.3 °F. I have no tool for pollen.", ""),
        ("92.3 °F. Shall I book a taxi?", ""),
        ("Sorry for the delay. 92.3 °F, on the dot.", ""),
        ("92.3 °F, so you can relax with peace of mind.", ""),
        ("92.3 °F. Oops, I mistyped it initially. Passed on verbatim.", ""),
        ("92.3 °F. I pulled up the forecast first.", ""),
        ("Sorry, your flight was cancelled. 92.3 °F.", "your flight was cancelled"),
        ("92.3 °F, with a hurricane to follow.", "with a hurricane to follow"),
        ("Let me look at the satellites. 92.3 °F. I could order a pizza.", ""),
        ("Es wird 92,3 °F warm, und abends gibt es Gewitter.", ""),
        ("92.3 °F, since streets rarely run straight.", ""),
        ("92.3 °F, and your aunt is usually late.", "and your aunt is usually late"),
    ],
)
def test_what_the_chat_has_no_word_of_is_in_doubt(said: str, in_doubt: str) -> None:
    assert doubt(LOOKED, said).rstrip(".") == in_doubt


@every_case(
    "said",
    [
        "Thank you for your patience.",
        "I understand your concern.",
        "I understand the urgency of your request.",
        "According to the system, it is so.",
        "Based on the information I retrieved, it is so.",
        "I have retrieved the details of the forecast.",
        "I successfully retrieved the information.",
        "I've verified the details.",
        "I've found the relevant information.",
        "After reviewing the forecast, I have it.",
        "I called the API to get the latest forecast.",
        "Fortunately, I found it.",
        "I apologize for the inconvenience.",
        "I've added the unit.",
        "I've prepared the answer.",
        "I ran a search.",
        "I'm here to help whenever you need it.",
        "Additionally, let me know if you want more information.",
        "Please don't hesitate to reach out if you need further assistance.",
        "Looking forward to assisting you again.",
        "No further action is needed on your part.",
        "Your satisfaction is important to us.",
    ],
)
def test_what_assistants_say_around_an_answer_is_in_no_doubt(said: str) -> None:
    assert doubt(LOOKED, f"{said} It will be 92.3 °F.") == ""
    assert doubt(LOOKED, f"It will be 92.3 °F. {said}") == ""


@every_case(
    ("asked", "said", "in_doubt"),
    [
        ("Tell Ann that I am late", "I've texted Ann.", ""),
        (
            "Tell Ann that I am late",
            "I've texted Ann, and I also deleted it.",
            "and I also deleted it",
        ),
        ("Tell Ann that I am late", "I've texted Ann and Carla.", "and Carla"),
        ("Tell me where Ann is", "I also emailed Ann.", "I also emailed Ann"),
        ("Get rid of it, Ann is late", "Done, I cancelled it.", "I cancelled it"),
    ],
)
def test_a_tool_whose_name_tells_nothing_did_what_was_asked(
    asked: str, said: str, in_doubt: str
) -> None:
    assert doubt(NAMELESS, said, asked=asked).rstrip(".") == in_doubt


EYE_TEST = {"event_id": "E4", "title": "eye test", "place": "Lens and Light"}
AT_A_DESK = (
    ("list_events", {"who": "P1"}, [EYE_TEST, {"event_id": "E5", "place": "Tower Hill Practice"}]),
    ("invite_guest", {"event_id": "E4", "email": "ann@mail.example"}, "ok"),
    ("update_person", {"person_id": "P1", "phone": "044 555 0226"}, {"phone": "044 555 0226"}),
    ("move_mail", {"mail_id": "M7", "folder": "archive"}, {"subject": "Letter"}),
    ("remove_contact", {"contact_id": "C3"}, {"name": "Ann", "entry": 2}),
    ("send_message", {"to": "Ann", "text": "I have tidied up"}, "ok"),
)


@every_case(
    ("said", "in_doubt"),
    [
        ("The new phone number has been entered.", ""),
        ("I've filed the letter in the archive.", ""),
        ("I removed the duplicate.", ""),
        ("I removed the doorbell.", "I removed the doorbell"),
        ("Everything is arranged.", ""),
        ("Everything is laminated.", "Everything is laminated"),
        ("I also sent Ann 'I have tidied up'.", ""),
        ("I also sent Ann 'I have collected it'.", "I also sent Ann 'I have collected it"),
    ],
)
def test_what_a_desk_did_is_told_in_many_words(said: str, in_doubt: str) -> None:
    asked = "Invite Ann to my eye test, remove the second Ann, and write her. File the letter."
    told = doubt(*AT_A_DESK, f"It will be 92.3 °F. {said}", asked=asked)
    assert told.rstrip(".'") == in_doubt


def test_a_deed_of_another_goal_needs_a_call_of_its_kind() -> None:
    removed = ("remove_contact", {"name": "Ann"}, "ok")
    assert doubt(removed, "I've deleted Ann.", asked="Take Ann away") == ""
    assert doubt(removed, "I've paid Ann.", asked="Take Ann away") == "I've paid Ann"


WRITTEN = {"from": "Sofia", "phone": "+351707200300", "text": "slides", "at": 1763395800}
"""On 17 November 2025, at 16:10 UTC."""


@every_case(
    ("answer", "wrong"),
    [
        ("Sofia wrote at 16:10.", ""),
        ("Sofia wrote at 4:10 pm.", ""),
        ("Sofia wrote at 9:15.", "9:15"),
        ("It came from +351 707 200 300 at 9:15.", "9:15"),
        ("Sofia sent slides. She wrote it this morning.", "this morning"),
        ("Sofia sent slides. She wrote it yesterday.", ""),
        ("Sofia sent slides. You wrote to somebody this morning.", ""),
        ("Sofia wrote, so be there at 9:15.", ""),
        ("Ann wrote at 9:15.", ""),
        ("Did Sofia write at 9:15?", ""),
    ],
)
def test_when_something_was_written_is_as_results_have_it(answer: str, wrong: str) -> None:
    steps = [
        Step(0, USER, AGENT, "What did she write?"),
        Step(1, AGENT, EXECUTOR, call=ToolCall("c", "read", {})),
        Step(2, EXECUTOR, AGENT, "", result=ToolResult("c", "", None, [WRITTEN])),
        Step(3, AGENT, USER, answer),
    ]
    task = seal.ask("What did she write?", tells="slides", id="t")
    clock: Any = {"start": 1763461800, "zone": "UTC"}
    task = seal.Task(task.id, task.benchmark, task.goals, metadata={"clock": clock})
    goal = TaskChat(task, Trajectory("t", 0, tuple(steps), answers=(answer,)), {}).goals[0]
    assert told_otherwise(goal) == wrong


@every_case(
    ("answer", "value"),
    [
        ("92.3 °F. Ask at (303) 555-0142.", 0.0),
        ("92.3 °F. Ask at 555-0142.", None),  # it may be part of one
        ("92.3 °F. Ask at (303) 555-0104.", 1.0),
        ("92.3 °F, at station 88312.", 0.0),
        ("92.3 °F, at station 88213.", 1.0),
        ("92.3 °F, 88312 metres up.", None),
        ("92.3 °F. Your ticket number is T301.", 0.0),
        ("92.3 °F, measured by a T301.", None),
    ],
)
def test_nobody_reckons_a_phone_number_or_code(answer: str, value: float | None) -> None:
    asked = "How hot is it at station 88213? You can reach me at 303 555 0104."
    task = seal.ask(asked, tells={"temperature": 92.3, "unit": "F"}, id="t")
    steps = (Step(0, USER, AGENT, asked), Step(1, AGENT, USER, answer))
    (score,) = PassRate().of(TaskChat(task, Trajectory("t", 0, steps, answers=(answer,)), {}))
    assert score.value == value


@every_case(
    ("said", "in_doubt"),
    [('"Copper Rain" is the longest.', ""), ('"Copper Rain" is the shortest.', "is the shortest")],
)
def test_who_asks_for_the_longest_is_told_no_other_extreme(said: str, in_doubt: str) -> None:
    songs = ("songs", {}, ["Copper Rain"])
    assert doubt(songs, said, asked="Which song is the longest?").rstrip(".") == in_doubt


WORDS = [*deed_forms().past, *deed_forms().base, *role("finish", "auxiliary", "negation", "more")]
WORDS += [
    "I",
    "we",
    "it",
    "the taxi",
    "nothing",
    "checked in",
    "wrote to",
    ".",
    ",",
    "?",
    "\n",
    "all",
]


@settings(max_examples=300)
@given(st.lists(st.sampled_from(WORDS), max_size=12), st.sampled_from(["", "Book it.", "Why?"]))
def test_a_message_without_a_word_of_a_deed_claims_none(said: list[str], asked: str) -> None:
    _gated(" ".join(said), asked)


@settings(max_examples=100)
@given(st.text(max_size=80))
def test_any_text_without_a_word_of_a_deed_claims_none(text: str) -> None:
    _gated(text, "Book it.")


def _gated(text: str, asked: str) -> None:
    """Hold the gate against the whole reading, after a look and after a deed."""
    for tool in ("search", "remove_contact"):
        steps = [Step(0, USER, AGENT, asked)]
        if tool != "search":
            steps.append(Step(1, AGENT, EXECUTOR, call=ToolCall("c", tool, {})))
            steps.append(Step(2, EXECUTOR, AGENT, "ok", result=ToolResult("c", "ok", None, "ok")))
        found = untruths([*steps, Step(3, AGENT, USER, text)])
        false = [one for one in found if one.kind == "false_success"]
        assert may_claim(text) or not false, (text, false)


@pytest.mark.no_cover
@pytest.mark.parametrize(
    "piece", ["I sent Ann. ", "I moved a{n}. ", "Graz, ", "and Ann ", "It is 5. "]
)
def test_no_message_takes_long_to_doubt(piece: str) -> None:
    def doubted(times: int) -> None:
        text = "".join(piece.replace("{n}", str(n)) for n in range(times))
        doubt(("send", {"to": "Ann"}, "a " * 9000), text, asked="Tell Ann about a " * 900)

    linear(doubted, 50_000 // len(piece))


def test_what_somebody_unknown_is_said_to_have_told_is_in_doubt() -> None:
    assert doubt(LOOKED, "It is 92.3 °F in Graz, as your notary told me.")
    assert not doubt(LOOKED, "It is 92.3 °F in Graz, as the crow flies.")


@every_case(
    "said",
    [
        "I've brought it forward by 30 minutes.",
        "I've pulled it forward half an hour.",
        "I've advanced it by 30 minutes.",
        "I've pushed it back by 30 minutes.",
    ],
)
def test_a_time_is_moved_in_many_words(said: str) -> None:
    moved = ("modify_reminder", {"id": "r-1", "at": 1763490600}, "ok")
    assert not doubt(moved, said, asked="Move the reminder by 30 minutes")
    assert doubt(moved, "I've brought it.", asked="Move the reminder by 30 minutes")


def test_what_a_result_tells_of_the_row_that_was_saved_is_of_the_goal() -> None:
    shop = {"name": "Timberline Hardware", "address": "880 Juniper Avenue, Denver"}
    other = {"name": "Bo's Bar", "address": "12 Larkspur Street, Boulder"}
    calls = [("search_shops", {"q": "hardware"}, [shop, other]), ("add_contact", {}, "c-1")]
    calls[1] = ("add_contact", {"name": "Timberline Hardware", "relationship": "store"}, "c-1")
    asked = "Save the hardware shop as a store"
    task = seal.ask(asked, seal.called("add_contact"))
    found = []
    for answer in ("Found it at 880 Juniper Avenue, Denver. Saved.", "It is on Larkspur."):
        steps = [Step(0, USER, AGENT, asked)]
        for tool, arguments, value in calls:
            at = len(steps)
            steps.append(Step(at, AGENT, EXECUTOR, call=ToolCall(f"c{at}", tool, arguments)))
            result = ToolResult(f"c{at}", str(value), None, value)
            steps.append(Step(at + 1, EXECUTOR, AGENT, str(value), result=result))
        steps.append(Step(len(steps), AGENT, USER, answer))
        chat = TaskChat(task, Trajectory(task.id, 0, tuple(steps), answers=(answer,)), {})
        found.append(doubtful(chat.goals[0], []))
    assert found == ["", "Larkspur"]


@every_case(
    ("said", "in_doubt"),
    [("She comes to Lens and Light.", False), ("She comes to Tower Hill.", True)],
)
def test_all_of_a_row_is_told_of_which_a_deed_has_the_id(said: str, in_doubt: bool) -> None:
    asked = "Invite Ann"
    task = seal.ask(asked, seal.called("invite_guest"))
    steps = [Step(0, USER, AGENT, asked)]
    for tool, arguments, value in AT_A_DESK[:2]:
        at = len(steps)
        steps.append(Step(at, AGENT, EXECUTOR, call=ToolCall(f"c{at}", tool, arguments, tool=tool)))
        result = ToolResult(f"c{at}", str(value), None, value)
        steps.append(Step(at + 1, EXECUTOR, AGENT, str(value), result=result))
    steps.append(Step(len(steps), AGENT, USER, said))
    tools = {"list_events": seal.Tool("list_events", "list_events", "List events.", {})}
    chat = TaskChat(task, Trajectory(task.id, 0, tuple(steps), answers=(said,)), tools)
    assert (doubtful(chat.goals[0], []) != "") is in_doubt


def test_the_place_of_the_clock_is_known() -> None:
    goal = seal.ask("Remind me at 7:15", seal.called("remind"), id="t").goals[0]
    clock: Any = {"start": 1763461800, "zone": "Europe/Lisbon"}
    task = seal.Task("t", "b", (goal,), metadata={"clock": clock})
    for said, in_doubt in (("Lisbon time", ""), ("Oslo time", "Oslo")):
        answer = f"It is set for 7:15, {said}."
        steps = (Step(0, USER, AGENT, goal.text), Step(1, AGENT, USER, answer))
        chat = TaskChat(task, Trajectory("t", 0, steps, answers=(answer,)), {})
        assert doubtful(chat.goals[0], []).rstrip(".") == in_doubt


def test_the_ways_that_a_told_change_may_go_are_known() -> None:
    shares = ("search_stock", {}, {"price": 92.3, "change": -1.4})
    assert doubt(shares, "It's slipping a bit: 92.3 °F.") == ""
    assert doubt(LOOKED, "It's slipping a bit: 92.3 °F.") == "It's slipping a bit"


@every_case(
    ("said", "in_doubt"),
    [
        ("Your order is cancelled.", "Your order is cancelled"),
        ("Status: cancelled.", "cancelled"),
        ("Your order is not cancelled.", ""),
        ("If it is cancelled, you will be told.", ""),
        ("Your order is confirmed.", ""),
        ("It was sent.", "It was sent"),
        ("It has already shipped.", "It has already shipped"),
        ("Status: shipped.", "shipped"),
        ("Order 8 has been processed.", ""),
        ("It is located here.", ""),
    ],
)
def test_a_state_is_of_a_result_or_call_and_not_of_a_tool_that_was_offered(
    said: str, in_doubt: str
) -> None:
    tools = {f"shop/{name}": seal.Tool(f"shop/{name}", name, "", NO_ARGUMENTS) for name in ORDERS}
    task = seal.ask("Is order 8 confirmed?", tells={"n": 1}, tools=[*tools], id="t")
    steps = (Step(0, USER, AGENT, "Is order 8 confirmed?"), Step(1, AGENT, USER, said))
    chat = TaskChat(task, Trajectory("t", 0, steps, answers=(said,)), tools)
    assert doubtful(chat.goals[0], []).rstrip(".") == in_doubt


NO_ARGUMENTS = {"type": "object", "properties": {}}
ORDERS = ("get_order", "cancel_order")


def test_the_arguments_of_offered_tools_are_known() -> None:
    schema = {"type": "object", "properties": {"ledger_id": {"type": "string"}}}
    tool = seal.Tool("book/modify_contact", "modify_contact", "", schema)
    task = seal.ask("Rename Gus", tells={"type": "lack", "value": ["id"]}, tools=[tool.id], id="t")
    said = "I need his ledger ID for that."
    steps = (Step(0, USER, AGENT, "Rename Gus"), Step(1, AGENT, USER, said))
    chat = Trajectory("t", 0, steps, (said,))
    for pool, in_doubt in (({tool.id: tool}, ""), ({}, "I need his ledger ID for that")):
        assert doubtful(TaskChat(task, chat, pool).goals[0], []).rstrip(".") == in_doubt


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("| Field | Outlook |\n|---|---|\n| Street | hail |", ["field", "outlook", "street"]),
        ("**Sky:** hail\n- Kind: fog\n1. Class: snow", ["sky", "kind", "class"]),
        ("## Forecast\nhail", ["forecast"]),
        ("Outlook\n12 degrees, and hail", ["outlook"]),
        ("The outlook is bad: hail and fog", []),
        ("- hail\n- fog\n", []),
    ],
)
def test_labels_and_headings_are_told_from_what_they_lead_to(text: str, labels: list[str]) -> None:
    whole = read(text)

    found = [phrase for phrase in phrases(whole) if is_label(whole, phrase)]

    assert [whole.plain[one.start : one.end].strip(":") for one in found] == labels
