"""A function in the place of the agent: what it is given, what it may do, what it is told."""

import asyncio
from pathlib import Path

import pytest

import seal
from seal.agents.own import ToolError
from seal.core.errors import UnknownNameError, UsageError

ORDERS = {"7": "Monday", "8": "Friday"}


def get_order(order_id: str, in_words: bool = True) -> str:
    """Say when an order ships.

    Args:
        order_id: As on the receipt.
        in_words: Whether to name the day.
    """
    return ORDERS[order_id]


SHOP = seal.Benchmark(
    "shop",
    tools=[get_order],
    tasks=[
        seal.ask(
            "When do 7 and 8 ship?",
            seal.called("get_order", order_id="7"),
            seal.called("get_order", order_id="8"),
            answer=["Monday", "Friday"],
        )
    ],
)


def played(agent, tmp_path: Path, bench=SHOP, **options) -> seal.Run:
    given = {"baselines": False, "out": tmp_path / "run", "cache_dir": tmp_path / "c", **options}
    return seal.run(bench, agent=agent, **given)


def both(request, tools):
    (look_up,) = tools
    return f"{look_up(order_id='7')} and {look_up('8')}"


async def at_once(request, tools):
    found = await asyncio.gather(*(tools[0](order_id=number) for number in ORDERS))
    return " and ".join(found)


class Clerk:
    def __call__(self, request, tools):
        return both(request, tools)


@pytest.mark.parametrize(
    ("agent", "turns"), [(both, [1, 3]), (at_once, [1, 1]), (Clerk(), [1, 3])], ids=["f", "a", "o"]
)
def test_its_calls_are_calls_of_the_chat_and_its_answer_is_judged(agent, turns, tmp_path):
    run = played(agent, tmp_path)

    assert list(run.calls["turn"]) == turns
    assert list(run.calls["author"]) == ["execution_manager"] * 2
    assert (run["call_f1"].mean, run["pass_rate"].mean) == (1.0, 1.0)


def test_its_tools_have_the_names_signatures_and_texts_of_the_documents(tmp_path):
    told = []

    def look(request, tools):
        (tool,) = tools
        told.append((tool.__name__, str(tool.__signature__), tool.__doc__, tool.parameters))
        return "none"

    played(look, tmp_path)
    ((name, signature, text, parameters),) = told
    assert (name, signature) == ("get_order", "(*, order_id: str, in_words: bool = True)")
    assert text.startswith("Say when an order ships.\n\nArgs:\n    order_id: As on the receipt.")
    assert parameters["required"] == ["order_id"]


def test_what_a_tool_refuses_or_raises_is_a_tool_error_that_it_may_catch(tmp_path):
    def careful(request, tools):
        told = []
        for arguments in ({"order_id": "9"}, {"order": "7"}):
            try:
                tools[0](**arguments)
            except ToolError as error:
                told.append(str(error))
        return "; ".join(told)

    run = played(careful, tmp_path)
    (answer,) = run.tasks["answer"]
    assert answer.startswith("KeyError: '9'; get_order takes no argument 'order'; it takes: order")


def test_a_third_argument_is_what_was_said_before(tmp_path):
    goals = tuple(seal.Goal(text, offered=("shop/get_order",)) for text in ("Hi", "And now?"))
    bench = seal.Benchmark("shop", tools=[get_order], tasks=[seal.Task("one", "shop", goals)])

    def echo(request, tools, messages):
        return f"{request} {[(m['role'], m['content']) for m in messages]}"

    answers = list(played(echo, tmp_path, bench).tasks["answer"])
    assert answers[0] == "Hi []"
    assert answers[1] == "And now? [('user', 'Hi'), ('assistant', 'Hi []')]"


