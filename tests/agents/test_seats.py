"""What somebody who knows AutoGen tries on the seats of a live chat: each has effect."""

import io
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest

import seal
from seal.agents.autogen import library
from seal.agents.group import Group
from seal.agents.seats import Seat
from seal.core import Completion, Request, ToolCall, UsageError

autogen = library()
ORDERS = {"7": "Monday", "8": "Friday"}
ROLES = ["user_simulator", "orchestrator", "execution_manager", "executor", "checker"]


def get_order(order_id: str) -> str:
    """Say when an order ships."""
    return ORDERS[order_id]


SHOP = seal.Benchmark(
    "shop",
    tools=[get_order],
    tasks=[
        seal.ask("When does order 7 ship?", seal.called("get_order", order_id="7"), answer="Monday")
    ],
)


class Script:
    """A model that calls `get_order` once, or what it is given, and then reports."""

    def __init__(self, *calls: ToolCall, words: str = "words of {}") -> None:
        self.calls = calls or (ToolCall("", "get_order", {"order_id": "7"}),)
        self.words = words
        self.asked: list[Request] = []

    def complete(self, request: Request) -> Completion:
        self.asked.append(request)
        if request.role == "speaker_selection":
            return Completion("checker")
        done = any(message.role == "tool" for message in request.messages)
        if request.role == "execution_manager" and not done:
            return Completion(calls=self.calls)
        return Completion(self.words.format(request.role))

    def of(self, role: str) -> list[Request]:
        return [request for request in self.asked if request.role == role]


@contextmanager
def live(
    model: Any = None, team: str = "full", bench: Any = SHOP, **options: Any
) -> Iterator[Group]:
    given = {"model": model or Script(), "team": team, **options}
    if team == "full":
        given.setdefault("roles", {"checker": Accepts, "user_simulator": "scripted"})
    with seal.groupchat(bench, **given) as group:
        yield group


class Accepts:
    def reply(self, chat: seal.Chat) -> seal.Reply:
        return seal.Reply("solved: yes", done=True)


def steps(group: Group) -> list[tuple[str, str, str]]:
    return [
        (s.author, s.recipient, s.call.name if s.call else s.content)
        for s in group.conversation.trajectory().steps
    ]


def stops(group: Group) -> list[str]:
    return [stop.reason for stop in group.conversation.trajectory().stops]


def authors(group: Group) -> list[str]:
    return [author for author, _, _ in steps(group)]


def always(said: Any) -> Any:
    return lambda recipient, messages, sender, config: (True, said)


# --- the rows of the table


def test_a_reply_at_position_0_is_what_the_role_says_and_is_recorded():
    with live() as group:
        group.agents["execution_manager"].register_reply([autogen.Agent, None], always("Mine."), 0)
        group.hold()
        assert ("execution_manager", "orchestrator", "Mine.") in steps(group)
        assert group.chat.messages[2]["content"] == "Mine."


@pytest.mark.parametrize(
    ("limits", "reason"),
    [({"max_messages": 6}, "max_messages"), ({"max_turns": 3}, "max_turns"), ({}, "repeated")],
)
def test_replies_for_ever_end_by_the_limits_of_the_run(limits, reason):
    said = iter(range(10_000))

    def talk(recipient: Any, messages: Any, sender: Any, config: Any) -> Any:
        return True, f"again {next(said) if limits else ''}"

    with live(team="direct", roles={"user_simulator": Talks}, **limits) as group:
        group.agents["execution_manager"].register_reply([autogen.Agent, None], talk, 0)
        group.agents["user_simulator"].register_reply([autogen.Agent, None], talk, 0)
        group.chat.speaker_selection_method = "round_robin"
        group.hold()
        assert stops(group) == [reason]
        assert len(group.chat.messages) < 40


