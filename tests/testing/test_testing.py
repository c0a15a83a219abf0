"""What must hold of the scores of any benchmark, and what a benchmark that breaks it is told."""

import json
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest

import seal
from seal.core import DataError, Milestone, Plan, Scale, Step, Task, ToolCall, Trajectory
from seal.core.conditions import Called
from seal.core.state_conditions import StateHas
from seal.environments.chat_world import World
from seal.environments.world import Worlds, toolbox
from seal.pools.declarations import PublishedTable
from seal.testing import check_benchmark


def get_order(order_id: str, full: bool = False) -> dict[str, str]:
    """Look an order up."""
    return {"ships": "Monday"}


def get_stock(item: str) -> int:
    """Count what is left of an item."""
    return 3


def ask(text: str, *calls: Called, **gold: str) -> Task:
    return seal.ask(text, *calls, **gold)


SOUND = [
    ask(
        "When does order 7 ship, and how many lamps are left?",
        seal.called("get_order", order_id=seal.Argument(("7", "#7"))),
        seal.called("get_stock", item="lamp"),
    ),
    ask("Where is order 8?", seal.called("get_order", order_id="8")),
]


OTHERS = [{"name": f"count_{n}", "description": f"Count shelf {n}."} for n in range(12)]


def shop(*tasks: Task) -> seal.Benchmark:
    return seal.Benchmark("shop", tools=[get_order, get_stock, *OTHERS], tasks=list(tasks))


def contradictory() -> Task:
    """A task whose reference makes another call than its plan asks for."""
    goal = ask("Where is order 9?", seal.called("get_order", order_id="9")).goals[0]
    call = ToolCall("call_0", "get_order", {"order_id": "6"}, tool="shop/get_order")
    plan = Plan((Milestone(Called("shop/get_order", {"order_id": seal.Argument(("9",))})),))
    reference = (Step(0, "execution_manager", "executor", call=call),)
    return Task("broken", "shop", (replace(goal, plans=(plan,), reference=reference),))


def test_a_sound_benchmark_passes_in_one_line() -> None:
    check_benchmark(shop(*SOUND))


def test_a_list_of_tasks_with_its_tools_does_too() -> None:
    check_benchmark(SOUND, tools=[get_order, get_stock])


@pytest.mark.slow
def test_gold_that_contradicts_itself_is_named_unless_it_is_known(tmp_path: Path) -> None:
    broken = shop(*SOUND, contradictory())
    with pytest.raises(AssertionError, match=r"the gold: broken, goal 1: calls_right is 0\.0"):
        check_benchmark(broken)
    with pytest.raises(AssertionError, match="1 of 3 tasks are known to contradict; at most 1%"):
        check_benchmark(broken, known={"broken": "another order"})
    file = tmp_path / "known.json"
    file.write_text(json.dumps({"shop-001": "once"}), encoding="utf-8")
    with pytest.raises(AssertionError, match="do not any more; remove: shop-001"):
        check_benchmark(shop(*SOUND), known=file)
    file.write_text("[]", encoding="utf-8")
    with pytest.raises(DataError, match="expected an object of task to reason"):
        check_benchmark(shop(*SOUND), known=file)


def of_the_world_alone(name: str) -> Task:
    """A task whose gold says what the world must be, and has no reference to play."""
    plan = Plan((Milestone(StateHas("orders", ({"id": "9"},))),))
    return Task(name, "shop", (replace(SOUND[1].goals[0], plans=(plan,), reference=()),))


def test_tasks_without_gold_to_play_are_counted() -> None:
    some = shop(*SOUND, of_the_world_alone("nine"))
    with pytest.raises(AssertionError, match=r"1 of 3 tasks have no gold .*, expected 0: nine"):
        check_benchmark(some, gold_alone=True)
    with pytest.raises(AssertionError, match=r"1 of 3 tasks have no gold .*, expected 2: nine"):
        check_benchmark(some, gold_alone=True, without_gold=2)
    check_benchmark(some, gold_alone=True, without_gold=1)
    check_benchmark(some, gold_alone=True, without_gold=2, limit=3)


