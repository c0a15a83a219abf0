"""ToolSandbox's recorded trajectories: the original's own numbers, and own small records."""

import gzip
import json
import math
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from forked import run
from toolsandbox_sources import STATE, constraint, graph, traced

from seal.api.benchmarks import import_benchmark
from seal.api.results import score
from seal.benchmarks.toolsandbox.importer import import_trajectories
from seal.benchmarks.toolsandbox.records import TABLES, plan_of
from seal.core import DataError, Plan, Task, Trajectory, UnknownNameError, UsageError
from seal.evaluation.goals import TaskChat
from seal.evaluation.milestone_search import Similarities
from seal.evaluation.pass_rates import PassRate
from seal.evaluation.plans import PlanResult, Reached, measure_plan, turn_count, under, view
from seal.pools.importer import Notes, Recorded

VECTORS, FUZZ = "vectors_public.jsonl.gz", "fuzz_public.jsonl.gz"
NEAR = 1e-6


def lines(path: Path) -> list[dict[str, Any]]:
    if not path.is_file():
        pytest.skip(f"no {path.name}")
    return [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]


def played(path: Path) -> Iterator[tuple[Task, Trajectory]]:
    tasks: dict[str, Task] = {}
    for record in import_trajectories(path, Notes()):
        if isinstance(record, Task):
            tasks[record.id] = record
        elif isinstance(record, Recorded):
            yield tasks[record.trajectory.task_id], record.trajectory


def same(found: tuple[Reached, ...], expected: list[list[Any]]) -> bool:
    pairs = [(one.node, one.index) for one in found]
    return pairs == [(node, index) for node, index, _ in expected] and near(
        [one.similarity for one in found], [value for *_, value in expected]
    )


def near(found: Any, expected: Any) -> bool:
    if isinstance(expected, list):
        return len(found) == len(expected) and all(map(near, found, expected))
    return bool(abs(found - expected) < NEAR)


def agrees(result: PlanResult, expected: dict[str, Any]) -> bool:
    numbers = ("milestone_similarity", "minefield_similarity", "similarity")
    return (
        same(result.milestones, expected["milestone_mapping"])
        and same(result.minefields, expected["minefield_mapping"])
        and near([getattr(result, n) for n in numbers], [expected[n] for n in numbers])
    )


def free_profile(plan: Plan, steps: Any) -> dict[str, list[float]]:
    """Similarities at every step of the nodes that refer to no other."""
    table = Similarities(under(plan.milestones, "toolsandbox"), steps)
    free = [node for node in range(len(plan.milestones)) if table.references(node) == []]
    return {str(node): list(table.row(node, {})) for node in free}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "count"), [(VECTORS, 959), (FUZZ, 351)])
@pytest.mark.no_cover
def test_every_recorded_score_is_found_again(seal_data: Path, name: str, count: int) -> None:
    path = seal_data / "toolsandbox" / name
    expected = {record["id"]: record["expected"] for record in lines(path)}
    differing = []
    for task, trajectory in played(path):
        steps = view(trajectory, 0, task.initial_state, "toolsandbox")
        (plan,) = task.goals[0].plans or ()
        result, wanted = measure_plan(plan, steps, "toolsandbox"), expected.pop(task.id)
        fits = agrees(result, wanted) and turn_count(steps) == wanted["turn_count"]
        if "constraint_similarity" in wanted:
            fits &= near(
                [one.conditions for one in result.milestones], wanted["constraint_similarity"]
            )
            fits &= near(
                [one.conditions for one in result.minefields],
                wanted["minefield_constraint_similarity"],
            )
            profile = free_profile(plan, steps)
            fits &= profile.keys() == wanted["free_node_profile"].keys()
            fits &= all(near(profile[n], row) for n, row in wanted["free_node_profile"].items())
        if not fits:
            differing.append(task.id)
        count -= 1
    assert (differing, expected, count) == ([], {}, 0)


@pytest.fixture
def seal(tmp_path: Path) -> Any:
    """Run the `seal` command."""
    kept = {"SEAL_CACHE_DIR": str(tmp_path / "cache"), "COLUMNS": "100"}

    def call(*words: object) -> str:
        done = run(["seal", *words], cwd=tmp_path, env={**os.environ, **kept})
        assert done.returncode == 0, done.stderr
        return done.stdout

    return call


