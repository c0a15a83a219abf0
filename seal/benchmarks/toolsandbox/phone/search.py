"""The tools that ask the web: places, weather, stocks and exchange rates. All need wifi.

The name is that of ToolSandbox's module, by which its tools are ranked and scrambled.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from typing import Any

from seal.benchmarks.toolsandbox.phone.device import PhoneWorld, Question, check_finite, check_given
from seal.core import JSON
from seal.core.text import shipped_words
from seal.environments.function_tools import effects
from seal.environments.tables import Row

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
