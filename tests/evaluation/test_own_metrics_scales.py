"""A metric says what its scores mean, and is then shown, compared and explained as one of ours."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

import seal
from seal.core import Scale, Task, Trajectory, UsageError
from seal.report.comparison import cost_chart
from seal.report.lanes import all_metrics, facts_of, lanes_of
from seal.report.sections import shortfalls
from seal.testing import check_benchmark

MINUTES = Scale(bounded=False, higher_is_better=False)
FAULT = Scale(higher_is_better=False, gold_is_best=True)


class Delay:
    """Minutes, and whether a claim was false; one of the two tasks has a false one."""

    names = ("abandoned_minutes", "a_false_claim")
    scales = {"abandoned_minutes": MINUTES, "a_false_claim": FAULT}  # noqa: RUF012

    def score(self, task, trajectory, tools):
        false = float(task.id.endswith("1"))
        values = (40.0 + 10 * false, false)
        return [
            seal.Score(task.id, trajectory.trial, 0, name, value)
            for name, value in zip(self.names, values, strict=True)
        ]


class LessDelay(Delay):
    """Beside it a system that makes no false claim."""

    def score(self, task, trajectory, tools):
        return [
            seal.Score(task.id, trajectory.trial, 0, "abandoned_minutes", 30.0),
            seal.Score(task.id, trajectory.trial, 0, "a_false_claim", 0.0),
        ]


def shop(metrics, **parts) -> seal.Benchmark:
    def get_order(order_id: str) -> dict:
        return {"status": "shipped"}

    tasks = [
        seal.ask(f"Where is order {n}?", seal.called("get_order", order_id=str(n)), id=f"shop-{n}")
        for n in (1, 2)
    ]
    return seal.Benchmark("shop", tools=[get_order], tasks=tasks, metrics=metrics, **parts)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> seal.Run:
    out = tmp_path_factory.mktemp("runs") / "delay"
    return seal.run(shop([Delay]), model="oracle", out=out)


def test_the_run_keeps_what_its_scores_mean(run: seal.Run) -> None:
    kept = run.summary["scales"]
    assert kept["abandoned_minutes"] == {"bounded": False, "higher_is_better": False}
    assert kept["a_false_claim"] == {"higher_is_better": False, "gold_is_best": True}
    assert kept["calls"] == {"bounded": False, "higher_is_better": None}
    assert "call_recall_at_n" not in kept
    assert run.folder.scales()["abandoned_minutes"] == MINUTES


def test_what_is_not_bounded_stands_last_and_in_no_chart_of_rates(run: seal.Run) -> None:
    names = all_metrics(run.summary["metrics"], run.folder.scales())
    assert names.index("abandoned_minutes") > names.index("call_recall_at_n")
    page = seal.report(run).read_text()
    chart = page.partition("Main metrics, mean with 95 % interval")[2].partition("</svg>")[0]
    assert "a_false_claim" in chart
    assert "abandoned_minutes" not in chart
    labels = [text.get_text() for text in run.plot().axes[0].get_yticklabels()]
    assert "a_false_claim" in labels
    assert "abandoned_minutes" not in labels


def test_a_fault_is_no_shortfall_of_the_ceiling(run: seal.Run) -> None:
    ceiling = lanes_of([run.folder])[-1]
    assert ceiling.metrics["a_false_claim"]["mean"] == 0.5
    assert not {"a_false_claim", "abandoned_minutes"} & {one.metric for one in shortfalls(ceiling)}


def test_explanations_count_what_is_low_as_solved(run: seal.Run) -> None:
    found = seal.explain(run, metric="a_false_claim").content
    assert (found["solved"], found["failed"]) == (1, 1)
    assert [one["task"] for one in found["attributions"]] == ["shop-1"]


def test_a_comparison_counts_what_is_low_as_won(run: seal.Run, tmp_path: Path) -> None:
    less = seal.run(shop([LessDelay]), model="oracle", baselines=False, out=tmp_path / "less")
    compared = seal.compare(run, less, success="a_false_claim", force=True, out=tmp_path / "C")
    assert [(flip.task, flip.won) for flip in compared.flips] == [("shop-1", True)]
    kept = json.loads((tmp_path / "C" / "comparison.json").read_bytes())["scales"]
    assert kept["abandoned_minutes"] == {"bounded": False, "higher_is_better": False}
    drawn = (tmp_path / "C" / "comparison.html").read_text().partition("</svg>")[0]
    assert "a_false_claim" in drawn
    assert "abandoned_minutes" not in drawn.partition("<svg")[2]


def test_a_success_that_is_better_low_is_solved_at_0(tmp_path: Path) -> None:
    bench = shop([Delay], success="a_false_claim")
    run = seal.run(bench, model="oracle", baselines=False, out=tmp_path / "run")
    assert run.tasks["outcome"].tolist() == ["unsolved", "solved"]
    assert seal.explain(run).content["decided_by"] == {"a_false_claim": 2}


def test_an_older_run_asks_the_metrics_that_are_installed(run: seal.Run, tmp_path: Path) -> None:
    old = Path(shutil.copytree(run.folder.path, tmp_path / "old"))
    summary = json.loads((old / "summary.json").read_bytes())
    del summary["scales"]
    (old / "summary.json").write_text(json.dumps(summary))
    scales = seal.Run.load(old).folder.scales()
    assert (scales["calls"].bounded, "abandoned_minutes" in scales) == (False, False)


def test_scoring_again_without_the_metric_keeps_its_scale(run: seal.Run, tmp_path: Path) -> None:
    moved = Path(shutil.copytree(run.folder.path, tmp_path / "moved"))
    again = seal.score(moved)
    assert again["abandoned_minutes"].mean == 45.0
    assert again.folder.scales()["abandoned_minutes"] == MINUTES


def test_a_function_declares_its_scale_as_an_attribute(tmp_path: Path) -> None:
    def minutes(task, trajectory):
        return 12

    minutes.scales = {"minutes": MINUTES}
    run = seal.run(shop([]), model="oracle", metrics=[minutes], baselines=False, out=tmp_path / "r")
    assert run.folder.scales()["minutes"] == MINUTES


def test_the_gold_of_a_benchmark_must_have_the_best_value_where_a_scale_says_so() -> None:
    with pytest.raises(AssertionError, match=r"shop-1, goal 1: a_false_claim is 1\.0, expected 0"):
        check_benchmark(shop([Delay]), gold_alone=True)


def test_a_headline_that_is_not_bounded_is_in_no_chart_of_costs(tmp_path: Path) -> None:
    bench = shop([Delay], headline=("abandoned_minutes",))
    run = seal.run(bench, model="oracle", baselines=False, out=tmp_path / "run")
    facts = facts_of(run.folder)
    assert facts.scale == MINUTES
    assert cost_chart([facts, facts]) is None


def test_what_is_no_scale_is_refused(tmp_path: Path) -> None:
    class Odd(Delay):
        scales = {"abandoned_minutes": "minutes"}  # noqa: RUF012

    with pytest.raises(UsageError, match=r"expected its scales as a map of names to seal\.core\.S"):
        seal.run(shop([Odd]), model="oracle", out=tmp_path / "run")


def test_a_line_below_the_table_names_what_is_better_low(tmp_path: Path) -> None:
    said = "lower is better: abandoned_minutes"
    bench = shop([Delay], headline=("abandoned_minutes", "call_f1"))
    timed = seal.run(bench, model="oracle", baselines=False, out=tmp_path / "timed")
    assert said in str(timed)
    assert said in seal.report(timed).read_text()
    rates = seal.run(shop([]), model="oracle", baselines=False, out=tmp_path / "rates")
    assert "lower is better" not in str(rates)


def test_a_rate_outside_of_its_scale_is_refused_with_the_repair(tmp_path: Path) -> None:
    task = seal.ask("Hello!", needs_no_tool=True)
    tool = {"name": "look", "description": "Look it up."}

    def scored(value: float, late: bool = False, **declared: Scale) -> float | None:
        def odd(task: Task, trajectory: Trajectory) -> float:
            return 0.5 if late and task.id.endswith("1") else value

        odd.scales = declared  # type: ignore[attr-defined]
        tasks = [replace(task, id=f"t{number}") for number in (1, 2)]
        bench = seal.Benchmark("b", tools=[tool], tasks=tasks, metrics=[odd])
        run = seal.run(bench, model="oracle", baselines=False, workers=1)
        scores = {score.task_id: score for score in run.folder.scores() if score.metric == "odd"}
        assert not late or "rate lies in [0, 1]" in scores["t2"].reason
        return scores["t2"].value

    for value in (2, -1, 37):
        with pytest.raises(UsageError, match=r"a rate lies in \[0, 1\]; if it counts"):
            scored(value)
    assert scored(2, late=True) is None
    assert scored(1) == 1
    assert scored(37, odd=Scale(bounded=False)) == 37


@pytest.mark.parametrize("metric", ["param_acc_matched", "call_precision", "recall@10", "mrr@10"])
def test_a_figure_of_some_goals_alone_is_no_success(metric: str) -> None:
    with pytest.raises(
        UsageError, match=f"its success '{metric}' is of .*calls_right or pass_rate"
    ):
        shop([], success=metric)


def test_a_figure_with_a_condition_is_no_first_headline() -> None:
    told = "its first headline 'param_acc_matched' is of goals in which a gold tool was called"
    with pytest.raises(UsageError, match=told):
        shop([], headline=["param_acc_matched", "calls_right"])
    assert shop([], headline=["calls_right", "param_acc_matched"]).headline


class Chosen(Delay):
    """Minutes of those goals that the agent chose."""

    scales = {"abandoned_minutes": Scale(condition="goals that it chose")}  # noqa: RUF012
    names = ("abandoned_minutes",)


def test_a_condition_of_ones_own_metric_is_refused_too() -> None:
    with pytest.raises(UsageError, match="is of goals that it chose alone"):
        shop([Chosen], success="abandoned_minutes")
