"""Ranking metrics against hand-worked values and against ir-measures itself."""

from collections.abc import Collection, Mapping
from math import log2
from pathlib import Path
from tempfile import TemporaryDirectory

import ir_measures
import pytest
import pytrec_eval
from chats import by_name, task, trajectory
from hypothesis import given
from hypothesis import strategies as st
from looped import every_case

from seal.core import DataError, Goal, Ranking
from seal.evaluation.ranking_metrics import (
    Alternatives,
    Retrieval,
    collapse,
    merge,
    metric_names,
)
from seal.evaluation.rankings import (
    RANKED,
    Qrels,
    measure_rankings,
    qrels_of,
    write_trec_qrels,
    write_trec_run,
)


def measured_alone(
    rankings: list[Ranking], qrels: Mapping[tuple[str, int], Collection[str]], ks: list[int]
) -> dict[tuple[str, int, str], float]:
    """Return the metrics of goals without a chat, by task, goal and name."""
    return {
        (*key, name): value
        for key, row in measure_rankings(rankings, qrels, ks).items()
        for name, value in zip(metric_names(ks), row, strict=True)
    }


def measure_ranking(tools: list[str], relevant: Collection[str], ks: list[int]) -> dict[str, float]:
    """Return the metrics of one ranked list."""
    hits = [(tool, -float(rank)) for rank, tool in enumerate(tools)]
    found = measured_alone([ranking(hits)], {("t", 0): relevant}, ks)
    return {name: value for (_, _, name), value in found.items()}


SECOND = 1 / log2(3)
THIRD = 1 / log2(4)

# Ranked tools, relevant ones, K, then recall, mrr, ndcg, all_found.
TABLE = [
    ("abc", "a", 1, 1, 1, 1, 1),
    ("abc", "b", 1, 0, 0, 0, 0),
    ("abc", "b", 5, 1, 0.5, SECOND, 1),
    ("abc", "c", 3, 1, 1 / 3, THIRD, 1),
    ("abc", "c", 2, 0, 0, 0, 0),
    ("abc", "ab", 1, 0.5, 1, 1, 0),
    ("abc", "ab", 5, 1, 1, 1, 1),
    ("abc", "ac", 5, 1, 1, (1 + THIRD) / (1 + SECOND), 1),
    ("abc", "bc", 5, 1, 0.5, (SECOND + THIRD) / (1 + SECOND), 1),
    ("abc", "ax", 5, 0.5, 1, 1 / (1 + SECOND), 0),
    ("abc", "xyz", 5, 0, 0, 0, 0),
    ("abc", "abc", 2, 2 / 3, 1, 1, 0),
    ("abc", "aa", 5, 1, 1, 1, 1),
    ("", "a", 5, 0, 0, 0, 0),
]


@every_case(("ranked", "relevant", "k", "recall", "mrr", "ndcg", "found"), TABLE)
def test_ranking_metrics_equal_hand_worked_values(
    ranked: str, relevant: str, k: int, recall: float, mrr: float, ndcg: float, found: float
) -> None:
    expected = [recall, mrr, ndcg, found]
    measured = measure_ranking(list(ranked), relevant, [k])
    assert list(measured.values()) == pytest.approx(expected)
    assert list(measured) == metric_names([k])


@given(
    st.lists(st.sampled_from("abcdefgh"), unique=True, min_size=1),
    st.sets(st.sampled_from("abcdefgh"), min_size=1),
)
def test_metrics_are_those_of_ir_measures_to_the_last_bit(
    ranked: list[str], relevant: set[str]
) -> None:
    run = {"q": {tool: float(-rank) for rank, tool in enumerate(ranked)}}
    wanted = [ir_measures.R @ 3, ir_measures.nDCG @ 3, ir_measures.RR]
    official = ir_measures.calc_aggregate(wanted, {"q": dict.fromkeys(relevant, 1)}, run)
    measured = measure_ranking(ranked, relevant, [3, 8])
    assert measured["recall@3"] == official[wanted[0]]
    assert measured["ndcg@3"] == official[wanted[1]]
    assert measured["mrr@8"] == official[wanted[2]]
    assert all(0 <= value <= 1 + 1e-9 for value in measured.values())


