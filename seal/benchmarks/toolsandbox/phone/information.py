"""The phone's tools that tell something: what the web says, and what can be computed."""

from __future__ import annotations

import re
import threading
from collections.abc import Hashable, Iterator, Mapping
from datetime import datetime, timedelta
from functools import cache
from typing import Any
from zoneinfo import ZoneInfo

from seal.benchmarks.toolsandbox.phone import device
from seal.benchmarks.toolsandbox.phone.device import PhoneWorld, Question, check_finite, check_given
from seal.core import JSON, needing
from seal.core.text import shipped_words
from seal.environments.function_tools import effects
from seal.environments.tables import Row

# -- The tools that ask the web: places, weather, stocks and exchange rates. All need wifi.

CURRENCIES = shipped_words(__package__, "currencies.txt")
"""Codes of ISO 4217 of money that is paid with: no metals, funds or test codes."""
_PRIVATE = ("business_id", "place_id", "place_link", "verified", "photos")
"""Fields of a place that say nothing to a model."""
_METRIC = {
    "temp_c": "current_temperature",
    "feelslike_c": "perceived_temperature",
    "vis_km": "visibility_distance",
    "wind_kph": "wind_speed",
    "maxtemp_c": "max_temperature",
    "mintemp_c": "min_temperature",
    "avgtemp_c": "average_temperature",
    "maxwind_kph": "max_wind_speed",
    "avgvis_km": "average_visibility_distance",
    "pressure_mb": "barometric_pressure",
    "avghumidity": "average_humidity",
}
"""Field of a weather report to the name that the tool gives it, in the order of its answer."""
_LEFT_OUT = ("_f", "_mph", "_miles", "_in", "_mm")
"""Ends of the fields of a weather report in units that the tool does not use."""


def _around(arguments: Mapping[str, JSON]) -> Iterator[Hashable]:
    yield "wifi"
    if arguments["latitude"] is None:
        yield "location_service"


@effects(checks=("wifi",))
def search_lat_lon(phone: PhoneWorld, latitude: float, longitude: float) -> str | None:
    """Find the address at a latitude and longitude.

    Args:
        latitude: Latitude in degrees.
        longitude: Longitude in degrees.

    Returns:
        The address; null if there is none.
    """
    check_given(locals())
    phone.need("wifi")
    params = {"language": "en", "location": f"{latitude},{longitude}"}
    asked = {"latitude": latitude, "longitude": longitude}
    question = Question("search_lat_lon", asked, "ReverseGeocode", params)
    return phone.ask(question, _address)


@effects(checks=_around)
def search_location_around_lat_lon(
    phone: PhoneWorld, location: str, latitude: float | None = None, longitude: float | None = None
) -> list[Row]:
    """Search for places by name or kind around a point.

    Args:
        location: Name or kind of place, such as an address, a shop or a landmark.
        latitude: Latitude in degrees of the point; that of the phone if it is left out.
        longitude: Longitude in degrees of the point; that of the phone if it is left out.

    Returns:
        The places found, each with name, address, phone number and coordinates; an empty list if
        there are none.
    """
    latitude, longitude = _point(phone, latitude, longitude)
    phone.need("wifi")
    params = {"query": location, "lat": latitude, "lng": longitude}
    params |= {"limit": 4, "country": "us", "lang": "en"}
    asked = {"location": location, "latitude": latitude, "longitude": longitude}
    question = Question("search_location_around_lat_lon", asked, "searchmaps.php", params)
    return phone.ask(question, _places)


@effects(checks=_around)
def search_weather_around_lat_lon(
    phone: PhoneWorld, days: int = 0, latitude: float | None = None, longitude: float | None = None
) -> Row | None:
    """Get the weather around a point, now or on a day to come.

    Args:
        days: Days from today; 0 is now.
        latitude: Latitude in degrees of the point; that of the phone if it is left out.
        longitude: Longitude in degrees of the point; that of the phone if it is left out.

    Returns:
        Temperature, wind, visibility and the like with their units; null if nothing is known.
    """
    latitude, longitude = _point(phone, latitude, longitude)
    if days < 0:
        raise ValueError(f"days must not be negative, got {days}")
    phone.need("wifi")
    params = {"days": days + 1, "q": f"{latitude}, {longitude}"}
    asked = {"days": days, "latitude": latitude, "longitude": longitude}
    question = Question("search_weather_around_lat_lon", asked, "forecast.json", params)
    return phone.ask(question, lambda raw: _weather(raw, days))


