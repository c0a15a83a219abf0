"""A shop: orders, returns and refunds under a written policy, as its service desk has them."""

from __future__ import annotations

import random
from datetime import timedelta
from typing import Any, Literal

from seal.benchmarks.apps import people
from seal.benchmarks.apps.people import change, days_since, number, pay_in, the, today, unasked
from seal.environments.chat_world import World
from seal.environments.tables import Row
from seal.environments.world import Worlds, toolbox

GOODS = {
    "electronics": (("desk lamp", 34.9), ("headphones", 79.0), ("kettle", 42.5), ("radio", 58.0)),
    "clothing": (("wool jumper", 64.0), ("rain jacket", 89.5), ("scarf", 24.0), ("boots", 119.0)),
    "kitchen": (("teapot", 27.5), ("bread knife", 31.0), ("frying pan", 49.9), ("mug set", 22.0)),
    "garden": (("hose", 38.0), ("shears", 29.5), ("planter", 18.9), ("hammock", 96.0)),
    "clearance": (("lantern", 12.0), ("doormat", 9.5), ("board game", 15.0), ("backpack", 39.0)),
}
"""Category to its products, each with the price in euros."""

COLUMNS: dict[str, dict[str, Any]] = {
    **people.COLUMNS,
    "products": {
        "product_id": str,
        "name": str,
        "category": str,
        "price": float,
        "stock": int,
    },
    "orders": {
        "order_id": str,
        "person_id": str,
        "state": str,
        "placed": str,
        "promised": str,
        "delivered": str | None,
        "address": str,
        "account_id": str,
    },
    "items": {
        "item_id": str,
        "order_id": str,
        "product_id": str,
        "name": str,
        "category": str,
        "quantity": int,
        "price": float,
        "state": str,
    },
    "returns": {
        "return_id": str,
        "person_id": str,
        "item_id": str,
        "opened": bool,
        "state": str,
        "started": str,
    },
    "credits": {"credit_id": str, "person_id": str, "amount": float, "reason": str},
}


def goods(seed: int = people.SEED, count: int = 12) -> dict[str, list[Row]]:
    """Return the tables of a shop; equal seeds give equal rows.

    Every customer has two orders: an old one that was delivered, and a newer one in any state.
    """
    drawn = random.Random(f"shop {seed}")
    tables = people.people(seed, count)
    products: list[Row] = []
    for category, named in GOODS.items():
        for name, price in named:
            product_id = f"G{len(products) + 21}"
            row = {"product_id": product_id, "name": name, "category": category}
            products.append({**row, "price": price, "stock": drawn.randrange(0, 9)})
    orders: list[Row] = []
    items: list[Row] = []
    for person in tables["people"]:
        own = [a for a in tables["accounts"] if a["person_id"] == person["person_id"]]
        states = ("delivered", drawn.choice(("placed", "packed", "shipped", "delivered")))
        for state, ago in zip(
            states, (drawn.randrange(25, 80), drawn.randrange(2, 20)), strict=True
        ):
            placed = people.TODAY - timedelta(days=ago + 4)
            late = drawn.choice((0, 0, 0, 2, 5))
            promised = placed + timedelta(days=4)
            came = min(promised + timedelta(days=late), people.TODAY - timedelta(days=1))
            order_id = f"W{1001 + len(orders)}"
            orders.append(
                {
                    "order_id": order_id,
                    "person_id": person["person_id"],
                    "state": state,
                    "placed": placed.isoformat(),
                    "promised": promised.isoformat(),
                    "delivered": came.isoformat() if state == "delivered" else None,
                    "address": person["address"],
                    "account_id": own[0]["account_id"],
                }
            )
            for product in drawn.sample(products, drawn.choice((1, 2, 2, 3))):
                row = {name: product[name] for name in ("product_id", "name", "category")}
                items.append(
                    {
                        "item_id": f"I{len(items) + 501}",
                        "order_id": order_id,
                        **row,
                        "quantity": drawn.choice((1, 1, 1, 2)),
                        "price": product["price"],
                        "state": "bought",
                    }
                )
    return {
        **tables,
        "products": products,
        "orders": orders,
        "items": items,
        "returns": [],
        "credits": [],
    }


