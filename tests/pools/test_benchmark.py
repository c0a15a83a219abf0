"""Benchmarks made in memory: what they play, what they refuse, and what they declare."""

import json
import pickle
import re
import sys
from inspect import Parameter, Signature
from pathlib import Path
from typing import ClassVar, Literal

import numpy
import pytest
from looped import every_case
from shops import CANCEL, ORDERS, count_orders, get_order, shop

import seal
from seal.api.benchmarks import count
from seal.core import Goal, Scale, Task, Tool, UnknownNameError, UsageError, write_records
from seal.core.state_conditions import AllOf, StateHas, StateUnchanged
from seal.environments.world import Worlds, toolbox


def polite(task, trajectory):
    return "please" in (trajectory.answers[0] or "")


class Scores:
    """A metric that says what it is told to."""

    def __init__(self, found):
        self.found = found

    def score(self, task, trajectory, tools):
        return self.found


class Late:
    """A metric and a section that somebody would have to wait for."""

    title = "Late"

    async def score(self, task, trajectory, tools):
        return []

    async def render(self, lanes):
        return None


def played(bench, tmp_path: Path, **options):
    given = {"model": "oracle", "baselines": False, "cache_dir": tmp_path / "cache", **options}
    return seal.run(bench, out=tmp_path / "run", **given)


def test_functions_run_and_schemas_are_simulated(tmp_path):
    run = played(shop(), tmp_path)

    results = {
        call.call.name: result.result
        for chat in run.folder.trajectories()
        for call, result in chat.calls()
    }
    assert results["get_order"].value == ORDERS["7"]
    assert results["cancel_order"].error is None
    assert run.summary["metrics"]["call_f1"]["mean"] == 1.0
    assert run.summary["metrics"]["mission_accuracy"]["mean"] == 1.0


def test_the_document_of_a_tool_is_made_from_its_signature_or_schema():
    tools = {tool.name: tool for tool in shop().pool().tools()}

    assert tools["get_order"] == Tool(
        "shop/get_order",
        "get_order",
        "Look an order up.",
        {
            "type": "object",
            "properties": {"order_id": {"type": "string", "description": "As on the receipt."}},
            "required": ["order_id"],
        },
        source={"function": "shops:get_order"},
    )
    assert tools["count_orders"].parameters["properties"]["status"]["enum"] == ["open", "shipped"]
    assert tools["cancel_order"].parameters == CANCEL["function"]["parameters"]


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "function", "name": "f", "parameters": {"type": "object", "properties": {}}},
        {"name": "f", "description": "F.", "input_schema": {"type": "object", "properties": {}}},
        {"name": "f", "inputSchema": {"type": "object"}},
        {"type": "function", "function": {"name": "f"}},
    ],
)
def test_schemas_of_other_providers_are_tools_too(schema):
    bench = seal.Benchmark("b", tools=[schema], tasks=[seal.ask("Do f", seal.called("f"))])
    (tool,) = bench.pool().tools()
    assert (tool.id, tool.parameters) == ("b/f", {"type": "object", "properties": {}})


def test_a_coroutine_function_runs_and_what_a_function_raises_is_what_the_model_reads(tmp_path):
    tasks = [
        seal.ask("Count", seal.called("count_orders", status="shipped")),
        seal.ask("Where is order 9?", seal.called("get_order", order_id="9")),
    ]
    run = played(shop(tasks=tasks), tmp_path)

    results = [result.result for chat in run.folder.trajectories() for _, result in chat.calls()]
    assert [result.value for result in results] == [1, ""]
    assert results[1].error == {"kind": "api", "message": "KeyError: '9'"}
    assert run.exit_code == 0


def test_a_function_that_returns_what_json_cannot_say_is_an_error_and_no_score(tmp_path):
    def odd(x: int) -> set:
        return {x}

    bench = seal.Benchmark("b", tools=[odd], tasks=[seal.ask("Odd", seal.called("odd", x=1))])
    run = played(bench, tmp_path)

    assert run.summary["metrics"]["call_f1"]["n"] == 0
    assert "the tool odd returned set, which JSON cannot say" in str(run.summary["error_reasons"])


