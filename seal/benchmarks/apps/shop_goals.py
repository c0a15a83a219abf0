"""Goal templates of the shop: orders, returns, credit, under all its rules."""

from __future__ import annotations

from random import Random
from typing import Any

from seal.benchmarks.apps import desk_goals as desk
from seal.benchmarks.apps.bank_goals import STOP_ANOTHER
from seal.benchmarks.apps.desk_goals import ago, euros, handed_over
from seal.benchmarks.apps.shop import goods
from seal.environments.tables import Row
from seal.environments.templates import Goals, Rows, Slots, Template, Twist, do, say

LOOK: list[dict[str, Any]] = [
    do("list_orders", person_id="{person_id}"),
    do("get_order", order_id="{order_id}"),
]
OPENED = {"opened": {"value": "{told_opened}", "ask": ["opened", "unopened", "closed", "box"]}}
REFUND: list[dict[str, Any]] = [
    say("Shall I refund {due} EUR for return {return_id} to your account?"),
    do("refund", return_id="{return_id}", amount="{due}", to="account"),
]
BUY: list[dict[str, Any]] = [
    say(
        "Shall I order {count} of product {product_id}, the {item}, for customer "
        "{person_id}, paid from account {account} with {total} EUR?"
    ),
    do(
        "place_order",
        person_id="{person_id}",
        product_id="{product_id}",
        quantity="{count}",
        account_id="{account}",
    ),
]
SWAP: list[dict[str, Any]] = [
    say("Shall I swap item {item_id}, the {item}, for product {new_id}, the {new}?"),
    do("swap_item", item_id="{item_id}", product_id="{new_id}"),
]


# -- What is drawn.


def an_order(rows: Rows, drawn: Random, open_: bool) -> dict[str, Any] | None:
    """Return slots of a customer, an order and an item of it that no other order of theirs has.

    An open one is the newer order, which was placed and is not late; else the older one was
    delivered within the last 25 days, in time. The item is one piece, not on clearance.
    """
    _, slots = desk.customer(rows, drawn)
    older, newer = (row for row in rows["orders"] if row["person_id"] == slots["person_id"])
    order = newer if open_ else older
    day = drawn.randrange(3, 25)
    if open_:
        order |= {"state": "placed", "delivered": None, "placed": ago(2), "promised": ago(-2)}
    else:
        order |= {"placed": ago(day + 4), "promised": ago(day), "delivered": ago(day)}
    own = _items(rows, order)
    names = [row["name"] for one in (older, newer) for row in _items(rows, one)]
    fit = [r for r in own if names.count(r["name"]) == 1 and r["category"] != "clearance"]
    if not fit:
        return None
    item = drawn.choice(fit)
    item["quantity"] = 1
    product = desk.row_of(rows, "products", item["product_id"])
    product["stock"] = max(4, product["stock"])
    account = desk.row_of(rows, "accounts", slots["account"])
    account["balance"] = euros(max(account["balance"], 700 + account["balance"] % 90))
    return {
        **slots,
        "order_id": order["order_id"],
        "item_id": item["item_id"],
        "item": item["name"],
        "category": item["category"],
        "price": item["price"],
        "product_id": item["product_id"],
        "paid": euros(sum(row["price"] * row["quantity"] for row in own)),
        "return_id": f"R{801 + len(rows['returns'])}",
        "days_ago": day,
        "told_opened": drawn.choice(("no, it is still closed", "no, I never opened it")),
        "due": item["price"],
        "count": 1,
        "total": item["price"],
    }


def open_order(rows: Rows, slots: Slots, drawn: Random) -> Slots | None:
    """Draw an order that was placed."""
    return an_order(rows, drawn, open_=True)


def delivered_order(rows: Rows, slots: Slots, drawn: Random) -> Slots | None:
    """Draw an order that was delivered lately."""
    return an_order(rows, drawn, open_=False)


