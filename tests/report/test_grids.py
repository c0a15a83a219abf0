"""Cells of tables of results."""

from typing import Any

import pytest

from seal.report.grids import Estimate, frequent, holm_chance, listed, number, paired, tallied


@pytest.mark.parametrize(
    ("value", "shown"),
    [(-0.0002, "0.000"), (0.0, "0.000"), (-0.0006, "-0.001"), (12345.0, "12,345.0")],
)
def test_zero_has_no_sign(value: float, shown: str) -> None:
    assert number(value) == shown


def test_counts_of_thousands_have_commas() -> None:
    assert tallied({"value": 1340, "name": 2}) == "value 1,340, name 2"
    assert listed(["a"] * 1340, 1) == "a, and 1,339 more"
    assert frequent({"too long": 1340}, 1, 80) == "1,340 (too long)"
    assert Estimate(0.5, n=10_000, undefined=1340).count_text == "n=10,000, undefined 1,340"


@pytest.mark.parametrize(
    ("p", "p_holm", "shown"),
    [(0.5, 1.0, "1.000"), (0.5, None, "uncorrected"), (None, None, "n/a")],
)
def test_a_p_that_is_not_corrected_says_so(
    p: float | None, p_holm: float | None, shown: str
) -> None:
    assert holm_chance({"p": p, "p_holm": p_holm}) == shown


def test_two_retrievers_without_a_query_in_common_have_no_difference() -> None:
    found: dict[str, Any] = {"difference": None, "low": None, "high": None, "p_holm": None}
    assert paired(found) == ("n/a", "n/a")
    told = {"difference": 0.25, "low": 0.125, "high": 0.375, "p_holm": 0.01}
    assert paired(told) == ("+0.250\n[+0.125, +0.375]", "0.0100")
