"""Recorded results that contradict their call, arithmetic, or each other."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date, timedelta
from typing import Any, NamedTuple

from seal.core import JSON, Task, Tool, shortened
from seal.core.conditions import Called

# -- Results that cannot be, whatever the tool is.
#
# Only what holds of any tool is said. A result is held against:
#
# - its call, where both have a field of one name: numbers, truth values, days, ids, and values that
#   the schema lists. What an API may cap, such as a limit, is left alone. A field whose name has
#   the words of an argument's (`next_at` of `at`) may tell another day, but no other year;
# - the days that were asked for: rows of a list are dated no more than a month beside them;
# - itself: a least value above the greatest, and formulas that everybody knows, such as that of a
#   loan or of the body mass index. Where rounding or habit differ, so does the tolerance;
# - the task's other results: one id is one name, and rows of one list do not share an id and differ
#   in the name.

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_LOCAL = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}")
_CLOCK = re.compile(r"([01]\d|2[0-3]):([0-5]\d)")
_CAPPED = frozenset({"limit", "page", "size", "count", "per_page", "top_k", "offset", "number"})
_RANGES = (("start_date", "end_date"), ("from_date", "to_date"), ("date_from", "date_to"))
_NAMES = ("name", "title")
_SLACK = timedelta(days=31)
"""A month that is told by its first day, or by its last."""
_MOST_YEARS = 100


class Made(NamedTuple):
    """A gold call with its recorded result."""

    goal: int
    tool: str
    arguments: Mapping[str, JSON]
    result: JSON


def calls_of(task: Task) -> Iterator[Made]:
    """Yield the gold calls whose results are recorded, in their order."""
    for position, goal in enumerate(task.goals):
        for plan in goal.plans or ():
            for milestone in plan.milestones:
                called = milestone.condition
                if isinstance(called, Called) and milestone.result is not None:
                    given = (called.arguments or {}).items()
                    values = {name: one.listed[0] for name, one in given if one.listed}
                    yield Made(position, called.tool, values, milestone.result)


def contradictions(task: Task, tools: Mapping[str, Tool]) -> Iterator[tuple[Made, str]]:
    """Yield each gold call of a task whose result cannot be, with what contradicts it.

    Args:
        task: With recorded results.
        tools: By id.
    """
    named: dict[tuple[str, str, str], str] = {}
    for made in calls_of(task):
        tool = tools.get(made.tool)
        for fault in _faults(made, tool.parameters if tool else {}, named):
            yield made, fault


def _faults(
    made: Made, schema: Mapping[str, Any], named: dict[tuple[str, str, str], str]
) -> Iterator[str]:
    if isinstance(made.result, dict):
        yield from _beside_call(made.arguments, made.result, schema)
        yield from _outside(made.arguments, made.result)
        yield from _miscomputed({**made.arguments, **made.result})
    for part in _objects(made.result):
        yield from _disordered(part)
        if part is not made.result:
            yield from _miscomputed(part)
        yield from _renamed(made.arguments, part, named)


def _objects(value: JSON) -> Iterator[dict[str, JSON]]:
    """Yield every object of a JSON value."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            yield one
            waiting += one.values()
        elif isinstance(one, list):
            waiting += one


# -- Beside the call.


def _beside_call(
    given: Mapping[str, JSON], found: Mapping[str, JSON], schema: Mapping[str, Any]
) -> Iterator[str]:
    properties = schema.get("properties")
    schemas = properties if isinstance(properties, dict) else {}
    for name, asked in given.items():
        own = schemas.get(name)
        listed = isinstance(own, dict) and "enum" in own
        if name in found and _differ(name, asked, found[name], listed):
            yield f"{name} is {shortened(found[name])}, and the call says {shortened(asked)}"
    days = [(name, day) for name, value in given.items() if (day := _day(value))]
    for name, asked_day in days:
        words = set(name.split("_"))
        for field, value in found.items():
            told = _day(value)
            if told is None or field == name or not words <= set(field.split("_")):
                continue
            same_day = (told.month, told.day) == (asked_day.month, asked_day.day)
            years = abs(told.year - asked_day.year)
            if years > 1 or (years and same_day):
                yield f"{field} is {told}, and the call says {name} {asked_day}"


def _differ(name: str, asked: JSON, told: JSON, listed: bool) -> bool:
    """Tell whether what a call says and what its result says of the same cannot both be."""
    if isinstance(asked, bool) or isinstance(told, bool):
        return isinstance(asked, bool) and isinstance(told, bool) and asked != told
    if isinstance(asked, (int, float)) and isinstance(told, (int, float)):
        capped = name in _CAPPED or name.startswith(("max", "min"))
        return not capped and not math.isclose(asked, told, rel_tol=1e-6)
    if not isinstance(asked, str) or not isinstance(told, str):
        return False
    for form in (_DAY, _LOCAL):
        if form.fullmatch(asked) and form.fullmatch(told):
            return asked != told
    if listed or name == "id" or name.endswith("_id"):
        return _plain(asked) != _plain(told)
    return False


def _plain(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))


def _day(value: JSON) -> date | None:
    if isinstance(value, str) and _DAY.match(value):
        with suppress(ValueError):
            return date.fromisoformat(value[:10])
    return None


def _outside(given: Mapping[str, JSON], found: Mapping[str, JSON]) -> Iterator[str]:
    """Yield a fault for the first row of a list that is dated outside the days asked for."""
    for first, last in _RANGES:
        start, end = _day(given.get(first)), _day(given.get(last))
        if start is None or end is None:
            continue
        for name, rows in found.items():
            days = [_day(row.get("date")) for row in _rows(rows)]
            wrong = [d for d in days if d and not start - _SLACK <= d <= end + _SLACK]
            if wrong:
                yield f"{name} has {wrong[0]}, and the call asks for {start} to {end}"