def _items(rows: Rows, order: Row) -> list[Row]:
    return [row for row in rows["items"] if row["order_id"] == order["order_id"]]


def packed(rows: Rows, slots: Slots, drawn: Random) -> Slots:
    """Let the order be packed."""
    desk.row_of(rows, "orders", slots["order_id"])["state"] = "packed"
    return {}


def to_address(rows: Rows, slots: Slots, drawn: Random) -> Slots | None:
    """Draw an open order and two addresses that differ by the number."""
    own, there = an_order(rows, drawn, open_=True), desk.address(drawn)
    number, street = there.split(" ", 1)
    return own and {**own, "address": there, "address2": f"{int(number) + 3} {street}"}


def other_product(rows: Rows, slots: Slots, drawn: Random) -> Slots | None:
    """Draw an open order and another product of the category of its item."""
    own = an_order(rows, drawn, open_=True)
    return own and {**own, **_swapped(rows, own, drawn, own["category"])}


def _swapped(rows: Rows, slots: Slots, drawn: Random, category: str, but: str = "") -> Slots:
    """Return the slots of a product that comes in the place of the item."""
    held = {row["name"] for row in rows["items"] if row["order_id"] == slots["order_id"]}
    fit = [r for r in rows["products"] if r["category"] == category and r["name"] not in held]
    new = drawn.choice([row for row in fit if row["name"] != but])
    new["stock"] = max(3, new["stock"])
    more = euros(new["price"] - slots["price"])
    told = f"your account paid {more:.2f} EUR more" if more > 0 else f"you got {-more:.2f} EUR back"
    return {
        "new_id": new["product_id"],
        "new": new["name"],
        "difference": abs(more),
        "settled": told,
    }


def sold_out(rows: Rows, slots: Slots, drawn: Random) -> Slots:
    """Let the wanted product be sold out, and draw another one."""
    desk.row_of(rows, "products", slots["new_id"])["stock"] = 0
    other = _swapped(rows, slots, drawn, slots["category"], but=slots["new"])
    return {"wish": slots["new"], **other}


def of_other_category(rows: Rows, slots: Slots, drawn: Random) -> Slots:
    """Let the wanted product be of another category; the former one is the way out."""
    others = ("electronics", "clothing", "kitchen", "garden")
    category = drawn.choice([name for name in others if name != slots["category"]])
    wish = _swapped(rows, slots, drawn, category)
    return {"wish": wish["new"]}


def opened(rows: Rows, slots: Slots, drawn: Random) -> Slots | None:
    """Let an item of electronics have been opened."""
    if slots["category"] != "electronics":
        return None
    return {"told_opened": "yes, it was opened", "opened": True, "due": euros(0.9 * slots["price"])}


def _delivered(rows: Rows, slots: Slots, tier: str, days: int) -> Slots:
    desk.row_of(rows, "people", slots["person_id"])["tier"] = tier
    order = desk.row_of(rows, "orders", slots["order_id"])
    order |= {"placed": ago(days + 4), "promised": ago(days), "delivered": ago(days)}
    return {"days_ago": days}


def late_gold(rows: Rows, slots: Slots, drawn: Random) -> Slots:
    """Let a gold customer have it for more than 30 days."""
    return _delivered(rows, slots, "gold", drawn.randrange(33, 59))


def too_old(rows: Rows, slots: Slots, drawn: Random) -> Slots:
    """Let it be too long ago."""
    return _delivered(rows, slots, "standard", drawn.randrange(34, 58))


def on_clearance(rows: Rows, slots: Slots, drawn: Random) -> Slots:
    """Let the item have been on clearance."""
    desk.row_of(rows, "items", slots["item_id"])["category"] = "clearance"
    return {}


def came_late(rows: Rows, slots: Slots, drawn: Random) -> Slots | None:
    """Draw an order that came up to three days late."""
    own = an_order(rows, drawn, open_=False)
    return own and {**own, **_late(rows, own, drawn.randrange(1, 4))}


