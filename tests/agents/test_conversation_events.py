"""What happens in the world by itself, told to the agent in the chat."""

from dataclasses import dataclass, field

from talks import Echo, Speaker, call

from seal.agents import build_agent
from seal.agents.autogen import play
from seal.agents.conversation import Conversation, Services
from seal.agents.teams import DIRECT, FULL, Team
from seal.core import Goal, Task, Verdict


@dataclass
class Kitchen(Echo):
    """A world in which the kettle whistles before the third turn."""

    turns: int = 0
    tables: dict = field(default_factory=lambda: {"stove": [{"on": True}]})

    def tick(self):
        self.turns += 1

    def states(self):
        return [self.tables]

    def events(self):
        if self.turns < 3 or not self.tables["stove"][0]["on"]:
            return []
        self.tables = {"stove": [{"on": False}]}
        return ["The kettle whistles."]


def talk(team: Team, agent, user=("Is it warm?", "Thanks", "")) -> tuple[Conversation, Speaker]:
    agent, asked = Speaker(agent), Speaker(user)
    chat = Conversation(
        Task("t", "b", (Goal("Boil water"),), persona={"goal": "Boil water"}),
        0,
        team,
        {role: build_agent(agent) for role, agent in team.roles.items()},
        Services(
            lambda role: asked if role == "user_simulator" else agent,
            Kitchen(),
            lambda query, k: [],
            lambda *seen: Verdict("solved"),
        ),
    )
    play(chat)
    return chat, agent


def test_the_agent_hears_an_event_before_it_speaks_and_the_user_never_does():
    chat, agent = talk(DIRECT, ["It is on the stove.", "Yes, and the kettle whistles.", "Bye"])

    (event,) = [s for s in chat.steps if s.content == "The kettle whistles."]
    assert (event.author, event.recipient, event.index) == ("executor", "execution_manager", 3)
    assert (event.call, event.result) == (None, None)
    assert [s.author for s in chat.steps[:5]] == [
        "user_simulator",
        "execution_manager",
        "user_simulator",
        "executor",
        "execution_manager",
    ]
    assert [len(r.messages) for r in agent.seen[:2]] == [2, 5]
    assert agent.seen[1].messages[-1].content == "[executor] The kettle whistles."
    assert event not in chat.team.visible(chat.steps, "user_simulator")


def test_what_an_event_changes_is_recorded_with_it():
    chat, _ = talk(DIRECT, ["It is on the stove.", "Yes.", "Bye"])
    told = {step.index: step.state for step in chat.steps if step.state}
    assert told == {0: {"stove": [{"on": True}]}, 3: {"stove": [{"on": False}]}}


def test_an_event_comes_between_a_batch_of_calls_and_what_the_agent_says_next():
    chat, _ = talk(DIRECT, ["On it.", call("stove"), "Done, it whistles.", "Bye"])
    kinds = [
        "call" if s.call else "result" if s.result else s.content
        for s in chat.steps
        if "user_simulator" not in (s.author, s.recipient)
    ]
    assert kinds == ["The kettle whistles.", "call", "result"]


def test_in_a_full_team_the_orchestrator_hears_it_and_hands_on_the_request_alone():
    chat, _ = talk(FULL, ["On it.", "On it.", "Warm.", "Warm, it whistles.", "Bye"])
    (event,) = [s for s in chat.steps if s.content == "The kettle whistles."]
    assert event.recipient == "orchestrator"
    following = chat.steps[event.index + 1]
    assert (following.author, following.content) == ("orchestrator", "Is it warm?")
