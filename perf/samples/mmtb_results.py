"""Results of the sample's calls: what is written, what repeats an argument, what is computed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from seal.core import JSON, DataError, Tool

Result = dict[str, Any]

_NOW = frozenset({"observed_at", "measured_at", "rate_time", "as_of", "updated_at"})
"""Fields that tell when the result is from: as the dialogue is held, where nothing is written."""
_UNDERWEIGHT, _NORMAL, _OVERWEIGHT = 18.5, 25.0, 30.0
_METS = {
    "walking": (2.8, 3.5, 5.0),
    "running": (7.0, 9.8, 12.3),
    "cycling": (4.0, 6.8, 10.0),
    "swimming": (4.8, 5.8, 9.8),
    "rowing": (4.8, 7.0, 8.5),
    "yoga": (2.0, 2.5, 4.0),
}
"""Metabolic equivalents by activity: easy, moderate, hard; rounded from the usual compendium."""
_ZONES = {
    "Toronto": "America/Toronto",
    "Lisbon": "Europe/Lisbon",
    "Nairobi": "Africa/Nairobi",
    "Bergen": "Europe/Oslo",
    "Osaka": "Asia/Tokyo",
    "Auckland": "Pacific/Auckland",
    "Leeds": "Europe/London",
    "Denver": "America/Denver",
}
_FOODS = {
    "lentils": (116, 9.0, 0.4, 20.1, 7.9),
    "oats": (379, 13.2, 6.5, 67.7, 10.1),
    "walnuts": (654, 15.2, 65.2, 13.7, 6.7),
    "salmon": (208, 20.4, 13.4, 0.0, 0.0),
    "rice": (130, 2.7, 0.3, 28.2, 0.4),
    "bananas": (89, 1.1, 0.3, 22.8, 2.6),
    "chickpeas": (164, 8.9, 2.6, 27.4, 7.6),
    "cheddar": (403, 22.9, 33.3, 3.4, 0.0),
    "apples": (52, 0.3, 0.2, 13.8, 2.4),
    "almonds": (579, 21.2, 49.9, 21.6, 12.5),
}
"""Calories, protein, fat, carbohydrates and fibre of 100 g, rounded from the usual tables."""


@dataclass(frozen=True, slots=True)
class Moment:
    """When a dialogue is held."""

    day: str
    time: str

    @property
    def stamp(self) -> str:
        """As results tell it."""
        return f"{self.day}T{self.time}:00Z"


def value_of(written: Any, schema: Mapping[str, Any], where: str) -> JSON:
    """Return a written value as its schema has it.

    Raises:
        DataError: It is of another type.
    """
    kind = schema.get("type")
    if kind == "object":
        properties = schema.get("properties", {})
        unknown = [name for name in written if name not in properties]
        if unknown:
            raise DataError(f"{where}: no field {unknown[0]!r}")
        return {
            name: value_of(written[name], properties[name], f"{where}.{name}")
            for name in properties
            if name in written
        }
    if kind == "array":
        return [value_of(one, schema["items"], where) for one in written]
    if kind == "boolean":
        return {"true": True, "false": False}[written]
    if kind == "integer":
        return int(written)
    if kind == "number":
        number = float(written)
        return int(number) if number.is_integer() else number
    return str(written)


def result_of(tool: Tool, arguments: Result, written: Result, moment: Moment) -> Result:
    """Return the whole result of a call.

    Args:
        tool: That is called.
        arguments: Of the call, typed.
        written: What of the result stands in the notation, typed.
        moment: When the dialogue is held.

    Raises:
        DataError: A field is neither written, nor repeated, nor computed; or one that is computed
            is written.
    """
    returns = tool.returns or {}
    fields: Mapping[str, Any] = returns.get("properties", {})
    given = {
        name: schema["default"]
        for name, schema in tool.parameters["properties"].items()
        if "default" in schema
    } | arguments
    found: Result = {}
    for name, schema in fields.items():
        choices = schema.get("enum", ())
        if name in written:
            found[name] = written[name]
        elif name in given and schema.get("type") != "array":
            found[name] = given[name]
        elif name in _NOW:
            found[name] = moment.stamp
        elif len(choices) == 1:
            found[name] = choices[0]
    for rows in (rows for rows in found.values() if isinstance(rows, list)):
        for row in (row for row in rows if isinstance(row, dict)):
            if "price_per_night" in row or "price_per_day" in row or "price_per_hour" in row:
                row.setdefault("currency", "EUR")
    if "rating" in str(fields.get("products", "")):
        for row in found["products"]:
            row.setdefault("currency", "USD")
    compute = _COMPUTED.get(tool.name)
    if compute is not None:
        computed = compute(given, found)
        if doubled := [name for name in computed if name in written]:
            raise DataError(f"{tool.name}: {doubled[0]} is computed; write it not")
        found |= computed
    if lacking := [name for name in fields if name not in found]:
        raise DataError(f"{tool.name}: write {', '.join(lacking)}")
    return {name: found[name] for name in fields}


# -- What tools compute, of the arguments with their defaults and of what is written.


def _converted(given: Result, found: Result) -> Result:
    return {"result": round(given["amount"] * found["rate"], 2)}


def _payment(given: Result, found: Result) -> Result:
    """An annuity: level payments at the end of each month."""
    count = given["years"] * 12
    rate = given["annual_rate_percent"] / 1200
    level = given["principal"] / count
    if rate:
        level = given["principal"] * rate / (1 - (1 + rate) ** -count)
    monthly = round(level, 2)
    paid = round(monthly * count, 2)
    interest = round(paid - given["principal"], 2)
    return {
        "monthly_payment": monthly,
        "payments": count,
        "total_paid": paid,
        "total_interest": interest,
    }


def _savings(given: Result, found: Result) -> Result:
    """Deposits at the end of each month, and interest every month."""
    count, rate = given["years"] * 12, given["annual_rate_percent"] / 1200
    grown = (1 + rate) ** count
    series = (grown - 1) / rate if rate else count
    final = round(given["initial_deposit"] * grown + given["monthly_deposit"] * series, 2)
    deposited = round(given["initial_deposit"] + given["monthly_deposit"] * count, 2)
    earned = round(final - deposited, 2)
    return {"final_balance": final, "deposited": deposited, "interest_earned": earned}


def _bmi(given: Result, found: Result) -> Result:
    """Classes as the World Health Organization has them; 24.9 is the highest that is healthy."""
    square = (given["height_cm"] / 100) ** 2
    bmi = round(given["weight_kg"] / square, 1)
    limits = ((_UNDERWEIGHT, "underweight"), (_NORMAL, "normal"), (_OVERWEIGHT, "overweight"))
    named = next((name for limit, name in limits if bmi < limit), "obese")
    healthy = {
        "low": round(_UNDERWEIGHT * square, 1),
        "high": round((_NORMAL - 0.1) * square, 1),
    }
    return {"bmi": bmi, "class": named, "healthy_weight_kg": healthy}


def _burned(given: Result, found: Result) -> Result:
    """One metabolic equivalent is a kilocalorie an hour for each kilogram."""
    met = _METS[given["activity"]][("easy", "moderate", "hard").index(given["intensity"])]
    return {"met": met, "calories": round(met * given["weight_kg"] * given["minutes"] / 60)}


def _zone(given: Result, found: Result) -> Result:
    cities = given["from_city"], given["to_city"]
    start = datetime.fromisoformat(f"{given['date']}T{given['time']}")
    start = start.replace(tzinfo=ZoneInfo(_ZONES[cities[0]]))
    end = start.astimezone(ZoneInfo(_ZONES[cities[1]]))
    first, second = start.utcoffset(), end.utcoffset()
    assert first is not None and second is not None
    sides = {
        side: {
            "city": city,
            "date": f"{moment:%Y-%m-%d}",
            "time": f"{moment:%H:%M}",
            "utc_offset": moment.isoformat()[-6:],
        }
        for side, city, moment in zip(("from", "to"), cities, (start, end), strict=True)
    }
    hours = (second - first).total_seconds() / 3600
    return {**sides, "difference_hours": int(hours) if hours.is_integer() else hours}


def _food(given: Result, found: Result) -> Result:
    amount = given["amount_grams"] / 100
    calories, *grams = _FOODS[given["food"]]
    names = ("protein_g", "fat_g", "carbohydrates_g", "fibre_g")
    of_grams = {name: round(each * amount, 1) for name, each in zip(names, grams, strict=True)}
    return {"calories": round(calories * amount), **of_grams}


def _event(given: Result, found: Result) -> Result:
    end = datetime.fromisoformat(given["start"]) + timedelta(minutes=given["duration_minutes"])
    return {
        "end": f"{end:%Y-%m-%dT%H:%M}",
        "location": given.get("location", ""),
        "attendees": given.get("attendees", []),
    }


def _sun(given: Result, found: Result) -> Result:
    return {"day_length_minutes": _minutes(found["sunset"]) - _minutes(found["sunrise"])}


def _minutes(time: str) -> int:
    return int(time[:2]) * 60 + int(time[3:])


def _spent(given: Result, found: Result) -> Result:
    return {"total": round(sum(row["amount"] for row in found["transactions"]), 2)}


def _parked(given: Result, found: Result) -> Result:
    return {"total_free": sum(row["free_spaces"] for row in found["garages"])}


def _order(given: Result, found: Result) -> Result:
    goods = sum(row["quantity"] * row["unit_price"] for row in found["items"])
    return {"total": round(goods + found["shipping"]["price"], 2)}


def _lent(given: Result, found: Result) -> Result:
    """Nothing is computed: a branch that a copy comes back to has lent one."""
    for row in found["branches"]:
        if row["copies_available"] >= row["copies_total"]:
            raise DataError(f"{row['branch']}: a copy comes back, but all are in")
    return {}


def _reminder(given: Result, found: Result) -> Result:
    return {"next_at": given["at"], "active": True}


def _transfer(given: Result, found: Result) -> Result:
    return {"memo": given.get("memo", "")}


_COMPUTED: Mapping[str, Callable[[Result, Result], Result]] = {
    "convert_currency": _converted,
    "loan_payment": _payment,
    "savings_growth": _savings,
    "body_mass_index": _bmi,
    "calories_burned": _burned,
    "convert_time_zone": _zone,
    "nutrition_facts": _food,
    "create_event": _event,
    "sun_times": _sun,
    "list_transactions": _spent,
    "parking_availability": _parked,
    "place_order": _order,
    "library_availability": _lent,
    "set_reminder": _reminder,
    "transfer_money": _transfer,
}
