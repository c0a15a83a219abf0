"""The audit of simulated users: each error with its step, and none where there is none."""

import gzip
import json
from dataclasses import replace
from pathlib import Path

import pytest
from chats import task, trajectory
from hypothesis import given
from hypothesis import strategies as st
from looped import every_case

from seal.agents.users import ALLOWED, RETRIES, UNKNOWN, WAITING
from seal.core import Goal, Score, Step, ToolCall, ToolResult
from seal.core.facts import Record
from seal.evaluation.scoring import UserAudit

USER, AGENT, EXECUTOR = "user_simulator", "execution_manager", "executor"
REQUEST = "Send a message to Fredrik."
PERSONA = {
    "goal": "Text Fredrik Thordendal that you arrive 3/22/2024 at 5PM.",
    "boundary": "You do not know his number. He lives in Uppsala.",
    "facts": {"album": {"value": "Koloss", "ask": ["record"]}, "copies": 2},
    "demonstration": [{"role": "user", "content": "Remind me to call Bjork"}],
}
END = ToolCall("call_0", "end_conversation", {}, tool="seal/chat/end_conversation")


def chat(*said: str | ToolCall) -> list[Step]:
    """The request, then agent and user in turns; the agent begins, a call is the user's."""
    steps = [Step(0, USER, AGENT, REQUEST)]
    for number, words in enumerate(said, 1):
        if isinstance(words, ToolCall):
            steps.append(Step(number, USER, EXECUTOR, call=words, turn=number))
        else:
            pair = (AGENT, USER) if number % 2 else (USER, AGENT)
            steps.append(Step(number, *pair, words, turn=number))
    return steps


def audit(*said: str | ToolCall, persona=PERSONA) -> dict[str, Score]:
    goal = task(Goal(REQUEST), persona=persona)
    scores = UserAudit().score(goal, trajectory(chat(*said)), {})
    return {score.metric: score for score in scores}


def flags(*said: str | ToolCall) -> list[tuple[str, int]]:
    found = audit(*said).values()
    return [(f["flag"], f["step"]) for score in found for f in score.details["flags"]]


@every_case(
    ("said", "facts"),
    [
        ("His number is +46 70 123 45 67.", ["+46 70 123 45 67"]),
        ("Tell him I bring 3 copies", ["3"]),
        ("Tell him I bring 44 copies", ["44"]),
        ("It's Fredrik from Meshuggah", ["Meshuggah"]),
        ("Do it on Friday", ["Friday"]),
        ("do it on friday", ["friday"]),
        ("i arrive tomorrow", ["tomorrow"]),
        ("Mail fredrik@example.org", ["fredrik@example.org"]),
        ("I arrive on April 22nd", ["April 22nd"]),
        ("I arrive at 6:30 PM", ["6:30 PM"]),
        ("See https://example.org/route", ["https://example.org/route"]),
    ],
)
def test_facts_outside_the_brief_are_flagged(said, facts):
    score = audit("What should I write?", said, "Sent.", END)["user_hallucination"]

    assert [f["facts"] for f in score.details["flags"]] == ([facts] if facts else [])
    assert score.value == float(bool(facts))
    assert all(f["step"] == 2 for f in score.details["flags"])


def test_numbers_of_an_instruction_are_no_facts_of_the_brief():
    persona = {"goal": "Send it.", "verbatim": {"instruction": "Give up after 5 tries. "}}
    found = audit("How many?", "5 copies", "Sent.", END, persona=persona)["user_hallucination"]

    assert [flag["facts"] for flag in found.details["flags"]] == [["5"]]


TRAVELLER = {
    "goal": "Move your trip from IAH to SFO to the day after, and pay by your master card."
}


@every_case(
    ("said", "facts"),
    [
        ("I fly from Houston to San Francisco", []),
        ("I don't have the reservation IDs", []),
        ("Please take my MasterCard", []),
        ("I want it on May 24, 2024", []),
        ("I don't have that. Is there anything else I can provide?", []),
        ("I fly from Boston to San Francisco", ["Boston"]),
        ("Please take my VisaCard", ["VisaCard"]),
        ("I want it on May 26, 2024", ["May 26, 2024"]),
        ("My mail is amy@example.org", ["amy@example.org"]),
    ],
)
def test_a_user_may_say_what_follows_from_its_brief(said, facts):
    found = audit("It is on May 23, 2024. Your code?", said, "Ok.", END, persona=TRAVELLER)

    flagged = found["user_hallucination"].details["flags"]
    assert [fact for flag in flagged for fact in flag["facts"]] == facts
    assert not found["user_instruction_error"].details["flags"]


def test_without_such_a_brief_no_day_follows_from_another():
    said = "I want it on May 24, 2024"
    found = audit("It is on May 23, 2024.", said, "Ok.", END)["user_hallucination"]

    assert [flag["facts"] for flag in found.details["flags"]] == [["May 24, 2024"]]


