"""A run as an object: its metrics, its frames, how it shows itself."""

import json
import shutil
import subprocess
import sys
from math import isnan
from pathlib import Path

import pandas
import pytest
from matplotlib.figure import Figure
from small_run import HOSTILE, damage, write_run

import seal
from seal.core import DataError, MissingExtraError, UnknownNameError, UsageError
from seal.report import frames as report_frames
from seal.report.transcript import view, view_record
from seal.runs.run import RunFolder


@pytest.fixture
def run(tmp_path: Path) -> seal.Run:
    write_run(tmp_path / "one")
    return seal.Run.load(tmp_path / "one")


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> seal.Run:
    """A run of two tasks of the sample with floor and ceiling."""
    folder = tmp_path_factory.mktemp("played")
    return seal.run("sample", first=2, out=folder / "run", cache_dir=folder / "cache")


def test_a_metric_has_mean_interval_and_counts(run: seal.Run) -> None:
    found = run["pass_rate"]

    assert (found.mean, found.low, found.high, found.n) == (1.0, 0.25, 1.0, 1)
    assert (found.undefined, found.reasons) == (1, {"never played": 1})
    assert float(found) == 1.0
    assert str(found) == "1.000 [0.250, 1.000] n=1, undefined 1"


def test_a_metric_without_values_is_not_zero(run: seal.Run) -> None:
    assert run[HOSTILE].mean is None
    assert isnan(float(run[HOSTILE]))


def test_a_metric_is_told_by_tag_and_value(run: seal.Run) -> None:
    by = run["pass_rate"].by

    assert by["group"]["shop"].mean == 1.0
    assert by["hard"]["true"].mean == 0.5
    assert by["rule"]["a=b"].mean is None


def test_a_run_is_a_mapping_of_its_metrics(run: seal.Run) -> None:
    assert list(run) == list(run.summary["metrics"])
    assert len(run) == 4
    assert "pass_rate" in run
    assert "pass-rate" not in run
    assert run.get("pass-rate") is None


def test_an_unknown_metric_names_the_closest_and_those_there_are(run: seal.Run) -> None:
    with pytest.raises(UnknownNameError, match=r"no metric 'pas_rate'; known: .*recall@5") as told:
        run["pas_rate"]
    assert str(told.value).endswith("Did you mean 'pass_rate'?")
    for no_text in (3, None, ["pass_rate"]):
        with pytest.raises(UnknownNameError, match=r"no metric .*; known: .*recall@5"):
            run[no_text]
        assert no_text not in run


def test_every_frame_names_run_model_query_and_tags(run: seal.Run) -> None:
    for frame in (run.scores, run.calls, run.messages, run.tasks):
        columns = ["run", "model", "task_id", "trial", "goal", "query"]
        assert list(frame.columns[:9]) == [*columns, "tag_group", "tag_hard", "tag_topics"]
        first = frame.iloc[0]
        assert (first["run"], first["model"], first["query"]) == (
            "one",
            "lexical",
            "Where is order 7?",
        )
        assert (first["tag_hard"], first["tag_topics"]) == (True, '["orders","post"]')


def test_calls_stand_beside_what_they_brought(run: seal.Run) -> None:
    good, bad = run.calls.to_dict("records")

    assert (good["tool"], good["name"], good["arguments"]) == (
        "made/find",
        "find",
        '{"a":[2],"b":1}',
    )
    assert (good["valid"], good["result"], good["index"], good["turn"]) == (True, "7", 1, 1)
    assert (bad["arguments"], bad["valid"]) == ("{oops", False)
    assert (bad["error"], bad["message"]) == ("unknown_tool", HOSTILE)
    assert pandas.isna(bad["tool"])


def test_messages_are_the_steps_with_their_tokens(run: seal.Run) -> None:
    frame = run.messages

    assert frame["kind"].tolist() == ["message", "call", "call", "result", "result", "message"]
    assert frame["index"].tolist() == list(range(6))
    assert frame["tokens_in"].sum() == 30
    assert frame["tokens_out"].isna().sum() == 5


