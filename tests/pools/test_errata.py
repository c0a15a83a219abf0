"""Errata: gold corrected in a pool beside the pool, and runs scored by both golds."""

import json
from pathlib import Path
from typing import Any

import pytest

import seal
from seal.cli.dispatch import main
from seal.core import DataError, UsageError
from seal.pools.catalogue import source_folder
from seal.pools.errata import apply_errata, draft, gold_digest, read_errata
from seal.pools.lookup import known_benchmark, open_pool
from seal.pools.own_benchmark import GoldCheck
from seal.pools.pool import StoredPool, load_pool


def get_order(order_id: int, unit: str = "day") -> dict[str, Any]:
    """Look an order up.

    Args:
        order_id: As on the receipt.
        unit: Of the answer.
    """
    return {"ships": "Monday"}


@pytest.fixture
def shop(tmp_path: Path) -> StoredPool:
    """Return a pool of two tasks, of which the first has a wrong answer."""
    called = seal.called("get_order", order_id=7)
    tasks = [
        seal.ask("When does order 7 ship?", called, answer="Tuesday", id="t1"),
        seal.ask("And order 8?", seal.called("get_order", order_id=8), answer="Monday", id="t2"),
    ]
    bench = seal.Benchmark("shop", tools=[get_order], tasks=tasks)
    return load_pool(bench.save(tmp_path / "shop"))


def correction(shop: StoredPool, **changes: Any) -> dict[str, Any]:
    entry = {
        "task": "t1",
        "goal": 0,
        "was": gold_digest(shop.task("t1").goals[0]),
        "gold": {"answers": ["Monday"]},
        "reason": "Order 7 ships on Monday.",
        "source": "orders.csv, line 8",
    }
    made = {**entry, **changes}
    return {name: value for name, value in made.items() if value is not ...}


def written(shop: StoredPool, *corrections: Any, benchmark: Any = "shop") -> Path:
    path = shop.folder.parent / "errata.json"
    path.write_text(json.dumps({"benchmark": benchmark, "corrections": list(corrections)}))
    return path


def gold_call(order: Any, tool: str = "shop/get_order", **more: Any) -> dict[str, Any]:
    arguments = {"order_id": {"values": [order]}, **more}
    condition = {"kind": "called", "tool": tool, "arguments": arguments}
    return {"plans": [{"milestones": [{"condition": condition}]}]}


def test_an_overlay_has_the_corrected_gold_and_the_pool_stays(shop, tmp_path: Path) -> None:
    before = shop.digest
    report = apply_errata(shop, read_errata(written(shop, correction(shop))), tmp_path / "o")
    overlay = load_pool(tmp_path / "o")
    assert [goal.answers for task in overlay.tasks() for goal in task.goals] == [
        ("Monday",),
        ("Monday",),
    ]
    assert load_pool(shop.folder).digest == before == report.to_json()["errata"]["of"]
    assert shop.task("t1").goals[0].answers == ("Tuesday",)
    assert overlay.task("t2") == shop.task("t2")
    assert overlay.tools() == shop.tools()


def test_an_overlay_is_made_anew_and_another_pool_is_not_replaced(shop, tmp_path: Path) -> None:
    errata = read_errata(written(shop, correction(shop)))
    for _ in range(2):
        apply_errata(shop, errata, tmp_path / "o")
    for place in (shop.folder, seal.Benchmark("x", tools=[get_order]).save(tmp_path / "x")):
        with pytest.raises(UsageError, match="no overlay"):
            apply_errata(shop, errata, place)


def test_gold_can_be_taken_away(shop, tmp_path: Path) -> None:
    gone = correction(shop, gold={"plans": None, "answers": [], "relevant": []})
    apply_errata(shop, read_errata(written(shop, gone)), tmp_path / "o")
    goal = load_pool(tmp_path / "o").task("t1").goals[0]
    assert (goal.plans, goal.answers, goal.relevant) == (None, (), ())
    assert goal.offered == shop.task("t1").goals[0].offered