def ranking(hits: list[tuple[str, float]], position: int = 0) -> Ranking:
    return Ranking("t", position, "q", tuple(hits))


def test_equal_scores_stand_in_the_order_of_ids() -> None:
    assert merge([ranking([("b", 0.5), ("a", 0.5), ("c", 0.9)])]) == ["c", "a", "b"]


def test_several_rankings_stand_in_the_order_of_their_highest_scores() -> None:
    first = ranking([("a", 0.9), ("b", 0.5), ("c", 0.1)])
    second = ranking([("d", 0.7), ("c", 0.6)])
    assert merge([first, second]) == ["a", "d", "c", "b"]


def test_a_repeated_hit_counts_at_its_best_rank() -> None:
    assert merge([ranking([("a", 3), ("a", 2), ("b", 1)])]) == ["a", "b"]


def test_metric_reads_the_rankings_of_the_trajectory() -> None:
    wanted = task(Goal("find", relevant=("a", "z")))
    done = trajectory(rankings=[[("a", 2.0), ("b", 1.0)], [("z", 1.5)]])
    found = by_name(Retrieval((1, 2)), wanted, done)
    assert found["recall@1"].value == 0.5
    assert found["recall@2"].value == found["all_found@2"].value == 1.0
    assert found["recall@1"].weight == 2


@pytest.mark.parametrize(
    ("relevant", "rankings", "stop", "reason"),
    [
        ((), [[("a", 1.0)]], "done", "no relevant tools annotated"),
        (("a",), [], "done", "nothing was retrieved: tools were given"),
        (("a",), [[("a", 1.0)]], "error", "infrastructure: server down"),
    ],
)
def test_undefined_ranking_metrics_say_why(
    relevant: tuple[str, ...],
    rankings: list[list[tuple[str, float]]],
    stop: str,
    reason: str,
) -> None:
    done = trajectory(rankings=rankings, stop=stop)
    found = by_name(Retrieval(), task(Goal("find", relevant=relevant)), done)
    assert {(s.value, s.reason) for s in found.values()} == {(None, reason)}


def test_rankings_are_scored_without_a_chat() -> None:
    qrels = {("t", 0): ["a"], ("t", 1): ["a"], ("u", 0): ["a"]}
    got = measured_alone([ranking([("b", 2), ("a", 1)]), ranking([], 1)], qrels, [2])
    assert got["t", 0, "mrr@2"] == 0.5
    assert got["t", 1, "recall@2"] == 0.0
    assert ("u", 0, "recall@2") not in got


def test_ranked_goal_outside_the_qrels_is_not_measured() -> None:
    assert measured_alone([ranking([("a", 1)])], {}, [1]) == {}


def test_trec_files_give_the_same_values_to_other_tools(tmp_path: Path) -> None:
    tied = [ranking([("b 1", 0.5), ("a", 0.5), ("100%", 0.5)])]
    qrels = qrels_of([task(Goal("find", relevant=("b 1", "b 1")))])
    run_file, qrels_file = tmp_path / "run.txt", tmp_path / "qrels.txt"
    assert write_trec_run(run_file, tied) == 1
    assert write_trec_qrels(qrels_file, qrels) == 1
    official = ir_measures.calc_aggregate(
        [ir_measures.RR],
        ir_measures.read_trec_qrels(str(qrels_file)),
        ir_measures.read_trec_run(str(run_file)),
    )
    ours = measured_alone(tied, qrels, [3])
    assert official[ir_measures.RR] == pytest.approx(ours["t", 0, "mrr@3"])
    assert run_file.read_text().splitlines()[0] == "t:0 Q0 100%25 1 3 seal"


def test_alternatives_stand_as_one_tool_where_the_best_of_them_does() -> None:
    assert collapse("xbyac", Alternatives("abc")) == ["x", "a", "y"]
    assert collapse("xbyac", ["a", "b", "c"]) == list("xbyac")


