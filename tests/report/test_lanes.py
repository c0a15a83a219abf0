import io
import json
import shutil
from dataclasses import replace

import pytest
from report_runs import chat, failed_chat, metric, task, verdict
from rich.console import Console

from seal.core import DataError, Scale, Score, UsageError
from seal.evaluation.calls import COUNT
from seal.report.comparison import family_of
from seal.report.grids import Estimate, Grid, number
from seal.report.lanes import (
    ShortTable,
    all_metrics,
    answer_of,
    facts_of,
    lanes_of,
    main_metrics,
    rare_metrics,
    scale_notes,
    summary_table,
    tasks_that,
)
from seal.report.run_results import summary_notes
from seal.runs.run import RunFolder


def printed(table, width=100):
    out = io.StringIO()
    Console(file=out, width=width).print(table)
    return out.getvalue()


def test_rows_set_the_model_between_floor_and_ceiling(scored_run):
    metric, row = next(iter(ShortTable(lanes_of([scored_run])).rows.items()))

    assert metric == "pass_rate"
    assert list(row) == ["floor", "lexical", "ceiling"]
    assert [cell.mean for cell in row.values()] == [0.0, 0.5, 1.0]


def test_a_run_without_baselines_has_one_column(make_run):
    run = make_run(metrics={"pass_rate": {"mean": 1.0, "n": 1, "undefined": 0}})

    assert [list(row) for row in ShortTable(lanes_of([run])).rows.values()] == [["lexical"]]


def test_of_several_cutoffs_the_short_table_has_the_largest(scored_run):
    assert list(ShortTable(lanes_of([scored_run])).rows) == ["pass_rate", "recall@10", "call_f1"]


def test_named_metrics_are_shown_as_asked_for(scored_run):
    rows = ShortTable(lanes_of([scored_run]), ["tokens_in", "recall@1"]).rows

    assert list(rows) == ["tokens_in", "recall@1"]
    assert rows["tokens_in"]["floor"] == Estimate(None)


def test_metrics_that_nobody_foresaw_are_main_where_no_other_is():
    assert main_metrics([{"own_metric": {}, "calls": {}}]) == ["own_metric", "calls"]


def test_the_similarity_leads_where_gold_asks_of_the_world():
    lane = {"pass_rate": {"n": 4, "undefined": 0}, "similarity": {"n": 3, "undefined": 1}}

    assert main_metrics([lane]) == ["similarity", "pass_rate"]


@pytest.mark.parametrize(("n", "shown"), [(24, []), (25, ["progress"])])
def test_metrics_of_some_benchmarks_are_shown_where_they_apply_to_enough_goals(n, shown):
    lane = {"progress": {"n": n, "undefined": 100 - n}, "pass_rate": {"n": 100, "undefined": 0}}

    assert main_metrics([lane]) == ["pass_rate", *shown]
    assert rare_metrics([lane]) == ([] if shown else ["progress"])


def test_what_the_infrastructure_failed_in_counts_as_applying():
    failed = {"n": 0, "undefined": 4, "reasons": {"infrastructure": 3, "no milestones": 1}}

    assert rare_metrics([{"similarity": failed}]) == []


def test_missions_in_dialogues_keep_the_metrics_that_few_of_them_have():
    few = {"progress": {"n": 1, "undefined": 9}, "pass_rate": {"n": 10, "undefined": 0}}

    assert main_metrics([{**few, "dialogue_accuracy": {"n": 4, "undefined": 0}}]) == [
        "pass_rate",
        "dialogue_accuracy",
        "progress",
    ]


def test_cutoffs_are_ordered_as_numbers_and_counts_come_last():
    names = ["calls", "recall@10", "zeta", "recall@5", "pass_rate"]

    assert all_metrics(names) == ["pass_rate", "recall@5", "recall@10", "zeta", "calls"]


def test_the_table_tells_mean_interval_and_of_how_many(scored_run):
    grid = summary_table(scored_run)

    assert grid.columns == ("metric", "mean", "95 % interval", "n", "floor", "ceiling")
    assert grid.rows[0] == ("pass_rate", "0.500", "[0.400, 0.600]", "2 of 3", "0.000", "1.000")