def test_whoever_speaks_the_limit_of_turns_holds():
    said = iter(range(10_000))

    def talk(recipient: Any, messages: Any, sender: Any, config: Any) -> Any:
        return True, f"again {next(said)}"

    with live(max_turns=3) as group:
        pair = [group.agents["orchestrator"], group.agents["checker"]]
        for agent in pair:
            agent.register_reply([autogen.Agent, None], talk, 0)
        group.chat.speaker_selection_method = lambda last, chat: pair[last is pair[0]]
        group.hold()
        assert stops(group) == ["max_turns"]
        assert authors(group).count("checker") == 9


class Talks:
    def reply(self, chat: seal.Chat) -> seal.Reply:
        return seal.Reply("Go on.")


def test_a_hook_on_sending_changes_the_record_and_what_others_read():
    model = Script()
    with live(model) as group:
        group.agents["execution_manager"].register_hook(
            "process_message_before_send",
            lambda sender, message, recipient, silent: (
                f"{message}!!" if isinstance(message, str) else message
            ),
        )
        group.hold()
        told = "words of execution_manager!!"
        assert ("execution_manager", "orchestrator", told) in steps(group)
        assert told in [message["content"] for message in group.chat.messages]
        assert any(told in message.content for message in model.of("orchestrator")[0].messages)
        assert [m["content"] for m in group.chat.messages if m["content"]] == [
            content for _, _, content in steps(group) if content != "get_order"
        ]


def test_a_hook_on_sending_changes_the_calls_that_run():
    def other(sender: Any, message: Any, recipient: Any, silent: Any) -> Any:
        if isinstance(message, dict):
            message["tool_calls"][0]["function"]["arguments"] = '{"order_id": "8"}'
        return message

    with live() as group:
        group.agents["execution_manager"].register_hook("process_message_before_send", other)
        group.hold()
        (call,) = [s.call for s in group.conversation.trajectory().steps if s.call]
        (result,) = [s.result for s in group.conversation.trajectory().steps if s.result]
        assert (call.arguments, result.value) == ({"order_id": "8"}, "Friday")


def test_hooks_on_what_is_received_change_what_the_model_is_asked():
    model = Script()
    with live(model) as group:
        manager = group.agents["execution_manager"]
        manager.register_hook("process_last_received_message", lambda text: f"{text} (please)")
        group.hold()
        first, second = model.of("execution_manager")
        assert first.messages[-1].content == "[orchestrator] When does order 7 ship? (please)"
        assert second.messages[-1].role == "tool"
        assert second.messages[-1].content.endswith(" (please)")
        assert "(please)" not in str(steps(group))


CLERK = {"role": "user", "name": "clerk", "content": "Be quick."}
ASKED = "[orchestrator] When does order 7 ship?"


@pytest.mark.parametrize(
    ("hook", "heard"),
    [
        (lambda messages: [CLERK, *messages[1:]], ["[clerk] Be quick.", ASKED]),
        (lambda messages: [*messages, CLERK], [ASKED, "[clerk] Be quick."]),
        (lambda messages: messages[:-1], []),
    ],
    ids=["replaced", "added", "dropped"],
)
def test_hooks_on_all_messages_change_what_the_model_is_asked(hook, heard):
    model = Script()
    with live(model) as group:
        manager = group.agents["execution_manager"]
        manager.register_hook("process_all_messages_before_reply", hook)
        group.hold()
        asked = model.of("execution_manager")[0].messages[1:]
        assert [message.content for message in asked] == heard
        assert "clerk" not in str(steps(group))


def test_a_hook_on_the_state_changes_what_the_model_is_asked_in_the_same_reply():
    model = Script()
    with live(model) as group:
        manager = group.agents["execution_manager"]
        states = []

        def count(agent: Any, messages: Any) -> None:
            states.append(f"state {len(states)}")
            agent.update_system_message(states[-1])

        manager.register_hook("update_agent_state", count)
        group.hold()
        assert [r.messages[0].content for r in model.of("execution_manager")] == states
        assert states == ["state 0", "state 1"]


