"""Gold that means what it says: no arguments and any, by every door, and keys nobody knows."""

import json
from pathlib import Path
from typing import Any

import pytest

import seal
from seal.core import DataError, Task, Tool, UsageError
from seal.pools.imports import write_pool
from seal.pools.lookup import open_pool
from seal.pools.own_files import benchmark_of, said_by

ZONE = {"type": "object", "properties": {"zone": {"type": "string"}, "top": {"default": 5}}}
CLOCK = {"name": "clock", "description": "Tell the time.", "parameters": ZONE}
TICKET = {
    "name": "ticket",
    "description": "Look a ticket up.",
    "parameters": {
        "type": "object",
        "properties": {"number": {"type": "integer"}},
        "required": ["number"],
    },
}
LONG = 314159265358979323846


def written(folder: Path, name: str, content: Any) -> Path:
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def called(task: Task) -> Any:
    tool = Tool("own/clock", "clock", parameters=ZONE)
    ((call,),) = (plan.calls() for plan in task.goals[0].plans or ())
    return call.of_tools({tool.id: tool})


NONE = ["clock()", '[{"name": "clock", "arguments": {}}]', '[{"name": "clock", "args": "{}"}]']
ANYTHING = ["clock", '["clock"]', '[{"name": "clock"}]', '[{"function": {"name": "clock"}}]']


def tasks_of(door: str, cells: list[str], folder: Path) -> list[Task]:
    """Return the tasks of cells of gold as they come through a door."""
    asked = [{"query": f"Question {number}", "calls": cell} for number, cell in enumerate(cells)]
    if door == "rows":
        return list(benchmark_of("own", [CLOCK], asked)[0]._tasks)
    doubled = '"{}"'.format
    if door == "csv":
        lines = [
            f"{row['query']},{doubled(row['calls'].replace(chr(34), chr(34) * 2))}" for row in asked
        ]
        path = written(folder, "asked.csv", "\n".join(["query,calls", *lines]))
    elif door == "json":
        path = written(
            folder, "asked.json", [{**row, "calls": _plain(row["calls"])} for row in asked]
        )
    else:
        path = written(folder, "asked.jsonl", "\n".join(map(json.dumps, asked)))
    tools = written(folder, "tools.json", [CLOCK])
    if door == "verb":
        out = folder / "pool"
        seal.Benchmark.of("own", tools, path).save(out)
        return list(open_pool(out).tasks())
    return list(seal.Benchmark.of("own", tools, path)._tasks)


def _plain(cell: str) -> Any:
    try:
        return json.loads(cell)
    except ValueError:
        return cell


@pytest.mark.parametrize("door", ["rows", "csv", "json", "jsonl", "verb"])
def test_no_arguments_and_any_are_two_things_by_every_door(door: str, tmp_path: Path) -> None:
    for task in tasks_of(door, NONE, tmp_path):
        gold = called(task)
        assert gold.accepts({}) and gold.accepts({"top": 5}) and not gold.accepts({"zone": "UTC"})
    for task in tasks_of(door, ANYTHING, tmp_path):
        assert called(task).arguments is None and called(task).accepts({"zone": "UTC"})


def test_python_says_no_arguments_and_any_as_files_do() -> None:
    asked = [
        seal.ask("One?", seal.called("clock")),
        seal.ask("Two?", seal.called("clock", seal.ANY)),
        seal.ask("Three?", seal.called("clock", zone=seal.ANY)),
    ]
    assert seal.Argument(seal.ANY, optional=True) == seal.Argument(None, optional=True)
    none, anything, zone = seal.Benchmark("own", tools=[CLOCK], tasks=asked)._tasks
    assert called(none).accepts({"top": 5}) and not called(none).accepts({"zone": "UTC"})
    assert called(anything).accepts({"zone": "UTC", "top": 1})
    assert called(zone).accepts({"zone": "UTC"}) and not called(zone).accepts({})


