"""Charts of a page: how values are written beside them."""

from __future__ import annotations

from seal.report.pages import Bar, BarGroup, forest


def test_a_difference_above_zero_has_a_plus_and_a_mean_has_none() -> None:
    groups = [BarGroup("m", (Bar("a", "run-0", 0.25), Bar("b", "run-0", -0.25)))]
    shown = forest("t", groups, (-1, 1))
    assert ">+0.250<" in shown and ">-0.250<" in shown
    assert ">0.250<" in forest("t", groups)
