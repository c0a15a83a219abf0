"""The bank: what its tools change and refuse, and which calls break each rule of its policy."""

import pytest
from desks import desk

from seal.benchmarks.apps import bank


def cell(at, table, value, column):
    """Return a cell of a row as it is."""
    return next(r for r in at.rows(table) if next(iter(r.values())) == value)[column]


@pytest.mark.parametrize("seed", range(6))
def test_holdings_of_any_seed_fit_together(seed: int) -> None:
    made = bank.holdings(seed)

    assert made == bank.holdings(seed)
    for table, columns in bank.COLUMNS.items():
        assert all(list(row) == list(columns) for row in made[table]), table
    owner = {row["account_id"]: row["person_id"] for row in made["accounts"]}
    for table in ("cards", "payments", "standing_orders"):
        assert all(owner[row["account_id"]] == row["person_id"] for row in made[table])


def test_lists_are_of_one_customer() -> None:
    at = desk("bank")

    assert [row["card_id"] for row in at.use("list_cards", person_id="P19")] == ["K83", "K84"]
    assert [row["kind"] for row in at.use("list_accounts", person_id="P14")] == [
        "current",
        "savings",
    ]
    assert [row["payee_id"] for row in at.use("list_payees", person_id="P14")] == ["Y56", "Y57"]
    days = [row["day"] for row in at.use("list_payments", account_id="3280-28")]
    assert days == sorted(days, reverse=True)
    assert "no row of people" in at.refused("list_cards", person_id="P99")


def test_a_transfer_moves_money_and_no_more_than_there_is() -> None:
    at = desk("bank")
    at.use("transfer", from_account="7310-18", to_account="5137-17", amount=450)

    assert cell(at, "accounts", "7310-18", "balance") == 136.5
    assert cell(at, "accounts", "5137-17", "balance") == 1374.15
    same = {"from_account": "7310-18", "to_account": "7310-18", "amount": 1}
    assert "between two accounts" in at.refused("transfer", **same)
    more = {**same, "to_account": "5137-17", "amount": 136.51}
    assert "has 136.50 EUR only" in at.refused("transfer", **more)


def test_a_payment_is_listed() -> None:
    at = desk("bank")
    made = at.use("pay", from_account="5137-17", payee_id="Y57", amount=20)

    assert at.use("list_payments", account_id="5137-17")[0] == made
    assert (made["partner"], made["day"]) == ("Leon Winter", "2026-03-16")


def test_cards_are_blocked_once_and_replaced_with_their_limit() -> None:
    at = desk("bank")
    at.use("block_card", card_id="K84", reason="stolen")
    new = at.use("replace_card", card_id="K84")

    assert "is blocked already" in at.refused("block_card", card_id="K84", reason="lost")
    assert (new["card_id"], new["state"], new["daily_limit"]) == ("K88", "ordered", 500.0)


def test_a_payment_is_disputed_and_a_standing_order_stopped_once() -> None:
    at = desk("bank")
    at.use("dispute_payment", payment_id="B422")
    at.use("stop_standing_order", standing_id="S39")

    assert "is disputed" in at.refused("dispute_payment", payment_id="B422")
    assert "is stopped" in at.refused("stop_standing_order", standing_id="S39")


def test_an_account_is_closed_when_empty_and_takes_nothing_then() -> None:
    at = desk("bank")
    assert "empty it" in at.refused("close_account", account_id="5333-14")
    at.use("transfer", from_account="5333-14", to_account="2393-13", amount=327.28)
    at.use("close_account", account_id="5333-14")

    back = {"from_account": "2393-13", "to_account": "5333-14", "amount": 1}
    assert "is closed" in at.refused("transfer", **back)


# -- The policy: of each rule a call that breaks it, and one that keeps it.


def transferring(one: str, other: str, amount: float):
    asked = f"Shall I transfer {amount} EUR from account {one} to account {other}?"
    given = {"from_account": one, "to_account": other, "amount": amount}
    return desk("bank").check("P14").agree(asked).broken("transfer", **given)