# -- Tools.


def list_orders(world: World, person_id: str) -> list[Row]:
    """List the orders of a customer, without their items.

    Args:
        person_id: Id of the customer.
    """
    the(world, "people", person_id)
    return [row for row in world.rows("orders") if row["person_id"] == person_id]


def get_order(world: World, order_id: str) -> Row:
    """Look an order up, with its items.

    Args:
        order_id: Id of the order.
    """
    items = [row for row in world.rows("items") if row["order_id"] == order_id]
    return {**the(world, "orders", order_id), "items": items}


def search_products(
    world: World, text: str | None = None, category: str | None = None
) -> list[Row]:
    """Find products with price in euros and pieces in stock.

    Args:
        text: Part of the name; left out, any.
        category: electronics, clothing, kitchen, garden or clearance; left out, any.
    """
    return [
        row
        for row in world.rows("products")
        if (text is None or text.casefold() in row["name"])
        and (category is None or category == row["category"])
    ]


def cancel_order(world: World, order_id: str) -> Row:
    """Cancel an order that was not shipped. What was paid goes back to the account it came from.

    Args:
        order_id: Id of the order.

    Returns:
        The order, and the euros paid back.
    """
    order = the(world, "orders", order_id)
    if order["state"] not in ("placed", "packed"):
        raise ValueError(f"the order {order_id} is {order['state']}")
    items = [row for row in world.table("items") if row["order_id"] == order_id]
    paid = round(sum(row["price"] * row["quantity"] for row in items), 2)
    for row in items:
        _stock(world, row["product_id"], row["quantity"])
    pay_in(world, order["account_id"], paid)
    return {**change(world, "orders", order, state="cancelled"), "paid_back": paid}


def change_delivery_address(world: World, order_id: str, address: str) -> Row:
    """Send an order that was not shipped to another address.

    Args:
        order_id: Id of the order.
        address: The new address in full.
    """
    order = the(world, "orders", order_id)
    if order["state"] not in ("placed", "packed"):
        raise ValueError(f"the order {order_id} is {order['state']}")
    return change(world, "orders", order, address=address)


def swap_item(world: World, item_id: str, product_id: str) -> Row:
    """Swap an item of an order that was not shipped for a product; the account pays the difference.

    Args:
        item_id: Id of the item.
        product_id: Id of the product that is sent in its place.

    Returns:
        The item as it is now.
    """
    item = the(world, "items", item_id)
    order = the(world, "orders", item["order_id"])
    product = the(world, "products", product_id)
    if order["state"] not in ("placed", "packed"):
        raise ValueError(f"the order {order['order_id']} is {order['state']}")
    _stock(world, product_id, -item["quantity"])
    _stock(world, item["product_id"], item["quantity"])
    difference = round((item["price"] - product["price"]) * item["quantity"], 2)
    if difference:
        pay_in(world, order["account_id"], difference)
    new = {name: product[name] for name in ("product_id", "name", "category", "price")}
    return change(world, "items", item, **new)


def start_return(world: World, item_id: str, opened: bool) -> Row:
    """Register that a customer sends a delivered item back.

    Args:
        item_id: Id of the item.
        opened: Whether the customer says that the package was opened.

    Returns:
        The return, with its id.
    """
    item = the(world, "items", item_id)
    order = the(world, "orders", item["order_id"])
    if order["state"] != "delivered" or item["state"] != "bought":
        raise ValueError(f"the item {item_id} is {item['state']}, its order {order['state']}")
    change(world, "items", item, state="returned")
    row: Row = {
        "return_id": number(world, "returns", "R", 801),
        "person_id": order["person_id"],
        "item_id": item_id,
        "opened": opened,
        "state": "started",
        "started": today(world).isoformat(),
    }
    world.add("returns", row)
    return row


def list_returns(world: World, person_id: str) -> list[Row]:
    """List the returns of a customer.

    Args:
        person_id: Id of the customer.
    """
    the(world, "people", person_id)
    return [row for row in world.rows("returns") if row["person_id"] == person_id]


