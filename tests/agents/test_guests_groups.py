"""A group chat of the user's own as the agent, and what of AutoGen both sides rest on."""

import inspect
from pathlib import Path
from typing import Any

import pytest

import seal
from seal.agents.autogen import library
from seal.cli.dispatch import main
from seal.core import Completion, Request, ToolCall, Usage

autogen = library()
CONFIG = {"config_list": [{"model": "gpt-4o", "api_key": "none"}]}
ORDERS = {"7": "Monday", "8": "Friday"}


def get_order(order_id: str) -> str:
    """Say when an order ships."""
    return ORDERS[order_id]


SHOP = seal.Benchmark(
    "shop",
    tools=[get_order],
    tasks=[
        seal.ask(
            "When do orders 7 and 8 ship?",
            seal.called("get_order", order_id="7"),
            seal.called("get_order", order_id="8"),
            answer=["Monday", "Friday"],
        )
    ],
)


class Script:
    """A model that answers in turn, and keeps what it was asked."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.asked: list[Request] = []

    def complete(self, request: Request) -> Completion:
        self.asked.append(request)
        answer = self.answers.pop(0) if self.answers else "TERMINATE"
        if isinstance(answer, str):
            return Completion(answer, usage=Usage(10, 5))
        calls = tuple(ToolCall("", "get_order", {"order_id": order}) for order in answer)
        return Completion(calls=calls, usage=Usage(10, 5))


def clerk(name: str = "clerk", **options: Any) -> Any:
    return autogen.AssistantAgent(name, system_message=f"You are the {name}.", **options)


def proxy(**options: Any) -> Any:
    given = {"human_input_mode": "NEVER", "code_execution_config": False, **options}
    return autogen.UserProxyAgent("proxy", **given)


def group(*members: Any, method: Any = "round_robin", **options: Any) -> Any:
    return autogen.GroupChat(
        agents=list(members), speaker_selection_method=method, **{"max_round": 8, **options}
    )


def played(tmp_path: Path, model: Any, agent: Any, bench=SHOP, **options: Any) -> seal.Run:
    given = {"baselines": False, "out": tmp_path / "run", "cache_dir": tmp_path / "c", **options}
    return seal.run(bench, model=model, agent=agent, **given)


def noted(run: seal.Run) -> str:
    (chat,) = run.folder.trajectories()
    return "".join(note["text"] for note in chat.provenance["printed"])


def answers(run: seal.Run) -> list[str]:
    return list(run.tasks["answer"])


@pytest.mark.parametrize("managed", [False, True])
def test_a_group_chat_is_the_agent(managed, tmp_path):
    chat = group(clerk(), proxy())
    agent = autogen.GroupChatManager(chat, llm_config=CONFIG, silent=True) if managed else chat
    model = Script(["7", "8"], "Monday and Friday", "TERMINATE")
    run = played(tmp_path, model, agent)

    assert (run["call_f1"].mean, run["param_acc_gold"].mean, run["pass_rate"].mean) == (1, 1, 1)
    assert list(run.calls["author"]) == ["execution_manager"] * 2
    assert len(set(run.calls["turn"])) == 1  # the calls of one message
    assert answers(run) == ["Monday and Friday"]


def test_a_wrong_call_of_a_group_is_scored_as_wrong(tmp_path):
    run = played(tmp_path, Script(["7", "9"], "Monday"), group(clerk(), proxy()))
    assert (run["call_f1"].mean, run["param_acc_gold"].mean) == (1.0, 0.5)


def test_the_oracle_plays_a_group_in_full(tmp_path):
    run = played(tmp_path, "oracle", lambda: group(clerk(), proxy()))
    assert (run["call_f1"].mean, run["pass_rate"].mean) == (1.0, 1.0)


def test_autogen_chooses_who_speaks_by_the_model_of_the_run(tmp_path):
    model = Script("writer", "A poem.", "critic", "Too long.", "writer", "TERMINATE")
    run = played(tmp_path, model, group(clerk("writer"), clerk("critic"), method="auto"))

    assert "You are in a role play game" in model.asked[0].messages[0].content
    assert not model.asked[0].tools
    assert [tool.name for tool in model.asked[1].tools] == ["get_order"]
    assert model.asked[3].messages[0].content == "You are the critic."
    assert model.asked[3].messages[-1].content == "[writer] A poem."
    assert answers(run) == ["Too long."]
    assert run.summary["usage"]["tokens_in"] == 60


def test_own_functions_of_a_member_run_beside_the_calls_of_the_chat(tmp_path):
    asked = []

    def add(a: int, b: int) -> int:
        asked.append((a, b))
        return a + b

    class Both(Script):
        def complete(self, request):
            self.asked.append(request)
            if len(self.asked) > 1:
                return Completion("Monday")
            own = ToolCall("", "add", {"a": 3, "b": 4})
            return Completion(calls=(own, ToolCall("", "get_order", {"order_id": "7"})))

    speaker, other = clerk(llm_config=CONFIG), proxy()
    autogen.register_function(add, caller=speaker, executor=other, description="Add.")
    model = Both()
    run = played(tmp_path, model, group(speaker, other, max_round=4))

    assert asked == [(3, 4)]
    assert [m.content for m in model.asked[1].messages if m.role == "tool"] == [
        "7",
        '{"error":"","response":"Monday"}',
    ]
    assert list(run.calls["name"]) == ["get_order"]
    assert noted(run) == 'proxy: own tool add({"a":3,"b":4}): 7\nclerk: Monday\n'


def test_the_record_and_the_view_show_what_members_say_among_themselves(tmp_path, capsys):
    model = Script("writer", "A poem.", "critic", "Too long.", "writer", "TERMINATE")
    run = played(tmp_path, model, group(clerk("writer"), clerk("critic"), method="auto"))

    told = "writer: A poem.\ncritic: Too long.\nwriter: TERMINATE\n"
    assert noted(run) == told
    assert main(["view", str(run.folder.path), next(run.folder.tasks()).id]) == 0
    assert "critic: Too long." in capsys.readouterr().out


def test_a_group_goes_on_where_the_user_goes_on_and_forgets_other_chats(tmp_path):
    goals = tuple(seal.Goal(text, offered=("shop/get_order",)) for text in ("Hi", "And now?"))
    tasks = [seal.Task(name, "shop", goals) for name in ("one", "two")]
    bench = seal.Benchmark("shop", tools=[get_order], tasks=tasks)
    chat = group(clerk(), clerk("other"), max_round=2)
    before = dict(chat.agents[0].function_map), list(chat.agents[0]._reply_func_list)
    model = Script("1", "2", "3", "4")
    run = played(tmp_path, model, chat, bench, workers=1)

    assert answers(run) == ["1", "2", "3", "4"]
    heard = [[m.content for m in request.messages[1:]] for request in model.asked]
    assert heard[0] == heard[2] == ["Hi"]
    assert heard[1][:1] == ["Hi"]
    assert heard[1][-1] == "And now?"
    assert chat.messages == []
    assert (chat.agents[0].function_map, chat.agents[0]._reply_func_list) == before


def test_calls_beyond_the_budget_end_a_group(tmp_path):
    run = played(tmp_path, Script(*[["7"]] * 20), group(clerk(), proxy()), max_calls=2)
    assert run.summary["stop_reasons"] == {"max_calls": 1}


def test_a_group_that_cannot_be_is_the_agents_crash(tmp_path):
    run = played(tmp_path, Script(), group(clerk(), method=lambda last, chat: "nobody"))
    assert run.summary["stop_reasons"] == {"crashed": 1}
    assert "speaker_selection_method is set to 'nobody'" in str(run.summary["crashes"])


# --- the contract: every name of AutoGen that we use

NAMES = {
    "Agent": (),
    "ConversableAgent": (
        "can_execute_function",
        "clear_history",
        "function_map",
        "generate_reply",
        "generate_tool_calls_reply",
        "initiate_chat",
        "last_message",
        "name",
        "register_function",
        "register_reply",
        "reset_consecutive_auto_reply_counter",
        "send",
        "system_message",
    ),
    "GroupChat": ("nested_agents", "reset", "select_speaker"),
    "GroupChatManager": ("groupchat",),
    "OpenAIWrapper": ("create",),
    "UserProxyAgent": (),
}


@pytest.mark.parametrize("name", NAMES)
def test_autogen_has_the_names_that_we_use(name):
    kind = getattr(autogen, name)
    assert [part for part in NAMES[name] if not hasattr(kind, part)] == []


def test_autogen_takes_the_arguments_that_we_give():
    agent = autogen.ConversableAgent
    given = {
        agent.__init__: ["llm_config", "human_input_mode", "code_execution_config"],
        agent.generate_reply: ["sender"],
        agent.generate_tool_calls_reply: ["messages"],
        agent.initiate_chat: ["recipient", "clear_history", "silent", "message"],
        agent.register_function: ["function_map", "silent_override"],
        agent.register_reply: ["trigger", "reply_func", "position"],
        agent.send: ["message", "recipient", "request_reply", "silent"],
        autogen.GroupChat.__init__: ["agents", "messages", "max_round", "speaker_selection_method"],
        autogen.GroupChatManager.__init__: ["groupchat", "silent"],
        autogen.GroupChat.select_speaker: ["last_speaker", "selector"],
    }
    for function, names in given.items():
        parameters = inspect.signature(function).parameters
        assert [name for name in names if name not in parameters] == [], function


def test_an_agent_has_the_attributes_that_we_set_and_put_back():
    agent = autogen.ConversableAgent("a", llm_config=False)
    assert agent.client is None
    assert agent._code_execution_config is False
    assert agent._default_auto_reply == ""
    assert all("reply_func" in each for each in agent._reply_func_list)
    wrapper = autogen.OpenAIWrapper(config_list=[{"model": "m", "model_client_cls": "Mine"}])
    assert wrapper._config_list == [{"model": "m", "model_client_cls": "Mine"}]
    assert len(wrapper._clients) == 1
    assert wrapper.actual_usage_summary is wrapper.total_usage_summary is None


def test_events_of_code_that_runs_have_the_names_that_we_refuse():
    from autogen.events import agent_events

    for name in ("ExecuteCodeBlockEvent", "GenerateCodeExecutionReplyEvent"):
        assert hasattr(agent_events, name)


# --- AutoGen chooses who speaks in a team of ours


class Chooser(Script):
    """Chooses speakers in turn; of other roles it knows what they say."""

    def __init__(self, *chosen: str) -> None:
        super().__init__()
        self.chosen = list(chosen)

    def complete(self, request: Request) -> Completion:
        self.asked.append(request)
        if request.role == "speaker_selection":
            return Completion(self.chosen.pop(0), usage=Usage(3, 1))
        done = any(message.role == "tool" for message in request.messages)
        if request.role == "execution_manager" and not done:
            call = ToolCall("", "get_order", {"order_id": "7"})
            return Completion(calls=(call,), usage=Usage(10, 5))
        return Completion(f"words of {request.role}", usage=Usage(10, 5))


def test_autogen_chooses_the_next_speaker_of_a_team(tmp_path):
    model = Chooser("planner", "execution_manager", "nobody", "planner", "user_simulator")
    run = played(
        tmp_path,
        model,
        None,
        roles={"planner": autogen.AssistantAgent("p")},
        team="full",
        world_options={"selection": "auto"},
    )

    (chat,) = run.folder.trajectories()
    said = [(s.author, s.recipient) for s in chat.steps if not s.result and not s.call]
    assert said == [
        ("user_simulator", "planner"),
        ("planner", "execution_manager"),
        ("execution_manager", "planner"),
        ("planner", "user_simulator"),
    ]
    assert chat.answers == ("words of planner",)
    asked = [request for request in model.asked if request.role == "speaker_selection"]
    assert len(asked) == 5
    assert "execution_manager: Calls tools" in asked[0].messages[0].content
    assert run.summary["usage"]["tokens_in"] == 5 * 3 + 4 * 10
    assert run.folder.manifest()["system"]["speaker_selection"] == "auto"


def test_a_choice_that_cannot_be_is_refused():
    with pytest.raises(seal.SealError, match="-T selection=own: expected team or auto"):
        seal.run(SHOP, world_options={"selection": "own"})
