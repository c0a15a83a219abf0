"""Runs whose calls go to live MCP servers, are kept, and are played again without the servers."""

import json
import re
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from mcp_servers import Scripted, behind_address, command, line
from once import Once
from servers import ModelServer

pytest.importorskip("mcp")

import seal
from seal.core import Tool, Trajectory
from seal.core.records import read_records
from seal.core.store import open_store
from seal.environments.mcp import KIND, McpCall, McpWorld, Past
from seal.environments.mcp_servers import read_servers

KEY = "hush-hush-1234"
LIVE = {"shop": line()}
PLAYED = {"baselines": False, "workers": 1}
Calls = Sequence[tuple[str, dict[str, Any]]]


@pytest.fixture(scope="module")
def tools(once: Once) -> list[Tool]:
    """The tools of the shop, imported once."""
    folder, _ = once.made(
        "mcp-shop", lambda out: seal.import_benchmark("mcp", None, out, servers=LIVE)
    )
    return list(read_records(folder / "tools.jsonl", Tool))


def shop(tools: Sequence[Tool], *requests: str) -> seal.Benchmark:
    tasks = [seal.ask(request) for request in requests or ("Go.",)]
    return seal.Benchmark("shop", tools=tools, tasks=tasks, environment="mcp")


def calling(*calls: str | tuple[str, dict[str, Any]]) -> Callable[..., str]:
    """Return an agent that makes calls one after the other, and answers what the last brought."""

    def agent(request: str, tools: Sequence[Callable[..., Any]]) -> str:
        by_name = {tool.__name__: tool for tool in tools}
        said = None
        for call in calls:
            name, arguments = (call, {}) if isinstance(call, str) else call
            try:
                said = by_name[name](**arguments)
            except RuntimeError as error:
                said = str(error)
        return str(said)

    return agent


def answers(run: seal.Run) -> list[str | None]:
    return [answer for chat in run.folder.trajectories() for answer in chat.answers]


def results(run: seal.Run) -> list[Any]:
    return [end.result.value for chat in run.folder.trajectories() for _, end in chat.calls()]


def fault(run: seal.Run) -> str:
    (chat,) = run.folder.trajectories()
    return str(chat.stops[0].error)


def measured(run: seal.Run) -> dict[str, Any]:
    return run.folder.manifest()["measure"]["simulator"]["worlds"]["mcp"]["servers"]


def test_calls_are_live_scored_and_each_chat_has_a_server_of_its_own(tools: list[Tool]) -> None:
    gold = (seal.called("count"), seal.called("echo", text="a"))
    tasks = [seal.ask("Count, and echo a.", *gold, in_order=True) for _ in range(2)]
    bench = seal.Benchmark("shop", tools=tools, tasks=tasks, environment="mcp")
    run = seal.run(bench, model="oracle", servers=LIVE, cache="off", **PLAYED)
    assert run["call_f1"].mean == 1.0
    assert results(run) == [{"total": 1}, "a"] * 2
    assert measured(run)["shop"]["reset"] is True


@pytest.mark.slow
def test_a_run_is_played_again_though_the_servers_are_gone(
    tools: list[Tool], tmp_path: Path
) -> None:
    bench = shop(tools, "Go.", "Go on.")
    agent = calling("count", "fail", "now", "count")
    options = PLAYED
    live = seal.run(bench, agent=agent, servers=LIVE, out=tmp_path / "live", **options)
    bench.save(tmp_path / "saved")
    again = seal.run(
        tmp_path / "saved", agent=agent, cache="replay", out=tmp_path / "again", **options
    )
    errors = [end.result.error for chat in live.folder.trajectories() for _, end in chat.calls()]
    kinds = [None if error is None else error["kind"] for error in errors]
    assert kinds == [None, "api", None, None] * 2
    chats = [run.folder.trajectories_path.read_bytes() for run in (live, again)]
    assert chats[0] == chats[1]
    assert again.folder.manifest()["cache"] == live.folder.manifest()["cache"]
    assert live.folder.manifest()["cache"]["entries"] == 4


