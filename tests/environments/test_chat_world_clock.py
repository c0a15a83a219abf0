"""What time it is in a world."""

import pytest
from looped import every_case

from seal.core import DataError, Task
from seal.environments.chat_world import Clock, clock_of


def task(clock):
    return Task("t", "b", (), metadata={"clock": clock})


def test_each_turn_is_a_step_later_than_the_one_before():
    clock = Clock(100.0, "UTC", 5.0, 1.25)
    assert [clock.at(turn) for turn in (-1, 0, 1, 2)] == [105.0, 105.0, 106.25, 107.5]


def test_a_clock_of_a_task_is_read_from_its_metadata():
    given = {"start": 100, "zone": "Europe/Rome", "first": 5, "step": 0.5}
    assert clock_of(task(given)) == Clock(100, "Europe/Rome", 5, 0.5)
    assert clock_of(Task("t", "b", ())) == Clock()


def test_local_time_knows_the_zone():
    local = Clock(zone="Asia/Tokyo").local(0.0)
    assert (local.hour, local.utcoffset().total_seconds()) == (9, 9 * 3600)


@every_case(
    "given",
    [
        [],
        "noon",
        {"start": "now"},
        {"start": True},
        {"zone": "Nowhere/Town"},
        {"zone": "../etc"},
        {"zone": 2},
        {"speed": 1},
        {"step": None},
        {"start": 1e300},
        {"start": float("nan")},
        {"step": 1e12},
    ],
)
def test_a_clock_that_cannot_be_names_the_task_and_what_is_expected(given):
    with pytest.raises(DataError, match=r"task t: metadata\.clock .*expected an object of start"):
        clock_of(task(given))