def _late(rows: Rows, slots: Slots, days: int) -> Slots:
    order = desk.row_of(rows, "orders", slots["order_id"])
    order["promised"] = ago(slots["days_ago"] + days)
    return {"days": days, "credit": min(20, 5 * days)}


def very_late(rows: Rows, slots: Slots, drawn: Random) -> Slots:
    """Let it have come so late that the most is given."""
    return _late(rows, slots, drawn.randrange(5, 9))


def not_come(rows: Rows, slots: Slots, drawn: Random) -> Slots:
    """Let it not have come yet."""
    days = drawn.choice([number for number in (1, 2, 3) if number != slots["days"]])
    order = desk.row_of(rows, "orders", slots["order_id"])
    order |= {"state": "shipped", "delivered": None, "promised": ago(days)}
    return {"days": days, "credit": 5 * days}


def had_credit(rows: Rows, slots: Slots, drawn: Random) -> Slots:
    """Let the order have had its credit."""
    row: Row = {"credit_id": "C601", "person_id": slots["person_id"], "amount": slots["credit"]}
    rows["credits"].append({**row, "reason": f"order {slots['order_id']}"})
    return {}


def pieces(rows: Rows, slots: Slots, drawn: Random) -> Slots | None:
    """Draw a delivered order, and how many pieces more are wanted."""
    own, count = an_order(rows, drawn, open_=False), drawn.choice((2, 3))
    word = {2: "two", 3: "three"}[count]
    return own and {**own, "count": count, "word": word, "total": euros(count * own["price"])}


def dearer(rows: Rows, slots: Slots, drawn: Random) -> Slots:
    """Let the product cost more than it did."""
    product = desk.row_of(rows, "products", slots["product_id"])
    product["price"] = euros(product["price"] + drawn.choice((2, 3.5, 5, 7.5)))
    return {"total": euros(product["price"] * slots["count"])}


def too_many(rows: Rows, slots: Slots, drawn: Random) -> Slots:
    """Let more be wanted than may be sold."""
    desk.row_of(rows, "products", slots["product_id"])["stock"] = 9
    word = drawn.choice(("four", "five", "six"))
    return {"word": word, "count": 3, "total": euros(3 * slots["price"])}


def last_one(rows: Rows, slots: Slots, drawn: Random) -> Slots:
    """Let one piece be left."""
    desk.row_of(rows, "products", slots["product_id"])["stock"] = 1
    return {"count": 1, "total": slots["price"]}


def two_items(rows: Rows, slots: Slots, drawn: Random) -> Slots | None:
    """Draw two items of a delivered order."""
    own = an_order(rows, drawn, open_=False)
    if own is None:
        return None
    names = [row["name"] for row in rows["items"]]
    others = [
        row
        for row in rows["items"]
        if row["order_id"] == own["order_id"] and row["item_id"] != own["item_id"]
    ]
    fit = [row for row in others if row["category"] not in ("clearance", "electronics")]
    if not fit or own["category"] == "electronics" or names.count(own["item"]) == 0:
        return None
    second = drawn.choice(fit)
    second["quantity"] = 1
    both = euros(own["price"] + second["price"])
    return {
        **own,
        "item2": second["name"],
        "item2_id": second["item_id"],
        "due2": second["price"],
        "return2_id": "R802",
        "both": both,
        "told_opened": drawn.choice(("no, both are closed", "no, neither of them")),
    }


def second_on_clearance(rows: Rows, slots: Slots, drawn: Random) -> Slots:
    """Let the second item have been on clearance."""
    desk.row_of(rows, "items", slots["item2_id"])["category"] = "clearance"
    return {}


# -- Templates.

PACKED, OLD = "Order {order_id} is packed already", "It was delivered too long ago"
BACK = "Send the {item} back, and get the money back."
RETURNED: list[dict[str, Any]] = [do("start_return", item_id="{item_id}", opened=False)]

