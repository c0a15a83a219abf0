"""Tests of `seal.runs` over worlds of large tables: what is stored, read, scored and resumed."""

from copy import deepcopy
from pathlib import Path
from time import sleep
from typing import Any

import orjson
import pytest

import seal
from seal.core import InfrastructureError, Step, ToolCall, Trajectory
from seal.core.records import SCHEMAS, to_plain
from seal.environments.chat_world import World
from seal.environments.world import Worlds, toolbox
from seal.report.world_views import world_changes
from seal.runs.finished import rescore
from seal.runs.journal import LiveFile, LiveTail
from seal.runs.run import RunFolder
from seal.runs.settings import ScoreSettings

ROWS = [{"id": f"o{n}", "to": {"city": "Oslo", "zip": [n, None]}} for n in range(60)]
SEEN: list[dict[str, Any]] = []
"""The tables after each call that worked, copied by the tools themselves."""


def note(shop: World) -> None:
    SEEN.append({name: deepcopy(shop.rows(name)) for name in ("orders", "log")})


def move(shop: World, order: str, city: str) -> dict:
    """Move an order."""
    rows = shop.rows("orders")
    (row,) = (row for row in rows if row["id"] == order)
    row["to"]["city"] = city
    shop.put("orders", rows)
    shop.add("log", {"moved": order})
    note(shop)
    row["to"]["zip"].append("a tool may do with its rows what it likes")
    return row


def drop(shop: World, order: str) -> str:
    """Drop an order."""
    rows = shop.rows("orders")
    rows.remove(next(row for row in rows if row["id"] == order))
    shop.put("orders", rows[::-1])
    note(shop)
    return "dropped"


def look(shop: World) -> int:
    """Count the orders."""
    note(shop)
    return len(shop.table("orders"))


def shop() -> seal.Benchmark:
    world = Worlds(
        name="shop", tools=toolbox("shop", [move, drop, look]), tables={"orders": ROWS, "log": []}
    )
    tasks = [
        seal.ask(
            f"Move o{n} to Bergen, look, and drop o9.",
            seal.ends_as(
                seal.called("move", order=f"o{n}", city="Bergen"), seal.called("drop", order="o9")
            ),
            id=f"shop-{n}",
        )
        for n in range(3)
    ]
    return seal.Benchmark("shop", environment=world, tasks=tasks)


def mover(request: str, tools: list) -> str:
    """Do as the gold does, but for the order o2, which it drops."""
    named = {tool.__name__: tool for tool in tools}
    order = request.split()[1]
    if order == "o2":
        named["drop"](order=order)
    else:
        named["move"](order=order, city="Bergen")
    named["look"]()
    named["drop"](order="o9")
    return "Done."


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    return seal.run(shop(), agent=mover, baselines=False, workers=1, out=tmp_path / "run").folder


def tables_at(steps: tuple[Step, ...]) -> list[dict[str, Any]]:
    """Return all tables after each result."""
    tables: dict[str, Any] = {}
    found = []
    for step in steps:
        tables = {**tables, **(step.state or {})}
        if step.result is not None:
            found.append({name: [*rows] for name, rows in tables.items()})
    return found


def test_tables_read_from_a_run_are_those_that_tools_saw(tmp_path: Path) -> None:
    SEEN.clear()
    folder = seal.run(shop(), agent=mover, baselines=False, workers=1, out=tmp_path / "run").folder
    for number, chat in enumerate(folder.trajectories()):
        found = tables_at(chat.steps)
        # Of three calls of the agent; gold is played in worlds of its own.
        assert any(SEEN[at : at + 3] == found for at in range(len(SEEN))), number
        assert [len(tables["orders"]) for tables in found] in ([60, 60, 59], [59, 59, 58])
    assert ROWS[0]["to"] == {"city": "Oslo", "zip": [0, None]}


def test_a_run_holds_the_rows_that_changed_and_the_beginning_once(run: RunFolder) -> None:
    written = run.trajectories_path.read_bytes()
    assert written.count(b'"trajectory/2"') == 3
    assert b'{"id":"o40"' not in written
    (kept,) = (run.path / "beginnings").iterdir()
    assert orjson.loads(kept.read_bytes()) == ROWS
    one, other = list(run.trajectories())[:2]
    assert one.steps[0].state["orders"] is other.steps[0].state["orders"]


def test_an_old_run_with_whole_tables_is_scored_and_shown_alike(run: RunFolder) -> None:
    chats = list(run.trajectories())
    new = scores_of(run)
    changes = [world_changes(chat, None) for chat in chats]
    with run.trajectories_path.open("wb") as file:
        for chat in chats:
            line = {"schema": SCHEMAS[Trajectory], **to_plain(chat)}
            file.write(orjson.dumps(line) + b"\n")

    rescore(run.path)

    old = list(run.trajectories())
    assert [to_plain(chat) for chat in old] == [to_plain(chat) for chat in chats]
    assert scores_of(run) == new
    assert [world_changes(chat, None) for chat in old] == changes
    assert [score.value for score in run.scores() if score.metric == "pass_rate"] == [1.0, 1.0, 0.0]


