"""Goal templates of the bank: cards, payees, payments, accounts, under all its rules."""

from __future__ import annotations

from random import Random
from typing import Any

from seal.benchmarks.apps import desk_goals as desk
from seal.benchmarks.apps.bank import LIMITS, PARTNERS, holdings
from seal.benchmarks.apps.desk_goals import HANDED, TICKET, ago, euros
from seal.environments.tables import Row
from seal.environments.templates import Goals, Rows, Slots, Template, Twist, do, say

NEW_PEOPLE = ("Ulla Stern", "Karim Noack", "Ines Falk", "Bruno Adler", "Vera Lund", "Otto Reiss")
ACCOUNTS: list[dict[str, Any]] = [do("list_accounts", person_id="{person_id}")]
PAYEES: list[dict[str, Any]] = [do("list_payees", person_id="{person_id}")]
CARDS: list[dict[str, Any]] = [do("list_cards", person_id="{person_id}")]
STANDING: list[dict[str, Any]] = [do("list_standing_orders", person_id="{person_id}")]
PAY: list[dict[str, Any]] = [
    say("Shall I pay {amount} EUR from account {account} to payee {payee_id}, {payee}?"),
    do("pay", from_account="{account}", payee_id="{payee_id}", amount="{amount}"),
]
FILL: list[dict[str, Any]] = [
    say("Shall I transfer {move} EUR from account {savings} to account {account}?"),
    do("transfer", from_account="{savings}", to_account="{account}", amount="{move}"),
]
ADDED: list[dict[str, Any]] = [
    say("{payee} is no payee yet. Which IBAN do they have?"),
    do("add_payee", person_id="{person_id}", name="{payee}", iban="{iban}"),
]
STOP: list[dict[str, Any]] = [
    *STANDING,
    say("Shall I stop standing order {standing_id} to {partner}?"),
    do("stop_standing_order", standing_id="{standing_id}"),
]
TOLD_LEFT = [say("{payee} is paid, and {left} EUR are left on account {account}.")]
PAYEE = {"payee": {"value": "{payee}", "type": "name", "optional": True}}
"""Who is paid need not be told, but not told wrong either."""
LEFT = {"left": "{left} EUR", **PAYEE}
IBAN = {"IBAN": {"value": "{iban}", "ask": ["iban"]}}


# -- What is drawn.


def a_payment(rows: Rows, slots: Slots, drawn: Random) -> Slots | None:
    """Draw a customer, a payee of theirs, and an amount that the current account has."""
    person, own = desk.customer(rows, drawn)
    account = desk.accounts(rows, person)[0]
    account["balance"] = euros(1600 + account["balance"] % 700)
    payee = drawn.choice([r for r in rows["payees"] if r["person_id"] == own["person_id"]])
    amount = float(drawn.randrange(20, 145) * 10)
    return {
        **own,
        "payee_id": payee["payee_id"],
        "payee": payee["name"],
        "amount": amount,
        "left": euros(account["balance"] - amount),
    }


def new_payee(rows: Rows, slots: Slots, drawn: Random) -> Slots:
    """Let somebody be paid who is no payee yet, as much as such a one may get."""
    return _new_payee(rows, slots, drawn, float(drawn.randrange(5, 25) * 10))


def _new_payee(rows: Rows, slots: Slots, drawn: Random, amount: float) -> Slots:
    account = desk.row_of(rows, "accounts", slots["account"])
    return {
        "payee": drawn.choice(NEW_PEOPLE),
        "payee_id": f"Y{51 + len(rows['payees'])}",
        "iban": f"XX{drawn.randrange(10, 99)} {drawn.randrange(1000, 9999)} 0000",
        "amount": amount,
        "left": euros(account["balance"] - amount),
    }


def new_and_wished(rows: Rows, slots: Slots, drawn: Random) -> Slots:
    """Let somebody be paid who is no payee yet, as it is wished for."""
    new = new_payee(rows, slots, drawn)
    return {**new, "wish": new["amount"]}


