"""Whether an answer allows just what was asked, in many words."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from looped import every_case

from seal.core.confirmation import confirms

ASK = "Shall I send 'Dinner at 8' to +46 70 02?"
VALUES = ("Dinner at 8", "+467002", "Bo Ek")
NAMES = ("Bo Ek", "Cleo Ek", "Ada", "小李")


def confirmed(answer: str, told: str = ASK) -> bool:
    return confirms(answer, told, VALUES, NAMES)


@every_case(
    "answer",
    [
        "Yes.",
        "yes please!",
        "y",
        "Y.",
        "Yep, go for it",
        "Yes, that's right, please send it.",
        "Sure thing, thanks so much!",
        "👍",
        "👍🏽 thanks",
        "✅",
        "Sounds good 👍",
        "Yes, send it to Bo.",
        "Yes, Bo Ek",
        "yes, to bo",
        "Yes, to +46 70 02",
        "Yes, +467002, at 8",
        "Yes, please send 'Dinner at 8' now",
        "Yes, I would like you to send that message right away please",
        "Perfect, thank you. Please go ahead and send it to him.",
    ],
)
def test_answers_that_allow_just_what_was_asked(answer):
    assert confirmed(answer)


@every_case(
    "answer",
    [
        "No",
        "👎",
        "ok 👎",
        "Yes, Cleo.",
        "yes, cleo",
        "Yes, Zed.",
        "yes, zed",
        "Yes, please do send that one over to Zed right away",
        "yes please do send that one over to ada right away",
        "Yes, tomorrow",
        "Yes, at noon",
        "Yes, at 9",
        "Yes, to +46 70 03",
        "Yes, the second",
        "Yes, the second one",
        "yes, option b",
        "Yes, the other number",
        "Yes, 2nd",
    ],
)
def test_answers_that_name_something_else_or_choose_do_not(answer):
    assert not confirmed(answer)


@pytest.mark.parametrize(
    ("told", "answer"),
    [
        ("Shall I not send 'Dinner at 8' to +46 70 02?", "Yes"),
        ("Should I refrain from sending 'Dinner at 8' to +46 70 02?", "👍"),
        ("You don't want me to send 'Dinner at 8' to +46 70 02?", "Yes"),
        ("'Dinner at 8', to +46 70 02. Shall I never send it?", "Yes"),
    ],
)
def test_a_yes_to_a_negative_question_allows_nothing(told, answer):
    assert not confirmed(answer, told)


@pytest.mark.parametrize(
    ("told", "answer"),
    [
        ("I could not find Bo. Shall I send 'Dinner at 8' to +46 70 02?", "Yes"),
        ("Why don't I send 'Dinner at 8' to +46 70 02?", "Yes"),
        ("I send 'Dinner at 8' to +46 70 02, don't I?", "Yes"),
        ("Shall I send 'Dinner at 8' to +46 70 02 or not?", "Yes"),
        ("Shall I send 'Dinner at 8' to +46 70 02, if you don't mind?", "ok"),
        ("Shall I send 'Not Cleo or Ada' to +46 70 02?", "Yes"),
    ],
)
def test_tags_and_what_was_said_besides_make_no_question_negative(told, answer):
    assert confirmed(answer, told)


@pytest.mark.parametrize(
    ("told", "choice"),
    [
        ("Shall I send 'Dinner at 8' to +46 70 02 or to +46 70 03?", "Yes"),
    ],
)
def test_a_choice_is_confirmed_by_naming_what_is_done(told, choice):
    assert not confirmed(choice, told)
    assert confirmed(f"{choice}, +46 70 02", told)
    assert not confirmed(f"{choice}, +46 70 03", told)


@pytest.mark.parametrize(
    "told",
    [
        f"{ASK[:-1]}, or would you like to change anything?",
    ],
)
def test_an_offer_to_change_something_is_no_choice(told):
    assert confirmed("Yes, ok", told)


def test_an_item_of_a_list_is_a_choice_and_the_same_ordinal_is_none():
    listed = "Send 'Dinner at 8'?\n1. Bo: +46 70 02\n2. Cleo: +46 70 03"
    assert not confirmed("Yes, 2", listed)
    assert confirmed("Yes, to the second number", "'Dinner at 8' to the second number, +467002?")


ABOUT = "I have a question about 'Dinner at 8' to +46 70 02"


@pytest.mark.parametrize(
    "told",
    [
        f"{ABOUT}: is the weather nice?",
        f"{ABOUT} - is the weather nice?",
        f"{ABOUT}: is it raining?",
        f"{ABOUT}. Is the weather nice?",
        f"{ASK} Is the weather nice?",
        "I would send 'Dinner at 8' to +46 70 02. Should I turn on the light?",
    ],
)
def test_a_yes_to_a_question_about_something_else_allows_nothing(told):
    assert not any(confirmed(answer, told) for answer in ("Yes", "ok", "y"))


@every_case(
    "told",
    [
        "'Dinner at 8', to +46 70 02: shall I send it?",
        "'Dinner at 8', to +46 70 02: is that right?",
        "'Dinner at 8', to +46 70 02: ok?",
        "'Dinner at 8', to +46 70 02: yes?",
        "I would send 'Dinner at 8' to +46 70 02. Shall I go ahead?",
        "I would send 'Dinner at 8' to +46 70 02. Is it correct?",
        "I would send 'Dinner at 8' to +46 70 02. Do I have your permission?",
        "I would send 'Dinner at 8' to +46 70 02. Are the details accurate?",
        "I would send 'Dinner at 8' to +46 70 02. May I perform the action?",
        "There is an invitation 'Dinner at 8' to +46 70 02. Post the invitation?",
        "Is the weather nice? Shall I send 'Dinner at 8' to +46 70 02?",
        "Just to be sure: 'Dinner at 8' to +46 70 02?",
        "Shall I send the following?\n- to +46 70 02\n- 'Dinner at 8'",
        "Sending to +46 70 02: 'Dinner at 8'?",
        "shall i send 'dinner AT 8' to +46 70 02?",
    ],
)
def test_a_question_that_refers_to_what_was_told_is_about_it(told):
    assert confirmed("ok", told)


@given(st.text(max_size=60), st.text(max_size=60))
@example("JA", "")
def test_any_text_is_read_and_nothing_but_assent_confirms(answer, told):
    assert confirms(answer, told) in (True, False)
    assert not confirms(f"No, {answer}", told)
    assert not confirms(f"Yes, {answer}, but to Cleo", told)