def test_a_run_is_known_by_how_many_it_solved_between_floor_and_ceiling(scored_run, make_run):
    said, beside = answer_of(scored_run)
    assert said.startswith("lexical solved 1 of 2 ") and "0.500 [0.400, 0.600]" in said
    assert beside == "floor 0.000, lexical; ceiling 1.000, oracle"
    partly = {"similarity": {"mean": 0.75, "low": 0.5, "high": 0.9, "n": 4, "undefined": 0}}
    (said,) = answer_of(make_run(metrics=partly))
    assert said == "lexical on 4 goals of : similarity 0.750 [0.500, 0.900]"
    (said,) = answer_of(make_run("none", metrics={}))
    assert said == "lexical on : no metric that decides has a value"


def test_where_all_goals_are_undecided_no_other_metric_says_what_is_solved(make_run):
    unsure = {"mean": None, "n": 0, "undefined": 3, "reasons": {"undecided": 3}}
    right = {"mean": 1.0, "low": 0.3, "high": 1.0, "n": 3, "undefined": 0}
    run = make_run(metrics={"pass_rate": unsure, "mission_accuracy": right, "calls_right": right})
    (said,) = answer_of(run)
    assert said.endswith("nothing is decided by pass_rate; undecided 3")
    row = facts_of(run)
    assert (row.metric, row.headline.mean) == ("pass_rate", None)


def test_solved_is_said_of_scores_that_say_so_alone(make_run):
    def run_of(name, values, **declared):
        scores = [Score(f"own/{n}", 0, 0, "honest", value) for n, value in enumerate(values)]
        mean = sum(values) / len(values)
        entry = {"mean": mean, "n": len(values), "undefined": 0}
        run = make_run(name, scores=scores, metrics={"honest": entry})
        manifest = json.loads((run.path / "run.json").read_bytes())
        (run.path / "run.json").write_text(
            json.dumps(manifest | {"benchmark": {"name": "own", "success": "honest", **declared}})
        )
        return RunFolder.open(run.path)

    assert answer_of(run_of("half", (0.5, 0.5)))[0].startswith("lexical on 2 goals")
    assert answer_of(run_of("some", (1.0, 0.0, 1.0)))[0].startswith("lexical solved 2 of 3")


def test_a_leading_metric_of_the_users_own_leads(make_run):
    entry = {"mean": 0.5, "n": 9, "undefined": 0}
    metrics = {"wit": entry | {"own": True}, "pass_rate": entry, "call_f1": entry}
    run = make_run("run", metrics=metrics)
    manifest = json.loads((run.path / "run.json").read_bytes())
    declared = {"name": "own", "headline": ["wit", "pass_rate", "call_f1"]}
    (run.path / "run.json").write_text(json.dumps(manifest | {"benchmark": declared}))
    first = ShortTable(lanes_of([RunFolder.open(run.path)])).first
    assert first == ["wit", "pass_rate", "call_f1"]


def test_the_first_table_has_five_metrics_no_two_alike_and_those_of_the_user(make_run):
    def entry(mean, **more):
        return {"mean": mean, "n": 9, "undefined": 0, **more}

    metrics = {
        "mission_accuracy": entry(0.3),
        "mrr@10": entry(0.8),
        "recall@10": entry(0.9),
        "calls_right": entry(0.3),
        "pass_rate": entry(0.2),
        "call_recall": entry(0.6),
        "call_f1": entry(0.7),
        "param_acc_gold": entry(0.5),
        "wit": entry(0.2, own=True),
    }
    run = make_run("run", metrics=metrics)
    first = ["pass_rate", "wit", "calls_right", "recall@10", "call_f1", "param_acc_gold"]
    assert [row[0] for row in summary_table(run).rows] == first
    assert [row[0] for row in summary_table(run, every=True).rows] != first
    assert {row[0] for row in summary_table(run, every=True).rows} == {*metrics}
    assert "3 more metrics: --all-metrics, or the report" in summary_notes(run)
    charted = ShortTable(lanes_of([run])).bounded
    assert "calls_right" in charted and "mission_accuracy" not in charted