def refund(world: World, return_id: str, amount: float, to: Literal["account", "credit"]) -> Row:
    """Refund a return that was started.

    Args:
        return_id: Id of the return.
        amount: In euros, at most what was paid.
        to: The account that paid, or credit at the shop.

    Returns:
        The return as it is now.
    """
    back = the(world, "returns", return_id)
    if back["state"] != "started":
        raise ValueError(f"the return {return_id} is {back['state']}")
    item = the(world, "items", back["item_id"])
    if not 0 < amount <= item["price"] * item["quantity"]:
        raise ValueError(f"{item['price'] * item['quantity']:.2f} EUR were paid, got {amount}")
    order = the(world, "orders", item["order_id"])
    if to == "account":
        pay_in(world, order["account_id"], amount)
    else:
        _credit(world, order["person_id"], amount, f"return {return_id}")
    return change(world, "returns", back, state="refunded")


def give_credit(world: World, order_id: str, amount: float) -> Row:
    """Give a customer credit at the shop as an apology for an order.

    Args:
        order_id: Id of the order.
        amount: In euros.

    Returns:
        The credit.
    """
    if amount <= 0:
        raise ValueError(f"the amount must be above 0, got {amount}")
    order = the(world, "orders", order_id)
    return _credit(world, order["person_id"], amount, f"order {order_id}")


def place_order(
    world: World, person_id: str, product_id: str, quantity: int, account_id: str
) -> Row:
    """Order a product for a customer, to the address that is known. The account pays at once.

    Args:
        person_id: Id of the customer.
        product_id: Id of the product.
        quantity: Pieces, from 1 on.
        account_id: Id of the account that pays.

    Returns:
        The order.
    """
    person, product = the(world, "people", person_id), the(world, "products", product_id)
    if quantity < 1:
        raise ValueError(f"order 1 piece or more, got {quantity}")
    _stock(world, product_id, -quantity)
    pay_in(world, account_id, -round(product["price"] * quantity, 2))
    order: Row = {
        "order_id": number(world, "orders", "W", 1001),
        "person_id": person_id,
        "state": "placed",
        "placed": today(world).isoformat(),
        "promised": (today(world) + timedelta(days=4)).isoformat(),
        "delivered": None,
        "address": person["address"],
        "account_id": account_id,
    }
    world.add("orders", order)
    named = {name: product[name] for name in ("product_id", "name", "category")}
    world.add(
        "items",
        {
            "item_id": number(world, "items", "I", 501),
            "order_id": order["order_id"],
            **named,
            "quantity": quantity,
            "price": product["price"],
            "state": "bought",
        },
    )
    return order


def _stock(world: World, product_id: str, pieces: int) -> None:
    product = the(world, "products", product_id)
    if product["stock"] + pieces < 0:
        raise ValueError(f"of {product['name']} there are {product['stock']} in stock")
    change(world, "products", product, stock=product["stock"] + pieces)


def _credit(world: World, person_id: str, amount: float, reason: str) -> Row:
    row: Row = {"credit_id": number(world, "credits", "C", 601), "person_id": person_id}
    row |= {"amount": amount, "reason": reason}
    world.add("credits", row)
    return row


TOOLS = toolbox(
    "shop",
    [
        list_orders,
        get_order,
        search_products,
        cancel_order,
        change_delivery_address,
        swap_item,
        start_return,
        list_returns,
        refund,
        give_credit,
        place_order,
    ],
)


# -- The policy: each rule is told by its docstring, and asked of every call.


def before_packing(call: Any, world: Any, chat: Any) -> str | None:
    """Cancel an order, swap its items or change its address only while its state is "placed".

    Hand over a customer whose order is packed already.
    """
    if call.name not in ("cancel_order", "swap_item", "change_delivery_address"):
        return None
    order = _order_of(call, world)
    return None if order["state"] == "placed" else f"{order['order_id']} is {order['state']}"


def return_window(call: Any, world: Any, chat: Any) -> str | None:
    """Take items back within 30 days of their delivery; from gold customers within 60 days."""
    if call.name != "start_return":
        return None
    order = _order_of(call, world)
    tier = world.row("people", person_id=order["person_id"])["tier"]
    passed, most = days_since(order["delivered"], world.today), 60 if tier == "gold" else 30
    return f"delivered {passed} days ago, and {most} are allowed" if passed > most else None


