"""Cells of tables of results."""

from typing import Any

import pytest

from seal.report.grids import number, paired, tallied


@pytest.mark.parametrize(
    ("value", "shown"),
    [(-0.0002, "0.000"), (0.0, "0.000"), (-0.0006, "-0.001"), (12345.0, "12,345.0")],
)
def test_zero_has_no_sign(value: float, shown: str) -> None:
    assert number(value) == shown


def test_counts_of_thousands_have_commas() -> None:
    assert tallied({"value": 1340, "name": 2}) == "value 1,340, name 2"


def test_two_retrievers_without_a_query_in_common_have_no_difference() -> None:
    found: dict[str, Any] = {"difference": None, "low": None, "high": None, "p_holm": None}
    assert paired(found) == ("n/a", "n/a")
    told = {"difference": 0.25, "low": 0.125, "high": 0.375, "p_holm": 0.01}
    assert paired(told) == ("+0.250\n[+0.125, +0.375]", "0.0100")