def new_and_much(rows: Rows, slots: Slots, drawn: Random) -> Slots:
    """Let a new payee be to get more than is allowed."""
    account = desk.row_of(rows, "accounts", slots["account"])
    return {
        "wish": drawn.randrange(26, 90) * 10,
        "amount": 250.0,
        "left": euros(account["balance"] - 250),
    }


def wished(rows: Rows, slots: Slots, drawn: Random) -> Slots | None:
    """Draw a payment to somebody new, as it is wished for."""
    own = a_payment(rows, slots, drawn)
    return own and {**own, **new_and_wished(rows, own, drawn)}


def above_a_day(rows: Rows, slots: Slots, drawn: Random) -> Slots:
    """Let more be wanted than may be paid in a day."""
    account = desk.row_of(rows, "accounts", slots["account"])
    account["balance"] = euros(account["balance"] + 900)
    return {
        "wish": drawn.randrange(16, 24) * 100,
        "amount": 1500.0,
        "left": euros(account["balance"] - 1500),
    }


def paid_as_wished(rows: Rows, slots: Slots, drawn: Random) -> Slots | None:
    """Draw a payment as it is wished for."""
    own = a_payment(rows, slots, drawn)
    return own and {**own, "wish": own["amount"]}


def short_of_money(rows: Rows, slots: Slots, drawn: Random) -> Slots | None:
    """Let the current account lack money that the savings have."""
    person = desk.row_of(rows, "people", slots["person_id"])
    store = desk.savings(rows, person)
    if store is None:
        return None
    account = desk.row_of(rows, "accounts", slots["account"])
    account["balance"] = euros(slots["amount"] - drawn.randrange(15, 95))
    store["balance"] = euros(500 + store["balance"] % 900)
    return {
        "savings": store["account_id"],
        "has": account["balance"],
        "move": 100.0,
        "left": euros(account["balance"] + 100 - slots["amount"]),
    }


def two_accounts(rows: Rows, slots: Slots, drawn: Random) -> Slots | None:
    """Draw a customer with savings, and how far the current account is to be filled."""
    own = a_payment(rows, slots, drawn)
    if own is None:
        return None
    store = desk.savings(rows, desk.row_of(rows, "people", own["person_id"]))
    if store is None:
        return None
    account = desk.row_of(rows, "accounts", own["account"])
    account["balance"] = euros(150 + account["balance"] % 400)
    store["balance"] = euros(1300 + store["balance"] % 900)
    full = drawn.randrange(12, 18) * 50.0
    amount = float(drawn.randrange(11, int(full / 10)) * 10)
    return {
        **own,
        "savings": store["account_id"],
        "full": full,
        "move": euros(full - account["balance"]),
        "amount": amount,
        "left": euros(full - amount),
        "rest": euros(store["balance"]),
        "all": euros(store["balance"] + account["balance"]),
    }


