"""Odd messages, hooks, graphs and agents in a chat: an outcome on the record, or a clear error."""

import asyncio
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from test_seats import SHOP, Person, Script, always, live, steps, stops

import seal
from seal.agents.autogen import library
from seal.core import Completion, Request, ToolCall, Usage, UsageError

autogen = library()
MANAGER = "execution_manager"


def called(order: str, **changed: Any) -> dict[str, Any]:
    function = {"name": "get_order", "arguments": f'{{"order_id": "{order}"}}'}
    return {"id": "a", "type": "function", "function": function, **changed}


def caller(*messages: Any) -> Any:
    """Return an agent that says one message after the other, and then what it heard last."""
    agent = autogen.ConversableAgent("caller", llm_config=False, human_input_mode="NEVER")
    left = list(messages)

    def say(recipient: Any, messages: Any, sender: Any, config: Any) -> Any:
        return True, left.pop(0) if left else messages[-1]["content"]

    agent.register_reply([autogen.Agent, None], say, position=0)
    return agent


def played(tmp_path: Path, agent: Any, **options: Any) -> Any:
    return seal.run(
        SHOP, agent=agent, model="oracle", baselines=False, out=tmp_path / "run", **options
    )


def results(run: Any) -> list[str]:
    return list(run.messages[run.messages["kind"] == "result"]["content"])


NO_TEXT = "sent 42 (int); expected a text, or a message such as"
NO_CALL = "sent the call {}; expected"
NO_MESSAGES = [
    (42, NO_TEXT),
    ({"tool_calls": ["get_order"]}, NO_CALL.format("'get_order'")),
    ({"tool_calls": [{"id": "a"}]}, NO_CALL.format("{'id': 'a'}")),
    ({"tool_calls": [called("7", function="get_order")]}, "expected"),
    ({"tool_calls": 5}, NO_CALL.format("5")),
]


@pytest.mark.parametrize(("said", "error"), NO_MESSAGES)
def test_a_reply_that_is_no_message_is_refused_in_a_seat_and_crashes_an_agent(
    said, error, tmp_path
):
    with live(team="direct") as group:
        group.agents[MANAGER].register_reply([autogen.Agent, None], always(said), 0)
        with pytest.raises(UsageError) as refused:
            group.hold()
    assert error in str(refused.value)

    run = played(tmp_path, caller(said))
    assert run.summary["stop_reasons"] == {"crashed": 1}
    assert error in run.tasks["error"][0]


@pytest.mark.parametrize(
    ("content", "text"), [(42, "42"), (["Mon", {"text": "day"}, 5], "Mon\nday"), (None, "")]
)
def test_a_content_that_is_no_text_is_recorded_alike_of_a_seat_and_of_an_agent(
    content, text, tmp_path
):
    with live(team="direct") as group:
        group.agents[MANAGER].register_reply([autogen.Agent, None], always({"content": content}), 0)
        group.hold()
        assert steps(group)[-1] == (MANAGER, "user_simulator", text)
    run = played(tmp_path, caller({"content": content}))
    assert list(run.messages["content"])[-1] == text


@pytest.mark.parametrize(
    "message",
    [
        {"content": "", "tool_calls": [called("7", id=None), called("8", id=None)]},
        {"content": "", "tool_calls": [called("7"), called("8")]},
    ],
)
def test_calls_without_ids_of_their_own_bring_an_agent_each_its_own_result(message, tmp_path):
    run = played(tmp_path, caller(message))
    assert [("Monday" in text, "Friday" in text) for text in results(run)] == [
        (True, False),
        (False, True),
    ]
    (answer,) = run.tasks["answer"]
    assert answer.index("Monday") < answer.index("Friday")


@pytest.mark.parametrize(
    "message",
    [
        {"content": "", "function_call": called("7")["function"]},
        {
            "tool_calls": [
                called("7", function={"name": "get_order", "arguments": {"order_id": "7"}})
            ]
        },
    ],
)
def test_a_call_in_another_form_is_a_call(message, tmp_path):
    with live(team="direct") as group:
        replies = iter([message, "On Monday."])
        group.agents[MANAGER].register_reply(
            [autogen.Agent, None], lambda *given, **named: (True, next(replies)), 0
        )
        group.hold()
        assert [step.call.arguments for step in group.conversation.steps if step.call] == [
            {"order_id": "7"}
        ]
    run = played(tmp_path, caller(message))
    assert run["call_f1"].mean == 1.0


