"""Votes by the rules of published judges, agreement by published and hand-worked tables."""

from collections import Counter
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seal.core import JSON, Score
from seal.evaluation.agreement import audit, fleiss_kappa
from seal.evaluation.panel import half_credit, majority, passing, printed_pass, written_pass
from seal.evaluation.pass_rates import JudgingSummary

DIAGNOSES = [
    "444444", "222555", "233335", "555555", "222444", "113333",
    "333355", "113334", "114444", "555555", "144444", "124444",
    "222333", "144444", "224445", "333335", "111455", "111112",
    "224444", "133555", "555555", "244444", "224555", "114444",
    "144445", "222224", "111155", "224444", "133333", "555555",
]  # fmt: skip
"""Diagnoses of 30 patients by 6 psychiatrists: Fleiss 1971, table 1."""

OUTCOMES = st.lists(st.sampled_from(["pass", "fail", "unsure"]), min_size=1, max_size=8)


def kappa_of(rows):
    return fleiss_kappa(Counter(tuple(sorted(row)) for row in rows))


def test_kappa_of_fleiss_own_table_is_the_published_one() -> None:
    assert kappa_of(DIAGNOSES).value == pytest.approx(0.430, abs=5e-4)


def test_kappa_of_a_table_worked_by_hand() -> None:
    # P = (1 + 1/3 + 1) / 3 = 7/9, P_e = (5/9)^2 + (4/9)^2 = 41/81, kappa = (63 - 41) / (81 - 41)
    assert kappa_of(["aaa", "aab", "bbb"]).value == pytest.approx(22 / 40)


def test_kappa_needs_two_votes_of_more_than_one_kind() -> None:
    assert kappa_of(["aa", "aa"]).value is None
    assert kappa_of([]) == (None, 0, 0)


def test_a_subject_with_a_vote_missing_is_left_out_of_kappa() -> None:
    summary = JudgingSummary()
    for labels in ("aa", "b", "bb"):
        votes = [{"judge": "j", "vote": n, "label": label} for n, label in enumerate(labels)]
        summary.add(Score("t", 0, 0, "fac", 1.0, details={"votes": votes}))
    found = summary.result()["fac"]
    assert (found["kappa"], found["kappa_n"], found["kappa_votes"]) == (1.0, 2, 2)


def test_kappa_is_of_the_number_of_votes_that_most_subjects_have() -> None:
    assert kappa_of(["aab", "aaa", "bbb", "ab", "abab"]) == (pytest.approx(22 / 40), 3, 3)
    assert kappa_of(["ab", "aab"])[1:] == (1, 3)


def test_self_agreement_is_the_share_of_equal_pairs_of_one_judge() -> None:
    summary = JudgingSummary()
    said = [("x", "solved"), ("x", "solved"), ("x", "unsolved"), ("y", "solved")]
    votes: list[JSON] = [{"judge": judge, "label": label} for judge, label in said]
    summary.add(Score("t", 0, 0, "sopr", 1.0, details={"votes": votes}))
    assert summary.result()["sopr"]["agreement"] == {"x": pytest.approx(1 / 3, abs=1e-6)}


@pytest.mark.parametrize(
    ("labels", "expected"), [("aab", "a"), ("ab", None), ("", None), ("aabb", None), ("a", "a")]
)
def test_majority_of_votes(labels: str, expected: str | None) -> None:
    assert majority(list(labels)) == expected


@pytest.mark.parametrize(
    ("solved", "solvable", "outcome"),
    [
        ("solved", "unsolvable", "pass"),
        ("unsolved", "solvable", "fail"),
        ("unsolved", "unsure", "unsure"),
        ("unsure", "solvable", "unsure"),
        ("unsure", "unsure", "unsure"),
        ("unsolved", "unsolvable", "pass"),
        ("unsure", "unsolvable", "pass"),
    ],
)
def test_pass_table_of_tooleval(solved: str, solvable: str, outcome: str) -> None:
    assert passing(solved, solvable) == outcome


@given(OUTCOMES)
def test_coins_count_what_all_their_falls_come_to(outcomes: list[str]) -> None:
    printed, written = [], []
    for fall in product([1, -1], repeat=outcomes.count("unsure")):
        ahead = outcomes.count("pass") - outcomes.count("fail") + sum(fall)
        printed.append(float(ahead >= 0))
        written.append(0.5 if ahead == 0 else float(ahead > 0))
    assert printed_pass(outcomes) == pytest.approx(sum(printed) / len(printed))
    assert written_pass(outcomes) == pytest.approx(sum(written) / len(written))


def test_a_tie_passes_in_print_and_is_tossed_for_in_the_csv() -> None:
    tie = ["pass", "pass", "fail", "fail"]
    assert (printed_pass(tie), written_pass(tie)) == (1.0, 0.5)


def test_unsure_counts_a_half_in_the_solvable_pass_rate() -> None:
    assert [half_credit(x) for x in ("solved", "unsure", "unsolved", "else")] == [1, 0.5, 0, 0]


def test_a_vote_that_is_no_verdict_counts_in_no_rate_of_its_run() -> None:
    summary = JudgingSummary()
    for task, labels in (("a", ("solved", None)), ("b", ("unsolved", "solved"))):
        votes: list[JSON] = [{"judge": "j", "label": label} for label in labels]
        summary.add(Score(task, 0, 0, "sopr", 0.5, details={"votes": votes}))
    told = summary.result()["sopr"]
    assert (told["runs"], told["unusable"], told["rate"]) == ([0.5, 1.0], 1, 75.0)


def test_audit_counts_precision_recall_and_what_differs() -> None:
    judged = {("a", 0, 0): True, ("b", 0, 0): True, ("c", 0, 0): False}
    people = {("a", 0, 0): True, ("b", 0, 0): False, ("c", 0, 0): True, ("d", 0, 0): True}
    found = audit(judged, people)

    assert (found.n, found.precision, found.recall, found.differ) == (3, 0.5, 0.5, 2)
    assert [example["task"] for example in found.examples] == ["b", "c"]
    assert found.unmatched == 1
