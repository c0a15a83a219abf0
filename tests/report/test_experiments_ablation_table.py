"""Lines below the tables of an ablation."""

from seal.evaluation.goals import ranking
from seal.evaluation.scoring import USUAL_SCALES
from seal.report.experiments import METRICS, ablation_lines, ablation_tables
from seal.report.grids import Grid


def entry(run: str, metric: str, excluded: dict[str, int]) -> dict[str, object]:
    return {"run": run, "other": "plain", "metric": metric, "excluded": excluded}


def lines_of(*entries: dict[str, object]) -> list[str]:
    told = {"told": ["mrr@10", "recall@10"]}
    return list(ablation_lines({"protocol": told, "runs": [], "comparisons": list(entries)}))


def test_a_line_names_the_conditions_of_which_pairs_have_no_value() -> None:
    both, mine = {"both: no gold": 14}, {"plain: error": 2}
    assert lines_of(
        entry("tools", "recall@10", both),
        entry("tools", "mrr@10", both),
        entry("calls", "recall@10", mine),
        entry("calls", "mrr@10", {}),
        entry("all", "recall@10", mine),
        entry("all", "other", both),
    ) == [
        "tools minus plain: recall@10, mrr@10: pairs without values: 14 (both: no gold)",
        "calls minus plain, all minus plain: recall@10: pairs without values: 2 (plain: error)",
    ]


def test_what_is_so_of_every_two_conditions_is_told_once() -> None:
    both = {"both: no gold": 14}
    assert lines_of(entry("tools", "recall@10", both), entry("calls", "recall@10", both)) == [
        "every comparison: recall@10: pairs without values: 14 (both: no gold)"
    ]
    assert lines_of(entry("tools", "recall@10", both)) == [
        "tools minus plain: recall@10: pairs without values: 14 (both: no gold)"
    ]


def test_metrics_of_a_part_of_the_goals_stand_apart_with_n_and_condition_and_no_test() -> None:
    figures = {"mean": 1.0, "other_mean": 0.5, "difference": 0.5, "low": 0.1, "high": 0.9}
    tests = {"p": 0.03, "p_holm": 0.03}
    entries = [
        {**entry("tools", name, {}), **figures, **tests, "n": n}
        for name, n in (("recovery", 3), ("pass_rate", 8))
    ]
    told = ["recovery", "pass_rate"]
    content = {"protocol": {"told": told}, "runs": [], "comparisons": entries}

    ranked, apart, condition = ablation_tables(content)
    assert isinstance(ranked, Grid) and isinstance(apart, Grid)
    assert [row[0] for row in ranked.rows] == ["pass_rate"]
    assert {"p", "p (Holm)"} <= {*ranked.columns}
    assert (apart.rows[0][0], apart.rows[0][-1]) == ("recovery", "3")
    columns = ["metric", "plain", "tools", "difference", "95 % interval", "pairs"]
    assert apart.columns == columns
    assert condition == "only of errors that the agent was told of: recovery"


def test_no_column_of_a_sweep_has_a_condition() -> None:
    assert ranking(METRICS, USUAL_SCALES) == [*METRICS]
