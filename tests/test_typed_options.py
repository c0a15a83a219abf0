"""Wrong names and types of options are found before a run, by a type checker and by the call."""

import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import fields
from inspect import getmembers, isfunction, ismethod
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

import pytest
from looped import every_case

import seal
from seal.api.comparisons import Ablation, Comparison
from seal.api.experiment_results import Explanation, Generated, PoolSplit, Retrieval, RunPlan, Sweep
from seal.api.results import CompareOptions, ScoreOptions
from seal.api.run_result import Frames
from seal.api.runs import DrawingOptions, RetrievalOptions, RunOptions, SweepOptions
from seal.core import UnknownNameError, UsageError
from seal.experiments.settings import CompareSettings, Drawing, RetrievalSettings
from seal.runs.settings import RunSettings, ScoreSettings

ROOT = Path(__file__).parents[1]
CALLS = Path(__file__).parent / "fixtures" / "typed_calls.py"


@pytest.mark.slow
def test_a_type_checker_finds_each_mistake_and_no_other() -> None:
    pytest.importorskip("mypy")
    command = [sys.executable, "-m", "mypy", "--no-error-summary", str(CALLS)]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout
    found = {int(line) for line in re.findall(r"typed_calls\.py:(\d+): error", told)}
    lines = CALLS.read_text(encoding="utf-8").splitlines()
    marked = {number for number, line in enumerate(lines, 1) if line.endswith("# refused")}
    assert found == marked, told


@pytest.mark.parametrize(
    ("options", "settings", "apart"),
    [
        (RunOptions, RunSettings, {"pool", "origins"}),
        (DrawingOptions, Drawing, {"pool_sizes"}),
        (RetrievalOptions, RetrievalSettings, {"k"}),
        (ScoreOptions, ScoreSettings, {"bench"}),
        (CompareOptions, CompareSettings, set()),
    ],
)
def test_options_have_the_names_and_types_of_their_settings(
    options: type, settings: type, apart: set[str]
) -> None:
    said, meant = get_type_hints(options), get_type_hints(settings)
    assert said.keys() == {field.name for field in fields(settings)} - apart
    for name, kind in said.items():
        # What lies below the plug-ins says Any of them.
        assert kind == meant[name] or _is_any(meant[name]), name


def _is_any(kind: Any) -> bool:
    return kind is Any or get_args(kind)[1:] == (Any,)


def test_a_run_says_of_no_plug_in_any() -> None:
    kinds = get_type_hints(RunSettings)
    assert [name for name, kind in kinds.items() if _is_any(kind)] == [
        "model_options",
        "retriever_options",
        "world_options",
    ]


def test_a_sweep_takes_what_a_run_takes_but_its_own() -> None:
    apart = {"top_k": int}  # a sweep takes several
    run, drawing = get_type_hints(RunOptions), get_type_hints(DrawingOptions)
    assert get_type_hints(SweepOptions) | apart == run | drawing


