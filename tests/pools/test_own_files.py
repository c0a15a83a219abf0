"""Benchmarks of files as people have them: each kind of tools and tasks, and what is wrong."""

import gzip
import json
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import seal
from seal.core import DataError, Task, UsageError
from seal.pools.own_benchmark import own_tools
from seal.pools.own_files import benchmark_of, said_by, tools_of

GET = {
    "name": "get_order",
    "description": "Look an order up.",
    "parameters": {
        "type": "object",
        "properties": {"order_id": {"type": "string"}},
        "required": ["order_id"],
    },
}
SHIP = {"type": "function", "function": {"name": "ship", "description": "Send it."}}
MODULE = '''
from pathlib import Path as _Path


def get_{name}(order_id: str) -> dict:
    """Look an order up."""
    return {{"ships": "Monday"}}


def _hidden(text: str) -> str:
    """No tool."""
    return text
'''


def written(folder: Path, name: str, content: Any) -> Path:
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def made(*rows: Any, columns: Any = None) -> tuple[tuple[Task, ...], Any]:
    bench, notes = benchmark_of("shop", [GET, SHIP], list(rows), columns)
    return bench._tasks, notes


def gold(row: Any) -> Any:
    """Return the gold calls of a row as names with arguments; None where the row says nothing."""
    ((task,), _) = made({"query": "Where is it?", **row})
    plans = task.goals[0].plans
    return None if plans is None else [
        (call.tool, None if call.arguments is None else call.canonical_arguments())
        for call in plans[0].calls()
    ]  # fmt: skip


@pytest.mark.parametrize(
    "content",
    [
        [GET, SHIP],
        {"tools": [GET, SHIP]},
        {"jsonrpc": "2.0", "result": {"tools": [{**GET, "inputSchema": GET["parameters"]}, SHIP]}},
    ],
    ids=["a list", "a map", "an MCP listing"],
)
def test_schemas_are_tools(tmp_path: Path, content: Any) -> None:
    bench = seal.Benchmark("shop", tools=list(tools_of(written(tmp_path, "t.json", content))))

    assert sorted(bench._own.by_id) == ["shop/get_order", "shop/ship"]


def test_a_table_of_tools_has_parameters_as_in_python_or_as_a_schema(tmp_path: Path) -> None:
    schema = json.dumps(GET["parameters"]).replace('"', '""')
    table = (
        "name,description,parameters\n"
        'get_order,Look it up.,"order_id: str, days: int = 3, note: str | None = None"\n'
        f'cancel,Cancel it.,"{schema}"\n'
        "ship,Send it.,\n"
    )

    get, cancel, ship = tools_of(written(tmp_path, "t.csv", table))

    assert get["parameters"]["required"] == ["order_id"]
    assert get["parameters"]["properties"]["days"] == {"type": "integer", "default": 3}
    assert cancel["parameters"]["required"] == ["order_id"]
    assert ship["parameters"]["properties"] == {}


def test_the_operations_of_an_openapi_document_are_tools(tmp_path: Path) -> None:
    order = {
        "type": "object",
        "properties": {"note": {"type": "string"}, "parent": {"$ref": "#/components/schemas/O"}},
        "required": ["note"],
    }
    number = {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}
    body = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/O"}}}}
    document = {
        "openapi": "3.1.0",
        "paths": {
            "/orders/{id}": {
                "parameters": [{"$ref": "#/components/parameters/Id"}],
                "get": {"operationId": "getOrder", "summary": "Look it up"},
                "post": {"requestBody": body},
            }
        },
        "components": {"parameters": {"Id": number}, "schemas": {"O": order}},
    }

    get, post = tools_of(written(tmp_path, "api.json", document))

    assert (get["name"], get["description"]) == ("getOrder", "Look it up")
    assert get["parameters"]["required"] == ["id"]
    assert post["name"] == "post__orders_id"
    assert post["parameters"]["required"] == ["id", "note"]
    seal.Benchmark("shop", tools=[get, post])


