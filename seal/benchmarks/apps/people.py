"""The people of the worlds, and their accounts, made of a seed: every world knows the same ones."""

from __future__ import annotations

import random
from datetime import date, timedelta
from typing import Any, Literal

from seal.environments.chat_world import World
from seal.environments.tables import NoDataError, Row, where
from seal.environments.world import toolbox

TODAY = date(2026, 3, 16)
"""The day on which every world begins, a Monday."""
SEED = 7
"""Of the people and goods that ship; a held-out set has another."""

FIRST = ("Nadia", "Tobias", "Imke", "Rafael", "Greta", "Milan", "Aisha", "Jonas", "Petra", "Leon")
LAST = ("Brandt", "Okafor", "Lindqvist", "Moreau", "Castell", "Voss", "Haddad", "Winter")
STREETS = ("Mill Lane", "Harbour Road", "Chestnut Street", "Kiln Row", "Orchard Way", "Tower Hill")
TOWNS = ("Ashford", "Kelmore", "Tarnby", "Wexcombe")

PERSON = {"person_id": str, "name": str, "email": str, "phone": str, "postcode": str, "born": str}
ACCOUNT = {"account_id": str, "person_id": str, "kind": str, "balance": float, "state": str}
COLUMNS: dict[str, dict[str, Any]] = {
    "people": {**PERSON, "address": str, "tier": str},
    "accounts": ACCOUNT,
    "checks": {"person_id": str, "day": str},
    "tickets": {"ticket_id": str, "person_id": str, "about": str},
}
"""Table to its columns and their types."""


def people(seed: int = SEED, count: int = 12) -> dict[str, list[Row]]:
    """Return people, of whom two have one name, with one to three accounts each.

    Nobody was checked yet, and there is no ticket.

    Args:
        seed: Equal ones give equal rows.
        count: From 2 to 80 people.
    """
    drawn = random.Random(f"people {seed}")
    names = [f"{first} {last}" for first in FIRST for last in LAST]
    chosen = drawn.sample(names, count - 1)
    rows: list[Row] = []
    accounts: list[Row] = []
    for number, name in enumerate([*chosen, chosen[0]]):
        first, last = name.lower().split()
        twin = "" if number < len(chosen) else "2"
        born = date(1950, 1, 1) + timedelta(days=drawn.randrange(19_000))
        place = f"{drawn.randrange(1, 90)} {drawn.choice(STREETS)}, {drawn.choice(TOWNS)}"
        rows.append(
            {
                "person_id": f"P{number + 11}",
                "name": name,
                "email": f"{first}.{last}{twin}@mail.example",
                "phone": f"0{drawn.randrange(20, 80)} 555 01{drawn.randrange(10, 99)}",
                "postcode": f"{drawn.choice('AKTW')}{drawn.randrange(100, 999)}",
                "born": born.isoformat(),
                "address": place,
                "tier": drawn.choice(("standard", "standard", "gold")),
            }
        )
        for kind in ("current", "savings", "shared")[: drawn.choice((1, 2, 2, 3))]:
            balance = round(drawn.uniform(120, 4_000), 2)
            accounts.append(
                {
                    "account_id": f"{drawn.randrange(1000, 9999)}-{len(accounts) + 10}",
                    "person_id": f"P{number + 11}",
                    "kind": kind,
                    "balance": balance,
                    "state": "open",
                }
            )
    return {"people": rows, "accounts": accounts, "checks": [], "tickets": []}


# -- What tools of every world do with rows.


def the(world: World, table: str, value: str) -> Row:
    """Return the row of a table whose first column has a value.

    Raises:
        NoDataError: There is none.
    """
    rows = world.table(table)
    column = next(iter(rows[0])) if rows else ""
    found = where(rows, column, value)
    if not found:
        raise NoDataError(f"no row of {table} has the {column or 'id'} {value!r}")
    return found[0]


def change(world: World, table: str, row: Row, **cells: Any) -> Row:
    """Put cells into a row of a table; return it as it is then."""
    changed = {**row, **cells}
    column = next(iter(row))
    world.put(table, [changed if r[column] == row[column] else r for r in world.table(table)])
    return changed


def number(world: World, table: str, letter: str, start: int) -> str:
    """Return the id of the next row of a table to which rows are only added."""
    return f"{letter}{start + len(world.table(table))}"


def today(world: World) -> date:
    """Return the local day."""
    return world.clock.local(world.now).date()


def days_since(day: str, now: date) -> int:
    """Return the days from an ISO date to another; negative: it is to come."""
    return (now - date.fromisoformat(day)).days


def pay_in(world: World, account_id: str, amount: float) -> Row:
    """Add an amount to an account, or take it where it is negative; return the account.

    Raises:
        NoDataError: There is no such account.
        ValueError: It is not open, or has too little.
    """
    account = the(world, "accounts", account_id)
    if account["state"] != "open":
        raise ValueError(f"the account {account_id} is {account['state']}")
    balance = round(float(account["balance"]) + amount, 2)
    if balance < 0:
        raise ValueError(f"the account {account_id} has {account['balance']:.2f} EUR only")
    return change(world, "accounts", account, balance=balance)


