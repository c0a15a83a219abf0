"""Cells of tables of results."""

from typing import Any

from seal.report.grids import paired


def test_two_retrievers_without_a_query_in_common_have_no_difference() -> None:
    found: dict[str, Any] = {"difference": None, "low": None, "high": None, "p_holm": None}
    assert paired(found) == ("n/a", "n/a")
    told = {"difference": 0.25, "low": 0.125, "high": 0.375, "p_holm": 0.01}
    assert paired(told) == ("+0.250\n[+0.125, +0.375]", "0.0100")
