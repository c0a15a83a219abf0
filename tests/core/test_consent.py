"""What affirms, and what calls off."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from looped import every_case

from seal.core.consent import affirms, calls_off


@pytest.mark.parametrize(
    "text",
    [
        "Yes",
        "yes, go ahead.",
        "OK!",
        "Sure, no problem",
        "Thanks, please do it",
        "Looks right to me, go ahead",
        "Why not",
    ],
)
def test_assent_affirms(text):
    assert affirms(text)


@every_case(
    "text",
    [
        "",
        "No",
        "Yes, but to Bo",
        "Yes if it is free",
        "ok, wait",
        "Yes?",
        "Is it safe? ok",
        "I'm not sure",
        "Yesterday",
        "Ada",
        "do nothing",
        "不可以",
        "いいえ",
        "아니요",
    ],
)
def test_doubt_conditions_and_other_words_do_not(text):
    assert not affirms(text)


@pytest.mark.parametrize("text", ["Wait!", "Never mind", "please don't", "アダ"])
def test_what_is_called_off(text):
    assert calls_off(text) is (text != "アダ")


@given(st.text(max_size=40))
def test_any_text_is_read_and_a_question_never_affirms(text):
    assert affirms(text) in (True, False)
    assert not affirms(f"{text}?")
    assert not affirms(f"yes, but {text}")
