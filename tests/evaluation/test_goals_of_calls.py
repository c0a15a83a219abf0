"""What decides, and leads the tables, where the gold of a benchmark is calls and nothing else."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import seal
from seal.core import Task


def price(item: str) -> float:
    """Return what an item costs."""
    return 2.0


PEN = seal.ask("What does a pen cost?", seal.called("price", item="pen"))
BOOK = seal.ask("What does a book cost?", seal.called("price", item="book"))
TOLD = seal.ask("What does a pen cost?", seal.called("price", item="pen"), answer="2.0")


def eager(request: str, tools: list[Callable[..., Any]]) -> str:
    """Look up a pen, and then what was asked for."""
    tools[0](item="pen")
    return str(tools[0](item="book")) if "book" in request else "It costs 2.0."


def played(*tasks: Task) -> Any:
    bench = seal.Benchmark("stationer", tools=[price], tasks=list(tasks))
    return seal.run(bench, agent=eager, baselines=False)


def test_an_extra_call_fails_the_goal_and_explains_it() -> None:
    run = played(PEN, BOOK)

    assert repr(run).splitlines()[3].startswith("calls_right")
    assert "abstention" not in repr(run)
    assert run["calls_right"].mean == run["pass_rate"].mean == 0.5
    content = seal.explain(run).content
    assert content["decided_by"] == {"calls_right": 2}
    assert [(a["stage"], a["cause"]) for a in content["attributions"]] == [
        ("wrong_tool", "besides")
    ]


def test_runs_are_compared_by_the_verdict_on_calls(tmp_path: Path) -> None:
    bench = seal.Benchmark("stationer", tools=[price], tasks=[PEN, BOOK])
    options = {"baselines": False}
    one = seal.run(bench, agent=eager, out=tmp_path / "eager", **options)
    other = seal.run(bench, model="oracle", out=tmp_path / "oracle", **options)
    (pair,) = seal.compare(one, other).content["pairs"]
    assert pair["success"] == "calls_right"


@pytest.mark.parametrize("besides", [TOLD, seal.ask("Hello?")], ids=["an answer", "no gold"])
def test_gold_that_asks_for_more_in_one_task_leaves_the_usual_table(besides: Task) -> None:
    run = played(PEN, besides)

    assert repr(run).splitlines()[3].startswith("pass_rate")
    assert seal.explain(run).content["decided_by"].keys() == {"pass_rate"}


def test_an_extra_call_explains_a_goal_of_calls_whatever_the_others_ask_for() -> None:
    content = seal.explain(played(PEN, BOOK, TOLD)).content
    assert [(a["stage"], a["cause"], a["evidence"]) for a in content["attributions"]] == [
        ("wrong_tool", "besides", "1 besides")
    ]