@pytest.mark.parametrize(
    ("agent", "said"),
    [
        (lambda request, tools: None, "returned NoneType; expected the answer as a text"),
        (lambda request, tools: 7, "returned int; expected the answer as a text"),
        (lambda request, tools: 1 / 0, "ZeroDivisionError: division by zero (test_own_agent.py"),
        (lambda request, tools: tools[0]("7", True, 3), "get_order takes 2 arguments, got 3"),
        (
            lambda request, tools: tools[0]("7", order_id="8"),
            "get_order got the argument 'order_id' twice, by place and by name",
        ),
        (
            lambda request, tools: tools[0](order_id={7}),
            "get_order got an argument that JSON cannot say",
        ),
    ],
)
def test_a_fault_of_the_agent_is_an_error_of_its_task_and_no_score(agent, said, tmp_path):
    run = played(agent, tmp_path)
    assert run.exit_code == 1
    assert run["call_f1"].n == 0
    assert said in str(run.summary["error_reasons"])


def test_a_call_that_it_cancels_keeps_no_refusal_from_the_others(tmp_path):
    ended = []

    async def hasty(request, tools):
        for _ in range(9):
            calls = [asyncio.ensure_future(tools[0](order_id="7")) for _ in range(2)]
            await asyncio.sleep(0)
            calls[0].cancel()
            done, _ = await asyncio.wait(calls, timeout=5)
            ended.append(len(done))
        return "none"

    played(hasty, tmp_path, max_calls=3)
    assert ended and set(ended) == {2}


def stubborn(request, tools):
    while True:
        try:
            tools[0](order_id="7")
        except Exception:
            continue


async def stubborn_at_once(request, tools):
    while True:
        try:
            await asyncio.gather(tools[0](order_id="7"))
        except Exception:
            continue


@pytest.mark.parametrize("agent", [stubborn, stubborn_at_once])
def test_an_agent_that_catches_every_error_ends_by_the_budget(tmp_path, agent):
    run = played(agent, tmp_path, max_calls=4)
    assert run.summary["stop_reasons"] == {"max_calls": 1}


def test_an_agent_that_is_cancelled_is_an_error_of_its_task(tmp_path):
    async def cancelled(request, tools):
        raise asyncio.CancelledError

    run = played(cancelled, tmp_path)
    assert (run.summary["errors"], run.exit_code) == (1, 1)


def test_an_agent_that_calls_for_ever_ends_by_the_budget(tmp_path):
    def loop(request, tools):
        while True:
            tools[0](order_id="7")

    run = played(loop, tmp_path, max_calls=3)
    assert (run.exit_code, list(run.tasks["stop"])) == (0, ["max_calls"])


@pytest.mark.parametrize(
    ("agent", "said"),
    [
        (lambda request: "x", r"\(request\) is no agent; expected a function of \(request, tools"),
        (3, "agent: expected a model .*a function of .request, tools. or None, got 3"),
        ({"a": 1}, "agent: expected a model .*, got a dict"),
        (dict, "<class 'dict'> is no agent; expected a model"),
        ("nowhere:solve", "no module 'nowhere' is installed, in this folder, or on PYTHONPATH"),
        ("os:nothing", "os has no 'nothing'"),
    ],
)
def test_what_is_no_agent_is_refused_with_what_one_is(agent, said, tmp_path):
    with pytest.raises(UsageError, match=said):
        played(agent, tmp_path)


def test_a_name_that_is_nearly_a_models_names_the_model(tmp_path):
    with pytest.raises(UnknownNameError, match=r"no agent or model 'lexcal'.*'lexical'"):
        played("lexcal", tmp_path)


def test_a_coroutine_is_told_from_its_function(tmp_path):
    with pytest.raises(UsageError, match="a coroutine is no agent; give the function itself"):
        played(at_once("", []), tmp_path)


def test_roles_beside_it_need_a_model_of_their_own(tmp_path):
    with pytest.raises(
        UsageError, match=r"'orchestrator' needs a model.*--role-model orchestrator"
    ):
        played(both, tmp_path / "a", team="full")
    with pytest.raises(UsageError, match=r"test_own_agent:both plays tasks and cannot be the judg"):
        played(both, tmp_path / "b", judge="llm")
