"""Moments: numbers that may be POSIX seconds."""

from __future__ import annotations

from typing import Any

MOMENTS = (315_529_200.0, 2_524_604_400.0)
"""First and last number that is taken for a moment, from 1980 to 2050.

Source: ToolSandbox, whose phone accepts no others.
"""


def is_moment(value: Any) -> bool:
    """Tell whether a JSON value may be POSIX seconds."""
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return number and MOMENTS[0] <= value <= MOMENTS[1]
