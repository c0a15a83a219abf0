"""Sweeps: drawn pools of several sizes, each played end to end with each K."""

import json
import signal
import threading
import time
from collections.abc import Sequence
from dataclasses import fields, replace
from io import StringIO
from pathlib import Path
from typing import Any

import pandas
import pytest
from rich.console import Console
from small_pools import Weatherman, tool, write_pool

import seal
from seal.api.benchmarks import load_pool
from seal.api.experiment_results import Sweep
from seal.core import (
    Completion,
    DataError,
    Goal,
    InfrastructureError,
    Milestone,
    Plan,
    Request,
    Task,
    UnknownNameError,
    Usage,
    UsageError,
)
from seal.core.conditions import Argument, Called
from seal.evaluation.significance import mean_and_deviation
from seal.experiments.series import SeriesResult
from seal.experiments.settings import SweepSettings
from seal.experiments.sweep import sweep
from seal.report.experiments import sweep_figures, sweep_tables
from seal.report.figures import save
from seal.runs.run import RunFolder
from seal.runs.settings import RunSettings

PLACES = ("lake", "moon", "port", "road", "seed", "tree", "wind", "yard")
TOOLS = tuple(tool(place, f"Tells of the {place}.", city="string") for place in PLACES)
CITIES = ("Rome", "Oslo", "Bern")


def place_task(place: int, city: str, **changes: Any) -> Task:
    """Return a task with one gold call."""
    wanted = TOOLS[place]
    gold = Milestone(Called(wanted.id, {"city": Argument((city,))}))
    goal = Goal(
        f"Tell of the {wanted.name} of {city}, the weather in {city}.",
        plans=(Plan((gold,)),),
        relevant=(wanted.id,),
    )
    return Task(f"{wanted.name}-{city}", "small", (replace(goal, **changes),))


TASKS = [place_task(place, city) for place in range(len(TOOLS)) for city in CITIES]


@pytest.fixture
def places(tmp_path: Path) -> Path:
    """A pool of 8 tools, each relevant to 3 tasks."""
    return write_pool(tmp_path / "places", TASKS, TOOLS)


VARIED = {setting.name for setting in fields(SweepSettings)}


def swept(pool: Path, out: Path | None, resume: bool = False, **settings: Any) -> SeriesResult:
    """Play without baselines, and without the files that need pandas and matplotlib."""
    settings = {"pool_sizes": (2, 4), "samples": 1, "baselines": False, **settings}
    varied = SweepSettings(**{name: settings.pop(name) for name in VARIED & settings.keys()})
    progress = settings.pop("progress", None)
    return sweep(RunSettings(pool=pool, **settings), varied, out, resume, progress)


def files(folder: Path) -> dict[str, bytes]:
    found = [*folder.glob("sweep.*"), *folder.glob("figures/*")]
    return {path.name: path.read_bytes() for path in sorted(found)}


def runs_of(folder: Path) -> list[RunFolder]:
    return [RunFolder(file.parent) for file in sorted(folder.glob("size-*/sample-*/*/run.json"))]


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> SeriesResult:
    """Two sizes and all, two samples, two K."""
    folder = tmp_path_factory.mktemp("sweep")
    pool = write_pool(folder / "places", TASKS, TOOLS)
    settings = {"pool_sizes": ("all", 4, 2), "top_k": (1, 3), "samples": 2}
    return seal.sweep(pool, out=folder / "out", cache_dir=folder / "cache", **settings)


def test_every_drawn_pool_is_a_pool_and_a_run_of_its_own(done: SeriesResult) -> None:
    for size, sample in ((2, 0), (2, 1), (4, 0), (4, 1), (8, 0)):
        folder = done.folder / f"size-{size}" / f"sample-{sample}"
        pool = load_pool(folder / "pool")
        assert len(pool.tools()) == size
        assert [task.id for task in pool.tasks()] == [
            task.id for task in RunFolder.open(folder / "run-k1").tasks()
        ]
        said = pool.report
        assert (said["size"], said["sample"], said["seed"]) == (size, sample, 0)
        assert said["drawn_from"] == done.content["origin"]["digest"]
        assert set(said["seeds"]) <= {task.id for task in pool.tasks()}
        assert RunFolder.open(folder / "run-k3").manifest()["system"]["top_k"] == 3
    assert not (done.folder / "size-8" / "sample-1").exists()
    assert not list(done.folder.glob("**/floor"))


