"""One plan's similarity, by both sets of rules, and the metrics of a run."""

from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from milestone_chats import START, A, B, asks, chat, does, reply, says

from seal.api.installation import register
from seal.core import Goal, Milestone, Plan, Step, Stop, Task, Trajectory, UsageError
from seal.core.conditions import FIRST, Called, Condition, Match, Replied
from seal.core.state_conditions import AllOf, StateHas, StateUnchanged
from seal.evaluation.calls import Calls
from seal.evaluation.goals import MATCHES, Rules, rules_named
from seal.evaluation.plans import PlanResult, measure_plan, view, with_outer_guardrails
from seal.evaluation.scoring import NAMES, Milestones, score_trajectory, usual_metrics

ADDED = StateHas("notes", ({"text": "b"},), "addition", since=-1)
CHAIN = Plan((Milestone(ADDED), Milestone(reply("Done"), (0,))))
LAMPS = [("lamps",)] * 2
GUARDED = with_outer_guardrails(
    Plan(
        (
            Milestone(AllOf((ADDED, StateUnchanged("lamps", FIRST)))),
            Milestone(AllOf((reply("Done"), StateUnchanged("lamps", 0))), (0,)),
        )
    ),
    LAMPS,
)
LIT = [{"id": 1, "on": True}]
RULES: list[Match] = ["clean", "toolsandbox"]


def measured(plan: Plan, done: Trajectory, match: Match = "clean") -> PlanResult:
    return measure_plan(plan, view(done, 0, None, match), match)


@pytest.mark.parametrize("match", RULES)
def test_a_chat_that_does_all_is_wholly_similar(match: Match) -> None:
    result = measured(GUARDED, chat(asks(), *does("add", notes=[A, B]), says("Done")), match)
    assert result.similarity == result.milestone_similarity == 1
    assert [(one.node, one.index, one.similarity) for one in result.milestones] == [
        (0, 2, 1.0),
        (1, 3, 1.0),
    ]


@pytest.mark.parametrize("match", RULES)
def test_what_is_missing_counts_as_a_share(match: Match) -> None:
    result = measured(CHAIN, chat(asks(), *does("add", notes=[A, B]), says("Sorry")), match)
    assert result.similarity == 0.5


@pytest.mark.parametrize("match", RULES)
def test_a_wrong_order_is_worth_less(match: Match) -> None:
    assert (
        measured(CHAIN, chat(asks(), says("Done"), *does("add", notes=[A, B])), match).similarity
        == 0.5
    )


SIDE = does("lamp", 5, lamps=LIT)
ADD = does("add", notes=[A, B])


@pytest.mark.parametrize(
    "steps",
    [[*SIDE, *ADD, says("Done")], [*ADD, says("Done"), *SIDE]],
    ids=["before the first", "after the last"],
)
def test_side_effects_around_the_milestones_are_free_for_the_original_alone(
    steps: list[Step],
) -> None:
    free = Plan((Milestone(StateHas("notes", (A, B))), Milestone(reply("Done"), (0,))))
    plan = with_outer_guardrails(free, LAMPS)
    assert measured(plan, chat(asks(), *steps), "toolsandbox").similarity == 1
    assert measured(plan, chat(asks(), *steps)).similarity == 0.5


@pytest.mark.parametrize("match", RULES)
def test_side_effects_between_milestones_are_punished(match: Match) -> None:
    done = chat(asks(), *does("add", notes=[A, B]), *does("lamp", 1, lamps=LIT), says("Done"))
    assert measured(GUARDED, done, match).similarity < 1


def test_rows_in_another_order_are_no_side_effect_for_the_rules_clean() -> None:
    moved = does("move", notes=[B, A])
    plan = Plan((Milestone(AllOf((reply("Done"), StateUnchanged("notes", -1)))),))
    done = chat(asks(), *moved, says("Done"), start={**START, "notes": [A, B]})
    assert measured(plan, done).similarity == 1
    assert measured(plan, done, "toolsandbox").similarity == 0


FORBIDDEN = Plan(minefields=(Milestone(reply("one two three four", "rouge_l")),))


