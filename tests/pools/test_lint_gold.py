"""Lint of gold that contradicts itself, and of gold that is met where nothing is done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

import seal
from seal.core import Goal, Milestone, Plan, Step, Task, ToolCall, write_records
from seal.core.conditions import FIRST, Called, Condition
from seal.core.state_conditions import StateHas, StateUnchanged
from seal.environments.chat_world import World
from seal.environments.world import Worlds, toolbox
from seal.pools.lint import lint


def pay(bank: World, amount: float) -> str:
    """Pay an amount.

    Args:
        amount: At most 10.
    """
    if amount > 10:
        raise ValueError("too much")
    bank.add("payments", {"id": bank.new_id(), "amount": amount})
    return "paid"


def balance(bank: World) -> float:
    """Tell the balance."""
    return 100 - sum(row["amount"] for row in bank.rows("payments"))


BANK = Worlds(
    name="bank",
    tools=toolbox("bank", [pay, balance]),
    tables={"payments": [], "logs": []},
    columns={"payments": {"id": str, "amount": float}, "logs": {"text": str}},
)
IGNORED = ("payments.id",)
FIVE, SIX, LOOK = seal.called("pay", amount=5), seal.called("pay", amount=6), seal.called("balance")
FIFTY = seal.refused(seal.called("pay", amount=50))
ENDS, NOTHING = seal.ends_as(FIVE, ignore=IGNORED), seal.ends_as()
LOGGED = seal.FinalState("logs", ({"text": "x"},))


def paid(*amounts: float, ignore: Sequence[str] = ()) -> seal.FinalState:
    rows = tuple({"amount": amount} for amount in amounts)
    return seal.FinalState("payments", rows, (*IGNORED, *ignore))


def kinds(task: Task) -> list[str]:
    report = seal.lint(seal.Benchmark("bank", environment=BANK, tasks=[task]))
    return [one.kind for one in report.findings if one.kind.endswith("_gold")]


def planned(mines: Sequence[Condition], *asked: Condition) -> Task:
    """A task whose plan has minefields, too."""

    def nodes(conditions: Sequence[Condition]) -> tuple[Milestone, ...]:
        ids = (
            replace(c, tool=f"bank/{c.tool}") if isinstance(c, Called) else c for c in conditions
        )
        return tuple(map(Milestone, ids))

    return Task("", "", (Goal("Pay.", (Plan(nodes(asked), nodes(mines)),)),))


ADDED = StateHas("payments", ({"amount": 5},), "addition", FIRST)


@pytest.mark.parametrize(
    "task",
    [
        seal.ask("Pay 5.", FIVE, NOTHING),
        seal.ask("Pay 5.", SIX, ENDS),
        seal.ask("Pay 5.", SIX, paid(5)),
        seal.ask("Pay 5.", paid(5), paid(6)),
        seal.ask("Pay 5.", paid(5), LOGGED),
        seal.ask("Pay 5.", ENDS, paid(6)),
        seal.ask("Pay 5.", ENDS, seal.ends_as(SIX, ignore=IGNORED)),
        planned([], FIVE, StateUnchanged("payments")),
        planned([FIVE], FIVE),
        planned([ADDED], FIVE),
    ],
)
def test_gold_that_contradicts_itself_is_told(task: Task) -> None:
    assert kinds(task) == ["contradictory_gold"]


@pytest.mark.parametrize(
    "task",
    [
        seal.ask("Look.", seal.ends_as(LOOK)),
        seal.ask("Pay 5.", seal.ends_as([FIVE], [LOOK], ignore=IGNORED)),
        seal.ask("Clear.", paid()),
        planned([], StateHas("payments", ())),
    ],
)
def test_gold_that_is_met_where_nothing_is_done_is_told(task: Task) -> None:
    assert kinds(task) == ["idle_gold"]


@pytest.mark.parametrize(
    "task",
    [
        seal.ask("Pay 5.", FIVE),
        seal.ask("Pay 5.", FIVE, ENDS),
        seal.ask("Pay 5.", LOOK, paid(5)),
        seal.ask("Pay 5.", ENDS, paid(5)),
        seal.ask("Pay 5.", paid(5, ignore=["logs"]), replace(LOGGED, ignore=("payments",))),
        seal.ask("Look.", seal.ends_as(LOOK), answer="100"),
        seal.ask("Pay nothing.", NOTHING),
        seal.ask("Pay 50.", FIFTY, NOTHING),
        planned([SIX], FIVE),
        planned([], FIVE, StateUnchanged("logs")),
        planned([], StateUnchanged("payments")),
        planned([], ADDED),
    ],
)
def test_sound_gold_is_not(task: Task) -> None:
    assert kinds(task) == []


def test_a_later_goal_is_met_if_nothing_is_done_after_the_earlier_ones() -> None:
    first = seal.ask("Pay 5.", ENDS).goals[0]
    task = seal.ask("Pay 5.")
    for later, told in ((seal.ends_as(LOOK, ignore=IGNORED), ["idle_gold"]), (ENDS, [])):
        goals = (first, seal.ask("And then?", later).goals[0])
        assert kinds(replace(task, goals=goals)) == told


@pytest.mark.parametrize("asked", [ADDED, LOOK, ENDS])
def test_a_world_that_cannot_begin_is_told(asked: Condition, tmp_path: Path) -> None:
    goals = planned([], asked).goals
    write_records(tmp_path / "tools.jsonl", [])
    start = {"reminders": [{"no_such_column": 1}]}
    task = Task("t", "b", goals, initial_state=start, world="phone")
    write_records(tmp_path / "tasks.jsonl", [task])
    (found,) = [one for one in lint(tmp_path).findings if one.kind != "missing_tool"]
    assert found.kind == "broken_world"
    assert "no_such_column" in found.message


def test_a_tool_that_does_not_reach_its_server_is_told_and_the_others_are_looked_at() -> None:
    def net(key: str) -> str:
        """Look a key up on the net."""
        raise ConnectionError("no network")

    def full(key: str) -> str:
        """Look a key up with a quota."""
        raise ValueError("quota exceeded")

    tasks = [seal.ask(f"Look up: {f}.", seal.called(f, key="a")) for f in ("net", "net", "full")]
    bench = seal.Benchmark("b", tools=[net, full], tasks=tasks)
    found = [one for one in seal.lint(bench).findings if one.kind == "failing_call"]
    assert [one.tasks for one in found] == [("b-001",), ("b-002",), ("b-003",)]
    assert 'the gold call net(key="a") cannot be played' in found[0].message
    assert "no network" in found[0].message
    assert "quota exceeded" in found[2].message


# -- Gold that breaks a policy, and rules that nothing breaks.


def ask_first(call, world, chat):
    """Name the amount, and get a yes, before you pay."""
    return None if call.name != "pay" or chat.allowed else "nobody was asked"


def five_at_most(call, world, chat):
    """Pay 5 at most."""
    return "too much" if call.name == "pay" and call.arguments["amount"] > 5 else None


def no_flights(call, world, chat):
    """Book no flights."""
    return "a flight" if call.name == "book_flight" else None


def all_paid(call, world, chat):
    """Pay at most 5 in all; a rule that fails where nothing was paid."""
    return "too much" if world.rows("payments")[0]["amount"] > 5 else None


def of_policy(*rules, said: str | None = "Shall I pay 5 now?", amount: float = 5):
    """Return the findings of a policy, and of gold that asks and pays."""
    gold = seal.called("pay", amount=amount)
    task = seal.ask("Pay my bill.", seal.ends_as(gold, ignore=IGNORED), id="bill")
    call = ToolCall("c", "pay", {"amount": amount}, tool="bank/pay")
    words = [("agent", "user_simulator", said), ("user_simulator", "agent", "Yes, go ahead.")]
    steps = [Step(0, "user_simulator", "agent", "Pay my bill.")]
    steps += [Step(0, author, other, text) for author, other, text in words if said and text]
    steps += [Step(0, "agent", "executor", call=call), Step(0, "agent", "user_simulator", "Paid.")]
    steps = [replace(step, index=number) for number, step in enumerate(steps)]
    task = replace(task, goals=(replace(task.goals[0], reference=tuple(steps)),))
    world = replace(BANK, policy=rules)
    return seal.lint(seal.Benchmark("bank", environment=world, tasks=[task])).findings


def told(findings, kind: str) -> list[str]:
    return [one.message for one in findings if one.kind == kind]


def test_gold_that_keeps_its_policy_is_no_finding() -> None:
    found = of_policy(ask_first, five_at_most)

    assert told(found, "forbidden_gold") == told(found, "unbroken_rule") == []


def test_gold_that_breaks_its_policy_is_found() -> None:
    (unasked,) = told(of_policy(ask_first, five_at_most, said=None), "forbidden_gold")
    assert "goal 1: pay breaks the rule ask_first: nobody was asked; mend the gold" in unasked
    (much,) = told(of_policy(five_at_most, amount=6), "forbidden_gold")
    assert "breaks the rule five_at_most: too much" in much


def test_a_rule_that_no_call_breaks_is_found() -> None:
    (one,) = told(of_policy(ask_first, no_flights, five_at_most), "unbroken_rule")

    assert "tried calls breaks the rule no_flights; mend it, or leave it out" in one


def test_a_rule_that_fails_is_found() -> None:
    (one,) = told(of_policy(all_paid), "broken_world")

    assert "all_paid" in one and "failed" in one