@pytest.mark.parametrize(
    ("name", "content"), [("t.json", "[]"), ("t.jsonl", ""), ("t.csv", "name")]
)
def test_a_file_without_a_tool_is_told(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(
        (UsageError, DataError), match=r"holds no tool; give it some, such as|no row"
    ):
        tools_of(tmp_path / name)


def test_gold_by_place_of_an_unknown_tool_names_the_closest(tmp_path: Path) -> None:
    rows = pd.DataFrame({"query": ["When?"], "calls": ["get_ordr(7)"]})
    with pytest.raises(DataError, match="Did you mean 'get_order'"):
        benchmark_of("shop", tools=[GET], tasks=rows)


def test_a_malformed_openapi_document_is_told_by_its_file(tmp_path: Path) -> None:
    document = {"openapi": "3.1.0", "paths": {"/orders": {"get": {"parameters": "id"}}}}

    with pytest.raises(DataError, match=r"api\.json: /orders: get: expected a list, got 'id'"):
        list(tools_of(written(tmp_path, "api.json", document)))


def test_references_that_fork_at_each_step_are_followed_for_a_while(tmp_path: Path) -> None:
    forked = {
        "type": "object",
        "properties": {f"p{n}": {"$ref": "#/components/schemas/S"} for n in range(200)},
    }
    body = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/S"}}}}
    document = {
        "openapi": "3.1.0",
        "paths": {"/orders": {"post": {"requestBody": body}}},
        "components": {"schemas": {"S": forked}},
    }

    (tool,) = tools_of(written(tmp_path, "api.json", document))

    assert len(tool["parameters"]["properties"]) == 200
    assert len(json.dumps(tool)) < 1_000_000
    seal.Benchmark("shop", tools=[tool])


def test_functions_of_a_module_are_tools_that_run_where_they_are_allowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path, "own_tools_a.py", MODULE.format(name="order"))
    monkeypatch.setattr(sys, "path", [*sys.path])
    rows = [{"query": "When does order 7 ship?", "calls": "get_order(order_id='7')"}]
    seal.Benchmark.of("shop", tmp_path / "own_tools_a.py", rows).save(tmp_path / "shop")

    runs = {}
    for allowed in ((), ("own_tools_a",)):
        out = tmp_path / f"run{len(allowed)}"
        settings = {"model": "oracle", "baselines": False, "allow_code": allowed}
        runs[allowed] = seal.run(tmp_path / "shop", out=out, **settings)

    results = {allowed: run.calls.iloc[0].result for allowed, run in runs.items()}
    assert json.loads(results["own_tools_a",])["response"] == {"ships": "Monday"}
    assert results[()] != results["own_tools_a",]
    warned = json.loads((tmp_path / "run0" / "run.json").read_bytes())["warnings"]
    assert warned == [
        "calls of 1 function of own_tools_a are simulated; to run them: --allow-code own_tools_a"
    ]


def test_a_plain_function_name_that_upstream_recorded_asks_for_no_code(tmp_path: Path) -> None:
    tool = seal.Tool("shop/order", "get_order", source={"function": "get_order_for_shop"})
    bench = seal.Benchmark("shop", tools=[tool], tasks=[seal.ask("Where is order 7?")])
    run = seal.run(bench, model="oracle", baselines=False, out=tmp_path / "run")
    warnings = json.loads((run.folder.path / "run.json").read_bytes())["warnings"]
    assert not any("--allow-code" in warning for warning in warnings)


@pytest.mark.parametrize(
    ("cell", "calls"),
    [
        ('get_order(order_id="7")', [("shop/get_order", {"order_id": "7"})]),
        ("get_order('7')\nship()", [("shop/get_order", {"order_id": "7"}), ("shop/ship", {})]),
        ("get_order('7;8'); ship", [("shop/get_order", {"order_id": "7;8"}), ("shop/ship", None)]),
        ("get_order, ship", [("shop/get_order", None), ("shop/ship", None)]),
        ('["ship"]', [("shop/ship", None)]),
        ([{"name": "ship", "arguments": {}}], [("shop/ship", {})]),
        ([{"name": "ship", "arguments": ""}], [("shop/ship", {})]),
        ([{"name": "ship"}], [("shop/ship", None)]),
        (
            [{"function": {"name": "get_order", "arguments": '{"order_id": "7"}'}}],
            [("shop/get_order", {"order_id": "7"})],
        ),
        ("[]", []),
        ("", None),
        (None, None),
        (float("nan"), None),
    ],
)
def test_gold_is_read_in_each_form(cell: Any, calls: Any) -> None:
    assert gold({"calls": cell}) == calls


