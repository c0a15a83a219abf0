"""What a message is read to do: asks, refuses, claims a deed, promises, states."""

from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from linear import linear
from looped import every_case

from seal.core.acts import LONGEST, Act, acts

SHOWN = [
    # The message before, the message, and what it does for certain.
    ("Text Bo.", "Which Bo do you mean?", "asks"),
    ("Text Bo.", "Please tell me the number.", "asks"),
    ("Text Bo.", "Please let me know which number to use.", "asks"),
    ("Text Bo.", "Once you have the number, please let me know.", "asks"),
    ("Text Bo.", "I'll need the number first.", "asks"),
    ("Fly me home.", "Shall I book the flight at nine?", "asks asks_leave"),
    ("Fly me home.", "Would you like me to book it?", "asks asks_leave"),
    ("Fly me home.", "It is 90 euros. Is it ok if I book it?", "asks asks_leave states"),
    ("Fly me home.", "Please confirm that the date is correct.", "asks asks_leave"),
    ("Fly me home.", "It is 90 euros. Would that be all right?", "asks asks_leave states"),
    ("Fly me home.", "It reads: 90 euros, non-stop. Is it okay to book it?", "asks asks_leave"),
    ("Fly me home.", "1. **Pay 90 euros**\n\nDo I have your permission?", "asks asks_leave states"),
    ("Fly me home.", "I'm afraid I cannot book flights.", "refuses"),
    ("Fly me home.", "I don't have a tool for flights.", "refuses"),
    ("Fly me home.", "Unfortunately, late bookings are not allowed.", "refuses"),
    ("Fly me home.", "The booking system is unable to take orders.", "refuses"),
    ("Can you fly me home?", "No, but a train leaves at 9.", "refuses states"),
    ("Fly me home.", "That is beyond me.", "refuses"),
    ("Fly me home.", "I'd rather not pay for that.", "refuses"),
    ("Fly me home.", "I have booked the flight.", "claims_deed"),
    ("Fly me home.", "We've just successfully booked it for you.", "claims_deed"),
    ("Fly me home.", "Your seat has been reserved.", "claims_deed"),
    ("Book it.", "Booked!", "claims_deed"),
    ("Book it.", "All set!", "claims_deed"),
    ("Book it.", "Flight booked for Monday.", "claims_deed"),
    ("Cancel it.", "The booking is cancelled.", "claims_deed"),
    ("Book it.", "I was able to book it.", "claims_deed"),
    ("Book it.", "I found the flight and booked it.", ""),
    ("Book it.", "I have paid for the flight and booked it.", "claims_deed"),
    ("Book it.", "I haven't booked it.", "denies_deed refuses"),
    ("Book it.", "The flight could not be booked.", "denies_deed refuses"),
    ("Book it.", "Nothing was cancelled.", "denies_deed refuses"),
    ("Book it.", "I'll book it tomorrow.", "promises"),
    ("Book it.", "Let me check that.", "promises"),
    ("Book it.", "One moment, please.", "promises"),
    ("Book it.", "I'm booking it now.", "promises"),
    ("When does it leave?", "The bus leaves at 17:30.", "states"),
    ("Is he in?", "The doctor is in his room.", "states"),
]
NOT_DONE = [
    # The message before, the message, and what it does not do for certain.
    ("Thanks", "Is there anything else I can do for you?", "asks"),
    ("Thanks", "Let me know if you need further help!", "asks"),
    ("Thanks", "How can I help you?", "asks"),
    ("Thanks", "You're welcome!", "asks refuses claims_deed promises states"),
    ("Book it.", "Once I have booked it, I'll tell you.", "claims_deed refuses asks"),
    ("Book it.", "I'll book it tomorrow.", "claims_deed refuses denies_deed"),
    ("Book it.", "Have you booked it?", "claims_deed refuses promises asks_leave"),
    ("Book it.", "Shall I book it?", "claims_deed promises refuses"),
    ("Book it.", "I can book it if you like.", "promises claims_deed"),
    ("When does it leave?", "The bus leaves at 17:30.", "asks refuses claims_deed denies_deed"),
    ("Book it.", "Which day suits you?", "asks_leave"),
    ("Book it.", "Could you tell me the day?", "asks_leave"),
]
OPEN = [
    # What words alone cannot tell.
    ("Book it.", "It is yours now.", "claims_deed"),
    ("What is the state of my order?", "It has been cancelled.", "claims_deed"),
    ("Did you pay?", "I paid it on Monday.", "claims_deed"),
    ("Find a flight.", "I couldn't find any flight.", "refuses"),
    ("Pay it.", "I cannot pay without your PIN. What is it?", "refuses"),
    ("Buche es.", "Ich habe es für dich gebucht, es ist um neun.", "claims_deed refuses"),
]
QUOTED = [
    'He wrote: "I have booked it."',
    "She said: I have booked it.",
    "> I have booked it.",
    "```\nI have booked it.\n```",
    "Her words were «I have booked it».",
]


@every_case("before, text, does", SHOWN)
def test_what_a_message_shows_is_told_with_its_words(before: str, text: str, does: str) -> None:
    told = acts(text, before)
    assert {act for act in get_args(Act) if getattr(told, act)} == set(does.split())
    assert set(told.shown) == set(does.split())
    assert all(words and words in text for words in told.shown.values())