@pytest.mark.parametrize("match", RULES)
def test_a_minefield_voids_the_score(match: Match) -> None:
    plan = Plan(CHAIN.milestones, (Milestone(reply("secret", "contains")),))
    done = chat(asks(), *ADD, says("the secret"), says("Done"))
    result = measured(plan, done, match)
    assert (result.similarity, result.milestone_similarity) == (0, 1)
    assert result.minefield_similarity == 1
    assert result.minefields[0].index == 3


def test_a_partial_minefield_voids_the_score_of_the_original_alone() -> None:
    done = chat(asks(), says("one two three"))
    partly = measured(FORBIDDEN, done, "toolsandbox")
    assert 0.9 < partly.minefield_similarity < 1
    assert partly.similarity == 0
    assert measured(FORBIDDEN, done).minefield_similarity == 0
    assert measured(FORBIDDEN, done).similarity == 1


def test_doing_nothing_is_an_answer_for_the_original_alone() -> None:
    silent = chat(asks())
    assert measured(FORBIDDEN, silent, "toolsandbox").similarity == 1
    assert measured(FORBIDDEN, silent).similarity == 0


def test_a_mere_refusal_is_worth_less_where_the_plan_asks_to_explain() -> None:
    explained = Plan((Milestone(Replied(("phone number",))),), FORBIDDEN.minefields)
    assert measured(explained, chat(asks(), says("I cannot do that"))).similarity == 0
    assert measured(explained, chat(asks(), says("I lack the phone number"))).similarity == 1


def test_nothing_is_reached_where_nothing_was_said() -> None:
    assert measure_plan(CHAIN, (), "clean").similarity == 0
    assert measure_plan(Plan(), (), "toolsandbox").similarity == 1


@dataclass(frozen=True, slots=True)
class Later(Condition):
    """A condition of a plug-in that looks at where an earlier node was reached."""

    by: int = 2
    kind: str = field(default="later", init=False)

    def similarity(self, step: Step, reached: Any) -> float:
        return float(step.index - reached[0].index == self.by)


def test_a_plug_ins_condition_may_read_where_earlier_milestones_were_reached() -> None:
    plan = Plan((Milestone(reply("b", "contains")), Milestone(Later(), (0,))))
    result = measured(plan, chat(asks(), says("b"), says("x"), says("bb"), says("y"), says("z")))
    assert [(one.node, one.index) for one in result.milestones] == [(0, 1), (1, 3)]


def task(*plans: Plan, **metadata: Any) -> Task:
    return Task("t", "b", (Goal("Please", plans),), initial_state=START, metadata=metadata)


def scores(metric: Milestones, what: Task, done: Trajectory) -> dict[str, Any]:
    return {score.metric: score for score in metric.score(what, done, {})}


def test_scores_tell_where_milestones_were_reached_and_why() -> None:
    done = chat(asks(), *does("add", notes=[A, B]), says("Done"))
    found = scores(Milestones(), task(GUARDED), done)
    assert [found[name].value for name in NAMES] == [1, 1, 0, 3]
    assert found["similarity"].details == {"plan": 0, "match": "clean"}
    details = found["milestone_similarity"].details
    assert details["mapping"] == [[0, 2, 1.0], [1, 3, 1.0]]
    assert [len(values) for values in details["conditions"]] == [3, 3]
    assert found["minefield_similarity"].details == {"mapping": [], "conditions": []}


def test_of_several_plans_the_best_counts() -> None:
    other = Plan((Milestone(reply("Never")),))
    found = scores(Milestones(), task(other, GUARDED), chat(asks(), *ADD, says("Done")))
    assert found["similarity"].value == 1
    assert found["similarity"].details["plan"] == 1


def test_the_tasks_rules_hold_unless_others_are_asked_for() -> None:
    done = chat(asks(), says("one two three"))
    imported = task(FORBIDDEN, match="toolsandbox")
    assert scores(Milestones(), imported, done)["similarity"].value == 0
    assert scores(Milestones("clean"), imported, done)["similarity"].value == 1
    assert scores(Milestones(), task(FORBIDDEN), done)["similarity"].value == 1


