"""A role that says nothing has no step: how the chat ends says why, by each way into a seat."""

import time
from pathlib import Path
from typing import Any

import pytest
from test_seats import SHOP, always, live, steps, stops

import seal
from seal.agents.autogen import library
from seal.core import Completion, Message, Request, Usage

autogen = library()
MANAGER = "execution_manager"


def raises() -> Any:
    raise RuntimeError("no such word")


def never() -> Any:
    time.sleep(30)


def nothing() -> Any:
    return None


def agent_of(say: Any) -> Any:
    agent = autogen.ConversableAgent("mine", llm_config=False, human_input_mode="NEVER")

    def reply(recipient: Any, messages: Any, sender: Any, config: Any) -> Any:
        return True, say()

    agent.register_reply([autogen.Agent, None], reply, position=0)
    return agent


def group_of(say: Any) -> Any:
    other = autogen.ConversableAgent("other", llm_config=False, human_input_mode="NEVER")
    return autogen.GroupChat(
        [agent_of(say), other], speaker_selection_method="round_robin", max_round=3
    )


def pattern_of(say: Any) -> Any:
    from autogen.agentchat.group.patterns import DefaultPattern

    agent = agent_of(say)
    return DefaultPattern(initial_agent=agent, agents=[agent])


def function_of(say: Any) -> Any:
    def solve(request: str, tools: Any) -> Any:
        return say()

    return solve


def class_of(say: Any) -> Any:
    class Mine:
        def reply(self, chat: seal.Chat) -> Any:
            return say()

    return Mine


WAYS = [agent_of, group_of, pattern_of, function_of, class_of]


def said(run: Any) -> list[tuple[str, str]]:
    return list(zip(run.messages["author"], run.messages["content"], strict=True))


def played(tmp_path: Path, **options: Any) -> Any:
    options = {"model": "oracle", "baselines": False, "max_seconds": 1.0, **options}
    return seal.run(SHOP, out=tmp_path / "run", **options)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("say", "reason"), [(raises, "crashed"), (never, "max_seconds")])
def test_an_agent_that_fails_has_no_step_and_the_stop_says_why(way, say, reason, tmp_path):
    run = played(tmp_path, agent=way(say))
    assert run.summary["stop_reasons"] == {reason: 1}
    assert said(run) == [("user_simulator", "When does order 7 ship?")]


@pytest.mark.parametrize("way", [agent_of, group_of, pattern_of])
def test_an_agent_that_replies_none_ends_the_chat_and_has_no_step(way, tmp_path):
    run = played(tmp_path, agent=way(nothing))
    assert run.summary["stop_reasons"] == {"done": 1}
    assert len(said(run)) == 1


def test_a_function_that_returns_none_has_crashed_without_a_step(tmp_path):
    run = played(tmp_path, agent=function_of(nothing))
    assert "the agent returned None; expected the answer as a text" in run.tasks["error"][0]
    assert len(said(run)) == 1


@pytest.mark.parametrize("way", [agent_of, function_of])
def test_an_empty_text_is_a_message(way, tmp_path):
    run = played(tmp_path, agent=way(lambda: ""))
    assert run.summary["stop_reasons"] == {"done": 1}
    assert said(run)[1:] == [(MANAGER, "")]


@pytest.mark.parametrize("way", [agent_of, group_of, pattern_of])
def test_a_reply_that_is_no_text_is_told_by_what_was_expected(way, tmp_path):
    run = played(tmp_path, agent=way(lambda: 42))
    assert "sent 42 (int); expected a text" in run.tasks["error"][0]
    assert len(said(run)) == 1


@pytest.mark.parametrize("role", ["planner", "executor"])
@pytest.mark.parametrize(("say", "reason"), [(never, "max_seconds"), (nothing, "done")])
def test_another_role_that_says_nothing_has_no_step(role, say, reason, tmp_path):
    run = played(tmp_path, team="full", roles={role: lambda: agent_of(say)})
    assert run.summary["stop_reasons"] == {reason: 1}
    assert role not in [author for author, _ in said(run)]


@pytest.mark.parametrize("by_autogen", [False, True])
@pytest.mark.parametrize("role", [MANAGER, "executor"])
def test_a_seat_that_replies_none_ends_the_chat_and_no_hook_hears_of_it(role, by_autogen):
    sent: list[Any] = []

    def hook(message: Any, **named: Any) -> Any:
        sent.append(message)
        return "changed"

    with live("oracle", team="direct") as group:
        seat, user = group.agents[role], group.agents["user_simulator"]
        seat.register_reply([autogen.Agent, None], always(None), 0)
        seat.register_hook("process_message_before_send", hook)
        if by_autogen:
            user.initiate_chat(group.manager, message=group.open(), silent=True)
        else:
            group.hold()
        assert stops(group) == ["done"]
        assert role not in [author for author, _, _ in steps(group)]
        assert len(group.chat.messages) == len(steps(group))
        assert sent == []


def test_a_later_goal_is_played_after_one_in_which_nothing_was_said(tmp_path):
    asked: list[str] = []

    def solve(request: str, tools: Any) -> Any:
        asked.append(request)
        return raises() if len(asked) == 1 else "Friday."

    goals = (seal.Goal("Order 7?"), seal.Goal("Order 8?"))
    bench = seal.Benchmark("shop", tools=SHOP.tools, tasks=[seal.Task("two", "shop", goals)])
    run = seal.run(bench, agent=solve, baselines=False, out=tmp_path / "run")
    assert asked == ["Order 7?", "Order 8?"]
    assert [stop.reason for stop in next(run.folder.trajectories()).stops] == ["crashed", "done"]


def test_what_was_printed_before_a_crash_stands_beside_the_last_step(tmp_path):
    def solve(request: str, tools: Any) -> Any:
        print("I give up")
        return raises()

    run = played(tmp_path, agent=solve)
    (note,) = next(run.folder.trajectories()).provenance["printed"]
    assert note == {"step": 0, "role": MANAGER, "text": "I give up\n"}


def test_a_crash_in_an_endless_recursion_is_told_by_its_ends(tmp_path):
    def solve(request: str, tools: Any) -> Any:
        return solve(request, tools)

    run = played(tmp_path, agent=solve)
    first, *places = run.tasks["error"][0].split("\n")
    assert "RecursionError" in first
    assert len(places) == 21
    assert places[10].endswith(" more")


def test_the_tokens_of_a_role_that_crashed_after_its_model_answered_are_its_own(tmp_path):
    class Model:
        def complete(self, request: Request) -> Completion:
            return Completion("Hm.", usage=Usage(5, 2))

    def solve(request: str, chat: seal.Chat) -> Any:
        chat.complete([Message("user", request)])
        return raises()

    run = played(tmp_path, agent=solve, model=Model())
    last = next(run.folder.trajectories()).steps[-1]
    assert (last.author, last.content, last.usage) == (MANAGER, "", Usage(5, 2))
