"""The phone: its tables and services, what every tool checks, and what the web says."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import as_file, files
from math import isfinite
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import orjson

from seal.core import JSON, DataError, Simulator, Tables, Tool, Unrecorded, needing, shortened
from seal.core.statements import MOMENTS
from seal.core.values import canonical_json, digest, json_value
from seal.environments.chat_world import Circumstances, World
from seal.environments.function_tools import NOT_GIVEN, NotGiven, WorldTool
from seal.environments.tables import Row, between, like, where
from seal.pools.importer import Notes, WorldFile

# -- The phone itself: its tables, its services, and what every tool of it checks.

Answer = TypeVar("Answer")
Text = str | None
Number = float | None

COLUMNS: Mapping[str, Mapping[str, Any]] = {
    "settings": {
        "device_id": Text,
        "cellular": bool,
        "wifi": bool,
        "location_service": bool,
        "low_battery_mode": bool,
        "latitude": Number,
        "longitude": Number,
    },
    "contacts": {
        "person_id": Text,
        "name": Text,
        "phone_number": Text,
        "relationship": Text,
        "is_self": bool | None,
    },
    "messages": {
        "message_id": Text,
        "sender_person_id": Text,
        "sender_phone_number": Text,
        "recipient_person_id": Text,
        "recipient_phone_number": Text,
        "content": Text,
        "creation_timestamp": Number,
    },
    "reminders": {
        "reminder_id": Text,
        "content": Text,
        "creation_timestamp": Number,
        "reminder_timestamp": Number,
        "latitude": Number,
        "longitude": Number,
    },
}
"""Table to column to type."""

BEGINNING: Tables = {
    "settings": [
        {
            "device_id": "phone",
            "cellular": True,
            "wifi": True,
            "location_service": True,
            "low_battery_mode": False,
            "latitude": 41.9028,
            "longitude": 12.4964,
        }
    ],
    "contacts": [],
    "messages": [],
    "reminders": [],
}
"""The phone of a task that does not say how it begins: in Rome, all services on, empty."""

SERVICES = ("cellular", "wifi", "location_service")
"""Settings that the low battery mode turns off and keeps off."""
SPOKEN = {"cellular": "Cellular service", "wifi": "Wifi", "location_service": "Location service"}

ALIKE, HALF_ALIKE = 90.0, 50.0
"""How much like a criterion a name or a text must be, in [0, 100]."""
_DEGREES = {"latitude": (-90.0, 90.0), "longitude": (-180.0, 180.0)}
"""Coordinate to its bounds."""


class PhoneWorld(World):
    """A phone.

    Args:
        tools: By id.
        given: How it begins, `settings` with one row.
        web: Answers the tools that ask the web.
    """

    offline = True

    def __init__(
        self, tools: Mapping[str, WorldTool], given: Circumstances, web: WebAnswers
    ) -> None:
        super().__init__(tools, given)
        self.web = web
        self.ended = False
        """True where the user has ended the conversation."""

    @property
    def settings(self) -> Row:
        """The settings; a copy."""
        return dict(self.table("settings")[0])

    def set(self, **changes: bool) -> None:
        """Change settings."""
        self.put("settings", [{**self.settings, **changes}])

    def insert(self, table: str, key: str, /, **cells: JSON) -> str:
        """Add a row with a new id in its column `key`, and return the id."""
        own = self.new_id()
        self.add(table, {key: own, **cells})
        return own

    def ask(self, question: Question, read: Callable[[JSON], Answer]) -> Answer:
        """Return what the web says (`WebAnswers`)."""
        self.unrecorded = self.web.unrecorded_of(question)
        answer: Answer = self.web.answer(question, read)
        return answer

    def need(self, service: str) -> None:
        """Make sure that one of `SERVICES` is on.

        Raises:
            ConnectionError: Wifi or cellular service is off, so that nothing can be reached.
            PermissionError: Location service is off, so that the phone does not know where it is.
        """
        if not self.settings[service]:
            error = PermissionError if service == "location_service" else ConnectionError
            raise error(f"{SPOKEN[service]} is not enabled")


def check_finite(name: str, value: float) -> None:
    """Make sure that a number is one.

    Raises:
        ValueError: It is infinite or none.
    """
    if not isfinite(value):
        raise ValueError(f"{name} must be a finite number, got {value}")


def check_beginning(tables: Tables) -> None:
    """Make sure that a phone can be as its tables say.

    Args:
        tables: The first column of each names its rows.

    Raises:
        ValueError: Two rows have one name (but for messages, of which ToolSandbox has two of one
            name), a service is on in low battery mode, or a place is none on earth; the text names
            table, row and column.
    """
    for table, rows in tables.items():
        named: set[JSON] = set()
        for number, row in enumerate(rows):
            column = next(iter(row))
            if table != "messages" and row[column] is not None and row[column] in named:
                raise ValueError(f"{table}.{number}: {column} {row[column]!r} stands twice")
            named.add(row[column])
            try:
                check_given({name: row.get(name) for name in _DEGREES})
            except ValueError as error:
                raise ValueError(f"{table}.{number}: {error}") from error
            on = [service for service in SERVICES if row.get(service)]
            if row.get("low_battery_mode") and on:
                raise ValueError(
                    f"{table}.{number}: low_battery_mode is true, which keeps "
                    f"{', '.join(SERVICES)} off, and {', '.join(on)} is true; turn one of them off"
                )


def check_phone_number(number: Any) -> None:
    """Make sure that a text, where there is one, reads as an international phone number.

    Whether anybody has the number is not asked.

    Raises:
        TypeError: It is no text.
        NumberParseException: It does not.
        MissingExtraError: phonenumbers is not installed.
    """
    if isinstance(number, NotGiven):
        return
    if number is not None and not isinstance(number, str):
        raise TypeError(f"a phone number is a text, got {shortened(number)}")
    _parse(number)


@lru_cache(1024)
def _parse(number: Any) -> None:
    """Parse a number; what raises is not kept."""
    with needing("phonenumbers", "worlds"):
        import phonenumbers
    phonenumbers.parse(number)


def check_given(given: Mapping[str, Any]) -> None:
    """Make sure of numbers of phones, times and coordinates among arguments, by their names.

    A time must lie between 1980 and 2050, a place on earth. What is left out is not looked at.

    Args:
        given: The arguments of a tool, such as its `locals()`.

    Raises:
        TypeError, NumberParseException: As of `check_phone_number`.
        ValueError: A number lies beyond its bounds; the text names the first such argument.
    """
    for name, value in given.items():
        if name.endswith("phone_number"):
            check_phone_number(value)
            continue
        bounds = MOMENTS if "timestamp" in name else _DEGREES.get(name.partition("_")[0])
        if bounds and isinstance(value, int | float) and not bounds[0] <= value <= bounds[1]:
            raise ValueError(f"{name} must be between {bounds[0]} and {bounds[1]}, got {value}")


def search(table: str, given: Mapping[str, Any], likeness: Mapping[str, float]) -> list[Row]:
    """Return the rows of a table that meet all criteria, each applied to what the one before found.

    Args:
        table: Its name.
        given: The arguments of the tool that searches (`locals()`): the phone, and by name the
            criteria. `X_lowerbound` and `X_upperbound` are bounds of the column X.
        likeness: Column to how much like the criterion its text must be, in [0, 100]; others must
            be equal.

    Raises:
        ValueError: No criterion is given, or one is no value of its kind.
    """
    criteria = {name: value for name, value in given.items() if name != "phone"}
    check_given(criteria)
    asked = {name: value for name, value in criteria.items() if value is not NOT_GIVEN}
    if not asked:
        bounds = (name.removesuffix("_lowerbound") for name in criteria)
        columns = ", ".join(dict.fromkeys(name.removesuffix("_upperbound") for name in bounds))
        raise ValueError(f"no search criterion was given; give at least one about: {columns}")
    left = list(given["phone"].table(table))
    for name, value in asked.items():
        if name.endswith("_lowerbound"):
            left = between(left, name.removesuffix("_lowerbound"), low=value)
        elif name.endswith("_upperbound"):
            left = between(left, name.removesuffix("_upperbound"), high=value)
        elif name in likeness:
            left = like(left, name, value, threshold=likeness[name])
        else:
            left = where(left, name, value)
    return left


def changes_of(given: Mapping[str, Any], kept: str) -> dict[str, Any]:
    """Return what is to be changed of a row.

    Args:
        given: The arguments of the tool that changes it (`locals()`).
        kept: The one that names the row.

    Raises:
        ValueError: Nothing is to be changed, or a value is none of its kind.
    """
    fields = {name: value for name, value in given.items() if name not in ("phone", kept)}
    check_given(fields)
    changes = {name: value for name, value in fields.items() if value is not NOT_GIVEN}
    if not changes:
        raise ValueError(f"nothing to change; give at least one of {', '.join(fields)}")
    return changes


# -- What the web says: recorded answers, or a simulator's.


@dataclass(frozen=True, slots=True)
class Question:
    """What a tool asks the web."""

    tool: str
    """Name of the tool."""
    arguments: dict[str, JSON]
    """Of the call, the phone's own place filled in."""
    endpoint: str
    params: dict[str, JSON]
    """As they are sent to the endpoint."""


