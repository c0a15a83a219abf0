"""Goal templates over shop and bank: orders and the money that pays for them."""

from __future__ import annotations

from random import Random
from typing import Any

from seal.benchmarks.apps import bank_goals as banking
from seal.benchmarks.apps import desk_goals as desk
from seal.benchmarks.apps import shop_goals as shopping
from seal.benchmarks.apps.desk_goals import HANDED, TICKET, euros, handed_over
from seal.environments.templates import Goals, Rows, Slots, Template, Twist, do, say

# -- What is drawn.


def owed(rows: Rows, slots: Slots, drawn: Random) -> Slots | None:
    """Draw an open order, and a payee who is to get what comes back."""
    own = shopping.open_order(rows, slots, drawn)
    if own is None:
        return None
    payee = drawn.choice([r for r in rows["payees"] if r["person_id"] == own["person_id"]])
    return {**own, "payee_id": payee["payee_id"], "payee": payee["name"], "amount": own["paid"]}


def owed_to_new(rows: Rows, slots: Slots, drawn: Random) -> Slots | None:
    """Let somebody be owed who is no payee yet."""
    if slots["paid"] > 250:
        return None
    return {**banking.new_payee(rows, slots, drawn), "amount": slots["paid"]}


def into_savings(rows: Rows, slots: Slots, drawn: Random) -> Slots | None:
    """Draw a delivered order of a customer with savings."""
    own = shopping.delivered_order(rows, slots, drawn)
    if own is None:
        return None
    store = desk.savings(rows, desk.row_of(rows, "people", own["person_id"]))
    if store is None:
        return None
    saved = euros(store["balance"] + own["due"])
    return {**own, "savings": store["account_id"], "saved": saved, "had": store["balance"]}


def opened(rows: Rows, slots: Slots, drawn: Random) -> Slots | None:
    """Let an item of electronics have been opened."""
    own = shopping.opened(rows, slots, drawn)
    return own and {**own, "saved": euros(slots["had"] + own["due"])}


def short_of_money(rows: Rows, slots: Slots, drawn: Random) -> Slots | None:
    """Draw what is wanted again by a customer whose current account lacks the money."""
    own = into_savings(rows, slots, drawn)
    if own is None:
        return None
    account = desk.row_of(rows, "accounts", own["account"])
    store = desk.row_of(rows, "accounts", own["savings"])
    account["balance"] = euros(own["price"] - 3 - drawn.randrange(0, 9) / 10)
    store["balance"] = euros(400 + store["balance"] % 800)
    move = drawn.randrange(4, 15) * 10.0
    left = euros(account["balance"] + move - own["price"])
    return {**own, "move": move, "left": left, "has": account["balance"]}


def dearer(rows: Rows, slots: Slots, drawn: Random) -> Slots:
    """Let the product cost more than it did."""
    more = shopping.dearer(rows, slots, drawn)
    account = desk.row_of(rows, "accounts", slots["account"])
    return {**more, "left": euros(account["balance"] + slots["move"] - more["total"])}


def a_move(rows: Rows, slots: Slots, drawn: Random) -> Slots | None:
    """Draw an open order, a new address, and a standing order to who supplies the old one."""
    own = shopping.to_address(rows, slots, drawn)
    if own is None:
        return None
    standing = next(r for r in rows["standing_orders"] if r["person_id"] == own["person_id"])
    standing["partner"] = drawn.choice(("Elbe Energy", "Kite Telecom"))
    return {
        **own,
        "standing_id": standing["standing_id"],
        "partner": standing["partner"],
        "monthly": standing["amount"],
    }


def a_thief(rows: Rows, slots: Slots, drawn: Random) -> Slots | None:
    """Draw an open order that somebody else placed, and the card of the customer."""
    own = shopping.open_order(rows, slots, drawn)
    if own is None:
        return None
    cards = [row for row in rows["cards"] if row["person_id"] == own["person_id"]]
    if len(cards) > 1:
        return None
    return {
        **own,
        "card_id": cards[0]["card_id"],
        "new_card": f"K{71 + len(rows['cards'])}",
        "lower": cards[0]["daily_limit"] - 100,
    }


# -- Templates.

