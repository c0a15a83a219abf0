import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from seal import benchmarks
from seal.core import (
    DataError,
    Goal,
    Milestone,
    Plan,
    Step,
    Task,
    Tool,
    Trajectory,
    UnknownNameError,
    UsageError,
    write_records,
)
from seal.core.conditions import Called
from seal.pools.importer import Notes, Recorded
from seal.pools.imports import import_benchmark
from seal.pools.pool import load_pool


def task(task_id: str = "a", tool: str = "b/t/x", **tags: object) -> Task:
    goal = Goal("Do it.", (Plan((Milestone(Called(tool)),)),), offered=(tool,), relevant=(tool,))
    return Task(task_id, "b", (goal,), tags=tags)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_records(tmp_path / "tools.jsonl", [Tool("b/t/x", "x"), Tool("b/t/y", "y")])
    tasks = [task("a", group="G1", multi_tool=True), task("b", group="G2", multi_tool=False)]
    write_records(tmp_path / "tasks.jsonl", tasks)
    write_records(tmp_path / "recorded/m/trajectories.jsonl", [Trajectory("a", 0, ())])
    return tmp_path


def test_a_folder_made_by_hand_is_a_pool(folder: Path) -> None:
    pool = load_pool(folder)
    assert [tool.id for tool in pool.tools()] == ["b/t/x", "b/t/y"]
    assert [each.id for each in pool.tasks()] == ["a", "b"]
    assert list(pool.recordings()) == ["m"]
    assert [each.task_id for each in pool.recorded("m")] == ["a"]
    assert pool.name == folder.name
    assert len(pool.digest) == 64


def test_tasks_are_selected_by_tags(folder: Path) -> None:
    pool = load_pool(folder)
    assert [each.id for each in pool.tasks({"multi_tool": "true"})] == ["a"]
    assert [each.id for each in pool.tasks({"group": "g2", "multi_tool": "False"})] == ["b"]
    assert [each.id for each in pool.tasks(limit=1)] == ["a"]
    assert list(pool.tasks(limit=0)) == []


@pytest.mark.parametrize(
    "select", [{"size": "big"}, {"group": "G3"}, {"group": "G1", "multi_tool": "no"}]
)
def test_a_selection_without_a_task_lists_the_tags_that_there_are(folder: Path, select) -> None:
    with pytest.raises(UsageError, match="group: G1, G2; multi_tool: false, true"):
        list(load_pool(folder).tasks(select))


def test_the_digest_follows_the_bytes(folder: Path) -> None:
    before = load_pool(folder).digest
    write_records(folder / "tasks.jsonl", [task("c")])
    assert load_pool(folder).digest != before


def test_a_folder_without_tasks_is_no_pool(folder: Path) -> None:
    (folder / "tasks.jsonl").unlink()
    with pytest.raises(DataError, match=r"is no pool.*tasks\.jsonl.*seal import"):
        load_pool(folder)


def test_a_run_without_tools_is_told_how_it_has_them_again(folder: Path) -> None:
    (folder / "run.json").write_text("{}")
    (folder / "tools.jsonl").unlink()
    with pytest.raises(DataError, match=r"has no tools\.jsonl; .* with --resume --out"):
        load_pool(folder)


def test_an_empty_pool_is_an_error(folder: Path) -> None:
    (folder / "tasks.jsonl").write_bytes(b"")
    with pytest.raises(DataError, match="holds no task: import the benchmark again"):
        list(load_pool(folder).tasks())
    (folder / "tools.jsonl").write_bytes(b"")
    with pytest.raises(DataError, match="is empty"):
        load_pool(folder)


def test_repeated_ids_are_errors(folder: Path) -> None:
    write_records(folder / "tasks.jsonl", [task("a"), task("a")])
    with pytest.raises(DataError, match="task id 'a' stands twice"):
        list(load_pool(folder).tasks())
    write_records(folder / "tools.jsonl", [Tool("b/t/x", "x"), Tool("b/t/x", "y")])
    with pytest.raises(DataError, match="tool id 'b/t/x' stands twice"):
        load_pool(folder).tools()
    write_records(folder / "tools.jsonl", [Tool("b/t/x", " ")])
    with pytest.raises(DataError, match="tool 'b/t/x' has no name by which a model could call it"):
        load_pool(folder).tools()


@pytest.mark.parametrize(
    ("role", "goal"),
    [
        ("relevant", Goal("q", relevant=("b/t/z",))),
        ("offered", Goal("q", offered=("b/t/z",))),
        ("gold", Goal("q", (Plan((Milestone(Called("b/t/z")),)),))),
        ("gold", Goal("q", (Plan(minefields=(Milestone(Called("b/t/z")),)),))),
    ],
)
def test_a_tool_outside_the_pool_is_an_error(folder: Path, role: str, goal: Goal) -> None:
    write_records(folder / "tasks.jsonl", [Task("a", "b", (goal,))])
    with pytest.raises(DataError, match=f"task 'a' has the {role} tool 'b/t/z'"):
        list(load_pool(folder).tasks())