def test_a_call_whose_name_a_hook_changes_is_recorded_by_its_new_name(tmp_path):
    def rename(sender: Any, message: Any, recipient: Any, silent: bool) -> Any:
        if not isinstance(message, dict) or not message.get("tool_calls"):
            return message
        call = message["tool_calls"][0]
        changed = {**call, "function": {**call["function"], "name": "other"}}
        return {**message, "tool_calls": [changed]}

    agent = autogen.ConversableAgent("caller", human_input_mode="NEVER")
    agent.register_hook("process_message_before_send", rename)
    run = played(tmp_path, agent)
    assert next(iter(run.calls["name"])) == "other"


def fails(sender: Any, message: Any, recipient: Any, silent: bool) -> Any:
    print("about to fail")
    raise RuntimeError("no such word")


@pytest.mark.parametrize(
    ("hook", "error"),
    [(fails, "RuntimeError: no such word"), (lambda **sent: None, "sent None (NoneType)")],
)
def test_a_hook_on_sending_that_fails_is_a_crash_of_the_agent(hook, error, tmp_path, capsys):
    agent = caller("Monday")
    agent.register_hook("process_message_before_send", hook)
    run = played(tmp_path, agent)
    assert run.summary["stop_reasons"] == {"crashed": 1}
    assert error in run.tasks["error"][0]
    assert "about to fail" not in capsys.readouterr().out


def test_a_hook_on_sending_that_meets_a_broken_connection_is_no_score(tmp_path):
    def broken(**sent: Any) -> Any:
        raise ConnectionResetError("gone")

    agent = caller("Monday")
    agent.register_hook("process_message_before_send", broken)
    run = played(tmp_path, agent)
    assert run.summary["stop_reasons"] == {"error": 1}


def late(**sent: Any) -> Any:
    time.sleep(3)
    return sent["message"]


def test_hooks_and_replies_end_at_the_time_limit(tmp_path):
    agent = caller("Monday")
    agent.register_hook("process_message_before_send", late)
    run = played(tmp_path, agent, max_seconds=0.5)
    assert run.summary["stop_reasons"] == {"max_seconds": 1}


def sleeps(*given: Any, **named: Any) -> Any:
    time.sleep(60)
    return True, "Monday"


async def sleeps_too(*given: Any, **named: Any) -> Any:
    await asyncio.sleep(60)
    return True, "Monday"


@pytest.mark.parametrize(
    "register",
    [
        lambda seat: seat.register_reply([autogen.Agent, None], sleeps, 0),
        lambda seat: seat.register_reply([autogen.Agent, None], sleeps_too, 0),
        lambda seat: seat.register_hook("update_agent_state", sleeps),
        lambda seat: seat.register_hook("process_message_before_send", sleeps),
    ],
    ids=["reply", "async reply", "hook on hearing", "hook on sending"],
)
def test_a_seat_whose_functions_never_end_ends_by_the_time_of_the_chat(register):
    with live(team="direct", max_seconds=1.5) as group:
        register(group.agents[MANAGER])
        group.hold()
        assert stops(group) == ["max_seconds"]
        assert steps(group)[1:] == []  # it has said nothing


@pytest.mark.parametrize("is_tool", [True, False])
def test_an_executor_that_does_not_end_in_time_brings_no_results(is_tool):
    with live(Script(ToolCall("", "slow", {})), team="direct", max_seconds=1.5) as group:
        manager, executor = group.agents[MANAGER], group.agents["executor"]

        def slow() -> str:
            return str(sleeps() if is_tool else "now")

        autogen.register_function(
            slow, caller=manager, executor=executor, name="slow", description="Wait."
        )
        if not is_tool:
            executor.register_hook("process_message_before_send", sleeps)
        group.hold()
        assert stops(group) == ["max_seconds"]
        assert [step.result for step in group.conversation.steps if step.result] == []