WRONG: list[tuple[Callable[..., Any], Sequence[Any], dict[str, Any], str]] = [
    (seal.run, (), {"top_k": "ten"}, "top_k: expected a whole number, got 'ten' (str)"),
    (seal.run, (), {"limit": 2.5}, "limit: expected a whole number or None, got 2.5"),
    (seal.run, (), {"trials": True}, "trials: expected a whole number, got True"),
    (
        seal.run,
        (),
        {"select": "x"},
        "select: expected a mapping of a text to a text, got 'x'",
    ),
    (seal.run, (), {"model_options": 3}, "model_options: expected a mapping"),
    (seal.run, (), {"model": None}, "model: expected a text"),
    (seal.run, (), {"model": ["lexical"]}, "got a list; give that, or leave model out"),
    (seal.run, (), {"team": 3}, "team: expected a text, a Team, an ArrangedTeam or None, got 3"),
    (seal.run, (), {"metrics": "steps"}, "metrics: expected a list, each item a text"),
    (seal.run, (), {"metrics": ["steps", 3]}, "metrics[1]: expected a text, a Metric, a class of"),
    (
        seal.run,
        (),
        {"select": {"a": 3}},
        "select['a']: expected a text, got 3; give",
    ),
    (seal.run, (), {"cutoffs": [5, "10"]}, "cutoffs[1]: expected a whole number, got '10' (str)"),
    (seal.lint, ([3],), {}, "pool[0]: expected a Task, got 3; give that"),
    (seal.run, (), {"max_dollars": "2"}, "max_dollars: expected a number or None"),
    (seal.run, (), {"history": "other"}, "no value of history 'other'; known: gold, own"),
    (
        seal.run,
        (),
        {"retrieve": "twice"},
        "no value of retrieve 'twice'; known: on-demand",
    ),
    (seal.run, (), {"out": 3}, "out: expected a text, a path or None, got 3"),
    (seal.run, (), {"planner": "x"}, "no setting 'planner'. Write roles={\"planner\": ...}."),
    (seal.run, (), {"progress": 3}, "progress: expected a class or function that takes 1 argument"),
    (seal.run, (), {"team": object()}, "is no team; give a seal.Team, or the name of one"),
    (seal.retrieve, ("sample",), {"on_result": object()}, "on_result: expected a class or func"),
    (seal.explain, ("a",), {"out": object()}, "out: expected a text, a path or None, got an obj"),
    (seal.run, (RunSettings(),), {}, "a Benchmark or a list, each item a Task, got a RunSettings"),
    (seal.run, (None,), {}, "a Benchmark or a list, each item a Task, got None"),
    (
        seal.run,
        ("sample", "run"),
        {},
        "run: too many positional arguments; it takes (bench='sample', *",
    ),
    (seal.run, ("sample",), {"bench": "sample"}, "multiple values for argument 'bench'"),
    (seal.plan_run, (), {"seed": "x"}, "seed: expected a whole number"),
    (seal.sweep, (), {"pool_sizes": 10}, "pool_sizes: expected a list"),
    (seal.sweep, (), {"samples": "3"}, "samples: expected a whole number"),
    (seal.ablate, (), {}, "ablate: missing a required argument: 'what'"),
    (seal.ablate, ("react",), {"seed": 1.0}, "seed: expected a whole number, got 1.0"),
    (seal.retrieve, ("sample",), {"k": "5"}, "k: expected a whole number or a list"),
    (seal.retrieve, (3,), {}, "pools: expected a text, a path, a Benchmark or a list"),
    (seal.split, ("sample",), {"test": "9"}, "test: expected a whole number, a number or None"),
    (seal.generate, ("missions", "sample", "o"), {"types": "single"}, "types: expected a list"),
    (seal.generate, ("queries", "sample", 3), {}, "out: expected a text, a path or None, got 3"),
    (seal.generate, ("queries", "a", "b"), {"seed": None}, "seed: expected a whole number, got N"),
    (seal.lint, (3,), {}, "pool: expected a text, a path, a Benchmark or a list, each item a Task"),
    (seal.lint, (), {}, "lint: missing a required argument: 'pool'; it takes (pool, *"),
    (seal.report, (), {}, "report: missing a required argument: 'runs'; it takes (runs, out=None)"),
    (seal.explain, ("a",), {"examples": "3"}, "examples: expected a whole number, got '3'"),
    (seal.score, ("a",), {"workers": "4"}, "workers: expected a whole number, got '4'"),
    (seal.compare, ("a", "b"), {"metrics": "pass_rate"}, "metrics: expected a list, each item"),
    (seal.Model, (), {}, "Model: missing a required argument: 'name'"),
    (seal.Argument, (), {}, "Argument: missing a required argument: 'values'; it takes (values"),
    (seal.Run.load, ("a", "b"), {}, "Run.load: too many positional arguments; it takes (path)"),
]