def test_a_benchmark_without_any_gold_to_play_does_not_pass() -> None:
    with pytest.raises(AssertionError, match="none of 1 task has gold that can be played"):
        check_benchmark(shop(of_the_world_alone("nine")), gold_alone=True, without_gold=1)


CHAINED = seal.ask(
    "Order what the stock of lamps lacks, once both were looked up.",
    seal.called("get_stock", item="lamp"),
    seal.called("get_order", order_id="7"),
    seal.called("get_stock", item="shade"),
)
(PLAN,) = CHAINED.goals[0].plans or ()
FREE_THEN_LAST = Plan((*PLAN.milestones[:2], replace(PLAN.milestones[2], after=(0, 1))))
CHAINED = replace(CHAINED, goals=(replace(CHAINED.goals[0], plans=(FREE_THEN_LAST,)),))
EITHER = seal.ask("Where is order 8, or is there a lamp?", seal.called("get_order", order_id="8"))
LAMP = ask("?", seal.called("get_stock", item="lamp")).goals[0].plans or ()
EITHER = replace(
    EITHER, goals=(replace(EITHER.goals[0], plans=(*(EITHER.goals[0].plans or ()), *LAMP)),)
)
OFFERED = ("shop/get_order", "shop/get_stock")
STRANGERS = [
    replace(task, goals=(replace(task.goals[0], offered=OFFERED),))
    for task in (*SOUND, CHAINED, EITHER)
]


def test_plans_with_an_order_and_alternative_plans_pass_too() -> None:
    check_benchmark(shop(*STRANGERS))


COUNTER = count()


def made(chat: Trajectory) -> list[ToolCall]:
    return [step.call for step, _ in chat.calls() if step.call is not None]


def by_name(task: Task, chat: Trajectory) -> bool:
    return all(call.name in ("get_order", "get_stock") for call in made(chat))


def by_first_value(task: Task, chat: Trajectory) -> bool:
    return all((call.arguments or {}).get("order_id") != "#7" for call in made(chat))


def by_the_order_of_gold(task: Task, chat: Trajectory) -> bool:
    gold = [call.tool for call in (task.goals[0].plans or ())[0].calls()]
    called = [str(call.tool) for call in made(chat)]
    return called == gold or sorted(called) != sorted(gold)


def by_the_first_plan(task: Task, chat: Trajectory) -> bool:
    gold = {call.tool for call in (task.goals[0].plans or ())[0].calls()}
    return all(call.tool in gold for call in made(chat))


def by_replies(task: Task, chat: Trajectory) -> float:
    return 1 / (1 + len({step.turn for step, _ in chat.calls()}))


def by_offer(task: Task, chat: Trajectory) -> int:
    return len(chat.offered[0])


def by_what_was_before(task: Task, chat: Trajectory) -> int:
    return next(COUNTER)


COUNTING: tuple[Any, ...] = (by_offer, by_what_was_before)
for metric in COUNTING:
    metric.scales = {metric.__name__: Scale(bounded=False, higher_is_better=None)}


DEFECTIVE: dict[Callable[..., Any], str] = {
    by_name: "renamed tools",
    by_first_value: "other right values",
    by_the_order_of_gold: "another order",
    by_the_first_plan: "another plan",
    by_replies: "calls one by one",
    by_offer: "an irrelevant tool",
}


def test_metrics_that_see_what_they_may_not_are_caught() -> None:
    with pytest.raises(AssertionError) as caught:
        check_benchmark(replace(shop(*STRANGERS), metrics=list(DEFECTIVE)))
    told = str(caught.value)
    for metric, check in DEFECTIVE.items():
        assert re.search(rf"{check}: .*: {metric.__name__} is", told), metric


def test_a_metric_that_remembers_other_chats_is_caught() -> None:
    bench = replace(shop(*SOUND), metrics=[by_what_was_before])
    with pytest.raises(AssertionError, match=r"other workers: .*: by_what_was_before is"):
        check_benchmark(bench)


def replies(task: Task, chat: Trajectory) -> int:
    return len({step.turn for step, _ in chat.calls()})


replies.scales = {"replies": Scale(bounded=False)}  # type: ignore[attr-defined]


