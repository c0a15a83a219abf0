"""Budgets, prices and plans: real runs against a local server, real interruptions, real files."""

import json
import os
import signal
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from forked import Forked
from hypothesis import given
from hypothesis import strategies as st
from servers import Answer, ModelServer, Received
from small_pools import by_server, many, play, write_pool

import seal
from seal.cli.dispatch import main
from seal.core import Completion, Usage, UsageError
from seal.runs.cost_plan import plan
from seal.runs.costs import Meter, ledger_record, merged, read_ledger
from seal.runs.finished import rescore
from seal.runs.journal import spending_of
from seal.runs.run import RunFolder
from seal.runs.settings import RunSettings, ScoreSettings

Start = Callable[..., ModelServer]


def price_file(folder: Path, **models: Any) -> Path:
    """Write a file of prices; `player=(1, 2)` is the model openai/player."""
    table = {f"openai/{name}": {"in": a, "out": b} for name, (a, b) in models.items()}
    file = folder / "prices.json"
    file.write_text(json.dumps({"date": "2026-01-31", "source": "test", "models": table}))
    return file


def simulated(request: Received) -> Answer:
    """Answer as `by_server` does; of the simulator, an API's answer."""
    from servers import text

    if request.body["model"] == "server":
        return text('{"error": "", "response": {"text": "sunny"}}')
    return by_server(request)


def test_judge_and_simulator_count_and_stand_apart_by_role(
    tmp_path: Path, model_server: Start
) -> None:
    from small_pools import TOOLS, weather_goal, weather_task

    tasks = [
        weather_task(city, n, goals=(weather_goal(city, plans=None),))
        for n, city in enumerate(("Rome", "Oslo"))
    ]
    server = model_server(simulated)
    done = play(
        write_pool(tmp_path / "pool", tasks, TOOLS),
        tmp_path / "run",
        model="openai/player",
        role_models={
            "judge": seal.Model("openai/judge", base_url=server.url),
            "simulator": seal.Model("openai/server", base_url=server.url),
        },
        simulator="llm",
        base_url=server.url,
    )
    roles = {row["role"]: row for row in done.summary["usage"]["roles"]}
    assert {"judge", "simulator", "execution_manager", "orchestrator", "checker"} == set(roles)
    assert roles["judge"]["model"] == f"openai/judge,base_url={server.url}"
    assert roles["judge"]["tokens_in"] == 2 * 11
    assert roles["simulator"]["tokens_out"] == 2 * 7
    assert sum(row["requests"] for row in roles.values()) == len(server.received)
    spent = spending_of(done.folder.path / "timings.jsonl")
    assert spent.tokens == 18 * len(server.received)


def test_tokens_of_judges_reach_the_budget_and_a_larger_one_goes_on(
    tmp_path: Path, model_server: Start
) -> None:
    server = model_server(by_server)
    pool = write_pool(tmp_path / "pool", many(6))
    settings: dict[str, Any] = {
        "model": "openai/player",
        "role_models": {"judge": f"openai/judge,base_url={server.url}"},
        "base_url": server.url,
        "workers": 1,
    }
    whole = play(pool, tmp_path / "whole", cache="off", **settings)
    chats = 18 * sum(r.body["model"] == "player" for r in server.received)
    first = play(pool, tmp_path / "run", max_total_tokens=chats + 20, **settings)
    assert first.exit_code == 3
    reasons = [s.reason for s in first.folder.scores() if s.metric == "pass_rate" and s.reason]
    assert 0 < len(reasons) < 6
    assert all("the budget of the run is spent" in reason for reason in reasons)
    last = play(pool, tmp_path / "run", resume=True, max_total_tokens=10**6, **settings)
    assert last.exit_code == 0
    assert last.summary["metrics"] == whole.summary["metrics"]
    assert last.summary["usage"] == whole.summary["usage"]


