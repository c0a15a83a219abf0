"""The shop: what its tools change and refuse, and which calls break each rule of its policy."""

import pytest
from desks import desk

from seal.benchmarks.apps import shop


def rows(table, value):
    """Return the shipped row of an id."""
    return next(row for row in shop.goods()[table] if next(iter(row.values())) == value)


def cell(at, table, value, column):
    """Return a cell of a row as it is."""
    return next(r for r in at.rows(table) if next(iter(r.values())) == value)[column]


@pytest.mark.parametrize("seed", range(6))
def test_goods_of_any_seed_fit_together(seed: int) -> None:
    made = shop.goods(seed)

    assert made == shop.goods(seed)
    for table, columns in shop.COLUMNS.items():
        assert all(list(row) == list(columns) for row in made[table]), table
    orders = {row["order_id"]: row for row in made["orders"]}
    owner = {row["account_id"]: row["person_id"] for row in made["accounts"]}
    products = {row["product_id"]: row for row in made["products"]}
    for item in made["items"]:
        assert item["order_id"] in orders
        assert item["price"] == products[item["product_id"]]["price"]
    for order in orders.values():
        assert owner[order["account_id"]] == order["person_id"]
        assert (order["delivered"] is None) is (order["state"] != "delivered")
        assert order["placed"] < order["promised"]
        assert (order["delivered"] or "") < "2026-03-16"


def test_an_order_is_told_with_its_items() -> None:
    order = desk("shop").use("get_order", order_id="W1004")

    assert [item["item_id"] for item in order["items"]] == ["I507", "I508"]
    assert [row["order_id"] for row in desk("shop").use("list_orders", person_id="P12")] == [
        "W1003",
        "W1004",
    ]


def test_products_are_found_by_text_and_category() -> None:
    at = desk("shop")

    assert [row["name"] for row in at.use("search_products", text="SCARF")] == ["scarf"]
    assert len(at.use("search_products", category="garden")) == 4
    assert at.use("search_products", text="scarf", category="garden") == []


def test_a_cancelled_order_gives_money_and_goods_back_once() -> None:
    at = desk("shop")

    assert at.use("cancel_order", order_id="W1008")["paid_back"] == 24.0
    assert cell(at, "accounts", "5137-17", "balance") == 924.15 + 24
    assert cell(at, "products", "G37", "stock") == rows("products", "G37")["stock"] + 2
    assert "is cancelled" in at.refused("cancel_order", order_id="W1008")
    assert "is shipped" in at.refused("cancel_order", order_id="W1006")


def test_the_account_pays_what_a_swap_costs_more() -> None:
    at = desk("shop")
    at.use("swap_item", item_id="I546", product_id="G33")

    assert cell(at, "accounts", "5364-33", "balance") == 540.29
    assert cell(at, "items", "I546", "name") == "hose"
    assert "there are 0 in stock" in at.refused("swap_item", item_id="I546", product_id="G24")


def test_a_swap_that_nobody_can_pay_changes_nothing() -> None:
    accounts = [{**row, "balance": 1.0} for row in shop.goods()["accounts"]]

    assert "has 1.00 EUR only" in desk("shop", accounts=accounts).refused(
        "swap_item", item_id="I546", product_id="G33"
    )


def test_an_item_is_returned_once_and_refunded_once() -> None:
    at = desk("shop")
    assert at.use("start_return", item_id="I508", opened=True)["return_id"] == "R801"

    assert "is returned" in at.refused("start_return", item_id="I508", opened=True)
    assert "119.00 EUR were paid" in at.refused(
        "refund", return_id="R801", amount=119.5, to="account"
    )
    at.use("refund", return_id="R801", amount=119, to="account")
    assert cell(at, "accounts", "2393-13", "balance") == 3986.32
    assert "is refunded" in at.refused("refund", return_id="R801", amount=1, to="credit")
    (back,) = at.use("list_returns", person_id="P12")
    assert back["state"] == "refunded"
    assert "its order shipped" in at.refused("start_return", item_id="I511", opened=False)


def test_a_refund_as_credit_leaves_the_account_alone() -> None:
    at = desk("shop")
    at.use("start_return", item_id="I533", opened=False)
    at.use("refund", return_id="R801", amount=38, to="credit")

    assert at.rows("accounts") == shop.goods()["accounts"]
    (credit,) = at.rows("credits")
    assert (credit["person_id"], credit["amount"]) == ("P20", 38)


def test_an_order_takes_money_and_goods() -> None:
    at = desk("shop")
    given = {"person_id": "P16", "product_id": "G36", "account_id": "8260-21"}
    order = at.use("place_order", quantity=3, **given)

    assert (order["order_id"], order["promised"]) == ("W1025", "2026-03-20")
    assert cell(at, "accounts", "8260-21", "balance") == 1284.51
    assert cell(at, "items", "I548", "quantity") == 3
    assert "there are 0 in stock" in at.refused("place_order", quantity=1, **given)
    assert "1 piece or more" in at.refused("place_order", quantity=0, **given)


def test_another_address_is_taken_before_an_order_leaves() -> None:
    at = desk("shop")
    at.use("change_delivery_address", order_id="W1014", address="1 Kiln Row, Ashford")

    assert cell(at, "orders", "W1014", "address") == "1 Kiln Row, Ashford"
    assert "is shipped" in at.refused("change_delivery_address", order_id="W1006", address="x")


