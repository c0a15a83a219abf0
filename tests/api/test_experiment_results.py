"""Comparisons, retrieval, sweeps, ablations and the like as objects."""

import json
from dataclasses import FrozenInstanceError
from pathlib import Path

import pandas
import pytest
from matplotlib.figure import Figure
from small_run import HOSTILE, write_run

import seal
from seal.api.comparisons import Comparison
from seal.api.experiment_results import Retrieval, Sweep
from seal.core import DataError, UnknownKeyError, UnknownNameError, UsageError


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("experiments")


@pytest.fixture(scope="module")
def runs(folder: Path) -> tuple[seal.Run, seal.Run]:
    """Runs of a model and of the oracle."""
    settings = {"retriever": "oracle", "limit": 4, "baselines": False, "cache": "off"}
    one, other = (
        seal.run("sample", model=m, out=folder / m, **settings) for m in ("lexical", "oracle")
    )
    return one, other


@pytest.fixture(scope="module")
def compared(runs: tuple[seal.Run, seal.Run]) -> Comparison:
    return seal.compare(*runs, resamples=200)


@pytest.fixture(scope="module")
def found() -> Retrieval:
    return seal.retrieve("sample", ["tfidf", "bm25"], k=(1, 5), first=6, cache="off")


def test_two_runs_are_compared_metric_by_metric(compared: Comparison) -> None:
    recall = compared["call_recall"]

    assert (recall.run, recall.other) == ("oracle", "lexical")
    assert recall.mean == 1.0
    assert recall.difference == pytest.approx(recall.mean - recall.other_mean)
    assert recall.low <= recall.difference <= recall.high
    assert 0 < recall.p <= recall.p_holm <= 1
    with pytest.raises(FrozenInstanceError):
        recall.p = 0.0  # type: ignore[misc]


def test_a_list_of_runs_and_their_folders_is_the_same_comparison(
    runs: tuple[seal.Run, seal.Run], compared: Comparison
) -> None:
    one, other = runs
    assert seal.compare([one, str(other.folder.path)], resamples=200) == compared
    with pytest.raises(UsageError, match="at least two runs"):
        seal.compare(one)
    with pytest.raises(UsageError, match="expected a run, got 7"):
        seal.compare(one, 7)  # type: ignore[arg-type]


def test_the_tasks_that_turned_are_named(compared: Comparison) -> None:
    (pair,) = compared.pairs
    won = {flip.task for flip in compared.flips if flip.won}

    assert (pair.tasks, pair.chats, pair.success) == (4, 4, "pass_rate")
    assert won == {each["task"] for each in compared.content["pairs"][0]["flips"]["won"]}
    assert won
    assert all((flip.solved, flip.other_solved) == (1, 0) for flip in compared.flips)


def test_a_comparison_shows_itself(compared: Comparison) -> None:
    lines = repr(compared).splitlines()

    assert lines[0] == "oracle minus lexical"
    assert lines[1] == "varied: model lexical (lexical), oracle (oracle)"
    assert lines[2].split()[:3] == ["metric", "lexical", "oracle"]
    assert len(lines) <= 15
    assert "p (Holm)" in compared.table()
    assert r"lower; varied: model lexical (lexical), oracle (oracle)}" in compared.latex()
    assert isinstance(compared.plot(), Figure)
    assert compared.frame.set_index("metric").loc["call_recall", "mean"] == 1.0


def test_an_unknown_metric_of_a_comparison_names_the_closest(compared: Comparison) -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'call_recall'"):
        compared["call_recal"]


def test_of_several_pairs_one_is_chosen(runs: tuple[seal.Run, seal.Run], folder: Path) -> None:
    third = seal.run("sample", model="random", limit=4, baselines=False, out=folder / "random")
    several = seal.compare(*runs, third, pairs="all", resamples=50)

    with pytest.raises(UsageError, match=r"3 pairs of runs.*between\('oracle', 'lexical'\)"):
        several["call_recall"]
    assert several.between("random", "oracle")["call_recall"].other_mean == 1.0
    assert len(several.between("random", "oracle").pairs) == 1
    with pytest.raises(UnknownNameError, match="no pair of runs 'oracle minus random'"):
        several.between("oracle", "random")
    assert len(repr(several).splitlines()) <= 15
    assert len(several.plot().legends[0].get_texts()) == 3


