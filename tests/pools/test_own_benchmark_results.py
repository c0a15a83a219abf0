"""Tasks whose gold takes results of earlier calls: played, scored, checked, read from files."""

import json
from dataclasses import replace

import pytest

import seal
from seal.cli.dispatch import main
from seal.core import UsageError
from seal.environments.chat_world import World
from seal.environments.world import Worlds, toolbox
from seal.pools.lint import lint
from seal.pools.pool import load_pool
from seal.testing import check_benchmark


def find_order(customer: str) -> dict:
    "Find the orders of a customer, newest first."
    if customer == "Nobody":
        return {"orders": []}
    return {"orders": [{"id": f"{customer[:2]}-1"}]}


def cancel_order(order_id: str) -> dict:
    "Cancel an order."
    return {"cancelled": order_id}


TOOLS = [find_order, cancel_order]
GOLD = (
    seal.called("find_order", customer="Lena"),
    seal.called("cancel_order", order_id=seal.result_of(1, "orders.0.id")),
)


def find(shop: World, who: str) -> dict:
    """Find an order."""
    return next({"id": row["id"]} for row in shop.rows("orders") if row["who"] == who)


def cancel(shop: World, order: str) -> str:
    """Cancel an order."""
    rows = [dict(row) for row in shop.rows("orders")]
    shop.put("orders", [row | {"open": row["open"] and row["id"] != order} for row in rows])
    return "done"


SHOP = Worlds(
    name="shop",
    tools=toolbox("shop", [find, cancel]),
    tables={
        "orders": [
            {"id": "K7", "who": "Lena", "open": True},
            {"id": "T1", "who": "Tom", "open": True},
        ]
    },
    make=World,
)


def bench(*gold, tools=TOOLS, **options):
    task = seal.ask("Cancel Lena's newest order.", *(gold or GOLD), **options)
    return seal.Benchmark("shop", tools=tools, tasks=[task])


def agent_of(*calls):
    def agent(request, tools):
        named = {tool.__name__: tool for tool in tools}
        for name, arguments in calls:
            named[name](**arguments)
        return "Done."

    return agent


def played(tmp_path, agent, bench=None, **options):
    given = {"baselines": False, "out": tmp_path / "run", **options}
    return seal.run(bench or globals()["bench"](), agent=agent, **given)


@pytest.mark.parametrize("form", ["native", "json", "action"])
def test_the_oracle_plays_what_the_earlier_call_brought(tmp_path, form):
    run = played(tmp_path, "oracle", format=form)
    (chat,) = run.folder.trajectories()
    assert [step.call.arguments for step, _ in chat.calls()][1] == {"order_id": "Le-1"}
    assert (run["calls_right"].mean, run["param_acc_gold"].mean) == (1.0, 1.0)


@pytest.mark.parametrize("given", ["API_call_0", "Le-2", "$var_1.orders.0.id$"])
def test_a_text_that_only_names_the_call_is_wrong_and_explained(tmp_path, given):
    calls = ("find_order", {"customer": "Lena"}), ("cancel_order", {"order_id": given})
    run = played(tmp_path, agent_of(*calls))
    assert (run["calls_right"].mean, run["param_acc_gold"].mean) == (0.0, 0.5)
    stages = seal.explain(run).content["stages"]
    (example,) = [one for stage in stages for one in stage["examples"]]
    assert (example["stage"], example["expected"]) == ("wrong_argument", "Le-1")


def test_one_wrong_call_whose_result_is_taken_on_is_one_error(tmp_path):
    calls = ("find_order", {"customer": "Tom"}), ("cancel_order", {"order_id": "To-1"})
    run = played(tmp_path, agent_of(*calls))
    assert (run["calls_right"].mean, run["param_acc_gold"].mean) == (0.0, 0.5)


def test_a_right_call_whose_result_lacks_the_part_is_no_error_of_the_agent(tmp_path):
    gold = seal.called("find_order", customer="Nobody"), GOLD[1]
    run = played(tmp_path, agent_of(("find_order", {"customer": "Nobody"})), bench(*gold))
    assert run["calls_right"].mean is None
    scores = run.scores
    (reason,) = scores[scores.metric == "calls_right"].reason
    assert "has no '0'" in reason and "mend the path" in reason


def test_with_gold_results_a_reference_keeps_what_the_agent_gives(tmp_path):
    calls = ("find_order", {"customer": "Tom"}), ("cancel_order", {"order_id": "Le-1"})
    run = played(tmp_path, agent_of(*calls), gold_results=True)
    (chat,) = run.folder.trajectories()
    results = [json.loads(result.result.content)["response"] for _, result in chat.calls()]
    assert results == [{"orders": [{"id": "Le-1"}]}, {"cancelled": "Le-1"}]