@pytest.mark.slow
@pytest.mark.parametrize("name", [VECTORS, FUZZ])
def test_the_commands_give_the_recorded_scores(
    seal: Any, seal_data: Path, tmp_path: Path, name: str
) -> None:
    path = seal_data / "toolsandbox" / name
    expected = {record["id"]: record["expected"] for record in lines(path)}
    assert "score it: seal score RUN" in seal(
        "import", "toolsandbox", path, "--trajectories", "--out", "RUN"
    )
    seal("score", "RUN")
    differing = set()
    for line in (tmp_path / "RUN" / "scores.jsonl").read_text().splitlines():
        found = json.loads(line)
        wanted = expected[found["task_id"]]
        if found["metric"] in wanted and not near(found["value"], wanted[found["metric"]]):
            differing.add(found["task_id"])
        mapping = wanted.get(found["metric"].replace("similarity", "mapping"))
        if mapping is not None and "mapping" in found["details"]:
            indices = [pair[:2] for pair in found["details"]["mapping"]]
            values = [pair[2] for pair in found["details"]["mapping"]]
            if indices != [pair[:2] for pair in mapping] or not near(
                values, [pair[2] for pair in mapping]
            ):
                differing.add(found["task_id"])
    assert differing == set()


def message(index: int, sender: str, recipient: str, content: str, **fields: Any) -> dict[str, Any]:
    return {
        "index": index,
        "sender": sender,
        "recipient": recipient,
        "content": content,
        "conversation_active": True,
        "visible_to": [sender, recipient],
        "tool_trace": None,
        **fields,
    }


EXEC = "EXECUTION_ENVIRONMENT"
TOLD = constraint(
    "SANDBOX",
    target=[{"sender": "AGENT", "recipient": "USER", "content": "Wifi is on"}],
    columns={"content": {"measure": "rouge_l"}},
)


def record(name: str = "wifi#oracle.0", **fields: Any) -> dict[str, Any]:
    error = "a.b.KeyError: 'x'"
    call = {"name": "set_wifi_status", "arguments": {"on": True}}
    named = {"call_id": "b", "tool_call": call, "agent_tool_name": "setting_8"}
    trace = {"tool_name": "set_wifi_status", "arguments": {"on": True}, "result": None}
    return {
        "id": name,
        "scenario": "wifi",
        "first_user_index": 15,
        "last_index": 20,
        "initial_state": STATE,
        "messages": [
            message(15, "USER", "AGENT", "Turn on wifi", visible_to=None),
            message(16, "AGENT", EXEC, "x = 1", call_id="a", agent_tool_name="python"),
            message(17, "AGENT", EXEC, "set_wifi(on=True)", **named),
            message(18, EXEC, "AGENT", error, call_id="a", exception=error),
            message(19, EXEC, "AGENT", "None", call_id="b", tool_trace=[trace]),
            message(20, "AGENT", "USER", "Wifi is on"),
        ],
        "snapshots": {"SETTING": [{"index": 18, "rows": [{**STATE["SETTING"][0], "wifi": True}]}]},
        "milestones": graph(constraint(), TOLD),
        "minefields": graph(traced("remove_contact")),
        **fields,
    }


