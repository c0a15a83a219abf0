"""The apps of the sample: their schemas in the corpus's form, and what calls of them bring.

`apps.json` holds of each service what it is about, its slots (with their values where they are
listed), its APIs, and the table of what it knows. `login` are slots that every call must have.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from seal.core.errors import DataError, shortened
from seal.core.types import JSON
from seal.pools.reading.records import field

Row = dict[str, str]
MOST = 10
"""Rows that a look-up brings at most."""


@dataclass(frozen=True, slots=True)
class Api:
    """An API of a service."""

    about: str
    changes: bool
    """True: it books or buys something."""
    required: tuple[str, ...]
    optional: tuple[str, ...]
    results: tuple[str, ...]

    def takes(self, slot: str) -> bool:
        """Tell whether a slot is an argument."""
        return slot in self.required or slot in self.optional


@dataclass(frozen=True, slots=True)
class App:
    """A service with what it knows."""

    name: str
    about: str
    login: tuple[str, ...]
    slots: Mapping[str, Any]
    apis: Mapping[str, Api]
    rows: Sequence[Row]

    def schema(self) -> dict[str, JSON]:
        """Return the service as the corpus's `schema.json` has it."""
        return {
            "service_name": self.name,
            "description": self.about,
            "slots": [_slot(name, about) for name, about in self.slots.items()],
            "intents": [
                {
                    "name": name,
                    "description": api.about,
                    "is_transactional": api.changes,
                    "required_slots": list(api.required),
                    "optional_slots": dict.fromkeys(api.optional, "dontcare"),
                    "result_slots": list(api.results),
                }
                for name, api in self.apis.items()
            ],
        }

    def answer(self, api: Api, arguments: Mapping[str, str], further: Sequence[Row]) -> list[Row]:
        """Return the rows that a call brings.

        Args:
            api: One of the app's.
            arguments: Slot to value; one that is no column chooses nothing.
            further: Rows that bookings added.

        Raises:
            DataError: A booking lacks a value that it is to bring.
        """
        found = [row for row in (*self.rows, *further) if _fits(row, arguments)]
        if api.changes:
            known = {**(found[0] if found else {}), **arguments}
            row = {n: known[n] for n in api.results if n in known or n not in api.optional}
            return [row]
        brought = [{name: row[name] for name in api.results} for row in found]
        return [row for n, row in enumerate(brought) if row not in brought[:n]][:MOST]


def apps_of(content: Any, where: str) -> dict[str, App]:
    """Return the services of the content of `apps.json`, by name.

    Args:
        content: Service to what it is.
        where: For messages.

    Raises:
        DataError: A field is missing or of another kind, or a row has too few values.
    """
    if not isinstance(content, dict):
        raise DataError(f"{where}: expected an object of services, got {shortened(content)}")
    apps = {}
    for name, service in content.items():
        try:
            apps[name] = _app(name, service)
        except (DataError, ValueError) as error:
            raise DataError(f"{where}: {name}: {error}") from error
    return apps


def _app(name: str, service: Any) -> App:
    columns = field(service, "columns", list)
    rows = [dict(zip(columns, values, strict=True)) for values in field(service, "rows", list)]
    return App(
        name,
        field(service, "about", str),
        tuple(service.get("login", ())),
        field(service, "slots", dict),
        {name: _api(api) for name, api in field(service, "apis", dict).items()},
        rows,
    )


def _api(api: Any) -> Api:
    return Api(
        field(api, "about", str),
        api.get("changes", False),
        *(tuple(field(api, name, list)) for name in ("required", "optional", "results")),
    )


def _slot(name: str, about: Any) -> dict[str, JSON]:
    told = about if isinstance(about, dict) else {"about": about, "values": []}
    values = field(told, "values", list)
    return {
        "name": name,
        "description": field(told, "about", str),
        "is_categorical": bool(values),
        "possible_values": values,
    }


def _fits(row: Row, arguments: Mapping[str, str]) -> bool:
    return all(row.get(name, value) == value for name, value in arguments.items())