def test_a_count_may_change_by_the_way_that_the_gold_is_played() -> None:
    check_benchmark(replace(shop(*SOUND), metrics=[replies]))


def test_a_rate_of_replies_may_be_named_as_one_that_may_change() -> None:
    check_benchmark(replace(shop(*SOUND), metrics=[by_replies]), may_change=["by_replies"])


def satisfied(task: Task, chat: Trajectory) -> bool:
    return True


def lost(task: Task, chat: Trajectory) -> float:
    return 0.5


def test_a_success_that_gold_lacks_or_that_doing_nothing_has_is_caught() -> None:
    with pytest.raises(AssertionError, match=r"nothing is done: .*: satisfied is 1\.0"):
        check_benchmark(replace(shop(*SOUND), metrics=[satisfied], success="satisfied"))
    with pytest.raises(AssertionError, match=r"the gold: .*: lost is 0\.5, expected 1\.0"):
        check_benchmark(replace(shop(*SOUND), metrics=[lost], success="lost"), gold_alone=True)


@pytest.fixture
def tickets(monkeypatch: pytest.MonkeyPatch) -> Iterator[seal.Benchmark]:
    """A stranger's benchmark with a world and a metric of its own."""
    source = Path(__file__).parents[1] / "fixtures" / "ticket_office" / "src"
    monkeypatch.syspath_prepend(str(source))
    import seal_ticket_office

    yield seal_ticket_office.TICKETS
    del sys.modules["seal_ticket_office"]


def test_a_strangers_world_is_checked_and_its_honesty_is_no_success(
    tickets: seal.Benchmark,
) -> None:
    check_benchmark(replace(tickets, success="similarity"))
    with pytest.raises(AssertionError, match=r"nothing is done: .*: honest is 1\.0"):
        check_benchmark(tickets)


def busy(task: Task, chat: Trajectory) -> bool:
    return bool(made(chat))


def test_an_end_that_depends_on_the_calls_before_is_caught() -> None:
    def book(train: World, seat: int) -> str:
        """Book a seat."""
        train.add("bookings", {"id": train.new_id(), "seat": seat})
        return "booked"

    tables: dict[str, Any] = {"bookings": []}
    train = Worlds(name="train", tools=toolbox("train", [book]), tables=tables)

    def bench(*ignore: str) -> seal.Benchmark:
        gold = seal.ends_as(seal.called("book", seat=2), ignore=ignore)
        return seal.Benchmark("train", environment=train, tasks=[seal.ask("Book seat 2.", gold)])

    for ignore in ("bookings.id", "bookings"):
        assert all("before the gold" not in one for one in told_of(bench(ignore)))
    (told,) = [one for one in told_of(bench()) if "before the gold" in one]
    assert told.endswith("give ends_as(..., ignore=['bookings.id'])")


def told_of(bench: seal.Benchmark) -> list[str]:
    try:
        check_benchmark(bench)
    except AssertionError as error:
        return str(error).splitlines()
    return []


def test_a_success_that_does_not_see_the_world_is_caught(tickets: seal.Benchmark) -> None:
    (sold, _) = tickets.tasks[0].goals[0].plans[0].milestones
    looked_up = seal.ask("Sell.", seal.called("find_shows", city="York"))
    look, words = (
        looked_up.goals[0].plans[0].milestones[0],
        "Sell Bo a ticket for what is on in York.",
    )
    plan = Plan(
        (
            look,
            *(replace(one, after=(0,)) for one in (sold,)),
            *tickets.tasks[0].goals[0].plans[0].milestones[1:],
        )
    )
    task = replace(looked_up, goals=(replace(looked_up.goals[0], text=words, plans=(plan,)),))
    own = replace(tickets, published=())  # whose columns are of the metric that is left out here
    blind = replace(own, tasks=[task], metrics=[busy], headline=(), success="busy")
    with pytest.raises(AssertionError, match=r"changes the world is left out: .*: busy is 1\.0"):
        check_benchmark(blind)


