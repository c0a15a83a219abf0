"""Which numbers may be moments."""

from datetime import UTC, datetime

import pytest

from seal.core.statements import MOMENTS, is_moment


def test_moments_are_from_1980_to_2050():
    days = [(1979, 12, 30), (1980, 1, 1), (2049, 12, 30), (2050, 1, 1)]
    found = [is_moment(datetime(*day, tzinfo=UTC).timestamp()) for day in days]
    assert found == [False, True, True, False]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (MOMENTS[0], True),
        (int(MOMENTS[1]), True),
        (MOMENTS[0] - 1, False),
        (10**400, False),
        (True, False),
        ("1763461800", False),
        (None, False),
    ],
)
def test_only_numbers_between_them_may_be_moments(value, expected):
    assert is_moment(value) is expected