def test_a_row_is_what_its_run_says(done: SeriesResult) -> None:
    rows = done.content["rows"]
    assert [(row["size"], row["top_k"], row["sample"]) for row in rows[:4]] == [
        (2, 1, 0), (2, 1, 1), (2, 3, 0), (2, 3, 1),
    ]  # fmt: skip
    for row in rows:
        summary = RunFolder.open(done.folder / row["run"]).summary()
        assert row["tasks"] == row["queries"] == summary["tasks"]
        for metric in ("recall@10", "recall@3", "recall@1", "call_recall_at_n", "pass_rate"):
            assert row["metrics"][metric]["mean"] == summary["metrics"][metric]["mean"]


def test_results_are_means_over_samples_and_one_sample_has_no_deviation(done: SeriesResult) -> None:
    for entry in done.content["results"]:
        rows = [
            row["metrics"]["call_recall"]["mean"]
            for row in done.content["rows"]
            if (row["size"], row["top_k"]) == (entry["size"], entry["top_k"])
        ]
        found = entry["metrics"]["call_recall"]
        spread = mean_and_deviation(rows)
        assert found["mean"] == pytest.approx(spread.mean, abs=1e-5)
        if entry["size"] == 8:
            assert (len(rows), found["deviation"], entry["queries_deviation"]) == (1, None, None)
        else:
            assert found["deviation"] == pytest.approx(spread.deviation, abs=1e-5)
        assert found["low"] <= found["mean"] <= found["high"]


def test_more_tools_are_found_with_a_larger_k_and_fewer_in_a_larger_pool(
    done: SeriesResult,
) -> None:
    recall = {
        (entry["size"], entry["top_k"]): entry["metrics"][f"recall@{entry['top_k']}"]["mean"]
        for entry in done.content["results"]
    }
    assert all(recall[size, 1] <= recall[size, 3] for size in (2, 4, 8))
    assert all(entry["metrics"]["recall@10"]["mean"] == 1 for entry in done.content["results"])


def test_the_frame_the_file_and_the_table_hold_the_same_figures(done: SeriesResult) -> None:
    frame = Sweep.load(done.folder).frame
    written = pandas.read_csv(done.folder / "sweep.csv")
    assert list(written.columns) == list(frame.columns)
    together = frame[frame["sample"].isna() & (frame["metric"] == "pass_rate")]
    assert together["size"].tolist() == [2, 2, 4, 4, 8, 8]
    assert together["top_k"].tolist() == [1, 3] * 3
    assert len(frame[frame["sample"].notna() & (frame["metric"] == "pass_rate")]) == 10


def shown(content: dict[str, Any]) -> str:
    console = Console(width=120, record=True, file=StringIO())
    for renderable in sweep_tables(content):
        console.print(renderable)
    return console.export_text()


def test_the_table_has_the_columns_of_table_3(done: SeriesResult) -> None:
    text = shown(done.content)
    for column in ("size", "queries", "recall@10", "call_recall", "param_acc", "pass_rate"):
        assert column in text
    assert "1.000 ± NA" in text
    assert "1.000 ± 0.000" in text
    assert "recall@K" in text
    assert "at every K; recall@K: of the K that the chat was offered" in " ".join(text.split())


def test_figures_are_drawn_of_what_was_varied(done: SeriesResult, tmp_path: Path) -> None:
    stems = {path.stem for path in (done.folder / "figures").iterdir()}
    assert stems == {"metrics_over_pool_size", "pass_rate_over_recall"}
    alone = {**done.content, "results": done.content["results"][:1]}
    assert save(sweep_figures(alone), tmp_path) == []


class Counting(Weatherman):
    """Counts tokens."""

    def complete(self, request: Request) -> Completion:
        return replace(super().complete(request), usage=Usage(len(request.tools), 1))


@pytest.mark.slow
def test_equal_seeds_give_equal_bytes(places: Path, tmp_path: Path) -> None:
    settings = {"pool_sizes": (2, 4), "samples": 1, "model": Counting()}
    seal.sweep(places, out=tmp_path / "a", workers=1, **settings)
    seal.sweep(places, out=tmp_path / "b", workers=4, cache_dir=tmp_path / "other", **settings)
    found = files(tmp_path / "a")
    assert {Path(name).suffix for name in found} == {".json", ".csv", ".svg", ".png"}
    assert found == files(tmp_path / "b")