@every_case(("function", "given", "named", "told"), WRONG)
def test_a_wrong_type_is_refused_with_what_was_expected(
    function: Callable[..., Any], given: Sequence[Any], named: dict[str, Any], told: str
) -> None:
    with pytest.raises(UsageError, match=re.escape(told)):
        function(*given, **named)


def test_an_unknown_name_names_the_closest_of_the_functions_own_too() -> None:
    with pytest.raises(UnknownNameError, match=r"no setting 'modle'.*Did you mean 'model'"):
        seal.run("sample", modle="lexical")  # type: ignore[call-arg]
    with pytest.raises(UnknownNameError, match=r"Did you mean 'resume'"):
        seal.sweep("sample", resumed=True)  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("named", "told"),
    [
        ({"headline": ["calls"]}, "no setting 'headline'. It belongs to seal.Benchmark: give it"),
        ({"pool_sizes": [3]}, "It belongs to seal.retrieve and seal.sweep: give it there."),
        ({"retrievers": ["bm25"]}, "Did you mean 'retriever'? It belongs to seal."),
    ],
)
def test_an_unknown_name_says_which_public_function_has_it(
    named: dict[str, Any], told: str
) -> None:
    with pytest.raises(UnknownNameError, match=re.escape(told)):
        seal.run("sample", **named)


PROTOCOLS = {"Agent", "Chat", "ChatModel", "Metric", "Retriever"}
OFFERED = [name for name in seal.__all__ if name not in {*PROTOCOLS, "SealError", "ANY"}]


@every_case("name", OFFERED)
def test_no_public_name_ends_a_wrong_call_in_a_raw_type_error(name: str) -> None:
    offered = getattr(seal, name)
    with pytest.raises(UsageError):
        offered(no_such_argument=1)
    with pytest.raises(UsageError):
        offered(*range(30))


RESULTS = (
    Ablation,
    Comparison,
    Explanation,
    Frames,
    Generated,
    PoolSplit,
    Retrieval,
    RunPlan,
    seal.Run,
    Sweep,
)
RESULTS = (*RESULTS, PoolSplit)
METHODS = {
    f"{kind.__name__}.{name}": getattr(kind, name)
    for kind in (*RESULTS, seal.Benchmark, seal.Team)
    for name, found in getmembers(kind, lambda one: isfunction(one) or ismethod(one))
    if not name.startswith("_") and found.__module__.startswith("seal.")
}


@every_case("name", METHODS)
def test_no_method_of_a_result_ends_a_wrong_call_in_a_raw_type_error(name: str) -> None:
    with pytest.raises(UnknownNameError, match="no setting 'no_such_argument'"):
        METHODS[name](None, no_such_argument=1)


def test_a_missing_argument_of_a_record_is_named_whatever_its_class() -> None:
    with pytest.raises(UsageError, match=r"Tool: missing a required argument: 'name'"):
        seal.Tool("shop/a")  # type: ignore[call-arg]
    with pytest.raises(UnknownNameError, match=r"no setting 'anwsers'.*Did you mean 'answers'"):
        seal.Goal("Hi", anwsers=("7",))  # type: ignore[call-arg]


def test_settings_themselves_are_held_to_their_types() -> None:
    with pytest.raises(UsageError, match="top_k: expected a whole number of at least 1, got 'ten'"):
        RunSettings(top_k="ten")  # type: ignore[arg-type]


def test_a_value_that_may_be_a_key_is_not_repeated() -> None:
    with pytest.raises(UsageError, match="got a str;") as told:
        seal.run("sample", model_options="api_key=hunter2")  # type: ignore[arg-type]
    assert "hunter2" not in str(told.value)


def test_lists_do_where_tuples_stand() -> None:
    settings = RunSettings(cutoffs=[1, 5], metrics=["steps"], max_seconds=30)
    assert (settings.cutoffs, settings.metrics) == ((1, 5), ("steps",))
    assert get_origin(get_type_hints(RunSettings)["cutoffs"]) is Sequence