def test_tasks_have_a_row_for_each_goal(run: seal.Run) -> None:
    first, second = run.tasks.to_dict("records")

    assert (first["outcome"], first["stop"], first["answer"]) == ("solved", "done", "It is here.")
    assert (first["calls"], first["messages"], first["tokens_in"]) == (2, 4, 30)
    assert (second["query"], second["outcome"], second["calls"]) == (HOSTILE, "unscored", 0)
    assert pandas.isna(second["stop"])


def test_a_score_without_value_is_missing_and_has_its_reason(run: seal.Run) -> None:
    missing = run.scores[run.scores["value"].isna()]
    assert missing["reason"].tolist() == ["never played"]


def test_frames_are_made_once(run: seal.Run) -> None:
    assert run.calls is run.calls


def test_frames_of_several_runs_are_joined_under_their_names(tmp_path: Path) -> None:
    write_run(tmp_path / "a" / "run")
    write_run(tmp_path / "b" / "run", model="other")
    one = seal.Run.load(tmp_path / "a" / "run")

    for joined in (
        seal.frames(one, tmp_path / "b" / "run"),
        seal.frames([one.folder, str(tmp_path / "b" / "run")]),
    ):
        assert joined.calls["run"].tolist() == ["a/run", "a/run", "b/run", "b/run"]
        assert joined.scores.groupby("model")["value"].count().to_dict() == {
            "lexical": 2,
            "other": 2,
        }
        assert len(joined.messages) == 12
        assert len(joined.tasks) == 4
        assert "a/run" in repr(joined)


def test_a_run_stands_once_among_frames_and_none_is_refused(run: seal.Run) -> None:
    with pytest.raises(UsageError, match="stands there twice"):
        seal.frames(run, run.folder)
    with pytest.raises(UsageError, match="frames of no run"):
        seal.frames()
    assert seal.frames(one for one in [run]).scores.equals(seal.frames(run).scores)
    with pytest.raises(UsageError, match=r"got \[<Run>\]: give what"):
        seal.explain([run])  # type: ignore[arg-type]


@pytest.mark.parametrize("what", [5, None, {"a": 1}, b"run"])
def test_what_is_no_run_is_told_what_one_is(what: object) -> None:
    with pytest.raises(UsageError, match=r"expected a run, got .*what seal\.run returned"):
        seal.frames(what)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="expected a run, got"):
        seal.Run.load(what)  # type: ignore[arg-type]


def test_hostile_texts_are_shown_and_do_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "<img onerror=x>"
    write_run(folder, model=HOSTILE)
    damaged = json.loads((folder / "summary.json").read_text())
    del damaged["metrics"]["pass_rate"], damaged["metrics"]["recall@5"]
    del damaged["metrics"]["recall@10"]  # of no main metric all are shown
    damage(folder, "summary.json", damaged)
    run = seal.Run.load(folder)

    for html in (run._repr_html_(), seal.frames(run)._repr_html_()):
        assert "<script>" not in html and "<img" not in html and "\x1b" not in html
        assert "&lt;script&gt;" in html
    assert "\x1b" not in repr(run)
    assert repr(run).count("\n") < 15


def test_a_run_shows_itself_beside_floor_and_ceiling(played: seal.Run) -> None:
    lines = repr(played).splitlines()

    told = "lexical solved 1 of 2 tasks of sample by pass_rate (judge: rule): 0.500 [0.026, 0.974]"
    beside = "floor 0.000, random; ceiling 1.000, oracle"
    assert lines[:3] == [told, beside, "2 tasks, 1 trial, 0 errors"]
    assert lines[3].split()[-2:] == ["floor", "ceiling"]
    rows = [line.split()[0] for line in lines[4:9]]
    assert rows[0] == "pass_rate" and "recall@10" in rows
    assert lines[9].endswith(" more metrics: run.table(every=True), or run.report()")
    assert lines[-1] == f"folder: {played.folder.path}"
    assert len(lines) <= 15
    assert all(len(line) <= 120 for line in lines)
    assert played._repr_html_().count("<tr>") == 1 + len(rows)
    assert "pass_rate" in played.table() and "--all-metrics" not in played.table()
    assert "call_recall" not in played.table() and "call_recall" in played.table(every=True)