@every_case(
    "said",
    [
        "i arrive at 5 pm on 3/22/2024",
        "March 22, 2024, 17:00 please",
        "at 5:00 PM",
        "Fredrik Thordendal's in Uppsala",
        "the album is Koloss, two copies",
        "Call Bjork",  # of the demonstration
        "Yes. Go ahead. I don't know, sorry.",
        "OK thanks! I'm fine with WiFi and GPS on.",
        "What I said before: Text him.",
        'just say "arrive at 5PM"',
    ],
)
def test_facts_of_the_brief_are_none(said):
    assert flags("What should I write?", said, "Sent.", END) == []


def test_what_the_agent_said_before_is_known_and_what_it_says_later_is_not():
    known = flags(
        "I found John Petrucci, +1234560987. Him?", "Yes, John at +1234560987", "Sent.", END
    )
    early = flags("Whom?", "To John Petrucci", "John Petrucci it is. Sent.", END)

    assert known == []
    assert early == [("outside_brief", 2)]


@pytest.mark.parametrize(
    ("said", "flagged"),
    [
        (("Which Fredrik?", END), True),
        (("I cannot send messages.", END), True),
        ((END,), True),
        (("Sent. Anything else I can do for you?", END), False),
        (("I have sent it.", END), False),
        (("I cannot.", "Try again.") * 4 + ("I cannot.", END), False),
        (("I cannot.", "Try again.") * 3 + ("I cannot.", END), True),
    ],
)
def test_ends_are_early_while_the_agent_asks_or_may_still_try(said, flagged):
    found = flags(*said)

    assert found == ([("ended_early", len(said))] if flagged else [])


@every_case(
    "said",
    [
        "How can I help you today?",
        "Let me know if you need anything else!",
        "I've sent the message to Fredrik for you.",
        "Your reminder has been set.",
        "Sure, I have sent your message to Fredrik.",
        "I've already updated your contact.",
        "I turned off your wifi.",
        "Ok! I'll send your message now.",
        "I just set up your new reminder",
        "As an AI, I cannot arrive anywhere.",
        "I'd be happy to help.",
    ],
)
def test_a_user_that_speaks_as_the_assistant_is_flagged(said):
    assert flags("What should I write?", said, "Sent.", END) == [("spoke_as_assistant", 2)]


@every_case(
    "said",
    [
        "Can you help me with that?",
        "I'll wait. Let me know when it's done.",
        "I can't find it myself",
        "is my reminder set?",
        "I sent your colleague a message before",
        "I have updated your mom's number in my phone",
        "I have sent my message to Fredrik already",
        "have you sent my message?",
        "I found your answer helpful",
        "I have it in my contacts, look there",
    ],
)
def test_a_user_that_asks_for_help_is_not(said):
    assert flags("What should I write?", said, "Sent.", END) == []


OFFER = "I can send the message to Fredrik, but which number should I use for him?"


@pytest.mark.parametrize(
    "said",
    [OFFER, "I can send the message to Fredrik but which number should I use for him", f"{OFFER} "],
)
def test_a_user_that_repeats_the_assistant_is_flagged(said):
    assert flags(OFFER, said, "Sent.", END) == [("repeated_assistant", 2)]
    later = flags(OFFER, "I do not know it.", "Sent.", said, "Sent.", END)
    assert ("repeated_assistant", 4) in later


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("Thank you very much!", "Thank you very much!"),  # anybody says so
        ("Should I text Fredrik that you arrive?", "Yes, text Fredrik that you arrive at 5PM."),
        (f"You said: {REQUEST}", REQUEST),
    ],
)
def test_a_user_that_takes_up_the_assistants_words_is_not(asked, said):
    assert "repeated_assistant" not in [flag for flag, _ in flags(asked, said, "Sent.", END)]


def test_a_user_may_say_again_what_it_said_before_the_assistant():
    told = "Text Fredrik Thordendal that you arrive."
    assert flags("When?", told, told, told, "Sent.", END) == []


def test_silence_and_unknown_calls_are_flagged():
    other = ToolCall("call_0", "send_message", {}, tool=None)

    assert flags("What should I write?", " ") == [("said_nothing", 2)]
    assert flags("What should I write?", other) == [("unknown_call", 2)]


def test_users_that_only_speak_goals_are_not_audited():
    silent = UserAudit().score(task(Goal(REQUEST)), trajectory(chat("Sent.")), {})
    asked = UserAudit().score(task(Goal(REQUEST)), trajectory(chat("To whom?", "To Kim")), {})

    assert silent == []
    assert [(score.metric, score.value) for score in asked] == [
        ("user_hallucination", None),
        ("user_instruction_error", 0.0),
    ]
    assert asked[0].reason == "the user has no brief"


def test_infrastructure_failure_is_no_error_of_the_user():
    failed = trajectory(chat("Which?"), stop="error")
    scores = UserAudit().score(task(Goal(REQUEST), persona=PERSONA), failed, {})

    assert [score.value for score in scores] == [None, None]