@every_case("before, text, does", NOT_DONE)
def test_what_no_word_could_mean_is_not_done(before: str, text: str, does: str) -> None:
    told = acts(text, before)
    assert {act for act in does.split() if getattr(told, act) is not False} == set()


@every_case("before, text, does", OPEN)
def test_what_words_alone_cannot_say_is_open(before: str, text: str, does: str) -> None:
    told = acts(text, before)
    assert {act for act in does.split() if getattr(told, act) is not None} == set()


@pytest.mark.parametrize("text", QUOTED)
def test_what_is_quoted_is_somebody_elses_word(text: str) -> None:
    assert acts(text, "Book it.").claims_deed is not True


def test_a_deed_is_told_with_its_kind_so_that_calls_can_bear_it_out() -> None:
    told = acts("I've texted Bo, but I did not book the table.", "Text Bo and book a table.")
    assert [(deed.kind, deed.done) for deed in told.deeds] == [("send", True), ("buy", False)]
    assert told.deeds[0].said == "I've texted Bo"


@every_case(
    ("read", "text"),
    [
        ("asks", "I found two. Which one?"),
        ("asks", "Hold on. At what time?"),
        ("asks", "Which city? Then I'll look it up."),
        ("refuses", "I can't send it, cellular service is off."),
        ("refuses", "Sorry, something went wrong."),
        ("refuses", "I couldn\u2019t reach the server."),
        ("refuses", "Hold on, I cannot do that."),
        ("refuses", "I can only change what I can look up. Your reminder is untouched."),
        ("announces", "One moment please."),
        ("announces", "Sure! Let me check that for you."),
        ("announces", "I\u2019m setting the reminder now\u2026"),
        ("announces", "Working on it. I'll get back to you. Feel free to ask."),
        ("reports", "Let me check. The reminder is set."),
        ("reports", "I will remind you tomorrow."),
        ("reports", "Done! Anything else I can do for you?"),
        ("reports", "It is 20 degrees in Rome. Is there something else you want?"),
        ("reports", "Your latest message says 'How's the new album coming along?'"),
        ("reports", "The reminder reads: what about the milk?"),
        ("reports", "Wifi is on."),
        ("reports", "Sure."),
        ("reports", "Gina is no longer in your address book. Let me know if you need more!"),
        ("reports", "Gina won't show up in your contacts any more."),
        ("reports", "He can see neither Home nor Money any longer."),
        ("refuses", "I can't find it any more."),
        ("refuses", "That reminder can not be set any more, sorry."),
        ("refuses", "That list is no longer available."),
    ],
)
def test_a_user_who_must_answer_takes_a_message_for_one_thing(read: str, text: str) -> None:
    assert acts(text, "Set a reminder.").reading == read


@pytest.mark.parametrize(
    ("text", "questions"),
    [
        ("Which Bo? I know two. And when?", ["Which Bo", "when"]),
        ("Please provide: 1. the day 2. the time", ["Please provide: 1. the day 2. the time"]),
        ("I need the following:\n- the day\nThanks.", ["I need the following:\n- the day"]),
        ("It says 'Who are you?'", []),
    ],
)
def test_the_items_of_a_list_belong_to_the_question_before_them(
    text: str, questions: list[str]
) -> None:
    assert list(acts(text, "Text Bo.").questions) == questions


def test_of_another_language_only_a_question_mark_is_read() -> None:
    told = acts("您要几点？", "订票")
    assert told.asks is True
    assert told.shown == {"asks": "您要几点"}
    assert {getattr(told, act) for act in get_args(Act) if act != "asks"} == {None}


def test_a_text_too_long_to_be_read_is_open() -> None:
    assert acts("Booked! " * LONGEST, "Book it.").claims_deed is None


HOSTILE = [
    *(
        "'",
        '"',
        "`",
        "\u201c",
        "\u201ca",
        "'a ",
        "a' ",
        "\n",
        " ",
        "\t",
        "? ",
        ". ",
        "1. ",
        "- ",
        "*",
    ),
    *("not ", "I ", "if ", "ok ", "i have sent, ", "I will not have been ", "please let me know "),
    *("said: ", "can you book it? ", "i need the ", "```\n", "é ", "İ", "\U0001f642", "12 ", "|"),
    *("und der die ", "yes to ", "anything else ", "to be ", "just a moment "),
]


@pytest.mark.no_cover
@pytest.mark.parametrize("piece", HOSTILE)
def test_no_text_takes_long(piece: str) -> None:
    def read(times: int) -> None:
        acts(piece * times, "Shall I book it?", "user")
        acts("Booked.", piece * (2 * times))

    linear(read, LONGEST // len(piece))


@settings(max_examples=60)
@given(text=st.text(), before=st.text(max_size=60), speaker=st.sampled_from(["agent", "user"]))
def test_any_text_gets_an_answer(text: str, before: str, speaker: str) -> None:
    told = acts(text, before, speaker)  # type: ignore[arg-type]
    assert {getattr(told, act) for act in get_args(Act)} <= {True, False, None}
    assert all(words in text for words in told.shown.values())
