"""Scores asked for by name, family or cut-off, though a run may measure them already."""

import pytest

import seal
from seal.core import UnknownNameError
from seal.evaluation import REGISTRY
from seal.evaluation.scoring import build_metrics


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


@pytest.mark.parametrize(
    ("name", "closest"),
    [("recal@10", "recall@10"), ("recall@0", "recall@10"), ("cal_f1", "call_f1")],
)
def test_a_misspelt_score_is_an_unknown_metric_and_the_closest_is_named(
    name: str, closest: str, pool, tmp_path
) -> None:
    with pytest.raises(UnknownNameError, match=f"no metric '{name}'.* mean '{closest}'"):
        seal.run(pool, metrics=[name], out=tmp_path / "run")


def test_a_metric_that_fails_to_import_harms_no_score_of_another(
    tmp_path, monkeypatch, caplog
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "metrics_broken.py").write_text("1 / 0\n")
    info = tmp_path / "metrics_broken-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: metrics-broken\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[seal.metrics]\na_broken = metrics_broken:Metric\n")
    [metric] = build_metrics(["call_f1"], REGISTRY)
    assert metric.inner.name == "call_f1"
    assert not caplog.messages
    with pytest.raises(UnknownNameError, match=r"no metric 'cal_f1'.* mean 'call_f1'"):
        build_metrics(["cal_f1"], REGISTRY)
    [told] = caplog.messages
    assert "'a_broken' fails to import" in told


def test_a_count_that_is_asked_for_by_name_is_no_rate(pool, tmp_path) -> None:
    run = seal.run(pool, model="oracle", metrics=["turns"], baselines=False, out=tmp_path / "run")
    assert run["turns"].mean > 1
    assert not run.folder.scales()["turns"].bounded