def test_a_sound_benchmark_passes_its_check(tmp_path):
    other = seal.ask("Find Tom's order.", seal.called("find_order", customer="Tom"))
    task = seal.ask("Cancel Lena's newest order.", *GOLD)
    check_benchmark(seal.Benchmark("shop", tools=TOOLS, tasks=[task, other]))


def test_the_end_of_a_world_is_that_of_the_results(tmp_path):
    find = seal.called("find", who="Lena")
    cancel = seal.called("cancel", order=seal.result_of(1, "id"))
    again = seal.called("cancel", order=seal.result_of(1, "id"))
    task = seal.ask("Cancel Lena's order.", seal.ends_as(find, cancel))
    tom = seal.ends_as(seal.called("find", who="Tom"), again)
    goals = (*task.goals, *seal.ask("And Tom's.", tom).goals)
    shop = seal.Benchmark("shop", environment=SHOP, tasks=[replace(task, goals=goals)])
    run = played(tmp_path, "oracle", shop)
    assert run["pass_rate"].mean == 1.0
    idle = played(tmp_path / "idle", agent_of(), shop)
    assert idle["pass_rate"].mean == 0.0


@pytest.mark.parametrize(
    ("gold", "said"),
    [
        ((GOLD[1], GOLD[0]), "does not come before it"),
        ((GOLD[0], seal.called("cancel_order", order_id=seal.result_of(9))), "there are 2"),
        ((GOLD[0], seal.called("cancel_order", order_id={"$result_of": "1"})), "names no result"),
    ],
)
def test_a_reference_that_cannot_be_is_refused_with_the_repair(gold, said):
    with pytest.raises(UsageError, match=said):
        bench(*gold).tasks  # noqa: B018


def test_a_path_that_the_declared_result_lacks_is_refused():
    returns = {"type": "object", "properties": {"orders": {"type": "array"}}}
    schema = {
        "name": "find_order",
        "description": "Find.",
        "parameters": {"type": "object", "properties": {"customer": {"type": "string"}}},
        "outputSchema": returns,
    }
    gold = GOLD[0], seal.called("cancel_order", order_id=seal.result_of(1, "order.id"))
    with pytest.raises(UsageError, match=r"declares no 'order'; mend the path"):
        bench(*gold, tools=[schema, cancel_order]).tasks  # noqa: B018


ROW = {
    "query": "Cancel Lena's newest order.",
    "calls": [
        {"name": "find_order", "arguments": {"customer": "Lena"}},
        {"name": "cancel_order", "arguments": {"order_id": seal.result_of(1, "orders.0.id")}},
    ],
}


def made_of_files(tmp_path, monkeypatch, *rows):
    tools = [
        {"name": name, "description": f"{name}.", "parameters": {"type": "object", **given}}
        for name, given in (
            ("find_order", {"properties": {"customer": {"type": "string"}}}),
            ("cancel_order", {"properties": {"order_id": {"type": "string"}}}),
        )
    ]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tools.json").write_text(json.dumps(tools))
    (tmp_path / "tasks.jsonl").write_text("\n".join(map(json.dumps, rows)))
    words = ["new", "shop", "--tools", "tools.json", "--tasks", "tasks.jsonl", "--out", "shop"]
    return main(words), tmp_path / "shop"


def test_a_file_names_results_by_the_same_map_and_a_pool_keeps_it(tmp_path, monkeypatch, capsys):
    code, folder = made_of_files(tmp_path, monkeypatch, ROW)
    assert code == 0
    (task,) = load_pool(folder).tasks()
    (plan,) = task.goals[0].plans
    assert plan.calls()[1].canonical_arguments()["order_id"] == seal.result_of(1, "orders.0.id")
    assert plan.milestones[1].after == (0,)
    assert lint(folder).counts().get("invalid_call", 0) == 0


def test_a_row_that_names_no_earlier_call_is_left_out_with_the_reason(
    tmp_path, monkeypatch, capsys
):
    swapped = {**ROW, "calls": ROW["calls"][::-1]}
    code, _ = made_of_files(tmp_path, monkeypatch, ROW, swapped)
    assert code == 0
    assert "does not come before it" in capsys.readouterr().out


def test_lint_warns_of_texts_that_name_results_and_finds_broken_references(
    tmp_path, monkeypatch, capsys
):
    literal = json.loads(json.dumps(ROW))
    literal["calls"][1]["arguments"]["order_id"] = "API_call_0"
    _, folder = made_of_files(tmp_path, monkeypatch, ROW, literal)
    (found,) = [one for one in lint(folder).findings if one.kind == "named_result"]
    assert '{"$result_of": 1' in found.message
    tasks = folder / "tasks.jsonl"
    tasks.write_text(tasks.read_text().replace('"$result_of":1', '"$result_of":2'))
    (broken,) = [one for one in lint(folder).findings if one.kind == "invalid_call"]
    assert "does not come before it" in broken.message