def test_hostile_names_of_runs_are_escaped(tmp_path: Path) -> None:
    for name in ("<b>one", "<i>other"):
        write_run(tmp_path / name, model=HOSTILE)
    shown = seal.compare(tmp_path / "<b>one", tmp_path / "<i>other", resamples=50)._repr_html_()

    assert "&lt;i&gt;other minus &lt;b&gt;one" in shown
    assert "<b>" not in shown and "<script>" not in shown


def test_a_retriever_is_chosen_by_name(found: Retrieval) -> None:
    recall = found.of(retriever="tfidf")["recall@5"]

    assert recall.mean == found.content["results"][0]["metrics"]["recall@5"]["mean"]
    assert recall.by["domain"]["weather"].n > 0
    with pytest.raises(UsageError, match=r"2 results: choose one by \.of\(retriever=\.\.\.\)"):
        found["recall@5"]
    with pytest.raises(UnknownNameError, match=r"no retriever 'bm52'.*Did you mean 'bm25'"):
        found.of("bm52")
    with pytest.raises(UnknownNameError, match="no metric 'recall@7'"):
        found.of("bm25")["recall@7"]


def test_an_experiment_in_retrieval_shows_itself(found: Retrieval) -> None:
    rows = [row for row in repr(found).splitlines()[2:] if ": " not in row]  # a remark has a colon
    assert [row.split()[0] for row in rows] == ["tfidf", "bm25"]
    assert found._repr_html_().count("<tr>") == 3
    assert found.plot().axes[0].get_xlabel() == "K"
    assert "mrr@5" in found.table()
    assert set(found.frame["retriever"]) == {"tfidf", "bm25"}
    assert "bm25: recall@1" in repr(found.results[1])


def test_who_could_not_be_asked_says_why() -> None:
    found = seal.retrieve("sample", ["tfidf", "dense,model=openai/m"], 5, limit=2, cache="off")
    assert "no key" in found.results[1].unavailable
    assert "no key" in repr(found)
    assert "recall@5" not in found.results[1]
    with pytest.raises(UnknownKeyError, match=r"no metric 'recall@5'\. dense,model=.*: .*no key"):
        found.results[1]["recall@5"]


def test_a_sweep_has_results_runs_and_a_frame(folder: Path) -> None:
    settings = {"samples": 1, "limit": 3, "cache": "off"}
    swept = seal.sweep("sample", pool_sizes=(10, 20), out=folder / "sweep", **settings)

    assert swept.of(size=10)["recall@10"].mean == 1.0
    assert swept.of(size=20).top_k == 10
    assert list(swept.runs) == ["size-10/sample-0/run", "size-20/sample-0/run"]
    assert Sweep.load(folder / "sweep").frame.equals(swept.frame)
    assert repr(swept).splitlines()[0] == "sweep over sample"
    assert isinstance(swept.plot(), Figure)
    with pytest.raises(UsageError, match=r"choose one by \.of\(size=\.\.\.\)"):
        swept["pass_rate"]


def test_a_sweep_of_one_point_has_no_picture(folder: Path) -> None:
    alone = seal.sweep("sample", limit=1, samples=1, out=folder / "alone", cache="off")
    assert alone["pass_rate"].n == 1
    with pytest.raises(UsageError, match="Sweep of one point has no picture"):
        alone.plot()


def test_an_ablation_has_conditions_that_are_runs(folder: Path) -> None:
    settings = {"limit": 2, "cache": "off"}
    done = seal.ablate("feedback", "toolscan-sample", out=folder / "ablation", **settings)

    assert list(done.runs) == ["on", "off"]
    recall = done["all_gold_calls"]
    assert (recall.run, recall.other) == ("on", "off")
    assert recall.mean == done.runs["on"]["all_gold_calls"].mean
    assert repr(done).splitlines()[0] == "ablation of feedback on toolscan-sample"
    assert isinstance(done.plot(), Figure)
    assert len(done.frame) == len(done.comparisons)