ASKED_FOR = ("user", "When does order 7 ship?")
ADDED = {
    "system first": lambda ms: [{"role": "system", "content": "Be kind."}, *ms],
    "system last": lambda ms: [*ms, {"role": "system", "content": "Be kind."}],
    "assistant first": lambda ms: [{"role": "assistant", "content": "Hello."}, *ms],
    "user without a name": lambda ms: [*ms, {"role": "user", "content": "Quick!"}],
    "names dropped": lambda ms: [{k: v for k, v in m.items() if k != "name"} for m in ms],
    "a call and its result": lambda ms: [
        {"role": "assistant", "content": "", "tool_calls": [EARLIER]},
        {"role": "tool", "tool_responses": [{"tool_call_id": "e", "content": "Friday"}]},
        *ms,
    ],
}
EARLIER = {"id": "e", "function": {"name": "get_order", "arguments": '{"order_id":"8"}'}}


def heard_by(model: Script) -> list[tuple[str, str]]:
    """Return what the manager's model was asked first, the system's words as one text."""
    told = [(m.role, m.content) for m in model.of("execution_manager")[0].messages]
    count = next(n for n, (role, _) in enumerate(told) if role != "system")
    return [("system", "\n\n".join(text for _, text in told[:count])), *told[count:]]


@pytest.mark.parametrize("hook", ADDED.values(), ids=ADDED)
def test_messages_that_a_hook_adds_reach_a_seat_as_they_reach_an_agent_of_ones_own(hook, tmp_path):
    seat, own = Script(), Script()
    with live(seat, team="direct") as group:
        manager = group.agents["execution_manager"]
        manager.update_system_message("Help.")
        manager.register_hook("process_all_messages_before_reply", hook)
        group.hold()

    def mine() -> Any:
        agent = autogen.ConversableAgent("mine", system_message="Help.", human_input_mode="NEVER")
        agent.register_hook("process_all_messages_before_reply", hook)
        return agent

    seal.run(SHOP, agent=mine, model=own, baselines=False, out=tmp_path / "run")
    if hook is not ADDED["a call and its result"]:  # AutoGen wants a `content` in each message
        assert heard_by(seat) == heard_by(own)
    assert ASKED_FOR in heard_by(seat)
    if hook is ADDED["a call and its result"]:
        assert heard_by(seat)[1:] == [("assistant", ""), ("tool", "Friday"), ASKED_FOR]


def test_a_policy_stays_part_of_a_system_message_that_is_replaced():
    bench = seal.Benchmark(
        "shop", tools=[get_order], tasks=[seal.ask("When?", answer="Monday")], system="No gifts."
    )
    for prompts in ({}, {"prompts": {"execution_manager": "theirs"}}):
        model = Script()
        with live(model, team="direct", bench=bench, **prompts) as group:
            manager = group.agents["execution_manager"]
            usual = manager.system_message
            assert usual.endswith("No gifts.")
            assert (usual == "No gifts.") == bool(prompts)
            manager.update_system_message("Be brief.")
            assert manager.system_message == "Be brief.\n\nNo gifts."
            group.hold()
            assert model.asked[0].messages[0].content == manager.system_message


