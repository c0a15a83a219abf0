"""How a world ends: gold calls played in a fresh one, and the ends compared."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import seal
from seal.core import Milestone, Task, UsageError
from seal.core.conditions import Called, Condition
from seal.core.records import decode, encode
from seal.core.state_conditions import GOLD_ENDS, EndsAs
from seal.environments.chat_world import World
from seal.environments.world import Worlds, toolbox


def pay(bank: World, amount: float) -> str:
    """Pay an amount.

    Args:
        amount: At most 10.
    """
    if amount > 10:
        raise ValueError("too much")
    bank.add("payments", {"id": bank.new_id(), "amount": amount})
    return "paid"


def cancel(bank: World, order: str) -> str:
    """Cancel an order.

    Args:
        order: Its id.
    """
    rows = [{**row, "open": row["open"] and row["id"] != order} for row in bank.rows("orders")]
    bank.put("orders", rows)
    return "done"


def look(bank: World) -> list[Any]:
    """List the orders."""
    return bank.rows("orders")


BANK = Worlds(
    name="bank",
    tools=toolbox("bank", [pay, cancel, look]),
    tables={"payments": [], "orders": [{"id": "1", "open": True}, {"id": "2", "open": True}]},
    columns={"payments": {"id": str, "amount": float}, "orders": {"id": str, "open": bool}},
)
Calls = Sequence[tuple[str, dict[str, Any]]]
ONE: tuple[str, dict[str, Any]] = ("cancel", {"order": "1"})
TWO: tuple[str, dict[str, Any]] = ("cancel", {"order": "2"})
FIVE: tuple[str, dict[str, Any]] = ("pay", {"amount": 5.0})
FIFTY: tuple[str, dict[str, Any]] = ("pay", {"amount": 50.0})
LOOK: tuple[str, dict[str, Any]] = ("look", {})
FINAL = seal.FinalState("orders", ({"id": "1", "open": False}, {"id": "2", "open": True}))


def gold(*calls: tuple[str, dict[str, Any]], ignore: Sequence[str] = ()) -> Condition:
    return seal.ends_as(*(seal.called(name, **given) for name, given in calls), ignore=ignore)


def ends_on(orders: Sequence[str]) -> EndsAs:
    return seal.ends_as(seal.called("cancel", order=seal.Argument(tuple(orders))))


CASES: list[tuple[str, Condition, Calls, float]] = [
    ("the call", gold(ONE), [ONE], 1),
    ("nothing", gold(ONE), [], 0),
    ("with looks", gold(ONE), [LOOK, ONE, LOOK], 1),
    ("twice, without effect", gold(ONE), [ONE, ONE], 1),
    ("another one too", gold(ONE), [ONE, TWO], 0),
    ("another one", gold(ONE), [TWO], 0),
    ("in another order", gold(ONE, TWO), [TWO, ONE], 1),
    ("half of it", gold(ONE, TWO), [ONE], 0),
    ("a payment", gold(FIVE), [FIVE], 1),
    ("an id of another place", gold(FIVE), [LOOK, FIVE], 0),
    ("whatever the id", gold(FIVE, ignore=["payments.id"]), [LOOK, FIVE], 1),
    ("twice, whatever the id", gold(FIVE, ignore=["payments.id"]), [FIVE, FIVE], 0),
    ("another amount", gold(FIVE, ignore=["payments.id"]), [("pay", {"amount": 6.0})], 0),
    ("whatever the table", gold(ONE, ignore=["payments"]), [ONE, FIVE], 1),
    ("nothing is right", gold(), [LOOK], 1),
    ("nothing was right", gold(), [FIVE], 0),
    ("a refused call changes nothing", gold(ONE), [FIFTY, ONE], 1),
    ("the first of two ways", seal.ends_as([seal.called(ONE[0], **ONE[1])], []), [ONE], 1),
    ("the second of two ways", seal.ends_as([seal.called(ONE[0], **ONE[1])], []), [], 1),
    ("neither way", seal.ends_as([seal.called(ONE[0], **ONE[1])], []), [TWO], 0),
    ("one right value", ends_on(("1", "2")), [ONE], 1),
    ("another right value", ends_on(("1", "2")), [TWO], 1),
    ("both right values", ends_on(("1", "2")), [ONE, TWO], 0),
    ("neither value", ends_on(("1", "2")), [], 0),
    (
        "gold has a refused call",
        seal.ends_as(
            seal.refused(seal.called("pay", amount=50.0)), seal.called("cancel", order="1")
        ),
        [ONE],
        1,
    ),
    ("these rows", FINAL, [ONE], 1),
    ("these rows are not there", FINAL, [], 0),
    ("these rows, and something else", FINAL, [ONE, FIVE], 0),
    ("these rows, whatever is paid", replace(FINAL, ignore=("payments",)), [ONE, FIVE], 1),
    ("a row left out", replace(FINAL, rows=FINAL.rows[:1]), [ONE], 0),
    ("a cell left out is null", replace(FINAL, rows=({"id": "1"}, {"id": "2"})), [], 0),
]


def playing(
    calls: dict[str, Calls], answer: str = "Order 1 is cancelled; the fee is 12."
) -> Callable[[str, Sequence[Any]], str]:
    def agent(request: str, tools: Sequence[Any]) -> str:
        named = {tool.__name__: tool for tool in tools}
        for name, given in calls[request]:
            try:
                named[name](**given)
            except Exception as error:
                assert "too much" in str(error)
        return answer

    return agent


def scored(
    cases: Sequence[tuple[str, Condition, Calls, float]], out: Path, **gold: Any
) -> seal.Run:
    bench = seal.Benchmark(
        "bank",
        environment=BANK,
        tasks=[
            seal.ask(name, asked, id=name.replace(" ", "-"), **gold) for name, asked, *_ in cases
        ],
    )
    calls = {name: made for name, _, made, _ in cases}
    said = "Order 1 is cancelled; the fee is 12." if gold else "Done."
    return seal.run(bench, agent=playing(calls, said), baselines=False, out=out)


def verdicts(run: seal.Run, metric: str = "pass_rate") -> dict[str, float | None]:
    return {s.task_id: s.value for s in run.folder.scores() if s.metric == metric}


def test_the_end_of_the_world_decides(tmp_path: Path) -> None:
    run = scored(CASES, tmp_path / "run")
    wanted = {name.replace(" ", "-"): float(right) for name, *_, right in CASES}
    assert verdicts(run) == verdicts(run, "similarity") == wanted


def test_an_end_combines_with_an_answer(tmp_path: Path) -> None:
    cases = [("done", gold(ONE), [ONE], 1), ("not done", gold(ONE), [TWO], 0)]
    assert verdicts(scored(cases, tmp_path / "said", answer="12")) == {"done": 1, "not-done": 0}
    assert verdicts(scored(cases, tmp_path / "other", answer="13")) == {"done": 0, "not-done": 0}


def test_the_oracle_plays_it_and_other_calls_of_gold_count_too(tmp_path: Path) -> None:
    tasks = [
        seal.ask("Cancel.", gold(ONE)),
        seal.ask("Do nothing.", gold()),
        seal.ask("Look.", gold(ONE), seal.called("look")),
        seal.ask(
            "Pay.",
            gold(LOOK, FIVE, ignore=["payments.id"]),
            seal.called("pay", amount=seal.Argument((5.0, 6.0))),
        ),
        seal.ask("Try.", seal.ends_as(seal.refused(seal.called("pay", amount=50.0)))),
    ]
    bench = seal.Benchmark("bank", environment=BANK, tasks=tasks)
    run = seal.run(bench, model="oracle", baselines=False, out=tmp_path / "run")
    assert set(verdicts(run).values()) == {1.0}
    made = [
        [step.call.name for step, _ in chat.calls() if step.call]
        for chat in run.folder.trajectories()
    ]
    assert made == [["cancel"], [], ["look", "cancel"], ["pay", "look"], ["pay"]]


def test_the_calls_of_a_plan_may_be_one_way_to_its_end(tmp_path: Path) -> None:
    """Then they need not be made, and metrics of calls still tell how far the agent kept to it."""
    tasks = [
        seal.ask(name, seal.called("look"), seal.called("cancel", order="1"), EndsAs(()), id=name)
        for name in ("gold", "other", "more")
    ]
    calls = {"gold": [LOOK, ONE], "other": [ONE, ONE], "more": [LOOK, ONE, TWO]}
    bench = seal.Benchmark("bank", environment=BANK, tasks=tasks)
    agent = playing(calls, "Done.")
    run = seal.run(bench, agent=agent, baselines=False, out=tmp_path / "run")
    for metric in ("pass_rate", "similarity", "calls_right"):
        assert verdicts(run, metric) == {"gold": 1, "other": 1, "more": 0}
    assert verdicts(run, "call_recall") == {"gold": 1, "other": 0.5, "more": 1}
    oracle = seal.run(bench, model="oracle", baselines=False, out=tmp_path / "oracle")
    assert set(verdicts(oracle).values()) == {1}
    early = seal.ask("Go.", EndsAs(()), seal.called("look"))
    with pytest.raises(UsageError, match="stands last; move it"):
        seal.Benchmark("bank", environment=BANK, tasks=[early])


@pytest.mark.parametrize(
    ("history", "first", "right"),
    [("own", [ONE], 1), ("own", [FIVE], 0), ("gold", [], 1), ("gold", [FIVE], 1)],
)
def test_calls_of_earlier_goals_come_first(
    tmp_path: Path, history: Any, first: Calls, right: float
) -> None:
    """In one chat; a goal that is played in a chat of its own finds the world as it begins."""
    asked = seal.ask("one", seal.called("cancel", order="1")), seal.ask("two", gold(TWO))
    task = replace(seal.ask("both"), goals=tuple(goal for one in asked for goal in one.goals))
    bench = seal.Benchmark("bank", environment=BANK, tasks=[task])
    told: Any = {"agent": playing({"one": first, "two": [TWO]}), "history": history}
    run = seal.run(bench, baselines=False, out=tmp_path / "run", **told)
    scores = [s for s in run.folder.scores() if s.metric == "similarity"]
    assert [s.value for s in scores] == [None, right]


@pytest.mark.parametrize("earlier", [(), (FINAL,)])
def test_after_a_goal_without_gold_calls_that_changed_the_world_no_end_is_known(
    tmp_path: Path, earlier: Sequence[Condition]
) -> None:
    asked = seal.ask("one", *earlier), seal.ask("two", gold(TWO))
    task = replace(seal.ask("both"), goals=tuple(goal for one in asked for goal in one.goals))
    bench = seal.Benchmark("bank", environment=BANK, tasks=[task])
    wanted: dict[str, tuple[Calls, float | None]] = {
        "a change": ([ONE], None),
        "a look": ([LOOK], 1.0),
        "nothing": ([], 1.0),
    }
    for name, (first, right) in wanted.items():
        agent = playing({"one": first, "two": [TWO]}, "Done.")
        run = seal.run(bench, agent=agent, baselines=False, out=tmp_path / name)
        (second,) = [s for s in run.folder.scores() if (s.goal, s.metric) == (1, "pass_rate")]
        assert second.value == right
        assert right is not None or "goal 1, whose gold names no calls" in second.reason


def test_explain_says_which_rows_are_wrong(tmp_path: Path) -> None:
    cases: list[tuple[str, Condition, Calls, float]] = [
        ("too many", gold(ONE), [ONE, FIVE], 0),
        ("other value", gold(ONE), [TWO], 0),
        ("missing", gold(FIVE), [], 0),
    ]
    run = scored(cases, tmp_path / "run")
    told = {
        one["task"]: (one["stage"], one["cause"], one["evidence"])
        for stage in seal.explain(run).content["stages"]
        for one in stage["examples"]
    }
    assert told["too-many"][:2] == ("wrong_tool", "extra_effect")
    assert '"amount": 5.0' in told["too-many"][2]
    assert told["other-value"][:2] == ("wrong_argument", "value")
    assert told["missing"][:2] == ("not_called", "no_call")


def test_a_run_is_scored_again_without_the_world(tmp_path: Path) -> None:
    run = scored(CASES[:5], tmp_path / "run")
    before = verdicts(run)
    seal.score(tmp_path / "run")
    assert verdicts(run) == before
    chat = next(run.folder.trajectories())
    ends = chat.provenance[GOLD_ENDS]["0"]
    ((end,),) = ends.values()
    assert end["changes"]["orders"]["came"] == [{"id": "1", "open": False}]


def test_a_chat_that_tells_no_end_has_no_score(tmp_path: Path) -> None:
    scored(CASES[:1], tmp_path / "run")
    path = tmp_path / "run" / "trajectories.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"gold_ends"', b'"forgotten"'))
    scores = {s.metric: s for s in seal.score(tmp_path / "run").folder.scores()}
    assert scores["pass_rate"].value is None
    assert "play it again" in scores["pass_rate"].reason


def test_gold_is_kept_in_records() -> None:
    asked = seal.ends_as(
        [seal.called("pay", amount=5.0)], [seal.refused(seal.called("cancel", order="1"))]
    )
    task = replace(seal.ask("Go.", asked, FINAL), id="one", benchmark="bank")
    assert decode(encode(task), Task) == task


REFUSED: list[tuple[str, Callable[[], object]]] = [
    ("pay.amount=50.0. fails: ValueError: too much; mend it, or mark", lambda: gold(FIFTY)),
    (
        "is marked as refused, and works",
        lambda: seal.ends_as(seal.refused(seal.called("pay", amount=5.0))),
    ),
    ("names the tool 'pai'", lambda: gold(("pai", {"amount": 5.0}))),
    ("no table 'payment'", lambda: gold(FIVE, ignore=["payment"])),
    ("no column of payments 'key'", lambda: gold(FIVE, ignore=["payments.key"])),
    ("no column 'key'", lambda: seal.FinalState("orders", ({"key": "1"},))),
    ("no table 'order'", lambda: seal.FinalState("order", ())),
    ("name single columns", lambda: replace(FINAL, ignore=("orders",))),
]


def test_gold_that_cannot_be_is_refused_with_the_repair() -> None:
    for text, asked in REFUSED:
        with pytest.raises(UsageError, match=text):
            seal.Benchmark("bank", environment=BANK, tasks=[seal.ask("Go.", asked())])
    with pytest.raises(UsageError, match="not both"):
        seal.ends_as(seal.called("pay", amount=5.0), [seal.called("look")])
    with pytest.raises(UsageError, match=r"expected TABLE or TABLE\.COLUMN"):
        gold(ONE, ignore=[""])
    schema = {"name": "pay", "description": "Pay.", "parameters": {"type": "object"}}
    for asked in (seal.ends_as(), FINAL):
        with pytest.raises(UsageError, match="played in no world"):
            seal.Benchmark("bank", tools=[schema], tasks=[seal.ask("Go.", asked)])


def test_plans_whose_calls_lead_to_an_end_are_alternatives(tmp_path: Path) -> None:
    ways = [(seal.called("cancel", order=order), EndsAs(())) for order in ("1", "2")]
    plans = tuple(seal.Plan(tuple(map(Milestone, way))) for way in ways)
    task = seal.ask("Cancel one.")
    either = replace(task, goals=(replace(task.goals[0], plans=plans),))
    calls: dict[str, Calls] = {"one": [ONE], "two": [TWO], "both": [ONE, TWO], "none": []}
    tasks = [
        replace(either, id=name, goals=(replace(either.goals[0], text=name),)) for name in calls
    ]
    bench = seal.Benchmark("bank", environment=BANK, tasks=tasks)
    run = seal.run(bench, agent=playing(calls, "Done."), baselines=False, out=tmp_path / "run")
    for metric in ("pass_rate", "calls_right"):
        assert verdicts(run, metric) == {"one": 1, "two": 1, "both": 0, "none": 0}


def test_alternatives_of_several_goals_are_bounded_together() -> None:
    goal = seal.ask("Go.", ends_on([str(order) for order in range(9)])).goals[0]
    task = replace(seal.ask("Go."), goals=(goal, goal))
    with pytest.raises(UsageError, match=r"goal 2: with the .* more than 64 ways; give fewer"):
        seal.Benchmark("bank", environment=BANK, tasks=[task])


def test_right_values_are_alternatives_up_to_a_bound() -> None:
    def orders(asked: EndsAs) -> list[list[Any]]:
        ways = [[call for call in way if isinstance(call, Called)] for way in asked.sequences]
        return [[call.canonical_arguments().get("order") for call in way] for way in ways]

    optional = seal.called("cancel", order=seal.Argument(("1",), optional=True))
    ways = seal.ends_as([optional, seal.called("cancel", order="2")], [seal.called("look")])
    assert orders(ways) == [[None, "2"], ["1", "2"], [None]]
    assert orders(seal.ends_as(seal.called("cancel", order=seal.Argument(())))) == [[None]]
    with pytest.raises(UsageError, match=r"more than 64 alternatives; give lists of calls"):
        ends_on([str(order) for order in range(65)])
    with pytest.raises(UsageError, match=r"'order' of 'cancel' may have any value.*name a value"):
        seal.ends_as(seal.called("cancel", order=seal.ANY))