def clearance_is_final(call: Any, world: Any, chat: Any) -> str | None:
    """Take nothing back that was bought on clearance, whatever is wrong with it."""
    if call.name != "start_return":
        return None
    item = world.row("items", item_id=call.arguments["item_id"])
    return f"{item['name']} was on clearance" if item["category"] == "clearance" else None


def refund_amount(call: Any, world: Any, chat: Any) -> str | None:
    """Refund what was paid for the item, to the cent; for opened electronics 10 % less."""
    if call.name != "refund":
        return None
    back = world.row("returns", return_id=call.arguments["return_id"])
    item = world.row("items", item_id=back["item_id"])
    part = 0.9 if back["opened"] and item["category"] == "electronics" else 1.0
    right = round(item["price"] * item["quantity"] * part, 2)
    amount = call.arguments["amount"]
    return None if abs(amount - right) < 0.005 else f"{amount} EUR, and {right} EUR are due"


def refund_place(call: Any, world: Any, chat: Any) -> str | None:
    """Refund to the account that paid; if the delivery is over 30 days ago, only as credit."""
    if call.name != "refund":
        return None
    back = world.row("returns", return_id=call.arguments["return_id"])
    item = world.row("items", item_id=back["item_id"])
    order = world.row("orders", order_id=item["order_id"])
    late = days_since(order["delivered"], world.today) > 30
    due = "credit" if late else "account"
    return None if call.arguments["to"] == due else f"it is due to the {due}"


def swap_category(call: Any, world: Any, chat: Any) -> str | None:
    """Swap an item only for a product of its own category."""
    if call.name != "swap_item":
        return None
    item = world.row("items", item_id=call.arguments["item_id"])
    product = world.row("products", product_id=call.arguments["product_id"])
    same = item["category"] == product["category"]
    return None if same else f"{item['category']} for {product['category']}"


def apology(call: Any, world: Any, chat: Any) -> str | None:
    """Give credit as an apology only for an order that came late: 5 EUR for each day, 20 at most.

    Count the days after the promised one, until today if it has not come. Give it once an order.
    """
    if call.name != "give_credit":
        return None
    order = world.row("orders", order_id=call.arguments["order_id"])
    came = order["delivered"]
    late = days_since(order["promised"], world.today) if came is None else 0
    if came is not None:
        late = days_since(order["promised"], world.today) - days_since(came, world.today)
    due = min(20, 5 * max(0, late))
    if world.rows("credits", reason=f"order {order['order_id']}"):
        return f"{order['order_id']} had its credit already"
    amount = call.arguments["amount"]
    return None if amount == due and due else f"{amount} EUR, and {due} EUR are due"


def at_most_three(call: Any, world: Any, chat: Any) -> str | None:
    """Sell at most three pieces of a product to a customer in one order."""
    if call.name != "place_order" or call.arguments["quantity"] <= 3:
        return None
    return f"{call.arguments['quantity']} pieces"


def ask_before_selling(call: Any, world: Any, chat: Any) -> str | None:
    """Name order, item, product and amount, and get a yes, before you cancel, swap, refund or sell.

    Name each by its id, or by a word that only it has.
    """
    return unasked(call, chat, "cancel_order", "swap_item", "refund", "place_order")


def _order_of(call: Any, world: Any) -> Row:
    given = call.arguments
    if "item_id" in given:
        order_id = world.row("items", item_id=given["item_id"])["order_id"]
    else:
        order_id = given["order_id"]
    row: Row = world.row("orders", order_id=order_id)
    return row


POLICY = (
    people.DESK,
    people.identity,
    people.one_customer,
    people.EUROS,
    before_packing,
    return_window,
    clearance_is_final,
    refund_amount,
    refund_place,
    swap_category,
    apology,
    at_most_three,
    ask_before_selling,
)

shop = Worlds(
    name="shop",
    tools={**people.TOOLS, **TOOLS},
    tables=goods(),
    columns=COLUMNS,
    policy=POLICY,
    goals=(
        "seal.benchmarks.apps.shop_goals:GOALS",
        "seal.benchmarks.apps.both_goals:GOALS",
        "seal.benchmarks.apps.errand_goals:GOALS",
    ),
)
"""The world `shop`: its service desk, with the people and goods that ship."""