@given(
    st.permutations("abcdef"),
    st.dictionaries(st.sampled_from("abcdefg"), st.integers(1, 4), min_size=1),
)
def test_grades_weigh_ndcg_alone_as_trec_eval_has_it(
    ranked: list[str], grades: dict[str, int]
) -> None:
    graded = Goal("", relevant=tuple(grades), labels={"grades": grades})
    qrels = qrels_of([task(graded)])
    hits = [(tool, -float(rank)) for rank, tool in enumerate(ranked)]
    found = measured_alone([ranking(hits)], qrels, [1, 3, 5])
    plain = measured_alone([ranking(hits)], {("t", 0): tuple(grades)}, [1, 3, 5])
    judge = pytrec_eval.RelevanceEvaluator({"q": grades}, {"ndcg_cut.1,3,5"})
    theirs = judge.evaluate({"q": dict(hits)})["q"]
    for name, value in found.items():
        wanted = theirs[f"ndcg_cut_{name[2][5:]}"] if name[2].startswith("ndcg") else plain[name]
        assert value == pytest.approx(wanted, abs=1e-9)


def test_grades_stand_in_qrels_files(tmp_path: Path) -> None:
    graded = Goal("", relevant=("a", "b"), labels={"grades": {"a": 3.0, "b": 1}})
    write_trec_qrels(tmp_path / "qrels", qrels_of([task(graded)]))
    assert (tmp_path / "qrels").read_text() == "t:0 0 a 3\nt:0 0 b 1\n"


# Ranked tools, alternatives, K, then recall, mrr, ndcg, all_found.
ANY_TABLE = [
    ("abc", "a", 1, 1, 1, 1, 1),
    ("abc", "cz", 3, 1, 1 / 3, THIRD, 1),
    ("abc", "bc", 3, 1, 0.5, SECOND, 1),
    ("abc", "bc", 1, 0, 0, 0, 0),
    ("abc", "xyz", 3, 0, 0, 0, 0),
    ("abc", "aabbcc", 2, 1, 1, 1, 1),
]


@pytest.mark.parametrize(("ranked", "relevant", "k", "recall", "mrr", "ndcg", "found"), ANY_TABLE)
def test_one_alternative_is_enough(
    ranked: str, relevant: str, k: int, recall: float, mrr: float, ndcg: float, found: float
) -> None:
    measured = measure_ranking(list(ranked), Alternatives(relevant), [k])
    assert list(measured.values()) == pytest.approx([recall, mrr, ndcg, found])


def test_alternatives_of_a_goal_count_as_one_in_chats_and_without() -> None:
    wanted = task(Goal("find", relevant=("a", "b"), any_relevant=True))
    hits = [("x", 2.0), ("b", 1.0)]
    chat = by_name(Retrieval((2,)), wanted, trajectory(rankings=[hits]))
    alone = measured_alone([ranking(hits)], qrels_of([wanted]), [2])
    assert alone == {(wanted.id, 0, name): score.value for name, score in chat.items()}
    assert (chat["recall@2"].value, chat["recall@2"].weight) == (1.0, 1)


def test_alternatives_without_any_tool_are_not_annotated() -> None:
    nothing = task(Goal("find", any_relevant=True))
    scores = by_name(Retrieval((1,)), nothing, trajectory(rankings=[[("a", 1)]]))
    assert {score.reason for score in scores.values()} == {"no relevant tools annotated"}


IDS = ["a", "b", "c 1", "d%", "e", "f"]
SCORES = st.sampled_from([0.25, 0.5, 0.75])
HITS = st.lists(st.tuples(st.sampled_from(IDS), SCORES), min_size=1, max_size=9)
RELEVANT = st.lists(st.sampled_from([*IDS, "absent"]), min_size=1, max_size=5)
GOALS = st.builds(Goal, st.just("find"), relevant=RELEVANT.map(tuple), any_relevant=st.booleans())


@given(st.lists(st.tuples(GOALS, st.lists(HITS, min_size=1, max_size=2)), min_size=1, max_size=4))
def test_values_are_those_of_pytrec_eval_on_the_written_files(
    goals: list[tuple[Goal, list[list[tuple[str, float]]]]],
) -> None:
    qrels = qrels_of([task(*(goal for goal, _ in goals))])
    rankings = [ranking(hits, i) for i, (_, groups) in enumerate(goals) for hits in groups]
    ours = {key[1:]: value for key, value in measured_alone(rankings, qrels, [1, 3, 20]).items()}
    with TemporaryDirectory() as folder:
        official = trec_values(Path(folder), rankings, qrels)
    for position in range(len(goals)):
        theirs = official[f"t:{position}"]
        for k in (1, 3, 20):
            assert ours[position, f"recall@{k}"] == pytest.approx(theirs[f"recall_{k}"], abs=1e-9)
            assert ours[position, f"ndcg@{k}"] == pytest.approx(theirs[f"ndcg_cut_{k}"], abs=1e-9)
        assert ours[position, "mrr@20"] == pytest.approx(theirs["recip_rank"], abs=1e-9)


