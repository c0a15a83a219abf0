"""`seal benchmarks NAME --environments`: tools, queries and API similarity by category."""

import json
from pathlib import Path

from seal.core import Goal, Task, Tool, write_records


def test_toolscans_environments_are_told_without_asking(called, seal_data: Path) -> None:
    done = called("benchmarks", "toolscan", "--json", SEAL_DATA=str(seal_data))
    told = {one["name"]: one for one in json.loads(done.stdout)["environments"]}

    assert len(told) == 18
    assert round(told["weather"]["similarity_strict"], 3) == 0.138
    assert (told["tools"]["tools"], told["tools"]["toolsets"]) == (39, 7)


def test_the_samples_environments_are_a_table(called) -> None:
    done = called("benchmarks", "toolscan-sample", COLUMNS="140")

    assert done.returncode == 0
    assert "J_avg strict" in done.stdout
    row = next(line for line in done.stdout.splitlines() if "trails" in line)
    assert [cell.strip() for cell in row.split("│")[1:8]] == [
        "trails", "10", "1", "1", "13", "3", "10.0",
    ]  # fmt: skip


def test_any_benchmark_and_any_pool_has_environments_if_asked(called, tmp_path: Path) -> None:
    plain = json.loads(called("benchmarks", "sample", "--json").stdout)
    asked = json.loads(called("benchmarks", "sample", "--environments", "--json").stdout)

    assert plain["environments"] == []
    assert len(asked["environments"]) == 8


def test_environments_need_a_name(called) -> None:
    done = called("benchmarks", "--environments")

    assert done.returncode == 2
    assert "seal benchmarks NAME --environments" in done.stderr


def test_what_strangers_named_is_made_printable(called, tmp_path: Path) -> None:
    pool = tmp_path / "pool\x1b[32m"
    tool = Tool("sea/wind", "wind", "Wind at sea.", category="sea\x1b[31m")
    write_records(pool / "tools.jsonl", [tool])
    goal = Goal("Is it windy?", offered=(tool.id,))
    write_records(pool / "tasks.jsonl", [Task("one", "sea", (goal,))])
    done = called("benchmarks", str(pool), "--environments", COLUMNS="200")

    assert done.returncode == 0, done.stderr
    assert "sea␛[31m" in done.stdout
    assert "\x1b" not in done.stdout