@pytest.mark.parametrize(
    ("made", "told"),
    [
        (
            lambda: seal.called("clock", {"zone": "UTC"}),
            r"\{'zone': 'UTC'\} has no name; give each",
        ),
        (lambda: seal.called("clock", seal.ANY, zone="x"), "seal.ANY beside 'zone'; leave one"),
        (lambda: seal.called("clock", seal.ANY, seal.ANY), "seal.ANY has no name"),
    ],
)
def test_arguments_without_names_are_refused_with_the_repair(made: Any, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        made()


def test_no_arguments_where_the_tool_needs_one_are_refused_with_the_repair() -> None:
    with pytest.raises(UsageError, match=r"needs the argument 'number'.*give seal\.ANY"):
        seal.Benchmark("own", tools=[TICKET], tasks=[seal.ask("Which?", seal.called("ticket"))])


@pytest.mark.parametrize(
    "call",
    [
        {"name": "clock", "arguments": {"zone": "UTC"}},
        {"name": "clock", "arguments": '{"zone": "UTC"}'},
        {"name": "clock", "parameters": {"zone": "UTC"}},
        {"type": "tool_use", "id": "toolu_1", "name": "clock", "input": {"zone": "UTC"}},
        {"name": "clock", "args": {"zone": "UTC"}, "id": "c1", "type": "tool_call"},
        {"name": "clock", "kwargs": {"zone": "UTC"}},
        {"type": "function", "function": {"name": "clock", "arguments": {"zone": "UTC"}}},
        {"function": {"name": "clock", "parameters": '{"zone": "UTC"}'}, "id": "c1"},
        {"functionCall": {"name": "clock", "args": {"zone": "UTC"}}},
        {"type": "function_call", "call_id": "c", "name": "clock", "arguments": '{"zone":"UTC"}'},
        {"tool": "clock", "input": {"zone": "UTC"}},
        {"function": "clock", "arguments": {"zone": "UTC"}},
        {"name": "clock", "arguments": {"zone": "UTC"}, "parameters": None},
    ],
)
def test_the_dialects_of_calls_are_read(call: Any) -> None:
    (task,) = benchmark_of("own", [CLOCK], [{"query": "When?", "calls": [call]}])[0]._tasks
    gold = called(task)
    assert gold.accepts({"zone": "UTC"}) and not gold.accepts({"zone": "CET"})


@pytest.mark.parametrize(
    ("call", "told"),
    [
        ({"name": "clock", "argumnets": {}}, "'argumnets', which is not known.*'arguments'"),
        ({"name": "clock", "params": {"zone": "UTC"}}, "'params', which is not known"),
        ({"name": "clock", "arguments": {}, "compare": ["zone"]}, "'compare', which is not known"),
        ({"function": {"name": "clock", "given": {}}}, "'given', which is not known"),
        ({"name": "clock", "arguments": None}, "arguments of clock: expected a map.*{} for no"),
        ({"name": "clock", "arguments": "null"}, "arguments of clock: expected a map"),
        ({"name": "clock", "arguments": [1]}, "arguments of clock: expected a map"),
        ({"name": "clock", "arguments": "zone=UTC"}, "arguments of clock: not JSON"),
        ({"name": "clock", "arguments": {1: 2}}, "arguments of clock: expected a map of names"),
        ({"name": "clock", "arguments": {}, "args": {}}, "under arguments and args; keep one"),
        ({"name": "clock", "function": {"name": "clock"}}, "'name' twice"),
        ({"name": "clock", "tool": "clock"}, "names under name and tool"),
        ({"arguments": {}}, "got no name"),
        ({"clock": {"zone": ["UTC"]}}, "'clock', which is not known"),
        ({"name": "clock", "arguments": {"zome": "UTC"}}, "takes no argument 'zome'"),
    ],
)
def test_a_key_that_nobody_knows_leaves_the_row_out(call: Any, told: str) -> None:
    rows = [{"query": "Which?", "calls": [call]}, {"query": "When?", "calls": "clock"}]
    bench, notes = benchmark_of("own", [CLOCK], rows)
    assert len(bench._tasks) == 1 and notes.dropped.total() == 1
    with pytest.raises(DataError, match=told):
        benchmark_of("own", [CLOCK], rows[:1])


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ({"answer": "?"}, r"the answer '\?' says nothing; give a word or a number"),
        ({"answer": ["x", ""]}, "the answer '' says nothing"),
        ({"answer": ["x", None]}, "answer: expected a text, a number or a list of them, got None"),
        ({"answer": {"a": 1}}, "answer: expected a text, a number or a list of them, got .*'a'"),
        ({"answer": "4", "calls": "unanswerable"}, "unanswerable=True beside an answer"),
    ],
)
def test_an_answer_that_cannot_be_leaves_the_row_out(row: Any, told: str, tmp_path: Path) -> None:
    for name in ("asked.json", "asked.jsonl"):
        text = json.dumps(
            [{"query": "Hi"} | row] if name == "asked.json" else {"query": "Hi"} | row
        )
        with pytest.raises(DataError, match=told):
            benchmark_of("own", [CLOCK], written(tmp_path, name, text))
    if isinstance(row["answer"], str):
        lines = ["query,answer,calls", f"Hi,{row['answer']},{row.get('calls', '')}"]
        with pytest.raises(DataError, match=told):
            benchmark_of("own", [CLOCK], written(tmp_path, "asked.csv", "\n".join(lines)))


def test_gold_without_arguments_is_among_those_with_known_ones() -> None:
    rows = [{"query": "Q1", "calls": "clock()"}, {"query": "Q2", "calls": "clock"}]
    known = {
        each.metrics: each.tasks for each in said_by(benchmark_of("own", [CLOCK], rows)[0]._tasks)
    }
    assert known["param_acc_gold, param_acc_matched"] == 1