def test_the_seed_decides_which_pools_are_drawn(places: Path, tmp_path: Path) -> None:
    one, other = (swept(places, tmp_path / f"{seed}", seed=seed).content for seed in (0, 7))
    digests = [[row["pool_digest"] for row in content["rows"]] for content in (one, other)]
    assert not set(digests[0]) & set(digests[1])


def test_metrics_without_gold_stand_as_not_applicable(tmp_path: Path) -> None:
    bare = [place_task(place, city, plans=None) for place in range(4) for city in CITIES]
    pool = write_pool(tmp_path / "bare", bare, TOOLS)
    found = swept(pool, tmp_path / "out", pool_sizes=(2,))
    entry = found.content["results"][0]["metrics"]["param_acc_gold"]
    assert (entry["mean"], entry["n"]) == (None, 0)
    assert entry["undefined"] == sum(entry["reasons"].values()) > 0
    assert "param_acc_gold n/a: no" in shown(found.content)
    frame = Sweep.load(found.folder).frame
    assert frame[frame["metric"] == "param_acc_gold"]["reason"].str.contains("gold").all()


def test_several_k_alone_play_the_pool_as_it_stands(tmp_path: Path) -> None:
    chat = Task("chat", "small", (Goal("Hello, the weather in Rome."),))
    pool = write_pool(tmp_path / "pool", [*TASKS[:2], chat], TOOLS)
    found = seal.sweep(pool, out=tmp_path / "out", top_k=(1, 2), model=Weatherman())
    assert [(row["size"], row["tasks"]) for row in found.content["rows"]] == [(8, 3), (8, 3)]


def test_trials_and_drawn_queries_go_together(places: Path, tmp_path: Path) -> None:
    settings = {"pool_sizes": (4, "all"), "queries": 3, "trials": 2, "samples": 2}
    found = swept(places, tmp_path / "out", **settings)
    assert [(row["size"], row["tasks"]) for row in found.content["rows"]] == [
        (4, 3), (4, 3), (8, 3), (8, 3),
    ]  # fmt: skip
    assert all(row["metrics"]["pass_rate"]["n"] == 6 for row in found.content["rows"])


def test_queries_are_told_as_whole_numbers_where_samples_agree(tmp_path: Path) -> None:
    pool = write_pool(tmp_path / "places", TASKS, TOOLS)
    found = swept(pool, tmp_path / "out", pool_sizes=(4,), queries=1, samples=2)

    rows = [line.replace("│", " ").split() for line in shown(found.content).splitlines()]
    assert ["4", "1"] in [row[:2] for row in rows]


def test_pools_without_a_distractor_are_told(places: Path, tmp_path: Path) -> None:
    full = swept(places, tmp_path / "full", pool_sizes=(2,))
    filled = swept(places, tmp_path / "filled", pool_sizes=(2, 4), queries_in="fixed")

    (note,) = full.content["notes"]
    assert note.startswith("no drawn pool holds a distractor, so --distractors uniform has")
    assert filled.content["notes"] == []


def test_fixed_queries_are_the_same_at_every_size(places: Path, tmp_path: Path) -> None:
    found = swept(places, tmp_path / "out", queries_in="fixed", pool_sizes=(2, "all"), samples=2)
    asked = {
        (row["size"], row["sample"]): {t.id for t in RunFolder(found.folder / row["run"]).tasks()}
        for row in found.content["rows"]
    }
    assert [asked[2, sample] for sample in (0, 1)] == [asked[8, sample] for sample in (0, 1)]


def test_tags_and_limit_choose_what_pools_are_drawn_by(places: Path, tmp_path: Path) -> None:
    found = swept(places, tmp_path / "out", pool_sizes=(2,), limit=2)
    (row,) = found.content["rows"]
    assert row["tasks"] == 2
    assert found.content["protocol"]["limit"] == 2


class Stubborn(Weatherman):
    """Its server is down for one city, as long as `down` says."""

    down = "Oslo"

    def complete(self, request: Request) -> Completion:
        if self.down and self.down in request.messages[-1].content:
            raise InfrastructureError("the server is down")
        return super().complete(request)


