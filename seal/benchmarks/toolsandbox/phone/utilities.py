"""The tools that compute: times, units, distances and holidays."""

from __future__ import annotations

import re
import threading
from datetime import datetime, timedelta
from functools import cache
from typing import Any
from zoneinfo import ZoneInfo

from seal.benchmarks.toolsandbox.phone import device
from seal.core import needing
from seal.environments.function_tools import effects

_HOLIDAY_LIKENESS = 90.0
"""A holiday's name must be more like what is looked for, in [0, 100]."""
_LONGEST_UNIT = 60
"""Characters of a unit's name."""
_POWER = re.compile(
    r"(?<=[^\W\d⁰¹²³⁴-⁹])\s*(?:(?:\*\*|\^)\s*-?\d{1,2}(?![\w.])|⁻?[⁰¹²³⁴-⁹](?![⁰¹²³⁴-⁹]))"
)
"""A small power of a name, such as `**2` of `meter**2`."""
_RAISES = re.compile(r"\*\*|\^|[⁰¹²³⁴-⁹]")
_UNITS = threading.Lock()
"""Pint's registry learns names while it converts."""


@effects()
def get_current_timestamp(phone: device.PhoneWorld) -> float:
    """Get the current time.

    Returns:
        POSIX timestamp.
    """
    return phone.now


@effects()
def timestamp_to_datetime_info(phone: device.PhoneWorld, timestamp: float) -> dict[str, int]:
    """Convert a POSIX timestamp to the local date and time.

    Args:
        timestamp: POSIX timestamp.

    Returns:
        Year, month, day, hour, minute, second, and isoweekday from 1 (Monday) to 7.
    """
    device.check_given(locals())
    local = phone.clock.local(timestamp)
    parts = ("year", "month", "day", "hour", "minute", "second")
    return {**{part: getattr(local, part) for part in parts}, "isoweekday": local.isoweekday()}


@effects()
def datetime_info_to_timestamp(
    phone: device.PhoneWorld, year: int, month: int, day: int, hour: int, minute: int, second: int
) -> float:
    """Convert a local date and time to a POSIX timestamp.

    Args:
        year: Year, such as 2025.
        month: From 1 to 12.
        day: From 1.
        hour: From 0 to 23.
        minute: From 0 to 59.
        second: From 0 to 59.

    Returns:
        POSIX timestamp.
    """
    zone = ZoneInfo(phone.clock.zone)
    try:
        return datetime(year, month, day, hour, minute, second, tzinfo=zone).timestamp()
    except OverflowError as error:
        raise ValueError("a part of the date is far beyond any calendar") from error


@effects()
def shift_timestamp(
    phone: device.PhoneWorld,
    timestamp: float,
    weeks: int = 0,
    days: int = 0,
    hours: int = 0,
    minutes: int = 0,
    seconds: int = 0,
) -> float:
    """Add an amount of time to a POSIX timestamp, by the local clock.

    Args:
        timestamp: POSIX timestamp.
        weeks: Weeks to add; a negative number goes back in time.
        days: Days to add.
        hours: Hours to add.
        minutes: Minutes to add.
        seconds: Seconds to add.

    Returns:
        POSIX timestamp.
    """
    device.check_given(locals())
    try:
        shift = timedelta(weeks=weeks, days=days, hours=hours, minutes=minutes, seconds=seconds)
        return (phone.clock.local(timestamp) + shift).timestamp()
    except (OverflowError, ValueError) as error:
        raise OverflowError("the shift leads beyond the years 1 to 9999") from error


@effects()
def timestamp_diff(
    phone: device.PhoneWorld, timestamp_0: float, timestamp_1: float
) -> dict[str, int]:
    """Get the time from one POSIX timestamp to another, by the local clock.

    Args:
        timestamp_0: POSIX timestamp of the start.
        timestamp_1: POSIX timestamp of the end.

    Returns:
        Days, negative if the end is earlier, and seconds from 0 to 86399 to add to them.
    """
    device.check_given(locals())
    gone = phone.clock.local(timestamp_1) - phone.clock.local(timestamp_0)
    return {"days": gone.days, "seconds": gone.seconds}