def test_money_goes_to_accounts_of_the_customer_alone() -> None:
    assert transferring("5137-17", "7310-18", 50) == []
    assert transferring("5137-17", "3877-15", 50) == ["own_accounts"]


def test_savings_keep_a_hundred_or_nothing() -> None:
    assert transferring("7310-18", "5137-17", 486.5) == []
    assert transferring("7310-18", "5137-17", 486.51) == ["savings_floor"]
    assert transferring("7310-18", "5137-17", 586.5) == []


def paying(at, account: str, payee: str, amount: float):
    at.agree(f"Shall I pay {amount} EUR from account {account} to payee {payee}?")
    return at.broken("pay", from_account=account, payee_id=payee, amount=amount)


def test_payees_are_of_the_customer() -> None:
    assert paying(desk("bank").check("P14"), "5137-17", "Y57", 20) == []
    assert paying(desk("bank").check("P14"), "5137-17", "Y58", 20) == ["identity", "own_payee"] or (
        paying(desk("bank").check("P14"), "5137-17", "Y58", 20) == ["own_payee"]
    )


def test_a_new_payee_gets_250_euros_on_the_first_day() -> None:
    at = desk("bank").check("P16")
    at.use("add_payee", person_id="P16", name="Ulla Stern", iban="XX12 3400 0000")

    assert paying(at, "8260-21", "Y71", 250) == []
    assert paying(at, "8260-21", "Y71", 251) == ["new_payee"]
    at.use("pay", from_account="8260-21", payee_id="Y71", amount=200)
    assert paying(at, "8260-21", "Y71", 51) == ["new_payee"]
    assert paying(at, "8260-21", "Y59", 251) == []


def test_an_account_pays_1500_euros_in_a_day() -> None:
    at = desk("bank").check("P18")

    assert paying(at, "5925-26", "Y62", 1500) == []
    at.use("pay", from_account="5925-26", payee_id="Y62", amount=1000)
    assert paying(at, "5925-26", "Y63", 500) == []
    assert paying(at, "5925-26", "Y63", 501) == ["daily_payments"]


def test_a_card_is_blocked_before_it_is_replaced_and_fraud_told() -> None:
    at = desk("bank").check("P19")

    assert at.broken("replace_card", card_id="K84") == ["block_before_replacing"]
    at.use("block_card", card_id="K83", reason="lost")
    assert at.broken("replace_card", card_id="K83") == []
    at.use("block_card", card_id="K84", reason="stolen")
    assert at.broken("replace_card", card_id="K84") == ["block_before_replacing"]
    at.use("hand_over", person_id="P19", about="fraud")
    assert at.broken("replace_card", card_id="K84") == []


@pytest.mark.parametrize(("person", "card", "most"), [("P18", "K82", 1000), ("P16", "K79", 2500)])
def test_limits_of_cards_end_where_the_tier_says(person: str, card: str, most: int) -> None:
    at = desk("bank").check(person)

    assert at.broken("set_card_limit", card_id=card, daily_limit=most) == []
    assert at.broken("set_card_limit", card_id=card, daily_limit=most + 1) == ["card_limit"]
    assert "0 or more" in at.refused("set_card_limit", card_id=card, daily_limit=-1)


def test_recent_payments_by_card_alone_are_disputed() -> None:
    at = desk("bank").check("P22")
    assert at.broken("dispute_payment", payment_id="B429") == []
    assert at.broken("dispute_payment", payment_id="B430") == ["recent_card_payment"]
    paid = at.use("pay", from_account="5364-33", payee_id="Y69", amount=5)
    assert at.broken("dispute_payment", payment_id=paid["payment_id"]) == ["recent_card_payment"]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("transfer", {"from_account": "7310-18", "to_account": "5137-17", "amount": 5}),
        ("pay", {"from_account": "5137-17", "payee_id": "Y57", "amount": 5}),
        ("block_card", {"card_id": "K76", "reason": "lost"}),
        ("stop_standing_order", {"standing_id": "S34"}),
    ],
)
def test_money_moves_and_cards_end_only_with_a_yes(name: str, arguments: dict) -> None:
    assert desk("bank").check("P14").broken(name, **arguments) == ["ask_before_paying"]
