import pytest
from toolbench_sources import CALL, GIVE_UP, LATER, api, good_tree, heard, observation, said, tree

from seal.benchmarks.toolbench.answers import read_tree
from seal.benchmarks.toolbench.tasks import Gold, gold_of
from seal.benchmarks.toolbench.tools import ApiTable

QUERY = "When is high water in Oban?"


def gold(record) -> Gold | str:
    table = ApiTable()
    ids = [table.add_document(api(name), "q.json") for name in ("High Water", "Low Water")]
    return gold_of(read_tree(record), QUERY, table.by_rule_name(ids))


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (tree(said(CALL, "{"), finish_type="give_up", final_answer=GIVE_UP), "give_up"),
        (tree(said("no_such", "{")), "unmatched_api"),
        (tree(said(CALL, "{"), said("no_such", "{}")), "hallucinated_function"),
        (tree(said(CALL, "{"), said(CALL, "{}")), "unparsable_arguments"),
        (tree(said(CALL, "[1]")), "unparsable_arguments"),
        (tree(), "no_calls"),
        (tree(said(CALL, "{}"), valid_data=False), "no_calls"),
    ],
)
def test_the_first_reason_that_holds_drops_the_gold_calls(record, reason: str) -> None:
    assert gold(record) == reason


def test_gold_calls_become_a_plan_with_their_recorded_results() -> None:
    found = gold(good_tree())
    (milestone,) = found.plan.milestones
    assert milestone.condition.tool == "toolbench/tide_tables/high_water"
    assert milestone.condition.canonical_arguments() == {"is_id": 12}
    assert milestone.result == {"at": "12:00"}
    assert [step.author for step in found.reference] == [
        "execution_manager",
        "executor",
        "orchestrator",
    ]
    assert found.reference[-1].content == "At noon."
    assert (found.dependent, found.parallel) == (False, False)


def two_calls(first_answer: str, value: str) -> Gold:
    return gold(
        tree(
            said(CALL, '{"is_id": 3}'),
            heard(CALL, observation(first_answer)),
            said(LATER, f'{{"is_id": "{value}"}}'),
            heard(LATER, observation("x")),
        )
    )


def test_a_value_that_only_an_earlier_result_states_makes_a_call_depend_on_it() -> None:
    found = two_calls("station S-77 answers", "S-77")
    assert [m.after for m in found.plan.milestones] == [(), (0,)]
    assert (found.dependent, found.parallel) == (True, False)


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        ("Oban lies here", "Oban"),
        ("code 12", "12"),
        ("AS-771", "S-77"),
        ("x y", "x"),
        ("no", "new"),
    ],
    ids=["in the query", "in the document", "inside a word", "one letter", "nowhere"],
)
def test_other_values_make_no_dependency(answer: str, value: str) -> None:
    found = two_calls(answer, value)
    assert [m.after for m in found.plan.milestones] == [(), ()]
    assert (found.dependent, found.parallel) == (False, True)


def test_a_cut_result_is_no_recorded_result() -> None:
    long = observation("x" * 2000)[:1024] + "..."
    found = gold(tree(said(CALL, "{}"), heard(CALL, long)))
    assert found.plan.milestones[0].result is None