class Person(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_person_in_a_seat_is_asked_on_the_terminal(monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", Person("unsolved: ask again\n"))
    with live() as group:
        group.agents["checker"].human_input_mode = "ALWAYS"
        group.hold()
        assert steps(group)[-1] == ("checker", "user_simulator", "unsolved: ask again")
        assert "orchestrator: words of orchestrator" in capsys.readouterr().err


def test_a_person_without_a_terminal_is_a_clear_error():
    with live() as group:
        group.agents["checker"].human_input_mode = "ALWAYS"
        with pytest.raises(UsageError, match=r'no terminal; run in .*human_input_mode="NEVER"'):
            group.hold()


@pytest.mark.parametrize(
    ("method", "said"),
    [
        ("round_robin", [*ROLES[:4], "checker"]),
        (
            lambda last, chat: {
                "user_simulator": chat.agent_by_name("checker"),
            }.get(last.name),
            ["user_simulator", "checker"],
        ),
        ("auto", ["user_simulator", "checker"]),
        (lambda last, chat: None, ["user_simulator"]),
    ],
    ids=["round_robin", "callable", "auto", "nobody"],
)
def test_a_speaker_selection_of_ones_own_is_obeyed(method, said):
    with live() as group:
        group.chat.speaker_selection_method = method
        group.hold()
        assert authors(group) == said
        assert [m["name"] for m in group.chat.messages] == said
        assert stops(group) == ["done"]
        for one, other in zip(group.conversation.steps, group.conversation.steps[1:], strict=False):
            assert one.result or one.recipient == other.author


def test_a_graph_of_allowed_transitions_is_obeyed():
    with live() as group:
        agents = group.agents
        group.chat.allowed_speaker_transitions_dict = {
            agents["user_simulator"]: [agents["checker"]],
        }
        group.hold()
        assert authors(group) == ["user_simulator", "checker"]


def test_a_selection_that_names_nobody_is_refused_with_the_repair():
    with live() as group:
        group.chat.speaker_selection_method = lambda last, chat: "nobody"
        with pytest.raises(UsageError, match=r"'nobody'.*Return one of its agents"):
            group.hold()


def add(a: int, b: int) -> int:
    """Add."""
    return a + b


def test_a_function_on_the_executor_runs_and_its_tool_is_offered():
    model = Script(
        ToolCall("", "add", {"a": 3, "b": 4}), ToolCall("", "get_order", {"order_id": "7"})
    )
    with live(model) as group:
        manager, executor = group.agents["execution_manager"], group.agents["executor"]
        autogen.register_function(add, caller=manager, executor=executor, description="Add.")
        group.hold()
        assert [tool.name for tool in model.of("execution_manager")[0].tools] == [
            "get_order",
            "add",
        ]
        results = [s.result for s in group.conversation.trajectory().steps if s.result]
        assert [(result.content, result.error) for result in results] == [
            ("7", None),
            ('{"error":"","response":"Monday"}', None),
        ]
        assert sorted(executor.function_map) == ["add", "get_order"]


def test_an_async_function_on_the_executor_runs_and_one_that_fails_says_so():
    async def slow(a: int) -> int:
        return a * 2

    def broken(a: int) -> int:
        raise ValueError("no such number")

    model = Script(ToolCall("", "slow", {"a": 3}), ToolCall("", "broken", {"a": 3}))
    with live(model) as group:
        group.agents["executor"].register_for_execution()(slow)
        group.agents["executor"].register_for_execution()(broken)
        group.hold()
        results = [s.result for s in group.conversation.trajectory().steps if s.result]
        assert [result.content for result in results] == ["6", "Error: no such number"]
        assert results[1].error == {"kind": "exception", "message": "Error: no such number"}


def test_a_tool_named_like_one_of_the_chat_is_refused_with_the_repair():
    with live() as group:
        for register in (
            group.agents["executor"].register_for_execution(),
            group.agents["execution_manager"].register_for_llm(description="Mine."),
        ):
            with pytest.raises(UsageError, match="another name, such as my_get_order"):
                register(get_order)
        with pytest.raises(UsageError, match="orchestrator calls no tools of its own"):
            group.agents["orchestrator"].register_for_llm(description="Add.")(add)


def test_the_system_message_of_a_seat_is_its_prompt_and_may_be_replaced():
    model = Script()
    with live(model) as group:
        manager = group.agents["execution_manager"]
        prompt = manager.system_message
        manager.update_system_message("Be brief.")
        group.hold()
        assert prompt.startswith("You ")
        assert (
            group.agents["orchestrator"].system_message
            == model.of("orchestrator")[0].messages[0].content
        )
        assert [r.messages[0].content for r in model.of("execution_manager")] == ["Be brief."] * 2


def test_the_system_message_of_a_seat_is_the_prompt_that_the_run_has():
    model = Script()
    with live(model, prompts={"orchestrator": "You are short."}) as group:
        group.hold()
        assert group.agents["orchestrator"].system_message == "You are short."
        assert model.of("orchestrator")[0].messages[0].content == "You are short."


def test_an_agent_of_ones_own_in_a_team_is_the_seat():
    critic = autogen.AssistantAgent("critic", system_message="You find faults.")
    team = seal.agents.teams.FULL.seat("checker", critic)
    model = Script()
    with live(model, team=team, roles={"user_simulator": "scripted"}) as group:
        assert group.agents["checker"] is critic
        assert critic in group.chat.agents
        critic.register_hook(
            "process_message_before_send", lambda sender, message, recipient, silent: f"{message}!"
        )
        group.hold()
        assert steps(group)[-1][2] == "words of checker!"
        assert model.of("checker")[0].messages[0].content == "You find faults."
    assert "generate_reply" not in vars(critic)
    assert len(list(critic.hook_lists["process_message_before_send"])) == 1


def test_an_agent_replaced_in_the_chat_and_a_fifth_one_speak_and_are_recorded():
    model = Script()
    with live(model) as group:
        mine = autogen.ConversableAgent("checker", system_message="You check.", llm_config=False)
        critic = autogen.ConversableAgent("critic", llm_config=False)
        critic.register_reply([autogen.Agent, None], always("Too short."), 0)
        group.chat.agents[group.chat.agents.index(group.agents["checker"])] = mine
        group.chat.agents.append(critic)
        order = {"user_simulator": "checker", "checker": "critic"}
        group.chat.speaker_selection_method = lambda last, chat: chat.agent_by_name(
            order.get(last.name, "")
        )
        group.hold()
        assert steps(group) == [
            ("user_simulator", "checker", "When does order 7 ship?"),
            ("checker", "critic", "words of checker"),
            ("critic", "user_simulator", "Too short."),
        ]
        assert model.of("checker")[0].messages[0].content == "You check."


def test_a_nested_chat_speaks_for_a_seat():
    helper = autogen.ConversableAgent("helper", llm_config=False, default_auto_reply="Tuesday.")
    with live() as group:
        group.agents["orchestrator"].register_nested_chats(
            [{"recipient": helper, "message": "When?", "max_turns": 1}],
            trigger=group.manager,
        )
        group.hold()
        assert ("orchestrator", "checker", "Tuesday.") in steps(group)
        assert "helper" not in authors(group)


@pytest.mark.parametrize("is_own", [False, True])
def test_calls_in_a_nested_chat_run_in_the_environment(is_own, tmp_path):
    def nest(agent: Any) -> Any:
        writer = autogen.ConversableAgent("writer", system_message="Write.", llm_config=False)
        agent.register_nested_chats(
            [{"recipient": writer, "message": "Find out.", "max_turns": 2}],
            trigger=lambda sender: sender is not writer,
        )
        return agent

    if is_own:
        run = seal.run(
            SHOP,
            agent=lambda: nest(autogen.ConversableAgent("mine", human_input_mode="NEVER")),
            model=Script(),
            baselines=False,
            out=tmp_path / "run",
        )
        (trajectory,) = run.folder.trajectories()
    else:
        with live(team="direct") as group:
            nest(group.agents["execution_manager"])
            group.hold()
            trajectory = group.conversation.trajectory()
    told = [(s.author, s.call.name if s.call else s.content) for s in trajectory.steps[1:]]
    assert told == [
        ("execution_manager", "get_order"),
        ("executor", '{"error":"","response":"Monday"}'),
        ("execution_manager", "words of execution_manager"),
    ]


class Clerk(autogen.UserProxyAgent):
    """An executor of one's own with a function of its own for one of two tools."""

    def __init__(self) -> None:
        super().__init__("executor", human_input_mode="NEVER", code_execution_config=False)
        self.register_for_execution("get_order")(lambda order_id: f"Tuesday, {order_id}")


def count_orders() -> int:
    """Count the orders."""
    return len(ORDERS)


TWO_TOOLS = seal.Benchmark(
    "two", tools=[get_order, count_orders], tasks=[seal.ask("When?", answer="Monday")]
)


@pytest.mark.parametrize("held", ["replaced", "team", "run"])
def test_an_executor_of_ones_own_gets_calls_and_its_results_are_recorded(held, tmp_path):
    model = Script(ToolCall("", "count_orders", {}), ToolCall("", "get_order", {"order_id": "7"}))
    if held == "run":
        options: dict[str, Any] = {"roles": {"executor": Clerk}, "team": "direct"}
        run = seal.run(TWO_TOOLS, model=model, baselines=False, out=tmp_path / "run", **options)
        (trajectory,) = run.folder.trajectories()
    else:
        roles = {"roles": {"executor": Clerk}} if held == "team" else {}
        with live(model, team="direct", bench=TWO_TOOLS, **roles) as group:
            if held == "replaced":
                group.chat.agents[2] = Clerk()
            group.hold()
            trajectory = group.conversation.trajectory()
    results = [s.result for s in trajectory.steps if s.result]
    assert [one.content for one in results] == ['{"error":"","response":2}', "Tuesday, 7"]
    assert [one.call_id for one in results] == ["call_0", "call_1"]
    assert trajectory.stops[0].reason == "done"


def test_two_seats_of_one_name_are_refused_with_the_repair():
    namesake = autogen.AssistantAgent("executor")
    with (
        pytest.raises(UsageError, match=r"unique names.*give yours the name of its role"),
        live(roles={"checker": namesake}),
    ):
        pass


# --- AutoGen's own way to hold it, and what stays


def test_autogens_own_initiate_chat_gives_the_trajectory_of_a_run(tmp_path, capsys):
    run = seal.run("sample", model="oracle", first=1, baselines=False, out=tmp_path / "run")
    with seal.groupchat("sample", model="oracle") as group:
        user = group.agents["user_simulator"]
        user.initiate_chat(group.manager, message=group.open(), silent=True)
        assert group.conversation.trajectory() == next(run.folder.trajectories())
        assert all(isinstance(agent, Seat) for agent in group.agents.values())
        assert isinstance(user, autogen.ConversableAgent)


def test_a_run_leaves_nothing_of_ours_in_the_process(tmp_path, monkeypatch):
    import logging

    before = (
        autogen.io.IOStream.get_global_default(),
        logging.getLogger("autogen.oai.client").level,
        list(sys.meta_path),
        autogen.OpenAIWrapper.create,
        autogen.ConversableAgent.generate_reply,
    )
    seal.run(
        SHOP, model=Script(), agent=autogen.AssistantAgent, baselines=False, out=tmp_path / "run"
    )
    assert before == (
        autogen.io.IOStream.get_global_default(),
        logging.getLogger("autogen.oai.client").level,
        list(sys.meta_path),
        autogen.OpenAIWrapper.create,
        autogen.ConversableAgent.generate_reply,
    )
    typed = []
    monkeypatch.setattr("builtins.input", lambda *prompt: typed.append(1) or "Yes.")
    proxy = autogen.UserProxyAgent("me", code_execution_config=False)
    assert proxy.generate_reply([{"content": "Well?", "role": "user"}])["content"] == "Yes."
    assert typed == [1]


@pytest.mark.slow
def test_200_chats_at_once_in_threads_are_those_of_one():
    barrier = threading.Barrier(200)

    def held(number: int) -> Any:
        with live() as group:
            barrier.wait()
            group.hold()
            return steps(group), stops(group)

    with live() as group:
        group.hold()
        alone = steps(group), stops(group)
    with ThreadPoolExecutor(200) as threads:
        assert list(threads.map(held, range(200))) == [alone] * 200