def test_tasks_alone_are_a_benchmark_with_their_tools(tmp_path):
    task = seal.ask("Where is order 7?", seal.called("get_order", order_id="7"))
    run = played([task], tmp_path, tools=[get_order])
    assert run.summary["metrics"]["call_f1"]["mean"] == 1.0
    with pytest.raises(UsageError, match="no tools: give tasks as a list"):
        seal.run([task])
    with pytest.raises(UsageError, match="a benchmark has its own: leave them out"):
        seal.run(shop(), tools=[get_order])


def test_small_benchmarks_offer_all_tools_and_large_ones_retrieve(tmp_path):
    many = [{"name": f"tool_{n}", "description": f"Do thing {n}."} for n in range(30)]
    asked = [seal.ask("Do thing 7.", seal.called("tool_7"))]
    large = seal.Benchmark("large", tools=many, tasks=asked)

    assert next(shop().pool().tasks()).goals[0].offered is not None
    assert next(large.pool().tasks()).goals[0].offered is None
    run = played(large, tmp_path)
    assert run.summary["metrics"]["recall@10"]["mean"] == 1.0


def test_it_is_saved_as_a_pool_that_every_verb_takes_and_loaded_with_its_functions(tmp_path):
    folder = shop(play={"team": "direct"}).save(tmp_path / "pool")

    loaded = seal.Benchmark.load(folder, tools=[get_order])
    by_path = played(folder, tmp_path / "a", baselines=False)
    by_object = played(loaded, tmp_path / "b", baselines=False)

    assert json.loads((folder / "import.json").read_bytes())["play"] == {"team": "direct"}
    assert by_path.folder.manifest()["system"]["team"] == "direct"
    first = next(by_object.folder.trajectories())
    assert [r.result.value for _, r in first.calls()] == [ORDERS["7"]]
    assert seal.lint(shop()).findings == seal.lint(folder).findings
    assert count(shop()).tasks == 2
    found = seal.retrieve(shop(), "tfidf", k=1, cache_dir=tmp_path / "cache")
    assert found.content["results"][0]["pool"] == "shop"


def test_a_function_that_no_tool_of_the_folder_is_named_after_is_refused(tmp_path):
    folder = shop().save(tmp_path / "pool")
    with pytest.raises(UsageError, match="has no tool 'shop/polite' for the function"):
        seal.Benchmark.load(folder, tools=[typed_polite])
    with pytest.raises(UsageError, match="folder: expected a text or a path, got None"):
        seal.Benchmark.load(None)


def test_a_function_that_takes_other_arguments_than_the_stored_tool_is_refused(tmp_path):
    folder = shop().save(tmp_path / "pool")

    def changed(**types):
        def get_order(**arguments):
            """Look an order up."""

        parameters = [
            Parameter(name, Parameter.KEYWORD_ONLY, annotation=kind, default=default)
            for name, (kind, default) in types.items()
        ]
        get_order.__signature__ = Signature(parameters)
        get_order.__annotations__ = {name: kind for name, (kind, _) in types.items()}
        return get_order

    none = Parameter.empty
    seal.Benchmark.load(folder, tools=[changed(order_id=(str, none))])
    for types, takes in [
        ({"order": (str, none)}, "order: string"),
        ({"order_id": (int, none)}, "order_id: integer"),
        ({"order_id": (str, "7")}, r"\[order_id: string\]"),
        ({"order_id": (str, none), "more": (bool, none)}, "more: boolean, order_id: string"),
    ]:
        told = rf"get_order takes \({takes}\), and the stored tool \(order_id: string\); give"
        with pytest.raises(UsageError, match=told):
            seal.Benchmark.load(folder, tools=[changed(**types)])


BROKEN = [
    ({"properties": {"city": {"type": "strin"}}}, r"properties\.city\.type: .*string, got 'strin'"),
    ({"properties": {"city": {"enum": "Paris"}}}, r"properties\.city\.enum: expected a list of"),
    (
        {"properties": {"city": {}}, "required": ["town"]},
        "required: 'town' is no property; declare",
    ),
    ({"properties": {"city": 3}}, r"properties\.city: expected a schema, got 3"),
    ({"required": "city"}, "required: expected a list of names, got 'city'"),
]


