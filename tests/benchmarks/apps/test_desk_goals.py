"""What the goal templates share: customers, their dates of birth, and namesakes."""

from datetime import datetime
from random import Random

import pytest

from seal.benchmarks.apps import bank, desk_goals, shop


@pytest.mark.parametrize("seed", range(20))
def test_a_drawn_customer_is_told_as_the_rows_have_them(seed: int) -> None:
    rows = shop.goods(seed, desk_goals.PEOPLE)
    person, slots = desk_goals.customer(rows, Random(seed))

    assert rows["people"].count(person) == 1 and len(rows["people"]) == desk_goals.PEOPLE
    assert slots["account"] == desk_goals.accounts(rows, person)[0]["account_id"]
    forms = ("%d %B %Y", "%B %d, %Y", "%d %b %Y")
    read = []
    for form in forms:
        try:
            read.append(datetime.strptime(slots["born"], form).date().isoformat())
        except ValueError:
            continue
    assert set(read) == {person["born"]}


@pytest.mark.parametrize("seed", range(20))
def test_a_namesake_differs_in_what_is_checked(seed: int) -> None:
    rows = bank.holdings(seed, desk_goals.PEOPLE)
    person, slots = desk_goals.customer(rows, Random(seed))
    before = len(rows["people"])
    desk_goals.namesake(rows, slots, Random(seed))

    for other in rows["people"][before:]:
        assert other["name"] == person["name"] and list(other) == list(person)
        told = (other["postcode"], other["born"], other["email"], other["person_id"])
        assert told[:2] != (person["postcode"], person["born"])
        assert told[2] != person["email"]
        assert [row["person_id"] for row in rows["people"]].count(told[3]) == 1
