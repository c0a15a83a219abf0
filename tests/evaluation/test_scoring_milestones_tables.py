"""Gold that asks of tables decides nothing where the chat was in no world."""

from dataclasses import replace
from typing import Any

import pytest
from milestone_chats import A, asks, chat, does, reply, says

import seal
from seal.core import Goal, Milestone, Plan, Task
from seal.core.conditions import Condition
from seal.core.state_conditions import AllOf, StateHas, StateUnchanged
from seal.evaluation.pass_rates import PassRate
from seal.evaluation.scoring import Milestones

STATES: dict[str, Condition] = {
    "rows": StateHas("notes", (A,)),
    "no change": StateUnchanged("notes", since=-1),
    "no change at all": StateUnchanged("notes"),
    "the end": seal.FinalState("notes", (A,)),
    "an empty end": seal.FinalState("notes", ()),
    "beside a reply": AllOf((reply("Done"), StateHas("notes", (A,)))),
}
WHY = (
    "the plan cannot be measured: gold asks of the table 'notes', and the chat was in no world, "
    "so that there are no tables; play the task in its world"
)


def scores(
    plan: Plan, begun: Any = None, start: Any = None, tables: Any = None
) -> dict[str, tuple[Any, str]]:
    """Name of a metric to value and reason, of a chat with a call that was answered `Done`."""
    task = Task("t", "b", (Goal("Please", (plan,)),), initial_state=begun)
    done = chat(asks(), *does("add", **(tables or {})), says("Done"), start=start)
    found = [*Milestones().score(task, done, {}), *PassRate().score(task, done, {})]
    return {one.metric: (one.value, one.reason) for one in found}


@pytest.mark.parametrize("name", STATES)
@pytest.mark.parametrize("begun", [None, {"notes": [A]}])
def test_gold_of_a_state_is_undecided_without_tables(name: str, begun: Any) -> None:
    for plan in (Plan((Milestone(STATES[name]),)), Plan((), (Milestone(STATES[name]),))):
        found = scores(plan, begun)
        assert {found[metric] for metric in ("similarity", "pass_rate")} == {(None, WHY)}


def test_in_a_world_it_is_decided_as_before() -> None:
    kept = Plan((Milestone(seal.FinalState("notes", (A,))),))
    assert scores(kept, start={"notes": [A]})["pass_rate"][0] == 1
    assert scores(kept, start={"notes": [A]}, tables={"notes": []})["pass_rate"][0] == 0
    assert scores(kept, start={"notes": []})["similarity"][0] == 0


def test_gold_of_messages_alone_needs_no_tables() -> None:
    assert scores(Plan((Milestone(reply("Done")),)))["similarity"] == (1, "")


def test_one_plan_that_asks_of_tables_leaves_the_goal_undecided() -> None:
    told = Task("t", "b", (Goal("Please", (Plan((Milestone(reply("Done")),)),)),))
    plans = (*(told.goals[0].plans or ()), Plan((Milestone(STATES["rows"]),)))
    both = replace(told, goals=(replace(told.goals[0], plans=plans),))
    (value, *_) = Milestones().score(both, chat(asks(), says("Done"), start=None), {})
    assert (value.value, value.reason) == (None, WHY)