@pytest.mark.parametrize(("parameters", "told"), BROKEN)
def test_a_broken_schema_is_refused_by_tool_and_path_and_lint_finds_it(parameters, told, tmp_path):
    schema = {"name": "weather", "description": "Of a city.", "parameters": parameters}
    tool = seal.Tool("b/weather", "weather", parameters={"type": "object", **parameters})
    for given in (schema, tool):
        with pytest.raises(UsageError, match=rf"tool 'weather': parameters\.{told}"):
            seal.Benchmark("b", tools=[given])

    write_records(tmp_path / "tools.jsonl", [tool])
    (tmp_path / "tasks.jsonl").touch()
    (finding, *_) = seal.lint(tmp_path).findings
    assert (finding.kind, finding.severity) == ("broken_schema", "warning")
    assert re.search(rf"tool 'b/weather': parameters\.{told}", finding.message)


def test_a_schema_that_admits_further_names_may_require_them():
    parameters = {"type": "object", "required": ["city"], "additionalProperties": True}
    assert seal.Benchmark("b", tools=[{"name": "weather", "parameters": parameters}])


def typed_polite(name: str) -> str:
    """Say something polite."""


typed_polite.__name__ = "polite"


def test_the_same_benchmark_gives_the_same_bytes(tmp_path):
    first, second = (played(shop(), tmp_path / name) for name in "ab")
    assert shop().pool().digest == shop().pool().digest
    one, two = (run.folder.trajectories_path.read_bytes() for run in (first, second))
    assert one == two


@pytest.mark.slow
def test_a_benchmark_goes_to_worker_processes(tmp_path):
    assert pickle.loads(pickle.dumps(shop())).pool().digest == shop().pool().digest
    run = played(shop(), tmp_path, processes=2, workers=1)
    assert run.summary["metrics"]["call_f1"]["mean"] == 1.0


def test_a_sweep_draws_from_it_and_its_functions_still_run(tmp_path):
    swept = seal.sweep(
        shop(),
        pool_sizes=[2, "all"],
        samples=1,
        model="oracle",
        out=tmp_path / "sweep",
        cache_dir=tmp_path / "cache",
    )
    assert swept.exit_code == 0
    chats = (tmp_path / "sweep").rglob("trajectories.jsonl")
    assert any('"Monday"' in chat.read_text() for chat in chats)


def test_own_metrics_headline_and_success_count_as_first_class(tmp_path):
    bench = shop(metrics=[polite], headline=["polite", "call_f1"], success="polite")
    run = played(bench, tmp_path)
    other = played(bench, tmp_path / "other", model="lexical")

    assert run.summary["metrics"]["polite"]["mean"] == 0.0
    assert run.folder.declared()["success"] == "polite"
    why = seal.explain(run)
    assert why.content["decided_by"] == {"polite": 2}
    compared = seal.compare([run, other])
    assert compared.content["pairs"][0]["success"] == "polite"
    assert compared.content["protocol"]["family"] == ["polite", "call_f1"]


def panicking(task, trajectory):
    raise type("PanicException", (BaseException,), {})("odd")


@pytest.mark.parametrize(
    ("metric", "said"),
    [
        (lambda task, trajectory: "good", "task shop-001: .* returned 'good'; expected a number"),
        (panicking, "failed on the first chat .*: PanicException: odd; mend"),
        (lambda task, trajectory: sys.exit(3), "failed on the first chat .*: SystemExit: 3; mend"),
        (Scores(None), "Scores returned None; expected a list of seal.Score"),
        (
            Scores(1.0),
            r"task shop-001: the metric Scores returned 1\.0; expected a list of seal.Sc",
        ),
        (Scores([]), r"Scores returned \[\]; expected a list of seal.Score"),
        (Scores([seal.Score("shop-001", 0, 0, 7, 1.0)]), "returned Score.*; expected a list of se"),
        (Scores([seal.Score("shop-001", 0, 0, "own", 1.0, "heavy")]), "expected a list of seal.Sc"),
        (Scores([seal.Score("shop-001", 0, 0, "own", 1.0, details=["x"])]), "expected a list of "),
        (Scores([seal.Score("shop-001", 0, 0, "own", 10**400)]), "returned Score.*; expected a l"),
        (Scores([seal.Score("another", 0, 0, "own", 1.0)]), "expected .*seal.Score of this chat"),
        (Scores([seal.Score("shop-001", 0, 7, "own", 1.0)]), "expected .*seal.Score of this chat"),
        (lambda task, trajectory: None, "returned None; expected a number"),
        (lambda task, trajectory: float("nan"), "returned nan; expected .*NaN, infinity and an"),
        (lambda task, trajectory: {"a": float("inf")}, r"returned \{'a': inf\}; expected a number"),
        (lambda task, trajectory: {}, r"returned \{\}; expected .* an empty map or list"),
        (lambda task, trajectory: [], r"returned \[\]; expected .* an empty map or list are none"),
        (lambda task, trajectory: 1 / 0, "ZeroDivisionError: division by zero; mend it"),
        (lambda task, trajectory: {"a": "x"}, "expected a number, True or False, a map"),
        (lambda task, trajectory: {"pass_rate": 1}, "score 'pass_rate', .*, or leave it out"),
    ],
)
def test_a_metric_that_cannot_work_ends_the_run_at_its_first_chat(tmp_path, metric, said):
    with pytest.raises(UsageError, match=said):
        played(shop(), tmp_path, metrics=[metric], workers=1)
    assert len((tmp_path / "run" / "trajectories.jsonl").read_text().splitlines()) == 1