class Source:
    """A file of recorded trajectories and the run that is made of it."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "played.jsonl"
        self.run = folder / "run"

    def imported(self, *records: Any, **options: Any) -> Any:
        self.file.write_text("".join(json.dumps(each) + "\n" for each in records))
        return import_benchmark("toolsandbox", self.file, self.run, trajectories=True, **options)

    def one(self, **fields: Any) -> tuple[Task, Trajectory]:
        self.file.write_text(json.dumps(record(**fields)))
        return next(played(self.file))


@pytest.fixture
def source(tmp_path: Path) -> Source:
    return Source(tmp_path)


def test_a_message_is_a_step_of_its_own_index(source: Source) -> None:
    task, trajectory = source.one()
    assert (task.id, task.world, task.metadata["match"]) == (
        "wifi#oracle.0",
        "phone",
        "toolsandbox",
    )
    assert [step.index for step in trajectory.steps] == [15, 16, 17, 18, 19, 20]
    assert [step.turn for step in trajectory.steps] == [0, 1, 1, 2, 2, 3]
    assert trajectory.answers == ("Wifi is on",)
    assert trajectory.stops[0].reason == "max_messages"


def test_code_that_is_no_call_stands_as_it_is(source: Source) -> None:
    _, trajectory = source.one()
    code, call = trajectory.steps[1].call, trajectory.steps[2].call
    assert code is not None and call is not None
    assert (code.arguments, code.raw, code.tool) == (None, "x = 1", None)
    assert (call.name, call.tool, call.arguments) == (
        "setting_8",
        "phone/setting/set_wifi_status",
        {"on": True},
    )
    assert trajectory.steps[2].content == "set_wifi(on=True)"


def test_answers_name_their_calls_and_hold_the_worlds_changes(source: Source) -> None:
    _, trajectory = source.one()
    failed, done = trajectory.steps[3], trajectory.steps[4]
    assert failed.result is not None and done.result is not None
    assert failed.result.call_id == trajectory.steps[1].call.id  # type: ignore[union-attr]
    assert failed.result.error == {"kind": "KeyError", "message": "a.b.KeyError: 'x'"}
    assert done.result.executed is not None
    assert failed.state == {"settings": [{**STATE["SETTING"][0], "wifi": True}]}
    assert (done.state, list(trajectory.steps[0].state or ())) == (None, list(TABLES.values()))


def test_a_run_is_scored_and_may_be_scored_by_other_rules(source: Source) -> None:
    report = source.imported(record(), record("other"))
    assert (report.tasks, report.dropped) == (2, {})
    metrics = score(source.run).summary["metrics"]
    assert metrics["similarity"]["mean"] == 1
    assert metrics["turn_count"]["mean"] == 5
    score(source.run, match="clean")
    assert json.loads((source.run / "run.json").read_text())["measure"]["match"] == "clean"
    score(source.run)
    assert "match" not in json.loads((source.run / "run.json").read_text())["measure"]
    with pytest.raises(UsageError, match=r"expected one of clean, .*, toolsandbox, got"):
        score(source.run, match="nice")


def test_what_one_step_cannot_hold_is_left_out_and_counted(source: Source) -> None:
    twice = record("twice")
    twice["messages"][4]["tool_trace"] *= 2
    both = record("both")
    both["messages"][4]["exception"] = "KeyError: 'x'"
    report = source.imported(record(), twice, both, {"id": 3}, record())
    assert report.tasks == 1
    assert report.dropped == {
        "call_and_exception_in_one_answer": 1,
        "malformed_record": 2,
        "several_calls_in_one_answer": 1,
    }
    assert "stood before" in report.malformed[1]


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"milestones": {"nodes": []}}, "the field 'edges' is missing"),
        ({"milestones": graph(constraint("SETTINGS"))}, "no database 'SETTINGS'"),
        ({"milestones": graph(constraint(measure="same"))}, "no measure of a table 'same'"),
        ({"milestones": graph(constraint(target=[{}], columns={}))}, "a row without columns"),
        ({"milestones": graph(constraint(target=[{"wfi": True}]))}, "no column 'wfi'"),
        ({"milestones": graph(traced("set_wifi"))}, "no tool of the phone 'set_wifi'"),
        ({"milestones": graph(constraint(ref=1, measure="update"), TOLD)}, "since: 1 is no"),
        ({"milestones": graph(constraint(ref="x"))}, "ref: expected a node number"),
        (
            {"milestones": {**graph(constraint(), TOLD), "edges": [[0, 1], [1, 0]]}},
            "the nodes form a cycle",
        ),
        ({"milestones": {**graph(constraint(), TOLD), "edges": []}}, "the nodes [0, 1] are in no"),
        ({"milestones": {**graph(constraint()), "edges": [[0, 5]]}}, "expected two node numbers"),
        ({"messages": []}, "expected the user's first one"),
        (
            {"messages": [message(16, "USER", "AGENT", "x")], "snapshots": {}},
            "index: expected 15, got 16",
        ),
        (
            {"messages": [message(15, "BOSS", "AGENT", "x")], "snapshots": {}},
            "expected one of the roles",
        ),
        ({"initial_state": {"NOTES": []}}, "initial_state: expected the tables"),
        ({"snapshots": {"NOTES": []}}, "snapshots: expected the tables"),
        ({"snapshots": {"SETTING": [{"index": 18, "rows": [1]}]}}, "expected a list of rows"),
        (
            {"snapshots": {"SETTING": [{"index": 99, "rows": []}]}},
            "record 'wifi#oracle.0': snapshots.SETTING.0: index: expected that of a message, 15 to",
        ),
        ({"snapshots": {"SETTING": [{"index": 2, "rows": []}]}}, "SETTING.0: index: expected"),
        (
            {"snapshots": {"SETTING": [{"index": 18, "rows": [{"latitude": math.nan}]}]}},
            "line 1, snapshots.SETTING.0.rows.0.latitude: NaN is no JSON; write null, or a number",
        ),
        (
            {"initial_state": {"SETTING": [{"latitude": -math.inf}]}},
            "line 1, initial_state.SETTING.0.latitude: -Infinity is no JSON; write null, or a",
        ),
    ],
)
def test_a_record_that_cannot_be_read_says_where(
    source: Source, fields: dict[str, Any], says: str
) -> None:
    with pytest.raises(DataError) as caught:
        source.imported(record(**fields))
    assert says in str(caught.value)
    assert "line 1" in str(caught.value)
    assert not source.run.exists()


def test_a_run_is_never_written_over(source: Source) -> None:
    source.imported(record())
    with pytest.raises(UsageError, match="holds a run already"):
        source.imported(record())


def test_what_cannot_be_read_as_a_run_is_refused(source: Source, tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="no option of recorded trajectories 'clock'"):
        source.imported(record(), clock="now")
    with pytest.raises(
        UnknownNameError, match="known: bfcl, inspect, livemcpbench, taubench, toolsa"
    ):
        import_benchmark("metatool", source.file, source.run, trajectories=True)
    with pytest.raises(DataError, match="expected a file of recorded trajectories"):
        import_benchmark("toolsandbox", tmp_path, tmp_path.parent / "out", trajectories=True)


def test_a_target_of_nulls_is_refused_where_nobody_measured_by_it() -> None:
    nulls = graph(constraint(target=[{"wifi": None}]))
    none: dict[str, Any] = {"nodes": [], "edges": []}
    with pytest.raises(DataError, match="every value is null"):
        plan_of(nulls, none)
    assert plan_of(nulls, none, measured=True).milestones


@pytest.mark.slow
@pytest.mark.no_cover
def test_pass_rate_takes_words_by_their_values_and_nothing_else_on_trust(seal_data: Path) -> None:
    path = seal_data / "toolsandbox" / VECTORS
    records = {record["id"]: record for record in lines(path)}
    counts: dict[str, Counter[str]] = {}
    for task, trajectory in played(path):
        (score,) = PassRate().of(TaskChat(task, trajectory, {}))
        variant = records[trajectory.task_id]["variant"]
        found = {1.0: "solved", 0.0: "failed", None: "undecided"}[score.value]
        asks = any(plan.milestones for plan in task.goals[0].plans or ())
        variant += "" if asks or variant != "unhelpful" else " and right"
        counts.setdefault(variant, Counter())[found] += 1
    for variant in ("missing_step", "early_stop", "unhelpful", "minefield_hit"):
        assert not counts[variant]["solved"], variant
    # Where information lacks, upstream too takes "I cannot assist with that" for right.
    assert counts["unhelpful and right"] == {"solved": 18}
    # Upstream's own gold of days till a holiday is worth .8 there: a result that no call brings.
    assert counts["oracle"] == {"solved": 88, "failed": 3}
    assert counts["chatty"] == {"solved": 51, "failed": 3}
    assert counts["never_end"] == {"solved": 26}
    # 20 by upstream's similarity; one whose words come in reverse tells nothing.
    assert counts["paraphrase"]["solved"] == 26
