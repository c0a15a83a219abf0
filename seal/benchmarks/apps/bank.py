"""A bank: accounts, payees, cards and payments, as its service desk has them."""

from __future__ import annotations

import random
from datetime import timedelta
from typing import Any, Literal

from seal.benchmarks.apps import people
from seal.benchmarks.apps.people import change, days_since, number, pay_in, the, today, unasked
from seal.environments.chat_world import World
from seal.environments.tables import Row
from seal.environments.world import Worlds, toolbox

PARTNERS = ("Elbe Energy", "Kite Telecom", "Northline Rail", "Corner Bakery", "Pulse Gym")
"""Who takes payments by card or by standing order."""

COLUMNS: dict[str, dict[str, Any]] = {
    **people.COLUMNS,
    "payees": {"payee_id": str, "person_id": str, "name": str, "iban": str, "added": str},
    "cards": {
        "card_id": str,
        "person_id": str,
        "account_id": str,
        "state": str,
        "reason": str | None,
        "daily_limit": float,
    },
    "payments": {
        "payment_id": str,
        "person_id": str,
        "account_id": str,
        "way": str,
        "partner": str,
        "amount": float,
        "day": str,
        "state": str,
    },
    "standing_orders": {
        "standing_id": str,
        "person_id": str,
        "account_id": str,
        "partner": str,
        "amount": float,
        "day_of_month": int,
        "state": str,
    },
}


def holdings(seed: int = people.SEED, count: int = 12) -> dict[str, list[Row]]:
    """Return the tables of a bank; equal seeds give equal rows.

    Every customer has one or two payees and cards, some card payments, and a standing order.
    """
    drawn = random.Random(f"bank {seed}")
    tables = people.people(seed, count)
    payees: list[Row] = []
    cards: list[Row] = []
    payments: list[Row] = []
    standing: list[Row] = []
    for person in tables["people"]:
        person_id = person["person_id"]
        account_id = next(
            a["account_id"] for a in tables["accounts"] if a["person_id"] == person_id
        )
        own = {"person_id": person_id, "account_id": account_id}
        others = [p["name"] for p in tables["people"] if p["name"] != person["name"]]
        for name in drawn.sample(others, drawn.choice((1, 2))):
            added = people.TODAY - timedelta(days=drawn.randrange(20, 400))
            payees.append(
                {
                    "payee_id": f"Y{len(payees) + 51}",
                    "person_id": person_id,
                    "name": name,
                    "iban": f"XX{drawn.randrange(10, 99)} {drawn.randrange(1000, 9999)} 0000",
                    "added": added.isoformat(),
                }
            )
        for _ in range(drawn.choice((1, 1, 2))):
            card = {"card_id": f"K{len(cards) + 71}", **own, "state": "active", "reason": None}
            cards.append({**card, "daily_limit": drawn.choice((300.0, 500.0, 800.0))})
        for _ in range(drawn.choice((2, 3))):
            day = people.TODAY - timedelta(days=drawn.randrange(2, 90))
            payments.append(
                {
                    "payment_id": f"B{len(payments) + 401}",
                    **own,
                    "way": "card",
                    "partner": drawn.choice(PARTNERS),
                    "amount": round(drawn.uniform(6, 140), 2),
                    "day": day.isoformat(),
                    "state": "booked",
                }
            )
        standing.append(
            {
                "standing_id": f"S{len(standing) + 31}",
                **own,
                "partner": drawn.choice(PARTNERS),
                "amount": round(drawn.uniform(12, 60), 2),
                "day_of_month": drawn.randrange(1, 28),
                "state": "active",
            }
        )
    return {
        **tables,
        "payees": payees,
        "cards": cards,
        "payments": payments,
        "standing_orders": standing,
    }


# -- Tools.


def list_accounts(world: World, person_id: str) -> list[Row]:
    """List the accounts of a customer, with balances in euros.

    Args:
        person_id: Id of the customer.
    """
    return _of(world, "accounts", person_id)


def list_payments(world: World, account_id: str) -> list[Row]:
    """List what was paid from an account, the newest first.

    Args:
        account_id: Id of the account.
    """
    the(world, "accounts", account_id)
    own = [row for row in world.rows("payments") if row["account_id"] == account_id]
    return sorted(own, key=lambda row: str(row["day"]), reverse=True)


def list_payees(world: World, person_id: str) -> list[Row]:
    """List whom a customer can pay.

    Args:
        person_id: Id of the customer.
    """
    return _of(world, "payees", person_id)


def add_payee(world: World, person_id: str, name: str, iban: str) -> Row:
    """Add somebody whom a customer can pay.

    Args:
        person_id: Id of the customer.
        name: Name of the payee.
        iban: IBAN of the payee.

    Returns:
        The payee.
    """
    the(world, "people", person_id)
    row: Row = {"payee_id": number(world, "payees", "Y", 51), "person_id": person_id}
    row |= {"name": name, "iban": iban, "added": today(world).isoformat()}
    world.add("payees", row)
    return row


