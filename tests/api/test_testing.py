"""What must hold of the scores of any benchmark, and what a benchmark that breaks it is told."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

import seal
from seal.core import DataError, Milestone, Plan, Step, Task, ToolCall
from seal.core.conditions import Called
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


def shop(*tasks: Task) -> seal.Benchmark:
    return seal.Benchmark("shop", tools=[get_order, get_stock], tasks=list(tasks))


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


def test_gold_that_contradicts_itself_is_named_unless_it_is_known(tmp_path: Path) -> None:
    broken = shop(*SOUND, contradictory())
    with pytest.raises(AssertionError, match=r"the gold: broken, goal 0: calls_right is 0\.0"):
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
