"""Agents of AutoGen in the seats of a team: what they hear, ask, call and may not do."""

import asyncio
import io
import json
from pathlib import Path
from typing import Any

import pytest
from servers import ModelServer, calls, text

import seal
from seal.agents.autogen import library
from seal.cli.dispatch import main
from seal.core import Completion, OutageError, Request, ToolCall, Usage, UsageError
from seal.report.run_results import result_tables
from seal.runs.run import RunFolder

autogen = library()
ORDERS = {"7": "Monday", "8": "Friday"}


def get_order(order_id: str) -> str:
    """Say when an order ships."""
    return ORDERS[order_id]


TASK = seal.ask(
    "When do orders 7 and 8 ship?",
    seal.called("get_order", order_id="7"),
    seal.called("get_order", order_id="8"),
    answer=["Monday", "Friday"],
)
SHOP = seal.Benchmark("shop", tools=[get_order], tasks=[TASK])


class Terminal(io.StringIO):
    """A standard input at which a person types."""

    def isatty(self) -> bool:
        return True


CONFIG = {"config_list": [{"model": "gpt-4o", "api_key": "none"}]}


class Script:
    """A model that answers by rule, and keeps what it was asked."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.asked: list[Request] = []

    def complete(self, request: Request) -> Completion:
        self.asked.append(request)
        answer = self.answers.pop(0) if self.answers else "Monday and Friday"
        if isinstance(answer, str):
            return Completion(answer, usage=Usage(10, 5))
        calls = tuple(ToolCall("", name, arguments) for name, arguments in answer)
        return Completion(calls=calls, usage=Usage(10, 5))

    def texts(self, at: int = -1) -> list[tuple[str, str]]:
        return [(message.role, message.content) for message in self.asked[at].messages]


def look_up(*orders: str) -> list[tuple[str, dict[str, str]]]:
    return [("get_order", {"order_id": order}) for order in orders]


def played(tmp_path: Path, model: Any = "oracle", bench=SHOP, **options: Any) -> seal.Run:
    given = {"baselines": False, "out": tmp_path / "run", "cache_dir": tmp_path / "c", **options}
    return seal.run(bench, model=model, **given)


def said(run: seal.Run, author: str) -> list[str]:
    return [
        step.content
        for chat in run.folder.trajectories()
        for step in chat.steps
        if step.author == author and step.content and not step.result
    ]


def crashes(run: seal.Run) -> str:
    return " ".join(run.summary.get("crashes", ()))


# --- any seat


@pytest.mark.parametrize(
    "agent",
    [
        lambda: autogen.AssistantAgent("assistant"),
        lambda: autogen.ConversableAgent("plain", llm_config=False),
        lambda: autogen.AssistantAgent,
        lambda: lambda: autogen.AssistantAgent("made"),
        lambda: autogen.AssistantAgent(
            "configured",
            llm_config=CONFIG,
        ),
    ],
    ids=["assistant", "conversable", "class", "function", "configured"],
)
def test_an_unmodified_agent_is_the_agent(agent, tmp_path):
    run = played(tmp_path, agent=agent())

    assert (run["call_f1"].mean, run["pass_rate"].mean) == (1.0, 1.0)
    assert list(run.calls["author"]) == ["execution_manager"] * 2
    assert len(set(run.calls["turn"])) == 1


@pytest.mark.parametrize(
    ("calls", "right", "accuracy"),
    [(look_up("7", "8"), 1.0, 1.0), (look_up("7", "9"), 1.0, 0.5), ([("no", {})], 0.0, 0.0)],
)
def test_a_wrong_call_of_an_agent_is_scored_as_wrong(calls, right, accuracy, tmp_path):
    run = played(tmp_path, Script(calls), agent=autogen.AssistantAgent("a"))
    assert (run["call_recall"].mean, run["param_acc_gold"].mean) == (right, accuracy)


def test_an_agent_whose_run_names_no_model_is_refused_and_none_plays_for_it(tmp_path):
    clerk = autogen.AssistantAgent("clerk", llm_config=CONFIG)

    with pytest.raises(UsageError, match="AssistantAgent clerk asks the run's model, and none is"):
        seal.run(SHOP, agent=clerk, baselines=False, out=tmp_path / "run")

    assert not (tmp_path / "run").exists()  # the run can begin there again, with a model


def test_table_and_repr_name_the_agent_and_the_model_that_it_asked(tmp_path):
    run = played(tmp_path, "lexical", agent=autogen.AssistantAgent("clerk"))

    told = "AssistantAgent clerk with lexical solved 0 of 1 task of shop"
    assert repr(run).startswith(told)
    assert result_tables(run.folder)[0].startswith(told)


def test_a_call_that_cannot_be_read_is_a_step_that_says_so(tmp_path):
    class Broken(Script):
        def complete(self, request):
            super().complete(request)
            if len(self.asked) == 1:
                return Completion(calls=(ToolCall("", "get_order", None, "{order: 7"),))
            return Completion("fine")

    run = played(tmp_path, Broken(), agent=autogen.AssistantAgent("a"))
    (step,) = [s for chat in run.folder.trajectories() for s in chat.steps if s.call]
    assert (step.call.arguments, step.call.raw) == (None, "{order: 7")


@pytest.mark.parametrize("role", ["planner", "verifier", "checker", "orchestrator"])
def test_an_agent_takes_any_other_seat(role, tmp_path):
    model = Script(look_up("7", "8"), *["Monday and Friday"] * 9)
    agent = autogen.AssistantAgent("guest", system_message="You are the guest.")
    if role == "planner":
        model.answers.insert(0, "Look both orders up.")
    run = played(tmp_path, model, roles={role: agent}, team="full")

    (asked, *_) = [request for request in model.asked if request.role == role]
    assert asked.messages[0].content == "You are the guest."
    assert any("When do orders 7 and 8 ship?" in message.content for message in asked.messages)
    assert not asked.tools
    assert said(run, role)


def test_a_checker_hears_what_was_called_and_brought(tmp_path):
    model = Script(look_up("7", "8"), "Both found", "Monday and Friday", "solved: indeed")
    agent = autogen.AssistantAgent("guest")
    run = played(tmp_path, model, roles={"checker": agent}, team="full")

    heard = [text for _, text in model.texts()][1:]
    assert heard[0] == "When do orders 7 and 8 ship?"
    assert heard[2].startswith('[execution_manager] called get_order({"order_id":"7"})')
    assert heard[3].startswith('[executor] {"error":"","response":"Monday"}')
    assert heard[5] == "[orchestrator] Monday and Friday"
    assert said(run, "checker") == ["solved: indeed"]


TALK = seal.Benchmark(
    "shop",
    tools=[get_order],
    tasks=[
        seal.Task(
            "talk", "shop", TASK.goals, persona={"goal": "Know both days.", "facts": {"order": "7"}}
        )
    ],
)


def test_an_agent_plays_the_user(tmp_path):
    model = Script("Which orders?", "7 and 8", look_up("7", "8"), "Monday and Friday", "")
    user = autogen.AssistantAgent("user", system_message="You buy things.")
    run = played(tmp_path, model, TALK, roles={"user_simulator": user}, team="direct")

    assert said(run, "user_simulator") == ["When do orders 7 and 8 ship?", "7 and 8"]
    assert run.summary["stop_reasons"] == {"user_ended": 1}
    asked = next(n for n, request in enumerate(model.asked) if request.role == "user_simulator")
    assert model.texts(asked)[0] == ("system", "You buy things.")
    assert "Know both days." in model.texts(asked)[1][1]
    assert model.texts(asked)[-2:] == [
        ("assistant", "When do orders 7 and 8 ship?"),
        ("user", "[execution_manager] Which orders?"),
    ]


def test_an_agent_that_plays_the_user_is_told_each_goal(tmp_path):
    goals = tuple(seal.Goal(text, offered=("shop/get_order",)) for text in ("Order 7?", "Order 8?"))
    talk = seal.Task("talk", "shop", goals, persona={"facts": {"order": "7"}})
    bench = seal.Benchmark("shop", tools=[get_order], tasks=[talk])
    model = Script("Which?", "That one.", "Monday", "", "Which?", "")
    user = autogen.AssistantAgent("user")
    played(tmp_path, model, bench, roles={"user_simulator": user}, team="direct")

    told = " ".join(text for _, text in model.texts())
    assert model.asked[-1].role == "user_simulator"
    assert "Your goal: Order 7?" in told
    assert "Your goal: Order 8?" in told


def test_a_person_in_a_users_seat_is_asked_on_the_terminal(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", Terminal("7 and 8\nexit\n"))
    user = autogen.UserProxyAgent("user", code_execution_config=False)
    model = Script("Which orders?", look_up("7", "8"), "Monday and Friday")
    run = played(tmp_path, model, TALK, roles={"user_simulator": user}, team="direct")

    assert said(run, "user_simulator") == ["When do orders 7 and 8 ship?", "7 and 8"]
    assert run.summary["stop_reasons"] == {"user_ended": 1}
    assert "execution_manager: Which orders?" in capsys.readouterr().err


def test_a_person_without_a_terminal_ends_the_run_and_no_model_answers_instead(tmp_path):
    model = Script("Which?", "I am no person")
    user = autogen.UserProxyAgent("user", code_execution_config=False)
    with pytest.raises(UsageError, match=r"asks a person .*no terminal; run in a terminal, or set"):
        played(tmp_path, model, TALK, roles={"user_simulator": user}, team="direct")
    assert [request.role for request in model.asked] == ["execution_manager"]


# --- what is its own


def test_system_message_hooks_and_state_updates_are_at_work(tmp_path):
    agent = autogen.AssistantAgent(
        "a",
        update_agent_state_before_reply=[
            autogen.UpdateSystemMessage("You serve {shop}."),
        ],
        context_variables=autogen.agentchat.group.ContextVariables({"shop": "the shop"}),
    )
    agent.register_hook("process_last_received_message", lambda text: f"{text} (please)")
    agent.register_hook(
        "process_message_before_send",
        lambda sender, message, recipient, silent: (
            f"{message}!" if isinstance(message, str) else message
        ),
    )
    model = Script("Monday")
    run = played(tmp_path, model, agent=agent)

    assert model.texts() == [
        ("system", "You serve the shop."),
        ("user", "When do orders 7 and 8 ship? (please)"),
    ]
    assert said(run, "execution_manager") == ["Monday!"]


def test_own_tools_run_within_the_reply_and_are_noted(tmp_path):
    asked = []

    def add(a: int, b: int) -> int:
        asked.append((a, b))
        return a + b

    agent = autogen.AssistantAgent("a", llm_config=CONFIG)
    autogen.register_function(add, caller=agent, executor=agent, description="Add.")
    model = Script([("add", {"a": 3, "b": 4}), *look_up("7")], look_up("8"), "Monday and Friday")
    run = played(tmp_path, model, agent=agent)

    assert asked == [(3, 4)]
    assert {tool.name for tool in model.asked[0].tools} == {"get_order", "add"}
    assert list(run.calls["name"]) == ["get_order", "get_order"]
    told = [(m.call_id, m.content) for m in model.asked[1].messages if m.role == "tool"]
    assert told == [
        ("execution_manager_0", "7"),
        ("execution_manager_1", '{"error":"","response":"Monday"}'),
    ]
    (note,) = next(run.folder.trajectories()).provenance["printed"]
    assert note["text"] == 'own tool add({"a":3,"b":4}): 7\n'


def test_an_own_tool_of_an_offered_tools_name_is_refused_with_the_repair(tmp_path):
    def get_order(order_id: str) -> str:
        pytest.fail("called off the record")

    def mine() -> Any:
        agent = autogen.AssistantAgent("a", llm_config=CONFIG)
        autogen.register_function(get_order, caller=agent, executor=agent, description="Mine.")
        return agent

    for number, agent in enumerate((mine, lambda: autogen.GroupChat([mine()]))):
        run = played(tmp_path / str(number), agent=agent)
        assert "'get_order' is offered to the agent already; register yours" in crashes(run)


def test_an_agent_that_calls_its_own_tools_for_ever_has_crashed(tmp_path):
    agent = autogen.AssistantAgent("a", llm_config=CONFIG)
    autogen.register_function(lambda: 1, caller=agent, executor=agent, name="one", description="1")
    run = played(tmp_path, Script(*[[("one", {})]] * 99), agent=agent)
    assert "called its own tools 50 times in a row" in crashes(run)


def test_nested_chats_ask_the_models_of_the_seat(tmp_path):
    agent = autogen.AssistantAgent("a")
    critic = autogen.AssistantAgent(
        "critic",
        system_message="You find faults.",
        llm_config=CONFIG,
    )
    agent.register_nested_chats(
        [{"recipient": critic, "message": "Is this right?", "max_turns": 1}],
        trigger=lambda sender: True,
    )
    model = Script("It is wrong.")
    run = played(tmp_path, model, agent=agent)

    assert model.texts() == [("system", "You find faults."), ("user", "[a] Is this right?")]
    assert not model.asked[0].tools
    assert said(run, "execution_manager") == ["It is wrong."]
    assert run.summary["usage"]["tokens_in"] == 10


def notes(run: seal.Run) -> str:
    (chat,) = run.folder.trajectories()
    return "".join(note["text"] for note in chat.provenance["printed"])


@pytest.mark.parametrize("kind", ["AssistantAgent", "ConversableAgent"])
def test_nested_agents_without_a_model_have_that_of_the_seat(kind, tmp_path):
    options = {"llm_config": False} if kind == "ConversableAgent" else {}
    critic = getattr(autogen, kind)("critic", system_message="You find faults.", **options)
    agent = autogen.AssistantAgent("a")
    agent.register_nested_chats(
        [
            {
                "recipient": critic,
                "message": "Is this right?",
                "max_turns": 1,
                "summary_method": "reflection_with_llm",
            }
        ],
        trigger=lambda sender: sender is not critic,
    )
    model = Script("It is wrong.", "They found it wrong.")
    run = played(tmp_path, model, agent=agent)

    assert model.texts(0) == [("system", "You find faults."), ("user", "[a] Is this right?")]
    assert said(run, "execution_manager") == ["They found it wrong."]
    assert notes(run) == "critic: It is wrong.\n"
    assert critic.client is None


@pytest.mark.parametrize("config", [CONFIG, False], ids=["own model", "no model"])
def test_agents_of_an_async_chat_within_a_reply_ask_the_model_of_the_seat(config, tmp_path):
    critic = autogen.ConversableAgent(
        "critic", system_message="You find faults.", llm_config=config, human_input_mode="NEVER"
    )
    agent = autogen.AssistantAgent("a")

    def asks(recipient, messages=None, sender=None, config=None):
        started = recipient.a_initiate_chat(critic, message="Is this right?", max_turns=1)
        return True, asyncio.run(started).summary

    agent.register_reply(lambda sender: sender is not critic, asks)
    model = Script("It is wrong.")
    run = played(tmp_path, model, agent=agent)

    assert model.texts() == [("system", "You find faults."), ("user", "[a] Is this right?")]
    assert said(run, "execution_manager") == ["It is wrong."]
    assert "critic: It is wrong." in notes(run)
    assert run.summary["usage"]["tokens_in"] == 10


def test_a_nested_agent_with_a_default_reply_asks_no_model(tmp_path):
    parrot = autogen.ConversableAgent("parrot", llm_config=False, default_auto_reply="Yes.")
    agent = autogen.AssistantAgent("a")
    agent.register_nested_chats(
        [{"recipient": parrot, "message": "Right?", "max_turns": 1}], trigger=lambda sender: True
    )
    model = Script()
    run = played(tmp_path, model, agent=agent)
    assert (said(run, "execution_manager"), model.asked) == (["Yes."], [])


class OwnClient:
    """A model client that somebody wrote for AutoGen."""

    def __init__(self, config: Any, **options: Any) -> None:
        self.model = config["model"]

    def create(self, params: Any) -> Any:
        from types import SimpleNamespace as Some

        message = Some(content="Monday and Friday", tool_calls=None, function_call=None)
        return Some(choices=[Some(message=message)], model=self.model, cost=0.0)

    def message_retrieval(self, response: Any) -> list[str]:
        return [choice.message.content for choice in response.choices]

    def cost(self, response: Any) -> float:
        return 0.0

    @staticmethod
    def get_usage(response: Any) -> dict[str, Any]:
        used = {"prompt_tokens": 30, "completion_tokens": 4, "total_tokens": 34, "cost": 0.0}
        return {**used, "model": response.model}


def test_a_client_of_ones_own_is_counted_and_marked_as_beyond_replay(tmp_path):
    agent = autogen.AssistantAgent(
        "a", llm_config={"config_list": [{"model": "mine", "model_client_cls": "OwnClient"}]}
    )
    agent.register_model_client(OwnClient)
    goals = tuple(seal.Goal(text, offered=("shop/get_order",)) for text in ("Hi", "And now?"))
    talk = seal.Benchmark("shop", tools=[get_order], tasks=[seal.Task("one", "shop", goals)])
    run = played(tmp_path, Script(), talk, agent=agent)

    assert run.summary["usage"]["tokens_in"] == 60
    assert run.summary["own_models"] == {"execution_manager": "mine"}
    lines = map(str, result_tables(run.folder))
    assert (
        "execution_manager asked mine by itself: no replay of this run can answer for it" in lines
    )
    assert [
        step.usage.tokens_out for c in run.folder.trajectories() for step in c.steps if step.usage
    ] == [4, 4]


# --- what it may not do


CODE = "Do this:\n```python\nopen('ran', 'w').write('x')\n```"


def coder(**options: Any) -> Any:
    return autogen.UserProxyAgent(
        "coder",
        human_input_mode="NEVER",
        code_execution_config={"use_docker": False, "work_dir": "."},
        default_auto_reply="nothing done",
        **options,
    )


@pytest.mark.parametrize("allowed", [False, True])
def test_no_code_that_a_model_wrote_runs_unless_it_is_allowed(allowed, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    allow = {"allow_code": ("autogen",)} if allowed else {}
    bench = seal.Benchmark("shop", tools=[get_order], tasks=[seal.ask(CODE)])
    agent = coder()
    run = played(tmp_path, Script(), bench, agent=agent, **allow)

    assert (tmp_path / "ran").exists() is allowed
    assert ("exitcode: 0" in said(run, "execution_manager")[0]) is allowed
    assert agent._code_execution_config != False  # noqa: E712 - as it was before


def test_code_in_a_nested_chat_is_refused_with_the_repair(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    agent = autogen.AssistantAgent("a")
    agent.register_nested_chats(
        [{"recipient": coder(), "message": CODE, "max_turns": 1}], trigger=lambda sender: True
    )
    run = played(tmp_path, Script("fine"), agent=agent)
    assert not (tmp_path / "ran").exists()
    assert "if you trust it, allow it: --allow-code autogen" in crashes(run)


def test_an_agent_that_raises_has_crashed(tmp_path):
    agent = autogen.AssistantAgent("a")
    agent.register_hook("process_all_messages_before_reply", lambda messages: 1 / 0)
    run = played(tmp_path, agent=agent)
    assert "ZeroDivisionError" in crashes(run)


def with_own_tool() -> Any:
    agent = autogen.AssistantAgent("a")

    @agent.register_for_llm(description="Add.")
    def add(a: int, b: int) -> int:
        return a + b

    return agent


def test_a_function_that_makes_no_agent_is_refused_before_the_run_with_what_it_raises(tmp_path):
    with pytest.raises(seal.SealError, match=r"with_own_tool makes no agent: .*must have an llm_"):
        played(tmp_path, agent=with_own_tool)
    assert not (tmp_path / "run").exists()


def test_an_agent_that_cannot_be_made_for_a_later_chat_has_crashed(tmp_path):
    made = []

    def once() -> Any:
        made.append(autogen.AssistantAgent("a") if not made else with_own_tool())
        return made[-1]

    run = played(tmp_path, agent=once)
    assert run.summary["stop_reasons"] == {"crashed": 1}
    assert "agent must have an llm_config" in crashes(run)


def test_a_model_that_fails_is_an_error_and_no_score(tmp_path):
    class Down(Script):
        def complete(self, request):
            raise seal.core.ModelError("the server answered 500 five times")

    run = played(tmp_path, Down(), agent=autogen.AssistantAgent("a"))
    assert run.summary["stop_reasons"] == {"error": 1}


# --- many chats


@pytest.mark.parametrize("shared", [True, False])
def test_chats_at_once_do_not_hear_each_other(shared, tmp_path):
    numbers = [str(n) for n in range(12)]
    tasks = [
        seal.ask(f"Order {n}?", seal.called("get_order", order_id=n), answer=n) for n in numbers
    ]

    def get_order(order_id: str) -> str:
        """Say the order again."""
        return order_id

    bench = seal.Benchmark("shop", tools=[get_order], tasks=tasks)
    agent = autogen.AssistantAgent("a") if shared else autogen.AssistantAgent
    run = played(tmp_path, bench=bench, agent=agent, workers=4)

    assert run["call_f1"].mean == 1.0
    assert said(run, "execution_manager") == numbers
    if shared:
        assert not any(agent.chat_messages.values())
        assert agent.client is None


def test_the_record_names_the_agent_by_what_it_is_told(tmp_path):
    def named(text: str, n: int) -> str:
        agent = autogen.AssistantAgent("a", system_message=text)
        run = played(tmp_path / str(n), agent=agent)
        return run.folder.manifest()["system"]["roles"]["execution_manager"]

    one, other = named("Be brief.", 0), named("Be long.", 1)
    assert one.startswith("autogen.agentchat.assistant_agent:AssistantAgent#")
    assert one != other


def test_equal_runs_of_an_agent_are_equal_byte_by_byte(tmp_path):
    files = [
        played(tmp_path / str(n), agent=autogen.AssistantAgent("a")).folder.trajectories_path
        for n in range(2)
    ]
    assert files[0].read_bytes() == files[1].read_bytes()


def test_the_command_line_takes_agents_by_path(tmp_path, monkeypatch):
    (tmp_path / "my_team.py").write_text(
        "from autogen import AssistantAgent\n"
        "boss = AssistantAgent('boss')\n"
        "def planner():\n    return AssistantAgent('planner', system_message='Plan.')\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("SEAL_CACHE_DIR", str(tmp_path / "cache"))
    SHOP.save("shop")
    words = ["--agent", "my_team:boss", "--team", "full", "--role", "planner=my_team:planner"]
    done = main(["run", "shop", *words, "--model", "oracle", "--no-baselines", "--out", "run"])

    assert done == 0
    run = RunFolder.open("run")
    assert run.summary()["metrics"]["call_f1"]["mean"] == 1.0
    assert "planner" in {step.author for chat in run.trajectories() for step in chat.steps}


# --- a real server, and none


def test_a_run_of_an_agent_is_replayed_without_its_server(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    both = [("get_order", {"order_id": order}) for order in ORDERS]
    options = {"agent": autogen.AssistantAgent, "cache_dir": tmp_path / "answers"}
    with ModelServer([calls(*both), text("Monday and Friday")]) as server:
        model = f"openai/local,base_url={server.url}"
        first = played(tmp_path / "first", model, **options)
        asked = [request.body for request in server.received]
    again = played(tmp_path / "again", model, cache="replay", **options)

    assert (first["call_f1"].mean, first["pass_rate"].mean) == (1.0, 1.0)
    assert [message["role"] for message in asked[1]["messages"]] == [
        "system",
        "user",
        "assistant",
        "tool",
        "tool",
    ]
    assert [tool["function"]["name"] for tool in asked[0]["tools"]] == ["get_order"]
    assert asked[0]["seed"] == asked[1]["seed"]
    files = [run.folder.trajectories_path.read_bytes() for run in (first, again)]
    assert files[0] == files[1]
    spent = json.loads((again.folder.path / "timings.jsonl").read_text())["asked"]
    assert [(one["role"], one["requests"], one["kept"]) for one in spent] == [
        ("execution_manager", 0, 2)
    ]


def test_a_server_that_is_down_ends_the_run_and_is_no_crash(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with ModelServer([]) as server:
        model = f"openai/local,base_url={server.url}"
    with pytest.raises(OutageError, match="could not be reached"):
        played(tmp_path, model, agent=autogen.AssistantAgent, model_options={"max_tries": 1})


def hands_on(said: Any) -> Any:
    """Return what makes an orchestrator that says something first, and then what it heard last."""

    def made() -> Any:
        agent = autogen.ConversableAgent("boss", llm_config=False, human_input_mode="NEVER")
        left = [said]

        def say(recipient: Any, messages: Any, sender: Any, config: Any) -> Any:
            return True, left.pop() if left else messages[-1]["content"]

        agent.register_reply([autogen.Agent, None], say, position=0)
        return agent

    return made


ORDER = seal.Benchmark(
    "order",
    tools=[get_order],
    tasks=[
        seal.ask("When does order 7 ship?", seal.called("get_order", order_id="7"), answer="Monday")
    ],
)


@pytest.mark.parametrize(
    "said",
    [
        "@execution_manager When does order 7 ship?",
        {"content": "When does order 7 ship?", "next": "execution_manager"},
        seal.Reply("When does order 7 ship?", next="execution_manager"),
    ],
)
def test_an_orchestrator_hands_work_on_by_naming_a_role(said, tmp_path, caplog):
    run = played(tmp_path, bench=ORDER, team="full", roles={"orchestrator": hands_on(said)})
    assert run["call_f1"].mean == 1.0
    assert list(run.messages["author"])[:3] == [
        "user_simulator",
        "orchestrator",
        "execution_manager",
    ]
    assert "handed work on" not in caplog.text


def test_a_run_whose_orchestrator_never_hands_work_on_is_told(tmp_path, caplog):
    orchestrator = hands_on("Write me@execution_manager.org.")
    run = played(tmp_path, bench=ORDER, team="full", roles={"orchestrator": orchestrator})
    assert run["call_f1"].mean == 0.0
    assert caplog.text.count("no reply of the orchestrator handed work on") == 1


def test_an_orchestrator_that_hands_on_to_nobody_is_refused_with_the_repair(tmp_path):
    said = seal.Reply("Plan!", next="planer")
    run = played(tmp_path, bench=ORDER, team="full", roles={"orchestrator": hands_on(said)})
    assert "'orchestrator' hands on to 'planer', which is not seated; seated: ch" in crashes(run)


def test_the_words_of_a_chat_that_a_function_holds_are_kept_beside_its_calls(tmp_path):
    def mine(request: str, tools: Any) -> str:
        plain = {"llm_config": False, "human_input_mode": "NEVER"}
        asker = autogen.ConversableAgent("asker", default_auto_reply="Thanks.", **plain)
        clerk = autogen.ConversableAgent("clerk", default_auto_reply="I look it up.", **plain)
        asker.initiate_chat(clerk, message=request, max_turns=1)
        tools[0](order_id="7")
        asker.initiate_chat(clerk, message="Quietly.", max_turns=1, silent=True)
        print("I know.")
        return "Monday"

    run = played(tmp_path, bench=ORDER, agent=mine)
    assert next(run.folder.trajectories()).provenance["printed"] == [
        {
            "step": 1,
            "role": "execution_manager",
            "text": "asker: When does order 7 ship?\nclerk: I look it up.\n",
        },
        {
            "step": 3,
            "role": "execution_manager",
            "text": "asker: Quietly.\nclerk: I look it up.\nI know.\n",
        },
    ]


@pytest.mark.parametrize("silent", [False, True])
@pytest.mark.parametrize("is_async", [False, True])
def test_the_words_of_a_group_that_a_function_holds_are_kept_once_each(silent, is_async, tmp_path):
    def group() -> tuple[Any, Any]:
        plain = {"llm_config": False, "human_input_mode": "NEVER"}
        agents = [
            autogen.ConversableAgent(name, default_auto_reply=f"I am {name}.", **plain)
            for name in ("ann", "ben", "cid")
        ]
        chat = autogen.GroupChat(agents, speaker_selection_method="round_robin", max_round=3)
        return agents[0], autogen.GroupChatManager(chat, llm_config=False)

    def plain(request: str, tools: Any) -> str:
        first, manager = group()
        return str(first.initiate_chat(manager, message=request, silent=silent).summary)

    async def waits(request: str, tools: Any) -> str:
        first, manager = group()
        said = await first.a_initiate_chat(manager, message=request, silent=silent)
        return str(said.summary)

    run = played(tmp_path, bench=ORDER, agent=waits if is_async else plain)
    (note,) = next(run.folder.trajectories()).provenance["printed"]
    assert note["text"] == "ann: When does order 7 ship?\nben: I am ben.\ncid: I am cid.\n"
    assert not hasattr(autogen.ConversableAgent._process_received_message, "__wrapped__")
    assert autogen.ConversableAgent._process_received_message.__module__.startswith("autogen")


def test_the_calls_of_a_pair_within_a_reply_function_are_noted(tmp_path):
    def front() -> Any:
        agent = autogen.ConversableAgent("front", llm_config=False, human_input_mode="NEVER")

        def ask(recipient: Any, messages: Any, sender: Any, config: Any) -> Any:
            clerk = autogen.AssistantAgent("clerk", llm_config=CONFIG)
            proxy = autogen.UserProxyAgent(
                "proxy", human_input_mode="NEVER", code_execution_config=False
            )
            autogen.register_function(get_order, caller=clerk, executor=proxy, description="x")
            said = proxy.initiate_chat(clerk, message="When?", max_turns=2, silent=True)
            return True, said.chat_history[-1]["content"]

        agent.register_reply([autogen.Agent, None], ask, position=0)
        return agent

    run = played(tmp_path, Script(look_up("7"), "On Monday."), bench=ORDER, agent=front)
    (note,) = next(run.folder.trajectories()).provenance["printed"]
    assert 'own tool get_order({"order_id":"7"}): Monday' in note["text"]
    assert "clerk: On Monday." in note["text"]


@pytest.mark.parametrize("end", ["", "  "])
def test_an_empty_text_of_a_users_function_ends_the_chat(end, tmp_path):
    def user(request: str, chat: seal.Chat) -> str:
        return end if chat.steps else request

    task = seal.ask("When does order 7 ship?", answer="Monday", persona={"goal": "Know it."})
    bench = seal.Benchmark("order", tools=[get_order], tasks=[task])
    run = played(tmp_path, Script(), bench=bench, team="direct", roles={"user_simulator": user})
    assert run.summary["stop_reasons"] == {"user_ended": 1}