@pytest.mark.parametrize(
    "what", [task(), task(Plan((Milestone(Called("t")),))), Task("t", "b", (Goal("x"),))]
)
def test_plans_of_calls_and_replies_have_no_similarity(what: Task) -> None:
    found = scores(Milestones(), what, chat(asks()))
    assert {score.value for score in found.values()} == {None}
    assert {score.reason for score in found.values()} == {"no milestones of the world"}


def test_a_failure_of_the_infrastructure_is_no_score() -> None:
    failed = Trajectory("t", 0, (), stops=(Stop("error", "server down"),))
    found = scores(Milestones(), task(GUARDED), failed)
    assert {score.reason for score in found.values()} == {"infrastructure: server down"}


def test_a_plan_that_cannot_be_measured_has_no_value_and_says_why() -> None:
    lost = Plan((Milestone(StateHas("notes", (B,), "addition", since=5)),))
    found = scores(Milestones(), task(GUARDED, lost), chat(asks(), *ADD, says("Done")))
    assert {score.value for score in found.values()} == {None}
    assert "cannot be measured: milestones.0: since: 5 is no" in found["similarity"].reason


@dataclass(frozen=True)
class Broken(Condition):
    """A plug-in's condition that fails."""

    kind: str = field(default="broken", init=False)

    def similarity(self, step: Step, reached: Any) -> float:
        """Fail."""
        raise ZeroDivisionError("no step")


def test_a_condition_that_fails_costs_its_task_the_milestones_alone() -> None:
    broken = task(Plan((Milestone(Broken()),)))
    done = replace(chat(asks(), says("Done")), stops=(Stop("done"),))
    found = {s.metric: s for s in score_trajectory(broken, done, {}, usual_metrics())}
    assert "metric milestones: ZeroDivisionError: no step" in found["milestones"].reason
    assert "similarity" not in found
    assert found["turns"].value is not None


def test_rules_that_there_are_not_cost_their_task_its_milestones_alone() -> None:
    found = {
        s.metric: s
        for s in score_trajectory(task(GUARDED, match="nice"), chat(asks()), {}, usual_metrics())
    }

    for name in (*NAMES, "pass_rate"):
        assert found[name].value is None
        assert "task 't': metadata.match: expected one of clean, toolsandbox" in found[name].reason
    assert found["calls"].value == 0
    asked = Milestones("clean").score(task(GUARDED, match="nice"), chat(asks()), {})
    assert all(score.value is not None for score in asked)
    with pytest.raises(UsageError, match="clean, exact, lenient, mmtb, toolsandbox, got 'nice'"):
        rules_named("nice")


@pytest.mark.parametrize("named", ["os:getcwd", "lenient", ["clean"], None])
def test_data_names_rules_of_milestones_and_no_code(named: Any) -> None:
    (score, *_) = Milestones().score(task(GUARDED, match=named), chat(asks()), {})
    assert score.value is None
    assert f"expected one of clean, toolsandbox, got {named!r}" in score.reason


def test_rules_that_are_registered_measure_milestones_under_their_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(MATCHES, "_registered", {})  # they end with this test
    register("match", "of-this-test", Rules(milestones="of-this-test"))
    (score, *_) = Milestones().score(task(GUARDED, match="of-this-test"), chat(asks()), {})
    assert score.details["match"] == "of-this-test"
    assert rules_named("of-this-test") == Rules("of-this-test")


def test_a_plan_of_the_world_says_nothing_of_calls() -> None:
    found = Calls().score(task(GUARDED), chat(asks(), *ADD), {})
    assert {score.value for score in found} == {None}
    both = Plan((Milestone(Called("add")), *GUARDED.milestones[:1]))
    assert {s.metric: s.value for s in Calls().score(task(both), chat(asks(), *ADD), {})}[
        "call_recall"
    ] == 1


def test_of_equal_gold_calls_each_needs_one_of_its_own() -> None:
    twice = Plan((*[Milestone(Called("add", {}))] * 2, Milestone(StateUnchanged("lamps", FIRST))))
    shares = [
        measured(twice, chat(asks(), *does("add") * calls, says("Done"))).similarity
        for calls in (1, 2, 3)
    ]
    assert shares == [pytest.approx(2 / 3), 1, 1]
