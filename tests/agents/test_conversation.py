"""The chat: who speaks to whom, how calls and results pair, and when it ends."""

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from seal.agents import build_agent
from seal.agents.autogen import play
from seal.agents.conversation import ChatLimits, ChatOptions, Conversation, Services
from seal.agents.teams import DIRECT, FULL, SINGLE, Team, build_team
from seal.core import (
    Completion,
    Goal,
    ModelError,
    Reply,
    Request,
    Step,
    Task,
    Tool,
    ToolCall,
    ToolResult,
    UnknownNameError,
    Usage,
    UsageError,
    Verdict,
)
from seal.models.lexical import speak_plainly

WEATHER = Tool("b/w/now", "weather", parameters={"type": "object", "properties": {"city": {}}})
NEWS = Tool("b/n/now", "news", parameters={"type": "object", "properties": {}})


def call(name: str = "weather", **arguments: object) -> ToolCall:
    return ToolCall("server-made-id", name, arguments)


@dataclass
class Model:
    """Answers by role; a role's script is a list, whose last entry repeats, or a function."""

    scripts: dict[str, object]
    seen: list[Request] = field(default_factory=list)

    def complete(self, request: Request) -> Completion:
        self.seen.append(request)
        script = self.scripts.get(request.role, [Completion("fine")])
        if callable(script):
            return script(request)
        return script.pop(0) if len(script) > 1 else script[0]

    def of(self, role: str) -> list[Request]:
        return [request for request in self.seen if request.role == role]


@dataclass
class Echo:
    """An environment that answers each call with its arguments."""

    batches: list[int] = field(default_factory=list)

    def call(self, calls):
        self.batches.append(len(calls))
        return [ToolResult(c.id, str(c.arguments), value=c.arguments) for c in calls]

    def states(self):
        return ()


def hold(
    scripts: dict[str, object],
    team: Team = FULL,
    task: Task | None = None,
    limits: ChatLimits | None = None,
    options: ChatOptions | None = None,
    judge: Callable[..., Verdict] = lambda *a: Verdict("solved", "yes"),
    found: tuple[Tool, ...] = (NEWS,),
    given: tuple[Tool, ...] = (WEATHER,),
) -> tuple[Conversation, Model, Echo]:
    model, echo = Model(scripts), Echo()
    task = task or Task("t/1", "b", (Goal("Weather in Rome?"),))
    chat = Conversation(
        task,
        0,
        team,
        {role: build_agent(agent) for role, agent in team.roles.items()},
        Services(lambda role: model, echo, lambda q, k: [(t, 1.0) for t in found[:k]], judge),
        {0: list(given)},
        limits=limits or ChatLimits(),
        options=options or ChatOptions(),
        goals=range(len(task.goals)),
    )
    play(chat)
    return chat, model, echo


def route(chat: Conversation) -> list[str]:
    return [f"{s.author}>{s.recipient}" for s in chat.steps]


CALL_THEN_REPORT = [Completion(calls=(call(city="Rome"),)), Completion("It is sunny.")]


def test_full_team_speaks_in_the_order_of_the_paper():
    chat, _, _ = hold(
        {"execution_manager": CALL_THEN_REPORT[:], "orchestrator": [Completion("Sunny.")]}
    )

    assert route(chat) == [
        "user_simulator>orchestrator",
        "orchestrator>execution_manager",
        "execution_manager>executor",
        "executor>execution_manager",
        "execution_manager>orchestrator",
        "orchestrator>checker",
        "checker>user_simulator",
    ]
    assert chat.answers == ["Sunny."]
    assert [stop.reason for stop in chat.stops] == ["done"]


def test_direct_team_ends_with_the_managers_words():
    chat, _, _ = hold({"execution_manager": CALL_THEN_REPORT[:]}, DIRECT)

    assert chat.answers == ["It is sunny."]
    assert {s.author for s in chat.steps} == {"user_simulator", "execution_manager", "executor"}


def test_single_team_ends_after_one_reply_and_runs_nothing():
    chat, _, echo = hold({"execution_manager": CALL_THEN_REPORT[:]}, SINGLE)
    # SINGLE seats no executor: the call is recorded, not executed
    assert [s.call.name for s in chat.steps if s.call] == ["weather"]
    assert echo.batches == []
    assert [stop.reason for stop in chat.stops] == ["done"]