class UnknownToTheWebError(LookupError):
    """No record answers a question, and nothing answers in its place."""


@dataclass(frozen=True, slots=True)
class RecordedWeb:
    """Answers from a file: a JSON list of `{"endpoint", "params", "response"}`.

    A record answers every question that has its params with these values, whatever other params it
    has; of several the one with the most params, of these the first. What is not recorded is
    answered as `unrecorded` says; by `empty`, ToolSandbox's rule, the web knows nothing of it: no
    place, no stock, no rate.
    """

    records: Mapping[str, Sequence[tuple[dict[str, JSON], JSON]]]
    """Endpoint to params and response."""
    unrecorded: Unrecorded = "error"
    simulated: SimulatedWeb | None = None
    """Answers what is not recorded, where that is `simulate`."""

    def answer(self, question: Question, read: Callable[[JSON], JSON]) -> JSON:
        """Return what the tool makes of the recorded answer, or of what stands in its place."""
        fitting = self._fitting(question)
        if fitting:
            return read(max(fitting, key=lambda record: len(record[0]))[1])
        if self.unrecorded == "empty":
            return read(None)
        if self.simulated is not None:
            return self.simulated.answer(question, read)
        raise UnknownToTheWebError(f"No answer of {question.tool} to this question was recorded.")

    def unrecorded_of(self, question: Question) -> str:
        """Return the rule `unrecorded` where no record answers."""
        return "" if self._fitting(question) else self.unrecorded

    def _fitting(self, question: Question) -> list[tuple[dict[str, JSON], JSON]]:
        asked = question.params
        return [
            (params, response)
            for params, response in self.records.get(question.endpoint, ())
            if all(name in asked and asked[name] == value for name, value in params.items())
        ]

    def to_json(self) -> list[dict[str, JSON]]:
        """Return the records as a file has them."""
        return [
            {"endpoint": endpoint, "params": params, "response": response}
            for endpoint, records in self.records.items()
            for params, response in records
        ]

    def identity(self) -> JSON:
        """Return the digest of all records, and what answers what is not recorded."""
        records = {name: list(map(list, record)) for name, record in self.records.items()}
        return {"recorded": digest(records), "unrecorded": self.unrecorded}