def test_the_baselines_are_runs(played: seal.Run) -> None:
    assert list(played.baselines) == ["floor", "ceiling"]
    assert played.baselines["ceiling"]["pass_rate"].mean == 1.0


def test_a_run_draws_its_short_table_and_writes_its_report(
    played: seal.Run, tmp_path: Path
) -> None:
    figure = played.plot()
    shown = [text.get_text() for text in figure.axes[0].get_yticklabels()]

    assert isinstance(figure, Figure)
    assert shown[0] == "pass_rate"
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [
        "lexical",
        "floor",
        "ceiling",
    ]
    assert figure._repr_png_().startswith(b"\x89PNG")
    assert "pass_rate" in played.report(tmp_path / "r.html").read_text()


def test_a_run_is_scored_again_and_had_again(played: seal.Run, tmp_path: Path) -> None:
    again = seal.score(played, cache_dir=tmp_path)

    assert again == seal.Run.load(played.folder.path) == played
    assert len({again, played}) == 1
    assert seal.explain(played).content["goals"] == 2


def test_a_folder_without_a_scored_run_is_refused(run: seal.Run, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"has no run\.json"):
        seal.Run.load(tmp_path)
    damage(run.folder.path, "summary.json", [])
    with pytest.raises(DataError, match="expected an object, got list"):
        seal.Run.load(run.folder.path)
    (run.folder.path / "summary.json").unlink()
    with pytest.raises(DataError, match="score the run"):
        seal.Run.load(run.folder.path)


@pytest.mark.parametrize(
    ("file", "part", "spoilt", "wanted"),
    [
        ("summary.json", "errors", "no", "a whole number"),
        ("summary.json", "unrecorded", 3, "an object"),
        ("summary.json", "lines", [1], "an object"),
        ("run.json", "origins", "no", "an object"),
        ("run.json", "warnings", 3, "a list"),
    ],
)
def test_a_part_of_another_type_is_told_with_its_place(
    run: seal.Run, file: str, part: str, spoilt: object, wanted: str
) -> None:
    path = run.folder.path / file
    path.write_text(json.dumps({**json.loads(path.read_text()), part: spoilt}))
    with pytest.raises(DataError, match=f"{file}: expected {wanted} `{part}`, got"):
        seal.Run.load(run.folder.path)


def test_a_chat_of_a_task_that_is_not_there_is_told(run: seal.Run) -> None:
    (run.folder.path / "tasks.jsonl").write_text("")
    for kind in ("scores", "calls", "messages", "tasks"):
        with pytest.raises(DataError, match=r"'t-1' is not in tasks\.jsonl"):
            getattr(run, kind)


def test_a_missing_extra_names_itself(run: seal.Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report_frames, "find_spec", lambda package: None)

    with pytest.raises(MissingExtraError, match="pandas is not installed"):
        _ = run.calls
    with pytest.raises(MissingExtraError, match="matplotlib is not installed"):
        run.plot()


