"""What a right answer tells: typed values, which gold names one by one (`Goal.tells`).

A slot is a value and what kind of value it is. No answer is compared with a sentence:
`seal.evaluation.words` looks for each slot in what the agent told its user.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import date, datetime, time
from typing import TYPE_CHECKING, Any, Literal, get_args
from unicodedata import category

from seal.core.conditions import STRICT
from seal.core.errors import UsageError, shortened
from seal.core.values import loss_of

if TYPE_CHECKING:
    from seal.core.quantities import Time

SlotType = Literal[
    "number",
    "quantity",
    "money",
    "date",
    "weekday",
    "time",
    "phone",
    "code",
    "name",
    "place",
    "truth",
    "term",
    "text",
    "question",
    "lack",
]
TYPES: tuple[SlotType, ...] = get_args(SlotType)
WORDS = frozenset[SlotType](["question", "lack"])
"""Types whose value is words, of which the agent's message has one."""
CELL_TYPES = tuple(one for one in TYPES if one not in WORDS | {"truth"})
"""Types that the cells of a table may be compared as."""
_EXAMPLES: Mapping[str, str] = {
    "number": "42",
    "quantity": "12.9 with the unit 'celsius', or '12.9 °C'",
    "money": "36.5 with the unit 'eur', or '36.50 EUR'",
    "date": "'2025-09-01'",
    "weekday": "'Monday'",
    "time": "'17:30'",
    "phone": "'+351 936 118 240'",
    "code": "'B12'",
    "name": "'Sofia Lacerda'",
    "place": "'Rua da Palmeira Brava 18'",
    "truth": "True, with a name such as 'wifi'",
    "term": "'shared drive'",
    "text": "'Renew the library books'",
    "question": "['delete', 'remove']",
    "lack": "['number', 'contacts']",
}


@dataclass(frozen=True, slots=True)
class Slot:
    """A value that the agent must tell its user.

    - number, quantity (with a unit), money, date, weekday, time: however it is written, converted
      and rounded as people do (`seal.core.quantities`)
    - phone, code, name, place: by its digits or words; "St." is "Street", "Sofia" may stand for
      "Sofia Lacerda"
    - truth: whether what `name` says is so, "wifi is on"
    - term: by its words in their order, which must be said as they stand
    - text: likewise, but in other words it is undecided
    - question: the agent asks the user, and the question has one of some words
    - lack: the agent refuses or asks, and claims no deed; one of some words names what it lacks

    Example:
        >>> Slot("36.50 EUR").type, Slot(92.3, unit="F").type
        ('money', 'quantity')

    Raises:
        UsageError: A type or unit that nobody knows, a unit without a number, or a value that is
            not of its type or says nothing.
    """

    __pydantic_config__ = STRICT
    value: bool | int | float | str | tuple[str, ...]
    type: str = ""
    """One of `TYPES`; empty: found from the value."""
    unit: str = ""
    """Of a number, as it is written: "F", "km", "EUR"."""
    name: str = ""
    also: tuple[bool | int | float | str, ...] = ()
    """Other values of this type that are right, too."""
    optional: bool = False
    """True: it may be left out, but not told wrong."""

    def __post_init__(self) -> None:
        """Check the value, and find its type."""
        for field in ("type", "unit", "name"):
            if not isinstance(getattr(self, field), str):
                raise UsageError(f"tells {shortened(self.value)}: {field}: expected a text")
        if self.type and self.type not in TYPES:
            raise UsageError(f"{self._told}: unknown type {self.type!r}; one of {', '.join(TYPES)}")
        if isinstance(self.value, (list, tuple)):
            object.__setattr__(self, "value", tuple(self.value))
        if self.type in WORDS and isinstance(self.value, str):
            object.__setattr__(self, "value", (self.value,))
        if isinstance(self.also, str) or not isinstance(self.also, Sequence):
            raise UsageError(f"{self._told}: also: expected a list of values, such as ['Lena']")
        object.__setattr__(self, "also", tuple(map(_plain, self.also)))
        if not isinstance(self.optional, bool):
            raise UsageError(f"{self._told}: optional: expected true or false")
        if lost := loss_of((self.value, self.also)):
            raise UsageError(f"{self._told}: {lost}, which nobody can tell; give a value that is")
        values = [_with_unit(one, self.unit) for one in (self.value, *self.also)]
        found = {_type_of(one, self.type, self._told) for one in values}
        if len(found) > 1:
            raise UsageError(f"{self._told}: its values are of several types: {sorted(found)}")
        object.__setattr__(self, "type", found.pop())
        if self.type == "truth" and not self.name:
            raise UsageError(f"{self._told}: name what is so, as in {{'wifi': True}}")

    @property
    def _told(self) -> str:
        return f"tells {shortened(self.name or self.value)}"

    @property
    def texts(self) -> tuple[str, ...]:
        """The values as texts, with their unit: what may be told."""
        values = (self.value, *self.also) if not isinstance(self.value, tuple) else self.value
        return tuple(str(_with_unit(one, self.unit)) for one in values)

    @property
    def told(self) -> str:
        """Words that tell it."""
        first = self.texts[0]
        if self.type == "truth":
            return f"{self.name or 'It'}: {'yes' if self.value else 'no'}"
        if self.type == "question":
            return f"What about the {first}?"
        if self.type == "lack":
            return f"I cannot do that without the {first}."
        return f"{self.name}: {first}" if self.name else first