def test_a_request_that_no_tool_serves_is_gold_of_its_own() -> None:
    ((task,), _) = made({"query": "Fly me to the moon", "calls": "unanswerable"})
    asked = seal.ask("Fly me to the moon", unanswerable=True)
    assert task.goals[0].labels == asked.goals[0].labels == {"action": "abstain"}
    assert gold({"calls": "unanswerable"}) == []
    assert said_by([task])[0].why == "0 have an answer, 0 gold calls alone, 1 no call"


def test_names_alone_are_gold_where_there_are_no_calls() -> None:
    assert gold({"tools": "ship"}) == [("shop/ship", None)]


def test_other_short_columns_are_tags_and_answers_may_be_several() -> None:
    row = {"question": "When?", "answer": '["Monday", "40"]', "kind": "a", "about": "x" * 99}
    ((task,), _) = made(row)

    assert task.goals[0].answers == ("Monday", "40")
    assert task.tags == {"kind": "a"}


def test_every_format_of_a_table_gives_equal_tasks(tmp_path: Path) -> None:
    rows = [{"q": "When?", "gold": "ship"}, {"q": "Where?", "gold": "get_order(order_id='7')"}]
    frame = pd.DataFrame(rows)
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet")
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    written(tmp_path, "t.jsonl", lines)
    (tmp_path / "p.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    written(tmp_path, "t.json", rows)
    (tmp_path / "hub").mkdir()
    frame.to_parquet(tmp_path / "hub" / "test-00000-of-00001.parquet")
    written(tmp_path / "hub", "dataset_info.json", {"splits": {}})

    names = ("t.csv", "t.parquet", "t.jsonl", "p.jsonl.gz", "t.json", "hub")
    sources = [*(tmp_path / name for name in names), frame]
    made = [benchmark_of("shop", [GET, SHIP], each, {"query": "q"})[0] for each in sources]

    assert all(bench._tasks == made[0]._tasks for bench in made)


def test_lists_in_a_frame_are_read_as_lists() -> None:
    cells = {
        "calls": [np.array(["ship"]), np.array([], object)],
        "answer": [np.array([1, 2]), None],
    }
    frame = pd.DataFrame({"query": ["Send it.", "Hello!"], **cells, "vector": [np.zeros(3)] * 2})
    rows = [
        {"query": "Send it.", "calls": ["ship"], "answer": [1, 2]},
        {"query": "Hello!", "calls": []},
    ]
    sources = (frame, rows)
    made = [benchmark_of("shop", [GET, SHIP], each)[0] for each in sources]
    assert made[0]._tasks == made[1]._tasks


def test_rows_that_cannot_be_are_left_out_with_what_is_wrong() -> None:
    tasks, notes = made(
        {"query": "Send it.", "calls": "ship"},
        {"query": "Send it.", "calls": "shipp"},
        {"query": "Look.", "calls": "get_order(order_id=7)"},
        {"query": " "},
        "no row",
    )

    assert (len(tasks), notes.dropped.total()) == (1, 4)
    assert "record 1: names the tool 'shipp'" in notes.malformed[0]
    assert "its gold call cannot be made: Argument 'order_id'" in notes.malformed[1]
    assert notes.malformed[2].endswith("record 3: no text in the column 'query'")


def test_a_row_with_the_id_of_an_earlier_row_is_left_out() -> None:
    rows = [{"id": "a", "query": "Send it."}, {"id": "a", "query": "Look."}, {"query": "Wait."}]

    tasks, notes = made(*rows, {"query": "Go."})

    assert [task.goals[0].text for task in tasks] == ["Send it.", "Wait.", "Go."]
    assert notes.malformed == [
        "tasks, record 1: an earlier row has the id 'a'; give this one its own"
    ]


def test_a_numbered_row_does_not_take_the_id_of_another() -> None:
    tasks, notes = made({"query": "Go."}, {"id": "shop-001", "query": "Stay."})

    assert [task.id for task in tasks] == ["shop-001+", "shop-001"]
    assert notes.malformed == []


def test_rows_that_are_left_out_in_python_are_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    seal.Benchmark.of("shop", [GET], [{"query": "Go."}, {"query": ""}, "no row"])

    (told,) = caplog.messages
    assert told.startswith("tools and tasks left out: 2; the first: tasks, record 1: no text in")


@pytest.mark.parametrize(
    ("tools", "tasks", "columns", "told"),
    [
        ("nope.py", [], {}, "no such file"),
        ("nope.json", [], {}, "nope.json: no such file"),
        ("no file", [], {}, "no such file, and no name of a Python module"),
        ("own", [], {}, "^'own': no module 'own' is installed"),
        ("own.txt", [], {}, "own.txt: no such file, and no name of a Python module"),
        (".", [], {}, "is a folder"),
        ([GET], "nope.csv", {}, "no such file or folder"),
        ([GET], None, {}, "tasks: expected the path of a table, a data frame or rows, got None"),
        (3, [], {}, "tools: expected a text, a path or a list"),
        ([GET], [{"query": "x"}], {"quary": "x"}, "--map quary: expected one of query, calls"),
        ([GET], [{"query": "x"}], {"calls": "gold"}, "has no column 'gold'; it has: query"),
    ],
)
def test_what_cannot_be_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tools: Any, tasks: Any, columns: Any, told: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=told):
        seal.Benchmark.of("shop", tools, tasks, columns)


