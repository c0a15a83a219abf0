"""Recorded preferences: of which goals and of whose runs they are."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_pools import Weatherman, play, write_pool

import seal
from seal.benchmarks.toolbench.trajectories import read_preferences
from seal.core import DataError, UsageError
from seal.evaluation.preference import Ballots
from seal.experiments.judging import win_rate
from seal.experiments.settings import PreferenceSettings
from seal.runs.run import RunFolder

TASKS = ("rome-0", "oslo-1", "bern-2", "lima-3")


@pytest.fixture(scope="module")
def two(tmp_path_factory) -> tuple[Path, Path]:
    """A base named `plain` and a run named `other`, which no test changes."""
    folder = tmp_path_factory.mktemp("two")
    pool = write_pool(folder / "pool")
    played = [play(pool, folder / name, model=Weatherman()) for name in ("plain", "other")]
    return played[0].folder.path, played[1].folder.path


def rate(two, file: Path):
    base, run = map(RunFolder, two)
    return win_rate(run, base, PreferenceSettings(preferences=file))


def points(path: Path, **of: dict) -> Path:
    path.write_text(json.dumps({task.replace("_", "-"): record for task, record in of.items()}))
    return path


def test_points_of_two_models_make_win_lose_and_tie(two, tmp_path):
    done = {"round_0": "complete", "round_1": "complete"}
    file = points(
        tmp_path / "p.json",
        rome_0={"plain": 0, "other": 2, **done},
        oslo_1={"plain": 2, "other": 0, **done},
        bern_2={"plain": 0, "other": 0, **done},
        lima_3={"plain": 0, "other": 0, "round_0": "incomplete"},
        paris_9={"plain": 0, "other": 2, **done},
    )
    found = rate(two, file)

    assert (found["n"], found["goals"], found["win_rate"]) == (3, 4, 0.5)
    assert found["by"] == {"recorded": 3, "unrecorded": 1}
    assert found["judge"]["judge"] == "recorded/1"
    left_out = {"no goal that both runs played": 1, "no round is complete": 1}
    assert (found["judge"]["taken"], found["judge"]["left_out"]) == (3, left_out)
    assert [goal["task"] for goal in found["undecided"]] == ["lima-3"]
    assert found["won"][0]["reason"] == "2 to 0 votes"
    assert found["order"]["turned"] is None


def test_the_order_of_the_runs_turns_the_outcome_and_not_the_file(two, tmp_path):
    file = points(tmp_path / "p.json", rome_0={"plain": 1, "other": 2})
    assert (rate(two, file)["win"], rate(two[::-1], file)["lose"]) == (1.0, 1.0)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("p.json", '{"rome-0": {"a": 1, "b": 0}}', "of other runs: it compares a and b, but .*"),
        ("p.json", '{"x": {"plain": 1, "other": 0}}', "no preference on a goal that .* played: 1"),
        ("p.json", '{"x": {"query": "q", "is_solved": {}, "y": 1}}', "points of two models"),
        ("p.json", "{", "not JSON"),
        ("p.csv", "task_id,label\nrome-0,solved\n", "no column query_id|no column ref_model"),
        ("p.csv", "", "no column query_id|no column ref_model"),
        ("p.csv", "query\tquery_id\n", "no column query_id|no column ref_model"),
    ],
)
def test_files_of_other_runs_or_formats_are_refused(two, tmp_path, name, content, said):
    (tmp_path / name).write_text(content)
    with pytest.raises(DataError, match=said):
        rate(two, tmp_path / name)


def test_two_runs_of_one_model_are_told_apart_by_their_folders(two, tmp_path):
    name = RunFolder(two[0]).manifest()["system"]["model"]["model"]
    file = points(tmp_path / "p.json", rome_0={name: 0, "other": 2})
    assert rate(two, file)["win"] == 1.0
    with pytest.raises(DataError, match="there is no such file"):
        rate(two, tmp_path / "nowhere.csv")


def test_recorded_preferences_leave_no_one_to_ask(two, tmp_path):
    with pytest.raises(UsageError, match="leave out --preferences, or the judge's"):
        seal.compare(two, preferences=tmp_path / "p.json", judge_model="lexical")


@given(st.integers(0, 9), st.integers(0, 9))
def test_a_pairing_seen_from_the_other_run_is_turned(base, run):
    turned = {"win": "lose", "lose": "win", "tie": "tie"}
    assert turned[Ballots(base, run).pairing().outcome] == Ballots(run, base).pairing().outcome


@pytest.fixture
def example(tmp_path, seal_data):
    """Upstream's two runs and its files."""
    folder = seal_data / "stabletoolbench" / "data_example"
    seal.import_benchmark("toolbench", folder, tmp_path / "pool")
    runs = []
    for name in ("cot", "dfs"):
        model = f"recorded:virtual_chatgpt_{name}"
        runs.append(play(tmp_path / "pool", tmp_path / name, model=model).folder.path)
    return runs, folder / "preference_results"


@pytest.mark.parametrize("kind", ["json", "csv"])
def test_upstreams_example_comes_out_as_published(kind, example, tmp_path):
    runs, folder = example
    (file,) = folder.glob(f"*.{kind}")
    content = seal.compare(runs, preferences=file, resamples=50, out=tmp_path / "d").content
    found = content["pairs"][0]["win_rate"]

    assert (found["win"], found["lose"], found["tie"], found["n"]) == (1.0, 0.0, 0.0, 3)
    assert (found["judge"]["taken"], found["judge"]["left_out"]) == (3, {})
    assert read_preferences(file).shares() == {"win": 1.0, "lose": 0.0, "tie": 0.0}
    html = (tmp_path / "d" / "comparison.html").read_text()
    assert "recorded" in html and "goals taken 3, none left out" in html


def test_upstreams_table_of_other_answers_is_refused(example, tmp_path):
    runs, folder = example
    (file,) = folder.glob("*.csv")
    other = tmp_path / file.name
    other.write_text(file.read_text().replace("Pinterest", "Elsewhere"))
    with pytest.raises(DataError, match="preferences of another run: 1 of 3 answers"):
        seal.compare(runs, preferences=other)