@pytest.mark.slow
def test_a_silence_and_what_came_after_it_are_not_kept(tools: list[Tool], tmp_path: Path) -> None:
    agent = calling("count", ("wait", {"seconds": 9}), "count")
    options = {**PLAYED, "world_options": {"timeout": 3}}
    live = seal.run(shop(tools), agent=agent, servers=LIVE, out=tmp_path / "live", **options)
    (chat,) = live.folder.trajectories()
    errors = [end.result.error for _, end in chat.calls()]
    kinds = [None if error is None else error["kind"] for error in errors]
    assert kinds == [None, "timeout", None]
    again = seal.run(shop(tools), agent=agent, cache="replay", **PLAYED)
    assert "no kept answer to wait" in fault(again)


def test_a_server_that_dies_is_started_anew_once_and_told_what_was(
    tools: list[Tool], tmp_path: Path
) -> None:
    once = ("die", {"once": str(tmp_path / "died")})
    run = seal.run(shop(tools), agent=calling("count", once, "count"), servers=LIVE, **PLAYED)
    assert results(run) == [{"total": 1}, "1", {"total": 2}]
    again = seal.run(shop(tools), agent=calling("count", once), cache="replay", **PLAYED)
    assert "no kept answer to die" in fault(again)


def test_a_server_that_dies_again_is_an_error_of_the_chat_and_no_score(tools: list[Tool]) -> None:
    for _ in range(2):  # nothing of it is kept
        run = seal.run(shop(tools), agent=calling("count", "die"), servers=LIVE, **PLAYED)
        assert re.search(
            r"ended amid a call of 'die'.*It said last: .*\sThe shop burns", fault(run)
        )
        assert run["pass_rate"].n == 0


def test_what_was_not_kept_is_an_error_of_the_task_under_replay(tools: list[Tool]) -> None:
    run = seal.run(shop(tools), agent=calling("count"), cache="replay", **PLAYED)
    assert "no kept answer to count({}) of shop/count" in fault(run)


@pytest.mark.parametrize("how", ["empty", "simulate"])
def test_what_was_not_kept_is_answered_and_counted_where_asked_for(
    tools: list[Tool], how: Any
) -> None:
    run = seal.run(shop(tools), agent=calling("count"), cache="replay", unrecorded=how, **PLAYED)
    (value,) = results(run)
    assert (value is None) == (how == "empty")
    told = {"calls": 1, "share": 1.0, "answered": {how: 1}, "questions": {"count({})": 1}}
    assert run.summary["unrecorded"] == told


def test_a_chat_goes_on_live_where_kept_answers_end(tools: list[Tool]) -> None:
    bench = shop(tools)
    seal.run(bench, agent=calling("count", "count"), servers=LIVE, **PLAYED)
    further = seal.run(bench, agent=calling("count", "count", "count"), servers=LIVE, **PLAYED)
    assert results(further) == [{"total": 1}, {"total": 2}, {"total": 3}]


def test_a_server_that_is_not_as_it_was_kept_fails_the_chat(tools: list[Tool]) -> None:
    bench = shop(tools)
    seal.run(bench, agent=calling("now"), servers=LIVE, **PLAYED)
    other = seal.run(bench, agent=calling("now", "count"), servers=LIVE, **PLAYED)
    assert "answers now otherwise than before" in fault(other)
    assert "--cache off" in fault(other)
    assert other["call_f1"].n == 0


def test_calls_that_only_read_leave_the_answers_to_others_as_they_were(tools: list[Tool]) -> None:
    bench = shop(tools)
    seal.run(bench, agent=calling("count", "peek"), servers=LIVE, **PLAYED)
    other = seal.run(bench, agent=calling("count", "peek", "peek"), cache="replay", **PLAYED)
    assert results(other) == [{"total": 1}] * 3


def test_what_is_behind_an_address_is_marked_as_not_reset(tools: list[Tool]) -> None:
    bench = shop(tools, "Go.", "Go on.")
    with behind_address() as url:
        options = {"servers": {"shop": url}, "cache": "off", **PLAYED}
        run = seal.run(bench, agent=calling("count"), **options)
    assert results(run) == [{"total": 1}, {"total": 2}]
    assert measured(run)["shop"]["reset"] is False