def recorded_web(path: Path | None = None) -> RecordedWeb:
    """Return the answers that a file holds; None: those that are shipped, which are invented.

    Raises:
        DataError: There is no such file, or it is not what it must be.
    """
    try:
        if path is None:
            text = (files("seal.benchmarks.toolsandbox.phone") / "web_answers.json").read_bytes()
        else:
            text = path.read_bytes()
        given = json_value(text)
    except (OSError, orjson.JSONDecodeError) as error:
        raise DataError(f"web answers {path}: {error}; {_EXPECTED}") from error
    if not isinstance(given, list):
        raise DataError(f"web answers {path}: got {type(given).__name__}; {_EXPECTED}")
    records: dict[str, list[tuple[dict[str, JSON], JSON]]] = {}
    for number, record in enumerate(given):
        match record:
            case {"endpoint": str(endpoint), "params": dict(params), "response": response}:
                records.setdefault(endpoint, []).append((params, response))
            case _:
                raise DataError(f"web answers {path}, record {number}: {_EXPECTED}")
    return RecordedWeb(records)


def web_everywhere(path: Path) -> tuple[RecordedWeb, list[str]]:
    """Return a file's answers, and invented ones where it has none of an endpoint.

    An invented answer is the same to every question of its endpoint.

    Args:
        path: The file; none of that name: every answer is invented.

    Returns:
        The web, and the endpoints of which the answers are invented.

    Raises:
        DataError: The file does not hold answers.
    """
    own = recorded_web(path).records if path.is_file() else {}
    shipped = files("seal.benchmarks.toolsandbox.phone") / "web_anywhere.json"
    with as_file(shipped) as invented:
        anywhere = recorded_web(invented).records
    return RecordedWeb({**anywhere, **own}), sorted(anywhere.keys() - own.keys())


