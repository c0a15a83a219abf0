"""Cells of how a world ends: null, typed, and of columns that cannot hold them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

import seal
from seal.core import UsageError
from seal.core.conditions import Condition
from seal.environments.chat_world import World
from seal.environments.world import Worlds, toolbox
from seal.testing import check_benchmark


def book(day: World, at: str, note: str | None = None, short: bool = False) -> str:
    """Book a time.

    Args:
        at: The time.
        note: A note.
        short: Whether the row has no cell for a note that is not there.
    """
    day.add("visits", {"at": at} if short else {"at": at, "note": note, "seats": None})
    return "booked"


def clear(day: World) -> str:
    """Take all visits away."""
    day.put("visits", [])
    return "done"


def sneak(day: World) -> str:
    """Change a row in place."""
    day.table("visits")[0]["at"] = "now"  # type: ignore[index]
    return "done"


DAY = Worlds(
    name="day",
    tools=toolbox("day", [book, clear, sneak]),
    tables={"visits": [{"at": "9:00"}]},
    columns={"visits": {"at": str, "note": str | None, "seats": int | None}},
)
Calls = Sequence[tuple[str, dict[str, Any]]]


@pytest.fixture(autouse=True)
def place(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a folder of the test's own."""
    monkeypatch.chdir(tmp_path)


def bench(*asked: Condition) -> seal.Benchmark:
    return seal.Benchmark("day", environment=DAY, tasks=[seal.ask("Go.", *asked)])


def played(asked: Condition, *calls: tuple[str, dict[str, Any]]) -> seal.Run:
    def agent(request: str, tools: Sequence[Any]) -> str:
        named = {tool.__name__: tool for tool in tools}
        for name, given in calls:
            named[name](**given)
        return "Done."

    return seal.run(bench(asked), agent=agent, baselines=False)


def verdict(asked: Condition, *calls: tuple[str, dict[str, Any]]) -> float | None:
    (score,) = [s for s in played(asked, *calls).folder.scores() if s.metric == "pass_rate"]
    return score.value


def booked(at: str, **more: Any) -> tuple[str, dict[str, Any]]:
    return "book", {"at": at, **more}


def test_a_cell_that_a_row_leaves_out_is_null_at_the_beginning_and_the_end() -> None:
    long, short = (
        seal.ends_as(seal.called("book", at="10:00", short=is_)) for is_ in (False, True)
    )
    assert verdict(long, booked("10:00", short=True)) == 1.0
    assert verdict(short, booked("10:00")) == 1.0
    assert verdict(seal.ends_as(), ("clear", {}), booked("9:00")) == 1.0
    assert verdict(long, booked("10:00", note="x")) == 0.0


ALIKE = [
    ("17:30", "17:31", 1.0),
    ("17:30", "5:31 pm", 1.0),
    ("17:30", "17:32", 0.0),
    ("2031-05-01T10:00Z", "2031-05-01T10:01+00:00", 1.0),
    ("2031-05-01T10:00Z", "2031-05-01T10:02Z", 0.0),
    ("2031-05-01T10:00Z", "soon", 0.0),
]


def test_times_are_one_within_a_minute() -> None:
    for wanted, found, value in ALIKE:
        asked = seal.ends_as(seal.called("book", at=wanted), cells={"visits.at": "time"})
        assert verdict(asked, booked(found)) == value, (wanted, found)


REFUSED = [
    ({"visits.at": "date"}, r"cells: visits\.at: 'soon': it is no date; such a value is"),
    ({"visits.at": "number"}, r"cells: visits\.at: 'soon': it is no number"),
    ({"visits.at": "phone"}, r"cells: visits\.at: 'soon': it is no phone"),
    ({"visits.att": "text"}, r"cells: no column of visits 'att'; .* Did you mean 'at'"),
    ({"visit.at": "text"}, r"cells: no table 'visit'"),
]


def test_types_of_cells_that_gold_or_the_world_does_not_have_are_refused() -> None:
    for cells, told in REFUSED:
        with pytest.raises(UsageError, match=told):
            bench(seal.ends_as(seal.called("book", at="soon"), cells=cells))


@pytest.mark.parametrize("value", ["1", True, 1.5, float("nan"), seal.Argument((1,))])
def test_final_rows_that_no_column_can_hold_are_refused(value: Any) -> None:
    with pytest.raises(UsageError, match=r"FinalState: visits.*; give .*value"):
        bench(seal.FinalState("visits", ({"at": "9:00", "seats": value},)))
    assert bench(seal.FinalState("visits", ({"at": "9:00", "seats": 1.0, "note": None},)))


def test_a_deed_done_twice_is_one_effect_too_many_and_the_second_is_blamed() -> None:
    once = seal.ends_as(seal.called("book", at="10:00"))
    rows = seal.FinalState("visits", ({"at": "9:00"}, {"at": "10:00"}))
    for asked in (once, rows):
        for times in (2, 3):
            run = played(asked, *[booked("10:00")] * times)
            (score,) = [s for s in run.folder.scores() if s.metric == "extra_effects"]
            assert score.value == times - 1
            assert score.details["calls"] == ["call_1", "call_2"][: times - 1]


def test_rows_that_a_tool_changes_in_place_are_found_and_told() -> None:
    run = played(seal.ends_as(seal.called("clear")), ("sneak", {}))
    assert run.exit_code == 1
    (score,) = [s for s in run.folder.scores() if s.metric == "pass_rate"]
    assert score.value is None
    assert "(sneak) changed rows of the table 'visits' in place" in score.reason
    asked = seal.called("sneak")
    (found,) = [one for one in seal.lint(bench(asked)).findings if one.severity == "error"]
    assert "changed rows of the table 'visits' in place" in found.message
    with pytest.raises(AssertionError, match="in place"):
        check_benchmark(bench(asked), gold_alone=True)