def test_a_class_of_metric_that_needs_arguments_is_told_to_be_made(tmp_path):
    told = r"the metric Scores is not made: TypeError: .*'found'; give Scores\(\.\.\.\) itself"
    with pytest.raises(UsageError, match=told):
        played(shop(), tmp_path, metrics=[Scores])
    assert not (tmp_path / "run").exists()


def test_a_metric_may_score_each_goal_or_several_names(tmp_path):
    def named(task, trajectory, tools):
        return {"many": len(tools), "few": numpy.bool_(False)}

    named.scales = {"many": Scale(bounded=False)}

    def each(task, trajectory):
        return [1.0] * len(task.goals)

    metrics = played(shop(), tmp_path, metrics=[named, each]).summary["metrics"]
    assert [metrics[name]["mean"] for name in ("many", "few", "each")] == [3.0, 0.0, 1.0]


def test_a_chat_that_failed_has_no_value_of_an_own_metric(tmp_path):
    first = seal.ask("Count the open orders", seal.called("count_orders", status="open"))
    second = seal.ask("Count the shipped orders", seal.called("count_orders", status="shipped"))
    bench = seal.Benchmark("counts", tools=[count_orders], tasks=[first, second])

    def agent(request, tools):
        if "shipped" in request:
            raise ConnectionError("no shipped orders today")
        return "many"

    def always(task, trajectory):
        return 1.0

    def length(task, trajectory):
        return {"length": len(trajectory.answers[-1])}

    length.scales = {"length": Scale(bounded=False)}

    def silent(task, trajectory):
        return 1.0 if trajectory.answers[-1] else None

    metrics = [always, length, silent]
    run = seal.run(
        bench,
        agent=agent,
        metrics=metrics,
        out=tmp_path / "run",
        baselines=False,
        cache_dir=tmp_path,
    )

    assert run.summary["errors"] == 1
    assert {name: run[name].n for name in ("always", "length", "silent")} == {
        "always": 1,
        "length": 1,
        "silent": 1,
    }
    lost = [score for score in run.folder.scores() if score.metric == "always"][1]
    assert lost.value is None and "no shipped orders today" in lost.reason
    assert [line.split()[0] for line in repr(run).splitlines()[4:7]] == [
        "always",
        "length",
        "silent",
    ]
    assert "│ always" in run.table()
    assert "error in 1 chat: " in repr(run) and "no shipped orders today" in repr(run)


@pytest.mark.parametrize("metric", [lambda trajectory: 1.0, lambda a, b, c, d: 1.0])
def test_a_function_of_other_arguments_is_no_metric(tmp_path, metric):
    with pytest.raises(UsageError, match=r"expected a function of \(task, trajectory\)"):
        played(shop(metrics=[metric]), tmp_path)


def test_numbers_of_other_libraries_are_numbers(tmp_path):
    def counted(task, trajectory):
        return numpy.int64(3)

    counted.scales = {"counted": Scale(bounded=False)}
    assert played(shop(metrics=[counted]), tmp_path)["counted"].mean == 3.0


