"""Gold calls that change something and were never made, where no world shows it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import seal


@seal.writes
def cancel(order: str) -> str:
    """Cancel an order.

    Args:
        order: Its id.
    """
    return "cancelled"


def status(order: str) -> str:
    """Tell the status of an order.

    Args:
        order: Its id.
    """
    return "cancelled"


SAYING = "Order 8 is cancelled."


@pytest.mark.parametrize(
    ("gold", "made", "solved"),
    [
        ("cancel", [], 0.0),
        ("cancel", [("status", "8")], 0.0),
        ("cancel", [("cancel", "8")], 1.0),
        ("status", [], 1.0),
    ],
)
def test_a_deed_that_was_never_made_is_no_solution_whatever_is_said(
    gold: str, made: list[tuple[str, str]], solved: float, tmp_path: Path
) -> None:
    def agent(request: str, tools: Any) -> str:
        named = {tool.__name__: tool for tool in tools}
        for name, order in made:
            named[name](order=order)
        return SAYING

    task = seal.ask("Is order 8 off?", seal.called(gold, order="8"), answer="cancelled")
    bench = seal.Benchmark("shop", tools=[cancel, status], tasks=[task])
    run = seal.run(bench, agent=agent, baselines=False, out=tmp_path / "run")
    (score,) = [one for one in run.folder.scores() if one.metric == "pass_rate"]
    assert score.value == solved
    if not solved:
        assert score.details["reason"].startswith("the deed was never made: no call of cancel")
