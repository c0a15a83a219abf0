"""Partial orders: what may come next, and whether an order is one."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seal.core import DataError
from seal.core.types import levels, ready


def orders(size=7):
    """Orders without cycles, under shuffled numbers."""

    def build(drawn):
        before, names = drawn
        after = [()] * len(names)
        for position, predecessors in enumerate(before):
            kept = {names[p] for p in predecessors if p < position}
            after[names[position]] = tuple(sorted(kept))
        return after

    return st.integers(0, size).flatmap(
        lambda n: st.tuples(
            st.lists(st.lists(st.integers(0, max(n - 1, 0)), max_size=3), min_size=n, max_size=n),
            st.permutations(range(n)),
        ).map(build)
    )


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        ([], []),
        ([()], [[0]]),
        ([(), ()], [[0, 1]]),
        ([(), (0,), (1,)], [[0], [1], [2]]),
        ([(1,), ()], [[1], [0]]),
        ([(), (0,), (0,), (1, 2)], [[0], [1, 2], [3]]),
        ([(), (0, 0, 0)], [[0], [1]]),
        ([(), (), (0,), (0, 1), ()], [[0, 1, 4], [2, 3]]),
    ],
)
def test_steps_stand_as_early_as_they_can(after, expected):
    assert levels(after) == expected


@pytest.mark.parametrize(
    ("after", "stuck"),
    [
        ([(0,)], "[0]"),
        ([(1,), (0,)], "[0, 1]"),
        ([(), (0, 2), (1,), (0,)], "[1, 2]"),
        ([(2,), (0,), (1,), (2,)], "[0, 1, 2, 3]"),
    ],
)
def test_a_cycle_is_named(after, stuck):
    with pytest.raises(DataError, match=rf"steps {re.escape(stuck)} wait for each other"):
        levels(after)


@pytest.mark.parametrize("predecessor", [-1, 2, 99])
def test_a_predecessor_that_does_not_exist_is_named(predecessor):
    text = f"step 1 comes after step {predecessor}, but there are 2 steps"
    with pytest.raises(DataError, match=re.escape(text)):
        levels([(), (predecessor,)])


def test_what_is_done_opens_what_follows():
    after = [(), (0,), (0,), (1, 2)]
    assert ready(after, set()) == [0]
    assert ready(after, {0}) == [1, 2]
    assert ready(after, frozenset({0, 2})) == [1]
    assert ready(after, {0, 1, 2}) == [3]
    assert ready(after, {0, 1, 2, 3}) == []


@given(orders())
def test_every_step_stands_once_and_after_its_predecessors(after):
    groups = levels(after)
    place = {step: number for number, group in enumerate(groups) for step in group}
    assert sorted(step for group in groups for step in group) == list(range(len(after)))
    assert all(place[p] < place[s] for s, before in enumerate(after) for p in before)


@given(orders())
def test_no_step_could_stand_earlier(after):
    groups = levels(after)
    place = {step: number for number, group in enumerate(groups) for step in group}
    for step, before in enumerate(after):
        assert place[step] == 1 + max((place[p] for p in before), default=-1)


@given(st.lists(st.lists(st.integers(-1, 5), max_size=3), max_size=5))
def test_any_order_has_levels_or_a_clear_fault(after):
    try:
        groups = levels(after)
    except DataError as error:
        assert re.search("wait for each other|but there are", str(error))
    else:
        assert sum(map(len, groups)) == len(after)