def test_a_failure_ends_with_1_and_is_played_again_alone(places: Path, tmp_path: Path) -> None:
    model = Stubborn()
    failed = swept(places, tmp_path / "out", model=model)
    assert failed.exit_code == 1
    errors = {row["run"]: row["errors"] for row in failed.content["rows"]}
    assert sum(errors.values()) == sum(entry["errors"] for entry in failed.content["results"]) > 0
    for entries in (failed.content["rows"], failed.content["results"]):
        metrics = [found for entry in entries for found in entry["metrics"].values()]
        reasons = {kind for found in metrics for kind in found.get("reasons", ())}
        assert {kind for kind in reasons if "down" in kind or "infra" in kind} == {"infrastructure"}
    model.down = ""
    model.seen.clear()
    resumed = swept(places, tmp_path / "out", model=model, resume=True)
    assert resumed.exit_code == 0
    assert {m.content for r in model.seen for m in r.messages if "Rome" in m.content} == set()
    whole = swept(places, tmp_path / "whole", model=model)
    assert whole.content == resumed.content


def test_a_finished_sweep_is_resumed_without_a_chat_and_may_get_more_samples(
    places: Path, tmp_path: Path
) -> None:
    model = Weatherman()
    settings = {"model": model, "pool_sizes": (2,)}
    first = swept(places, tmp_path / "out", **settings)
    model.seen.clear()
    kept = files(tmp_path / "out")
    swept(places, tmp_path / "out", resume=True, **settings)
    assert (model.seen, files(tmp_path / "out")) == ([], kept)
    more = swept(places, tmp_path / "out", resume=True, samples=2, **settings)
    assert more.content["rows"][0] == first.content["rows"][0]
    assert more.content == swept(places, tmp_path / "new", samples=2, **settings).content


class Interrupting(Weatherman):
    """At its tenth request the user presses Ctrl-C."""

    def complete(self, request: Request) -> Completion:
        answer = super().complete(request)
        if len(self.seen) == 10:
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
            time.sleep(0.2)
        return answer


def test_an_interrupted_sweep_goes_on_to_the_same_figures(places: Path, tmp_path: Path) -> None:
    model = Interrupting()
    with pytest.raises(KeyboardInterrupt):
        swept(places, tmp_path / "out", model=model, workers=1)
    assert json.loads((tmp_path / "out" / "sweep.json").read_bytes())["rows"] == []
    begun = len(runs_of(tmp_path / "out"))
    resumed = swept(places, tmp_path / "out", model=model, workers=1, resume=True)
    assert begun < len(runs_of(tmp_path / "out")) == 2
    whole = swept(places, tmp_path / "whole", model=model, workers=1)
    assert whole.content == resumed.content


def test_a_budget_is_of_all_runs_together(places: Path, tmp_path: Path) -> None:
    model = Counting()
    settings = {"model": model, "workers": 1}
    stopped = swept(places, tmp_path / "out", max_total_tokens=60, **settings)
    assert stopped.exit_code == 3
    assert len(stopped.content["rows"]) == 1
    assert any("not finished" in note for note in stopped.content["notes"])
    resumed = swept(places, tmp_path / "out", resume=True, **settings)
    assert (resumed.exit_code, len(resumed.content["rows"])) == (0, 2)
    assert resumed.content == swept(places, tmp_path / "whole", **settings).content


def test_baselines_are_played_where_they_are_asked_for(places: Path, tmp_path: Path) -> None:
    swept(places, tmp_path / "out", pool_sizes=(2,), baselines=True)
    (run,) = runs_of(tmp_path / "out")
    assert set(run.baselines()) == {"floor", "ceiling"}


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"pool_sizes": (9,)}, "pool size 9 is beyond the pool, which has 8 tools"),
        ({"pool_sizes": (0,)}, "--pool-sizes 0: expected a whole number of at least 1"),
        ({"pool_sizes": ()}, "--pool-sizes (): expected a list"),
        ({"samples": 0}, "--samples 0: expected a whole number of at least 1"),
        ({"top_k": (0, 5)}, "--top-k 0: expected a whole number of at least 1"),
        ({"queries": 99}, "of size 2, sample 0, has"),
        ({"queries": 0}, "--queries 0: expected"),
        ({"queries_in": "some"}, "no value of queries_in 'some'"),
        ({"distractors": "far"}, "no value of distractors 'far'"),
        ({"retriever": "given"}, "--retriever given offers every task its own tools"),
        ({"model": "recorded:gpt"}, "recorded chats were played over the whole pool"),
        ({"model": "lexica"}, "Did you mean 'lexical'?"),
        ({"select": {"group": "none"}}, "no task of places has group=none"),
        ({"resume": True, "out": None}, "--resume needs --out SWEEP"),
    ],
)
def test_what_cannot_be_swept_is_said_before_anything_is_left(
    places: Path, tmp_path: Path, settings: dict[str, Any], says: str
) -> None:
    with pytest.raises(UsageError) as raised:
        swept(places, **{"out": tmp_path / "out", **settings})
    assert says in str(raised.value)
    assert not list(tmp_path.glob("out/[!.]*"))