def test_parallel_calls_share_a_turn_and_each_result_stays_with_its_call():
    both = Completion("Both at once.", calls=(call(city="Rome"), call(city="Oslo")))
    chat, model, echo = hold({"execution_manager": [both, Completion("Done.")]}, DIRECT)

    calls = [s for s in chat.steps if s.call]
    assert [s.call.id for s in calls] == ["call_0", "call_1"]
    assert len({s.turn for s in calls}) == 1
    assert echo.batches == [2]
    paired = [(c.call.arguments["city"], r.result.value["city"]) for c, r in pairs(chat)]
    assert paired == [("Rome", "Rome"), ("Oslo", "Oslo")]
    told = model.of("execution_manager")[-1].messages
    assert [m.role for m in told] == ["system", "user", "assistant", "tool", "tool"]
    assert [c.id for c in told[2].calls] == ["call_0", "call_1"]


def pairs(chat: Conversation) -> list[tuple[Step, Step]]:
    return [(c, r) for c, r in chat.trajectory().calls() if r is not None]


def test_call_ids_of_the_server_never_reach_record_or_prompt():
    chat, model, _ = hold({"execution_manager": CALL_THEN_REPORT[:]}, DIRECT)

    assert "server-made-id" not in repr(chat.trajectory())
    assert all("server-made-id" not in repr(r.messages) for r in model.seen)


def test_call_of_an_unknown_name_has_no_tool():
    unknown = [Completion(calls=(call("no_such_tool"),)), Completion("Sorry.")]
    chat, _, _ = hold({"execution_manager": unknown}, DIRECT)

    assert [s.call.tool for s in chat.steps if s.call] == [None]


def test_planner_splits_and_each_step_is_executed_and_reported():
    chat, model, _ = hold(
        {
            "planner": [Completion("1. Find the weather.\n2. Find the news.")],
            "execution_manager": [Completion("Sunny."), Completion("Quiet.")],
        },
        build_team("full", {"planner": "decompose"}),
    )

    instructions = [s.content for s in chat.steps if s.recipient == "execution_manager"]
    assert instructions == ["Find the weather.", "Find the news."]
    final = model.of("orchestrator")[-1].messages
    assert [m.content for m in final if "[execution_manager]" in m.content] == [
        "[execution_manager] Sunny.",
        "[execution_manager] Quiet.",
    ]


def test_per_step_retrieval_ranks_tools_for_each_step():
    chat, _, _ = hold(
        {"planner": [Completion("Find the weather.\nFind the news.")]},
        build_team("full", {"planner": "decompose"}),
        options=ChatOptions(retrieve="per-step"),
    )

    assert [r.query for r in chat.rankings] == ["Find the weather.", "Find the news."]
    assert chat.offered == [("b/w/now", "b/n/now")]


def test_on_demand_search_offers_what_it_finds_and_counts_as_ranking():
    search = Completion(calls=(call("find_tools", query="news of today"),))
    chat, model, echo = hold(
        {"execution_manager": [search, Completion(calls=(call("news"),)), Completion("None.")]},
        DIRECT,
        options=ChatOptions(retrieve="on-demand"),
    )

    assert [r.query for r in chat.rankings] == ["news of today"]
    assert [s.call.tool for s in chat.steps if s.call] == ["seal/chat/find_tools", "b/n/now"]
    assert [t.name for t in model.of("execution_manager")[0].tools] == ["weather", "find_tools"]
    assert echo.batches == [0, 1] or echo.batches == [1]


def test_verifier_sees_results_before_their_caller():
    chat, model, _ = hold(
        {"execution_manager": CALL_THEN_REPORT[:]},
        build_team("full", {"verifier": "rule_verifier"}),
    )

    assert "executor>verifier" in route(chat)
    assert "verifier>execution_manager" in route(chat)
    told = model.of("execution_manager")[-1].messages
    assert [m.role for m in told] == ["system", "user", "assistant", "tool", "user"]


def test_repeating_manager_ends_the_chat_instead_of_burning_the_budget():
    again = [Completion(calls=(call(city="Rome"),))]
    chat, _, echo = hold({"execution_manager": again}, limits=ChatLimits(max_turns=50))

    assert [stop.reason for stop in chat.stops] == ["repeated"]
    assert len(echo.batches) == 2
    assert chat.answers == [None]


def test_same_answer_to_each_step_of_a_plan_is_no_repetition():
    chat, _, _ = hold(
        {
            "planner": [Completion("One.\nTwo.\nThree.\nFour.")],
            "execution_manager": [Completion("Done.")],
        },
        build_team("full", {"planner": "decompose"}),
    )

    assert [stop.reason for stop in chat.stops] == ["done"]


