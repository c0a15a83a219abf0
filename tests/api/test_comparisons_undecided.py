"""A printed comparison tells undecided goals that could turn it, and what was done besides."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import seal


def order_status(order: str) -> str:
    """Tell the status of an order.

    Args:
        order: Its id.
    """
    return "open"


def played(name: str, answers: dict[str, str], more: int, out: Path) -> seal.Run:
    def agent(request: str, tools: Any) -> str:
        for order in ("7", *["9"] * more):
            tools[0](order=order)
        return answers.get(request, "It is open.")

    gold = seal.called("order_status", order="7")
    tasks = [seal.ask(f"Is order 7 open, {n}?", gold, answer="open") for n in range(6)]
    bench = seal.Benchmark("shop", tools=[order_status], tasks=tasks)
    return seal.run(bench, agent=agent, baselines=False, out=out / name)


def test_undecided_goals_that_could_turn_a_difference_are_printed(tmp_path: Path) -> None:
    wrong = {f"Is order 7 open, {n}?": "It is shipped." for n in (0,)}
    odd = {f"Is order 7 open, {n}?": "It is open, for 230 of them." for n in (0, 1, 2)}
    runs = [played("one", wrong, 0, tmp_path), played("two", odd, 0, tmp_path)]
    assert "undecided goals could make" in str(seal.compare(*runs))


def test_calls_besides_the_gold_are_printed_where_a_run_made_some(tmp_path: Path) -> None:
    runs = [played("none", {}, 0, tmp_path), played("two", {}, 2, tmp_path)]
    compared = seal.compare(*runs)
    for told in (str(compared), compared.table()):
        assert "extra_calls" in told
        assert "extra_effects" not in told
    same = played("same", {}, 0, tmp_path)
    assert "extra_calls" not in str(seal.compare(runs[0], same))
    assert compared["extra_calls"].high > 1.0
