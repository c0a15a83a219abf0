"""Calls that a role runs within its own reply: all of them stand in the record."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pytest
from looped import every_case
from talks import WEATHER, Echo, Speaker

import seal
from seal.agents import build_agent
from seal.agents.autogen import play
from seal.agents.conversation import ChatLimits, ChatOptions, Conversation, Services
from seal.agents.group import Group
from seal.agents.replies import PluginError
from seal.agents.teams import DIRECT, FULL, Team, build_team
from seal.api.benchmarks import load_pool
from seal.core import (
    Chat,
    Completion,
    Goal,
    Reply,
    SimulatorError,
    Step,
    Task,
    Tool,
    ToolCall,
    ToolResult,
    Usage,
    UsageError,
    Verdict,
)

NEWS = Tool("b/n/now", "news", parameters={"type": "object", "properties": {}})
Does = Callable[[Chat], Reply]


@dataclass
class Role:
    """A role that does what the function says."""

    does: Does

    def reply(self, chat: Chat) -> Reply:
        return self.does(chat)


def weather(city: str) -> ToolCall:
    return ToolCall("an id of its own", "weather", {"city": city})


def hold(
    does: Does,
    role: str = "execution_manager",
    team: Team = DIRECT,
    environment: Any = None,
    limits: ChatLimits | None = None,
    said: Sequence[Step] | None = None,
    **options: Any,
) -> Conversation:
    """Play one goal in which a role does what the function says; all others say "fine"."""
    team = team.seat(role, Role(does))
    heard: list[Step] = []
    chat = Conversation(
        Task("t", "b", (Goal("How is the weather?"),)),
        0,
        team,
        {name: build_agent(agent) for name, agent in team.roles.items()},
        Services(
            lambda name: Speaker([Completion("fine", usage=Usage(10, 5))]),
            environment or Echo(),
            lambda query, k: [(NEWS, 1.0)],
            lambda name, model, goal, answer, steps: _judged(model),
        ),
        {0: [WEATHER]},
        limits=limits or ChatLimits(),
        options=ChatOptions(**options),
        on_step=heard.append,
    )
    play(chat)
    assert [step.index for step in heard] == [step.index for step in chat.steps]
    return chat


def _judged(model: Any) -> Verdict:
    return Verdict("solved", model.complete(None).content)


def lines(chat: Conversation) -> list[str]:
    """Return who says what to whom, a line a step."""
    return [f"{s.author}>{s.recipient} {_said(s)}" for s in chat.steps]


def _said(step: Step) -> str:
    if step.call is not None:
        return f"{step.call.id} {step.call.tool} {step.call.arguments}"
    return f"={step.result.call_id}" if step.result is not None else step.content


def rome_and_oslo(chat: Chat) -> Reply:
    chat.execute([weather("Rome"), weather("Oslo")])
    return Reply("Sunny.")


def test_own_calls_and_their_results_are_steps_as_if_the_executor_had_answered():
    chat = hold(rome_and_oslo)

    assert lines(chat) == [
        "user_simulator>execution_manager How is the weather?",
        "execution_manager>executor call_0 b/w/now {'city': 'Rome'}",
        "execution_manager>executor call_1 b/w/now {'city': 'Oslo'}",
        "executor>execution_manager =call_0",
        "executor>execution_manager =call_1",
        "execution_manager>user_simulator Sunny.",
    ]
    assert [step.turn for step in chat.steps] == [0, 1, 1, 2, 2, 3]
    assert chat.answers == ["Sunny."]
    assert "an id of its own" not in repr(chat.trajectory())


def test_own_calls_are_recorded_as_calls_by_way_of_the_executor_are():
    def by_way_of_the_executor(chat: Chat) -> Reply:
        if chat.steps[-1].result is not None:
            return Reply("Sunny.")
        return Reply(calls=(weather("Rome"), weather("Oslo")))

    assert hold(rome_and_oslo).steps == hold(by_way_of_the_executor).steps


def test_results_come_in_the_order_of_the_calls_with_the_ids_of_the_record():
    class Backwards(Echo):
        def call(self, calls):
            return list(reversed(super().call(calls)))

    told: list[ToolResult] = []
    chat = hold(lambda chat: Reply(str(told.extend(rome(chat)))), environment=Backwards())

    assert [(r.call_id, r.value["city"]) for r in told] == [("call_0", "Rome"), ("call_1", "Oslo")]
    assert [s.result.call_id for s in chat.steps if s.result] == ["call_1", "call_0"]


def rome(chat: Chat) -> list[ToolResult]:
    return chat.execute([weather("Rome"), weather("Oslo")])


def test_no_calls_leave_no_step():
    chat = hold(lambda chat: Reply(str(chat.execute([]))))
    assert lines(chat)[1:] == ["execution_manager>user_simulator []"]


def test_what_a_role_does_to_its_objects_afterwards_changes_no_record():
    def untidy(chat: Chat) -> Reply:
        arguments = {"city": "Rome"}
        (result,) = chat.execute([ToolCall("", "weather", arguments)])
        arguments["city"] = result.value["city"] = "Atlantis"
        return Reply("Done.")

    assert "Atlantis" not in repr(hold(untidy).trajectory())


@pytest.mark.parametrize("depth", [150, 600, 5_000])
def test_arguments_of_any_depth_are_a_call(depth: int):
    def nested(chat: Chat) -> Reply:
        value: Any = "bottom"
        for _ in range(depth):
            value = [value]
        assert chat.execute([ToolCall("", "weather", {"city": value})])
        return Reply("Sunny.")

    assert [s.call.id for s in hold(nested).steps if s.call] == ["call_0"]


def test_tokens_used_before_a_call_stand_on_it_and_the_rest_on_the_reply():
    def asking(chat: Chat) -> Reply:
        chat.complete([])
        chat.execute([weather("Rome")])
        chat.complete([])
        chat.complete([])
        return Reply("Sunny.")

    chat = hold(asking)
    tokens = [step.usage.tokens_in if step.usage else 0 for step in chat.steps]
    assert tokens == [0, 10, 0, 20]
    assert chat.usage == Usage(30, 15)


@dataclass
class World(Echo):
    """A world with a clock, that hears what is said, and in which a bell rings after a call."""

    turns: int = 0
    heard: list[int] = field(default_factory=list)
    rung: bool = False

    def tick(self) -> None:
        self.turns += 1

    def hear(self, step: Step) -> None:
        self.heard.append(step.index)

    def events(self) -> Sequence[str]:
        rings = bool(self.ran) and not self.rung
        self.rung = self.rung or rings
        return ["The bell rings."] if rings else []

    def states(self) -> Sequence[dict[str, Any]]:
        return [{"log": [{"city": c.arguments["city"]} for c in self.ran], "turns": [self.turns]}]


def test_the_world_shows_hears_and_ages_as_with_any_message():
    world = World()
    chat = hold(rome_and_oslo, environment=world)

    told = {s.index: len(s.state["log"]) for s in chat.steps if s.state and "log" in s.state}
    assert told == {0: 0, 3: 2}  # this world shows its last state alone
    assert world.turns == 3  # the request, the calls, the answer
    assert world.heard == [step.index for step in chat.steps]
    assert lines(chat)[5] == "executor>execution_manager The bell rings."


def test_a_search_for_tools_is_answered_recorded_and_ranked():
    def searching(chat: Chat) -> Reply:
        chat.execute([ToolCall("", "find_tools", {"query": "news"}), weather("Rome")])
        chat.execute([ToolCall("", "news", {})])
        return Reply("Done.")

    chat = hold(searching, retrieve="on-demand")
    assert [s.call.tool for s in chat.steps if s.call] == [
        "seal/chat/find_tools",
        "b/w/now",
        "b/n/now",
    ]
    assert [ranking.query for ranking in chat.rankings] == ["news"]


@pytest.mark.parametrize("calls", ["weather", [{"name": "weather"}], [ToolCall("", "w", "{}")]])
def test_what_is_no_call_is_refused_by_name_of_the_role(calls: Any):
    with pytest.raises(UsageError, match="role 'execution_manager' executes"):
        hold(lambda chat: Reply(str(chat.execute(calls))))


def test_an_unknown_name_is_recorded_without_a_tool():
    chat = hold(lambda chat: Reply(str(chat.execute([ToolCall("", "nothing", {})]))))
    assert [s.call.tool for s in chat.steps if s.call] == [None]


# --- budgets


def looping(chat: Chat) -> Reply:
    for number in range(1_000):
        chat.execute([weather(f"city {number}")])
    return Reply("Never said.")


def test_calls_beyond_the_budget_are_recorded_not_run_and_end_the_chat():
    echo = Echo()
    chat = hold(looping, environment=echo, limits=ChatLimits(max_calls=3))

    assert [stop.reason for stop in chat.stops] == ["max_calls"]
    assert [call.arguments["city"] for call in echo.ran] == ["city 0", "city 1", "city 2"]
    assert [s.call.id for s in chat.steps if s.call] == ["call_0", "call_1", "call_2", "call_3"]
    last = next(s.result for s in reversed(chat.steps) if s.result)
    assert last.error == {
        "kind": "max_calls",
        "message": "Not run: the budget of 3 calls is spent.",
    }
    assert last.executed is None


def test_a_role_that_heeds_the_budget_has_the_last_word_but_no_answer():
    def heeding(chat: Chat) -> Reply:
        spent = False
        while not spent:
            spent = chat.execute([weather("Rome")])[0].error is not None
        return Reply("That is all I may do.", done=True)

    chat = hold(heeding, limits=ChatLimits(max_calls=2))
    assert [stop.reason for stop in chat.stops] == ["max_calls"]
    assert chat.steps[-1].content == "That is all I may do."
    assert chat.answers == [None]


def test_a_framework_that_wraps_the_end_of_the_budget_ends_by_it_all_the_same():
    def wrapping(chat: Chat) -> Reply:
        try:
            return looping(chat)
        except Exception as error:
            raise RuntimeError("tool failed") from error

    chat = hold(wrapping, limits=ChatLimits(max_calls=1))
    assert [stop.reason for stop in chat.stops] == ["max_calls"]


def test_own_calls_and_handed_on_calls_share_one_budget():
    def both(chat: Chat) -> Reply:
        chat.execute([weather(f"own {len(chat.steps)}")])
        return Reply(calls=(weather(f"handed on {len(chat.steps)}"),))

    chat = hold(both, limits=ChatLimits(max_calls=4))
    assert [stop.reason for stop in chat.stops] == ["max_calls"]
    assert sum(step.call is not None for step in chat.steps) == 6  # the third pair goes beyond


def test_equal_words_after_other_calls_are_no_repetition():
    def working(chat: Chat) -> Reply:
        turn = len(chat.steps)
        chat.execute([weather(f"city {turn}")])
        return Reply("Working.", next=chat.role, done=turn > 20)

    assert [stop.reason for stop in hold(working).stops] == ["done"]


# --- who may do what


@pytest.mark.parametrize("role", ["planner", "orchestrator", "critic"])
def test_results_of_calls_that_were_never_run_are_refused(role: str):
    team = FULL.seat("critic", Role(lambda chat: Reply("?")), after="orchestrator")
    made_up = Reply("", results=(ToolResult("call_7", "sunny"),))
    chat = hold(lambda chat: made_up, role, team)

    assert chat.stops[0].error == (
        f"role {role!r} replied with results of 'call_7', which it never ran; only the executor "
        "brings results. Run calls by chat.execute(calls): it records them"
    )
    assert not any(step.result for step in chat.steps)


def test_results_that_stand_in_the_record_are_not_recorded_twice():
    chat = hold(lambda chat: Reply("Sunny.", results=tuple(rome(chat))))
    assert [s.result.call_id for s in chat.steps if s.result] == ["call_0", "call_1"]
    assert chat.answers == ["Sunny."]


def test_the_users_own_calls_are_answered_here_and_recorded():
    def user(chat: Chat) -> Reply:
        chat.execute([weather("Rome")])
        return Reply(chat.request)

    echo = Echo()
    chat = hold(user, "user_simulator", environment=echo)
    assert lines(chat)[:3] == [
        "user_simulator>executor call_0 None {'city': 'Rome'}",
        "executor>user_simulator =call_0",
        "user_simulator>execution_manager How is the weather?",
    ]
    assert "The user has no tool 'weather'" in chat.steps[1].content
    assert echo.ran == []


def test_a_user_that_runs_its_end_has_left():
    def user(chat: Chat) -> Reply:
        if not any(step.author == chat.role for step in chat.steps):
            return Reply(chat.request)
        chat.execute([ToolCall("", "end_conversation", {})])
        return Reply("Bye.")

    chat = hold(user, "user_simulator", interactive_user=True)
    assert [stop.reason for stop in chat.stops] == ["user_ended"]
    assert chat.steps[-1].content == "Bye."


def asking(chat: Chat) -> Reply:
    """Call once by way of the executor, then report."""
    if chat.steps[-1].result is not None:
        return Reply("Sunny.")
    return Reply(calls=(weather("Rome"),))


def executed_by(does: Does, environment: Any = None) -> Conversation:
    team = DIRECT.seat("execution_manager", Role(asking))
    return hold(does, "executor", team, environment)


def pending(chat: Chat) -> list[ToolCall]:
    return [step.call for step in chat.steps if step.call is not None]


def test_an_executor_that_runs_a_call_again_has_made_a_call_of_its_own():
    def again(chat: Chat) -> Reply:
        calls = pending(chat)
        first = chat.execute(calls)
        chat.execute(calls)
        return Reply(results=tuple(first))

    echo = World(rung=True)
    chat = executed_by(again, echo)
    assert lines(chat)[1:5] == [
        "execution_manager>executor call_0 b/w/now {'city': 'Rome'}",
        "executor>executor call_1 b/w/now {'city': 'Rome'}",
        "executor>executor =call_1",
        "executor>execution_manager =call_0",
    ]
    assert len(echo.ran) == 2
    logs = [len(s.state["log"]) for s in chat.steps if s.state and "log" in s.state]
    assert logs == [0, 1, 2]


def test_an_executor_that_keeps_a_result_back_is_refused():
    def silent(chat: Chat) -> Reply:
        chat.execute(pending(chat))
        return Reply("Nothing.")

    error = executed_by(silent).stops[0].error or ""
    assert error.startswith("role 'executor' ran 'call_0' and replied without the results")


def test_a_failing_simulator_that_the_role_ignores_is_never_a_score():
    class Broken(Echo):
        def call(self, calls):
            raise SimulatorError("no usable answer")

    def ignoring(chat: Chat) -> Reply:
        for _ in range(2):
            with pytest.raises(SimulatorError):
                chat.execute([weather("Rome")])
        return Reply("Sunny.")

    chat = hold(ignoring, environment=Broken())
    assert (chat.stops[0].reason, chat.stops[0].error) == ("error", "no usable answer")
    assert [s.call.id for s in chat.steps if s.call] == ["call_0"]


def test_threads_of_a_role_may_call_at_once():
    def parallel(chat: Chat) -> Reply:
        with ThreadPoolExecutor(8) as threads:
            found = list(threads.map(lambda n: chat.execute([weather(f"{n}")])[0], range(24)))
        assert [result.value["city"] for result in found] == [f"{n}" for n in range(24)]
        return Reply("Sunny.")

    chat = hold(parallel)
    assert [s.call.id for s in chat.steps if s.call] == [f"call_{n}" for n in range(24)]
    assert [step.index for step in chat.steps] == list(range(len(chat.steps)))


# --- every public way of a chat

USES: dict[str, Callable[[Chat], Any]] = {
    "execute": lambda chat: chat.execute([weather("Rome")]),
    "find_tools": lambda chat: chat.find_tools("news", 1),
    "complete": lambda chat: chat.complete([]),
    "judge": lambda chat: chat.judge("Sunny."),
    "note": lambda chat: chat.note("I wonder."),
    "count": lambda chat: chat.count("lab/own", Usage(10, 5)),
}


def test_every_way_of_a_chat_is_tried_here():
    ways = {name for name, value in vars(Chat).items() if callable(value) and name[0] != "_"}
    assert ways == set(USES)


@every_case("role", ["planner", "orchestrator", "checker", "execution_manager"])
@every_case("way", USES)
def test_every_way_of_a_chat_leaves_its_record(way: str, role: str):
    def using(chat: Chat) -> Reply:
        USES[way](chat)
        return Reply("Done.", done=True)

    without = hold(lambda chat: Reply("Done.", done=True), role, FULL)
    chat = hold(using, role, FULL)
    left = {
        "execute": [step.call.name for step in chat.steps if step.call] == ["weather"],
        "find_tools": [ranking.query for ranking in chat.rankings] == ["news"],
        "complete": chat.usage.tokens_in == without.usage.tokens_in + 10,
        "judge": chat.usage.tokens_in == without.usage.tokens_in + 10,
        "count": chat.usage.tokens_in == without.usage.tokens_in + 10
        and chat.own_models == {role: "lab/own"},
        "note": [one["text"] for one in chat.printed] == ["I wonder."],
    }
    stamped = sum(step.usage.tokens_in for step in chat.steps if step.usage)
    assert left[way]
    assert stamped == chat.usage.tokens_in


@pytest.mark.parametrize("way", [*USES, "steps", "tools", "request"])
def test_a_chat_kept_beyond_its_reply_is_of_no_use(way: str):
    kept: list[Chat] = []
    raised: list[str] = []

    def later() -> None:
        use = USES.get(way, lambda chat: getattr(chat, way))
        try:
            use(kept[0])
        except PluginError as error:
            raised.append(str(error))

    chat = hold(lambda chat: Reply(str(kept.append(chat))))
    before = chat.trajectory()
    thread = threading.Thread(target=later)
    thread.start()
    thread.join()
    assert raised == [
        "role 'execution_manager' used its chat after its reply had ended; use the chat only "
        "inside reply(chat), and wait there for threads that use it"
    ]
    assert chat.trajectory() == before


def test_autogens_transcript_holds_own_calls_too(monkeypatch: pytest.MonkeyPatch):
    kept = []

    def keep(group: Group) -> None:  # before its next chat a group forgets what was said
        kept.extend(group.chat.messages)

    monkeypatch.setattr(Group, "reset", keep)
    hold(rome_and_oslo, "planner", build_team("full", {"planner": Role(rome_and_oslo)}))

    said = [(m["name"], len(m.get("tool_calls", ())), m["content"]) for m in kept]
    at = said.index(("planner", 2, ""))
    assert said[at + 1 : at + 3] == [
        ("executor", 0, "{'city': 'Rome'}\n{'city': 'Oslo'}"),
        ("planner", 0, "Sunny."),
    ]


# --- end to end: the shipped sample, its gold calls run by one role

FIRST = 12
TASKS = {task.id: task for task in load_pool("sample").tasks(limit=FIRST)}
TEXTS = {
    "planner": lambda chat: Reply(chat.request),
    "orchestrator": lambda chat: Reply("It is done."),
    "checker": lambda chat: Reply("solved: I did it myself", done=True),
    "execution_manager": lambda chat: Reply("It is done."),
    "user_simulator": lambda chat: Reply(chat.request),
}


@dataclass(frozen=True)
class Doer:
    """Runs the gold calls of a goal within its first reply, all at once or one by one."""

    at_once: bool = True
    wrong: Literal["", "arguments", "tool"] = ""

    def reply(self, chat: Chat) -> Reply:
        if not any(s.author == chat.role and s.goal == chat.goal for s in chat.steps):
            calls = self._calls(chat)
            for batch in [calls] if self.at_once else [[call] for call in calls]:
                results = chat.execute(batch)
                assert len(results) == len(batch)
        return TEXTS[chat.role](chat)

    def _calls(self, chat: Chat) -> list[ToolCall]:
        names = {tool.id: tool.name for tool in chat.tools}
        if self.wrong == "tool":
            names = dict.fromkeys(names, "no_such_tool")
        plan = TASKS[chat.task_id].goals[chat.goal].plans[0]
        return [ToolCall("", names[c.tool], self._arguments(c.arguments)) for c in plan.calls()]

    def _arguments(self, gold: Any) -> dict[str, Any]:
        return {
            name: "wrong" if self.wrong == "arguments" else a.values[0] for name, a in gold.items()
        }


def evaluate(out: Path, role: str, doer: Doer, **settings: Any) -> seal.RunResult:
    settings = {"model": Speaker(["It is done."]), "retriever": "oracle", **settings}
    return seal.run("sample", out=out, roles={role: doer}, limit=FIRST, baselines=False, **settings)


def means(result: seal.RunResult, *names: str) -> list[float]:
    return [result.summary["metrics"][name]["mean"] for name in names]


@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize("role", ["planner", "orchestrator", "checker", "execution_manager"])
def test_gold_calls_of_a_role_within_its_reply_are_scored_in_full(tmp_path, role, at_once):
    result = evaluate(tmp_path / "run", role, Doer(at_once))

    assert means(result, "call_f1", "param_acc_gold") == [1.0, 1.0]
    gold = sum(len(g.plans[0].calls()) for task in TASKS.values() for g in task.goals)
    assert means(result, "calls") == [pytest.approx(gold / FIRST, abs=1e-4)]


@pytest.mark.parametrize(
    ("wrong", "metric", "kind"),
    [("arguments", "param_acc_gold", "wrong_type"), ("tool", "call_recall", "unknown_tool")],
)
def test_wrong_calls_of_a_role_within_its_reply_are_recorded_as_wrong(
    tmp_path, wrong, metric, kind
):
    result = evaluate(tmp_path / "run", "planner", Doer(wrong=wrong))

    assert means(result, metric) == [0.0]
    errors = [
        step.result.error["kind"]
        for trajectory in result.folder.trajectories()
        for step in trajectory.steps
        if step.result and step.result.error
    ]
    assert kind in errors  # checked before they run, as any call


def test_gold_calls_of_the_user_are_none_of_the_agents(tmp_path):
    result = evaluate(tmp_path / "run", "user_simulator", Doer(), model="oracle")
    quiet = seal.run(
        "sample",
        out=tmp_path / "quiet",
        model="oracle",
        retriever="oracle",
        limit=FIRST,
        baselines=False,
    )

    names = ("call_f1", "pass_rate", "calls", "call_recall")
    assert means(result, *names) == means(quiet, *names)
    said = [s for t in result.folder.trajectories() for s in t.steps if s.call]
    assert any(step.author == "user_simulator" and step.call.tool is None for step in said)


@pytest.mark.slow
def test_own_calls_beyond_a_runs_budget_end_its_chats(tmp_path):
    result = evaluate(tmp_path / "run", "execution_manager", Doer(), max_calls=1)
    assert set(result.summary["stop_reasons"]) == {"done", "max_calls"}