def test_the_worked_solution_of_the_old_gold_goes_with_it(tmp_path: Path) -> None:
    pool, name = open_pool("sample"), "weather-01"
    goal = pool.task(name).goals[0]
    for gold, kept in (({"answers": ["75"]}, ()), ({"relevant": []}, goal.reference)):
        entry = {"task": name, "was": gold_digest(goal), "gold": gold}
        listed = [entry | {"reason": "r", "source": "s"}]
        path = tmp_path / "e.json"
        path.write_text(json.dumps({"benchmark": "sample", "corrections": listed}))
        apply_errata(pool, read_errata(path), tmp_path / "o")
        assert load_pool(tmp_path / "o").task(name).goals[0].reference == kept


def test_calls_are_corrected(shop, tmp_path: Path) -> None:
    one = correction(shop, gold=gold_call(9, unit={"values": ["day", "hour"], "optional": True}))
    apply_errata(shop, read_errata(written(shop, one)), tmp_path / "o")
    (call,) = load_pool(tmp_path / "o").task("t1").goals[0].plans[0].calls()
    assert call.canonical_arguments() == {"order_id": 9}
    assert call.arguments["unit"].listed == ("day", "hour")


HOSTILE: dict[str, tuple[dict[str, Any], str]] = {
    "unknown task": ({"task": "t9"}, "1 of 1 task not in .*shop: 't9'; mend the ids, or"),
    "goal beyond": ({"goal": 4}, "task 't1', goal 4: the task has no such goal"),
    "goal below": ({"goal": -1}, "no such goal; goals count from 0"),
    "goal no number": ({"goal": True}, "corrections.0: goal: expected"),
    "another version": ({"was": "0" * 16}, "made for another version: .* look at it anew"),
    "no digest": ({"was": ...}, "corrections.0: .*'was'"),
    "no reason": ({"reason": " "}, "corrections.0: reason is empty"),
    "no source": ({"source": ...}, "corrections.0: .*'source'"),
    "gold of nothing": ({"gold": {}}, "gold: expected some of plans, answers"),
    "what is asked": ({"gold": {"text": "x"}}, "gold: expected some of .*, got 'text'"),
    "unknown field": ({"note": 1}, "unknown field 'note'; it has"),
    "wrong type": ({"gold": {"answers": 7}}, "goal 0: .*answers"),
    "unknown tool": ({"gold": gold_call(7, "shop/none/none")}, "gold tool 'shop/none/none' is not"),
    "unknown relevant": ({"gold": {"relevant": ["x"]}}, "relevant tool 'x' is not in the pool"),
    "against the schema": ({"gold": gold_call("seven")}, "does not fit its schema: .* Mend"),
    "unknown argument": ({"gold": gold_call(7, zz={"values": [1]})}, "does not fit its schema"),
    "edge to nowhere": (
        {"gold": {"plans": [{"milestones": [{"condition": {"kind": "replied"}, "after": [3]}]}]}},
        "milestones.0",
    ),
    "unknown condition": (
        {"gold": {"plans": [{"milestones": [{"condition": {"kind": "evil.module:run"}}]}]}},
        "goal 0: ",
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_errata_that_cannot_be_are_refused_in_one_line(shop, tmp_path: Path, name: str) -> None:
    changes, text = HOSTILE[name]
    path = written(shop, correction(shop, **changes))
    with pytest.raises(DataError, match=text) as refused:
        apply_errata(shop, read_errata(path), tmp_path / "o")
    assert "\n" not in str(refused.value)
    assert str(path) in str(refused.value)
    assert not (tmp_path / "o").exists()


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ([], "'benchmark'"),
        ({"benchmark": "shop"}, "'corrections'"),
        ({"benchmark": "shop", "corrections": []}, "there is none"),
        ({"benchmark": "shop", "corrections": [7]}, "corrections.0: expected"),
        ({"benchmark": 7, "corrections": []}, "benchmark"),
    ],
)
def test_files_that_are_no_errata_are_refused(tmp_path: Path, content: Any, text: str) -> None:
    path = tmp_path / "e.json"
    path.write_text(json.dumps(content))
    with pytest.raises(DataError, match=text):
        read_errata(path)


def test_a_goal_is_corrected_once(shop) -> None:
    with pytest.raises(DataError, match=r"corrections.1: goal 0 of task 't1' is corrected twice"):
        read_errata(written(shop, correction(shop), correction(shop, reason="another")))