def test_dollars_stop_the_run_with_3_and_a_larger_budget_goes_on(
    tmp_path: Path, model_server: Start
) -> None:
    server = model_server(by_server)
    pool = write_pool(tmp_path / "pool", many(8))
    settings: dict[str, Any] = {
        "model": "openai/player",
        "base_url": server.url,
        "workers": 1,
        "prices": price_file(tmp_path, player=(1_000_000, 0)),
    }
    first = play(pool, tmp_path / "run", max_dollars=100, **settings)
    played = len(list(first.folder.trajectories()))
    assert first.exit_code == 3
    assert 0 < played < 8
    again = play(pool, tmp_path / "run", resume=True, max_dollars=100, **settings)
    assert (again.exit_code, len(list(again.folder.trajectories()))) == (3, played)
    last = play(pool, tmp_path / "run", resume=True, max_dollars=10_000, **settings)
    assert (last.exit_code, len(list(last.folder.trajectories()))) == (0, 8)


def test_kept_answers_cost_nothing(tmp_path: Path, model_server: Start) -> None:
    server = model_server(by_server)
    pool = write_pool(tmp_path / "pool", many(4))
    settings: dict[str, Any] = {"model": "openai/player", "base_url": server.url}
    first = play(pool, tmp_path / "a", **settings)
    asked = len(server.received)
    second = play(pool, tmp_path / "b", max_total_tokens=1, **settings)
    assert (second.exit_code, len(server.received)) == (0, asked)
    assert spending_of(second.folder.path / "timings.jsonl").tokens == 0
    assert second.summary["usage"] == first.summary["usage"]


def test_baselines_share_the_budget(tmp_path: Path, model_server: Start) -> None:
    server = model_server(by_server)
    pool = write_pool(tmp_path / "pool", many(3))
    settings: dict[str, Any] = {
        "role_models": {"user_simulator": f"openai/user,base_url={server.url}"},
        "model": "lexical",
        "workers": 1,
        "cache": "off",
        "retriever": "oracle",
    }
    alone = play(pool, tmp_path / "alone", **settings)
    spent = spending_of(alone.folder.path / "timings.jsonl").tokens
    settings["baselines"] = True  # the model of the user plays it there, too
    first = play(pool, tmp_path / "run", max_total_tokens=spent + 1, **settings)
    assert first.exit_code == 3
    assert list(first.folder.baselines()) == ["floor"]
    last = play(pool, tmp_path / "run", resume=True, max_total_tokens=10**6, **settings)
    assert last.exit_code == 0
    assert list(last.folder.baselines()) == ["floor", "ceiling"]


def test_a_killed_run_remembers_what_it_spent(tmp_path: Path, model_server: Start) -> None:
    from dataclasses import replace

    server = model_server(lambda request: replace(by_server(request), delay_s=0.05))
    pool = write_pool(tmp_path / "pool", many(30))
    words = ["run", str(pool), "--model", "openai/player", "--base-url", server.url]
    words += ["--no-baselines", "--out", str(tmp_path / "run"), "--workers", "1"]
    process = Forked(["seal", *words], cwd=tmp_path, env=os.environ)
    timings = tmp_path / "run" / "timings.jsonl"
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if timings.is_file() and timings.read_bytes().count(b"\n") >= 3:
            break
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    spent = spending_of_whole_lines(timings)
    assert spent >= 3 * 18
    done = play(
        pool,
        tmp_path / "run",
        resume=True,
        model="openai/player",
        base_url=server.url,
        max_total_tokens=spent + 1,
    )
    assert done.exit_code == 3
    assert len(list(done.folder.trajectories())) < 30


def spending_of_whole_lines(timings: Path) -> int:
    """Return the tokens of the lines that were written to their end."""
    lines = timings.read_bytes().splitlines(keepends=True)
    return sum(json.loads(line)["tokens"] for line in lines if line.endswith(b"\n"))


def test_scoring_again_tells_what_the_new_judge_took(tmp_path: Path, model_server: Start) -> None:
    server = model_server(by_server)
    done = play(write_pool(tmp_path / "pool", many(3)), tmp_path / "run")
    assert done.summary["usage"]["roles"] == []
    summary = rescore(
        tmp_path / "run", ScoreSettings(judge_model="openai/judge", base_url=server.url)
    )
    (row,) = summary["usage"]["roles"]
    assert (row["role"], row["requests"], row["tokens_in"]) == ("judge", 3, 33)


def test_dollars_need_a_price_of_every_model(tmp_path: Path) -> None:
    pool = write_pool(tmp_path / "pool")
    with pytest.raises(UsageError, match=r"no price of 'openai/mine,base_url=.*--prices FILE"):
        play(
            pool,
            tmp_path / "run",
            model="openai/mine",
            base_url="http://localhost:9/v1",
            max_dollars=1,
        )
    assert not (tmp_path / "run").exists()
    with pytest.raises(UsageError, match="max-dollars"):
        RunSettings(max_dollars=0)
    with pytest.raises(UsageError, match="max-dollars"):
        RunSettings(max_dollars=float("nan"))


