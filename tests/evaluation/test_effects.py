"""Effects that gold does not have: in a world, and by the word of tools without one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pytest
from planted_faults import Planted, junk_calls

import seal
from seal.api.benchmarks import load_pool
from seal.core import Goal, Milestone, Plan, Task
from seal.core.conditions import Argument, Condition
from seal.core.state_conditions import GOLD_ENDS, AllOf, StateHas, StateUnchanged
from seal.environments.chat_world import World
from seal.environments.world import Worlds, toolbox

SHIPPED = ("sample", "toolsandbox-sample", "mmtb-sample", "toolscan-sample", "dialogtool-sample")
Made = Sequence[tuple[str, dict[str, Any]]]


def pay(bank: World, amount: float) -> str:
    """Pay an amount.

    Args:
        amount: At most 10.
    """
    if amount > 10:
        raise ValueError("too much")
    if bank.rows("doors")[0]["locked"]:
        raise ValueError("the bank is locked")
    bank.add("payments", {"id": bank.new_id(), "at": bank.now, "amount": amount})
    return "paid"


def pay_all(bank: World, amounts: list[float]) -> str:
    """Pay several amounts at once."""
    for amount in amounts:
        pay(bank, amount)
    return "paid"


def undo(bank: World) -> str:
    """Take the last payment back."""
    bank.put("payments", bank.rows("payments")[:-1])
    return "undone"


def lock(bank: World, locked: bool) -> str:
    """Lock the bank, or unlock it."""
    bank.put("doors", [{"locked": locked}])
    return "done"


def look(bank: World) -> list[Any]:
    """List the payments."""
    return bank.rows("payments")


BANK = Worlds(
    name="bank",
    tools=toolbox("bank", [pay, pay_all, undo, lock, look]),
    tables={"payments": [], "doors": [{"locked": False}]},
    columns={"payments": {"id": str, "at": float, "amount": float}, "doors": {"locked": bool}},
)
CLOCK = {"clock": {"step": 7.0}}
LOOK, UNDO = ("look", dict[str, Any]()), ("undo", dict[str, Any]())


def paid(amount: float) -> tuple[str, dict[str, Any]]:
    return "pay", {"amount": amount}


def paid_at_once(*amounts: float) -> tuple[str, dict[str, Any]]:
    return "pay_all", {"amounts": list(amounts)}


def locked(value: bool) -> tuple[str, dict[str, Any]]:
    return "lock", {"locked": value}


def playing(
    calls: dict[str, Made], answer: str = "It is 12."
) -> Callable[[str, Sequence[Any]], str]:
    def agent(request: str, tools: Sequence[Any]) -> str:
        named = {tool.__name__: tool for tool in tools}
        for name, given in calls[request]:
            try:
                named[name](**given)
            except Exception as error:
                assert "too much" in str(error) or "locked" in str(error)
        return answer

    return agent


def scores_of(run: seal.Run) -> dict[str, dict[str, float | None]]:
    found: dict[str, dict[str, float | None]] = {}
    for score in run.folder.scores():
        found.setdefault(score.task_id, {})[score.metric] = score.value
    return found


FIVE, SIX = (seal.called("pay", amount=amount) for amount in (5.0, 6.0))
UNLOCKED = seal.called("lock", locked=False)
OF_TWO = seal.called("pay", amount=Argument((5.0, 6.0)))
OF_AN_ANSWER: list[tuple[str, list[Condition], Made, tuple[float, int, int]]] = [
    ("the gold", [FIVE], [paid(5.0)], (1, 0, 0)),
    ("nothing but the answer", [FIVE], [], (0, 0, 0)),
    ("nothing, and gold may be anything", [seal.called("pay", seal.ANY)], [], (1, 0, 0)),
    ("nothing, and gold changes nothing", [UNLOCKED, seal.called("look")], [], (1, 0, 0)),
    ("nothing, and gold takes it back", [FIVE, seal.called("undo")], [], (1, 0, 0)),
    ("one of two", [FIVE, FIVE], [paid(5.0)], (0, 0, 0)),
    ("another right value", [OF_TWO, seal.called("look")], [paid(6.0)], (1, 0, 0)),
    ("a look", [FIVE], [LOOK, paid(5.0), LOOK], (1, 2, 0)),
    ("a refused call", [FIVE], [paid(5.0), paid(50.0)], (1, 1, 0)),
    ("another payment", [FIVE], [paid(5.0), paid(6.0)], (0, 1, 1)),
    ("a payment twice", [FIVE], [paid(5.0), paid(5.0)], (0, 1, 1)),
    ("another amount", [FIVE], [paid(6.0)], (0, 1, 1)),
    ("what was taken back", [FIVE], [paid(5.0), paid(6.0), UNDO], (1, 2, 0)),
    ("wrong, then mended", [FIVE, seal.called("look")], [paid(6.0), UNDO, paid(5.0)], (1, 2, 0)),
    ("gold taken back", [FIVE], [paid(5.0), UNDO], (0, 1, 0)),
    ("gold taken back in another value", [OF_TWO], [paid(6.0), UNDO], (0, 1, 0)),
    ("gold taken back and made again", [FIVE], [paid(5.0), UNDO, paid(5.0)], (1, 2, 0)),
    ("gold taken back, another way", [FIVE], [paid(5.0), UNDO, paid_at_once(5.0)], (1, 2, 0)),
    ("another way", [FIVE], [LOOK, paid_at_once(5.0)], (1, 2, 0)),
    ("another way, and more", [FIVE], [paid_at_once(5.0, 6.0)], (0, 1, 1)),
    ("half of it, another way", [FIVE, SIX], [paid_at_once(6.0)], (0, 1, 0)),
    ("all of it, another way", [FIVE, SIX], [paid_at_once(5.0, 6.0)], (1, 1, 0)),
    ("nothing changes", [FIVE], [paid(5.0), locked(False)], (1, 1, 0)),
    (
        "refused, then mended",
        [seal.called("lock", locked=True), UNLOCKED, FIVE],
        [locked(True), paid(5.0), locked(False), paid(5.0)],
        (1, 1, 0),
    ),
    (
        "it worked, and was to be refused",
        [FIVE, seal.refused(SIX)],
        [paid(5.0), paid(6.0)],
        (0, 0, 1),
    ),
]  # fmt: skip


def banking(cases: Sequence[Any], out: Path, **more: Any) -> seal.Run:
    tasks = [seal.ask(name, *gold, id=name, **more) for name, gold, *_ in cases]
    bench = seal.Benchmark(
        "bank", environment=BANK, tasks=[replace(task, metadata=CLOCK) for task in tasks]
    )
    calls = {name: made for name, _, made, _ in cases}
    answer = "It is 12." if more else "Done."
    return seal.run(bench, agent=playing(calls, answer), baselines=False, out=out)


def test_an_answer_fails_by_an_effect_and_not_by_a_look(tmp_path: Path) -> None:
    found = scores_of(banking(OF_AN_ANSWER, tmp_path / "run", answer="12"))
    metrics = ("pass_rate", "extra_calls", "extra_effects")
    told = {name: tuple(found[name][metric] for metric in metrics) for name, *_ in OF_AN_ANSWER}
    assert told == {name: wanted for name, *_, wanted in OF_AN_ANSWER}


def test_the_effect_is_named_in_reason_table_and_explanation(tmp_path: Path) -> None:
    run = banking(OF_AN_ANSWER, tmp_path / "run", answer="12")
    reasons = {
        score.task_id: score.details["reason"]
        for score in run.folder.scores()
        if score.metric == "pass_rate"
    }
    told = "an effect that gold does not have: pay(amount=6.0)"
    assert reasons["another payment"] == reasons["another amount"] == told
    rows = list(run)
    assert {"extra_calls", "extra_effects"} <= set(rows)
    examples = {
        one["task"]: (one["stage"], one["cause"], one["evidence"])
        for stage in seal.explain(run, examples=99).content["stages"]
        for one in stage["examples"]
    }
    assert examples["another payment"] == ("wrong_tool", "extra_effect", told)
    lost = "the world lacks what the gold call pay(amount=5.0) leaves"
    assert reasons["gold taken back"] == reasons["nothing but the answer"] == lost
    assert examples["gold taken back"][:2] == ("wrong_tool", "undone")
    assert examples["gold taken back"][2].endswith(f" took back what gold leaves: {lost}")
    assert examples["nothing but the answer"][0] == "not_called"


@pytest.mark.parametrize(("history", "paid_before"), [("own", [0, 1, 0]), ("gold", [0, 0, 1])])
def test_a_goal_lacks_no_effect_of_another_goal(
    tmp_path: Path, history: Literal["own", "gold"], paid_before: list[float]
) -> None:
    goals = [("first", FIVE), ("second", SIX), ("third", seal.called("undo"))]
    asked = [seal.ask(name, gold, answer="12").goals[0] for name, gold in goals]
    task = Task("t", "", tuple(asked), metadata=CLOCK)
    bench = seal.Benchmark("bank", environment=BANK, tasks=[task])
    made: list[tuple[Made, list[float]]] = [
        ([[], [paid(6.0)], [UNDO]], [0.0, 1.0, 1.0]),
        ([[paid(5.0)], [], [UNDO]], [1.0, 0.0, 1.0]),
        ([[paid_at_once(5.0, 6.0)], [], []], paid_before),  # with "gold" each world is fresh
    ]
    for number, (calls, wanted) in enumerate(made):
        agent = playing(dict(zip(("first", "second", "third"), calls, strict=True)))
        out = tmp_path / f"{number}"
        run = seal.run(bench, agent=agent, history=history, baselines=False, out=out)
        found = [one.value for one in run.folder.scores() if one.metric == "pass_rate"]
        assert found == wanted, calls


def test_the_end_of_gold_is_recorded_where_it_matters_alone(tmp_path: Path) -> None:
    run = banking(OF_AN_ANSWER, tmp_path / "run", answer="12")
    told = {chat.task_id for chat in run.folder.trajectories() if GOLD_ENDS in chat.provenance}
    assert "another way" in told
    assert not told & {"the gold", "a look", "a refused call", "what was taken back"}


def test_values_that_are_one_are_no_effect(tmp_path: Path) -> None:
    def note(book: World, text: str, parts: list[float]) -> str:
        """Write a note into the book."""
        book.add("notes", {"text": text, "parts": {"of": parts}})
        return "noted"

    def respell(book: World, text: str) -> str:
        """Write the first note in other letters."""
        book.put("notes", [{**book.rows("notes")[0], "text": text}, *book.rows("notes")[1:]])
        return "noted"

    begun = [{"text": "a b", "parts": {"of": [1]}}]
    book = Worlds(name="book", tools=toolbox("book", [note, respell]), tables={"notes": begun})
    times = [("note", {"text": f"2031-05-01T{at}", "parts": [0.3]}) for at in ("10:00Z", "9:00")]
    again: Made = [("respell", {"text": "a\u00a0b"})]
    made: dict[str, Made] = {
        "another offset": [("note", {"text": "2031-05-01T12:00+02:00", "parts": [0.1 + 0.2]})],
        "spelt anew": [*times[:1], *again],
        "another time": times[1:],
    }
    gold = seal.called(times[0][0], **times[0][1])
    for number, wanted in enumerate((seal.ends_as(gold), gold)):
        tasks = [seal.ask(name, wanted, answer="12", id=name) for name in made]
        bench = seal.Benchmark("book", environment=book, tasks=tasks)
        run = seal.run(bench, agent=playing(made), baselines=False, out=tmp_path / f"{number}")
        found = scores_of(run)
        told = [(found[name]["pass_rate"], found[name]["extra_effects"]) for name in made]
        assert told == [(1, 0), (1, 0), (0, 1)]


def test_a_time_that_the_agent_chose_itself_is_an_effect(tmp_path: Path) -> None:
    def pay(bank: World, amount: float, at: str = "") -> str:
        """Pay an amount, now if no time is given."""
        bank.add("payments", {"at": at or str(bank.now), "amount": amount})
        return "paid"

    def now(bank: World) -> str:
        """Tell the time."""
        return str(bank.now)

    tables: dict[str, Any] = {"payments": []}
    bank = Worlds(name="bank", tools=toolbox("bank", [pay, now]), tables=tables)
    made: dict[str, Made] = {
        "now": [("now", {}), paid(5.0)],
        "the time that was told": [("now", {}), ("pay", {"amount": 5, "at": "1735732807.0"})],
        "another time": [("pay", {"amount": 5, "at": "1999-01-01"})],
    }
    tasks = [seal.ask(name, FIVE, answer="12", id=name) for name in made]
    bench = seal.Benchmark(
        "bank", environment=bank, tasks=[replace(task, metadata=CLOCK) for task in tasks]
    )
    found = scores_of(seal.run(bench, agent=playing(made), baselines=False, out=tmp_path / "run"))
    told = [(found[name]["pass_rate"], found[name]["extra_effects"]) for name in made]
    assert told == [(1, 0), (1, 0), (0, 1)]


def test_a_tool_of_a_world_that_says_it_writes_has_an_effect_in_no_table(tmp_path: Path) -> None:
    @seal.writes
    def mail(bank: World, to: str) -> str:
        """Send a mail."""
        if to == "nobody":
            raise ValueError("locked")
        return "sent"

    tools = toolbox("bank", [pay, look, mail])
    bank = replace(BANK, tools=tools)
    ann: tuple[str, dict[str, Any]] = ("mail", {"to": "ann"})
    bob: tuple[str, dict[str, Any]] = ("mail", {"to": "bob"})
    to_ann = seal.called("mail", to=seal.Argument(("ann", "anna")))
    id_and_time = ("payments.id", "payments.at")
    golds: list[tuple[str, list[Condition]]] = [
        ("calls", [FIVE, to_ann]),
        ("end", [seal.ends_as(FIVE, to_ann, ignore=id_and_time)]),
        ("end and a call", [to_ann, seal.ends_as(FIVE, ignore=id_and_time)]),
        ("rows", [to_ann, seal.FinalState("payments", ({"amount": 5.0},), id_and_time)]),
    ]
    made: list[tuple[Made, tuple[float, int]]] = [
        ([LOOK, paid(5.0), ann, ("mail", {"to": "nobody"})], (1, 0)),
        ([paid(5.0), ann, bob], (0, 1)),
        ([paid(5.0), ann, ann], (0, 1)),
    ]
    for number, (calls, wanted) in enumerate(made):
        tasks = [seal.ask(name, *gold, answer="12", id=name) for name, gold in golds]
        bench = seal.Benchmark("bank", environment=bank, tasks=tasks)
        agent = playing(dict.fromkeys((name for name, _ in golds), calls))
        run = seal.run(bench, agent=agent, baselines=False, out=tmp_path / f"{number}")
        for name, one in scores_of(run).items():
            assert (one["pass_rate"], one["extra_effects"]) == wanted, (name, calls)


PAYMENT = {"amount": 5.0}
ADDED = StateHas("payments", (PAYMENT,), measure="addition", since=-1)
OF_A_STATE: list[tuple[str, list[Condition], Made, tuple[float, int]]] = [
    ("an end", [seal.ends_as(FIVE, ignore=["payments"])], [LOOK, paid(6.0)], (1, 0)),
    ("an end and more", [seal.ends_as(FIVE, ignore=["payments"])], [locked(True)], (0, 1)),
    ("no end", [seal.ends_as(FIVE, ignore=["payments"])], [locked(True), locked(False)], (1, 0)),
    (
        "rows",
        [seal.FinalState("payments", (PAYMENT,), ignore=["payments.id", "payments.at"])],
        [paid(6.0), UNDO, paid(5.0)],
        (1, 0),
    ),
    (
        "rows and more",
        [seal.FinalState("payments", (PAYMENT,), ignore=["payments.id", "payments.at"])],
        [paid(5.0), paid(6.0), locked(True)],
        (0, 2),
    ),
    ("a milestone", [ADDED], [LOOK, paid(5.0)], (1, 0)),
    ("a milestone, then more", [ADDED], [paid(5.0), paid(6.0)], (0, 1)),
    ("what no milestone names", [ADDED], [locked(True), locked(False), paid(5.0)], (1, 0)),
    ("twice", [ADDED], [paid(5.0), paid(5.0)], (0, 1)),
    ("a door that none names", [ADDED], [paid(5.0), locked(True)], (0, 1)),
    ("another payment", [ADDED], [paid(6.0)], (0, 1)),
]


def test_a_state_fails_by_what_gold_does_not_leave(tmp_path: Path) -> None:
    found = scores_of(banking(OF_A_STATE, tmp_path / "run"))
    told = {
        name: (found[name]["pass_rate"], found[name]["extra_effects"]) for name, *_ in OF_A_STATE
    }
    assert told == {name: wanted for name, *_, wanted in OF_A_STATE}


def test_a_table_that_gold_guards_for_a_while_may_change_later(tmp_path: Path) -> None:
    closed = AllOf((StateHas("payments", (), since=-1), StateUnchanged("doors", -1)))
    plan = Plan((Milestone(closed), Milestone(ADDED, (0,))))
    bench = seal.Benchmark(
        "bank", environment=BANK, tasks=[Task("open", "", (Goal("open", (plan,)),))]
    )
    agent = playing({"open": [paid(5.0), locked(True)]})
    run = seal.run(bench, agent=agent, baselines=False, out=tmp_path / "run")
    assert scores_of(run)["open"]["extra_effects"] == 0.0


# -- Without a world: what tools say of themselves.


def get_order(order_id: str) -> str:
    """Look an order up."""
    return "It ships on Monday."


@seal.writes
def cancel_order(order_id: str) -> str:
    """Cancel an order."""
    if order_id == "9":
        raise ValueError("there is no such order")
    return "cancelled"


ORDER, CANCEL = ("get_order", {"order_id": "7"}), ("cancel_order", {"order_id": "7"})
OF_TOOLS: list[tuple[str, Made, tuple[float, int, int | None]]] = [
    ("the gold", [ORDER], (1, 0, 0)),
    ("a look", [ORDER, ORDER], (1, 1, 0)),
    ("a change", [ORDER, CANCEL], (0, 1, 1)),
    ("a change that failed", [ORDER, ("cancel_order", {"order_id": "9"})], (1, 1, 0)),
]


def ordering(tools: Sequence[Any], out: Path) -> dict[str, Any]:
    gold = seal.called("get_order", order_id="7")
    tasks = [seal.ask(name, gold, answer="12", id=name) for name, *_ in OF_TOOLS]
    calls = {name: made for name, made, _ in OF_TOOLS}

    def agent(request: str, tools: Sequence[Any]) -> str:
        named = {tool.__name__: tool for tool in tools}
        for name, given in calls[request]:
            try:
                named[name](**given)
            except Exception as error:
                assert "no such order" in str(error)
        return "It is 12."

    bench = seal.Benchmark("shop", tools=tools, tasks=tasks)
    found = scores_of(seal.run(bench, agent=agent, baselines=False, out=out))
    metrics = ("pass_rate", "extra_calls", "extra_effects")
    return {name: tuple(found[name][metric] for metric in metrics) for name, *_ in OF_TOOLS}


def test_without_a_world_a_call_has_an_effect_where_its_tool_says_so(tmp_path: Path) -> None:
    told = ordering([get_order, cancel_order], tmp_path / "run")
    assert told == {name: wanted for name, _, wanted in OF_TOOLS}


def test_where_no_tool_says_so_extra_calls_are_counted_and_nothing_more(tmp_path: Path) -> None:
    def cancel_order(order_id: str) -> str:
        """Cancel an order."""
        return "cancelled"

    told = ordering([get_order, cancel_order], tmp_path / "run")
    assert told["a change"] == (1, 1, None)


def test_what_is_no_function_is_refused_with_the_repair() -> None:
    with pytest.raises(seal.SealError, match='a schema says "writes": true'):
        seal.writes(print)
    with pytest.raises(seal.SealError, match="expected a class or function, got a dict"):
        seal.writes({"name": "cancel_order"})  # type: ignore[type-var]


HINTS: list[tuple[dict[str, Any], bool]] = [
    ({}, False),
    ({"writes": True}, True),
    ({"annotations": {"readOnlyHint": True}}, False),
    ({"annotations": {"readOnlyHint": False}}, True),
    ({"annotations": {"destructiveHint": True}}, True),
    ({"annotations": {"destructiveHint": False}}, False),
    ({"annotations": None}, False),
    ({"writes": False, "annotations": {"readOnlyHint": False}}, False),
    ({"annotations": {"readOnlyHint": True, "destructiveHint": True}}, False),
    ({"writes": None, "annotations": {"destructiveHint": True, "title": "Cancel"}}, True),
]


def test_a_schema_says_that_its_tool_writes(tmp_path: Path) -> None:
    task = seal.ask("Cancel order 7.", seal.called("cancel_order"))
    for more, writes in HINTS:
        schema = {"name": "cancel_order", "inputSchema": {"type": "object"}, **more}
        saved = seal.Benchmark("shop", tools=[schema], tasks=[task]).save(tmp_path / "shop")
        (tool,) = load_pool(saved).tools()
        assert tool.writes is writes, more
        assert (b'"writes"' in (saved / "tools.jsonl").read_bytes()) is writes


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"writes": "true"}, "tool 'cancel_order': writes: expected true or false, got 'true'"),
        ({"writes": 1}, "writes: expected true or false, got 1"),
        ({"annotations": {"readOnlyHint": "false"}}, "readOnlyHint: expected true or false"),
        ({"annotations": 5}, "annotations: expected a map of MCP's hints, got 5"),
    ],
)
def test_a_mark_of_writing_that_says_nothing_is_refused(more: Any, told: str) -> None:
    with pytest.raises(seal.SealError, match=told):
        seal.Benchmark("shop", tools=[{"name": "cancel_order", **more}])


@pytest.mark.parametrize(
    ("cell", "writes"), [("yes", True), ("TRUE", True), ("0", False), ("", False)]
)
def test_a_column_says_that_a_tool_writes(cell: str, writes: bool, tmp_path: Path) -> None:
    tools, asked = tmp_path / "tools.csv", tmp_path / "asked.csv"
    tools.write_text(f"name,description,parameters,writes\ncancel,Cancel it.,,{cell}\n")
    asked.write_text("query,calls\nCancel it.,cancel()\n")
    (tool,) = seal.Benchmark.of("shop", tools, asked).pool().tools()
    assert tool.writes is writes
    tools.write_text("name,description,parameters,writes\ncancel,Cancel it.,,perhaps\n")
    with pytest.raises(seal.SealError, match="writes: expected true or false, got 'perhaps'"):
        seal.Benchmark.of("shop", tools, asked)


# -- Over all that ships: the gold has none, and whoever tries every other tool has some.


def played(name: str, model: Any, out: Path) -> tuple[seal.Run, dict[str, float | None]]:
    run = seal.run(name, model=model, baselines=False, out=out, first=40)
    return run, {metric: run[metric].mean for metric in run.folder.summary()["metrics"]}


@pytest.mark.parametrize("name", SHIPPED)
def test_gold_has_no_extra_call_and_no_extra_effect(name: str, tmp_path: Path) -> None:
    _, found = played(name, "oracle", tmp_path / "run")
    assert {found["extra_calls"], found["extra_effects"]} <= {0.0, None}
    assert 0.0 in (found["extra_calls"], found["extra_effects"])


@pytest.mark.parametrize("name", SHIPPED[:-1])  # the agent of the last one is offered no schemas
def test_whoever_tries_every_tool_is_seen(name: str, tmp_path: Path) -> None:
    run, found = played(name, Planted(junk_calls), tmp_path / "run")
    acted = {
        chat.task_id
        for chat in run.folder.trajectories()
        if any(step.state for step in chat.steps[1:])
    }
    seen = {task: found for task, found in scores_of(run).items() if found["extra_effects"]}
    assert seen.keys() <= acted
    assert all(scores["pass_rate"] == 0.0 for scores in seen.values())
    in_a_world = name == "toolsandbox-sample"
    assert bool(seen) is in_a_world
    assert ("extra_effects" if in_a_world else "extra_calls") in list(run)
    assert in_a_world or (found["extra_calls"] or 0) > 1


def wipe(bank: World, amount: float, most: int) -> str:
    """Remove payments.

    Args:
        amount: Of each.
        most: How many at most.
    """
    rows = [row for row in bank.rows("payments") if row["amount"] == amount][most:]
    bank.put("payments", rows)
    return "removed"


@pytest.mark.parametrize(("most", "right"), [(2, 1), (1, 0)])
def test_of_equal_rows_that_gold_removes_none_may_stay(
    most: int, right: float, tmp_path: Path
) -> None:
    columns = {"payments": {"amount": float}}
    start = {"payments": [{"amount": 5.0}] * 2}
    bank = Worlds(name="till", tools=toolbox("till", [wipe]), tables=start, columns=columns)
    task = seal.ask("Remove all.", seal.called("wipe", amount=5.0, most=2), answer="Done")
    bench = seal.Benchmark("till", environment=bank, tasks=[task])

    def agent(request: str, tools: Sequence[Any]) -> str:
        tools[0](amount=5.0, most=most)
        return "Done"

    run = seal.run(bench, agent=agent, baselines=False, out=tmp_path / "run")
    assert scores_of(run)["till-001"]["pass_rate"] == right


@pytest.mark.parametrize(("amount", "right"), [(5.0, 1), (6.0, 0)])
def test_what_gold_calls_among_milestones_change_is_no_extra_effect(
    amount: float, right: float, tmp_path: Path
) -> None:
    """Calls that no milestone names change a table of which none speaks."""
    gold = (seal.called("pay", amount=5.0), StateUnchanged("doors"))
    (goal,) = seal.ask("Pay 5.", *gold).goals
    tasks = [Task("t", "", (goal,))]
    run = seal.run(
        seal.Benchmark("bank", environment=BANK, tasks=tasks),
        agent=playing({"Pay 5.": [paid(one) for one in {5.0, amount}]}, "Done."),
        baselines=False,
        out=tmp_path / "run",
    )
    found = scores_of(run)["t"]
    assert (found["pass_rate"], found["extra_effects"]) == (right, 1 - right)