def _with_unit(value: Any, unit: str) -> Any:
    """Return a number with its unit as a text, and any other value as it is.

    Raises:
        UsageError: A value that is no number has a unit, or the unit is not known.
    """
    if not unit:
        return value
    from seal.core.quantities import read
    from seal.core.statements import only_quantity

    if isinstance(value, (bool, tuple)) or (
        isinstance(value, str) and only_quantity(read(value)) is None
    ):
        raise UsageError(
            f"tells {shortened(value)}: a unit needs a number, as in {{'value': 92.3, 'unit': 'F'}}"
        )
    written = "kelvin" if unit == "K" else unit  # 5 K are five thousand in a text
    for form in (f"{value} {written}", f"{value} °{written}", f"{value}{written}"):
        known = only_quantity(read(form))
        if known is not None and known.unit is not None:
            return form
    raise UsageError(f"tells {value}: unknown unit {unit!r}; leave it out, or write it in full")


def _type_of(value: Any, wanted: str, told: str) -> str:
    """Return the type of a value.

    Raises:
        UsageError: It is not of the wanted type, or says nothing.
    """
    found = [*_types(value)]
    if not found:
        raise UsageError(f"{told}: it says nothing that an answer could be searched for")
    if wanted and wanted not in found:
        raise UsageError(f"{told}: it is no {wanted}; such a value is {_EXAMPLES[wanted]}")
    return wanted or found[0]


def _types(value: Any) -> Iterator[str]:
    """Yield the types that a value may have, the likeliest first."""
    if isinstance(value, bool):
        yield "truth"
        return
    if isinstance(value, tuple):
        yield from sorted(WORDS) if value and all(map(str.strip, value)) else ()
        return
    if isinstance(value, (int, float)):
        yield "number"
        return
    from seal.core.phones import is_phone
    from seal.core.quantities import WEEKDAYS, Day, read
    from seal.core.statements import only_quantity

    whole = read(value)
    quantity = only_quantity(whole)
    if value.startswith(("+", "00")) and is_phone(value):
        yield "phone"
    if quantity is not None and quantity.unit is None:
        yield "number"
    elif quantity is not None:
        yield from ("money", "quantity") if quantity.dimension == quantity.unit else ("quantity",)
    if len(whole.values) == 1:
        only = whole.tokens[0]
        kinds = {type(one) for one in (only.value, *only.others)}
        yield from ["date"] * (Day in kinds) + ["time"] * bool(times_of(value))
        if only.value in WEEKDAYS:
            yield "weekday"
    if quantity is None and is_phone(value):
        yield "phone"
    is_short = len(whole.values) <= _LONGEST_NAME
    has_digit = any(map(str.isdigit, value))
    if is_short and has_digit and len(value.split()) == 1:
        yield "code"
    words = value.split()
    is_name = value[:1].isupper() and all(one[0].isupper() or len(one) <= _SMALL for one in words)
    if is_short and (is_name or has_digit):
        yield from ("place", "name") if has_digit else ("name", "place")
    if says_something(value):
        likely = ("term", "text") if len(words) <= _LONGEST_TERM else ("text", "term")
        yield from (*likely, "name", "place", "code")