# -- The policy: of each rule a call that breaks it, and one that keeps it.


def test_a_packed_order_stays_as_it_is() -> None:
    at = desk("shop").check("P17").agree("Shall I cancel order W1014?")

    assert at.broken("cancel_order", order_id="W1014") == ["before_packing"]
    assert at.broken("change_delivery_address", order_id="W1014", address="x") == ["before_packing"]
    at = desk("shop").check("P14").agree("Shall I cancel order W1008?")
    assert at.broken("cancel_order", order_id="W1008") == []


def test_the_window_of_returns_is_longer_for_gold() -> None:
    standard, gold = desk("shop").check("P19"), desk("shop").check("P20")

    assert standard.broken("start_return", item_id="I531", opened=True) == ["return_window"]
    assert gold.broken("start_return", item_id="I533", opened=True) == []


def test_the_window_ends_after_the_thirtieth_day() -> None:
    for day, broken in (("2026-02-14", []), ("2026-02-13", ["return_window"])):
        orders = [
            {**row, "delivered": day} if row["order_id"] == "W1017" else row
            for row in shop.goods()["orders"]
        ]
        at = desk("shop", orders=orders).check("P19")
        assert at.broken("start_return", item_id="I531", opened=True) == broken, day


def test_clearance_is_not_taken_back() -> None:
    at = desk("shop").check("P20")

    assert at.broken("start_return", item_id="I534", opened=False) == ["clearance_is_final"]


def refunding(item: str, person: str, opened: bool, asked: str):
    at = desk("shop").check(person)
    at.use("start_return", item_id=item, opened=opened)
    return at.agree(asked)


def test_a_refund_is_what_was_paid() -> None:
    at = refunding("I508", "P12", True, "Shall I refund 119 EUR for return R801 to the account?")
    assert at.broken("refund", return_id="R801", amount=119, to="account") == []
    at = refunding("I508", "P12", True, "Shall I refund 107.1 EUR of return R801 to the account?")
    assert at.broken("refund", return_id="R801", amount=107.1, to="account") == ["refund_amount"]


def test_opened_electronics_lose_a_tenth() -> None:
    for opened, amount, broken in (
        (True, 71.1, []),
        (True, 79, ["refund_amount"]),
        (False, 79, []),
        (False, 71.1, ["refund_amount"]),
    ):
        orders = [
            {**row, "delivered": "2026-03-02"} if row["order_id"] == "W1005" else row
            for row in shop.goods()["orders"]
        ]
        at = desk("shop", orders=orders).check("P13")
        at.use("start_return", item_id="I510", opened=opened)
        at.agree(f"Shall I refund {amount} EUR for return R801 to the account?")
        found = at.broken("refund", return_id="R801", amount=amount, to="account")
        assert found == broken, (opened, amount)


def test_a_late_refund_is_credit_and_another_is_not() -> None:
    late = refunding("I533", "P20", False, "Shall I refund 38 EUR for return R801 to the account?")
    assert late.broken("refund", return_id="R801", amount=38, to="account") == ["refund_place"]
    soon = refunding("I508", "P12", True, "Shall I refund 119 EUR for return R801 as credit?")
    assert soon.broken("refund", return_id="R801", amount=119, to="credit") == ["refund_place"]


def test_a_swap_stays_in_its_category() -> None:
    at = desk("shop").check("P15").agree("Shall I swap item I517 for product G27?")
    assert at.broken("swap_item", item_id="I517", product_id="G27") == ["swap_category"]
    at = desk("shop").check("P15").agree("Shall I swap item I517 for product G37?")
    assert at.broken("swap_item", item_id="I517", product_id="G37") == []


@pytest.mark.parametrize(
    ("order", "person", "due"),
    [("W1004", "P12", 20), ("W1012", "P16", 10), ("W1010", "P15", 20), ("W1002", "P11", 0)],
)
def test_an_apology_is_5_euros_a_day_and_20_at_most(order: str, person: str, due: int) -> None:
    at = desk("shop").check(person)

    for amount in (5, 10, 15, 20, 25):
        found = at.broken("give_credit", order_id=order, amount=amount)
        assert found == ([] if amount == due else ["apology"]), amount


def test_an_apology_is_given_once() -> None:
    at = desk("shop").check("P12")
    at.use("give_credit", order_id="W1004", amount=20)

    assert at.broken("give_credit", order_id="W1004", amount=20) == ["apology"]


def test_three_pieces_are_sold_at_most() -> None:
    products = [{**row, "stock": 9} for row in shop.goods()["products"]]
    for quantity, broken in ((3, []), (4, ["at_most_three"])):
        at = desk("shop", products=products).check("P16")
        at.agree(f"Shall I order {quantity} pieces of G36 for P16, paid from 8260-21?")
        given = {"person_id": "P16", "product_id": "G36", "account_id": "8260-21"}
        assert at.broken("place_order", quantity=quantity, **given) == broken


def test_nothing_is_cancelled_or_sold_without_a_yes() -> None:
    at = desk("shop").check("P14")

    assert at.broken("cancel_order", order_id="W1008") == ["ask_before_selling"]
    at.agree("Shall I cancel order W1007?")
    assert at.broken("cancel_order", order_id="W1008") == ["ask_before_selling"]