def test_what_seal_wrote_is_no_folder_of_questions(tmp_path: Path) -> None:
    tasks = [seal.ask("Where is order 7?")]
    seal.run(tasks, tools=[GET], model="oracle", baselines=False, out=tmp_path / "runs" / "one")
    pool = seal.Benchmark("shop", tools=[GET], tasks=tasks).save(tmp_path / "pool")
    for folder, told in ((tmp_path / "runs", "one is a run"), (pool, "pool is a pool")):
        with pytest.raises(UsageError, match=f"{folder} holds no questions: .*{told} that SEAL"):
            seal.Benchmark.of("shop", [GET], folder)
    with pytest.raises(DataError, match=r"runs is no pool: .* it is a folder of runs; name"):
        seal.run(tmp_path / "runs")


def test_a_data_set_of_a_hub_needs_its_library() -> None:
    if find_spec("datasets") is not None:
        pytest.skip("it is installed")
    with pytest.raises(UsageError, match="questions: datasets is not installed: pip install data"):
        benchmark_of("shop", [GET], "hf:somebody/questions")


@pytest.mark.parametrize("number", ["0x" + "f" * 4_000, "-0o" + "7" * 6_000, f"[0b{'1' * 20_000}]"])
def test_a_call_with_a_number_that_nobody_writes_is_left_out(number: str) -> None:
    """Python reads it, as it is no decimal one, and refuses to write it."""
    ship = {"name": "ship", "parameters": {"type": "object", "properties": {"id": {}}}}
    rows = [{"query": "Ship.", "calls": f"ship(id={number})"}, {"query": "Ship.", "calls": "ship"}]
    bench, notes = benchmark_of("shop", [ship], rows)
    assert len(bench._tasks) == 1
    assert "is no call" in notes.malformed[0]


DEEP = f"{'[' * 3000}{']' * 3000}"
LONG = "9" * 5000
BROKEN = {
    "t.csv": f'name,description,parameters\nbad,d,"a: int = 0x{"f" * 5000}"\nget,d,q: str\n',
    "t.jsonl": '{"name": "get"}\n{"name": "b",\n5\n[1]\n{"name": "c", "name": "d"}\n'
    f'{{"name": "e", "parameters": {{"maximum": {LONG}}}}}\n{{"name": "f", "parameters": {DEEP}}}',
    "t.json": f'[{{"name": "get"}}, {{"name": "e, [", "parameters": {{"maximum": {LONG}}}}}\n,'
    f'{{"name": "f", "parameters": {DEEP}}}, {{"name": "c", "name": "d"}}]',
    "o.json": '{"openapi": "3.0", "paths": {"/a": {"get": null}, "/b": {"get": {"operationId": '
    '"get"}}, "/c": 5, "/d": {"post": {"parameters": 7}}}}',
}


