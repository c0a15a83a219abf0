"""Logs of inspect_ai, written by inspect_ai itself, as runs of ours."""

import json
import logging
import os
from pathlib import Path
from typing import Any

import pytest
from forked import run as run_command

import seal
from seal.api.benchmarks import export
from seal.core import DataError, UsageError
from seal.runs.finished import import_run
from seal.runs.run import RunFolder

inspect_ai = pytest.importorskip("inspect_ai", reason="inspect_ai is not installed")
pytestmark = pytest.mark.slow


def write_log(folder: Path, form: str, epochs: int = 1) -> Path:
    """Let inspect_ai play three samples with a tool, and return its log."""
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ModelOutput, get_model, modelapi
    from inspect_ai.model._providers.mockllm import MockLLM
    from inspect_ai.scorer import includes, match
    from inspect_ai.solver import generate, system_message, use_tools
    from inspect_ai.tool import ToolError, tool

    @modelapi(name="scripted")
    class Scripted(MockLLM):
        async def count_tokens(self, *args: Any, **options: Any) -> int:
            return 10  # theirs fetches a file

        count_tool_tokens = count_text_tokens = count_tokens

    @tool
    def weather() -> Any:
        async def execute(city: str) -> str:
            """Look the weather up.

            Args:
                city: Name of the city.
            """
            if city == "Atlantis":
                raise ToolError("no such city")
            return "rain"

        return execute

    def said(*outputs: Any) -> list[Any]:
        made = (o if isinstance(o, str) else ("weather", {"city": o[0]}) for o in outputs)
        return [
            ModelOutput.from_content("m", one)
            if isinstance(one, str)
            else ModelOutput.for_tool_call("m", *one)
            for one in made
        ]

    answers = said(("Oslo",), "There is rain.", ("Atlantis",), "It is unknown.", "Five.")
    samples = [
        Sample(id="oslo", input="What is the weather in Oslo?", target="rain"),
        Sample(id="gone", input="And in Atlantis?", target="known", metadata={"level": "hard"}),
        Sample(id=3, input="What is 2 + 2?", target=["4", "four"]),
    ]
    (log,) = inspect_ai.eval(
        inspect_ai.Task(
            dataset=samples,
            solver=[system_message("Be brief."), use_tools(weather()), generate()],
            scorer=[includes(), match()],
            name="cities",
        ),
        model=get_model("scripted/m", custom_outputs=answers * epochs, memoize=False),
        log_format=form,
        log_dir=str(folder),
        epochs=epochs,
        max_samples=1,
        display="none",
    )
    return Path(log.location)


