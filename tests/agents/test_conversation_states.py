"""What the record tells of a world: tables that changed, on the step in which they did."""

from dataclasses import dataclass, field

from test_conversation import WEATHER, Model, call

from seal.agents import build_agent
from seal.agents.autogen import play
from seal.agents.conversation import ChatOptions, Conversation, Services
from seal.agents.teams import DIRECT, Team
from seal.core import Completion, Goal, Task, ToolResult, Verdict


@dataclass
class Diary:
    """A world that writes each call down, in an order of its own, and counts turns."""

    reverse: bool = False
    pages: list = field(default_factory=list)
    ticks: list = field(default_factory=list)
    after: list = field(default_factory=list)

    def call(self, calls):
        calls = list(reversed(calls)) if self.reverse else calls
        self.after = []
        for made in calls:
            if made.arguments["city"] != "nowhere":
                self.pages = [*self.pages, made.arguments]
            self.after.append(self.now())
        return [ToolResult(made.id, "written") for made in calls]

    def states(self):
        return self.after or [self.now()]

    def tick(self):
        self.ticks.append(len(self.pages))
        self.after = []

    def now(self):
        return {"pages": self.pages, "cover": [{"name": "diary"}]}


def hold(world, *completions, team: Team = DIRECT, options: ChatOptions | None = None):
    model = Model({"execution_manager": list(completions)})
    chat = Conversation(
        Task("t/1", "b", (Goal("Write."),)),
        0,
        team,
        {role: build_agent(agent) for role, agent in team.roles.items()},
        Services(lambda role: model, world, lambda q, k: [], lambda *a: Verdict("solved", "")),
        {0: [WEATHER]},
        options=options or ChatOptions(),
    )
    play(chat)
    return chat


def changes(chat):
    """Return by step which tables are told, and how many pages there are."""
    return {
        s.index: (sorted(s.state), len(s.state.get("pages", ()))) for s in chat.steps if s.state
    }


BOTH = Completion(calls=(call(city="Rome"), call(city="Oslo")))


def test_the_first_step_tells_all_and_each_result_what_it_changed():
    chat = hold(Diary(), BOTH, Completion("Done."))
    kinds = ["result" if s.result else "call" if s.call else "text" for s in chat.steps]
    assert kinds == ["text", "call", "call", "result", "result", "text"]
    assert changes(chat) == {
        0: (["cover", "pages"], 0),
        3: (["pages"], 1),
        4: (["pages"], 2),
    }


def test_a_result_that_changed_nothing_tells_nothing():
    still = Completion(calls=(call(city="nowhere"), call(city="Oslo")))
    assert changes(hold(Diary(), still, Completion("Done."))) == {
        0: (["cover", "pages"], 0),
        4: (["pages"], 1),
    }


def test_results_in_another_order_tell_what_each_changed():
    chat = hold(Diary(reverse=True), BOTH, Completion("Done."))
    told = [s.state["pages"][-1]["city"] for s in chat.steps if s.result]
    assert told == ["Oslo", "Rome"]


def test_searches_for_tools_are_no_calls_of_the_world():
    search = call("find_tools", query="write")
    mixed = Completion(calls=(search, call(city="Rome"), search, call(city="Oslo")))
    options = ChatOptions(retrieve="on-demand")
    chat = hold(Diary(), mixed, Completion("Done."), options=options)
    results = [s for s in chat.steps if s.result]
    assert [len(s.state["pages"]) if s.state else 0 for s in results] == [0, 1, 0, 2]


def test_turns_are_messages_of_the_user_and_of_who_answers():
    world = Diary()
    hold(world, BOTH, Completion("Done."))
    assert world.ticks == [0, 0, 2]  # the request, the calls, the answer; results are no turn


def test_what_changes_as_time_passes_is_told_on_the_message_of_that_turn():
    class Ageing(Diary):
        def tick(self):
            super().tick()
            self.pages = [*self.pages, {"turn": len(self.ticks)}]

    chat = hold(Ageing(), Completion(calls=(call(city="Rome"),)), Completion("Done."))
    assert changes(chat) == {
        0: (["cover", "pages"], 1),
        1: (["pages"], 2),
        2: (["pages"], 3),
        3: (["pages"], 4),
    }
