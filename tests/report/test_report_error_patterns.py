"""Tables of error patterns: what they are made of, and where their links lead."""

import re
from pathlib import Path

import pytest

from seal.core.types import Goal, Task, Tool
from seal.pipeline.run import run
from seal.pipeline.run_folder import RunFolder
from seal.pipeline.settings import RunSettings
from seal.report.error_patterns import (
    COLUMNS,
    LINKED,
    PatternSection,
    environment_of,
    environments,
    pattern_run,
)
from seal.report.html import write_report
from seal.report.lanes import lanes_of
from seal.report.sections import default_sections


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    out = tmp_path_factory.mktemp("patterns") / "run"
    return run(RunSettings(limit=12, cache_dir=out.parent / "cache"), out).folder


def test_the_section_stands_in_every_report(played: RunFolder) -> None:
    lanes = lanes_of([played])
    html = str(PatternSection().render(lanes))
    assert "Table 4" in html and "Table 3" in html
    assert [f">{column}<" in html for column in COLUMNS] == [True] * 8
    assert any(isinstance(section, PatternSection) for section in default_sections())


def test_a_finding_links_to_its_step_in_its_run(played: RunFolder) -> None:
    lanes = lanes_of([played])
    place, lane = next((n, lane) for n, lane in enumerate(lanes) if lane.kind == "run")
    found = pattern_run(lane, place)
    steps = {(t.task_id, s.index) for t in played.trajectories() for s in t.steps}
    links = [link.address for links in found.links.values() for link in links]
    assert links
    for link in links:
        named = re.fullmatch(r"#task-([^&]+)&lane=(\d)&trial=0(?:&step=(\d+))?", link)
        assert named is not None and int(named[2]) == place
        assert named[3] is None or (named[1], int(named[3])) in steps


def test_the_ceiling_is_free_of_errors(played: RunFolder) -> None:
    lane = lanes_of([played])[-1]
    found = pattern_run(lane, 2)
    assert lane.kind == "ceiling"
    assert not found.errors.total() and not any(found.links.values())
    assert {cell.mean for cell in found.cells.values()} == {1.0}


def test_shares_by_call_and_by_goal_are_of_all_that_was_made(played: RunFolder) -> None:
    lane = lanes_of([played])[1]
    found = pattern_run(lane, 1)
    found.errors["ian"], found.calls, found.free["ian"], found.goals["ian"] = 3, 12, 5, 8
    found.told, found.repaired, found.repair_calls = 4, 2, [1, 2]
    assert (found.by_call("ian"), found.clean("ian")) == ("0.750", "0.625")
    assert (found.by_call("iac"), found.recovery) == ("-", "2 of 4, 1.5 calls each")


def test_links_are_bounded(played: RunFolder) -> None:
    found = pattern_run(lanes_of([played])[0], 0)
    assert max(map(len, found.links.values())) <= LINKED


def test_environments_hold_every_query_once(played: RunFolder) -> None:
    lane = next(lane for lane in lanes_of([played]) if lane.kind == "run")
    found = environments(lane)
    assert sum(one.queries for one in found.values()) == 12
    assert set(found) <= {tool.category for tool in played.tools().values()}


def test_an_environment_is_named_by_its_tag_else_by_its_tools() -> None:
    tools = {name: Tool(name, name, category=f"of {name}") for name in "ab"}
    goal = Goal("x", relevant=("b", "a", "b"), offered=("a",))
    assert environment_of(Task("t", "b", (goal,), tags={"environment": "e"}), 0, tools) == "e"
    assert environment_of(Task("t", "b", (goal,)), 0, tools) == "of b"
    assert environment_of(Task("t", "b", (Goal("x", offered=("a",)),)), 0, tools) == "of a"
    assert environment_of(Task("t", "b", (Goal("x"),), world="phone"), 0, tools) == "phone"
    assert environment_of(Task("t", "b", (Goal("x"),)), 0, tools) == "-"


def test_runs_without_patterns_have_no_section(scored_run: RunFolder) -> None:
    assert PatternSection().render(lanes_of([scored_run])) is None
    assert not pattern_run(lanes_of([scored_run])[0], 0).links


def test_the_report_shows_the_patterns(played: RunFolder, tmp_path: Path) -> None:
    write_report([played], tmp_path / "report.html")
    assert "ToolScan, Table 4" in (tmp_path / "report.html").read_text("utf-8")