@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 9), st.booleans()), max_size=20))
def test_ledgers_add_up_and_read_back(answers: list[tuple[str, int, bool]]) -> None:
    meter = Meter()
    for role, tokens, kept in answers:
        meter.note(role, "m", Completion(usage=Usage(tokens, 1), kept=kept))
    ledger = meter.take()
    assert read_ledger(ledger_record(ledger)) == ledger
    assert sum(s.tokens_in + s.kept_in for s in ledger.values()) == sum(t for _, t, _ in answers)
    assert sum(s.requests for s in ledger.values()) == sum(not kept for _, _, kept in answers)
    assert merged([meter.take(), meter.take_all()]) == {}


@pytest.mark.parametrize("options", [["--model", "x/y"], ["--role-model", "judge=x/y"]])
def test_a_dry_run_refuses_a_model_that_the_run_would_refuse(
    options: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "sample", "--dry-run", *options]) == 2
    assert "no model 'x'; known: " in capsys.readouterr().err


def test_a_dry_run_asks_nobody_and_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class NoSocket(socket.socket):
        def connect(self, address: Any) -> None:
            raise AssertionError(f"connects to {address}")

    monkeypatch.setattr(socket, "socket", NoSocket)
    monkeypatch.chdir(tmp_path)
    words = ["run", "sample", "--limit", "6", "--model", "openai/gpt-4o-mini", "--dry-run"]
    words += ["--simulator", "llm", "--role-model", "judge=openai/own", "--no-baselines", "--json"]
    assert main(words) == 0
    found = json.loads(capsys.readouterr().out)["plan"]
    assert list(tmp_path.iterdir()) == []
    assert (found["tasks"], found["chats"], found["rehearsed"]) == (6, 6, 6)
    rows = {row["role"]: row for row in found["rows"]}
    assert rows["execution_manager"]["requests"] >= 6
    assert rows["execution_manager"]["dollars"] > 0
    assert (rows["judge"]["requests"], rows["judge"]["dollars"]) == (6, None)
    assert found["unpriced"] == ["openai/own"]
    assert found["prices"][0]["date"] == "2026-03-01"


def test_the_plan_meets_what_the_run_asks(tmp_path: Path, model_server: Start) -> None:
    server = model_server(by_server)
    pool = write_pool(tmp_path / "pool", many(44))
    judge = f"openai/j,base_url={server.url}"
    settings: dict[str, Any] = {"model": "openai/player", "role_models": {"judge": judge}}
    planned = plan(RunSettings(pool=pool, baselines=False, **settings))
    assert (planned["chats"], planned["rehearsed"]) == (44, 40)
    play(pool, tmp_path / "run", base_url=server.url, **settings)
    assert planned["requests"] == len(server.received)
    prompts = sum(len(json.dumps(r.body["messages"])) for r in server.received) / 4
    assert 0.5 < planned["tokens_in"] / prompts < 1.5


def test_a_plan_tells_which_budget_it_would_pass(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pool = str(write_pool(tmp_path / "pool"))
    file = price_file(tmp_path, player=(5, 5))
    words = ["run", pool, "--model", "openai/player", "--prices", str(file), "--dry-run"]
    assert main([*words, "--max-dollars", "0.000001", "--max-total-tokens", "5"]) == 0
    said = capsys.readouterr().out
    assert "--max-dollars allows" in said
    assert "--max-total-tokens allows" in said
    assert RunFolder(tmp_path / "run").path.exists() is False


def test_a_plan_adds_up_no_dollars_that_nobody_knows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["run", str(write_pool(tmp_path / "pool")), "--dry-run", "--no-baselines"]
    words += ["--prices", str(price_file(tmp_path, player=(5, 5)))]
    for models, told in (
        (["--model", "openai/x"], "no price"),
        (["--model", "openai/player", "--role-model", "judge=openai/x"], "≥0."),
    ):
        assert main([*words, *models]) == 0
        total = next(line for line in capsys.readouterr().out.splitlines() if line[2:5] == "all")
        assert told in total