@pytest.mark.slow
def test_an_ablation_of_one_run_shows_its_first_table(folder: Path) -> None:
    settings = {"limit": 12, "cache": "off"}
    done = seal.ablate("similarity", "sample", out=folder / "similarity", **settings)
    assert "environment" in repr(done)
    assert isinstance(done.plot(), Figure)
    assert len(repr(done).splitlines()) <= 15


def test_an_entry_that_lacks_a_field_names_it(found: Retrieval) -> None:
    content = {**found.content, "results": [{"pool": "sample"}]}
    with pytest.raises(DataError, match="a RetrieverResult needs the field 'size'"):
        _ = Retrieval(content).results
    with pytest.raises(DataError, match="expected an object as RetrieverResult, got 5"):
        _ = Retrieval({**content, "results": [5]}).results


def test_an_explanation_and_a_plan_show_themselves(runs: tuple[seal.Run, seal.Run]) -> None:
    explained = seal.explain(runs[0])
    assert sum(stage.goals for stage in explained.stages) == explained.content["failed"]
    assert f"{explained.content['failed']} of 4 goals failed" in repr(explained).splitlines()
    assert isinstance(explained.plot(), Figure)

    plan = seal.plan_run("sample", limit=2, baselines=False, base_url=None)
    assert (plan.chats, plan.dollars) == (2, 0.0)
    assert "model calls" in repr(plan)
    assert "nothing was asked" in plan.table()
    with pytest.raises(UsageError, match="no picture"):
        plan.plot()


def test_the_content_is_what_the_files_hold(
    runs: tuple[seal.Run, seal.Run], compared: Comparison, tmp_path: Path
) -> None:
    again = seal.compare(*runs, resamples=200, out=tmp_path / "d")
    assert json.loads((tmp_path / "d" / "comparison.json").read_bytes()) == again.content
    assert again.content["comparisons"] == compared.content["comparisons"]


def test_the_metrics_of_each_query_are_a_frame_written_or_not(tmp_path: Path) -> None:
    asked = {"pool_sizes": [20, "all"], "samples": 1}
    here, written, again = (
        seal.retrieve("sample", ["bm25", "tfidf"], k=[1, 10], **asked, **where)
        for where in ({}, {"out": tmp_path / "R"}, {"out": tmp_path / "R", "resume": True})
    )

    rows = here.per_query()

    for other in (written, again, Retrieval.load(tmp_path / "R")):
        pandas.testing.assert_frame_equal(other.per_query(), rows)
    assert list(rows)[:5] == ["pool", "retriever", "task_id", "goal", "recall@1"]
    means = rows.groupby("retriever")["recall@10"].mean()
    for name in ("bm25", "tfidf"):
        told = here.of(name, size="all")["recall@10"]
        assert (rows["retriever"] == name).sum() == told.n
        assert means[name] == pytest.approx(told.mean)


def test_a_retriever_that_could_not_be_asked_has_no_queries() -> None:
    found = seal.retrieve("sample", "dense,model=openai/x", k=1, cache="replay")
    assert found.results[0].unavailable
    assert found.per_query().empty
    assert list(found.per_query()) == ["pool", "retriever", "task_id", "goal"]


def test_the_short_table_of_retrieval_tells_what_its_figures_hide() -> None:
    tools = [seal.Tool(id="p/t/a", name="a", description="weather in a town", parameters={})]
    asked = [
        seal.Task(f"q{n}", "p", (seal.Goal(text, relevant=("p/t/a",)),))
        for n, text in enumerate(("weather", "zzz"))
    ]
    found = seal.retrieve(asked, "bm25", k=1, tools=tools)
    assert "bm25, 1 tool: it names no tool for 1 of 2 queries (50.0%)" in str(found)