@pytest.mark.parametrize("method", [None, "round_robin"])
def test_a_graph_in_which_nobody_may_follow_ends_the_chat(method):
    with live(team="direct") as group:
        group.chat.allowed_speaker_transitions_dict = {agent: [] for agent in group.chat.agents}
        if method:
            group.chat.speaker_selection_method = method
        group.hold()
        assert len(group.chat.messages) == 1
        assert stops(group) == ["done"]


METHODS = "'auto', 'manual', 'random', 'round_robin'"


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("speaker_selection_method", None, rf"None; expected a function .* {METHODS}"),
        ("speaker_selection_method", 7, rf"7; expected a function .* {METHODS}"),
        ("speaker_selection_method", "loudest", rf"'loudest'; expected a function .* {METHODS}"),
        ("speaker_selection_method", lambda last, chat: MANAGER, "as chat.agent_by_name does of"),
        ("max_round", "x", "max_round is 'x'; expected a number"),
        ("agents", None, "None in chat.agents is no agent"),
        ("allowed_speaker_transitions_dict", {MANAGER: []}, "'execution_manager'; expected each"),
        ("allowed_speaker_transitions_dict", None, "None; expected each agent with a list"),
    ],
)
def test_what_is_set_on_a_chat_that_cannot_be_is_refused_with_what_may(name, value, told):
    with live(team="direct") as group:
        setattr(group.chat, name, value)
        with pytest.raises(UsageError, match=told):
            group.hold()


def test_a_graph_that_names_agents_is_refused_with_how_to_get_them():
    with live(team="direct") as group:
        user, manager = group.agents["user_simulator"], group.agents[MANAGER]
        for after in (["executor"], manager, "executor"):
            group.chat.allowed_speaker_transitions_dict = {user: [manager], manager: after}
            with pytest.raises(UsageError, match=r"list of agents; chat\.agent_by_name"):
                group.hold()


def test_a_way_to_ask_people_that_autogen_has_not_is_refused_with_those_it_has():
    with live(team="direct") as group:
        group.agents[MANAGER].human_input_mode = "always"
        with pytest.raises(UsageError, match=r"'always'; expected 'ALWAYS', 'TERMINATE', 'NEVER'"):
            group.hold()


@pytest.mark.parametrize("text", [None, 7, ["Be short."]])
def test_a_system_message_that_is_no_text_is_refused(text):
    with live(team="direct") as group, pytest.raises(UsageError, match="expected a text"):
        group.agents[MANAGER].update_system_message(text)


def test_the_role_none_is_refused_with_how_to_leave_it_out():
    with (
        pytest.raises(UsageError, match="'none'; give None, and nobody plays"),
        live(team="direct", roles={"verifier": "none"}),
    ):
        pass


def test_handoffs_of_a_seat_are_refused_with_where_they_work():
    from autogen.agentchat.group import AgentTarget

    with live(team="direct") as group:
        manager = group.agents[MANAGER]
        manager.handoffs.set_after_work(AgentTarget(group.agents["executor"]))
        with pytest.raises(UsageError, match=r"handoffs, .* give a pattern as the agent"):
            group.hold()


# --- hooks of AutoGen's safeguards


@pytest.mark.parametrize("kind", ["safeguard_llm_inputs", "safeguard_llm_outputs", "before"])
def test_a_hook_that_would_never_be_called_is_refused_with_one_that_is(kind):
    told = "use process_all_messages_before_reply" if "llm" in kind else "one of 'process_last"
    with live(team="direct") as group, pytest.raises(UsageError, match=told):
        group.agents[MANAGER].register_hook(kind, lambda messages: messages)


def test_a_hook_on_what_a_tool_brings_changes_the_record():
    with live(team="direct") as group:
        group.agents["executor"].register_hook(
            "safeguard_tool_outputs", lambda brought: {**brought, "content": "hidden"}
        )
        group.hold()
        assert steps(group)[2] == ("executor", MANAGER, "hidden")