def little_saved(rows: Rows, slots: Slots, drawn: Random) -> Slots:
    """Let the savings have so much that less than they must keep would be left."""
    account = desk.row_of(rows, "accounts", slots["account"])
    store = desk.row_of(rows, "accounts", slots["savings"])
    store["balance"] = euros(slots["move"] + drawn.randrange(10, 90))
    move = euros(store["balance"] - 100)
    amount = float(min(slots["amount"], (account["balance"] + move) // 10 * 10))
    return {
        "move": move,
        "amount": amount,
        "left": euros(account["balance"] + move - amount),
        "filled": euros(account["balance"] + move),
    }


def a_card(rows: Rows, slots: Slots, drawn: Random) -> Slots | None:
    """Draw a card of a customer, who may have another one with another limit."""
    person, own = desk.customer(rows, drawn)
    tier = drawn.choice(("standard", "gold"))
    person["tier"] = tier
    cards = [row for row in rows["cards"] if row["person_id"] == own["person_id"]]
    limits = drawn.sample((200.0, 300.0, 400.0, 500.0), 4)
    for card, limit in zip(cards, limits, strict=False):
        card["daily_limit"] = limit
    card = drawn.choice(cards)
    limit, most = card["daily_limit"], LIMITS[tier]
    return {
        **own,
        "card_id": card["card_id"],
        "limit": limit,
        "new_card": f"K{71 + len(rows['cards'])}",
        "reason": "lost",
        "other": "stolen",
        "how": drawn.choice(("I lost it", "I must have lost it on the train")),
        "wish": drawn.randrange(6, most // 100) * 100,
        "lower": limit - 100,
        "most": most,
    }


def stolen(rows: Rows, slots: Slots, drawn: Random) -> Slots:
    """Let the card have been stolen."""
    return {
        "how": drawn.choice(("it was stolen", "somebody stole it")),
        "reason": "stolen",
        "other": "lost",
    }


def above_the_limit(rows: Rows, slots: Slots, drawn: Random) -> Slots:
    """Let more be wanted than the customer may have."""
    return {"wish": slots["most"] + drawn.randrange(1, 9) * 100}


def a_partner(rows: Rows, slots: Slots, drawn: Random) -> Slots | None:
    """Draw a partner who gets a standing order and once took a payment by card."""
    _, own = desk.customer(rows, drawn)
    standing = next(r for r in rows["standing_orders"] if r["person_id"] == own["person_id"])
    payments = [row for row in rows["payments"] if row["person_id"] == own["person_id"]]
    partner = drawn.choice(PARTNERS)
    standing["partner"] = partner
    payment = drawn.choice(payments)
    for row in payments:
        if row is payment:
            row |= {"partner": partner, "day": ago(drawn.randrange(4, 55))}
        elif row["partner"] == partner:
            row["partner"] = drawn.choice([name for name in PARTNERS if name != partner])
    return {
        **own,
        "partner": partner,
        "standing_id": standing["standing_id"],
        "monthly": standing["amount"],
        "payment_id": payment["payment_id"],
        "amount": payment["amount"],
    }


def a_standing_order(rows: Rows, slots: Slots, drawn: Random) -> Slots:
    """Tell the standing order of the customer."""
    row = next(r for r in rows["standing_orders"] if r["person_id"] == slots["person_id"])
    return {"standing_id": row["standing_id"], "partner": row["partner"]}


def _payment(rows: Rows, slots: Slots, **cells: Any) -> Row:
    payment = desk.row_of(rows, "payments", slots["payment_id"])
    payment |= cells
    return payment


def long_ago(rows: Rows, slots: Slots, drawn: Random) -> Slots:
    """Let the payment be too old to be disputed."""
    days = drawn.randrange(63, 95)
    _payment(rows, slots, day=ago(days))
    return {"why": "it is too old"}


def not_by_card(rows: Rows, slots: Slots, drawn: Random) -> Slots:
    """Let the payment not have been made by card."""
    _payment(rows, slots, way="payee")
    return {"why": "no card made it"}


# -- Templates.

REPLACE = [do("replace_card", card_id="{card_id}")]
CARD = Template(
    name="a_card_is_gone",
    draw=a_card,
    request=[
        "I no longer have my card, the one with the limit of {limit} euros. I need a new one.",
        "My card with the daily limit of {limit} euros is gone. Please send me another.",
    ],
    asks="Tell me the id of the new one.",
    goal="Have the card with the limit of {limit} euros blocked, and a new one sent.",
    facts={
        "how": {
            "value": "{how}",
            "ask": ["what happened", "damaged", "or stolen", "stolen or", "as {other}"],
        },
    },
    gold={
        "look": CARDS,
        "how": [say("Was it lost, stolen or damaged?")],
        "act": [
            say("Shall I block card {card_id} as {reason}?"),
            do("block_card", card_id="{card_id}", reason="{reason}"),
        ],
        "new": REPLACE,
        "tell": [say("Card {card_id} is blocked, and the new card {new_card} is on its way.")],
        "more": [],
    },
    tells={"new card": "{new_card}"},
    twists=[
        Twist(
            kind="a hidden value",
            draw=stolen,
            gold={"new": [do("hand_over", person_id="{person_id}", about="fraud"), *REPLACE]},
        ),
        Twist(
            kind="a further wish",
            then=["Set the limit of the new one to {lower} euros, please."],
            gold={
                "more": [
                    do("set_card_limit", card_id="{new_card}", daily_limit="{lower}"),
                    say("The new card {new_card} has a limit of {lower} EUR now."),
                ]
            },
            tells={"new card": "{new_card}", "limit": "{lower} EUR"},
        ),
    ],
)
LIMIT = Template(
    name="a_higher_limit",
    draw=a_card,
    request=[
        "Please raise the daily limit of my card to {wish} euros, the one that has {limit} now.",
        "My card with a limit of {limit} euros should have {wish} a day.",
    ],
    goal="Have the limit of the card that has {limit} euros set to {wish}.",
    gold={
        "look": [*CARDS, do("get_person", person_id="{person_id}")],
        "act": [do("set_card_limit", card_id="{card_id}", daily_limit="{wish}")],
        "tell": [say("The limit of card {card_id} is changed.")],
        "more": [],
    },
    twists=[
        Twist(
            kind="a forbidden request",
            draw=above_the_limit,
            goal="Have the limit of the card that has {limit} euros set to {wish}; as much as can "
            "be if that is too much.",
            asks="If that is too much, set what I may have, and tell me what it is.",
            gold={
                "act": [do("set_card_limit", card_id="{card_id}", daily_limit="{most}")],
                "tell": [say("The limit of card {card_id} is {most} EUR now.")],
                "more": [],
            },
            tells={"limit": "{most} EUR"},
        ),
        Twist(
            kind="a change of mind",
            then=["No, that is too much for me. Make it {lower} euros."],
            gold={
                "more": [
                    do("set_card_limit", card_id="{card_id}", daily_limit="{lower}"),
                    say("The limit of card {card_id} is changed again."),
                ]
            },
        ),
    ],
)
PAYMENT = Template(
    name="pay_somebody",
    draw=paid_as_wished,
    request=[
        "Please pay {payee} {wish} euros from my current account.",
        "I owe {payee} {wish} euros. Send it from my current account, please.",
    ],
    asks="How much is left there then?",
    goal="Have {payee} paid {wish} euros from the current account, and know what is left.",
    gold={
        "look": [*ACCOUNTS, *PAYEES],
        "fill": [],
        "ask": [],
        "act": PAY,
        "tell": TOLD_LEFT,
    },
    tells=LEFT,
    twists=[
        Twist(
            kind="too little of it",
            draw=short_of_money,
            goal="Have {payee} paid {wish} euros from the current account; where it lacks money, "
            "move 100 euros from savings before. Know what is left.",
            asks="If the account lacks money, move 100 euros there from my savings first.",
            gold={"ask": [], "fill": [*FILL]},
        ),
        Twist(
            kind="a forbidden request",
            draw=above_a_day,
            goal="Have {payee} paid {wish} euros from the current account; as much as can be if "
            "that is too much. Know what is left.",
            asks="If I can't pay that much, pay as much as I may.",
            gold={"fill": [], "ask": []},
        ),
    ],
)
NEW = Template(
    name="pay_somebody_new",
    draw=wished,
    request=[
        "Please pay {payee} {wish} euros from my current account.",
        "{payee} gets {wish} euros from me. Send it from my current account.",
    ],
    asks="How much is left there then?",
    goal="Have {payee} paid {wish} euros from the current account, IBAN {iban}, and know what is "
    "left.",
    facts={**IBAN},
    gold={
        "look": [*ACCOUNTS, *PAYEES],
        "new": ADDED,
        "ask": [],
        "act": PAY,
        "tell": TOLD_LEFT,
    },
    tells=LEFT,
    twists=[
        Twist(
            kind="a forbidden request",
            draw=new_and_much,
            goal="Have {payee} paid {wish} euros from the current account, IBAN {iban}; as much "
            "as can be today if that is too much. Know what is left.",
            asks="If I can't pay that much today, pay as much as I may.",
            gold={"ask": []},
        )
    ],
)
CLOSE = Template(
    name="close_the_savings",
    draw=two_accounts,
    request=[
        "I don't need my savings account {savings} any more. Please close it.",
        "Please close my savings account {savings}; the money goes to my current one.",
    ],
    asks="How much is on the current account then?",
    goal="Have the savings account {savings} closed, its money moved to the current one before.",
    facts={
        "money": {"value": "to my current account", "ask": ["where", "money", "rest", "which"]},
    },
    gold={
        "look": ACCOUNTS,
        "act": [
            say("Shall I transfer {rest} EUR from account {savings} to account {account}?"),
            do("transfer", from_account="{savings}", to_account="{account}", amount="{rest}"),
            say("Shall I close account {savings} now?"),
            do("close_account", account_id="{savings}"),
        ],
        "tell": [say("Account {savings} is closed, and {all} EUR are on account {account}.")],
        "more": [],
    },
    tells={"balance": "{all} EUR"},
    twists=[
        Twist(
            kind="a further wish",
            then=["And pay {payee} {amount} euros from what is there now."],
            gold={"more": [*PAYEES, *PAY, say("{payee} is paid now.")]},
            tells={"balance": "{all} EUR", **PAYEE},
        )
    ],
)
TOP_UP = Template(
    name="fill_up_and_pay",
    draw=two_accounts,
    request=[
        "I want {full} euros on my current account, filled up from savings, and then {payee} gets "
        "{amount} of it.",
        "Fill my current account up to {full} euros from savings. Then pay {payee} {amount} euros.",
    ],
    asks="How much is left there at the end?",
    goal="Have the current account filled up to {full} euros from savings, then {payee} paid "
    "{amount}.",
    gold={
        "look": [*ACCOUNTS, *PAYEES],
        "limit": [],
        "fill": FILL,
        "act": PAY,
        "tell": TOLD_LEFT,
    },
    tells=LEFT,
    twists=[
        Twist(
            kind="a limit of the policy",
            draw=little_saved,
            goal="Have the current account filled up to {full} euros from savings, or as far as "
            "can be, then {payee} paid {amount}.",
            asks="If my savings can't give that much, take as much as you may.",
            gold={"limit": []},
        )
    ],
)
LEAVE = Template(
    name="leave_a_partner",
    draw=a_partner,
    request=[
        "I'm through with {partner}. Stop what they get each month, and claim back what they took "
        "from my card.",
        "{partner} charged my card, and I never agreed. I want that back, and the monthly "
        "payments stopped.",
    ],
    asks="Tell me both amounts.",
    goal="Have the payment by card to {partner} disputed, and the standing order to them stopped.",
    gold={
        "look": [*ACCOUNTS, do("list_payments", account_id="{account}")],
        "act": [do("dispute_payment", payment_id="{payment_id}")],
        "stop": STOP,
        "tell": [
            say(
                "The payment of {amount} EUR is disputed, and the standing order of "
                "{monthly} EUR is stopped."
            )
        ],
    },
    tells={"disputed": "{amount} EUR", "stopped": "{monthly} EUR"},
    twists=tuple(
        Twist(
            kind="a forbidden request",
            draw=draw,
            goal="Have the payment to {partner} disputed, and the standing order to them stopped. "
            "If it cannot be disputed, have a colleague look into it.",
            asks="If it cannot be claimed back, have a colleague look into it, and tell me the "
            "ticket number.",
            gold={
                "act": HANDED,
                "tell": [
                    say(
                        "The standing order of {monthly} EUR is stopped. A colleague looks into "
                        f"the payment with ticket {TICKET}, because {{why}}."
                    )
                ],
            },
            tells={"stopped": "{monthly} EUR", "ticket": TICKET},
        )
        for draw in (long_ago, not_by_card)
    ),
)
STOP_ANOTHER = Twist(
    kind="a wish at the other desk",
    draw=a_standing_order,
    then=["One more thing: please stop my standing order to {partner}."],
    gold={"more": [*STOP, say("The standing order to {partner} is stopped, too.")]},
)
"""What a customer of another desk wants besides."""

GOALS = Goals(
    templates=[CARD, LIMIT, PAYMENT, NEW, CLOSE, TOP_UP, LEAVE],
    rows=lambda seed: holdings(seed, desk.PEOPLE),
    records=[desk.namesake],
    ignore=desk.IGNORE,
    facts=desk.KNOWN,
    gold={"who": desk.WHO},
    clock=desk.CLOCK,
    boundary=desk.BOUNDARY,
)
"""What scenarios of the bank are made of."""
