"""Tables of error patterns: what they are made of, and where their links lead."""

import re
from dataclasses import replace
from html import escape, unescape
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from report_runs import WEATHER, blocks, chat, metric, task

import seal
from seal.core import Goal, Score, Task, Tool
from seal.evaluation.pattern_scores import PATTERNS, ErrorPatterns
from seal.report.chat_pages import Mark, annotate
from seal.report.lanes import lanes_of
from seal.report.pattern_section import COLUMNS, LINKED, environment_of, environments, pattern_run
from seal.report.run_pages import write_report
from seal.report.sections import SECTIONS, default_sections
from seal.report.transcript import render_transcript
from seal.runs.play import run
from seal.runs.run import RunFolder
from seal.runs.settings import RunSettings


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    out = tmp_path_factory.mktemp("patterns") / "run"
    return run(RunSettings(first=12, cache_dir=out.parent / "cache"), out).folder


def test_the_section_stands_in_every_report(played: RunFolder) -> None:
    lanes = lanes_of([played])
    html = str(SECTIONS.resolve("error_patterns").render(lanes))
    assert "Success and freedom of error patterns" in html and "Queries, and means a query" in html
    assert [f">{column}<" in html for column in COLUMNS] == [True] * 9
    assert "Error patterns" in [section.title for section in default_sections()]


def test_a_finding_links_to_its_step_in_its_run(played: RunFolder) -> None:
    lanes = lanes_of([played])
    place, lane = next((n, lane) for n, lane in enumerate(lanes) if lane.kind == "run")
    found = pattern_run(lane, place)
    steps = {(t.task_id, s.index) for t in played.trajectories() for s in t.steps}
    links = re.findall(r'href="([^"]*)"', "".join(chain(*found.links.values())))
    assert links
    for link in links:
        named = re.fullmatch(r"#task-([^&]+)&lane=(\d)&trial=0(?:&step=(\d+))?", unescape(link))
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


def test_each_share_says_what_it_is_of(played: RunFolder) -> None:
    found = pattern_run(lanes_of([played])[1], 1)
    found.errors["ian"], found.calls, found.free["ian"], found.goals["ian"] = 3, 12, 5, 8
    found.free["iac"], found.goals["iac"], found.goals["iav"] = 1, 4, 0
    told = [found.freedom(name) for name in ("ian", "iac", "iav")]
    assert told == ["calls 0.750, goals 0.625", "goals 0.250", "goals n/a"]


def test_errors_without_gold_are_counted_with_and_without_a_score(make_run) -> None:
    details = {"errors": 2, "calls": 3, "findings": [{"step": 1, "pattern": "IAV", "name": "n"}]}
    scores = [
        Score("own/a", 0, 0, "iav", 0.8, details={**details, "without_gold": "no gold"}),
        Score("own/a", 1, 0, "iav", None, 0.0, "arguments were cut upstream", details),
    ]
    metrics = {"pass_rate": metric(1.0), **{name: metric(0.8) for name in PATTERNS}}
    run = make_run("run", [task("own/a")], [chat("own/a")], scores, metrics)
    found = pattern_run(lanes_of([run])[0], 0)
    assert (found.errors["iav"], found.goals["iav"], len(found.links["iav"])) == (4, 1, 2)
    note = "goals without gold values, IAV by missing and inadmissible arguments alone: 1 of 1"
    assert note in found.notes


@pytest.mark.parametrize("name", ["findings", "repaired", "calls", "first", "transitions"])
@pytest.mark.parametrize("metric_name", ["ife", "recovery"])
def test_details_of_another_shape_are_counted_as_none(make_run, metric_name, name) -> None:
    for odd in ("x", 7, ["x"]):
        scores = [Score("own/a", 0, 0, metric_name, 0.8, details={name: odd, "errors": 1})]
        metrics = {"pass_rate": metric(1.0), metric_name: metric(0.8)}
        run = make_run("run", [task("own/a")], [chat("own/a")], scores, metrics)
        assert not pattern_run(lanes_of([run])[0], 0).links.get(metric_name)


def test_links_are_bounded(played: RunFolder) -> None:
    found = pattern_run(lanes_of([played])[0], 0)
    assert max(map(len, found.links.values())) <= LINKED


def test_environments_hold_every_query_once(played: RunFolder) -> None:
    lane = next(lane for lane in lanes_of([played]) if lane.kind == "run")
    found = environments(lane)
    assert sum(one["queries"] for one in found.values()) == 12
    assert set(found) <= {tool.category for tool in played.tools().values()}


def test_an_environment_is_named_by_its_tag_else_by_its_tools() -> None:
    tools = {name: Tool(name, name, category=f"of {name}") for name in "ab"}
    goal = Goal("x", relevant=("b", "a", "b"), offered=("a",))
    assert environment_of(Task("t", "b", (goal,), tags={"environment": "e"}), 0, tools) == "e"
    assert environment_of(Task("t", "b", (goal,)), 0, tools) == "of b"
    assert environment_of(Task("t", "b", (Goal("x", offered=("a",)),)), 0, tools) == "of a"
    assert environment_of(Task("t", "b", (Goal("x"),), world="phone"), 0, tools) == "phone"
    assert environment_of(Task("t", "b", (Goal("x"),)), 0, tools) == "-"