def test_gold_that_any_answer_meets_is_caught() -> None:
    vague = ask("Is there a lamp?", seal.called("get_stock", item="lamp"), answer="you")
    with pytest.raises(AssertionError, match=r"drops its values: .*: pass_rate is 1\.0"):
        check_benchmark(shop(vague))


def test_a_published_column_of_no_metric_is_told() -> None:
    rows, columns = {"Clerk": {"F1": 80.0}}, {"F1": "cal_f1"}
    table = PublishedTable("Honesty", "Office 2026, Table 1", rows, columns, 100.0)
    told = "table-1: the column 'F1' is of the metric 'cal_f1', which no run has; name one of: "
    with pytest.raises(AssertionError, match=told):
        check_benchmark(replace(shop(*SOUND), published=[table]), gold_alone=True)
    sound = replace(table, columns={"F1": "call_f1"})
    check_benchmark(replace(shop(*SOUND), published=[sound]), gold_alone=True)


def pay(bank: World, amount: float) -> str:
    """Pay an amount of money."""
    if amount > 10:
        raise ValueError("too much")
    bank.add("payments", {"amount": amount})
    return "paid"


def count_payments(bank: World) -> int:
    """Count the payments."""
    return len(bank.rows("payments"))


BANK = Worlds(name="bank", tools=toolbox("bank", [pay, count_payments]), tables={"payments": []})
PAID = seal.ends_as(seal.called("pay", amount=5))


def banking(*gold: Any, **more: Any) -> seal.Benchmark:
    return seal.Benchmark("bank", environment=BANK, tasks=[seal.ask("Pay.", *gold, **more)])


@pytest.mark.parametrize(
    ("gold", "more"),
    [
        ([PAID], {"answer": "paid"}),
        ([seal.called("count_payments"), PAID], {}),
        ([PAID, seal.called("count_payments")], {"answer": "done"}),
        ([seal.ends_as(seal.refused(seal.called("pay", amount=50)))], {}),
        ([seal.called("count_payments"), seal.FinalState("payments", ())], {"answer": "nothing"}),
    ],
)
def test_gold_of_the_end_of_a_world_may_stand_beside_other_gold(gold: Any, more: Any) -> None:
    check_benchmark(banking(*gold, **more))


def test_the_end_of_a_world_that_any_answer_leaves_is_seen_by_the_answer_alone() -> None:
    with pytest.raises(AssertionError, match=r"drops its values: .*: pass_rate is 1\.0"):
        check_benchmark(banking(PAID, answer="you"))


def test_gold_that_cannot_be_played_fails_for_each_task_with_its_call_and_error() -> None:
    def net(key: str) -> str:
        """Look a key up on the net."""
        raise ConnectionError("no network")

    def odd(key: str) -> Any:
        """Look a key up oddly."""
        return {1, 2}

    def full(key: str) -> str:
        """Look a key up with a quota."""
        raise ValueError("quota exceeded")

    tools = [net, odd, full]
    tasks = [
        seal.ask(f"Look {key} up.", seal.called(tool.__name__, key=key))
        for tool in tools
        for key in ("a", "b")
    ]
    bench = seal.Benchmark("b", tools=tools, tasks=tasks)
    with pytest.raises(AssertionError) as raised:
        check_benchmark(bench, gold_alone=True)
    told = str(raised.value).splitlines()
    for task, (tool, said) in enumerate(
        [("net", "no network"), ("odd", "returned set"), ("full", "quota exceeded")] * 2
    ):
        number = 2 * (task % 3) + 1 + task // 3
        key = "ab"[task // 3]
        assert any(
            f"b-00{number}" in one and said in one and f"{tool}(key='{key}')" in one for one in told
        ), (number, told)


def test_of_many_scores_that_cannot_be_each_task_is_named() -> None:
    def no(key: str) -> str:
        """Refuse."""
        raise ValueError("no")

    tasks = [seal.ask(f"Look {n} up.", seal.called("no", key=str(n))) for n in range(40)]
    with pytest.raises(AssertionError) as raised:
        check_benchmark(seal.Benchmark("b", tools=[no], tasks=tasks), gold_alone=True)
    assert all(f"b-{number:03}" in str(raised.value) for number in range(1, 41))
