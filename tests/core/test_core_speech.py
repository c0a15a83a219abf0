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