@pytest.mark.parametrize("is_own", [False, True])
def test_a_hook_on_the_calls_of_an_executor_sees_them_and_may_not_change_them(is_own, tmp_path):
    seen: list[str] = []

    def watch(call: dict[str, Any]) -> dict[str, Any]:
        seen.append(call["arguments"])
        return call

    def change(call: dict[str, Any]) -> dict[str, Any]:
        return {**call, "arguments": '{"order_id": "8"}'}

    def executor(hook: Any) -> Any:
        agent = autogen.ConversableAgent("executor", human_input_mode="NEVER", llm_config=False)
        agent.register_hook("safeguard_tool_inputs", hook)
        return agent

    def held(hook: Any) -> str:
        if is_own:
            with live(team="direct", roles={"executor": executor(hook)}) as group:
                group.hold()
                return str(group.conversation.stops[0].error)
        with live(team="direct") as group:
            group.agents["executor"].register_hook("safeguard_tool_inputs", hook)
            group.hold()
            assert stops(group) == ["done"]
        return ""

    held(watch)
    assert seen == ['{"order_id":"7"}']
    with pytest.raises(seal.SealError, match=r"changed the call .* Change calls where they are"):
        held(change)


def test_a_hook_on_what_a_person_types_changes_it(monkeypatch):
    monkeypatch.setattr(sys, "stdin", Person("Monday, by Ann"))
    with live(team="direct") as group:
        seat = group.agents[MANAGER]
        seat.human_input_mode = "ALWAYS"
        seat.register_hook("safeguard_human_inputs", lambda typed: typed.replace("Ann", "A."))
        group.hold()
        assert steps(group)[1][2] == "Monday, by A."


def test_a_guardrail_on_what_a_seat_says_replaces_it_in_the_record():
    from autogen.agentchat.group import AgentTarget
    from autogen.agentchat.group.guardrails import RegexGuardrail

    with live() as group:
        seat = group.agents["orchestrator"]
        rail = RegexGuardrail("no words", "words of", AgentTarget(seat), "Not so.")
        seat.register_output_guardrail(rail)
        group.hold()
        assert steps(group)[-2][2].startswith("Not so.")


# --- who may speak


def test_an_agent_in_the_place_of_a_role_may_follow_whom_the_role_may():
    with live() as group:
        checker = autogen.ConversableAgent(
            "checker", llm_config=False, default_auto_reply="solved: it is"
        )
        group.chat.agents[-1] = checker
        group.hold()
        assert steps(group)[-1][0] == "checker"
        assert steps(group)[-1][2] == "solved: it is"


def test_a_second_agent_of_a_name_that_is_to_speak_is_refused_with_the_repair():
    with live(team="direct") as group:
        double = autogen.ConversableAgent("executor", llm_config=False, default_auto_reply="Mine.")
        group.chat.agents.append(double)
        group.chat.speaker_selection_method = lambda last, chat: double
        with pytest.raises(UsageError, match=r"two agents .* named 'executor'; give yours another"):
            group.hold()


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda agents: agents.__setitem__(1, caller()), "has: user_simulator, caller, executor"),
        (lambda agents: agents.pop(1), "turn of 'execution_manager'"),
        (lambda agents: agents.append("critic"), "'critic' in chat.agents is no agent"),
        (lambda agents: agents.append(autogen.ConversableAgent(MANAGER)), "two agents"),
    ],
)
def test_a_chat_whose_seats_do_not_fit_is_refused_with_the_repair(change, told):
    with live(team="direct") as group:
        change(group.chat.agents)
        with pytest.raises(UsageError, match=told):
            group.hold()


@pytest.mark.parametrize(
    ("seats", "told"),
    [
        ([("critic", "orchestrator"), ("critic", "orchestrator")], "already in team full"),
        ([("critic", "executor")], "would never speak"),
        ([("", "orchestrator")], "a role needs a name"),
    ],
)
def test_a_role_that_would_never_speak_or_speaks_already_is_refused(seats, told):
    team = seal.agents.teams.FULL
    with pytest.raises(UsageError, match=told):
        for role, after in seats:
            team = team.seat(role, caller, after=after)


@pytest.mark.parametrize("named", ["nobody", MANAGER])
def test_a_selection_that_does_not_end_in_time_ends_the_chat_by_its_limit(named):
    with live(team="direct", max_seconds=0.3) as group:

        def slow(last: Any, chat: Any) -> Any:
            time.sleep(5)
            return None if named == "nobody" else group.agents[named]

        group.chat.speaker_selection_method = slow
        began = time.monotonic()
        group.hold()
        assert time.monotonic() - began < 4
        assert stops(group) == ["max_seconds"]