def test_what_is_declared_and_not_measured_is_told(tmp_path, caplog):
    bench = shop(headline=["nicety", "call_f1"], success="niceness", metrics=[polite])
    played(bench, tmp_path)  # a function might have named them
    assert "no metric is named nicety, niceness" in caplog.text


@pytest.mark.parametrize("wrong", [{"headline": ["call_f1", "pas_rate"]}, {"success": "pas_rate"}])
def test_what_nobody_will_measure_is_refused_before_the_first_chat(tmp_path, wrong):
    with pytest.raises(UsageError, match=r"no metric is named pas_rate, .*mean pass_rate\?"):
        played(shop(**wrong), tmp_path)
    assert not (tmp_path / "run").exists()


def test_a_likely_slip_beside_a_function_is_told_before_the_first_chat(tmp_path, caplog):
    told = []
    bench = shop(metrics=[polite], success="polit")
    played(bench, tmp_path, progress=lambda state: told.append(caplog.text))
    assert "no metric is named polit, which its headline or success names; did" in told[0]
    assert "did you mean polite?" in told[0]
    assert caplog.text.count("no metric is named polit") == 1


def test_scales_of_a_score_that_never_comes_are_told(tmp_path, caplog):
    class Length:
        scales: ClassVar = {"lenght": Scale(bounded=False), "length": Scale()}

        def score(self, task, trajectory, tools):
            return [seal.Score(task.id, trajectory.trial, 0, "length", 1.0)]

    played(shop(metrics=[Length]), tmp_path)
    assert "declares scales of lenght, but no score has that name; correct the name" in caplog.text


def test_a_run_whose_metric_was_refused_goes_on_without_it(tmp_path):
    with pytest.raises(UsageError, match="returned None"):
        played(shop(), tmp_path, metrics=[lambda task, trajectory: None])
    with pytest.raises(UsageError, match="holds a run already; add --resume, or give") as held:
        played(shop(), tmp_path)
    assert held.value.__notes__ == ["In Python, --resume is resume=... and --out is out=..."]
    assert played(shop(), tmp_path, resume=True, metrics=[polite])["polite"].mean == 0.0
    with pytest.raises(UsageError, match="holds a run of other settings"):
        played(shop(), tmp_path, resume=True)


def test_every_usual_metric_may_be_declared(tmp_path):
    run = played(shop(), tmp_path / "first")
    names = [*run.summary["metrics"]]
    assert played(shop(headline=names, success="pass_rate"), tmp_path).exit_code == 0


def test_what_is_no_section_is_told_with_what_one_is(tmp_path):
    run = played(shop(sections=[3]), tmp_path)
    with pytest.raises(UsageError, match="3 is no section of a report; expected a class or object"):
        run.report()


def test_a_benchmark_without_tasks_is_told_to_have_some(tmp_path):
    with pytest.raises(UsageError, match="benchmark 'shop' has no task; give it some"):
        played(shop(tasks=[]), tmp_path)


def test_a_tool_that_ends_the_program_has_failed(tmp_path):
    def leave(code: int) -> None:
        sys.exit(code)

    bench = seal.Benchmark("b", tools=[leave], tasks=[seal.ask("Go", seal.called("leave", code=1))])
    run = played(bench, tmp_path)
    assert list(run.calls["message"]) == ["SystemExit: 1"]


def test_a_function_without_a_docstring_is_told_once(caplog):
    def nameless_errand(code: int) -> None: ...

    for _ in range(2):
        seal.Benchmark("b", tools=[nameless_errand, get_order])
    assert caplog.text.count("nameless_errand has no docstring: models read its name alone") == 1
    assert "get_order" not in caplog.text


def borrow(library, title: str) -> None:
    """Borrow a book."""


LIBRARY = Worlds(
    name="library",
    tools=toolbox("library", [borrow]),
    tables={"books": [{"title": "Emma", "out": False}], "members": []},
)


def library(*gold, **parts):
    tasks = [seal.ask("Lend me Emma", *gold)]
    return seal.Benchmark("library", **{"environment": LIBRARY, "tasks": tasks, **parts})


