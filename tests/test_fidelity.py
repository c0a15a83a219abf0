"""Simulators held against recorded answers: the record itself is perfect, each fault is seen."""

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from servers import Answer, ModelServer, Received, text

import seal
from seal.cli.dispatch import main
from seal.core import Response
from seal.runs.settings import RunSettings

MEASURES = ("error", "shape", "echo", "facts", "told")
TRUE = {"order": "A-7", "ships": "It ships on Monday.", "weight": {"kg": 250}}
ARGUMENTS = {"order": "A-7"}


def get_order(order: str) -> dict[str, Any]:
    """Look an order up.

    Args:
        order: As on the receipt.
    """
    return {**TRUE, "order": order}


class Liar:
    """Says of every order that it ships on Friday."""

    def respond(self, tool: seal.Tool, arguments: dict[str, Any]) -> Response:
        return Response({**TRUE, **arguments, "ships": "It ships on Friday."})


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Two runs over the same tasks: one that answers, and one that does nothing."""
    folder = tmp_path_factory.mktemp("runs")
    tasks = [
        seal.ask(
            f"When does order {order} ship?",
            seal.called("get_order", order=order),
            answer=f"Order {order} ships on Monday.",
        )
        for order in ("A-7", "B-8")
    ]
    bench = seal.Benchmark("shop", tools=[get_order], tasks=tasks)
    for model in ("oracle", "random"):
        seal.run(bench, model=model, baselines=False, out=folder / model)
    return [str(folder / "oracle"), str(folder / "random")]


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """The script; its folder is no place for the imports of other tests."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1] / "perf"))
    monkeypatch.setattr(sys, "path", list(sys.path))
    return import_module("fidelity")


@pytest.fixture
def settings(tmp_path: Path) -> Iterator[Any]:
    """Makes settings with a store of their own."""
    return lambda simulator: RunSettings(simulator=simulator, cache_dir=tmp_path)


def asked_of(server: ModelServer, folder: Path) -> RunSettings:
    """Return settings by which a server's model simulates."""
    model = f"openai/x,base_url={server.url}"
    return RunSettings(simulator="llm", role_models={"simulator": model}, cache_dir=folder)


def means(found: dict[str, Any]) -> dict[str, float]:
    return {name: entry["mean"] for name, entry in found["measures"].items()}


def test_the_record_itself_is_perfect_in_every_measure_and_changes_no_score(script, runs, settings):
    content = script.fidelity(runs[:1], settings("recorded"))
    (found,) = content["calls"].values()
    assert found["calls"] == 2
    assert means(found) == dict.fromkeys(MEASURES, 1.0)
    assert content["scores"]
    assert all(not entry["difference"] for entry in content["scores"])


def test_references_of_a_pool_are_a_record_too(script, settings):
    content = script.fidelity(["dialogtool-sample"], replace(settings("recorded"), first=60))
    (found,) = content["calls"].values()
    assert found["calls"] > 10
    assert set(means(found).values()) == {1.0}
    assert content["scores"] == content["order"] == []


@pytest.mark.parametrize(
    ("answer", "lower"),
    [
        (Response(TRUE), set()),
        (Response(json.dumps(TRUE)), set()),
        (Response(repr(TRUE)), set()),
        (Response({**TRUE, "weight": {"kg": "250"}}), {"shape"}),
        (Response({**TRUE, "when": "soon"}), {"shape"}),
        (Response({**TRUE, "order": "the same"}), {"echo"}),
        (Response({**TRUE, "weight": {"kg": 999}}), {"facts"}),
        (Response({**TRUE, "ships": "It ships on Friday."}), {"facts", "told"}),
        (Response("", "out of order"), {"error"}),
    ],
)
def test_each_fault_lowers_the_measures_that_see_it_and_no_other(script, answer, lower):
    told = ["Monday", "12345"]
    found = script.measured(ARGUMENTS, Response(TRUE), answer, told)
    assert {name for name, value in found.items() if value < 1} == lower
    assert lower == {"error"} or found.keys() == {*MEASURES}


def test_what_only_failed_is_held_against_errors_alone(script):
    failed = Response("", "no such order")
    assert script.measured(ARGUMENTS, failed, Response("", "gone")) == {"error": 1.0}
    assert script.measured(ARGUMENTS, failed, Response(TRUE)) == {"error": 0.0}


