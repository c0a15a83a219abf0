"""What an agent's words do: ask, refuse, offer or report."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seal.core.speech import asking, reading


@pytest.mark.parametrize(
    "text",
    [
        "Which city do you mean?",
        "I found two. Which one?",
        "Please provide the phone number.",
        "Could you tell me the date",
        "Let me know which one you want.",
        "I need the name of the contact.",
        "Would you like me to turn wifi on?",
        "哪个城市？",
    ],
)
def test_questions_and_requests_ask(text):
    assert reading(text) == "asks"


@pytest.mark.parametrize(
    "text",
    [
        "I cannot do that.",
        "I can't send it, cellular service is off.",
        "I'm unable to find it.",
        "Sorry, something went wrong.",
        "None of the tools at hand fits this request.",
        "I don't have the tools for that. Anything else I can help with?",
        "I couldn’t reach the server.",
    ],
)
def test_refusals_and_failures_refuse(text):
    assert reading(text) == "refuses"


@pytest.mark.parametrize(
    "text",
    [
        "Done! Anything else I can do for you?",
        "Your message has been sent. Let me know if you need anything else.",
        "It is 20 degrees in Rome. Is there something else you want?",
        "Your latest message says 'How's the new album coming along?'",
        "The reminder reads: what about the milk?",
        'Homer wrote "I cannot come".',
        "Wifi is on.",
    ],
)
def test_reports_report_whatever_they_offer_or_quote(text):
    assert reading(text) == "reports"
    assert asking(text) == []


def test_an_empty_text_does_nothing():
    assert reading(" \n") == "nothing"


@given(st.text())
def test_every_text_has_a_reading(text):
    kind = reading(text)

    assert kind in ("asks", "refuses", "reports", "nothing")
    assert (kind == "asks") == bool(asking(text))


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("One moment please.", "announces"),
        ("Sure! Let me check that for you.", "announces"),
        ("I’m setting the reminder now…", "announces"),
        ("Working on it. I'll get back to you. Feel free to ask.", "announces"),
        ("Let me check. The reminder is set.", "reports"),
        ("I will remind you tomorrow.", "reports"),
        ("Sure.", "reports"),
        ("Let me check. At what time?", "asks"),
        ("Hold on, I cannot do that.", "refuses"),
    ],
)
def test_what_only_announces_is_no_report(text, read):
    assert reading(text) == read


@pytest.mark.parametrize(
    "text",
    [
        "Please provide: 1. the content 2. the time",
        "Please provide:\n- the content\n- the time",
        "I need the following details:\n1) the content\n2) the time",
    ],
)
def test_the_items_of_a_list_belong_to_the_question(text):
    asked = " ".join(asking(text))
    assert "content" in asked
    assert "time" in asked
