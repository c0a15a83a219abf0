"""The lines below the table of a run."""

import json

import pytest
from report_runs import chat, failed_chat, metric, task

import seal
from seal.core import Score
from seal.report.run_results import result_tables, summary_notes


@pytest.fixture
def run_with(make_run):
    """Write a run whose summary has further fields."""

    def write(chats=(), scores=(), **summary):
        run = make_run("r", [task("own/a")], chats, scores, {"pass_rate": metric(0.5)})
        path = run.path / "summary.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), **summary}))
        return run

    return write


def test_counts_are_told_in_the_singular_too(run_with):
    assert summary_notes(run_with(errors=1, skipped=2))[0] == (
        "1 task, 1 error, 2 skipped; goals ended by done 1"
    )


def test_without_errors_there_is_no_word_of_them(run_with):
    assert not any("error in" in line for line in summary_notes(run_with([chat("own/a")])))


def test_distinct_errors_are_told_with_counts_and_how_to_see_one(run_with):
    reasons = {"the server answered 500": 2, "the server answered 429": 9}
    run = run_with([chat("own/a", 0), failed_chat("own/b c")], errors=11, error_reasons=reasons)

    assert summary_notes(run)[-3:] == [
        "error in 9 chats: the server answered 429",
        "error in 2 chats: the server answered 500",
        f"see one of them: seal view {run.path} 'own/b c'",
    ]


def test_of_many_long_errors_five_starts_are_told(run_with):
    reasons = {f"\x1b{number}" + "x" * 1000: 1 for number in range(7)}
    run = run_with([failed_chat("own/a")], errors=7, error_reasons=reasons)

    told = [line for line in summary_notes(run) if "error in" in line]

    assert len(told) == 5
    assert all(len(line) <= 320 and "\x1b" not in line for line in told)
    assert "and 2 other errors; summary.json has all" in summary_notes(run)


def test_a_chat_that_could_not_be_judged_is_shown_too(run_with):
    reason = "infrastructure: judge: the server answered 500"
    score = Score("own/a", 1, 0, "pass_rate", None, reason=reason)
    run = run_with([chat("own/a", 1)], [score], errors=1, error_reasons={reason: 1})

    assert summary_notes(run)[-1] == f"see one of them: seal view {run.path} own/a --trial 1"


def test_metrics_of_other_benchmarks_are_not_missed(make_run):
    none = metric(None, reasons={"no such gold": 1})
    run = make_run("r", [task("own/a")], [], [], {"similarity": none, "call_f1": none})

    assert [line for line in summary_notes(run) if "n/a" in line] == ["n/a (no such gold): call_f1"]


def test_metrics_that_few_goals_have_are_told_with_their_number(make_run):
    metrics = {"pass_rate": metric(1.0, 10), "progress": metric(0.5, 1, undefined=9)}
    run = make_run("run", [task("own/a")], [], metrics=metrics)

    few = "not in the table, because few goals have a value (n): progress (n=1)"
    assert few in summary_notes(run, every=True)
    assert few not in summary_notes(run)


def test_a_run_of_which_nothing_can_be_told_shows_no_empty_table(tmp_path):
    def look(place: str) -> str:
        """Look somewhere."""
        return place

    bench = seal.Benchmark("open", tools=[look], tasks=[seal.ask("Look around.")])
    run = seal.run(
        bench, agent=lambda request, tools: "Nice here.", baselines=False, out=tmp_path / "run"
    )
    first, second, *_ = result_tables(run.folder)
    assert first.endswith(" on open: nothing is decided by pass_rate (judge: rule); undecided 1")
    assert isinstance(second, str) and second.startswith("1 task, 0 errors")
    assert "undecided" in "\n".join(map(str, result_tables(run.folder)))