def transfer(world: World, from_account: str, to_account: str, amount: float) -> list[Row]:
    """Move money from an account of this bank to another.

    Args:
        from_account: Id of the account that pays.
        to_account: Id of the account that gets it.
        amount: In euros.

    Returns:
        Both accounts as they are now.
    """
    if amount <= 0 or from_account == to_account:
        raise ValueError("transfer an amount above 0 between two accounts")
    return [pay_in(world, from_account, -amount), pay_in(world, to_account, amount)]


def pay(world: World, from_account: str, payee_id: str, amount: float) -> Row:
    """Pay a payee of a customer from an account.

    Args:
        from_account: Id of the account that pays.
        payee_id: Id of the payee.
        amount: In euros.

    Returns:
        The payment.
    """
    if amount <= 0:
        raise ValueError(f"the amount must be above 0, got {amount}")
    payee = the(world, "payees", payee_id)
    account = pay_in(world, from_account, -amount)
    row: Row = {
        "payment_id": number(world, "payments", "B", 401),
        "person_id": account["person_id"],
        "account_id": from_account,
        "way": "payee",
        "partner": payee["name"],
        "amount": amount,
        "day": today(world).isoformat(),
        "state": "booked",
    }
    world.add("payments", row)
    return row


def list_cards(world: World, person_id: str) -> list[Row]:
    """List the cards of a customer.

    Args:
        person_id: Id of the customer.
    """
    return _of(world, "cards", person_id)


def block_card(world: World, card_id: str, reason: Literal["lost", "stolen", "damaged"]) -> Row:
    """Block a card for good.

    Args:
        card_id: Id of the card.
        reason: Why.
    """
    card = the(world, "cards", card_id)
    if card["state"] == "blocked":
        raise ValueError(f"the card {card_id} is blocked already")
    return change(world, "cards", card, state="blocked", reason=reason)


def replace_card(world: World, card_id: str) -> Row:
    """Order a new card in the place of another, with its limit.

    Args:
        card_id: Id of the old card.

    Returns:
        The new card, which is on its way.
    """
    card = the(world, "cards", card_id)
    row = {**card, "card_id": number(world, "cards", "K", 71), "state": "ordered", "reason": None}
    world.add("cards", row)
    return row


def set_card_limit(world: World, card_id: str, daily_limit: float) -> Row:
    """Set how much a card may pay in a day.

    Args:
        card_id: Id of the card.
        daily_limit: In euros.
    """
    if daily_limit < 0:
        raise ValueError(f"a limit is 0 or more, got {daily_limit}")
    return change(world, "cards", the(world, "cards", card_id), daily_limit=daily_limit)


def dispute_payment(world: World, payment_id: str) -> Row:
    """Claim a payment back that the customer did not make.

    Args:
        payment_id: Id of the payment.
    """
    payment = the(world, "payments", payment_id)
    if payment["state"] != "booked":
        raise ValueError(f"the payment {payment_id} is {payment['state']}")
    return change(world, "payments", payment, state="disputed")


def list_standing_orders(world: World, person_id: str) -> list[Row]:
    """List the standing orders of a customer.

    Args:
        person_id: Id of the customer.
    """
    return _of(world, "standing_orders", person_id)


def stop_standing_order(world: World, standing_id: str) -> Row:
    """Stop a standing order.

    Args:
        standing_id: Id of the standing order.
    """
    order = the(world, "standing_orders", standing_id)
    if order["state"] != "active":
        raise ValueError(f"the standing order {standing_id} is {order['state']}")
    return change(world, "standing_orders", order, state="stopped")


def close_account(world: World, account_id: str) -> Row:
    """Close an account that is empty.

    Args:
        account_id: Id of the account.
    """
    account = the(world, "accounts", account_id)
    if account["balance"]:
        raise ValueError(f"the account {account_id} has {account['balance']:.2f} EUR; empty it")
    return change(world, "accounts", account, state="closed")


def _of(world: World, table: str, person_id: str) -> list[Row]:
    the(world, "people", person_id)
    return [row for row in world.rows(table) if row["person_id"] == person_id]


TOOLS = toolbox(
    "bank",
    [
        list_accounts,
        list_payments,
        list_payees,
        add_payee,
        transfer,
        pay,
        list_cards,
        block_card,
        replace_card,
        set_card_limit,
        dispute_payment,
        list_standing_orders,
        stop_standing_order,
        close_account,
    ],
)


# -- The policy: each rule is told by its docstring, and asked of every call.

NEW_PAYEE = 250
DAY = 1_500
SAVED = 100
LIMITS = {"standard": 1_000, "gold": 2_500}
CLAIMED = 60


