"""The user that a model plays: what it is shown, its own tool, and what it may not break."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from talks import REQUEST, WEATHER, Completion, call, talk

from seal.agents.conversation import ChatLimits
from seal.agents.teams import DIRECT, Team
from seal.core import Reply, Tool, ToolCall

END = call("end_conversation")
PERSONA = {
    "goal": "Learn how warm it is in Rome.",
    "boundary": "You do not know the date.",
    "facts": {"city": {"value": "Rome", "ask": ["where"]}},
    "demonstration": [
        {"role": "user", "content": "turn on wifi"},
        {"role": "assistant", "content": "Wifi is on."},
        {"role": "end", "content": ""},
    ],
}


def shown(said, number: int = 0):
    """Return the messages of a request to the user's model."""
    return said.user.seen[number].messages


def test_sides_are_swapped_for_the_model():
    said = talk(["Where?", "It is warm."], PERSONA, user=["in rome", END])

    assert [(m.role, m.content) for m in shown(said, 1)[1:]] == [
        ("assistant", REQUEST),
        ("user", "Where?"),
        ("assistant", "in rome"),
        ("user", "It is warm."),
    ]


def test_user_is_told_all_of_its_brief():
    (system, *_) = shown(talk(["Warm."], PERSONA, user=[END]))

    for part in ("how warm it is in Rome", "not know the date", "city: Rome", "turn on wifi"):
        assert part in system.content
    assert "(You call end_conversation.)" in system.content
    assert "ask" not in system.content.partition("What you know:")[2].partition("Such")[0]


def test_briefs_are_nested():
    told = {
        brief: shown(talk(["Warm."], PERSONA, user=[END], user_brief=brief))[0].content
        for brief in ("goal", "goal+boundary", "goal+boundary+demonstration")
    }

    assert "not know the date" not in told["goal"] and "city: Rome" not in told["goal"]
    assert "not know the date" in told["goal+boundary"]
    assert "turn on wifi" not in told["goal+boundary"]
    assert "turn on wifi" in told["goal+boundary+demonstration"]


def test_words_of_its_authors_are_told_as_they_stand_with_examples_as_turns():
    wanted = {"role": "goal", "content": "Turn on wifi."}
    verbatim = {"instruction": "Play {user}: ", "end": "Leave."}
    told = {**PERSONA, "demonstration": [wanted, *PERSONA["demonstration"]], "verbatim": verbatim}
    said = talk(["Where?", "Warm."], told, user=["in rome", END])

    assert [(m.role, m.content) for m in shown(said)] == [
        ("system", "Play {user}: Turn on wifi."),
        ("assistant", "turn on wifi"),
        ("user", "Wifi is on."),
        (
            "system",
            "Play {user}: Learn how warm it is in Rome.You do not know the date.\n\n"
            "What you know:\n- city: Rome",
        ),
        ("assistant", REQUEST),
        ("user", "Where?"),
    ]
    assert [tool.description for tool in said.user.seen[0].tools] == ["Leave."]


def test_agent_sees_nothing_of_the_brief_and_of_the_users_tool():
    said = talk(["Where?", "Warm."], PERSONA, user=["here", END])

    text = repr(said.agent.seen)
    assert "not know the date" not in text
    assert "end_conversation" not in text


def test_call_of_an_unknown_tool_is_recorded_and_runs_nothing():
    said = talk(["Where?", "Warm."], PERSONA, user=[call("weather", city="Rome"), "rome", END])

    (failed,) = [s for s in said.chat.steps if s.result and s.result.error]
    assert failed.recipient == "user_simulator"
    assert failed.result.error["kind"] == "unknown_tool"
    assert said.environment.ran == []
    assert said.stop == "user_ended"
    assert [m.content for m in shown(said, 1)[1:]] == [REQUEST, "Where?"]  # hidden from the user


def test_user_that_only_calls_in_vain_ends_the_chat():
    numbers = iter(range(100))
    said = talk(["Where?"], PERSONA, user=lambda request: call(f"tool_{next(numbers)}"))

    assert said.stop == "repeated"
    assert len(said.user.seen) == 3


def test_user_with_tools_is_shown_what_its_calls_brought_and_no_agent_is_offered_them():
    lamp = Tool("b/w/lamp", "lamp", parameters={"type": "object", "properties": {"on": {}}})
    persona = {**PERSONA, "tools": [lamp.id]}
    lit = [call("lamp", on=True), call("lamp", on=False), "It is dark.", call("weather"), END]
    said = talk(["Switch it.", "Good."], persona, user=lit, user_tools=[lamp])

    assert [tool.name for tool in said.user.seen[0].tools] == ["lamp", "end_conversation"]
    assert {tool.name for request in said.agent.seen for tool in request.tools} == {"weather"}
    told = [(m.role, m.content or m.calls[0].arguments) for m in shown(said, 2)[2:]]
    assert told == [
        ("user", "Switch it."),
        ("assistant", {"on": True}),
        ("tool", "{'on': True}"),
        ("assistant", {"on": False}),
        ("tool", "{'on': False}"),
    ]
    assert [one.name for one in said.environment.ran] == ["lamp", "lamp"]
    (failed,) = [s for s in said.chat.steps if s.result and s.result.error]
    assert "it has: lamp, end_conversation" in failed.content  # the agent's tool is none of them
    assert [m.content for m in said.agent.seen[1].messages[-3:]] == [
        REQUEST,
        "Switch it.",
        "It is dark.",
    ]
    assert said.stop == "user_ended"


