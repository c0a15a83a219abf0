"""A group chat or a pattern of the user's own as the agent."""

import importlib
from pathlib import Path
from typing import Any

import pytest

import seal
from seal.agents.autogen import library
from seal.cli.dispatch import main
from seal.core import Completion, Request, ToolCall, Usage, UsageError

autogen = library()
group_parts = importlib.import_module("autogen.agentchat.group")
patterns = importlib.import_module("autogen.agentchat.group.patterns")
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


class CallsNobody(Script):
    """A model that calls a tool that there is not, and then answers."""

    def complete(self, request: Request) -> Completion:
        self.asked.append(request)
        if len(self.asked) == 1:
            return Completion(calls=(ToolCall("", "nope", {}),))
        return Completion(f"by {request.messages[0].content}")


@pytest.mark.parametrize("has_function", [False, True])
def test_a_call_of_no_tool_is_answered_by_whose_turn_it_is_and_hooks_hear_of_it(
    has_function, tmp_path
):
    heard = []
    members = [clerk(name, llm_config=CONFIG) for name in ("one", "two", "three")]
    members[1].register_hook("process_last_received_message", lambda text: heard.append(1) or text)
    if has_function:
        members[2].register_function({"add": lambda a, b: a + b})
    model = CallsNobody()
    run = played(tmp_path, model, group(*members, max_round=4))

    assert run.summary["stop_reasons"] == {"done": 1}
    assert answers(run) == ["by You are the three."]
    assert "Function nope not found" in model.asked[1].messages[-1].content
    assert heard == [1]
    assert [one.function_map.keys() for one in members[:2]] == [set()] * 2


def test_calls_beyond_the_budget_end_a_group(tmp_path):
    run = played(tmp_path, Script(*[["7"]] * 20), group(clerk(), proxy()), max_calls=2)
    assert run.summary["stop_reasons"] == {"max_calls": 1}


def test_a_group_that_cannot_be_is_the_agents_crash(tmp_path):
    run = played(tmp_path, Script(), group(clerk(), method=lambda last, chat: "nobody"))
    assert run.summary["stop_reasons"] == {"crashed": 1}
    assert "speaker_selection_method is set to 'nobody'" in str(run.summary["crashes"])


# --- patterns of AG2: handoffs, context variables, AutoGen's choice


def handing_on() -> Any:
    first = clerk("triage", llm_config=CONFIG)
    second = clerk("shipping", llm_config=CONFIG)
    first.handoffs.set_after_work(group_parts.AgentTarget(second))
    return patterns.DefaultPattern(initial_agent=first, agents=[first, second])


def test_a_pattern_hands_on_and_what_its_members_say_is_noted(tmp_path):
    model = Script("Shipping knows.", ["7", "8"], "Monday and Friday")
    run = played(tmp_path, model, handing_on)

    assert (run["call_f1"].mean, run["pass_rate"].mean) == (1.0, 1.0)
    assert answers(run) == ["Monday and Friday"]
    assert noted(run) == "triage: Shipping knows.\nshipping: Monday and Friday\n"
    assert [request.messages[0].content for request in model.asked] == [
        "You are the triage.",
        *["You are the shipping."] * 2,
    ]


def test_context_variables_and_own_functions_of_a_pattern_are_as_new_in_each_chat(tmp_path):
    seen = []

    def note(order: str, context_variables: group_parts.ContextVariables) -> Any:
        seen.append(dict(context_variables.data))
        context_variables["order"] = order
        return group_parts.ReplyResult(message="noted", context_variables=context_variables)

    one = clerk("one", llm_config=CONFIG, functions=[note])
    user = proxy()
    shared = patterns.DefaultPattern(
        initial_agent=one,
        agents=[one],
        user_agent=user,
        context_variables=group_parts.ContextVariables({"order": "none"}),
        group_after_work=group_parts.RevertToUserTarget(),
    )

    class Notes(Script):
        def complete(self, request: Request) -> Completion:
            self.asked.append(request)
            if request.messages[-1].role == "tool":
                return Completion("Monday")
            return Completion(calls=(ToolCall("", "note", {"order": "7"}),))

    goals = (seal.Goal("Hi", offered=("shop/get_order",)),)
    tasks = [seal.Task(name, "shop", goals) for name in ("one", "two")]
    bench = seal.Benchmark("shop", tools=[get_order], tasks=tasks)
    run = played(tmp_path, Notes(), shared, bench, workers=1)

    assert seen == [{"order": "none"}] * 2
    assert answers(run) == ["Monday"] * 2


def test_autogen_chooses_in_a_pattern_by_the_model_of_the_run(tmp_path):
    def chosen() -> Any:
        writer, critic = clerk("writer", llm_config=CONFIG), clerk("critic", llm_config=CONFIG)
        return patterns.AutoPattern(
            initial_agent=writer,
            agents=[writer, critic],
            user_agent=proxy(),
            group_manager_args={"llm_config": CONFIG},
        )

    model = Script("A poem.", "critic", "Too long.", "proxy")
    assert answers(played(tmp_path, model, chosen)) == ["Too long."]


def test_a_pattern_that_cannot_be_is_the_agents_crash_and_names_the_repair(tmp_path):
    def without_model() -> Any:
        return patterns.AutoPattern(initial_agent=clerk("a"), agents=[clerk("b")])

    run = played(tmp_path, Script(), without_model)
    assert run.summary["stop_reasons"] == {"crashed": 1}
    assert "need an llm_config: any will do" in str(run.summary["crashes"])


def test_a_person_in_a_group_without_a_terminal_ends_the_run_with_the_repair(tmp_path):
    with pytest.raises(UsageError, match=r"asks a person .*no terminal"):
        played(tmp_path, Script("Hi"), group(clerk(), proxy(human_input_mode="ALWAYS")))


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