def test_false_results_are_found_and_the_order_of_runs_is_told(script, runs, settings):
    content = script.fidelity(runs, settings(Liar()))
    found = means(content["calls"][runs[0]])
    assert found["told"] == 0.0
    assert found["error"] == found["shape"] == found["echo"] == 1.0
    assert {entry["run"] for entry in content["scores"]} == {*runs}
    (order,) = [entry for entry in content["order"] if entry["metric"] == "call_f1"]
    assert order["recorded"] == order["simulated"]
    assert order["kept"]


def test_a_model_is_asked_without_the_recorded_answers(script, runs, tmp_path):
    said = json.dumps({"error": "", "response": TRUE})
    with ModelServer([text(said)], repeat=True) as server:
        content = script.fidelity(runs[:1], asked_of(server, tmp_path))
    assert content["simulator"] == "llm"
    assert means(content["calls"][runs[0]])["told"] == 1.0
    assert len(server.received) == 2
    assert "Monday" not in str([request.body for request in server.received])


@pytest.mark.parametrize(
    ("said", "came"),
    [
        ("Order 7 ships on Monday.", "unusable: not JSON"),
        ('{"ships": "Monday"}', "unusable: not an object of error and response"),
        ('{"error": "", "response": {}}', "unusable: an empty response"),
        ('{"error": "out of order", "response": ""}', "an error"),
    ],
)
def test_what_a_model_gives_in_vain_is_counted_and_agrees_with_nothing(
    script, runs, tmp_path, capsys, said, came
):
    with ModelServer([text(said)], repeat=True) as server:
        content = script.fidelity(runs[:1], asked_of(server, tmp_path))
        found = content["calls"][runs[0]]
        assert found["answers"] == {came: found["calls"]}
        assert found["measures"]["error"]["mean"] == 0.0
        assert found["measures"]["shape"]["n"] == 0
        model = f"simulator=openai/x,base_url={server.url}"
        words = ["--simulator", "llm", "--role-model", model, "--cache-dir", str(tmp_path)]
        assert script.main([runs[0], *words]) == 0
    assert ("what llm gave" in capsys.readouterr().out) == came.startswith("unusable")


def test_a_judge_that_looks_at_results_is_asked_of_both_sides(script, runs, settings):
    def judge(request: Received) -> Answer:
        shown = str(request.body["messages"][1:])
        seen = "ships on Friday" in shown or shown.count("ships on Monday") > 1
        verdict = "unsure" if not seen else "unsolved" if "Friday" in shown else "solved"
        return text(json.dumps({"verdict": verdict, "reason": "as seen"}))

    with ModelServer(judge) as server:
        models = {"judge": f"openai/judge,base_url={server.url}"}
        content = script.fidelity(runs[:1], replace(settings(Liar()), role_models=models))
    (entry,) = [entry for entry in content["scores"] if entry["metric"] == "pass_rate"]
    assert (entry["other_mean"], entry["mean"]) == (1.0, 0.0)


def test_runs_stay_as_they_were(script, runs, settings):
    files = {path: path.read_bytes() for path in Path(runs[0]).rglob("*") if path.is_file()}
    script.fidelity(runs[:1], settings("template"))
    assert files == {path: path.read_bytes() for path in files}


def test_tables_say_what_was_held_against_what(script, runs, tmp_path, capsys):
    assert script.main([*runs[:1], "--cache-dir", str(tmp_path)]) == 0
    told = capsys.readouterr().out
    assert "template held against recorded answers" in told
    assert "scores with the results of template" in told


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["nowhere"], "nowhere"),
        (["silent"], "no call whose answer is known"),
        (["sample", "sample"], "stands twice"),
        (["dialogtool-sample", "--simulator", "llm"], "--role-model simulator="),
        (["dialogtool-sample", "--simulator", "recorded+template"], "needs recorded runs"),
    ],
)
def test_what_cannot_be_measured_is_one_clear_line(
    script, words, says, tmp_path, capsys, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    seal.Benchmark("shop", tools=[get_order], tasks=[seal.ask("Where is A-7?")]).save("silent")
    with pytest.raises(SystemExit) as stop:
        script.main([*words, "--cache-dir", str(tmp_path)])
    assert stop.value.code == 2
    told = capsys.readouterr().err.splitlines()[-1]
    assert says in told


def test_the_former_command_says_what_replaces_it(capsys):
    assert main(["cache", "fidelity", "sample"]) == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1 and "is gone: 'python perf/fidelity.py RUN...'" in told