def test_a_task_without_a_goal_is_an_error(folder: Path) -> None:
    write_records(folder / "tasks.jsonl", [task("a"), Task("empty", "b", ())])
    with pytest.raises(DataError, match="task 'empty' has no goal"):
        list(load_pool(folder).tasks())


def test_an_unknown_recording_lists_the_known_ones(folder: Path) -> None:
    with pytest.raises(UnknownNameError, match="known: m"):
        list(load_pool(folder).recorded("n"))


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("{", "not JSON"),
        *((f'{{"lacks": {lacks}}}', "a list of names") for lacks in ("0.5", "[[]]")),
    ],
)
def test_a_damaged_report_is_an_error(folder: Path, content: str, says: str) -> None:
    (folder / "import.json").write_text(content)
    with pytest.raises(DataError, match=rf"import\.json: (expected )?{says}"):
        _ = load_pool(folder).name


class Sketch:
    """An importer of three records that fails where it is told to."""

    def __init__(self, fails: bool = False) -> None:
        self.fails = fails

    def __call__(
        self, source: Path, notes: Notes, **options: object
    ) -> Iterator[Tool | Task | Recorded]:
        notes.dropped["odd"] += 1
        notes.lacks.add("gold_calls")
        notes.facts["options"] = dict(options)
        yield task("a")
        if self.fails:
            raise DataError("record 2: odd")
        yield Recorded("m", Trajectory("a", 0, (Step(0, "user_simulator", "orchestrator"),)))
        yield Tool("b/t/x", "x")


sketch, failing = Sketch(), Sketch(fails=True)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "source"
    folder.mkdir()
    return folder


def test_an_importer_by_dotted_path_writes_a_pool(source: Path, tmp_path: Path) -> None:
    out = tmp_path / "pool"
    report = import_benchmark("test_pool:sketch", source, out, x=1)
    content = json.loads((out / "import.json").read_text())
    assert content == report.to_json()
    assert content["tasks"] == content["tools"] == 1
    assert content["dropped"] == {"odd": 1}
    assert content["options"] == {"x": 1}
    assert content["recordings"] == {"m": 1}
    pool = load_pool(out)
    assert (pool.name, pool.digest) == ("sketch", report.digest)


def test_an_import_replaces_an_earlier_pool_and_only_when_it_succeeds(
    source: Path, tmp_path: Path
) -> None:
    out = tmp_path / "pool"
    import_benchmark("test_pool:sketch", source, out)
    (out / "web.json").write_text("{}")
    with pytest.raises(DataError, match="record 2"):
        import_benchmark("test_pool:failing", source, out)
    assert (out / "web.json").exists()
    import_benchmark("test_pool:sketch", source, out)
    assert not (out / "web.json").exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["pool", "source"]


def test_a_folder_that_is_no_pool_is_not_replaced(source: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes").write_text("keep")
    with pytest.raises(UsageError, match="exists and is no pool"):
        import_benchmark("test_pool:sketch", source, tmp_path / "mine")


def test_source_and_output_may_not_lie_in_each_other(source: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="outside the source"):
        import_benchmark("test_pool:sketch", source, source / "pool")
    with pytest.raises(UsageError, match="lies inside"):
        import_benchmark("test_pool:sketch", source, tmp_path)
    with pytest.raises(UsageError, match="no file or folder"):
        import_benchmark("test_pool:sketch", tmp_path / "nowhere", tmp_path / "pool")


def test_an_unknown_benchmark_lists_the_known_ones(source: Path, tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'toolbench'"):
        import_benchmark("toolbnch", source, tmp_path / "pool")


def test_messages_name_the_pool_and_not_the_place_of_the_installed_sample() -> None:
    pool = load_pool(Path(benchmarks.__file__).parent / "sample")
    with pytest.raises(UsageError, match=r"^no task of sample has domain=nope; its tags are"):
        list(pool.tasks(select={"domain": "nope"}))
    with pytest.raises(UnknownNameError, match=r"^no recording in sample 'x'"):
        list(pool.recorded("x"))


@pytest.mark.parametrize(
    ("id", "found"),
    [("weather-01", 1), ("Weather-01", 1), ("weather-0*", 9), ("*-01", 8), ("weather", 0)],
)
def test_tasks_are_selected_by_id(id: str, found: int) -> None:
    pool = load_pool(Path(benchmarks.__file__).parent / "sample")
    if found:
        assert len(list(pool.tasks(select={"id": id}))) == found
        return
    with pytest.raises(UsageError, match=r"has id=weather; its tags are: .* id: calendar-01, "):
        list(pool.tasks(select={"id": id}))