def played(folder: Path, gold: Any, made: Any, tool: Any = TICKET) -> dict[str, float | None]:
    """Return the scores of a scripted call beside gold of a file."""
    tools = written(folder, "tools.json", json.dumps([tool]))
    asked = written(folder, "asked.jsonl", json.dumps({"query": "Which?", "calls": gold}))
    calls = [{"name": tool["name"], "arguments": made}]
    script = written(folder, "script.json", [{"calls": calls}, "Done."])
    bench = seal.Benchmark.of("own", tools, asked)
    run = seal.run(
        bench, model=f"scripted:{script}", team="direct", baselines=False, out=folder / "run"
    )
    (trajectory,) = run.folder.trajectories()
    ((step, _),) = trajectory.calls()
    assert step.call is not None and step.call.arguments == made
    names = ("calls_right", "pass_rate", "param_acc_gold")
    return {name: run[name].mean for name in names}


@pytest.mark.parametrize("form", ["map", "text", "python"])
def test_an_id_of_many_digits_is_right_to_the_last_one(form: str, tmp_path: Path) -> None:
    gold: Any = [{"name": "ticket", "arguments": {"number": LONG}}]
    if form == "text":
        gold = [{"name": "ticket", "arguments": json.dumps({"number": LONG})}]
    elif form == "python":
        gold = f"ticket(number={LONG})"
    for made, right in ((LONG, 1.0), (LONG + 1, 0.0)):
        folder = tmp_path / str(made)
        folder.mkdir()
        assert set(played(folder, gold, {"number": made}).values()) == {right}


@pytest.mark.parametrize(
    ("gold", "made", "right"),
    [
        ("clock()", {"zone": "UTC"}, 0.0),
        ("clock()", {}, 1.0),
        ("clock()", {"top": 5}, 1.0),
        ("clock(top=5)", {}, 1.0),
        ("clock(top=4)", {}, 0.0),
        ("clock(zone='Bern\u00a0West')", {"zone": "Bern West "}, 1.0),
    ],
)
def test_a_run_holds_calls_against_what_gold_says(
    gold: str, made: Any, right: float, tmp_path: Path
) -> None:
    assert set(played(tmp_path, gold, made, CLOCK).values()) == {right}


def test_null_as_the_default_of_a_list_leaves_gold_as_it_is(tmp_path: Path) -> None:
    teams = {"type": "array", "items": {"type": "string"}, "default": None}
    find = {
        "name": "find",
        "description": "Find something.",
        "parameters": {"type": "object", "properties": {"q": {"type": "string"}, "teams": teams}},
    }
    for number, made in enumerate(({"q": "x"}, {"q": "x", "teams": None})):
        folder = tmp_path / str(number)
        folder.mkdir()
        assert set(played(folder, "find(q='x')", made, find).values()) == {1.0}


def test_a_default_that_its_schema_refuses_is_refused_with_the_repair() -> None:
    wrong = {"name": "f", "parameters": {"properties": {"n": {"type": "integer", "default": "x"}}}}
    told = r"parameters\.properties\.n\.default: expected type 'integer', got 'x'; mend the default"
    with pytest.raises(UsageError, match=told):
        seal.Benchmark("own", tools=[wrong])


def test_an_import_tells_the_defaults_that_are_refused(tmp_path: Path) -> None:
    properties = {f"n{number}": {"type": "integer", "default": "x"} for number in range(7)}
    tool = Tool("own/f", "f", "F.", {"type": "object", "properties": properties})
    task = seal.Task("1", "own", (seal.Goal("Go."),))
    report = write_pool("own", lambda source, notes: iter((tool, task)), None, tmp_path / "pool")
    assert report.facts["defaults_refused"] == 7 and len(report.remarks) == 5
    assert "own/f: the default at properties.n0.default is refused" in report.remarks[0]
    assert json.loads((tmp_path / "pool/import.json").read_bytes())["defaults_refused"] == 7


STATEMENTS = ["clock()", "clock(zone='é; \\n')", "clock", "clock(\n  zone='x')"]


@pytest.mark.parametrize("between", [";", "\n", "\r\n", "\r", " ; "])
def test_a_cell_lists_calls_whatever_parts_them(between: str, tmp_path: Path) -> None:
    (task,) = tasks_of("rows", [between.join(STATEMENTS)], tmp_path)
    (plan,) = task.goals[0].plans or ()
    zones = [call.canonical_arguments().get("zone") for call in plan.calls()]
    assert zones == [None, "é; \n", None, "x"]


def test_four_thousand_calls_and_long_texts_are_read(tmp_path: Path) -> None:
    (task,) = tasks_of("csv", ["clock(zone='x');" * 4000], tmp_path)
    assert len((task.goals[0].plans or ())[0].milestones) == 4000
    with pytest.raises(DataError) as told:
        tasks_of("rows", ["[" * 100_000 + "]" * 100_000], tmp_path)
    assert len(str(told.value)) < 400