def own_accounts(call: Any, world: Any, chat: Any) -> str | None:
    """Transfer only between accounts of the same customer; everybody else is paid as a payee."""
    if call.name != "transfer":
        return None
    one, other = (
        world.row("accounts", account_id=call.arguments[name])["person_id"]
        for name in ("from_account", "to_account")
    )
    return None if one == other else f"the accounts are of {one} and {other}"


def own_payee(call: Any, world: Any, chat: Any) -> str | None:
    """Pay only payees of the customer whose account pays."""
    if call.name != "pay":
        return None
    payee = world.row("payees", payee_id=call.arguments["payee_id"])["person_id"]
    payer = world.row("accounts", account_id=call.arguments["from_account"])["person_id"]
    return None if payee == payer else f"the payee is of {payee}, the account of {payer}"


def savings_floor(call: Any, world: Any, chat: Any) -> str | None:
    """Leave 100 EUR or more in a savings account, or empty it to close it."""
    if call.name not in ("transfer", "pay"):
        return None
    account = world.after.row("accounts", account_id=call.arguments["from_account"])
    low = account["kind"] == "savings" and 0 < account["balance"] < SAVED
    return f"{account['balance']} EUR are left in {account['account_id']}" if low else None


def new_payee(call: Any, world: Any, chat: Any) -> str | None:
    """Pay a payee who was added today 250 EUR at most, all payments of today together."""
    if call.name != "pay":
        return None
    payee = world.row("payees", payee_id=call.arguments["payee_id"])
    if payee["added"] != world.today.isoformat():
        return None
    paid = _paid_today(world.after, call, partner=payee["name"])
    return f"{paid} EUR to {payee['name']}, who is new" if paid > NEW_PAYEE else None


def daily_payments(call: Any, world: Any, chat: Any) -> str | None:
    """Pay payees 1,500 EUR at most from one account in a day."""
    if call.name != "pay":
        return None
    paid = _paid_today(world.after, call)
    return f"{paid} EUR in one day" if paid > DAY else None


def block_before_replacing(call: Any, world: Any, chat: Any) -> str | None:
    """Replace a card only after it is blocked.

    If it was stolen, hand the customer over as fraud before you replace it.
    """
    if call.name != "replace_card":
        return None
    card = world.row("cards", card_id=call.arguments["card_id"])
    if card["state"] != "blocked":
        return f"{card['card_id']} is {card['state']}"
    handed = world.rows("tickets", person_id=card["person_id"], about="fraud")
    return "nobody was told of the fraud" if card["reason"] == "stolen" and not handed else None


def card_limit(call: Any, world: Any, chat: Any) -> str | None:
    """Set the limit of a card to 1,000 EUR at most; for gold customers to 2,500 EUR."""
    if call.name != "set_card_limit":
        return None
    card = world.row("cards", card_id=call.arguments["card_id"])
    most = LIMITS[world.row("people", person_id=card["person_id"])["tier"]]
    over = call.arguments["daily_limit"] > most
    return f"{call.arguments['daily_limit']} EUR, and {most} EUR are allowed" if over else None


def recent_card_payment(call: Any, world: Any, chat: Any) -> str | None:
    """Dispute a payment only if a card made it within the last 60 days."""
    if call.name != "dispute_payment":
        return None
    payment = world.row("payments", payment_id=call.arguments["payment_id"])
    if payment["way"] != "card":
        return f"{payment['payment_id']} was not made by card"
    passed = days_since(payment["day"], world.today)
    return f"{payment['payment_id']} is {passed} days old" if passed > CLAIMED else None


def ask_before_paying(call: Any, world: Any, chat: Any) -> str | None:
    """Name accounts, payee and amount, and get a yes, before you transfer or pay.

    Do the same before you block a card, stop a standing order or close an account.
    """
    asking = ("transfer", "pay", "block_card", "stop_standing_order", "close_account")
    return unasked(call, chat, *asking)


def _paid_today(world: Any, call: Any, **cells: Any) -> float:
    account, day = call.arguments["from_account"], world.today.isoformat()
    rows = world.rows("payments", account_id=account, day=day, way="payee", **cells)
    return float(round(sum(row["amount"] for row in rows), 2))


POLICY = (
    people.DESK,
    people.identity,
    people.one_customer,
    people.EUROS,
    own_accounts,
    own_payee,
    savings_floor,
    new_payee,
    daily_payments,
    block_before_replacing,
    card_limit,
    recent_card_payment,
    ask_before_paying,
)

bank = Worlds(
    name="bank",
    tools={**people.TOOLS, **TOOLS},
    tables=holdings(),
    columns=COLUMNS,
    policy=POLICY,
    goals=(
        "seal.benchmarks.apps.bank_goals:GOALS",
        "seal.benchmarks.apps.both_goals:GOALS",
        "seal.benchmarks.apps.errand_goals:GOALS",
    ),
)
"""The world `bank`: its service desk, with the people and accounts that ship."""