def test_same_instruction_and_same_answer_are_a_repetition():
    class Again:
        def reply(self, chat):
            return Reply("unsolved", next="orchestrator")

    chat, _, _ = hold(
        {"execution_manager": [Completion("No.")]},
        build_team("full", {"checker": Again()}),
        limits=ChatLimits(max_turns=50),
    )

    assert [stop.reason for stop in chat.stops] == ["repeated"]


def test_a_recording_may_repeat_itself():
    again = [Completion(calls=(call(city="Rome"),))] * 4 + [Completion("Sunny.")]
    chat, _, _ = hold({"execution_manager": again}, DIRECT, limits=ChatLimits(repeats=None))

    assert [stop.reason for stop in chat.stops] == ["done"]
    assert chat.answers == ["Sunny."]


def numbered(request: Request) -> Completion:
    told = sum(m.role == "tool" for m in request.messages)
    return Completion(calls=(call(city=f"Rome {told}"),), usage=Usage(10, 5))


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        (ChatLimits(max_turns=4), "max_turns"),
        (ChatLimits(max_calls=3, max_turns=99), "max_calls"),
        (ChatLimits(max_tokens=40, max_turns=99), "max_tokens"),
        (ChatLimits(max_seconds=0.0, max_turns=99), "max_seconds"),
    ],
)
def test_each_budget_has_its_own_stop_reason(limits: ChatLimits, reason: str):
    chat, _, _ = hold({"execution_manager": numbered}, limits=limits)

    assert [stop.reason for stop in chat.stops] == [reason]
    assert chat.answers == [None]


def test_a_budget_of_turns_counts_the_managers_replies():
    _chat, model, _ = hold({"execution_manager": numbered}, limits=ChatLimits(max_turns=4))

    assert len(model.of("execution_manager")) == 4


def test_failing_server_ends_in_an_error_and_keeps_what_was_said():
    def broken(request: Request) -> Completion:
        raise ModelError("the server answered 500 five times")

    chat, _, _ = hold({"execution_manager": broken})

    assert chat.trajectory().failed
    assert chat.stops[0].error == "the server answered 500 five times"
    assert route(chat) == ["user_simulator>orchestrator", "orchestrator>execution_manager"]


def test_goals_are_turns_of_one_chat():
    task = Task("t/2", "b", (Goal("First?"), Goal("Second?")))
    chat, model, _ = hold(
        {"execution_manager": [Completion("One."), Completion("Two.")]}, DIRECT, task
    )

    assert chat.answers == ["One.", "Two."]
    assert [s.goal for s in chat.steps] == [0, 0, 1, 1]
    last = model.of("execution_manager")[-1].messages
    assert [m.content for m in last[1:]] == ["First?", "One.", "Second?"]


def test_user_with_a_brief_answers_and_ends_the_conversation():
    task = Task("t/3", "b", (Goal("Weather?"),), persona={"city": "Rome"})
    chat, model, _ = hold(
        {
            "execution_manager": [Completion("Where?"), Completion("Sunny in Rome.")],
            "user_simulator": [
                Completion("In Rome."),
                Completion("Thanks.", calls=(call("end_conversation"),)),
            ],
        },
        DIRECT,
        task,
    )

    assert [stop.reason for stop in chat.stops] == ["user_ended"]
    assert chat.answers == ["Sunny in Rome."]
    assert "Rome" in model.of("user_simulator")[0].messages[0].content
    assert all("What you know" not in repr(r.messages) for r in model.of("execution_manager"))


def test_checker_judges_without_gold_and_may_send_back():
    seen: list[Goal] = []

    def judge(role, model, goal, answer, steps):
        seen.append(goal)
        return Verdict("unsolved", "no city named") if len(seen) == 1 else Verdict("solved", "ok")

    from seal.agents.roles import Checker

    task = Task("t/4", "b", (Goal("Weather?", answers=("sunny",)),))
    chat, _, _ = hold(
        {
            "execution_manager": [Completion("It rains."), Completion("Sunny.")],
            "orchestrator": [Completion("Rain."), Completion("Sun.")],
        },
        build_team("full", {"checker": Checker(returns=1)}),
        task,
        judge=judge,
    )

    assert [goal.answers for goal in seen] == [(), ()]
    assert chat.answers == ["Sun."]
    assert route(chat).count("checker>orchestrator") == 1