def test_a_finding_is_marked_at_its_step(played: RunFolder) -> None:
    scores = [score for score in played.scores() if score.metric in PATTERNS]
    listed = [(s, f) for s in scores for f in s.details.get("findings", ()) if "step" in f]
    assert listed
    chats = {trajectory.task_id: trajectory for trajectory in played.trajectories()}
    for score, finding in listed:
        of_chat = [s for s in scores if s.task_id == score.task_id]
        marks = annotate(None, chats[score.task_id], of_chat).marks[finding["step"]]
        assert any(mark.text.startswith(f"{finding['pattern']}, ") for mark in marks)


FAULTS = [{"kind": "wrong_type", "name": "days", "expected": "'integer'", "received": "True"}]


@pytest.mark.parametrize(
    ("name", "finding", "kind", "told"),
    [
        (
            "iat",
            {"pattern": "IAT", "faults": FAULTS},
            "fault",
            "IAT, a value of a wrong type: days expected 'integer', received True",
        ),
        (
            "rac",
            {"pattern": "RAC", "earlier": 3},
            "fault",
            "RAC, the same call again, as in step 3",
        ),
        (
            "iav",
            {"pattern": "IAV", "gold": 1, "cause": "wrong_value", "faults": FAULTS * 4},
            "fault",
            "IAV, a wrong or missing value, beside gold call 1: "
            + "; ".join(["days expected 'integer', received True"] * 3)
            + "; and 1 more",
        ),
        (
            "ifn",
            {"pattern": "IFN", "faults": [{"name": "wether"}]},
            "fault",
            "IFN, no such tool: wether",
        ),
        ("service_answers", {"service": "gone"}, "service", "the service gave no answer: gone"),
    ],
)
def test_a_mark_says_what_is_wrong(name: str, finding: Any, kind: str, told: str) -> None:
    score = Score("own/a", 0, 0, name, 0.5, details={"findings": [{"step": 1, **finding}]})
    assert annotate(None, chat("own/a"), [score]).marks == {1: [Mark(kind, told)]}


def test_calls_that_were_repaired_are_counted_and_shown(make_run, tmp_path: Path) -> None:
    raw = "Action: weather_now\nAction Input: {'city': 'Paris'"
    played = chat("own/a")
    mended = replace(played.steps[1].call, raw=raw)
    steps = (played.steps[0], replace(played.steps[1], call=mended), *played.steps[2:])
    trajectory = replace(played, steps=steps)
    scores = ErrorPatterns().score(task("own/a"), trajectory, {WEATHER.id: WEATHER})
    metrics = {"pass_rate": metric(1.0), **{name: metric(1.0) for name in PATTERNS}}
    run = make_run("run", [task("own/a")], [trajectory], scores, metrics)
    told = "calls repaired to be read, no error either: 1 (closed 1, python_literal 1)"

    page = write_report([run], tmp_path / "report.html").read_text("utf-8")
    told_in_step = "Repaired to be read (python_literal, closed); written as:</p><div><pre"
    assert told_in_step in blocks(page, "chat")["0/0/0"]
    assert f">{escape(raw, quote=False)}</pre>" in blocks(page, "chat")["0/0/0"]
    assert told in page
    shown = render_transcript(task("own/a"), trajectory, {}).plain
    assert "repaired to be read (python_literal, closed); written as:" in shown


def test_runs_without_patterns_have_no_section(scored_run: RunFolder) -> None:
    assert SECTIONS.resolve("error_patterns").render(lanes_of([scored_run])) is None
    assert not pattern_run(lanes_of([scored_run])[0], 0).links


def test_the_report_shows_the_patterns(played: RunFolder, tmp_path: Path) -> None:
    write_report([played], tmp_path / "report.html")
    assert "Success and freedom of error patterns" in (tmp_path / "report.html").read_text("utf-8")


def test_a_pattern_that_was_not_looked_for_has_no_count_of_errors(tmp_path):
    run = seal.run("toolsandbox-sample", first=2, baselines=False, out=tmp_path / "run")
    assert run["iac"].n == 0 < run["iav"].n
    page = re.sub(r"(?:<[^>]*>|\s)+", " ", run.report().read_text(encoding="utf-8"))
    assert "goals n/a calls 1.000, goals 1.000 0 errors" in page


def test_errors_of_the_floor_alone_are_no_section_of_a_run(tmp_path: Path) -> None:
    # The task that is drawn asks for no call: the floor makes one, the model none.
    settings = RunSettings(limit=1, retriever="bm25", cache_dir=tmp_path / "cache")
    floor, model, _ = lanes_of([run(settings, tmp_path / "run").folder])

    assert floor.estimate("ife").n and not model.estimate("ife").n
    assert SECTIONS.resolve("error_patterns").render([floor, model]) is None