def says_something(text: str) -> bool:
    """Tell whether an answer can state a text: it has a letter, a digit or a symbol."""
    return any(category(character)[0] in "LNS" for character in text)


def times_of(text: str) -> list[Time]:
    """Return the times of day that a text may be: two where the half of the day is not told."""
    from seal.core.quantities import Time, read

    tokens = read(f"at {text}").tokens[1:]
    found = [(one.value, *one.others) for one in tokens]
    return (
        [time for one in found for time in one if isinstance(time, Time)] if found[1:] == [] else []
    )


_LONGEST_NAME = 8
"""Words of a name or place, at most."""
_LONGEST_TERM = 4
"""Words of a text that must be said as they stand, at most."""
_SMALL = 3
"""Letters of "da" or "van" within a name, at most."""

_FIELDS = frozenset(field.name for field in fields(Slot))


def slots_of(tells: Any) -> tuple[Slot, ...]:
    """Return the slots that a user wrote: one value, several, or values by name.

    >>> [(one.name, one.type) for one in slots_of({"temperature": 92.3, "unit": "F"})]
    [('temperature', 'quantity')]

    Raises:
        UsageError: As `Slot`, or a form that is not known.
    """
    if isinstance(tells, Slot):
        return (tells,)
    if isinstance(tells, Mapping):
        return tuple(_named(tells))
    if isinstance(tells, Sequence) and not isinstance(tells, str):
        return tuple(slot for one in tells for slot in slots_of(one))
    return (Slot(_plain(tells)),)


def _named(tells: Mapping[str, Any]) -> Iterator[Slot]:
    if "value" in tells:
        unknown = sorted(set(tells) - _FIELDS)
        if unknown:
            raise UsageError(
                f"tells: unknown key {unknown[0]!r}; a slot has {', '.join(sorted(_FIELDS))}"
            )
        given = {**tells, "value": _plain(tells["value"])}
        yield Slot(**given)
        return
    unit = tells.get("unit", "")
    rest = {name: one for name, one in tells.items() if name != "unit"}
    if "unit" in tells and len(rest) != 1:
        raise UsageError("tells: a unit belongs to one number; write {'NAME': {'value', 'unit'}}")
    for name, one in rest.items():
        if isinstance(one, Slot):
            yield replace(one, name=one.name or name)
        elif isinstance(one, Mapping):
            if "value" not in one:
                raise UsageError(f"tells {name!r}: it has no value; write {{'value': ...}}")
            yield from _named({"name": name, **one})
        else:
            yield Slot(_plain(one), unit=unit, name=name)


def _plain(value: Any) -> Any:
    """Return a value as JSON has it.

    Raises:
        UsageError: It is of no type that can be told.
    """
    if isinstance(value, datetime):
        raise UsageError(f"tells {value}: write its date and its time as two values")
    if isinstance(value, (date, time)):
        return value.isoformat()
    if isinstance(value, (list, tuple)):
        if not all(isinstance(one, str) for one in value):
            raise UsageError(f"tells {shortened(value)}: expected a list of texts")
        return tuple(value)
    if isinstance(value, (bool, int, float, str)):
        return value
    raise UsageError(f"tells {shortened(value)}: expected a text, number, day, time or truth")
