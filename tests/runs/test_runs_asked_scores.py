"""Scores asked for by name, family or cut-off, though a run may measure them already."""

import pytest

import seal
from seal.core import UnknownNameError


def test_scores_and_families_of_ours_are_taken_as_metrics_and_shown(pool, tmp_path) -> None:
    asked = ["calls", "call_f1", "recall@20", "recall@10"]
    options = {"model": "oracle", "baselines": False, "out": tmp_path / "run"}
    run = seal.run(pool, metrics=asked, **options)
    again = seal.score(tmp_path / "run")
    assert {"call_f1", "recall@20", "recall@10", "call_recall_at_n"} <= set(run)
    assert run.summary["metrics"] == again.summary["metrics"]
    assert "recall@20" in str(run.table())


def test_what_a_run_measures_anyway_has_the_values_that_it_had(pool, tmp_path) -> None:
    plain = seal.run(pool, model="lexical", baselines=False, out=tmp_path / "plain")
    asked = seal.run(
        pool, model="lexical", baselines=False, out=tmp_path / "asked", metrics=["calls"]
    )
    assert {name: asked[name].mean for name in plain} == {name: plain[name].mean for name in plain}


@pytest.mark.parametrize("name", ["recal@10", "recall@0", "cal_f1"])
def test_a_misspelt_score_is_an_unknown_metric(name: str, pool, tmp_path) -> None:
    with pytest.raises(UnknownNameError, match=f"no metric '{name}'"):
        seal.run(pool, metrics=[name], out=tmp_path / "run")
