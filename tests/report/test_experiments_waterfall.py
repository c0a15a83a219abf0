"""The picture of why goals failed."""

import pytest

from seal.report.experiments import goals_grid, waterfall_figures


def test_whiskers_stand_where_a_bar_ends() -> None:
    """Of 10 goals a stage explains 4, between 3 and 6: 6 are left after it, between 4 and 7."""
    stage = {"stage": "calls", "meaning": "wrong calls", "goals": 4, "left": 6}
    content = {
        "goals": 10,
        "solved": 6,
        "undecided": 0,
        "stages": [stage | {"low": 0.3, "high": 0.6}],
    }
    axes = waterfall_figures(content)["waterfall"].axes[0]
    (whiskers,) = axes.containers[-1].lines[2]
    (ends,) = whiskers.get_segments()
    assert [end[0] for end in ends] == pytest.approx([4, 7])
    assert [bar.get_x() for bar in axes.patches] == [0, 6, 0]
    assert axes.get_xlim()[1] > 10


def test_a_paper_has_each_failed_goal_or_the_examples_of_each_stage() -> None:
    failed = [
        {"task": f"t-{n}", "goal": 0, "trial": 0, "step": None, "stage": "wrong_tool"}
        | {"cause": "other_tool", "evidence": "called look"}
        for n in range(101)
    ]
    stages = [{"examples": failed[:2]}, {"examples": []}]
    for count, shown, title in ((100, 100, "Each goal that failed"), (101, 2, "2 of 101 goals")):
        grid, told = goals_grid({"attributions": failed[:count], "stages": stages}, "oracle on x")
        assert len(grid.rows) == shown
        assert grid.title.startswith(title)
        assert grid.title.endswith(": oracle on x")
        assert bool(told) is (count > shown)