@pytest.mark.parametrize(("name", "left"), list(zip(BROKEN, (1, 6, 3, 3), strict=True)))
def test_tools_that_cannot_be_read_are_left_out_and_the_others_stay(
    name: str, left: int, tmp_path: Path
) -> None:
    path = written(tmp_path, name, BROKEN[name])
    bench, notes = benchmark_of("shop", path, [{"query": "Hello.", "tools": "get"}])
    assert [tool.name for tool in bench.pool().tools()] == ["get"]
    assert notes.dropped == {"malformed_tool": left}
    assert not any("sys." in fault or "cut or damaged" in fault for fault in notes.malformed[4:])


@pytest.mark.parametrize("level", ["[{}]", "{{<<: [{}]}}"], ids=["lists", "merges"])
def test_a_document_whose_aliases_are_endless_is_refused(level: str, tmp_path: Path) -> None:
    """700 bytes that would be 9 ** 8 parts where they are laid out."""
    lines = ["- &a0 {x: 1}"]
    for at in range(9):
        lines.append(f"- &a{at + 1} {level.format(', '.join([f'*a{at}'] * 9))}")
    path = written(tmp_path, "t.yaml", "\n".join(lines))
    with pytest.raises(DataError, match=r"its aliases lay out more than .*save it as JSON"):
        tools_of(path)
    with pytest.raises(DataError, match="stand within what they name"):
        tools_of(written(tmp_path, "u.yaml", "- &a [*a]"))


def test_a_document_may_name_its_parts_by_aliases(tmp_path: Path) -> None:
    text = "- {name: get, parameters: {properties: {a: &p {type: string}, b: *p}}}"
    (tool,) = tools_of(written(tmp_path, "t.yaml", text))
    assert tool["parameters"]["properties"] == {key: {"type": "string"} for key in "ab"}


def test_names_of_tools_are_gathered_once_for_all_tasks() -> None:
    own = own_tools("shop", [GET, SHIP])
    assert own.ids == {name: f"shop/{name.removeprefix('shop/')}" for name in own.ids}
    assert own.ids is own.ids


def test_declarations_of_gemini_are_tools(tmp_path: Path) -> None:
    declared = [
        {"name": "f", "parameters": {"type": "OBJECT", "properties": {"a": {"type": "STRING"}}}},
        {"name": "g", "parametersJsonSchema": {"type": "object", "properties": {"b": {}}}},
    ]
    for n, content in enumerate(
        (
            {"functionDeclarations": declared},
            {"tools": [{"function_declarations": declared}]},
            [{"googleSearch": {}}, {"functionDeclarations": declared}],
        )
    ):
        path = written(tmp_path, f"t{n}.json", content)
        bench, notes = benchmark_of("b", tools=path, tasks=[{"query": "Hello!", "calls": "f"}])
        assert "2 tools" in str(bench)
        assert len(notes.malformed) == (n == 2)


def test_a_second_tool_of_one_name_is_left_out(tmp_path: Path) -> None:
    same = [{"name": "f", "description": "one"}, {"name": "f"}, {"name": "g"}]
    path = written(tmp_path, "t.json", same)
    bench, notes = benchmark_of("b", tools=path, tasks=[{"query": "Hello!", "calls": "f"}])
    assert "2 tools" in str(bench)
    assert notes.malformed == ["an earlier tool is named 'f'; rename one"]


def test_a_cell_that_names_no_tool_leaves_its_row_alone_out() -> None:
    rows = [{"query": "Hello!", "calls": '""'}, {"query": "When?", "calls": "get_order"}]
    bench, notes = benchmark_of("shop", tools=[GET], tasks=rows)
    assert "1 task" in str(bench)
    assert len(notes.malformed) == 1


def test_blank_lines_before_the_columns_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "q.csv").write_text("\n\nquestion;calls\nWhen, then?;get_order\n;x\n")
    bench, notes = benchmark_of("shop", tools=[GET], tasks=tmp_path / "q.csv")
    assert "1 task" in str(bench)
    assert "line 5" in str(notes.malformed)