@effects(checks=("wifi",))
def search_stock(phone: PhoneWorld, query: str) -> Row | None:
    """Look up a stock.

    Args:
        query: Symbol or name of the company.

    Returns:
        Symbol, name, price and its change, exchange and currency; null if there is none.
    """
    phone.need("wifi")
    question = Question("search_stock", {"query": query}, "search", {"query": query})
    return phone.ask(question, _stock)


@effects(checks=("wifi",))
def convert_currency(
    phone: PhoneWorld, amount: int | float, from_currency_code: str, to_currency_code: str
) -> float:
    """Convert an amount of money to another currency.

    Args:
        amount: Amount to convert.
        from_currency_code: ISO 4217 code of the currency of the amount, such as USD.
        to_currency_code: ISO 4217 code of the currency to convert to.

    Returns:
        The converted amount.
    """
    check_finite("amount", amount)
    codes = [from_currency_code.upper(), to_currency_code.upper()]
    for given, code in zip((from_currency_code, to_currency_code), codes, strict=True):
        if code not in CURRENCIES:
            raise ValueError(f"{given!r} is no ISO 4217 code of a currency, such as USD")
    phone.need("wifi")
    params = {"amount": amount, "from": codes[0], "to": codes[1]}
    asked = {"amount": amount, "from_currency_code": from_currency_code}
    asked |= {"to_currency_code": to_currency_code}
    question = Question("convert_currency", asked, "convert", params)
    converted = phone.ask(question, lambda raw: _converted(raw, amount))
    if not isinstance(converted, int | float):
        raise RuntimeError(f"{codes[0]} could not be converted to {codes[1]}")
    return converted


def _point(
    phone: PhoneWorld, latitude: float | None, longitude: float | None
) -> tuple[float | None, float | None]:
    """Return the point that is asked about: the given one, else where the phone is."""
    check_given(locals())
    if (latitude is None) != (longitude is None):
        raise ValueError("give both latitude and longitude, or neither")
    if latitude is not None:
        return latitude, longitude
    phone.need("location_service")
    return phone.settings["latitude"], phone.settings["longitude"]


def _address(raw: Any) -> str | None:
    results = _at(raw, "results")
    return results[0].get("address") if results else None


def _places(raw: Any) -> list[Row]:
    return [
        {name: value for name, value in place.items() if name not in _PRIVATE}
        for place in _at(raw, "data") or ()
    ]


def _stock(raw: Any) -> Row | None:
    stocks = _at(raw, "data", "stock")
    if not stocks:
        return None
    return {**stocks[0], "symbol": str(stocks[0].get("symbol", "")).partition(":")[0]}


def _converted(raw: Any, amount: float) -> float | None:
    converted: float | None = _at(raw, "result", "convertedAmount")
    rate = _at(raw, "result", "rate")
    return amount * rate if converted is None and rate is not None else converted


def _weather(raw: Any, days: int) -> Row | None:
    """Return one day's report with the names that the tool gives its fields."""
    forecasts = _at(raw, "forecast", "forecastday") or ()
    if len(forecasts) <= days:
        return None
    forecast = forecasts[days]
    merged = {
        **forecast.get("day", {}),
        **forecast.get("astro", {}),
        **raw.get("location", {}),
        "temperature_unit": "Celsius",
        "distance_unit": "Kilometer",
        **(raw.get("current", {}) if days == 0 else {}),
    }
    plain = {
        name: value
        for name, value in merged.items()
        if name not in _METRIC and not name.endswith(_LEFT_OUT)
    }
    return plain | {said: merged[name] for name, said in _METRIC.items() if name in merged}


def _at(raw: Any, *path: str) -> Any:
    """Return what stands under the names in each other; None where something is missing."""
    for name in path:
        raw = raw.get(name) if isinstance(raw, dict) else None
    return raw


# -- The tools that compute: times, units, distances and holidays.

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