def trec_values(folder: Path, rankings: list[Ranking], qrels: Qrels) -> dict[str, dict[str, float]]:
    write_trec_run(folder / "run", rankings, qrels=qrels)
    write_trec_qrels(folder / "qrels", qrels)
    with (folder / "run").open() as run, (folder / "qrels").open() as gold:
        wanted = {"recip_rank", "recall.1,3,20", "ndcg_cut.1,3,20"}
        evaluator = pytrec_eval.RelevanceEvaluator(pytrec_eval.parse_qrel(gold), wanted)
        values: dict[str, dict[str, float]] = evaluator.evaluate(pytrec_eval.parse_run(run))
    return values


@given(st.permutations("abcdef"), st.sets(st.sampled_from("abcdefgh"), min_size=1))
def test_average_precision_and_r_precision_are_trec_evals(
    ranked: list[str], relevant: set[str]
) -> None:
    hits = [(tool, -float(rank)) for rank, tool in enumerate(ranked)]
    tokens = dict.fromkeys("abcdefgh", 1)
    ks = (1, 3, 9)
    row = measure_rankings([ranking(hits)], {("t", 0): tuple(relevant)}, ks, tokens)["t", 0]
    ours = dict(zip(metric_names(ks, RANKED), row, strict=True))
    judge = pytrec_eval.RelevanceEvaluator(
        {"q": dict.fromkeys(relevant, 1)}, {"map_cut.1,3,9", "Rprec"}
    )
    for k in ks:
        theirs = judge.evaluate({"q": dict(hits[:k])})["q"]
        assert ours[f"map@{k}"] == pytest.approx(theirs[f"map_cut_{k}"], abs=1e-9)
        assert ours[f"rprec@{k}"] == pytest.approx(theirs["Rprec"], abs=1e-9)


@pytest.mark.parametrize("grade", [0, -1, -0.5])
def test_a_grade_of_0_and_below_is_not_relevant_as_trec_eval_has_it(grade: float) -> None:
    goal = Goal("", relevant=("a", "b"), labels={"grades": {"a": grade, "b": 2}})
    assert qrels_of([task(goal)]) == {("t", 0): {"b": 2}}
    found = measured_alone([ranking([("a", 1.0)])], qrels_of([task(goal)]), [5])
    assert found["t", 0, "ndcg@5"] == 0


@pytest.mark.parametrize("grade", ["high", None, True, float("nan")])
def test_a_grade_that_is_no_number_is_told_with_its_task(grade: object) -> None:
    goal = Goal("", relevant=("a", "b"), labels={"grades": {"a": grade, "b": 2}})
    with pytest.raises(DataError, match="task 't', goal 1: label grades: the grade of 'a' is"):
        qrels_of([task(goal)])


@pytest.mark.parametrize(
    ("ranked", "relevant", "precision"),
    [
        ("abx", Alternatives(("a", "b")), 1 / 2),  # collapsed: a, x
        ("ab", Alternatives(("a", "b")), 1.0),
        ("abx", ("a", "b"), 2 / 3),
        ("", ("a",), 0.0),
    ],
)
def test_precision_counts_alternatives_as_one_tool(
    ranked: str, relevant: Collection[str], precision: float
) -> None:
    hits = [(tool, -float(rank)) for rank, tool in enumerate(ranked)]
    tokens = dict.fromkeys("abx", 10)

    row = measure_rankings([ranking(hits)], {("t", 0): relevant}, [5], tokens)["t", 0]

    assert dict(zip(metric_names([5], RANKED), row, strict=True))["precision@5"] == precision
    assert row[-1] == 10 * len(ranked)  # every schema is sent
