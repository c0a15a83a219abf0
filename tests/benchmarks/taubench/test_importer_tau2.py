"""tau2-bench from a small checkout in its form: tasks, world, reward, and what cannot be read."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import seal
from seal.benchmarks.taubench.metrics import Reward
from seal.benchmarks.taubench.world import TAU2, Shop, Shops
from seal.core import END_CONVERSATION, SealError, Task, ToolCall, ToolResult
from seal.pools.imports import import_benchmark
from seal.pools.pool import load_pool
from seal.testing import check_benchmark

ALLOWED: dict[str, Any] = {"allow_code": (TAU2.package,)}
CHECKOUT = Path(__file__).parents[2] / "fixtures" / "tau2_checkout"


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    made = shutil.copytree(CHECKOUT, tmp_path / "checkout")
    monkeypatch.syspath_prepend(str(made / "src"))
    return Path(made)


@pytest.fixture
def pool(checkout: Path) -> Path:
    out = checkout.parent / "pool"
    import_benchmark("tau2", checkout, out, domains="retail", **ALLOWED)
    return out


@pytest.fixture
def shops(pool: Path) -> Shops:
    tools = {tool.id: tool for tool in load_pool(pool).tools()}
    return Shops(TAU2, pool.parent / "checkout" / "src" / "tau2", tools, 5.0)


@pytest.fixture
def first(pool: Path) -> Task:
    return next(iter(load_pool(pool).tasks()))


@pytest.fixture
def world(shops: Shops, first: Task) -> Iterator[Shop]:
    opened = shops.open(first, 0)
    assert isinstance(opened, Shop)
    with closing(opened):
        yield opened


def made(world: Shop, name: str, **arguments: Any) -> ToolResult:
    (result,) = world.call([ToolCall("call_0", name, arguments, tool=f"tau2/retail/{name}")])
    return result


def rows(world: Shop, table: str) -> dict[str, Any]:
    return {row["key"]: row for row in world.states()[-1][table]}


def test_tasks_have_scenario_policy_gold_and_the_rows_of_their_user(pool: Path) -> None:
    tasks = {task.id: task for task in load_pool(pool).tasks()}
    assert [*tasks] == [f"tau2/retail/{number}" for number in range(4)]
    task = tasks["tau2/retail/0"]
    assert task.goals[0].text == "Why you write: Cancel #1.\nWhat you know: You are Ann."
    assert task.system == "Serve people well." and task.world == "tau2"
    assert task.persona == {"goal": task.goals[0].text, "opening": True}
    assert task.initial_state == {
        "orders": [{"key": "#1", "user_id": "u1", "status": "open", "price": 5.0}],
        "users": [{"key": "u1", "name": "Ann"}],
    }
    assert tasks["tau2/retail/1"].goals[0].answers == ("1000 Dollars", "x")
    (plan,) = tasks["tau2/retail/2"].goals[0].plans or ()
    assert [call.refused for call in plan.milestones[0].condition.gold_calls()] == [True]
    counts = load_pool(pool).report["counts"]
    assert counts == {
        "gold_calls": 5,
        "gold_calls_refused": 1,
        "tasks_with_outputs": 1,
        "tasks_with_statements_to_judge": 1,
    }


def test_a_call_shows_the_rows_that_it_changed_and_the_next_chat_begins_anew(
    shops: Shops, first: Task, world: Shop
) -> None:
    assert made(world, "cancel_order", order_id="#2").value["status"] == "cancelled"
    assert made(world, "add_order", order_id="#0").value == "added"
    assert rows(world, "orders") == {
        "#0": {"key": "#0", "user_id": "u1", "status": "open", "price": 2.0},
        "#1": {"key": "#1", "user_id": "u1", "status": "open", "price": 5.0},
        "#2": {"key": "#2", "user_id": "u2", "status": "cancelled", "price": 0.0},
    }
    made(world, "forget_order", order_id="#1")
    assert "#1" not in rows(world, "orders")
    world.close()
    again = shops.open(first, 1)
    assert isinstance(again, Shop)
    assert made(again, "first_order").value == "#1"  # in its old place
    assert again.states()[-1] == first.initial_state
    error = made(again, "cancel_order", order_id="#0").error
    assert error is not None and error["message"] == "Order not found"
    again.close()


@pytest.mark.parametrize(
    ("how", "kind", "told"),
    [("exit", "SystemExit", "exit"), ("write", "exception", "a tool may not do this: open")],
)
def test_what_a_tool_raises_is_its_result_and_its_changes_stay(
    world: Shop, tmp_path: Path, how: str, kind: str, told: str
) -> None:
    error = made(world, "spoil", how=how).error
    assert error is not None and error["kind"] == kind and told in error["message"]
    assert rows(world, "users")["u1"]["name"] == "spoilt"
    assert not list(Path().glob("spoilt")) and not list(tmp_path.rglob("__pycache__"))


@pytest.mark.parametrize(
    ("how", "told"),
    [("die", "ended with status 3"), pytest.param("hang", "5 s", marks=pytest.mark.slow)],
)
def test_a_call_that_does_not_return_is_undone_and_the_chat_goes_on(
    world: Shop, how: str, told: str
) -> None:
    made(world, "cancel_order", order_id="#2")
    made(world, "add_order", order_id="#0")
    made(world, "forget_order", order_id="#1")
    before = world.states()[-1]
    error = made(world, "spoil", how=how).error
    assert error is not None and told in error["message"]
    assert world.states()[-1] == before
    assert made(world, "cancel_order", order_id="#0").value["price"] == 2.0
    error = made(world, "cancel_order", order_id="#1").error
    assert error is not None and error["message"] == "Order not found"


def test_a_transfer_does_not_end_the_chat(world: Shop) -> None:
    assert made(world, "transfer_to_human_agents", summary="x").value == "Transfer successful"
    assert made(world, "cancel_order", order_id="#1").value["status"] == "cancelled"


def clerk(calls: Sequence[tuple[str, dict[str, Any]]], says: str) -> Any:
    def agent(request: str, tools: Sequence[Any]) -> str:
        named = {tool.__name__: tool for tool in tools}
        for name, arguments in calls:
            named[name](**arguments)
        return says

    return agent


CANCEL = [("cancel_order", {"order_id": "#1"})]


@pytest.mark.parametrize(
    ("number", "calls", "says", "reward"),
    [
        (0, CANCEL, "Done.", (1.0, 1.0, None)),
        (0, [], "Done.", (0.0, 0.0, None)),
        (0, [*CANCEL, ("add_order", {"order_id": "#3"})], "Done.", (0.0, 0.0, None)),
        (1, [], "It is 1,000 DOLLARS; x.", (1.0, 1.0, 1.0)),
        (1, [], "It is 1,000 dollars.", (0.0, 1.0, 0.0)),
        (3, CANCEL, "Done.", (None, 1.0, None)),
        (3, [], "Done.", (0.0, 0.0, None)),
    ],
)
def test_the_reward_is_by_end_and_facts_and_open_where_a_judge_must_say(
    pool: Path,
    tmp_path: Path,
    number: int,
    calls: list[tuple[str, dict[str, Any]]],
    says: str,
    reward: tuple[float | None, ...],
) -> None:
    run = seal.run(
        str(pool),
        agent=clerk(calls, says),
        role_models={"user_simulator": "oracle"},
        out=tmp_path / "run",
        select={"id": f"tau2/retail/{number}"},
        baselines=False,
        **ALLOWED,
    )
    found = {score.metric: score for score in run.folder.scores()}
    names = ("reward", "reward_state", "reward_outputs")
    assert tuple(found[name].value for name in names) == reward
    if reward[0] is None:
        assert found["reward"].reason == "no judge's model says so: NL_ASSERTION"


@pytest.mark.parametrize(
    ("says", "calls", "reward", "told"),
    [
        (["solved"], CANCEL, 1.0, None),
        (["unsolved"], CANCEL, 0.0, "the judge denies: The agent is kind. (because)"),
        (["unsure"], CANCEL, None, "the judge cannot say: The agent is kind."),
        (["perhaps"] * 9, CANCEL, None, "the judge gave no verdict"),
        (["solved"], [], 0.0, "the data do not end as after gold"),
    ],
)
def test_a_judges_model_is_asked_of_each_statement_where_all_else_is_right(
    pool: Path,
    tmp_path: Path,
    says: list[str],
    calls: list[tuple[str, dict[str, Any]]],
    reward: float | None,
    told: str | None,
) -> None:
    seen: list[Any] = []

    class Judge:
        def complete(self, request: seal.Request) -> seal.Completion:
            seen.append(request)
            verdict = says[min(len(seen), len(says)) - 1]
            return seal.Completion(f'{{"verdict": "{verdict}", "reason": "because"}}')

    run = seal.run(
        str(pool),
        agent=clerk(calls, "Done."),
        role_models={"user_simulator": "oracle", "judge": Judge()},
        judge="llm",
        out=tmp_path / "run",
        select={"id": "tau2/retail/3"},
        baselines=False,
        **ALLOWED,
    )
    score = next(score for score in run.folder.scores() if score.metric == "reward")
    assert score.value == reward and (told or "") in (score.reason or "")
    asked = [one for one in seen if '"statement": "The agent is kind."' in one.messages[1].content]
    assert bool(asked) == bool(calls)


@pytest.fixture
def phones(checkout: Path) -> Path:
    out = checkout.parent / "phones"
    import_benchmark("tau2", checkout, out, domains="telecom", **ALLOWED)
    return out


def test_a_user_with_tools_has_them_in_its_brief_and_no_agent_is_offered_them(phones: Path) -> None:
    task = next(iter(load_pool(phones).tasks()))
    assert task.id == "tau2/telecom/both" and task.user_tools == ("tau2/telecom/switch_on",)
    assert task.goals[0].offered == ("tau2/telecom/pay",) == task.goals[0].relevant
    asserted = {"env_type": "user", "func_name": "assert_bars", "arguments": {"least": 1}}
    assert task.initial_state is not None
    (bars,) = task.initial_state["assertions"]
    assert bars == {"key": "0", **asserted, "assert_value": True, "message": None, "holds": False}
    assert task.initial_state["lines"] == [{"key": "L2", "line_id": "L2", "is_paid": False}]
    assert task.initial_state["user"] == [{"key": "phone", "is_on": False, "bars": 0}]


def test_gold_of_agent_and_user_is_played_in_turns_and_fulfils_what_is_asserted(
    phones: Path, tmp_path: Path
) -> None:
    run = seal.run(str(phones), model="oracle", baselines=False, out=tmp_path / "run", **ALLOWED)
    assert [s.value for s in run.folder.scores() if s.metric == "reward"] == [1.0, 1.0]
    first, second = run.folder.trajectories()
    for chat, callers in (
        (first, ["execution_manager", "user_simulator"]),
        (second, ["user_simulator", "execution_manager"]),
    ):
        own = [step for step, _ in chat.calls() if step.call and step.call.tool != END_CONVERSATION]
        assert [step.author for step in own] == callers
        assert chat.stops[0].reason == "user_ended"
    assert list(run.tasks["calls"]) == [1.0, 1.0]  # of the agent's


@pytest.mark.parametrize(
    ("number", "agents", "users", "reward", "told"),
    [
        (0, ["pay"], ["switch_on"], 1.0, ""),
        (0, ["pay"], [], 0.0, 'at the end it does not hold: assert_bars {"least":1}'),
        (0, [], ["switch_on"], 0.0, "at the end it does not hold"),
        (1, ["pay"], ["switch_on", "pay"], 1.0, ""),  # the user has no such tool
        (1, [], [], 0.0, "at the end it does not hold"),
    ],
)
def test_what_is_asserted_of_the_end_makes_the_reward(
    phones: Path,
    tmp_path: Path,
    number: int,
    agents: list[str],
    users: list[str],
    reward: float,
    told: str,
) -> None:
    paid = [("pay", {"line_id": "L2"})] * len(agents)

    class Holder:
        def reply(self, chat: seal.Chat) -> seal.Reply:
            if not any(step.author == chat.role for step in chat.steps):
                return seal.Reply(chat.request)
            for name in users:
                chat.execute([ToolCall("", name, {})])
            return seal.Reply(done=True)

    run = seal.run(
        str(phones),
        agent=clerk(paid, "Done."),
        roles={"user_simulator": Holder()},
        first=number + 1,
        baselines=False,
        out=tmp_path / "run",
        **ALLOWED,
    )
    score = [score for score in run.folder.scores() if score.metric == "reward"][-1]
    assert score.value == reward and told in score.reason


def test_calls_that_somebody_must_make_are_asked_for_by_their_arguments(
    phones: Path, tmp_path: Path
) -> None:
    task = [*load_pool(phones).tasks()][1]
    wanted = task.metadata["actions"]
    assert [(one["name"], one["compare_args"]) for one in wanted] == [
        ("switch_on", []),
        ("pay", None),
    ]
    run = seal.run(
        str(phones),
        agent=clerk([("pay", {"line_id": "L2"})], "Done."),
        roles={"user_simulator": "scripted"},
        first=2,
        baselines=False,
        out=tmp_path / "run",
        **ALLOWED,
    )
    said = [score.reason for score in run.folder.scores() if score.metric == "reward"]
    assert said == ['at the end it does not hold: assert_bars {"least":1}'] * 2
    chat = [*run.folder.trajectories()][1]
    for actions, value, told in (
        (wanted, 0.0, "never called: switch_on"),
        (wanted[1:], 1.0, ""),
        ([{**wanted[1], "arguments": {"line_id": "L1"}}], 0.0, "never called: pay"),
        ([{**wanted[1], "arguments": {}, "compare_args": []}], 1.0, ""),
    ):
        asks = replace(task, metadata={"actions": actions, "reward_basis": ["ACTION"]})
        score = next(one for one in Reward().score(asks, chat, {}) if one.metric == "reward")
        assert (score.value, score.reason or "") == (value, told)


@pytest.mark.slow
def test_gold_and_metrics_agree(pool: Path) -> None:
    check_benchmark(str(pool), allow_code=(TAU2.package,))


def test_the_files_are_part_of_what_is_measured(shops: Shops, checkout: Path) -> None:
    def version() -> Any:
        return Shops(TAU2, shops.folder, shops.tools).identity()

    before = version()
    assert before["world"] == "tau2" and [*before["files"]] == ["retail"]
    file = checkout / "src" / "tau2" / "environment" / "small.py"
    file.write_text(file.read_text("utf-8").replace("Order not found", "No order"), "utf-8")
    assert version() != before


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"allow_code": ()}, "which the import runs .* allow it: --allow-code tau2"),
        ({**ALLOWED, "domains": "bank"}, "no domain of tau2 'bank'; known: airline"),
        ({**ALLOWED, "domains": "airline"}, "task 0: it begins with messages or data of its own"),
        ({**ALLOWED, "domains": "retail", "split": "dev"}, "no tasks of the split 'dev'; .* test"),
    ],
)
def test_what_cannot_be_is_told(checkout: Path, options: dict[str, Any], told: str) -> None:
    with pytest.raises(SealError, match=told):
        import_benchmark("tau2", checkout, checkout.parent / "pool", **options)
    assert not (checkout.parent / "pool").exists()


def test_a_checkout_that_lacks_a_part_is_told(checkout: Path) -> None:
    source = checkout / "src" / "tau2"
    environment = source / "domains" / "retail" / "environment.py"
    code = environment.read_text("utf-8")

    def imported(**options: Any) -> None:
        import_benchmark(
            "tau2", checkout, checkout.parent / "pool", domains="retail", **ALLOWED, **options
        )

    environment.write_text(code.replace('action("find_user"', 'action("fly"'), "utf-8")
    with pytest.raises(SealError, match="gold calls 'fly', which is no tool of retail; get a"):
        imported()
    environment.write_text("import no_such_library\n", "utf-8")
    with pytest.raises(SealError, match=r"no_such_library.*export SEAL_TAU2_PYTHON=PATH"):
        imported()
    with pytest.raises(SealError, match="a checkout with tau2/domains"):
        import_benchmark("tau2", source / "domains", checkout.parent / "pool", **ALLOWED)
