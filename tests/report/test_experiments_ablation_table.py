"""Lines below the tables of an ablation."""

from seal.report.experiments import ablation_lines


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
        "tools less plain: recall@10, mrr@10: pairs without values: 14 (both: no gold)",
        "calls less plain, all less plain: recall@10: pairs without values: 2 (plain: error)",
    ]


def test_what_is_so_of_every_two_conditions_is_told_once() -> None:
    both = {"both: no gold": 14}
    assert lines_of(entry("tools", "recall@10", both), entry("calls", "recall@10", both)) == [
        "every comparison: recall@10: pairs without values: 14 (both: no gold)"
    ]
    assert lines_of(entry("tools", "recall@10", both)) == [
        "tools less plain: recall@10: pairs without values: 14 (both: no gold)"
    ]