def scores_of(run: RunFolder) -> list[Any]:
    return [to_plain(score) for score in run.scores()]


def test_a_run_goes_on(run: RunFolder) -> None:
    lines = run.trajectories_path.read_bytes().splitlines(keepends=True)
    before = scores_of(run)
    run.trajectories_path.write_bytes(b"".join(lines[:1]))
    seal.run(shop(), agent=mover, baselines=False, workers=1, out=run.path, resume=True)
    assert scores_of(run) == before
    assert run.trajectories_path.read_bytes() == b"".join(lines)


def test_steps_of_a_running_chat_have_whole_tables(tmp_path: Path) -> None:
    after = [*ROWS[:30], {"id": "new"}, *ROWS[31:]]
    steps = [
        Step(0, "user", "agent", "Hi", state={"orders": ROWS}),
        Step(1, "executor", "agent", "ok", state={"orders": after}),
        Step(2, "agent", "user", "Bye"),
    ]
    with LiveFile(tmp_path, "t", 0) as live:
        live.write(steps[0])
        (path,) = (tmp_path / "live").iterdir()
        tail = LiveTail(path)
        assert [step for _, step in tail.steps()] == steps[:1]
        live.write(steps[1])
        live.write(steps[2])
        assert b"o40" not in path.read_bytes()
        assert [step for _, step in tail.steps()] == steps[1:]
        assert [step for _, step in LiveTail(path).steps()] == steps


def test_rows_that_a_tool_spoilt_are_whole_for_the_next_chat() -> None:
    def spoil(shop: World) -> str:
        shop.table("orders")[5]["to"]["city"] = "nowhere"
        return "spoilt"

    worlds = Worlds(name="shop", tools=toolbox("shop", [spoil]), tables={"orders": ROWS})
    task = seal.ask("Spoil it.", id="t")
    with pytest.raises(InfrastructureError, match="changed rows of the table 'orders' in place"):
        worlds.open(task, 0).call([ToolCall("c", "spoil", {}, tool="shop/spoil")])
    assert worlds.open(task, 1).rows("orders") == ROWS


def test_worlds_of_one_kind_open_with_the_same_rows() -> None:
    worlds = Worlds(name="shop", tools={}, tables={"orders": ROWS})
    one, other = (worlds.open(seal.ask("Hi", id="t"), trial) for trial in (0, 1))
    assert one.states()[0]["orders"] is other.states()[0]["orders"]
    assert one.states()[0]["orders"][0] is not ROWS[0]
    assert one.table("orders")[0] is not other.table("orders")[0]
    one.add("orders", {"id": "o60", "to": {}})
    assert [len(world.rows("orders")) for world in (one, other)] == [61, 60]


@pytest.mark.parametrize("workers", [1, 4])
def test_chats_at_once_see_nothing_of_each_other(workers: int, tmp_path: Path) -> None:
    def scribble(shop: World, how: int) -> int:
        """Change the table, and take that back or not."""
        rows = shop.table("orders")
        rows[how]["to"]["city"] = f"spoilt {how}"
        rows.append({"id": "spoilt"})
        sleep(0.002)
        if how == 1:
            raise ConnectionError("the server is away")
        if how == 2:
            rows.pop()
            rows[how]["to"]["city"] = "Oslo"
        return how

    def count(shop: World) -> int:
        """Count the orders that are as they were."""
        return sum(row in ROWS for row in shop.table("orders")) - len(ROWS)

    worlds = Worlds(name="shop", tools=toolbox("shop", [scribble, count]), tables={"orders": ROWS})
    told: list[int] = []

    def agent(request: str, tools: list) -> str:
        named = {tool.__name__: tool for tool in tools}
        told.append(named["count"]())
        if request.split()[1] != "3":
            named["scribble"](how=int(request.split()[1]))
        told.append(named["count"]())
        return "Done."

    def edited(task: seal.Task, trajectory: Trajectory) -> float:
        states = [step.state["orders"] for step in trajectory.steps if step.state]
        whole = all(rows == ROWS for rows in states)
        for rows in states:
            rows[0]["to"]["city"] = "edited"
            rows.pop()
        return float(whole)

    asked = (f"Scribble {n % 4} now." for n in range(12))
    tasks = [seal.ask(text, seal.called("count"), id=f"s{n}") for n, text in enumerate(asked)]
    bench = seal.Benchmark("shop", environment=worlds, tasks=tasks, metrics=[edited])
    run = seal.run(bench, agent=agent, baselines=False, workers=workers, out=tmp_path / "run")
    assert set(told) == {0}
    for _ in range(2):
        values = [score.value for score in run.folder.scores() if score.metric == "edited"]
        assert values.count(1.0) == 6, values
        assert values.count(None) == 6
        for chat in run.folder.trajectories():
            assert all(step.state is None or step.state["orders"] == ROWS for step in chat.steps)
        rescore(run.folder.path, ScoreSettings(bench=bench))
    assert worlds.open(tasks[0], 0).rows("orders") == ROWS