def test_flags_belong_to_the_goal_they_were_made_in():
    first = chat("Whom?", "To Kim Larsen", "Sent.")
    second = [replace(s, goal=1, index=s.index + 10) for s in chat("To Kim Larsen?", "Yes, Kim")]
    goals = task(Goal(REQUEST), Goal(REQUEST), persona=PERSONA)
    scores = UserAudit().score(goals, trajectory([*first, *second]), {})

    assert [s.value for s in scores if s.metric == "user_hallucination"] == [1.0, 0.0]


@given(st.text(max_size=80), st.text(max_size=80))
def test_nobody_is_flagged_for_repeating_what_is_known(text, other):
    assert Record((other, text)).unexplained(text, names=True) == []


@every_case("words", [ALLOWED, *UNKNOWN, *RETRIES, *WAITING])
def test_the_fixed_words_of_the_scripted_user_state_no_fact(words):
    assert flags("May I go on?", words, "Done.", END) == []


def test_recorded_scripted_users_have_no_false_flags(seal_data: Path):
    """Of 959 recorded users each says only its goal; those who left at a refusal left early."""
    found: dict[str, int] = {}
    refusals = ("cannot", "CANNOT")
    with gzip.open(seal_data / "toolsandbox" / "vectors_public.jsonl.gz") as lines:
        for line in lines:
            record = json.loads(line)
            steps = [recorded_step(m) for m in record["messages"]]
            texts = [s.content for s in steps if s.author == USER and s.call is None]
            goal = [text for text in texts[1:] if text != "Please go on."]
            played = task(Goal(texts[0]), persona={"goal": " ".join(goal)})
            for score in UserAudit().score(played, trajectory(steps), {}):
                for flag in score.details["flags"]:
                    found[flag["flag"]] = found.get(flag["flag"], 0) + 1
                    assert any(word in flag["said"] for word in refusals)

    assert found == {"ended_early": 67}


def recorded_step(message: dict) -> Step:
    party = {"USER": USER, "AGENT": AGENT, "EXECUTION_ENVIRONMENT": EXECUTOR}
    author, recipient = party[message["sender"]], party[message["recipient"]]
    index = message["index"]
    call = result = None
    if recipient == EXECUTOR:
        named = message.get("tool_call") or {"name": "code", "arguments": None}
        call = ToolCall(f"call_{index}", named["name"], named["arguments"])
    if author == EXECUTOR:
        result = ToolResult("", message["content"])
    content = "" if call else message["content"]
    return Step(index, author, recipient, content, call, result, index)


SPACES = st.sampled_from(["", " ", "-", "."])


@every_case(
    ("told", "said", "known"),
    [
        ("US number is 720 555 0128", "+17205550128", True),
        ("US number is 720 555 0128", "+1 720 555 0128", True),
        ("US number is 720 555 0128", "It is +1 (720) 555-0128, at 5", False),  # 5 is new
        ("US number is 720 555 0128, 5 copies", "It is +1 (720) 555-0128, 5 copies", True),
        ("US number is 720 555 0128", "1-720-555-0128", True),
        ("US number is 720 555 0128", "001 720 555 0128", True),
        ("US number is 720 555 0128", "+1 720 555 0129", False),
        ("US number is 720 555 0128", "+17205550182", False),
        ("US number is 720 555 0128", "+17720 555 0128", False),  # 177 is no country
        ("number 070-123 45 67", "+46 70 123 45 67", True),
        ("number 070-123 45 67", "+46 (0)70 123 45 67", True),
        ("number +46701234567", "070-123 45 67", True),
        ("number +46701234567", "+47701234567", False),
        ("number 0612345678", "+39 06 12345678", True),
        ("order 2345678", "order 12345678", False),
    ],
)
def test_a_phone_number_is_known_with_and_without_its_countrys_code(told, said, known):
    assert (not Record((told,)).unexplained(said)) is known


@given(
    st.integers(2 * 10**9, 10**10 - 1).map(str),
    st.sampled_from(["", "1", "+1", "001", "+46", "+358"]),
    st.booleans(),
    SPACES,
    st.integers(0, 9),
)
def test_only_another_digit_makes_a_phone_number_another(digits, code, brackets, gap, place):
    def written(number: str) -> str:
        area = f"({number[:3]})" if brackets else number[:3]
        return gap.join([code, area, number[3:6], number[6:]])

    changed = str((int(digits[place]) + 1) % 10)
    other = digits[:place] + changed + digits[place + 1 :]
    known = Record((f"The number is {digits}.",))

    assert known.unexplained(f"It is{' ' + written(digits).lstrip('-. ')}") == []
    assert known.unexplained(f"It is {written(other).lstrip('-. ')}") != []


@pytest.mark.parametrize(
    ("said", "facts"),
    [
        ("The code is X1234567.", ["X1234567"]),
        ("Take AB-1234 and 4F7K2P", ["AB-1234", "4F7K2P"]),
        ("It is due 2024-03-22", ["2024-03-22"]),
        ("The card is card_7391239, ending in 1239.", ["card_7391239", "1239"]),
    ],
)
def test_a_code_is_one_value(said, facts):
    assert Record().unexplained(said) == facts
    assert Record((said.casefold(),)).unexplained(said) == []
