"""The user without a model: what it answers, what it keeps to itself, and when it leaves."""

from hypothesis import given
from hypothesis import strategies as st
from looped import every_case
from talks import REQUEST, call, talk

from seal.agents.teams import FULL
from seal.agents.users import ALLOWED, RETRIES, UNKNOWN, WAITING, facts_of
from seal.core.acts import FAILURES

SHOPPING = {
    "goal": "Add a reminder to buy milk tomorrow at 5 PM.",
    "boundary": "You do not know where the shop is.",
    "facts": {
        "content": "buy milk",
        "time": {"value": "tomorrow 5 PM", "ask": ["when", "what time"]},
        "phone_number": "+15550100",
        "recurring": False,
    },
}


def test_user_answers_by_slot_and_leaves_when_the_goal_is_done():
    said = talk(["What should I remind you of?", "And when?", "It is set."], SHOPPING)

    assert said.heard == [REQUEST, SHOPPING["goal"], "tomorrow 5 PM"]
    assert said.stop == "user_ended"
    assert said.chat.answers == ["It is set."]


def test_end_is_the_users_call_with_its_result():
    said = talk(["Done."], SHOPPING)

    assert said.route[-2:] == ["user_simulator>executor", "executor>user_simulator"]
    left, answer = said.chat.steps[-2:]
    assert (left.call.name, left.call.tool) == ("end_conversation", "seal/chat/end_conversation")
    assert answer.result.error is None
    assert answer.result.call_id == left.call.id
    assert said.environment.ran == []


def test_end_reaches_no_verifier_of_the_agents_results():
    team = FULL.seat("verifier", "rule_verifier")
    said = talk(["Done."], SHOPPING, team=team)

    assert said.route[-1] == "executor>user_simulator"
    assert not any(step.author == "verifier" for step in said.chat.steps)


@every_case(
    ("question", "answer"),
    [
        ("At what time?", "tomorrow 5 PM"),
        ("What is the phone number?", "+15550100"),
        ("Could you tell me the phone numbers (phone_number)?", "+15550100"),
        ("Is it recurring?", "no"),
        ("Please provide the content and when.", "content: buy milk; time: tomorrow 5 PM"),
        (
            "Before I start, I need to check two things: content and phone number, please.",
            "content: buy milk; phone_number: +15550100",
        ),
        ("Wifi is off. May I turn it on?", ALLOWED),
        ("Shall I switch cellular service on?", ALLOWED),
        ("1. **Cellular service**: turn it on\n\nIs that okay with you?", ALLOWED),
        ("The reminder says: Renew the books. It's due at noon. Is it fine to delete it?", ALLOWED),
        ("Since wifi is off, can I turn it on?", ALLOWED),
        ("Would you like me to go ahead?", ALLOWED),
        ("Where is the shop?", UNKNOWN[0]),
        ("Which airline do you fly with?", UNKNOWN[0]),
        ("Could you give me more details?", SHOPPING["goal"]),
    ],
)
def test_questions_get_what_the_brief_has(question, answer):
    assert talk([question, "Done."], SHOPPING).heard[1:] == [answer]


def test_nothing_of_the_brief_is_told_unasked():
    said = talk(["The weather is nice.", "x"], SHOPPING)
    refused = talk(["I cannot do that."], SHOPPING)
    told = " ".join(said.heard + refused.heard)

    assert not any(fact.value in told for fact in facts_of(SHOPPING) if len(fact.value) > 3)


def test_offer_of_more_help_is_no_question():
    said = talk(["I have set it. Is there anything else I can help you with?"], SHOPPING)

    assert said.stop == "user_ended"
    assert said.heard == [REQUEST]


def test_quoted_question_is_no_question():
    said = talk(["Your last message says 'How is the album coming along?'"], SHOPPING)

    assert said.heard == [REQUEST]


def test_user_gives_up_at_the_fifth_failure():
    said = talk(["Sorry, I cannot do that."], SHOPPING)

    assert said.heard == [REQUEST, *RETRIES]
    assert said.stop == "user_ended"
    assert len(said.agent.seen) == FAILURES


def test_questions_that_the_brief_cannot_answer_are_failures():
    said = talk(["Which airline?"], SHOPPING)

    assert said.heard == [REQUEST, *UNKNOWN]
    assert said.stop == "user_ended"


def test_the_same_question_over_and_over_ends_too():
    varied = iter(range(100))
    said = talk(lambda request: f"When is it, attempt {next(varied)}?", SHOPPING)

    assert said.stop == "user_ended"
    assert said.heard[1:] == ["tomorrow 5 PM"] * FAILURES


def test_further_requests_follow_one_by_one():
    persona = {"goal": "Know the weather", "then": ["And tomorrow?", "And the day after?"]}
    said = talk(["Sunny.", "Rain.", "Snow."], persona)

    assert said.heard == [REQUEST, "And tomorrow?", "And the day after?"]
    assert said.chat.answers == ["Snow."]


def test_brief_without_boundary_knows_no_facts():
    said = talk(["And when?", "Done."], SHOPPING, user_brief="goal")

    assert said.heard[1:] == [UNKNOWN[0]]


def test_agent_that_never_ends_is_stopped_by_its_turns():
    numbers = iter(range(100))
    said = talk(lambda request: call("weather", city=str(next(numbers))), SHOPPING)

    assert said.stop == "max_turns"


def test_equal_conversations_are_equal():
    script = ["What?", "When?", "I failed.", "Done."]

    assert talk(script, SHOPPING).chat.steps == talk(script, SHOPPING).chat.steps


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=8) | st.just("value"), inner, max_size=3)
    ),
    max_leaves=6,
)
maps_of_anything = st.dictionaries(st.text(max_size=8) | st.just("value"), anything, max_size=3)


@given(
    texts=st.lists(st.text(max_size=60), min_size=1, max_size=6),
    persona=st.fixed_dictionaries(
        {},
        optional={
            "goal": st.text(max_size=20),
            "boundary": st.text(max_size=20),
            "facts": maps_of_anything,
            "then": st.text(max_size=20) | st.lists(st.text(max_size=20), max_size=3),
            "demonstration": st.lists(maps_of_anything, max_size=3),
            "city": anything,
        },
    ),
)
def test_any_words_and_any_persona_come_to_an_end(texts, persona):
    said = talk(texts, persona)

    assert len(said.chat.stops) == 1
    assert said.stop != "error"


def test_ten_turns_are_talked_without_a_model():
    persona = {"then": [f"And in {n} days?" for n in range(1, 10)]}

    said = talk([f"Sunny on day {n}." for n in range(10)], persona)

    assert len(said.heard) == 10


def test_user_waits_for_an_agent_that_answers_in_several_messages():
    said = talk(["Let me check that.", "One moment please.", "It is set."], SHOPPING)

    assert said.heard == [REQUEST, *WAITING[:2]]
    assert said.chat.answers == ["It is set."]


def test_user_gives_up_on_an_agent_that_only_announces():
    said = talk(lambda request: f"Working on it{'.' * len(request.messages)}", SHOPPING)

    assert said.stop == "user_ended"
    assert len(said.agent.seen) == FAILURES


def test_user_answers_all_items_of_a_list_at_once():
    listed = "Please provide: 1. the content 2. the time 3. the phone number"
    answer = "content: buy milk; time: tomorrow 5 PM; phone_number: +15550100"

    assert talk([listed, "Done."], SHOPPING).heard == [REQUEST, answer]
    assert talk(["- ".join(listed.split("1. ")), "Done."], SHOPPING).heard == [REQUEST, answer]