def test_errata_of_another_benchmark_are_refused(shop, tmp_path: Path) -> None:
    errata = read_errata(written(shop, correction(shop), benchmark="store"))
    with pytest.raises(DataError, match="corrects 'store', not 'shop'; give the errata of shop"):
        apply_errata(shop, errata, tmp_path / "o")


def test_errata_that_are_not_there_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no benchmark of this name has errata"):
        read_errata(tmp_path / "none.json")
    with pytest.raises(UsageError, match="no benchmark of this name has errata"):
        read_errata("sample")


def test_errata_that_ship_are_found_by_an_alias_too() -> None:
    assert read_errata("stabletoolbench") == read_errata("toolbench")


def test_a_part_of_a_benchmark_takes_its_corrections_alone(shop, tmp_path: Path) -> None:
    errata = read_errata(written(shop, correction(shop), correction(shop, task="t9")))
    with pytest.raises(DataError, match=r"1 of 2 tasks not in .* --partial"):
        apply_errata(shop, errata, tmp_path / "o")
    apply_errata(shop, errata, tmp_path / "o", partial=True)
    assert load_pool(tmp_path / "o").task("t1").goals[0].answers == ("Monday",)


def test_a_draft_is_errata_once_it_has_reasons(shop, tmp_path: Path) -> None:
    content = draft(shop, ["t1", "t2"])
    path = tmp_path / "draft.json"
    path.write_text(json.dumps(content))
    with pytest.raises(DataError, match="reason is empty"):
        read_errata(path)
    for entry in content["corrections"]:
        entry |= {"reason": "looked at", "source": "me"}
    path.write_text(json.dumps(content))
    apply_errata(shop, read_errata(path), tmp_path / "o")
    assert list(load_pool(tmp_path / "o").tasks()) == list(shop.tasks())


def test_a_run_is_scored_by_both_golds(shop, tmp_path: Path) -> None:
    run = seal.run(shop.folder, model="oracle", baselines=False, out=tmp_path / "run")
    path = written(shop, correction(shop, gold=gold_call(9)))
    again = seal.score(run, errata=path)
    assert again.corrected is not None
    assert (again["call_f1"].mean, again["param_acc_gold"].mean) == (1.0, 1.0)
    assert again.corrected["param_acc_gold"].mean == 0.5
    assert "Corrected gold" in run.report().read_text("utf-8")
    assert seal.score(run).corrected is None


def test_scoring_refuses_errata_of_tasks_that_were_not_played(shop, tmp_path: Path) -> None:
    run = seal.run(shop.folder, model="oracle", baselines=False, out=tmp_path / "run")
    path = written(shop, correction(shop, task="t9"))
    with pytest.raises(DataError, match="1 of 1 task not in"):
        seal.score(run, errata=path)
    assert not (tmp_path / "run" / "corrected").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "pool", "count"),
    [("bfcl", "bfcl", 111), ("metatool", "metatool", 4), ("toolbench", "stabletoolbench", 42)],
)
def test_shipped_errata_fit_the_benchmark_that_they_correct(
    tmp_path: Path, name: str, pool: str, count: int
) -> None:
    bench = known_benchmark(name)
    assert bench is not None
    errata = read_errata(name)
    assert (errata.benchmark, errata.path, len(errata.corrections)) == (name, bench.errata, count)
    if source_folder(pool) is None:
        pytest.skip(f"SEAL_DATA has no files of {pool}")
    apply_errata(open_pool(pool), errata, tmp_path / "o")
    made = load_pool(tmp_path / "o")
    check = GoldCheck({tool.id: tool for tool in made.tools()})
    goals = (goal for task in made.tasks() for goal in task.goals)
    calls = [call for goal in goals for plan in goal.plans or () for call in plan.calls()]
    assert not any(map(check.refused, calls))


def test_a_draft_that_somebody_may_have_filled_in_is_kept(tmp_path, capsys):
    draft = tmp_path / "draft.json"
    words = ["errata", "draft", "sample", "weather-01", "--out", str(draft)]
    assert main(words) == 0
    draft.write_text("mine")
    assert main(words) == 2
    assert "give --out a new file" in capsys.readouterr().err
    assert draft.read_text() == "mine"
