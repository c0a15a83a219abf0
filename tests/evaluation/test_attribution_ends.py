"""Why a world does not end as gold asks: a deed is missing, wrong, too many, or was undone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

import seal
from seal.core.conditions import Condition
from seal.environments.chat_world import World
from seal.environments.world import Worlds, toolbox


def status(shop: World, order: str, wanted: str) -> str:
    rows = [r | {"status": wanted} if r["id"] == order else r for r in shop.rows("orders")]
    shop.put("orders", rows)
    return wanted


def cancel(shop: World, order: str) -> str:
    """Cancel an order.

    Args:
        order: Its id.
    """
    return status(shop, order, "cancelled")


def reopen(shop: World, order: str) -> str:
    """Reopen an order.

    Args:
        order: Its id.
    """
    return status(shop, order, "open")


def delete(shop: World, order: str) -> str:
    """Delete an order.

    Args:
        order: Its id.
    """
    shop.put("orders", [row for row in shop.rows("orders") if row["id"] != order])
    return "deleted"


def refund(shop: World, order: str, amount: int) -> str:
    """Refund a sum.

    Args:
        order: Its id.
        amount: At most 40.
    """
    if amount > 40:
        raise ValueError("more than the total")
    shop.add("refunds", {"id": shop.new_id(), "order": order, "amount": amount})
    return "refunded"


def look(shop: World) -> list[Any]:
    """List the orders."""
    return shop.rows("orders")


SHOP = Worlds(
    name="shop",
    tools=toolbox("shop", [cancel, reopen, delete, refund, look]),
    tables={
        "orders": [{"id": "7", "status": "open"}, {"id": "8", "status": "open"}],
        "refunds": [],
    },
    columns={"refunds": {"id": str, "order": str, "amount": int}},
)
SEVEN, EIGHT = ({"order": order} for order in ("7", "8"))


def gold(*calls: tuple[str, dict[str, Any]]) -> Condition:
    made = [seal.called(name, **given) for name, given in calls]
    return seal.ends_as(*made, ignore=["refunds.id"])


CASES: list[tuple[Any, Any, str, str, str]] = [
    (
        seal.FinalState("orders", ({"id": "7", "status": "open"},)),
        [],
        "not_called",
        "no_call",
        "a call was due and never called",
    ),
    (gold(("delete", SEVEN)), [], "not_called", "no_call", "delete was due and never called"),
    (
        gold(("delete", SEVEN)),
        [("look", {})],
        "not_called",
        "stopped_early",
        "delete was due and never called",
    ),
    (
        gold(("cancel", SEVEN)),
        [("look", {}), ("refund", EIGHT | {"amount": 1})],
        "wrong_tool",
        "other_tool",
        "cancel was due, refund was called",
    ),
    (
        gold(("look", {}), ("delete", SEVEN)),
        [],
        "not_called",
        "no_call",
        "delete was due and never called",
    ),
    (
        gold(("look", {}), ("cancel", SEVEN)),
        [("cancel", SEVEN), ("refund", SEVEN | {"amount": 1})],
        "wrong_tool",
        "extra_effect",
        "refund left in refunds what gold does not leave",
    ),
    (gold(("delete", SEVEN)), [("delete", EIGHT)], "wrong_argument", "value", "expected '7'"),
    (
        gold(("cancel", SEVEN), ("cancel", EIGHT)),
        [("cancel", SEVEN)],
        "not_called",
        "too_few",
        "the call cancel(order='8') was due and never made",
    ),
    (
        gold(("refund", {"order": "7", "amount": 5})),
        [("refund", {"order": "8", "amount": 5})],
        "wrong_argument",
        "value",
        "refund: value order: expected '7', received '8'",
    ),
    (
        gold(("refund", SEVEN | {"amount": 5})),
        [("refund", SEVEN | {"amount": 50})],
        "tool_error",
        "ValueError",
        "refund failed",
    ),
    (
        gold(("cancel", SEVEN)),
        [("cancel", SEVEN), ("reopen", SEVEN)],
        "wrong_tool",
        "undone",
        "reopen took back what gold leaves in orders",
    ),
    (
        seal.called("cancel", **SEVEN),
        [("cancel", SEVEN), ("reopen", SEVEN)],
        "wrong_tool",
        "undone",
        "reopen took back what gold leaves",
    ),
    (
        gold(("cancel", SEVEN)),
        [("cancel", SEVEN), ("refund", SEVEN | {"amount": 1})],
        "wrong_tool",
        "extra_effect",
        "refund left in refunds what gold does not leave",
    ),
]


@pytest.mark.parametrize(("asked", "calls", "stage", "cause", "said"), CASES)
def test_the_cause_is_what_was_done(
    asked: Condition, calls: Any, stage: str, cause: str, said: str, tmp_path: Any
) -> None:
    def agent(request: str, tools: Sequence[Any]) -> str:
        named = {tool.__name__: tool for tool in tools}
        for name, given in calls:
            try:
                named[name](**given)
            except Exception as error:
                assert "more than the total" in str(error)
        return "Done: it is cancelled."

    answer = {"answer": "cancelled"} if asked.kind == "called" else {}
    tasks = [seal.ask("Do it.", asked, **answer)]
    bench = seal.Benchmark("shop", environment=SHOP, tasks=tasks)
    run = seal.run(bench, agent=agent, baselines=False, out=tmp_path / "run")
    (found,) = [one for part in seal.explain(run).content["stages"] for one in part["examples"]]
    assert (found["stage"], found["cause"]) == (stage, cause)
    assert said in found["evidence"]