def test_a_size_that_serves_no_query_is_refused(tmp_path: Path) -> None:
    both = (TOOLS[0].id, TOOLS[1].id)
    pool = write_pool(tmp_path / "pairs", [place_task(0, "Rome", relevant=both)], TOOLS)
    with pytest.raises(UsageError, match="a pool of 1 tool serves no query"):
        swept(pool, tmp_path / "out", pool_sizes=(1, 4))
    assert not (tmp_path / "out").exists()


def test_tasks_without_relevant_tools_draw_no_pool(tmp_path: Path) -> None:
    pool = write_pool(tmp_path / "none", [place_task(0, "Rome", relevant=())], TOOLS)
    with pytest.raises(UsageError, match="no task has relevant tools"):
        swept(pool, tmp_path / "out")


def test_an_unknown_setting_names_the_closest(places: Path) -> None:
    with pytest.raises(UnknownNameError, match=r"no setting 'sample'.*mean 'samples'"):
        seal.sweep(places, sample=3)


def occupied(folder: Path, names: Sequence[str]) -> Path:
    folder.mkdir()
    for name in names:
        (folder / name).write_text("{}")
    return folder


@pytest.mark.parametrize(
    ("names", "says"),
    [
        (["run.json"], "holds a run and no sweep"),
        (["letter.txt"], r"is not empty and holds no sweep \(but 'letter.txt'\)"),
        (["sweep.json"], "holds a sweep already; add --resume"),
    ],
)
def test_a_folder_in_use_is_refused(
    places: Path, tmp_path: Path, names: list[str], says: str
) -> None:
    out = occupied(tmp_path / "out", names)
    with pytest.raises(UsageError, match=says):
        swept(places, out)
    assert [path.name for path in out.iterdir()] == names


def test_a_file_and_a_damaged_sweep_are_refused(places: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is a file"):
        swept(places, places / "tools.jsonl")
    out = occupied(tmp_path / "out", ["sweep.json"])
    with pytest.raises(DataError, match="no sweep: expected an object"):
        swept(places, out, resume=True)
    (out / "sweep.json").write_text("{")
    with pytest.raises(DataError, match="not JSON"):
        Sweep.load(out)


def test_a_sweep_of_other_settings_is_not_resumed(places: Path, tmp_path: Path) -> None:
    settings = {"pool_sizes": (2,), "samples": 2}
    swept(places, tmp_path / "out", **settings)
    kept = files(tmp_path / "out")
    for changes, says in (
        ({"samples": 1}, "protocol.samples: was 2, is 1"),
        ({"pool_sizes": (2, 5)}, r"protocol.pool_sizes: was \[2\], is \[2, 5\]"),
        ({"seed": 3}, "protocol.seed: was 0, is 3"),
        ({"max_turns": 3}, "measure.max_turns: was None, is 3"),
        ({"model": "random"}, "system.model"),
    ):
        with pytest.raises(UsageError, match=says):
            swept(places, tmp_path / "out", resume=True, **{**settings, **changes})
        assert files(tmp_path / "out") == kept


def test_progress_tells_runs_and_chats(places: Path, tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    report = lambda stage, done, total: told.append((stage, done, total))  # noqa: E731
    swept(places, tmp_path / "out", progress=report)
    assert [pair for pair in told if pair[0] == "runs"] == [("runs", n, 2) for n in range(3)]
    assert {stage for stage, _, _ in told} == {"runs", "play", "score"}