@pytest.mark.parametrize(
    ("responses", "told"),
    [
        ([{"tool_call_id": "zz", "content": "Tuesday"}], "results of 'zz'; expected .* 'call_0'"),
        ("x", "tool_responses 'x'; expected a list"),
        ([{"content": "Tuesday"}], "Tuesday"),
        ([{"tool_call_id": "call_0", "content": 5}], "5"),
        ([{"tool_call_id": "call_0", "content": {"day": 5}}], "{'day': 5}"),
    ],
)
def test_results_that_answer_no_call_are_refused_and_others_kept(responses, told):
    message = {"role": "tool", "tool_responses": responses, "content": "?"}
    with live(team="direct") as group:
        group.agents["executor"].register_reply([autogen.Agent, None], always(message), 0)
        if told == "Tuesday" or told[0] in "5{":
            group.hold()
            assert steps(group)[2][2] == told
        else:
            with pytest.raises(UsageError, match=told):
                group.hold()


def test_who_drives_a_chat_that_has_ended_or_does_not_sit_in_it_is_told():
    stranger = autogen.ConversableAgent("stranger", llm_config=False)
    with live(team="direct") as group:
        with pytest.raises(UsageError, match="'stranger' does not sit in this chat; append it"):
            stranger.send("Hello.", group.manager, request_reply=False, silent=True)
        group.hold()
        said = len(steps(group))
        manager = group.agents[MANAGER]
        for late in (
            group.hold,
            group.open,
            lambda: manager.send("Late.", group.manager, request_reply=False, silent=True),
        ):
            with pytest.raises(UsageError, match=r"has ended \(done\), and nothing more"):
                late()
        assert len(steps(group)) == said
    for late in (group.open, lambda: manager.generate_reply([{"content": "x", "role": "user"}])):
        with pytest.raises(UsageError, match="this chat is closed"):
            late()


def test_autogens_a_initiate_chat_asks_async_reply_functions():
    async def say(recipient: Any, messages: Any, sender: Any, config: Any) -> Any:
        await asyncio.sleep(0)
        return True, "Soon."

    for is_own in (False, True):
        with live(team="direct") as group:
            if is_own:
                group.chat.agents[1] = autogen.ConversableAgent(MANAGER, llm_config=False)
            group.chat.agents[1].register_reply([autogen.Agent, None], say, position=0)
            user = group.agents["user_simulator"]
            asyncio.run(user.a_initiate_chat(group.manager, message=group.open(), silent=True))
            assert steps(group)[-1] == (MANAGER, "user_simulator", "Soon.")


def test_an_async_reply_function_replies_in_a_seat_and_in_an_agent_and_stays_as_it_was(tmp_path):
    loops = set()

    async def reply(agent: Any, messages: Any, sender: Any, config: Any) -> Any:
        loops.add(asyncio.get_running_loop())
        await asyncio.sleep(0)
        return True, f"Monday, after {messages[-1]['content']}"

    with live(team="direct") as group:
        for role in (MANAGER, "user_simulator"):
            group.agents[role].register_reply([autogen.Agent, None], reply, 0)
        group.hold()
        assert steps(group)[-1][2] == "Monday, after When does order 7 ship?"

    agent = autogen.ConversableAgent("a", llm_config=False, human_input_mode="NEVER")
    agent.register_reply([autogen.Agent, None], reply, position=0)
    run = played(tmp_path, agent)
    assert list(run.tasks["answer"]) == ["Monday, after When does order 7 ship?"]
    assert agent._reply_func_list[0]["reply_func"] is reply
    assert len(loops) == 1  # a client that the function holds serves all chats