@pytest.mark.parametrize(
    ("gold", "told"),
    [
        (StateHas("boks", ({"out": True},)), r"no table 'boks'; known: books, .*mean 'books'"),
        (StateHas("books", ({"uot": True},)), r"rows\.0: no column 'uot'; known: out, title"),
        (StateUnchanged("boks"), "no table 'boks'"),
        (AllOf((StateUnchanged("books"), StateUnchanged("x"))), "no table 'x'"),
        (StateHas("books", ({"out": True},), "update"), "since: update needs the milestone"),
        (StateHas("books", ({"out": True},), "addtion"), "'update', got 'addtion'$"),
        (StateHas("books", {"out": True}), "rows: expected a list, got {'out': True}$"),
        (StateHas("books", ({"out": {1}},)), "not JSON serializable: set"),
    ],
)
def test_gold_that_no_world_can_meet_is_refused_with_its_task_and_place(gold, told):
    at = "" if "JSON" in told else r"milestones\.1(\.condition)?: "
    with pytest.raises(UsageError, match=f"^task 'library-001'.*{at}.*{told}") as refused:
        library(seal.called("borrow", seal.ANY), gold)
    assert "\n" not in str(refused.value)


def test_gold_is_left_alone_where_nothing_tells_how_its_world_begins():
    anything = StateHas("nothing", ({"known": True},))
    library(StateHas("members", ({"name": "Ann"},)))  # an empty table may have any column
    library(anything, environment=lambda setup: 1 / 0, tools=[get_order])
    library(anything, environment="a_world_of_yours", tools=[get_order])


def test_a_saved_world_says_how_it_is_run(tmp_path):
    folder = library(StateHas("books", ({"out": True},))).save(tmp_path / "saved")
    with pytest.raises(UnknownNameError, match=r"'library'.*holds no code: .*seal run my_module:b"):
        played(folder, tmp_path)


def test_a_metric_of_no_name_is_told_to_be_given(tmp_path):
    with pytest.raises(UnknownNameError, match=r"'nicely'.*my_module:NAME, or give the function"):
        played(shop(), tmp_path, metrics=["nicely"])


def untyped(order_id):
    """Look up."""


def spread(*orders: str) -> None:
    """Look up."""


def odd_type(when: set) -> None:
    """Look up."""


def misspelt(when: "list[int") -> None:  # noqa: F722 - a user may write it
    """Look up."""


def in_bytes(when: Literal[b"now"]) -> None:
    """Look up."""


def switch(lamp, on: bool) -> str:
    """Switch the lamp.

    Args:
        on: True turns it on.
    """
    return "done"


async def late(task, trajectory):
    return 1.0