@pytest.fixture
def log(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> Path:
    with caplog.at_level(logging.ERROR):
        return write_log(tmp_path / "logs", "eval")


@pytest.mark.filterwarnings("default")
def test_a_log_becomes_a_run_with_its_scores_and_ours(log: Path, tmp_path: Path) -> None:
    import_run("inspect", log, tmp_path / "run")
    seal.score(tmp_path / "run")

    run = seal.Run.load(tmp_path / "run")
    theirs = inspect_ai.log.read_eval_log(str(log)).results.scores[0].metrics["accuracy"].value
    assert run["inspect/includes"].mean == pytest.approx(theirs, abs=1e-6)
    manifest = run.folder.manifest()
    assert manifest["benchmark"]["success"] == "inspect/includes"
    assert (manifest["measure"]["pool"], run.summary["tasks"]) == ("inspect/cities", 3)
    chats = {chat.task_id: chat for chat in run.folder.trajectories()}
    (asked, answered), *_ = chats["gone"].calls()
    assert asked.call is not None and answered is not None and answered.result is not None
    assert (asked.call.arguments, asked.usage is not None) == ({"city": "Atlantis"}, True)
    assert answered.result.error == {"kind": "unknown", "message": "no such city"}
    (tool,) = run.folder.tools().values()
    assert tool.parameters["required"] == ["city"]
    tags = {task.id: task.tags for task in run.folder.tasks()}
    assert tags["gone"] == {"level": "hard"}


@pytest.mark.filterwarnings("default")
def test_verbs_compare_explain_and_report_a_log_of_theirs(log: Path, tmp_path: Path) -> None:
    for words in (
        ["import", "inspect", str(log), "--out", "one"],
        ["score", "one"],
        ["import", "inspect", str(write_log(tmp_path / "more", "json", epochs=2)), "--out", "two"],
        ["score", "two"],
        ["compare", "one", "two"],
        ["explain", "one"],
        ["report", "one", "--out", "page.html"],
    ):
        done = run_command(["seal", *words], cwd=tmp_path, env=dict(os.environ))
        assert done.returncode == 0, f"{words}: {done.stderr}"
    assert "inspect/match" in (tmp_path / "page.html").read_text(encoding="utf-8")
    two = RunFolder(tmp_path / "two")
    assert [chat.trial for chat in two.trajectories()] == [0, 1, 0, 1, 0, 1]


def test_what_we_export_comes_back_with_the_scores_it_had(tmp_path: Path) -> None:
    before = seal.run("sample", first=6, out=tmp_path / "run", baselines=False)
    export(tmp_path / "run", "inspect", tmp_path / "log")
    import_run("inspect", tmp_path / "log", tmp_path / "back")
    seal.score(tmp_path / "back")
    had = {(s.task_id, s.metric): s.value for s in before.folder.scores() if s.value is not None}
    came = {
        (s.task_id, s.metric.removeprefix("inspect/")): s.value
        for s in RunFolder(tmp_path / "back").scores()
        if s.metric.startswith("inspect/")
    }
    assert came == had


@pytest.mark.parametrize(
    ("text", "told"), [("{}", "is no log of inspect_ai"), ("", "is no log of inspect_ai")]
)
def test_what_is_no_log_is_refused(text: str, told: str, tmp_path: Path) -> None:
    (tmp_path / "log.json").write_text(text)
    with pytest.raises(DataError, match=told):
        import_run("inspect", tmp_path / "log.json", tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_folder_of_logs_is_refused_with_their_names(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    for name in ("a.eval", "b.eval"):
        (tmp_path / "logs" / name).write_bytes(b"")
    with pytest.raises((DataError, UsageError), match=r"name one of its logs .*: a\.eval"):
        import_run("inspect", tmp_path / "logs", tmp_path / "run")


def test_a_score_that_was_not_given_is_no_zero(tmp_path: Path) -> None:
    seal.run("sample", model="oracle", first=2, out=tmp_path / "run", baselines=False)
    export(tmp_path / "run", "inspect", tmp_path / "log")
    (file,) = (tmp_path / "log").glob("*.json")
    log = json.loads(file.read_text())
    for sample, value in zip(log["samples"], ("C", "refused"), strict=True):
        sample["scores"] = {"graded": {"value": value}}
    file.write_text(json.dumps(log))
    import_run("inspect", file, tmp_path / "back")
    found = seal.score(tmp_path / "back").summary["metrics"]["inspect/graded"]
    assert (found["mean"], found["n"], found["undefined"]) == (1.0, 1, 1)


def without_ids(value: Any) -> Any:
    """Return a log whose messages have no ids, as older ones."""
    if isinstance(value, list):
        return [without_ids(one) for one in value]
    if not isinstance(value, dict):
        return value
    return {k: without_ids(v) for k, v in value.items() if k != "id" or "role" not in value}


@pytest.mark.parametrize(("dropped", "used"), [(0, [10, 11]), (1, [])])
@pytest.mark.filterwarnings("default")
def test_usage_is_matched_by_order_where_messages_have_no_ids(
    dropped: int, used: list[int], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR):
        file = write_log(tmp_path / "logs", "json")
    log = without_ids(json.loads(file.read_text()))
    (oslo,) = (one for one in log["samples"] if one["id"] == "oslo")
    requests = [event for event in oslo["events"] if event["event"] == "model"]
    for number, event in enumerate(requests, 10):
        event["output"]["usage"] = {"input_tokens": number, "output_tokens": 1, "total_tokens": 9}
    oslo["events"] = [event for event in oslo["events"] if event not in requests[:dropped]]
    file.write_text(json.dumps(log))

    import_run("inspect", file, tmp_path / "run")

    chats = {chat.task_id: chat for chat in RunFolder(tmp_path / "run").trajectories()}
    assert [step.usage.tokens_in for step in chats["oslo"].steps if step.usage] == used
