"""The people of every world: drawn of a seed, found, checked and changed."""

import pytest
from desks import desk

from seal.benchmarks.apps import people


def test_equal_seeds_give_equal_people_and_another_gives_others() -> None:
    assert people.people(7) == people.people(7)
    assert people.people(7)["people"] != people.people(8)["people"]


@pytest.mark.parametrize("seed", range(6))
def test_people_have_ids_and_accounts_of_their_own_and_two_have_one_name(seed: int) -> None:
    made = people.people(seed, 10)
    rows, accounts = made["people"], made["accounts"]

    for column in ("person_id", "email"):
        assert len({row[column] for row in rows}) == 10
    assert len({row["name"] for row in rows}) == 9
    assert len({row["account_id"] for row in accounts}) == len(accounts)
    assert {row["person_id"] for row in accounts} == {row["person_id"] for row in rows}
    for table, columns in people.COLUMNS.items():
        assert all(list(row) == list(columns) for row in made[table])


def test_people_are_found_by_all_that_is_given() -> None:
    at = desk("shop")

    both = at.use("find_people", name="lindqvist")
    assert {row["person_id"] for row in both} == {"P11", "P15", "P22"}
    (one,) = at.use("find_people", name="Jonas", email="JONAS.LINDQVIST2@mail.example")
    assert one["person_id"] == "P22"
    assert at.use("find_people", phone="000") == []
    assert "give a name" in at.refused("find_people")


def test_an_identity_is_checked_once_by_postcode_and_birth() -> None:
    at = desk("shop")

    assert "are not those" in at.refused(
        "check_identity", person_id="P12", postcode="A666", born="1987-06-17"
    )
    for _ in range(2):
        at.use("check_identity", person_id="P12", postcode="a666", born="1987-06-16")
    assert at.rows("checks") == [{"person_id": "P12", "day": "2026-03-16"}]


def test_what_identifies_a_customer_is_never_told() -> None:
    told = desk("shop").use("get_person", person_id="P12")

    assert told.keys().isdisjoint({"postcode", "born"})
    assert told["tier"] == "standard"


def test_only_what_is_given_changes_of_a_person() -> None:
    at = desk("bank")

    assert at.use("update_person", person_id="P12", phone="1")["phone"] == "1"
    (row,) = (row for row in at.rows("people") if row["person_id"] == "P12")
    assert row["email"] == "petra.brandt@mail.example"
    assert "give an email" in at.refused("update_person", person_id="P12")


def test_tickets_are_numbered() -> None:
    at = desk("bank")

    assert [at.use("hand_over", person_id="P12", about=a) for a in ("fraud", "other")] == [
        "T301",
        "T302",
    ]
    assert "no row of people" in at.refused("hand_over", person_id="P99", about="other")


def test_the_customer_of_a_call_is_checked_before_it() -> None:
    at = desk("shop+bank")

    assert at.broken("list_orders", person_id="P12") == ["identity"]
    for name, arguments in {
        "get_order": {"order_id": "W1004"},
        "list_accounts": {"person_id": "P12"},
        "list_payments": {"account_id": "2393-13"},
        "start_return": {"item_id": "I508", "opened": False},
        "set_card_limit": {"card_id": "K73", "daily_limit": 1.0},
        "dispute_payment": {"payment_id": "B403"},
    }.items():
        assert at.broken(name, **arguments) == ["identity"], name
    assert at.broken("find_people", name="Petra") == []
    assert at.broken("search_products") == []
    at.check("P12")
    assert at.broken("list_orders", person_id="P12") == []
    assert at.broken("get_order", order_id="W1001") == ["identity"]


def test_one_customer_is_served_in_a_chat() -> None:
    at = desk("shop").check("P12")

    own = {"person_id": "P12", "postcode": "A666", "born": "1987-06-16"}
    assert at.broken("check_identity", **own) == []
    other = {"person_id": "P13", "postcode": "K702", "born": "1983-08-04"}
    assert at.broken("check_identity", **other) == ["one_customer"]