def test_a_tool_that_the_user_has_is_not_offered_to_the_agent_by_a_retriever_either():
    said = talk(["Good."], {**PERSONA, "tools": [WEATHER.id]}, user=[END], user_tools=[WEATHER])

    assert said.agent.seen[0].tools == () and said.chat.offered == [()]


def test_many_calls_of_the_users_own_tools_are_not_in_vain():
    lamp = Tool("b/w/lamp", "lamp")
    user = [call("lamp")] * 5 + [END]
    said = talk(["Go on."], {**PERSONA, "tools": [lamp.id]}, user=user, user_tools=[lamp])

    assert said.stop == "user_ended" and len(said.environment.ran) == 5


def test_end_beside_an_unknown_call_ends():
    both = Completion("bye", (ToolCall("", "nothing", {}), ToolCall("", "end_conversation", {})))
    said = talk(["Warm."], PERSONA, user=[both])

    assert said.stop == "user_ended"
    assert [s.call.name for s in said.chat.steps if s.call] == ["nothing", "end_conversation"]


def test_users_calls_spend_no_budget_of_the_agent():
    said = talk(
        ["Warm."], PERSONA, user=[call("x"), call("y"), END], limits=ChatLimits(max_calls=1)
    )

    assert said.stop == "user_ended"


def test_silence_ends():
    said = talk(["Warm."], PERSONA, user=["  "])

    assert said.stop == "user_ended"
    assert said.heard[-1] == "  "


def test_team_without_executor_ends_by_word():
    team = Team(
        "bare",
        {"user_simulator": "user_simulator", "execution_manager": "execution_manager"},
        lead="execution_manager",
        after={
            "user_simulator": ("execution_manager",),
            "execution_manager": ("user_simulator",),
        },
    )
    said = talk(["Warm."], PERSONA, user=[END], team=team)

    assert said.stop == "user_ended"
    assert not any(step.call for step in said.chat.steps)


def test_messages_of_a_conversation_can_be_limited():
    numbers = iter(range(100))
    said = talk(
        lambda request: f"Where, {next(numbers)}?",
        PERSONA,
        user=lambda request: f"somewhere {len(request.messages)}",
        limits=ChatLimits(max_turns=50, max_messages=7),
    )

    assert said.stop == "max_messages"
    assert len(said.chat.steps) == 7


def test_second_goal_is_spoken_after_the_user_left_the_first():
    said = talk(["Warm.", "Cold."], PERSONA, user=[END], goals=["And Rome?", "And Oslo?"])

    assert said.heard == ["And Rome?", "And Oslo?"]
    assert [stop.reason for stop in said.chat.stops] == ["user_ended", "user_ended"]
    assert said.chat.answers == ["Warm.", "Cold."]


def test_who_sees_what_is_a_rule_of_the_team():
    seen: dict[str, list[str]] = {}

    class Manager:
        def reply(self, chat):
            seen[chat.role] = [f"{s.author}>{s.recipient}" for s in chat.steps]
            return Reply("Warm.")

    class Critic(Manager):
        def reply(self, chat):
            return Reply(super().reply(chat).content, done=True)

    def route_of(sight):
        team = DIRECT.seat("execution_manager", Manager())
        team = team.seat("critic", Critic(), after="execution_manager")
        team = replace(team, sight={"user_simulator": "own", **sight})
        talk([""], PERSONA, user=[END], team=team)
        return seen["critic"]

    assert route_of({}) == ["user_simulator>execution_manager", "execution_manager>critic"]
    assert route_of({"critic": "own"}) == ["execution_manager>critic"]


@given(
    st.lists(
        st.builds(
            Completion,
            st.text(max_size=30),
            st.lists(
                st.builds(
                    ToolCall,
                    st.just(""),
                    st.sampled_from(["end_conversation", "weather", "", "\x00", "é 工具"]),
                    st.none() | st.dictionaries(st.text(max_size=5), st.text(max_size=5)),
                    st.text(max_size=5),
                ),
                max_size=2,
            ).map(tuple),
        ),
        min_size=1,
        max_size=6,
    )
)
def test_nothing_that_a_users_model_says_breaks_the_chat(answers):
    said = talk(["Where?", "Warm."], PERSONA, user=answers)

    assert said.stop in ("user_ended", "repeated", "max_turns")
    assert said.environment.ran == []