@effects()
def seconds_to_hours_minutes_seconds(phone: device.PhoneWorld, seconds: float) -> dict[str, int]:
    """Convert seconds to hours, minutes and seconds.

    Args:
        seconds: Number of seconds.

    Returns:
        Hour, minute and second.
    """
    # As ToolSandbox: the local time of day of these POSIX seconds, which is the length of time
    # only in UTC and below 24 hours.
    device.check_finite("seconds", seconds)
    try:
        local = phone.clock.local(seconds)
    except (ValueError, OverflowError, OSError) as error:
        raise ValueError(f"seconds leads beyond the years 1 to 9999, got {seconds}") from error
    return {"hour": local.hour, "minute": local.minute, "second": local.second}


@effects()
def unit_conversion(phone: device.PhoneWorld, amount: float, from_unit: str, to_unit: str) -> float:
    """Convert an amount to another unit.

    Args:
        amount: Amount to convert.
        from_unit: Unit of the amount, such as mile or celsius.
        to_unit: Unit to convert to.

    Returns:
        The converted amount.
    """
    device.check_finite("amount", amount)
    for name, unit in (("from_unit", from_unit), ("to_unit", to_unit)):
        # Pint computes what stands in a unit's name: 9**9**9 would take for ever.
        if len(unit) > _LONGEST_UNIT or _RAISES.search(_POWER.sub("", unit)):
            raise ValueError(f"{name} is no name of a unit: {unit[:_LONGEST_UNIT]!r}")
    registry, unknown = _units()
    with _UNITS:
        try:
            converted = float(registry.Quantity(amount, from_unit).to(to_unit).magnitude)
        except unknown:
            lower = from_unit.lower(), to_unit.lower()
            converted = float(registry.Quantity(amount, lower[0]).to(lower[1]).magnitude)
    device.check_finite("the amount in the wanted unit", converted)
    return converted


@effects()
def calculate_lat_lon_distance(
    phone: device.PhoneWorld,
    latitude_0: float,
    longitude_0: float,
    latitude_1: float,
    longitude_1: float,
) -> float:
    """Get the distance between two places.

    Args:
        latitude_0: Latitude in degrees of the first place.
        longitude_0: Longitude in degrees of the first place.
        latitude_1: Latitude in degrees of the second place.
        longitude_1: Longitude in degrees of the second place.

    Returns:
        Kilometres.
    """
    device.check_given(locals())
    with needing("geopy", "worlds"):
        from geopy.distance import geodesic
    return float(geodesic((latitude_0, longitude_0), (latitude_1, longitude_1)).km)


@effects(checks=("wifi",))
def search_holiday(
    phone: device.PhoneWorld, holiday_name: str, year: int | None = None
) -> float | None:
    """Find the date of a holiday in the United States.

    Args:
        holiday_name: Name of the holiday, or a part of it.
        year: Year of the holiday; this year if it is left out.

    Returns:
        POSIX timestamp at which the day begins; null if there is no such holiday.
    """
    phone.need("wifi")
    from rapidfuzz import fuzz, utils

    with needing("holidays", "worlds"):
        from holidays import country_holidays
    wanted = phone.clock.local(phone.now).year if year is None else year
    likest = max(
        (
            (fuzz.partial_ratio(holiday_name, name, processor=utils.default_process), day, name)
            for day, name in country_holidays("US", years=wanted).items()
        ),
        default=None,
    )
    if likest is None or likest[0] <= _HOLIDAY_LIKENESS:
        return None
    day, zone = likest[1], ZoneInfo(phone.clock.zone)
    return datetime(day.year, day.month, day.day, tzinfo=zone).timestamp()


@cache
def _units() -> tuple[Any, type[Exception]]:
    """Return Pint's units, and the error of a unit that it does not know."""
    with needing("pint", "worlds"):
        import pint
    return pint.UnitRegistry(), pint.UndefinedUnitError
