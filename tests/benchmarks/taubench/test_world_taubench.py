"""Chats in upstream's tools: what they see, what tools may not do, and how a chat ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from taubench_checkout import write_checkout

import seal
from seal.benchmarks.taubench.world import TAUBENCH, Shop, Shops
from seal.core import DataError, Task, ToolCall, ToolResult, UsageError
from seal.pools.imports import import_benchmark
from seal.pools.pool import load_pool
from seal.testing import check_benchmark

Call = Callable[..., ToolResult]
PLAYED: dict[str, Any] = {"allow_code": (TAUBENCH.package,), "baselines": False}


@pytest.fixture
def pool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    checkout = write_checkout(tmp_path / "checkout")
    monkeypatch.syspath_prepend(str(checkout))
    import_benchmark("taubench", checkout, tmp_path / "pool", allow_code=(TAUBENCH.package,))
    return tmp_path / "pool"


@pytest.fixture
def shops(pool: Path) -> Shops:
    tools = {tool.id: tool for tool in load_pool(pool).tools()}
    return Shops(TAUBENCH, pool.parent / "checkout" / TAUBENCH.package, tools, 5.0)


@pytest.fixture
def task(pool: Path) -> Task:
    return next(iter(load_pool(pool).every_task()))


@pytest.fixture
def world(shops: Shops, task: Task) -> Iterator[Shop]:
    opened: Any = shops.open(task, 0)
    yield opened
    opened.close()


def made(world: Shop, name: str, **arguments: Any) -> ToolResult:
    (result,) = world.call([ToolCall("call_0", name, arguments, tool=f"taubench/airline/{name}")])
    return result


def rows(world: Shop, table: str) -> list[dict[str, Any]]:
    return world.states()[-1][table]


def test_a_call_shows_the_rows_that_it_changed_wherever_they_are(world: Shop) -> None:
    assert made(world, "get_booking", key="B2").value == {"user_id": "bob", "status": "open"}
    assert [row["key"] for row in rows(world, "bookings")] == ["B1"]
    made(world, "cancel_booking", key="B2")
    assert rows(world, "bookings")[1] == {"key": "B2", "user_id": "bob", "status": "cancelled"}
    assert rows(world, "users")[1] == {"key": "bob", "paid": 45}
    made(world, "forget", key="B1")
    made(world, "forget", key="B2")
    assert rows(world, "bookings") == [{"key": "B2", "gone": True}]
    made(world, "book", key="B2")
    assert rows(world, "bookings") == [{"key": "B2", "user_id": "ann", "status": "new"}]


def test_each_call_of_a_reply_has_its_own_state(world: Shop) -> None:
    calls = [
        ToolCall(
            f"call_{key}", "cancel_booking", {"key": key}, tool="taubench/airline/cancel_booking"
        )
        for key in ("B1", "B9", "B2")
    ]
    results = world.call(calls)
    assert [result.error is None for result in results] == [True, False, True]
    assert [len(tables["bookings"]) for tables in world.states()] == [1, 1, 2]


def test_the_next_chat_in_the_same_process_begins_anew(shops: Shops, task: Task) -> None:
    for _ in range(2):
        opened: Any = shops.open(task, 0)
        assert made(opened, "cancel_booking", key="B2").error is None
        assert rows(opened, "users")[1]["paid"] == 45
        opened.close()
        opened.close()
    assert len(shops._idle) == 1


@pytest.mark.parametrize(
    ("how", "kind", "told"),
    [
        ("raise", "LookupError", "no such thing"),
        ("exit", "SystemExit", "left"),
        ("write", "PermissionError", "a tool may not do this: open"),
        ("delete", "PermissionError", "a tool may not do this: os.remove"),
        ("run", "PermissionError", "a tool may not do this: os.system"),
        ("connect", "PermissionError", "a tool may not do this: socket"),
    ],
)
def test_what_a_tool_raises_is_its_result_and_its_changes_stay(
    world: Shop, tmp_path: Path, how: str, kind: str, told: str
) -> None:
    result = made(world, "spoil", how=how)
    assert result.error is not None and result.error["kind"] == kind
    assert told in result.error["message"] and result.content.startswith("Error: ")
    assert rows(world, "users") == [{"key": "ann", "paid": 0}]
    assert not list(Path().glob("spoilt")) and not list(tmp_path.rglob("spoilt"))
    assert not list(tmp_path.rglob("__pycache__"))


@pytest.mark.parametrize(
    ("how", "told"),
    [("die", "ended with status 3"), pytest.param("hang", "5 s", marks=pytest.mark.slow)],
)
def test_a_call_that_does_not_return_is_undone_and_the_chat_goes_on(
    world: Shop, how: str, told: str
) -> None:
    made(world, "forget", key="B1")
    made(world, "cancel_booking", key="B2")
    before = world.states()[-1]
    error = made(world, "spoil", how=how).error
    assert error is not None and "the tool did not return" in error["message"]
    assert told in error["message"]
    assert world.states()[-1] == before
    assert made(world, "get_booking", key="B1").error == {"kind": "refused", "message": "not found"}
    assert made(world, "get_booking", key="B2").value["status"] == "cancelled"


def test_what_a_tool_prints_is_no_answer(world: Shop) -> None:
    assert made(world, "spoil", how="print").value == "spoilt"


def test_arguments_are_the_tools_own_business_and_unknown_tools_are_refused(world: Shop) -> None:
    wrong = made(world, "get_booking", kex="B1").error
    assert wrong is not None and wrong["kind"] == "TypeError"
    (unknown,) = world.call([ToolCall("call_0", "fly", {})])
    assert unknown.error is not None and unknown.error["kind"] == "unknown_tool"
    (broken,) = world.call([ToolCall("call_0", "book", None, "{", "taubench/airline/book")])
    assert broken.error is not None and broken.error["kind"] == "unparsable_arguments"


def test_no_call_is_made_after_the_user_was_handed_on(world: Shop) -> None:
    made(world, "transfer_to_human_agents", summary="help")
    error = made(world, "cancel_booking", key="B1").error
    assert error is not None and error["kind"] == "ended"
    assert rows(world, "bookings")[0]["status"] == "open"


def clerk(calls: Sequence[tuple[str, dict[str, Any]]], says: str) -> Any:
    def agent(request: str, tools: Sequence[Any]) -> str:
        named = {tool.__name__: tool for tool in tools}
        for name, arguments in calls:
            named[name](**arguments)
        return says

    return agent


@pytest.mark.parametrize(
    ("number", "calls", "says", "reward"),
    [
        (0, [("cancel_booking", {"key": "B1"})], "Done.", (1.0, 1.0, None)),
        (0, [("get_booking", {"key": "B1"})], "Done.", (0.0, 0.0, None)),
        (0, [("cancel_booking", {"key": key}) for key in ("B1", "B2")], "Done.", (0.0, 0.0, None)),
        (1, [], "It is 1,000 DOLLARS; x.", (1.0, 1.0, 1.0)),
        (1, [], "It is 1,000 dollars.", (0.0, 1.0, 0.0)),
        (1, [("book", {"key": "B3"})], "1000 dollars and x", (0.0, 0.0, 1.0)),
        (2, [], "There is no such booking.", (1.0, 1.0, None)),
    ],
)
def test_the_reward_is_by_end_and_outputs(
    pool: Path,
    tmp_path: Path,
    number: int,
    calls: list[tuple[str, dict[str, Any]]],
    says: str,
    reward: tuple[float | None, ...],
) -> None:
    chosen = [task for task in load_pool(pool).every_task() if task.id.endswith(f"line/{number}")]
    bench = seal.Benchmark.load(pool)
    run = seal.run(
        bench,
        agent=clerk(calls, says),
        role_models={"user_simulator": "oracle"},
        out=tmp_path / "run",
        first=number + 1,
        **PLAYED,
    )
    found = {s.metric: s.value for s in run.folder.scores() if s.task_id == chosen[0].id}
    assert tuple(found[name] for name in ("reward", "reward_state", "reward_outputs")) == reward


def test_gold_is_rewarded_and_the_files_are_part_of_what_was_measured(
    pool: Path, tmp_path: Path
) -> None:
    run = seal.run(str(pool), model="oracle", out=tmp_path / "run", **PLAYED)
    assert run["reward"].mean == 1.0
    world = run.folder.manifest()["measure"]["simulator"]["worlds"]["taubench"]
    assert [*world["files"]] == ["airline", "retail"]
    data = tmp_path / "checkout" / TAUBENCH.package / "envs" / "retail" / "data" / "all.json"
    data.write_text(data.read_text("utf-8").replace("cleo", "zoe"), "utf-8")
    with pytest.raises(UsageError, match=r"measure\.simulator: was"):
        seal.run(str(pool), model="oracle", out=tmp_path / "run", resume=True, **PLAYED)


@pytest.mark.slow
def test_gold_and_metrics_agree(pool: Path) -> None:
    check_benchmark(str(pool), allow_code=(TAUBENCH.package,))


def test_code_that_is_not_allowed_is_not_run(
    pool: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UsageError, match=r"the benchmark's own code; .* --allow-code tau_bench"):
        seal.run(str(pool), model="oracle", baselines=False, out=tmp_path / "run")
    home = tmp_path / "checkout" / TAUBENCH.package / "envs"
    home.rename(home.with_name("environments"))
    with pytest.raises(UsageError, match="there is no folder tau_bench/envs; put a checkout"):
        seal.run(str(pool), model="oracle", out=tmp_path / "run", **PLAYED)


def test_a_task_of_another_kind_is_told(shops: Shops, task: Task) -> None:
    from dataclasses import replace

    with pytest.raises(DataError, match="the tag domain is None; expected one of airline, retail"):
        shops.open(replace(task, tags={}), 0)
    with pytest.raises(DataError, match="a row of users has no text in the column 'key'"):
        shops.open(replace(task, initial_state={"users": [{"paid": 1}]}), 0)