CANCELLED: list[dict[str, Any]] = [
    say("Shall I cancel order {order_id}, paid from account {account}?"),
    do("cancel_order", order_id="{order_id}"),
]
REPAY = Template(
    name="cancel_and_repay",
    draw=owed,
    request=[
        "Cancel the order with the {item} and give what comes back to {payee}, who lent it to me.",
        "{payee} paid for the {item}. Cancel that order, and pay them what I get back.",
    ],
    asks="How much is it?",
    goal="Have the order with the {item} cancelled, and the same amount paid to {payee}.",
    gold={
        "look": shopping.LOOK,
        "act": CANCELLED,
        "payees": banking.PAYEES,
        "new": [],
        "pay": banking.PAY,
        "tell": [say("Order {order_id} is cancelled, and {amount} EUR are paid to {payee}.")],
        "more": [],
    },
    tells={"amount": "{amount} EUR", **banking.PAYEE},
    twists=[
        Twist(
            kind="a missing value",
            draw=owed_to_new,
            facts=banking.IBAN,
            gold={"new": banking.ADDED},
        ),
        handed_over(
            "stale data",
            shopping.packed,
            "Have the order with the {item} cancelled, and the same amount paid to {payee}.",
            shopping.PACKED,
            "payees",
            "new",
            "pay",
            "more",
        ),
    ],
)
SAVE = Template(
    name="refund_into_savings",
    draw=into_savings,
    request=[
        "I'm sending the {item} back. Put what I get for that into my savings.",
        "Please take the {item} back, and move the refund to my savings account.",
    ],
    asks="How much do I have there then?",
    goal="Send the {item} back, and have the refund moved to the savings account.",
    facts={**shopping.OPENED},
    gold={
        **{part: shopping.RETURN.gold[part] for part in ("look", "ask", "start", "act")},
        "move": [
            *banking.ACCOUNTS,
            say("Shall I transfer {due} EUR from account {account} to account {savings}?"),
            do("transfer", from_account="{account}", to_account="{savings}", amount="{due}"),
        ],
        "tell": [say("It is refunded, and your savings have {saved} EUR now.")],
    },
    tells={"savings": "{saved} EUR"},
    twists=[
        Twist(
            kind="a hidden value",
            draw=opened,
            gold={"start": [do("start_return", item_id="{item_id}", opened=True)]},
        ),
        handed_over(
            "a forbidden request",
            shopping.too_old,
            "Send the {item} back, and have the refund moved to the savings account.",
            shopping.OLD,
            "ask",
            "start",
            "move",
        ),
    ],
)
AFFORD = Template(
    name="money_first",
    draw=short_of_money,
    request=[
        "I'd like the {item} that I had before once more, paid from my current account.",
        "Order me the {item} again, please. My current account pays.",
    ],
    asks="It may lack money; then move {move} euros there from my savings first. How much is left?",
    goal="Buy one more of the {item} from the current account; where it lacks money, move {move} "
    "euros from savings before. Know what is left.",
    facts={"how many": {"value": "one", "ask": ["how many"]}},
    gold={
        "look": [*banking.ACCOUNTS, do("search_products", text="{item}")],
        "fill": [*banking.FILL],
        "act": shopping.BUY,
        "tell": [say("It is ordered, and {left} EUR are left on account {account}.")],
    },
    tells={"left": "{left} EUR"},
    twists=[Twist(kind="stale data", draw=dearer, gold={"limit": []})],
)
MOVE = Template(
    name="move_house",
    draw=a_move,
    request=[
        "I'm moving. Please note my new address, send the order with the {item} there, and stop "
        "what {partner} gets each month.",
        "I have a new address. Put it into my data, let the order with the {item} go there, and "
        "stop my standing order to {partner}.",
    ],
    goal="Have {address} put down as your address, the order with the {item} sent there, and the "
    "standing order to {partner} stopped.",
    facts={"address": {"value": "{address}", "ask": ["address", "where"]}},
    gold={
        "ask": [say("What is the new address?")],
        "self": [do("update_person", person_id="{person_id}", address="{address}")],
        "look": shopping.LOOK,
        "act": [do("change_delivery_address", order_id="{order_id}", address="{address}")],
        "stop": banking.STOP,
        "tell": [
            say("Order {order_id} goes there, and the standing order to {partner} is stopped.")
        ],
        "more": [],
    },
    twists=[
        Twist(
            kind="stale data",
            draw=shopping.packed,
            goal="Have {address} put down as your address, the order with the {item} sent there, "
            "and the standing order to {partner} stopped. If the order cannot go there, have a "
            "colleague look into it.",
            asks="If the order cannot go there, have a colleague look into it, and tell me the "
            "ticket number.",
            gold={
                "act": HANDED,
                "tell": [
                    say(
                        "The standing order to {partner} is stopped. Order {order_id} "
                        f"is packed already, so a colleague sees to it with ticket {TICKET}."
                    )
                ],
                "more": [],
            },
            tells={"ticket": TICKET},
        ),
        Twist(
            kind="a change of mind",
            then=["Sorry, I mixed the number up. It is {address2}, everywhere."],
            gold={
                "more": [
                    do("update_person", person_id="{person_id}", address="{address2}"),
                    do("change_delivery_address", order_id="{order_id}", address="{address2}"),
                    say("It is changed, for you and for order {order_id}."),
                ]
            },
        ),
    ],
)
THIEF = Template(
    name="a_thief_went_shopping",
    draw=a_thief,
    request=[
        "Somebody stole my card and ordered the {item} in my name!",
        "My card was stolen, and now there is an order with the {item} that I never placed.",
    ],
    asks="Tell me what I get back, and the id of the new card.",
    goal="Have the order with the {item} cancelled, the stolen card blocked, and a new one sent.",
    gold={
        "look": shopping.LOOK,
        "act": CANCELLED,
        "card": [
            *banking.CARDS,
            say("Shall I block card {card_id} as stolen?"),
            do("block_card", card_id="{card_id}", reason="stolen"),
        ],
        "new": [do("hand_over", person_id="{person_id}", about="fraud"), *banking.REPLACE],
        "tell": [
            say(
                "Order {order_id} is cancelled, {paid} EUR are back on your account, and "
                "the new card {new_card} is on its way."
            )
        ],
    },
    tells={"paid back": "{paid} EUR", "new card": "{new_card}"},
    twists=[
        Twist(
            kind="a further wish",
            then=["Set the limit of the new card to {lower} euros, please."],
            gold=banking.CARD.twists[1].gold,
            tells={"paid back": "{paid} EUR", "new card": "{new_card}", "limit": "{lower} EUR"},
        )
    ],
)

GOALS = Goals(
    templates=[REPAY, SAVE, AFFORD, MOVE, THIEF],
    records=[desk.namesake],
    ignore=(*desk.IGNORE, "returns.return_id", "credits.credit_id"),
    facts=desk.KNOWN,
    gold={"who": desk.WHO},
    clock=desk.CLOCK,
    boundary=desk.BOUNDARY,
)
"""What scenarios of shop and bank together are made of."""