def test_the_types_of_results_load_no_heavy_library() -> None:
    code = (
        "import sys, seal; seal.Run, seal.frames; "
        "import seal.api.comparisons, seal.api.experiment_results; "
        "print({'pandas', 'matplotlib', 'numpy', 'rich', 'autogen'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "set()", done.stderr


VERBS = {
    "explain": seal.explain,
    "report": seal.report,
    "frames": seal.frames,
    "compare": lambda run: seal.compare(run, "other"),
    "view": lambda run: view(RunFolder(Path(run))),
    "view --json": lambda run: view_record(RunFolder(Path(run))),
}


@pytest.mark.parametrize("verb", VERBS.values(), ids=VERBS)
@pytest.mark.parametrize("place", ["", "floor"])
@pytest.mark.parametrize("keep", [1, 0.5])
@pytest.mark.parametrize(
    "name", ["tools.jsonl", "tasks.jsonl", "trajectories.jsonl", "scores.jsonl"]
)
def test_a_file_of_a_run_that_was_cut_is_refused_by_every_verb(
    played: seal.Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verb, place, keep, name
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(played.folder.path, "cut")
    shutil.copytree(played.folder.path, "other")
    file = Path("cut", place, name)
    lines = file.read_text().splitlines(keepends=True)
    kept = lines[:1] if keep == 1 else [*lines[:-1], lines[-1][:-30]]
    file.write_text("".join(kept))

    repair = "seal score cut" if name == "scores.jsonl" else "--resume --out"
    told = rf"{name} was cut: it has \d+ of the {len(lines)} lines.*{repair}"
    with pytest.raises(DataError, match=told):
        verb("cut")


@pytest.mark.parametrize("verb", VERBS.values(), ids=VERBS)
def test_a_summary_of_fewer_scores_is_no_summary_of_a_run(
    played: seal.Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verb
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(played.folder.path, "run")
    shutil.copytree(played.folder.path, "other")
    summary = json.loads(Path("run/summary.json").read_text())
    summary["lines"]["scores.jsonl"] -= 1
    Path("run/summary.json").write_text(json.dumps(summary))
    with pytest.raises(DataError, match=r"summary\.json is not of these scores.*`seal score run`"):
        verb("run")


@pytest.mark.parametrize("verb", [*VERBS.values(), seal.score], ids=[*VERBS, "score"])
@pytest.mark.parametrize(
    "name", ["tools.jsonl", "tasks.jsonl", "trajectories.jsonl", "scores.jsonl"]
)
def test_a_folder_in_the_place_of_a_file_of_a_run_is_named(
    played: seal.Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verb, name
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(played.folder.path, "run")
    shutil.copytree(played.folder.path, "other")
    Path("run", name).unlink()
    Path("run", name).mkdir()
    anew = ".*remove it.*`seal score run`" if name == "scores.jsonl" and verb != seal.score else ""
    with pytest.raises(DataError, match=rf"{name} is a folder, and no file; put the file in{anew}"):
        verb("run")


def test_a_run_json_that_is_empty_is_no_run(played: seal.Run, tmp_path: Path) -> None:
    shutil.copytree(played.folder.path, tmp_path / "run")
    damage(tmp_path / "run", "run.json", {})
    with pytest.raises(DataError, match="tells of no run"):
        seal.Run.load(tmp_path / "run")


def test_a_printed_run_says_why_metrics_have_no_value(tmp_path):
    run = seal.run(
        "toolsandbox-sample", model="oracle", first=2, baselines=False, out=tmp_path / "r"
    )
    shown = str(run).splitlines()
    reasons = [line for line in shown if line.startswith("n/a (")]
    named = {name for line in reasons for name in line.partition("): ")[2].split(", ")}
    assert "recall@10" in named
    assert not any(line.split()[0] in named for line in shown)


def test_a_chat_is_shown_as_an_outline_and_whole(played: seal.Run) -> None:
    task = next(iter(played.folder.task_ids()))
    chat = played.chat(task)
    lines = repr(chat).splitlines()
    assert lines[0].startswith(f"task {task}, trial 0: ") and len(lines) <= 15
    assert lines[2].startswith("target: ")
    assert chat.task.id == task == chat.trajectory.task_id and chat.scores and len(chat.why) == 1
    assert "<table>" in chat._repr_html_()
    assert f"task {task}, trial 0" in str(chat) and "next speaker: executor" in str(chat)
    with pytest.raises(UsageError, match="has no trial 5; played: trial 0"):
        played.chat(task, 5)
    with pytest.raises(UsageError, match="no task 'gone'"):
        played.chat("gone")
