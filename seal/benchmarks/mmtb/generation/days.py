"""Days as people say them, in English."""

from __future__ import annotations

import calendar
import re
from datetime import date

NEAR = ("today", "tomorrow")
_DAY = re.compile(r"\b(\d{4})-(\d{2})-(\d{2})\b(?!T)")
_MONTHS = tuple(calendar.month_name)[1:]
_WEEKDAYS = tuple(calendar.day_name)


def day_name(day: date) -> str:
    """Return a day as it is told: `18 May`."""
    return f"{day.day} {_MONTHS[day.month - 1]}"


def spoken_day(day: date, today: date) -> str:
    """Return a day as a person says it today: by its weekday for the next six days."""
    ahead = (day - today).days
    if 0 <= ahead < len(NEAR):
        return NEAR[ahead]
    return _WEEKDAYS[day.weekday()] if len(NEAR) <= ahead <= 6 else day_name(day)


def day_forms(day: date, today: date | None = None) -> set[str]:
    """Return the words by which a text may mean a day.

    Args:
        day: The day.
        today: When the text was said; None: unknown, so that `tomorrow` means nothing.
    """
    month = _MONTHS[day.month - 1]
    forms = {day.isoformat(), day_name(day), f"{month} {day.day}"}
    return forms if today is None else {*forms, spoken_day(day, today)}


def with_spoken_days(text: str) -> str:
    """Return a text in which days are told as `18 May`; what has no such month stays."""

    def spoken(found: re.Match[str]) -> str:
        month, day = int(found[2]), int(found[3])
        return f"{day} {_MONTHS[month - 1]}" if 1 <= month <= 12 else found[0]

    return _DAY.sub(spoken, text)


def day_of(text: str) -> date | None:
    """Return the first day that a text holds as YYYY-MM-DD; None: there is none."""
    for found in _DAY.finditer(text):
        try:
            return date.fromisoformat(found[0])
        except ValueError:
            continue
    return None