def test_recall_is_of_as_many_tools_as_chats_were_offered(make_run):
    entry = {"mean": 0.5, "n": 9, "undefined": 0}
    names = "calls_right call_recall call_precision call_f1 param_acc_gold recall@3 recall@10"
    runs = [make_run(name, metrics=dict.fromkeys(names.split(), entry)) for name in ("a", "b")]
    for run, offered in zip(runs, (3, 10), strict=True):
        manifest = json.loads((run.path / "run.json").read_bytes())
        system = manifest["system"] | {"top_k": offered}
        run.write_json("run.json", manifest | {"system": system, "gold": "calls"})
    first = ["calls_right", "call_recall", "call_f1", "param_acc_gold"]
    for run, offered in zip(runs, (3, 10), strict=True):
        assert ShortTable(lanes_of([run])).first == [*first, f"recall@{offered}"]
    assert family_of(runs[:1]) == [*first, "recall@3"]
    assert family_of(runs)[-1] == "recall@10"  # the largest, where runs offer different numbers


def test_errors_have_a_column_where_there_are_some(make_run):
    entry = {"mean": 0.5, "n": 2, "undefined": 1, "with_errors": 0.333}
    grid = summary_table(make_run("run", metrics={"pass_rate": entry}))
    assert grid.columns[-1] == "with errors" and grid.rows[0][-1] == "0.333"


def test_in_80_columns_a_metric_is_one_line_and_no_interval_is_broken(scored_run):
    text = printed(summary_table(scored_run), width=80)

    assert max(map(len, text.splitlines())) <= 80
    (row,) = (line for line in text.splitlines() if "pass_rate" in line)
    assert "[0.400, 0.600]" in row


@pytest.mark.parametrize("width", [40, 60, 80])
def test_a_table_breaks_no_word_and_no_interval_that_it_has_room_for(width):
    grid = Grid(
        "", ("stage", "95 % interval"), [("gold tool retrieved, not_called", "[16.7, 83.3]")]
    )
    lines = printed(grid, width=width).splitlines()

    assert max(map(len, lines)) <= width
    assert any("[16.7, 83.3]" in line for line in lines)
    assert any("not_called" in line for line in lines)


def test_baselines_of_which_nothing_is_decided_are_not_drawn_as_zero(make_run):
    reasons = {"undecided": 3, "not played": 2}
    nothing = {"mean": None, "n": 0, "undefined": 5, "reasons": reasons}
    run = make_run("run", metrics={"pass_rate": {"mean": 0.5, "n": 2, "undefined": 0}})
    for kind in ("floor", "ceiling"):
        make_run(f"run/{kind}", metrics={"pass_rate": nothing})

    text = printed(summary_table(run))

    assert text.count("n/a") == 2
    assert "0.000" not in text


def test_undecided_goals_leave_a_mean_between_two_bounds(make_run):
    entry = {"mean": 0.5, "n": 6, "undefined": 3, "reasons": {"undecided": 2, "infrastructure": 1}}
    run = make_run("run", metrics={"pass_rate": entry})
    told = "if all undecided goals failed, or all were solved: pass_rate 0.375 to 0.625"
    assert any(line.startswith(told) for line in ShortTable(lanes_of([run])).gaps())
    assert Estimate.of(entry).bounds == (0.375, 0.625)
    assert str(Estimate.of(entry)).endswith("undecided 2, undefined 1, bounds 0.375 to 0.625")
    assert Estimate(0.5, n=6, undefined=1, reasons={"infrastructure": 1}).bounds is None


def test_what_depends_on_what_the_agent_does_stands_with_its_condition(make_run):
    entry = {"mean": 0.5, "n": 6, "undefined": 0}
    run = make_run("run", metrics=dict.fromkeys(("param_acc_matched", "call_recall"), entry))
    told = "only of goals in which a gold tool was called: param_acc_matched"
    assert told in ShortTable(lanes_of([run])).gaps()


def test_a_share_that_is_better_neither_high_nor_low_says_so():
    scales = {"honest_refusal": Scale(higher_is_better=None), "steps": COUNT}
    (told,) = scale_notes(("honest_refusal", "steps", "pass_rate"), scales)
    assert told == "neither high nor low is better, gold tells how often it is due: honest_refusal"