@every_case(
    ("parts", "said"),
    [
        ({"tools": []}, "has no tools; give functions, schemas or Tool records"),
        ({"tools": None}, "tools: expected a list of functions"),
        ({"tools": "get_order"}, "tools: expected a list of functions"),
        ({"tools": [get_order, get_order]}, "two tools named 'get_order'; rename one"),
        ({"tools": [untyped]}, "argument 'order_id' has no type; write one"),
        ({"tools": [spread]}, "cannot be given by name, as calls of tools are"),
        ({"tools": [odd_type]}, "argument 'when' has the type set; expected str, int"),
        ({"tools": [misspelt]}, "misspelt: a type cannot be found: .*'list.int'"),
        ({"tools": [in_bytes]}, "argument 'when' has the type .*b'now'.; expected str, int"),
        ({"tools": [3]}, "3 is no tool; expected a function, a schema"),
        ({"tools": [{"description": "x"}]}, "no tool in .*; expected an object with `name`"),
        ({"tools": [{"name": "x", "parameters": 3}]}, "parameters of 'x': expected a JSON Schema"),
        ({"tools": [{"name": "x", "parameters": {"type": "string"}}]}, "schema of an object"),
        ({"tasks": seal.ask("Hi")}, "tasks: expected a list of tasks"),
        ({"tasks": ["Where is it?"]}, "'Where is it\\?' is no task; make one with seal.ask"),
        ({"tasks": [seal.ask("Hi", id="a"), seal.ask("Ho", id="a")]}, "task id 'a' stands twice"),
        (
            {"tasks": [seal.ask("Hi", seal.called("get_ordre"))]},
            r"the tool 'get_ordre', which the benchmark does not have.*Did you mean 'get_order'\?",
        ),
        (
            {"tasks": [seal.ask("Hi", seal.called("None"))]},
            r"the tool 'None', .*Write \[\] where no call is right$",
        ),
        (
            {"tasks": [seal.ask("Hi", seal.called("get_order", orderid="7"))]},
            "its gold call cannot be made: get_order takes no argument 'orderid'",
        ),
        (
            {"tasks": [seal.ask("Hi", *[seal.called("get_order", order_id="7")] * 5_001)]},
            "5,001 gold calls for one question; expected at most 5,000: make several tasks of it",
        ),
        (
            {
                "tasks": [
                    seal.ask("Hi", seal.called("get_order", order_id="7"), tools=["cancel_order"])
                ]
            },
            "offers no 'shop/get_order', which its gold calls; add it to `tools` of the question",
        ),
        (
            {"environment": Worlds(name="w", tools=toolbox("w", [switch]), tables={})},
            "its environment has tools of its own; leave out `tools`, or add them",
        ),
        ({"play": {"teem": "full"}}, "play has no 'teem'; it takes: team, history, format"),
        ({"folder": Path("P")}, "the folder holds tasks already"),
        ({"folder": "P"}, "folder: expected a path or None, got 'P' .*; give a pathlib.Path of it"),
        (
            {"verdicts": object()},
            "verdicts: expected a class or function that takes 1 argument, a",
        ),
        ({"is_request": lambda: True}, "is_request: expected a class or function that takes 1 arg"),
        ({"tools": [lambda: 3]}, "a lambda has no name that a model could call"),
        ({"headline": "pass_rate"}, "headline: expected a list, each item a text"),
        ({"success": ["polite"]}, "success: expected a text, got a list"),
        ({"metrics": polite}, "metrics: expected a list"),
        ({"published": [{"title": "x"}]}, r"published\[0\]: expected a Published"),
        ({"tool": [get_order]}, "no setting 'tool'.*Did you mean 'tools'"),
    ],
)
def test_what_cannot_be_is_refused_when_it_is_made_with_the_repair(parts, said):
    with pytest.raises(UsageError, match=said):
        shop(**parts)


@pytest.mark.parametrize("name", ["", "a/b", "..", "a b", 3, None])
def test_a_name_is_one_that_a_folder_can_have(name):
    with pytest.raises(UsageError, match="a benchmark's name has letters, digits"):
        seal.Benchmark(name, tools=[get_order])


def test_a_coroutine_in_the_place_of_a_function_is_told(tmp_path):
    with pytest.raises(UsageError, match="a coroutine is no tool; give the function itself"):
        shop(tools=[count_orders()])
    with pytest.raises(UsageError, match="late is a coroutine function; write it as a plain"):
        played(shop(metrics=[late]), tmp_path)
    with pytest.raises(UsageError, match="Late: score is a coroutine function; write it as a pl"):
        played(shop(metrics=[Late]), tmp_path)
    with pytest.raises(UsageError, match="render of the report section 'Late' is a coroutine"):
        played(shop(sections=[Late]), tmp_path).report()


