"""A shop as a user would bring it: functions, a schema, questions."""

from typing import Literal

import seal

Status = Literal["open", "shipped"]

ORDERS = {"7": {"status": "shipped", "ships": "Monday"}, "8": {"status": "open", "ships": "Friday"}}
CANCEL = {
    "type": "function",
    "function": {
        "name": "cancel_order",
        "description": "Cancel an order.",
        "parameters": {
            "type": "object",
            "properties": {"order_id": {"type": "string"}},
            "required": ["order_id"],
        },
    },
}


def get_order(order_id: str) -> dict:
    """Look an order up.

    Args:
        order_id: As on the receipt.
    """
    return ORDERS[order_id]


async def count_orders(status: Status = "open") -> int:
    """Count the orders of a status."""
    return sum(order["status"] == status for order in ORDERS.values())


def shop(**parts) -> seal.Benchmark:
    """Return the shop, with other parts where they are given."""
    given = {
        "tools": [get_order, count_orders, CANCEL],
        "tasks": [
            seal.ask("Where is order 7?", seal.called("get_order", order_id="7"), answer="Monday"),
            seal.ask("Cancel order 8", seal.called("cancel_order", order_id="8")),
        ],
    }
    return seal.Benchmark("shop", **{**given, **parts})


SHOP = shop()