CANCEL = Template(
    name="cancel_an_order",
    draw=open_order,
    request=[
        "I don't want the {item} any more. Please cancel the whole order.",
        "Please cancel the order that has the {item} in it.",
        "I have changed my mind about my order with the {item}. Can you cancel it?",
    ],
    asks="Tell me how much I get back.",
    goal="Have the order with the {item} cancelled, and know how much you get back.",
    gold={
        "look": LOOK,
        "act": [
            say("Shall I cancel order {order_id}, paid from account {account}?"),
            do("cancel_order", order_id="{order_id}"),
        ],
        "tell": [say("Order {order_id} is cancelled, and {paid} EUR are back on your account.")],
        "more": [],
    },
    tells={"paid back": "{paid} EUR"},
    twists=[
        handed_over(
            "stale data", packed, "Have the order with the {item} cancelled.", PACKED, "more"
        ),
        Twist(
            kind="a change of mind",
            then=["I do want the {item} after all. Order one more, paid from the same account."],
            gold={
                "more": [
                    do("search_products", text="{item}"),
                    *BUY,
                    say("I have ordered the {item} again, for {price} EUR."),
                ]
            },
            tells={"paid back": "{paid} EUR", "price": "{price} EUR"},
        ),
    ],
)
REDIRECT = Template(
    name="send_it_elsewhere",
    draw=to_address,
    request=[
        "My order with the {item} must go to another address.",
        "Can you send my order with the {item} somewhere else?",
    ],
    goal="Have the order with the {item} sent to {address}.",
    facts={"address": {"value": "{address}", "ask": ["address", "where"]}},
    gold={
        "look": LOOK,
        "ask": [say("To which address shall it go?")],
        "act": [do("change_delivery_address", order_id="{order_id}", address="{address}")],
        "tell": [say("Order {order_id} goes there now.")],
        "more": [],
    },
    twists=[
        handed_over(
            "stale data",
            packed,
            "Have the order with the {item} sent to {address}.",
            PACKED,
            "ask",
            "more",
        ),
        Twist(
            kind="a change of mind",
            then=["Sorry, I mixed the number up. It has to be {address2}."],
            gold={
                "more": [
                    do("change_delivery_address", order_id="{order_id}", address="{address2}"),
                    say("Order {order_id} goes to the other number now."),
                ]
            },
        ),
        Twist(
            kind="a further wish",
            then=["I live there from now on. Please put that address into my data, too."],
            gold={
                "more": [
                    do("update_person", person_id="{person_id}", address="{address}"),
                    say("Your address is changed, and order {order_id} goes there."),
                ]
            },
        ),
    ],
)
INSTEAD = {
    "instead": {
        "value": "then the {new}",
        "ask": ["instead", "would you like", "which", "what else", "another", "other"],
    }
}
EXCHANGE = Template(
    name="another_product_instead",
    draw=other_product,
    request=[
        "In my open order I'd rather have the {new} than the {item}.",
        "Please send me the {new} in place of the {item}.",
    ],
    asks="What is the difference?",
    goal="Have the {item} of your open order swapped for the {new}, and know the difference.",
    gold={
        "look": LOOK,
        "find": [do("search_products", category="{category}")],
        "ask": [],
        "act": SWAP,
        "tell": [say("You get the {new} now, and {settled}.")],
        "more": [],
    },
    tells={"difference": "{difference} EUR"},
    twists=[
        handed_over(
            "stale data",
            packed,
            "Have the {item} of your open order swapped for the {new}.",
            PACKED,
            "find",
            "ask",
            "more",
        )
    ],
)
WISHED = (
    "Please send me the {wish} in place of the {item} in my open order.",
    "Could I have the {wish} rather than the {item} that I ordered?",
)
NOT_THAT = Template(
    name="not_that_but_another",
    draw=lambda rows, slots, drawn: (
        (own := other_product(rows, slots, drawn)) and {**own, **sold_out(rows, own, drawn)}
    ),
    request=WISHED,
    asks="What is the difference?",
    goal="Have the {item} of your open order swapped for the {wish}; if that cannot be, for the "
    "{new}. Know the difference.",
    facts={**INSTEAD},
    gold={
        **EXCHANGE.gold,
        "ask": [say("We have no {wish} left. Which product would you like instead?")],
    },
    tells={"difference": "{difference} EUR"},
)
WRONG_KIND = Template(
    name="of_another_category",
    draw=lambda rows, slots, drawn: (
        (own := other_product(rows, slots, drawn))
        and {**own, **of_other_category(rows, own, drawn)}
    ),
    request=WISHED,
    asks="What is the difference?",
    goal=NOT_THAT.goal,
    facts={**INSTEAD},
    gold={
        **EXCHANGE.gold,
        "ask": [
            say(
                "I can swap the {item} only within {category}. Which product would you like "
                "instead of the {wish}?"
            )
        ],
    },
    tells={"difference": "{difference} EUR"},
)
RETURN = Template(
    name="money_back",
    draw=delivered_order,
    request=[
        "I'd like my money back for the {item}.",
        "I don't like the {item} that you sent me. Please take that back.",
        "I want to send the {item} back.",
    ],
    asks="How much do I get?",
    goal="Send the {item} back, and get the money back on your account.",
    facts={**OPENED},
    gold={
        "look": LOOK,
        "ask": [say("Was the package of the {item} opened?")],
        "start": RETURNED,
        "act": REFUND,
        "tell": [say("{due} EUR are back on your account.")],
        "more": [],
    },
    tells={"refund": "{due} EUR"},
    twists=[
        Twist(
            kind="a hidden value",
            draw=opened,
            gold={"start": [do("start_return", item_id="{item_id}", opened=True)]},
        ),
        Twist(
            kind="a limit of the policy",
            draw=late_gold,
            asks="Credit will do, too, if it can't go to my account.",
            goal="Send the {item} back, and get the money back on your account. Take credit if "
            "there is no other way.",
            gold={
                "act": [
                    say("Shall I refund {due} EUR for return {return_id} as credit?"),
                    do("refund", return_id="{return_id}", amount="{due}", to="credit"),
                ],
                "tell": [say("You have {due} EUR of credit, for it came too long ago.")],
            },
            tells={"refund": "{due} EUR", "place": {"value": "credit", "type": "term"}},
        ),
        handed_over("a forbidden request", too_old, BACK, OLD, "ask", "start", "more"),
        handed_over(
            "a forbidden request",
            on_clearance,
            BACK,
            "You bought the {item} on clearance",
            "ask",
            "start",
            "more",
        ),
        Twist(
            kind="a further wish",
            then=["And order the {item} for me once more, paid from the same account."],
            gold={
                "more": [
                    do("search_products", text="{item}"),
                    *BUY,
                    say("I have ordered the {item} once more, for {total} EUR."),
                ]
            },
        ),
    ],
)
TWO = Template(
    name="two_things_back",
    draw=two_items,
    request=[
        "I'd like to send the {item} and the {item2} back.",
        "Please refund me the {item} and the {item2}.",
    ],
    asks="How much do I get for each?",
    goal="Send the {item} and the {item2} back, and get the money for both on your account.",
    facts={**OPENED},
    gold={
        "look": LOOK,
        "ask": [say("Was the package of the {item} or of the {item2} opened?")],
        "start": RETURNED,
        "act": REFUND,
        "second": [
            do("start_return", item_id="{item2_id}", opened=False),
            say("Shall I refund {due2} EUR for return {return2_id} to your account?"),
            do("refund", return_id="{return2_id}", amount="{due2}", to="account"),
        ],
        "tell": [say("{due} EUR for the {item} and {due2} EUR for the {item2} are back.")],
    },
    tells={"first": "{due} EUR", "second": "{due2} EUR"},
    twists=[
        Twist(
            kind="a forbidden request",
            draw=second_on_clearance,
            asks="If you can't take both, take the one that you can.",
            goal="Send the {item} and the {item2} back, or what can be sent back of them.",
            gold={
                "second": [],
                "tell": [
                    say(
                        "{due} EUR for the {item} are back. You bought the {item2} on clearance, "
                        "so that stays with you."
                    )
                ],
            },
            tells={"first": "{due} EUR"},
        )
    ],
)
APOLOGY = Template(
    name="what_a_delay_is_worth",
    draw=came_late,
    request=[
        "My order with the {item} is late. What do I get for that?",
        "My order with the {item} did not come in time. I expect something for that.",
    ],
    goal="Get what the shop gives for the delay of your order of the {item}.",
    gold={
        "look": LOOK,
        "act": [do("give_credit", order_id="{order_id}", amount="{credit}")],
        "tell": [say("You have {credit} EUR of credit for order {order_id}.")],
        "more": [],
    },
    tells={"credit": "{credit} EUR"},
    twists=[
        Twist(kind="a limit of the policy", draw=very_late, gold={"days": []}),
        Twist(kind="stale data", draw=not_come, gold={"days": [], "more": []}),
        handed_over(
            "a forbidden request",
            had_credit,
            "Get what the shop gives for the delay of your order of the {item}.",
            "Order {order_id} had its credit already",
            "more",
        ),
        Twist(
            kind="a change of mind",
            then=["And I don't need the {item} any more. Please take that back, too."],
            facts=OPENED,
            gold={
                "more": [
                    say("Was the package of the {item} opened?"),
                    *RETURNED,
                    *REFUND,
                    say("{due} EUR are back on your account."),
                ]
            },
            tells={"credit": "{credit} EUR", "refund": "{due} EUR"},
        ),
    ],
)
AGAIN = Template(
    name="the_same_again",
    draw=pieces,
    request=[
        "I'd like {word} more of the {item} that I had before, paid as before.",
        "Please order me {word} more of the {item}, from the account that paid last time.",
    ],
    asks="What does it cost me in all?",
    goal="Buy {word} more of the {item}, paid from the account that paid before, and know the "
    "price.",
    gold={
        "look": LOOK,
        "find": [do("search_products", text="{item}")],
        "limit": [],
        "act": BUY,
        "tell": [say("I have ordered the {item} again, for {total} EUR in all.")],
    },
    tells={"price": "{total} EUR"},
    twists=[
        Twist(kind="stale data", draw=dearer, gold={"limit": []}),
        Twist(
            kind="a forbidden request",
            draw=too_many,
            goal="Buy {word} more of the {item}, paid from the account that paid before; three if "
            "no more can be had.",
            asks="If I can't have that many, order as many as I may.",
            gold={"limit": []},
        ),
        Twist(
            kind="too little of it",
            draw=last_one,
            goal="Buy {word} more of the {item}, paid from the account that paid before; one if "
            "no more can be had.",
            asks="If you have fewer, I take what there is.",
            gold={"limit": []},
        ),
    ],
)

GOALS = Goals(
    templates=[CANCEL, REDIRECT, EXCHANGE, NOT_THAT, WRONG_KIND, RETURN, TWO, APOLOGY, AGAIN],
    rows=lambda seed: goods(seed, desk.PEOPLE),
    records=[desk.namesake],
    ignore=(*desk.IGNORE, "returns.return_id", "credits.credit_id"),
    facts=desk.KNOWN,
    gold={"who": desk.WHO},
    twists=[STOP_ANOTHER],
    clock=desk.CLOCK,
    boundary=desk.BOUNDARY,
)
"""What scenarios of the shop are made of."""