def test_a_key_of_a_server_is_in_no_file(
    tools: list[Tool], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOP_KEY", KEY)
    program, *args = command()
    entry = {"command": program, "args": args, "env": {"SHOP_KEY": "${SHOP_KEY}"}}
    (tmp_path / "mcp.json").write_text(json.dumps({"mcpServers": {"shop": entry}}))
    servers = tmp_path / "mcp.json"
    seal.import_benchmark("mcp", servers, tmp_path / "pool")
    run = seal.run(
        shop(tools), agent=calling("key"), servers=servers, out=tmp_path / "run", **PLAYED
    )
    run.report()
    assert answers(run) == ["The key is ***."]
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert len(files) > 10
    assert [file for file in files if KEY.encode() in file.read_bytes()] == []


@pytest.mark.slow
def test_several_servers_keep_their_states_and_names_apart(tmp_path: Path) -> None:
    servers = {"left": line(), "right": line("--many", "1")}
    seal.import_benchmark("mcp", None, tmp_path / "pool", servers=servers)
    tools = list(read_records(tmp_path / "pool" / "tools.jsonl", Tool))
    names = {tool.id: tool.name for tool in tools}
    assert names["left/count"] == "left_count"
    assert names["right/more_0"] == "more_0"
    agent = calling("left_count", "left_count", "right_count")
    few = [tool for tool in tools if tool.id.endswith("count")]
    run = seal.run(shop(few), agent=agent, servers=servers, **PLAYED)
    assert results(run) == [{"total": 1}, {"total": 2}, {"total": 1}]


def test_a_pool_starts_no_command_and_says_what_is_missing(tools: list[Tool]) -> None:
    with pytest.raises(seal.SealError, match=r"MCP servers shop, which are not given; give --se"):
        seal.run(shop(tools), model="oracle", **PLAYED)


def test_servers_that_nothing_would_call_are_refused(tools: list[Tool]) -> None:
    bench = seal.Benchmark("shop", tools=tools, tasks=[seal.ask("Go.")])
    with pytest.raises(seal.SealError, match="add --environment mcp"):
        seal.run(bench, model="oracle", servers=LIVE, **PLAYED)
    run = seal.run(bench, agent=calling("count"), servers=LIVE, environment="mcp", **PLAYED)
    assert results(run) == [{"total": 1}]


def test_a_plan_starts_no_server_and_shows_no_command(tools: list[Tool]) -> None:
    servers = {"shop": "no-such-command --key hush"}
    plan = seal.plan_run(shop(tools), model="oracle", servers=servers, world_options={"timeout": 1})
    assert plan.content["failed"] == 0
    assert "hush" not in json.dumps(plan.content)


def test_the_same_tools_are_simulated_where_asked(tools: list[Tool]) -> None:
    agent = calling("count")
    run = seal.run(shop(tools), agent=agent, environment="simulator", **PLAYED)
    assert "worlds" not in run.folder.manifest()["measure"]["simulator"]
    assert run.folder.manifest()["measure"]["simulator"]["simulator"].startswith("template")


def test_a_tool_of_no_server_is_refused_when_it_is_called(tools: list[Tool]) -> None:
    bench = shop([*tools[:1], Tool("shop/other", "other")])
    with pytest.raises(seal.SealError, match="'shop/other' is of no MCP server"):
        seal.run(bench, agent=calling("other"), servers=LIVE, **PLAYED)


@pytest.mark.parametrize("source", [{"server": "shop"}, "shop", {"server": 1, "tool": "count"}])
def test_a_document_that_names_its_server_wrongly_is_refused(source: Any) -> None:
    bench = shop([Tool("shop/count", "count", source={"mcp": source})])
    with pytest.raises(seal.SealError, match="tool 'shop/count': source"):
        seal.run(bench, agent=calling("count"), servers=LIVE, **PLAYED)


def test_a_tool_that_the_server_has_changed_since_the_import_is_an_error(
    tools: list[Tool], tmp_path: Path
) -> None:
    count = next(tool for tool in tools if tool.name == "count")
    before = {**count.source["mcp"], "schema": "0123456789abcdef"}
    bench = shop([replace(count, source={"mcp": before})])
    options = {"cache": "off", "out": tmp_path / "run", **PLAYED}
    run = seal.run(bench, agent=calling("count"), servers=LIVE, **options)
    assert "takes other arguments than when it was imported" in fault(run)
    assert run.exit_code == 1


@pytest.mark.parametrize(
    "error",
    [
        {"kind": "timeout", "message": "shop gave no answer for 60 s."},
        {"kind": "api", "message": "Server returned an error response"},
        {"kind": "invalid_answer", "message": "it breaks the protocol: content: expected a list"},
        None,
    ],
)
def test_a_failure_that_an_earlier_version_kept_is_asked_for_again(
    tools: list[Tool],
    tmp_path: Path,
    error: dict[str, str] | None,
    caplog: pytest.LogCaptureFixture,
) -> None:
    count = next(tool for tool in tools if tool.name == "count")
    entry = {"tool": count.id, "arguments": {}, "content": "", "value": None, "error": error}
    if error is None:
        entry["content"] = entry["value"] = "MCP error -32001: Request timed out"
    with closing(open_store(tmp_path)) as store:
        world = McpWorld({count.id: count}, read_servers(LIVE), store, asks=True)
        store.put(Past(world).key(McpCall(count, {})), entry, KIND)
    options = {"cache_dir": tmp_path, **PLAYED}
    for name in ("first", "second"):
        out = tmp_path / name
        run = seal.run(shop([count]), agent=calling("count"), servers=LIVE, out=out, **options)
        assert results(run) == [{"total": 1}]
    assert sum("kept failures of MCP servers" in line for line in caplog.messages) == 2  # 2 runs


def test_a_tools_words_that_may_be_a_fault_are_not_kept_and_no_earlier_versions(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    ended = {"content": [{"type": "text", "text": "Session terminated"}], "isError": True}
    with ModelServer(Scripted(ended)) as server:
        servers = {"shop": f"{server.root}/mcp"}
        seal.import_benchmark("mcp", None, tmp_path / "pool", servers=servers)
        look = list(read_records(tmp_path / "pool" / "tools.jsonl", Tool))
        options = {"cache_dir": tmp_path, "servers": servers, **PLAYED}
        for said in ("Session terminated", "sunny"):
            run = seal.run(shop(look), agent=calling("look"), out=tmp_path / said, **options)
            assert said in str(answers(run))
    assert "earlier version" not in caplog.text


@pytest.mark.parametrize("options", [{"timeout": 0}, {"timeout": "long"}, {"time": 1}])
def test_other_options_are_refused(tools: list[Tool], options: dict[str, Any]) -> None:
    with pytest.raises(seal.SealError, match="-T time"):
        seal.run(shop(tools), model="oracle", servers=LIVE, world_options=options, **PLAYED)


@pytest.mark.slow
def test_a_run_leaves_no_server_behind(tools: list[Tool], tmp_path: Path) -> None:
    words = ["sh", "-c", f"echo $$ >> {tmp_path}/pids; exec {line()}"]
    servers = {"shop": {"command": words[0], "args": words[1:]}}
    bench = shop(tools, "Go.", "Go on.")
    seal.run(bench, agent=calling("count"), servers=servers, cache="off", **PLAYED)
    pids = (tmp_path / "pids").read_text().split()
    assert len(pids) == 2
    assert [pid for pid in pids if Path(f"/proc/{pid}").exists()] == []


@pytest.mark.slow
def test_chats_of_several_threads_and_processes_have_servers_of_their_own(
    tools: list[Tool], tmp_path: Path
) -> None:
    gold = (seal.called("count"), seal.called("count"))
    tasks = [seal.ask("Count twice.", *gold) for _ in range(6)]
    bench = seal.Benchmark("shop", tools=tools, tasks=tasks, environment="mcp")
    bench.save(tmp_path / "pool")
    options = {"servers": LIVE, "cache": "off", "baselines": False, "workers": 2}
    run = seal.run(tmp_path / "pool", model="oracle", processes=2, **options)
    assert results(run) == [{"total": 1}, {"total": 2}] * 6
    chats: list[Trajectory] = list(run.folder.trajectories())
    assert not any(chat.failed for chat in chats)
