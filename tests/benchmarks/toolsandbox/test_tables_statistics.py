"""What scenarios are made of: own scenarios, recorded turns, and the real ones."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from toolsandbox_sources import constraint, graph, scenario, scrambled, traced, write

from seal.benchmarks.toolsandbox.records import scenario_lines
from seal.benchmarks.toolsandbox.tables import (
    ScenarioStatistics,
    mean_of_chats,
    scenario_statistics,
)
from seal.core import Step, Task, ToolCall, ToolResult, Trajectory
from seal.pools.imports import import_benchmark
from seal.pools.pool import load_pool


@pytest.fixture
def tasks(tmp_path: Path) -> list[Task]:
    both = graph(constraint(), traced("get_wifi_status"), constraint(target=[{"cellular": True}]))
    records = [
        scenario(milestones=both, minefields=graph(traced("search_contacts", name="Ada"))),
        scrambled("names", "TOOL_NAME_SCRAMBLED", seen="setting_8", real="set_wifi_status"),
    ]
    write(tmp_path / "toolsandbox", *records)
    import_benchmark("toolsandbox", tmp_path / "toolsandbox", tmp_path / "pool")
    return list(load_pool(tmp_path / "pool").tasks())


def test_milestones_are_counted_in_the_base_scenarios_alone(tasks: list[Task]) -> None:
    found = scenario_statistics(tasks)
    assert (found.scenarios, found.bases) == (2, 1)
    assert found.columns == {"settings.wifi": 1, "message.calls": 1, "settings.cellular": 1}
    assert found.called == {"phone/setting/get_wifi_status": 1}
    assert found.categories["single_tool"] == 2
    assert found.augmentations == {"no_distraction_tools": 1, "names": 1}


def test_turns_leave_out_the_first_message_the_agents_own_and_the_users_calls() -> None:
    call = ToolCall("call_0", "f", {})
    said: list[tuple[str, str, dict[str, Any]]] = [
        ("user_simulator", "orchestrator", {}),
        ("orchestrator", "execution_manager", {}),
        ("execution_manager", "executor", {"call": call}),
        ("executor", "execution_manager", {"result": ToolResult("call_0", "")}),
        ("orchestrator", "user_simulator", {}),
        ("user_simulator", "executor", {}),
        ("executor", "user_simulator", {}),
    ]
    steps = tuple(Step(n, author, to, **fields) for n, (author, to, fields) in enumerate(said))
    found = mean_of_chats([Trajectory("t", 0, steps), Trajectory("u", 0, ())])
    assert found == {"turns": 1.5, "tool calls": 0.5}
    assert mean_of_chats([]) == {"turns": None, "tool calls": None}


@pytest.fixture(scope="module")
def real(seal_data: Path, tmp_path_factory: pytest.TempPathFactory) -> ScenarioStatistics:
    out = tmp_path_factory.mktemp("pool") / "toolsandbox"
    import_benchmark("toolsandbox", seal_data / "toolsandbox", out)
    return scenario_statistics(load_pool(out).tasks())


def test_real_scenarios_are_as_many_as_upstreams(real: ScenarioStatistics) -> None:
    assert (real.scenarios, real.bases) == (1032, 129)
    assert set(real.augmentations.values()) == {129}


def test_real_milestones_by_column_and_tool_are_those_of_the_file(
    real: ScenarioStatistics, seal_data: Path
) -> None:
    columns, called = counted(seal_data)
    assert real.columns == columns
    assert {tool.rpartition("/")[2]: n for tool, n in real.called.items()} == called


def counted(seal_data: Path) -> tuple[dict[str, int], dict[str, int]]:
    """Count the records' own constraints, without our conditions in between."""
    renamed = {"sender": "author", "tool_trace": "calls"}
    tables = {
        "SANDBOX": "message", "SETTING": "settings", "CONTACT": "contacts",
        "MESSAGING": "messages", "REMINDER": "reminders",
    }  # fmt: skip
    columns: Counter[str] = Counter()
    called: Counter[str] = Counter()
    path = seal_data / "toolsandbox" / "scenarios_core.jsonl.gz"
    for _, record in scenario_lines(path, lambda _: None):
        if record["augmentation"] != "no_distraction_tools":
            continue
        for node in record["milestones"]["nodes"]:
            asked = [c for c in node["constraints"] if c["measure"] != "unchanged"]
            columns.update(
                {
                    f"{tables[c['db']]}.{renamed.get(name, name)}"
                    for c in asked
                    for row in c["target"]
                    for name in row
                }
            )
            for c in asked:
                called.update({call["tool_name"] for call in traces(c)})
    return dict(columns), dict(called)


def traces(asked: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for row in asked["target"]:
        yield from row.get("tool_trace") or ()