class Critic:
    def reply(self, chat):
        return Reply(f"I heard: {chat.steps[-1].content}")


def test_sixth_role_joins_a_team_in_one_line():
    chat, _, _ = hold({}, FULL.seat("critic", Critic(), after="orchestrator"))

    assert route(chat)[-3:] == ["orchestrator>critic", "critic>checker", "checker>user_simulator"]
    assert chat.answers == ["I heard: fine"]  # what reaches the checker is the answer


def test_same_tool_names_are_told_apart():
    twin = Tool("b/other/now", "weather")
    chat, _model, _ = hold(
        {
            "execution_manager": [
                Completion(calls=(call("find_tools", query="weather"),)),
                Completion(calls=(call("weather_2"),)),
                Completion("ok"),
            ]
        },
        DIRECT,
        options=ChatOptions(retrieve="on-demand"),
        found=(twin,),
    )

    assert [s.call.tool for s in chat.steps if s.call][-1] == "b/other/now"


def test_handing_on_to_an_empty_seat_names_the_seated():
    class Lost:
        def reply(self, chat):
            return Reply("?", next="nobody")

    chat, _, _ = hold({}, build_team("full", {"planner": Lost()}))

    assert chat.stops[0].reason == "crashed"
    assert "'nobody', which is not seated; seated: checker" in chat.stops[0].error


def test_unknown_role_agent_and_team_list_what_there_is():
    with pytest.raises(UsageError, match="team full has no role 'critic'"):
        build_team("full", {"critic": Critic()})
    with pytest.raises(UnknownNameError, match="Did you mean 'decompose'"):
        build_agent("decompos")
    with pytest.raises(UnknownNameError, match="no team 'fulll'"):
        build_team("fulll", {})
    with pytest.raises(UsageError, match="is no agent"):
        build_agent(object())


def test_model_that_says_terminate_or_nothing_ends_nothing_early():
    chat, _, _ = hold(
        {"execution_manager": [Completion("TERMINATE")], "orchestrator": [Completion("")]}
    )

    assert route(chat)[-1] == "checker>user_simulator"
    assert chat.answers == [None]


def heard_last(request: Request) -> Completion:
    return speak_plainly(request) or Completion("")


@pytest.mark.parametrize("silence", ["", " \n"])
@pytest.mark.parametrize("orchestrator", [heard_last, [Completion("")]])
def test_where_nothing_is_said_there_is_no_answer(orchestrator: object, silence: str):
    judged: list[str] = []

    def judge(role, model, goal, answer, steps):
        judged.append(answer)
        return Verdict("unsolved", "there is no final answer")

    scripts = {"orchestrator": orchestrator, "execution_manager": [Completion(silence)]}
    chat, _, _ = hold(scripts, judge=judge)

    assert [answer.strip() for answer in judged] == [""]
    assert chat.answers == [None]
    assert [stop.reason for stop in chat.stops] == ["done"]


def test_a_manager_that_says_nothing_to_the_user_has_given_no_answer():
    chat, _, _ = hold({"execution_manager": [Completion("")]}, DIRECT)

    assert chat.answers == [None]


def test_user_hears_only_what_is_said_to_them():
    seen: list[list[str]] = []

    class Listener:
        def reply(self, chat):
            seen.append([f"{s.author}>{s.recipient}" for s in chat.steps])
            return Reply(chat.request) if not chat.steps else Reply("bye", done=True)

    task = Task("t/5", "b", (Goal("Weather?"),), persona={"city": "Rome"})
    team = build_team("full", {"user_simulator": Listener()})
    hold({"execution_manager": CALL_THEN_REPORT[:]}, team, task)

    assert seen == [[], ["user_simulator>orchestrator", "orchestrator>user_simulator"]]


def test_delegation_is_no_answer_and_what_the_manager_tells_the_user_is():
    class Blunt:
        def reply(self, chat):
            return Reply("No idea.", done=True)

    chat, _, _ = hold({}, build_team("full", {"execution_manager": Blunt()}))

    assert chat.answers == ["No idea."]


def test_model_that_never_searches_found_nothing():
    team, options = DIRECT, ChatOptions(retrieve="on-demand")
    chat, _, _ = hold({"execution_manager": [Completion("No.")]}, team, options=options, given=())

    assert [ranking.hits for ranking in chat.rankings] == [()]