@every_case(
    ("make", "said"),
    [
        (lambda: seal.Benchmark(tools=[get_order]), "Benchmark: missing a required argument"),
        (lambda: seal.Benchmark("b", [get_order]), "Benchmark: too many positional arguments"),
        (lambda: seal.called(get_order), "tool: expected a text, got a function"),
        (lambda: seal.called("get_order", "7"), "'7' has no name; give each argument by its name"),
        (lambda: seal.ask("Hi", answer=None), "answer: expected a text, a number or a list"),
        (lambda: seal.ask("Hi", id=7), "id: expected a text, got 7"),
        (lambda: seal.ask("Hi", tags=["easy"]), "tags: expected a mapping"),
        (lambda: seal.ask("Hi", tools="get_order"), "tools: expected a list, each item a text"),
        (lambda: seal.ask("Hi", tools=[get_order]), r"tools\[0\]: expected a text, got a function"),
        (lambda: seal.ask("Hi", anser="7"), "no setting 'anser'.*Did you mean 'answer'"),
        (lambda: seal.ask(""), "expected the text of a request"),
        (lambda: seal.ask("Hi", "get_order"), "'get_order' is no gold step"),
        (lambda: seal.ask("Hi", tags={"a": {1}}), r"ask\('Hi'\): tags: .* set.*; mend them"),
        (lambda: seal.ask("Hi", seal.called("f"), needs_no_tool=True), "leaves no room for steps"),
        (
            lambda: seal.ask("Hi", unanswerable=True, answer="4"),
            "unanswerable=True beside an answer.*leave one of the two out",
        ),
        (
            lambda: seal.ask("Hi", unanswerable=True, needs_no_tool=True),
            "unanswerable=True beside needs_no_tool=True.*leave one of the two out",
        ),
        (lambda: seal.ask("Hi", answer=""), "the answer '' says nothing; give a word or a number"),
        (lambda: seal.ask("Hi", answer=float("nan")), "the answer has the number nan"),
        (lambda: seal.ask("Hi", answer=["x", ""]), "the answer '' says nothing"),
        (lambda: seal.ask("Hi", answer="?"), r"the answer '\?' says nothing"),
        (lambda: seal.ask("Hi", answer="\u200b"), "says nothing"),
        (lambda: seal.called(""), "expected the name of a tool"),
    ],
)
def test_a_task_that_says_nothing_is_refused(make, said):
    with pytest.raises(UsageError, match=said):
        make()


def test_steps_may_be_ordered_and_a_task_may_need_no_tool():
    steps = [seal.called("get_order", order_id="7"), seal.called("cancel_order", order_id="7")]
    (plan,) = seal.ask("Find, then cancel.", *steps, in_order=True).goals[0].plans or ()
    assert [milestone.after for milestone in plan.milestones] == [(), (0,)]
    (plan,) = seal.ask("Hello", needs_no_tool=True).goals[0].plans or ()
    assert plan.milestones == ()


def test_task_records_name_tools_by_name_or_id():
    task = Task("one", "x", (Goal("Do", offered=("get_order",), relevant=("shop/get_order",)),))
    (found,) = shop(tasks=[task]).pool().tasks()
    assert found.goals[0].offered == found.goals[0].relevant == ("shop/get_order",)
    assert found.benchmark == "shop"


def test_a_section_that_cannot_be_made_is_told(tmp_path):
    class Broken:
        def __init__(self):
            raise ValueError("no")

    run = played(shop(sections=[Broken]), tmp_path)
    told = "the benchmark shop: Broken of the report cannot be made: ValueError: no"
    with pytest.raises(UsageError, match=told):
        run.report()


def test_code_whose_error_has_no_text_is_told(tmp_path):
    class Mute(Exception):
        def __str__(self):
            raise ValueError

    def brief(task, trajectory):
        raise Mute

    class Broken:
        def __init__(self):
            raise Mute

    told = "Mute: its text cannot be had, for that raises ValueError"
    with pytest.raises(UsageError, match=f"brief.*{told}.*; mend it"):
        played(shop(metrics=[brief]), tmp_path)
    run = played(shop(sections=[Broken]), tmp_path / "other")
    with pytest.raises(UsageError, match=f"Broken of the report cannot be made: {told}"):
        run.report()


@pytest.mark.parametrize("scale", [Scale(bounded=False), Scale(higher_is_better=None)])
def test_a_metric_without_a_best_value_cannot_say_that_a_task_is_solved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scale: Scale
) -> None:
    def pages(task: Task, trajectory: seal.Trajectory) -> int:
        return 3

    class Pages:
        def __init__(self) -> None:
            raise AssertionError("no benchmark makes it")

        scales: ClassVar = {"pages": scale}
        score = None

    class Broken:
        @property
        def scales(self) -> None:
            raise OSError("not here")

    pages.scales = {"pages": scale}  # type: ignore[attr-defined]
    refused = r"its success 'pages' has no best value .* name a rate"
    for metric in (pages, Pages):
        with pytest.raises(UsageError, match=refused):
            shop(metrics=[Broken(), metric], success="pages")
    with pytest.raises(UsageError, match="its success 'calls' has no best value"):
        shop(success="calls")
    # What a text names is loaded when it is played.
    monkeypatch.setattr("shops.shop", pages)
    bench = shop(metrics=["shops:shop"], success="pages")
    with pytest.raises(UsageError, match=refused):
        played(bench, tmp_path)