def test_no_run_is_known_drawn_or_ranked_by_what_depends_on_what_the_agent_does(make_run):
    entry = {"mean": 0.5, "n": 6, "undefined": 0}
    names = ("call_precision", "param_acc_matched", "call_f1")
    run = make_run("run", metrics=dict.fromkeys(names, entry))
    short = ShortTable(lanes_of([run]))
    assert {*names} == {*short.valued}
    assert [name for name in short.bounded if name in names] == ["call_f1"]
    assert facts_of(run).metric == "call_f1"
    told = [dict.fromkeys(names, entry)]
    assert main_metrics(told, ("call_precision", "call_f1")) == ["call_f1", "call_precision"]

    alone = make_run("alone", metrics={"call_precision": entry})
    assert (facts_of(alone).metric, facts_of(alone).headline.mean) == ("", None)


def test_a_metric_without_values_is_not_zero(scored_run):
    assert "call_f1" not in printed(summary_table(scored_run))
    assert "n/a (not measured): call_f1" in summary_notes(scored_run)


def test_a_run_that_was_not_scored_is_told_how_to_score(make_run):
    with pytest.raises(DataError, match="seal score"):
        summary_table(make_run())


@pytest.mark.parametrize(
    ("value", "text"), [(None, "n/a"), (0.5, "0.500"), (1, "1.000"), (1234.56, "1,234.6")]
)
def test_numbers_have_three_decimals_unless_they_are_large(value, text):
    assert number(value) == text


def test_tasks_that_ended_so_are_found_by_their_chats(make_run):
    tasks = [task(name) for name in ("own/a", "own/b", "own/c", "own/d")]
    chats = [chat("own/a"), chat("own/a", 1), chat("own/b"), replace(failed_chat("own/b"), trial=1)]
    scores = [verdict("own/a", "solved"), verdict("own/a", "unsolved", trial=1)]
    scores += [verdict("own/b", "unsure"), verdict("own/c", "solved")]
    chats += [chat("own/c"), chat("own/c", 1)]
    run = make_run("run", tasks, chats, scores, {"pass_rate": {}}, measure={"trials": 2})
    assert tasks_that(run, "unsolved") == ["own/a"]
    assert tasks_that(run, "failed") == ["own/b", "own/d"]
    with pytest.raises(UsageError, match=r"no task of .* is lost: its chats are solved 2, "):
        tasks_that(run, "lost")
    (run.path / "summary.json").unlink()
    with pytest.raises(UsageError, match="has not been scored; score it first: seal score"):
        tasks_that(run, "unsolved")


def test_a_baseline_stands_beside_several_runs_only_if_all_that_have_it_agree(
    scored_run, make_run, tmp_path
):
    shutil.copytree(scored_run.path, tmp_path / "other")
    other = RunFolder(tmp_path / "other")
    kinds = [lane.kind for lane in lanes_of([scored_run, other])]
    assert kinds == ["floor", "run", "run", "ceiling"]
    low = {"pass_rate": metric(0.25, 3), "recall@10": metric(0.25)}
    make_run("other/floor", [task("own/a")], [chat("own/a")], [], low)
    assert [lane.kind for lane in lanes_of([scored_run, other])] == ["run", "run", "ceiling"]
    for kind in ("floor", "ceiling"):
        shutil.rmtree(other.path / kind)
    assert [lane.kind for lane in lanes_of([scored_run, other])] == kinds
    manifest = json.loads((other.path / "run.json").read_bytes())
    other.write_json("run.json", manifest | {"system": manifest["system"] | {"top_k": 3}})
    assert [lane.kind for lane in lanes_of([scored_run, RunFolder(other.path)])] == ["run", "run"]


def test_the_head_of_a_run_names_its_folder_retriever_and_top_k(scored_run):
    manifest = json.loads((scored_run.path / "run.json").read_bytes())
    manifest["system"] |= {"retriever": "tfidf", "top_k": 3}
    scored_run.write_json("run.json", manifest)
    told = dict(facts_of(scored_run).told())
    assert (told["run"], told["retriever"]) == ("run", "tfidf, top-k 3")