@pytest.mark.parametrize("inner", [False, True])
def test_a_person_who_is_to_choose_is_asked_by_names_and_needs_a_terminal(
    inner, tmp_path, monkeypatch, capsys
):
    def hold() -> Any:
        if inner:
            agents = [autogen.ConversableAgent(name, human_input_mode="NEVER") for name in "ab"]
            return played(tmp_path, autogen.GroupChat(agents, speaker_selection_method="manual"))
        with live(team="direct") as group:
            group.chat.speaker_selection_method = "manual"
            group.hold()
            return steps(group)

    with pytest.raises(UsageError, match=r"who speaks next .*manual.*no terminal.*\"round_robin\""):
        hold()
    monkeypatch.setattr("sys.stdin", Person("2\nq\n"))
    if not inner:
        assert hold()[1][0] == MANAGER
        assert "2 execution_manager\n" in capsys.readouterr().err


def test_an_async_tool_of_a_seat_or_an_agent_prints_nothing(tmp_path, capfd):
    async def slow(a: int) -> str:
        """Double."""
        return str(a * 2)

    model = Script(ToolCall("", "slow", {"a": 3}))
    with live(model, team="direct") as group:
        manager, executor = group.agents[MANAGER], group.agents["executor"]
        autogen.register_function(slow, caller=manager, executor=executor, description="Double.")
        group.hold()
        assert [step.result.content for step in group.conversation.steps if step.result] == ["6"]

    agent = autogen.AssistantAgent(
        "a", llm_config={"config_list": [{"model": "any", "api_key": "none"}]}
    )
    autogen.register_function(slow, caller=agent, executor=agent, description="Double.")
    model = Script(ToolCall("", "slow", {"a": 3}))
    run = seal.run(SHOP, agent=agent, model=model, baselines=False, out=tmp_path / "run")
    assert "own tool slow" in str(next(run.folder.trajectories()).provenance)
    assert capfd.readouterr().out == ""


def test_a_class_makes_its_agents_with_or_without_a_name(tmp_path):
    class Planner(autogen.ConversableAgent):
        def __init__(self) -> None:
            super().__init__("mine", llm_config=False, default_auto_reply="1. Look it up.")

    run = seal.run(
        SHOP,
        roles={"planner": Planner},
        model="oracle",
        team="full",
        baselines=False,
        out=tmp_path / "run",
    )
    said = run.messages[run.messages["author"] == "planner"]
    assert list(said["content"]) == ["1. Look it up."]


def test_a_chat_that_is_closed_is_not_held():
    agent = caller("Monday")
    with live(team="direct", roles={MANAGER: agent}) as group:
        pass
    with pytest.raises(UsageError, match="this chat is closed; hold it within `with"):
        group.hold()
    assert "generate_reply" not in vars(agent)


class Says(Script):
    """A model that says the same to everybody."""

    def complete(self, request: Request) -> Completion:
        self.asked.append(request)
        return Completion("Monday.", usage=Usage(10, 5))


@pytest.mark.parametrize("turns", [1, 2, 3])
@pytest.mark.parametrize("has_config", [True, False])
def test_agents_of_a_nested_chat_of_a_seat_ask_the_models_of_the_run(turns, has_config):
    nowhere = {"model": "any", "api_key": "none", "base_url": "http://127.0.0.1:9"}
    given = {"llm_config": {"config_list": [nowhere]}} if has_config else {}
    expert = autogen.AssistantAgent("expert", system_message="Be brief.", **given)
    client, create = expert.client, autogen.OpenAIWrapper.create
    model = Says()
    with live(model, team="direct") as group:
        group.agents[MANAGER].register_nested_chats(
            [{"recipient": expert, "message": "When?", "max_turns": turns}],
            trigger=lambda sender: sender is group.manager,
        )
        group.hold()
        asked = [request.messages[0].content for request in model.of(MANAGER)]
        assert asked.count("Be brief.") == turns
        assert len(asked) == 2 * turns - 1
        assert steps(group)[-1] == (MANAGER, "user_simulator", "Monday.")
        assert group.conversation.usage == Usage(10 * len(asked), 5 * len(asked))
        (told,) = group.conversation.printed
        assert told["text"].count("expert: Monday.") == turns
    assert expert.client is client
    assert autogen.OpenAIWrapper.create is create


def test_a_person_is_shown_the_calls(monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", Person("solved: yes\n"))
    with live() as group:
        group.agents["checker"].human_input_mode = "ALWAYS"
        group.hold()
    shown = capsys.readouterr().err.splitlines()
    assert f'{MANAGER}: called get_order({{"order_id":"7"}})' in shown