def _rows(value: JSON) -> list[dict[str, JSON]]:
    rows = value if isinstance(value, list) else []
    return [row for row in rows if isinstance(row, dict)]


# -- Beside itself.


class Formula(NamedTuple):
    """Arithmetic that everybody knows, by the names of its fields."""

    fields: tuple[str, ...]
    """Its terms."""
    wanted: str
    compute: Callable[..., float]
    share: float = 0.01
    """How far off a result may be, as a share of it."""
    least: float = 0.02
    """And at least, in its unit."""


def _level(principal: float, percent: float, years: float) -> float:
    count, rate = years * 12, percent / 1200
    return principal * rate / (1 - (1 + rate) ** -count) if rate else principal / count


def _product(*terms: float) -> float:
    return math.prod(terms)


_FORMULAS = (
    Formula(("amount", "rate"), "result", _product, share=0.02),
    Formula(("principal", "annual_rate_percent", "years"), "monthly_payment", _level, share=0.05),
    Formula(("monthly_payment", "payments"), "total_paid", _product),
    Formula(("total_paid", "principal"), "total_interest", lambda paid, lent: paid - lent),
    Formula(("deposited", "interest_earned"), "final_balance", lambda paid, more: paid + more),
    Formula(("weight_kg", "height_cm"), "bmi", lambda kg, cm: kg / (cm / 100) ** 2, least=0.2),
    Formula(("weight_kg", "height_m"), "bmi", lambda kg, m: kg / m**2, least=0.2),
    Formula(
        ("met", "weight_kg", "minutes"),
        "calories",
        lambda met, kg, minutes: met * kg * minutes / 60,
        share=0.06,
        least=2,
    ),
)
_PAIRS = (("low", "high"), ("min", "max"), ("minimum", "maximum"))
_CLASSES = {
    "underweight": (0.0, 20.0),
    "normal": (17.0, 26.0),
    "overweight": (22.0, 32.0),
    "obese": (24.9, math.inf),
}
"""Body mass indexes that some country's table puts into a class."""


def _miscomputed(fields: Mapping[str, JSON]) -> Iterator[str]:
    for formula in _FORMULAS:
        told, terms = _number(fields, formula.wanted), [_number(fields, n) for n in formula.fields]
        if told is None or None in terms or (_number(fields, "years") or 0) > _MOST_YEARS:
            continue
        with suppress(ArithmeticError):
            right = formula.compute(*terms)
            if abs(right - told) > max(formula.share * abs(right), formula.least):
                of = ", ".join(f"{name} {fields[name]}" for name in formula.fields)
                yield f"{formula.wanted} is {told:g}, and {of} make {right:.6g}"
    index, named = _number(fields, "bmi"), fields.get("class")
    if index is not None and isinstance(named, str) and named in _CLASSES:
        least, most = _CLASSES[named]
        if not least <= index <= most:
            yield f"a body mass index of {index:g} is called {named}"
    yield from _wrong_length(fields)


def _wrong_length(fields: Mapping[str, JSON]) -> Iterator[str]:
    """Yield a fault where the minutes of a day, or of an event, are not those between two times."""
    for start, end, length in (
        ("sunrise", "sunset", "day_length_minutes"),
        ("start", "end", "duration_minutes"),
    ):
        told = _number(fields, length)
        begin, finish = _minutes(fields.get(start)), _minutes(fields.get(end))
        if told is None or begin is None or finish is None:
            continue
        off = ((finish - begin) - told) % 1440
        if min(off, 1440 - off) > 2:
            yield f"{length} is {told:g}, and from {fields[start]} to {fields[end]} it is not"


def _minutes(value: JSON) -> int | None:
    text = value.rpartition("T")[2] if isinstance(value, str) else ""
    match = _CLOCK.fullmatch(text)
    return int(match[1]) * 60 + int(match[2]) if match else None


def _number(fields: Mapping[str, JSON], name: str) -> float | None:
    value = fields.get(name)
    plain = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if plain and abs(value) < 1e15 else None  # type: ignore[arg-type]


def _disordered(part: Mapping[str, JSON]) -> Iterator[str]:
    for least, most in _PAIRS:
        low, high = _number(part, least), _number(part, most)
        if low is not None and high is not None and low > high:
            yield f"{least} is {low:g}, above {most} {high:g}"
    start, end = (str(part.get(name)) for name in ("start", "end"))
    if _LOCAL.fullmatch(start) and _LOCAL.fullmatch(end) and end < start:
        yield f"it ends at {end}, before it begins at {start}"


# -- Beside each other.


def _renamed(
    given: Mapping[str, JSON], part: Mapping[str, JSON], named: dict[tuple[str, str, str], str]
) -> Iterator[str]:
    """Yield a fault where an id that stood for one name stands for another, as no call asked."""
    ids: Sequence[str] = [name for name in part if name.endswith("_id")][:1]
    for field in ids:
        for name in _NAMES:
            own, told = part[field], part.get(name)
            if not isinstance(own, str) or not isinstance(told, str):
                continue
            known = named.setdefault((field, own, name), told)
            if told in given.values():
                named[field, own, name] = told
            elif _plain(known) != _plain(told):
                yield f"{field} {own} is {shortened(told)}, and was {shortened(known)} before"
