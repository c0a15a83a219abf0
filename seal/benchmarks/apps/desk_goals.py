"""What goal templates of the shop and the bank share: who writes, and how a customer is found."""

from __future__ import annotations

from datetime import date, timedelta
from random import Random
from typing import Any

from seal.benchmarks.apps import people
from seal.core import JSON
from seal.environments.tables import Row
from seal.environments.templates import Draw, Rows, Twist, do, say

PEOPLE = 5
"""Customers of a drawn world."""
BOUNDARY = "You say who you are, and what else you know, only when you are asked."
CLOCK: dict[str, JSON] = {
    "start": "@2026-03-16T09:00",
    "zone": "Europe/Berlin",
    "first": 3,
    "step": 2,
}
IGNORE = ("checks", "tickets.ticket_id", "tickets.about")
"""What a colleague is to look into may be called by another word."""
WHO: list[dict[str, Any]] = [
    say("Of course. What is your name, your postcode and your date of birth?"),
    do("find_people", name="{name}"),
    do("check_identity", person_id="{person_id}", postcode="{postcode}", born="{iso}"),
]
"""How a customer is found; a namesake fails the check."""
KNOWN: dict[str, JSON] = {
    "name": {"value": "{name}", "ask": ["your name"]},
    "postcode": {"value": "{postcode}", "ask": ["postcode"]},
    "date of birth": {"value": "{born}", "ask": ["born", "birth"]},
}
HANDED: list[dict[str, Any]] = [do("hand_over", person_id="{person_id}", about="exception")]
TICKET = "T301"
"""The first one of a chat."""


def a_number(rows: Rows, slots: Any, drawn: Random) -> dict[str, Any]:
    """Draw a new phone number."""
    return {"number": f"0{drawn.randrange(20, 80)} 555 02{drawn.randrange(10, 99)}"}


NEW_NUMBER = Twist(
    kind="a wish for the data",
    draw=a_number,
    then=["One more thing: I have a new phone number, {number}. Put it into my data, please."],
    gold={
        "more": [
            do("update_person", person_id="{person_id}", phone="{number}"),
            say("Your new number is in your data."),
        ]
    },
)
"""What a customer of every desk may want besides."""


def handed_over(kind: str, draw: Draw, goal: str, why: str, *left_out: str) -> Twist:
    """Return a twist by which a colleague has to look into what cannot be.

    Args:
        kind: Of the twist.
        draw: Of the twist.
        goal: All that is wanted.
        why: What the customer is told.
        left_out: Parts of gold besides `act` and `tell` that are not done.
    """
    told = say(f"{why}, so I have handed you over to a colleague with ticket {TICKET}.")
    return Twist(
        kind=kind,
        draw=draw,
        goal=f"{goal} If that cannot be, have a colleague look into it.",
        asks="If it can't be done, have a colleague look into it, and tell me the ticket number.",
        gold={"act": HANDED, "tell": [told], **{part: [] for part in left_out}},
        tells={"ticket": TICKET},
    )


def customer(rows: Rows, drawn: Random) -> tuple[Row, dict[str, Any]]:
    """Return a person, and the slots of who it is and of its first account."""
    person = drawn.choice(rows["people"])
    born = date.fromisoformat(person["born"])
    forms = (f"{born.day} {born:%B %Y}", f"{born:%B} {born.day}, {born.year}", f"{born:%d %b %Y}")
    account = accounts(rows, person)[0]
    return person, {
        "name": person["name"],
        "person_id": person["person_id"],
        "postcode": person["postcode"],
        "iso": person["born"],
        "born": drawn.choice(forms),
        "account": account["account_id"],
    }


def accounts(rows: Rows, person: Row) -> list[Row]:
    """Return the accounts of a person, the current one first."""
    return [row for row in rows["accounts"] if row["person_id"] == person["person_id"]]


def savings(rows: Rows, person: Row) -> Row | None:
    """Return the savings account of a person; None: there is none."""
    return next((row for row in accounts(rows, person) if row["kind"] == "savings"), None)


def row_of(rows: Rows, table: str, value: str) -> Row:
    """Return the row of a table whose first column has a value, to be changed."""
    return next(row for row in rows[table] if next(iter(row.values())) == value)


def euros(amount: float) -> float:
    """Return an amount to the cent."""
    return round(float(amount), 2)


def ago(days: int) -> str:
    """Return the ISO date some days before the one on which worlds begin."""
    return (people.TODAY - timedelta(days=days)).isoformat()


def address(drawn: Random) -> str:
    """Return a postal address."""
    return (
        f"{drawn.randrange(90, 190)} {drawn.choice(people.STREETS)}, {drawn.choice(people.TOWNS)}"
    )


def namesake(rows: Rows, slots: Any, drawn: Random) -> dict[str, Any] | None:
    """Add a person of the customer's name, now and then."""
    if drawn.random() < 0.5:
        return None
    own = row_of(rows, "people", slots["person_id"])
    if sum(row["name"] == own["name"] for row in rows["people"]) == 1:
        other = {**own, "person_id": f"P{11 + len(rows['people'])}", "tier": "standard"}
        other["email"] = own["email"].replace("@", "3@")
        other["postcode"] = f"{drawn.choice('AKTW')}{drawn.randrange(100, 999)}"
        other["born"] = f"{1950 + drawn.randrange(50)}-0{drawn.randrange(1, 9)}-11"
        rows["people"].append({**other, "phone": f"0{drawn.randrange(20, 80)} 555 0199"})
    return {}