def find_people(
    world: World, name: str | None = None, email: str | None = None, phone: str | None = None
) -> list[Row]:
    """Find customers by name, email or phone; give at least one. Names may be a part of the name.

    Args:
        name: Name, or a part of it.
        email: Email address, exactly.
        phone: Phone number, exactly.

    Returns:
        Id, name and email of each customer that matches all that is given.
    """
    if name is None and email is None and phone is None:
        raise ValueError("give a name, an email or a phone number")
    return [
        {"person_id": row["person_id"], "name": row["name"], "email": row["email"]}
        for row in world.table("people")
        if (name is None or name.casefold() in row["name"].casefold())
        and (email is None or email.casefold() == row["email"].casefold())
        and (phone is None or phone == row["phone"])
    ]


def check_identity(world: World, person_id: str, postcode: str, born: str) -> str:
    """Check that a customer is who they say, by what they told you. Do this once for each customer.

    Args:
        person_id: Id of the customer.
        postcode: Postcode that the customer told.
        born: Date of birth that the customer told, as YYYY-MM-DD.

    Returns:
        passed
    """
    row = the(world, "people", person_id)
    if (row["postcode"].casefold(), row["born"]) != (postcode.casefold(), born):
        raise ValueError("postcode and date of birth are not those of this customer")
    checked = {"person_id": person_id, "day": today(world).isoformat()}
    if checked not in world.rows("checks"):
        world.add("checks", checked)
    return "passed"


def get_person(world: World, person_id: str) -> Row:
    """Look a customer up: name, email, phone, address and tier.

    Args:
        person_id: Id of the customer.
    """
    row = the(world, "people", person_id)
    return {name: cell for name, cell in row.items() if name not in ("postcode", "born")}


def update_person(
    world: World,
    person_id: str,
    email: str | None = None,
    phone: str | None = None,
    address: str | None = None,
) -> Row:
    """Change what is known of a customer; what is left out stays.

    Args:
        person_id: Id of the customer.
        email: New email address.
        phone: New phone number.
        address: New postal address.

    Returns:
        The customer as known now.
    """
    given = {"email": email, "phone": phone, "address": address}
    new = {name: value for name, value in given.items() if value is not None}
    if not new:
        raise ValueError("give an email, a phone number or an address")
    change(world, "people", the(world, "people", person_id), **new)
    return get_person(world, person_id)


About = Literal["complaint", "fraud", "exception", "other"]


def hand_over(world: World, person_id: str, about: About) -> str:
    """Hand a customer over to a colleague, who will call back. Use it for what you may not do.

    Args:
        person_id: Id of the customer.
        about: What the colleague is to look into.

    Returns:
        Id of the ticket.
    """
    the(world, "people", person_id)
    ticket = number(world, "tickets", "T", 301)
    world.add("tickets", {"ticket_id": ticket, "person_id": person_id, "about": about})
    return ticket


TOOLS = toolbox("people", [find_people, check_identity, get_person, update_person, hand_over])
"""Tools that every world has."""


# -- The rules that hold in every world.

DESK = (
    "You are the service desk. Customers write to you, and you act for them by your tools. Keep "
    "these rules. If a rule forbids what a customer wants, say so and say why."
)
EUROS = "- Prices and amounts are in euros."


def identity(call: Any, world: Any, chat: Any) -> str | None:
    """Check the identity of a customer by postcode and date of birth before you change anything.

    Read what is about them afterwards, too.
    """
    if call.name in ("find_people", "check_identity"):
        return None
    owner = owner_of(call, world)
    if owner is None or world.rows("checks", person_id=owner):
        return None
    return f"{call.name} is about {owner}, whose identity was not checked before"


def one_customer(call: Any, world: Any, chat: Any) -> str | None:
    """Serve one customer a chat: check nobody else's identity once you have checked one."""
    if call.name != "check_identity":
        return None
    others = {row["person_id"] for row in world.rows("checks")} - {call.arguments["person_id"]}
    return f"{others.pop()} was served before" if others else None


OWNERS = {
    "person_id": "people",
    "order_id": "orders",
    "item_id": "items",
    "return_id": "returns",
    "account_id": "accounts",
    "from_account": "accounts",
    "card_id": "cards",
    "payee_id": "payees",
    "payment_id": "payments",
    "standing_id": "standing_orders",
    "event_id": "events",
    "mail_id": "mails",
    "file_id": "files",
    "folder_id": "folders",
    "share_id": "shares",
    "booking_id": "bookings",
}
"""Argument to the table of which it names a row; that has the customer as `person_id`."""


def owner_of(call: Any, world: Any) -> str | None:
    """Return the customer whose row a call names; None: it names nobody's."""
    for argument, value in call.arguments.items():
        for row in world.tables.get(OWNERS.get(argument), ()):
            if next(iter(row.values())) == value:
                return _owner(row, world)
    return None


def _owner(row: Row, world: Any) -> str:
    held = {"order_id": "orders", "account_id": "accounts", "folder_id": "folders"}
    for name, table in held.items():
        if "person_id" not in row and name in row:
            row = world.row(table, **{name: row[name]})
    return str(row["person_id"])


def unasked(call: Any, chat: Any, *tools: str) -> str | None:
    """Return that a call of one of some tools was not put to the customer, or None."""
    if call.name not in tools or chat.allowed:
        return None
    return f"{call.name} was not put to the customer, with all it does, and agreed to before"
