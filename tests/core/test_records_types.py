"""Records that a user makes refuse values of another type at once."""

from collections.abc import Callable

import pytest

import seal
from seal.core import Plan, UsageError
from seal.core.records import decode, encode

GOAL = seal.Goal("When does order 7 ship?")


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: seal.Goal(3), "text: expected a text, got 3; give that"),
        (lambda: seal.Goal("a", offered="b"), "offered: expected a list, each item a text or None"),
        (lambda: seal.Goal("a", answers=("b", 3)), r"answers\[1\]: expected a text, got 3"),
        (lambda: seal.Task("a", "b", "q"), "goals: expected a list, each item a Goal, got 'q'"),
        (lambda: seal.Task("a", "b", (GOAL, "q")), r"goals\[1\]: expected a Goal, got 'q'"),
        (lambda: seal.Task("a", "b", (GOAL,), tags=["c"]), "tags: expected a mapping"),
        (lambda: seal.Tool("a/b", None), "name: expected a text, got None; give that"),
        (lambda: seal.Tool("a/b", "b", parameters="{}"), "parameters: expected a mapping"),
        (lambda: Plan(3), "milestones: expected a list"),
    ],
)
def test_a_value_of_another_type_is_refused_where_the_record_is_made(
    make: Callable[[], object], says: str
) -> None:
    with pytest.raises(UsageError, match=says):
        make()


def test_lists_are_taken_for_tuples_and_what_is_read_is_what_was_written() -> None:
    task = seal.Task("a", "b", [GOAL], initial_state={"orders": [{"id": 7}]})

    assert task.goals[0] is GOAL
    assert decode(encode(task), seal.Task) == seal.Task(
        "a", "b", (GOAL,), initial_state={"orders": [{"id": 7}]}
    )