FILE = "web.json"
"""Of a pool: the web's answers, unless a run's `-T web=` says otherwise."""
_EXPECTED = 'expected a JSON list of {"endpoint": text, "params": object, "response": any}'


@dataclass(frozen=True, slots=True)
class SimulatedWeb:
    """Answers of a simulator, which is shown the tool and its arguments, not the endpoint.

    It keeps what it was told. So a question that is asked again, as in another order of the same
    calls, gets the same answer.
    """

    simulator: Simulator
    documents: Mapping[str, Tool]
    """Name of a tool to its document."""
    told: dict[bytes, JSON] = field(default_factory=dict)
    lock: Any = field(default_factory=threading.Lock)

    def answer(self, question: Question, read: Callable[[JSON], JSON]) -> JSON:
        """Return the simulator's answer as it is; its error is the connection's."""
        key = canonical_json([question.tool, question.arguments])
        with self.lock:
            known = key in self.told
        if not known:
            document = self.documents[question.tool]
            response = self.simulator.respond(document, question.arguments)
            if response.error:
                raise ConnectionError(response.error)
            with self.lock:
                self.told.setdefault(key, response.response)
        return self.told[key]

    def unrecorded_of(self, question: Question) -> str:
        """Return nothing: whoever asks a simulator expects no record."""
        return ""

    def identity(self) -> JSON:
        """Return the simulator's name."""
        return {"simulator": self.simulator.identity}


WebAnswers: TypeAlias = "RecordedWeb | SimulatedWeb"
"""Answers the tools that ask the web; equal questions get equal answers within a chat.

`answer` takes the question, and what makes the tool's result of an endpoint's raw answer, or of
None for none. It raises `UnknownToTheWebError` where no record answers, and errors of the simulator
(`SimulatorError`, `CacheMissError`).
"""


def web_answers(path: Path, notes: Notes) -> Iterator[WorldFile]:
    """Yield a file of answers as it is; nothing where there is none.

    Args:
        path: The file.
        notes: Gets the number of answers.

    Raises:
        DataError: The file does not hold answers.
    """
    if path.is_file():
        records = recorded_web(path).records
        notes.facts["web_answers"] = sum(map(len, records.values()))
        yield WorldFile(FILE, path.read_bytes())
